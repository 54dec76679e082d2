//! File names: the path of a file key at a point in time.

use std::sync::Arc;

use etwkit_decode::kernel::file_name::opcode;
use rustc_hash::FxHashMap;

use crate::interner::Interner;

#[derive(Debug)]
struct Naming {
    timestamp: i64,
    /// True if the name is valid from here on; false if it was valid up to here.
    begins: bool,
    path: Arc<str>,
}

/// All file names of a session.
#[derive(Debug, Default)]
pub struct FileNameTracker {
    names: FxHashMap<u64, Vec<Naming>>,
    paths: Interner,
}

impl FileNameTracker {
    /// Takes a name event; events of one key must come in order of time.
    pub fn add(&mut self, op: u8, timestamp: i64, key: u64, path: &str) {
        let path = self.paths.intern(path);
        let begins = matches!(op, opcode::NAME | opcode::CREATE);
        self.names.entry(key).or_default().push(Naming {
            timestamp,
            begins,
            path,
        });
    }

    /// The NT path of a key at a raw time.
    ///
    /// If the last name event before that time started a name, it decides. Otherwise the next one
    /// after it decides if it ended a name (keys are reused), otherwise the last one before,
    /// otherwise the first one after.
    #[must_use]
    pub fn path(&self, key: u64, timestamp: i64) -> Option<&Arc<str>> {
        let names = self.names.get(&key)?;
        let split = names.partition_point(|n| n.timestamp <= timestamp);
        let before = split.checked_sub(1).and_then(|i| names.get(i));
        let after = names.get(split);
        let decided = before
            .filter(|n| n.begins)
            .or_else(|| after.filter(|n| !n.begins));
        decided.or(before).or(after).map(|n| &n.path)
    }

    /// Number of distinct keys that have a name.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True if there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_key_has_the_name_of_its_time() {
        let mut tracker = FileNameTracker::default();
        for (op, time, path) in [(35, 10, "a"), (32, 20, "b"), (35, 30, "b"), (36, 50, "c")] {
            tracker.add(op, time, 1, path);
        }
        let path = |t| tracker.path(1, t).map(|p| &**p).unwrap_or_default();
        let expected = ["a", "a", "a", "b", "b", "c", "c", "c", "c"];
        assert_eq!([5, 10, 15, 20, 29, 30, 40, 50, 60].map(path), expected);
        assert_eq!(tracker.path(2, 0), None);
    }
}
