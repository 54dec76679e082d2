//! Kernel pool, the memory that drivers and the kernel itself allocate: group 14. Its events name
//! neither process nor thread: they belong to the running thread. No available trace has these
//! events: the layout follows the documentation of Windows.

use std::fmt::Write as _;

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        POOL {
            /// A block is allocated.
            ALLOCATE = 32, "PoolAllocation";
            /// A block is allocated in the memory of a terminal session.
            ALLOCATE_SESSION = 33, "SessionPoolAllocation";
            /// A block is freed.
            FREE = 34, "PoolFree";
            /// A block of the memory of a terminal session is freed.
            FREE_SESSION = 35, "SessionPoolFree";
        }
    }
}

/// A block of the kernel's memory, as the events of its allocation and of its release describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Type of pool, a number of the enumeration `POOL_TYPE`.
    pub kind: u32,
    /// Pool tag: four characters by which the caller identifies the purpose of the block.
    pub tag: [u8; 4],
    /// Size of the block in bytes.
    pub bytes: u64,
    /// Address of the block.
    pub address: u64,
    /// The terminal session that owns the memory; `None` for memory that all sessions share.
    pub session: Option<u32>,
}

impl Block {
    /// Reads a payload. The flag is true if the block is allocated. `None` for other types.
    #[must_use]
    pub fn parse(payload: &[u8], op: u8, pointer_size: usize) -> Option<(Self, bool)> {
        let (is_allocated, has_session) = match op {
            opcode::ALLOCATE => (true, false),
            opcode::ALLOCATE_SESSION => (true, true),
            opcode::FREE => (false, false),
            opcode::FREE_SESSION => (false, true),
            _ => return None,
        };
        let mut c = Cursor::new(payload);
        let kind = c.u32()?;
        let tag = c.u32()?.to_le_bytes();
        let bytes = c.pointer(pointer_size)?;
        let address = c.pointer(pointer_size)?;
        let session = if has_session { Some(c.u32()?) } else { None };
        Some((
            Self {
                kind,
                tag,
                bytes,
                address,
                session,
            },
            is_allocated,
        ))
    }
}

/// The text of a tag, without trailing blanks and zeros. Bytes that are not visible ASCII
/// characters, and the backslash, become `\x1b`, so that different tags have different texts.
#[must_use]
pub fn tag_text(tag: [u8; 4]) -> String {
    let len = tag
        .iter()
        .rposition(|byte| !matches!(byte, 0 | b' '))
        .map_or(0, |last| last + 1);
    let mut text = String::new();
    for byte in tag.iter().take(len) {
        match byte {
            b' '..=b'~' if *byte != b'\\' => text.push(char::from(*byte)),
            // Writing to a string cannot fail.
            _ => _ = write!(text, "\\x{byte:02x}"),
        }
    }
    text
}

/// `paged` if memory of a pool type may be written to disk, `nonpaged` if not; `None` for numbers
/// outside of the enumeration.
#[must_use]
pub const fn paging(kind: u32) -> Option<&'static str> {
    // The types of a session are the first eight plus 32; non-executable types have 512 added.
    match kind {
        0 | 2 | 4 | 6 | 32 | 34 | 36 | 38 | 512 | 516 | 544 => Some("nonpaged"),
        1 | 5 | 33 | 37 => Some("paged"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_text_whatever_their_bytes() {
        let of = [
            b"CamF",
            b"Irp ",
            b"Ob\0\0",
            b"\0\0\0\0",
            b"a\x1b[\xe5",
            b"A\\ b",
        ]
        .map(|tag| tag_text(*tag));
        assert_eq!(of, ["CamF", "Irp", "Ob", "", "a\\x1b[\\xe5", "A\\x5c b"]);
    }

    #[test]
    fn types_are_those_of_the_enumeration() {
        let of = [0, 1, 512, 33, 3, 7, 513].map(paging);
        let (paged, nonpaged) = (Some("paged"), Some("nonpaged"));
        assert_eq!(of, [nonpaged, paged, nonpaged, paged, None, None, None]);
    }

    #[test]
    fn pointers_of_32_bit_are_four_bytes_long() {
        let words = [1_u32, u32::from_le_bytes(*b"CamN"), 40, 0x1000, 2]
            .map(u32::to_le_bytes)
            .concat();
        let block = Block {
            kind: 1,
            tag: *b"CamN",
            bytes: 40,
            address: 0x1000,
            session: Some(2),
        };
        assert_eq!(
            Block::parse(&words, opcode::FREE_SESSION, 4),
            Some((block, false))
        );
        let shared = Block {
            session: None,
            ..block
        };
        assert_eq!(
            Block::parse(&words, opcode::ALLOCATE, 4),
            Some((shared, true))
        );
        assert_eq!(
            Block::parse(words.get(..16).unwrap(), opcode::FREE_SESSION, 4),
            None
        );
        assert_eq!(Block::parse(&words, 36, 4), None);
    }
}
