//! Who ran when, who waited, who was ready: stays of threads on processors.
//!
//! For each time that a thread is switched in (T2): T0 is its last switch-out, T1 the first time after that at which it was made
//! ready. It *waited* from T0 to T1 and was *ready* from T1 to T2. A thread that was preempted (it was ready when it was taken off)
//! did not wait; it was ready from T0 on. Without T0 nothing is known; without T1 waiting and ready cannot be told apart.

use etwkit_decode::kernel::scheduler::{ContextSwitch, ReadyThread, state};
use etwkit_etl::wire::buffer::flag;
use etwkit_etl::{RawEvent, Session};
use rustc_hash::FxHashMap;

/// Whether a thread that was taken off in this state could have run on: it was preempted.
#[must_use]
pub const fn was_preempted(state: u8) -> bool {
    matches!(state, state::READY | state::STANDBY | state::DEFERRED_READY)
}

/// Waiting and ready time of a thread that was taken off at T0, made ready at T1 and switched in at T2, each as far as it is known.
#[must_use]
pub fn wait_and_ready(
    out: i64,
    readied: Option<i64>,
    switch_in: i64,
    was_preempted: bool,
) -> (Option<i64>, Option<i64>) {
    if was_preempted {
        return (Some(0), Some(switch_in.saturating_sub(out)));
    }
    (readied.map(|t| t.saturating_sub(out)), readied.map(|t| switch_in.saturating_sub(t)))
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
    /// T1: when it was made ready.
    pub readied: Option<i64>,
    /// Its state at T0.
    pub previous_state: u8,
    /// Why it waited, as of T0.
    pub wait_reason: u8,
    /// Thread that ran on the processor where it was made ready.
    pub readying_tid: Option<u32>,
    /// Whether a DPC made it ready: then that thread was only interrupted.
    pub readied_by_dpc: bool,
}

impl SwitchIn {
    /// Whether it had been taken off while it could have run on.
    #[must_use]
    pub const fn was_preempted(&self) -> bool {
        was_preempted(self.previous_state)
    }

    /// T1 − T0, 0 for a preempted thread; `None` where it is not known.
    #[must_use]
    pub fn wait(&self) -> Option<i64> {
        self.wait_and_ready()?.0
    }

    /// T2 − T1, or T2 − T0 for a preempted thread; `None` where it is not known.
    #[must_use]
    pub fn ready(&self) -> Option<i64> {
        self.wait_and_ready()?.1
    }

    fn wait_and_ready(&self) -> Option<(Option<i64>, Option<i64>)> {
        Some(wait_and_ready(self.last_out?, self.readied, self.time, self.was_preempted()))
    }
}

/// A thread is switched out: it ran from `since` to `time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The thread; 0 is idle.
    pub tid: u32,
    /// Processor.
    pub cpu: u16,
    /// When it was switched in; `None` for the first switch of a processor and behind lost buffers.
    pub since: Option<i64>,
    /// When it was switched out, or when the trace ends.
    pub until: i64,
}

#[derive(Debug, Clone, Copy)]
struct Out {
    time: i64,
    state: u8,
    reason: u8,
    readied: Option<(i64, Option<u32>, bool)>,
}

impl Out {
    fn switch_in(&self, tid: u32, cpu: u16, time: i64) -> SwitchIn {
        SwitchIn {
            tid,
            cpu,
            time,
            last_out: Some(self.time),
            readied: self.readied.map(|(time, ..)| time),
            previous_state: self.state,
            wait_reason: self.reason,
            readying_tid: self.readied.and_then(|(_, tid, _)| tid),
            readied_by_dpc: self.readied.is_some_and(|(.., dpc)| dpc),
        }
    }
}

/// Follows processors and threads; events must come in time order.
#[derive(Debug, Default)]
pub struct Schedule {
    running: FxHashMap<u16, (u32, Option<i64>)>,
    out: FxHashMap<u32, Out>,
}

impl Schedule {
    /// Takes a context switch: who ran until now, and who is switched in.
    pub fn switch(&mut self, time: i64, cpu: u16, event: &ContextSwitch) -> (Run, SwitchIn) {
        let since = match self.running.get(&cpu) {
            // A thread that is not the one that was switched in: switches are missing in between.
            Some((tid, since)) if *tid == event.old_tid => *since,
            _ => None,
        };
        let run = Run { tid: event.old_tid, cpu, since, until: time };
        self.switched_out(time, event);
        let known = if event.new_tid == 0 { None } else { self.out.remove(&event.new_tid) };
        self.running.insert(cpu, (event.new_tid, Some(time)));
        let unknown = SwitchIn { tid: event.new_tid, cpu, time, ..SwitchIn::default() };
        (run, known.map_or(unknown, |out| out.switch_in(event.new_tid, cpu, time)))
    }

    fn switched_out(&mut self, time: i64, event: &ContextSwitch) {
        if event.old_tid == 0 {
            return;
        }
        if event.old_state == state::TERMINATED {
            // The id is free; who has it next never waited.
            self.out.remove(&event.old_tid);
            return;
        }
        let out = Out { time, state: event.old_state, reason: event.old_wait_reason, readied: None };
        self.out.insert(event.old_tid, out);
    }

    /// Takes a ready event, logged on `cpu`. The first one behind a switch-out counts; those of a preempted thread only
    /// move it about. Returns whether it counts.
    pub fn ready(&mut self, time: i64, cpu: u16, event: &ReadyThread) -> bool {
        let readier = self.running_on(cpu);
        let Some(out) = self.out.get_mut(&event.tid) else { return false };
        let counts = out.state == state::WAITING && out.readied.is_none();
        if counts {
            out.readied = Some((time, readier, event.from_dpc()));
        }
        counts
    }

    /// The threads that are off the processors, as a switch-in at `time` would tell them, by thread id.
    #[must_use]
    pub fn off(&self, time: i64) -> Vec<SwitchIn> {
        let mut rows: Vec<SwitchIn> =
            self.out.iter().map(|(tid, out)| out.switch_in(*tid, u16::MAX, time)).collect();
        rows.sort_unstable_by_key(|row| row.tid);
        rows
    }

    /// The thread that runs on a processor, as far as it is known.
    #[must_use]
    pub fn running_on(&self, cpu: u16) -> Option<u32> {
        self.running.get(&cpu).map(|(tid, _)| *tid)
    }

    /// Buffers of a processor were lost: who ran there is not known, nor what any thread did meanwhile.
    pub fn lost(&mut self, cpu: u16) {
        self.running.remove(&cpu);
        self.out.clear();
    }

    /// The threads that still run at the end.
    pub fn finish(self, end: i64) -> Vec<Run> {
        let mut runs: Vec<Run> = self
            .running
            .into_iter()
            .map(|(cpu, (tid, since))| Run { tid, cpu, since, until: since.map_or(end, |s| end.max(s)) })
            .collect();
        runs.sort_unstable_by_key(|run| run.cpu);
        runs
    }
}

/// `EVENT_TRACE_FILE_MODE_CIRCULAR` and `EVENT_TRACE_BUFFERING_MODE`: only the latest events are kept.
const KEEPS_LATEST: u32 = 0x2 | 0x400;

/// Raw time from which each processor is recorded, where only the latest events were kept; none for other sessions, which are
/// recorded from their start.
#[must_use]
pub fn late_starts(session: &Session, first_events: &FxHashMap<u16, i64>) -> FxHashMap<u16, i64> {
    let keeps_latest = session.files().iter().any(|file| file.header().log_file_mode & KEEPS_LATEST != 0);
    if keeps_latest { first_events.clone() } else { FxHashMap::default() }
}

/// Notices where events of a processor are missing: a buffer says when events were lost in it or a buffer in front of it.
pub struct LossWatch<'s> {
    session: &'s Session,
    /// File and buffer of the last event of each processor.
    buffers: FxHashMap<u16, (u16, u32)>,
}

impl<'s> LossWatch<'s> {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(session: &'s Session) -> Self {
        Self { session, buffers: FxHashMap::default() }
    }

    /// Whether events are missing between the last event of this processor and this one. Which they were is not known.
    #[inline]
    pub fn is_gap_before(&mut self, event: &RawEvent<'_>) -> bool {
        let place = (event.file, event.buffer);
        let before = self.buffers.insert(event.cpu, place);
        if before == Some(place) {
            return false;
        }
        let flags = |(file, buffer): (u16, u32)| {
            let file = self.session.files().get(usize::from(file))?;
            file.buffers().get(buffer as usize).map(|b| b.header.buffer_flag)
        };
        // Events that are lost while a buffer is current can be missing in front of it or behind it. Where a buffer was lost, too, the
        // gap in front is known, and it is the one.
        let both = flag::EVENTS_LOST | flag::BUFFER_LOST;
        let lost_behind = before.and_then(flags).is_some_and(|f| f & both == flag::EVENTS_LOST);
        lost_behind || flags(place).is_some_and(|f| f & both != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(old: u32, old_state: u8, new: u32) -> ContextSwitch {
        ContextSwitch {
            new_tid: new,
            old_tid: old,
            new_priority: 8,
            old_priority: 8,
            previous_c_state: 0,
            old_wait_reason: 6,
            old_wait_user_mode: true,
            old_state,
        }
    }

    #[test]
    fn waiting_ends_when_made_ready_and_ready_when_switched_in() {
        let mut s = Schedule::default();
        let (run, _) = s.switch(10, 0, &switch(4, state::WAITING, 0));
        assert_eq!((run.since, run.until), (None, 10));
        s.switch(12, 1, &switch(0, 2, 8));
        s.ready(30, 1, &ReadyThread { tid: 4, flags: 0 });
        s.ready(31, 1, &ReadyThread { tid: 4, flags: 1 });
        let (_, into) = s.switch(35, 0, &switch(0, 2, 4));
        assert_eq!((into.wait(), into.ready(), into.wait_reason), (Some(20), Some(5), 6));
        assert_eq!((into.readying_tid, into.readied_by_dpc), (Some(8), false));
        let (run, _) = s.switch(40, 0, &switch(4, state::WAITING, 0));
        assert_eq!((run.since, run.until), (Some(35), 40));
    }

    #[test]
    fn a_preempted_thread_is_ready_all_the_time() {
        let mut s = Schedule::default();
        s.switch(10, 0, &switch(4, state::READY, 8));
        s.ready(15, 1, &ReadyThread { tid: 4, flags: 0 });
        let (_, into) = s.switch(25, 1, &switch(0, 2, 4));
        assert_eq!((into.wait(), into.ready(), into.readied), (Some(0), Some(15), None));
    }

    #[test]
    fn without_a_ready_event_nothing_is_split_and_without_a_switch_out_nothing_is_known() {
        let mut s = Schedule::default();
        s.switch(10, 0, &switch(4, state::WAITING, 8));
        let (_, into) = s.switch(25, 1, &switch(0, 2, 4));
        assert_eq!((into.last_out, into.wait(), into.ready()), (Some(10), None, None));
        let (_, into) = s.switch(30, 2, &switch(0, 2, 16));
        assert_eq!((into.wait(), into.ready()), (None, None));
    }

    #[test]
    fn a_thread_id_that_comes_back_after_its_end_never_waited() {
        let mut s = Schedule::default();
        s.switch(10, 0, &switch(4, state::TERMINATED, 0));
        let (_, into) = s.switch(20, 0, &switch(0, 2, 4));
        assert_eq!(into.last_out, None);
    }

    #[test]
    fn behind_lost_buffers_nothing_is_known() {
        let mut s = Schedule::default();
        s.switch(10, 0, &switch(4, state::WAITING, 8));
        s.lost(0);
        let (run, into) = s.switch(20, 0, &switch(8, state::WAITING, 4));
        assert_eq!((run.since, into.last_out), (None, None));
        assert_eq!(s.finish(30), [Run { tid: 4, cpu: 0, since: Some(20), until: 30 }]);
    }
}
