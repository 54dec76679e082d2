//! TCP and UDP transfers.

use etwkit_decode::kernel::net::{self, KERNEL_NETWORK, Operation, tcp, udp};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, key, waiting};
use crate::sink::Sink;
use crate::table::{NetIo, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[
        Events::Kernel(group::TCP, tcp::TRANSFERS),
        Events::Kernel(group::UDP, udp::TRANSFERS),
        Events::Provider(KERNEL_NETWORK, &[]),
    ],
    tables: &[rows(NetIo::TABLE)],
    topics: &[
        Topic {
            place: 140,
            name: "TCP and UDP",
            answers: "how much each process sent",
            recorded_by: "NETWORKTRACE",
            // Failures and copies have no rows, but they also show that the keyword was recorded.
            events: &[
                Events::KernelBetween(group::TCP, tcp::SEND, LAST_TYPE),
                Events::KernelBetween(group::UDP, udp::SEND, LAST_TYPE),
            ],
            tables: &[NetIo::TABLE],
        },
        Topic {
            place: 220,
            name: "network transfers",
            answers: "how much each process sent",
            recorded_by: "Microsoft-Windows-Kernel-Network",
            events: &[Events::Provider(KERNEL_NETWORK, &[])],
            tables: &[NetIo::TABLE],
        },
    ],
    make: |learned| {
        Box::new(Net {
            has_kernel_events: learned.collected.kernel_network,
        })
    },
    ..Declaration::EMPTY
};

/// The highest type of these groups.
const LAST_TYPE: u8 = 38;

/// Each transfer is a row; nothing is kept between events.
struct Net {
    /// True if the kernel logger recorded transfers. The provider reports the same transfers again.
    has_kernel_events: bool,
}

impl Importer for Net {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let operation = net::kernel_operation(hook.group, hook.opcode);
        // The kernel logs a transfer in the context of whatever thread runs, so the stack is of
        // that thread and the process comes from the payload.
        let running = context.running_on(event.cpu);
        // Version 0 of the event has no addresses.
        let has_ends = hook.version > 0;
        let is_v6 = net::is_v6(hook.opcode);
        Ok(operation.is_some_and(|op| transfer(op, has_ends, is_v6, event, running, context)))
    }

    fn other(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let id = event.descriptor().id;
        let is_v6 = net::is_provider_v6(id);
        // Otherwise each transfer would be counted twice.
        let operation = net::provider_operation(id).filter(|_| !self.has_kernel_events);
        Ok(
            operation
                .is_some_and(|op| transfer(op, true, is_v6, event, event.thread_id(), context)),
        )
    }
}

fn transfer(
    operation: Operation,
    has_ends: bool,
    is_v6: bool,
    event: &RawEvent<'_>,
    thread: Option<u32>,
    context: &mut Context<'_>,
) -> bool {
    let Some((pid, size)) = net::process_and_size(event) else {
        return false;
    };
    let ts_ns = context.ns(event.timestamp);
    if !context.range.contains(ts_ns) {
        return true;
    }
    // By the ID in the payload: the running thread may be one of the network stack and not of the
    // program.
    let process = context.directory.process_at(pid, event.timestamp);
    let ends = if has_ends {
        net::ends(event.payload(), is_v6, operation)
    } else {
        None
    };
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
    let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
    context.wait(event.timestamp, thread, process, row);
    true
}
