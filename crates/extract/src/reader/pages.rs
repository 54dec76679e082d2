//! The sizes claimed in page headers, checked before a decoder allocates memory for them.
//!
//! A page has its uncompressed size in its header, and decoders allocate this size before they
//! unpack anything. A dictionary of long texts can be used by thousands of rows of a few bits each,
//! and decoders write the texts out. Headers are Thrift structures in the compact form
//! (`PageHeader` of the Parquet format): 1 type, 2 uncompressed size, 3 compressed size, then
//! fields that depend on the type.

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use super::slice::Slice;

/// Maximum bytes of an uncompressed page. Writers check the size of a page every thousand rows, and
/// a row can hold the payload of an event, 64 KiB, as a text of twice that size.
const MAX_PAGE: i64 = 256 << 20;

/// Number of rows that decoders return at once.
const BATCH_ROWS: i64 = 8192;

/// Maximum number of bytes of text in a batch of rows. Texts of a payload are 128 KiB at most.
const MAX_BATCH: i64 = 1 << 30;

/// Maximum bytes of a page header. It holds the smallest and the largest value of the page, which
/// can be texts.
const MAX_HEADER: usize = 1 << 20;

/// Bytes that are enough for nearly all headers.
const USUAL_HEADER: usize = 256;

/// Maximum nesting of structures.
const MAX_DEPTH: u32 = 8;

/// Checks the headers of all pages.
///
/// # Errors
/// If a header is invalid or claims more than a page can have, or if its page reaches out of the
/// column.
pub(super) fn check(slice: &Slice, metadata: &ParquetMetaData) -> Result<(), ParquetError> {
    for group in metadata.row_groups() {
        for column in group.columns() {
            let (start, length) = column.byte_range();
            let name = column.column_path().string();
            check_column(slice, (start, start.saturating_add(length)), &name)?;
        }
    }
    Ok(())
}

fn check_column(
    slice: &Slice,
    (mut position, end): (u64, u64),
    name: &str,
) -> Result<(), ParquetError> {
    let wrong = |position, text: String| {
        ParquetError::General(format!("the page at {position} {text} (column {name})"))
    };
    // Bytes of a text of the dictionary on average, and rows that name one.
    let (start, mut each, mut rows) = (position, 0, 0i64);
    while position < end {
        let Some(header) = read_header(slice, position, end)? else {
            return Err(wrong(position, "has no header".to_owned()));
        };
        if !(0..=MAX_PAGE).contains(&header.uncompressed) {
            let text = format!(
                "claims {} bytes; expected {MAX_PAGE} at most",
                header.uncompressed
            );
            return Err(wrong(position, text));
        }
        match (header.kind, header.encoding) {
            // The average, because the dictionary is not unpacked here: an estimate of the size of
            // each row that refers to one of its texts.
            (DICTIONARY, _) => each = header.uncompressed / header.values.max(1),
            (_, 2 | 8) => rows = rows.saturating_add(header.values),
            _ => {}
        }
        let behind = position + header.len as u64;
        let next = u64::try_from(header.compressed)
            .ok()
            .map(|bytes| behind.saturating_add(bytes));
        match next.filter(|next| *next <= end) {
            Some(next) => position = next,
            None => {
                let text = format!(
                    "claims {} bytes; its column ends at {end}",
                    header.compressed
                );
                return Err(wrong(position, text));
            }
        }
    }
    let batch = each.saturating_mul(rows.clamp(0, BATCH_ROWS));
    if batch > MAX_BATCH {
        let text =
            format!("has a dictionary whose texts would take {batch} bytes in {BATCH_ROWS} rows");
        return Err(wrong(start, text));
    }
    Ok(())
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
        if header.is_some() || read < room || room >= MAX_HEADER {
            return Ok(header);
        }
        room = MAX_HEADER;
    }
}

fn parse(bytes: &[u8]) -> Option<PageHeader> {
    let mut thrift = Thrift { bytes, at: 0 };
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
            (5 | 7, kind::STRUCT) => (values, encoding) = thrift.values(2)?,
            (8, kind::STRUCT) => (values, encoding) = thrift.values(4)?,
            _ => thrift.skip(kind, 0)?,
        }
    }
    let (uncompressed, compressed) = (uncompressed?, compressed?);
    Some(PageHeader {
        len: thrift.at,
        uncompressed,
        compressed,
        kind: page,
        values,
        encoding,
    })
}

/// Types of fields and elements.
mod kind {
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const STRUCT: u8 = 12;
}

/// Thrift in the compact form; `None` if it ends early or is invalid.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn number(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Type of the next field. Its ID is relative to the previous one. `Some(None)` at the end of
    /// the structure.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        *id = match head >> 4 {
            0 => self.number()?,
            delta => id.checked_add(delta.into())?,
        };
        Some(Some(head & 0x0F))
    }

    /// Number of values and encoding of a header inside of the header.
    fn values(&mut self, encoding_id: i64) -> Option<(i64, i64)> {
        let (mut values, mut encoding, mut id) = (0, 0, 0);
        while let Some(kind) = self.field(&mut id)? {
            match kind {
                kind::I32 if id == 1 => values = self.number()?,
                kind::I32 if id == encoding_id => encoding = self.number()?,
                kind => self.skip(kind, 1)?,
            }
        }
        Some((values, encoding))
    }

    fn advance(&mut self, bytes: u64) -> Option<()> {
        let at = usize::try_from(bytes)
            .ok()
            .and_then(|bytes| self.at.checked_add(bytes))?;
        self.at = Some(at).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            kind::TRUE | kind::FALSE => Some(()),
            kind::BYTE => self.advance(1),
            kind::I16 | kind::I32 | kind::I64 => self.varint().map(|_| ()),
            kind::DOUBLE => self.advance(8),
            kind::BINARY => {
                let len = self.varint()?;
                self.advance(len)
            }
            kind::LIST | kind::SET if depth < MAX_DEPTH => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 {
                    self.varint()?
                } else {
                    u64::from(head >> 4)
                };
                // Every element takes at least one byte, including booleans. In lists a boolean
                // takes a byte; as a field its value is in its type and takes none.
                (0..count).try_for_each(|_| match head & 0x0F {
                    kind::TRUE | kind::FALSE => self.advance(1),
                    kind => self.skip(kind, depth + 1),
                })
            }
            kind::STRUCT if depth < MAX_DEPTH => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }
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
