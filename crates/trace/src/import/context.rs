//! What all importers share: who an event belongs to, and the rows that wait for stacks.

use etwkit_decode::kernel::stack::is_kernel_address;
use etwkit_etl::RawEvent;
use etwkit_etl::clock::Clock;
use rustc_hash::FxHashMap;

use super::identity::{Identity, Who};
use super::line::{Entry, Half, Line, Seq};
use super::raw::RawStack;
use super::stacks::{Place, Stacks};
use super::tables::Tables;
use crate::directory::Directory;
use crate::sink::{Sink, SinkError};
use crate::table;
use crate::tracker::process::ProcessKey;

/// A row that waits for its stack.
#[derive(Debug)]
pub(super) enum Pending {
    /// An event whose row comes later, with its end: only its stack is kept.
    Start,
    /// A start whose row will not come.
    Forgotten,
    /// A sample and its address.
    Sample(table::CpuSample, u64),
    /// A stay, with the switch-in and the ready event whose stacks it takes.
    Switch(Box<table::ContextSwitch>, Option<Seq>, Option<Seq>),
    /// A disk access, with its start.
    Disk(Box<table::DiskIo>, Option<Seq>),
    /// A file operation, with its start.
    File(Box<table::FileIo>, Option<Seq>),
    /// A page fault.
    Fault(Box<table::HardFault>),
    /// A DPC or interrupt.
    DpcIsr(Box<table::DpcIsr>),
    /// A transfer.
    Net(Box<table::NetIo>),
    /// An exception.
    Exception(Box<table::Exception>),
    /// Any other event.
    Generic(Box<table::GenericEvent>),
}

/// The part of the trace that is extracted, in nanoseconds; both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Begin.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
}

impl Range {
    /// Everything.
    pub const ALL: Self = Self { start_ns: i64::MIN, end_ns: i64::MAX };

    pub(super) fn contains(self, ns: i64) -> bool {
        (self.start_ns..=self.end_ns).contains(&ns)
    }

    pub(super) fn clip(self, ns: i64) -> i64 {
        ns.clamp(self.start_ns, self.end_ns.max(self.start_ns))
    }
}

/// Shared by all importers.
pub(super) struct Context<'d> {
    pub(super) directory: &'d Directory,
    pub(super) clock: &'d Clock,
    pub(super) identity: Identity<'d>,
    pub(super) stacks: Stacks<'d>,
    pub(super) tables: Tables,
    pub(super) range: Range,
    line: Line<Pending>,
    /// Stacks of starts, until the rows that take them leave the line.
    resolved: FxHashMap<Seq, i32>,
}

impl<'d> Context<'d> {
    pub(super) fn new(
        directory: &'d Directory,
        clock: &'d Clock,
        stacks: Stacks<'d>,
        patience: i64,
        range: Range,
    ) -> Self {
        Self {
            directory,
            clock,
            identity: Identity::new(directory, clock),
            stacks,
            tables: Tables::default(),
            range,
            line: Line::new(patience),
            resolved: FxHashMap::default(),
        }
    }

    #[inline]
    pub(super) fn ns(&self, time: i64) -> i64 {
        self.clock.nanoseconds(time)
    }

    #[inline]
    pub(super) fn of_thread(&mut self, tid: u32, time: i64) -> Who {
        self.identity.of_thread(tid, time)
    }

    /// Key of the thread that the header of an event names.
    pub(super) fn thread_key(&mut self, event: &RawEvent<'_>) -> Option<i32> {
        event.thread_id().map(|tid| self.of_thread(tid, event.timestamp).thread_key)
    }

    /// Stacks that belong to no event that can have one.
    pub(super) const fn unattached_stacks(&self) -> u64 {
        self.line.unattached
    }

    /// Puts a row in the line. `tid` is the thread whose stack it may have.
    pub(super) fn wait(
        &mut self,
        time: i64,
        tid: Option<u32>,
        process: Option<ProcessKey>,
        row: Pending,
    ) -> Seq {
        self.line.push(Entry::new(time, tid, process, row))
    }

    /// Puts a row in the line that brings its own stack.
    pub(super) fn wait_with(
        &mut self,
        time: i64,
        process: Option<ProcessKey>,
        addresses: &[u64],
        row: Pending,
    ) -> Seq {
        let mut entry = Entry::new(time, None, process, row);
        entry.user = self.intern(addresses);
        self.line.push(entry)
    }

    /// Takes the addresses of a stack, innermost first.
    pub(super) fn intern(&mut self, addresses: &[u64]) -> RawStack {
        self.stacks.intern(addresses, self.line.waiting())
    }

    /// Takes a stack of the event with that time and thread.
    pub(super) fn attach(&mut self, time: i64, tid: u32, stack: RawStack) {
        let kernel = |address| is_kernel_address(address, self.directory.pointer_size());
        let half = if self.stacks.innermost(stack).is_some_and(kernel) { Half::Kernel } else { Half::User };
        self.line.attach(time, tid, half, stack);
    }

    /// Moves on to a raw time and hands on the rows that no stack can come for any more.
    #[inline]
    pub(super) fn advance(&mut self, time: i64, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.line.advance(time);
        while let Some((seq, entry)) = self.line.pop() {
            self.leave(seq, entry, sink)?;
        }
        if self.stacks.is_full() {
            self.drain(sink)?;
        }
        self.stacks.flush(sink)
    }

    /// Hands on all rows that wait.
    pub(super) fn drain(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        while let Some((seq, entry)) = self.line.pop_any() {
            self.leave(seq, entry, sink)?;
        }
        Ok(())
    }

    fn leave(&mut self, seq: Seq, entry: Entry<Pending>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if matches!(entry.row, Pending::Forgotten) {
            return Ok(());
        }
        let place = Place { process: entry.process, time: entry.time };
        let recorded = entry.has_stack();
        let stack = if recorded { self.stacks.stack(place, entry.kernel, entry.user) } else { None };
        let taken = |resolved: &mut FxHashMap<Seq, i32>, seq: Option<Seq>| resolved.remove(&seq?);
        let t = &mut self.tables;
        match entry.row {
            Pending::Forgotten => Ok(()),
            Pending::Start => {
                self.resolved.extend(stack.map(|stack| (seq, stack)));
                Ok(())
            }
            Pending::Sample(mut row, address) => {
                row.has_stack = recorded;
                row.stack_id = match stack {
                    Some(stack) => stack,
                    None => self.stacks.single(place, address),
                };
                t.cpu_sample.push(&row, sink)
            }
            Pending::Switch(mut row, switch_in, ready) => {
                row.stack_id = taken(&mut self.resolved, switch_in);
                row.readying_stack_id = taken(&mut self.resolved, ready);
                t.context_switch.push(&row, sink)
            }
            Pending::Disk(mut row, start) => {
                row.stack_id = taken(&mut self.resolved, start);
                t.disk_io.push(&row, sink)
            }
            Pending::File(mut row, start) => {
                row.stack_id = taken(&mut self.resolved, start);
                t.file_io.push(&row, sink)
            }
            Pending::Fault(mut row) => {
                row.stack_id = stack;
                t.hard_fault.push(&row, sink)
            }
            Pending::DpcIsr(mut row) => {
                row.stack_id = stack;
                t.dpc_isr.push(&row, sink)
            }
            Pending::Net(mut row) => {
                row.stack_id = stack;
                t.net_io.push(&row, sink)
            }
            Pending::Exception(mut row) => {
                row.stack_id = stack;
                t.exception.push(&row, sink)
            }
            Pending::Generic(mut row) => {
                row.stack_id = stack;
                t.generic_event.push(&row, sink)
            }
        }
    }

    /// Gives up a start whose end was lost.
    pub(super) fn forget(&mut self, seq: Seq) {
        match self.line.row_mut(seq) {
            Some(row) => *row = Pending::Forgotten,
            None => _ = self.resolved.remove(&seq),
        }
    }
}
