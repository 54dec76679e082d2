//! A file in another place, such as an object store: it is read by ranges, and each read takes a while.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use super::chunks::{Chunk, chunk_around, chunks};

/// A check of the bytes of a column.
pub(super) type CheckColumn = fn(&Bytes, &Chunk<'_>) -> Result<(), ParquetError>;

/// Maximum bytes that are read at once: a column of a row group as a whole. Writers end a row group long
/// before, and the size comes from the file.
const MAX_READ: u64 = 1 << 30;

/// The bytes of a file in another place.
pub trait Ranges: fmt::Debug + Send + Sync {
    /// Reads ranges of the file, each as a whole, in their order.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>>;
}

/// A file in another place, and the parts of it that were read before.
#[derive(Debug, Clone)]
pub(super) struct Remote {
    source: Arc<dyn Ranges>,
    parts: Vec<Part>,
}

/// Bytes of a file, and the position of the first one.
#[derive(Debug, Clone)]
struct Part {
    start: u64,
    bytes: Bytes,
}

impl Part {
    /// Returns the bytes of a range; `None` if some of them are not here.
    fn get(&self, range: &Range<u64>) -> Option<Bytes> {
        let from = usize::try_from(range.start.checked_sub(self.start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(self.start)?).ok()?;
        (from <= to && to <= self.bytes.len()).then(|| self.bytes.slice(from..to))
    }

    /// Returns the bytes from a position on; `None` if it is not here.
    fn rest(&self, position: u64) -> Option<&[u8]> {
        let from = usize::try_from(position.checked_sub(self.start)?).ok()?;
        let rest = self.bytes.get(from..)?;
        (!rest.is_empty()).then_some(rest)
    }
}

impl Remote {
    /// A file whose end was read.
    pub(super) fn new(source: Arc<dyn Ranges>, start: u64, end: Bytes) -> Self {
        let end = Part { start, bytes: end };
        Self {
            source,
            parts: vec![end],
        }
    }

    /// Reads a range, from the parts that are here if they have it.
    pub(super) fn read(&self, range: Range<u64>) -> io::Result<Bytes> {
        let mut read = self.read_all(&[range])?;
        read.pop().ok_or_else(early_end)
    }

    /// Returns bytes from a position on that are here; `None` if there are none.
    pub(super) fn here(&self, position: u64) -> Option<&[u8]> {
        self.parts.iter().find_map(|part| part.rest(position))
    }

    /// Returns the file without the parts that are here.
    pub(super) fn without_parts(&self) -> Self {
        Self {
            source: self.source.clone(),
            parts: Vec::new(),
        }
    }

    fn read_all(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        let here = |range: &Range<u64>| self.parts.iter().find_map(|part| part.get(range));
        let found: Vec<Option<Bytes>> = ranges.iter().map(here).collect();
        let missing = found.iter().zip(ranges);
        let missing: Vec<Range<u64>> = missing
            .filter(|(found, _)| found.is_none())
            .map(|(_, range)| range.clone())
            .collect();
        if missing.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        let mut read = self.source.read(&missing)?.into_iter();
        let all = found.into_iter().map(|found| found.or_else(|| read.next()));
        let all: Option<Vec<Bytes>> = all.collect();
        let all = all.ok_or_else(early_end)?;
        let mut both = all.iter().zip(ranges);
        if both.all(|(bytes, range)| bytes.len() as u64 == length(range)) {
            Ok(all)
        } else {
            Err(early_end())
        }
    }

    /// Reads ranges. The columns that they are in are read as a whole, so that `check` sees the headers
    /// of all their pages.
    pub(super) fn read_columns(
        &self,
        size: u64,
        metadata: &ParquetMetaData,
        ranges: &[Range<u64>],
        check: CheckColumn,
    ) -> Result<Vec<Bytes>, ParquetError> {
        let chunks = chunks(metadata, size)?;
        let mut around = Vec::with_capacity(ranges.len());
        let mut wanted = Vec::with_capacity(ranges.len());
        for range in ranges {
            let chunk = chunk_around(&chunks, range, size)?;
            let whole = chunk.map_or(range, |chunk| &chunk.range);
            refuse_excess(whole)?;
            wanted.push(whole.clone());
            around.push(chunk);
        }
        let read = self.read_all(&wanted)?;
        let mut answers = Vec::with_capacity(ranges.len());
        let mut checked = None;
        for ((chunk, range), bytes) in around.into_iter().zip(ranges).zip(read) {
            let Some(chunk) = chunk else {
                answers.push(bytes);
                continue;
            };
            // Pages of one column are asked for one after the other.
            if checked != Some(chunk.range.start) {
                check(&bytes, chunk)?;
                checked = Some(chunk.range.start);
            }
            let start = chunk.range.start;
            let part = Part { start, bytes };
            answers.push(part.get(range).ok_or_else(early_end)?);
        }
        Ok(answers)
    }

    /// Reads columns, and returns the file with them.
    pub(super) fn with_columns(
        &self,
        size: u64,
        metadata: &ParquetMetaData,
        is_wanted: &dyn Fn(&str) -> bool,
        check: CheckColumn,
    ) -> Result<Self, ParquetError> {
        let wanted = chunks(metadata, size)?.into_iter();
        let ranges: Vec<Range<u64>> = wanted
            .filter(|chunk| is_wanted(chunk.column()))
            .map(|chunk| chunk.range)
            .collect();
        let read = self.read_columns(size, metadata, &ranges, check)?;
        let mut parts = self.parts.clone();
        parts.extend(ranges.into_iter().zip(read).map(|(range, bytes)| Part {
            start: range.start,
            bytes,
        }));
        Ok(Self {
            source: self.source.clone(),
            parts,
        })
    }
}

/// Refuses to read more at once than any column has.
fn refuse_excess(range: &Range<u64>) -> Result<(), ParquetError> {
    if length(range) <= MAX_READ {
        return Ok(());
    }
    let (start, end) = (range.start, range.end);
    Err(ParquetError::General(format!(
        "the bytes {start} to {end} are too many for one column; expected {MAX_READ} at most"
    )))
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

fn early_end() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends early")
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;
    use std::sync::Mutex;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::arrow::{ArrowWriter, ProjectionMask};
    use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};
    use parquet::file::page_index::offset_index::PageLocation;

    use super::*;
    use crate::reader::Slice;

    /// Bytes of the end of a file that are read when it is opened.
    const END: usize = 4000;

    const ROWS: i64 = 900;

    /// A file that notes which of its ranges are read.
    #[derive(Debug)]
    struct Far {
        bytes: Bytes,
        read: Mutex<Vec<Range<u64>>>,
    }

    impl Far {
        /// The ranges that were read since the last call.
        fn read_now(&self) -> Vec<Range<u64>> {
            std::mem::take(&mut *self.read.lock().unwrap())
        }
    }

    impl Ranges for Far {
        fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
            self.read.lock().unwrap().extend(ranges.iter().cloned());
            let bytes = |range: &Range<u64>| {
                let range = range.start as usize..range.end as usize;
                self.bytes.slice(range)
            };
            Ok(ranges.iter().map(bytes).collect())
        }
    }

    /// A file with two columns, `a` and `b`.
    fn far() -> (Arc<Far>, Slice, ParquetMetaData) {
        let column =
            |start| -> ArrayRef { Arc::new(Int64Array::from_iter_values(start..start + ROWS)) };
        let rows = RecordBatch::try_from_iter([("a", column(0)), ("b", column(7))]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        let bytes = Bytes::from(writer.into_inner().unwrap());
        let file = Arc::new(Far {
            read: Mutex::default(),
            bytes: bytes.clone(),
        });
        let end = bytes.slice(bytes.len() - END..);
        let slice = Slice::of_remote(file.clone(), bytes.len() as u64, end);
        let metadata = ParquetMetaDataReader::new()
            .with_page_index_policy(PageIndexPolicy::Required)
            .parse_and_finish(&slice)
            .unwrap();
        (file, slice, metadata)
    }

    fn column(metadata: &ParquetMetaData, at: usize) -> Range<u64> {
        let (start, length) = metadata.row_group(0).column(at).byte_range();
        start..start + length
    }

    /// The description of a file whose columns have other sizes.
    fn resized(metadata: ParquetMetaData, sizes: [u64; 2]) -> ParquetMetaData {
        let mut builder = metadata.into_builder();
        let group = builder.take_row_groups().remove(0);
        let columns = group.columns().iter().cloned().zip(sizes);
        let columns = columns.map(|(column, size)| {
            let column = column.into_builder();
            let column = column.set_total_compressed_size(size as i64);
            column.build().unwrap()
        });
        let columns = columns.collect();
        let group = group.into_builder().set_column_metadata(columns);
        let groups = vec![group.build().unwrap()];
        builder.set_row_groups(groups).build()
    }

    #[test]
    fn a_column_is_read_once_and_as_a_whole() {
        let (file, slice, metadata) = far();
        assert_eq!(file.read_now(), [], "the end was there");
        let b = column(&metadata, 1);
        let page = b.start + 10..b.start + 30;
        let read = slice.read_columns(&metadata, from_ref(&page)).unwrap();
        assert_eq!(
            read[0],
            file.bytes.slice(page.start as usize..page.end as usize)
        );
        assert_eq!(file.read_now(), from_ref(&b));
        let with_b = slice.with_columns(&metadata, |name| name == "b").unwrap();
        let mut bytes = [0; 20];
        with_b.read_at(page.start, &mut bytes).unwrap();
        assert_eq!(bytes[..], read[0][..]);
        assert_eq!(file.read_now(), [b]);
    }

    #[test]
    fn a_column_that_was_read_is_decoded_without_another_request() {
        let (file, slice, metadata) = far();
        let with_a = slice.with_columns(&metadata, |name| name == "a").unwrap();
        assert_eq!(file.read_now(), [column(&metadata, 0)]);
        let builder = ParquetRecordBatchReaderBuilder::try_new(with_a).unwrap();
        let only_a = ProjectionMask::columns(builder.parquet_schema(), ["a"]);
        let batches = builder.with_projection(only_a).build().unwrap();
        let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, ROWS as usize);
        assert_eq!(file.read_now(), []);
    }

    #[test]
    fn a_file_without_its_end_reads_it_again() {
        let (file, slice, metadata) = far();
        let size = file.bytes.len() as u64;
        let footer = size - 8..size;
        slice.read_columns(&metadata, from_ref(&footer)).unwrap();
        assert_eq!(file.read_now(), []);
        let slice = slice.without_end();
        slice.read_columns(&metadata, from_ref(&footer)).unwrap();
        assert_eq!(file.read_now(), [footer]);
    }

    #[test]
    fn columns_that_overlap_are_refused() {
        let (file, slice, metadata) = far();
        let (a, b) = (column(&metadata, 0), column(&metadata, 1));
        // One byte of `b` is in `a`, too.
        let sizes = [b.start + 1 - a.start, b.end - b.start];
        let metadata = resized(metadata, sizes);
        let of_ranges = slice.read_columns(&metadata, from_ref(&b)).map(|_| ());
        let of_columns = slice.with_columns(&metadata, |name| name == "b");
        for refused in [of_ranges, of_columns.map(|_| ())] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("the columns a and b overlap"), "{error}");
        }
        assert_eq!(file.read_now(), []);
    }

    #[test]
    fn a_column_that_is_larger_than_any_is_not_read() {
        let (file, _, metadata) = far();
        let metadata = resized(metadata, [MAX_READ + 1, 0]);
        let slice = Slice::of_remote(file.clone(), 2 * MAX_READ, Bytes::new());
        let a = column(&metadata, 0);
        let error = slice.read_columns(&metadata, from_ref(&a)).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("expected 1073741824 at most"), "{error}");
        assert_eq!(file.read_now(), []);
    }

    #[test]
    fn pages_are_checked_before_a_decoder_gets_them() {
        let (file, _, metadata) = far();
        let a = column(&metadata, 0);
        let mut bytes = file.bytes.to_vec();
        bytes[a.start as usize..a.end as usize].fill(0xFF);
        let (size, end) = (
            bytes.len(),
            Bytes::from(bytes[bytes.len() - END..].to_vec()),
        );
        let damaged = Arc::new(Far {
            bytes: bytes.into(),
            read: Mutex::default(),
        });
        let slice = Slice::of_remote(damaged, size as u64, end);
        let error = slice.read_columns(&metadata, from_ref(&a)).unwrap_err();
        assert!(error.to_string().contains("(column a)"), "{error}");
        // Those of the other column are as they should be, and none may reach into both.
        let b = column(&metadata, 1);
        slice.read_columns(&metadata, from_ref(&b)).unwrap();
        let reaching = b.start - 1..b.end;
        let error = slice.read_columns(&metadata, &[reaching]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("reach out of their column"), "{error}");
    }

    #[test]
    fn an_index_names_pages_of_its_column_alone() {
        let (file, slice, metadata) = far();
        let local = Slice::of_bytes(file.bytes.clone());
        let a = column(&metadata, 0);
        slice.read_columns(&metadata, from_ref(&a)).unwrap();
        local.check_pages(&metadata).unwrap();
        let index = metadata.offset_index().unwrap().clone();
        let page = index[0][0].page_locations()[0].clone();
        let inside = PageLocation {
            offset: page.offset + 1,
            ..page.clone()
        };
        let longer = PageLocation {
            compressed_page_size: page.compressed_page_size + 1,
            ..page.clone()
        };
        for pages in [vec![inside], vec![longer], vec![page.clone(), page]] {
            let mut index = index.clone();
            index[0][0].page_locations = pages;
            let builder = metadata.clone().into_builder();
            let metadata = builder.set_offset_index(Some(index)).build();
            let of_ranges = slice.read_columns(&metadata, from_ref(&a)).map(|_| ());
            let of_columns = slice.with_columns(&metadata, |name| name == "a");
            let of_all = local.check_pages(&metadata);
            for refused in [of_ranges, of_columns.map(|_| ()), of_all.map(|_| ())] {
                let error = refused.unwrap_err().to_string();
                assert!(error.contains("(column a)"), "{error}");
                assert!(error.contains("the index names a page"), "{error}");
            }
        }
    }
}
