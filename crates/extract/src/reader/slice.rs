//! A table file: a file of its own, or a range of an archive.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use bytes::Bytes;
use etwkit_etl::source::ByteSource;
use etwkit_trace::table::RUN_ID;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};

use super::checks::Checks;
use super::guard::guarded;
use super::remote::{Ranges, Remote};
use super::{pages, schema};
use crate::checksum::{BLOCK_BYTES, Checksums, Mismatch};
use crate::reopened::Reopened;
use crate::source::Source;
use crate::store_error::{StoreError, StoreResult};
use crate::writer::order::Order;

/// Maximum bytes of a file that is read completely when it is opened: one read is faster than the
/// many reads of its pages.
const MAX_IN_MEMORY: u64 = 256 << 10;

/// Bytes that are compared with their checksums in one step: whole blocks.
const VERIFIED_AT_ONCE: usize = 16 * BLOCK_BYTES as usize;

/// Nanoseconds or bytes that no recording has: 146 years, four exabytes. The sum of a few of these
/// numbers would not fit into 64 bits.
const MAX_NUMBER: u64 = 1 << 62;

/// The location of the Parquet file of a table, and its entry in the manifest.
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
    /// Checksums of its blocks; empty if the manifest has none.
    pub(super) crc32: Checksums,
    /// True if it is computed from other tables.
    pub derived: bool,
    /// The extract, and the file inside it, for messages.
    pub(super) extract: PathBuf,
    pub(super) member: String,
    /// CRC-32 of the manifest that names it. It reveals that the extract was replaced in the
    /// meantime.
    pub(super) of_manifest: Option<u32>,
}

impl TableFile {
    /// Opens it for reading by position. The slice can be passed to readers of the `parquet` crate.
    ///
    /// # Errors
    /// If the system cannot open the file.
    pub fn open(&self) -> StoreResult<Slice> {
        let source = Reopened::open(&self.path).map_err(StoreError::io("open", &self.path))?;
        let length = self.length;
        // Without checksums there is nothing to compare, as with files of other programs.
        let checks = (!self.crc32.is_empty()).then(|| Arc::new(Checks::of(self)));
        if length > MAX_IN_MEMORY {
            return Ok(Slice {
                bytes: Stored::File(source, self.offset),
                length,
                checks,
            });
        }
        // The file is closed: small ones are read once.
        let mut all = vec![0; length as usize];
        let read = source
            .read_at(self.offset, &mut all)
            .map_err(StoreError::io("read", &self.path))?;
        all.truncate(read);
        // All of it is checked here, and nothing later.
        self.check(0, &all)?;
        Ok(Slice {
            bytes: Stored::Memory(all.into()),
            length,
            checks: None,
        })
    }

    /// This file, after it was moved there.
    pub(crate) fn moved_to(&self, path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            ..self.clone()
        }
    }

    /// Reads the description of its row groups and columns from its end.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn metadata(&self) -> StoreResult<ParquetMetaData> {
        let slice = self.open()?;
        let read = || {
            slice.check_schema()?;
            ParquetMetaDataReader::new().parse_and_finish(&slice)
        };
        guarded(read).map_err(|e| self.damaged(e))
    }

    /// Reads rows: those columns, or all that the table declares with `None`, which `run_id` is
    /// not. Unknown columns are left out.
    ///
    /// # Errors
    /// If the file is damaged; for damaged pages the iterator returns errors.
    pub fn batches(&self, columns: Option<&[&str]>) -> StoreResult<Batches> {
        let slice = self.open()?;
        let open = || {
            slice.check_schema()?;
            let builder = ParquetRecordBatchReaderBuilder::try_new(slice.clone())?;
            // Before the decoder allocates memory by what the pages claim.
            pages::check(&slice, builder.metadata())?;
            let mask = match columns {
                Some(names) => {
                    ProjectionMask::columns(builder.parquet_schema(), names.iter().copied())
                }
                None => {
                    let schema = builder.parquet_schema();
                    // The column of the trace is in each row the same and is added by the one who
                    // asks.
                    let is_own = |index: &usize| schema.column(*index).name() != RUN_ID.name;
                    ProjectionMask::leaves(schema, (0..schema.num_columns()).filter(is_own))
                }
            };
            builder.with_projection(mask).build()
        };
        let reader = guarded(open).map_err(|e| self.damaged(e))?;
        Ok(Batches {
            file: self.clone(),
            reader: Some(reader),
        })
    }

    /// Compares bytes with their checksums. They start at the start of a block.
    pub(super) fn check(&self, from: u64, bytes: &[u8]) -> StoreResult<()> {
        let wrong = |wrong: Mismatch| {
            let Mismatch {
                from,
                to,
                expected,
                found,
            } = wrong;
            self.wrong(format!(
                "bytes {from} to {to} with the checksum {expected:08x}, found {found:08x}"
            ))
        };
        self.crc32.check(from, bytes).map_err(wrong)
    }

    /// Compares all bytes with their checksums, if there are any.
    ///
    /// # Errors
    /// The first that differ, or the file cannot be read.
    fn verify(&self) -> StoreResult<()> {
        if self.crc32.is_empty() {
            return Ok(());
        }
        // Opened anew and read to its end: this happens only after an error.
        let opened = File::open(&self.path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (size, file) = opened.map_err(StoreError::io("open", &self.path))?;
        let source = Source::new(file, size, false);
        let mut block = vec![0; VERIFIED_AT_ONCE];
        let mut at = 0;
        while at < self.length {
            let wanted = usize::try_from(self.length - at)
                .unwrap_or(VERIFIED_AT_ONCE)
                .min(VERIFIED_AT_ONCE);
            let (part, _) = block.split_at_mut(wanted);
            let read = source
                .read_at(self.offset + at, part)
                .map_err(StoreError::io("read", &self.path))?;
            if read == 0 {
                break;
            }
            let (part, _) = part.split_at(read);
            self.check(at, part)?;
            at += read as u64;
        }
        Ok(())
    }

    /// Examines the file by decoding each of its columns: the first error names the column. This is
    /// for a failed query, if the damaged file is unknown.
    ///
    /// # Errors
    /// The damage.
    pub fn examine(&self) -> StoreResult<()> {
        // Column by column, so that the error can name one.
        let metadata = self.metadata()?;
        let columns = metadata.file_metadata().schema_descr().columns().to_vec();
        for column in columns {
            let name = column.name();
            // An error in the headers of pages names its column itself.
            let mut rows = self.batches(Some(&[name]))?;
            rows.try_for_each(|batch| batch.map(|_| ()))
                .map_err(|error| match error {
                    StoreError::Table {
                        path,
                        file,
                        expected,
                        source,
                    } => StoreError::Table {
                        path,
                        file,
                        expected: format!("{expected} (column {name})"),
                        source,
                    },
                    other => other,
                })?;
        }
        Ok(())
    }

    /// Checks that the rows are in the order that the manifest claims: an engine that trusts a
    /// false claim returns rows in no order at all. Reads the column by which they are sorted.
    ///
    /// # Errors
    /// They are not, or the column is damaged.
    pub fn check_order(&self) -> StoreResult<()> {
        let Some(column) = self.sorted_by.first() else {
            return Ok(());
        };
        // Only the first column is checked, as readers rely on no other.
        let mut order = Order::of_column(column);
        for batch in self.batches(Some(&[column]))? {
            order.check(&batch?);
            if !order.holds() {
                return Err(self.wrong(format!("rows sorted by {column}, found others")));
            }
        }
        Ok(())
    }

    /// Searches a column of 64-bit numbers for a time or a size that no recording has.
    ///
    /// # Errors
    /// There is one, or the column is damaged.
    pub fn strange_number(&self, column: &str) -> StoreResult<()> {
        for batch in self.batches(Some(&[column]))? {
            let batch = batch?;
            let values = batch
                .columns()
                .first()
                .and_then(|values| values.as_primitive_opt::<Int64Type>());
            // A number near the ends of 64 bits turns into nonsense in a sum.
            let strange = |value: &i64| value.unsigned_abs() > MAX_NUMBER;
            let of_floats = || {
                let floats = batch.columns().first()?.as_primitive_opt::<Float64Type>()?;
                floats
                    .iter()
                    .flatten()
                    .find(|value| !value.is_finite())
                    .map(|value| value.to_string())
            };
            let found = values.and_then(|values| values.iter().flatten().find(strange));
            if let Some(value) = found.map(|value| value.to_string()).or_else(of_floats) {
                return Err(self.wrong(format!(
                    "numbers of a recording in the column {column}, found {value}"
                )));
            }
        }
        Ok(())
    }

    pub(super) fn damaged(&self, source: ParquetError) -> StoreError {
        match in_parquet(source) {
            Ok(known) => known,
            Err(source) => {
                // On its way through the decoder an error can lose its cause; wrong checksums are
                // more precise. This reads the whole file, but only after an error.
                if let Err(wrong) = self.verify() {
                    return wrong;
                }
                let expected = format!(
                    "a Parquet file of {} bytes with {} rows",
                    self.length, self.rows
                );
                self.error(expected, Some(source))
            }
        }
    }

    pub(super) fn wrong(&self, expected: String) -> StoreError {
        self.error(expected, None)
    }

    /// The error for a file that differs from the manifest: damage, unless the extract has been
    /// replaced by now.
    fn error(&self, expected: String, source: Option<ParquetError>) -> StoreError {
        let path = self.extract.clone();
        // Checked only after an error, because it costs a read of the manifest.
        let now = || super::manifest_crc(&self.extract, self.derived);
        if self.of_manifest.is_some() && now() != self.of_manifest {
            // The user has nothing to repair: the new extract can be asked.
            return StoreError::Replaced { path };
        }
        StoreError::Table {
            path,
            file: self.member.clone(),
            expected,
            source,
        }
    }
}

/// Rows of a table, in batches; ends after an error.
pub struct Batches {
    file: TableFile,
    reader: Option<ParquetRecordBatchReader>,
}

impl Iterator for Batches {
    type Item = StoreResult<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        // The reader is only put back after a good batch: the decoder must not be used after a
        // panic or an error.
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

/// The error of an extract that the decoder passed through.
fn in_parquet(error: ParquetError) -> Result<StoreError, ParquetError> {
    let ParquetError::External(inner) = error else {
        return Err(error);
    };
    // The decoder wraps errors, some of them twice.
    let inner = match inner.downcast::<StoreError>() {
        Ok(known) => return Ok(*known),
        Err(inner) => inner,
    };
    match inner.downcast::<io::Error>() {
        Ok(io) => match io.downcast::<StoreError>() {
            Ok(known) => Ok(known),
            Err(io) => Err(ParquetError::External(Box::new(io))),
        },
        Err(inner) => Err(ParquetError::External(inner)),
    }
}

/// A range of a file, read by position; cheap to clone. Bytes read for a decoder are compared with
/// the checksums of the file.
#[derive(Debug, Clone)]
pub struct Slice {
    bytes: Stored,
    length: u64,
    /// The checksums to compare with; `None` if that is done, or the file has none.
    pub(super) checks: Option<Arc<Checks>>,
}

#[derive(Debug, Clone)]
enum Stored {
    /// A file, and the offset of the slice in it.
    File(Reopened, u64),
    /// All bytes of a small file.
    Memory(Bytes),
    /// A file in another place.
    Remote(Remote),
}

impl Slice {
    /// A file of these bytes, without checksums.
    #[must_use]
    pub const fn of_bytes(bytes: Bytes) -> Self {
        Self {
            length: bytes.len() as u64,
            bytes: Stored::Memory(bytes),
            checks: None,
        }
    }

    /// A file in another place, without checksums: its size and its last bytes, which have its
    /// description.
    #[must_use]
    pub fn of_remote(source: Arc<dyn Ranges>, size: u64, end: Bytes) -> Self {
        if end.len() as u64 == size {
            return Self::of_bytes(end);
        }
        let start = size.saturating_sub(end.len() as u64);
        Self {
            length: size,
            bytes: Stored::Remote(Remote::new(source, start, end)),
            checks: None,
        }
    }

    /// The whole of a file that is stored next to the tables, without checksums.
    ///
    /// # Errors
    /// If the system cannot open it, or it is a pipe or device.
    pub fn of_file(path: &Path) -> StoreResult<Self> {
        // Checked before opening: opening a pipe waits for its writer.
        let metadata = path.metadata().map_err(StoreError::io("open", path))?;
        if !metadata.is_file() {
            let error = io::Error::other("it is not a regular file");
            return Err(StoreError::io("open", path)(error));
        }
        let file = Reopened::open(path).map_err(StoreError::io("open", path))?;
        Ok(Self {
            length: file.size(),
            bytes: Stored::File(file, 0),
            checks: None,
        })
    }

    /// True if reading does not wait for the disk.
    #[must_use]
    pub const fn is_in_memory(&self) -> bool {
        matches!(self.bytes, Stored::Memory(_))
    }

    /// Checks the schema, before a decoder follows it: it calls itself for each level.
    ///
    /// # Errors
    /// If it has too many elements or levels, or is damaged.
    pub fn check_schema(&self) -> Result<(), ParquetError> {
        schema::check(self)
    }

    /// Checks the claims in the headers of all pages, before a decoder allocates memory for them.
    /// Returns how many values a column has at most, which are more than the rows if a row can have
    /// several. Those of a file in another place are checked when they are read, and have no maximum.
    ///
    /// # Errors
    /// If one claims more than a page can have, reaches out of its column, or is none.
    pub fn check_pages(&self, metadata: &ParquetMetaData) -> Result<u64, ParquetError> {
        if let Stored::Remote(_) = self.bytes {
            return Ok(u64::MAX);
        }
        guarded(|| pages::check(self, metadata))
    }

    /// Checks the headers of all pages as [`Self::check_pages`] does, for a decoder that writes out one
    /// row after the other. A row has at most `bytes` of texts in a column.
    ///
    /// # Errors
    /// Those of [`Self::check_pages`].
    pub fn check_pages_for_rows(
        &self,
        metadata: &ParquetMetaData,
        bytes: usize,
    ) -> Result<u64, ParquetError> {
        guarded(|| pages::check_for_rows(self, metadata, bytes))
    }

    /// Reads ranges of columns and of what is outside of them, in their order.
    ///
    /// # Errors
    /// If one reaches past the end, or a page of a file in another place is damaged.
    pub fn read_columns(
        &self,
        metadata: &ParquetMetaData,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>, ParquetError> {
        if let Stored::Remote(remote) = &self.bytes {
            let check = pages::check_chunk;
            return guarded(|| remote.read_columns(self.length, metadata, ranges, check));
        }
        let read = ranges.iter().map(|range| {
            let length = range.end.saturating_sub(range.start);
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            self.get_bytes(range.start, length)
        });
        read.collect()
    }

    /// Returns the file with these columns in memory, if it is in another place: a decoder reads page by
    /// page.
    ///
    /// # Errors
    /// If they cannot be read, or a page is damaged.
    pub fn with_columns(
        &self,
        metadata: &ParquetMetaData,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, ParquetError> {
        let Stored::Remote(remote) = &self.bytes else {
            return Ok(self.clone());
        };
        let check = pages::check_chunk;
        let remote = guarded(|| remote.with_columns(self.length, metadata, &is_wanted, check))?;
        Ok(Self {
            length: self.length,
            bytes: Stored::Remote(remote),
            checks: None,
        })
    }

    /// Returns the file without the bytes of its end, if it is in another place. They have served their
    /// purpose when its description is known.
    #[must_use]
    pub fn without_end(&self) -> Self {
        let Stored::Remote(remote) = &self.bytes else {
            return self.clone();
        };
        Self {
            length: self.length,
            bytes: Stored::Remote(remote.without_parts()),
            checks: None,
        }
    }

    /// Fills `buf` from `position` of the slice; returns how many bytes there were. They are not
    /// compared with checksums.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn read_at(&self, position: u64, buf: &mut [u8]) -> io::Result<usize> {
        match &self.bytes {
            Stored::Memory(memory) => {
                let from = usize::try_from(position)
                    .ok()
                    .and_then(|position| memory.get(position..));
                // After the end there is nothing to read.
                from.map_or(Ok(0), |mut from| from.read(buf))
            }
            Stored::File(source, offset) => {
                let left =
                    usize::try_from(self.length.saturating_sub(position)).unwrap_or(usize::MAX);
                // Never beyond the slice, which may be a member of an archive.
                let wanted = buf.len().min(left);
                let (buf, _) = buf.split_at_mut(wanted);
                source.read_at(offset.saturating_add(position), buf)
            }
            Stored::Remote(remote) => {
                let end = position.saturating_add(buf.len() as u64).min(self.length);
                let read = remote.read(position.min(end)..end)?;
                let mut bytes: &[u8] = &read;
                bytes.read(buf)
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
        Ok(io::BufReader::new(Cursor {
            slice: self.clone(),
            position: start,
            block: Bytes::new(),
        }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // Checked before memory is allocated: the numbers come from the file.
        let end = start
            .checked_add(length as u64)
            .filter(|end| *end <= self.length);
        if end.is_none() {
            let text = format!(
                "{length} bytes from {start} on reach past the end, {} bytes",
                self.length
            );
            return Err(ParquetError::EOF(text));
        }
        let range = usize::try_from(start)
            .ok()
            .map(|start| start..start.saturating_add(length));
        if let (Stored::Memory(memory), Some(range)) = (&self.bytes, range)
            && range.end <= memory.len()
        {
            return Ok(memory.slice(range));
        }
        self.read_checked(start, length)
    }
}

impl Slice {
    /// Reads bytes, together with the whole blocks around them if those have checksums that were
    /// not checked yet.
    fn read_checked(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let (end, block) = (start.saturating_add(length as u64), BLOCK_BYTES);
        let checks = self
            .checks
            .as_ref()
            .filter(|checks| !checks.are_done((start, end)));
        let (from, to) = match checks {
            // Whole blocks are read, because a checksum covers a block. Once all blocks were
            // compared, exactly the requested bytes are read.
            Some(_) => (
                start / block * block,
                end.div_ceil(block).saturating_mul(block).min(self.length),
            ),
            None => (start, end),
        };
        let wanted = usize::try_from(to - from).unwrap_or(usize::MAX);
        let mut all = vec![0; wanted];
        let read = self.read_at(from, &mut all)?;
        if read < wanted {
            return Err(ParquetError::EOF(format!(
                "the file ends {} bytes early",
                wanted - read
            )));
        }
        if let Some(checks) = checks {
            checks
                .check(from, &all)
                .map_err(|e| ParquetError::External(Box::new(e)))?;
        }
        let skip =
            usize::try_from(start - from).map_err(|e| ParquetError::External(Box::new(e)))?;
        // The bytes around the request have done their work.
        Ok(Bytes::from(all).slice(skip..skip + length))
    }
}

/// Reads a slice from a position on.
#[derive(Debug)]
pub struct Cursor {
    slice: Slice,
    position: u64,
    /// The rest of a block that was read and checked.
    block: Bytes,
}

impl Read for Cursor {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Stored::Remote(remote) = &self.slice.bytes
            && let Some(mut here) = remote.here(self.position)
        {
            // A decoder asks for more than the last header of a column has. Only bytes that are here are
            // given, as the others would be a request for nothing.
            let read = here.read(buf)?;
            self.position += read as u64;
            return Ok(read);
        }
        if self.slice.checks.is_none() {
            let read = self.slice.read_at(self.position, buf)?;
            self.position += read as u64;
            return Ok(read);
        }
        if self.block.is_empty() && self.position < self.slice.length {
            // Only up to the end of the block: decoders request a stream to read a few bytes of a
            // header.
            let end = (self.position / BLOCK_BYTES + 1)
                .saturating_mul(BLOCK_BYTES)
                .min(self.slice.length);
            let length = usize::try_from(end - self.position).map_err(io::Error::other)?;
            let read = self.slice.read_checked(self.position, length);
            self.block = read.map_err(|error| match in_parquet(error) {
                Ok(known) => io::Error::other(known),
                Err(other) => io::Error::other(other),
            })?;
        }
        let now = self.block.split_to(buf.len().min(self.block.len()));
        if let Some(room) = buf.get_mut(..now.len()) {
            room.copy_from_slice(&now);
        }
        self.position += now.len() as u64;
        Ok(now.len())
    }
}
