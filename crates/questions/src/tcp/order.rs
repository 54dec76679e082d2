//! Orders and limits of TCP connections.

use etwkit_question::declare;
use etwkit_question::range::{Range, Unit};
use etwkit_question::{Opt, OptionError, OptionValue, Spec, Values, option};

declare! {
    /// Orders of connections.
    pub orders TcpSort {
        "retransmission-count" => RetransmissionCount: "retransmits" = "Retransmissions, then bytes.",
        "retransmission-time" => RetransmissionTime: "retransmit_ns" =
            "Sum of the delays of retransmissions.",
        "max-retransmission-time" => MaxRetransmissionTime: "coalesce(retransmit_max_ns, 0)" =
            "Longest delay of a retransmission.",
        "received-count" => ReceivedCount: "received_packets" = "Packets received.",
        "sent-count" => SentCount: "sent_packets" = "Packets sent.",
        "received-size" => ReceivedSize: "received_bytes" = "Bytes received.",
        "sent-size" => SentSize: "sent_bytes" = "Bytes sent.",
        "total-count" => TotalCount: "total_packets" = "Packets in both directions.",
        "total-size" => TotalSize: "total_bytes" = "Bytes in both directions.",
        "connect-time" => ConnectTime: "coalesce(open_ns, 0)" = "When it was opened.",
        "disconnect-time" => DisconnectTime: "coalesce(close_ns, 0)" = "When it was closed.",
        "client-reset-time" => ClientResetTime: "coalesce(abort_ns, 0)" = "When this side reset it.",
        "last-sent-time" => LastSentTime: "coalesce(last_send_ns, 0)" = "Last packet sent.",
        "last-received-time" => LastReceivedTime: "coalesce(last_receive_ns, 0)" = "Last packet received.",
        "max-send-delay" => MaxSendDelay: "coalesce(max_send_gap_ns, 0)" = "Longest time between two sends.",
        "max-receive-delay" => MaxReceiveDelay: "coalesce(max_receive_gap_ns, 0)" =
            "Longest time between two receipts.",
        "send-rate" => SendRate: "coalesce(send_bytes_per_s, 0)" = "Bytes sent for each second of bursts.",
        "receive-rate" => ReceiveRate: "coalesce(receive_bytes_per_s, 0)" =
            "Bytes received for each second of bursts.",
        "post" => Post: "posts" = "Sends of the program.",
        "inject" => Inject: "injects" = "Sends that a filter held back.",
    }
}

/// A number of rows that can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TcpNumber {
    /// Bytes sent.
    SentBytes,
    /// Bytes received.
    ReceivedBytes,
    /// Bytes in both directions.
    Bytes,
    /// Packets sent.
    SentPackets,
    /// Packets received.
    ReceivedPackets,
    /// Packets in both directions.
    Packets,
    /// Bytes in both directions over the whole life.
    StatBytes,
    /// Bytes received over the whole life.
    StatBytesIn,
    /// Bytes sent over the whole life.
    StatBytesOut,
    /// Packets in both directions over the whole life.
    StatPackets,
    /// Packets received over the whole life.
    StatPacketsIn,
    /// Packets sent over the whole life.
    StatPacketsOut,
    /// Retransmissions that remain.
    RetransmitCount,
    /// Time of opening, ns.
    Connect,
    /// Time of closing, ns.
    Disconnect,
    /// Last packet sent, ns.
    LastSent,
    /// Last packet received, ns.
    LastReceived,
    /// Time of the reset by this side, ns.
    ClientReset,
    /// From opening to closing, or to the end of the trace, ns.
    Duration,
    /// Longest time between two sends, ns.
    SendDelay,
    /// Longest time between two receipts, ns.
    ReceiveDelay,
    /// Bytes sent for each second.
    SendRate,
    /// Bytes received for each second.
    ReceiveRate,
    /// Sends of the program.
    Post,
    /// Sends that a filter held back.
    Inject,
}

impl TcpNumber {
    /// Returns its column.
    pub(super) const fn column(self) -> &'static str {
        match self {
            Self::SentBytes => "sent_bytes",
            Self::ReceivedBytes => "received_bytes",
            Self::Bytes => "total_bytes",
            Self::SentPackets => "sent_packets",
            Self::ReceivedPackets => "received_packets",
            Self::Packets => "total_packets",
            Self::StatBytes => "stat_in_bytes + stat_out_bytes",
            Self::StatBytesIn => "stat_in_bytes",
            Self::StatBytesOut => "stat_out_bytes",
            Self::StatPackets => "stat_in_packets + stat_out_packets",
            Self::StatPacketsIn => "stat_in_packets",
            Self::StatPacketsOut => "stat_out_packets",
            Self::RetransmitCount => "retransmits",
            Self::Connect => "open_ns",
            Self::Disconnect => "close_ns",
            Self::LastSent => "last_send_ns",
            Self::LastReceived => "last_receive_ns",
            Self::ClientReset => "abort_ns",
            // A connection from before the trace is older than any other.
            Self::Duration => "coalesce(duration_ns, 9223372036854775807)",
            Self::SendDelay => "max_send_gap_ns",
            Self::ReceiveDelay => "max_receive_gap_ns",
            Self::SendRate => "send_bytes_per_s",
            Self::ReceiveRate => "receive_bytes_per_s",
            Self::Post => "posts",
            Self::Inject => "injects",
        }
    }

    /// Returns `true` for the counters of the system: connections without this event have no
    /// number, not even 0.
    pub(super) const fn is_of_system(self) -> bool {
        matches!(
            self,
            Self::StatBytes
                | Self::StatBytesIn
                | Self::StatBytesOut
                | Self::StatPackets
                | Self::StatPacketsIn
                | Self::StatPacketsOut
        )
    }
}

/// Limits as options: their names, the limited numbers, units and sentences of help.
const LIMITS: &[(&str, TcpNumber, Unit, &str)] = &[
    (
        "sent-bytes",
        TcpNumber::SentBytes,
        Unit::Bytes,
        "Bytes sent",
    ),
    (
        "received-bytes",
        TcpNumber::ReceivedBytes,
        Unit::Bytes,
        "Bytes received",
    ),
    (
        "bytes",
        TcpNumber::Bytes,
        Unit::Bytes,
        "Bytes sent and received",
    ),
    (
        "sent-packets",
        TcpNumber::SentPackets,
        Unit::Count,
        "Packets sent",
    ),
    (
        "received-packets",
        TcpNumber::ReceivedPackets,
        Unit::Count,
        "Packets received",
    ),
    (
        "packets",
        TcpNumber::Packets,
        Unit::Count,
        "Packets sent and received",
    ),
    (
        "stat-bytes",
        TcpNumber::StatBytes,
        Unit::Bytes,
        "Bytes over the whole life, as the system counted; without its numbers a connection matches none of these",
    ),
    (
        "stat-bytes-in",
        TcpNumber::StatBytesIn,
        Unit::Bytes,
        "Bytes received over the whole life",
    ),
    (
        "stat-bytes-out",
        TcpNumber::StatBytesOut,
        Unit::Bytes,
        "Bytes sent over the whole life",
    ),
    (
        "stat-packets",
        TcpNumber::StatPackets,
        Unit::Count,
        "Packets over the whole life",
    ),
    (
        "stat-packets-in",
        TcpNumber::StatPacketsIn,
        Unit::Count,
        "Packets received over the whole life",
    ),
    (
        "stat-packets-out",
        TcpNumber::StatPacketsOut,
        Unit::Count,
        "Packets sent over the whole life",
    ),
    (
        "retransmit-count",
        TcpNumber::RetransmitCount,
        Unit::Count,
        "Retransmissions that remain",
    ),
    (
        "connect",
        TcpNumber::Connect,
        Unit::Seconds,
        "When it was opened (s; 0 if before the trace)",
    ),
    (
        "disconnect",
        TcpNumber::Disconnect,
        Unit::Seconds,
        "When it was closed (s; 0 if still open)",
    ),
    (
        "last-sent",
        TcpNumber::LastSent,
        Unit::Seconds,
        "Last packet sent (s; 0 if none)",
    ),
    (
        "last-received",
        TcpNumber::LastReceived,
        Unit::Seconds,
        "Last packet received (s; 0 if none)",
    ),
    (
        "client-reset",
        TcpNumber::ClientReset,
        Unit::Seconds,
        "When this side reset it (s; 0 if it did not)",
    ),
    (
        "connection-duration",
        TcpNumber::Duration,
        Unit::Seconds,
        "From opening to closing or the end of the trace (s); one that was open before is longer than any",
    ),
    (
        "send-delay",
        TcpNumber::SendDelay,
        Unit::Seconds,
        "Longest time between two sends (s)",
    ),
    (
        "receive-delay",
        TcpNumber::ReceiveDelay,
        Unit::Seconds,
        "Longest time between two receipts (s)",
    ),
    (
        "send-rate",
        TcpNumber::SendRate,
        Unit::Mebibytes,
        "MiB sent for each second of bursts",
    ),
    (
        "receive-rate",
        TcpNumber::ReceiveRate,
        Unit::Mebibytes,
        "MiB received for each second of bursts",
    ),
    ("post", TcpNumber::Post, Unit::Count, "Sends of programs"),
    (
        "inject",
        TcpNumber::Inject,
        Unit::Count,
        "Sends that a filter held back",
    ),
];

const fn limit(name: &'static str, unit: Unit) -> Spec {
    option("A..B")
        .called(name)
        .unit(unit)
        .below("Ranges over rows")
}

/// Ranges of numbers of a connection, with an option for each number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NumberRanges(Vec<(TcpNumber, Range)>);

impl NumberRanges {
    /// Returns each number that has a range.
    pub fn iter(&self) -> impl Iterator<Item = &(TcpNumber, Range)> {
        self.0.iter()
    }
}

impl FromIterator<(TcpNumber, Range)> for NumberRanges {
    fn from_iter<I: IntoIterator<Item = (TcpNumber, Range)>>(ranges: I) -> Self {
        Self(ranges.into_iter().collect())
    }
}

impl OptionValue for NumberRanges {
    fn options(&self, _: Spec) -> Vec<Opt> {
        let opt = |(name, _, unit, sentence): &(&'static str, TcpNumber, Unit, &'static str)| {
            Range::default().options(limit(name, *unit).of_field("", sentence))
        };
        LIMITS.iter().flat_map(opt).collect()
    }

    fn read(values: &Values, _: &Spec) -> Result<Option<Self>, OptionError> {
        let mut all = Vec::new();
        for (name, number, unit, _) in LIMITS {
            let range = Range::read(values, &limit(name, *unit))?;
            all.extend(
                range
                    .filter(|range| !range.is_unlimited())
                    .map(|range| (*number, range)),
            );
        }
        Ok(Some(Self(all)))
    }

    fn write(&self, _: &Spec, values: &mut Values) {
        for (number, range) in self.iter() {
            let known = LIMITS.iter().find(|(_, known, ..)| known == number);
            known
                .into_iter()
                .for_each(|(name, _, unit, _)| range.write(&limit(name, *unit), values));
        }
    }
}
