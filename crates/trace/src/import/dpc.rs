//! DPCs and interrupts.

use etwkit_decode::kernel::{Hook, dpc};
use etwkit_etl::RawEvent;

use super::context::{Context, Pending};
use crate::table::DpcIsr;

/// Takes an event. Returns whether it is a DPC or interrupt.
pub(super) fn event(
    hook: Hook,
    event: &RawEvent<'_>,
    running: Option<u32>,
    context: &mut Context<'_>,
) -> bool {
    let Some(kind) = dpc::name(hook.opcode) else { return false };
    let read = dpc::DpcIsr::parse(event.payload(), hook.opcode, hook.version, event.pointer_size());
    let Some(read) = read else { return false };
    let (start_ns, end_ns) = (context.ns(read.initial_time), context.ns(event.timestamp));
    if !context.range.contains(start_ns) {
        return true;
    }
    let row = DpcIsr {
        kind,
        cpu: event.cpu.into(),
        start_ns,
        end_ns,
        duration_ns: end_ns.saturating_sub(start_ns),
        vector: read.vector.map(Into::into),
        ..DpcIsr::default()
    };
    let process = running.and_then(|tid| context.directory.process_of_thread(tid, event.timestamp));
    context.wait(event.timestamp, running, process, Pending::DpcIsr(Box::new(row), read.routine));
    true
}
