//! Percentiles of ready times, from values that come in ascending order and whose number is known.
//!
//! Only the values next to a percentile are kept, so memory does not grow with the number of
//! values.

use crate::table::{CpuMethod, ReadyPercentile};

/// The end of a ready time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadyKind {
    /// The thread was switched in on a processor that slept deeply: waking it is part of the time.
    DeepSleep,
    /// It was switched in on any other one.
    Other,
    /// It was not switched in within the range.
    NotIn,
}

impl ReadyKind {
    /// By whether the thread was switched in and by the C-state of an idle processor.
    pub(super) fn of(is_in: bool, c_state: Option<i32>) -> Self {
        match (is_in, c_state) {
            (false, _) => Self::NotIn,
            (true, Some(1..)) => Self::DeepSleep,
            (true, _) => Self::Other,
        }
    }

    /// Position among the kinds whose values count.
    #[inline]
    pub(super) const fn number(self) -> Option<usize> {
        match self {
            Self::DeepSleep => Some(0),
            Self::Other => Some(1),
            Self::NotIn => None,
        }
    }
}

/// Shortest, percentiles, longest.
const PERCENTS: [u64; 8] = [0, 5, 25, 50, 90, 95, 99, 100];

/// The values of one kind, of a process or method. Fields that each value needs come first.
#[derive(Debug, Clone)]
pub(super) struct Ranked {
    seen: u64,
    /// The next position that a percentile needs.
    next: u64,
    /// Position of the first of the longest values.
    longest_from: u64,
    sum: i64,
    longest_sum: i64,
    count: u64,
    is_deep_sleep: bool,
    /// The values at and after the position of each percentile.
    near: [(i64, i64); PERCENTS.len()],
}

impl Ranked {
    /// Creates percentiles for `count` values of one kind.
    pub(super) fn new(kind: usize, count: u32) -> Self {
        let count = u64::from(count);
        Self {
            seen: 0,
            next: 0,
            // The last hundredth of the values, rounded up: one value is its own longest.
            longest_from: count * 99 / 100,
            sum: 0,
            longest_sum: 0,
            count,
            is_deep_sleep: kind == 0,
            near: [(0, 0); PERCENTS.len()],
        }
    }

    /// Position below a percentile, and hundredths of the way to the next value.
    const fn position(&self, percent: u64) -> (u64, u64) {
        let hundredths = self.count.saturating_sub(1) * percent;
        (hundredths / 100, hundredths % 100)
    }

    /// Adds the next value, which must not be smaller than the ones before.
    #[inline]
    pub(super) fn push(&mut self, value: i64) {
        let at = self.seen;
        self.seen += 1;
        self.sum = self.sum.saturating_add(value);
        if at >= self.longest_from {
            self.longest_sum = self.longest_sum.saturating_add(value);
        }
        if at == self.next {
            self.keep(at, value);
        }
    }

    fn keep(&mut self, at: u64, value: i64) {
        // A percentile is between two values, so both neighbors are needed. All other values only
        // go into the sums.
        self.next = u64::MAX;
        for (index, percent) in PERCENTS.into_iter().enumerate() {
            let (below, _) = self.position(percent);
            if let Some(near) = self.near.get_mut(index) {
                if below == at {
                    *near = (value, value);
                } else if below + 1 == at {
                    near.1 = value;
                }
            }
            for wanted in [below, below + 1] {
                if wanted > at {
                    self.next = self.next.min(wanted);
                }
            }
        }
    }

    /// The percentiles, after all values were added.
    fn values(&self) -> [i64; PERCENTS.len()] {
        let mut all = [0; PERCENTS.len()];
        for ((value, percent), (below, above)) in all.iter_mut().zip(PERCENTS).zip(self.near) {
            let (_, hundredths) = self.position(percent);
            // A huge value from broken time stamps would overflow 64 bits when multiplied.
            let between = (i128::from(above) - i128::from(below)) * i128::from(hundredths) / 100;
            *value = below.saturating_add(i64::try_from(between).unwrap_or(i64::MAX));
        }
        all
    }
}

/// Number of values of each kind.
pub(super) type Counts = [u32; 2];

/// The row of a process, or of a method of it.
pub(super) fn row(
    process_key: Option<i32>,
    of: Option<&CpuMethod>,
    ranked: &Ranked,
) -> ReadyPercentile {
    let [
        min_ns,
        p5_ns,
        p25_ns,
        p50_ns,
        p90_ns,
        p95_ns,
        p99_ns,
        max_ns,
    ] = ranked.values();
    ReadyPercentile {
        process_key,
        module: of.and_then(|of| of.module.clone()),
        method: of.map(|of| of.method.clone()),
        module_path: of.and_then(|of| of.module_path.clone()),
        is_deep_sleep: ranked.is_deep_sleep,
        count: ranked.count.cast_signed(),
        min_ns,
        p5_ns,
        p25_ns,
        p50_ns,
        p90_ns,
        p95_ns,
        p99_ns,
        max_ns,
        sum_ns: ranked.sum,
        longest_sum_ns: ranked.longest_sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[i64]) -> ReadyPercentile {
        let mut ranked = Ranked::new(1, values.len() as u32);
        values.iter().for_each(|value| ranked.push(*value));
        row(Some(1), None, &ranked)
    }

    #[test]
    fn a_percentile_lies_between_the_nearest_values() {
        // The example of the page: position of the 95th percentile is 4 × 0.95 = 3.8.
        let row = of(&[10, 20, 30, 40, 1000]);
        assert_eq!(
            (row.min_ns, row.p5_ns, row.p25_ns, row.p50_ns),
            (10, 12, 20, 30)
        );
        assert_eq!(
            (row.p90_ns, row.p95_ns, row.p99_ns, row.max_ns),
            (616, 808, 961, 1000)
        );
        assert_eq!((row.count, row.sum_ns, row.longest_sum_ns), (5, 1100, 1000));
        let one = of(&[7]);
        assert_eq!(
            (one.min_ns, one.p50_ns, one.p99_ns, one.longest_sum_ns),
            (7, 7, 7, 7)
        );
        assert_eq!(of(&[1, 2]).p50_ns, 1, "1.5 is cut");
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        for count in 1..=300_u64 {
            let values: Vec<i64> = (0..count)
                .map(|n| (n * n * 37 + n / 3).cast_signed())
                .collect();
            let row = of(&values);
            let exact = |percent: u64| {
                let at = (count - 1) as f64 * percent as f64 / 100.0;
                let (low, high) = (values[at.floor() as usize], values[at.ceil() as usize]);
                low as f64 + (high - low) as f64 * at.fract()
            };
            let ours = [
                (5, row.p5_ns),
                (25, row.p25_ns),
                (50, row.p50_ns),
                (90, row.p90_ns),
                (95, row.p95_ns),
            ];
            for (percent, ours) in ours
                .into_iter()
                .chain([(99, row.p99_ns), (100, row.max_ns)])
            {
                let exact = exact(percent);
                assert!(
                    ours as f64 <= exact + 1e-3 && exact - (ours as f64) < 1.001,
                    "{count} p{percent}: {ours} {exact}"
                );
            }
            let longest: i64 = values.iter().skip((count * 99 / 100) as usize).sum();
            assert_eq!(
                (row.longest_sum_ns, row.sum_ns),
                (longest, values.iter().sum())
            );
        }
    }
}
