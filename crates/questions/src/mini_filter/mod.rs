//! Minifilter drivers: their calls by driver, process, operation or file, or single calls.

use etwkit_question::declare;
mod sql;

use etwkit_question::Format::{
    FineMilliseconds, Id, Microseconds, Process, ProcessLine, Whole, Word,
};
use etwkit_question::Recorded;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{
    Among, Column, Example, Form, Question, Ranked, View, frames, group, option,
};

const DRIVERS: Among = Among::Texts(
    "driver",
    "drivers",
    "SELECT module AS text FROM mini_filter_driver",
);

declare! {
    /// Grouping of the rows.
    pub words MiniFilterBy {
        "driver" => Driver = "All calls of a driver.",
        "process" => Process = "All calls in threads of a process.",
        "operation" => Operation = "All calls for an operation.",
        "file" => File = "All calls for a file.",
    }

    /// Orders of sums and of single calls.
    pub orders MiniFilterSort {
        "duration" => Duration: "duration_ns" / "coalesce(f.duration_ns, 0)" =
            "Sum of durations; of single calls their duration.",
        "max" => Max: "coalesce(max_duration_ns, 0)" / "coalesce(f.duration_ns, 0)" = "Longest call.",
        "count" => Count: "count" / "coalesce(f.start_ns, f.end_ns)" = "Calls.",
        "time" => Time: "duration_ns" / "coalesce(f.start_ns, f.end_ns)" = "Start of single calls.",
    }

    /// Options of `dump mini-filter`.
    #[derive(Eq)]
    pub request MiniFilterRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: MiniFilterBy = option("WHAT").excludes(&["details"]).shape(),
        /// Rows for each process
        per_process: bool = option("").called("per-process").excludes(&["details"]).shape(),
        /// Only these drivers, by file name (*, ?, several with ;, ! excludes)
        driver: Option<String> = option("NAMES").of(DRIVERS),
        /// Only these operations, such as create or read (*, ?, several with ;, ! excludes)
        operation: Option<String> = option("KINDS"),
        /// Only calls before operations, or after them
        phase: Option<String> = option("PHASE").among(&["pre", "post"]),
        /// Only these files, by whole path (*, ?, several with ;, ! excludes)
        file: Option<String> = option("PATHS"),
        /// Only calls with this duration (us)
        duration: Range = option("A..B").unit(Unit::Microseconds),
        /// Only calls that started in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only calls whose stack has this frame: module!method, or its method alone (*, ?, several
        /// with ;, ! excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Single calls
        details: bool = option("").shape(),
        /// With --details: stacks
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// Order; of single calls duration or time
        sort: MiniFilterSort = option("ORDER").called("sort-by").shape(),
    }

    /// Calls of a driver, of a process, for an operation or for a file.
    pub row MiniFilterRow: process {
        ..process = "Process, with rows for each process; missing if it is not known.",
        module: Option<String> = "File name of the driver, with rows for each; missing if it is not known.",
        phase: Option<String> = "`pre` or `post`, with rows for each operation.",
        operation: Option<String> = "Operation, with rows for each; missing for numbers without a name.",
        path: Option<String> = "File, with rows for each; missing where it is not known.",
        count: i64 = "Calls.",
        ended: i64 = "Calls with a start and an end.",
        failures: i64 = "Calls that made the operation fail.",
        duration_ns: i64 = "Sum of durations; calls at the same time add up.",
        max_duration_ns: Option<i64> = "Longest call.",
        mean_duration_ns: Option<f64> = "Mean.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A call.
    pub row MiniFilterCall: process {
        start_ns: Option<i64> = "Start; missing if it is not in the trace.",
        end_ns: Option<i64> = "End; missing if it is not in the trace.",
        duration_ns: Option<i64> = "From start to end.",
        phase: String = "`pre` or `post`.",
        operation: Option<String> = "Operation; missing for numbers without a name.",
        major_function: i64 = "Number of the major function.",
        module: Option<String> = "File name of the driver; missing if it is not known.",
        routine: Option<String> = "Routine that was called, if symbols are known.",
        path: Option<String> = "File; missing where it is not known.",
        status: Option<i64> = "Status with which it made the operation fail, as signed number.",
        status_name: Option<String> = "Name of the status; digits where it has none.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread.",
        stack_id: Option<i64> = "The stack.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type MiniFilterColumn = Column<MiniFilterRequest, MiniFilterRow>;

const SUMS: View<MiniFilterRequest, MiniFilterRow> = View::new(
    &[
        MiniFilterColumn::new("Duration", "Sum ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        MiniFilterColumn::new("Mean", "Mean µs", Microseconds, |_, row| {
            row.mean_duration_ns.into()
        })
        .worst(),
        MiniFilterColumn::new("Max", "Max µs", Microseconds, |_, row| {
            row.max_duration_ns.into()
        })
        .worst(),
        MiniFilterColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        MiniFilterColumn::new("Failed", "Failed", Whole, |_, row| row.failures.into()).cost(),
        MiniFilterColumn::new("Driver", "Driver", Word, |_, row| row.module.clone().into())
            .or("?")
            .shown_if(|asked| asked.by == MiniFilterBy::Driver),
        MiniFilterColumn::new("Phase", "Phase", Word, |_, row| row.phase.clone().into())
            .shown_if(|asked| asked.by == MiniFilterBy::Operation),
        MiniFilterColumn::new("Operation", "Operation", Word, |_, row| {
            row.operation.clone().into()
        })
        .or("?")
        .shown_if(|asked| asked.by == MiniFilterBy::Operation),
        MiniFilterColumn::new("Path", "File", Word, |_, row| row.path.clone().into())
            .or("(unknown)")
            .shown_if(|asked| asked.by == MiniFilterBy::File),
        MiniFilterColumn::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_if(MiniFilterRequest::is_by_process),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|call|calls}, {Failed} of them made the operation fail, {Duration} ms",
    |_, _| true,
);

type MiniFilterCallColumn = Column<MiniFilterRequest, MiniFilterCall>;

const CALLS: View<MiniFilterRequest, MiniFilterCall> = View::new(
    &[
        MiniFilterCallColumn::time("Time", |_, row| row.start_ns.or(row.end_ns).into()),
        MiniFilterCallColumn::new("Duration", "µs", Microseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost()
        .or("open"),
        MiniFilterCallColumn::new("Phase", "Phase", Word, |_, row| row.phase.clone().into()),
        MiniFilterCallColumn::new("Operation", "Operation", Word, |_, row| {
            row.operation.clone().into()
        })
        .or("?"),
        MiniFilterCallColumn::new("Driver", "Driver", Word, |_, row| row.module.clone().into())
            .or("?"),
        MiniFilterCallColumn::new("Routine", "Routine", Word, |_, row| {
            row.routine.clone().into()
        })
        .hidden(),
        MiniFilterCallColumn::new("Status", "Failed with", Word, |_, row| {
            row.status_name.clone().into()
        })
        .shown_if_known(|_| true),
        MiniFilterCallColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        MiniFilterCallColumn::new("Process", "Process", Process, |_, row| row.into()),
        MiniFilterCallColumn::new("Path", "File", Word, |_, row| row.path.clone().into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| {
    Ranked::rows_unless(!matches!(
        asked.sort,
        MiniFilterSort::Duration | MiniFilterSort::Max
    ))
})
.with_below(|_, row| frames(row.stack.as_deref()));

impl MiniFilterRequest {
    pub(super) fn is_by_process(&self) -> bool {
        self.per_process || self.by == MiniFilterBy::Process
    }
}

impl Question for MiniFilterRequest {
    const NAME: &'static str = "mini-filter";
    const ALIASES: &'static [&'static str] = &["minifilter"];
    const SENTENCE: &'static str =
        "Minifilter drivers: how long they delayed file operations, and which ones they made fail";
    const USUAL: &'static [&'static str] = &["driver", "operation", "phase", "file", "duration"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "drivers by the time that they took",
        },
        Example {
            words: "--by file --driver \"wdfilter*\" slow.etl",
            answer: "files for which Defender took longest",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&CALLS, self.calls_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&FILTERS, self.details || self.needs_rows())
            .top(self.top)
    }
}

const FILTERS: Recorded = Recorded {
    sums: "mini_filter_driver",
    rows: "mini_filter",
    single: "calls of minifilter drivers",
    what: "minifilter drivers",
    how: "record with the kernel keywords FLT_IO_INIT+FLT_IO+FLT_FASTIO+FLT_IO_FAILURE, CSWITCH for the processes and \
          `-stackwalk MiniFilterPreOpInit+MiniFilterPostOpInit` for stacks, or `wpr -start Minifilter -filemode`",
};
