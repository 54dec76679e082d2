//! What all importers share: who an event belongs to, and the rows that wait for stacks.

use std::sync::Arc;

use etwkit_decode::kernel::stack::{Owner, is_kernel_address};
use etwkit_etl::RawEvent;
use etwkit_etl::clock::Clock;

use super::identity::{Identity, Who};
use super::line::{Attached, Entry, Given, Half, Line, Seq, Whose};
use super::outbox::{Branches, Outbox};
use super::tables::Tables;
use crate::directory::Directory;
use crate::sink::SinkError;
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
    /// A stay and what was counted in it.
    Counted(Box<(table::ContextSwitch, table::Pmc)>, Option<Seq>, Option<Seq>),
    /// A sample of a counter, and its address.
    PmcSample(Box<table::PmcSample>, u64),
    /// A disk access, with its start.
    Disk(Box<table::DiskIo>, Option<Seq>),
    /// A file operation, with its start.
    File(Box<table::FileIo>, Option<Seq>),
    /// A page fault.
    Fault(Box<table::HardFault>),
    /// A DPC or interrupt, and the address of its routine.
    DpcIsr(Box<table::DpcIsr>, u64),
    /// A transfer.
    Net(Box<table::NetIo>),
    /// A DNS query, with its start if that brought a stack.
    Dns(Box<table::DnsQuery>, Option<Seq>),
    /// An event of a TCP connection.
    Tcp(Box<table::TcpEvent>),
    /// An operation on the registry, with the key that its name is relative to.
    Registry(Box<table::RegistryIo>, Option<Arc<str>>),
    /// A system call, with its entry.
    Syscall(Box<table::Syscall>, Option<Seq>),
    /// A handle, with its creation; what closed it has the stack of the row itself.
    Handle(Box<table::Handle>, Option<Seq>),
    /// An event of an object.
    ObjectRef(Box<table::ObjectRef>),
    /// A mapped file, with its begin; what unmapped it has the stack of the row itself.
    FileMap(Box<table::FileMap>, Option<Seq>),
    /// Virtual memory.
    VirtualAlloc(Box<table::VirtualAlloc>),
    /// An acquisition of the global lock of the window manager, whose stack it takes.
    UserLock(Box<table::UserLock>, Option<Seq>),
    /// A GDI or USER object, with its creation; what destroyed it has the stack of the row itself.
    GdiUserObject(Box<table::GdiUserObject>, Option<Seq>),
    /// A delay of a program with windows.
    UiDelay(Box<table::UiDelay>),
    /// An exception.
    Exception(Box<table::Exception>),
    /// An event of a thread pool.
    ThreadPool(Box<table::ThreadPool>),
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
    /// Rows that never have a stack.
    pub(super) tables: Tables,
    pub(super) range: Range,
    /// Whether what reaches over an end of the range is kept whole where it begins.
    pub(super) keep_whole: bool,
    line: Line<Pending>,
    outbox: Outbox,
}

impl<'d> Context<'d> {
    pub(super) fn new(
        directory: &'d Directory,
        clock: &'d Clock,
        outbox: Outbox,
        patience: i64,
        (range, keep_whole): (Range, bool),
    ) -> Self {
        Self {
            directory,
            clock,
            identity: Identity::new(directory, clock),
            tables: Tables::default(),
            range,
            keep_whole,
            line: Line::new(patience),
            outbox,
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

    /// How stacks found their events, or did not.
    pub(super) const fn attached(&self) -> Attached {
        self.line.attached
    }

    /// Puts a row in the line. `tid` is the thread whose stack it may have.
    pub(super) fn wait(
        &mut self,
        time: i64,
        tid: Option<u32>,
        process: Option<ProcessKey>,
        row: Pending,
    ) -> Seq {
        self.line.push(Entry::new(time, tid.map(Whose::Thread), process, row))
    }

    /// Puts the stack of a context switch in the line, by which a thread comes to a processor.
    pub(super) fn wait_for_switch(
        &mut self,
        time: i64,
        tid: u32,
        cpu: u16,
        process: Option<ProcessKey>,
    ) -> Seq {
        self.line.push(Entry::of_switch(time, tid, cpu, process, Pending::Start))
    }

    /// Puts a row in the line that may have the stack of a thread, or that of whichever thread of a process.
    pub(super) fn wait_for(
        &mut self,
        time: i64,
        whose: Whose,
        process: Option<ProcessKey>,
        row: Pending,
    ) -> Seq {
        self.line.push(Entry::new(time, Some(whose), process, row))
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
        entry.user = self.line.arena.keep(addresses);
        self.line.push(entry)
    }

    /// Hands on branches that a processor remembered at a raw time. They have no stack, so that they need not wait.
    pub(super) fn branches(
        &mut self,
        time: i64,
        process: Option<ProcessKey>,
        branches: Box<[(u64, u64)]>,
    ) -> Result<(), SinkError> {
        self.outbox.branches(Branches { time, process, branches }, &mut self.line)
    }

    /// Takes the addresses of a stack. `cpu` is the processor where the kernel logged it.
    pub(super) fn attach_whole(&mut self, of: Owner, addresses: &[u64], cpu: Option<u16>) {
        let kernel = |address: &u64| is_kernel_address(*address, self.directory.pointer_size());
        let half = if addresses.first().is_some_and(kernel) { Half::Kernel } else { Half::User };
        self.attach(of, half, Given::Whole(addresses), cpu);
    }

    /// Takes a half of the stack of an event.
    pub(super) fn attach(&mut self, of: Owner, half: Half, stack: Given<'_>, cpu: Option<u16>) {
        let whose = self.line.whose(of.timestamp, of.tid, of.pid);
        self.line.attach(of.timestamp, whose, half, stack, cpu);
    }

    /// Moves on to a raw time and hands on the rows that no stack can come for any more.
    #[inline]
    pub(super) fn advance(&mut self, time: i64) -> Result<(), SinkError> {
        self.line.advance(time);
        while let Some((seq, entry)) = self.line.pop() {
            self.outbox.leave(seq, entry, &mut self.line)?;
        }
        if self.line.arena.is_chunk_full() { self.outbox.give_chunk(&mut self.line) } else { Ok(()) }
    }

    /// Hands on all rows that wait.
    pub(super) fn drain(&mut self) -> Result<(), SinkError> {
        while let Some((seq, entry)) = self.line.pop_any() {
            self.outbox.leave(seq, entry, &mut self.line)?;
        }
        self.outbox.flush(&mut self.line)
    }

    /// Gives up a start whose end was lost.
    pub(super) fn forget(&mut self, seq: Seq) {
        match self.line.row_mut(seq) {
            Some(row) => *row = Pending::Forgotten,
            None => self.outbox.forget(seq),
        }
    }
}
