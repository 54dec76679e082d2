//! TCP and UDP transfers.

use etwkit_decode::kernel::net::{self, KERNEL_NETWORK, Operation};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use super::context::{Context, Pending};
use super::identity::key;
use crate::table::NetIo;

/// Takes an event of the kernel logger. Returns whether it is a transfer.
pub(super) fn kernel(
    hook: Hook,
    event: &RawEvent<'_>,
    running: Option<u32>,
    context: &mut Context<'_>,
) -> bool {
    let operation = if hook.group == group::TCP {
        net::tcp_operation(hook.opcode)
    } else {
        net::udp_operation(hook.opcode)
    };
    let has_ends = hook.version > 0;
    operation.is_some_and(|op| transfer(op, has_ends, hook.opcode >= 26, event, running, context))
}

/// Takes an event of the provider. Returns whether it is a transfer.
pub(super) fn provider(event: &RawEvent<'_>, context: &mut Context<'_>) -> bool {
    if !event.kind.is_manifest() || event.provider() != KERNEL_NETWORK {
        return false;
    }
    let id = event.descriptor().id;
    let is_v6 = matches!(id, 26..=41 | 58..=73);
    let operation = net::provider_operation(id);
    operation.is_some_and(|op| transfer(op, true, is_v6, event, event.thread_id(), context))
}

fn transfer(
    operation: Operation,
    has_ends: bool,
    is_v6: bool,
    event: &RawEvent<'_>,
    thread: Option<u32>,
    context: &mut Context<'_>,
) -> bool {
    let Some((pid, size)) = net::process_and_size(event) else { return false };
    let ts_ns = context.ns(event.timestamp);
    if !context.range.contains(ts_ns) {
        return true;
    }
    let process = context.directory.process_at(pid, event.timestamp);
    let ends = if has_ends { net::ends(event.payload(), is_v6, operation) } else { None };
    let (protocol, kind) = operation.names();
    let row = NetIo {
        ts_ns,
        protocol,
        kind,
        process_key: key(process),
        size_bytes: size.into(),
        local_address: ends.map(|e| e.local.ip().to_string()),
        local_port: ends.map(|e| e.local.port().into()),
        remote_address: ends.map(|e| e.remote.ip().to_string()),
        remote_port: ends.map(|e| e.remote.port().into()),
        stack_id: None,
    };
    context.wait(event.timestamp, thread, process, Pending::Net(Box::new(row)));
    true
}
