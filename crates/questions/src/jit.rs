//! Methods that .NET compiled at run time: sums by process or tier, or single compilations.

use etwkit_question::Format::{
    FineMilliseconds, Id, Moment, PlainBytes, Process, ProcessLine, Whole, Word,
};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, NO_TEXT, PROCESS_COLUMNS, ProcessQuery, process_columns};
use etwkit_question::{Column, Example, Form, Question, Ranked, View, group, option};

declare! {
    /// Grouping of the rows.
    pub words JitBy {
        "process" => Process = "All methods of a process.",
        "tier" => Tier = "All methods of a process that were compiled at one tier.",
        "type" => Type = "All methods of a type in a process.",
    }

    /// Orders of sums and of single compilations.
    pub orders JitSort {
        "duration" => Duration: "coalesce(duration_ns, 0)" = "Time of compiling.",
        "count" => Count: "count" / "ts_ns" = "Methods.",
        "size" => Size: "size_bytes" = "Bytes of compiled code.",
        "time" => Time: "coalesce(duration_ns, 0)" / "ts_ns" = "Time of single compilations.",
    }

    /// Options of `dump jit`.
    #[derive(Eq)]
    pub request JitRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: JitBy = option("WHAT").excludes(&["details"]).shape(),
        /// Only these methods: Namespace.Type.Method (*, ?, several with ;, ! excludes)
        method: Option<String> = option("NAMES"),
        /// Only these tiers: tier0, tier1, tier1_osr, optimized, … (several with ;, ! excludes)
        tier: Option<String> = option("TIERS"),
        /// Only compilations with this duration (ms)
        duration: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only compilations that ended in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Single compilations
        details: bool = option("").shape(),
        /// Order
        sort: JitSort = option("ORDER").called("sort-by").shape(),
    }

    /// Compilations of a process.
    pub row JitRow: process {
        ..process = "Process; missing if it is not known.",
        tier: Option<String> = "Tier, with rows for each; missing where the runtime does not say.",
        type_name: Option<String> = "Type with its namespace, with rows for each.",
        count: i64 = "Methods that were compiled; one that was compiled again counts again.",
        timed: i64 = "Compilations whose start was recorded as well.",
        duration_ns: Option<i64> = "Time of compiling these.",
        max_duration_ns: Option<i64> = "Longest of these times.",
        size_bytes: i64 = "Bytes of compiled code.",
        il_size_bytes: Option<i64> = "Bytes of intermediate code.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A compilation.
    pub row JitEvent: process {
        start_ns: Option<i64> = "Start; missing if it was not recorded.",
        ts_ns: i64 = "When the code was ready.",
        duration_ns: Option<i64> = "From start to end.",
        method: String = "`Namespace.Type.Method`.",
        tier: Option<String> = "Tier; missing where the runtime does not say.",
        size_bytes: i64 = "Bytes of compiled code.",
        il_size_bytes: Option<i64> = "Bytes of intermediate code.",
        is_dynamic: bool = "Whether it was made at run time and has no metadata.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread that compiled.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type JitColumn = Column<JitRequest, JitRow>;

const SUMS: View<JitRequest, JitRow> = View::new(
    &[
        JitColumn::new("Duration", "Time ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        JitColumn::new("MaxDuration", "Max ms", FineMilliseconds, |_, row| {
            row.max_duration_ns.into()
        })
        .worst(),
        JitColumn::new("Count", "Methods", Whole, |_, row| row.count.into()).cost(),
        JitColumn::new("Timed", "With start", Whole, |_, row| row.timed.into())
            .sum()
            .hidden(),
        JitColumn::new("Size", "Code", PlainBytes, |_, row| row.size_bytes.into()).sum(),
        JitColumn::new("IlSize", "IL", PlainBytes, |_, row| {
            row.il_size_bytes.into()
        })
        .sum()
        .hidden(),
        JitColumn::new("Tier", "Tier", Word, |_, row| row.tier.clone().into())
            .or("(unknown)")
            .shown_if(|asked| asked.by == JitBy::Tier),
        JitColumn::new("Type", "Type", Word, |_, row| row.type_name.clone().into())
            .shown_if(|asked| asked.by == JitBy::Type),
        JitColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|method|methods}[, {Duration} ms], {Size} of code",
    |_, _| true,
);

type JitEventColumn = Column<JitRequest, JitEvent>;

const EVENTS: View<JitRequest, JitEvent> = View::new(
    &[
        JitEventColumn::new("Time", "Time", Moment, |_, row| {
            row.start_ns.unwrap_or(row.ts_ns).into()
        }),
        JitEventColumn::new("Duration", "ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        JitEventColumn::new("Size", "Code", PlainBytes, |_, row| row.size_bytes.into()).sum(),
        JitEventColumn::new("IlSize", "IL", PlainBytes, |_, row| {
            row.il_size_bytes.into()
        })
        .sum(),
        JitEventColumn::new("Tier", "Tier", Word, |_, row| row.tier.clone().into()),
        JitEventColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        JitEventColumn::new("Process", "Process", Process, |_, row| row.into()),
        JitEventColumn::new("Method", "Method", Word, |_, row| row.method.clone().into()),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {|method|methods}[, {Duration} ms], {Size} of code",
    |_, _| true,
)
.ranking(|asked| Ranked::rows_unless(matches!(asked.sort, JitSort::Count | JitSort::Time)));

impl Question for JitRequest {
    const NAME: &'static str = "jit";
    const SENTENCE: &'static str = "Methods that .NET compiled at run time, and how long that took";
    const USUAL: &'static [&'static str] = &["method", "tier", "duration"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "time of compilation by process",
        },
        Example {
            words: "--details --method \"*Parser*\" slow.etl",
            answer: "single methods",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&EVENTS, self.events_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&JIT, true).top(self.top)
    }
}

const JIT: Recorded = Recorded::rows(
    "jit",
    "methods compiled by .NET",
    "record the provider Microsoft-Windows-DotNETRuntime with the keyword 0x10 (Jit), at level 5 for the starts, \
     for example `wpr -start DotNET`",
);

impl JitRequest {
    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .text("j.method", self.method.as_deref())
            .text("j.tier", self.tier.as_deref())
            .known("j.duration_ns", self.duration)
            .time("j.ts_ns", self.time)
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let tier = if self.by == JitBy::Tier {
            "j.tier"
        } else {
            NO_TEXT
        };
        // The type is the text before the last point. Names of constructors start with a point
        // themselves (`Type..ctor`).
        let of_type = r"regexp_replace(j.method, '\.+[^.]*$', '')";
        let type_name = if self.by == JitBy::Type {
            of_type
        } else {
            NO_TEXT
        };
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, tier, type_name";
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, count(*) AS count, count(duration_ns) AS timed, sum(duration_ns) AS duration_ns,
  max(duration_ns) AS max_duration_ns, sum(size_bytes) AS size_bytes, sum(il_size_bytes) AS il_size_bytes
FROM (
  SELECT {process}, {tier} AS tier, {type_name} AS type_name, j.duration_ns, j.size_bytes, j.il_size_bytes
  FROM jit j
  LEFT JOIN process p ON p.process_key = j.process_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, count, size_bytes, process_key, tier, type_name",
            sort = self.sort.sql(),
            process = process_columns("j", true),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single compilations.
    #[must_use]
    pub fn events_sql(&self) -> String {
        format!(
            "SELECT j.start_ns, j.ts_ns, j.duration_ns, j.method, j.tier, j.size_bytes, j.il_size_bytes, j.is_dynamic,
  j.process_key, {PROCESS_COLUMNS}, t.tid, CAST({sort} AS DOUBLE) AS sort_value
FROM jit j
LEFT JOIN process p ON p.process_key = j.process_key
LEFT JOIN thread t ON t.thread_key = j.thread_key{conditions}
ORDER BY sort_value, j.ts_ns, j.process_key, j.method",
            sort = self.sort.single_sql(),
            conditions = self.conditions(),
        )
    }
}
