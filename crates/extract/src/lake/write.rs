//! Writing of Parquet files, and their commits.

use std::thread;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use etwkit_trace::table::RUN_ID;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::errors::ParquetError;

use crate::lake::layout::{self, PART};
use crate::lake::log::{Line, Log, UncommittedFile};
use crate::lake::store::Store;
use crate::lake::{Error, Result, unique};

/// Bytes after which a file ends. Readers of a lake find files of this size best.
const FILE_BYTES: usize = 96 << 20;

/// Attempts to commit before a writer gives up.
const ATTEMPTS: u32 = 200;

/// Maximum pause between two attempts, in milliseconds.
const LONGEST_PAUSE: u32 = 50;

/// Writes rows of one table and one part, which come sorted by run.
pub(crate) struct Writer<'s> {
    store: &'s Store,
    table: &'s str,
    part: &'s str,
    schema: SchemaRef,
    open: Option<Open>,
    written: Vec<UncommittedFile>,
}

/// A file that is being written.
struct Open {
    writer: ArrowWriter<Vec<u8>>,
    rows: u64,
    run_ids: (i64, i64),
}

impl<'s> Writer<'s> {
    /// Creates a writer. No file is created before there are rows.
    pub(crate) fn new(store: &'s Store, table: &'s str, part: &'s str, schema: SchemaRef) -> Self {
        Self {
            store,
            table,
            part,
            schema,
            open: None,
            written: Vec::new(),
        }
    }

    /// Writes rows.
    pub(crate) fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        // Rows without a run are no rows.
        let Some((min, max)) = run_ids(rows) else {
            return Ok(());
        };
        let mut open = match self.open.take() {
            Some(open) => open,
            None => Open {
                writer: self.start()?,
                rows: 0,
                run_ids: (min, max),
            },
        };
        open.writer
            .write(rows)
            .map_err(|source| self.encoding(source))?;
        open.rows += rows.num_rows() as u64;
        // The range is written into the commit, so that a question about one run opens only files
        // that can have it.
        open.run_ids = (open.run_ids.0.min(min), open.run_ids.1.max(max));
        // What is still in memory counts as well; a row group may be a large part of a file.
        let bytes = open.writer.bytes_written() + open.writer.in_progress_size();
        if bytes < FILE_BYTES {
            self.open = Some(open);
            return Ok(());
        }
        self.close(open)
    }

    /// Completes the last file, and returns all.
    pub(crate) fn finish(mut self) -> Result<Vec<UncommittedFile>> {
        if let Some(open) = self.open.take() {
            self.close(open)?;
        }
        Ok(self.written)
    }

    fn start(&self) -> Result<ArrowWriter<Vec<u8>>> {
        // Readers get the types of Parquet, and not those of this program's memory.
        let options = ArrowWriterOptions::new()
            .with_properties(layout::properties())
            .with_skip_arrow_metadata(true);
        ArrowWriter::try_new_with_options(Vec::new(), self.schema.clone(), options)
            .map_err(|source| self.encoding(source))
    }

    fn close(&mut self, open: Open) -> Result<()> {
        let bytes = open
            .writer
            .into_inner()
            .map_err(|source| self.encoding(source))?;
        let number = self.written.len();
        // The name has a random part, since several writers number their files from zero.
        let name = format!(
            "{PART}={}/part-{number:05}-{}.zstd.parquet",
            self.part,
            unique::name()
        );
        let size = bytes.len() as u64;
        let path = format!("{}/{name}", self.table);
        // The name exists already. That is so unlikely that trying again would hide a mistake.
        if !self.store.create(&path, Bytes::from(bytes))? {
            return Err(Error::Busy {
                table: self.table.to_owned(),
                attempts: 1,
            });
        }
        self.written.push(UncommittedFile {
            name,
            part: self.part.to_owned(),
            size,
            rows: open.rows,
            run_ids: open.run_ids,
        });
        Ok(())
    }

    fn encoding(&self, source: ParquetError) -> Error {
        Error::Encode {
            table: self.table.to_owned(),
            source,
        }
    }
}

/// The smallest and the largest `run_id` of rows; `None` without rows.
fn run_ids(rows: &RecordBatch) -> Option<(i64, i64)> {
    let column = rows.column_by_name(RUN_ID.name)?;
    let ids = column.as_primitive_opt::<Int64Type>()?;
    // Statistics ignore rows without a run.
    let valid = (0..ids.len()).filter(|row| ids.is_valid(*row));
    let values = valid.map(|row| ids.value(row));
    values.fold(None, |known, id| {
        let (min, max) = known.unwrap_or((id, id));
        Some((id.min(min), id.max(max)))
    })
}

/// Adds files to a table, which is created if it does not exist.
pub(crate) fn append(
    store: &Store,
    table: &str,
    schema: &Schema,
    written: &[UncommittedFile],
) -> Result<()> {
    let mut log = Log::load(store, table)?;
    let done = retried(store, &mut log, |log| {
        // Asked again in each attempt: another writer may have widened the table meanwhile.
        let mut lines = columns(log, table, schema)?;
        lines.extend(written.iter().map(|file| Line::of_added(file, true)));
        Ok(log.commit(store, "WRITE", lines)?.then_some(()))
    })?;
    done.ok_or_else(|| busy(table))
}

/// Repeats a step that ends in a commit, each time with the commits of those who were faster, until it
/// has a result. `None` after too many attempts.
pub(crate) fn retried<T>(
    store: &Store,
    log: &mut Log,
    mut step: impl FnMut(&mut Log) -> Result<Option<T>>,
) -> Result<Option<T>> {
    for attempt in 0..ATTEMPTS {
        if let Some(done) = step(log)? {
            return Ok(Some(done));
        }
        pause(attempt);
        // Only the new commits are read.
        log.refresh(store)?;
    }
    Ok(None)
}

/// Returns the lines that give a table the columns of rows: of a new table, or of one that lacks some.
pub(crate) fn columns(log: &Log, table: &str, schema: &Schema) -> Result<Vec<Line>> {
    let Some(known) = log.metadata() else {
        let created = Line::created(&unique::name(), layout::delta_schema(schema)?);
        return Ok(created.into());
    };
    // Another layout of folders was made by another program, and files put there would not be
    // found.
    if known.partition_columns != [PART] {
        return Err(Error::Columns {
            table: table.to_owned(),
            expected: format!("the column {PART} alone as its partition"),
        });
    }
    let wider = layout::widened(table, &known.schema_string, schema)?;
    let lines = wider.map(|wider| Line::of_metadata(known.with_schema(wider)));
    Ok(lines.into_iter().collect())
}

/// Waits before the next attempt, longer each time.
fn pause(attempt: u32) {
    let millis = attempt.saturating_add(1).min(LONGEST_PAUSE);
    thread::sleep(Duration::from_millis(millis.into()));
}

/// The error after too many attempts.
pub(crate) fn busy(table: &str) -> Error {
    Error::Busy {
        table: table.to_owned(),
        attempts: ATTEMPTS,
    }
}
