//! The part of the time that is cut out, in raw ticks.

use etwkit_etl::clock::Clock;
use etwkit_trace::import::Range;

/// The position of a point in time relative to the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PartSide {
    /// The time is before the part.
    Before,
    /// The time is in the part; both ends belong to it.
    Within,
    /// The time is after the part.
    Behind,
}

/// A part of a trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// The requested range.
    pub(crate) range: Range,
    /// First and last raw tick.
    first: i64,
    last: i64,
}

impl Part {
    pub(crate) fn new(range: Range, clock: &Clock) -> Self {
        // An open end must stay open. Converted, it would become a tick, and an event could be
        // before it.
        let first = if range.start_ns == i64::MIN {
            i64::MIN
        } else {
            clock.ticks_at(range.start_ns)
        };
        // With a fast clock, several ticks fall into one nanosecond.
        let behind = range
            .end_ns
            .checked_add(1)
            .map(|behind| clock.ticks_at(behind));
        Self {
            // The last tick of the range, as its end belongs to it.
            range,
            first,
            last: behind.map_or(i64::MAX, |behind| behind.saturating_sub(1)),
        }
    }

    pub(crate) const fn place(&self, tick: i64) -> PartSide {
        if tick < self.first {
            PartSide::Before
        } else if tick > self.last {
            PartSide::Behind
        } else {
            PartSide::Within
        }
    }

    pub(crate) fn holds(&self, tick: i64) -> bool {
        self.place(tick) == PartSide::Within
    }

    pub(crate) fn is_all(&self) -> bool {
        self.range == Range::ALL
    }

    /// A raw time outside of the part, next to it; any if it is all of the trace.
    pub(crate) fn beside(&self) -> i64 {
        // The side that exists.
        if self.first == i64::MIN {
            self.last.saturating_add(1)
        } else {
            self.first.saturating_sub(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use etwkit_etl::clock::ClockType;

    use super::*;

    #[test]
    fn both_ends_belong_to_a_part_whatever_the_clock() {
        for frequency in [3_000_000_000, 10_000_000, 3_579_545] {
            let clock = Clock {
                kind: ClockType::Qpc,
                frequency,
                t0: 100,
                start: 0,
                counter_frequency: frequency,
            };
            let range = Range {
                start_ns: 1_000_001,
                end_ns: 2_000_000,
            };
            let part = Part::new(range, &clock);
            let ticks = (0..3 * frequency / 1000).map(|tick| 100 + tick);
            for tick in
                ticks
                    .step_by(7)
                    .chain([part.first - 1, part.first, part.last, part.last + 1])
            {
                let ns = clock.nanoseconds(tick);
                assert_eq!(
                    part.holds(tick),
                    (range.start_ns..=range.end_ns).contains(&ns),
                    "{frequency} {tick}"
                );
            }
            assert!(!part.holds(part.beside()));
        }
    }
}
