//! The start of an operation that is reported only at its end.

use etwkit_decode::kernel::registry::{self, Begin};
use etwkit_decode::kernel::{Hook, disk, dpc, fault, group, stack};
use etwkit_etl::RawEvent;

/// Raw time at which the operation described by the event started; `None` for events that report a
/// point in time. Disk accesses report their duration in ticks of the performance counter, the
/// clock of most traces.
pub(crate) fn began(hook: Hook, event: &RawEvent<'_>) -> Option<i64> {
    let payload = event.payload();
    let pointer_size = event.pointer_size();
    match (hook.group, hook.opcode) {
        // The kernel logs these at their end, with the time of their start in them.
        (group::PERFINFO, opcode) => {
            dpc::name(opcode)?;
            Some(dpc::DpcIsr::parse(payload, opcode, hook.version, pointer_size)?.initial_time)
        }
        (group::MEMORY, fault::opcode::HARD_FAULT) => {
            Some(fault::HardFault::parse(payload, pointer_size)?.initial_time)
        }
        (group::DISK, disk::opcode::READ | disk::opcode::WRITE | disk::opcode::FLUSH) => {
            let io = disk::DiskIo::parse(payload, hook.opcode, hook.version, pointer_size)?;
            Some(
                event
                    .timestamp
                    // A clock that is not the performance counter has other ticks, and the start is
                    // then an estimate.
                    .saturating_sub(i64::try_from(io.response_ticks).unwrap_or(i64::MAX)),
            )
        }
        (group::REGISTRY, opcode) => {
            registry::name(opcode)?;
            match registry::Operation::parse(payload, hook.version, pointer_size)?.begin {
                Begin::At(time) => Some(time),
                Begin::Elapsed(ticks) => Some(event.timestamp.saturating_sub(ticks)),
            }
        }
        (group::BRANCH, _) => Some(stack::Owner::parse(payload)?.timestamp),
        _ => None,
    }
}
