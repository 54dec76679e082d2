//! Bytes over TCP and UDP, as the kernel logs them: by process, remote address, port or local
//! address, or single operations.

use etwkit_question::Format::{
    Id, Kilobytes, Moment, PlainBytes, Process, ProcessLine, Whole, Word,
};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{
    Conditions, NO_NUMBER, NO_TEXT, PROCESS_COLUMNS, ProcessQuery, process_columns, stack_text,
};
use etwkit_question::{
    Column, Example, Form, Question, Ranked, Value, View, frames, group, option,
};

declare! {
    /// Grouping of the rows.
    pub words NetBy {
        "process" => Process = "All traffic of a process.",
        "remote" => Remote = "All traffic of a process with a remote address.",
        "port" => Port = "All traffic of a process with a remote port.",
        "local" => Local = "All traffic of a process over a local address, which identifies the adapter.",
    }

    /// Orders of sums and of single operations.
    pub orders NetSort {
        "total" => Total: "total_bytes" / "size_bytes" = "Bytes sent and received.",
        "sent" => Sent: "sent_bytes" / "size_bytes" = "Bytes sent.",
        "received" => Received: "received_bytes" / "size_bytes" = "Bytes received.",
        "retransmits" => Retransmits: "retransmits" / "size_bytes" = "Segments sent again.",
        "time" => Time: "total_bytes" / "ts_ns" = "Time of single operations.",
    }

    /// Options of `dump net`.
    #[derive(Eq)]
    pub request NetRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: NetBy = option("WHAT").excludes(&["details"]).shape(),
        /// Only this protocol
        protocol: Option<String> = option("PROTOCOL").among(&["tcp", "udp"]),
        /// Only these remote addresses (*, ?, several with ;, ! excludes)
        remote: Option<String> = option("ADDRESSES"),
        /// Only these remote ports
        port: Range = option("A..B"),
        /// Only operations of these kinds: send, receive, connect, accept, disconnect, retransmit
        /// (several with ;, ! excludes)
        kind: Option<String> = option("KINDS"),
        /// Only operations in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Single operations
        details: bool = option("").shape(),
        /// With --details: stacks
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// Order
        sort: NetSort = option("ORDER").called("sort-by").shape(),
    }

    /// Traffic of a process.
    pub row NetRow: process {
        ..process = "Process; missing if it is not known.",
        remote_address: Option<String> = "Remote address, with rows for each.",
        remote_port: Option<i64> = "Remote port, with rows for each.",
        local_address: Option<String> = "Local address, with rows for each.",
        total_bytes: i64 = "Bytes sent and received, without retransmissions.",
        sent_bytes: i64 = "Bytes sent.",
        received_bytes: i64 = "Bytes received.",
        sends: i64 = "Sends.",
        receives: i64 = "Receipts.",
        connections: i64 = "Connections opened or accepted.",
        retransmits: i64 = "Segments sent again.",
        retransmitted_bytes: i64 = "Bytes of these segments.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// An operation.
    pub row NetEvent: process {
        ts_ns: i64 = "Time.",
        protocol: String = "`tcp` or `udp`.",
        kind: String = "`send`, `receive`, `connect`, `disconnect`, `retransmit` or `accept`.",
        size_bytes: i64 = "Bytes.",
        local_address: Option<String> = "Local address.",
        local_port: Option<i64> = "Local port.",
        remote_address: Option<String> = "Remote address.",
        remote_port: Option<i64> = "Remote port.",
        ..process = "Process; missing if it is not known.",
        stack: Option<String> = "Stack, innermost frame first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type NetColumn = Column<NetRequest, NetRow>;

const SUMS: View<NetRequest, NetRow> = View::new(
    &[
        NetColumn::new("Total", "Total kB", Kilobytes, |_, row| {
            row.total_bytes.into()
        })
        .cost(),
        NetColumn::new("Sent", "Sent kB", Kilobytes, |_, row| row.sent_bytes.into()).cost(),
        NetColumn::new("Received", "Received kB", Kilobytes, |_, row| {
            row.received_bytes.into()
        })
        .cost(),
        NetColumn::new("Sends", "Sends", Whole, |_, row| row.sends.into()).sum(),
        NetColumn::new("Receives", "Receipts", Whole, |_, row| row.receives.into()).sum(),
        NetColumn::new("Connections", "Opened", Whole, |_, row| {
            row.connections.into()
        })
        .sum(),
        NetColumn::new("Retransmits", "Sent again", Whole, |_, row| {
            row.retransmits.into()
        })
        .cost(),
        NetColumn::new("Remote", "Remote address", Word, |_, row| {
            row.remote_address.clone().into()
        })
        .or("(none)")
        .shown_if(|asked| asked.by == NetBy::Remote),
        NetColumn::new("Port", "Remote port", Id, |_, row| row.remote_port.into())
            .shown_if(|asked| asked.by == NetBy::Port),
        NetColumn::new("Local", "Local address", Word, |_, row| {
            row.local_address.clone().into()
        })
        .or("(none)")
        .shown_if(|asked| asked.by == NetBy::Local),
        NetColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Sent} kB sent, {Received} kB received, {Connections|connection|connections} opened",
    |_, _| true,
);

type NetEventColumn = Column<NetRequest, NetEvent>;

const EVENTS: View<NetRequest, NetEvent> = View::new(
    &[
        NetEventColumn::new("Time", "Time", Moment, |_, row| row.ts_ns.into()),
        NetEventColumn::new("Protocol", "Protocol", Word, |_, row| {
            row.protocol.clone().into()
        }),
        NetEventColumn::new("Kind", "Kind", Word, |_, row| row.kind.clone().into()),
        NetEventColumn::new("Size", "Bytes", PlainBytes, |_, row| row.size_bytes.into()).sum(),
        NetEventColumn::new("Local", "Local", Word, |_, row| {
            endpoint(row.local_address.as_deref(), row.local_port)
        }),
        NetEventColumn::new("Remote", "Remote", Word, |_, row| {
            endpoint(row.remote_address.as_deref(), row.remote_port)
        }),
        NetEventColumn::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort == NetSort::Time))
.with_below(|_, row| frames(row.stack.as_deref()));

/// Formats address and port; an IPv6 address is in brackets.
fn endpoint(address: Option<&str>, port: Option<i64>) -> Value {
    let address = address.map(|a| {
        if a.contains(':') {
            format!("[{a}]")
        } else {
            a.to_owned()
        }
    });
    match (address, port) {
        (Some(address), Some(port)) => format!("{address}:{port}").into(),
        (address, _) => address.into(),
    }
}

impl Question for NetRequest {
    const NAME: &'static str = "net";
    const SENTENCE: &'static str =
        "Bytes over TCP and UDP by process, remote address or port, or local address";
    const USUAL: &'static [&'static str] = &["protocol", "remote", "port", "kind"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "bytes by process",
        },
        Example {
            words: "--by remote slow.etl",
            answer: "bytes by remote address",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&EVENTS, self.events_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&NET, true).top(self.top)
    }
}

const NET: Recorded = Recorded::rows(
    "net_io",
    "network operations of the kernel",
    "record with the kernel keyword NETWORKTRACE, for example `wpr -start Network`",
);

impl NetRequest {
    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .text("n.protocol", self.protocol.as_deref())
            .text("n.remote_address", self.remote.as_deref())
            .text("n.kind", self.kind.as_deref())
            .range("n.remote_port", self.port)
            .time("n.ts_ns", self.time)
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let (remote, port, local) = match self.by {
            NetBy::Process => (NO_TEXT, NO_NUMBER, NO_TEXT),
            NetBy::Remote => ("n.remote_address", NO_NUMBER, NO_TEXT),
            NetBy::Port => (NO_TEXT, "n.remote_port", NO_TEXT),
            NetBy::Local => (NO_TEXT, NO_NUMBER, "n.local_address"),
        };
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, \
                    remote_address, remote_port, local_address";
        // A retransmission is an event in addition to the first send. It does not carry new data.
        let bytes = |kind| format!("coalesce(sum(size_bytes) FILTER (WHERE kind = '{kind}'), 0)");
        let count = |kinds| format!("count(*) FILTER (WHERE kind IN ({kinds}))");
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT *, sent_bytes + received_bytes AS total_bytes
FROM (
SELECT {keys}, {sent} AS sent_bytes, {received} AS received_bytes,
  {sends} AS sends, {receives} AS receives, {connections} AS connections, {again} AS retransmits,
  {again_bytes} AS retransmitted_bytes
FROM (
  SELECT {process}, {remote} AS remote_address, {port} AS remote_port, {local} AS local_address, n.kind, n.size_bytes
  FROM net_io n
  LEFT JOIN process p ON p.process_key = n.process_key{conditions}
)
GROUP BY {keys}
)
)
ORDER BY sort_value, total_bytes, sends, receives, process_key, remote_address, remote_port, local_address",
            sort = self.sort.sql(),
            sent = bytes("send"),
            received = bytes("receive"),
            sends = count("'send'"),
            receives = count("'receive'"),
            connections = count("'connect', 'accept'"),
            again = count("'retransmit'"),
            again_bytes = bytes("retransmit"),
            process = process_columns("n", true),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single operations.
    #[must_use]
    pub fn events_sql(&self) -> String {
        let (text, join) = stack_text("n.stack_id", "stack", self.stacks);
        format!(
            "SELECT n.ts_ns, n.protocol, n.kind, n.size_bytes, n.local_address, n.local_port, n.remote_address,
  n.remote_port, n.process_key, {PROCESS_COLUMNS}, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM net_io n
LEFT JOIN process p ON p.process_key = n.process_key{join}{conditions}
ORDER BY sort_value, n.ts_ns, n.process_key",
            sort = self.sort.single_sql(),
            conditions = self.conditions(),
        )
    }
}
