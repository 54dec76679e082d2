//! Arguments of `etwkit dump tcp`.

use clap::Args;
use etwkit_query::dump::Top;
use etwkit_query::dump::tcp::{TcpGroup, TcpNumber, TcpRequest, TcpSort};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, ZeroArgs, range, word};

const SORTS: &[(&str, TcpSort)] = &[
    ("retransmission-count", TcpSort::RetransmissionCount),
    ("retransmission-time", TcpSort::RetransmissionTime),
    ("max-retransmission-time", TcpSort::MaxRetransmissionTime),
    ("received-count", TcpSort::ReceivedCount),
    ("sent-count", TcpSort::SentCount),
    ("received-size", TcpSort::ReceivedSize),
    ("sent-size", TcpSort::SentSize),
    ("total-count", TcpSort::TotalCount),
    ("total-size", TcpSort::TotalSize),
    ("connect-time", TcpSort::ConnectTime),
    ("disconnect-time", TcpSort::DisconnectTime),
    ("client-reset-time", TcpSort::ClientResetTime),
    ("last-sent-time", TcpSort::LastSentTime),
    ("last-received-time", TcpSort::LastReceivedTime),
    ("max-send-delay", TcpSort::MaxSendDelay),
    ("max-receive-delay", TcpSort::MaxReceiveDelay),
    ("send-rate", TcpSort::SendRate),
    ("receive-rate", TcpSort::ReceiveRate),
    ("post", TcpSort::Post),
    ("inject", TcpSort::Inject),
];

/// Under a name of its own, since an `Option` would be an argument that may be missing.
type Group = Option<TcpGroup>;

const GROUPS: &[(&str, Group)] = &[
    ("none", None),
    ("source-ip-port-remote-ip", Some(TcpGroup::SourceIpPortRemoteIp)),
    ("source-ip-remote-ip", Some(TcpGroup::SourceIpRemoteIp)),
];

/// Heading of the options that limit numbers of rows.
const LIMITS: &str = "Ranges over rows";

#[derive(Debug, Args)]
pub(crate) struct TcpArgs {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(flatten)]
    pub(super) processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    #[command(flatten)]
    zero: ZeroArgs,
    /// Connections whose process is not known pass filters on processes, too
    #[arg(long)]
    unknown_process: bool,
    /// Only such ends: local address:port and remote address:port, one behind the other (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "ENDS")]
    ip_port: Option<String>,
    /// Only such local address:port
    #[arg(long, value_name = "ENDS")]
    source_ip_port: Option<String>,
    /// Only such remote address:port
    #[arg(long, value_name = "ENDS")]
    remote_ip_port: Option<String>,
    /// Only such control blocks: 0x…
    #[arg(long, value_name = "TCBS")]
    tcb: Option<String>,
    /// Only connections that were reset because nothing was acknowledged in time
    #[arg(long)]
    reset: bool,
    /// Only connections over which it was asked whether the other side is there
    #[arg(long)]
    keep_alive: bool,
    /// Order
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "retransmission-count")]
    pub(super) sort_by: TcpSort,
    /// One row for several connections
    #[arg(long, value_name = "ENDS", value_parser = word(GROUPS), default_value = "none")]
    pub(super) group_by: Group,
    /// A line for each retransmission; JSON and CSV have a row for each, with the columns of its connection
    #[arg(long)]
    pub(super) show_retransmit: bool,
    /// Order of these lines
    #[arg(long, value_name = "ORDER", value_parser = ["time", "delay"], default_value = "time")]
    pub(super) sort_retransmit_by: String,
    /// Only the N last of them
    #[arg(long, value_name = "N")]
    top_retransmits: Option<usize>,
    /// Leave the N last of them out first
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_retransmits: usize,
    /// Only retransmissions of the other side
    #[arg(long)]
    only_client_retransmit: bool,
    /// Only retransmissions of such a delay, and connections with one (ms)
    #[arg(long, value_name = "A..B")]
    retransmit_delay: Option<String>,
    /// Only retransmissions of so many bytes
    #[arg(long, value_name = "A..B", default_value = "2..")]
    retransmit_bytes: String,
    /// List what went wrong: post, sends that a filter let go too late
    #[arg(long, value_name = "WHAT", value_parser = ["post"], conflicts_with_all = ["group_by", "show_retransmit"])]
    pub(super) issue: Option<String>,
    /// Show times, delays, templates and control blocks
    #[arg(long)]
    pub(super) details: bool,
    /// Show what the system counted over the whole life of connections, and sends of programs
    #[arg(long)]
    pub(super) stats: bool,
    /// Sums: file, below the rows; total, without rows; none
    #[arg(long, value_name = "WHAT", value_parser = ["file", "total", "none"], default_value = "file")]
    pub(super) show_total: String,
    #[command(flatten)]
    limits: Limits,
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $field:ident = $name:literal: $number:ident, $unit:ident;)*) => {
        #[derive(Debug, Args)]
        struct Limits {
            $(
                $(#[doc = $doc])+
                #[arg(long = $name, value_name = "A..B", help_heading = LIMITS, allow_hyphen_values = true)]
                $field: Option<String>,
            )*
        }

        impl Limits {
            fn ranges(&self) -> anyhow::Result<Vec<(TcpNumber, etwkit_query::range::Range)>> {
                let all = [$((TcpNumber::$number, range($name, self.$field.as_deref(), Unit::$unit)?)),*];
                Ok(all.into_iter().filter(|(_, range)| !range.is_unlimited()).collect())
            }
        }
    };
}

limits! {
    /// Bytes sent
    sent_bytes = "sent-bytes": SentBytes, Bytes;
    /// Bytes received
    received_bytes = "received-bytes": ReceivedBytes, Bytes;
    /// Bytes sent and received
    bytes = "bytes": Bytes, Bytes;
    /// Packets sent
    sent_packets = "sent-packets": SentPackets, Count;
    /// Packets received
    received_packets = "received-packets": ReceivedPackets, Count;
    /// Packets sent and received
    packets = "packets": Packets, Count;
    /// Bytes over the whole life, as the system counted; without its numbers a connection fits none of these
    stat_bytes = "stat-bytes": StatBytes, Bytes;
    /// Bytes received over the whole life
    stat_bytes_in = "stat-bytes-in": StatBytesIn, Bytes;
    /// Bytes sent over the whole life
    stat_bytes_out = "stat-bytes-out": StatBytesOut, Bytes;
    /// Packets over the whole life
    stat_packets = "stat-packets": StatPackets, Count;
    /// Packets received over the whole life
    stat_packets_in = "stat-packets-in": StatPacketsIn, Count;
    /// Packets sent over the whole life
    stat_packets_out = "stat-packets-out": StatPacketsOut, Count;
    /// Retransmissions that remain
    retransmit_count = "retransmit-count": RetransmitCount, Count;
    /// When it was opened (s; 0 if before the trace)
    connect = "connect": Connect, Seconds;
    /// When it was closed (s; 0 if still open)
    disconnect = "disconnect": Disconnect, Seconds;
    /// Last packet sent (s; 0 if none)
    last_sent = "last-sent": LastSent, Seconds;
    /// Last packet received (s; 0 if none)
    last_received = "last-received": LastReceived, Seconds;
    /// When this side reset it (s; 0 if it did not)
    client_reset = "client-reset": ClientReset, Seconds;
    /// From opening to closing or the end of the trace (s); one that was open before is longer than any
    connection_duration = "connection-duration": Duration, Seconds;
    /// Longest time between two sends (s)
    send_delay = "send-delay": SendDelay, Seconds;
    /// Longest time between two receipts (s)
    receive_delay = "receive-delay": ReceiveDelay, Seconds;
    /// MiB sent for each second of bursts
    send_rate = "send-rate": SendRate, Mebibytes;
    /// MiB received for each second of bursts
    receive_rate = "receive-rate": ReceiveRate, Mebibytes;
    /// Sends of programs
    post = "post": Post, Count;
    /// Sends that a filter held back
    inject = "inject": Inject, Count;
}

impl TcpArgs {
    pub(super) fn request(&self) -> anyhow::Result<TcpRequest> {
        let bytes = range("retransmit-bytes", Some(&self.retransmit_bytes), Unit::Bytes)?;
        Ok(TcpRequest {
            processes: self.processes.query(),
            unknown_process: self.unknown_process,
            ip_port: self.ip_port.clone(),
            source_ip_port: self.source_ip_port.clone(),
            remote_ip_port: self.remote_ip_port.clone(),
            tcb: self.tcb.clone(),
            reset: self.reset,
            keep_alive: self.keep_alive,
            only_client_retransmit: self.only_client_retransmit,
            retransmit_delay: range(
                "retransmit-delay",
                self.retransmit_delay.as_deref(),
                Unit::Milliseconds,
            )?,
            retransmit_bytes: bytes,
            limits: self.limits.ranges()?,
            group_by: self.group_by,
            sort: self.sort_by,
            top: self.top.top(),
            zero: self.zero.zero(),
        })
    }

    /// Which retransmissions of each row are shown.
    pub(super) const fn top_retransmits(&self) -> Top {
        Top { count: self.top_retransmits, skip: self.skip_retransmits }
    }
}

#[cfg(test)]
mod tests {
    use etwkit_query::dump::tcp::RETRANSMIT_BYTES;

    use super::*;

    #[test]
    fn the_default_is_that_of_the_request() {
        assert_eq!(range("x", Some("2.."), Unit::Bytes).unwrap(), RETRANSMIT_BYTES);
    }
}
