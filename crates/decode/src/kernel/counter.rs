//! Performance counters of the processor: which ones events carry, samples of them, and branch
//! records.

use etwkit_etl::bytes::{Cursor, i64_at, pointer_at, tail, u16_at, u32_at};

/// Types of these events in the group of samples.
pub mod opcode {
    types! {
        PERFINFO {
            /// A sample that a counter caused.
            SAMPLE = 47, "PmcCounterProf";
            /// Names of the counters whose values events carry.
            CONFIG = 48, "PmcCtrConfig";
            /// Another program changed the counters of a processor.
            CORRUPTION = 49, "PmcCorruption";
        }
        BRANCH {
            /// Branches before an event, in the group of branch records.
            BRANCHES = 32, "LastBranchRecord";
        }
    }
}

/// Counters that an event can carry: their number has three bits in the header.
pub const MAX_COUNTERS: usize = 7;

/// Names of the counters of `PmcCounterConfig`, in the order of the values; at most
/// [`MAX_COUNTERS`].
#[must_use]
pub fn names(payload: &[u8]) -> Vec<String> {
    let mut c = Cursor::new(payload);
    let Some(count) = c.u32() else {
        return Vec::new();
    };
    // Without the check for the end, a count above the number of names would add empty ones.
    (0..(count as usize).min(MAX_COUNTERS))
        .map_while(|_| (!c.is_empty()).then(|| c.text()))
        .collect()
}

/// Processor of a `PmcCounterCorruption`: counter differences across this event mean nothing.
#[must_use]
pub fn corrupted_processor(payload: &[u8]) -> Option<u32> {
    u32_at(payload, 0)
}

/// `PmcCounterProf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterSample {
    /// Address that was about to run.
    pub ip: u64,
    /// Thread; 0 is idle.
    pub tid: u32,
    /// Counter that overflowed: number of its profile source.
    pub source: u16,
}

impl CounterSample {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        Some(Self {
            ip: pointer_at(payload, 0, pointer_size)?,
            tid: u32_at(payload, pointer_size)?,
            source: u16_at(payload, pointer_size + 4)?,
        })
    }
}

/// Name of a profile source whose meaning is the same on all processors (`KPROFILE_SOURCE`).
#[must_use]
pub const fn source_name(source: u32) -> Option<&'static str> {
    Some(match source {
        0 => "Timer",
        1 => "AlignmentFixup",
        2 => "TotalIssues",
        3 => "PipelineDry",
        4 => "LoadInstructions",
        5 => "PipelineFrozen",
        6 => "BranchInstructions",
        7 => "TotalNonissues",
        8 => "DcacheMisses",
        9 => "IcacheMisses",
        10 => "CacheMisses",
        11 => "BranchMispredictions",
        12 => "StoreInstructions",
        13 => "FpInstructions",
        14 => "IntegerInstructions",
        18 => "SpecialInstructions",
        19 => "TotalCycles",
        20 => "IcacheIssues",
        21 => "DcacheAccesses",
        22 => "MemoryBarrierCycles",
        23 => "LoadLinkedIssues",
        _ => return None,
    })
}

/// Name that an interval event carries from version 3 on, after its three numbers.
#[must_use]
pub fn interval_source_name(payload: &[u8], version: u8) -> Option<String> {
    let rest = payload.get(12..).filter(|_| version >= 3)?;
    Some(Cursor::new(rest).text()).filter(|name| !name.is_empty())
}

/// The event that branches belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchOwner {
    /// Raw time stamp of that event.
    pub timestamp: i64,
    /// Process ID.
    pub pid: u32,
    /// Thread that ran.
    pub tid: u32,
    /// Kinds of branches that were filtered out: 1 kernel, 2 user code, 4 conditional, 8 and 0x10
    /// direct and indirect calls, 0x20 returns, 0x40 and 0x80 indirect and direct jumps, 0x100 far
    /// ones. 0x200 keeps only calls without their return.
    pub filters: u32,
}

impl BranchOwner {
    /// Reads the start of a record.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        Some(Self {
            timestamp: i64_at(payload, 0)?,
            pid: u32_at(payload, 8)?,
            tid: u32_at(payload, 12)?,
            filters: u32_at(payload, 16)?,
        })
    }
}

/// Maximum number of branches read from a record; processors record 32.
const MAX_BRANCHES: usize = 64;

/// Source and target address of each branch, the latest first. A record that does not end with a
/// whole entry has another layout; then there are none. Entries that the processor had not filled
/// yet are omitted.
#[must_use]
pub fn branches(payload: &[u8], pointer_size: usize) -> Vec<(u64, u64)> {
    // Entries start at a multiple of the pointer size after the owner, which has 20 bytes.
    let at = if pointer_size == 8 { 24 } else { 20 };
    let entries = tail(payload, at).chunks_exact(3 * pointer_size);
    if !entries.remainder().is_empty() {
        return Vec::new();
    }
    let pair = |e: &[u8]| {
        Some((
            pointer_at(e, 0, pointer_size)?,
            pointer_at(e, pointer_size, pointer_size)?,
        ))
    };
    entries
        .take(MAX_BRANCHES)
        .filter_map(pair)
        .filter(|(from, to)| *from != 0 && *to != 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<u8> {
        text.encode_utf16()
            .chain([0])
            .flat_map(u16::to_le_bytes)
            .collect()
    }

    #[test]
    fn counters_have_the_names_that_are_there() {
        let mut payload = 2u32.to_le_bytes().to_vec();
        payload.extend(text("TotalIssues"));
        payload.extend(text("TotalCycles"));
        assert_eq!(names(&payload), ["TotalIssues", "TotalCycles"]);
        payload[0] = 200;
        assert_eq!(names(&payload).len(), 2);
        assert!(names(&payload[..3]).is_empty());
    }

    #[test]
    fn branches_are_read_in_both_pointer_sizes_and_only_whole() {
        let mut wide = Vec::new();
        wide.extend(77i64.to_le_bytes());
        [4u32, 8, 0x200, 0]
            .iter()
            .for_each(|n| wide.extend(n.to_le_bytes()));
        [0x10u64, 0x20, 1, 0, 0, 0]
            .iter()
            .for_each(|n| wide.extend(n.to_le_bytes()));
        let owner = BranchOwner {
            timestamp: 77,
            pid: 4,
            tid: 8,
            filters: 0x200,
        };
        assert_eq!(BranchOwner::parse(&wide), Some(owner));
        assert_eq!(branches(&wide, 8), [(0x10, 0x20)]);
        assert!(branches(&wide[..wide.len() - 1], 8).is_empty());
        let mut narrow = wide[..20].to_vec();
        [0x10u32, 0x20, 1]
            .iter()
            .for_each(|n| narrow.extend(n.to_le_bytes()));
        assert_eq!(branches(&narrow, 4), [(0x10, 0x20)]);
    }
}
