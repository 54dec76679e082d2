//! Requests for a finer system timer resolution, by process, and their durations.

use etwkit_question::Format::{Fixed, Length, Moment, Process, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{PROCESS_COLUMNS, ProcessQuery};
use etwkit_question::{Column, Example, Form, Question, Ranked, Value, View, group, option};

declare! {
    /// Orders of sums and of single requests.
    pub orders TimerSort {
        "duration" => Duration: "duration_ns" = "How long a request held; for sums the time in which at least one held.",
        "tick" => Tick: "-resolution_ns" = "Finest tick.",
        "count" => Count: "count" / "start_ns" = "How many.",
        "time" => Time: "coalesce(start_ns, 0)" = "Time of the request.",
    }

    /// Options of `dump timer`.
    #[derive(Eq)]
    pub request TimerRequest {
        /// Processes that asked
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Only these kinds: process, kernel, system (several with ;, ! excludes)
        kind: Option<String> = option("KINDS"),
        /// Only requests that reach into this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only ticks with this period (us)
        tick: Range = option("A..B").unit(Unit::Microseconds),
        /// Single requests
        details: bool = option("").shape(),
        /// Order
        sort: TimerSort = option("ORDER").called("sort-by").shape(),
    }

    /// Requests for one tick by one process, or a single one.
    pub row TimerRow: process {
        kind: String = "`process`: a process asked; `kernel`: a driver or the kernel did; `system`: the tick that was in force.",
        resolution_ns: i64 = "Time from tick to tick; 0 where a driver took its request back.",
        count: i64 = "Requests.",
        start_ns: Option<i64> = "Start of the first request; missing if it was made before the trace.",
        end_ns: Option<i64> = "End of the last request; missing if it held to the end of the trace.",
        duration_ns: i64 = "Time in which at least one request held, within the trace.",
        share_percent: Option<f64> = "Part of the trace, in percent.",
        is_ignored: Option<bool> = "Whether the system did not follow; missing where that was not recorded.",
        application: Option<String> = "Path of the program, as the event reports it.",
        ..process = "Process that asked.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type TimerColumn = Column<TimerRequest, TimerRow>;

const REQUESTS: View<TimerRequest, TimerRow> = View::new(
    &[
        TimerColumn::new("Tick", "Tick ms", Fixed(2), |_, row| {
            (row.resolution_ns as f64 / 1e6).into()
        }),
        TimerColumn::new("Duration", "Held", Length, |_, row| row.duration_ns.into()).cost(),
        TimerColumn::new("Share", "Share %", Fixed(1), |_, row| {
            row.share_percent.into()
        }),
        TimerColumn::new("Count", "Requests", Whole, |_, row| row.count.into())
            .sum()
            .shown_if(|asked| !asked.details),
        TimerColumn::new("Start", "First", Moment, |_, row| row.start_ns.into()).or("before"),
        TimerColumn::new("End", "Until", Moment, |_, row| row.end_ns.into()).or("open"),
        TimerColumn::new("Kind", "Kind", Word, |_, row| row.kind.clone().into()),
        TimerColumn::new("Ignored", "Ignored", Word, |_, row| {
            row.is_ignored
                .map(|ignored| if ignored { "yes" } else { "no" })
                .into()
        }),
        TimerColumn::new("Application", "Application", Word, |_, row| {
            row.application.clone().into()
        })
        .hidden(),
        TimerColumn::new("Process", "Process", Process, |_, row| asker(row)).or("(none)"),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort == TimerSort::Time));

/// Returns the process that asked. Requests of drivers and of the system have none, which is not
/// the same as an unknown one.
fn asker(row: &TimerRow) -> Value {
    if row.kind == "process" {
        row.into()
    } else {
        Value::Missing
    }
}

const TIMERS: Recorded = Recorded::rows(
    "timer_resolution",
    "requests for the system timer",
    "record the provider Microsoft-Windows-Kernel-Power {331c3b3a-2005-44c2-ac5e-77220c37d6b4} with its capture state, for example \
     with `etwkit record start power`",
);

impl Question for TimerRequest {
    const NAME: &'static str = "timer";
    const SENTENCE: &'static str =
        "Who asked for a finer tick of the system timer, and for how long";
    const USUAL: &'static [&'static str] = &["kind", "tick"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "who asked for a finer tick",
        },
        Example {
            words: "--details slow.etl",
            answer: "each request",
        },
    ];

    fn form(&self) -> Form<Self> {
        Form::rows(&REQUESTS, self.sql())
            .needs(&TIMERS, true)
            .top(self.top)
    }
}

impl TimerRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        // `--range` chooses requests and does not shorten them, so it does not shorten the whole either.
        let part = Covered::whole(Recorder::Any).sql();
        let start = "greatest(coalesce(r.start_ns, t.start_ns), t.start_ns)";
        let end = "least(coalesce(r.end_ns, t.end_ns), t.end_ns)";
        let conditions = self
            .processes
            .conditions()
            .text("r.kind", self.kind.as_deref())
            .overlap(start, end, self.time)
            .range("r.resolution_ns", self.tick);
        // Rows are grouped by this number: the start of each request, or one number for all
        // requests of a process.
        let (group, sort) = match self.details {
            true => ("coalesce(r.start_ns, -1)", self.sort.single_sql()),
            false => ("0", self.sort.sql()),
        };
        // Aggregates skip missing values: one request that was there before the trace leaves the
        // start of the sum unknown, and one that stayed its end.
        format!(
            "SELECT r.*, {PROCESS_COLUMNS}, 100.0 * r.duration_ns / nullif(r.trace_ns, 0) AS share_percent,
  CAST({sort} AS DOUBLE) AS sort_value
FROM (
  SELECT r.kind, r.process_key, r.resolution_ns, r.is_ignored, {group} AS number, max(r.application) AS application,
    count(*) AS count, max(t.end_ns - t.start_ns) AS trace_ns,
    CASE WHEN bool_or(r.start_ns IS NULL) THEN NULL ELSE min(r.start_ns) END AS start_ns,
    CASE WHEN bool_or(r.end_ns IS NULL) THEN NULL ELSE max(r.end_ns) END AS end_ns,
    coalesce(union_duration({start}, {end}), 0) AS duration_ns
  FROM timer_resolution r CROSS JOIN ({part}) t
  LEFT JOIN process p ON p.process_key = r.process_key{conditions}
  GROUP BY r.kind, r.process_key, r.resolution_ns, r.is_ignored, 5
) r
LEFT JOIN process p ON p.process_key = r.process_key
ORDER BY sort_value, r.kind, r.process_key, r.resolution_ns, number"
        )
    }
}
