//! Running, waiting and ready times: scheduling slices of threads.
//!
//! For each switch-in of a thread (T2): T0 is its last switch-out, T1 the first ready event after
//! that. It *waited* from T0 to T1 and was *ready* from T1 to T2. A preempted thread (one that was
//! ready when it was switched out) did not wait; it was ready from T0 on. Without T0 nothing is
//! known; without T1 wait and ready time cannot be separated.
//!
//! A thread starts to wait some time before its switch-out is logged, and another processor may
//! ready it in between. So the last ready event of a running thread counts at T0, unless another
//! one follows T0.

use etwkit_decode::kernel::scheduler::{ContextSwitch, ReadyThread, state};
use etwkit_etl::Session;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::directory::Directory;
use crate::gaps::{Gap, KEEPS_LATEST};

/// True if a thread that was switched out in this state could have continued to run: it was
/// preempted.
#[must_use]
pub const fn was_preempted(state: u8) -> bool {
    matches!(state, state::READY | state::STANDBY | state::DEFERRED_READY)
}

/// True if a thread that was switched out in this state runs again only after it was readied.
#[must_use]
pub const fn was_waiting(state: u8) -> bool {
    matches!(
        state,
        state::WAITING | state::GATE_WAIT | state::WAITING_FOR_PROCESS
    )
}

/// Wait and ready time of a thread that was switched out at T0, readied at T1 and switched in at
/// T2, each if known.
#[must_use]
pub fn wait_and_ready(
    out: i64,
    readied: Option<i64>,
    switch_in: i64,
    was_preempted: bool,
) -> (Option<i64>, Option<i64>) {
    // A preempted thread was ready all the time, whatever ready events say.
    if was_preempted {
        return (Some(0), Some(switch_in.saturating_sub(out)));
    }
    (
        readied.map(|t| t.saturating_sub(out)),
        readied.map(|t| switch_in.saturating_sub(t)),
    )
}

/// A thread is switched in. Times are raw ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SwitchIn {
    /// The thread.
    pub tid: u32,
    /// Processor.
    pub cpu: u16,
    /// T2.
    pub time: i64,
    /// T0: its last switch-out.
    pub last_out: Option<i64>,
    /// T1: time of the ready event, never before T0; without T0 the time of the first ready event.
    pub readied: Option<i64>,
    /// Its state at T0.
    pub previous_state: u8,
    /// Reason for its wait, as of T0.
    pub wait_reason: u8,
    /// True if it waited in user mode, as of T0.
    pub waited_in_user_mode: bool,
    /// Thread that ran on the processor where it was readied.
    pub readying_tid: Option<u32>,
    /// True if a DPC readied it: then that thread was only interrupted.
    pub readied_by_dpc: bool,
    /// Reason for adjusting its priority when it was readied, from the event.
    pub adjust_reason: Option<u8>,
    /// Number of the ready event, as passed to [`Schedule::ready`].
    pub ready_event: Option<u64>,
}

impl SwitchIn {
    /// True if it had been switched out while it could have continued to run.
    #[must_use]
    pub const fn was_preempted(&self) -> bool {
        was_preempted(self.previous_state)
    }

    /// T1 − T0, 0 for a preempted thread; `None` if unknown.
    #[must_use]
    pub fn wait(&self) -> Option<i64> {
        self.wait_and_ready()?.0
    }

    /// T2 − T1, or T2 − T0 for a preempted thread; `None` if unknown.
    #[must_use]
    pub fn ready(&self) -> Option<i64> {
        self.wait_and_ready()?.1
    }

    fn wait_and_ready(&self) -> Option<(Option<i64>, Option<i64>)> {
        Some(wait_and_ready(
            self.last_out?,
            self.readied,
            self.time,
            self.was_preempted(),
        ))
    }

    fn readied(self, by: Option<Readied>) -> Self {
        Self {
            // Not before the switch-out: the ready event may be logged first, and a negative wait
            // would shrink sums.
            readied: by.map(|by| by.time.max(self.last_out.unwrap_or(i64::MIN))),
            readying_tid: by.and_then(|by| by.by),
            readied_by_dpc: by.is_some_and(|by| by.from_dpc),
            adjust_reason: by.map(|by| by.adjust_reason),
            ready_event: by.and_then(|by| by.event),
            ..self
        }
    }
}

/// A thread is switched out: it ran from `since` to `time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The thread; 0 is idle.
    pub tid: u32,
    /// Processor.
    pub cpu: u16,
    /// Start of the known run time; `None` if switches are missing although no gap is known.
    pub since: Option<i64>,
    /// True if `since` is its switch-in. Otherwise it was running when the processor started to be
    /// recorded, or after a gap.
    pub is_switched_in: bool,
    /// Time of its switch-out, or the last time at which it is known to have run: the last event
    /// before a gap, or the end of the trace.
    pub until: i64,
}

/// A ready event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Readied {
    time: i64,
    by: Option<u32>,
    from_dpc: bool,
    adjust_reason: u8,
    event: Option<u64>,
}

/// Ready events of a thread that is not known to be off the processors: it is running, or was not
/// seen before.
#[derive(Debug, Clone, Copy)]
struct Early {
    first: Readied,
    last: Option<Readied>,
}

#[derive(Debug, Clone, Copy)]
struct Out {
    time: i64,
    state: u8,
    reason: u8,
    in_user_mode: bool,
    readied: Option<Readied>,
    /// True if it was readied before its switch-out was logged.
    is_early: bool,
}

impl Out {
    fn switch_in(&self, tid: u32, cpu: u16, time: i64) -> SwitchIn {
        let switch = SwitchIn {
            tid,
            cpu,
            time,
            last_out: Some(self.time),
            previous_state: self.state,
            wait_reason: self.reason,
            waited_in_user_mode: self.in_user_mode,
            ..SwitchIn::default()
        };
        switch.readied(self.readied)
    }
}

/// From when on each processor is recorded, in raw ticks.
#[derive(Debug, Clone, Default)]
pub struct Starts {
    /// Start of all processors; `None` if unknown.
    pub all: Option<i64>,
    /// Start of the processors that differ.
    pub of: FxHashMap<u16, i64>,
}

/// Follows processors and threads. Events must come in order of time.
#[derive(Debug, Default)]
pub struct Schedule {
    starts: Starts,
    /// Processors that had a switch, or a gap after their first event.
    seen: FxHashSet<u16>,
    running: FxHashMap<u16, (u32, i64)>,
    /// Ends of gaps without a switch after them so far.
    resumed: FxHashMap<u16, i64>,
    out: FxHashMap<u32, Out>,
    early: FxHashMap<u32, Early>,
    /// Number of gaps that have started and not ended. Threads may have been on those processors,
    /// so no wait is known.
    open_gaps: u32,
    /// Numbers of ready events that no switch-in will return.
    released: Vec<u64>,
}

impl Schedule {
    /// An empty schedule. `starts` are the times from which processors are recorded.
    #[must_use]
    pub fn new(starts: Starts) -> Self {
        Self {
            starts,
            ..Self::default()
        }
    }

    /// Takes a context switch. Returns the run of the previous thread, and the switch-in of the
    /// next.
    pub fn switch(&mut self, time: i64, cpu: u16, event: &ContextSwitch) -> (Run, SwitchIn) {
        // The first switch of a processor ends a run that began before the recording of it.
        let is_first = self.seen.insert(cpu);
        // After a gap the run is known from its end on.
        let resumed = self.resumed.remove(&cpu);
        let (since, is_switched_in) = match self.running.insert(cpu, (event.new_tid, time)) {
            Some((tid, since)) if tid == event.old_tid => (Some(since), true),
            // Another thread than the one that was switched in: switches are missing in between.
            // Its start is unknown, and no gap explains it: the length would be invented.
            Some(_) => (None, false),
            None if is_first => (resumed.or_else(|| self.start_of(cpu)), false),
            None => (resumed, false),
        };
        // Broken time stamps can put a start after the first switch.
        let since = since.map(|since| since.min(time));
        let run = Run {
            tid: event.old_tid,
            cpu,
            since,
            is_switched_in,
            until: time,
        };
        // The thread that leaves comes first: a processor may switch a thread to itself.
        self.switched_out(time, event);
        (run, self.switched_in(event.new_tid, cpu, time))
    }

    fn start_of(&self, cpu: u16) -> Option<i64> {
        self.starts.of.get(&cpu).copied().or(self.starts.all)
    }

    fn switched_in(&mut self, tid: u32, cpu: u16, time: i64) -> SwitchIn {
        let unknown = SwitchIn {
            tid,
            cpu,
            time,
            ..SwitchIn::default()
        };
        // Thread 0 means the idle threads of all processors, which have no waits.
        if tid == 0 {
            return unknown;
        }
        // Taken in any case: ready events that came before this switch-in have had their effect.
        let early = self.early.remove(&tid);
        if let Some(out) = self.out.remove(&tid) {
            return out.switch_in(tid, cpu, time);
        }
        // A new thread that is readied again before it runs is only moved.
        // Only the first counts for a thread that never ran. Later ones move it between processors.
        self.release(early.and_then(|early| early.last));
        unknown.readied(early.map(|early| early.first))
    }

    fn switched_out(&mut self, time: i64, event: &ContextSwitch) {
        if event.old_tid == 0 {
            return;
        }
        let early = self.early.remove(&event.old_tid);
        // The switch-in in between was missed, so the ready event belongs to that one.
        let before = self.out.remove(&event.old_tid);
        self.release(before.and_then(|out| out.readied));
        let Early { first, last } = match early {
            // A thread that left in a waiting state can have been readied before its switch-out was
            // logged, since another processor was faster.
            Some(early) if was_waiting(event.old_state) => early,
            _ => {
                self.release(early.map(|early| early.first));
                self.release(early.and_then(|early| early.last));
                // The ID of a thread that ended is free; the next thread with this ID never waited.
                if event.old_state != state::TERMINATED {
                    self.put_out(time, event, None);
                }
                return;
            }
        };
        // A later event replaces the first one: the thread was readied, ran, and is now readied out
        // of the wait that starts here.
        if last.is_some() {
            self.release(Some(first));
        }
        self.put_out(time, event, last.or(Some(first)));
    }

    fn put_out(&mut self, time: i64, event: &ContextSwitch, readied: Option<Readied>) {
        // No wait is better than one that is too long.
        // While a processor is not recorded the thread may be switched in there unseen, and an
        // apparent long wait may be several.
        if self.open_gaps > 0 {
            self.release(readied);
            return;
        }
        let is_early = readied.is_some();
        let out = Out {
            time,
            state: event.old_state,
            reason: event.old_wait_reason,
            in_user_mode: event.old_wait_user_mode,
            readied,
            is_early,
        };
        self.out.insert(event.old_tid, out);
    }

    /// True if a ready event of a thread may matter. The first one after the switch-out of a
    /// waiting thread counts; ready events of a preempted thread only move it.
    #[must_use]
    pub fn wants_ready(&self, tid: u32) -> bool {
        let counts = |out: &Out| was_waiting(out.state) && (out.readied.is_none() || out.is_early);
        // While any processor has a gap nothing is kept, so that ready events are not wanted
        // either.
        self.open_gaps == 0 && tid != 0 && self.out.get(&tid).is_none_or(counts)
    }

    /// Takes a ready event, logged on `cpu`. `number` is returned by [`SwitchIn::ready_event`], or
    /// by [`Schedule::released`].
    pub fn ready(&mut self, time: i64, cpu: u16, event: &ReadyThread, number: Option<u64>) {
        if !self.wants_ready(event.tid) {
            self.released.extend(number);
            return;
        }
        let readied = Readied {
            time,
            // The thread that runs on this processor does the readying, or is interrupted by the
            // DPC that does.
            by: self.running_on(cpu),
            from_dpc: event.from_dpc(),
            adjust_reason: event.adjust_reason,
            event: number,
        };
        let replaced = if let Some(out) = self.out.get_mut(&event.tid) {
            // A ready event after the switch-out is certain, unlike an early one.
            out.is_early = false;
            out.readied.replace(readied)
        } else if let Some(early) = self.early.get_mut(&event.tid) {
            early.last.replace(readied)
        } else {
            self.early.insert(
                event.tid,
                Early {
                    first: readied,
                    last: None,
                },
            );
            None
        };
        self.release(replaced);
    }

    fn release(&mut self, readied: Option<Readied>) {
        self.released
            .extend(readied.and_then(|readied| readied.event));
    }

    /// Takes the numbers of ready events that no switch-in will return.
    pub fn released(&mut self) -> impl Iterator<Item = u64> + '_ {
        self.released.drain(..)
    }

    /// The threads that are off the processors, as a switch-in at `time` would report them, by
    /// thread ID.
    #[must_use]
    pub fn off(&self, time: i64) -> Vec<SwitchIn> {
        let mut rows: Vec<SwitchIn> = self
            .out
            .iter()
            .map(|(tid, out)| out.switch_in(*tid, u16::MAX, time))
            .collect();
        // By ID, because the map has no order.
        rows.sort_unstable_by_key(|row| row.tid);
        rows
    }

    /// The running thread of a processor, if it is known.
    #[must_use]
    pub fn running_on(&self, cpu: u16) -> Option<u32> {
        self.running.get(&cpu).map(|(tid, _)| *tid)
    }

    /// True if a processor had a switch, or a gap after its first event.
    #[must_use]
    pub fn has_seen(&self, cpu: u16) -> bool {
        self.seen.contains(&cpu)
    }

    /// Starts a gap of a processor: its running thread is unknown, and so are the waits of all
    /// threads. Returns the run there up to the last event.
    pub fn begin_gap(&mut self, gap: &Gap) -> Option<Run> {
        // The processor counts as seen: what the first pass knows of its first thread does not hold
        // after a gap. If nothing was recorded before the gap, it still holds: that thread runs
        // from the end of the gap on.
        if gap.begin != i64::MIN {
            self.seen.insert(gap.cpu);
        }
        self.resumed.remove(&gap.cpu);
        // All waits, not only those of threads on this processor: any thread may have run there
        // unseen.
        self.forget_waits();
        self.open_gaps += 1;
        let (tid, since) = self.running.remove(&gap.cpu)?;
        // Damaged times must not give a run a negative length.
        // Damaged time stamps can put the start of a gap before the switch-in.
        let until = gap.begin.max(since);
        Some(Run {
            tid,
            cpu: gap.cpu,
            since: Some(since),
            is_switched_in: true,
            until,
        })
    }

    /// Events of a processor are recorded again.
    pub fn end_gap(&mut self, gap: &Gap) {
        // Threads may have been switched in and out on this processor unseen.
        // Again, since waits that began within the gap may also be several.
        self.forget_waits();
        self.open_gaps = self.open_gaps.saturating_sub(1);
        // No recorded events follow a gap that reaches to the end of the trace.
        if gap.end != i64::MAX {
            self.resumed.insert(gap.cpu, gap.end);
        }
    }

    fn forget_waits(&mut self) {
        let early = self
            .early
            .drain()
            .flat_map(|(_, early)| [Some(early.first), early.last]);
        let waits = self.out.drain().map(|(_, out)| out.readied);
        self.released.extend(
            early
                .chain(waits)
                .flatten()
                .filter_map(|readied| readied.event),
        );
    }

    /// The threads that still run at the end.
    pub fn finish(self, end: i64) -> Vec<Run> {
        let run = |(cpu, (tid, since)): (u16, (u32, i64))| Run {
            tid,
            cpu,
            since: Some(since),
            is_switched_in: true,
            until: end.max(since),
        };
        let mut runs: Vec<Run> = self.running.into_iter().map(run).collect();
        // A hash map has no order, and the same input has to give the same output.
        runs.sort_unstable_by_key(|run| run.cpu);
        runs
    }
}

/// Time from which each processor is recorded: the first event of the kernel logger, which may have
/// been started later than the session. If only the latest events were kept, the first event of
/// each processor.
#[must_use]
pub fn starts(session: &Session, directory: &Directory) -> Starts {
    // In these files the oldest buffers of a busy processor are overwritten first, so processors
    // start at different times.
    let keeps_latest = session
        .files()
        .iter()
        // Otherwise all processors start with the first kernel event.
        .any(|file| file.header().log_file_mode & KEEPS_LATEST != 0);
    let of = if keeps_latest {
        directory.first_events.clone()
    } else {
        FxHashMap::default()
    };
    let clock = session.clock();
    // In a cut trace, the events before the part describe the state at its start.
    let cut = directory
        .cut
        .filter(|cut| cut.start_ns != i64::MIN)
        .map(|cut| clock.ticks_at(cut.start_ns));
    // Never before time zero, which is where columns begin.
    let t0 = cut.map_or(clock.t0, |begin| begin.max(clock.t0));
    Starts {
        all: directory.kernel_times.map(|(first, _)| first.max(t0)),
        of,
    }
}

#[cfg(test)]
mod tests;
