//! The Parquet file of one table.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::Schema;
use etwkit_trace::table::Table;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::errors::ParquetError;

use super::layout::{self, Amount, FEW_ROWS};
use super::order::Order;
use super::output::Output;
use crate::manifest::TableEntry;
use crate::store_error::{StoreError, StoreResult};

/// Maximum bytes of encoded rows that a table holds back for a row group.
const ROW_GROUP_BYTES: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct TableWriter {
    table: &'static Table,
    run_id: i64,
    path: PathBuf,
    state: State,
    order: Order,
    rows: u64,
}

#[derive(Debug)]
enum State {
    /// At most [`FEW_ROWS`]: the storage format is decided when there are more, or at the end.
    Held(File, Vec<RecordBatch>),
    /// Rows are encoded as they come.
    Encoding(Box<ArrowWriter<Output>>),
    /// The writer could not be created, which was reported.
    Failed,
}

impl TableWriter {
    /// Creates the file of a table. All its rows start with the number of their trace.
    pub(super) fn create(folder: &Path, table: &'static Table, run_id: i64) -> StoreResult<Self> {
        let path = folder.join(format!("{}.parquet", table.name));
        let file = File::create_new(&path).map_err(StoreError::io("create", &path))?;
        let state = State::Held(file, Vec::new());
        Ok(Self {
            table,
            run_id,
            path,
            state,
            order: Order::new(table),
            rows: 0,
        })
    }

    pub(super) fn write(&mut self, rows: &RecordBatch) -> StoreResult<()> {
        check_columns(self.table, rows)?;
        self.order.check(rows);
        self.rows += rows.num_rows() as u64;
        let rows = self.with_run_id(rows)?;
        match &mut self.state {
            State::Held(_, held) if self.rows <= FEW_ROWS => held.push(rows),
            _ => self.encode(Amount::Many, |writer| writer.write(&rows))?,
        }
        if self.held_bytes() > ROW_GROUP_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Rows as the file has them.
    fn with_run_id(&self, rows: &RecordBatch) -> StoreResult<RecordBatch> {
        let run_id: ArrayRef = Arc::new(Int64Array::from_value(self.run_id, rows.num_rows()));
        let columns = std::iter::once(run_id)
            .chain(rows.columns().iter().cloned())
            .collect();
        RecordBatch::try_new(layout::schema(self.table), columns).map_err(|e| StoreError::Encode {
            table: self.table.name.to_owned(),
            source: e.into(),
        })
    }

    /// Bytes of memory that wait for the row group to be full.
    pub(super) fn held_bytes(&self) -> usize {
        match &self.state {
            State::Held(_, rows) => rows.iter().map(RecordBatch::get_array_memory_size).sum(),
            State::Encoding(writer) => writer.memory_size(),
            State::Failed => 0,
        }
    }

    /// Writes the rows held back as a row group. More rows may follow.
    pub(super) fn flush(&mut self) -> StoreResult<()> {
        self.encode(Amount::Many, ArrowWriter::flush)
    }

    /// Completes the file.
    pub(super) fn close(mut self) -> StoreResult<TableEntry> {
        // `Few` has an effect only if the rows were not encoded yet: the amount is used when the
        // writer is created.
        self.encode(Amount::Few, ArrowWriter::finish)?;
        let bytes = self.encode(Amount::Few, |writer| {
            let output = writer.inner_mut();
            Ok(output.flush().and_then(|()| output.len()))
        })?;
        let bytes = bytes.map_err(StoreError::io("write", &self.path))?;
        let crc32 = self.encode(Amount::Few, |writer| {
            Ok(writer.inner_mut().take_checksums())
        })?;
        Ok(TableEntry {
            rows: self.rows,
            bytes,
            sorted_by: self.order.columns(),
            crc32,
        })
    }

    /// Runs a step with the writer, after writing the rows that were held. `amount` is used only if
    /// the writer is created now.
    fn encode<T>(
        &mut self,
        amount: Amount,
        step: impl FnOnce(&mut ArrowWriter<Output>) -> Result<T, ParquetError>,
    ) -> StoreResult<T> {
        if let State::Held(..) = self.state {
            self.start(amount)?;
        }
        let State::Encoding(writer) = &mut self.state else {
            return Err(StoreError::Incomplete {
                path: self.path.clone(),
            });
        };
        let done = step(writer);
        // If the file could not be written, that is the error to report, not the error of the
        // encoder.
        done.map_err(|source| match writer.inner_mut().take_error() {
            Some(error) => StoreError::io("write", &self.path)(error),
            None => StoreError::Encode {
                table: self.table.name.to_owned(),
                source,
            },
        })
    }

    fn start(&mut self, amount: Amount) -> StoreResult<()> {
        let State::Held(file, rows) = std::mem::replace(&mut self.state, State::Failed) else {
            return Ok(());
        };
        // The Arrow schema in addition to the Parquet schema would only give readers the types of
        // this program's memory.
        let options = ArrowWriterOptions::new()
            .with_properties(layout::properties(self.table, amount))
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(
            Output::new(file),
            layout::schema(self.table),
            options,
        )
        .map_err(|source| StoreError::Encode {
            table: self.table.name.to_owned(),
            source,
        })?;
        self.state = State::Encoding(Box::new(writer));
        rows.iter()
            .try_for_each(|rows| self.encode(amount, |writer| writer.write(rows)))
    }
}

/// Checks that rows have the columns of a table.
pub(super) fn check_columns(table: &Table, rows: &RecordBatch) -> StoreResult<()> {
    let declared = table.schema();
    if rows.schema_ref().fields() == declared.fields() {
        return Ok(());
    }
    let expected = columns(&declared);
    let found = columns(rows.schema_ref());
    Err(StoreError::Columns {
        table: table.name.to_owned(),
        expected,
        found,
    })
}

fn columns(schema: &Schema) -> String {
    let one = |field: &Arc<arrow_schema::Field>| {
        format!(
            "{} {}{}",
            field.name(),
            field.data_type(),
            if field.is_nullable() { "" } else { " not null" }
        )
    };
    schema
        .fields()
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .join(", ")
}
