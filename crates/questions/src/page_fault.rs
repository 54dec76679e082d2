//! Page faults that the processor raised: by process or kind, or single faults.

use etwkit_question::Format::{Id, Moment, Process, ProcessLine, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{
    Conditions, NO_TEXT, PROCESS_COLUMNS, ProcessQuery, process_columns, stack_text,
};
use etwkit_question::{Column, Example, Form, Question, Ranked, View, frames, group, option};

declare! {
    /// Grouping of the rows.
    pub words PageFaultBy {
        "process" => Process = "All faults of a process.",
        "kind" => Kind = "All faults of a kind.",
    }

    /// Orders of sums and of single faults.
    pub orders PageFaultSort {
        "count" => Count: "count" / "f.ts_ns" = "Faults.",
        "demand-zero" => DemandZero: "demand_zero" / "f.ts_ns" = "Faults that got a page of zeros.",
        "hard" => Hard: "hard" / "f.ts_ns" = "Faults whose page had to be read.",
        "time" => Time: "first_ns" / "f.ts_ns" = "Time of single faults; of sums the time of the first fault.",
    }

    /// Options of `dump page-fault`.
    #[derive(Eq)]
    pub request PageFaultRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: PageFaultBy = option("WHAT").excludes(&["details"]).shape(),
        /// With --by kind: rows for each process
        per_process: bool = option("").called("per-process").excludes(&["details"]).shape(),
        /// Only these kinds: transition, demand_zero, copy_on_write, guard_page, hard,
        /// access_violation (*, ?, several with ;, ! excludes)
        kind: Option<String> = option("KINDS"),
        /// Only faults of instructions of these functions: name, module!name or module+0x1a2b (*,
        /// ?, several with ;, ! excludes)
        function: Option<String> = option("NAMES"),
        /// Only faults in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only faults whose stack has this frame: module!method, or its method alone (*, ?,
        /// several with ;, ! excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Single faults
        details: bool = option("").shape(),
        /// With --details: stacks
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// Order of sums; single faults are in order of time
        sort: PageFaultSort = option("ORDER").called("sort-by").shape(),
    }

    /// Faults of a process or of a kind.
    pub row PageFaultRow: process {
        ..process = "Process, with rows for each process; missing if it is not known.",
        kind: Option<String> = "Kind, with rows for each kind.",
        count: i64 = "Faults.",
        transition: i64 = "Faults on pages that were in memory, on their way out.",
        demand_zero: i64 = "Faults that got a page of zeros.",
        copy_on_write: i64 = "Faults for which a shared page was copied.",
        guard_page: i64 = "Faults on guard pages.",
        hard: i64 = "Faults whose page had to be read.",
        access_violation: i64 = "Accesses that are not allowed.",
        first_ns: i64 = "Time of the first fault.",
        last_ns: i64 = "Time of the last fault.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A fault.
    pub row PageFaultEvent: process {
        ts_ns: i64 = "Time.",
        kind: String = "Kind.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread.",
        address: String = "Address that was touched, in hexadecimal digits.",
        function: String = "Place of the instruction: module!method, or module+0x1a2b without symbols.",
        stack_id: Option<i64> = "Stack of the fault.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        ..process_details,
    }
}

type PageFaultColumn = Column<PageFaultRequest, PageFaultRow>;

const SUMS: View<PageFaultRequest, PageFaultRow> = View::new(
    &[
        PageFaultColumn::new("Count", "Count", Whole, |_, row| row.count.into()).cost(),
        PageFaultColumn::new("Transition", "Transition", Whole, |_, row| {
            row.transition.into()
        })
        .cost()
        .shown_if(is_by_process),
        PageFaultColumn::new("DemandZero", "Demand zero", Whole, |_, row| {
            row.demand_zero.into()
        })
        .cost()
        .shown_if(is_by_process),
        PageFaultColumn::new("CopyOnWrite", "Copy on write", Whole, |_, row| {
            row.copy_on_write.into()
        })
        .cost()
        .shown_if(is_by_process),
        PageFaultColumn::new("GuardPage", "Guard page", Whole, |_, row| {
            row.guard_page.into()
        })
        .cost()
        .shown_if(is_by_process),
        PageFaultColumn::new("Hard", "Hard", Whole, |_, row| row.hard.into())
            .cost()
            .shown_if(is_by_process),
        PageFaultColumn::new("AccessViolation", "Violation", Whole, |_, row| {
            row.access_violation.into()
        })
        .cost()
        .shown_if(is_by_process),
        PageFaultColumn::new("First", "First", Moment, |_, row| row.first_ns.into()).hidden(),
        PageFaultColumn::new("Last", "Last", Moment, |_, row| row.last_ns.into()).hidden(),
        PageFaultColumn::new("Kind", "Kind", Word, |_, row| row.kind.clone().into())
            .shown_if(|asked| !is_by_process(asked)),
        PageFaultColumn::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_if(|asked| asked.per_process || is_by_process(asked)),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort == PageFaultSort::Time))
.with_sums("Total: {Count|page fault|page faults}", |_, _| true);

type PageFaultEventColumn = Column<PageFaultRequest, PageFaultEvent>;

const FAULTS: View<PageFaultRequest, PageFaultEvent> = View::new(
    &[
        PageFaultEventColumn::time("Time", |_, row| row.ts_ns.into()),
        PageFaultEventColumn::new("Kind", "Kind", Word, |_, row| row.kind.clone().into()),
        PageFaultEventColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        PageFaultEventColumn::new("Process", "Process", Process, |_, row| row.into()),
        PageFaultEventColumn::new("Address", "Address", Word, |_, row| {
            row.address.clone().into()
        }),
        PageFaultEventColumn::new("Function", "Function", Word, |_, row| {
            row.function.clone().into()
        }),
    ],
    |row| row.ts_ns as f64,
)
.ranking(|_| Ranked::No)
.with_below(|_, row| frames(row.stack.as_deref()));

fn is_by_process(asked: &PageFaultRequest) -> bool {
    asked.by == PageFaultBy::Process
}

impl Question for PageFaultRequest {
    const NAME: &'static str = "page-fault";
    const SENTENCE: &'static str = "Page faults: who touched memory that was not mapped, by kind";
    const USUAL: &'static [&'static str] = &["kind", "function", "per-process"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "faults by process and kind",
        },
        Example {
            words: "--kind access_violation slow.etl",
            answer: "accesses to memory that was not there",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&FAULTS, self.faults_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&RECORDED, self.details || !self.limits().is_empty())
            .top(self.top)
    }
}

impl PageFaultRequest {
    /// Returns conditions on single faults, which sums cannot answer.
    fn limits(&self) -> Conditions {
        Conditions::new()
            .any_text(&["f.method", "f.function"], self.function.as_deref())
            .time("f.ts_ns", self.time)
            .stack("f.stack_id", self.stack.as_deref())
    }

    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .text("f.kind", self.kind.as_deref())
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let kind = if is_by_process(self) {
            NO_TEXT
        } else {
            "f.kind"
        };
        let rows = format!(
            "SELECT f.process_key, f.kind, 1 AS count, f.ts_ns AS first_ns, f.ts_ns AS last_ns
  FROM (
{PLACED}
  ) f{}",
            self.limits()
        );
        let sums = if self.limits().is_empty() {
            "SELECT * FROM page_fault_process".to_owned()
        } else {
            rows
        };
        // Sums and single faults both have the kind, so that columns are made of either in the same
        // way.
        let of = |kind: &str| {
            format!("coalesce(sum(count) FILTER (WHERE fault_kind = '{kind}'), 0) AS {kind}")
        };
        let kinds = KINDS.map(of).join(", ");
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, kind";
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, sum(count) AS count, {kinds},
  min(first_ns) AS first_ns, max(last_ns) AS last_ns
FROM (
  SELECT {process}, {kind} AS kind, f.kind AS fault_kind, f.count, f.first_ns, f.last_ns
  FROM (
  {sums}
  ) f
  LEFT JOIN process p ON p.process_key = f.process_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, count, kind, process_key",
            sort = self.sort.sql(),
            process = process_columns("f", self.per_process || is_by_process(self)),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single faults.
    #[must_use]
    pub fn faults_sql(&self) -> String {
        let conditions = self.conditions().and(self.limits());
        let (text, join) = stack_text("f.stack_id", "stack", self.stacks);
        format!(
            "SELECT f.ts_ns, f.kind, f.process_key, {PROCESS_COLUMNS}, t.tid, hex(f.address) AS address, f.function,
  f.stack_id, {text}
FROM (
{PLACED}
) f
LEFT JOIN process p ON p.process_key = f.process_key
LEFT JOIN thread t ON t.thread_key = f.thread_key{join}{conditions}
ORDER BY f.ts_ns, f.process_key, t.tid, f.kind",
        )
    }
}

/// The kinds, which are also columns of sums.
const KINDS: [&str; 6] = [
    "transition",
    "demand_zero",
    "copy_on_write",
    "guard_page",
    "hard",
    "access_violation",
];

/// Faults with the place of the instruction that caused them.
const PLACED: &str = "    SELECT f.*, m.name AS method,
      CASE WHEN m.name IS NULL THEN concat(coalesce(d.name, ''), '+', hex(coalesce(r.rva, r.address)))
        ELSE concat(coalesce(d.name, '?'), '!', m.name) END AS function
    FROM page_fault f
    LEFT JOIN frame r ON r.frame_id = f.frame_id
    LEFT JOIN method m ON m.method_id = r.method_id
    LEFT JOIN module d ON d.module_id = r.module_id";

const RECORDED: Recorded = Recorded {
    sums: "page_fault_process",
    rows: "page_fault",
    single: "page faults",
    what: "page faults",
    how: "record with the kernel keywords ALL_FAULTS+CSWITCH+PROC_THREAD+LOADER, with `-stackwalk` and the kinds (DemandZeroFault, \
          TransitionFault, CopyOnWriteFault, GuardPageFault, HardFault, AccessViolation) for stacks. Pages that were read \
          from files are in `dump hard-fault`",
};
