//! Context switches and ready events: stays of threads on processors, with what each waited for before.

use etwkit_decode::kernel::scheduler::{self, ReadyThread};
use etwkit_etl::{RawEvent, Session};
use rustc_hash::{FxHashMap, FxHashSet};

use super::clip::clipped;
use super::context::{Context, Pending};
use super::counters::{self, Counters, Deltas};
use super::line::Seq;
use crate::schedule::{LossWatch, Run, Schedule, SwitchIn};
use crate::table::{ContextSwitch, Pmc};

/// A thread on a processor.
#[derive(Debug)]
struct Stay {
    row: ContextSwitch,
    switch_in: Seq,
    ready: Option<Seq>,
}

/// Follows processors and threads.
pub(super) struct Switches<'s> {
    schedule: Schedule,
    losses: LossWatch<'s>,
    /// Who is on each processor.
    stays: FxHashMap<u16, Stay>,
    /// The ready event of each thread that is ready.
    readied: FxHashMap<u32, Seq>,
    /// Time in nanoseconds at which each processor begins to be recorded, where that is not the start of the trace.
    starts: FxHashMap<u16, i64>,
    /// Processors that had a switch, or lost events before they had one.
    seen: FxHashSet<u16>,
    pub(super) counters: Counters<'s>,
    /// How often events were lost so far.
    pub(super) gaps: u64,
}

impl<'s> Switches<'s> {
    /// `starts` are for processors whose recording does not begin with the trace, see [`Directory::first_events`].
    pub(super) fn new(session: &'s Session, starts: FxHashMap<u16, i64>, counters: Counters<'s>) -> Self {
        Self {
            schedule: Schedule::default(),
            losses: LossWatch::new(session),
            stays: FxHashMap::default(),
            readied: FxHashMap::default(),
            starts,
            seen: FxHashSet::default(),
            counters,
            gaps: 0,
        }
    }

    /// Whether a processor had a switch or lost events.
    pub(super) fn has_seen(&self, cpu: u16) -> bool {
        self.seen.contains(&cpu)
    }

    /// The thread that runs on a processor, as far as switches told.
    pub(super) fn running_on(&self, cpu: u16) -> Option<u32> {
        self.schedule.running_on(cpu)
    }

    /// Looks whether events are missing in front of an event that the thread on the processor logged.
    pub(super) fn watch(&mut self, event: &RawEvent<'_>, context: &mut Context<'_>) {
        if self.losses.is_gap_before(event) {
            self.lost(event.cpu, context);
        }
    }

    /// Takes a scheduler event.
    pub(super) fn event(&mut self, op: u8, event: &RawEvent<'_>, context: &mut Context<'_>) {
        self.watch(event, context);
        if op == scheduler::opcode::CONTEXT_SWITCH {
            if let Some(switch) = scheduler::ContextSwitch::parse(event.payload()) {
                self.switch(event, &switch, context);
            }
        } else if let Some(ready) = ReadyThread::parse(event.payload()) {
            self.ready(event, &ready, context);
        }
    }

    fn lost(&mut self, cpu: u16, context: &mut Context<'_>) {
        self.gaps += 1;
        self.schedule.lost(cpu);
        self.counters.forget(cpu);
        // Who ran before the gap is not known, so that nothing is counted from the start either.
        self.seen.insert(cpu);
        for (_, seq) in self.readied.drain() {
            context.forget(seq);
        }
    }

    fn ready(&mut self, event: &RawEvent<'_>, ready: &ReadyThread, context: &mut Context<'_>) {
        if !self.schedule.ready(event.timestamp, event.cpu, ready) {
            return;
        }
        let Some(by) = self.schedule.running_on(event.cpu) else { return };
        let process = context.directory.process_of_thread(by, event.timestamp);
        let seq = context.wait(event.timestamp, Some(by), process, Pending::Start);
        self.readied.insert(ready.tid, seq);
    }

    fn switch(&mut self, event: &RawEvent<'_>, switch: &scheduler::ContextSwitch, context: &mut Context<'_>) {
        let (run, switch_in) = self.schedule.switch(event.timestamp, event.cpu, switch);
        let counted = self.counters.switch(event);
        self.switched_out(run, counted, context);
        if let Some(stale) = self.readied.remove(&switch.old_tid) {
            context.forget(stale);
        }
        let who = context.of_thread(switch.new_tid, event.timestamp);
        let mut row = row(&switch_in, context);
        (row.thread_key, row.process_key) = (who.thread_key, who.process_key());
        row.cpu = Some(event.cpu.into());
        row.in_ns = Some(context.ns(event.timestamp));
        row.priority = Some(switch.new_priority.into());
        row.prev_c_state = (switch.old_tid == 0).then(|| switch.previous_c_state.into());
        let ready = self.readied.remove(&switch.new_tid);
        let switch_in = context.wait(event.timestamp, Some(switch.new_tid), who.process, Pending::Start);
        self.stays.insert(event.cpu, Stay { row, switch_in, ready });
    }

    /// A thread leaves a processor. Where its switch-in is not known, it either ran when the trace began, or switches are missing.
    fn switched_out(&mut self, run: Run, counted: Option<Deltas>, context: &mut Context<'_>) {
        let is_first = self.seen.insert(run.cpu);
        let stay = self.stays.remove(&run.cpu);
        if run.since.is_some() {
            if let Some(mut stay) = stay {
                let out_ns = context.ns(run.until);
                stay.row.out_ns = Some(out_ns);
                let counted = counted.map(counters::row);
                Self::leave(stay, Some(out_ns), counted, run.until, context);
            }
            return;
        }
        if let Some(stay) = stay {
            // What it did behind the gap is not known, but that it was switched in is.
            Self::leave(stay, None, None, run.until, context);
        }
        let who = context.of_thread(run.tid, run.until);
        let out_ns = context.ns(run.until);
        let from = self.starts.get(&run.cpu).copied().unwrap_or_default();
        let row = ContextSwitch {
            thread_key: who.thread_key,
            process_key: who.process_key(),
            cpu: Some(run.cpu.into()),
            out_ns: Some(out_ns),
            ..ContextSwitch::default()
        };
        let run_ns = is_first.then_some((from, out_ns));
        write(row, run_ns, Origin::default(), run.until, context);
    }

    /// Ends a stay; `until` is when it was switched out or the trace ended, if that is known.
    fn leave(stay: Stay, until: Option<i64>, counted: Option<Pmc>, time: i64, context: &mut Context<'_>) {
        let run = stay.row.in_ns.zip(until);
        let origin = Origin { switch_in: Some(stay.switch_in), ready: stay.ready, counted };
        write(stay.row, run, origin, time, context);
    }

    /// Ends what still runs, and tells who waits, at raw time `end`.
    pub(super) fn finish(mut self, end: i64, context: &mut Context<'_>) {
        for off in self.schedule.off(end) {
            let who = context.of_thread(off.tid, off.last_out.unwrap_or(end));
            let mut row = row(&off, context);
            (row.thread_key, row.process_key) = (who.thread_key, who.process_key());
            let ready = self.readied.remove(&off.tid);
            write(row, None, Origin { ready, ..Origin::default() }, end, context);
        }
        let end_ns = context.ns(end);
        for run in std::mem::take(&mut self.schedule).finish(end) {
            if let Some(stay) = self.stays.remove(&run.cpu) {
                let until = stay.row.in_ns.map(|since| end_ns.max(since)).filter(|_| run.since.is_some());
                Self::leave(stay, until, None, end, context);
            }
        }
    }
}

/// The part of a row that a switch-in tells.
fn row(switch: &SwitchIn, context: &mut Context<'_>) -> ContextSwitch {
    let known = switch.last_out.is_some();
    let readying = switch.readying_tid.zip(switch.readied);
    ContextSwitch {
        last_out_ns: switch.last_out.map(|t| context.ns(t)),
        readied_ns: switch.readied.map(|t| context.ns(t)),
        prev_state: known.then(|| switch.previous_state.into()),
        wait_reason: known.then(|| switch.wait_reason.into()),
        readying_thread_key: readying.map(|(tid, time)| context.of_thread(tid, time).thread_key),
        is_readied_by_dpc: switch.readied_by_dpc,
        ..ContextSwitch::default()
    }
}

/// What a row takes from events before it.
#[derive(Debug, Default)]
struct Origin {
    /// The switch-in, which has the stack.
    switch_in: Option<Seq>,
    /// The ready event.
    ready: Option<Seq>,
    /// What was counted in the stay.
    counted: Option<Pmc>,
}

/// Puts a row in the line, as far as it lies in the range.
fn write(
    row: ContextSwitch,
    run: Option<(i64, i64)>,
    Origin { switch_in, ready, counted }: Origin,
    time: i64,
    context: &mut Context<'_>,
) {
    match clipped(row, run, context.range) {
        Some(row) => {
            // Stacks belong to what is told of the switch-in and of the ready event.
            let (is_told, is_readied) =
                (row.last_out_ns.is_some() || row.in_ns.is_some(), row.readied_ns.is_some());
            let mut keep = |seq: Option<Seq>, keep: bool| match seq {
                Some(seq) if !keep => {
                    context.forget(seq);
                    None
                }
                seq => seq,
            };
            let (switch_in, ready) = (keep(switch_in, is_told), keep(ready, is_readied));
            let row = match counted.zip(run).filter(|(_, (_, out))| context.range.contains(*out)) {
                Some((mut counted, (since, out))) => {
                    counted.ts_ns = out;
                    counted.run_ns = out.saturating_sub(since);
                    counted.cpu = row.cpu.unwrap_or_default();
                    (counted.process_key, counted.thread_key) = (row.process_key, row.thread_key);
                    Pending::Counted(Box::new((row, counted)), switch_in, ready)
                }
                None => Pending::Switch(Box::new(row), switch_in, ready),
            };
            context.wait(time, None, None, row);
        }
        None => switch_in.into_iter().chain(ready).for_each(|seq| context.forget(seq)),
    }
}
