//! Tables of name resolution and TCP connections.

tables! {
    /// A DNS query of a process, from its start to its answer (provider
    /// Microsoft-Windows-DNS-Client). Start and answer are matched by process, name and type: the
    /// queries for A and AAAA of a name run at the same time.
    DnsQuery / DnsQueryColumns = "dns_query", order ["end_ns"] {
        /// Process that sent the query.
        process_key: Option<i32>, "key";
        /// Thread that sent the query; for a query without a start, the thread that got the answer.
        thread_key: Option<i32>, "key";
        /// Requested name, as it was written.
        name: Arc<str>;
        /// Type of resource record: 1 A, 28 AAAA, 5 CNAME, 12 PTR, 15 MX, 16 TXT, 33 SRV, 65 HTTPS.
        query_type: i32;
        /// Start; null if there was none in the trace.
        start_ns: Option<i64>, "ns";
        /// Answer; null if there was none in the trace.
        end_ns: Option<i64>, "ns";
        /// `end_ns` − `start_ns`.
        duration_ns: Option<i64>, "ns";
        /// Win32 error of the answer, 0 for success; null without an answer.
        status: Option<i32>;
        /// The records of the answer, each followed by `;`; records of other types than addresses
        /// as `type: 5 name`.
        result: Option<String>;
        /// Bits of `DNS_QUERY_…` options; null without start.
        options: Option<i64>;
        /// True if it was sent to servers unchanged, by the service that does so for all processes.
        is_network: bool;
        /// True if the caller did not wait for it.
        is_async: bool;
        /// Adapters used to query the name in that time, each once, separated by `;`; a `;` in a
        /// name is `_`.
        adapters: Option<String>;
        /// Servers of these adapters, each once, separated by `;`.
        adapter_servers: Option<String>;
        /// Servers queried for the name and type in that time, each once, separated by `;`.
        servers: Option<String>;
        /// True if a server did not answer in time.
        is_timed_out: bool;
        /// Servers that timed out, each once, separated by `;`.
        timed_out_servers: Option<String>;
        /// Stack that sent the query.
        stack_id: Option<i32>, "key";
    }

    /// A TCP connection of this machine with the data sent and received over it (provider
    /// Microsoft-Windows-TCPIP). A connection within the machine is two rows, one for each end.
    TcpConnection / TcpConnectionColumns = "tcp_connection", order [] {
        /// Key of the connection: connections are numbered in the order in which the trace first
        /// mentions them.
        connection_id: i32, "key";
        /// Process, if it is known.
        process_key: Option<i32>, "key";
        /// First mention in the trace: `connect`, `accept`, `rundown` (it existed before),
        /// `unknown`.
        kind: &'static str;
        /// Address of the control block, as bit pattern; reused once a connection is closed.
        tcb: i64;
        /// Local address; null if no event reports it.
        local_address: Option<String>;
        /// Local port.
        local_port: Option<i32>;
        /// Remote address.
        remote_address: Option<String>;
        /// Remote port.
        remote_port: Option<i32>;
        /// First event.
        first_ns: i64, "ns";
        /// Time at which it was requested or accepted; null if it existed before the trace.
        open_ns: Option<i64>, "ns";
        /// Time at which it was established, for connections that this machine requested.
        connected_ns: Option<i64>, "ns";
        /// Time at which it was first closed, or shut down, or at which it failed.
        close_ns: Option<i64>, "ns";
        /// True if it could not be established.
        is_failed: bool;
        /// Time at which this side reset it.
        abort_ns: Option<i64>, "ns";
        /// Time at which the other side reset it.
        remote_reset_ns: Option<i64>, "ns";
        /// Time at which it was reset because nothing was acknowledged in time.
        retransmit_timeout_ns: Option<i64>, "ns";
        /// Last template of settings: `Internet`, `DataCenter` or another.
        template: Option<&'static str>;
        /// Number of keep-alive probes.
        keep_alives: i64;
        /// Sends of the program.
        posts: i64;
        /// Total bytes of the program's sends.
        post_bytes: i64, "bytes";
        /// Sends that a filter had held back.
        injects: i64;
        /// Total bytes of the held-back sends.
        inject_bytes: i64, "bytes";
        /// Segments sent, including retransmissions.
        sends: i64;
        /// Total bytes of the sent segments.
        send_bytes: i64, "bytes";
        /// Receipts of data.
        receives: i64;
        /// Total bytes received, including data received again.
        receive_bytes: i64, "bytes";
        /// Last segment sent; for a connection with `retransmit_timeout_ns` the last segment of the
        /// unacknowledged data.
        last_send_ns: Option<i64>, "ns";
        /// Last data received.
        last_receive_ns: Option<i64>, "ns";
        /// Longest time between two sends.
        max_send_gap_ns: Option<i64>, "ns";
        /// Longest time between two receipts.
        max_receive_gap_ns: Option<i64>, "ns";
        /// Bytes sent per second of a burst, a mean weighted by bytes. A burst ends when nothing is
        /// sent for more than 350 ms.
        send_bytes_per_s: Option<f64>;
        /// Bytes received per second of a burst, defined like a burst of sends. Mean weighted by
        /// bytes.
        receive_bytes_per_s: Option<f64>;
        /// Bytes received over its whole life, as the system counted; null without the event.
        stat_in_bytes: Option<i64>, "bytes";
        /// Bytes sent over its whole life.
        stat_out_bytes: Option<i64>, "bytes";
        /// Segments received over its whole life: segments with data; for a connection that was
        /// still open, all segments.
        stat_in_packets: Option<i64>;
        /// Segments sent over its whole life, in the same way.
        stat_out_packets: Option<i64>;
        /// Round-trip time at the end, as the system measured it.
        rtt_ns: Option<i64>, "ns";
        /// Shortest round-trip time.
        min_rtt_ns: Option<i64>, "ns";
        /// Longest round-trip time.
        max_rtt_ns: Option<i64>, "ns";
    }

    /// Data of a TCP connection that was sent or received more than once.
    TcpRetransmit / TcpRetransmitColumns = "tcp_retransmit", order ["ts_ns"] {
        /// Time at which it was sent or received again.
        ts_ns: i64, "ns";
        /// Connection.
        connection_id: i32, "key";
        /// `retransmit`: sent again; `tail_loss_probe`: sent again because no acknowledgement came
        /// for the last segment; `client`: received again, so the other side sent it again.
        kind: &'static str;
        /// Time at which it was last sent; for `client` the time at which it was first received.
        first_ns: i64, "ns";
        /// `ts_ns` − `first_ns`.
        delay_ns: i64, "ns";
        /// Bytes.
        size_bytes: i64, "bytes";
        /// Sequence number of the first byte.
        sequence: i64;
    }

    /// A single event of a TCP connection.
    TcpEvent / TcpEventColumns = "tcp_event", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Connection.
        connection_id: i32, "key";
        /// Thread that ran; data is mostly sent and received in unrelated threads.
        thread_key: Option<i32>, "key";
        /// `connect`, `accept`, `rundown`, `connected`, `connect_failed`, `post`, `inject`, `send`,
        /// `receive`, `retransmit`, `tail_loss_probe`, `keep_alive`, `abort`, `remote_reset`,
        /// `close`, `shutdown` or `retransmit_timeout`.
        kind: &'static str;
        /// Bytes of data.
        size_bytes: Option<i64>, "bytes";
        /// Sequence number of the first byte; for `retransmit`, `tail_loss_probe` and `keep_alive`
        /// the first unacknowledged one.
        sequence: Option<i64>;
        /// Congestion window, for sends.
        congestion_window_bytes: Option<i64>, "bytes";
        /// Window offered by the other side, for sends.
        send_window_bytes: Option<i64>, "bytes";
        /// Smoothed round-trip time, for sends, in the recorded unit.
        smoothed_rtt: Option<i64>;
        /// Retransmission timeout, for sends, in the recorded unit.
        retransmit_timeout: Option<i64>;
        /// Stack.
        stack_id: Option<i32>, "key";
    }
}

use std::sync::Arc;
