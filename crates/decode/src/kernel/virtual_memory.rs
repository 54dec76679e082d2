//! Virtual memory of processes (group 2, types 98 and 99), and files that are mapped into it (group
//! 4, types 37 to 40).

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        MEMORY {
            /// Addresses are reserved or committed; in the group of memory.
            ALLOC = 98, "VirtualAlloc";
            /// Existing ranges of heaps; programs log these and the following ones.
            HEAP_RANGE_RUNDOWN = 100, "HRRundown";
            /// The last of the types of ranges of heaps.
            HEAP_RANGE_DESTROY = 104, "HRDestroy";
            /// Addresses are decommitted or released; in the group of memory.
            FREE = 99, "VirtualFree";
        }
        FILE {
            /// A file is mapped. This event and the following ones are in the file group.
            MAP = 37, "MapFile";
            /// A file is unmapped.
            UNMAP = 38, "UnmapFile";
            /// A file that is mapped when the session starts.
            MAP_START = 39, "MapFileDCStart";
            /// A file that is mapped when the session ends.
            MAP_END = 40, "MapFileDCEnd";
        }
    }
}

/// True if a type is about ranges of heaps, which programs log.
#[must_use]
pub const fn is_heap_range(op: u8) -> bool {
    matches!(op, opcode::HEAP_RANGE_RUNDOWN..=opcode::HEAP_RANGE_DESTROY)
}

/// Flags of `VirtualAlloc` and `VirtualFree`.
pub mod flag {
    /// Memory is committed.
    pub const COMMIT: u32 = 0x1000;
    /// Addresses are set aside.
    pub const RESERVE: u32 = 0x2000;
    /// Memory is decommitted; its addresses stay reserved.
    pub const DECOMMIT: u32 = 0x4000;
    /// Memory and addresses are released.
    pub const RELEASE: u32 = 0x8000;
}

/// Bytes of a page.
pub const PAGE: u64 = 0x1000;

/// An allocation, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Bytes; for a release the size of the whole region.
    pub size: u64,
    /// Process whose memory it is.
    pub pid: u32,
    /// Bits of [`flag`].
    pub flags: u32,
}

impl Allocation {
    /// Reads a payload of version 2.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let base = c.pointer(pointer_size)?;
        let size = c.pointer(pointer_size)?;
        Some(Self {
            base,
            size,
            pid: c.u32()?,
            flags: c.u32()?,
        })
    }

    /// The name of the operation in the extract; `None` if the flags do not contain one. Memory
    /// that is reserved and committed at once counts as committed.
    #[must_use]
    pub const fn kind(&self, op: u8) -> Option<&'static str> {
        if op == opcode::ALLOC {
            return match self.flags {
                f if f & flag::COMMIT != 0 => Some("commit"),
                f if f & flag::RESERVE != 0 => Some("reserve"),
                _ => None,
            };
        }
        match self.flags {
            f if f & flag::DECOMMIT != 0 => Some("decommit"),
            f if f & flag::RELEASE != 0 => Some("release"),
            _ => None,
        }
    }

    /// The pages that it touches, as addresses; empty for no bytes.
    #[must_use]
    pub const fn pages(&self) -> (u64, u64) {
        let last_page = !(PAGE - 1);
        let start = self.base & !(PAGE - 1);
        if self.size == 0 {
            return (start, start);
        }
        // Rounding up in the last page would overflow. That page belongs to no program, so ranges
        // that claim to reach into it end before it.
        let end = self.base.saturating_add(self.size);
        if end > last_page {
            (start, last_page)
        } else {
            (start, end.div_ceil(PAGE) * PAGE)
        }
    }
}

/// A file that is mapped or unmapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMap {
    /// First address.
    pub base: u64,
    /// Key of the file, as in file-name events; 0 for memory that the page file backs.
    pub file_key: u64,
    /// Protection of the pages and flags of the section.
    pub flags: u16,
    /// Bytes.
    pub size: u64,
    /// Position in the file; from version 3 on.
    pub offset: Option<u64>,
    /// Process.
    pub pid: u32,
}

impl FileMap {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8, pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let base = c.pointer(pointer_size)?;
        let file_key = c.pointer(pointer_size)?;
        // The lower 48 bits hold other facts about the section.
        let flags = (c.u64()? >> 48) as u16;
        let size = c.pointer(pointer_size)?;
        let offset = if version >= 3 { Some(c.u64()?) } else { None };
        Some(Self {
            base,
            file_key,
            flags,
            size,
            offset,
            pid: c.u32()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_whole_and_end_with_the_address_space() {
        let pages = |base, size| {
            Allocation {
                base,
                size,
                pid: 4,
                flags: 0,
            }
            .pages()
        };
        assert_eq!(pages(0x1000, 0x1000), (0x1000, 0x2000));
        assert_eq!(pages(0x1fff, 2), (0x1000, 0x3000));
        assert_eq!(pages(0x1001, 0), (0x1000, 0x1000));
        assert_eq!(
            pages(u64::MAX, u64::MAX),
            (u64::MAX - 0xfff, u64::MAX - 0xfff)
        );
        assert_eq!(pages(0, u64::MAX), (0, u64::MAX - 0xfff));
    }

    #[test]
    fn kinds_follow_from_type_and_flags() {
        let kind = |op, flags| {
            Allocation {
                base: 0,
                size: 0,
                pid: 4,
                flags,
            }
            .kind(op)
        };
        assert_eq!(
            kind(opcode::ALLOC, flag::COMMIT | flag::RESERVE),
            Some("commit")
        );
        assert_eq!(kind(opcode::ALLOC, flag::RESERVE), Some("reserve"));
        assert_eq!(kind(opcode::FREE, flag::DECOMMIT), Some("decommit"));
        assert_eq!(kind(opcode::FREE, flag::RELEASE), Some("release"));
        assert_eq!(
            (kind(opcode::FREE, flag::COMMIT), kind(opcode::ALLOC, 0)),
            (None, None)
        );
    }

    #[test]
    fn newer_mappings_report_their_position_in_the_file() {
        let numbers = |numbers: &[u64]| {
            numbers
                .iter()
                .flat_map(|n| n.to_le_bytes())
                .collect::<Vec<u8>>()
        };
        let start = numbers(&[0x1000, 0x77, 0x0002 << 48, 0x5000]);
        let old = FileMap {
            base: 0x1000,
            file_key: 0x77,
            flags: 2,
            size: 0x5000,
            offset: None,
            pid: 8,
        };
        assert_eq!(
            FileMap::parse(&[&start[..], &[8, 0, 0, 0]].concat(), 2, 8),
            Some(old)
        );
        let new = [&start[..], &numbers(&[0x2000]), &[8, 0, 0, 0]].concat();
        assert_eq!(
            FileMap::parse(&new, 3, 8),
            Some(FileMap {
                offset: Some(0x2000),
                ..old
            })
        );
    }
}
