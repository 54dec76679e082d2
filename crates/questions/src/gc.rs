//! Garbage collections of .NET processes: sums by process, generation or reason, or single
//! collections.

use etwkit_question::Format::{
    FineMilliseconds, Megabytes, Moment, Process, ProcessLine, Whole, Word,
};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{
    Conditions, NO_NUMBER, NO_TEXT, PROCESS_COLUMNS, ProcessQuery, process_columns,
};
use etwkit_question::{Column, Example, Form, Question, Ranked, View, group, option};

declare! {
    /// Grouping of the rows.
    pub words GcBy {
        "process" => Process = "All collections of a process.",
        "generation" => Generation = "All collections of a generation in a process.",
        "reason" => Reason = "All collections of a process for one reason.",
    }

    /// Orders of sums and of single collections.
    pub orders GcSort {
        "suspended" => Suspended: "coalesce(suspended_ns, 0)" / "coalesce(g.suspended_ns, 0)" =
            "Time in which the threads were suspended.",
        "max-suspended" => MaxSuspended: "coalesce(max_suspended_ns, 0)" / "coalesce(g.suspended_ns, 0)" =
            "Longest such time.",
        "duration" => Duration: "coalesce(duration_ns, 0)" / "coalesce(g.duration_ns, 0)" =
            "From start to end of collections.",
        "promoted" => Promoted: "coalesce(promoted_bytes, 0)" / "coalesce(g.promoted_bytes, 0)" =
            "Bytes that survived.",
        "count" => Count: "count" / "coalesce(g.start_ns, g.end_ns)" = "Collections.",
        "time" => Time: "coalesce(suspended_ns, 0)" / "coalesce(g.start_ns, g.end_ns)" =
            "Time of single collections.",
    }

    /// Options of `dump gc`.
    #[derive(Eq)]
    pub request GcRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: GcBy = option("WHAT").excludes(&["details"]).shape(),
        /// Only collections of this generation
        generation: Option<u32> = option("NUMBER"),
        /// Only collections that suspended threads for this long (ms)
        suspended: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only collections that started in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Single collections
        details: bool = option("").shape(),
        /// Order
        sort: GcSort = option("ORDER").called("sort-by").shape(),
    }

    /// Collections of a process.
    pub row GcRow: process {
        ..process = "Process; missing if it is not known.",
        generation: Option<i64> = "Generation, with rows for each.",
        reason: Option<String> = "Why, with rows for each reason.",
        count: i64 = "Collections.",
        background: i64 = "Collections that ran in the background.",
        suspended_ns: Option<i64> = "Time in which the threads were suspended for them; missing if not recorded.",
        max_suspended_ns: Option<i64> = "Longest of these times.",
        duration_ns: Option<i64> = "Total time from their starts to their ends.",
        max_heap_bytes: Option<i64> =
            "Largest heap after a collection: generations 0 to 2, large and pinned objects.",
        promoted_bytes: Option<i64> = "Bytes that survived them.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A collection.
    pub row GcEvent: process {
        start_ns: Option<i64> = "Start; missing if it was not recorded.",
        end_ns: Option<i64> = "End; missing if it was not recorded.",
        duration_ns: Option<i64> = "From start to end.",
        suspended_ns: Option<i64> = "Time in which the threads were suspended.",
        suspending_ns: Option<i64> = "Part of it until all had stopped.",
        restarting_ns: Option<i64> = "Part of it in which they were let run again.",
        number: i64 = "Number of the collection in its process.",
        generation: Option<i64> = "Generation that was collected.",
        gc_type: Option<i64> = "0 blocking, 1 in the background, 2 blocking while one ran in the background.",
        reason: Option<String> = "Why.",
        gen0_bytes: Option<i64> = "Size of generation 0 after it.",
        gen1_bytes: Option<i64> = "Size of generation 1.",
        gen2_bytes: Option<i64> = "Size of generation 2.",
        large_bytes: Option<i64> = "Size of the heap of large objects.",
        pinned_bytes: Option<i64> = "Size of the heap of pinned objects.",
        heap_bytes: Option<i64> = "Size of all of these.",
        promoted_bytes: Option<i64> = "Bytes that survived.",
        ..process = "Process; missing if it is not known.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type GcColumn = Column<GcRequest, GcRow>;

const SUMS: View<GcRequest, GcRow> = View::new(
    &[
        GcColumn::new("Suspended", "Suspended ms", FineMilliseconds, |_, row| {
            row.suspended_ns.into()
        })
        .cost(),
        GcColumn::new("MaxSuspended", "Max ms", FineMilliseconds, |_, row| {
            row.max_suspended_ns.into()
        })
        .worst(),
        GcColumn::new("Duration", "Duration ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        GcColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        GcColumn::new("Background", "Background", Whole, |_, row| {
            row.background.into()
        })
        .sum(),
        GcColumn::new("MaxHeap", "Largest heap MB", Megabytes, |_, row| {
            row.max_heap_bytes.into()
        })
        .worst(),
        GcColumn::new("Promoted", "Survived MB", Megabytes, |_, row| {
            row.promoted_bytes.into()
        })
        .cost(),
        GcColumn::new("Generation", "Generation", Whole, |_, row| {
            row.generation.into()
        })
        .shown_if(|asked| asked.by == GcBy::Generation),
        GcColumn::new("Reason", "Why", Word, |_, row| row.reason.clone().into())
            .or("(not known)")
            .shown_if(|asked| asked.by == GcBy::Reason),
        GcColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|collection|collections}[, threads suspended for {Suspended} ms, at most {MaxSuspended} ms]",
    |_, _| true,
);

type GcEventColumn = Column<GcRequest, GcEvent>;

const EVENTS: View<GcRequest, GcEvent> = View::new(
    &[
        GcEventColumn::new("Time", "Time", Moment, |_, row| row.start_ns.into()).or("before"),
        GcEventColumn::new("Duration", "Duration ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        GcEventColumn::new("Suspended", "Suspended ms", FineMilliseconds, |_, row| {
            row.suspended_ns.into()
        })
        .cost(),
        GcEventColumn::new("Suspending", "Stopping ms", FineMilliseconds, |_, row| {
            row.suspending_ns.into()
        })
        .cost()
        .hidden(),
        GcEventColumn::new("Restarting", "Restarting ms", FineMilliseconds, |_, row| {
            row.restarting_ns.into()
        })
        .cost()
        .hidden(),
        GcEventColumn::new("Number", "Number", Whole, |_, row| row.number.into()),
        GcEventColumn::new("Generation", "Gen", Whole, |_, row| row.generation.into()),
        GcEventColumn::new("Heap", "Heap MB", Megabytes, |_, row| row.heap_bytes.into()).worst(),
        GcEventColumn::new("Promoted", "Survived MB", Megabytes, |_, row| {
            row.promoted_bytes.into()
        })
        .cost(),
        GcEventColumn::new("Type", "Type", Word, |_, row| kind(row.gc_type).into()),
        GcEventColumn::new("Reason", "Why", Word, |_, row| row.reason.clone().into()),
        GcEventColumn::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(matches!(asked.sort, GcSort::Count | GcSort::Time)));

/// Returns the name of the type of a garbage collection.
fn kind(number: Option<i64>) -> Option<&'static str> {
    match number? {
        0 => Some("blocking"),
        1 => Some("background"),
        2 => Some("blocking, during a background one"),
        _ => None,
    }
}

/// The size of all heaps after a collection. The heap of pinned objects came with .NET 5; the
/// others are known together or not at all.
const HEAP: &str =
    "g.gen0_bytes + g.gen1_bytes + g.gen2_bytes + g.large_bytes + coalesce(g.pinned_bytes, 0)";

impl Question for GcRequest {
    const NAME: &'static str = "gc";
    const SENTENCE: &'static str = "Garbage collections of .NET processes: how many, how long threads were suspended, what survived";
    const USUAL: &'static [&'static str] = &["generation", "suspended"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "collections of each process",
        },
        Example {
            words: "--details --suspended 50ms.. slow.etl",
            answer: "collections that stopped threads for long",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&EVENTS, self.events_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&GC, true).top(self.top)
    }
}

const GC: Recorded = Recorded::rows(
    "gc",
    "garbage collections of .NET",
    "record the provider Microsoft-Windows-DotNETRuntime with the keyword 0x1 (GC), for example `wpr -start DotNET`",
);

impl GcRequest {
    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .number("g.generation", self.generation)
            .known("g.suspended_ns", self.suspended)
            .time("coalesce(g.start_ns, g.end_ns)", self.time)
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let generation = if self.by == GcBy::Generation {
            "g.generation"
        } else {
            NO_NUMBER
        };
        let reason = if self.by == GcBy::Reason {
            "gc_reason_name(g.reason)"
        } else {
            NO_TEXT
        };
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, generation, reason";
        // Sizes of heaps do not add up over collections, each has the whole heap: the largest one
        // is shown.
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, count(*) AS count, count(*) FILTER (WHERE gc_type = 1) AS background,
  sum(suspended_ns) AS suspended_ns, max(suspended_ns) AS max_suspended_ns, sum(duration_ns) AS duration_ns,
  max(heap_bytes) AS max_heap_bytes, sum(promoted_bytes) AS promoted_bytes
FROM (
  SELECT {process}, {generation} AS generation, {reason} AS reason, g.gc_type, g.suspended_ns, g.duration_ns,
    {HEAP} AS heap_bytes, g.promoted_bytes
  FROM gc g
  LEFT JOIN process p ON p.process_key = g.process_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, duration_ns, count, process_key, generation, reason",
            sort = self.sort.sql(),
            process = process_columns("g", true),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single collections.
    #[must_use]
    pub fn events_sql(&self) -> String {
        format!(
            "SELECT g.start_ns, g.end_ns, g.duration_ns, g.suspended_ns, g.suspending_ns, g.restarting_ns, g.number,
  g.generation, g.gc_type, gc_reason_name(g.reason) AS reason, g.gen0_bytes, g.gen1_bytes, g.gen2_bytes,
  g.large_bytes, g.pinned_bytes, {HEAP} AS heap_bytes, g.promoted_bytes, g.process_key, {PROCESS_COLUMNS},
  CAST({sort} AS DOUBLE) AS sort_value
FROM gc g
LEFT JOIN process p ON p.process_key = g.process_key{conditions}
ORDER BY sort_value, coalesce(g.start_ns, g.end_ns), g.process_key, g.number",
            sort = self.sort.single_sql(),
            conditions = self.conditions(),
        )
    }
}
