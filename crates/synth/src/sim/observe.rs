//! Truth about waits, as they happen: the waiting threads and the threads that ended their waits.

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::rc::Rc;

use super::Sim;
use super::io::Done;
use super::times::{TICK_NS, Waited};
use crate::plan::Plan;
use crate::table::{Cpu, Table, Thread};
use crate::truth::{Call, CallTimes, Link, Root, WaitSums, Watched};

/// Links of a chain that are followed.
// Chains share their tails, so a chain as long as the trace would keep every wait in memory, and
// dropping it would recurse as deep.
const LINKS: usize = 32;

/// Reason for which a DPC readies a thread.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cause {
    /// A timer is due.
    Timer,
    /// The user did something.
    Input,
    /// A transfer of the disk is done.
    Disk(Done),
}

/// A wait that is over.
#[derive(Debug)]
struct Wait {
    thread: Thread,
    waited: Waited,
    switch_in: i64,
    end: End,
}

/// End of a wait.
#[derive(Debug, Clone)]
struct End {
    /// The thread that readied; it is accidental for a DPC.
    by: Option<Thread>,
    dpc: Option<Cause>,
    /// The last wait of that thread, if it is inside the wait that it ended.
    before: Option<Rc<Wait>>,
    /// Links of the chain, this one included.
    links: usize,
}

/// A call that has not ended.
#[derive(Debug)]
struct OpenCall {
    name: &'static str,
    start: i64,
    times: [i64; 3],
    watched: Option<(Thread, [i64; 3])>,
    longest: Option<Rc<Wait>>,
}

/// State of one thread.
#[derive(Debug, Default)]
struct Seen {
    /// The end of its wait, if it was readied and is not switched in yet.
    ends: Option<End>,
    last: Option<Rc<Wait>>,
    call: Option<OpenCall>,
}

/// State of waits. Empty if no thread has a script.
#[derive(Debug)]
pub(super) struct Observer {
    threads: Table<Thread, Seen>,
    is_on: bool,
    /// By the waiting thread and the one that readied it, `None` for a DPC.
    sums: BTreeMap<(Thread, Option<Thread>), (u64, i64)>,
}

impl Observer {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            threads: plan.threads.keys().map(|_| Seen::default()).collect(),
            is_on: plan.scripts.len() > 0,
            sums: BTreeMap::new(),
        }
    }
}

impl<W: Write + Seek> Sim<W> {
    /// Records the end of a wait, before a thread is readied on a processor.
    pub(super) fn wait_ends(&mut self, cpu: Cpu, thread: Thread, dpc: Option<Cause>) {
        // Only the first readying of a wait ends it; a thread that is ready or runs has nothing to
        // end.
        let Some(since) = self.threads[thread]
            .account
            .waits_since()
            .filter(|_| self.observer.is_on)
        else {
            return;
        };
        let by = self.cpus[cpu].current;
        let before = by
            .filter(|_| dpc.is_none())
            .and_then(|by| self.observer.threads[by].last.clone());
        // Only a wait that ended inside of this one delayed it; earlier waits of the other thread
        // did not.
        let before = before.filter(|wait| wait.switch_in > since && wait.end.links < LINKS);
        let links = 1 + before.as_ref().map_or(0, |wait| wait.end.links);
        self.observer.threads[thread].ends = Some(End {
            by,
            dpc,
            before,
            links,
        });
    }

    /// Records the switch-in of a thread after a wait.
    pub(super) fn wait_ended(&mut self, thread: Thread, waited: Waited, switch_in: i64) {
        let seen = &mut self.observer.threads[thread];
        let Some(end) = seen.ends.take() else { return };
        // A DPC interrupts an arbitrary running thread, which has nothing to do with the wait.
        let by = end.by.filter(|_| end.dpc.is_none());
        let length = |waited: &Waited| waited.readied - waited.since;
        let wait = Rc::new(Wait {
            thread,
            waited,
            switch_in,
            end,
        });
        if let Some(call) = &mut seen.call {
            let longest = call.longest.as_ref().map_or(0, |wait| length(&wait.waited));
            if length(&waited) > longest {
                call.longest = Some(Rc::clone(&wait));
            }
        }
        seen.last = Some(wait);
        let sums = self.observer.sums.entry((thread, by)).or_default();
        *sums = (sums.0 + 1, sums.1 + length(&waited));
    }

    pub(super) fn begin_call(
        &mut self,
        thread: Thread,
        name: &'static str,
        watched: Option<Thread>,
    ) {
        let now = self.tape.now();
        let times = |thread: Thread| self.threads[thread].account.so_far(now);
        let watched = watched.map(|thread| (thread, times(thread)));
        let call = OpenCall {
            name,
            start: now,
            times: times(thread),
            watched,
            longest: None,
        };
        self.observer.threads[thread].call = Some(call);
    }

    pub(super) fn end_call(&mut self, thread: Thread) {
        let Some(call) = self.observer.threads[thread].call.take() else {
            return;
        };
        let now = self.tape.now();
        // Differences of running sums, since slices and waits that cross the start or end of the
        // call count with the part inside it.
        let since = |thread: Thread, before: [i64; 3]| {
            let [run, wait, ready] = self.threads[thread].account.so_far(now);
            let ns = |ticks: i64| ticks * TICK_NS;
            CallTimes {
                run_ns: ns(run - before[0]),
                wait_ns: ns(wait - before[1]),
                ready_ns: ns(ready - before[2]),
            }
        };
        let finished = Call {
            name: call.name.to_owned(),
            thread: self.thread_name(thread),
            start_ns: Self::ns(call.start),
            end_ns: Self::ns(now),
            times: since(thread, call.times),
            watched: call.watched.map(|(watched, before)| Watched {
                thread: self.thread_name(watched),
                times: since(watched, before),
            }),
            chain: self.chain(call.longest.as_ref()),
            root: self.root(call.longest),
        };
        self.truth.calls.push(finished);
    }

    pub(super) fn thread_name(&self, thread: Thread) -> String {
        let (tid, pid) = self.ids(Some(thread));
        format!("{pid}/{tid}")
    }

    fn chain(&self, first: Option<&Rc<Wait>>) -> Vec<Link> {
        let waits = std::iter::successors(first, |wait| wait.end.before.as_ref());
        let link = |wait: &Rc<Wait>| Link {
            thread: self.thread_name(wait.thread),
            reason: wait.waited.reason,
            wait_start_ns: Self::ns(wait.waited.since),
            ready_ns: Self::ns(wait.waited.readied),
            switch_in_ns: Self::ns(wait.switch_in),
            readied_by: wait.end.by.map(|by| self.thread_name(by)),
            in_dpc: wait.end.dpc.is_some(),
        };
        waits.map(link).collect()
    }

    /// Returns the reason of the last wait in a chain.
    fn root(&self, first: Option<Rc<Wait>>) -> Option<Root> {
        let last = std::iter::successors(first, |wait| wait.end.before.clone()).last()?;
        let Some(Cause::Disk(done)) = last.end.dpc else {
            let kind = match last.end.dpc {
                None => "thread",
                Some(Cause::Timer) => "timer",
                Some(_) => "input",
            };
            return Some(Root {
                kind: kind.to_owned(),
                ..Root::default()
            });
        };
        Some(Root {
            kind: (if done.write {
                "disk write"
            } else {
                "disk read"
            })
            .to_owned(),
            file: Some(self.plan.files[done.file].dos_path()),
            bytes: Some(done.bytes),
            init_ns: Some(Self::ns(done.init)),
            complete_ns: Some(Self::ns(done.complete)),
        })
    }

    /// Returns sums of waits by waiting thread and readying thread, by their names.
    pub(super) fn waited_for(&self) -> BTreeMap<String, BTreeMap<String, WaitSums>> {
        let mut by_thread: BTreeMap<String, BTreeMap<String, WaitSums>> = BTreeMap::new();
        for ((thread, by), (waits, ticks)) in &self.observer.sums {
            let by = by.map_or_else(|| "dpc".to_owned(), |by| self.thread_name(by));
            let sums = by_thread
                .entry(self.thread_name(*thread))
                .or_default()
                .entry(by)
                .or_default();
            *sums = WaitSums {
                waits: *waits,
                wait_ns: ticks * TICK_NS,
            };
        }
        by_thread
    }
}
