//! Sockets of processes: creation to close, with sums of the data transferred.

use etwkit_decode::afd::{Operation, SocketEvent, SocketReader, Stage, WINSOCK_AFD};
use etwkit_decode::kernel::Hook;
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::declared::{Events, Topic, sums};
use crate::import::pipeline::{Actor, Context, Declaration, Importer, Learned, key};
use crate::sink::{Sink, SinkError};
use crate::table::{Row, Socket};

pub(crate) const DECLARATION: Declaration = Declaration {
    // Rows are sums of these events, so they also stay events of their own.
    hears: &[Events::Provider(WINSOCK_AFD, &[])],
    tables: &[sums(Socket::TABLE)],
    topics: &[Topic {
        place: 225,
        name: "sockets",
        answers: "which process sent and received over which socket",
        recorded_by: "Microsoft-Windows-Winsock-AFD",
        events: &[Events::Provider(WINSOCK_AFD, &[])],
        tables: &[Socket::TABLE],
    }],
    make: |_| Box::new(Sockets::default()),
    ..Declaration::EMPTY
};

/// Maximum number of open sockets. If there are more, all of them are written, and later events of
/// the same sockets create further rows.
const MAX_OPEN: usize = 1 << 18;

/// The severity bits of an NTSTATUS: errors have both of them.
const ERROR: u32 = 0xC000_0000;

/// Follows sockets by the address of their endpoint.
#[derive(Debug, Default)]
struct Sockets {
    reader: SocketReader,
    open: FxHashMap<u64, Socket>,
}

impl Importer for Sockets {
    fn hear(
        &mut self,
        _: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some(socket_event) = self.reader.read(event, &mut context.decoder) else {
            return Ok(());
        };
        let ns = context.ns(event.timestamp);
        let is_new =
            socket_event.operation == Operation::Create && socket_event.stage == Stage::Enter;
        // Only an event that enters a creation proves that a socket is new. A creation that exits
        // belongs to the socket at hand.
        if is_new && let Some(row) = self.open.remove(&socket_event.endpoint) {
            // The address was reused, so the close of the socket before was lost.
            write(&row, context, sink)?;
        // The address is new and there is no room, so that all rows are written once and the map
        // starts empty.
        } else if self.open.len() >= MAX_OPEN {
            self.write_all(context, sink)?;
        }
        let actor = Actor::of(event, context);
        // A creation can be made for another process; the event then names it.
        let created_for = socket_event.pid.filter(|pid| *pid != 0);
        let created_for =
            created_for.and_then(|pid| context.directory.process_at(pid, event.timestamp));
        let row = self
            .open
            .entry(socket_event.endpoint)
            .or_insert_with(|| Socket {
                endpoint: socket_event.endpoint as i64,
                first_ns: ns,
                ..Socket::default()
            });
        // Incoming data is reported in the context of the thread that happens to run; only requests
        // come from a thread of the process.
        if socket_event.stage != Stage::Internal {
            // The named process comes first, then the one that was known before: a socket that is
            // handed on keeps its creator.
            row.process_key = key(created_for).or(row.process_key).or(key(actor.process));
        }
        happened(row, &socket_event, ns);
        // Counted when a request is complete, because only then its size and its result are known.
        if socket_event.stage == Stage::Exit && context.range.contains(ns) {
            count(row, &socket_event);
        }
        // The row is written when the close is complete, so that failures of the close are in it.
        let is_closed =
            socket_event.operation == Operation::Close && socket_event.stage == Stage::Exit;
        if is_closed && let Some(row) = self.open.remove(&socket_event.endpoint) {
            return write(&row, context, sink);
        }
        Ok(())
    }

    fn finish(
        mut self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.write_all(context, sink)
    }
}

impl Sockets {
    fn write_all(
        &mut self,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let mut rows: Vec<Socket> = self.open.drain().map(|(_, row)| row).collect();
        // A hash map has no order, and the same input has to give the same output.
        rows.sort_unstable_by_key(|row| (row.first_ns, row.endpoint));
        rows.iter().try_for_each(|row| write(row, context, sink))
    }
}

/// Adds a completed request to the sums.
fn count(row: &mut Socket, socket_event: &SocketEvent) {
    // Warnings and informational codes are not failures: both severity bits have to be set.
    if let Some(failure) = socket_event.status.filter(|status| status & ERROR == ERROR) {
        row.failures += 1;
        row.last_failure = Some(failure as i32);
    }
    let (count, sum) = match socket_event.operation {
        Operation::Send => (&mut row.sends, &mut row.send_bytes),
        Operation::Receive => (&mut row.receives, &mut row.receive_bytes),
        _ => return,
    };
    *count += 1;
    if let Some(bytes) = socket_event.bytes {
        *sum = sum.saturating_add(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}

/// Records the event of a socket: creation, connection, addresses and close.
fn happened(row: &mut Socket, socket_event: &SocketEvent, ns: i64) {
    match (socket_event.operation, socket_event.stage) {
        (Operation::Create, Stage::Enter) => {
            row.create_ns = Some(ns);
            if let Some((family, socket_type, protocol)) = socket_event.kind {
                row.address_family = i32::try_from(family).ok();
                row.socket_type = i32::try_from(socket_type).ok();
                row.protocol = i32::try_from(protocol).ok();
            }
        }
        (Operation::Close, Stage::Enter) => row.close_ns = Some(ns),
        // A close whose beginning was lost ends at least now.
        (Operation::Close, Stage::Exit) => _ = row.close_ns.get_or_insert(ns),
        // The first connect counts; a socket can try again after a failure.
        (Operation::Connect, Stage::Enter) => _ = row.connect_ns.get_or_insert(ns),
        (Operation::Connect, Stage::Exit) => {
            row.connected_ns = Some(ns);
            row.connect_status = socket_event.status.map(|status| status as i32);
        }
        _ => {}
    }
    let address = match socket_event.operation {
        Operation::Connect => &mut row.remote_address,
        Operation::Bind => &mut row.local_address,
        _ => return,
    };
    if let Some(text) = &socket_event.address {
        *address = Some(text.clone());
    }
}

/// Writes a socket that existed in the part of the trace that is extracted.
fn write(row: &Socket, context: &mut Context<'_>, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let range = context.range;
    // Written if its life touches the range, although its counts are only of events in the range.
    if row.first_ns > range.end_ns || row.close_ns.is_some_and(|ns| ns < range.start_ns) {
        return Ok(());
    }
    context.tables.push(row, sink)
}
