//! A file in another place, such as an object store: it is read by ranges, and each read takes a while.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

/// A check of the bytes of a column, which has a name.
pub(super) type CheckColumn = fn(&Bytes, &str) -> Result<(), ParquetError>;

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

/// The bytes of a column in a row group.
struct Chunk {
    name: String,
    range: Range<u64>,
}

impl Part {
    /// Returns the bytes of a range; `None` if some of them are not here.
    fn get(&self, range: &Range<u64>) -> Option<Bytes> {
        let from = usize::try_from(range.start.checked_sub(self.start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(self.start)?).ok()?;
        (from <= to && to <= self.bytes.len()).then(|| self.bytes.slice(from..to))
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
        for range in ranges {
            around.push(chunk_around(&chunks, range, size)?);
        }
        let wanted = around.iter().zip(ranges);
        let wanted: Vec<Range<u64>> = wanted
            .map(|(chunk, range)| chunk.map_or(range, |chunk| &chunk.range).clone())
            .collect();
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
                check(&bytes, &chunk.name)?;
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

impl Chunk {
    /// The name of the column in the schema of the table: the outermost one of a list or a map.
    fn column(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }
}

/// Returns the columns of all row groups.
fn chunks(metadata: &ParquetMetaData, size: u64) -> Result<Vec<Chunk>, ParquetError> {
    let columns = metadata
        .row_groups()
        .iter()
        .flat_map(RowGroupMetaData::columns);
    let mut all = Vec::new();
    for column in columns {
        let (start, length) = column.byte_range();
        let chunk = Chunk {
            name: column.column_path().string(),
            range: start..start.saturating_add(length),
        };
        if chunk.range.end > size {
            let name = chunk.name;
            return Err(ParquetError::EOF(format!(
                "the column {name} reaches past the end"
            )));
        }
        all.push(chunk);
    }
    Ok(all)
}

/// Returns the column that a range is in; `None` for a range outside of all columns, such as an index.
fn chunk_around<'c>(
    chunks: &'c [Chunk],
    range: &Range<u64>,
    size: u64,
) -> Result<Option<&'c Chunk>, ParquetError> {
    let touches = |chunk: &&Chunk| range.start < chunk.range.end && chunk.range.start < range.end;
    let touched = chunks.iter().find(touches);
    let bounds = touched.map_or(0..size, |chunk| chunk.range.clone());
    if range.start > range.end || range.start < bounds.start || range.end > bounds.end {
        let (start, end) = (range.start, range.end);
        return Err(ParquetError::EOF(format!(
            "the bytes {start} to {end} reach out of their column"
        )));
    }
    Ok(touched)
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
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::ParquetMetaDataReader;

    use super::*;
    use crate::reader::Slice;

    /// Bytes of the end of a file that are read when it is opened.
    const END: usize = 4000;

    /// A file that notes which of its ranges are read.
    #[derive(Debug)]
    struct Far {
        bytes: Bytes,
        read: Mutex<Vec<Range<u64>>>,
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
            |start| -> ArrayRef { Arc::new(Int64Array::from_iter_values(start..start + 900)) };
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
            .parse_and_finish(&slice)
            .unwrap();
        (file, slice, metadata)
    }

    fn column(metadata: &ParquetMetaData, at: usize) -> Range<u64> {
        let (start, length) = metadata.row_group(0).column(at).byte_range();
        start..start + length
    }

    #[test]
    fn a_column_is_read_once_and_as_a_whole() {
        let (file, slice, metadata) = far();
        assert_eq!(*file.read.lock().unwrap(), [], "the end was there");
        let b = column(&metadata, 1);
        let page = b.start + 10..b.start + 30;
        let read = slice.read_columns(&metadata, from_ref(&page)).unwrap();
        assert_eq!(
            read[0],
            file.bytes.slice(page.start as usize..page.end as usize)
        );
        assert_eq!(*file.read.lock().unwrap(), from_ref(&b));
        let with_b = slice.with_columns(&metadata, |name| name == "b").unwrap();
        let mut bytes = [0; 20];
        with_b.read_at(page.start, &mut bytes).unwrap();
        assert_eq!(bytes[..], read[0][..]);
        assert_eq!(*file.read.lock().unwrap(), [b.clone(), b]);
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
}
