//! Thrift in the compact form, as the headers of Parquet files have it.
//!
//! Source: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

/// Maximum nesting of structures.
const MAX_DEPTH: u32 = 8;

/// Types of fields and elements.
pub(super) mod kind {
    pub(in crate::reader) const TRUE: u8 = 1;
    pub(in crate::reader) const FALSE: u8 = 2;
    pub(in crate::reader) const BYTE: u8 = 3;
    pub(in crate::reader) const I16: u8 = 4;
    pub(in crate::reader) const I32: u8 = 5;
    pub(in crate::reader) const I64: u8 = 6;
    pub(in crate::reader) const DOUBLE: u8 = 7;
    pub(in crate::reader) const BINARY: u8 = 8;
    pub(in crate::reader) const LIST: u8 = 9;
    pub(in crate::reader) const SET: u8 = 10;
    pub(in crate::reader) const STRUCT: u8 = 12;
}

/// Thrift in the compact form; `None` if it ends early or is invalid.
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Thrift<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes that were read.
    pub(super) const fn at(&self) -> usize {
        self.at
    }
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        // A number of 64 bits takes ten bytes at most; more is damage.
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn number(&mut self) -> Option<i64> {
        let value = self.varint()?;
        // Zigzag: the lowest bit is the sign.
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Type of the next field. Its ID is relative to the previous one. `Some(None)` at the end of
    /// the structure.
    pub(super) fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        *id = match head >> 4 {
            0 => self.number()?,
            // IDs of damaged bytes must not wrap around.
            delta => id.checked_add(delta.into())?,
        };
        Some(Some(head & 0x0F))
    }

    fn advance(&mut self, bytes: u64) -> Option<()> {
        let at = usize::try_from(bytes)
            .ok()
            .and_then(|bytes| self.at.checked_add(bytes))?;
        self.at = Some(at).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    /// Type and number of the elements of a list that begins here.
    pub(super) fn list(&mut self) -> Option<(u8, u64)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        Some((head & 0x0F, count))
    }

    pub(super) fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
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
                let (kind, count) = self.list()?;
                // Every element takes at least one byte, including booleans. In lists a boolean
                // takes a byte; as a field its value is in its type and takes none.
                (0..count).try_for_each(|_| match kind {
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
