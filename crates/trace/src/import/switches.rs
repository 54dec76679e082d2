//! Context switches and ready events: stays of threads on processors, with what each waited for before.

use etwkit_decode::kernel::scheduler::{self, ReadyThread, state};
use etwkit_etl::{RawEvent, Session};
use rustc_hash::FxHashMap;

use super::context::{Context, Pending};
use super::line::Seq;
use crate::schedule::{LossWatch, Run, Schedule, SwitchIn};
use crate::table::ContextSwitch;

/// A thread on a processor.
#[derive(Debug)]
struct Stay {
    row: Box<ContextSwitch>,
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
    /// Processors that had a switch.
    seen: FxHashMap<u16, ()>,
}

impl<'s> Switches<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        Self {
            schedule: Schedule::default(),
            losses: LossWatch::new(session),
            stays: FxHashMap::default(),
            readied: FxHashMap::default(),
            seen: FxHashMap::default(),
        }
    }

    /// The thread that runs on a processor, as far as switches told.
    pub(super) fn running_on(&self, cpu: u16) -> Option<u32> {
        self.schedule.running_on(cpu)
    }

    /// Takes a scheduler event.
    pub(super) fn event(&mut self, op: u8, event: &RawEvent<'_>, context: &mut Context<'_>) {
        if self.losses.is_gap_before(event) {
            self.lost(event.cpu, context);
        }
        if op == scheduler::opcode::CONTEXT_SWITCH {
            if let Some(switch) = scheduler::ContextSwitch::parse(event.payload()) {
                self.switch(event, &switch, context);
            }
        } else if let Some(ready) = ReadyThread::parse(event.payload()) {
            self.ready(event, &ready, context);
        }
    }

    fn lost(&mut self, cpu: u16, context: &mut Context<'_>) {
        self.schedule.lost(cpu);
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
        self.switched_out(run, context);
        let who = context.of_thread(switch.new_tid, event.timestamp);
        let mut row = Box::new(row(&switch_in, context));
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
    fn switched_out(&mut self, run: Run, context: &mut Context<'_>) {
        let is_first = self.seen.insert(run.cpu, ()).is_none();
        let stay = self.stays.remove(&run.cpu);
        if run.since.is_some() {
            if let Some(stay) = stay {
                self.leave(stay, Some(run.until), run.until, context);
            }
            return;
        }
        if let Some(stay) = stay {
            // What it did behind the gap is not known, but that it was switched in is.
            self.leave(stay, None, run.until, context);
        }
        let who = context.of_thread(run.tid, run.until);
        let out_ns = context.ns(run.until);
        let row = ContextSwitch {
            thread_key: who.thread_key,
            process_key: who.process_key(),
            cpu: Some(run.cpu.into()),
            out_ns: Some(out_ns),
            run_ns: is_first.then(|| context.range.clip(out_ns).saturating_sub(context.range.clip(0))),
            ..ContextSwitch::default()
        };
        write(Box::new(row), None, None, run.until, context);
    }

    fn leave(&mut self, mut stay: Stay, until: Option<i64>, time: i64, context: &mut Context<'_>) {
        stay.row.out_ns = until.map(|until| context.ns(until));
        write(stay.row, Some(stay.switch_in), stay.ready, time, context);
    }

    /// Ends what still runs, and tells who waits, at raw time `end`.
    pub(super) fn finish(mut self, end: i64, context: &mut Context<'_>) {
        for off in self.schedule.off(end) {
            let who = context.of_thread(off.tid, off.last_out.unwrap_or(end));
            let mut row = Box::new(row(&off, context));
            (row.thread_key, row.process_key) = (who.thread_key, who.process_key());
            row.is_open_wait = off.previous_state == state::WAITING && off.readied.is_none();
            let ready = self.readied.remove(&off.tid);
            write(row, None, ready, end, context);
        }
        let end_ns = context.ns(end);
        for run in std::mem::take(&mut self.schedule).finish(end) {
            if let Some(mut stay) = self.stays.remove(&run.cpu) {
                if let (Some(_), Some(in_ns)) = (run.since, stay.row.in_ns) {
                    let (from, to) = (context.range.clip(in_ns), context.range.clip(end_ns));
                    stay.row.run_ns = Some(to.saturating_sub(from));
                }
                self.leave(stay, None, end, context);
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

/// Clips a row to the range and works out its lengths; a row that lies outside is dropped.
fn write(
    mut row: Box<ContextSwitch>,
    switch_in: Option<Seq>,
    ready: Option<Seq>,
    time: i64,
    context: &mut Context<'_>,
) {
    let range = context.range;
    let ends = [row.last_out_ns, row.in_ns, row.out_ns];
    let first = ends.into_iter().flatten().min();
    let is_over = row.out_ns.is_some();
    if first.is_some_and(|first| first > range.end_ns) || is_over && row.out_ns < Some(range.start_ns) {
        switch_in.into_iter().chain(ready).for_each(|seq| context.forget(seq));
        return;
    }
    for ns in
        [&mut row.last_out_ns, &mut row.readied_ns, &mut row.in_ns, &mut row.out_ns].into_iter().flatten()
    {
        *ns = range.clip(*ns);
    }
    let length = |from: Option<i64>, to: Option<i64>| Some(to?.saturating_sub(from?));
    if row.in_ns.is_some() && row.last_out_ns.is_some() {
        let is_preempted = row.prev_state.is_some_and(|s| {
            [state::READY, state::STANDBY, state::DEFERRED_READY].map(i32::from).contains(&s)
        });
        if is_preempted {
            row.wait_ns = Some(0);
            row.ready_ns = length(row.last_out_ns, row.in_ns);
        } else {
            row.wait_ns = length(row.last_out_ns, row.readied_ns);
            row.ready_ns = length(row.readied_ns, row.in_ns);
        }
    }
    row.run_ns = row.run_ns.or_else(|| length(row.in_ns, row.out_ns));
    context.wait(time, None, None, Pending::Switch(row, switch_in, ready));
}
