//! Recording sessions, their events, and the events of their providers.

use etwkit_question::Format::{Id, Moment, Process, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, ProcessQuery};
use etwkit_question::{Column, Example, Form, Question, Ranked, Value, View, group, option};

declare! {
    /// Orders of sessions.
    pub orders LoggerSort {
        "start" => Start: "coalesce(start_ns, -1), CASE WHEN is_of_trace THEN 0 ELSE 1 END, name" =
            "Start; sessions that ran before the trace come first.",
        "name" => Name: "lower(name), start_ns" = "Name.",
        "lost" => Lost: "sort_value, name, start_ns" = "Events and buffers that were lost.",
    }

    /// Options of `dump loggers`.
    #[derive(Eq)]
    pub request LoggersRequest {
        /// Processes that logged the events
        processes: ProcessQuery = group(),
        /// Number of rows from the end of the list
        top: Top = group(),
        /// Only these sessions, by name (*, ?, several with ;, ! excludes)
        session: Option<String> = option("NAMES").called("name"),
        /// Order of sessions
        sort: LoggerSort = option("ORDER").called("sort-by").excludes(&["details"]).shape(),
        /// List what happened: starts, stops, providers that were switched on and off, losses
        details: bool = option("").shape(),
        /// With --details: only these providers, by name or GUID (*, ?, several with ;, ! excludes)
        provider: Option<String> = option("PROVIDERS").requires("details"),
        /// With --details: only this: start, stop, running, enable, disable, register, unregister,
        /// lost* … (*, ?, several with ;, ! excludes)
        kind: Option<String> = option("KINDS").requires("details"),
        /// With --details: only this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment).requires("details"),
    }
}

declare! {
    /// A session.
    pub row LoggerRow {
        name: Option<String> = "Name.",
        is_of_trace: bool = "Whether it wrote this trace.",
        session_guid: Option<String> = "GUID of the session.",
        logger_id: Option<i64> = "Number of the session on the machine.",
        start_ns: Option<i64> = "Start, if in the trace.",
        stop_ns: Option<i64> = "Stop, if in the trace.",
        file: Option<String> = "File that it wrote.",
        mode: Option<i64> = "Bits of `LogFileMode`.",
        modes: Option<String> = "Names of these bits.",
        buffer_size_bytes: Option<i64> = "Size of a buffer, of sessions of the trace.",
        event_buffer_size: Option<i64> = "Buffer size as events report it, in a unit that is not documented.",
        minimum_buffers: Option<i64> = "Fewest buffers.",
        maximum_buffers: Option<i64> = "Most buffers.",
        peak_buffers: Option<i64> = "Most buffers that it had.",
        current_buffers: Option<i64> = "Buffers that it had when the event was logged.",
        buffers_written: Option<i64> = "Buffers written.",
        events_lost: Option<i64> = "Events lost.",
        buffers_lost: Option<i64> = "Buffers lost.",
        real_time_buffers_lost: Option<i64> = "Buffers lost by a reader in real time.",
        status: Option<i64> = "Why it did not start, stopped or could not write, as signed number.",
        status_name: Option<String> = "Name of the status; digits where it has none.",
        kernel_keywords: Option<String> = "What the kernel recorded.",
        providers: i64 = "Providers that were switched on for it in the trace.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// An event of a session or provider.
    pub row LoggerEventRow: process {
        ts_ns: i64 = "Time.",
        kind: String = "What happened.",
        session: Option<String> = "Session.",
        provider: Option<String> = "Provider.",
        provider_guid: Option<String> = "GUID of the provider.",
        any_keyword: Option<i64> = "Keywords of which an event needs one, as signed number.",
        all_keyword: Option<i64> = "Keywords of which an event needs all, as signed number.",
        level: Option<i64> = "Most detailed level.",
        status: Option<i64> = "Status of an error or loss, as signed number.",
        status_name: Option<String> = "Name of the status; digits where it has none.",
        event_id: Option<i64> = "Id of the lost event.",
        event_name: Option<String> = "Name of the event.",
        ..process = "Process that logged it.",
        tid: Option<i64> = "Thread that logged it.",
        ..process_details,
    }
}

type LoggerColumn = Column<LoggersRequest, LoggerRow>;

const SESSION_COLUMNS: &[LoggerColumn] = &[
    LoggerColumn::new("Start", "Start", Moment, |_, row| row.start_ns.into()).or("before"),
    LoggerColumn::new("Stop", "Stop", Moment, |_, row| row.stop_ns.into()),
    LoggerColumn::new("LostEvents", "Lost events", Whole, |_, row| {
        row.events_lost.into()
    })
    .cost(),
    LoggerColumn::new("LostBuffers", "Lost buffers", Whole, |_, row| {
        row.buffers_lost.into()
    })
    .cost(),
    LoggerColumn::new("LostRealTime", "Lost in real time", Whole, |_, row| {
        row.real_time_buffers_lost.into()
    })
    .cost()
    .hidden(),
    LoggerColumn::new("BufferSize", "Buffer KiB", Whole, |_, row| {
        row.buffer_size_bytes.map(kib).into()
    }),
    LoggerColumn::new("EventBufferSize", "Buffer size", Whole, |_, row| {
        row.event_buffer_size.into()
    })
    .hidden(),
    LoggerColumn::new("MinBuffers", "Min", Whole, |_, row| {
        row.minimum_buffers.into()
    })
    .hidden(),
    LoggerColumn::new("MaxBuffers", "Max", Whole, |_, row| {
        row.maximum_buffers.into()
    })
    .hidden(),
    LoggerColumn::new("Buffers", "Buffers", Whole, |_, row| {
        row.peak_buffers.or(row.current_buffers).into()
    }),
    LoggerColumn::new("Written", "Written", Whole, |_, row| {
        row.buffers_written.into()
    })
    .sum(),
    LoggerColumn::new("Id", "Id", Whole, |_, row| row.logger_id.into()).hidden(),
    LoggerColumn::new("Providers", "Providers", Whole, |_, row| {
        row.providers.into()
    }),
    LoggerColumn::new("Guid", "GUID", Word, |_, row| {
        row.session_guid.clone().into()
    })
    .hidden(),
    LoggerColumn::new("Status", "Status", Word, |_, row| {
        row.status_name.clone().into()
    })
    .hidden(),
    LoggerColumn::new("Mode", "Mode", Word, |_, row| row.modes.clone().into()),
    LoggerColumn::new("Name", "Name", Word, |_, row| name(row).into()),
    LoggerColumn::new("File", "File", Word, |_, row| row.file.clone().into()),
    LoggerColumn::new("Keywords", "Keywords", Word, |_, row| {
        row.kernel_keywords.clone().into()
    }),
];

/// Sessions by start; those that ran before the trace come first.
const SESSIONS: View<LoggersRequest, LoggerRow> = View::new(SESSION_COLUMNS, |row| {
    row.start_ns.map_or(-1.0, |ns| ns as f64)
})
.ranking(|_| Ranked::No);

/// Sessions, ordered by their losses.
const SESSIONS_BY_LOSS: View<LoggersRequest, LoggerRow> =
    View::new(SESSION_COLUMNS, |row| row.sort_value);

/// Returns the name, marked if the session wrote the trace.
fn name(row: &LoggerRow) -> String {
    let mark = if row.is_of_trace { " (this trace)" } else { "" };
    format!("{}{mark}", row.name.as_deref().unwrap_or("(no name)"))
}

/// Returns bytes in KiB, rounded half to even.
fn kib(bytes: i64) -> Value {
    Value::Float((bytes as f64 / 1024.0).round_ties_even())
}

type LoggerEventColumn = Column<LoggersRequest, LoggerEventRow>;

const EVENTS: View<LoggersRequest, LoggerEventRow> = View::new(
    &[
        LoggerEventColumn::time("Time", |_, row| row.ts_ns.into()),
        LoggerEventColumn::new("Kind", "Kind", Word, |_, row| row.kind.clone().into()),
        LoggerEventColumn::new("Session", "Session", Word, |_, row| {
            row.session.clone().into()
        }),
        LoggerEventColumn::new("Provider", "Provider", Word, |_, row| {
            row.provider
                .clone()
                .or_else(|| row.provider_guid.clone())
                .into()
        }),
        LoggerEventColumn::new("Level", "Level", Whole, |_, row| row.level.into()),
        LoggerEventColumn::new("Keywords", "Keywords", Id, |_, row| {
            row.any_keyword.map(|bits| format!("{bits:#x}")).into()
        }),
        LoggerEventColumn::new("Lost", "Lost", Word, |_, row| {
            let id = row.event_id.map(|id| id.to_string());
            row.event_name.clone().or(id).into()
        }),
        LoggerEventColumn::new("Status", "Status", Word, |_, row| {
            row.status_name.clone().into()
        }),
        LoggerEventColumn::new("Process", "Process", Process, |_, row| {
            (row.process.is_some() || row.pid.is_some())
                .then_some(row)
                .into()
        }),
        LoggerEventColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()).hidden(),
    ],
    |row| row.ts_ns as f64,
)
.ranking(|_| Ranked::No);

impl Question for LoggersRequest {
    const NAME: &'static str = "loggers";
    const ALIASES: &'static [&'static str] = &["logger"];
    const SENTENCE: &'static str = "Recording sessions of the trace and others, what they lost, which providers were switched on";
    const USUAL: &'static [&'static str] = &["name", "provider", "kind"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "sessions and lost events",
        },
        Example {
            words: "--details --kind \"lost*\" slow.etl",
            answer: "when events were lost",
        },
    ];

    fn form(&self) -> Form<Self> {
        if self.details {
            return Form::rows(&EVENTS, self.events_sql())
                .needs(&LOGGER_EVENTS, true)
                .top(self.top);
        }
        let view = if self.sort == LoggerSort::Lost {
            &SESSIONS_BY_LOSS
        } else {
            &SESSIONS
        };
        Form::rows(view, self.sessions_sql())
            .needs(&LOGGERS, true)
            .top(self.top)
    }
}

/// Name of a status that may be missing.
const STATUS_NAME: &str =
    "CASE WHEN e.status IS NULL THEN NULL ELSE ntstatus_name(e.status) END AS status_name";

const LOGGERS: Recorded = Recorded::rows(
    "logger",
    "sessions",
    "extract the trace again: extracts of older versions do not have them",
);

const LOGGER_EVENTS: Recorded = Recorded::rows(
    "logger_event",
    "events of sessions and providers",
    "record the provider Microsoft-Windows-Kernel-EventTracing {b675ec37-bdb6-4648-bc92-f3fdc74d3ca2} with all keywords, \
     for example `xperf -start tracing -on Microsoft-Windows-Kernel-EventTracing`",
);

impl LoggersRequest {
    /// Returns the SQL for sessions.
    #[must_use]
    pub fn sessions_sql(&self) -> String {
        let order = self.sort.sql();
        let conditions = Conditions::new().text("e.name", self.session.as_deref());
        format!(
            "SELECT e.*, {STATUS_NAME}, coalesce(o.providers, 0) AS providers,
  CAST(coalesce(events_lost, 0) + coalesce(buffers_lost, 0) + coalesce(real_time_buffers_lost, 0) AS DOUBLE) AS sort_value
FROM logger e
LEFT JOIN (
  SELECT lower(session) AS session, count(DISTINCT provider_guid) AS providers FROM logger_event WHERE kind = 'enable' GROUP BY 1
) o ON o.session = lower(e.name){conditions}
ORDER BY {order}, session_guid, file"
        )
    }

    /// Returns the SQL for their events.
    #[must_use]
    pub fn events_sql(&self) -> String {
        let conditions = self
            .processes
            .conditions()
            .text("e.session", self.session.as_deref())
            .any_text(&["e.provider", "e.provider_guid"], self.provider.as_deref())
            .text("e.kind", self.kind.as_deref())
            .time("e.ts_ns", self.time);
        format!(
            "SELECT e.*, {STATUS_NAME}, {PROCESS_COLUMNS}, t.tid
FROM logger_event e
LEFT JOIN process p ON p.process_key = e.process_key
LEFT JOIN thread t ON t.thread_key = e.thread_key{conditions}
ORDER BY e.ts_ns, e.kind, e.provider_guid, e.session"
        )
    }
}
