//! The second walk: every event goes to the importer of its topic.

use std::ops::ControlFlow;
use std::sync::Arc;

use etwkit_decode::kernel::merge::{IMAGE_ID, SYSTEM_CONFIG_EX};
use etwkit_decode::kernel::stack::{self, Owner};
use etwkit_decode::kernel::{
    Hook, fault, file_name, group, group_mask, image, sample, scheduler, syscall, thread, virtual_memory,
};
use etwkit_decode::tcpip::TcpReader;
use etwkit_decode::{Decoder, clr, eventinfo};
use etwkit_etl::bytes::Cursor;
use etwkit_etl::session::Walk;
use etwkit_etl::{Order, RawEvent, Session};
use rustc_hash::FxHashMap;

use super::calls::Calls;
use super::collect::{Collected, SHARE};
use super::context::Context;
use super::counters::{self, Counters};
use super::dns::Dns;
use super::dotnet::Dotnet;
use super::generic::Generic;
use super::handles::Handles;
use super::identity::first_methods;
use super::io::Io;
use super::line::{Given, Half};
use super::loggers::Loggers;
use super::maps::Maps;
use super::memory::Memory;
use super::outbox::{Batches, Outbox};
use super::power::Power;
use super::rows::Rows;
use super::samples::Samples;
use super::screenshots::{HookEvents, Inputs};
use super::stacks::Stacks;
use super::standby::Standby;
use super::switches::Switches;
use super::tcp::Tcp;
use super::virtual_memory::VirtualMemory;
use super::win32k::Win32k;
use super::{
    ImportError, Imported, Options, Progress, Ticker, affinity, dpc, machine, net, registry, settings,
};
use crate::attribution::Attributor;
use crate::out::write_all;
use crate::schedule::{Schedule, starts};
use crate::sink::{Sink, SinkError};
use crate::table::{Diagnostic, Mark};
use crate::tracker::stack::{StackKeys, StackPart};

/// All importers.
struct Importers<'a> {
    context: Context<'a>,
    keys: &'a StackKeys,
    first_threads: &'a FxHashMap<u16, u32>,
    samples: Samples,
    switches: Switches<'a>,
    power: Power<'a>,
    memory: Memory,
    virtual_memory: VirtualMemory,
    calls: Calls,
    io: Io,
    handles: Handles<'a>,
    maps: Maps,
    dotnet: Dotnet,
    dns: Dns,
    tcp: Tcp,
    win32k: Win32k,
    standby: Standby,
    hook_events: HookEvents,
    loggers: Loggers,
    generic: Generic,
    kernel_network: bool,
    /// References to stacks that are defined nowhere.
    unresolved: u64,
    /// Memory of one stack.
    addresses: Vec<u64>,
}

/// Reads the session again and hands on all rows. Events are read on this thread; a second one makes rows of them and drives the sink.
pub(super) fn walk(
    session: &Session,
    collected: &mut Collected,
    options: &Options,
    sink: &mut (dyn Sink + Send),
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Imported, ImportError> {
    let duration_ns = session.clock().nanoseconds(collected.end);
    if options.range.start_ns > duration_ns || options.range.end_ns < 0 {
        return Err(ImportError::EmptyRange { duration_s: duration_ns as f64 / 1e9 });
    }
    collected.directory.stacks.freeze();
    let mut decoder = std::mem::take(&mut collected.decoder);
    decoder.give(Arc::clone(&options.descriptions));
    let c = &*collected;
    let ids = first_methods(&c.methods);
    let stacks = Stacks::new(&c.directory, &c.methods, (&ids, &c.assemblies), &c.directory.stacks);
    let (outbox, batches, messages) = Outbox::new();
    let (read, made) = std::thread::scope(|scope| {
        let maker = std::thread::Builder::new().name("rows".to_owned());
        let maker = maker.spawn_scoped(scope, || Rows::new(stacks).run(messages, sink));
        let maker = maker.map_err(|e| ImportError::Sink(e.into()))?;
        let importers = Importers::new(session, c, options, decoder, outbox);
        let read = read(session, c, importers, batches, progress);
        let made = maker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok::<_, ImportError>((read, made))
    })?;
    // Where rows could not be made, that is why reading stopped.
    made.map_err(ImportError::Sink)?;
    let (walk, inputs, diagnostics) = read?;
    let mut damage = session.damage().clone();
    damage.merge(&walk.damage);
    let mut health = crate::health::of(session, &damage, c.last);
    health.extend(diagnostics);
    let mut trace = machine::trace(session, &c.config, c.end);
    if let Some((first, last)) = c.directory.kernel_times {
        trace.kernel_start_ns = Some(session.clock().nanoseconds(first));
        trace.kernel_end_ns = Some(session.clock().nanoseconds(last));
    }
    trace.events = walk.events as i64;
    trace.last_event_ns = c.last.map(|last| session.clock().nanoseconds(last));
    trace.decompressed_bytes = c.event_bytes as i64;
    trace.sample_interval_ns = c.sample_interval.map(|interval| i64::from(interval) * 100);
    if options.range != super::Range::ALL {
        trace.range_start_ns = Some(options.range.clip(0));
        trace.range_end_ns = Some(options.range.clip(trace.duration_ns));
    }
    Ok(Imported { trace, diagnostics: health, recorded: c.recorded.clone(), inputs, walk })
}

/// Gives all events to the importers.
fn read(
    session: &Session,
    c: &Collected,
    mut all: Importers<'_>,
    mut batches: Batches,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Walk, Inputs, Vec<Diagnostic>), ImportError> {
    let clock = session.clock();
    let length = c.end.saturating_sub(clock.t0).max(1) as f64;
    let mut ticker =
        Ticker { progress, start: clock.t0, length, from: SHARE, share: 1.0 - SHARE, events: c.events };
    let mut stopped: Option<ImportError> = None;
    let walk = session.for_each(Order::Time, |event| {
        if let Err(e) = all.event(event, &mut batches) {
            stopped = Some(ImportError::Sink(e));
            return ControlFlow::Break(());
        }
        let flow = ticker.tick(event.timestamp);
        if flow.is_break() {
            stopped = Some(ImportError::Interrupted);
        }
        flow
    })?;
    if let Some(e) = stopped {
        return Err(e);
    }
    let inputs = std::mem::take(&mut all.hook_events.inputs);
    let diagnostics = all.finish(c, session, &mut batches).map_err(ImportError::Sink)?;
    batches.end().map_err(ImportError::Sink)?;
    Ok((walk, inputs, diagnostics))
}

impl<'a> Importers<'a> {
    fn new(
        session: &'a Session,
        c: &'a Collected,
        options: &Options,
        decoder: Decoder,
        outbox: Outbox,
    ) -> Self {
        let clock = session.clock();
        let schedule = Schedule::new(starts(session, &c.directory));
        let counters = Counters::new(&c.counters);
        let attributor = Attributor::new(c.directory.first_threads.clone());
        Self {
            context: Context::new(
                &c.directory,
                clock,
                outbox,
                c.patience,
                (options.range, options.keep_whole),
            ),
            keys: &c.directory.stack_keys,
            first_threads: &c.directory.first_threads,
            samples: Samples::new(c.sample_interval),
            switches: Switches::new(&c.directory.gaps, schedule, counters, c.has_interrupts),
            power: Power::new(&c.cores),
            memory: Memory::new(&c.config),
            virtual_memory: VirtualMemory::default(),
            calls: Calls::default(),
            io: Io::default(),
            handles: Handles::new(&c.object_types),
            maps: Maps::default(),
            dotnet: Dotnet::default(),
            dns: Dns::default(),
            tcp: Tcp::default(),
            win32k: Win32k::new(session),
            standby: Standby::default(),
            hook_events: HookEvents::default(),
            loggers: Loggers::default(),
            generic: Generic::new(decoder, attributor, options.keep_payload),
            kernel_network: c.kernel_network,
            unresolved: 0,
            addresses: Vec::new(),
        }
    }
}

impl Importers<'_> {
    #[inline]
    fn event(&mut self, event: &RawEvent<'_>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.context.advance(event.timestamp)?;
        let is_taken = match Hook::of(event) {
            Some(hook) => self.kernel(hook, event, sink)?,
            None => self.other(event, sink)?,
        };
        if !is_taken {
            let running = self.running_on(event.cpu);
            self.generic.event(event, running, &mut self.context);
        }
        Ok(())
    }

    /// The thread that runs on a processor, as far as it is known.
    fn running_on(&self, cpu: u16) -> Option<u32> {
        let before = || self.first_threads.get(&cpu).copied().filter(|_| !self.switches.has_seen(cpu));
        self.switches.running_on(cpu).or_else(before)
    }

    /// Takes a kernel event. Returns whether some table shows it.
    fn kernel(&mut self, hook: Hook, event: &RawEvent<'_>, sink: &mut dyn Sink) -> Result<bool, SinkError> {
        let context = &mut self.context;
        Ok(match (hook.group, hook.opcode) {
            (group::PERFINFO, sample::opcode::SAMPLE | sample::opcode::INTERVAL_SET) => {
                self.samples.event(hook, event, context);
                if hook.opcode == sample::opcode::INTERVAL_SET {
                    self.switches.counters.interval_set(event.payload());
                }
                true
            }
            (group::PERFINFO, 47..=49) => self.switches.counters.event(hook, event, context),
            (group::BRANCH, _) => counters::branches(hook, event, context)?,
            (group::POWER, op) => self.power.idle(op, event, context, sink)?,
            (group::PERFINFO, sample::opcode::INTERVAL_START | sample::opcode::INTERVAL_END) => true,
            (group::PERFINFO, sample::opcode::MARK) => {
                self.mark(event, sink)?;
                true
            }
            (group::PERFINFO, op @ (syscall::opcode::ENTER | syscall::opcode::EXIT)) => {
                self.switches.watch(event.timestamp, context);
                let running = self.running_on(event.cpu);
                self.calls.event(op, event, running, self.switches.gaps, &mut self.context)
            }
            (group::PERFINFO, _) => {
                let Some((kind, read)) = dpc::read(hook, event) else { return Ok(false) };
                self.switches.interrupt(kind, &read, event, context);
                let running = self.running_on(event.cpu);
                dpc::event(kind, &read, event, running, &mut self.context);
                true
            }
            (group::STACK, _) => self.stack(hook, event),
            (group::THREAD, op @ (scheduler::opcode::CONTEXT_SWITCH | scheduler::opcode::READY_THREAD)) => {
                self.switches.event(op, event, context);
                if op == scheduler::opcode::CONTEXT_SWITCH {
                    self.generic.pass_switch(event);
                }
                true
            }
            (group::THREAD, thread::opcode::AFFINITY) => affinity::event(event, context, sink)?,
            (group::DISK, _) => self.io.disk(hook, event, context),
            (group::FILE, virtual_memory::opcode::MAP..=virtual_memory::opcode::MAP_END) => {
                let running = self.running_on(event.cpu);
                self.maps.event(hook, event, running, &mut self.context)
            }
            (group::FILE, op) => file_name::is_name(op) || self.io.file(hook, event, context),
            (group::MEMORY, fault::HARD_FAULT) => self.io.fault(event, context),
            (group::MEMORY, op @ (virtual_memory::opcode::ALLOC | virtual_memory::opcode::FREE)) => {
                let running = self.running_on(event.cpu);
                self.virtual_memory.event(op, event, running, &mut self.context)
            }
            (group::MEMORY, op) => self.memory.kernel(op, event, context, sink)?,
            (group::REGISTRY, _) => {
                let running = self.running_on(event.cpu);
                registry::event(hook, event, running, &mut self.context)
            }
            (group::OBJECT, op) => {
                let running = self.running_on(event.cpu);
                self.handles.event(op, event, running, &mut self.context, sink)?
            }
            (group::TCP | group::UDP, _) => {
                let running = self.running_on(event.cpu);
                net::kernel(hook, event, running, &mut self.context)
            }
            // These became rows of `process`, `thread`, `module` and `system_config` in the first walk.
            (group::THREAD, 1..=4) | (group::PROCESS, 1..=4 | 39) | (group::IMAGE, 2..=4 | 10) => true,
            (group::IMAGE, image::opcode::KERNEL_BASE) | (group::EVENT_TRACE, 0) => true,
            (group::EVENT_TRACE, group_mask::opcode::EXTENSION | group_mask::opcode::END_EXTENSION) => {
                self.loggers.mask(event);
                false
            }
            (group::CONFIG, op) => machine::is_fact(op),
            _ => false,
        })
    }

    /// Takes an event that is none of the kernel logger's.
    fn other(&mut self, event: &RawEvent<'_>, sink: &mut dyn Sink) -> Result<bool, SinkError> {
        if let Some(origin) = clr::origin(event) {
            return self.dotnet.event(origin, event, &mut self.context, sink);
        }
        if event.kind.is_classic() {
            // What the merge step added describes modules, paths and layouts.
            return Ok([IMAGE_ID, SYSTEM_CONFIG_EX, eventinfo::CLASS].contains(&event.provider()));
        }
        if self.power.provider(event, &mut self.context, sink)? {
            return Ok(true);
        }
        if let Some(is_taken) = self.dns.event(event, &mut self.generic.decoder, &mut self.context) {
            return Ok(is_taken);
        }
        if let Some(kind) = TcpReader::kind(event) {
            return self.tcp.event(kind, event, &mut self.generic.decoder, &mut self.context, sink);
        }
        self.loggers.event(event, &mut self.generic.decoder, &mut self.context, sink)?;
        self.standby.event(event, &mut self.generic.decoder, &mut self.context, sink)?;
        self.hook_events.event(event, &mut self.generic.decoder, &self.context);
        if settings::provider(event, &mut self.context, sink)?
            || self.memory.provider(event, &mut self.context, sink)?
            || self.win32k.event(event, &mut self.context, sink)?
        {
            return Ok(true);
        }
        Ok(!self.kernel_network && net::provider(event, &mut self.context))
    }

    fn stack(&mut self, hook: Hook, event: &RawEvent<'_>) -> bool {
        use stack::opcode::{KEY_CREATE, KEY_DELETE, KEY_RUNDOWN, REFERENCE_KERNEL, REFERENCE_USER, STACK};
        let (payload, pointer_size) = (event.payload(), event.pointer_size());
        match hook.opcode {
            STACK => {
                let Some(owner) = Owner::parse(payload) else { return false };
                self.addresses.clear();
                self.addresses.extend(stack::frames(payload, Owner::LEN, pointer_size));
                self.context.attach_whole(owner, &self.addresses, Some(event.cpu));
                true
            }
            op @ (REFERENCE_KERNEL | REFERENCE_USER) => {
                let read = Owner::parse(payload).zip(stack::key(payload, Owner::LEN, pointer_size));
                let Some((owner, key)) = read else { return false };
                let (part, half) = if op == REFERENCE_KERNEL {
                    (StackPart::Kernel, Half::Kernel)
                } else {
                    (StackPart::User, Half::User)
                };
                match self.keys.resolve(event.timestamp, key, part) {
                    Some(stack) => self.context.attach(owner, half, Given::Keyed(stack), Some(event.cpu)),
                    None => self.unresolved += 1,
                }
                true
            }
            KEY_CREATE | KEY_DELETE | KEY_RUNDOWN => true,
            _ => false,
        }
    }

    fn mark(&mut self, event: &RawEvent<'_>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let ts_ns = self.context.ns(event.timestamp);
        if !self.context.range.contains(ts_ns) {
            return Ok(());
        }
        let who = self.running_on(event.cpu).map(|tid| self.context.of_thread(tid, event.timestamp));
        let row = Mark {
            ts_ns,
            cpu: event.cpu.into(),
            process_key: who.and_then(super::identity::Who::process_key),
            thread_key: who.map(|who| who.thread_key),
            text: String::from_utf8_lossy(Cursor::new(event.payload()).ansi()).into_owned(),
        };
        self.context.tables.mark.push(&row, sink)
    }

    /// Ends what is open and hands on all that is left.
    fn finish(
        mut self,
        collected: &Collected,
        session: &Session,
        sink: &mut dyn Sink,
    ) -> Result<Vec<Diagnostic>, SinkError> {
        let context = &mut self.context;
        let values = self.switches.counters.values;
        let attached = context.attached();
        self.switches.finish(collected.kernel_end(), collected.end, context);
        self.calls.finish(collected.end, context);
        self.io.finish(collected.end, context);
        let mut not_followed = self.maps.dropped + self.virtual_memory.dropped;
        not_followed += self.handles.finish(collected.end, context, sink)?;
        self.maps.finish(collected.end, context);
        self.virtual_memory.finish(context, sink)?;
        let pauses = self.dotnet.finish(context, sink)?;
        self.dns.finish(collected.end, context);
        self.tcp.finish(context, sink)?;
        not_followed += self.win32k.finish(collected.end, context, sink)?;
        self.power.finish(collected.end, context, sink)?;
        self.standby.finish(context, sink)?;
        self.loggers.finish(session, context, sink)?;
        context.drain()?;
        context.tables.flush(sink)?;
        context.identity.write(&collected.methods, &collected.assemblies, sink)?;
        machine::write(&collected.config, context.directory, session.clock(), sink)?;
        let processors = session.earliest().map_or(0, |file| file.header().cpu_count);
        write_all(collected.cores.rows(&collected.config, processors), sink)?;
        write_all(collected.counters.rows(values), sink)?;
        let notes = [
            (
                "warning",
                "gap",
                collected.directory.gaps.len() as u64,
                "stretches of time in which events of a processor are missing: what threads waited for meanwhile is not known, and \
                 not counted",
            ),
            (
                "info",
                "switch_stack_by_thread",
                attached.switches_by_thread,
                "stacks of context switches that were found by time and thread",
            ),
            (
                "info",
                "switch_stack_by_processor",
                attached.switches_by_processor,
                "stacks of context switches that name another thread than the one that came: found by time and processor, where \
                 only one switch fits",
            ),
            (
                "info",
                "stack_without_event",
                attached.unattached - attached.late,
                "stacks whose event is in no table that shows stacks",
            ),
            (
                "warning",
                "stack_too_late",
                attached.late,
                "stacks that came when the rows of their time had been written, because too many rows waited for stacks: events \
                 may lack them",
            ),
            (
                "info",
                "stack_key_unknown",
                self.unresolved,
                "events whose stack is defined nowhere in the trace",
            ),
            (
                "warning",
                "stack_key_dropped",
                collected.directory.dropped_definitions,
                "definitions of stacks that were not kept, because there are too many for a file of this size: events lack these stacks",
            ),
            (
                "warning",
                "object_not_followed",
                not_followed,
                "handles, objects, mapped files, commits or locks that were not followed, because too many were there at the same time",
            ),
            (
                "info",
                "pause_without_collection",
                pauses,
                "pauses of .NET programs for collections that are not in the trace: no row of gc has them",
            ),
            (
                "info",
                "event_not_described",
                self.generic.unknown,
                "events whose layout is not known: they are kept as bytes",
            ),
            (
                "info",
                "event_incomplete",
                self.generic.incomplete,
                "events that ended before their last field",
            ),
        ];
        let notes =
            notes.into_iter().filter_map(|(s, kind, n, text)| crate::health::diagnostic(s, kind, n, text));
        Ok(notes.collect())
    }
}

/// Hands on the two tables that are complete only when everything else is.
///
/// # Errors
/// Those of the sink.
pub fn write_trace(imported: &Imported, sink: &mut dyn Sink) -> Result<(), SinkError> {
    write_all([imported.trace.clone()], sink)?;
    write_all(imported.diagnostics.iter().cloned(), sink)
}
