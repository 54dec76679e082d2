//! Orders and limits of TCP connections.

/// Orders of connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TcpSort {
    /// Retransmissions, then bytes.
    #[default]
    RetransmissionCount,
    /// Sum of the delays of retransmissions.
    RetransmissionTime,
    /// Longest delay of a retransmission.
    MaxRetransmissionTime,
    /// Packets received.
    ReceivedCount,
    /// Packets sent.
    SentCount,
    /// Bytes received.
    ReceivedSize,
    /// Bytes sent.
    SentSize,
    /// Packets in both directions.
    TotalCount,
    /// Bytes in both directions.
    TotalSize,
    /// When it was opened.
    ConnectTime,
    /// When it was closed.
    DisconnectTime,
    /// When this side reset it.
    ClientResetTime,
    /// Last packet sent.
    LastSentTime,
    /// Last packet received.
    LastReceivedTime,
    /// Longest time between two sends.
    MaxSendDelay,
    /// Longest time between two receipts.
    MaxReceiveDelay,
    /// Bytes sent for each second of bursts.
    SendRate,
    /// Bytes received for each second of bursts.
    ReceiveRate,
    /// Sends of the program.
    Post,
    /// Sends that a filter held back.
    Inject,
}

impl TcpSort {
    /// What rows are sorted by.
    pub(super) const fn value(self) -> &'static str {
        match self {
            Self::RetransmissionCount => "retransmits",
            Self::RetransmissionTime => "retransmit_ns",
            Self::MaxRetransmissionTime => "coalesce(retransmit_max_ns, 0)",
            Self::ReceivedCount => "received_packets",
            Self::SentCount => "sent_packets",
            Self::ReceivedSize => "received_bytes",
            Self::SentSize => "sent_bytes",
            Self::TotalCount => "total_packets",
            Self::TotalSize => "total_bytes",
            Self::ConnectTime => "coalesce(open_ns, 0)",
            Self::DisconnectTime => "coalesce(close_ns, 0)",
            Self::ClientResetTime => "coalesce(abort_ns, 0)",
            Self::LastSentTime => "coalesce(last_send_ns, 0)",
            Self::LastReceivedTime => "coalesce(last_receive_ns, 0)",
            Self::MaxSendDelay => "coalesce(max_send_gap_ns, 0)",
            Self::MaxReceiveDelay => "coalesce(max_receive_gap_ns, 0)",
            Self::SendRate => "coalesce(send_bytes_per_s, 0)",
            Self::ReceiveRate => "coalesce(receive_bytes_per_s, 0)",
            Self::Post => "posts",
            Self::Inject => "injects",
        }
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
    /// When it was opened, ns.
    Connect,
    /// When it was closed, ns.
    Disconnect,
    /// Last packet sent, ns.
    LastSent,
    /// Last packet received, ns.
    LastReceived,
    /// When this side reset it, ns.
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
    /// Its column.
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
            // A connection that was there before the trace is older than any.
            Self::Duration => "coalesce(duration_ns, 9223372036854775807)",
            Self::SendDelay => "max_send_gap_ns",
            Self::ReceiveDelay => "max_receive_gap_ns",
            Self::SendRate => "send_bytes_per_s",
            Self::ReceiveRate => "receive_bytes_per_s",
            Self::Post => "posts",
            Self::Inject => "injects",
        }
    }

    /// What the system counted: connections without such an event have no number, not even 0.
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
