//! Rows that left the line → rows of tables, with their stacks. Runs on a thread of its own.

use std::sync::mpsc::Receiver;

use rustc_hash::FxHashMap;

use super::context::Pending;
use super::identity::key;
use super::line::{Entry, Seq};
use super::outbox::{Branches, Left, Message};
use super::stacks::{Place, Stacks};
use super::tables::Tables;
use crate::sink::{Sink, SinkError};
use crate::table::Lbr;
use crate::tracker::process::ProcessKey;

/// Makes rows.
pub(super) struct Rows<'d> {
    stacks: Stacks<'d>,
    tables: Tables,
    /// Stacks of starts, until the rows that take them come.
    resolved: FxHashMap<Seq, i32>,
    /// How often each branch was met, by process and the frames of both ends.
    branches: FxHashMap<(Option<ProcessKey>, u32, u32), i64>,
}

/// Distinct branches that are held; behind that many, rows are written and the same branch gets another row.
const MAX_BRANCHES: usize = 1 << 20;

impl<'d> Rows<'d> {
    pub(super) fn new(stacks: Stacks<'d>) -> Self {
        Self {
            stacks,
            tables: Tables::default(),
            resolved: FxHashMap::default(),
            branches: FxHashMap::default(),
        }
    }

    /// Takes everything that is sent, and hands on rows. Where the sender goes before it said that all was sent, rows that were not
    /// handed on yet are dropped.
    pub(super) fn run(mut self, messages: Receiver<Message>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        for message in messages {
            match message {
                Message::Chunk(chunk) => self.stacks.add(chunk),
                Message::Left(rows) => {
                    for left in rows {
                        self.left(left, sink)?;
                    }
                    self.stacks.flush(sink)?;
                }
                Message::Batch(table, rows) => sink.write(table, rows)?,
                Message::End => {
                    self.write_branches(sink)?;
                    self.tables.flush(sink)?;
                    self.stacks.finish(sink)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn left(&mut self, left: Left, sink: &mut dyn Sink) -> Result<(), SinkError> {
        match left {
            Left::Row(seq, entry) => self.row(seq, entry, sink),
            Left::Forget(seq) => {
                self.resolved.remove(&seq);
                Ok(())
            }
            Left::Branches(branches) => self.branches(&branches, sink),
        }
    }

    fn branches(&mut self, of: &Branches, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let place = Place { process: of.process, time: of.time };
        for (from, to) in &of.branches {
            let ends = (self.stacks.frame(place, *from), self.stacks.frame(place, *to));
            *self.branches.entry((of.process, ends.0, ends.1)).or_default() += 1;
        }
        if self.branches.len() < MAX_BRANCHES { Ok(()) } else { self.write_branches(sink) }
    }

    fn write_branches(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut rows: Vec<_> = self.branches.drain().collect();
        rows.sort_unstable_by_key(|(ends, _)| *ends);
        rows.into_iter().try_for_each(|((process, from, to), count)| {
            let (from_frame_id, to_frame_id) = (from as i32, to as i32);
            let row = Lbr { process_key: key(process), from_frame_id, to_frame_id, count };
            self.tables.lbr.push(&row, sink)
        })
    }

    fn row(&mut self, seq: Seq, entry: Entry<Pending>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.stacks.advance(seq);
        let place = Place { process: entry.process, time: entry.time };
        let (kernel, user) = (entry.kernel, entry.user);
        let sampled = match &entry.row {
            Pending::Sample(_, address) | Pending::PmcSample(_, address) => Some(*address),
            _ => None,
        };
        // The user half alone does not show what the kernel did; the address of the sample does.
        let lacking = sampled.filter(|address| self.stacks.lacks_kernel_half(*address, kernel, user));
        let stack = match lacking {
            Some(address) => Some(self.stacks.without_kernel_half(place, address, user)),
            None => self.stacks.stack(place, kernel, user),
        };
        let taken = |resolved: &mut FxHashMap<Seq, i32>, seq: Option<Seq>| resolved.remove(&seq?);
        let t = &mut self.tables;
        match entry.row {
            Pending::Forgotten => Ok(()),
            Pending::Start => {
                self.resolved.extend(stack.map(|stack| (seq, stack)));
                Ok(())
            }
            Pending::Sample(mut row, address) => {
                row.has_stack = stack.is_some();
                row.is_stack_incomplete = Some(lacking.is_some());
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
            Pending::Counted(mut rows, switch_in, ready) => {
                let (row, counted) = &mut *rows;
                row.stack_id = taken(&mut self.resolved, switch_in);
                row.readying_stack_id = taken(&mut self.resolved, ready);
                counted.stack_id = row.stack_id;
                t.context_switch.push(row, sink)?;
                t.pmc.push(counted, sink)
            }
            Pending::PmcSample(mut row, address) => {
                row.has_stack = stack.is_some();
                row.is_stack_incomplete = Some(lacking.is_some());
                row.stack_id = match stack {
                    Some(stack) => stack,
                    None => self.stacks.single(place, address),
                };
                t.pmc_sample.push(&row, sink)
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
            Pending::DpcIsr(mut row, routine) => {
                // The driver is the same whatever process was interrupted.
                let frame = self.stacks.frame(Place { process: None, time: entry.time }, routine);
                (row.frame_id, row.stack_id) = (frame as i32, stack);
                t.dpc_isr.push(&row, sink)
            }
            Pending::Net(mut row) => {
                row.stack_id = stack;
                t.net_io.push(&row, sink)
            }
            Pending::Dns(mut row, start) => {
                row.stack_id = taken(&mut self.resolved, start);
                t.dns_query.push(&row, sink)
            }
            Pending::Tcp(mut row) => {
                row.stack_id = stack;
                t.tcp_event.push(&row, sink)
            }
            Pending::Registry(mut row, base) => {
                super::registry::complete(&mut row, base);
                row.stack_id = stack;
                t.registry_io.push(&row, sink)
            }
            Pending::Syscall(mut row, enter) => {
                row.stack_id = taken(&mut self.resolved, enter);
                // Functions of the kernel are the same whatever process calls them.
                let place = Place { process: None, time: entry.time };
                row.frame_id = row.address.map(|address| self.stacks.frame(place, address as u64) as i32);
                t.syscall.push(&row, sink)
            }
            Pending::Handle(mut row, open) => {
                (row.open_stack_id, row.close_stack_id) = (taken(&mut self.resolved, open), stack);
                t.handle.push(&row, sink)
            }
            Pending::ObjectRef(mut row) => {
                row.stack_id = stack;
                t.object_ref.push(&row, sink)
            }
            Pending::FileMap(mut row, map) => {
                (row.map_stack_id, row.unmap_stack_id) = (taken(&mut self.resolved, map), stack);
                t.file_map.push(&row, sink)
            }
            Pending::VirtualAlloc(mut row) => {
                row.stack_id = stack;
                t.virtual_alloc.push(&row, sink)
            }
            Pending::UserLock(mut row, acquisition) => {
                row.stack_id = taken(&mut self.resolved, acquisition);
                t.user_lock.push(&row, sink)
            }
            Pending::GdiUserObject(mut row, creation) => {
                (row.create_stack_id, row.destroy_stack_id) = (taken(&mut self.resolved, creation), stack);
                t.gdi_user_object.push(&row, sink)
            }
            Pending::UiDelay(mut row) => {
                row.stack_id = stack;
                t.ui_delay.push(&row, sink)
            }
            Pending::Exception(mut row) => {
                row.stack_id = stack;
                t.exception.push(&row, sink)
            }
            Pending::ThreadPool(mut row) => {
                row.stack_id = stack;
                t.thread_pool.push(&row, sink)
            }
            Pending::Generic(mut row) => {
                row.stack_id = stack;
                t.generic_event.push(&row, sink)
            }
        }
    }
}
