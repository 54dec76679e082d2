//! Where rows go.

use arrow_array::RecordBatch;

use crate::table::Table;

/// What can go wrong behind a [`Sink`]: a full disk, a pipe that closed.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Takes the rows of tables, in batches. Batches of one table come in the table's order.
pub trait Sink {
    /// Takes rows of a table.
    ///
    /// # Errors
    /// Whatever the receiver meets; the import stops then.
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError>;
}

/// Keeps all batches in memory.
impl Sink for Vec<(&'static Table, RecordBatch)> {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        self.push((table, rows));
        Ok(())
    }
}
