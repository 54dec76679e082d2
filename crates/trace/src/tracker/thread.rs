//! Threads: which process a reused thread ID belongs to, and when.

use etwkit_decode::kernel::thread::{Traits, opcode};
use rustc_hash::FxHashMap;

use super::witness::Life;

/// A stretch of time in which a thread ID belongs to a process ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    pid: u32,
    begin: i64,
    end: i64,
    /// Raw times of the first and the last event that name both IDs. The rest of the stretch
    /// follows from the absence of other events.
    seen: (i64, i64),
    key: ThreadKey,
}

/// A thread instance: dense, from 0, in order of first occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey(pub u32);

/// One thread instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInstance {
    /// Thread ID.
    pub tid: u32,
    /// Process ID.
    pub pid: u32,
    /// Raw time of its first event.
    pub first_seen: i64,
    /// Thread that created it; `None` if it ran before, or if the start does not name one.
    pub creator_tid: Option<u32>,
    /// Raw time of the start; `None` if it ran before.
    pub start: Option<i64>,
    /// Raw time of the stop; `None` if it still ran.
    pub stop: Option<i64>,
    /// The data of the first event that contains more than IDs.
    pub traits: Option<Box<Traits>>,
}

/// All threads of a session.
#[derive(Debug, Default)]
pub struct ThreadTracker {
    spans: FxHashMap<u32, Vec<Span>>,
    instances: Vec<ThreadInstance>,
    /// Pairs of process ID and thread ID with the time of their first event.
    pairs: FxHashMap<(u32, u32), i64>,
    /// Number of threads that no thread event describes.
    derived: u64,
    /// Raw ticks by which an event of a thread may come too early or too late.
    grace: i64,
}

impl ThreadTracker {
    /// Takes a thread event; events of one thread ID must come in order of time.
    pub fn add(&mut self, op: u8, timestamp: i64, pid: u32, tid: u32) {
        // For lists of threads, which need each pair once with the time it was first seen.
        self.pairs.entry((pid, tid)).or_insert(timestamp);
        let spans = self.spans.entry(tid).or_default();
        // Only the last span can be open.
        let mut open = spans.last_mut().filter(|span| span.end == i64::MAX);
        if let Some(other) = open.take_if(|span| span.pid != pid) {
            // Its end was lost; the ID means another thread by now.
            other.end = timestamp.saturating_sub(1);
        }
        let (begin, end) = match (op, open) {
            (opcode::START, open) => {
                // A second start of an open thread: its end was lost, and this is another one.
                if let Some(open) = open {
                    open.end = timestamp.saturating_sub(1);
                }
                (timestamp, i64::MAX)
            }
            (opcode::END, Some(open)) => {
                open.end = timestamp;
                open.seen.1 = timestamp;
                if let Some(instance) = self.instances.get_mut(open.key.0 as usize) {
                    instance.stop = Some(timestamp);
                }
                return;
            }
            (opcode::DC_START | opcode::DC_END, Some(open)) => {
                open.seen.1 = timestamp;
                return;
            }
            // It was running before its first event: since its predecessor ended.
            (opcode::END, None) => (unseen_begin(spans), timestamp),
            (opcode::DC_START | opcode::DC_END, None) => (unseen_begin(spans), i64::MAX),
            _ => return,
        };
        let key = ThreadKey(self.instances.len() as u32);
        let start = (op == opcode::START).then_some(timestamp);
        let stop = (op == opcode::END).then_some(timestamp);
        self.instances.push(ThreadInstance {
            start,
            stop,
            ..ThreadInstance::running(tid, pid, timestamp)
        });
        // Starts must ascend, because spans are found by binary search.
        // Damaged files go back in time.
        let begin = spans.last().map_or(begin, |before| begin.max(before.begin));
        spans.push(Span {
            pid,
            begin,
            end,
            seen: (timestamp, timestamp),
            key,
        });
    }

    /// Sets the raw ticks by which an event of a thread may come too early or too late.
    pub(crate) const fn allow(&mut self, grace: i64) {
        self.grace = grace;
    }

    /// Adds a thread for each life of a thread ID that no thread event describes. Lives must be in
    /// order of time. Where thread events and other events disagree, the thread events hold.
    pub(crate) fn derive(&mut self, tid: u32, lives: &[Life]) {
        let spans = self.spans.entry(tid).or_default();
        for life in lives {
            let first = life.first;
            let last = life.last;
            // An event shortly before the start or after the end is of that thread, as processors
            // stamp in another order.
            let meets = |span: &&mut Span| {
                let grace = self.grace;
                span.begin.saturating_sub(grace) <= last && first <= span.end.saturating_add(grace)
            };
            let same = |span: &&mut Span| span.pid == life.pid;
            // From the back, as lives come in order of time.
            if let Some(span) = spans.iter_mut().filter(meets).rfind(same) {
                // A stack is logged behind the event that ends its thread.
                span.end = span.end.max(last);
                continue;
            }
            // A thread event names another process for this time, and it holds.
            let denies = |span: &Span| span.seen.0 <= last && first <= span.seen.1;
            if spans.iter().any(denies) {
                continue;
            }
            // The span of thread events is only certain where it was seen. The rest gives way.
            for span in spans.iter_mut() {
                if span.seen.1 < first {
                    span.end = span.end.min(first.saturating_sub(1));
                } else {
                    span.begin = span.begin.max(last.saturating_add(1));
                }
            }
            // Inserted at its place, because spans are searched by their start.
            let at = spans.partition_point(|span| span.begin <= first);
            let key = ThreadKey(self.instances.len() as u32);
            let span = Span {
                pid: life.pid,
                begin: first,
                end: last,
                seen: (first, last),
                key,
            };
            spans.insert(at, span);
            self.instances
                .push(ThreadInstance::running(tid, life.pid, first));
            self.derived += 1;
        }
    }

    /// Number of threads that no thread event describes, so that their processes are known from
    /// other events alone.
    #[must_use]
    pub const fn derived(&self) -> u64 {
        self.derived
    }

    /// Stores the thread that logged the start added last for this thread ID: the thread that
    /// created it.
    pub fn created(&mut self, tid: u32, creator_tid: Option<u32>) {
        let key = self
            // The last one: the start was added just before this call.
            .spans
            .get(&tid)
            .and_then(|spans| spans.last())
            .map(|span| span.key);
        if let Some(instance) = key.and_then(|key| self.instances.get_mut(key.0 as usize)) {
            instance.creator_tid = creator_tid.filter(|creator| *creator != 0);
        }
    }

    /// Takes the data about the thread from the event added last for this thread ID. The first
    /// event counts, except for the name, which programs give to threads that are already running.
    pub fn describe(&mut self, tid: u32, traits: Traits) {
        let key = self
            .spans
            .get(&tid)
            .and_then(|spans| spans.last())
            .map(|span| span.key);
        let Some(instance) = key.and_then(|key| self.instances.get_mut(key.0 as usize)) else {
            return;
        };
        match &mut instance.traits {
            // A program may give a name at any time, and the last one is what it is called.
            Some(known) if !traits.name.is_empty() => known.name = traits.name,
            Some(_) => {}
            none => *none = Some(Box::new(traits)),
        }
    }

    /// The process ID of a thread at that raw time: from the span that contains it, otherwise from
    /// the last one that started before, otherwise from the first. Between two threads of different
    /// processes it is not known whose event comes long after the end of the first. Thread 0 is idle
    /// and belongs to process 0.
    #[must_use]
    pub fn process_of(&self, tid: u32, timestamp: i64) -> Option<u32> {
        if tid == 0 {
            return Some(0);
        }
        self.span(tid, timestamp).map(|span| span.pid)
    }

    /// The instance of a thread ID at that raw time, by the rule of [`ThreadTracker::process_of`];
    /// `None` if no event described it.
    #[must_use]
    pub fn at(&self, tid: u32, timestamp: i64) -> Option<ThreadKey> {
        self.span(tid, timestamp).map(|span| span.key)
    }

    fn span(&self, tid: u32, timestamp: i64) -> Option<&Span> {
        let spans = self.spans.get(&tid)?;
        // Nearly all IDs have one thread, and then its times do not matter.
        if let [only] = spans.as_slice() {
            return Some(only);
        }
        // Spans follow each other, so if any span contains the time, it is the last one that
        // started.
        let began = spans.partition_point(|span| span.begin <= timestamp);
        let span = spans.get(began.saturating_sub(1))?;
        let is_late = timestamp > span.end.saturating_add(self.grace);
        let is_reused = || spans.get(began).is_some_and(|next| next.pid != span.pid);
        // If the next owner is of the same process, the answer is the same.
        if is_late && is_reused() {
            None
        } else {
            Some(span)
        }
    }

    /// All instances; the position is the key.
    #[must_use]
    pub fn instances(&self) -> &[ThreadInstance] {
        &self.instances
    }

    /// Distinct pairs of process ID and thread ID.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.pairs.keys().copied()
    }

    /// Distinct pairs of process ID and thread ID, each with the raw time of its first event, in no
    /// order.
    pub fn first_seen(&self) -> impl Iterator<Item = ((u32, u32), i64)> + '_ {
        self.pairs.iter().map(|(pair, seen)| (*pair, *seen))
    }
}

impl ThreadInstance {
    /// A thread that runs at that raw time.
    const fn running(tid: u32, pid: u32, first_seen: i64) -> Self {
        Self {
            tid,
            pid,
            first_seen,
            creator_tid: None,
            start: None,
            stop: None,
            traits: None,
        }
    }
}

fn unseen_begin(spans: &[Span]) -> i64 {
    spans
        .last()
        .map_or(i64::MIN, |span| span.end.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners(events: &[(u8, i64, u32)], times: &[i64]) -> Vec<Option<u32>> {
        let mut tracker = ThreadTracker::default();
        tracker.allow(1);
        for (op, time, pid) in events {
            tracker.add(*op, *time, *pid, 4);
        }
        times.iter().map(|t| tracker.process_of(4, *t)).collect()
    }

    #[test]
    fn a_reused_thread_id_follows_its_spans() {
        let events = [(1, 10, 100), (2, 20, 100), (1, 30, 200)];
        let expected = [100, 100, 100, 100, 200, 200].map(Some);
        assert_eq!(owners(&events, &[5, 10, 20, 21, 30, 99]), expected);
        // Long after the end, the thread of one process is not known to be that of another one.
        assert_eq!(owners(&events, &[25]), [None]);
        let same = [(1, 10, 100), (2, 20, 100), (1, 30, 100)];
        assert_eq!(owners(&same, &[25]), [Some(100)]);
    }

    #[test]
    fn threads_without_events_have_the_processes_that_other_events_name() {
        let life = |pid, first, last| Life { pid, first, last };
        let mut tracker = ThreadTracker::default();
        tracker.allow(1);
        tracker.derive(4, &[life(100, 10, 20), life(200, 30, 40)]);
        let owners = |tracker: &ThreadTracker, times: [i64; 6]| {
            times.map(|time| tracker.process_of(4, time).unwrap_or_default())
        };
        // Between two lives nothing shows when the first one ended.
        assert_eq!(
            owners(&tracker, [0, 10, 21, 25, 30, 99]),
            [100, 100, 100, 0, 200, 200]
        );
        assert_eq!((tracker.derived(), tracker.instances().len()), (2, 2));

        // Thread events hold where they are: a life between two of them, one that they confirm, one
        // that they deny, and one after a thread whose end was lost.
        let mut tracker = ThreadTracker::default();
        tracker.allow(1);
        for (op, time, pid) in [(2, 10, 100), (1, 30, 200), (4, 40, 200)] {
            tracker.add(op, time, pid, 4);
        }
        let lives = [
            life(100, 3, 11),
            life(300, 20, 25),
            life(400, 35, 36),
            life(500, 50, 60),
        ];
        tracker.derive(4, &lives);
        assert_eq!(
            owners(&tracker, [5, 11, 22, 35, 45, 55]),
            [100, 100, 300, 200, 200, 500]
        );
        assert_eq!(tracker.derived(), 2);
    }

    #[test]
    fn rundown_reaches_to_the_ends_of_the_trace() {
        assert_eq!(owners(&[(3, 10, 100)], &[0, 10, 99]), [Some(100); 3]);
        assert_eq!(owners(&[(4, 90, 100)], &[0, 90, 99]), [Some(100); 3]);
        assert_eq!(
            owners(&[(2, 20, 100), (4, 90, 200)], &[0, 20, 21]),
            [Some(100), Some(100), Some(200)]
        );
        assert_eq!(owners(&[], &[0]), [None]);
    }

    #[test]
    fn a_thread_of_another_process_ends_one_whose_end_was_lost() {
        let lost_end = [(1, 10, 100), (1, 30, 200), (2, 40, 200)];
        assert_eq!(
            owners(&lost_end, &[29, 30, 50]),
            [Some(100), Some(200), Some(200)]
        );
        assert_eq!(
            owners(&[(3, 0, 100), (4, 90, 200)], &[89, 90, 99]),
            [Some(100), Some(200), Some(200)]
        );
        assert_eq!(
            owners(&[(3, 0, 100), (2, 90, 200)], &[89, 90, 99]),
            [Some(100), Some(200), Some(200)]
        );
    }
}
