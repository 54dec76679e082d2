//! A table file: a file of its own, or a range of an archive.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use arrow_array::RecordBatch;
use bytes::Bytes;
use etwkit_etl::source::ByteSource;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};

use super::guard::guarded;
use super::pages;
use crate::source::Source;
use crate::store_error::{StoreError, StoreResult};

/// Bytes of a file that is read at once when it is opened: one read takes less time than the many that look at its pages.
const MAX_IN_MEMORY: u64 = 256 << 10;

/// Where the Parquet file of a table lies, and what the manifest says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFile {
    /// Name of the table.
    pub name: String,
    /// The file to open: the table's own, or the archive.
    pub path: PathBuf,
    /// First byte of the Parquet file in it.
    pub offset: u64,
    /// Bytes of the Parquet file.
    pub length: u64,
    /// Rows.
    pub rows: u64,
    /// Columns by which the rows are in fact sorted: ascending, missing values last.
    pub sorted_by: Vec<String>,
    /// Whether it is computed from other tables.
    pub derived: bool,
    /// The extract, and the file inside it, for messages.
    pub(super) extract: PathBuf,
    pub(super) member: String,
}

impl TableFile {
    /// Opens it for reading by position. The slice can be given to readers of the `parquet` crate.
    ///
    /// # Errors
    /// If the system cannot open the file.
    pub fn open(&self) -> StoreResult<Slice> {
        let opened = File::open(&self.path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (size, file) = opened.map_err(StoreError::io("open", &self.path))?;
        let source = Source::new(file, size, false);
        let length = self.length;
        if length > MAX_IN_MEMORY {
            return Ok(Slice { bytes: Stored::File(source, self.offset), length });
        }
        // The file is closed: with hundreds of extracts there would be more open ones than many systems allow.
        let mut all = vec![0; usize::try_from(length).unwrap_or(0)];
        let read = source.read_at(self.offset, &mut all).map_err(StoreError::io("read", &self.path))?;
        all.truncate(read);
        Ok(Slice { bytes: Stored::Memory(all.into()), length })
    }

    /// Reads the description of its row groups and columns from its end.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn metadata(&self) -> StoreResult<ParquetMetaData> {
        let slice = self.open()?;
        guarded(|| ParquetMetaDataReader::new().parse_and_finish(&slice)).map_err(|e| self.damaged(e))
    }

    /// Reads rows: those columns, or all with `None`. Unknown columns are left out.
    ///
    /// # Errors
    /// If the file is damaged; the iterator gives errors where pages are.
    pub fn batches(&self, columns: Option<&[&str]>) -> StoreResult<Batches> {
        let slice = self.open()?;
        let open = || {
            let builder = ParquetRecordBatchReaderBuilder::try_new(slice.clone())?;
            pages::check(&slice, builder.metadata())?;
            let mask = match columns {
                Some(names) => ProjectionMask::columns(builder.parquet_schema(), names.iter().copied()),
                None => ProjectionMask::all(),
            };
            builder.with_projection(mask).build()
        };
        let reader = guarded(open).map_err(|e| self.damaged(e))?;
        Ok(Batches { file: self.clone(), reader: Some(reader) })
    }

    pub(super) fn damaged(&self, source: ParquetError) -> StoreError {
        StoreError::Table {
            path: self.extract.clone(),
            file: self.member.clone(),
            expected: format!("a Parquet file of {} bytes with {} rows", self.length, self.rows),
            source: Some(source),
        }
    }

    pub(super) fn wrong(&self, expected: String) -> StoreError {
        StoreError::Table { path: self.extract.clone(), file: self.member.clone(), expected, source: None }
    }
}

/// Rows of a table, in batches; ends behind an error.
pub struct Batches {
    file: TableFile,
    reader: Option<ParquetRecordBatchReader>,
}

impl Iterator for Batches {
    type Item = StoreResult<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut reader = self.reader.take()?;
        match guarded(|| reader.next().transpose().map_err(ParquetError::from)) {
            Ok(None) => None,
            Ok(Some(batch)) => {
                self.reader = Some(reader);
                Some(Ok(batch))
            }
            Err(error) => Some(Err(self.file.damaged(error))),
        }
    }
}

/// A range of a file, read by position; cheap to clone.
#[derive(Debug, Clone)]
pub struct Slice {
    bytes: Stored,
    length: u64,
}

#[derive(Debug, Clone)]
enum Stored {
    /// An open file, and where the slice begins in it.
    File(Source, u64),
    /// All of a small one.
    Memory(Bytes),
}

impl Slice {
    /// Whether reading it does not wait for the disk.
    #[must_use]
    pub const fn is_in_memory(&self) -> bool {
        matches!(self.bytes, Stored::Memory(_))
    }

    /// Looks at what the headers of all pages claim, before a decoder takes memory for it.
    ///
    /// # Errors
    /// If one claims more than a page can have, reaches out of its column, or is none.
    pub fn check_pages(&self, metadata: &ParquetMetaData) -> Result<(), ParquetError> {
        guarded(|| pages::check(self, metadata))
    }

    /// Fills `buf` from `position` of the slice; returns how many bytes there were.
    ///
    /// # Errors
    /// What the system reports.
    pub fn read_at(&self, position: u64, buf: &mut [u8]) -> io::Result<usize> {
        match &self.bytes {
            Stored::Memory(memory) => {
                let from = usize::try_from(position).ok().and_then(|position| memory.get(position..));
                from.unwrap_or_default().read(buf)
            }
            Stored::File(source, offset) => {
                let left = usize::try_from(self.length.saturating_sub(position)).unwrap_or(usize::MAX);
                let wanted = buf.len().min(left);
                let buf = buf.get_mut(..wanted).unwrap_or_default();
                source.read_at(offset.saturating_add(position), buf)
            }
        }
    }
}

impl Length for Slice {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Slice {
    type T = io::BufReader<Cursor>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(io::BufReader::new(Cursor { slice: self.clone(), position: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // Asked before memory is taken: the numbers come from the file.
        let end = start.checked_add(length as u64).filter(|end| *end <= self.length);
        if end.is_none() {
            let text = format!("{length} bytes from {start} on reach behind the end, {} bytes", self.length);
            return Err(ParquetError::EOF(text));
        }
        let range = usize::try_from(start).ok().map(|start| start..start.saturating_add(length));
        if let (Stored::Memory(memory), Some(range)) = (&self.bytes, range)
            && range.end <= memory.len()
        {
            return Ok(memory.slice(range));
        }
        let mut all = vec![0; length];
        let read = self.read_at(start, &mut all)?;
        if read < length {
            return Err(ParquetError::EOF(format!("the file ends {} bytes early", length - read)));
        }
        Ok(Bytes::from(all))
    }
}

/// Reads a slice from a position on.
#[derive(Debug)]
pub struct Cursor {
    slice: Slice,
    position: u64,
}

impl Read for Cursor {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.slice.read_at(self.position, buf)?;
        self.position += read as u64;
        Ok(read)
    }
}
