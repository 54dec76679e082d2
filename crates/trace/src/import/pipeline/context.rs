//! State that all importers share: attribution of events, running threads, and the rows that wait
//! for stacks.

use std::sync::Arc;

use etwkit_decode::Decoder;
use etwkit_decode::kernel::stack::{Owner, is_kernel_address};
use etwkit_etl::RawEvent;
use etwkit_etl::clock::Clock;

use super::identity::{Identity, Who};
use super::line::{Attached, Entry, GivenStack, Half, Line, Seq, StackSource};
use super::notes::Notes;
use super::range::Range;
use super::row_sender::{Branches, RowSender};
use super::tables::Tables;
use super::waiting::Pending;
use crate::directory::Directory;
use crate::import::ui::inputs::Inputs;
use crate::schedule::Schedule;
use crate::sink::SinkError;
use crate::tracker::process::ProcessKey;

/// Shared by all importers.
pub(crate) struct Context<'d> {
    pub(crate) directory: &'d Directory,
    pub(crate) clock: &'d Clock,
    pub(crate) identity: Identity<'d>,
    /// Rows that never have a stack.
    pub(crate) tables: Tables,
    pub(crate) range: Range,
    /// True if a row that extends beyond the range is kept whole in the range where it starts.
    pub(crate) keep_whole: bool,
    pub(crate) decoder: Decoder,
    /// Running, waiting and ready threads at the current event.
    pub(crate) schedule: Schedule,
    /// Number of starts and ends of gaps so far.
    pub(crate) gaps: u64,
    /// The largest number of performance counter values that a context switch carried.
    pub(crate) counted_values: usize,
    /// Clicks and keys.
    pub(crate) inputs: Inputs,
    pub(crate) notes: Notes,
    line: Line<Pending>,
    sender: RowSender,
}

impl<'d> Context<'d> {
    pub(crate) fn new(
        directory: &'d Directory,
        clock: &'d Clock,
        (decoder, schedule): (Decoder, Schedule),
        sender: RowSender,
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
            decoder,
            schedule,
            gaps: 0,
            counted_values: 0,
            inputs: Inputs::default(),
            notes: Notes::default(),
            line: Line::new(patience),
            sender,
        }
    }

    #[inline]
    pub(crate) fn ns(&self, time: i64) -> i64 {
        self.clock.nanoseconds(time)
    }

    #[inline]
    pub(crate) fn of_thread(&mut self, tid: u32, time: i64) -> Who {
        self.identity.of_thread(tid, time)
    }

    /// The running thread of a processor, if it is known.
    pub(crate) fn running_on(&self, cpu: u16) -> Option<u32> {
        // The first switch-out of a processor names the thread that ran before it. That holds only
        // up to the first switch or gap of the processor.
        let is_first = || !self.schedule.has_seen(cpu);
        let before = || {
            self.directory
                .first_threads
                .get(&cpu)
                .copied()
                .filter(|_| is_first())
        };
        // The schedule is right once it has seen a switch; before, only the first switch-out tells.
        self.schedule.running_on(cpu).or_else(before)
    }

    /// The thread that logged an event. Records with the short header name none: they are of the
    /// thread that runs on the processor, if it is known.
    pub(crate) fn thread_of(&self, event: &RawEvent<'_>) -> Option<u32> {
        event.thread_id().or_else(|| self.running_on(event.cpu))
    }

    /// The path with drive letter of a file key at a raw time.
    pub(crate) fn path(&self, key: u64, time: i64) -> Option<Arc<str>> {
        let path = self.directory.file_names.path(key, time)?;
        Some(self.directory.paths.dos_path(path))
    }

    /// True if a process ended in the extracted part of the trace, up to a raw time.
    pub(crate) fn has_ended(&self, process: Option<ProcessKey>, until: i64) -> bool {
        // Processes that ended outside the range still live at its end.
        let instance = process.and_then(|process| self.directory.processes.instance(process));
        let stop = instance.and_then(|instance| instance.stop);
        stop.is_some_and(|stop| stop <= until && self.range.contains(self.ns(stop)))
    }

    /// Key of the thread that the header of an event names.
    pub(crate) fn thread_key(&mut self, event: &RawEvent<'_>) -> Option<i32> {
        event
            .thread_id()
            .map(|tid| self.of_thread(tid, event.timestamp).thread_key)
    }

    /// Counts of stacks that found their events, or did not.
    pub(crate) const fn attached(&self) -> Attached {
        self.line.attached
    }

    /// Queues a row. `tid` is the thread whose stack it may have.
    pub(crate) fn wait(
        &mut self,
        time: i64,
        tid: Option<u32>,
        process: Option<ProcessKey>,
        row: Pending,
    ) -> Seq {
        self.put(Entry::new(time, tid.map(StackSource::Thread), process, row))
    }

    /// Queues the start of a slice, which takes the stack of the context switch that switches the
    /// thread in.
    pub(crate) fn wait_for_switch(
        &mut self,
        time: i64,
        tid: u32,
        cpu: u16,
        process: Option<ProcessKey>,
    ) -> Seq {
        self.put(Entry::of_switch(time, tid, cpu, process, Pending::Start))
    }

    /// Queues a row that may have the stack of a thread, or of any thread of a process.
    pub(crate) fn wait_for(
        &mut self,
        time: i64,
        whose: StackSource,
        process: Option<ProcessKey>,
        row: Pending,
    ) -> Seq {
        self.put(Entry::new(time, Some(whose), process, row))
    }

    /// Queues a row that has its own stack.
    pub(crate) fn wait_with(
        &mut self,
        time: i64,
        process: Option<ProcessKey>,
        addresses: &[u64],
        row: Pending,
    ) -> Seq {
        let mut entry = Entry::new(time, None, process, row);
        // A stack in the event may begin in user mode: providers of user mode have no kernel half.
        entry.user = self.line.arena.keep(addresses);
        self.put(entry)
    }

    fn put(&mut self, entry: Entry<Pending>) -> Seq {
        // Rows are written on another thread, where their importer is unknown, so the declaration
        // is checked here.
        if cfg!(debug_assertions)
            // Importers may only write tables that they declare. Extracts would otherwise lack
            // tables at random.
            && let Pending::Row(row) = &entry.row
        {
            self.tables.check(row.table());
        }
        self.line.push(entry)
    }

    /// Passes on branches recorded by a processor at a raw time. They have no stack, so they need
    /// not wait.
    pub(crate) fn branches(
        &mut self,
        time: i64,
        process: Option<ProcessKey>,
        branches: Box<[(u64, u64)]>,
    ) -> Result<(), SinkError> {
        self.sender.branches(
            Branches {
                time,
                process,
                branches,
            },
            &mut self.line,
        )
    }

    /// Takes the addresses of a stack. `cpu` is the processor on which the kernel logged it.
    pub(crate) fn attach_whole(&mut self, of: Owner, addresses: &[u64], cpu: Option<u16>) {
        // The first address is the innermost one.
        let kernel = |address: &u64| is_kernel_address(*address, self.directory.pointer_size());
        // A whole stack is in one event. If it starts in the kernel, the user part may follow in an
        // event of its own, so it counts as the kernel half.
        let half = if addresses.first().is_some_and(kernel) {
            Half::Kernel
        } else {
            Half::User
        };
        self.attach(of, half, GivenStack::Whole(addresses), cpu);
    }

    /// Takes a half of the stack of an event.
    pub(crate) fn attach(
        &mut self,
        of: Owner,
        half: Half,
        stack: GivenStack<'_>,
        cpu: Option<u16>,
    ) {
        let whose = self.line.whose(of.timestamp, of.tid, of.pid);
        self.line.attach(of.timestamp, whose, half, stack, cpu);
    }

    /// Advances to a raw time and passes on the rows for which no stack can come any more.
    #[inline]
    pub(crate) fn advance(&mut self, time: i64) -> Result<(), SinkError> {
        self.line.advance(time);
        // In order of arrival, as the tables are sorted by it.
        while let Some((seq, entry)) = self.line.pop() {
            self.sender.leave(seq, entry, &mut self.line)?;
        }
        // A full chunk is sent even if no row needs it yet: the next one starts empty.
        if self.line.arena.is_chunk_full() {
            self.sender.give_chunk(&mut self.line)
        } else {
            Ok(())
        }
    }

    /// Passes on all waiting rows.
    pub(crate) fn drain(&mut self) -> Result<(), SinkError> {
        while let Some((seq, entry)) = self.line.pop_any() {
            self.sender.leave(seq, entry, &mut self.line)?;
        }
        // The last message may be a small one.
        self.sender.flush(&mut self.line)
    }

    /// Drops a start whose end was lost.
    pub(crate) fn forget(&mut self, seq: Seq) {
        forget(&mut self.line, &mut self.sender, seq);
    }

    /// Drops the ready events that no switch-in will take.
    pub(crate) fn forget_released(&mut self) {
        let Self {
            schedule,
            line,
            sender,
            ..
        } = self;
        schedule
            .released()
            .for_each(|seq| forget(line, sender, seq));
    }
}

fn forget(line: &mut Line<Pending>, sender: &mut RowSender, seq: Seq) {
    // As long as the start waits, it is marked. After that the other thread has its stack and is
    // told.
    match line.row_mut(seq) {
        Some(row) => *row = Pending::Forgotten,
        None => sender.forget(seq),
    }
}
