//! Thread events (group 5): types 1 to 4 (`Thread_V0_TypeGroup1` and later) and the context switch.

use etwkit_etl::bytes::{Cursor, pointer_at, tail, u16_at, u32_at, utf16_text};

/// Types of these events.
pub mod opcode {
    types! {
        THREAD {
            /// The thread starts.
            START = 1, "Start";
            /// It ends.
            END = 2, "End";
            /// It runs when the session starts.
            DC_START = 3, "DCStart";
            /// It runs when the session stops.
            DC_END = 4, "DCEnd";
            /// A thread works for another service from now on; programs log it.
            SERVICE_TAG = 69, "SubProcessTagChanged";
            /// The affinity of a thread changes (`ThreadAffinity`).
            AFFINITY = 53, "ThreadAffinity";
        }
    }
}

/// Types that describe a thread.
pub const LIFETIME: &[u8] = &[opcode::START, opcode::END, opcode::DC_START, opcode::DC_END];

/// True if a type describes a thread.
#[must_use]
pub const fn is_lifetime(op: u8) -> bool {
    matches!(
        op,
        opcode::START | opcode::END | opcode::DC_START | opcode::DC_END
    )
}

/// The identity in a thread event. The IDs of the header are the creator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    /// Process ID.
    pub pid: u32,
    /// Thread ID.
    pub tid: u32,
}

impl Thread {
    /// Reads a payload; version 0 has the two IDs in the other order.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8) -> Option<Self> {
        let first = u32_at(payload, 0)?;
        let second = u32_at(payload, 4)?;
        Some(if version == 0 {
            Self {
                pid: second,
                tid: first,
            }
        } else {
            Self {
                pid: first,
                tid: second,
            }
        })
    }
}

/// The other fields of events of types 1 to 4.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traits {
    /// Processors that it may run on: a bit for each processor of its group, which these events do
    /// not name. From version 3 on.
    pub affinity: Option<u64>,
    /// First instruction of the program's own code (`Win32StartAddr`).
    pub start_address: Option<u64>,
    /// Base priority, from version 3 on.
    pub base_priority: Option<u8>,
    /// The name that the program gave it; empty if it has none. Windows 10 also appends it to
    /// version 3 (seen on builds 18362 to 26100).
    pub name: String,
}

impl Traits {
    /// Reads a payload (`Thread_TypeGroup1`); `None` if its version has none of these fields or it
    /// is cut short.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8, pointer_size: usize) -> Option<Self> {
        // Both IDs, four limits of stacks, then an address or the affinity, the start address, the
        // TEB and the service tag.
        let fifth = 8 + 4 * pointer_size;
        let start_address =
            pointer_at(payload, fifth + pointer_size, pointer_size).filter(|_| version > 0)?;
        if version < 3 {
            return Some(Self {
                start_address: Some(start_address),
                ..Self::default()
            });
        }
        let priorities = fifth + 3 * pointer_size + 4;
        // Version 3 without a name ends after three priorities and the flags, and then the name is
        // empty.
        let name = Cursor::new(tail(payload, priorities + 4)).utf16();
        Some(Self {
            affinity: pointer_at(payload, fifth, pointer_size),
            start_address: Some(start_address),
            base_priority: payload.get(priorities).copied(),
            name: utf16_text(name),
        })
    }
}

/// The new affinity of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Affinity {
    /// Thread ID.
    pub tid: u32,
    /// Processor group.
    pub group: u16,
    /// A bit for each processor of the group.
    pub mask: u64,
}

impl Affinity {
    /// Reads a payload of type 53 (`ThreadAffinity`).
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mask = pointer_at(payload, 0, pointer_size)?;
        Some(Self {
            tid: u32_at(payload, pointer_size)?,
            group: u16_at(payload, pointer_size + 4)?,
            mask,
        })
    }
}

/// New and old thread ID of a context switch.
#[inline]
#[must_use]
pub fn switch(payload: &[u8]) -> Option<(u32, u32)> {
    u32_at(payload, 0).zip(u32_at(payload, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A payload with 64-bit pointers, whose n-th pointer is n.
    fn payload(version: u8, name: &str) -> Vec<u8> {
        let mut bytes = [40_u32.to_le_bytes(), 44_u32.to_le_bytes()].concat();
        (1..=7_u64).for_each(|pointer| bytes.extend(pointer.to_le_bytes()));
        bytes.extend([0; 4]);
        if version >= 3 {
            bytes.extend([8, 5, 2, 0]);
        }
        bytes.extend(name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        bytes
    }

    #[test]
    fn traits_stand_where_the_version_has_them() {
        let named = Traits::parse(&payload(3, "render"), 3, 8).unwrap();
        assert_eq!(
            (named.affinity, named.base_priority, named.name.as_str()),
            (Some(5), Some(8), "render")
        );
        assert_eq!(named.start_address, Some(6));
        let old = Traits::parse(&payload(2, ""), 2, 8).unwrap();
        assert_eq!(
            (old.affinity, old.base_priority, old.start_address),
            (None, None, Some(6))
        );
        assert_eq!(Traits::parse(&payload(0, ""), 0, 8), None);
        let cut = payload(3, "render");
        assert_eq!(Traits::parse(&cut[..40], 3, 8), None);
    }

    #[test]
    fn affinity_has_group_and_mask() {
        let bytes = [
            &0xf0_u64.to_le_bytes()[..],
            &44_u32.to_le_bytes(),
            &1_u16.to_le_bytes(),
            &[0; 2],
        ]
        .concat();
        assert_eq!(
            Affinity::parse(&bytes, 8),
            Some(Affinity {
                tid: 44,
                group: 1,
                mask: 0xf0
            })
        );
        assert_eq!(Affinity::parse(&bytes[..13], 8), None);
    }
}
