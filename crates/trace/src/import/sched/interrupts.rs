//! Time that DPCs and interrupts took from the thread on a processor.

use std::collections::VecDeque;

/// DPCs and interrupts of a processor since its last switch, in nanoseconds. An interrupt inside a
/// DPC ends before it, and is a part of it.
#[derive(Debug, Default)]
pub(super) struct Interrupts {
    /// Disjoint, in order of time; only the latest ones, which may still turn out to be inside a
    /// DPC.
    spans: VecDeque<(i64, i64)>,
    /// Length of the spans before these, and their end.
    before: i64,
    before_until: i64,
}

/// Maximum number of spans held for an enclosing DPC. If more interrupts are inside one DPC, the
/// first are counted in addition to it.
const MAX_INSIDE: usize = 1024;

impl Interrupts {
    pub(super) fn add(&mut self, [start, end]: [i64; 2]) {
        // Time that was counted already must not be counted again by a DPC that started before it.
        let mut start = start.max(self.before_until);
        while let Some((from, until)) = self.spans.back().copied() {
            if until <= start {
                break;
            }
            start = start.min(from);
            self.spans.pop_back();
        }
        if start < end {
            self.spans.push_back((start, end));
        }
        if self.spans.len() > MAX_INSIDE
            && let Some((from, until)) = self.spans.pop_front()
        {
            self.before = self.before.saturating_add(until.saturating_sub(from));
            self.before_until = until;
        }
    }

    /// The length of all spans in a stretch of time.
    pub(super) fn within(&self, since: i64, until: i64) -> i64 {
        let inside =
            |(from, to): &(i64, i64)| (*to).min(until).saturating_sub((*from).max(since)).max(0);
        let sum = self
            .spans
            .iter()
            .map(inside)
            .fold(self.before, i64::saturating_add);
        // Spans that were summed up are not clipped any more, so the sum could exceed the slice.
        sum.min(until.saturating_sub(since).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_inside_a_dpc_counts_once() {
        let mut interrupts = Interrupts::default();
        for span in [[10, 12], [15, 16], [14, 20], [30, 31], [20, 40], [50, 60]] {
            interrupts.add(span);
        }
        assert_eq!(interrupts.within(0, 100), 2 + 6 + 20 + 10);
        assert_eq!(
            (interrupts.within(11, 55), interrupts.within(70, 80)),
            (1 + 6 + 20 + 5, 0)
        );
    }

    #[test]
    fn memory_for_interrupts_is_bounded() {
        let mut interrupts = Interrupts::default();
        (0..5000).for_each(|n| interrupts.add([10 * n, 10 * n + 3]));
        assert_eq!(
            (interrupts.spans.len(), interrupts.within(0, 50_000)),
            (MAX_INSIDE, 15_000)
        );
        // A DPC around all of them has the part that is not counted yet.
        interrupts.add([0, 60_000]);
        assert_eq!(
            interrupts.within(0, 60_000),
            3 * (5000 - 1024) + 60_000 - (10 * 3975 + 3)
        );
    }
}
