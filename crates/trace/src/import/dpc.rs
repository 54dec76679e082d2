//! DPCs and interrupts.

use etwkit_decode::kernel::Hook;
use etwkit_decode::kernel::dpc::{self, DpcIsr};
use etwkit_etl::RawEvent;

use super::context::{Context, Pending};
use crate::table;

/// What a DPC or interrupt is called, and what its event tells; `None` for other events.
pub(super) fn read(hook: Hook, event: &RawEvent<'_>) -> Option<(&'static str, DpcIsr)> {
    let kind = dpc::name(hook.opcode)?;
    Some((kind, DpcIsr::parse(event.payload(), hook.opcode, hook.version, event.pointer_size())?))
}

/// Takes a DPC or interrupt.
pub(super) fn event(
    kind: &'static str,
    read: &DpcIsr,
    event: &RawEvent<'_>,
    running: Option<u32>,
    context: &mut Context<'_>,
) {
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
    context.wait(event.timestamp, running, process, Pending::DpcIsr(Box::new(row), read.routine));
}
