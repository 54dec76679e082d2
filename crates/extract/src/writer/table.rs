//! The Parquet file of one table.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use etwkit_trace::table::Table;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::errors::ParquetError;

use super::layout;
use super::order::Order;
use super::output::Output;
use crate::manifest::TableEntry;
use crate::store_error::{StoreError, StoreResult};

/// Bytes of encoded rows that a table holds back for a row group.
const ROW_GROUP_BYTES: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct TableWriter {
    table: &'static Table,
    path: PathBuf,
    writer: ArrowWriter<Output>,
    order: Order,
    rows: u64,
}

impl TableWriter {
    pub(super) fn create(folder: &Path, table: &'static Table) -> StoreResult<Self> {
        let path = folder.join(format!("{}.parquet", table.name));
        let file = File::create_new(&path).map_err(StoreError::io("create", &path))?;
        // The Arrow schema beside the Parquet one would tell readers nothing but types of this program's memory.
        let options = ArrowWriterOptions::new()
            .with_properties(layout::properties(table))
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(Output::new(file), table.schema(), options)
            .map_err(|source| StoreError::Encode { table: table.name.to_owned(), source })?;
        Ok(Self { table, path, writer, order: Order::new(table), rows: 0 })
    }

    pub(super) fn write(&mut self, rows: &RecordBatch) -> StoreResult<()> {
        check_columns(self.table, rows)?;
        self.order.check(rows);
        let written = self.writer.write(rows);
        self.judge(written)?;
        self.rows += rows.num_rows() as u64;
        if self.held_bytes() > ROW_GROUP_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Bytes of memory that wait for the row group to be full.
    pub(super) fn held_bytes(&self) -> usize {
        self.writer.memory_size()
    }

    /// Writes what was held back as a row group.
    pub(super) fn flush(&mut self) -> StoreResult<()> {
        let flushed = self.writer.flush();
        self.judge(flushed)
    }

    /// Completes the file.
    pub(super) fn close(mut self) -> StoreResult<TableEntry> {
        let finished = self.writer.finish();
        self.judge(finished)?;
        let output = self.writer.inner_mut();
        let bytes = output.flush().and_then(|()| output.len());
        let bytes = bytes.map_err(StoreError::io("write", &self.path))?;
        Ok(TableEntry { rows: self.rows, bytes, sorted_by: self.order.columns() })
    }

    /// Where the file could not be written, that is the error, whatever the encoder made of it.
    fn judge<T>(&mut self, done: Result<T, ParquetError>) -> StoreResult<T> {
        done.map_err(|source| match self.writer.inner_mut().take_error() {
            Some(error) => StoreError::io("write", &self.path)(error),
            None => StoreError::Encode { table: self.table.name.to_owned(), source },
        })
    }
}

/// Whether rows are those of a table.
pub(super) fn check_columns(table: &Table, rows: &RecordBatch) -> StoreResult<()> {
    let declared = table.schema();
    if rows.schema_ref().fields() == declared.fields() {
        return Ok(());
    }
    let (expected, found) = (columns(&declared), columns(rows.schema_ref()));
    Err(StoreError::Columns { table: table.name.to_owned(), expected, found })
}

fn columns(schema: &Schema) -> String {
    let one = |field: &std::sync::Arc<arrow_schema::Field>| {
        format!(
            "{} {}{}",
            field.name(),
            field.data_type(),
            if field.is_nullable() { "" } else { " not null" }
        )
    };
    schema.fields().iter().map(one).collect::<Vec<_>>().join(", ")
}
