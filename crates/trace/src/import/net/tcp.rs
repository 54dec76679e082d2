//! TCP connections and their events.

use std::collections::HashMap;
use std::net::SocketAddr;

use etwkit_decode::kernel::net::Ends;
use etwkit_decode::tcpip::{TCPIP, TcpEvent, TcpEventKind, TcpReader, template_name};
use etwkit_etl::RawEvent;

use super::tcp_connection::Live;
use crate::declared::{Events, Topic, rows, sums};
use crate::import::pipeline::inline_stack::inline_stack;
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, Learned, key, waiting};
use crate::sink::{Sink, SinkError};
use crate::table::{self, Row};

const EVENTS: Events = Events::Provider(TCPIP, &[]);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    tables: &[
        sums(table::TcpConnection::TABLE),
        sums(table::TcpRetransmit::TABLE),
        rows(table::TcpEvent::TABLE),
    ],
    topics: &[Topic {
        place: 210,
        name: "TCP connections",
        answers: "retransmits, resets, round trips",
        recorded_by: "Microsoft-Windows-TCPIP",
        events: &[EVENTS],
        tables: &[
            table::TcpConnection::TABLE,
            table::TcpRetransmit::TABLE,
            table::TcpEvent::TABLE,
        ],
    }],
    make: |_| Box::new(Tcp::default()),
    ..Declaration::EMPTY
};

/// Maximum number of connections followed at the same time. When it is reached, the rows of all of
/// them are written. No machine has this many, but a malicious file can.
const MAX_LIVE: usize = 1 << 18;

/// A template belongs to the connection that starts within this time after it.
const TEMPLATE_NS: i64 = 1_000_000;

/// Follows the connections.
#[derive(Debug, Default)]
struct Tcp {
    reader: TcpReader,
    /// The connection of each control block.
    live: HashMap<u64, Live>,
    /// Time and template reported for a control block without an open connection: it belongs to the
    /// next connection of that control block.
    templates: HashMap<u64, (i64, Option<&'static str>)>,
    /// Number of connections so far.
    count: i32,
}

impl Tcp {
    fn event(
        &mut self,
        kind: TcpEventKind,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        // Fields are read by name, since the layouts of this provider differ between versions of
        // Windows.
        let Some(tcp_event) = self.reader.read(kind, event, &mut context.decoder) else {
            return Ok(false);
        };
        let ns = context.ns(event.timestamp);
        let is_in_range = context.range.contains(ns);
        if self.begins(&tcp_event) {
            self.begin(&tcp_event, ns, context, sink)?;
        } else if self
            .live
            .get(&tcp_event.tcb)
            .is_none_or(|live| live.is_closed)
            // Only a template may come before its connection. Everything else about an unknown
            // control block belongs to a connection from before the trace.
            && kind == TcpEventKind::Template
        {
            self.keep_template(&tcp_event, ns);
            return Ok(false);
        } else if !self.live.contains_key(&tcp_event.tcb) {
            if kind == TcpEventKind::Summary && tcp_event.ends.is_none() {
                // Without addresses, the connection of the summary is unknown.
                return Ok(false);
            }
            // A connection that was open before the trace gets its row with the first event about
            // it.
            self.make_room(context, sink)?;
            let mut connection = Live::new(self.count, "unknown", tcp_event.tcb, ns);
            connection.row.template = self
                .templates
                .remove(&tcp_event.tcb)
                .and_then(|(_, template)| template);
            self.count += 1;
            self.live.insert(tcp_event.tcb, connection);
        }
        let Some(live) = self.live.get_mut(&tcp_event.tcb) else {
            return Ok(false);
        };
        identify(live, &tcp_event, event, context);
        // A connection has a row if any of its events is in the range.
        // Not assigned but added: an earlier event may have been in the range.
        live.is_in_range |= is_in_range;
        if !is_in_range {
            happened_outside(live, &tcp_event, ns);
            return Ok(true);
        }
        if let Some(again) = happened(live, &tcp_event, ns) {
            context.tables.push(&again, sink)?;
        }
        if matches!(kind, TcpEventKind::Summary | TcpEventKind::Template) {
            // Summaries and templates have fields that no column shows, so they stay events of
            // their own.
            // The row of the connection has taken what it needs.
            return Ok(false);
        }
        let connection_id = live.row.connection_id;
        single(connection_id, &tcp_event, ns, event, context);
        Ok(true)
    }

    /// True if an event is about another connection than the previous one with this control block.
    fn begins(&self, tcp_event: &TcpEvent) -> bool {
        match tcp_event.kind {
            TcpEventKind::Connect | TcpEventKind::Accept => true,
            // Connections are reported when a session starts and when it ends.
            // A rundown at the end lists connections that are known already. The addresses decide,
            // because a control block may have been reused unseen.
            TcpEventKind::Rundown => self.live.get(&tcp_event.tcb).is_none_or(|live| {
                let is_same = tcp_event
                    .ends
                    .is_some_and(|ends| live.row.local_address.is_none() || has_ends(live, &ends));
                live.is_closed || !is_same
            }),
            _ => false,
        }
    }

    fn begin(
        &mut self,
        tcp_event: &TcpEvent,
        ns: i64,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.make_room(context, sink)?;
        let mut connection = Live::new(self.count, tcp_event.kind.name(), tcp_event.tcb, ns);
        self.count += 1;
        // A connection in the rundown was opened before.
        if tcp_event.kind != TcpEventKind::Rundown && context.range.contains(ns) {
            connection.row.open_ns = Some(ns);
        }
        let template = self.templates.remove(&tcp_event.tcb);
        // The template is chosen while the connection is set up. An older one belongs to a
        // connection whose start was lost.
        let template = template.filter(|(at, _)| {
            // A rundown lists connections of any age, so the age of the template does not matter.
            ns.saturating_sub(*at) <= TEMPLATE_NS || tcp_event.kind == TcpEventKind::Rundown
        });
        connection.row.template = template.and_then(|(_, template)| template);
        // A control block is reused, so its previous connection is over, although no close was
        // seen.
        let before = self.live.insert(tcp_event.tcb, connection);
        before.map_or(Ok(()), |before| write(before, context, sink))
    }

    fn keep_template(&mut self, tcp_event: &TcpEvent, ns: i64) {
        if self.templates.len() >= MAX_LIVE {
            // A template is removed when its connection follows, so a full map holds templates of
            // malicious input.
            self.templates.clear();
        }
        self.templates.insert(
            tcp_event.tcb,
            (ns, tcp_event.template.and_then(template_name)),
        );
    }

    fn make_room(
        &mut self,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        if self.live.len() < MAX_LIVE {
            Ok(())
        } else {
            // Written rather than dropped: what was counted so far is true, and later events start
            // another row.
            self.write_all(context, sink)
        }
    }

    fn write_all(
        &mut self,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let mut all: Vec<Live> = self.live.drain().map(|(_, live)| live).collect();
        // A hash map has no order, and the same input has to give the same output.
        // By number and not by time: several connections may have one first time.
        all.sort_by_key(|live| live.row.connection_id);
        all.into_iter()
            .try_for_each(|live| write(live, context, sink))
    }
}

impl Importer for Tcp {
    fn other(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let Some(kind) = TcpReader::kind(event) else {
            return Ok(false);
        };
        self.event(kind, event, context, sink)
    }

    /// Writes the connections that are left.
    fn finish(
        mut self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.write_all(context, sink)
    }
}

fn write(live: Live, context: &mut Context<'_>, sink: &mut dyn Sink) -> Result<(), SinkError> {
    if !live.is_in_range {
        return Ok(());
    }
    context.tables.push(&live.finished(), sink)
}

fn has_ends(live: &Live, ends: &Ends) -> bool {
    // Compared as texts, because rows hold texts and this happens only for rundowns.
    let same = |address: &Option<String>, port: Option<i32>, end: SocketAddr| {
        address.as_deref() == Some(&end.ip().to_string()) && port == Some(end.port().into())
    };
    same(&live.row.local_address, live.row.local_port, ends.local)
        && same(&live.row.remote_address, live.row.remote_port, ends.remote)
}

/// Takes process and ends of a connection from its events if they were unknown.
fn identify(live: &mut Live, tcp_event: &TcpEvent, event: &RawEvent<'_>, context: &Context<'_>) {
    let row = &mut live.row;
    if let Some(ends) = tcp_event.ends.filter(|_| row.local_address.is_none()) {
        row.local_address = Some(ends.local.ip().to_string());
        row.local_port = Some(ends.local.port().into());
        row.remote_address = Some(ends.remote.ip().to_string());
        row.remote_port = Some(ends.remote.port().into());
    }
    let pid = match tcp_event.kind {
        // Only this event is logged in a thread of the process that requests the connection.
        // The header of other events names the process that happened to run while the packet was
        // handled.
        TcpEventKind::Connect => event.process_id(),
        // The owner that is reported when the connection is established replaces an earlier one.
        TcpEventKind::Connected => tcp_event.pid,
        // A later event may name the process of the driver that cleans up; the first one is the
        // owner.
        _ => tcp_event.pid.filter(|_| row.process_key.is_none()),
    };
    let process = pid.and_then(|pid| context.directory.process_at(pid, event.timestamp));
    row.process_key = key(process).or(row.process_key);
}

/// Adds an event. Returns data that was sent or received again.
fn happened(live: &mut Live, tcp_event: &TcpEvent, ns: i64) -> Option<table::TcpRetransmit> {
    let row = &mut live.row;
    let sum = |count: &mut i64, sum: &mut i64| {
        *count += 1;
        let bytes = tcp_event.bytes.map_or(0, i64::from);
        *sum = sum.saturating_add(bytes);
    };
    match tcp_event.kind {
        // The first time counts, since damaged or merged traces repeat events.
        TcpEventKind::Connected => _ = row.connected_ns.get_or_insert(ns),
        TcpEventKind::ConnectFailed => {
            row.is_failed = true;
            row.close_ns.get_or_insert(ns);
            live.is_closed = true;
        }
        TcpEventKind::Close | TcpEventKind::Shutdown => {
            row.close_ns.get_or_insert(ns);
            live.is_closed = true;
        }
        TcpEventKind::Abort => _ = row.abort_ns.get_or_insert(ns),
        TcpEventKind::RemoteReset => _ = row.remote_reset_ns.get_or_insert(ns),
        TcpEventKind::RetransmitTimeout => _ = row.retransmit_timeout_ns.get_or_insert(ns),
        TcpEventKind::Post => sum(&mut row.posts, &mut row.post_bytes),
        TcpEventKind::Inject => sum(&mut row.injects, &mut row.inject_bytes),
        TcpEventKind::KeepAlive => row.keep_alives += 1,
        TcpEventKind::Template => row.template = tcp_event.template.and_then(template_name),
        TcpEventKind::Send => {
            // Without a sequence number the segment is left out of all sums of this direction, so
            // that they agree with each other.
            let (sequence, bytes) = segment(tcp_event)?;
            live.sent(ns, sequence, bytes);
        }
        TcpEventKind::Receive => {
            let (sequence, bytes) = segment(tcp_event)?;
            return live.received(ns, sequence, bytes);
        }
        TcpEventKind::Retransmit | TcpEventKind::TailLossProbe => {
            return live.retransmitted(tcp_event.kind.name(), ns, tcp_event.sequence?);
        }
        TcpEventKind::Summary => {
            if let Some(summary) = &tcp_event.summary {
                live.counted(summary);
            }
        }
        TcpEventKind::Connect | TcpEventKind::Accept | TcpEventKind::Rundown => {}
    }
    None
}

/// Sequence number and length of the data of an event. Without them the data is not looked for: the
/// number 0 is one that data can have, so all these events would be repetitions of each other.
fn segment(tcp_event: &TcpEvent) -> Option<(u32, u32)> {
    tcp_event.sequence.zip(tcp_event.bytes)
}

/// Applies an event outside the range as far as it affects later ones: a reusable control block,
/// the template, sent sequence numbers.
fn happened_outside(live: &mut Live, tcp_event: &TcpEvent, ns: i64) {
    match tcp_event.kind {
        // Closing is followed outside the range as well: otherwise a later connection with this
        // control block would be added to the old one.
        TcpEventKind::Close | TcpEventKind::Shutdown | TcpEventKind::ConnectFailed => {
            live.is_closed = true;
        }
        TcpEventKind::Template => live.row.template = tcp_event.template.and_then(template_name),
        TcpEventKind::Send => {
            let Some((sequence, bytes)) = segment(tcp_event) else {
                return;
            };
            // Data sent before the range may be sent again inside of it, and the delay counts from
            // the first time.
            live.send.sequences.put(sequence, ns, bytes);
        }
        _ => {}
    }
}

/// The row of the event itself.
fn single(
    connection_id: i32,
    tcp_event: &TcpEvent,
    ns: i64,
    event: &RawEvent<'_>,
    context: &mut Context<'_>,
) {
    let wide = |number: Option<u32>| number.map(i64::from);
    let row = table::TcpEvent {
        ts_ns: ns,
        connection_id,
        thread_key: context.thread_key(event),
        kind: tcp_event.kind.name(),
        size_bytes: wide(tcp_event.bytes),
        sequence: wide(tcp_event.sequence),
        congestion_window_bytes: wide(tcp_event.state.congestion_window),
        send_window_bytes: wide(tcp_event.state.send_window),
        smoothed_rtt: wide(tcp_event.state.smoothed_rtt),
        retransmit_timeout: wide(tcp_event.state.retransmit_timeout),
        stack_id: None,
    };
    let process = event
        .process_id()
        .and_then(|pid| context.directory.process_at(pid, event.timestamp));
    let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
    context.wait_with(event.timestamp, process, &inline_stack(event), row);
}
