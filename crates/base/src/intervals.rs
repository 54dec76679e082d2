//! Unions of intervals: how long at least one of them lasts.

/// The union of intervals that come in the order of their starts. None of them is kept.
#[derive(Debug, Clone, Copy)]
pub struct SortedUnion {
    covered: i64,
    length: i64,
}

impl Default for SortedUnion {
    fn default() -> Self {
        Self {
            covered: i64::MIN,
            length: 0,
        }
    }
}

impl SortedUnion {
    /// Adds an interval that starts no earlier than those before. One that ends before it starts adds nothing.
    #[inline]
    pub fn add(&mut self, start: i64, end: i64) {
        // Since starts ascend, all that lies after the furthest end so far is new.
        let from = start.max(self.covered);
        if end > from {
            self.length = self.length.saturating_add(end.saturating_sub(from));
            self.covered = end;
        }
    }

    /// Its length; lengths beyond 2⁶³ are cut there.
    #[inline]
    #[must_use]
    pub const fn length(self) -> i64 {
        self.length
    }
}

/// Length of the union of intervals in any order.
#[must_use]
pub fn union_length(mut intervals: Vec<(i64, i64)>) -> i64 {
    intervals.sort_unstable();
    let mut union = SortedUnion::default();
    for (start, end) in intervals {
        union.add(start, end);
    }
    union.length()
}

/// Intervals in any order whose union is asked for. What overlaps is merged when the list has doubled, so that
/// memory grows with the gaps and not with the intervals.
#[derive(Debug, Default)]
pub struct Intervals {
    /// The first `merged` are sorted and disjoint.
    all: Vec<(i64, i64)>,
    merged: usize,
}

impl Intervals {
    /// Merging fewer new intervals than this is not worth sorting.
    const FEW: usize = 64;

    /// Adds an interval; one that ends before it starts is left out.
    #[inline]
    pub fn add(&mut self, start: i64, end: i64) {
        if end < start {
            return;
        }
        // Intervals mostly come in the order of time.
        if self.merged == self.all.len() {
            // One that touches the last interval only makes it longer; one after it keeps the list sorted and
            // disjoint without any work.
            match self.all.last_mut() {
                Some(last) if last.0 <= start && start <= last.1 => {
                    last.1 = last.1.max(end);
                    return;
                }
                Some(last) if start < last.0 => {}
                _ => self.merged += 1,
            }
        }
        self.all.push((start, end));
        // At least as many new ones as merged ones: so each interval is sorted a number of times that grows
        // with the logarithm of all.
        if self.all.len() - self.merged >= self.merged.max(Self::FEW) {
            self.merge();
        }
    }

    /// Sorts the intervals and merges those that touch each other.
    fn merge(&mut self) {
        if self.merged < self.all.len() {
            self.all.sort_unstable();
            self.all.dedup_by(|next, kept| {
                let touches = next.0 <= kept.1;
                if touches {
                    kept.1 = kept.1.max(next.1);
                }
                touches
            });
            self.merged = self.all.len();
        }
    }

    /// The union: disjoint intervals in ascending order.
    pub fn union(&mut self) -> &[(i64, i64)] {
        self.merge();
        &self.all
    }

    /// Length of the union; `None` without an interval. Lengths beyond 2⁶³ are cut there.
    pub fn length(&mut self) -> Option<i64> {
        // In 128 bits, since the ends are any numbers and their difference may not fit into 64.
        let length = |&(start, end): &(i64, i64)| i128::from(end) - i128::from(start);
        let union = self.union();
        let sum: i128 = union.iter().map(length).sum();
        (!union.is_empty()).then(|| i64::try_from(sum).unwrap_or(i64::MAX))
    }

    /// Bytes that the intervals take.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<(i64, i64)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_two_intervals_share_counts_once() {
        let intervals = [
            (-5, 5),
            (0, 3),
            (4, 10),
            (10, 12),
            (20, 20),
            (30, 25),
            (30, 31),
        ];
        let mut union = SortedUnion::default();
        for (start, end) in intervals {
            union.add(start, end);
        }
        assert_eq!(union.length(), 15 + 2 + 1);
        assert_eq!(
            union_length(intervals.into_iter().rev().collect()),
            15 + 2 + 1
        );
        assert_eq!(union_length(Vec::new()), 0);
    }

    #[test]
    fn all_ways_give_one_length_whatever_the_order() {
        // A generator of numbers that look random, with gaps, overlaps and intervals that touch.
        let mut state = 1u64;
        let mut next = |most: i64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as i64 % most
        };
        for count in [0, 1, 2, 63, 64, 65, 1000] {
            let list: Vec<(i64, i64)> = (0..count)
                .map(|_| {
                    let start = next(5000) - 2500;
                    (start, start + next(20))
                })
                .collect();
            let mut intervals = Intervals::default();
            list.iter()
                .for_each(|&(start, end)| intervals.add(start, end));
            let expected = (count > 0).then(|| union_length(list.clone()));
            assert_eq!(intervals.length(), expected, "{count}");
            assert!(intervals.union().windows(2).all(|two| two[0].1 < two[1].0));
        }
    }

    #[test]
    fn an_interval_that_ends_before_it_starts_is_none() {
        let mut intervals = Intervals::default();
        intervals.add(5, 4);
        assert_eq!(intervals.length(), None);
        intervals.add(i64::MIN, i64::MAX);
        assert_eq!(intervals.length(), Some(i64::MAX));
    }
}
