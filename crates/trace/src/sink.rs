//! The receiver of rows.

use arrow_array::RecordBatch;

use crate::table::Table;

/// Errors of a [`Sink`]: for example a full disk or a closed pipe.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Takes the rows of tables, in batches. Batches of one table come in the table's order.
pub trait Sink {
    /// Takes rows of a table.
    ///
    /// # Errors
    /// Any error of the receiver; the import then stops.
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError>;
}

/// Keeps all batches in memory.
impl Sink for Vec<(&'static Table, RecordBatch)> {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        self.push((table, rows));
        Ok(())
    }
}
