//! Rows on their way into the extract.

use etwkit_trace::sink::Sink;
use etwkit_trace::table::{Columns, Row};

use crate::json7z::error::{Failure, Result};

/// Rows of a batch.
const BATCH_ROWS: usize = 8 * 1024;

/// Rows of one table that were not passed on yet.
pub(crate) struct Rows<R: Row> {
    columns: R::Columns,
}

impl<R: Row> Default for Rows<R> {
    fn default() -> Self {
        Self {
            columns: R::Columns::default(),
        }
    }
}

impl<R: Row> Rows<R> {
    /// Adds a row.
    pub(crate) fn push(&mut self, row: &R, sink: &mut dyn Sink) -> Result<()> {
        self.columns.push(row);
        if self.columns.len() >= BATCH_ROWS {
            self.flush(sink)
        } else {
            Ok(())
        }
    }

    /// Writes the remaining rows.
    pub(crate) fn flush(&mut self, sink: &mut dyn Sink) -> Result<()> {
        let rows = self.columns.take().map_err(|e| Failure::Sink(e.into()))?;
        sink.write(R::TABLE, rows).map_err(Failure::Sink)
    }
}

/// Writes all rows of a table.
pub(crate) fn write_all<R: Row>(
    rows: impl IntoIterator<Item = R>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut out = Rows::default();
    rows.into_iter().try_for_each(|row| out.push(&row, sink))?;
    out.flush(sink)
}
