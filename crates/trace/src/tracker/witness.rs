//! The processes of threads, as events other than thread events name them: stacks, and headers with
//! both IDs. They are needed for threads that no thread event describes.

use etwkit_decode::kernel::stack::{self, Owner};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

/// Maximum number of thread IDs; further ones are not kept.
const MAX_THREADS: usize = 1 << 20;

/// Maximum number of processes of one thread ID; further ones are not kept. A real trace has a few.
const MAX_LIVES: usize = 256;

/// The first and the last event that name a process for a thread ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) pid: u32,
    /// Raw time of the first event.
    pub(crate) first: i64,
    /// Raw time of the last event.
    pub(crate) last: i64,
}

/// The processes of all thread IDs. Events may come in any order.
#[derive(Debug, Default)]
pub(crate) struct Witnesses {
    by_thread: FxHashMap<u32, Vec<Life>>,
    /// True if a stack named a process.
    has_stacks: bool,
}

impl Witnesses {
    /// Takes one event.
    #[inline]
    pub(crate) fn observe(&mut self, hook: Option<Hook>, event: &RawEvent<'_>) {
        match hook {
            Some(hook) if hook.group == group::STACK => self.stack(hook, event),
            // Headers of other kernel events may name another process than that of the thread.
            Some(_) => {}
            None => {
                if let (Some(tid), Some(pid)) = (event.thread_id(), event.process_id()) {
                    self.add(tid, pid, event.timestamp);
                }
            }
        }
    }

    fn stack(&mut self, hook: Hook, event: &RawEvent<'_>) {
        use stack::opcode::{REFERENCE_KERNEL, REFERENCE_USER, STACK};
        if !matches!(hook.opcode, STACK | REFERENCE_KERNEL | REFERENCE_USER) {
            return;
        }
        if let Some(owner) = Owner::parse(event.payload()) {
            self.has_stacks = true;
            self.add(owner.tid, owner.pid, owner.timestamp);
        }
    }

    #[inline]
    fn add(&mut self, tid: u32, pid: u32, time: i64) {
        // All idle threads have the ID 0, and no other thread belongs to process 0.
        if tid == 0 || pid == 0 || tid == u32::MAX || pid == u32::MAX {
            return;
        }
        let is_full = self.by_thread.len() >= MAX_THREADS;
        let Some(lives) = self.by_thread.get_mut(&tid) else {
            if !is_full {
                self.by_thread.insert(tid, vec![Life::new(pid, time)]);
            }
            return;
        };
        if let Some(life) = lives.iter_mut().find(|life| life.pid == pid) {
            life.first = life.first.min(time);
            life.last = life.last.max(time);
        } else if lives.len() < MAX_LIVES {
            lives.push(Life::new(pid, time));
        }
    }

    /// True if a stack named a process, and not only headers.
    pub(crate) const fn has_stacks(&self) -> bool {
        self.has_stacks
    }

    /// The thread IDs in ascending order, each with its lives in order of time, none of which
    /// overlap.
    pub(crate) fn lives(self) -> Vec<(u32, Vec<Life>)> {
        let mut all: Vec<_> = self
            .by_thread
            .into_iter()
            .map(|(tid, lives)| (tid, apart(lives)))
            .collect();
        // The hash map has no order. Sorted IDs give the same keys in every run.
        all.sort_unstable_by_key(|(tid, _)| *tid);
        all
    }
}

impl Life {
    const fn new(pid: u32, time: i64) -> Self {
        Self {
            pid,
            first: time,
            last: time,
        }
    }
}

/// Cuts lives so that none overlap. A life inside another one divides it: the ID came back to the
/// process that it had before. Where two overlap in part, it is not known which one holds.
fn apart(mut lives: Vec<Life>) -> Vec<Life> {
    lives.sort_unstable_by_key(|life| (life.first, life.last, life.pid));
    let mut all: Vec<Life> = Vec::with_capacity(lives.len());
    for mut life in lives {
        let Some(before) = all.last_mut().filter(|before| life.first <= before.last) else {
            all.push(life);
            continue;
        };
        let end = before.last;
        life.first = life.first.max(before.first);
        let rest = Life {
            first: life.last.saturating_add(1),
            last: end,
            ..*before
        };
        before.last = life.first.saturating_sub(1);
        life.first = if life.last < end {
            life.first
        } else {
            end.saturating_add(1)
        };
        all.extend([life, rest]);
        all.retain(|life| life.first <= life.last);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lives(events: &[(u32, i64)]) -> Vec<(u32, i64, i64)> {
        let mut witnesses = Witnesses::default();
        for (pid, time) in events {
            witnesses.add(4, *pid, *time);
        }
        let (_, lives) = witnesses.lives().pop().unwrap();
        lives.iter().map(|l| (l.pid, l.first, l.last)).collect()
    }

    #[test]
    fn events_of_any_order_give_the_same_lives() {
        let mut events = [(100, 10), (100, 20), (200, 30), (200, 35), (100, 50)];
        let expected = [(100, 10, 29), (200, 30, 35), (100, 36, 50)];
        assert_eq!(lives(&events), expected);
        events.reverse();
        assert_eq!(lives(&events), expected);
        events.swap(1, 3);
        assert_eq!(lives(&events), expected);
        assert_eq!(
            lives(&[(200, 40), (100, 10), (100, 20), (200, 30)]),
            [(100, 10, 20), (200, 30, 40)]
        );
    }

    #[test]
    fn where_two_processes_hold_none_does() {
        let crossed = [(100, 10), (200, 20), (100, 30), (200, 40)];
        assert_eq!(lives(&crossed), [(100, 10, 19), (200, 31, 40)]);
        assert_eq!(lives(&[(100, 10), (200, 10)]), []);
        let three = [
            (100, 0),
            (200, 10),
            (200, 20),
            (300, 15),
            (300, 30),
            (100, 40),
        ];
        assert_eq!(
            lives(&three),
            [(100, 0, 9), (200, 10, 20), (300, 21, 30), (100, 31, 40)]
        );
    }

    #[test]
    fn a_malicious_file_cannot_make_lives_without_end() {
        let mut witnesses = Witnesses::default();
        for pid in 1..1000 {
            witnesses.add(4, pid, 0);
        }
        for tid in 1..MAX_THREADS as u32 + 10 {
            witnesses.add(tid, 1, 0);
        }
        witnesses.add(0, 0, 0);
        assert_eq!(witnesses.by_thread.get(&4).map(Vec::len), Some(MAX_LIVES));
        assert_eq!(
            (witnesses.by_thread.len(), witnesses.by_thread.get(&0)),
            (MAX_THREADS, None)
        );
    }
}
