//! System calls. Their events name no thread: they belong to the thread that runs on the processor.

use etwkit_decode::kernel::syscall::{self, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use super::call_facts;
use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, Seq, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{Row, Syscall, SyscallFunction};

/// The events of system calls.
pub(crate) const EVENTS: Events = Events::Kernel(group::PERFINFO, &[opcode::ENTER, opcode::EXIT]);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    hears: call_facts::EVENTS,
    tables: &[rows(Syscall::TABLE)],
    topics: &[Topic {
        place: 150,
        name: "system calls",
        answers: "which calls a program made",
        recorded_by: "SYSCALL",
        events: &[EVENTS],
        tables: &[Syscall::TABLE, SyscallFunction::TABLE],
    }],
    make: |_| Box::new(Calls::default()),
};

/// Maximum number of nested calls of a thread: window procedures are called back from the kernel
/// and call it again. If there are more, exits are missing from the trace.
const MAX_NESTED: usize = 16;

/// A call that has not ended.
#[derive(Debug)]
struct OpenSyscall {
    row: Syscall,
    enter: Seq,
}

/// Pairs entries with exits.
#[derive(Debug, Default)]
struct Calls {
    /// Open calls of each thread, the innermost one last.
    open: FxHashMap<i32, Vec<OpenSyscall>>,
    /// Number of known gaps in the recording.
    gaps: u64,
}

impl Calls {
    fn enter(
        // The address of the service routine is the only identity that the event has. The name
        // comes from symbols of the kernel.
        &mut self,
        address: u64,
        tid: Option<u32>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
    ) {
        let time = event.timestamp;
        let mut row = Syscall {
            address: Some(address as i64),
            enter_ns: Some(context.ns(time)),
            enter_cpu: Some(event.cpu.into()),
            ..Syscall::default()
        };
        // Without a thread an entry cannot be paired with an exit. It is written alone, without a
        // duration.
        let Some(tid) = tid else {
            let enter = context.wait(time, None, None, Pending::Start);
            write(OpenSyscall { row, enter }, time, context);
            return;
        };
        let who = context.of_thread(tid, time);
        (row.thread_key, row.process_key) = (Some(who.thread_key), who.process_key());
        let enter = context.wait(time, Some(tid), who.process, Pending::Start);
        let calls = self.open.entry(who.thread_key).or_default();
        // The outermost call is given up, since the exits that come next belong to inner ones.
        let lost = (calls.len() >= MAX_NESTED).then(|| calls.remove(0));
        calls.push(OpenSyscall { row, enter });
        if let Some(lost) = lost {
            write(lost, time, context);
        }
    }

    fn exit(
        // The value that the call returns, which is an NTSTATUS for most calls but not for all of
        // them.
        &mut self,
        status: u32,
        tid: Option<u32>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
    ) {
        let time = event.timestamp;
        let exit_ns = context.ns(time);
        let who = tid.map(|tid| context.of_thread(tid, time));
        // An exit names no function. Calls of a thread nest, so it ends the call entered last.
        let entered = who.and_then(|who| self.open.get_mut(&who.thread_key)?.pop());
        let is_entered = entered.is_some();
        let (mut row, enter) = match entered {
            Some(OpenSyscall { row, enter }) => (row, Some(enter)),
            None => (Syscall::default(), None),
        };
        // An exit without an entry: the call began before the trace or before a gap. It still
        // counts with its status.
        if let Some(who) = who.filter(|_| !is_entered) {
            (row.thread_key, row.process_key) = (Some(who.thread_key), who.process_key());
        }
        row.exit_ns = Some(exit_ns);
        row.duration_ns = row.enter_ns.map(|enter| exit_ns.saturating_sub(enter));
        row.status = Some(status as i32);
        row.exit_cpu = Some(event.cpu.into());
        // A call belongs to the part of the trace in which it started, as far as that is known.
        if context.range.contains(row.enter_ns.unwrap_or(exit_ns)) {
            // Nobody waits for a stack here, since the stack of a call is that of its entry.
            context.wait(time, None, None, pending(row, enter));
        } else if let Some(enter) = enter {
            context.forget(enter);
        }
    }

    /// Writes the calls that are open, in the order of their entries.
    fn give_up(&mut self, time: i64, context: &mut Context<'_>) {
        let mut open: Vec<OpenSyscall> = self.open.drain().flat_map(|(_, calls)| calls).collect();
        // A hash map has no order, and the same input has to give the same output.
        open.sort_unstable_by_key(|open| open.enter);
        for open in open {
            write(open, time, context);
        }
    }
}

impl Importer for Calls {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let gaps = context.gaps;
        // Compared before anything else, because both an entry and an exit are unsafe after a gap.
        if std::mem::replace(&mut self.gaps, gaps) != gaps {
            // Exits may be missing, and the next one may belong to another call than the innermost
            // open one.
            self.give_up(event.timestamp, context);
        }
        let tid = context.thread_of(event);
        if hook.opcode == opcode::ENTER {
            let address = syscall::address(event.payload(), event.pointer_size());
            let Some(address) = address else {
                return Ok(false);
            };
            self.enter(address, tid, event, context);
        } else {
            let Some(status) = syscall::status(event.payload()) else {
                return Ok(false);
            };
            self.exit(status, tid, event, context);
        }
        Ok(true)
    }

    /// Events inside a call identify its subject.
    fn hear(
        &mut self,
        hook: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // After a gap the exits of open calls may be missing.
        let Some(hook) = hook.filter(|_| !self.open.is_empty() && self.gaps == context.gaps) else {
            return Ok(());
        };
        if let Some(tid) = call_facts::thread(hook, event, context) {
            let who = context.of_thread(tid, event.timestamp);
            // Only the innermost call: a window procedure that is called back from the kernel makes
            // calls of its own, and their facts are not those of the outer call.
            let innermost = self
                .open
                .get_mut(&who.thread_key)
                .and_then(|calls| calls.last_mut());
            innermost
                .into_iter()
                .for_each(|call| call_facts::add(&mut call.row, hook, event, context));
        }
        Ok(())
    }

    /// Writes the calls that had not ended at the end of the trace.
    fn finish(
        mut self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.give_up(learned.collected.end, context);
        Ok(())
    }
}

/// The row of a call, which takes the stack of its entry.
fn pending(row: Syscall, enter: Option<Seq>) -> Pending {
    waiting::row(row, move |row, stacks| {
        row.stack_id = stacks.of(enter);
        row.frame_id = row
            .address
            .map(|address| stacks.kernel_frame(address as u64));
    })
}

/// Writes a call without an exit.
fn write(OpenSyscall { row, enter }: OpenSyscall, time: i64, context: &mut Context<'_>) {
    if row
        .enter_ns
        .is_some_and(|enter| context.range.contains(enter))
    {
        context.wait(time, None, None, pending(row, Some(enter)));
    // A start that is not taken would stay in the line until the trace ends.
    } else {
        context.forget(enter);
    }
}
