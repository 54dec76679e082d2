//! DPCs and interrupts of drivers: by driver, routine, kind or processor, or single ones.

use etwkit_question::Format::{FineMilliseconds, Fixed, Microseconds, Moment, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::covered::{Covered, Recorder};
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, NO_NUMBER, NO_TEXT, stack_text};
use etwkit_question::{Column, Example, Form, Question, Ranked, View, frames, group, option};

declare! {
    /// Grouping of the rows.
    pub words DpcBy {
        "driver" => Driver = "All DPCs and interrupts of a driver.",
        "routine" => Routine = "All calls of a routine.",
        "kind" => Kind = "All DPCs, timer DPCs, threaded DPCs, interrupts.",
        "cpu" => Cpu = "All DPCs and interrupts on a processor.",
    }

    /// Orders of sums and of single ones.
    pub orders DpcSort {
        "exclusive" => Exclusive: "exclusive_ns" =
            "Time without DPCs and interrupts that came in between.",
        "duration" => Duration: "duration_ns" = "Time including DPCs and interrupts that came in between.",
        "max" => Max: "max_duration_ns" / "duration_ns" = "Longest DPC or interrupt.",
        "count" => Count: "count" / "start_ns" = "How many.",
        "time" => Time: "exclusive_ns" / "start_ns" = "Start of single ones.",
    }

    /// Options of `dump dpc`.
    #[derive(Eq)]
    pub request DpcRequest {
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: DpcBy = option("WHAT").excludes(&["details"]).shape(),
        /// Only DPCs and interrupts of these drivers, by file name (*, ?, several with ;, !
        /// excludes)
        driver: Option<String> = option("NAMES"),
        /// Only these kinds: dpc, timer_dpc, threaded_dpc, isr (several with ;, ! excludes)
        kind: Option<String> = option("KINDS"),
        /// Only those on this processor
        cpu: Option<u32> = option("NUMBER"),
        /// Only those with this duration (us)
        duration: Range = option("A..B").unit(Unit::Microseconds),
        /// Only those that started in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Single ones
        details: bool = option("").shape(),
        /// With --details: the stack of each
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// Order
        sort: DpcSort = option("ORDER").called("sort-by").shape(),
    }

    /// DPCs and interrupts of a driver, routine or kind, or on a processor.
    pub row DpcRow {
        driver: Option<String> = "File name of the driver, with rows for each driver or routine; missing \
            where no module is known at the address of the routine.",
        routine: Option<String> = "Routine, with rows for each; without a name the offset in its driver.",
        kind: Option<String> = "`dpc`, `timer_dpc`, `threaded_dpc` or `isr`, with rows for each.",
        cpu: Option<i64> = "Processor, with rows for each.",
        count: i64 = "How many.",
        exclusive_ns: i64 = "Their time without the DPCs and interrupts that came in between.",
        duration_ns: i64 = "Their time including these.",
        max_duration_ns: i64 = "Longest DPC or interrupt.",
        cpu_percent: f64 = "`exclusive_ns` of the time of one processor, in percent.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A DPC or interrupt.
    pub row DpcEvent {
        start_ns: i64 = "Start.",
        end_ns: i64 = "End.",
        duration_ns: i64 = "Length.",
        exclusive_ns: i64 = "Length without the DPCs and interrupts that came in between.",
        kind: String = "`dpc`, `timer_dpc`, `threaded_dpc` or `isr`.",
        cpu: i64 = "Processor.",
        vector: Option<i64> = "Vector or message of an interrupt.",
        driver: Option<String> = "File name of the driver, if it is known.",
        routine: Option<String> = "Routine; without a name the offset in its driver.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type DpcColumn = Column<DpcRequest, DpcRow>;

const SUMS: View<DpcRequest, DpcRow> = View::new(
    &[
        DpcColumn::new("Exclusive", "Exclusive ms", FineMilliseconds, |_, row| {
            row.exclusive_ns.into()
        })
        .cost(),
        DpcColumn::new("CpuPercent", "% of a CPU", Fixed(3), |_, row| {
            row.cpu_percent.into()
        }),
        DpcColumn::new("Duration", "Sum ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        }),
        DpcColumn::new("Max", "Max µs", Microseconds, |_, row| {
            row.max_duration_ns.into()
        })
        .worst(),
        DpcColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        DpcColumn::new("Kind", "Kind", Word, |_, row| row.kind.clone().into())
            .shown_if(|asked| asked.by == DpcBy::Kind),
        DpcColumn::new("Cpu", "CPU", Whole, |_, row| row.cpu.into())
            .shown_if(|asked| asked.by == DpcBy::Cpu),
        DpcColumn::new("Driver", "Driver", Word, |_, row| row.driver.clone().into())
            .or("(not known)")
            .shown_if(|asked| matches!(asked.by, DpcBy::Driver | DpcBy::Routine)),
        DpcColumn::new("Routine", "Routine", Word, |_, row| {
            row.routine.clone().into()
        })
        .shown_if(|asked| asked.by == DpcBy::Routine),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|DPC or interrupt|DPCs and interrupts}, {Exclusive} ms; longest {Max} µs",
    |_, _| true,
);

type DpcEventColumn = Column<DpcRequest, DpcEvent>;

const EVENTS: View<DpcRequest, DpcEvent> = View::new(
    &[
        DpcEventColumn::new("Time", "Time", Moment, |_, row| row.start_ns.into()),
        DpcEventColumn::new("Duration", "µs", Microseconds, |_, row| {
            row.duration_ns.into()
        }),
        DpcEventColumn::new("Exclusive", "Exclusive µs", Microseconds, |_, row| {
            row.exclusive_ns.into()
        })
        .cost(),
        DpcEventColumn::new("Cpu", "CPU", Whole, |_, row| row.cpu.into()),
        DpcEventColumn::new("Kind", "Kind", Word, |_, row| row.kind.clone().into()),
        DpcEventColumn::new("Vector", "Vector", Whole, |_, row| row.vector.into()).hidden(),
        DpcEventColumn::new("Driver", "Driver", Word, |_, row| row.driver.clone().into())
            .or("(not known)"),
        DpcEventColumn::new("Routine", "Routine", Word, |_, row| {
            row.routine.clone().into()
        }),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(matches!(asked.sort, DpcSort::Count | DpcSort::Time)))
.with_below(|_, row| frames(row.stack.as_deref()));

impl Question for DpcRequest {
    const NAME: &'static str = "dpc";
    const SENTENCE: &'static str =
        "DPCs and interrupts: which driver took the processors, and for how long";
    const USUAL: &'static [&'static str] = &["driver", "kind", "cpu", "duration"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "drivers by time in DPCs and interrupts",
        },
        Example {
            words: "--by cpu slow.etl",
            answer: "the processors that they took",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&EVENTS, self.events_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&DPC, true).top(self.top)
    }
}

const DPC: Recorded = Recorded::rows(
    "dpc_isr",
    "DPCs and interrupts",
    "record with the kernel keywords DPC+INTERRUPT+LOADER, for example `wpr -start CPU`",
);

impl DpcRequest {
    /// DPCs and interrupts that pass the conditions, with the names of driver and routine.
    // An interrupt can break into a DPC: without the nested time both would count for the same
    // moments.
    fn asked(&self) -> String {
        let conditions = Conditions::new()
            .text("o.name", self.driver.as_deref())
            .text("d.kind", self.kind.as_deref())
            .number("d.cpu", self.cpu)
            .range("d.duration_ns", self.duration)
            .time("d.start_ns", self.time);
        format!(
            "SELECT d.*, d.duration_ns - d.nested_ns AS exclusive_ns, o.name AS driver, coalesce(m.name, concat('+', hex(coalesce(f.rva, f.address)))) AS routine
  FROM dpc_isr d
  LEFT JOIN frame f ON f.frame_id = d.frame_id
  LEFT JOIN method m ON m.method_id = f.method_id
  LEFT JOIN module o ON o.module_id = f.module_id{conditions}"
        )
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        // Unused keys are null for all rows, so that one GROUP BY serves every grouping.
        let (driver, routine, kind, cpu) = match self.by {
            DpcBy::Driver => ("driver", NO_TEXT, NO_TEXT, NO_NUMBER),
            DpcBy::Routine => ("driver", "routine", NO_TEXT, NO_NUMBER),
            DpcBy::Kind => (NO_TEXT, NO_TEXT, "kind", NO_NUMBER),
            DpcBy::Cpu => (NO_TEXT, NO_TEXT, NO_TEXT, "cpu"),
        };
        format!(
            "SELECT *, 100.0 * exclusive_ns / {covered} AS cpu_percent,
  CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT driver, routine, kind, cpu, count(*) AS count, sum(exclusive_ns) AS exclusive_ns,
  sum(duration_ns) AS duration_ns, max(duration_ns) AS max_duration_ns
FROM (
SELECT {driver} AS driver, {routine} AS routine, {kind} AS kind, {cpu} AS cpu, exclusive_ns, duration_ns
FROM (
  {asked}
)
)
GROUP BY driver, routine, kind, cpu
)
ORDER BY sort_value, exclusive_ns, count, driver, routine, kind, cpu",
            covered = Covered::new(Recorder::Kernel, self.time).length(),
            sort = self.sort.sql(),
            asked = self.asked(),
        )
    }

    /// Returns the SQL for single ones.
    #[must_use]
    pub fn events_sql(&self) -> String {
        let (text, join) = stack_text("d.stack_id", "stack", self.stacks);
        format!(
            "SELECT d.start_ns, d.end_ns, d.duration_ns, d.exclusive_ns, d.kind, d.cpu, d.vector, d.driver, d.routine,
  {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM (
  {asked}
) d{join}
ORDER BY sort_value, d.start_ns, d.end_ns, d.cpu",
            sort = self.sort.single_sql(),
            asked = self.asked(),
        )
    }
}
