//! The sizes claimed in page headers, checked before a decoder allocates memory for them.
//!
//! A page has its uncompressed size in its header, and decoders allocate this size before they
//! unpack anything. A dictionary of long texts can be used by thousands of rows of a few bits each,
//! and decoders write the texts out. Headers are Thrift structures in the compact form
//! (`PageHeader` of the Parquet format): 1 type, 2 uncompressed size, 3 compressed size, then
//! fields that depend on the type.

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::page_index::offset_index::PageLocation;

use super::chunks::{Chunk, indexed};
use super::slice::Slice;
use super::thrift::{Thrift, kind};

/// Maximum bytes of an uncompressed page. Writers check the size of a page every thousand rows, and
/// a row can hold the payload of an event, 64 KiB, as a text of twice that size.
const MAX_PAGE: i64 = 256 << 20;

/// Number of rows that decoders return at once.
const BATCH_ROWS: i64 = 8192;

/// Maximum number of bytes of text in a batch of rows. Texts of a payload are 128 KiB at most.
const MAX_BATCH: i64 = 1 << 30;

/// The texts of a column that a decoder writes out before its caller gets one.
#[derive(Debug, Clone, Copy)]
struct AtOnce {
    texts: i64,
    /// Maximum number of their bytes.
    bytes: i64,
}

const BATCH: AtOnce = AtOnce {
    texts: BATCH_ROWS,
    bytes: MAX_BATCH,
};

/// The pages that the index of a column names, in their order. A decoder goes to them without looking at
/// the pages before, so each has to be one whose header is checked.
#[derive(Debug, Clone, Copy)]
struct Indexed<'m> {
    pages: &'m [PageLocation],
    /// The position in the file of the first byte of the slice.
    origin: u64,
}

impl Indexed<'_> {
    /// Takes out a page that was met; one of another place or size stays.
    fn meet(&mut self, position: u64, bytes: u64) {
        let Some((page, rest)) = self.pages.split_first() else {
            return;
        };
        let is_there = u64::try_from(page.offset) == Ok(self.origin.saturating_add(position));
        let is_whole = u64::try_from(page.compressed_page_size) == Ok(bytes);
        if is_there && is_whole {
            self.pages = rest;
        }
    }
}

/// Maximum bytes of a page header. It holds the smallest and the largest value of the page, which
/// can be texts.
const MAX_HEADER: usize = 1 << 20;

/// Bytes that are enough for nearly all headers.
const USUAL_HEADER: usize = 256;

/// Checks the headers of all pages. Returns the largest number of values that a column of each row
/// group claims, summed up over the groups.
///
/// # Errors
/// If a header is invalid or claims more than a page can have, its page reaches out of the column, or
/// an index names a page that there is not.
pub(super) fn check(slice: &Slice, metadata: &ParquetMetaData) -> Result<u64, ParquetError> {
    check_columns(slice, metadata, |_| BATCH)
}

/// Checks the headers as [`check`] does, for a decoder that writes out one row after the other. A row
/// has at most `bytes` of texts in a column.
///
/// # Errors
/// Those of [`check`].
pub(super) fn check_for_rows(
    slice: &Slice,
    metadata: &ParquetMetaData,
    bytes: usize,
) -> Result<u64, ParquetError> {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    check_columns(slice, metadata, |column| AtOnce {
        // All elements of a list can be in one row.
        texts: match column.column_descr().max_rep_level() {
            0 => 1,
            _ => i64::MAX,
        },
        bytes,
    })
}

fn check_columns(
    slice: &Slice,
    metadata: &ParquetMetaData,
    at_once: impl Fn(&ColumnChunkMetaData) -> AtOnce,
) -> Result<u64, ParquetError> {
    let mut all = 0_u64;
    for (number, group) in metadata.row_groups().iter().enumerate() {
        // The largest column of each group: all columns of a group have the same rows.
        let mut most = 0;
        for (at, column) in group.columns().iter().enumerate() {
            let (start, length) = column.byte_range();
            let name = column.column_path().string();
            let end = start.saturating_add(length);
            let indexed = Indexed {
                pages: indexed(metadata, number, at),
                origin: 0,
            };
            let values = check_column(slice, (start, end), &name, at_once(column), indexed)?;
            most = most.max(values);
        }
        all = all.saturating_add(most);
    }
    Ok(all)
}

/// Checks the pages of a column that was read as a whole.
///
/// # Errors
/// The errors of [`check`]; positions count from the start of the column.
pub(super) fn check_chunk(bytes: &Bytes, chunk: &Chunk<'_>) -> Result<(), ParquetError> {
    let slice = Slice::of_bytes(bytes.clone());
    let range = (0, bytes.len() as u64);
    let indexed = Indexed {
        pages: chunk.indexed,
        origin: chunk.range.start,
    };
    check_column(&slice, range, &chunk.name, BATCH, indexed)?;
    Ok(())
}

/// Checks the pages of a column. Returns the number of values that they claim.
fn check_column(
    slice: &Slice,
    (mut position, end): (u64, u64),
    name: &str,
    at_once: AtOnce,
    mut indexed: Indexed<'_>,
) -> Result<u64, ParquetError> {
    let wrong = |position, text: String| {
        ParquetError::General(format!("the page at {position} {text} (column {name})"))
    };
    // Bytes of a text of the dictionary on average, and rows that name one.
    let (start, mut each, mut rows) = (position, 0, 0i64);
    let mut values = 0_u64;
    while position < end {
        let Some(header) = read_header(slice, position, end)? else {
            return Err(wrong(position, "has no header".to_owned()));
        };
        // The claim is bounded before a decoder allocates it.
        if !(0..=MAX_PAGE).contains(&header.uncompressed) {
            let text = format!(
                "claims {} bytes; expected {MAX_PAGE} at most",
                header.uncompressed
            );
            return Err(wrong(position, text));
        }
        // Values of a dictionary are no rows.
        if header.kind != DICTIONARY {
            values = values.saturating_add(header.values.max(0).cast_unsigned());
        }
        match (header.kind, header.encoding) {
            // The average, because the dictionary is not unpacked here: an estimate of the size of
            // each row that refers to one of its texts.
            (DICTIONARY, _) => each = header.uncompressed / header.values.max(1),
            // Encodings that refer to the dictionary.
            (_, 2 | 8) => rows = rows.saturating_add(header.values),
            _ => {}
        }
        let behind = position + header.len as u64;
        let next = u64::try_from(header.compressed)
            .ok()
            .map(|bytes| behind.saturating_add(bytes));
        let Some(next) = next.filter(|next| *next <= end) else {
            let text = format!(
                "claims {} bytes; its column ends at {end}",
                header.compressed
            );
            return Err(wrong(position, text));
        };
        indexed.meet(position, next - position);
        position = next;
    }
    if let Some(page) = indexed.pages.first() {
        let (offset, bytes) = (page.offset, page.compressed_page_size);
        return Err(ParquetError::General(format!(
            "the index names a page of {bytes} bytes at {offset} that there is not (column {name})"
        )));
    }
    // Each row can repeat a text of the dictionary, so that a small file would become gigabytes at once.
    let bytes = each.saturating_mul(rows.clamp(0, at_once.texts));
    if bytes > at_once.bytes {
        let text = format!("has a dictionary whose texts would take {bytes} bytes at once");
        return Err(wrong(start, text));
    }
    Ok(values)
}

/// Kind of a page with values that others refer to by number.
const DICTIONARY: i64 = 2;

/// The fields of a page header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PageHeader {
    /// Bytes of the header itself.
    len: usize,
    uncompressed: i64,
    compressed: i64,
    /// Kind of page.
    kind: i64,
    /// Values, nulls included.
    values: i64,
    /// Their encoding: 2 and 8 are indices into a dictionary.
    encoding: i64,
}

fn read_header(slice: &Slice, position: u64, end: u64) -> Result<Option<PageHeader>, ParquetError> {
    let mut room = USUAL_HEADER;
    loop {
        let wanted = usize::try_from(end - position)
            .unwrap_or(usize::MAX)
            .min(room);
        // Nearly all headers are short, and reading a MiB for each page would cost more than the
        // pages.
        let mut bytes = vec![0; wanted];
        let read = slice.read_at(position, &mut bytes)?;
        bytes.truncate(read);
        let header = parse(&bytes);
        // A header that is longer than usual is read once more, and one that is longer than any is
        // damage.
        if header.is_some() || read < room || room >= MAX_HEADER {
            return Ok(header);
        }
        room = MAX_HEADER;
    }
}

fn parse(bytes: &[u8]) -> Option<PageHeader> {
    let mut thrift = Thrift::new(bytes);
    let (mut uncompressed, mut compressed, mut id) = (None, None, 0);
    let (mut page, mut values, mut encoding) = (0, 0, 0);
    while let Some(kind) = thrift.field(&mut id)? {
        match (id, kind) {
            (1, kind::I32) => page = thrift.number()?,
            (2, kind::I32) => uncompressed = Some(thrift.number()?),
            (3, kind::I32) => compressed = Some(thrift.number()?),
            // Fields 5, 7 and 8 are the headers of a data page, a dictionary and a data page of the
            // second version. In each the number of values is field 1; the encoding is field 2, in
            // the second version field 4.
            (5 | 7, kind::STRUCT) => (values, encoding) = read_values(&mut thrift, 2)?,
            (8, kind::STRUCT) => (values, encoding) = read_values(&mut thrift, 4)?,
            // Everything else is skipped by its type, so that later versions can be read.
            _ => thrift.skip(kind, 0)?,
        }
    }
    let (uncompressed, compressed) = (uncompressed?, compressed?);
    Some(PageHeader {
        len: thrift.at(),
        uncompressed,
        compressed,
        kind: page,
        values,
        encoding,
    })
}

/// Reads the number of values and the encoding of a header inside of the header.
fn read_values(thrift: &mut Thrift<'_>, encoding_id: i64) -> Option<(i64, i64)> {
    let (mut values, mut encoding, mut id) = (0, 0, 0);
    while let Some(kind) = thrift.field(&mut id)? {
        match kind {
            kind::I32 if id == 1 => values = thrift.number()?,
            kind::I32 if id == encoding_id => encoding = thrift.number()?,
            kind => thrift.skip(kind, 1)?,
        }
    }
    Some((values, encoding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_found_whatever_lies_around_them() {
        // Type 0, sizes 300 and -1; a data page header that contains a list, a text and a
        // structure; the end, and a byte after it.
        let header = [
            0x15, 0x00, 0x15, 0xD8, 0x04, 0x15, 0x01, 0x2C, 0x19, 0x25, 0x02, 0x04, 0x18, 0x02,
            b'a', b'b', 0x1C, 0x11, 0x00, 0x00, 0x00, 0xFF,
        ];
        let found = PageHeader {
            len: 21,
            uncompressed: 300,
            compressed: -1,
            kind: 0,
            values: 0,
            encoding: 0,
        };
        assert_eq!(parse(&header), Some(found));
        for len in 0..21 {
            assert_eq!(parse(&header[..len]), None, "{len}");
        }
        assert_eq!(parse(&[0x15, 0x02, 0x00]), None, "no sizes");
        assert_eq!(
            parse(&[[0x1C; 40].as_slice(), &[0; 50]].concat()),
            None,
            "too deep"
        );
    }
}
