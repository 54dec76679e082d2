//! Events that describe themselves: TraceLogging, and EventSource of .NET. Sums by provider or kind of event, or each event.

use super::providers::Providers;
use super::sql::{PROCESS_COLUMNS, ProcessQuery, filtered, quoted, range_condition, text_condition};
use super::{Error, Result, Top, ask};
use crate::Session;
use crate::range::Range;

/// Orders of sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TraceLogSort {
    /// How many events.
    #[default]
    Count,
    /// Name of the provider, then of the event.
    Name,
    /// Id of the event; sums by provider are ordered by number.
    Id,
}

/// Which events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceLogRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Which providers and events of them.
    pub providers: Option<Providers>,
    /// A filter on the fields as text.
    pub message: Option<String>,
    /// A filter on thread ids.
    pub tid: Option<String>,
    /// Part of the trace in nanoseconds.
    pub time: Range,
    /// Only so many events, the first ones.
    pub max_count: Option<usize>,
    /// Also events that Windows describes: with manifests of its own, and of the kernel.
    pub all_events: bool,
    /// Order of sums.
    pub sort: TraceLogSort,
    /// How many rows from the end of the list.
    pub top: Top,
}

rows! {
    /// Events of a provider in a process.
    pub struct ProviderRow {
        /// Name of the provider, if known.
        provider: Option<String>,
        /// Its GUID.
        provider_guid: String,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Events.
        count: i64,
        /// Kinds of events.
        kinds: i64,
        /// Time of the first one.
        first_ns: i64,
        /// Time of the last one.
        last_ns: i64,
        /// Events of the provider in all processes.
        provider_count: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }

    /// Events of one kind.
    pub struct KindRow {
        /// Name of the provider, if known.
        provider: Option<String>,
        /// Its GUID.
        provider_guid: String,
        /// Name of the event, if known.
        event: Option<String>,
        /// Id of the event.
        event_id: i64,
        /// What describes it: `tracelogging`, `eventsource`, …
        described_by: Option<String>,
        /// Events.
        count: i64,
        /// Processes that wrote them.
        processes: i64,
        /// Time of the first one.
        first_ns: i64,
        /// Time of the last one.
        last_ns: i64,
    }

    /// An event.
    pub struct EventRow {
        /// When.
        ts_ns: i64,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id.
        tid: Option<i64>,
        /// Name of the provider, if known.
        provider: Option<String>,
        /// Its GUID.
        provider_guid: String,
        /// Name of the event, if known.
        event: Option<String>,
        /// Id of the event.
        event_id: i64,
        /// Level: 1 critical … 5 verbose.
        level: i64,
        /// Opcode.
        opcode: i64,
        /// Keyword as bit pattern.
        keyword: i64,
        /// What describes it: `tracelogging`, `eventsource`, …
        described_by: Option<String>,
        /// Its text where a file has one for it, else its fields as text.
        message: Option<String>,
        /// Fields as a JSON object.
        fields: Option<String>,
        /// Stack.
        stack_id: Option<i64>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
}

/// What describes the events that are shown if nothing else is asked for: themselves, or files of the user, who names
/// them because he wants to see their events.
const OWN: &str = "'tracelogging', 'eventsource', 'manifest', 'tmf'";

/// What an event says: its text where a file has one for it, else its fields.
fn message(prefix: &str) -> String {
    format!(
        "CASE WHEN {prefix}described_by IN ('manifest', 'tmf') AND {prefix}message IS NOT NULL \
         THEN {prefix}message ELSE fields_text({prefix}fields) END"
    )
}

impl TraceLogRequest {
    /// Single events that fit.
    fn events(&self) -> String {
        let mut conditions = Vec::new();
        if !self.all_events {
            conditions.push(format!("e.described_by IN ({OWN})"));
        }
        conditions.extend(self.processes.conditions());
        conditions.extend(self.providers.as_ref().and_then(Providers::condition));
        conditions.extend(range_condition("e.ts_ns", self.time));
        conditions.extend(text_condition("CAST(t.tid AS VARCHAR)", self.tid.as_deref()));
        conditions.extend(
            self.message
                .as_deref()
                .map(|filter| format!("wildcard_match({}, {})", message("e."), quoted(filter))),
        );
        let limit = self.max_count.map(|count| format!("\nORDER BY e.ts_ns, e.cpu\nLIMIT {count}"));
        format!(
            "SELECT e.ts_ns, e.cpu, e.process_key, {PROCESS_COLUMNS}, t.tid, e.provider, e.provider_guid, e.name AS event, e.event_id,
  e.level, e.opcode, e.keyword, e.described_by, e.message, e.fields, e.stack_id
FROM generic_event e
LEFT JOIN process p ON p.process_key = e.process_key
LEFT JOIN thread t ON t.thread_key = e.thread_key{}{}",
            filtered(&conditions),
            limit.unwrap_or_default()
        )
    }

    /// The question for sums by provider and process.
    #[must_use]
    pub fn providers_sql(&self) -> String {
        let order = match self.sort {
            TraceLogSort::Name => "lower(provider), provider_guid, count",
            TraceLogSort::Count | TraceLogSort::Id => "provider_count, provider, provider_guid, count",
        };
        format!(
            "SELECT *, sum(count) OVER (PARTITION BY provider_guid, provider) AS provider_count
FROM (
SELECT provider, provider_guid, process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, count(*) AS count,
  count(DISTINCT concat(event_id, ' ', event)) AS kinds, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns
FROM (
{}
)
GROUP BY provider, provider_guid, process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns
)
ORDER BY {order}, process_key",
            self.events()
        )
    }

    /// The question for sums by kind of event.
    #[must_use]
    pub fn kinds_sql(&self) -> String {
        let order = match self.sort {
            TraceLogSort::Count => "count, provider, event, event_id",
            TraceLogSort::Name => "lower(provider), provider_guid, lower(event), event_id",
            TraceLogSort::Id => "event_id, provider, event",
        };
        format!(
            "SELECT provider, provider_guid, event, event_id, described_by, count(*) AS count, count(DISTINCT process_key) AS processes,
  min(ts_ns) AS first_ns, max(ts_ns) AS last_ns
FROM (
{}
)
GROUP BY provider, provider_guid, event, event_id, described_by
ORDER BY {order}, provider_guid",
            self.events()
        )
    }

    /// The question for each event, in the order of time.
    #[must_use]
    pub fn list_sql(&self) -> String {
        format!(
            "SELECT * EXCLUDE (message), {} AS message\nFROM (\n{}\n)\nORDER BY ts_ns, cpu",
            message(""),
            self.events()
        )
    }

    /// Asks for sums by provider and process.
    ///
    /// # Errors
    /// There are no such events; the query fails.
    pub fn of_providers(&self, session: &Session) -> Result<Vec<ProviderRow>> {
        self.rows(session, &self.providers_sql())
    }

    /// Asks for sums by kind of event.
    ///
    /// # Errors
    /// There are no such events; the query fails.
    pub fn of_kinds(&self, session: &Session) -> Result<Vec<KindRow>> {
        self.rows(session, &self.kinds_sql())
    }

    /// Asks for each event.
    ///
    /// # Errors
    /// There are no such events; the query fails.
    pub fn list(&self, session: &Session) -> Result<Vec<EventRow>> {
        self.rows(session, &self.list_sql())
    }

    fn rows<R: super::FromRows>(&self, session: &Session, sql: &str) -> Result<Vec<R>> {
        let own = if self.all_events { String::new() } else { format!(" WHERE described_by IN ({OWN})") };
        let counts: Vec<super::Count> =
            ask(session, &format!("SELECT count(*) AS rows FROM generic_event{own}"))?;
        if counts.iter().all(|count| count.rows == 0) {
            return Err(Error::NotRecorded {
                what: "events that describe themselves (TraceLogging, EventSource)",
                how: "name their providers, by GUID or as *NAME, in an EventProvider of a WPR profile; an extract made with --detail summary \
                      does not hold single events",
            });
        }
        let mut rows = ask(session, sql)?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}
