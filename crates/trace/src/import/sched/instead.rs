//! The threads that ran while another thread was ready, on the processor that it finally got.

use std::cmp::Reverse;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::import::pipeline::{Context, Range};
use crate::schedule::was_preempted;
use crate::table::ContextSwitch;

/// Slices of a processor that are remembered. For a thread that was ready for longer, only the last
/// of them count.
const MAX_SLICES: usize = 1024;

/// Remembers which threads ran on each processor.
#[derive(Debug, Default)]
pub(super) struct Instead {
    processors: FxHashMap<u16, Recent>,
}

/// The latest slices of a processor.
#[derive(Debug, Default)]
struct Recent {
    /// In order of their starts; the last one is still running.
    slices: VecDeque<Slice>,
    /// Run time of each thread, and number of slices after its last one. Empty between calls, and
    /// kept to reuse its memory.
    sums: FxHashMap<i32, (i64, usize)>,
}

/// The thread that runs from a time on, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) since: i64,
    /// The thread; `None` for idle.
    pub(super) thread: Option<i32>,
    /// Its priority, if it is known.
    pub(super) priority: Option<i32>,
}

impl Instead {
    /// Takes the next slice of a processor.
    pub(super) fn ran(&mut self, cpu: u16, slice: Slice) {
        self.processors.entry(cpu).or_default().push(slice);
    }

    /// Forgets a processor whose events are missing.
    pub(super) fn forget(&mut self, cpu: u16) {
        self.processors.remove(&cpu);
    }

    /// Takes a switch-in, and adds to its row the thread that ran instead. `is_thread` is false for
    /// idle.
    pub(super) fn switched_in(
        &mut self,
        cpu: u16,
        row: &mut ContextSwitch,
        is_thread: bool,
        context: &Context<'_>,
    ) {
        let Some(in_ns) = row.in_ns else { return };
        let recent = self.processors.entry(cpu).or_default();
        if let Some(since) = ready_since(row).filter(|since| is_thread && *since < in_ns) {
            let range = if context.keep_whole {
                Range::ALL
            } else {
                context.range
            };
            if let Some((thread, ns, priority)) =
                recent.longest(range.clip(since), range.clip(in_ns))
            {
                (row.instead_thread_key, row.instead_ns) = (Some(thread), Some(ns));
                row.instead_priority = priority;
            }
        }
        let thread = is_thread.then_some(row.thread_key);
        recent.push(Slice {
            since: in_ns,
            thread,
            priority: row.priority,
        });
    }
}

/// Time at which a thread became ready that was switched in later; `None` if unknown.
fn ready_since(row: &ContextSwitch) -> Option<i64> {
    let out = row.last_out_ns?;
    let state = row.prev_state.and_then(|state| u8::try_from(state).ok())?;
    if was_preempted(state) {
        Some(out)
    } else {
        row.readied_ns
    }
}

impl Recent {
    fn push(&mut self, slice: Slice) {
        if self.slices.len() >= MAX_SLICES {
            self.slices.pop_front();
        }
        self.slices.push_back(slice);
    }

    /// The thread that ran longest in a stretch of time, the duration, and its latest priority
    /// then.
    fn longest(&mut self, from: i64, to: i64) -> Option<(i32, i64, Option<i32>)> {
        // Mostly one slice covers all of it, and nothing has to be added up.
        if let Some(slice) = self.slices.back().filter(|slice| slice.since <= from) {
            let ns = to.saturating_sub(from);
            return slice
                .thread
                .filter(|_| ns > 0)
                .map(|thread| (thread, ns, slice.priority));
        }
        self.sums.clear();
        let mut until = to;
        for (behind, slice) in self.slices.iter().rev().enumerate() {
            let ns = until.saturating_sub(slice.since.max(from));
            if let Some(thread) = slice.thread.filter(|_| ns > 0) {
                let sum = self.sums.entry(thread).or_insert((0, behind));
                sum.0 = sum.0.saturating_add(ns);
            }
            until = until.min(slice.since);
            if until <= from {
                break;
            }
        }
        // Of threads that ran equally long the one that ran last wins. No two have the same last
        // slice, so the order of the hash table does not matter.
        let longest = self
            .sums
            .iter()
            .max_by_key(|(_, (ns, behind))| (*ns, Reverse(*behind)));
        let (thread, (ns, behind)) = longest?;
        let last = self.slices.iter().rev().nth(*behind)?;
        Some((*thread, *ns, last.priority))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices by start and thread; the priority of each equals its start.
    fn recent(slices: impl IntoIterator<Item = (i64, Option<i32>)>) -> Recent {
        let mut recent = Recent::default();
        for (since, thread) in slices {
            recent.push(Slice {
                since,
                thread,
                priority: Some(since as i32),
            });
        }
        recent
    }

    #[test]
    fn who_ran_longest_is_found_with_how_long() {
        let slices = [
            (0, Some(1)),
            (10, Some(2)),
            (14, None),
            (20, Some(1)),
            (22, Some(3)),
        ];
        let mut recent = recent(slices);
        // 5 of thread 1 and 4 of thread 2, then idle, 2 of thread 1, 3 of thread 3.
        assert_eq!(recent.longest(5, 25), Some((1, 7, Some(20))));
        assert_eq!(
            recent.longest(8, 24),
            Some((1, 4, Some(20))),
            "thread 2 has 4, too, but earlier"
        );
        assert_eq!(recent.longest(23, 25), Some((3, 2, Some(22))));
        assert_eq!(
            (recent.longest(25, 25), recent.longest(15, 19)),
            (None, None)
        );
    }

    #[test]
    fn as_many_slices_are_remembered_as_the_page_says() {
        let mut recent = recent((0..3000).map(|n| (n, Some(n as i32 % 2))));
        assert_eq!(recent.longest(0, 3001), Some((1, 513, Some(2999))));
    }
}
