//! Rows on their way into the extract.

use etwkit_trace::table::{Columns, Row};

use super::error::Result;
use crate::Writer;

/// Rows of a batch.
const BATCH_ROWS: usize = 8 * 1024;

/// Rows of one table that were not handed on yet.
pub(super) struct Rows<R: Row> {
    columns: R::Columns,
}

impl<R: Row> Default for Rows<R> {
    fn default() -> Self {
        Self { columns: R::Columns::default() }
    }
}

impl<R: Row> Rows<R> {
    /// Adds a row.
    pub(super) fn push(&mut self, row: &R, writer: &mut Writer) -> Result<()> {
        self.columns.push(row);
        if self.columns.len() >= BATCH_ROWS { self.flush(writer) } else { Ok(()) }
    }

    /// Hands on what is left.
    pub(super) fn flush(&mut self, writer: &mut Writer) -> Result<()> {
        Ok(writer.write(R::TABLE, self.columns.take())?)
    }
}

/// Hands on all rows of a table.
pub(super) fn write_all<R: Row>(rows: impl IntoIterator<Item = R>, writer: &mut Writer) -> Result<()> {
    let mut out = Rows::default();
    rows.into_iter().try_for_each(|row| out.push(&row, writer))?;
    out.flush(writer)
}
