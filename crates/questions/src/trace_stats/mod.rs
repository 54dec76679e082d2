//! Contents of a trace: events and bytes by provider, by kind of event, or over time; losses, and
//! the cost of tracing itself.

use etwkit_question::declare;
mod foot;

use self::foot::with_foot;
use etwkit_question::Format::{Fixed, Id, Megabytes, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::Conditions;
use etwkit_question::{Answer, Column, Example, Form, Line, Question, Ranked, View, group, option};

declare! {
    /// Options of `dump trace-stats`.
    #[derive(Eq)]
    pub request TraceStatsRequest {
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: TraceStatsBy = option("WHAT").shape(),
        /// Only these providers or classes of the kernel, by name or GUID (*, ?, several with ;, !
        /// excludes)
        provider: Option<String> = option("PROVIDERS"),
        /// Only events with these names (*, ?, several with ;, ! excludes)
        event: Option<String> = option("EVENTS"),
        /// Only whole seconds that start in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Order [default: bytes; seconds by time]
        sort: Option<TraceStatsSort> = option("ORDER").called("sort-by").shape(),
    }

    /// Grouping of the rows.
    pub words TraceStatsBy {
        "provider" => Provider = "A provider, or a class of kernel events.",
        "event" => Event = "A kind of event: provider, id or opcode, and version.",
        "second" => Second = "A second of the trace.",
    }

    /// Orders.
    pub orders TraceStatsSort {
        "bytes" => Bytes: "record_bytes" = "Bytes of the records.",
        "events" => Events: "events" = "Events.",
        "stacks" => Stacks: "stacks" = "Events that a stack was recorded for.",
        "peak" => Peak: "peak_events" / "events" = "Most events in one second.",
        "time" => Time: "first_second" / "second" = "First second with these events.",
    }

    /// Events of a provider, or of one kind.
    pub row TraceStatsRow {
        provider: Option<String> = "Name of the provider or class, if known.",
        provider_guid: Option<String> = "Its GUID; missing for kernel events.",
        kernel_group: Option<i64> = "Group of kernel events.",
        event: Option<String> = "Name of the event, if known and asked for.",
        event_id: Option<i64> = "Id of the event; rows by kind have it, as opcode and version.",
        opcode: Option<i64> = "Opcode, or type of a kernel event.",
        version: Option<i64> = "Version.",
        kinds: i64 = "Kinds of events.",
        events: i64 = "Events.",
        record_bytes: i64 = "Bytes of their records.",
        bytes_ratio: Option<f64> = "Their part of the bytes of all events, 0 to 1; with a range, of all in it.",
        stacks: i64 = "Events that a stack was recorded for.",
        peak_events: i64 = "Most events in one second.",
        first_second: i64 = "First second with these events.",
        last_second: i64 = "Last one.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A second of the trace.
    pub row TraceStatsSecond {
        second: i64 = "Number of the second, from 0.",
        kinds: i64 = "Kinds of events.",
        events: i64 = "Events.",
        record_bytes: i64 = "Bytes of their records.",
        stacks: i64 = "Events that a stack was recorded for.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type TraceStatsColumn = Column<TraceStatsRequest, TraceStatsRow>;

const fn by_kind(asked: &TraceStatsRequest) -> bool {
    matches!(asked.by, TraceStatsBy::Event)
}

const KINDS: View<TraceStatsRequest, TraceStatsRow> = View::new(
    &[
        TraceStatsColumn::new("Bytes", "MB", Megabytes, |_, row| row.record_bytes.into()).cost(),
        TraceStatsColumn::new("Percent", "%", Fixed(1), |_, row| {
            row.bytes_ratio.map(|ratio| ratio * 100.0).into()
        }),
        TraceStatsColumn::new("Events", "Events", Whole, |_, row| row.events.into()).cost(),
        TraceStatsColumn::new("Peak", "In a second", Whole, |_, row| {
            row.peak_events.into()
        })
        .worst(),
        TraceStatsColumn::new("Stacks", "With stack", Whole, |_, row| row.stacks.into()).sum(),
        TraceStatsColumn::new("Kinds", "Kinds", Whole, |_, row| row.kinds.into())
            .shown_if(|asked| !by_kind(asked)),
        TraceStatsColumn::new("First", "From s", Id, |_, row| row.first_second.into()),
        TraceStatsColumn::new("Last", "To s", Id, |_, row| row.last_second.into()),
        TraceStatsColumn::new("Id", "Id", Id, |_, row| row.event_id.into()).shown_if(by_kind),
        TraceStatsColumn::new("Opcode", "Opcode", Id, |_, row| row.opcode.into()).shown_if(by_kind),
        TraceStatsColumn::new("Version", "Version", Id, |_, row| row.version.into())
            .shown_if(by_kind),
        TraceStatsColumn::new("Event", "Event", Word, |_, row| row.event.clone().into())
            .shown_if(by_kind),
        TraceStatsColumn::new("Provider", "Provider", Word, |_, row| {
            row.provider
                .clone()
                .or_else(|| row.provider_guid.clone())
                .into()
        })
        .or("(other kinds)"),
        TraceStatsColumn::new("Guid", "GUID", Word, |_, row| {
            row.provider_guid.clone().into()
        })
        .hidden(),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort == Some(TraceStatsSort::Time)))
.with_sums(
    "Total: {|row|rows}, {Events|event|events}, {Bytes} MB, {Stacks} with a stack",
    |_, rows| rows > 1,
);

type TraceStatsSecondColumn = Column<TraceStatsRequest, TraceStatsSecond>;

const SECONDS: View<TraceStatsRequest, TraceStatsSecond> = View::new(
    &[
        TraceStatsSecondColumn::new("Second", "Second", Id, |_, row| row.second.into()),
        TraceStatsSecondColumn::new("Events", "Events", Whole, |_, row| row.events.into()).cost(),
        TraceStatsSecondColumn::new("Bytes", "MB", Megabytes, |_, row| row.record_bytes.into())
            .cost(),
        TraceStatsSecondColumn::new("Stacks", "With stack", Whole, |_, row| row.stacks.into())
            .sum(),
        TraceStatsSecondColumn::new("Kinds", "Kinds", Whole, |_, row| row.kinds.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort.is_none_or(|sort| sort == TraceStatsSort::Time)))
.with_sums(
    "Total: {|second|seconds}, {Events|event|events}, {Bytes} MB, {Stacks} with a stack",
    |_, rows| rows > 1,
);

impl Question for TraceStatsRequest {
    const NAME: &'static str = "trace-stats";
    const SENTENCE: &'static str = "What fills the trace: events and bytes by provider, kind or second, losses, and the cost of tracing";
    const USUAL: &'static [&'static str] = &["provider", "event"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "what fills the trace",
        },
        Example {
            words: "--by second slow.etl",
            answer: "events for each second",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = match self.by {
            TraceStatsBy::Second => Form::of(self.seconds_sql(), |asked: &Self, session, rows| {
                with_foot(
                    asked.or_why_none(Answer::rows(asked, &SECONDS, rows)),
                    session,
                )
            })
            .shows(&SECONDS),
            _ => Form::of(self.sql(), |asked: &Self, session, rows| {
                with_foot(
                    asked.or_why_none(Answer::rows(asked, &KINDS, rows)),
                    session,
                )
            })
            .shows(&KINDS),
        };
        form.needs(&COUNTS, false).top(self.top)
    }
}

const COUNTS: Recorded = Recorded::rows(
    "event_count",
    "counts of events",
    "extract the trace again: extracts of older versions and of other programs have none",
);

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

impl TraceStatsRequest {
    fn conditions(&self) -> Conditions {
        Conditions::new()
            .any_text(&["provider", "provider_guid"], self.provider.as_deref())
            .text("name", self.event.as_deref())
            .and(self.in_part())
    }

    /// Returns the condition on the part of the trace. Events are counted by whole second, so that a
    /// second is in or out as a whole.
    fn in_part(&self) -> Conditions {
        Conditions::new().time("second * 1000000000", self.time)
    }

    /// Adds the reason why a part of the trace has no rows although it may have events.
    fn or_why_none(&self, answer: Answer) -> Answer {
        let last = self.time.max.div_euclid(SECOND).saturating_mul(SECOND);
        if last >= self.time.min {
            return answer;
        }
        let why =
            "no whole second starts in this part of the trace, and events are counted by second";
        answer.or_line(Line::new(why))
    }

    /// Returns the SQL for sums by provider or kind.
    #[must_use]
    pub fn sql(&self) -> String {
        let keys = "provider, provider_guid, kernel_group, event, event_id, opcode, version";
        let kind = if by_kind(self) {
            "name AS event, event_id, opcode, version"
        } else {
            "CAST(NULL AS VARCHAR) AS event, CAST(NULL AS INT) AS event_id, CAST(NULL AS INT) AS opcode, CAST(NULL AS INT) AS version"
        };
        // The kernel logs loads of images with another group than the other events of images. They
        // are one class, and so one row.
        let group = if by_kind(self) {
            "kernel_group"
        } else {
            "CASE WHEN provider IS NULL THEN kernel_group ELSE max(kernel_group) OVER (PARTITION BY provider, provider_guid) END AS kernel_group"
        };
        let sort = self.sort.unwrap_or_default().sql();
        // The table counts kinds by second: the peak of a provider is the largest sum over its
        // kinds in one second, not the largest count of a kind.
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value,
  CAST(record_bytes AS DOUBLE) / nullif((SELECT sum(record_bytes) FROM event_count{}), 0) AS bytes_ratio
FROM (
SELECT {keys}, count(DISTINCT kind) AS kinds, sum(events) AS events, sum(record_bytes) AS record_bytes, sum(stacks) AS stacks,
  max(in_second) AS peak_events, min(second) AS first_second, max(second) AS last_second
FROM (
SELECT *, sum(events) OVER (PARTITION BY {keys}, second) AS in_second
FROM (
SELECT provider, provider_guid, {group}, {kind}, {KIND} AS kind, second, events, record_bytes, stacks
FROM event_count{}
)
)
GROUP BY {keys}
)
ORDER BY sort_value, events, provider, provider_guid, kernel_group, event_id, opcode, version",
            self.in_part(),
            self.conditions()
        )
    }

    /// Returns the SQL for seconds.
    #[must_use]
    pub fn seconds_sql(&self) -> String {
        let sort = self.sort.unwrap_or(TraceStatsSort::Time).single_sql();
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT second, count(DISTINCT {KIND}) AS kinds, sum(events) AS events, sum(record_bytes) AS record_bytes, sum(stacks) AS stacks
FROM event_count{}
GROUP BY second
)
ORDER BY sort_value, second",
            self.conditions()
        )
    }
}

/// The identity of a kind of event, as one text.
const KIND: &str = "concat_ws('/', coalesce(provider_guid, CAST(kernel_group AS VARCHAR)), event_id, opcode, version)";
