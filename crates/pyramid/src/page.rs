//! A file of sorted records: written once, read by page.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use etwkit_base::ordered::both;
use etwkit_extract::{Slice, quiet};
use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::error::{Error, Result};
use crate::part::SLOTS;
use crate::spill::Record;

/// Rows of a page: the least that a reader decodes for a lane.
const PAGE_ROWS: usize = 1024;
/// Rows of a row group, which a writer holds in memory.
const GROUP_ROWS: usize = 1 << 18;
/// Rows per batch of the encoder or the reader.
const BATCH_ROWS: usize = 8192;
/// Most values of a row are 0, which the fastest level compresses as well as any other.
const ZSTD_LEVEL: i32 = 1;
/// Names of the keys. The first value follows as `v0`, a second one as `v1`. If there are more, all
/// but the first are in one column, `rest`, eight bytes each: queries that need one of them need
/// most, and a page of one column is decoded in a fraction of the time of nine.
const KEYS: [&str; 4] = ["key", "sub", "first", "last"];
/// Values that have columns of their own.
const SINGLE: usize = 2;
const REST: &str = "rest";
/// Bytes of a value in `rest`.
const WIDTH: usize = size_of::<i64>();

/// Writes a file of pages.
pub(crate) struct PageWriter {
    path: PathBuf,
    writer: ArrowWriter<File>,
    schema: Arc<Schema>,
    columns: Vec<Vec<i64>>,
    /// Bytes of the column `rest` that are not written yet, and how many values it has for each
    /// record.
    rest: (Vec<u8>, usize),
}

impl PageWriter {
    /// Starts a file whose records have `slots` values.
    pub(crate) fn create(path: &Path, slots: usize) -> Result<Self> {
        let single = if slots > SINGLE { 1 } else { slots };
        let names = KEYS
            .iter()
            .map(|name| (*name).to_owned())
            .chain((0..single).map(|n| format!("v{n}")));
        let mut fields: Vec<Field> = names
            .map(|name| Field::new(name, DataType::Int64, false))
            .collect();
        let too_wide = |_| ParquetError::General("records of too many values".into());
        let bytes = i32::try_from((slots - single) * WIDTH)
            .map_err(too_wide)
            .map_err(Error::pages(path))?;
        fields
            .extend((bytes > 0).then(|| Field::new(REST, DataType::FixedSizeBinary(bytes), false)));
        let schema = Arc::new(Schema::new(fields));
        let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(Error::pages(path))?;
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("etwkit version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::PLAIN)
            .set_compression(Compression::ZSTD(level))
            .set_statistics_enabled(EnabledStatistics::None)
            .set_data_page_row_count_limit(PAGE_ROWS)
            .set_write_batch_size(PAGE_ROWS)
            .set_max_row_group_row_count(Some(GROUP_ROWS));
        // Only the keys have bounds in the index of pages, because only they decide if a page is
        // read. They are sorted or nearly so, and their differences take few bits.
        for name in KEYS {
            properties = properties
                .set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::Page)
                .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
        }
        let file = File::create_new(path).map_err(Error::io("create", path))?;
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties.build()));
        let writer = writer.map_err(Error::pages(path))?;
        let columns = vec![Vec::new(); KEYS.len() + single];
        Ok(Self {
            path: path.to_owned(),
            writer,
            schema,
            columns,
            rest: (Vec::new(), slots - single),
        })
    }

    /// Takes the next record.
    pub(crate) fn push(&mut self, record: &Record) -> Result<()> {
        for (column, value) in self
            .columns
            .iter_mut()
            .zip(record.keys.iter().chain(&record.values))
        {
            column.push(*value);
        }
        let rest = record.values.iter().skip(1).take(self.rest.1);
        self.rest
            .0
            .extend(rest.flat_map(|value| value.to_le_bytes()));
        if self
            .columns
            .first()
            .is_some_and(|column| column.len() >= BATCH_ROWS)
        {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<()> {
        let take =
            |column: &mut Vec<i64>| Arc::new(Int64Array::from(std::mem::take(column))) as ArrayRef;
        let mut columns: Vec<ArrayRef> = self.columns.iter_mut().map(take).collect();
        let mut batch = || -> std::result::Result<RecordBatch, ParquetError> {
            if self.rest.1 > 0 {
                let (bytes, width) = (std::mem::take(&mut self.rest.0), self.rest.1 * WIDTH);
                let width = i32::try_from(width).unwrap_or(i32::MAX);
                columns.push(Arc::new(FixedSizeBinaryArray::try_new(
                    width,
                    bytes.into(),
                    None,
                )?));
            }
            Ok(RecordBatch::try_new(
                Arc::clone(&self.schema),
                std::mem::take(&mut columns),
            )?)
        };
        batch()
            .and_then(|batch| self.writer.write(&batch))
            .map_err(Error::pages(&self.path))
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.writer
            .close()
            .map(drop)
            .map_err(Error::pages(&self.path))
    }
}

/// The position of a page, and the ranges of its keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageAt {
    group: usize,
    /// Its first row in the row group.
    row: usize,
    rows: usize,
    /// Smallest and largest of the first key.
    pub(crate) key: (i64, i64),
    /// Smallest of the third key.
    pub(crate) first: i64,
    /// Largest of the fourth.
    pub(crate) last: i64,
}

/// Minimum number of pages for which a second thread decodes half of them: moving a picture waits
/// for decoding. The break-even point was not measured.
const PAGES_FOR_TWO: usize = 16;

/// A file of pages that is open for any number of readers.
#[derive(Debug)]
pub(crate) struct PageFile {
    path: PathBuf,
    slice: Slice,
    metadata: ArrowReaderMetadata,
    pages: Vec<PageAt>,
}

impl PageFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let slice = Slice::of_file(path)?;
        // Pages are selected by the index, so a file without one cannot be used.
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
        let load = || {
            slice.check_schema()?;
            let metadata = ArrowReaderMetadata::load(&slice, options)?;
            slice.check_pages(metadata.metadata())?;
            Ok((pages(metadata.metadata())?, metadata))
        };
        let (pages, metadata) = guarded(load).map_err(Error::pages(path))?;
        Ok(Self {
            path: path.to_owned(),
            slice,
            metadata,
            pages,
        })
    }

    /// Calls `on_record` for the records of all wanted pages. Values of other slots than `slots`
    /// are 0. Returns the number of records.
    pub(crate) fn read(
        &self,
        slots: &[usize],
        wanted: impl Fn(&PageAt) -> bool,
        on_record: &mut dyn FnMut(&Record),
    ) -> Result<u64> {
        let read = guarded(|| self.read_pages(slots, wanted, on_record));
        read.map_err(Error::pages(&self.path))
    }

    fn read_pages(
        &self,
        slots: &[usize],
        wanted: impl Fn(&PageAt) -> bool,
        on_record: &mut dyn FnMut(&Record),
    ) -> std::result::Result<u64, ParquetError> {
        let wanted: Vec<&PageAt> = self.pages.iter().filter(|page| wanted(page)).collect();
        let mut count = 0;
        let other = || ParquetError::General("a column of other numbers".into());
        let mut on_batch = |batch: &RecordBatch| {
            count += batch.num_rows() as u64;
            let columns = Columns::of(batch, slots);
            let columns = columns.ok_or_else(other)?;
            columns
                .give(slots, batch.num_rows(), on_record)
                .ok_or_else(other)
        };
        if wanted.len() < PAGES_FOR_TWO {
            self.decode(&wanted, slots, &mut on_batch)?;
            return Ok(count);
        }
        let (front, back) = wanted.split_at(wanted.len() / 2);
        let collect = || {
            let mut batches = Vec::new();
            self.decode(back, slots, &mut |batch| {
                batches.push(batch.clone());
                Ok(())
            })?;
            Ok(batches)
        };
        let (back, front) = both(
            || guarded(collect),
            || self.decode(front, slots, &mut on_batch),
        );
        // The caller gets the records in order, so the second half waits for the first.
        front?;
        back?.iter().try_for_each(on_batch)?;
        Ok(count)
    }

    /// Decodes the rows of pages, which are in order, in batches.
    fn decode(
        &self,
        wanted: &[&PageAt],
        slots: &[usize],
        on_batch: &mut dyn FnMut(&RecordBatch) -> std::result::Result<(), ParquetError>,
    ) -> std::result::Result<(), ParquetError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let (groups, selection) = select(self.metadata.metadata(), wanted)?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.slice.clone(),
            self.metadata.clone(),
        );
        let has_rest = builder.schema().column_with_name(REST).is_some();
        let leaf = |slot: &usize| KEYS.len() + if has_rest { (*slot).min(1) } else { *slot };
        let leaves = (0..KEYS.len()).chain(slots.iter().map(leaf));
        let mask = ProjectionMask::leaves(builder.parquet_schema(), leaves);
        let mut reader = builder
            .with_projection(mask)
            .with_row_groups(groups)
            .with_row_selection(selection)
            .with_batch_size(BATCH_ROWS)
            .build()?;
        reader.try_for_each(|batch| on_batch(&batch.map_err(ParquetError::from)?))
    }
}

fn numbers(column: &ArrayRef) -> Option<&[i64]> {
    column
        .as_primitive_opt::<Int64Type>()
        .map(|column| column.values().as_ref())
}

/// The columns of a batch.
struct Columns<'b> {
    keys: Vec<&'b [i64]>,
    /// The value of each slot that has a column of its own.
    single: Vec<(usize, &'b [i64])>,
    rest: Option<&'b FixedSizeBinaryArray>,
}

impl<'b> Columns<'b> {
    /// `None` if the columns are not the columns that this program writes.
    fn of(batch: &'b RecordBatch, slots: &[usize]) -> Option<Self> {
        let (keys, values) = batch.columns().split_at_checked(KEYS.len())?;
        let keys = keys.iter().map(numbers).collect::<Option<_>>()?;
        let rest = match batch.column_by_name(REST) {
            Some(rest) => Some(
                rest.as_fixed_size_binary_opt()
                    .filter(|rest| rest.null_count() == 0)?,
            ),
            None => None,
        };
        // Columns come in the order of the file, not in the order of the slots.
        let mut wanted: Vec<usize> = slots.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let is_single = |slot: &usize| rest.is_none() || *slot == 0;
        let single = wanted.into_iter().filter(is_single).zip(values);
        let single = single
            .map(|(slot, column)| Some((slot, numbers(column)?)))
            .collect::<Option<_>>()?;
        Some(Self { keys, single, rest })
    }

    /// Gives all records to `on_record`; `None` if a column has fewer rows.
    fn give(&self, slots: &[usize], rows: usize, on_record: &mut dyn FnMut(&Record)) -> Option<()> {
        let is_wanted: [bool; SLOTS] = std::array::from_fn(|slot| slots.contains(&slot));
        let mut record = Record::default();
        for row in 0..rows {
            for (key, column) in record.keys.iter_mut().zip(&self.keys) {
                *key = *column.get(row)?;
            }
            for (slot, column) in &self.single {
                if let Some(value) = record.values.get_mut(*slot) {
                    *value = *column.get(row)?;
                }
            }
            if let Some(rest) = self.rest.filter(|rest| row < rest.len()) {
                let (values, _) = rest.value(row).as_chunks::<WIDTH>();
                let places = record.values.iter_mut().zip(is_wanted).skip(1);
                for ((to, is_wanted), bytes) in places.zip(values) {
                    *to = if is_wanted {
                        i64::from_le_bytes(*bytes)
                    } else {
                        0
                    };
                }
            }
            on_record(&record);
        }
        Some(())
    }
}

/// Number of rows of a row group, which a damaged file can claim to be negative.
pub(crate) fn rows_of(group: &RowGroupMetaData) -> std::result::Result<usize, ParquetError> {
    let rows = group.num_rows();
    usize::try_from(rows).map_err(|_| ParquetError::General(format!("a row group of {rows} rows")))
}

/// Row groups of pages, which are in order, and the selected rows in them.
fn select(
    metadata: &ParquetMetaData,
    pages: &[&PageAt],
) -> std::result::Result<(Vec<usize>, RowSelection), ParquetError> {
    let mut groups: Vec<usize> = pages.iter().map(|page| page.group).collect();
    // Pages come in order, so equal groups are adjacent.
    groups.dedup();
    let about = |group: usize| {
        let missing = || ParquetError::General(format!("there is no row group {group}"));
        metadata.row_groups().get(group).ok_or_else(missing)
    };
    let mut ranges = Vec::new();
    let (mut before, mut pages) = (0, pages.iter().peekable());
    for group in &groups {
        while let Some(page) = pages.next_if(|page| page.group == *group) {
            let begin = before + page.row;
            ranges.push(begin..begin + page.rows);
        }
        before += rows_of(about(*group)?)?;
    }
    let selection = RowSelection::from_consecutive_ranges(ranges.into_iter(), before);
    Ok((groups, selection))
}

/// The pages of a file, as its index has them. One without a usable index is a page that has to be
/// read.
fn pages(metadata: &ParquetMetaData) -> std::result::Result<Vec<PageAt>, ParquetError> {
    let mut all = Vec::new();
    for (group, about) in metadata.row_groups().iter().enumerate() {
        let rows = rows_of(about)?;
        let offsets = metadata
            .offset_index()
            .and_then(|index| index.get(group)?.first());
        let starts: Vec<usize> = offsets
            .into_iter()
            .flat_map(OffsetIndexMetaData::page_locations)
            .map(|page| {
                usize::try_from(page.first_row_index)
                    .unwrap_or(usize::MAX)
                    // A damaged index can name rows after the end of the group.
                    .min(rows)
            })
            .collect();
        let bounds = |column: usize, page: usize| {
            let index = metadata
                .column_index()
                .and_then(|index| index.get(group)?.get(column));
            let ColumnIndexMetaData::INT64(index) = index? else {
                return None;
            };
            // A damaged column index can have another number of pages than the offset index.
            let is_same = index.min_values().len() == starts.len();
            is_same.then_some((
                *index.min_values().get(page)?,
                *index.max_values().get(page)?,
            ))
        };
        for (page, row) in starts.iter().enumerate() {
            let end = starts.get(page + 1).copied().unwrap_or(rows);
            // A page without bounds is always read.
            let of = |column| bounds(column, page).unwrap_or((i64::MIN, i64::MAX));
            let rows = end.saturating_sub(*row);
            all.push(PageAt {
                group,
                row: *row,
                rows,
                key: of(0),
                first: of(2).0,
                last: of(3).1,
            });
        }
    }
    Ok(all)
}

/// Runs the decoder, which panics over some damaged pages.
pub(crate) fn guarded<T>(
    decode: impl FnOnce() -> std::result::Result<T, ParquetError>,
) -> std::result::Result<T, ParquetError> {
    quiet::catch(decode).unwrap_or_else(|said| {
        Err(ParquetError::General(format!(
            "the decoder gave up: {said}"
        )))
    })
}
