//! Recording sessions, and what happened to them and to providers.

use super::sql::{PROCESS_COLUMNS, ProcessQuery, any_text_condition, ends, filtered, text_condition};
use super::{Error, Result, Top, ask, has_rows};
use crate::Session;
use crate::range::Range;

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
    pub struct LoggerEventRow {
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
