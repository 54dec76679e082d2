//! Exceptions, collections, compilations and thread pools of .NET programs.

use etwkit_decode::clr::{
    self, Exception, GcStart, HeapStats, Method, Origin, Suspend, ThreadPool, id, method_flag,
};
use etwkit_decode::kernel::stack::Owner;
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::declared::{Events, Topic, rows, sums};
use crate::import::pipeline::identity::full_name;
use crate::import::pipeline::inline_stack::inline_stack;
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, key, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{self, Row};
use crate::tracker::process::ProcessKey;

const EVENTS: &[Events] = &[
    Events::Provider(clr::RUNTIME, &[]),
    Events::Provider(clr::RUNDOWN, &[]),
];

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: EVENTS,
    tables: &[
        sums(table::Exception::TABLE),
        sums(table::Gc::TABLE),
        sums(table::Jit::TABLE),
        sums(table::ThreadPool::TABLE),
        // Written on the thread that creates frames.
        rows(table::IlOffset::TABLE),
    ],
    topics: &[Topic {
        place: 190,
        name: ".NET",
        answers: "collections, compiled methods, exceptions",
        recorded_by: "Microsoft-Windows-DotNETRuntime",
        // Without the rundown: every recording of wpr lists methods at its end.
        events: &[Events::Provider(clr::RUNTIME, &[])],
        tables: &[
            table::Exception::TABLE,
            table::Gc::TABLE,
            table::Jit::TABLE,
            table::ThreadPool::TABLE,
            table::IlOffset::TABLE,
        ],
    }],
    make: |_| Box::new(Dotnet::default()),
    ..Declaration::EMPTY
};

/// A thread of a process. The thread that suspends the others is the one that resumes them.
type Runner = (Option<ProcessKey>, Option<u32>);

/// A runtime in a process.
type Runtime = (Option<ProcessKey>, u16);

/// Threads of a runtime are to stop, or have stopped.
#[derive(Debug, Clone, Copy)]
struct Suspension {
    begin: i64,
    /// Time at which all threads had stopped.
    stopped: Option<i64>,
    /// Time at which the runtime started to resume them.
    restart: Option<i64>,
    /// The runtime, if it was to collect.
    runtime: Option<u16>,
}

/// `GCStart`: a collection that runs at the same time as the program. It suspends the threads at
/// its start and again before its end.
const BACKGROUND: u32 = 1;

/// Collections and compilations that have begun.
#[derive(Debug, Default)]
struct Dotnet {
    collections: Vec<table::Gc>,
    /// Position of the last collection with a number in its process and runtime.
    by_number: FxHashMap<(Option<ProcessKey>, u16, u32), usize>,
    /// By the thread that suspended the other threads of its process.
    suspensions: FxHashMap<Runner, Suspension>,
    /// The last collection of each runtime that ended.
    ended: FxHashMap<Runtime, usize>,
    /// The last collection that each runtime started.
    last: FxHashMap<Runtime, usize>,
    /// The last collection that it started and that may continue while threads run.
    background: FxHashMap<Runtime, usize>,
    /// Suspensions for collections that are not in the trace.
    unattributed: u64,
    /// Raw time of the last event of each thread that may have a stack.
    last_events: FxHashMap<u32, i64>,
    /// Start and bytes of compilations, by method.
    compilations: FxHashMap<(Option<ProcessKey>, u64), (i64, u32)>,
}

impl Dotnet {
    fn event(
        &mut self,
        origin: Origin,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        if origin == Origin::Runtime && event.descriptor().id == id::STACK {
            return Ok(self.stack(event, context));
        }
        // The stack of an event is the next event of its thread, and is attached by this time.
        // Rundown events never have stacks, and would take the place of the event that has one.
        if let Some(tid) = event.thread_id().filter(|_| origin == Origin::Runtime) {
            self.last_events.insert(tid, event.timestamp);
        }
        let process = event
            .process_id()
            .and_then(|pid| context.directory.process_at(pid, event.timestamp));
        let payload = event.payload();
        let version = event.version() as u8;
        let ns = context.ns(event.timestamp);
        match (origin, event.descriptor().id) {
            // Both load and unload name the method; the tracker of methods has read them in the
            // first pass.
            (_, id::METHOD_LOAD_VERBOSE | id::METHOD_UNLOAD_VERBOSE) => {
                if origin == Origin::Runtime && event.descriptor().id == id::METHOD_LOAD_VERBOSE {
                    // Methods of the rundown were compiled before the trace.
                    self.loaded(process, event, context, sink)?;
                }
                return Ok(Method::parse(payload).is_some());
            }
            (Origin::Runtime, id::EXCEPTION) => return Ok(exception(process, event, context)),
            (Origin::Runtime, id::GC_START) => {
                let Some(start) = GcStart::parse(payload, version) else {
                    return Ok(false);
                };
                self.gc_start(process, &start, ns);
            }
            (Origin::Runtime, id::GC_END) => {
                let Some((number, runtime)) = clr::gc_end(payload, version) else {
                    return Ok(false);
                };
                self.gc_end(process, number, runtime, ns);
            }
            (Origin::Runtime, id::GC_SUSPEND_BEGIN) => {
                let Some(suspend) = Suspend::parse(payload, version) else {
                    return Ok(false);
                };
                // Other suspensions are tracked as well, so that their restart is not mistaken for
                // the end of a pause.
                // Suspensions for the debugger or for profilers are no pauses of the collector.
                let runtime = suspend.is_for_gc().then_some(suspend.clr_instance);
                let suspension = Suspension {
                    begin: ns,
                    stopped: None,
                    restart: None,
                    runtime,
                };
                self.suspensions
                    // By thread: several runtimes may live in one process, and each suspends with a
                    // thread of its own.
                    .insert((process, event.thread_id()), suspension);
            }
            // These stay events of their own: the row of the collection has only their sums.
            (Origin::Runtime, id::GC_SUSPEND_END | id::GC_RESTART_BEGIN | id::GC_HEAP_STATS) => {
                self.part(process, event, ns);
                return Ok(false);
            }
            (Origin::Runtime, id::GC_RESTART_END) => {
                self.restarted((process, event.thread_id()), ns);
            }
            (Origin::Runtime, id::JITTING_STARTED) => {
                // The event has the size of the IL, which the load event lacks.
                let Some((method, bytes)) = clr::jitting_started(payload) else {
                    return Ok(false);
                };
                // Kept until the method is loaded, which reports the end of the compilation.
                self.compilations.insert((process, method), (ns, bytes));
            }
            // Thread pool events have several IDs and one layout, so they are told apart by what
            // can be parsed.
            (Origin::Runtime, _) => return Ok(thread_pool(process, event, context)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A stack belongs to the preceding event of its thread. Without that event it stays an event
    /// itself.
    fn stack(&mut self, event: &RawEvent<'_>, context: &mut Context<'_>) -> bool {
        // It is taken out, because an event has one stack. Another stack without a preceding event
        // belongs to none.
        let before = event
            .thread_id()
            .and_then(|tid| Some((tid, self.last_events.remove(&tid)?)));
        let (Some(pid), Some((tid, time))) = (event.process_id(), before) else {
            return false;
        };
        let addresses = clr::stack(event.payload(), event.pointer_size());
        // By the time of the event before, since the stack itself is logged a little later.
        context.attach_whole(
            Owner {
                timestamp: time,
                pid,
                tid,
            },
            &addresses,
            None,
        );
        true
    }

    fn gc_start(&mut self, process: Option<ProcessKey>, start: &GcStart, ns: i64) {
        // CLR 4.5 logs each start in two versions.
        let index = *self
            .by_number
            .entry((process, start.clr_instance, start.number))
            .or_insert_with(|| {
                // The row is created at the start and completed by later events. It is written at
                // the end, since its sums grow until then.
                self.collections.push(table::Gc {
                    process_key: key(process),
                    number: start.number as i32,
                    start_ns: Some(ns),
                    reason: Some(start.reason as i32),
                    ..table::Gc::default()
                });
                self.collections.len() - 1
            });
        let runtime = (process, start.clr_instance);
        // Overwritten: the newest collection is the one that a later restart belongs to.
        self.last.insert(runtime, index);
        // Version 0 has no kind, so the collection may be a background one.
        if start.kind.is_none_or(|kind| kind == BACKGROUND) {
            self.background.insert(runtime, index);
        }
        if let Some(row) = self.collections.get_mut(index) {
            // The older version lacks these fields, so the first version that has them counts.
            row.generation = row.generation.or(start.depth.map(|depth| depth as i32));
            row.gc_type = row.gc_type.or(start.kind.map(|kind| kind as i32));
        }
    }

    /// Takes a part of a pause, or the sizes of the heaps after a collection.
    fn part(&mut self, process: Option<ProcessKey>, event: &RawEvent<'_>, ns: i64) {
        // By the thread that suspended: a part of a pause names no collection.
        let suspension = self.suspensions.get_mut(&(process, event.thread_id()));
        match (event.descriptor().id, suspension) {
            (id::GC_SUSPEND_END, Some(suspension)) => suspension.stopped = Some(ns),
            (id::GC_RESTART_BEGIN, Some(suspension)) => suspension.restart = Some(ns),
            (id::GC_HEAP_STATS, _) => {
                let Some(stats) = HeapStats::parse(event.payload(), event.version() as u8) else {
                    return;
                };
                // Taken out, since the sizes follow their collection once.
                let ended = self.ended.remove(&(process, stats.clr_instance));
                if let Some(row) = ended.and_then(|index| self.collections.get_mut(index)) {
                    heaps(row, &stats);
                }
            }
            _ => {}
        }
    }

    fn gc_end(&mut self, process: Option<ProcessKey>, number: u32, runtime: u16, ns: i64) {
        // Remembered before the row is completed: the heap sizes come after the end.
        if let Some(index) = self.by_number.get(&(process, runtime, number)) {
            self.ended.insert((process, runtime), *index);
        }
        let known = self.by_number.get(&(process, runtime, number)).copied();
        let known = known
            .and_then(|index| self.collections.get_mut(index))
            // The second of two versions of one end changes nothing.
            .filter(|row| row.end_ns.is_none());
        if let Some(row) = known {
            row.end_ns = Some(ns);
            row.duration_ns = row.start_ns.map(|start| ns.saturating_sub(start));
        } else if !self.by_number.contains_key(&(process, runtime, number)) {
            // The collection started before the trace, or its start was lost: the row has only the
            // end.
            let process_key = key(process);
            let end_ns = Some(ns);
            self.collections.push(table::Gc {
                process_key,
                number: number as i32,
                end_ns,
                ..table::Gc::default()
            });
        }
    }

    /// Threads run again. The time belongs to the collection that started while they were
    /// suspended. If there is none, it belongs to the background collection in progress,
    /// independent of the thread that started it.
    fn restarted(&mut self, runner: Runner, ns: i64) {
        // A restart without a suspension began before the trace, and its length is unknown.
        let Some(suspension) = self.suspensions.remove(&runner) else {
            return;
        };
        let Suspension {
            begin,
            stopped,
            restart,
            // A suspension for another purpose has no runtime here and is dropped.
            runtime: Some(runtime),
        } = suspension
        else {
            return;
        };
        let runtime = (runner.0, runtime);
        let find = |which: &FxHashMap<Runtime, usize>, is_meant: &dyn Fn(&table::Gc) -> bool| {
            which
                .get(&runtime)
                .copied()
                .filter(|index| self.collections.get(*index).is_some_and(is_meant))
        };
        // A collection inside the pause started after its suspension.
        let began = find(&self.last, &|row| {
            row.start_ns.is_some_and(|start| start >= begin)
        });
        let goes_on = || {
            find(&self.background, &|row| {
                row.end_ns.is_none_or(|end| end >= begin)
            })
        };
        match began
            .or_else(goes_on)
            .and_then(|index| self.collections.get_mut(index))
        {
            Some(row) => {
                // The whole pause: from the request to stop until all threads run again.
                let more = ns.saturating_sub(begin);
                let add = |sum: &mut Option<i64>, more: Option<i64>| {
                    // Several pauses of one collection add up. A part that was not recorded leaves
                    // the sum as it is.
                    *sum = more.map_or(*sum, |more| {
                        Some(sum.map_or(more, |sum| sum.saturating_add(more)))
                    });
                };
                add(&mut row.suspended_ns, Some(more));
                add(
                    &mut row.suspending_ns,
                    stopped.map(|stopped| stopped.saturating_sub(begin)),
                );
                add(
                    &mut row.restarting_ns,
                    restart.map(|restart| ns.saturating_sub(restart)),
                );
            }
            // Counted and reported: the time is missing from every collection.
            None => self.unattributed += 1,
        }
    }

    fn loaded(
        &mut self,
        process: Option<ProcessKey>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let ts_ns = context.ns(event.timestamp);
        let Some(method) = Method::parse(event.payload()) else {
            return Ok(());
        };
        // Taken out even if the row is not written: the method may be compiled again in another
        // tier.
        let start = self.compilations.remove(&(process, method.method_id));
        let is_dynamic = method.flags & method_flag::DYNAMIC != 0;
        // Code that was compiled ahead of time is loaded with the same event and cost no
        // compilation.
        let is_jitted = is_dynamic || method.flags & method_flag::JITTED != 0;
        if !is_jitted || !context.range.contains(ts_ns) {
            return Ok(());
        }
        let thread_key = context.thread_key(event);
        let row = table::Jit {
            ts_ns,
            process_key: key(process),
            thread_key,
            method: full_name(&method.namespace, &method.name),
            start_ns: start.map(|(start, _)| start),
            duration_ns: start.map(|(start, _)| ts_ns.saturating_sub(start)),
            il_size_bytes: start.map(|(_, bytes)| bytes.into()),
            size_bytes: method.size.into(),
            is_dynamic,
            tier: method_flag::tier(method.flags),
        };
        context.tables.push(&row, sink)
    }
}

impl Importer for Dotnet {
    fn other(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let Some(origin) = clr::origin(event) else {
            return Ok(false);
        };
        self.event(origin, event, context, sink)
    }

    /// Writes the collections.
    fn finish(
        mut self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let when = |row: &table::Gc| row.start_ns.or(row.end_ns);
        // Stable, so that collections of one time keep the order of their events.
        self.collections.sort_by_key(when);
        for row in self
            .collections
            .iter()
            .filter(|row| when(row).is_some_and(|ns| context.range.contains(ns)))
        {
            context.tables.push(row, sink)?;
        }
        context.notes.pauses = self.unattributed;
        Ok(())
    }
}

/// Takes the sizes of the heaps after a collection.
fn heaps(row: &mut table::Gc, stats: &HeapStats) {
    let [gen0, gen1, gen2, large, pinned] = stats.sizes.map(|size| size.map(u64::cast_signed));
    // Signed in the table; heaps do not reach 2⁶³ bytes.
    (row.gen0_bytes, row.gen1_bytes, row.gen2_bytes) = (gen0, gen1, gen2);
    (row.large_bytes, row.pinned_bytes) = (large, pinned);
    row.promoted_bytes = Some(stats.promoted.cast_signed());
    row.pinned_objects = Some(stats.pinned_objects.cast_signed());
    row.handles = Some(stats.handles.cast_signed());
}

/// Passes on a row with the stack in its event. Without one there, the row gets the stack that the
/// runtime writes after the event.
fn with_stack(
    event: &RawEvent<'_>,
    process: Option<ProcessKey>,
    context: &mut Context<'_>,
    row: Pending,
) {
    let own = inline_stack(event);
    if own.is_empty() {
        context.wait(event.timestamp, event.thread_id(), process, row);
    } else {
        context.wait_with(event.timestamp, process, &own, row);
    }
}

fn thread_pool(
    process: Option<ProcessKey>,
    event: &RawEvent<'_>,
    context: &mut Context<'_>,
) -> bool {
    let Some(change) = ThreadPool::parse(event.descriptor().id, event.payload()) else {
        return false;
    };
    let ts_ns = context.ns(event.timestamp);
    if context.range.contains(ts_ns) {
        // Looked up only within the range: each look-up may create a row of a thread.
        let thread_key = context.thread_key(event);
        let row = table::ThreadPool {
            ts_ns,
            process_key: key(process),
            thread_key,
            kind: change.kind,
            worker_threads: change.workers.map(|n| n as i32),
            retired_threads: change.retired.map(|n| n as i32),
            throughput: change.throughput,
            reason: change.reason.map(|n| n as i32),
            stack_id: None,
        };
        let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
        with_stack(event, process, context, row);
    }
    true
}

fn exception(process: Option<ProcessKey>, event: &RawEvent<'_>, context: &mut Context<'_>) -> bool {
    let Some(exception) = Exception::parse(event.payload(), event.pointer_size()) else {
        return false;
    };
    let ts_ns = context.ns(event.timestamp);
    if context.range.contains(ts_ns) {
        let thread_key = context.thread_key(event);
        let row = table::Exception {
            ts_ns,
            process_key: key(process),
            thread_key,
            exception_type: exception.type_name,
            message: exception.message,
            hresult: Some(exception.hresult as i32),
            flags: exception.flags.into(),
            stack_id: None,
        };
        let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
        with_stack(event, process, context, row);
    }
    true
}
