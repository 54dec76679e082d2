//! Context switches and ready events: scheduling slices of threads, with their preceding waits.

use etwkit_decode::kernel::scheduler::{self, ReadyThread, opcode};
use etwkit_decode::kernel::{Hook, counter, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use super::deltas::{Deltas, LastValues};
use super::dpc;
use super::instead::{self, Instead};
use super::interrupts::Interrupts;
use crate::declared::{Events, Topic, rows};
use crate::gaps::{Edge, GapWatch};
use crate::import::memory::page_fault;
use crate::import::pipeline::clip::{clipped, whole};
use crate::import::pipeline::collect::MINI_FILTERS;
use crate::import::pipeline::tables::Tables;
use crate::import::pipeline::waiting::{RowStacks, Waiting};
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, Range, Seq,
};
use crate::import::syscalls::{alpc, calls};
use crate::schedule::{Run, SwitchIn, was_waiting};
use crate::sink::{Sink, SinkError};
use crate::table::{
    ContextSwitch, CpuClass, CpuClassPriority, CpuMethod, CpuMethodClass, CpuProcess, CpuStack,
    CpuTag, Pmc, ReadyPercentile, Row, Table,
};

const SWITCHES: Events = Events::Kernel(group::THREAD, &[opcode::CONTEXT_SWITCH]);
const READY: Events = Events::Kernel(group::THREAD, &[opcode::READY_THREAD]);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[SWITCHES, READY],
    hears: &[
        // DPCs and interrupts take processors from threads.
        dpc::EVENTS,
        // Importers that follow calls, or need the running thread, have to know of a gap before an
        // event when they get the event.
        calls::EVENTS,
        MINI_FILTERS,
        page_fault::EVENTS,
        alpc::EVENTS,
        // Counters before and after this event cannot be compared.
        Events::Kernel(group::PERFINFO, &[counter::opcode::CORRUPTION]),
    ],
    tables: &[rows(ContextSwitch::TABLE)],
    topics: &[
        Topic {
            place: 20,
            name: "context switches",
            answers: "who waited, and for how long",
            recorded_by: "CSWITCH",
            events: &[SWITCHES],
            tables: &[
                ContextSwitch::TABLE,
                CpuProcess::TABLE,
                CpuMethod::TABLE,
                CpuTag::TABLE,
                CpuStack::TABLE,
                ReadyPercentile::TABLE,
                CpuClass::TABLE,
                CpuMethodClass::TABLE,
                CpuClassPriority::TABLE,
            ],
        },
        Topic {
            place: 30,
            name: "ready threads",
            answers: "who ended a wait",
            recorded_by: "DISPATCHER",
            events: &[READY],
            tables: &[],
        },
    ],
    make: |learned| Box::new(Switches::new(learned)),
};

/// A thread on a processor.
#[derive(Debug)]
struct Slice {
    row: ContextSwitch,
    switch_in: Seq,
    ready: Option<Seq>,
}

/// Follows processors and threads.
struct Switches<'s> {
    gaps_to_come: GapWatch<'s>,
    /// Raw time after which no event is missing so far.
    known_since: i64,
    /// The thread on each processor.
    slices: FxHashMap<u16, Slice>,
    /// Time that DPCs and interrupts took from the threads since the last switch, by processor.
    interrupts: Option<FxHashMap<u16, Interrupts>>,
    counted: LastValues,
    instead: Instead,
}

impl<'s> Switches<'s> {
    fn new(learned: Learned<'s>) -> Self {
        Self {
            gaps_to_come: GapWatch::new(&learned.collected.directory.gaps),
            known_since: i64::MIN,
            slices: FxHashMap::default(),
            interrupts: learned.collected.has_interrupts.then(FxHashMap::default),
            counted: LastValues::default(),
            instead: Instead::default(),
        }
    }

    /// Advances to an event at `time`, first handling every edge of a gap before it.
    #[inline]
    fn watch(&mut self, time: i64, context: &mut Context<'_>) {
        // More than one edge may lie before this event: all of them have to take effect first, in
        // their order.
        while let Some(edge) = self.gaps_to_come.edge(time) {
            self.edge(edge, time, context);
        }
    }

    #[cold]
    fn edge(&mut self, edge: Edge, time: i64, context: &mut Context<'_>) {
        // Counted for importers that pair starts with ends: after a gap they give up what is open.
        context.gaps += 1;
        let cpu = match edge {
            Edge::Begin(gap) => {
                // From the start of a gap on nothing proves that a thread runs for the first time.
                self.known_since = i64::MAX;
                let run = context.schedule.begin_gap(&gap);
                if let Some(slice) = self.slices.remove(&gap.cpu) {
                    // The thread ran up to the last event before the gap; its later activity is
                    // unknown.
                    let until = run.map(|run| context.ns(run.until));
                    self.leave(gap.cpu, slice, until, None, time, context);
                }
                gap.cpu
            }
            Edge::End(gap) => {
                // As long as any processor has a gap, a thread may have run there unseen, so no
                // first switch-in can be trusted.
                self.known_since = if self.gaps_to_come.is_open() {
                    i64::MAX
                } else {
                    gap.end
                };
                context.schedule.end_gap(&gap);
                gap.cpu
            }
        };
        // What was remembered of this processor is of before the gap, and after it another thread
        // may be there.
        self.instead.forget(cpu);
        self.interrupts
            .iter_mut()
            .for_each(|of| _ = of.remove(&cpu));
        self.counted.forget(cpu);
        // Stacks that were released so far belong to events before the gap.
        context.forget_released();
    }

    /// Notes a DPC or interrupt, which is logged when it ends.
    fn interrupt(&mut self, hook: Hook, event: &RawEvent<'_>, context: &mut Context<'_>) {
        let Some((kind, read)) = dpc::read(hook, event) else {
            return;
        };
        // Gaps are handled first, as for every event with a time.
        self.watch(event.timestamp, context);
        if kind == THREADED {
            return;
        }
        if let Some(of) = &mut self.interrupts {
            // Clipped here: the sum is of the time within the range, and the ends of a DPC may lie
            // outside.
            let span = [read.initial_time, event.timestamp]
                .map(|time| context.range.clip(context.ns(time)));
            of.entry(event.cpu).or_default().add(span);
        }
    }

    fn ready(&mut self, event: &RawEvent<'_>, ready: &ReadyThread, context: &mut Context<'_>) {
        // Most ready events are of threads that are ready already. Their stacks would be kept for
        // nothing.
        if !context.schedule.wants_ready(ready.tid) {
            return;
        }
        let by = context.schedule.running_on(event.cpu);
        // The stack of a ready event belongs to the thread that runs on its processor, not to the
        // readied thread.
        // Without a known thread on the processor nobody can be named as the one that readied it.
        let seq = by.map(|by| {
            let process = context.directory.process_of_thread(by, event.timestamp);
            context.wait(event.timestamp, Some(by), process, Pending::Start)
        });
        context
            .schedule
            .ready(event.timestamp, event.cpu, ready, seq);
    }

    fn switch(
        &mut self,
        event: &RawEvent<'_>,
        switch: &scheduler::ContextSwitch,
        context: &mut Context<'_>,
    ) {
        // The schedule is asked first, since it knows both sides: who left, and since when the new
        // thread was off.
        let (run, switch_in) = context.schedule.switch(event.timestamp, event.cpu, switch);
        let counted = self.counted.switch(event);
        // The importer of counters needs the number of values, which is known only from what came
        // with switches.
        context.counted_values = self.counted.most;
        // The slice of the thread that leaves ends before the new one is inserted: both have the
        // same key.
        self.switched_out(run, switch, counted, context);
        let who = context.of_thread(switch.new_tid, event.timestamp);
        // A thread with a switch-out in the trace has run before. Thread 0 means the idle threads
        // of all processors.
        if switch_in.last_out.is_none() && switch.new_tid != 0 {
            context.identity.first_run(
                switch.new_tid,
                switch_in.readied,
                event.timestamp,
                self.known_since,
            );
        }
        let mut row = row(&switch_in, context);
        // Keys are of the instance that lives now, since Windows reuses thread IDs.
        (row.thread_key, row.process_key) = (who.thread_key, who.process_key());
        row.cpu = Some(event.cpu.into());
        row.in_ns = Some(context.ns(event.timestamp));
        row.priority = Some(switch.new_priority.into());
        // Only an idle processor sleeps; the field has no meaning if another thread was switched
        // out.
        row.prev_c_state = (switch.old_tid == 0).then(|| switch.previous_c_state.into());
        self.instead
            // The start of a slice decides who ran in place of those that were ready.
            .switched_in(event.cpu, &mut row, switch.new_tid != 0, context);
        let ready = switch_in.ready_event;
        let switch_in =
            // The stack of a switch is logged by the thread that was switched in, as soon as it
            // runs.
            context.wait_for_switch(event.timestamp, switch.new_tid, event.cpu, who.process);
        self.slices.insert(
            event.cpu,
            Slice {
                row,
                switch_in,
                ready,
            },
        );
    }

    /// A thread leaves a processor. If its switch-in is unknown, it was running when recording
    /// started on the processor, or switches are missing.
    fn switched_out(
        &mut self,
        run: Run,
        switch: &scheduler::ContextSwitch,
        counted: Option<Deltas>,
        context: &mut Context<'_>,
    ) {
        // Taken in any case: whatever slice was open on the processor has ended.
        let slice = self.slices.remove(&run.cpu);
        let out_ns = context.ns(run.until);
        if run.is_switched_in {
            if let Some(mut slice) = slice {
                slice.row.out_ns = Some(out_ns);
                slice.row.out_priority = Some(switch.old_priority.into());
                // The ideal processor of interest is the one at the start of a thread, and the
                // first switch-out is the first event that contains it.
                if slice.row.last_out_ns.is_none() && run.tid != 0 {
                    context
                        .identity
                        .ideal_cpu(slice.row.thread_key, switch.old_ideal_cpu);
                }
                // The run time is known here, so counters that were read at both ends belong to
                // exactly this slice.
                self.leave(
                    run.cpu,
                    slice,
                    Some(out_ns),
                    counted.map(Deltas::row),
                    run.until,
                    context,
                );
            }
            return;
        }
        // The schedule saw another thread leave than the one whose switch-in is open.
        if let Some(slice) = slice {
            // The previous slice lost its switch-out: the run time of the thread is unknown, but
            // its switch-in is known.
            self.leave(run.cpu, slice, None, None, run.until, context);
        }
        let who = context.of_thread(run.tid, run.until);
        let mut row = ContextSwitch {
            thread_key: who.thread_key,
            process_key: who.process_key(),
            cpu: Some(run.cpu.into()),
            out_ns: Some(out_ns),
            out_priority: Some(switch.old_priority.into()),
            ..ContextSwitch::default()
        };
        if run.tid != 0 {
            context
                .identity
                .ideal_cpu(who.thread_key, switch.old_ideal_cpu);
        }
        // Even without a switch-in the time from the last known event is time in which this thread
        // ran.
        if let Some(since) = run.since {
            let thread = (run.tid != 0).then_some(who.thread_key);
            let priority = Some(switch.old_priority.into());
            self.instead.ran(
                run.cpu,
                instead::Slice {
                    since: context.ns(since),
                    thread,
                    priority,
                },
            );
        }
        // A run whose start is unknown has no length, and rows without a length do not count as CPU
        // time.
        let run_ns = run.since.map(|since| (context.ns(since), out_ns));
        row.dpc_isr_ns = self.interrupted(run.cpu, run_ns);
        write(row, run_ns, Origin::default(), run.until, context);
    }

    /// Ends a slice. `until` is the end of its run time, if known.
    fn leave(
        &mut self,
        cpu: u16,
        mut slice: Slice,
        until: Option<i64>,
        counted: Option<Pmc>,
        time: i64,
        context: &mut Context<'_>,
    ) {
        let run = slice.row.in_ns.zip(until);
        // Taken out with the slice: interrupts from now on belong to the next thread.
        slice.row.dpc_isr_ns = self.interrupted(cpu, run);
        let origin = Origin {
            switch_in: Some(slice.switch_in),
            ready: slice.ready,
            counted,
        };
        write(slice.row, run, origin, time, context);
    }

    /// Time of DPCs and interrupts on a processor since its last switch; `None` if the interrupted
    /// thread is unknown.
    fn interrupted(&mut self, cpu: u16, run: Option<(i64, i64)>) -> Option<i64> {
        let interrupts = self.interrupts.as_mut()?.remove(&cpu);
        let (since, until) = run?;
        Some(interrupts.map_or(0, |interrupts| interrupts.within(since, until)))
    }

    /// Ends the open slices and writes the waiting threads, at raw time `end` of the kernel logger.
    /// The rows are queued after `last`.
    fn end(&mut self, end: i64, last: i64, context: &mut Context<'_>) {
        // Gaps that are open to the end of the trace end their slices like all others.
        self.watch(i64::MAX, context);
        // Threads that are off the processors come first: finishing the schedule consumes it.
        for off in context.schedule.off(end) {
            // A thread may have ended since it was switched out. The time of its switch-out finds
            // the instance that waited.
            let who = context.of_thread(off.tid, off.last_out.unwrap_or(end));
            let mut row = row(&off, context);
            (row.thread_key, row.process_key) = (who.thread_key, who.process_key());
            write(
                row,
                None,
                Origin {
                    ready: off.ready_event,
                    ..Origin::default()
                },
                last,
                context,
            );
        }
        let end_ns = context.ns(end);
        // The schedule is consumed: rows after this would be of a trace that continued.
        for run in std::mem::take(&mut context.schedule).finish(end) {
            if let Some(slice) = self.slices.remove(&run.cpu) {
                // Events of other loggers may come after the last kernel event, but never extend a
                // slice.
                let until = slice.row.in_ns.map(|since| end_ns.max(since));
                self.leave(run.cpu, slice, until, None, last, context);
            }
        }
    }
}

impl Importer for Switches<'_> {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        self.watch(event.timestamp, context);
        if hook.opcode == opcode::CONTEXT_SWITCH {
            // An event that cannot be read is not counted as a switch, but it still was one: the
            // next switch finds another thread and marks the slice as unknown.
            if let Some(switch) = scheduler::ContextSwitch::parse(event.payload()) {
                self.switch(event, &switch, context);
            }
        } else if let Some(ready) = ReadyThread::parse(event.payload()) {
            self.ready(event, &ready, context);
        }
        context.forget_released();
        Ok(true)
    }

    fn hear(
        &mut self,
        hook: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some(hook) = hook else { return Ok(()) };
        if dpc::EVENTS.includes_type(hook.group, hook.opcode) {
            self.interrupt(hook, event, context);
        // Windows reports when the counters of a processor were disturbed. The difference to the
        // value before would be wrong.
        } else if hook.opcode == counter::opcode::CORRUPTION {
            let cpu = counter::corrupted_processor(event.payload())
                .and_then(|cpu| u16::try_from(cpu).ok());
            cpu.into_iter().for_each(|cpu| self.counted.forget(cpu));
        } else {
            self.watch(event.timestamp, context);
        }
        Ok(())
    }

    fn finish(
        mut self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.end(
            learned.collected.kernel_end(),
            learned.collected.end,
            context,
        );
        Ok(())
    }
}

/// DPCs that run on threads of their own interrupt no thread.
const THREADED: &str = "threaded_dpc";

/// The part of a row that is known at a switch-in.
fn row(switch: &SwitchIn, context: &mut Context<'_>) -> ContextSwitch {
    // State and wait reason come from the switch-out, which may be before the trace.
    let known = switch.last_out.is_some();
    // Both are known or neither is: a readying thread without a time cannot be looked up.
    let readying = switch.readying_tid.zip(switch.readied);
    ContextSwitch {
        last_out_ns: switch.last_out.map(|t| context.ns(t)),
        readied_ns: switch.readied.map(|t| context.ns(t)),
        prev_state: known.then(|| switch.previous_state.into()),
        wait_reason: known.then(|| switch.wait_reason.into()),
        is_user_wait: (known && was_waiting(switch.previous_state))
            // The field has a meaning only for a wait.
            .then_some(switch.waited_in_user_mode),
        adjust_reason: switch.adjust_reason.map(Into::into),
        readying_thread_key: readying.map(|(tid, time)| context.of_thread(tid, time).thread_key),
        is_readied_by_dpc: switch.readied_by_dpc,
        ..ContextSwitch::default()
    }
}

/// The parts of a row that come from earlier events.
#[derive(Debug, Default)]
struct Origin {
    /// The switch-in, which has the stack.
    switch_in: Option<Seq>,
    /// The ready event.
    ready: Option<Seq>,
    /// Counter increments in the slice.
    counted: Option<Pmc>,
}

/// Queues the part of a row in the range.
fn write(
    row: ContextSwitch,
    run: Option<(i64, i64)>,
    Origin {
        switch_in,
        ready,
        counted,
    }: Origin,
    time: i64,
    context: &mut Context<'_>,
) {
    // Cut traces keep rows whole, because the cut has to answer as the range of the whole does.
    let kept = if context.keep_whole && context.range != Range::ALL {
        whole(row, run, context.range)
    } else {
        clipped(row, run, context.range)
    };
    match kept {
        Some(mut row) => {
            // Both columns mostly repeat another one, and would be a tenth of the file. Null means
            // the same value.
            row.out_priority = row
                .out_priority
                .filter(|_| row.out_priority != row.priority);
            row.instead_ns = row.instead_ns.filter(|_| row.instead_ns != row.ready_ns);
            // A row that was clipped has lost its switch-in or ready event, and must not have its
            // stack.
            let is_switch_in_known = row.last_out_ns.is_some() || row.in_ns.is_some();
            let is_readied = row.readied_ns.is_some();
            let mut keep = |seq: Option<Seq>, keep: bool| match seq {
                Some(seq) if !keep => {
                    context.forget(seq);
                    None
                }
                seq => seq,
            };
            let switch_in = keep(switch_in, is_switch_in_known);
            let ready = keep(ready, is_readied);
            // Counters are written only if the switch-out is in the range, since their row has its
            // time.
            let row = match counted
                .zip(run)
                .zip(row.cpu)
                .filter(|((_, (_, out)), _)| context.range.contains(*out))
            {
                Some(((mut counted, (since, out)), cpu)) => {
                    counted.ts_ns = out;
                    counted.run_ns = out.saturating_sub(since);
                    counted.cpu = cpu;
                    (counted.process_key, counted.thread_key) = (row.process_key, row.thread_key);
                    SliceRow {
                        row,
                        switch_in,
                        ready,
                        counted: Some(counted),
                    }
                }
                None => SliceRow {
                    row,
                    switch_in,
                    ready,
                    counted: None,
                },
            };
            context.wait(time, None, None, Pending::Row(Box::new(row)));
        }
        None => switch_in
            // Nothing of the slice is in the range, so stacks that would come for it are not waited
            // for.
            .into_iter()
            .chain(ready)
            .for_each(|seq| context.forget(seq)),
    }
}

/// A slice that waits for its stacks, with the counter increments in it.
#[derive(Debug)]
struct SliceRow {
    row: ContextSwitch,
    switch_in: Option<Seq>,
    ready: Option<Seq>,
    counted: Option<Pmc>,
}

impl Waiting for SliceRow {
    fn table(&self) -> &'static Table {
        ContextSwitch::TABLE
    }

    fn text_bytes(&self) -> usize {
        // The row has no texts of its own, only keys.
        0
    }

    fn resolve(&mut self, stacks: &mut RowStacks<'_, '_>) {
        // Asked in the order in which they were logged.
        self.row.stack_id = stacks.of(self.switch_in);
        self.row.readying_stack_id = stacks.of(self.ready);
        if let Some(counted) = &mut self.counted {
            // Both rows share the stack, and `of` gives it only once.
            counted.stack_id = self.row.stack_id;
        }
    }

    fn put(&self, tables: &mut Tables, sink: &mut dyn Sink) -> Result<(), SinkError> {
        tables.push(&self.row, sink)?;
        self.counted
            .iter()
            .try_for_each(|counted| tables.push(counted, sink))
    }
}
