//! Events that wait for their stacks.
//!
//! A stack is an event of its own, logged behind the event it belongs to: the kernel part at once, the user part when the thread goes back
//! to user mode. Rows therefore wait in a line in the order of their events until no stack can come any more. How long that takes is
//! measured by the first pass.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::tracker::process::ProcessKey;
use crate::tracker::stack::StackId;

/// Entries that wait at most. A trace in which stacks come later than that was made to be one.
const MAX_ENTRIES: usize = 1 << 20;

/// Stacks that came before their event; with equal time stamps they can lie in an earlier buffer.
const MAX_EARLY: usize = 4096;

/// Number of an entry: the first is 0.
pub(super) type Seq = u64;

/// One half of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Kernel,
    User,
}

/// An event that waits.
#[derive(Debug)]
pub(super) struct Entry<T> {
    /// Raw time.
    pub time: i64,
    /// Thread whose stack is meant; `None` if the event has no stack.
    pub tid: Option<u32>,
    /// Process in which its addresses are looked up.
    pub process: Option<ProcessKey>,
    /// Kernel half.
    pub kernel: StackId,
    /// User half.
    pub user: StackId,
    /// What becomes of it.
    pub row: T,
}

impl<T> Entry<T> {
    fn slot(&mut self, half: Half) -> &mut StackId {
        match half {
            Half::Kernel => &mut self.kernel,
            Half::User => &mut self.user,
        }
    }

    /// Whether a stack was recorded.
    pub(super) fn has_stack(&self) -> bool {
        self.kernel != StackId::EMPTY || self.user != StackId::EMPTY
    }
}

/// The line.
#[derive(Debug)]
pub(super) struct Line<T> {
    entries: VecDeque<Entry<T>>,
    first: Seq,
    /// Entries by time and thread; nearly always one.
    waiting: FxHashMap<(i64, u32), VecDeque<Seq>>,
    early: FxHashMap<(i64, u32), Vec<(Half, StackId)>>,
    patience: i64,
    now: i64,
    /// Stacks that found no event.
    pub(super) unattached: u64,
}

impl<T> Line<T> {
    /// A line in which entries wait for `patience` raw ticks.
    pub(super) fn new(patience: i64) -> Self {
        Self {
            entries: VecDeque::new(),
            first: 0,
            waiting: FxHashMap::default(),
            early: FxHashMap::default(),
            patience,
            now: i64::MIN,
            unattached: 0,
        }
    }

    /// Adds an entry at the end and returns its number.
    pub(super) fn push(&mut self, mut entry: Entry<T>) -> Seq {
        let seq = self.first + self.entries.len() as u64;
        if let Some(tid) = entry.tid {
            let key = (entry.time, tid);
            if !self.early.is_empty()
                && let Some(stacks) = self.early.remove(&key)
            {
                for (half, stack) in stacks {
                    *entry.slot(half) = stack;
                }
            }
            self.waiting.entry(key).or_default().push_back(seq);
        }
        self.entries.push_back(entry);
        seq
    }

    /// Gives a stack to the event of that time and thread: the first one that lacks this half.
    pub(super) fn attach(&mut self, time: i64, tid: u32, half: Half, stack: StackId) {
        if stack == StackId::EMPTY {
            return;
        }
        let key = (time, tid);
        if let Some(seqs) = self.waiting.get(&key) {
            for seq in seqs {
                let entry = self.entries.get_mut((seq - self.first) as usize);
                if let Some(slot) = entry.map(|e| e.slot(half)).filter(|slot| **slot == StackId::EMPTY) {
                    *slot = stack;
                    return;
                }
            }
            self.unattached += 1;
        } else if time >= self.now && self.early.len() < MAX_EARLY {
            self.early.entry(key).or_default().push((half, stack));
        } else {
            self.unattached += 1;
        }
    }

    /// What becomes of an entry, while it waits.
    pub(super) fn row_mut(&mut self, seq: Seq) -> Option<&mut T> {
        let index = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        self.entries.get_mut(index).map(|entry| &mut entry.row)
    }

    /// Moves on to a raw time. Afterwards [`Line::pop`] gives what has waited long enough.
    #[inline]
    pub(super) fn advance(&mut self, time: i64) {
        if time > self.now {
            self.now = time;
            if !self.early.is_empty() {
                let before = self.early.len();
                self.early.retain(|(t, _), _| *t >= time);
                self.unattached += (before - self.early.len()) as u64;
            }
        }
    }

    /// The first entry with its number, if no stack can come for it any more.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Seq, Entry<T>)> {
        let first = self.entries.front()?;
        let is_due = self.now.saturating_sub(first.time) > self.patience || self.entries.len() > MAX_ENTRIES;
        if is_due { self.pop_any() } else { None }
    }

    /// The first entry in any case, for the end of the trace.
    pub(super) fn pop_any(&mut self) -> Option<(Seq, Entry<T>)> {
        let entry = self.entries.pop_front()?;
        let seq = self.first;
        self.first += 1;
        if let Some(tid) = entry.tid
            && let std::collections::hash_map::Entry::Occupied(mut seqs) =
                self.waiting.entry((entry.time, tid))
        {
            // Entries leave in the order in which they came.
            seqs.get_mut().pop_front();
            if seqs.get().is_empty() {
                seqs.remove();
            }
        }
        Some((seq, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::stack::StackTree;

    fn entry(time: i64, tid: u32, row: &'static str) -> Entry<&'static str> {
        Entry { time, tid: Some(tid), process: None, kernel: StackId::EMPTY, user: StackId::EMPTY, row }
    }

    fn stacks() -> [StackId; 2] {
        let mut tree = StackTree::default();
        [1, 2].map(|address| tree.intern([address].into_iter()))
    }

    #[test]
    fn both_halves_find_their_event_and_rows_leave_in_order() {
        let [kernel, user] = stacks();
        let mut line = Line::new(10);
        line.push(entry(1, 4, "a"));
        line.push(entry(2, 8, "b"));
        line.attach(1, 4, Half::Kernel, kernel);
        line.advance(8);
        line.attach(1, 4, Half::User, user);
        assert!(line.pop().is_none());
        line.advance(12);
        let (seq, a) = line.pop().unwrap();
        assert_eq!((seq, a.row, a.kernel, a.user), (0, "a", kernel, user));
        assert!(line.pop().is_none());
        let (seq, b) = line.pop_any().unwrap();
        assert_eq!((seq, b.row, b.has_stack(), line.unattached), (1, "b", false, 0));
    }

    #[test]
    fn two_events_of_one_time_and_thread_take_one_stack_each() {
        let [first, second] = stacks();
        let mut line = Line::new(0);
        line.push(entry(1, 4, "a"));
        line.push(entry(1, 4, "b"));
        for stack in [first, second, second] {
            line.attach(1, 4, Half::Kernel, stack);
        }
        let kernels: Vec<StackId> = std::iter::from_fn(|| line.pop_any()).map(|(_, e)| e.kernel).collect();
        assert_eq!((kernels, line.unattached), (vec![first, second], 1));
    }

    #[test]
    fn a_stack_that_comes_first_waits_for_its_event_and_no_other() {
        let [stack, _] = stacks();
        let mut line = Line::new(0);
        line.advance(5);
        line.attach(5, 4, Half::User, stack);
        line.attach(4, 4, Half::User, stack);
        line.push(entry(5, 8, "other"));
        line.push(entry(5, 4, "own"));
        let users: Vec<bool> = std::iter::from_fn(|| line.pop_any()).map(|(_, e)| e.has_stack()).collect();
        assert_eq!((users, line.unattached), (vec![false, true], 1));
    }
}
