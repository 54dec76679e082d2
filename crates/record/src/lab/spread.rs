//! Spread of the times of the same work.

use std::fmt;
use std::time::Duration;

use crate::lab::Report;

/// Times in order: the typical one, the slow ones, and the worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spread {
    pub(crate) total: Duration,
    pub(crate) median: Duration,
    pub(crate) slow: Duration,
    pub(crate) longest: Duration,
}

impl Spread {
    /// Returns the spread of these times. All values are 0 if there are none, as in a workload that was
    /// stopped at once: its report is not printed.
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        // Nearest rank: this share of the times is not longer.
        let at = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100);
            times
                .get(rank.saturating_sub(1))
                .copied()
                .unwrap_or_default()
        };
        Self {
            total: times.iter().sum(),
            median: at(50),
            slow: at(99),
            longest: at(100),
        }
    }

    /// Adds the values.
    pub(crate) fn values(&self, report: &mut Report) {
        report.seconds("total_s", self.total);
        report.seconds("median_s", self.median);
        report.seconds("p99_s", self.slow);
        report.seconds("longest_s", self.longest);
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, slow, longest] =
            [self.median, self.slow, self.longest].map(|time| time.as_secs_f64() * 1e3);
        write!(
            f,
            "{:.3} s in all, median {median:.3} ms, 99 % at most {slow:.3} ms, longest {longest:.3} ms",
            self.total.as_secs_f64()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_times_that_were_there() {
        let spread = Spread::of((1..=200).rev().map(Duration::from_millis).collect());
        let [median, slow, longest] = [100, 198, 200].map(Duration::from_millis);
        let total = Duration::from_millis(200 * 201 / 2);
        assert_eq!(
            spread,
            Spread {
                total,
                median,
                slow,
                longest
            }
        );
        assert_eq!(
            spread.to_string(),
            "20.100 s in all, median 100.000 ms, 99 % at most 198.000 ms, longest 200.000 ms"
        );
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
