//! Files of tables without rows, so that a file pattern over many extracts finds each table in all
//! of them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use etwkit_base::lock::lock;
use etwkit_trace::table::Table;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::errors::ParquetError;

use super::layout::{self, Amount};
use crate::manifest::TableEntry;
use crate::store_error::{StoreError, StoreResult};

/// Bytes of files by table.
type Files = HashMap<&'static str, Arc<[u8]>>;

/// They are the same in every extract, and are created once.
static MADE: LazyLock<Mutex<Files>> = LazyLock::new(Mutex::default);

/// Writes files of those tables that have none.
pub(super) fn fill<'t>(
    folder: &Path,
    tables: impl Iterator<Item = &'t &'static Table>,
    written: &BTreeMap<String, TableEntry>,
) -> StoreResult<()> {
    for table in tables.filter(|table| !written.contains_key(table.name)) {
        // Encoded once for all extracts: a hundred files would take longer than the rows of a small
        // trace.
        let bytes = file_of(table).map_err(|source| StoreError::Encode {
            table: table.name.to_owned(),
            source,
        })?;
        let path = folder.join(format!("{}.parquet", table.name));
        fs::write(&path, bytes).map_err(StoreError::io("write", &path))?;
    }
    Ok(())
}

fn file_of(table: &'static Table) -> Result<Arc<[u8]>, ParquetError> {
    let mut made = lock(&MADE);
    if let Some(bytes) = made.get(table.name) {
        return Ok(bytes.clone());
    }
    let options = ArrowWriterOptions::new()
        .with_properties(layout::properties(table, Amount::None))
        .with_skip_arrow_metadata(true);
    let writer = ArrowWriter::try_new_with_options(Vec::new(), layout::schema(table), options)?;
    let bytes: Arc<[u8]> = writer.into_inner()?.into();
    made.insert(table.name, bytes.clone());
    Ok(bytes)
}
