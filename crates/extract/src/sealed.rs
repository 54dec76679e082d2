//! Tables of an extract that is being written.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use etwkit_base::ordered::{ahead, processors};
use etwkit_trace::derive::{OnBatch, TableSource};
use etwkit_trace::sink::SinkError;
use etwkit_trace::table::Table;

use crate::TableFile;
use crate::store_error::StoreResult;

/// Rows from which on a table is decoded on a thread of its own: eight batches. With fewer the
/// thread costs more than it saves.
const MANY_ROWS: u64 = 1 << 16;

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
        let take = |batch: StoreResult<RecordBatch>| on_batch(&batch?);
        if file.rows < MANY_ROWS || processors() == 1 {
            return file.batches(Some(columns))?.try_for_each(take);
        }
        // The next batch is decoded while the rows of this one are added up.
        let decode = |put: &mut dyn FnMut(StoreResult<RecordBatch>) -> bool| match file
            .batches(Some(columns))
        {
            Ok(mut batches) => _ = batches.all(put),
            Err(error) => _ = put(Err(error)),
        };
        ahead(decode, take)
    }
}
