//! Page faults that need no disk, and those that lead to a read. Their events name no thread: they
//! belong to the thread that runs on the processor.

use etwkit_decode::kernel::soft_fault::{self, Fault, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, Who, waiting};
use crate::sink::Sink;
use crate::table::{PageFault, PageFaultProcess, Row};

/// The events of page faults.
pub(crate) const EVENTS: Events =
    Events::KernelBetween(group::MEMORY, opcode::TRANSITION, opcode::ACCESS_VIOLATION);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    tables: &[rows(PageFault::TABLE)],
    topics: &[Topic {
        place: 135,
        name: "page faults",
        answers: "who touches new memory",
        recorded_by: "ALL_FAULTS",
        events: &[EVENTS],
        tables: &[PageFault::TABLE, PageFaultProcess::TABLE],
    }],
    make: |_| Box::new(PageFaults),
    ..Declaration::EMPTY
};

/// Each fault is a row; nothing is kept between events.
struct PageFaults;

impl Importer for PageFaults {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let read = Fault::parse(event.payload(), event.pointer_size());
        let Some((read, kind)) = read.zip(soft_fault::name(hook.opcode)) else {
            return Ok(false);
        };
        let time = event.timestamp;
        let ts_ns = context.ns(time);
        if !context.range.contains(ts_ns) {
            return Ok(true);
        }
        let tid = context.thread_of(event);
        let who = tid.map(|tid| context.of_thread(tid, time));
        let row = PageFault {
            ts_ns,
            kind,
            process_key: who.and_then(Who::process_key),
            thread_key: who.map(|who| who.thread_key),
            address: read.address.cast_signed(),
            ..PageFault::default()
        };
        let row = waiting::row(row, move |row, stacks| {
            row.stack_id = stacks.own();
            row.frame_id = stacks.frame(read.instruction);
        });
        context.wait(time, tid, who.and_then(|who| who.process), row);
        Ok(true)
    }
}
