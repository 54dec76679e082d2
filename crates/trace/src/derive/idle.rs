//! Times in which at least one processor of a kind was idle.

/// Maximum number of intervals. If more remain after merging, short gaps between them are closed:
/// times become too long by those gaps, and memory stays bounded.
const MAX_SPANS: usize = 1 << 22;

/// A gap that is closed first, in nanoseconds.
const FIRST_GAP: i64 = 1000;

/// Intervals that are collected in any order.
#[derive(Debug, Default)]
pub(super) struct Spans {
    list: Vec<(i64, i64)>,
    gap: i64,
}

impl Spans {
    /// Adds an interval.
    pub(super) fn add(&mut self, start: i64, end: i64) {
        if start >= end {
            return;
        }
        if self.list.len() >= MAX_SPANS {
            self.merge();
            // Half of the room has to become free, so that merging stays rare. The gap grows by a
            // factor of four in each round, so the loop ends after a few rounds for any intervals.
            while self.list.len() > MAX_SPANS / 2 {
                self.gap = (self.gap * 4).max(FIRST_GAP);
                self.merge();
            }
        }
        self.list.push((start, end));
    }

    /// Merges intervals that overlap or nearly touch.
    fn merge(&mut self) {
        self.list.sort_unstable();
        let gap = self.gap;
        self.list.dedup_by(|next, before| {
            let is_near = next.0 <= before.1.saturating_add(gap);
            if is_near {
                before.1 = before.1.max(next.1);
            }
            is_near
        });
    }

    /// Sorts the intervals and adds up their lengths, so that they can be searched.
    pub(super) fn finish(mut self) -> Idle {
        self.merge();
        let mut total = 0i64;
        let spans = self.list.into_iter().map(|(start, end)| {
            let before = total;
            total = total.saturating_add(end.saturating_sub(start));
            (start, end, before)
        });
        Idle {
            spans: spans.collect(),
        }
    }
}

/// Disjoint intervals in their order, each with the length of all before it.
#[derive(Debug, Default)]
pub(super) struct Idle {
    spans: Vec<(i64, i64, i64)>,
}

impl Idle {
    /// The part of a time range that the intervals cover, in nanoseconds.
    pub(super) fn within(&self, start: i64, end: i64) -> i64 {
        if start >= end {
            0
        } else {
            self.until(end).saturating_sub(self.until(start))
        }
    }

    /// Length of the intervals up to a time.
    fn until(&self, time: i64) -> i64 {
        // A running sum makes each query two searches, however many intervals are in between.
        let at = self.spans.partition_point(|(start, ..)| *start < time);
        let last = at.checked_sub(1).and_then(|at| self.spans.get(at));
        last.map_or(0, |(start, end, before)| {
            before.saturating_add(time.min(*end).saturating_sub(*start))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_times_count_once() {
        let mut spans = Spans::default();
        for (start, end) in [(50, 60), (10, 20), (15, 30), (30, 32), (70, 70)] {
            spans.add(start, end);
        }
        let idle = spans.finish();
        for (start, end, want) in [
            (0, 100, 32),
            (0, 10, 0),
            (12, 18, 6),
            (31, 55, 6),
            (60, 90, 0),
            (55, 40, 0),
            (20, 20, 0),
        ] {
            assert_eq!(idle.within(start, end), want, "{start} {end}");
        }
        assert_eq!(Idle::default().within(0, 9), 0);
    }
}
