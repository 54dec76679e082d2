//! Events that no other table shows, described or not: counted by name, or each with its fields.

use super::stack::stacked::{STACK, Stacked, lines, with_stacks};
use etwkit_question::Format::{Id, Moment, Process, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::cut::Cut;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{PROCESS_COLUMNS, ProcessQuery};
use etwkit_question::{
    Answer, Column, Example, Form, Question, Ranked, Value, View, group, option,
};

declare! {
    /// Options of `dump events`.
    #[derive(Eq)]
    pub request EventsRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Only these providers, by name or GUID (*, ?, several with ;, ! excludes)
        provider: Option<String> = option("PROVIDERS"),
        /// Only events with these names or ids (*, ?, several with ;, ! excludes)
        event: Option<String> = option("EVENTS"),
        /// Only events whose fields match, written as name=value with blanks between: '*user=bob*'
        fields: Option<String> = option("TEXT"),
        /// Only events of these threads
        tid: Option<String> = option("IDS"),
        /// Only events in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only events whose stack has this frame: module!method, or its method alone (*, ?,
        /// several with ;, ! excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Each event
        details: bool = option("").shape(),
        /// With --details: stacks
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// With --details: only frames A to B of stacks
        cut_stack: Cut = option("A..B").called("cut-stack").requires("details").output() => Cut::Part(0, 50),
        /// Order of sums
        sort: EventsSort = option("ORDER").called("sort-by").excludes(&["details"]).shape(),
    }

    /// Orders of sums.
    pub orders EventsSort {
        "count" => Count: "count" = "How many events.",
        "processes" => Processes: "processes" = "Processes that wrote these events.",
        "stacks" => Stacks: "stacks" = "Events with a stack.",
        "first" => First: "first_ns" = "Time of the first event.",
    }

    /// Events with one name.
    pub row EventsKind {
        provider: Option<String> = "Name of the provider, if known.",
        provider_guid: String = "GUID of the provider.",
        event: Option<String> = "Name of the event, if known.",
        event_id: i64 = "Id of the event.",
        opcode: i64 = "Opcode; events of the kernel and classic ones have no id.",
        described_by: Option<String> = "What describes it: `manifest`, `eventinfo`, `kernel`, …",
        count: i64 = "Events.",
        stacks: i64 = "Events with a stack.",
        processes: i64 = "Processes that wrote these events.",
        first_ns: i64 = "Time of the first event.",
        last_ns: i64 = "Time of the last event.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// An event.
    pub row EventsEvent: process {
        ts_ns: i64 = "When.",
        cpu: i64 = "Processor.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread.",
        provider: Option<String> = "Name of the provider, if known.",
        provider_guid: String = "GUID of the provider.",
        event: Option<String> = "Name of the event, if known.",
        event_id: i64 = "Id of the event.",
        opcode: i64 = "Opcode.",
        version: i64 = "Version.",
        level: i64 = "Level: 1 critical … 5 verbose.",
        keyword: i64 = "Keyword as bit pattern.",
        activity_id: Option<String> = "Activity that it belongs to.",
        described_by: Option<String> = "What describes it; missing if nothing does.",
        text: Option<String> = "Text of the event where a file has one, otherwise its fields.",
        fields: Option<String> = "Fields as a JSON object.",
        stack_id: Option<i64> = "Stack.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type EventsKindColumn = Column<EventsRequest, EventsKind>;

const KINDS: View<EventsRequest, EventsKind> = View::new(
    &[
        EventsKindColumn::new("Count", "Events", Whole, |_, row| row.count.into()).sum(),
        EventsKindColumn::new("Stacks", "With stack", Whole, |_, row| row.stacks.into()).sum(),
        EventsKindColumn::new("Processes", "Processes", Whole, |_, row| {
            row.processes.into()
        }),
        EventsKindColumn::new("First", "First", Moment, |_, row| row.first_ns.into()),
        EventsKindColumn::new("Last", "Last", Moment, |_, row| row.last_ns.into()),
        EventsKindColumn::new("Id", "Id", Id, |_, row| row.event_id.into()),
        EventsKindColumn::new("Opcode", "Opcode", Id, |_, row| row.opcode.into()).hidden(),
        EventsKindColumn::new("Event", "Event", Word, |_, row| row.event.clone().into()).or("?"),
        EventsKindColumn::new("Provider", "Provider", Word, |_, row| {
            named(row.provider.as_deref(), &row.provider_guid)
        }),
        EventsKindColumn::new("Guid", "GUID", Word, |_, row| {
            row.provider_guid.clone().into()
        })
        .hidden(),
        EventsKindColumn::new("DescribedBy", "Described by", Word, |_, row| {
            row.described_by.clone().into()
        })
        .hidden(),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort == EventsSort::First))
.with_sums(
    "Total: {Count|event|events} of {#|kind|kinds}, {Stacks} with a stack",
    |_, _| true,
);

type EventsEventColumn = Column<EventsRequest, Stacked<EventsEvent>>;

const EVENTS: View<EventsRequest, Stacked<EventsEvent>> = View::new(
    &[
        EventsEventColumn::time("Time", |_, it| it.row.ts_ns.into()),
        EventsEventColumn::new("Cpu", "Cpu", Id, |_, it| it.row.cpu.into()).hidden(),
        EventsEventColumn::new("Process", "Process", Process, |_, it| (&it.row).into()),
        EventsEventColumn::new("Tid", "Tid", Id, |_, it| it.row.tid.into()),
        EventsEventColumn::new("Provider", "Provider", Word, |_, it| {
            named(it.row.provider.as_deref(), &it.row.provider_guid)
        }),
        EventsEventColumn::new("Event", "Event", Word, |_, it| it.row.event.clone().into()).or("?"),
        EventsEventColumn::new("Id", "Id", Id, |_, it| it.row.event_id.into()),
        EventsEventColumn::new("Opcode", "Opcode", Id, |_, it| it.row.opcode.into()).hidden(),
        EventsEventColumn::new("Version", "Version", Id, |_, it| it.row.version.into()).hidden(),
        EventsEventColumn::new("Level", "Level", Id, |_, it| it.row.level.into()).hidden(),
        // A bit mask, aligned to the right like a number.
        EventsEventColumn::new("Keyword", "Keyword", Id, |_, it| {
            format!("{:#x}", it.row.keyword).into()
        })
        .hidden(),
        EventsEventColumn::new("Activity", "Activity", Word, |_, it| {
            it.row.activity_id.clone().into()
        })
        .hidden(),
        EventsEventColumn::new("Fields", "Fields", Word, |_, it| it.row.text.clone().into()),
    ],
    |it| it.row.sort_value,
)
.ranking(|_| Ranked::No)
.with_below(|asked, it| {
    if asked.stacks {
        lines(&it.stack, asked.cut_stack)
    } else {
        Vec::new()
    }
});

fn named(name: Option<&str>, guid: &str) -> Value {
    name.unwrap_or(guid).into()
}

impl Question for EventsRequest {
    const NAME: &'static str = "events";
    const SENTENCE: &'static str =
        "Events that no other report covers: by name, or each with its fields";
    const USUAL: &'static [&'static str] = &["provider", "event", "fields", "tid"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "how often each event occurred",
        },
        Example {
            words: "--provider \"*Kernel-Power*\" --details slow.etl",
            answer: "each event with its fields",
        },
    ];

    fn form(&self) -> Form<Self> {
        if !self.details {
            return Form::rows(&KINDS, self.sql())
                .needs(&GENERIC, true)
                .top(self.top);
        }
        let form = Form::of(self.list_sql(), |asked: &Self, session, rows| {
            // JSON and CSV have them whether or not people see them.
            let rows = with_stacks(session, rows, asked.stacks, |row: &EventsEvent| {
                row.stack_id
            })?;
            Ok(Answer::rows(asked, &EVENTS, rows))
        });
        form.shows_as(&EVENTS, Stacked::without)
            .with_fields(vec![STACK])
            .needs(&GENERIC, true)
            .top(self.top)
    }
}

const GENERIC: Recorded = Recorded::rows(
    "generic_event",
    "events without a table of their own",
    "record a provider, for example with an EventProvider of a WPR profile; an extract made with \
     --detail summary does not hold single events",
);

/// The text of an event: its message if a file defines one, otherwise its fields.
const TEXT: &str = "CASE WHEN e.described_by IN ('manifest', 'tmf') AND e.message IS NOT NULL THEN e.message \
                    ELSE fields_text(e.fields) END";

impl EventsRequest {
    /// Returns the matching rows with their processes.
    fn source(&self) -> String {
        let names = ["e.name", "CAST(e.event_id AS VARCHAR)"];
        let all = self
            .processes
            .conditions()
            .any_text(&["e.provider", "e.provider_guid"], self.provider.as_deref())
            .any_text(&names, self.event.as_deref())
            .text(TEXT, self.fields.as_deref())
            .text("CAST(t.tid AS VARCHAR)", self.tid.as_deref())
            .time("e.ts_ns", self.time)
            .stack("e.stack_id", self.stack.as_deref());
        format!(
            "FROM generic_event e
LEFT JOIN process p ON p.process_key = e.process_key
LEFT JOIN thread t ON t.thread_key = e.thread_key{all}"
        )
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sort = self.sort.sql();
        let keys = "e.provider, e.provider_guid, e.name, e.event_id, e.opcode, e.described_by";
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT e.provider, e.provider_guid, e.name AS event, e.event_id, e.opcode, e.described_by, count(*) AS count,
  count(e.stack_id) AS stacks, count(DISTINCT e.process_key) AS processes, min(e.ts_ns) AS first_ns, max(e.ts_ns) AS last_ns
{}
GROUP BY {keys}
)
ORDER BY sort_value, count, provider, provider_guid, event, event_id, opcode",
            self.source()
        )
    }

    /// Returns the SQL for each event, in order of time.
    #[must_use]
    pub fn list_sql(&self) -> String {
        format!(
            "SELECT e.ts_ns, e.cpu, e.process_key, {PROCESS_COLUMNS}, t.tid, e.provider, e.provider_guid, e.name AS event, e.event_id,
  e.opcode, e.version, e.level, e.keyword, e.activity_id, e.described_by, {TEXT} AS text, e.fields, e.stack_id,
  CAST(e.ts_ns AS DOUBLE) AS sort_value
{}
ORDER BY e.ts_ns, e.cpu",
            self.source()
        )
    }
}
