//! Where the rows of a session come from.

use std::collections::HashMap;

use datafusion::arrow::array::RecordBatch;
use etwkit_trace::table::Table;

/// Rows of one trace.
#[derive(Debug)]
pub struct Source {
    /// Name for people, in the table `extract`.
    pub(crate) name: String,
    /// Path, in the table `extract`.
    pub(crate) path: String,
    pub(crate) rows: Rows,
}

/// What holds the rows.
#[derive(Debug)]
pub(crate) enum Rows {
    /// Batches by the name of their table.
    Batches(HashMap<&'static str, Vec<RecordBatch>>),
}

impl Source {
    /// Rows in memory, under a name of their own. Batches of one table that are given apart are put together.
    #[must_use]
    pub fn batches(name: &str, tables: Vec<(&'static Table, Vec<RecordBatch>)>) -> Self {
        let mut rows: HashMap<&'static str, Vec<RecordBatch>> = HashMap::new();
        for (table, batches) in tables {
            rows.entry(table.name).or_default().extend(batches);
        }
        Self { name: name.to_owned(), path: String::new(), rows: Rows::Batches(rows) }
    }
}
