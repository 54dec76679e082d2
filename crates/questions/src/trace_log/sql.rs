//! The SQL of events that programs log.

use super::{EventRow, KindRow, ProviderRow, TraceLogBy, TraceLogRequest, TraceLogSort};
use crate::providers::Providers;
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS};
use etwkit_question::{Answer, Question};
use etwkit_question::{Error, Result, ask};
use etwkit_sql::Session;

/// Sources of descriptions whose events are shown by default: the events themselves, or files of
/// the user, who names these files to see their events.
const OWN: &str = "'tracelogging', 'eventsource', 'manifest', 'tmf'";

/// Returns the text of an event: its message if a file defines one, otherwise its fields.
pub(super) fn message(prefix: &str) -> String {
    format!(
        "CASE WHEN {prefix}described_by IN ('manifest', 'tmf') AND {prefix}message IS NOT NULL \
         THEN {prefix}message ELSE fields_text({prefix}fields) END"
    )
}

impl TraceLogRequest {
    /// Returns the answer with stacks, which JSON and CSV always have.
    pub(super) fn with_stacks(&self, session: &Session) -> Result<Answer> {
        Self {
            stacks: true,
            ..self.clone()
        }
        .answer_for_people(session)
    }

    /// Returns the grouping of the rows.
    pub(super) fn rows_by(&self) -> TraceLogBy {
        let of_filter = match self.providers.as_deref().map(Providers::parse) {
            None => TraceLogBy::Provider,
            Some(providers) if providers.names_events() => TraceLogBy::Event,
            Some(_) => TraceLogBy::Kind,
        };
        self.by.unwrap_or(of_filter)
    }

    /// Returns the matching single events.
    fn events(&self) -> String {
        let providers = self.providers.as_deref().map(Providers::parse);
        let conditions = Conditions::new()
            .when(!self.all_events, &format!("e.described_by IN ({OWN})"))
            .and(self.processes.conditions())
            .and(providers.and_then(|all| all.condition()))
            .range("e.ts_ns", self.time)
            .text("CAST(t.tid AS VARCHAR)", self.tid.as_deref())
            .text(&message("e."), self.message.as_deref());
        // Within the rows that sums are made of, so that sums count only the first events as well.
        let limit = self.max_count.map_or_else(String::new, |count| {
            format!("\nORDER BY e.ts_ns, e.cpu\nLIMIT {count}")
        });
        format!(
            "SELECT e.ts_ns, e.cpu, e.process_key, {PROCESS_COLUMNS}, t.tid, e.provider, e.provider_guid, e.name AS event, e.event_id,
  e.level, e.opcode, e.keyword, e.described_by, e.message, e.fields, e.stack_id
FROM generic_event e
LEFT JOIN process p ON p.process_key = e.process_key
LEFT JOIN thread t ON t.thread_key = e.thread_key{conditions}{limit}"
        )
    }

    /// Returns the SQL for sums by provider and process.
    #[must_use]
    pub fn providers_sql(&self) -> String {
        let order = match self.sort {
            TraceLogSort::Name => "lower(provider), provider_guid, count",
            TraceLogSort::Count | TraceLogSort::Id => {
                "provider_count, provider, provider_guid, count"
            }
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

    /// Returns the SQL for sums by kind of event.
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

    /// Returns the SQL for single events, in order of time.
    #[must_use]
    pub fn list_sql(&self) -> String {
        format!(
            "SELECT * EXCLUDE (message), {} AS message\nFROM (\n{}\n)\nORDER BY ts_ns, cpu",
            message(""),
            self.events()
        )
    }

    /// Queries sums by provider and process.
    ///
    /// # Errors
    /// There are no such events; the query fails.
    pub fn of_providers(&self, session: &Session) -> Result<Vec<ProviderRow>> {
        self.rows(session, &self.providers_sql())
    }

    /// Queries sums by kind of event.
    ///
    /// # Errors
    /// There are no such events; the query fails.
    pub fn of_kinds(&self, session: &Session) -> Result<Vec<KindRow>> {
        self.rows(session, &self.kinds_sql())
    }

    /// Queries single events.
    ///
    /// # Errors
    /// There are no such events; the query fails.
    pub fn list(&self, session: &Session) -> Result<Vec<EventRow>> {
        self.rows(session, &self.list_sql())
    }

    fn rows<R: etwkit_question::FromRows>(&self, session: &Session, sql: &str) -> Result<Vec<R>> {
        // Counted without the filters: if no event passes the filters, the answer is empty; it is
        // not a trace without such events.
        let own = if self.all_events {
            String::new()
        } else {
            format!(" WHERE described_by IN ({OWN})")
        };
        let counts: Vec<etwkit_question::Count> = ask(
            session,
            &format!("SELECT count(*) AS rows FROM generic_event{own}"),
        )?;
        if counts.iter().all(|count| count.rows == 0) {
            return Err(Error::NotRecorded {
                what: "events that describe themselves (TraceLogging, EventSource)",
                how: "name their providers, by GUID or as *NAME, in an EventProvider of a WPR profile; an extract made with --detail summary \
                      does not hold single events",
                tables: Vec::new(),
            });
        }
        let mut rows = ask(session, sql)?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}
