//! TCP connections, single ones or by their ends.

use etwkit_question::declare;
mod lines;
mod order;
pub mod post;
mod rows;
mod view;

use std::collections::HashMap;

pub use self::order::{NumberRanges, TcpNumber, TcpSort};
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, ProcessQuery};
use etwkit_question::zero::ZeroTime;
use etwkit_question::{Error, Result, ask, has_rows};
use etwkit_question::{group, option};
use etwkit_sql::Session;

declare! {
    /// Rows for several connections.
    pub words TcpGroup {
        "source-ip-port-remote-ip" => SourceIpPortRemoteIp = "Local address and port, remote address.",
        "source-ip-remote-ip" => SourceIpRemoteIp = "Both addresses.",
    }
}

/// A single byte that is sent again is a keep-alive probe.
pub const RETRANSMIT_BYTES: Range = Range {
    min: 2,
    max: i64::MAX,
};

declare! {
    /// Options of `dump tcp`.
    #[derive(Eq)]
    pub request TcpRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Zero point of times
        zero: ZeroTime = group(),
        /// Let connections whose process is not known pass filters on processes
        unknown_process: bool = option("").called("unknown-process"),
        /// Only connections with these ends: local address:port and remote address:port, joined (*,
        /// ?, several with ;, ! excludes)
        ip_port: Option<String> = option("ENDS").called("ip-port"),
        /// Only connections with this local address:port
        source_ip_port: Option<String> = option("ENDS").called("local-ip-port").also(&["source-ip-port"]),
        /// Only connections with this remote address:port
        remote_ip_port: Option<String> = option("ENDS").called("remote-ip-port"),
        /// Only connections with these control blocks: 0x…
        tcb: Option<String> = option("TCBS"),
        /// Only connections that were reset because nothing was acknowledged in time
        reset: bool = option(""),
        /// Only connections with keep-alive probes
        keep_alive: bool = option("").called("keep-alive"),
        /// Order
        sort: TcpSort = option("ORDER").called("sort-by").shape(),
        /// One row for several connections
        group_by: Option<TcpGroup> = option("ENDS").called("group-by").or_none().shape(),
        /// A line for each retransmission; JSON and CSV have a row for each, with the columns of
        /// its connection
        show_retransmit: bool = option("").called("show-retransmit").shape(),
        /// Order of retransmissions
        by_delay: bool = option("ORDER").called("sort-retransmit-by").either("time", "delay").shape(),
        /// Only the last N retransmissions
        top_retransmits: Option<usize> = option("N").called("top-retransmits").shape(),
        /// Leave out the last N retransmissions first
        skip_retransmits: usize = option("N").called("skip-retransmits").shape(),
        /// Only retransmissions of the other side
        only_client_retransmit: bool = option("").called("only-client-retransmit"),
        /// Only retransmissions with this delay, and connections with one (ms)
        retransmit_delay: Range = option("A..B").called("retransmit-delay").unit(Unit::Milliseconds),
        /// Only retransmissions of so many bytes
        retransmit_bytes: Range =
            option("A..B").called("retransmit-bytes").unit(Unit::Bytes) => RETRANSMIT_BYTES,
        /// List what went wrong: post, sends that a filter let go too late
        issue: Option<String> =
            option("WHAT").among(&["post"]).excludes(&["group-by", "show-retransmit"]),
        /// Show times, delays, templates and control blocks
        details: bool = option("").output(),
        /// Show the counts of the system over the whole life of connections, and sends of programs
        stats: bool = option("").output(),
        /// Sums: file, below the rows; total, without rows; none
        show_total: TcpTotals = option("WHAT").called("show-total").output(),
        /// Limits of numbers of rows
        limits: NumberRanges = group(),
    }

    /// Sums to print.
    pub words TcpTotals {
        "file" => File = "Sums of the rows of a file, below them.",
        "total" => Total = "Without rows.",
        "none" => None = "None.",
    }

    /// A connection, or several with the same ends.
    pub row TcpRow: process {
        connection_id: i64 = "Number of the connection, of several the smallest one.",
        connections: i64 = "Connections.",
        ..process = "Process; missing if it is not known, or there are several.",
        processes: i64 = "Distinct processes.",
        kind: Option<String> = "How the trace first mentions it, for a single connection.",
        tcb: Option<String> = "Address of the control block, of a single connection.",
        local: Option<String> = "Local address and port, IPv6 in brackets.",
        remote: Option<String> = "Remote address and port; for several connections `address:* (n)`.",
        local_address: Option<String> = "Local address.",
        local_port: Option<i64> = "Local port; missing if there are several.",
        remote_address: Option<String> = "Remote address.",
        remote_port: Option<i64> = "Remote port; missing if there are several.",
        received_packets: i64 = "Packets received.",
        received_bytes: i64 = "Bytes received.",
        sent_packets: i64 = "Packets sent: the larger number of sends of the program and segments.",
        sent_bytes: i64 = "Bytes that programs sent; of segments where these are not recorded.",
        total_packets: i64 = "Packets in both directions.",
        total_bytes: i64 = "Bytes in both directions.",
        posts: i64 = "Sends of the program.",
        injects: i64 = "Sends that a filter held back.",
        segments: i64 = "Segments sent, those sent again included.",
        segment_bytes: i64 = "Bytes of these segments.",
        retransmits: i64 = "Retransmissions of both sides.",
        own_retransmits: i64 = "Retransmissions of this side: what it sent again.",
        client_retransmits: i64 = "Retransmissions of the other side: what was received again.",
        retransmit_percent: Option<f64> = "`own_retransmits` of the packets sent.",
        retransmit_ns: i64 = "Sum of the delays.",
        retransmit_min_ns: Option<i64> = "Shortest delay.",
        retransmit_max_ns: Option<i64> = "Longest delay.",
        retransmit_median_ns: Option<f64> =
            "Median of the delays; of an even number the mean of the two in the middle.",
        open_ns: Option<i64> = "When it was requested or accepted.",
        connected_ns: Option<i64> = "When it was established.",
        close_ns: Option<i64> = "When it was closed.",
        duration_ns: Option<i64> = "From opening to closing, or to the end of the trace.",
        abort_ns: Option<i64> = "When this side reset it.",
        remote_reset_ns: Option<i64> = "When the other side reset it.",
        retransmit_timeout_ns: Option<i64> = "When it was reset because nothing was acknowledged in time.",
        is_failed: bool = "Whether it, or one of them, could not be established.",
        keep_alives: i64 = "Keep-alive probes.",
        template: Option<String> = "Template of settings; missing if there are several.",
        last_send_ns: Option<i64> = "Last packet sent.",
        last_receive_ns: Option<i64> = "Last packet received.",
        max_send_gap_ns: Option<i64> = "Longest time between two sends.",
        max_receive_gap_ns: Option<i64> = "Longest time between two receipts.",
        send_bytes_per_s: Option<f64> = "Bytes sent for each second of bursts.",
        receive_bytes_per_s: Option<f64> = "Bytes received for each second of bursts.",
        stat_in_bytes: Option<i64> = "Bytes received over the whole life, as the system counted.",
        stat_out_bytes: Option<i64> = "Bytes sent over the whole life.",
        stat_in_packets: Option<i64> = "Packets received over the whole life.",
        stat_out_packets: Option<i64> = "Packets sent over the whole life.",
        rtt_ns: Option<i64> = "Round-trip time at the end.",
        min_rtt_ns: Option<i64> = "Shortest round-trip time.",
        max_rtt_ns: Option<i64> = "Longest round-trip time.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// Data that was sent or received again.
    pub row TcpRetransmitRow {
        connection_id: i64 = "Number of the connection, of several in a row the smallest one.",
        ts_ns: i64 = "When it was sent or received again.",
        first_ns: i64 = "When it was last sent, or first received.",
        delay_ns: i64 = "Time between the two.",
        size_bytes: i64 = "Bytes.",
        sequence: i64 = "Sequence number of the first byte.",
        kind: String = "`retransmit`, `tail_loss_probe`, or `client`: the other side sent it again.",
    }
}

/// Sums over rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpTotal {
    /// Connections.
    pub connections: i64,
    /// Packets received.
    pub received_packets: i64,
    /// Bytes received.
    pub received_bytes: i64,
    /// Packets sent.
    pub sent_packets: i64,
    /// Bytes sent.
    pub sent_bytes: i64,
    /// Retransmissions.
    pub retransmits: i64,
    /// Sum of their delays.
    pub retransmit_ns: i64,
}

/// Connections.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TcpAnswer {
    /// Rows, ascending.
    pub rows: Vec<TcpRow>,
    /// The retransmissions of each row, in order of time.
    pub retransmits: Vec<Vec<TcpRetransmitRow>>,
    /// Sums over the rows.
    pub total: TcpTotal,
}

impl TcpRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        format!(
            "{with}
SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
{rows}
) k{limits}
ORDER BY sort_value, total_bytes, connection_id DESC",
            with = self.with(),
            rows = self.rows_sql(),
            sort = self.sort.sql(),
            limits = self.conditions_of_rows(),
        )
    }

    fn conditions_of_rows(&self) -> Conditions {
        let limits_system = self
            .limits
            .iter()
            .any(|(number, range)| number.is_of_system() && !range.is_unlimited());
        let limits = self.limits.iter();
        Conditions::new()
            // A condition on a range takes a missing number for 0, but a connection without
            // counters of the system did not transfer 0 bytes.
            .when(limits_system, "stat_in_bytes IS NOT NULL")
            .when(!self.retransmit_delay.is_unlimited(), "retransmits > 0")
            .ranges(limits.map(|(number, range)| (number.column(), *range)))
    }

    /// Runs the question and returns its answer.
    ///
    /// # Errors
    /// No connections were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<TcpAnswer> {
        recorded(session)?;
        let mut rows: Vec<TcpRow> = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        // Retransmissions are read once for all rows and then assigned, instead of one question for
        // each row.
        let places: HashMap<i64, usize> =
            rows.iter().map(|row| row.connection_id).zip(0..).collect();
        let mut retransmits = vec![Vec::new(); rows.len()];
        for row in ask::<TcpRetransmitRow>(session, &self.retransmits_sql())? {
            let place = places.get(&row.connection_id);
            if let Some(list) = place.and_then(|place| retransmits.get_mut(*place)) {
                list.push(row);
            }
        }
        Ok(TcpAnswer {
            total: total(&rows),
            rows,
            retransmits,
        })
    }
}

/// Checks that there are connections.
pub(super) fn recorded(session: &Session) -> Result<()> {
    if has_rows(session, "tcp_connection")? {
        return Ok(());
    }
    Err(Error::NotRecorded {
        what: "TCP connections",
        how: "record with the provider Microsoft-Windows-TCPIP, for example `wpr -start Network`",
        tables: vec!["tcp_connection"],
    })
}

pub(super) fn total<'r>(rows: impl IntoIterator<Item = &'r TcpRow>) -> TcpTotal {
    rows.into_iter()
        .fold(TcpTotal::default(), |sum, row| TcpTotal {
            connections: sum.connections.saturating_add(row.connections),
            received_packets: sum.received_packets.saturating_add(row.received_packets),
            received_bytes: sum.received_bytes.saturating_add(row.received_bytes),
            sent_packets: sum.sent_packets.saturating_add(row.sent_packets),
            sent_bytes: sum.sent_bytes.saturating_add(row.sent_bytes),
            retransmits: sum.retransmits.saturating_add(row.retransmits),
            retransmit_ns: sum.retransmit_ns.saturating_add(row.retransmit_ns),
        })
}
