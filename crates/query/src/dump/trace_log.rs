//! Events that describe themselves: TraceLogging, and EventSource of .NET. Sums by provider or kind of event,
//! or each event.

use super::cut::Cut;
use super::providers::Providers;
use super::sql::{PROCESS_COLUMNS, ProcessQuery, filtered, quoted, range_condition, text_condition};
use super::stacked::{STACK, with_stacks};
use super::trace_log_view::{EVENTS, KINDS, PROVIDERS};
use super::{Error, Result, Top, ask};
use crate::Session;
use crate::question::{Among, Answer, Descriptions, Form, Question, group, option};
use crate::range::{Range, Unit};

const NAMES: Among = Among::Texts("provider", "providers", "SELECT provider AS text FROM generic_event");

declare! {
    /// Which events.
    #[derive(Eq)]
    pub request TraceLogRequest {
        /// Files that describe events
        descriptions: Descriptions = group(),
        /// Which processes
        processes: ProcessQuery = group(),
        /// How many rows from the end of the list
        top: Top = group(),
        /// Only these providers, by name or GUID, followed by a colon and events: p1:ev1,ev2;p2:7;!p3. Events
        /// are ids, patterns with * and ?, or parts of names; ! excludes
        providers: Option<String> = option("LIST").called("provider").of(NAMES),
        /// Rows: provider (in each process), kind of event, or each event. Without it kinds if --provider
        /// names no events, events if it does
        by: Option<TraceLogBy> = option("ROWS").shape(),
        /// Only events whose fields fit, written as name=value with blanks between: '*user=bob*'
        message: Option<String> = option("TEXT"),
        /// Only events of these threads
        tid: Option<String> = option("IDS").of(Among::THREADS),
        /// Only this part of the trace (s)
        time: Range = option("A..B").called("range").also(&["time"]).unit(Unit::Moment),
        /// Only the first N events that fit
        max_count: Option<usize> = option("N").called("max-count"),
        /// Also events that others describe: providers with a manifest of Windows, and the kernel
        all_events: bool = option("").called("all-events"),
        /// Order of sums
        sort: TraceLogSort = option("ORDER").called("sort-by").shape(),
        /// Show stacks of events
        stacks: bool = option("").called("show-stack").output(),
        /// Only frames A to B of stacks
        cut_stack: Cut = option("A..B").called("cut-stack").output() => Cut::Part(0, 50),
    }

    /// What a row is.
    pub words TraceLogBy {
        "provider" => Provider = "Events of a provider in a process.",
        "kind" => Kind = "Events of one kind.",
        "event" => Event = "An event.",
    }

    /// Orders of sums.
    pub words TraceLogSort {
        "count" => Count = "How many events.",
        "name" => Name = "Name of the provider, then of the event.",
        "id" => Id = "Id of the event; sums by provider are ordered by number.",
    }

    /// Events of a provider in a process.
    pub row ProviderRow: process {
        provider: Option<String> = "Name of the provider, if known.",
        provider_guid: String = "GUID of the provider.",
        ..process = "Process; missing if it is not known.",
        count: i64 = "Events.",
        kinds: i64 = "Kinds of events.",
        first_ns: i64 = "Time of the first event.",
        last_ns: i64 = "Time of the last event.",
        provider_count: i64 = "Events of the provider in all processes.",
        ..process_details,
    }

    /// Events of one kind.
    pub row KindRow {
        provider: Option<String> = "Name of the provider, if known.",
        provider_guid: String = "GUID of the provider.",
        event: Option<String> = "Name of the event, if known.",
        event_id: i64 = "Id of the event.",
        described_by: Option<String> = "What describes it: `tracelogging`, `eventsource`, …",
        count: i64 = "Events.",
        processes: i64 = "Processes that wrote such events.",
        first_ns: i64 = "Time of the first event.",
        last_ns: i64 = "Time of the last event.",
    }

    /// An event.
    pub row EventRow: process {
        ts_ns: i64 = "When.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread id.",
        provider: Option<String> = "Name of the provider, if known.",
        provider_guid: String = "GUID of the provider.",
        event: Option<String> = "Name of the event, if known.",
        event_id: i64 = "Id of the event.",
        level: i64 = "Level: 1 critical … 5 verbose.",
        opcode: i64 = "Opcode.",
        keyword: i64 = "Keyword as bit pattern.",
        described_by: Option<String> = "What describes it: `tracelogging`, `eventsource`, …",
        message: Option<String> = "Text of the event where a file has one, else its fields as text.",
        fields: Option<String> = "Fields as a JSON object.",
        stack_id: Option<i64> = "Stack.",
        ..process_details,
    }
}

impl Question for TraceLogRequest {
    const NAME: &'static str = "tracelog";
    const ALIASES: &'static [&'static str] = &["trace-log"];
    const SENTENCE: &'static str = "Events that describe themselves: TraceLogging, and EventSource of .NET";

    fn form(&self) -> Form<Self> {
        let form = match self.rows_by() {
            TraceLogBy::Provider => {
                Form::made::<ProviderRow>(self.providers_sql(), Self::with_stacks).shows(&PROVIDERS)
            }
            TraceLogBy::Kind => Form::made::<KindRow>(self.kinds_sql(), Self::with_stacks).shows(&KINDS),
            TraceLogBy::Event => {
                Form::made::<EventRow>(self.list_sql(), Self::with_stacks).with_fields(vec![STACK])
            }
        };
        form.top(self.top)
    }

    fn answer_for_people(&self, session: &Session) -> Result<Answer> {
        Ok(match self.rows_by() {
            TraceLogBy::Provider => Answer::rows(self, &PROVIDERS, self.of_providers(session)?),
            TraceLogBy::Kind => Answer::rows(self, &KINDS, self.of_kinds(session)?),
            TraceLogBy::Event => {
                let rows = with_stacks(session, self.list(session)?, self.stacks, |row| row.stack_id)?;
                Answer::rows(self, &EVENTS, rows)
            }
        })
    }

    fn descriptions(&self) -> Option<&Descriptions> {
        Some(&self.descriptions)
    }
}

/// What describes the events that are shown if nothing else is asked for: the events themselves, or files of
/// the user, who names such files to see their events.
const OWN: &str = "'tracelogging', 'eventsource', 'manifest', 'tmf'";

/// What an event says: its text where a file has one for it, else its fields.
fn message(prefix: &str) -> String {
    format!(
        "CASE WHEN {prefix}described_by IN ('manifest', 'tmf') AND {prefix}message IS NOT NULL \
         THEN {prefix}message ELSE fields_text({prefix}fields) END"
    )
}

impl TraceLogRequest {
    /// The answer with stacks, since machine output always has them.
    fn with_stacks(&self, session: &Session) -> Result<Answer> {
        Self { stacks: true, ..self.clone() }.answer_for_people(session)
    }

    /// What a row is.
    fn rows_by(&self) -> TraceLogBy {
        let of_filter = match self.providers.as_deref().map(Providers::parse) {
            None => TraceLogBy::Provider,
            Some(providers) if providers.names_events() => TraceLogBy::Event,
            Some(_) => TraceLogBy::Kind,
        };
        self.by.unwrap_or(of_filter)
    }

    /// Single events that fit.
    fn events(&self) -> String {
        let mut conditions = Vec::new();
        if !self.all_events {
            conditions.push(format!("e.described_by IN ({OWN})"));
        }
        conditions.extend(self.processes.conditions());
        conditions.extend(self.providers.as_deref().map(Providers::parse).and_then(|all| all.condition()));
        conditions.extend(range_condition("e.ts_ns", self.time));
        conditions.extend(text_condition("CAST(t.tid AS VARCHAR)", self.tid.as_deref()));
        conditions.extend(
            self.message
                .as_deref()
                .map(|filter| format!("wildcard_match({}, {})", message("e."), quoted(filter))),
        );
        // Within the rows that sums are made of, so that sums count only the first events as well.
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
        // Counted apart from the filters: events that no filter passes are an empty answer, and not a trace
        // without such events.
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
