//! Reading of Parquet files of a lake.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, Int64Array, RecordBatch};
use arrow_schema::SchemaRef;
use etwkit_trace::table::RUN_ID;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

use crate::lake::bucket::Spooled;
use crate::lake::layout::GENERATION;
use crate::lake::store::{Store, Whole};
use crate::lake::{Error, Result};
use crate::quiet;

/// The run and the attempt that rows belong to.
pub(crate) type Key = (i64, i64);

/// Neighbouring rows of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) key: Key,
    pub(crate) from: usize,
    pub(crate) rows: usize,
}

/// Rows of a file, in batches; ends after an error.
pub(crate) struct Rows {
    path: PathBuf,
    /// Rows of the file, by its own description.
    all: u64,
    schema: SchemaRef,
    reader: Option<ParquetRecordBatchReader>,
    /// What the reader reads, so it goes after it.
    _spooled: Option<Spooled>,
}

impl Rows {
    /// Opens a file: those columns, or all.
    pub(crate) fn open(store: &Store, name: &str, columns: Option<&[&str]>) -> Result<Self> {
        let path = store.path(name);
        let Whole { slice, spooled } = match columns {
            None => store.whole(name)?,
            Some(_) => Whole {
                slice: store.slice(name)?,
                spooled: None,
            },
        };
        let is_wanted = |name: &str| columns.is_none_or(|names| names.contains(&name));
        // Everything that looks at bytes of the file is inside the guard, because the decoder
        // panics over some damaged numbers.
        let open = || {
            // Others may note types of their own memory, such as views of texts.
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            // The schema is checked before it is decoded, as its depth and its names come from the
            // file.
            slice.check_schema()?;
            let metadata = ArrowReaderMetadata::load(&slice, options)?;
            slice.check_pages(metadata.metadata())?;
            let slice = slice.with_columns(metadata.metadata(), is_wanted)?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(slice, metadata);
            let rows = builder.metadata().file_metadata().num_rows();
            let mask = match columns {
                Some(names) => {
                    ProjectionMask::columns(builder.parquet_schema(), names.iter().copied())
                }
                None => ProjectionMask::all(),
            };
            Ok((rows, builder.with_projection(mask).build()?))
        };
        let (rows, reader) = guarded(open).map_err(|source| damaged(&path, source))?;
        Ok(Self {
            path,
            all: rows.max(0).cast_unsigned(),
            schema: arrow_array::RecordBatchReader::schema(&reader),
            reader: Some(reader),
            _spooled: spooled,
        })
    }

    /// The path of the file, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The rows of the file by its own description.
    pub(crate) const fn all(&self) -> u64 {
        self.all
    }

    /// The columns that are read.
    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        // The decoder must not be used after an error or a panic.
        // Taken out, and put back only after a batch that was read.
        let mut reader = self.reader.take()?;
        match guarded(|| reader.next().transpose().map_err(ParquetError::from)) {
            Ok(None) => None,
            Ok(Some(batch)) => {
                self.reader = Some(reader);
                Some(Ok(batch))
            }
            Err(source) => Some(Err(damaged(&self.path, source))),
        }
    }
}

/// Runs the decoder, which panics over some damaged numbers.
pub(crate) fn guarded<T>(
    decode: impl FnOnce() -> std::result::Result<T, ParquetError>,
) -> std::result::Result<T, ParquetError> {
    quiet::catch(decode).unwrap_or_else(|said| Err(ParquetError::General(said)))
}

fn damaged(path: &Path, source: ParquetError) -> Error {
    Error::File {
        path: path.to_owned(),
        expected: "a Parquet file".to_owned(),
        source: Some(source),
    }
}

/// Returns the rows of a batch by their keys.
pub(crate) fn spans(path: &Path, batch: &RecordBatch) -> Result<Vec<Span>> {
    let runs = numbers(path, batch, RUN_ID.name)?;
    let generations = numbers(path, batch, GENERATION.name)?;
    let mut spans: Vec<Span> = Vec::new();
    for (row, key) in runs
        .values()
        .iter()
        .copied()
        .zip(generations.values().iter().copied())
        .enumerate()
    {
        match spans.last_mut() {
            // Rows of one run lie side by side, so that a file has about as many spans as runs.
            Some(span) if span.key == key => span.rows += 1,
            _ => spans.push(Span {
                key,
                from: row,
                rows: 1,
            }),
        }
    }
    Ok(spans)
}

/// A column of keys, in which no value is missing.
pub(crate) fn numbers<'b>(
    path: &Path,
    batch: &'b RecordBatch,
    name: &str,
) -> Result<&'b Int64Array> {
    let column = batch.column_by_name(name);
    let numbers = column.and_then(|column| column.as_primitive_opt::<Int64Type>());
    numbers
        // A row without a key would belong to any run.
        .filter(|numbers| numbers.null_count() == 0)
        .ok_or_else(|| Error::File {
            path: path.to_owned(),
            expected: format!("whole numbers in the column {name}"),
            source: None,
        })
}

/// The keys of the rows of a file.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// Rows by key.
    pub(crate) counts: BTreeMap<Key, u64>,
    /// All rows, by the description of the file.
    pub(crate) rows: u64,
    /// True if the rows are sorted by run, as this program writes them.
    pub(crate) is_sorted: bool,
}

impl Keys {
    /// Reads the keys of a file.
    pub(crate) fn read(store: &Store, name: &str) -> Result<Self> {
        let batches = Rows::open(store, name, Some(&[RUN_ID.name, GENERATION.name]))?;
        let path = batches.path().to_owned();
        let mut keys = Self {
            counts: BTreeMap::new(),
            rows: batches.all(),
            is_sorted: true,
        };
        let mut last = i64::MIN;
        for batch in batches {
            for span in spans(&path, &batch?)? {
                *keys.counts.entry(span.key).or_insert(0) += span.rows as u64;
                // Only the order of runs matters to a merge; the attempt may go back.
                keys.is_sorted &= last <= span.key.0;
                last = span.key.0;
            }
        }
        Ok(keys)
    }
}
