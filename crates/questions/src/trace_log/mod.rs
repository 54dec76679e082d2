//! Events that describe themselves: TraceLogging, and EventSource of .NET. Sums by provider or kind
//! of event, or each event.

use etwkit_question::declare;
mod sql;
mod view;

use self::view::{EVENTS, KINDS, PROVIDERS};
use super::stack::stacked::{STACK, with_stacks};
use etwkit_question::Result;
use etwkit_question::cut::Cut;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{Among, Answer, Descriptions, Example, Form, Question, group, option};
use etwkit_sql::Session;

const NAMES: Among = Among::Texts(
    "provider",
    "providers",
    "SELECT provider AS text FROM generic_event",
);

declare! {
    /// Options of `dump tracelog`.
    #[derive(Eq)]
    pub request TraceLogRequest {
        /// Files that describe events
        descriptions: Descriptions = group(),
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows from the end of the list
        top: Top = group(),
        /// Only these providers, by name or GUID, followed by a colon and events:
        /// p1:ev1,ev2;p2:7;!p3. Events are ids, patterns with * and ?, or parts of names; !
        /// excludes
        providers: Option<String> = option("LIST").called("provider").of(NAMES),
        /// Rows: provider (in each process), kind of event, or each event. [default: events if
        /// --provider names events, otherwise kinds]
        by: Option<TraceLogBy> = option("ROWS").shape(),
        /// Only events whose fields match, written as name=value with blanks between: '*user=bob*'
        message: Option<String> = option("TEXT"),
        /// Only events of these threads
        tid: Option<String> = option("IDS").of(Among::THREADS),
        /// Only this part of the trace (s)
        time: Range = option("A..B").called("range").also(&["time"]).unit(Unit::Moment),
        /// Only the first N matching events
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

    /// Grouping of the rows.
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
        processes: i64 = "Processes that wrote these events.",
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
        message: Option<String> = "Text of the event where a file has one, otherwise its fields as text.",
        fields: Option<String> = "Fields as a JSON object.",
        stack_id: Option<i64> = "Stack.",
        ..process_details,
    }
}

impl Question for TraceLogRequest {
    const NAME: &'static str = "tracelog";
    const ALIASES: &'static [&'static str] = &["trace-log"];
    const SENTENCE: &'static str = "Self-describing events: TraceLogging, and EventSource of .NET";
    const USUAL: &'static [&'static str] = &["provider", "message", "tid", "max-count"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "events that describe themselves",
        },
        Example {
            words: "--by event --provider \"*Defender*\" slow.etl",
            answer: "each event with its fields",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = match self.rows_by() {
            TraceLogBy::Provider => {
                Form::made::<ProviderRow>(self.providers_sql(), Self::with_stacks).shows(&PROVIDERS)
            }
            TraceLogBy::Kind => {
                Form::made::<KindRow>(self.kinds_sql(), Self::with_stacks).shows(&KINDS)
            }
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
                let rows = with_stacks(session, self.list(session)?, self.stacks, |row| {
                    row.stack_id
                })?;
                Answer::rows(self, &EVENTS, rows)
            }
        })
    }

    fn descriptions(&self) -> Option<&Descriptions> {
        Some(&self.descriptions)
    }
}
