//! Streams and tables of the metadata.

use etwkit_etl::Guid;
use etwkit_etl::bytes::{Cursor, u16_at, u32_at};

use crate::{Error, Result};

const PART: &str = "metadata";
const DOCUMENT: usize = 0x30;
const METHOD: usize = 0x31;
/// Maximum number of parts of a path; no path has as many.
const MAX_PARTS: usize = 256;

#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) guid: Guid,
    blobs: (usize, usize),
    /// Offset of the rows of a table, and their number.
    documents: (usize, u32),
    methods: (usize, u32),
    is_blob_wide: bool,
    is_guid_wide: bool,
}

/// Offsets of the streams that are read, and the length of the blobs.
struct Streams {
    ids: usize,
    tables: usize,
    blobs: (usize, usize),
}

fn streams(bytes: &[u8]) -> Option<Streams> {
    let mut root = Cursor::new(bytes);
    root.take(super::MAGIC.len())
        .filter(|magic| *magic == super::MAGIC)?;
    root.take(8)?;
    let version_len = usize::try_from(root.u32()?).ok()?;
    root.take(version_len.checked_next_multiple_of(4)?)?;
    root.u16()?;
    let mut ids = None;
    let mut tables = None;
    let mut blobs = None;
    for _ in 0..root.u16()? {
        let at = usize::try_from(root.u32()?).ok()?;
        let len = usize::try_from(root.u32()?).ok()?;
        let name = root.ansi();
        root.take((name.len() + 1).wrapping_neg() % 4)?;
        bytes.get(at..at.checked_add(len)?)?;
        match name {
            b"#Pdb" => ids = Some(at),
            b"#~" => tables = Some(at),
            b"#Blob" => blobs = Some((at, len)),
            _ => {}
        }
    }
    Some(Streams {
        ids: ids?,
        tables: tables?,
        blobs: blobs?,
    })
}

/// Reads the number of rows of each table that the metadata has.
fn row_counts(head: &mut Cursor<'_>, valid: u64) -> Option<[u32; 64]> {
    let mut rows = [0_u32; 64];
    for table in (0..64).filter(|table| valid & (1 << table) != 0) {
        *rows.get_mut(table)? = head.u32()?;
    }
    Some(rows)
}

impl Metadata {
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        Self::try_read(bytes)
            .ok_or_else(|| Error::damaged(PART, 0_u64, "its directory cannot be read"))
    }

    fn try_read(bytes: &[u8]) -> Option<Self> {
        let Streams { ids, tables, blobs } = streams(bytes)?;
        let heaps = *bytes.get(tables.checked_add(6)?)?;
        let mut head = Cursor::new(bytes.get(tables.checked_add(8)?..)?);
        let valid = head.u64()?;
        let _sorted = head.u64()?;
        // Tables of an assembly would come first, and the offsets below rely on their absence: a
        // separate symbol file has only its own tables.
        if valid & ((1 << DOCUMENT) - 1) != 0 {
            return None;
        }
        let rows = row_counts(&mut head, valid)?;
        let document_rows = *rows.get(DOCUMENT)?;
        let method_rows = *rows.get(METHOD)?;
        let mut metadata = Self {
            guid: Cursor::new(bytes.get(ids..)?).guid()?,
            blobs,
            documents: (tables.checked_add(8 + head.position())?, document_rows),
            methods: (0, method_rows),
            is_blob_wide: heaps & 4 != 0,
            is_guid_wide: heaps & 2 != 0,
        };
        let documents_len = usize::try_from(document_rows)
            .ok()?
            .checked_mul(metadata.document_len())?;
        metadata.methods.0 = metadata.documents.0.checked_add(documents_len)?;
        Some(metadata)
    }

    /// Name, hash algorithm, hash, language.
    const fn document_len(&self) -> usize {
        2 * (width(self.is_blob_wide) + width(self.is_guid_wide))
    }

    /// Document and sequence points of the method in that row, counted from 1.
    pub(super) fn method(&self, bytes: &[u8], row: u32) -> Option<(u32, u32)> {
        let (at, rows) = self.methods;
        let index = usize::try_from(row.checked_sub(1).filter(|_| row <= rows)?).ok()?;
        // In ECMA-335 the index of a table is wide if the table has more rows than 16 bits can
        // count.
        let is_wide = self.documents.1 >= 1 << 16;
        let at = at.checked_add(index.checked_mul(width(is_wide) + width(self.is_blob_wide))?)?;
        Some((
            index_at(bytes, at, is_wide)?,
            index_at(bytes, at + width(is_wide), self.is_blob_wide)?,
        ))
    }

    /// Path of the document in that row, counted from 1.
    pub(super) fn document(&self, bytes: &[u8], row: u32) -> Option<String> {
        let (at, rows) = self.documents;
        let index = usize::try_from(row.checked_sub(1).filter(|_| row <= rows)?).ok()?;
        let at = at.checked_add(index.checked_mul(self.document_len())?)?;
        let mut name = Cursor::new(self.blob(bytes, index_at(bytes, at, self.is_blob_wide)?)?);
        let separator = match name.u8()? {
            0 => String::new(),
            byte => char::from(byte).to_string(),
        };
        let mut parts = Vec::new();
        while let Some(part) = compressed(&mut name).filter(|_| parts.len() < MAX_PARTS) {
            parts.push(String::from_utf8_lossy(self.blob(bytes, part)?));
        }
        Some(parts.join(&separator))
    }

    pub(super) fn blob<'a>(&self, bytes: &'a [u8], at: u32) -> Option<&'a [u8]> {
        let (start, len) = self.blobs;
        let heap = bytes.get(start..start.checked_add(len)?)?;
        let mut cursor = Cursor::new(heap.get(usize::try_from(at).ok()?..)?);
        let len = usize::try_from(compressed(&mut cursor)?).ok()?;
        cursor.take(len)
    }
}

const fn width(is_wide: bool) -> usize {
    if is_wide { 4 } else { 2 }
}

fn index_at(bytes: &[u8], at: usize, is_wide: bool) -> Option<u32> {
    if is_wide {
        u32_at(bytes, at)
    } else {
        u16_at(bytes, at).map(u32::from)
    }
}

/// A number of one, two or four bytes, whose first bits say which.
pub(super) fn compressed(cursor: &mut Cursor<'_>) -> Option<u32> {
    let first = u32::from(cursor.u8()?);
    let mut more = || cursor.u8().map(u32::from);
    Some(match first {
        0..0x80 => first,
        0x80..0xC0 => (first & 0x3F) << 8 | more()?,
        0xC0..0xE0 => (first & 0x1F) << 24 | more()? << 16 | more()? << 8 | more()?,
        _ => return None,
    })
}

/// A signed number: the sign is the lowest bit, the others are the two's complement in 6, 13 or 28
/// bits.
pub(super) fn compressed_signed(cursor: &mut Cursor<'_>) -> Option<i32> {
    let before = cursor.position();
    let number = compressed(cursor)?;
    let bits = match cursor.position() - before {
        1 => 6,
        2 => 13,
        _ => 28,
    };
    let size = i32::try_from(number >> 1).ok()?;
    Some(if number & 1 == 0 {
        size
    } else {
        size - (1 << bits)
    })
}
