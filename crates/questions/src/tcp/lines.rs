//! Lines of text about TCP connections.

use super::{TcpRequest, TcpRetransmitRow, TcpSort, TcpTotal};
use etwkit_question::Format::{Milliseconds, Moment};
use etwkit_question::{Line, Value};

/// Returns `true` if totals are packets, not bytes.
pub(super) fn counts(asked: &TcpRequest) -> bool {
    asked.sort == TcpSort::TotalCount
}

/// Formats bytes per second as MiB.
pub(super) fn rate(bytes_per_s: Option<f64>) -> Value {
    bytes_per_s.map(|rate| rate / 1_048_576.0).into()
}

pub(super) fn retransmit_line(row: &TcpRetransmitRow) -> Line {
    let client = if row.kind == "client" {
        " ClientRetransmission: True"
    } else {
        ""
    };
    let probe = if row.kind == "tail_loss_probe" {
        " TailLossProbe: True"
    } else {
        ""
    };
    Line::new(format!("    {} ms delay at ", milliseconds(row.delay_ns)))
        .value(Moment, row.ts_ns)
        .words(" ")
        .whole(row.size_bytes)
        .words(format!(
            " bytes SequenceNr: {}{client}{probe}",
            row.sequence
        ))
}

/// Returns whole milliseconds, rounded half to even.
pub(super) fn milliseconds(ns: i64) -> i64 {
    let whole = ns.div_euclid(1_000_000);
    let rest = ns.rem_euclid(1_000_000);
    whole.saturating_add(i64::from(
        rest > 500_000 || (rest == 500_000 && whole % 2 != 0),
    ))
}

const PACKETS: [&str; 2] = ["packet", "packets"];

pub(super) fn total_line(total: &TcpTotal) -> Line {
    Line::new("Total: received ")
        .counted(total.received_packets, PACKETS)
        .words(", ")
        .whole(total.received_bytes)
        .words(" B; sent ")
        .counted(total.sent_packets, PACKETS)
        .words(", ")
        .whole(total.sent_bytes)
        .words(" B; together ")
        .whole(total.received_bytes.saturating_add(total.sent_bytes))
        .words(" B; ")
        .counted(total.retransmits, ["retransmission", "retransmissions"])
        .words(", ")
        .value(Milliseconds, total.retransmit_ns)
        .words(" ms; ")
        .counted(total.connections, ["connection", "connections"])
}
