//! Events that wait for their stacks.
//!
//! A stack is an event of its own, logged after the event it belongs to: the kernel part at once,
//! the user part when the thread returns to user mode. Rows therefore wait in a line, in the order
//! of their events, until no stack can come any more. The first pass measures how long that takes.

use std::collections::VecDeque;
use std::collections::hash_map::Entry as Slot;

use rustc_hash::FxHashMap;

use super::arena::{Arena, RawStack};
use super::given::EarlyStack;
pub(crate) use super::given::GivenStack;
use crate::early::Early;
use crate::tracker::process::ProcessKey;

/// Maximum number of waiting entries. A trace whose stacks come more entries later is malicious.
const MAX_ENTRIES: usize = 1 << 20;

/// Bytes of texts that may wait, for the same reason.
const MAX_TEXT: usize = 128 << 20;

/// Number of an entry: the first is 0.
pub(crate) type Seq = u64;

/// An entry of a line, which may hold texts.
pub(crate) trait Texts {
    /// Bytes of its texts; must not change while it waits.
    fn text_bytes(&self) -> usize;
}

/// Marks a missing entry.
const NO_SEQ: Seq = Seq::MAX;

/// The owner of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum StackSource {
    /// The stack of a thread.
    Thread(u32),
    /// The stack of any thread of a process, used if the running thread is unknown.
    Process(u32),
}

/// Raw time, and whose stack.
type Key = (i64, StackSource);

/// One half of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Kernel,
    User,
}

/// An event that waits.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    /// Raw time.
    pub time: i64,
    /// The owner of the stack; `None` if the event has no stack.
    pub whose: Option<StackSource>,
    /// Process for looking up its addresses.
    pub process: Option<ProcessKey>,
    /// The processor of a context switch.
    pub switched_on: Option<u16>,
    /// Kernel half.
    pub kernel: RawStack,
    /// User half.
    pub user: RawStack,
    /// The data of its row.
    pub row: T,
    /// The next entry with the same key.
    next: Seq,
}

impl<T> Entry<T> {
    /// An event without a stack so far.
    pub(crate) const fn new(
        time: i64,
        whose: Option<StackSource>,
        process: Option<ProcessKey>,
        row: T,
    ) -> Self {
        Self {
            time,
            whose,
            process,
            switched_on: None,
            kernel: RawStack::Empty,
            user: RawStack::Empty,
            row,
            next: NO_SEQ,
        }
    }

    /// A context switch, whose stack may name another thread than the one that is switched in.
    pub(crate) fn of_switch(
        time: i64,
        tid: u32,
        cpu: u16,
        process: Option<ProcessKey>,
        row: T,
    ) -> Self {
        Self {
            switched_on: Some(cpu),
            ..Self::new(time, Some(StackSource::Thread(tid)), process, row)
        }
    }

    fn slot(&mut self, half: Half) -> &mut RawStack {
        match half {
            Half::Kernel => &mut self.kernel,
            Half::User => &mut self.user,
        }
    }
}

/// The entries of one key, nearly always one; a chain.
#[derive(Debug, Clone, Copy)]
struct Chain {
    first: Seq,
    last: Seq,
    /// The first entry that may lack its half: kernel, user.
    lacking: [Seq; 2],
}

/// Counts of stacks that found their events, or did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Attached {
    /// Stacks that found no event.
    pub unattached: u64,
    /// Number of those whose events may have left the line too early, because too many waited.
    pub late: u64,
    /// Stacks of context switches that were found by time and thread.
    pub switches_by_thread: u64,
    /// Stacks of context switches that name another thread: the switch is the only one of that time
    /// on that processor.
    pub switches_by_processor: u64,
}

/// The line.
#[derive(Debug)]
pub(crate) struct Line<T> {
    entries: VecDeque<Entry<T>>,
    /// Bytes of the texts of all entries.
    text_bytes: usize,
    first: Seq,
    waiting: FxHashMap<Key, Chain>,
    /// Waiting context switches, by time and processor; [`NO_SEQ`] if there are several.
    switches: FxHashMap<(i64, u16), Seq>,
    early: Early<StackSource, (Half, EarlyStack)>,
    /// Number of waiting entries that take the stack of any thread of a process.
    of_processes: usize,
    pub(crate) arena: Arena,
    patience: i64,
    now: i64,
    /// Time of the latest entry that left while a stack could still come.
    left_early: i64,
    pub(crate) attached: Attached,
}

impl<T: Texts> Line<T> {
    /// A line in which entries wait for `patience` raw ticks.
    pub(crate) fn new(patience: i64) -> Self {
        Self {
            entries: VecDeque::new(),
            text_bytes: 0,
            first: 0,
            waiting: FxHashMap::default(),
            switches: FxHashMap::default(),
            early: Early::default(),
            of_processes: 0,
            arena: Arena::default(),
            patience,
            now: i64::MIN,
            left_early: i64::MIN,
            attached: Attached::default(),
        }
    }

    /// Number of the next entry.
    pub(crate) fn next(&self) -> Seq {
        self.first + self.entries.len() as Seq
    }

    fn entry(&mut self, seq: Seq) -> Option<&mut Entry<T>> {
        // Entries leave only at the front, so a number minus the first number is an index, and no
        // map is needed.
        let index = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        self.entries.get_mut(index)
    }

    /// Adds an entry at the end and returns its number.
    pub(crate) fn push(&mut self, mut entry: Entry<T>) -> Seq {
        let seq = self.next();
        // An entry without an owner has its stack already, or never gets one.
        if let Some(whose) = entry.whose {
            let key = (entry.time, whose);
            self.of_processes += usize::from(matches!(whose, StackSource::Process(_)));
            // Stacks come before their events only where buffers of two processors were written at
            // one moment. Nearly always there are none.
            if !self.early.is_empty() {
                for (half, stack) in self.early.take(&key) {
                    let slot = entry.slot(half);
                    if *slot == RawStack::Empty {
                        *slot = stack.given().keep(&mut self.arena);
                    } else {
                        // A second half of the same kind belongs to another event of this time,
                        // which is still to come. There is room for it, because it was taken out
                        // just now.
                        self.early.keep(key, (half, stack));
                    }
                }
            }
            self.join(key, seq);
        }
        // Switches are found by processor as well, since the thread in the stack of a switch may be
        // the one that left.
        if let Some(cpu) = entry.switched_on {
            // With two switches in one tick, the owner of a stack is unknown, and no stack is
            // better than a wrong one.
            self.switches
                .entry((entry.time, cpu))
                .and_modify(|seq| *seq = NO_SEQ)
                .or_insert(seq);
        }
        // Counted when an entry joins and with the same number when it leaves: the texts must not
        // change in between.
        self.text_bytes += entry.row.text_bytes();
        self.entries.push_back(entry);
        seq
    }

    /// Appends an entry to its chain.
    fn join(&mut self, key: Key, seq: Seq) {
        let last = match self.waiting.entry(key) {
            Slot::Vacant(vacant) => {
                vacant.insert(Chain {
                    first: seq,
                    last: seq,
                    lacking: [seq; 2],
                });
                return;
            }
            Slot::Occupied(mut chain) => {
                // All entries so far had their half. The new one is the first that lacks it.
                let chain = chain.get_mut();
                for lacking in chain
                    .lacking
                    .iter_mut()
                    .filter(|lacking| **lacking == NO_SEQ)
                {
                    *lacking = seq;
                }
                std::mem::replace(&mut chain.last, seq)
            }
        };
        if let Some(before) = self.entry(last) {
            before.next = seq;
        }
    }

    /// The receiver of a stack of this thread, process and time: the thread, unless the only
    /// waiting event is an event of the process whose thread is unknown.
    #[inline]
    pub(crate) fn whose(&self, time: i64, tid: u32, pid: u32) -> StackSource {
        let thread = StackSource::Thread(tid);
        let process = StackSource::Process(pid);
        let waits = |whose| self.waiting.contains_key(&(time, whose));
        // A process is asked only if the thread has no event: a stack that names a thread is meant
        // for that thread.
        if self.of_processes > 0 && !waits(thread) && waits(process) {
            process
        } else {
            thread
        }
    }

    /// Attaches a stack to the first event of that time that lacks this half. `cpu` is the
    /// processor on which the kernel logged the stack.
    pub(crate) fn attach(
        &mut self,
        time: i64,
        whose: StackSource,
        half: Half,
        stack: GivenStack<'_>,
        cpu: Option<u16>,
    ) {
        // An empty stack proves nothing. If it were attached, a later one with frames would find
        // its place taken.
        if stack.is_empty() {
            return;
        }
        let key = (time, whose);
        let Self {
            waiting,
            entries,
            arena,
            first,
            attached,
            ..
        } = self;
        let Some(chain) = waiting.get_mut(&key) else {
            // No event of this thread at this time is waiting. Only a switch can still be meant.
            self.attach_to_switch(key, half, stack, cpu);
            return;
        };
        let [kernel, user] = &mut chain.lacking;
        let lacking = if half == Half::Kernel { kernel } else { user };
        // The remembered entry may have left by now. Remembering where to continue makes many
        // events of one key cost as much as one.
        *lacking = (*lacking).max(chain.first);
        while let Some(entry) = entries.get_mut(lacking.wrapping_sub(*first) as usize) {
            *lacking = entry.next;
            let slot = entry.slot(half);
            if *slot == RawStack::Empty {
                // The half is taken. Several events of one thread have this time, and their stacks
                // come in their order.
                *slot = stack.keep(arena);
                attached.switches_by_thread += u64::from(entry.switched_on.is_some());
                return;
            }
        }
        attached.unattached += 1;
    }

    /// Attaches a stack whose thread has no waiting event of that time to the context switch of
    /// that time on its processor, if it is the only one and lacks this half. Otherwise the stack
    /// may have come before its event, and is kept.
    fn attach_to_switch(&mut self, key: Key, half: Half, stack: GivenStack<'_>, cpu: Option<u16>) {
        let seq = cpu
            .and_then(|cpu| self.switches.get(&(key.0, cpu)).copied())
            .unwrap_or(NO_SEQ);
        let Self {
            entries,
            arena,
            first,
            attached,
            ..
        } = self;
        let switch = entries
            .get_mut(seq.wrapping_sub(*first) as usize)
            .filter(|_| seq != NO_SEQ);
        if let Some(slot) = switch
            .map(|entry| entry.slot(half))
            .filter(|slot| **slot == RawStack::Empty)
        {
            *slot = stack.keep(arena);
            attached.switches_by_processor += 1;
        // Only current or future events can still come; for an earlier time it is too late.
        } else if key.0 >= self.now && !self.early.is_full() {
            self.early.keep(key, (half, stack.early()));
        } else {
            attached.unattached += 1;
            attached.late += u64::from(key.0 <= self.left_early);
        }
    }

    /// The data of an entry, while it waits.
    // Null once the entry has left: its row is on the other thread.
    pub(crate) fn row_mut(&mut self, seq: Seq) -> Option<&mut T> {
        self.entry(seq).map(|entry| &mut entry.row)
    }

    /// Advances to a raw time. Afterwards [`Line::pop`] returns the entries that have waited long
    /// enough.
    #[inline]
    pub(crate) fn advance(&mut self, time: i64) {
        // Time never goes back here, whatever damaged files say. Otherwise entries would wait for a
        // second time.
        if time > self.now {
            self.now = time;
            self.attached.unattached += self.early.forget_before(time) as u64;
        }
    }

    /// The first entry with its number, if no stack can come for it any more.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Seq, Entry<T>)> {
        let first = self.entries.front()?;
        let time = first.time;
        // The longest delay was measured in the first pass. After it no stack can come.
        if self.now.saturating_sub(time) > self.patience {
            return self.pop_any();
        }
        // Three bounds: entries, their texts, and the addresses of stacks. Any of them can be
        // exhausted alone.
        let is_full = self.entries.len() > MAX_ENTRIES || self.text_bytes > MAX_TEXT;
        if !is_full && !self.arena.is_full(self.first) {
            return None;
        }
        // A stack that misses its event for lack of memory is reported otherwise than one whose
        // event was never recorded.
        self.left_early = self.left_early.max(time);
        self.pop_any()
    }

    /// The first entry in any case, for the end of the trace.
    pub(crate) fn pop_any(&mut self) -> Option<(Seq, Entry<T>)> {
        let entry = self.entries.pop_front()?;
        self.text_bytes = self.text_bytes.saturating_sub(entry.row.text_bytes());
        let seq = self.first;
        self.first += 1;
        if let Some(whose) = entry.whose {
            self.of_processes -= usize::from(matches!(whose, StackSource::Process(_)));
        }
        if let Some(whose) = entry.whose
            && let Slot::Occupied(mut chain) = self.waiting.entry((entry.time, whose))
        {
            // Entries leave in order of arrival.
            chain.get_mut().first = entry.next;
            if entry.next == NO_SEQ {
                chain.remove();
            }
        }
        // The switch may be one of several with this time; the others can no longer be told apart
        // either.
        if let Some(cpu) = entry.switched_on {
            self.switches.remove(&(entry.time, cpu));
        }
        Some((seq, entry))
    }
}

#[cfg(test)]
mod tests;
