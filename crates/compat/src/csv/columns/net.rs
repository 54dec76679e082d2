//! DNS queries and TCP connections.

use super::Columns;
use crate::csv::cell::Cell::*;

/// One row for each query.
pub(crate) const DNS: Columns = &[
    ("Process", Process("process", "pid")),
    ("ProcessName", Is("process")),
    ("DNS Query", Is("name")),
    ("Query StatusCode", Is("status")),
    ("TimedOut", Bool("is_timed_out")),
    ("Start Time", Time("start_ns")),
    ("Duration in s", S("duration_ns")),
    ("Queried Network Adapters", Is("adapters")),
    ("Server List", Either("servers", "adapter_servers")),
    ("DNS Result", Is("result")),
];

/// One row for each connection, or for each of its retransmissions: only the first of these has the
/// sums, so that they can be added up.
pub(crate) const CONNECTION: Columns = &[
    ("End Time", Time("process_stop_ns")),
    (
        "Duration in s",
        Between("process_start_ns", "process_stop_ns"),
    ),
    ("SourceIP", Is("local_address")),
    ("Source Port", Is("local_port")),
    ("DestinationIP", Is("remote_address")),
    ("Destination Port", Is("remote_port")),
    ("TCB", Is("tcb")),
    ("ConnectionIdx", Is("connection_id")),
    (
        "Sent Packets (Total per connection)",
        Once(&Is("sent_packets")),
    ),
    ("Sent Bytes (Total per connection)", Once(&Is("sent_bytes"))),
    (
        "Received Packets (Total per connection)",
        Once(&Is("received_packets")),
    ),
    (
        "Received Bytes (Total per connection)",
        Once(&Is("received_bytes")),
    ),
    (
        "Retransmitted Packets (Total per connection)",
        Once(&Is("retransmits")),
    ),
    (
        "% Retransmitted Packets (Total per connection)",
        Once(&Percent("retransmits", "sent_packets")),
    ),
    ("TCP Template", Is("template")),
    ("Connection Open Time", Time("open_ns")),
    ("Connection Close Time", Time("close_ns")),
    ("ClientResetTime", Time("abort_ns")),
    ("LastSentTime", Time("last_send_ns")),
    ("LastReceivedTime", Time("last_receive_ns")),
    ("KeepAlive", More("keep_alives", 0)),
    ("MaxReceiveDelay", S("max_receive_gap_ns")),
    ("MaxSendDelay", S("max_send_gap_ns")),
    ("SendRate (MB/s)", Mebi("send_bytes_per_s")),
    ("ReceiveRate (MB/s)", Mebi("receive_bytes_per_s")),
    ("StatBytesIn", OrZero("stat_in_bytes")),
    ("StatBytesOut", OrZero("stat_out_bytes")),
    ("StatPacketsIn", OrZero("stat_in_packets")),
    ("StatPacketsOut", OrZero("stat_out_packets")),
    ("ResetTime", Time("retransmit_timeout_ns")),
    ("Posted Packets", Is("posts")),
    ("Injected Packets", Is("injects")),
];

pub(crate) const RETRANSMISSION: Columns = &[
    ("Retrans Time", Time("retransmission_ns")),
    ("Retrans Delay (ms)", Ms("retransmission_delay_ns")),
    ("Retrans Size", Is("retransmission_size_bytes")),
    ("Retrans SequenceNr", Is("retransmission_sequence")),
    (
        "IsClientRetransmission",
        Equals("retransmission_kind", "client"),
    ),
];
