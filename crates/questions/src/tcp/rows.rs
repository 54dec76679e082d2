//! SQL of TCP connections: their selection, their rows, and the rates of rows of several
//! connections.

use super::{TcpGroup, TcpRequest};
use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::sql::{Conditions, process_columns_from};

/// Returns an end of a connection as text, IPv6 in brackets. Without an address it is `?`.
pub(super) fn end(side: &str) -> String {
    let address = format!("c.{side}_address");
    let port = format!("c.{side}_port");
    format!(
        "CASE WHEN {address} IS NULL THEN '?' WHEN strpos({address}, ':') > 0 THEN concat('[', {address}, ']:', {port}) \
         ELSE concat({address}, ':', {port}) END"
    )
}

/// Returns an address alone, in its form before a port.
fn address(side: &str) -> String {
    let address = format!("c.{side}_address");
    format!(
        "CASE WHEN {address} IS NULL THEN '?' WHEN strpos({address}, ':') > 0 THEN concat('[', {address}, ']') ELSE {address} END"
    )
}

impl TcpRequest {
    /// Returns conditions on `tcp_connection c` and its `process p`.
    pub(super) fn conditions(&self) -> Conditions {
        let local = end("local");
        let remote = end("remote");
        let both = format!("concat({local}, {remote})");
        self.of_process()
            .text(&both, self.ip_port.as_deref())
            .text(&local, self.source_ip_port.as_deref())
            .text(&remote, self.remote_ip_port.as_deref())
            .text("hex(c.tcb)", self.tcb.as_deref())
            .when(self.reset, "c.retransmit_timeout_ns IS NOT NULL")
            .when(self.keep_alive, "c.keep_alives > 0")
    }

    /// Returns the condition on the process. A connection without a process matches no filter on
    /// processes, unless these connections are requested as well.
    fn of_process(&self) -> Conditions {
        let of_process = self.processes.conditions();
        if self.unknown_process && !of_process.is_empty() {
            let all = of_process.joined();
            return Conditions::of(&format!("(c.process_key IS NULL OR ({all}))"));
        }
        of_process
    }

    /// Returns the expression by which rows are grouped.
    fn key(&self) -> String {
        match self.group_by {
            None => "c.connection_id".to_owned(),
            Some(TcpGroup::SourceIpPortRemoteIp) => {
                format!("concat({}, ' ', {})", end("local"), address("remote"))
            }
            Some(TcpGroup::SourceIpRemoteIp) => {
                format!("concat({}, ' ', {})", address("local"), address("remote"))
            }
        }
    }

    /// Returns `connection`: the selected connections, each with the number of its row; `again`:
    /// the selected retransmissions.
    pub(super) fn with(&self) -> String {
        let retransmits = Conditions::of("TRUE")
            .when(self.only_client_retransmit, "r.kind = 'client'")
            .range("r.size_bytes", self.retransmit_bytes)
            .range("r.delay_ns", self.retransmit_delay);
        format!(
            "WITH meant AS (
SELECT c.*, {key} AS row_key,
  {local} AS local_end, {remote} AS remote_end, {local_ip} AS local_ip, {remote_ip} AS remote_ip
FROM tcp_connection c
LEFT JOIN process p ON p.process_key = c.process_key{conditions}
),
connection AS (
SELECT c.*, k.row_id
FROM meant c JOIN (SELECT row_key, min(connection_id) AS row_id FROM meant GROUP BY row_key) k ON k.row_key = c.row_key
),
again AS (
SELECT c.row_id, r.ts_ns, r.kind, r.first_ns, r.delay_ns, r.size_bytes, r.sequence
FROM tcp_retransmit r JOIN connection c ON c.connection_id = r.connection_id{retransmits}
){rates}",
            key = self.key(),
            local = end("local"),
            remote = end("remote"),
            local_ip = address("local"),
            remote_ip = address("remote"),
            conditions = self.conditions(),
            rates = if self.group_by.is_some() { rates() } else { String::new() },
        )
    }

    /// Returns SQL of both ends and of the rates of a row, and the join that the rates need.
    const fn ends_sql(&self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self.group_by {
            None => (
                "min(local_end)",
                "min(remote_end)",
                "g.send_rate AS send_bytes_per_s, g.receive_rate AS receive_bytes_per_s",
                "",
            ),
            Some(group) => (
                match group {
                    TcpGroup::SourceIpPortRemoteIp => "min(local_end)",
                    TcpGroup::SourceIpRemoteIp => "min(local_ip)",
                },
                "concat(min(remote_ip), ':* (', count(*), ')')",
                // Extracts without single events have the rate of each connection, which is that of
                // a row with no other one.
                "coalesce(s.rate, CASE WHEN g.connections = 1 THEN g.send_rate END) AS send_bytes_per_s,
  coalesce(v.rate, CASE WHEN g.connections = 1 THEN g.receive_rate END) AS receive_bytes_per_s",
                "\nLEFT JOIN rate s ON s.row_id = g.row_id AND s.kind = 'send'
LEFT JOIN rate v ON v.row_id = g.row_id AND v.kind = 'receive'",
            ),
        }
    }

    /// Returns one row for each connection, or for several.
    pub(super) fn rows_sql(&self) -> String {
        let (local, remote, rates, rate_join) = self.ends_sql();
        // A row of several connections has only the values that all of them share.
        let one = |column: &str| {
            format!("CASE WHEN count(DISTINCT {column}) = 1 THEN min({column}) END AS {column}")
        };
        let trace_end = Covered::whole(Recorder::Any).end;
        // Bytes come from posts if these were recorded: a segment that is sent again carries no new
        // ones.
        let moved =
            |column: &str| format!("{} AS {column}", self.zero.moved(&format!("g.{column}")));
        format!(
            "SELECT g.row_id AS connection_id, g.connections, g.process_key, g.processes, {process},
  g.kind, hex(g.tcb) AS tcb, g.local, g.remote, g.local_address, g.local_port, g.remote_address, g.remote_port,
  g.received_packets, g.received_bytes, g.sent_packets, g.sent_bytes,
  g.received_packets + g.sent_packets AS total_packets, g.received_bytes + g.sent_bytes AS total_bytes,
  g.posts, g.injects, g.segments, g.segment_bytes,
  coalesce(a.retransmits, 0) AS retransmits,
  coalesce(a.retransmits, 0) - coalesce(a.client_retransmits, 0) AS own_retransmits,
  coalesce(a.client_retransmits, 0) AS client_retransmits,
  100.0 * (coalesce(a.retransmits, 0) - coalesce(a.client_retransmits, 0)) / nullif(g.sent_packets, 0) AS retransmit_percent,
  coalesce(a.retransmit_ns, 0) AS retransmit_ns, a.retransmit_min_ns, a.retransmit_max_ns, a.retransmit_median_ns,
  {open}, {connected}, {close}, coalesce(g.close_ns, (SELECT max({trace_end}) FROM trace)) - g.open_ns AS duration_ns,
  {abort}, {remote_reset}, {timeout}, g.is_failed, g.keep_alives, g.template, {last_send}, {last_receive},
  g.max_send_gap_ns, g.max_receive_gap_ns, {rates},
  g.stat_in_bytes, g.stat_out_bytes, g.stat_in_packets, g.stat_out_packets, g.rtt_ns, g.min_rtt_ns, g.max_rtt_ns
FROM (
SELECT row_id, count(*) AS connections, {process_key}, count(DISTINCT process_key) AS processes, {kind}, {tcb},
  {local} AS local, {remote} AS remote, {local_address}, {local_port}, {remote_address}, {remote_port},
  sum(receives) AS received_packets, sum(receive_bytes) AS received_bytes, sum(greatest(posts, sends)) AS sent_packets,
  sum(CASE WHEN posts + injects = 0 THEN send_bytes ELSE post_bytes END) AS sent_bytes,
  sum(posts) AS posts, sum(injects) AS injects, sum(sends) AS segments, sum(send_bytes) AS segment_bytes,
  min(open_ns) AS open_ns, min(connected_ns) AS connected_ns, max(close_ns) AS close_ns, max(abort_ns) AS abort_ns,
  max(remote_reset_ns) AS remote_reset_ns, max(retransmit_timeout_ns) AS retransmit_timeout_ns, bool_or(is_failed) AS is_failed,
  sum(keep_alives) AS keep_alives, {template}, max(last_send_ns) AS last_send_ns, max(last_receive_ns) AS last_receive_ns,
  max(max_send_gap_ns) AS max_send_gap_ns, max(max_receive_gap_ns) AS max_receive_gap_ns,
  max(send_bytes_per_s) AS send_rate, max(receive_bytes_per_s) AS receive_rate,
  sum(stat_in_bytes) AS stat_in_bytes, sum(stat_out_bytes) AS stat_out_bytes,
  sum(stat_in_packets) AS stat_in_packets, sum(stat_out_packets) AS stat_out_packets,
  max(rtt_ns) AS rtt_ns, min(min_rtt_ns) AS min_rtt_ns, max(max_rtt_ns) AS max_rtt_ns
FROM connection
GROUP BY row_id
) g
LEFT JOIN (
SELECT row_id, count(*) AS retransmits, count(*) FILTER (WHERE kind = 'client') AS client_retransmits,
  sum(delay_ns) AS retransmit_ns, min(delay_ns) AS retransmit_min_ns, max(delay_ns) AS retransmit_max_ns,
  median(CAST(delay_ns AS DOUBLE)) AS retransmit_median_ns
FROM again
GROUP BY row_id
) a ON a.row_id = g.row_id{rate_join}
LEFT JOIN process p ON p.process_key = g.process_key{zero}",
            process = process_columns_from(&self.zero),
            process_key = one("process_key"),
            kind = one("kind"),
            tcb = one("tcb"),
            template = one("template"),
            local_address = one("local_address"),
            local_port = one("local_port"),
            remote_address = one("remote_address"),
            remote_port = one("remote_port"),
            open = moved("open_ns"),
            connected = moved("connected_ns"),
            close = moved("close_ns"),
            abort = moved("abort_ns"),
            remote_reset = moved("remote_reset_ns"),
            timeout = moved("retransmit_timeout_ns"),
            last_send = moved("last_send_ns"),
            last_receive = moved("last_receive_ns"),
            zero = self.zero.join(),
        )
    }

    /// Returns the SQL for the retransmissions of all rows.
    #[must_use]
    pub fn retransmits_sql(&self) -> String {
        format!(
            "{}
SELECT a.row_id AS connection_id, {} AS ts_ns, {} AS first_ns, a.delay_ns, a.size_bytes, a.sequence, a.kind
FROM again a{}
ORDER BY ts_ns, connection_id, sequence",
            self.with(),
            self.zero.moved("a.ts_ns"),
            self.zero.moved("a.first_ns"),
            self.zero.join(),
        )
    }
}

/// `rate`: bytes per second of bursts, of the sends and receipts of all connections of a row
/// together. A burst ends before a gap of more than 350 ms; one without length or bytes does not
/// count.
// The mean over bursts is weighted by their bytes, so that a burst of a few bytes does not count as
// much as the transfer of a file.
fn rates() -> String {
    ",
flow AS (
SELECT c.row_id, e.kind, e.ts_ns, e.size_bytes,
  CASE WHEN e.ts_ns - lag(e.ts_ns) OVER (PARTITION BY c.row_id, e.kind ORDER BY e.ts_ns) > 350000000 THEN 1 ELSE 0 END AS begins
FROM tcp_event e JOIN connection c ON c.connection_id = e.connection_id
WHERE e.kind IN ('send', 'receive')
),
burst AS (
SELECT row_id, kind, sum(size_bytes) AS bytes, max(ts_ns) - min(ts_ns) AS length_ns
FROM (
SELECT *, sum(begins) OVER (PARTITION BY row_id, kind ORDER BY ts_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS number
FROM flow
)
GROUP BY row_id, kind, number
HAVING sum(size_bytes) > 0 AND max(ts_ns) > min(ts_ns)
),
rate AS (
SELECT row_id, kind, sum(1e9 * bytes / length_ns * bytes) / sum(bytes) AS rate
FROM burst
GROUP BY row_id, kind
)"
    .to_owned()
}
