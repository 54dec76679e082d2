//! Recording sessions, and what happened to them and to providers.

use super::rows::Field;
use super::sql::{PROCESS_COLUMNS, ProcessQuery, any_text_condition, ends, filtered, text_condition};
use super::{Error, Result, Top, ask, has_rows};
use crate::Session;
use crate::question::Format::{Id, Moment, Process, Whole, Word};
use crate::question::{Answer, Column, Question, Value, View, Words, fields, group, option};
use crate::range::{Range, Unit};

/// Orders of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoggerSort {
    /// Start; those that ran before come first.
    #[default]
    Start,
    /// Name.
    Name,
    /// Events and buffers that were lost.
    Lost,
}

impl Words for LoggerSort {
    const WORDS: &'static [(&'static str, Self)] =
        &[("start", Self::Start), ("name", Self::Name), ("lost", Self::Lost)];
}

request! {
    /// Which sessions, or which of their events.
    #[derive(Eq)]
    pub struct LoggersRequest {
        /// Which processes logged events
        processes: ProcessQuery = group(),
        /// How many from the end of the list
        top: Top = group(),
        /// Only these sessions, by name (*, ?, several with ;, ! excludes)
        session: Option<String> = option("NAMES").called("name"),
        /// Order of sessions
        sort: LoggerSort = option("ORDER").called("sort-by").excludes(&["details"]).shape(),
        /// List what happened: starts, stops, providers that were switched on and off, losses
        details: bool = option("").shape(),
        /// With --details: only these providers, by name or GUID (*, ?, several with ;, ! excludes)
        provider: Option<String> = option("NAMES").requires("details"),
        /// With --details: only this: start, stop, running, enable, disable, register, unregister, lost* … (*, ?, several with ;, ! excludes)
        kind: Option<String> = option("KINDS").requires("details"),
        /// With --details: only this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Seconds).requires("details"),
    }
}

/// Which sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoggerRequest {
    /// A filter on their names.
    pub session: Option<String>,
    /// Order.
    pub sort: LoggerSort,
    /// How many from the end of the list.
    pub top: Top,
}

/// Which events of sessions and providers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoggerEventRequest {
    /// Which processes logged them.
    pub processes: ProcessQuery,
    /// A filter on names of sessions.
    pub session: Option<String>,
    /// A filter on names and GUIDs of providers.
    pub provider: Option<String>,
    /// A filter on kinds, such as `enable` or `lost*`.
    pub kind: Option<String>,
    /// Only this part of the trace, in nanoseconds.
    pub time: Range,
    /// How many from the end of the list.
    pub top: Top,
}

rows! {
    /// A session.
    pub struct LoggerRow {
        /// Name.
        name: Option<String>,
        /// Whether it wrote this trace.
        is_of_trace: bool,
        /// Its GUID.
        session_guid: Option<String>,
        /// Its number on the machine.
        logger_id: Option<i64>,
        /// Start, if in the trace.
        start_ns: Option<i64>,
        /// Stop, if in the trace.
        stop_ns: Option<i64>,
        /// File that it wrote.
        file: Option<String>,
        /// Bits of `LogFileMode`.
        mode: Option<i64>,
        /// Their names.
        modes: Option<String>,
        /// Size of a buffer, of sessions of the trace.
        buffer_size_bytes: Option<i64>,
        /// The same as events tell it; in what is not documented.
        event_buffer_size: Option<i64>,
        /// Fewest buffers.
        minimum_buffers: Option<i64>,
        /// Most buffers.
        maximum_buffers: Option<i64>,
        /// The most that it had.
        peak_buffers: Option<i64>,
        /// Those that it had when that was told.
        current_buffers: Option<i64>,
        /// Buffers written.
        buffers_written: Option<i64>,
        /// Events lost.
        events_lost: Option<i64>,
        /// Buffers lost.
        buffers_lost: Option<i64>,
        /// Buffers lost by a reader in real time.
        real_time_buffers_lost: Option<i64>,
        /// Why it did not start, stopped or could not write, as signed number.
        status: Option<i64>,
        /// Its name; digits where it has none.
        status_name: Option<String>,
        /// What the kernel recorded.
        kernel_keywords: Option<String>,
        /// Providers that were switched on for it in the trace.
        providers: i64,
        /// What the rows are sorted by.
        sort_value: f64,
    }

    /// An event of a session or provider.
    pub struct LoggerEventRow: process {
        /// Time.
        ts_ns: i64,
        /// What happened.
        kind: String,
        /// Session.
        session: Option<String>,
        /// Provider.
        provider: Option<String>,
        /// Its GUID.
        provider_guid: Option<String>,
        /// Keywords of which an event needs one, as signed number.
        any_keyword: Option<i64>,
        /// Keywords of which an event needs all, as signed number.
        all_keyword: Option<i64>,
        /// Most detailed level.
        level: Option<i64>,
        /// Status of an error or loss, as signed number.
        status: Option<i64>,
        /// Its name; digits where it has none.
        status_name: Option<String>,
        /// Id of the lost event.
        event_id: Option<i64>,
        /// Its name.
        event_name: Option<String>,
        /// Process that logged it.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread that logged it.
        tid: Option<i64>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
    }
}

type One = Column<LoggersRequest, LoggerRow>;

const SESSION_COLUMNS: &[One] = &[
    One::new("Start", "Start", Moment, |_, row| row.start_ns.into()).or("before"),
    One::new("Stop", "Stop", Moment, |_, row| row.stop_ns.into()),
    One::new("LostEvents", "Lost events", Whole, |_, row| row.events_lost.into()).cost(),
    One::new("LostBuffers", "Lost buffers", Whole, |_, row| row.buffers_lost.into()).cost(),
    One::new("LostRealTime", "Lost in real time", Whole, |_, row| row.real_time_buffers_lost.into())
        .cost()
        .hidden(),
    One::new("BufferSize", "Buffer KiB", Whole, |_, row| row.buffer_size_bytes.map(kib).into()),
    One::new("EventBufferSize", "Buffer size", Whole, |_, row| row.event_buffer_size.into()).hidden(),
    One::new("MinBuffers", "Min", Whole, |_, row| row.minimum_buffers.into()).hidden(),
    One::new("MaxBuffers", "Max", Whole, |_, row| row.maximum_buffers.into()).hidden(),
    One::new("Buffers", "Buffers", Whole, |_, row| row.peak_buffers.or(row.current_buffers).into()),
    One::new("Written", "Written", Whole, |_, row| row.buffers_written.into()).sum(),
    One::new("Id", "Id", Whole, |_, row| row.logger_id.into()).hidden(),
    One::new("Providers", "Providers", Whole, |_, row| row.providers.into()),
    One::new("Guid", "GUID", Word, |_, row| row.session_guid.clone().into()).hidden(),
    One::new("Status", "Status", Word, |_, row| row.status_name.clone().into()).hidden(),
    One::new("Mode", "Mode", Word, |_, row| row.modes.clone().into()),
    One::new("Name", "Name", Word, |_, row| name(row).into()),
    One::new("File", "File", Word, |_, row| row.file.clone().into()),
    One::new("Keywords", "Keywords", Word, |_, row| row.kernel_keywords.clone().into()),
];

/// Sessions by start, those that ran before first.
const SESSIONS: View<LoggersRequest, LoggerRow> =
    View::new(SESSION_COLUMNS, |row| row.start_ns.map_or(-1.0, |ns| ns as f64));

/// Sessions by what they lost.
const SESSIONS_BY_LOSS: View<LoggersRequest, LoggerRow> = View::new(SESSION_COLUMNS, |row| row.sort_value);

/// The name, marked if the session wrote the trace.
fn name(row: &LoggerRow) -> String {
    let mark = if row.is_of_trace { " (this trace)" } else { "" };
    format!("{}{mark}", row.name.as_deref().unwrap_or("(no name)"))
}

/// Bytes in KiB, rounded half to even.
fn kib(bytes: i64) -> Value {
    Value::Float((bytes as f64 / 1024.0).round_ties_even())
}

type Event = Column<LoggersRequest, LoggerEventRow>;

const EVENTS: View<LoggersRequest, LoggerEventRow> = View::new(
    &[
        Event::time("Time", |_, row| row.ts_ns.into()),
        Event::new("Kind", "Kind", Word, |_, row| row.kind.clone().into()),
        Event::new("Session", "Session", Word, |_, row| row.session.clone().into()),
        Event::new("Provider", "Provider", Word, |_, row| {
            row.provider.clone().or_else(|| row.provider_guid.clone()).into()
        }),
        Event::new("Level", "Level", Whole, |_, row| row.level.into()),
        Event::new("Keywords", "Keywords", Id, |_, row| {
            row.any_keyword.map(|bits| format!("{bits:#x}")).into()
        }),
        Event::new("Lost", "Lost", Word, |_, row| {
            let id = row.event_id.map(|id| id.to_string());
            row.event_name.clone().or(id).into()
        }),
        Event::new("Status", "Status", Word, |_, row| row.status_name.clone().into()),
        Event::new("Process", "Process", Process, |_, row| {
            (row.process.is_some() || row.pid.is_some()).then_some(row).into()
        }),
        Event::new("Tid", "Tid", Id, |_, row| row.tid.into()).hidden(),
    ],
    |row| row.ts_ns as f64,
);

impl Question for LoggersRequest {
    const NAME: &'static str = "loggers";
    const ALIASES: &'static [&'static str] = &["logger"];
    const SENTENCE: &'static str =
        "Recording sessions: those of the trace and others, what they lost, which providers were switched on";

    fn show_sql(&self) -> String {
        if self.details { self.events().sql() } else { self.sessions().sql() }
    }

    fn fields(&self) -> Vec<Field> {
        if self.details { fields::<LoggerEventRow>() } else { fields::<LoggerRow>() }
    }

    fn answer(&self, session: &Session) -> Result<Answer> {
        if self.details {
            return Ok(Answer::rows(self, &EVENTS, self.events().ask(session)?));
        }
        let view = if self.sort == LoggerSort::Lost { &SESSIONS_BY_LOSS } else { &SESSIONS };
        Ok(Answer::rows(self, view, self.sessions().ask(session)?))
    }

    fn top(&self) -> Top {
        self.top
    }
}

impl LoggersRequest {
    /// The request for sessions.
    fn sessions(&self) -> LoggerRequest {
        LoggerRequest { session: self.session.clone(), sort: self.sort, top: self.top }
    }

    /// The request for their events.
    fn events(&self) -> LoggerEventRequest {
        LoggerEventRequest {
            processes: self.processes.clone(),
            session: self.session.clone(),
            provider: self.provider.clone(),
            kind: self.kind.clone(),
            time: self.time,
            top: self.top,
        }
    }
}

/// Name of a status that may be missing.
const STATUS_NAME: &str =
    "CASE WHEN e.status IS NULL THEN NULL ELSE ntstatus_name(e.status) END AS status_name";

impl LoggerRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let order = match self.sort {
            LoggerSort::Start => "coalesce(start_ns, -1), CASE WHEN is_of_trace THEN 0 ELSE 1 END, name",
            LoggerSort::Name => "lower(name), start_ns",
            LoggerSort::Lost => "sort_value, name, start_ns",
        };
        let conditions: Vec<String> = text_condition("e.name", self.session.as_deref()).into_iter().collect();
        format!(
            "SELECT e.*, {STATUS_NAME}, coalesce(o.providers, 0) AS providers,
  CAST(coalesce(events_lost, 0) + coalesce(buffers_lost, 0) + coalesce(real_time_buffers_lost, 0) AS DOUBLE) AS sort_value
FROM logger e
LEFT JOIN (
  SELECT lower(session) AS session, count(DISTINCT provider_guid) AS providers FROM logger_event WHERE kind = 'enable' GROUP BY 1
) o ON o.session = lower(e.name){}
ORDER BY {order}, session_guid, file",
            filtered(&conditions)
        )
    }

    /// Asks.
    ///
    /// # Errors
    /// The extract knows no sessions; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<LoggerRow>> {
        if !has_rows(session, "logger")? {
            return Err(Error::NotRecorded {
                what: "sessions",
                how: "extract the trace again: extracts of older versions do not have them",
            });
        }
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}

impl LoggerEventRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut conditions = self.processes.conditions();
        conditions.extend(text_condition("e.session", self.session.as_deref()));
        conditions.extend(any_text_condition(&["e.provider", "e.provider_guid"], self.provider.as_deref()));
        conditions.extend(text_condition("e.kind", self.kind.as_deref()));
        if !self.time.is_unlimited() {
            let (a, b) = ends(self.time);
            conditions.push(format!("e.ts_ns BETWEEN {a} AND {b}"));
        }
        format!(
            "SELECT e.*, {STATUS_NAME}, {PROCESS_COLUMNS}, t.tid
FROM logger_event e
LEFT JOIN process p ON p.process_key = e.process_key
LEFT JOIN thread t ON t.thread_key = e.thread_key{}
ORDER BY e.ts_ns, e.kind, e.provider_guid, e.session",
            filtered(&conditions)
        )
    }

    /// Asks.
    ///
    /// # Errors
    /// No such events were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<LoggerEventRow>> {
        if !has_rows(session, "logger_event")? {
            return Err(Error::NotRecorded {
                what: "events of sessions and providers",
                how: "record the provider Microsoft-Windows-Kernel-EventTracing {b675ec37-bdb6-4648-bc92-f3fdc74d3ca2} with all keywords, \
                      for example `xperf -start tracing -on Microsoft-Windows-Kernel-EventTracing`",
            });
        }
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}
