//! Tables of an extract that is being written.

use std::collections::BTreeMap;

use etwkit_trace::derive::{OnBatch, TableSource};
use etwkit_trace::sink::SinkError;
use etwkit_trace::table::Table;

use crate::TableFile;

/// Tables whose files are complete.
pub(crate) struct Sealed(pub(crate) BTreeMap<String, TableFile>);

impl TableSource for Sealed {
    fn scan(
        &self,
        table: &'static Table,
        columns: &[&str],
        on_batch: &mut OnBatch<'_>,
    ) -> Result<(), SinkError> {
        let Some(file) = self.0.get(table.name) else {
            return Ok(());
        };
        for batch in file.batches(Some(columns))? {
            on_batch(&batch?)?;
        }
        Ok(())
    }
}
