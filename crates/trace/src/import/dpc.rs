//! DPCs and interrupts.

use etwkit_decode::kernel::dpc::{self, DpcIsr, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use super::context::Context;
use super::importer::{Declaration, Importer, IsShown};
use super::waiting;
use crate::declared::{Events, Topic, rows};
use crate::sink::Sink;
use crate::table::{self, Row};

/// The events of DPCs and interrupts.
pub(super) const EVENTS: Events = Events::Kernel(
    group::PERFINFO,
    &[
        opcode::ISR_MSI,
        opcode::THREADED_DPC,
        opcode::ISR,
        opcode::DPC,
        opcode::TIMER_DPC,
        opcode::ISR_PASSIVE,
    ],
);

pub(super) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    tables: &[rows(table::DpcIsr::TABLE)],
    topics: &[Topic {
        place: 50,
        name: "DPCs and interrupts",
        answers: "which driver took the CPU",
        recorded_by: "DPC+INTERRUPT",
        events: &[EVENTS],
        tables: &[table::DpcIsr::TABLE],
    }],
    make: |_| Box::new(Dpcs),
    ..Declaration::EMPTY
};

/// What a DPC or interrupt is called, and what its event says; `None` for other events.
pub(super) fn read(hook: Hook, event: &RawEvent<'_>) -> Option<(&'static str, DpcIsr)> {
    let kind = dpc::name(hook.opcode)?;
    Some((kind, DpcIsr::parse(event.payload(), hook.opcode, hook.version, event.pointer_size())?))
}

/// DPCs and interrupts stand for themselves.
struct Dpcs;

impl Importer for Dpcs {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let Some((kind, read)) = read(hook, event) else { return Ok(false) };
        write(kind, read, event, context);
        Ok(true)
    }
}

fn write(kind: &'static str, read: DpcIsr, event: &RawEvent<'_>, context: &mut Context<'_>) {
    let running = context.running_on(event.cpu);
    let (start_ns, end_ns) = (context.ns(read.initial_time), context.ns(event.timestamp));
    if !context.range.contains(start_ns) {
        return;
    }
    let row = table::DpcIsr {
        kind,
        cpu: event.cpu.into(),
        start_ns,
        end_ns,
        duration_ns: end_ns.saturating_sub(start_ns),
        vector: read.vector.map(Into::into),
        ..table::DpcIsr::default()
    };
    let process = running.and_then(|tid| context.directory.process_of_thread(tid, event.timestamp));
    let row = waiting::row(row, move |row, stacks| {
        row.stack_id = stacks.own();
        row.frame_id = stacks.kernel_frame(read.routine);
    });
    context.wait(event.timestamp, running, process, row);
}
