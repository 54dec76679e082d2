//! Rows on their way to a sink: collected by table, passed on in batches.

use crate::sink::{Sink, SinkError};
use crate::table::{Columns, Row};

/// Rows of a batch. Batches of this size keep the columns of one table in the cache while they are
/// encoded.
const BATCH_ROWS: usize = 8 * 1024;

/// Bytes of the texts of a batch. A few hundred wide ones would take more memory than all numbers
/// of a trace.
const BATCH_TEXT: usize = 4 << 20;

/// The rows of one table that were not passed on yet.
#[derive(Debug)]
pub(crate) struct Out<R: Row> {
    columns: R::Columns,
}

impl<R: Row> Default for Out<R> {
    fn default() -> Self {
        Self {
            columns: R::Columns::default(),
        }
    }
}

impl<R: Row> Out<R> {
    #[inline]
    pub(crate) fn push(&mut self, row: &R, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.columns.push(row);
        let is_full = self.columns.len() >= BATCH_ROWS || self.columns.text_bytes() >= BATCH_TEXT;
        if is_full { self.flush(sink) } else { Ok(()) }
    }

    pub(crate) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        sink.write(R::TABLE, self.columns.take()?)
    }
}

/// Writes all rows of one table at once.
pub(crate) fn write_all<R: Row>(
    rows: impl IntoIterator<Item = R>,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    let mut out = Out::default();
    for row in rows {
        out.push(&row, sink)?;
    }
    out.flush(sink)
}

#[cfg(test)]
mod tests {
    use arrow_array::RecordBatch;

    use super::*;
    use crate::table::{Diagnostic, Table};

    /// Numbers of rows of the batches received.
    #[derive(Default)]
    struct Batches(Vec<usize>);

    impl Sink for Batches {
        fn write(&mut self, _: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
            self.0.push(rows.num_rows());
            Ok(())
        }
    }

    #[test]
    fn a_batch_ends_with_its_rows_or_with_the_bytes_of_their_texts() {
        for (bytes, rows, expected) in [
            (0, 2 * BATCH_ROWS + 1, vec![BATCH_ROWS, BATCH_ROWS, 1]),
            (BATCH_TEXT / 4, 9, vec![4, 4, 1]),
            (2 * BATCH_TEXT, 2, vec![1, 1]),
        ] {
            let mut sink = Batches::default();
            let row = Diagnostic {
                message: "x".repeat(bytes),
                ..Diagnostic::default()
            };
            write_all(std::iter::repeat_n(row, rows), &mut sink).unwrap();
            assert_eq!(sink.0, expected, "{bytes} bytes in each of {rows} rows");
        }
    }
}
