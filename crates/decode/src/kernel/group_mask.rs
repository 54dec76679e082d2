//! The kernel events that a session enabled: the group masks of its extension events (group 0,
//! types 5 and 32).

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        EVENT_TRACE {
            /// The masks when the session starts, and when they change.
            EXTENSION = 5, "Extension";
            /// The masks when it ends.
            END_EXTENSION = 32, "EndExtension";
        }
    }
}

/// Eight words of flags. The first one holds the `EVENT_TRACE_FLAG_…` bits of `StartTrace`, the
/// other words hold the groups of xperf.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupMask(pub [u32; 8]);

impl GroupMask {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let mut words = [0; 8];
        for word in &mut words {
            *word = c.u32()?;
        }
        Some(Self(words))
    }

    /// Adds the flags of another mask.
    pub fn add(&mut self, other: Self) {
        self.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(word, more)| *word |= more);
    }

    /// True if no flag is set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == [0; 8]
    }

    /// True if a keyword of `xperf -on` is enabled, by its flag or its group.
    #[must_use]
    pub fn has(self, keyword: &str) -> bool {
        KEYWORDS.iter().any(|(name, word, bits)| {
            *name == keyword && self.0.get(*word).is_some_and(|of| of & bits == *bits)
        })
    }

    /// Keywords as `xperf -on` takes them, with `+` between; bits that have none as `word:0x…`.
    #[must_use]
    pub fn keywords(self) -> String {
        // Bits are cleared as keywords are found, so the bits left at the end have no keyword.
        let mut left = self.0;
        let mut parts: Vec<String> = Vec::new();
        for (name, word, bits) in KEYWORDS {
            let Some(of) = left.get_mut(*word).filter(|of| **of & bits == *bits) else {
                continue;
            };
            *of &= !bits;
            if !parts.iter().any(|known| known == name) {
                parts.push((*name).to_owned());
            }
        }
        parts.extend(
            left.iter()
                .enumerate()
                .filter(|(_, bits)| **bits != 0)
                .map(|(w, b)| format!("{w}:{b:#x}")),
        );
        parts.join("+")
    }
}

/// Keyword, word and bits. Some keywords have a flag and a group.
const KEYWORDS: &[(&str, usize, u32)] = &[
    ("PROC_THREAD", 0, 0x3),
    ("LOADER", 0, 0x4),
    ("PERF_COUNTER", 0, 0x8),
    ("CSWITCH", 0, 0x10),
    ("CSWITCH", 1, 0x4),
    ("DPC", 0, 0x20),
    ("DPC", 1, 0x80),
    ("INTERRUPT", 0, 0x40),
    ("INTERRUPT", 1, 0x4000),
    ("SYSCALL", 0, 0x80),
    ("SYSCALL", 2, 0x40),
    ("DISK_IO", 0, 0x100),
    ("FILENAME", 0, 0x200),
    ("DISK_IO_INIT", 0, 0x400),
    ("DISPATCHER", 0, 0x800),
    ("DISPATCHER", 1, 0x200),
    ("ALL_FAULTS", 0, 0x1000),
    ("HARD_FAULTS", 0, 0x2000),
    ("VIRT_ALLOC", 0, 0x4000),
    ("VIRT_ALLOC", 1, 0x8000),
    ("VAMAP", 0, 0x8000),
    ("NETWORKTRACE", 0, 0x1_0000),
    ("REGISTRY", 0, 0x2_0000),
    ("DBGPRINT", 0, 0x4_0000),
    ("JOB", 0, 0x8_0000),
    ("ALPC", 0, 0x10_0000),
    ("SPLIT_IO", 0, 0x20_0000),
    ("DRIVERS", 0, 0x80_0000),
    ("DRIVERS", 1, 0x10),
    ("PROFILE", 0, 0x100_0000),
    ("PROFILE", 1, 0x2),
    ("FILE_IO", 0, 0x200_0000),
    ("FILE_IO_INIT", 0, 0x400_0000),
    ("NO_SYSCONFIG", 0, 0x1000_0000),
    ("MEMORY", 1, 0x1),
    ("FOOTPRINT", 1, 0x8),
    ("REFSET", 1, 0x20),
    ("POOL", 1, 0x40),
    ("COMPACT_CSWITCH", 1, 0x100),
    ("PMC_PROFILE", 1, 0x400),
    ("PRIORITY", 1, 0x2000),
    ("SPINLOCK", 1, 0x1_0000),
    ("SYNC_OBJECTS", 1, 0x2_0000),
    ("DPC_QUEUE", 1, 0x4_0000),
    ("MEMINFO", 1, 0x8_0000),
    ("CONTMEMGEN", 1, 0x10_0000),
    ("SESSION", 1, 0x40_0000),
    ("MEMINFO_WS", 1, 0x80_0000),
    ("KQUEUE", 1, 0x100_0000),
    ("INTERRUPT_STEER", 1, 0x200_0000),
    ("ANTISTARVATION", 2, 0x1),
    ("PROCESS_FREEZE", 2, 0x2),
    ("IDLE_STATES", 2, 0x8000),
    ("CPU_CONFIG", 2, 0x1_0000),
    ("TIMER", 2, 0x2_0000),
    ("CLOCKINT", 2, 0x4_0000),
    ("LOAD_BALANCER", 2, 0x8_0000),
    ("KE_CLOCK", 2, 0x10_0000),
    ("IPI", 2, 0x40_0000),
    ("REG_HIVE", 2, 0x100_0000),
    ("REG_NOTIF", 2, 0x200_0000),
    ("OPTICAL_IO", 4, 0x1),
    ("OPTICAL_IO_INIT", 4, 0x2),
    ("OB_HANDLE", 4, 0x40),
    ("OB_OBJECT", 4, 0x80),
    ("POWER", 4, 0x8000),
    ("CC", 4, 0x2_0000),
    ("FLT_IO_INIT", 4, 0x8_0000),
    ("FLT_IO", 4, 0x10_0000),
    ("FLT_FASTIO", 4, 0x20_0000),
    ("FLT_IO_FAILURE", 4, 0x40_0000),
    ("WDF_DPC", 4, 0x100_0000),
    ("WDF_INTERRUPT", 4, 0x200_0000),
    ("CACHE_FLUSH", 4, 0x400_0000),
    ("HIBERRUNDOWN", 5, 0x1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_groups_of_one_keyword_stand_once_and_unknown_bits_stay() {
        let mask = GroupMask([0x2_0017, 0x4, 0x100_0000, 0, 0, 0, 0x5, 0]);
        assert_eq!(
            mask.keywords(),
            "PROC_THREAD+LOADER+CSWITCH+REGISTRY+REG_HIVE+6:0x5"
        );
        assert!(mask.has("REGISTRY") && mask.has("CSWITCH"));
        assert!(!mask.has("HARD_FAULTS") && !mask.has("no keyword"));
        // Processes alone have no keyword.
        assert_eq!(GroupMask([1, 0, 0, 0, 0, 0, 0, 0]).keywords(), "0:0x1");
        let bytes: Vec<u8> = mask.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(GroupMask::parse(&bytes), Some(mask));
        assert_eq!(GroupMask::parse(&bytes[..31]), None);
        assert!(GroupMask::default().is_empty() && !mask.is_empty());
    }
}
