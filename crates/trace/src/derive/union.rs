//! Intervals, and the length of their union if they come in the order of their starts.

use super::percentiles::ReadyKind;

/// A wait or a ready time of a thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interval {
    pub(super) process: Option<i32>,
    pub(super) stack: Option<i32>,
    pub(super) start: i64,
    pub(super) end: i64,
    /// The end of the ready time.
    pub(super) ready: ReadyKind,
}

/// A union that grows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Union {
    covered: i64,
    total: i64,
}

impl Default for Union {
    fn default() -> Self {
        Self {
            covered: i64::MIN,
            total: 0,
        }
    }
}

impl Union {
    /// Adds an interval that starts no earlier than those before.
    #[inline]
    pub(super) fn add(&mut self, start: i64, end: i64) {
        // Because starts ascend, everything after the furthest end so far is new, and no interval
        // has to be kept.
        let from = start.max(self.covered);
        if end > from {
            self.total = self.total.saturating_add(end.saturating_sub(from));
            self.covered = end;
        }
    }

    /// Its length.
    pub(super) const fn total(self) -> i64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_two_intervals_share_counts_once() {
        let mut union = Union::default();
        for (start, end) in [
            (-5, 5),
            (0, 3),
            (4, 10),
            (10, 12),
            (20, 20),
            (30, 25),
            (30, 31),
        ] {
            union.add(start, end);
        }
        assert_eq!(union.total(), 15 + 2 + 1);
    }
}
