//! Threads that ran instead of ready ones: grouped by the running process, the ready process, or
//! both priorities.

use etwkit_question::Format::{
    FineMilliseconds, Fixed, Microseconds, Moment, Process, Whole, Word,
};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{PROCESS_COLUMNS, ProcessQuery};
use etwkit_question::{Column, Example, Form, Question, Ranked, Value, View, group, option};

declare! {
    /// Grouping of the rows.
    pub words ReadyBy {
        "instead" => Instead = "The process that ran instead.",
        "process" => Process = "The process whose threads were ready.",
        "priority" => Priority = "Priorities: of the ready thread and of the one that ran instead.",
    }

    /// Orders of sums and of single switch-ins.
    pub orders ReadySort {
        "ready" => Ready: "ready_ns" = "Ready time.",
        "instead" => Instead: "coalesce(instead_ns, 0)" = "Time in which the other thread ran.",
        "lower" => Lower: "coalesce(lower_ns, 0)" / "ready_ns" = "Ready time for others of lower priority.",
        "focus" => Focus: "focus_ns" / "ready_ns" = "Ready time of processes with the focus.",
        "max" => Max: "max_ready_ns" / "ready_ns" = "Longest ready time.",
        "count" => Count: "count" / "in_ns" = "How many switch-ins.",
        "time" => Time: "ready_ns" / "in_ns" = "Time of single switch-ins.",
    }

    /// Options of `dump ready`.
    #[derive(Eq)]
    pub request ReadyRequest {
        /// Processes of the ready threads
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: ReadyBy = option("WHAT").excludes(&["details"]).shape(),
        /// Only where threads of these processes ran instead: names with or without .exe, or ids
        /// (*, ?, several with ;, ! excludes)
        instead: Option<String> = option("NAMES"),
        /// Only ready times of this length (us)
        ready: Range = option("A..B").unit(Unit::Microseconds),
        /// Only switch-ins in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only threads of processes that had the focus when they were switched in
        focus: bool = option(""),
        /// Single switch-ins
        details: bool = option("").shape(),
        /// Order
        sort: ReadySort = option("ORDER").called("sort-by").shape(),
        /// Sums after the rows: total, or none
        with_total: bool = option("WHAT").called("show-total").either("none", "total").output() => true,
    }

    /// Ready times that have something in common.
    pub row ReadyRow: process {
        ..process = "Process that ran instead, with rows for each; with --by process the one that was ready. \
            Missing for times in which only idle had the processor.",
        priority: Option<i64> = "Priority of the ready thread, with rows for priorities.",
        instead_priority: Option<i64> = "Priority of the thread that ran instead, with rows for priorities.",
        count: i64 = "Switch-ins.",
        ready_ns: i64 = "Sum of their ready times.",
        max_ready_ns: i64 = "Longest ready time.",
        instead_ns: Option<i64> = "Part in which the thread that ran longest instead was running.",
        higher_ns: Option<i64> = "Ready time where the thread that ran instead had a higher priority.",
        equal_ns: Option<i64> = "Ready time where the thread that ran instead had the same priority.",
        lower_ns: Option<i64> = "Ready time where the thread that ran instead had a lower priority.",
        idle_ns: i64 = "Ready time in which only idle had the processor.",
        focus_ns: i64 = "Ready time of processes that had the focus.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A switch-in after a ready time.
    pub row ReadyEvent: process {
        in_ns: i64 = "Switch-in.",
        ready_ns: i64 = "Ready time before it.",
        instead_ns: Option<i64> = "Part in which the thread that ran longest instead was running.",
        priority: Option<i64> = "Priority of the thread.",
        instead_priority: Option<i64> = "Priority of the thread that ran instead.",
        cpu: Option<i64> = "Processor.",
        has_focus: bool = "Whether its process had the focus.",
        was_preempted: bool = "Whether it had been preempted.",
        tid: Option<i64> = "Thread.",
        instead_tid: Option<i64> = "Thread that ran instead.",
        instead_process: Option<String> = "Process of that thread.",
        ..process = "Process of the thread that was ready.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type ReadyColumn = Column<ReadyRequest, ReadyRow>;

const SUMS: View<ReadyRequest, ReadyRow> = View::new(
    &[
        ReadyColumn::new("Ready", "Ready ms", FineMilliseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost(),
        ReadyColumn::new("Instead", "Ran instead ms", FineMilliseconds, |_, row| {
            row.instead_ns.into()
        })
        .sum(),
        ReadyColumn::new("Higher", "Higher ms", FineMilliseconds, |_, row| {
            row.higher_ns.into()
        })
        .sum(),
        ReadyColumn::new("Equal", "Equal ms", FineMilliseconds, |_, row| {
            row.equal_ns.into()
        })
        .sum(),
        ReadyColumn::new("Lower", "Lower ms", FineMilliseconds, |_, row| {
            row.lower_ns.into()
        })
        .cost(),
        ReadyColumn::new("Idle", "Idle ms", FineMilliseconds, |_, row| {
            row.idle_ns.into()
        })
        .sum(),
        ReadyColumn::new("Focus", "In focus ms", FineMilliseconds, |_, row| {
            row.focus_ns.into()
        })
        .cost(),
        ReadyColumn::new("Max", "Max ms", FineMilliseconds, |_, row| {
            row.max_ready_ns.into()
        })
        .worst(),
        ReadyColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        ReadyColumn::new("Mean", "Mean µs", Fixed(1), |_, row| {
            (row.count > 0)
                .then(|| row.ready_ns as f64 / row.count as f64 / 1e3)
                .into()
        })
        .hidden(),
        ReadyColumn::new("Priority", "Priority", Whole, |_, row| row.priority.into())
            .shown_if(|asked| asked.by == ReadyBy::Priority),
        ReadyColumn::new("InsteadPriority", "Priority instead", Whole, |_, row| {
            row.instead_priority.into()
        })
        .shown_if(|asked| asked.by == ReadyBy::Priority),
        ReadyColumn::new("Process", "Process", Process, who)
            .or("(idle)")
            .shown_if(|asked| asked.by != ReadyBy::Priority),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|switch-in|switch-ins}, ready {Ready} ms, {Lower} ms of it for lower priorities",
    |asked, _| asked.with_total,
);

/// Returns the process of a row, which is missing if only idle had the processor.
fn who(asked: &ReadyRequest, row: &ReadyRow) -> Value {
    if asked.by == ReadyBy::Instead && row.instead_ns.is_none() {
        Value::Missing
    } else {
        row.into()
    }
}

type ReadyEventColumn = Column<ReadyRequest, ReadyEvent>;

const SWITCHES: View<ReadyRequest, ReadyEvent> = View::new(
    &[
        ReadyEventColumn::new("Time", "Time", Moment, |_, row| row.in_ns.into()),
        ReadyEventColumn::new("Ready", "Ready µs", Microseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost(),
        ReadyEventColumn::new("Instead", "Ran instead µs", Microseconds, |_, row| {
            row.instead_ns.into()
        }),
        ReadyEventColumn::new("Priority", "Prio", Whole, |_, row| row.priority.into()),
        ReadyEventColumn::new("InsteadPriority", "Prio instead", Whole, |_, row| {
            row.instead_priority.into()
        }),
        ReadyEventColumn::new("Cpu", "CPU", Whole, |_, row| row.cpu.into()),
        ReadyEventColumn::new("Focus", "Focus", Word, |_, row| {
            row.has_focus.then_some("focus").into()
        }),
        ReadyEventColumn::new("Preempted", "Preempted", Word, |_, row| {
            row.was_preempted.then_some("preempted").into()
        })
        .hidden(),
        ReadyEventColumn::new("Tid", "Tid", Whole, |_, row| row.tid.into()).hidden(),
        ReadyEventColumn::new("InsteadTid", "Tid instead", Whole, |_, row| {
            row.instead_tid.into()
        })
        .hidden(),
        ReadyEventColumn::new("InsteadProcess", "Instead", Word, |_, row| {
            row.instead_process.clone().into()
        })
        .or("(idle)"),
        ReadyEventColumn::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(matches!(asked.sort, ReadySort::Count | ReadySort::Time)));

impl Question for ReadyRequest {
    const NAME: &'static str = "ready";
    const SENTENCE: &'static str =
        "Who ran instead of threads that were ready, and with which priority";
    const USUAL: &'static [&'static str] = &["instead", "ready", "focus"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "who ran instead of threads that were ready",
        },
        Example {
            words: "--process game --by priority slow.etl",
            answer: "and with which priority",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&SWITCHES, self.events_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&SLICES, true).top(self.top)
    }
}

const SLICES: Recorded = Recorded::rows(
    "context_switch",
    "context switches",
    "record with the kernel keywords PROC_THREAD+CSWITCH+DISPATCHER, for example `wpr -start CPU`",
);

/// Periods in which a process had the focus, or a thread if only the focus of threads was recorded.
// Half of the largest number replaces an open end: later than any trace, and safe to compute with.
const FOCUS: &str =
    "SELECT process_key, thread_key, coalesce(ts_ns, -4611686018427387904) AS from_ns,
      coalesce(end_ns, 4611686018427387903) AS until_ns
    FROM focus_change WHERE level = ";

impl ReadyRequest {
    /// Returns switch-ins after a ready time, with the thread that ran instead.
    fn asked(&self) -> String {
        let has_focus = "(fp.process_key IS NOT NULL OR ft.thread_key IS NOT NULL)";
        let conditions = self
            .processes
            .conditions()
            .and(["s.ready_ns > 0 AND s.in_ns IS NOT NULL".to_owned()])
            .range("s.ready_ns", self.ready)
            .time("s.in_ns", self.time)
            .process("i", self.instead.as_deref())
            .when(self.focus, has_focus);
        let while_in = |of: &str| format!("s.in_ns >= {of}.from_ns AND s.in_ns < {of}.until_ns");
        // States 1, 3 and 7 of a thread are ready, standby and deferred ready: it left its
        // processor although it could have run on.
        format!(
            "SELECT s.process_key, {PROCESS_COLUMNS}, t.tid, s.in_ns, s.ready_ns,
    CASE WHEN s.instead_thread_key IS NOT NULL THEN coalesce(s.instead_ns, s.ready_ns) END AS instead_ns, s.priority, s.instead_priority,
    s.cpu, {has_focus} AS has_focus, coalesce(s.prev_state IN (1, 3, 7), FALSE) AS was_preempted,
    it.process_key AS instead_process_key, it.tid AS instead_tid, i.name AS instead_process,
    s.instead_priority - s.priority AS above
  FROM context_switch s
  LEFT JOIN process p ON p.process_key = s.process_key
  LEFT JOIN thread t ON t.thread_key = s.thread_key
  LEFT JOIN thread it ON it.thread_key = s.instead_thread_key
  LEFT JOIN process i ON i.process_key = it.process_key
  LEFT JOIN ({FOCUS}'process') fp ON fp.process_key = s.process_key AND {}
  LEFT JOIN ({FOCUS}'thread') ft ON ft.thread_key = s.thread_key AND {}{conditions}",
            while_in("fp"),
            while_in("ft")
        )
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let none = "CAST(NULL AS INT)";
        // Idle and a thread whose process is not known have no key and are rows of their own.
        let (process, own, instead, idle) = match self.by {
            ReadyBy::Instead => ("instead_process_key", none, none, ", instead_ns IS NULL"),
            ReadyBy::Process => ("process_key", none, none, ""),
            ReadyBy::Priority => (none, "priority", "instead_priority", ""),
        };
        format!(
            "SELECT r.*, {PROCESS_COLUMNS}, CAST({} AS DOUBLE) AS sort_value
FROM (
  SELECT {process} AS process_key, {own} AS priority, {instead} AS instead_priority, count(*) AS count,
    sum(ready_ns) AS ready_ns, max(ready_ns) AS max_ready_ns, sum(instead_ns) AS instead_ns,
    sum(ready_ns) FILTER (WHERE above > 0) AS higher_ns, sum(ready_ns) FILTER (WHERE above = 0) AS equal_ns,
    sum(ready_ns) FILTER (WHERE above < 0) AS lower_ns,
    coalesce(sum(ready_ns) FILTER (WHERE instead_ns IS NULL), 0) AS idle_ns,
    coalesce(sum(ready_ns) FILTER (WHERE has_focus), 0) AS focus_ns
  FROM (
  {}
  )
  GROUP BY 1, 2, 3{idle}
) r
LEFT JOIN process p ON p.process_key = r.process_key
ORDER BY sort_value, ready_ns, count, r.process_key, r.priority, r.instead_priority",
            self.sort.sql(),
            self.asked()
        )
    }

    /// Returns the SQL for single switch-ins.
    #[must_use]
    pub fn events_sql(&self) -> String {
        format!(
            "SELECT *, CAST({} AS DOUBLE) AS sort_value
FROM (
  {}
)
ORDER BY sort_value, in_ns, process_key, tid",
            self.sort.single_sql(),
            self.asked()
        )
    }
}
