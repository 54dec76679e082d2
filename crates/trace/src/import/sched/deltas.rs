//! Increments of performance counters between two context switches of a processor.

use etwkit_decode::kernel::counter::MAX_COUNTERS;
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::table::Pmc;

/// Values of a processor's counters.
type Values = [Option<u64>; MAX_COUNTERS];

/// Width of a processor's counters in bits: a value after an overflow is too small by two to the
/// power of this.
const WIDTH: u32 = 48;

/// Increment of each counter of a processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deltas([Option<i64>; MAX_COUNTERS]);

impl Deltas {
    /// The row of a slice.
    pub(super) fn row(self) -> Pmc {
        let [
            value_0,
            value_1,
            value_2,
            value_3,
            value_4,
            value_5,
            value_6,
        ] = self.0;
        Pmc {
            value_0,
            value_1,
            value_2,
            value_3,
            value_4,
            value_5,
            value_6,
            ..Pmc::default()
        }
    }
}

/// Values at the last context switch of each processor.
#[derive(Debug, Default)]
pub(super) struct LastValues {
    last: FxHashMap<u16, Values>,
    /// The largest number of values that an event carried.
    pub(super) most: usize,
}

impl LastValues {
    /// Takes the values of a context switch. Returns the differences to the previous one on this
    /// processor, if there is one.
    #[inline]
    pub(super) fn switch(&mut self, event: &RawEvent<'_>) -> Option<Deltas> {
        let mut now = Values::default();
        now.iter_mut()
            .zip(event.pmc_values())
            .for_each(|(slot, value)| *slot = Some(value));
        if now == Values::default() {
            return None;
        }
        self.most = self.most.max(now.iter().flatten().count());
        let before = self.last.insert(event.cpu, now)?;
        let mut deltas = [None; MAX_COUNTERS];
        for (delta, (before, now)) in deltas.iter_mut().zip(before.into_iter().zip(now)) {
            *delta = before
                .zip(now)
                .and_then(|(before, now)| difference(before, now));
        }
        deltas.iter().any(Option::is_some).then_some(Deltas(deltas))
    }

    /// Forgets a processor: events are missing, or its counters were changed.
    pub(super) fn forget(&mut self, cpu: u16) {
        self.last.remove(&cpu);
    }
}

/// The increment of a counter. A counter that overflowed has started again at 0. An increment of
/// half its range or more shows that a program set the counter: then there is none.
fn difference(before: u64, now: u64) -> Option<i64> {
    let forward = match now.checked_sub(before) {
        Some(forward) => forward,
        None if before >> WIDTH == 0 => (now + (1 << WIDTH)).checked_sub(before)?,
        None => return None,
    };
    i64::try_from(forward)
        .ok()
        .filter(|forward| forward >> (WIDTH - 1) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_ran_over_goes_on_and_one_that_was_set_back_counts_nothing() {
        let top = (1u64 << WIDTH) - 1;
        for (before, now, want) in [
            (5, 12, Some(7)),
            (5, 5, Some(0)),
            (top, 4, Some(5)),
            (1000, 999, None),
            (0, u64::MAX, None),
            (u64::MAX, 0, None),
        ] {
            assert_eq!(difference(before, now), want, "{before} {now}");
        }
    }
}
