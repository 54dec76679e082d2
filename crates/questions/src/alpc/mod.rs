//! ALPC messages: senders, receiving services, and the wait times of callers; sums, or single
//! messages.

use etwkit_question::declare;
mod sql;

use etwkit_question::Format::{
    FineMilliseconds, Id, Microseconds, Process, ProcessLine, Whole, Word,
};
use etwkit_question::Recorded;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{
    Among, Column, Example, Form, Question, Ranked, View, frames, group, option,
};

const PORTS: Among = Among::Texts(
    "port",
    "ports",
    "SELECT port_name AS text FROM alpc_process",
);

declare! {
    /// Grouping of the rows.
    pub words AlpcBy {
        "service" => Service = "All messages from one process to another at a port.",
        "sender" => Sender = "All messages that a process sent.",
        "receiver" => Receiver = "All messages that a process received.",
    }

    /// Orders of sums and of single messages.
    pub orders AlpcSort {
        "wait" => Wait: "sender_wait_ns" / "coalesce(a.sender_wait_ns, 0)" =
            "Time that senders waited for answers.",
        "service" => Service: "service_ns" / "coalesce(a.service_ns, 0)" =
            "Time that receivers worked on messages.",
        "delivery" => Delivery: "delivery_ns" / "coalesce(a.delivery_ns, 0)" =
            "Time from sending to receiving.",
        "count" => Count: "count" / "coalesce(a.send_ns, a.receive_ns, a.end_ns)" = "Messages.",
        "time" => Time: "sender_wait_ns" / "coalesce(a.send_ns, a.receive_ns, a.end_ns)" =
            "Time of single messages.",
    }

    /// Options of `dump alpc`.
    #[derive(Eq)]
    pub request AlpcRequest {
        /// Processes that sent the messages
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: AlpcBy = option("WHAT").excludes(&["details"]).shape(),
        /// Only messages that these processes received: names with or without .exe, or ids (*, ?,
        /// several with ;, ! excludes)
        receiver: Option<String> = option("NAMES").of(Among::Processes),
        /// Only messages at these ports (*, ?, several with ;, ! excludes)
        port: Option<String> = option("NAMES").of(PORTS),
        /// Only messages whose sender waited this long (us)
        wait: Range = option("A..B").unit(Unit::Microseconds),
        /// Only messages of this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only messages whose stack has this frame: module!method, or its method alone (*, ?,
        /// several with ;, ! excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Single messages
        details: bool = option("").shape(),
        /// With --details: stacks that sent them
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// Order; of single messages wait, service, delivery or time
        sort: AlpcSort = option("ORDER").called("sort-by").shape(),
    }

    /// Messages from one process to another.
    pub row AlpcRow: process {
        ..process = "Process that sent them, with rows for each; missing if it is not known.",
        receiver_pid: Option<i64> = "Process that received them, with rows for each; missing if it is not known.",
        receiver: Option<String> = "Name of the receiving process.",
        port_name: Option<String> =
            "Port; missing if the receiver had not waited there, or the port has no name.",
        count: i64 = "Messages.",
        replies: i64 = "Messages that were answered.",
        waits: i64 = "Messages whose sender waited for the answer.",
        sender_wait_ns: i64 = "Sum of these waits.",
        max_sender_wait_ns: Option<i64> = "Longest wait.",
        delivery_ns: i64 = "Sum of the times from sending to receiving.",
        service_ns: i64 = "Sum of the times in which receivers worked on them.",
        max_service_ns: Option<i64> = "Longest of these times.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A message.
    pub row AlpcMessage: process {
        send_ns: Option<i64> = "When it was sent; missing if that is not in the trace.",
        receive_ns: Option<i64> = "When it was received; missing if that is not in the trace.",
        reply_ns: Option<i64> = "When it was answered; missing if it was not, or that is not in the trace.",
        end_ns: Option<i64> = "When the answer was received.",
        sender_wait_ns: Option<i64> = "How long the sender waited for the answer.",
        delivery_ns: Option<i64> = "From sending to receiving.",
        service_ns: Option<i64> = "From receiving to answering.",
        duration_ns: Option<i64> = "From sending to receiving the answer.",
        status_name: Option<String> = "How the wait of the sender ended.",
        ..process = "Process that sent it; missing if it is not known.",
        tid: Option<i64> = "Thread that sent it.",
        receiver_pid: Option<i64> = "Process that received it; missing if it is not known.",
        receiver: Option<String> = "Name of the receiving process.",
        receiver_tid: Option<i64> = "Thread that received it.",
        port_name: Option<String> = "Port at which that thread had waited.",
        stack_id: Option<i64> = "The stack that sent it.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type AlpcColumn = Column<AlpcRequest, AlpcRow>;

const SUMS: View<AlpcRequest, AlpcRow> = View::new(
    &[
        AlpcColumn::new("Wait", "Wait ms", FineMilliseconds, |_, row| {
            row.sender_wait_ns.into()
        })
        .cost(),
        AlpcColumn::new("MaxWait", "Max ms", FineMilliseconds, |_, row| {
            row.max_sender_wait_ns.into()
        })
        .worst(),
        AlpcColumn::new("Service", "Service ms", FineMilliseconds, |_, row| {
            row.service_ns.into()
        })
        .cost(),
        AlpcColumn::new("MaxService", "Max ms", FineMilliseconds, |_, row| {
            row.max_service_ns.into()
        })
        .worst()
        .hidden(),
        AlpcColumn::new("Delivery", "Delivery ms", FineMilliseconds, |_, row| {
            row.delivery_ns.into()
        })
        .cost(),
        AlpcColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        AlpcColumn::new("Answered", "Answered", Whole, |_, row| row.replies.into()).sum(),
        AlpcColumn::new("Awaited", "Awaited", Whole, |_, row| row.waits.into())
            .sum()
            .hidden(),
        AlpcColumn::new("Receiver", "Receiver", Word, |_, row| {
            receiver(row.receiver.as_deref(), row.receiver_pid).into()
        })
        .shown_if(|asked| asked.by != AlpcBy::Sender),
        AlpcColumn::new("Port", "Port", Word, |_, row| row.port_name.clone().into())
            .shown_if(|asked| asked.by == AlpcBy::Service),
        AlpcColumn::new("Process", "Sender", ProcessLine, |_, row| row.into())
            .shown_if(|asked| asked.by != AlpcBy::Receiver),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|message|messages}, {Answered} answered, wait {Wait} ms, service {Service} ms",
    |_, _| true,
);

type AlpcMessageColumn = Column<AlpcRequest, AlpcMessage>;

const MESSAGES: View<AlpcRequest, AlpcMessage> = View::new(
    &[
        AlpcMessageColumn::time("Time", |_, row| {
            row.send_ns.or(row.receive_ns).or(row.end_ns).into()
        }),
        AlpcMessageColumn::new("Wait", "Wait µs", Microseconds, |_, row| {
            row.sender_wait_ns.into()
        })
        .cost(),
        AlpcMessageColumn::new("Delivery", "Delivery µs", Microseconds, |_, row| {
            row.delivery_ns.into()
        })
        .cost(),
        AlpcMessageColumn::new("Service", "Service µs", Microseconds, |_, row| {
            row.service_ns.into()
        })
        .cost(),
        AlpcMessageColumn::new("Duration", "Whole µs", Microseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost()
        .hidden(),
        AlpcMessageColumn::new("Status", "Status", Word, |_, row| {
            row.status_name.clone().into()
        })
        .hidden(),
        AlpcMessageColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        AlpcMessageColumn::new("Process", "Sender", Process, |_, row| row.into()),
        AlpcMessageColumn::new("ReceiverTid", "Tid", Id, |_, row| row.receiver_tid.into()),
        AlpcMessageColumn::new("Receiver", "Receiver", Word, |_, row| {
            receiver(row.receiver.as_deref(), row.receiver_pid).into()
        }),
        AlpcMessageColumn::new("Port", "Port", Word, |_, row| row.port_name.clone().into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(matches!(asked.sort, AlpcSort::Count | AlpcSort::Time)))
.with_below(|_, row| frames(row.stack.as_deref()));

/// Returns a process by name and id.
fn receiver(name: Option<&str>, pid: Option<i64>) -> Option<String> {
    pid.map(|pid| format!("{}({pid})", name.unwrap_or("")))
}

impl Question for AlpcRequest {
    const NAME: &'static str = "alpc";
    const SENTENCE: &'static str =
        "Messages of ALPC: who called which service, and how long callers waited";
    const USUAL: &'static [&'static str] = &["receiver", "port", "wait"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "the services that callers waited for longest",
        },
        Example {
            words: "--by sender --process explorer slow.etl",
            answer: "services called by Explorer",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&MESSAGES, self.messages_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&ALPC, self.details || self.needs_rows())
            .top(self.top)
    }
}

const ALPC: Recorded = Recorded {
    sums: "alpc_process",
    rows: "alpc",
    single: "messages",
    what: "messages of ALPC",
    how: "record with the kernel keywords ALPC+CSWITCH+PROC_THREAD+LOADER, with `-stackwalk AlpcSendMessage` for stacks: \
          without context switches it is not known who sent and received",
};
