//! Minifilter drivers: start, end and failure of a call become one row. Their events name no
//! thread: they belong to the running thread.

use std::sync::Arc;

use etwkit_decode::kernel::file_io::{self, Operation};
use etwkit_decode::kernel::mini_filter::{self, Call, Callback, Step};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use etwkit_etl::bytes::utf16_text;
use rustc_hash::FxHashMap;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::collect::MINI_FILTERS;
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, Seq, Who, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{MiniFilter, MiniFilterDriver, Row};

/// Files that are opened have a name before they have a key.
const OPENED: Events = Events::Kernel(
    group::FILE,
    &[
        file_io::opcode::CREATE,
        file_io::opcode::CREATE_NEW,
        file_io::opcode::CLOSE,
    ],
);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[MINI_FILTERS],
    hears: &[OPENED],
    tables: &[rows(MiniFilter::TABLE)],
    topics: &[Topic {
        place: 125,
        name: "minifilter drivers",
        answers: "which filter driver delayed operations on files",
        recorded_by: "FLT_IO_INIT+FLT_IO+FLT_FASTIO+FLT_IO_FAILURE",
        events: &[MINI_FILTERS],
        tables: &[MiniFilter::TABLE, MiniFilterDriver::TABLE],
    }],
    make: |learned| {
        // File operations are frequent; without minifilter events their paths are not needed.
        let wants_names = learned.collected.has_mini_filters;
        Box::new(MiniFilters {
            wants_names,
            ..MiniFilters::default()
        })
    },
};

/// Maximum number of calls without an end, and of names of open files. If there are more, ends are
/// missing.
const MAX_HELD: usize = 1 << 16;

/// A call that later events may belong to.
#[derive(Debug)]
struct OpenCall {
    row: MiniFilter,
    routine: u64,
    /// The event whose stack the row takes.
    stack: Option<Seq>,
    /// True if its end was reported, and not only its failure.
    is_ended: bool,
}

/// Combines the events of calls.
#[derive(Debug, Default)]
struct MiniFilters {
    /// True if there are calls that need names of files.
    wants_names: bool,
    open: FxHashMap<Call, OpenCall>,
    /// The latest call on each processor: its end and its failure are two events, one directly
    /// after the other.
    latest: FxHashMap<u16, (Call, OpenCall)>,
    /// Paths of open files, by file object.
    paths: FxHashMap<u64, Arc<str>>,
    /// Number of known gaps in the recording.
    gaps: u64,
}

impl MiniFilters {
    fn step(&mut self, read: &Callback, event: &RawEvent<'_>, context: &mut Context<'_>) {
        let time = event.timestamp;
        // The failure of a call is an event of its own, directly before or after its end. So a
        // finished call is held until the next minifilter event of its processor.
        let latest = self.latest.remove(&event.cpu);
        if let Some((of, mut call)) = latest {
            let is_new = match read.step {
                Step::Start => false,
                // Failure and end of one call both have its addresses, so the step that is missing
                // decides whether the event belongs to the call that is held.
                Step::End(_) => !call.is_ended,
                Step::Failure(_) => call.row.status.is_none(),
            };
            if of == read.call && is_new {
                fill(&mut call, read.step, time, context);
                return write(call, time, context);
            }
            write(call, time, context);
        }
        if read.step == Step::Start {
            return self.start(read, event, context);
        }
        // A call without a start ends a call from before the trace, or its start is not recorded:
        // the event of the end has the time of the start in it.
        let open = self.open.remove(&read.call);
        let mut call = open.unwrap_or_else(|| self.call(read, event, context));
        fill(&mut call, read.step, time, context);
        self.latest.insert(event.cpu, (read.call, call));
    }

    fn start(&mut self, read: &Callback, event: &RawEvent<'_>, context: &mut Context<'_>) {
        let mut call = self.call(read, event, context);
        call.row.start_ns = Some(context.ns(event.timestamp));
        // At the limit all calls are given up and not only this one: ends are missing, and the
        // addresses would be paired wrongly from now on.
        if self.open.len() >= MAX_HELD {
            self.give_up(event.timestamp, context);
        }
        if let Some(lost) = self.open.insert(read.call, call) {
            // The end of the previous call was lost: the same addresses belong to another call by
            // now.
            write(lost, event.timestamp, context);
        }
    }

    /// A call, created from its first event.
    fn call(&self, read: &Callback, event: &RawEvent<'_>, context: &mut Context<'_>) -> OpenCall {
        let time = event.timestamp;
        // The filter manager calls filters on the thread that made the request.
        let tid = context.thread_of(event);
        let who = tid.map(|tid| context.of_thread(tid, time));
        let process = who.and_then(|who| who.process);
        let row = MiniFilter {
            phase: if read.call.is_post { "post" } else { "pre" },
            process_key: who.and_then(Who::process_key),
            thread_key: who.map(|who| who.thread_key),
            major_function: read.major_function.cast_signed(),
            operation: mini_filter::operation(read.major_function),
            path: self.path(read, time, context),
            ..MiniFilter::default()
        };
        // The first event of a call has its stack. Where only ends are recorded, that is the end.
        let stack = Some(context.wait(time, tid, process, Pending::Start));
        OpenCall {
            row,
            routine: read.call.routine,
            stack,
            is_ended: false,
        }
    }

    fn path(&self, read: &Callback, time: i64, context: &Context<'_>) -> Option<Arc<str>> {
        let known = |key: u64| (key != 0).then(|| context.path(key, time)).flatten();
        // The key names the file over its whole life, the object only as long as it is open, so the
        // key is tried first.
        let named = known(read.file_key).or_else(|| known(read.file_object));
        named.or_else(|| self.paths.get(&read.file_object).cloned())
    }

    /// Writes the calls that have not ended, in order of their starts.
    fn give_up(&mut self, time: i64, context: &mut Context<'_>) {
        let mut open: Vec<OpenCall> = self.open.drain().map(|(_, call)| call).collect();
        // A hash map has no order, and the same input has to give the same output.
        open.sort_unstable_by_key(|call| call.stack);
        open.into_iter().for_each(|call| write(call, time, context));
    }
}

impl Importer for MiniFilters {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let Some(read) = Callback::parse(event.payload(), hook.opcode, event.pointer_size()) else {
            return Ok(false);
        };
        if std::mem::replace(&mut self.gaps, context.gaps) != context.gaps {
            // Ends may be missing, and the next one may belong to another call with the same
            // addresses.
            self.give_up(event.timestamp, context);
        }
        self.step(&read, event, context);
        Ok(true)
    }

    fn hear(
        &mut self,
        hook: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some(hook) = hook.filter(|_| self.wants_names) else {
            return Ok(());
        };
        let read = Operation::parse(
            // An open of a file has a path before the file system gives it a key. Filters see the
            // request that early.
            event.payload(),
            hook.opcode,
            hook.version,
            event.pointer_size(),
        );
        let Some(read) = read else { return Ok(()) };
        let Some(path) = read.open_path else {
            // The file is closed: its object may be reused for another file.
            self.paths.remove(&read.file_object);
            return Ok(());
        };
        // Thrown away as a whole: the map is only a help for names, and which entries are still
        // needed is not known.
        if self.paths.len() >= MAX_HELD {
            self.paths.clear();
        }
        let path: Arc<str> = utf16_text(path).into();
        if !path.is_empty() {
            self.paths
                .insert(read.file_object, context.directory.paths.dos_path(&path));
        }
        Ok(())
    }

    /// Writes the calls that are left.
    fn finish(
        mut self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let end = learned.collected.end;
        let mut latest: Vec<(u16, OpenCall)> = self
            .latest
            .drain()
            .map(|(cpu, (_, call))| (cpu, call))
            .collect();
        // The hash map has no order.
        latest.sort_unstable_by_key(|(cpu, call)| (call.row.end_ns, *cpu));
        latest
            .into_iter()
            .for_each(|(_, call)| write(call, end, context));
        self.give_up(end, context);
        Ok(())
    }
}

/// Sets the fields of a row from an event.
fn fill(call: &mut OpenCall, step: Step, time: i64, context: &Context<'_>) {
    let ns = context.ns(time);
    match step {
        Step::Start => {}
        Step::End(start) => {
            call.is_ended = true;
            // The time of the start comes from the event of the end, so that calls have a length
            // even if only ends are recorded.
            call.row.start_ns = Some(context.ns(start));
            call.row.end_ns = Some(ns);
        }
        Step::Failure(status) => {
            call.row.status = Some(status.cast_signed());
            // A failure has no time of its own. The event of the end, if it comes, is more exact
            // and wins.
            call.row.end_ns = call.row.end_ns.or(Some(ns));
        }
    }
    let length = |(start, end): (i64, i64)| end.saturating_sub(start);
    call.row.duration_ns = call.row.start_ns.zip(call.row.end_ns).map(length);
}

/// Passes on a row that started in the range.
fn write(call: OpenCall, time: i64, context: &mut Context<'_>) {
    let OpenCall {
        row,
        routine,
        stack,
        ..
    } = call;
    if row
        .start_ns
        // A call belongs to the range in which it started; one without a start to that in which it
        // ended.
        .or(row.end_ns)
        .is_some_and(|ns| context.range.contains(ns))
    {
        let row = waiting::row(row, move |row, stacks| {
            row.stack_id = stacks.of(stack);
            row.frame_id = stacks.kernel_frame(routine);
        });
        context.wait(time, None, None, row);
        return;
    }
    stack.into_iter().for_each(|stack| context.forget(stack));
}
