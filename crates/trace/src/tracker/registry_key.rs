//! Keys of the registry: the path of a control block at a point in time.

use std::sync::Arc;

use etwkit_decode::kernel::registry::opcode;
use rustc_hash::FxHashMap;

use crate::interner::Interner;

/// The content of an event about a control block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// It exists from now on.
    From,
    /// It exists, may have existed before and may continue to exist.
    Around,
    /// It existed up to now.
    UpTo,
}

#[derive(Debug)]
struct Naming {
    timestamp: i64,
    holds: Holds,
    path: Arc<str>,
}

/// All control blocks of a session. Their memory is reused for other keys.
#[derive(Debug, Default)]
pub struct RegistryKeyTracker {
    names: FxHashMap<u64, Vec<Naming>>,
    paths: Interner,
}

impl RegistryKeyTracker {
    /// Takes an event about a control block, of its type and version; events of one block must come
    /// in order of time.
    pub fn add(&mut self, op: u8, version: u8, timestamp: i64, block: u64, path: &str) {
        let holds = match op {
            // Version 1 has one type for all events of a block, and when those are logged is not
            // documented.
            opcode::BLOCK_CREATE if version >= 2 => Holds::From,
            opcode::BLOCK_DELETE => Holds::UpTo,
            _ => Holds::Around,
        };
        let path = self.paths.intern(path);
        self.names.entry(block).or_default().push(Naming {
            timestamp,
            holds,
            path,
        });
    }

    /// The key of a control block at a raw time. It comes from the last event before if the block
    /// has existed since then, otherwise from the next event if the block existed before that one.
    /// Unknown between an end and a start.
    #[must_use]
    pub fn path(&self, block: u64, timestamp: i64) -> Option<&Arc<str>> {
        let names = self.names.get(&block)?;
        let split = names.partition_point(|n| n.timestamp <= timestamp);
        let before = split
            .checked_sub(1)
            .and_then(|i| names.get(i))
            .filter(|n| n.holds != Holds::UpTo);
        let after = names.get(split).filter(|n| n.holds != Holds::From);
        before.or(after).map(|n| &n.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_key_of_its_time() {
        let mut tracker = RegistryKeyTracker::default();
        for (op, time, path) in [
            (opcode::BLOCK_START, 10, "a"),
            (opcode::BLOCK_DELETE, 20, "a"),
            (opcode::BLOCK_CREATE, 30, "b"),
            (opcode::BLOCK_DELETE, 40, "b"),
            // The start of this one was lost.
            (opcode::BLOCK_END, 60, "c"),
        ] {
            tracker.add(op, 2, time, 1, path);
        }
        let path = |t| tracker.path(1, t).map_or("-", |p| &**p);
        assert_eq!(
            [5, 10, 19, 20, 29, 30, 39, 40, 59, 70].map(path),
            ["a", "a", "a", "-", "-", "b", "b", "c", "c", "c"]
        );
        assert_eq!(tracker.path(2, 0), None);
    }

    #[test]
    fn in_version_1_a_block_exists_before_and_after_its_event() {
        let mut tracker = RegistryKeyTracker::default();
        tracker.add(opcode::BLOCK_CREATE, 1, 10, 1, "a");
        assert_eq!(
            [5, 15].map(|t| tracker.path(1, t).map(|p| &**p)),
            [Some("a"); 2]
        );
    }
}
