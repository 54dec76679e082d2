//! The account of one thread: its running, waiting and ready times.

use crate::tape::T0;
use crate::truth::{SwitchedOut, ThreadTimes, Times};

/// States of a thread at its switch-out (`KTHREAD_STATE`).
pub(super) mod state {
    pub(in crate::sim) const READY: u8 = 1;
    pub(in crate::sim) const RUNNING: u8 = 2;
    pub(in crate::sim) const TERMINATED: u8 = 4;
    pub(in crate::sim) const WAITING: u8 = 5;
}

/// Nanoseconds of a tick.
pub(super) const TICK_NS: i64 = 100;

/// A switch-out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Out {
    pub(super) time: i64,
    pub(super) state: u8,
    pub(super) reason: u8,
}

/// A wait that is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waited {
    pub(super) reason: u8,
    pub(super) since: i64,
    pub(super) readied: i64,
}

/// Sums of one thread, in ticks until they are reported.
#[derive(Debug, Default)]
pub(super) struct Account {
    sums: Times,
    running_since: Option<i64>,
    out: Option<Out>,
    readied: Option<i64>,
}

impl Account {
    /// Returns the time that the thread ran.
    pub(super) fn switch_out(&mut self, out: Out) -> i64 {
        let slice = self
            .running_since
            .take()
            .map_or(0, |since| out.time - since);
        self.sums.run_ns += slice;
        // A thread that has ended waits for nothing, and must not be open when the trace ends.
        self.out = (out.state != state::TERMINATED).then_some(out);
        self.readied = None;
        slice
    }

    /// Returns the start of the thread's wait, if it was not readied yet.
    pub(super) fn waits_since(&self) -> Option<i64> {
        self.out
            .filter(|out| out.state == state::WAITING && self.readied.is_none())
            .map(|out| out.time)
    }

    /// Returns the time since which the thread could run and does not.
    pub(super) fn ready_since(&self) -> Option<i64> {
        let out = self.out?;
        if out.state == state::READY {
            Some(out.time)
        } else {
            self.readied
        }
    }

    /// Returns the ticks of running, waiting and being ready until now.
    pub(super) fn so_far(&self, now: i64) -> [i64; 3] {
        let run = self.running_since.map_or(0, |since| now - since);
        let (wait, ready) = match (self.out, self.readied) {
            // A preempted thread could run all the time: a ready event for it changes nothing.
            (Some(out), _) if out.state == state::READY => (0, now - out.time),
            (Some(out), Some(readied)) => (readied - out.time, now - readied),
            (Some(out), None) => (now - out.time, 0),
            (None, _) => (0, 0),
        };
        [
            self.sums.run_ns + run,
            self.sums.wait_ns + wait,
            self.sums.ready_ns + ready,
        ]
    }

    /// True if the thread was never readied and never ran.
    pub(super) const fn is_new(&self) -> bool {
        self.sums.switches_in == 0 && self.readied.is_none()
    }

    pub(super) fn readied(&mut self, time: i64) {
        // The first ready event counts, as readers of traces have it.
        self.readied.get_or_insert(time);
    }

    /// Returns the wait that ends, if it was one.
    pub(super) fn switch_in(&mut self, time: i64) -> Option<Waited> {
        self.sums.switches_in += 1;
        self.running_since = Some(time);
        let out = self.out.take()?;
        if out.state == state::READY {
            self.sums.preempted += 1;
            self.sums.ready_ns += time - out.time;
            return None;
        }
        // A thread that was switched in without a ready event has no length of its wait, so neither
        // the wait nor the ready time is summed.
        let readied = self.readied.take()?;
        self.sums.wait_ns += readied - out.time;
        *self.sums.wait_ns_by_reason.entry(out.reason).or_default() += readied - out.time;
        self.sums.ready_ns += time - readied;
        Some(Waited {
            reason: out.reason,
            since: out.time,
            readied,
        })
    }

    /// Returns the sums in nanoseconds, with open parts for a trace that ends at that time.
    pub(super) fn finish(&self, end: i64) -> ThreadTimes {
        let mut times = self.sums.clone();
        times.run_open_end_ns = self.running_since.map_or(0, |since| end - since);
        for ticks in [
            &mut times.run_ns,
            &mut times.run_open_end_ns,
            &mut times.wait_ns,
            &mut times.ready_ns,
        ] {
            *ticks *= TICK_NS;
        }
        times
            .wait_ns_by_reason
            .values_mut()
            .for_each(|ticks| *ticks *= TICK_NS);
        let ns = |time: i64| (time - T0) * TICK_NS;
        let open = self.out.map(|out| SwitchedOut {
            since_ns: ns(out.time),
            state: out.state,
            reason: out.reason,
            readied_ns: self.readied.map(ns),
        });
        ThreadTimes {
            times,
            open_at_end: open,
        }
    }
}
