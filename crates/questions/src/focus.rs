//! Keyboard focus: sums by process or thread, or single periods of focus.

use etwkit_question::Format::{Id, Moment, ProcessLine, Seconds, Whole};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, ProcessQuery, thread_columns};
use etwkit_question::{Column, Example, Form, Question, Ranked, View, group, option};

declare! {
    /// Orders of sums and of single stays.
    pub orders FocusSort {
        "default" => Usual: "duration_ns" / "f.from_ns" = "Sums by duration, single stays by time.",
        "duration" => Duration: "duration_ns" / "coalesce(f.duration_ns, 0)" = "How long.",
        "max" => Max: "coalesce(max_duration_ns, 0)" / "coalesce(f.duration_ns, 0)" = "Longest stay.",
        "count" => Count: "count" / "f.from_ns" = "How many stays.",
        "time" => Time: "first_ns" / "f.from_ns" = "Start of the first stay, or of the single one.",
    }

    /// Options of `dump focus`.
    #[derive(Eq)]
    pub request FocusRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by process or by thread
        by_thread: bool = option("WHAT").called("by").either("process", "thread").shape(),
        /// Only stays of this length (s)
        duration: Range = option("A..B").unit(Unit::Seconds),
        /// Only stays that reach into this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Single stays, from when to when
        details: bool = option("").excludes(&["by"]).shape(),
        /// Order [default: sums by duration, single stays by time]
        sort: FocusSort = option("ORDER").called("sort-by").shape(),
        /// Sums after the rows: total, or none
        with_total: bool = option("WHAT").called("show-total").either("none", "total").output() => true,
    }

    /// The focus of a process or thread.
    pub row FocusRow: process {
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread id, with rows for each thread.",
        session_id: Option<i64> = "Terminal session of the focus.",
        count: i64 = "Stays.",
        duration_ns: i64 = "Total length of the stays whose length is known.",
        max_duration_ns: Option<i64> = "Longest stay.",
        first_ns: i64 = "Start of the first stay; the start of the trace if the stay started before it.",
        last_ns: i64 = "End of the last stay; the end of the trace if the stay lasted that long.",
        process_start_ns: Option<i64> = "Start of the process, if in the trace.",
        process_stop_ns: Option<i64> = "End of the process, if in the trace.",
        command_line: Option<String> = "Command line.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A stay of the focus.
    pub row FocusStay: process {
        ts_ns: Option<i64> = "Start; missing if the stay started before the trace, or if its start was not reported.",
        end_ns: Option<i64> = "End; missing if the stay lasted to the end of the trace, or if its end was not reported.",
        duration_ns: Option<i64> = "Length of the stay within the trace; missing if a change was not reported.",
        level: String = "`thread` or `process`: what was recorded.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread, if threads were recorded.",
        session_id: Option<i64> = "Terminal session of the focus.",
        process_start_ns: Option<i64> = "Start of the process, if in the trace.",
        process_stop_ns: Option<i64> = "End of the process, if in the trace.",
        command_line: Option<String> = "Command line.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type FocusColumn = Column<FocusRequest, FocusRow>;

const SUMS: View<FocusRequest, FocusRow> = View::new(
    &[
        FocusColumn::new("Duration", "Duration s", Seconds(3), |_, row| {
            row.duration_ns.into()
        })
        .sum(),
        FocusColumn::new("Max", "Max s", Seconds(3), |_, row| {
            row.max_duration_ns.into()
        }),
        FocusColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        FocusColumn::new("First", "First", Moment, |_, row| row.first_ns.into()),
        FocusColumn::new("Last", "Last", Moment, |_, row| row.last_ns.into()),
        FocusColumn::new("Session", "Session", Whole, |_, row| row.session_id.into()).hidden(),
        FocusColumn::new("Tid", "Tid", Id, |_, row| row.tid.into())
            .shown_if(|asked| asked.by_thread),
        FocusColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort == FocusSort::Time))
.with_sums("Total: {Duration} s in {Count|stay|stays}", |asked, _| {
    asked.with_total
});

type FocusStayColumn = Column<FocusRequest, FocusStay>;

const SINGLE_STAYS: View<FocusRequest, FocusStay> = View::new(
    &[
        FocusStayColumn::new("From", "From", Moment, |_, row| row.ts_ns.into()),
        FocusStayColumn::new("To", "To", Moment, |_, row| row.end_ns.into()),
        FocusStayColumn::new("Duration", "Duration s", Seconds(3), |_, row| {
            row.duration_ns.into()
        })
        .sum()
        .or("?"),
        FocusStayColumn::new("Session", "Session", Whole, |_, row| row.session_id.into()).hidden(),
        FocusStayColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        FocusStayColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(!matches!(asked.sort, FocusSort::Duration | FocusSort::Max)))
.with_sums("Total: {Duration} s in {|stay|stays}", |asked, _| {
    asked.with_total
});

impl Question for FocusRequest {
    const NAME: &'static str = "focus";
    const SENTENCE: &'static str = "Which program had the focus, from when to when";
    const USUAL: &'static [&'static str] = &["duration"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "which program had the focus, and when",
        },
        Example {
            words: "--by thread slow.etl",
            answer: "by thread",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&SINGLE_STAYS, self.stays_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&FOCUS, self.details).top(self.top)
    }
}

/// Periods of focus; the ends of the extracted range replace missing ends. Rows of threads are used
/// if they were recorded, since rows of processes repeat the same focus.
// `thread` sorts after `process`, so the largest word is the finer level.
const STAYS: &str = "stay AS (
  SELECT f.*,
    coalesce(f.ts_ns, CASE WHEN f.duration_ns IS NULL THEN f.end_ns ELSE coalesce(f.end_ns, r.stop_ns) - f.duration_ns END) AS from_ns,
    coalesce(f.end_ns, CASE WHEN f.duration_ns IS NULL THEN f.ts_ns ELSE r.stop_ns END) AS to_ns
  FROM focus_change f
  CROSS JOIN (SELECT coalesce(range_end_ns, duration_ns) AS stop_ns FROM trace) r
  WHERE f.level = (SELECT max(level) FROM focus_change)
)";

impl FocusRequest {
    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .known("f.duration_ns", self.duration)
            .overlap("f.from_ns", "f.to_ns", self.time)
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sort = self.sort.sql();
        let thread = thread_columns("f", self.by_thread);
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, thread_key, tid";
        // The session comes from the focus event, since the process may not be known.
        let process = PROCESS_COLUMNS.replace("p.session_id", "f.session_id");
        format!(
            "WITH {STAYS}
SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, count(*) AS count, coalesce(sum(duration_ns), 0) AS duration_ns, max(duration_ns) AS max_duration_ns, min(from_ns) AS first_ns,
  max(to_ns) AS last_ns
FROM (
  SELECT f.process_key, {process}, {thread}, f.duration_ns, f.from_ns, f.to_ns
  FROM stay f
  LEFT JOIN process p ON p.process_key = f.process_key
  LEFT JOIN thread t ON t.thread_key = f.thread_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, duration_ns, first_ns, process_key, thread_key, session_id",
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single periods of focus.
    #[must_use]
    pub fn stays_sql(&self) -> String {
        let sort = self.sort.single_sql();
        let process = PROCESS_COLUMNS.replace("p.session_id", "f.session_id");
        format!(
            "WITH {STAYS}
SELECT f.ts_ns, f.end_ns, f.duration_ns, f.level, f.process_key, {process}, t.tid, CAST({sort} AS DOUBLE) AS sort_value
FROM stay f
LEFT JOIN process p ON p.process_key = f.process_key
LEFT JOIN thread t ON t.thread_key = f.thread_key{conditions}
ORDER BY sort_value, f.from_ns, f.to_ns, f.session_id, f.process_key, t.tid",
            conditions = self.conditions(),
        )
    }
}

const FOCUS: Recorded = Recorded::rows(
    "focus_change",
    "changes of the focus",
    "record the provider Microsoft-Windows-Win32k with the keyword 0x2000 (Focus), or 0x20000 (UserActivity) for \
     processes alone; where that was recorded, the focus did not move",
);
