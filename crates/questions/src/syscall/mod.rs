//! System calls: sums by function, process, thread or status, or single calls.

use etwkit_question::declare;
mod sql;

use etwkit_question::Format::{
    FineMilliseconds, Id, Microseconds, Moment, Process, ProcessLine, Whole, Word,
};
use etwkit_question::Recorded;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{
    Among, Answer, Column, Example, Form, Question, Ranked, Value, View, frames, group, option,
};
use etwkit_sql::Session;

const FUNCTIONS: Among = Among::Texts(
    "function",
    "functions",
    "SELECT function AS text FROM syscall_function",
);

declare! {
    /// Grouping of the rows.
    pub words SyscallBy {
        "function" => Function = "All calls of a function.",
        "process" => Process = "All calls of a process.",
        "thread" => Thread = "All calls of a thread.",
        "status" => Status = "All calls that returned the same status.",
    }

    /// Orders of sums and of single calls.
    pub orders SyscallSort {
        "default" => Usual: "duration_ns" = "Sums by duration, single calls by time.",
        "duration" => Duration: "duration_ns" = "Sum of durations; of single calls their duration.",
        "count" => Count: "count" = "Calls.",
        "failed" => Failed: "failures" = "Calls that failed.",
        "max" => Max: "coalesce(max_duration_ns, 0)" = "Longest call.",
        "mean" => Mean: "coalesce(mean_duration_ns, 0)" = "Mean duration.",
        "time" => Time: "duration_ns" = "Time of the entry of single calls.",
    }

    /// Options of `dump syscall`.
    #[derive(Eq)]
    pub request SyscallRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: SyscallBy = option("WHAT").excludes(&["details"]).shape(),
        /// Rows for each process, with --by function or status
        per_process: bool = option("").called("per-process").excludes(&["details"]).shape(),
        /// List single calls with their results
        details: bool = option("").shape(),
        /// Only these functions: name, module!name or module+0x1a2b (*, ?, several with ;, !
        /// excludes)
        function: Option<String> = option("NAMES").of(FUNCTIONS),
        /// Only calls that returned this: numbers (0, 0xc0000022), names (ACCESS_DENIED, NO_*) or
        /// failed (several with ;, ! excludes)
        status: Option<String> = option("STATUS"),
        /// Only calls of this thread id
        thread: Option<u32> = option("TID").between(0, u32::MAX as i64).of(Among::THREADS),
        /// Only calls with this duration (us)
        duration: Range = option("A..B").unit(Unit::Microseconds),
        /// Only rows with so many calls
        count: Range = option("A..B").excludes(&["details"]),
        /// Only calls that started in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Order: default is duration, with --details time; count, failed and mean are orders of
        /// sums
        sort: SyscallSort = option("ORDER").called("sort-by").shape(),
        /// With --details: the stack of each call
        stacks: bool = option("").called("show-stack").requires("details").output(),
    }

    /// Calls of a function, process, thread or with the same result.
    pub row SyscallRow: process {
        ..process = "Process, with rows for each process; missing if it is not known.",
        tid: Option<i64> = "Thread id, with rows for each thread.",
        module: Option<String> = "File name of the module of the function.",
        function: Option<String> =
            "Function; without a name the offset in the module, as `+0x1a2b`. Missing for calls whose \
             entry is not in the trace.",
        status: Option<i64> = "What was returned, with rows for each result.",
        status_name: Option<String> = "Name of the status; digits where it has none.",
        count: i64 = "Calls with entry and exit.",
        failures: i64 = "Calls that failed: their status is an error or a warning.",
        moved: i64 = "Calls that left the kernel on another processor than they entered it on.",
        duration_ns: i64 = "Sum of durations.",
        min_duration_ns: Option<i64> = "Shortest.",
        max_duration_ns: Option<i64> = "Longest.",
        mean_duration_ns: Option<f64> = "Mean.",
        p50_duration_ns: Option<i64> = "Half of them were not longer.",
        p90_duration_ns: Option<i64> = "90% of them were not longer.",
        p95_duration_ns: Option<i64> = "95% of them were not longer.",
        p99_duration_ns: Option<i64> = "99% of them were not longer.",
        open_at_start: i64 = "Calls whose entry is not in the trace.",
        open_at_end: i64 = "Calls whose exit is not in the trace.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A call.
    pub row SyscallCall: process {
        enter_ns: Option<i64> = "Entry; missing if it is not in the trace.",
        exit_ns: Option<i64> = "Exit; missing if it is not in the trace.",
        duration_ns: Option<i64> = "From entry to exit.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread id.",
        module: Option<String> = "File name of the module of the function.",
        function: Option<String> =
            "Function; without a name the offset in the module, as `+0x1a2b`. Missing for a call whose \
             entry is not in the trace.",
        status: Option<i64> = "What it returned, as signed number.",
        status_name: Option<String> = "Name of the status; digits where it has none.",
        path: Option<String> = "First file that an event inside the call names.",
        key: Option<String> = "First registry key that an event inside the call names.",
        handle: Option<i64> = "First handle that an event inside the call gives, closes or duplicates.",
        enter_cpu: Option<i64> = "Processor of the entry.",
        exit_cpu: Option<i64> = "Processor of the exit.",
        stack: Option<String> = "Stack of the entry, innermost frame first, if requested.",
        ..process_details,
    }
}

type SyscallColumn = Column<SyscallRequest, SyscallRow>;

const SUMS: View<SyscallRequest, SyscallRow> = View::new(
    &[
        SyscallColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        SyscallColumn::new("Failed", "Failed", Whole, |_, row| row.failures.into()).cost(),
        SyscallColumn::new("Duration", "Sum ms", FineMilliseconds, |_, row| row.duration_ns.into()).cost(),
        SyscallColumn::new("Min", "Min µs", Microseconds, |_, row| row.min_duration_ns.into()),
        SyscallColumn::new("Mean", "Mean µs", Microseconds, |_, row| row.mean_duration_ns.into()).worst(),
        // Sums of an extract without single calls have no percentiles.
        SyscallColumn::new("P50", "50 % µs", Microseconds, |_, row| row.p50_duration_ns.into())
            .worst()
            .shown_if_known(|_| true),
        SyscallColumn::new("P90", "90 % µs", Microseconds, |_, row| row.p90_duration_ns.into())
            .worst()
            .shown_if_known(|_| true),
        SyscallColumn::new("P95", "95 % µs", Microseconds, |_, row| row.p95_duration_ns.into()).worst().hidden(),
        SyscallColumn::new("P99", "99 % µs", Microseconds, |_, row| row.p99_duration_ns.into())
            .worst()
            .shown_if_known(|_| true),
        SyscallColumn::new("Max", "Max µs", Microseconds, |_, row| row.max_duration_ns.into()).worst(),
        SyscallColumn::new("Moved", "Moved", Whole, |_, row| row.moved.into()).sum().hidden(),
        SyscallColumn::new("OpenStart", "No entry", Whole, |_, row| some(row.open_at_start))
            .sum()
            .or("0")
            .shown_if_known(|_| true),
        SyscallColumn::new("OpenEnd", "No exit", Whole, |_, row| some(row.open_at_end))
            .sum()
            .or("0")
            .shown_if_known(|_| true),
        SyscallColumn::new("Status", "Status", Word, |_, row| row.status_name.clone().into())
            .or("(open)")
            .shown_if(|asked| asked.by == SyscallBy::Status),
        SyscallColumn::new("Function", "Function", Word, |_, row| {
            function_name(row.module.as_deref(), row.function.as_deref()).into()
        })
        .shown_if(|asked| asked.by == SyscallBy::Function),
        SyscallColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()).shown_if(|asked| asked.by == SyscallBy::Thread),
        SyscallColumn::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_if(SyscallRequest::is_by_process),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|call|calls}, {Failed} failed, {Duration} ms; without entry {OpenStart}, without exit {OpenEnd}",
    |_, _| true,
);

/// Returns a number of calls; missing for 0, so that a column of zeros is not shown.
fn some(calls: i64) -> Value {
    (calls > 0).then_some(calls).into()
}

type SyscallCallColumn = Column<SyscallRequest, SyscallCall>;

const COLUMNS: &[SyscallCallColumn] = &[
    SyscallCallColumn::new("Time", "Time", Moment, |_, call| call.enter_ns.into()).or("before"),
    SyscallCallColumn::new("Duration", "µs", Microseconds, |_, call| {
        call.duration_ns.into()
    })
    .cost()
    .or("open"),
    SyscallCallColumn::new("Process", "Process", Process, |_, call| call.into()),
    SyscallCallColumn::new("Tid", "Tid", Id, |_, call| call.tid.into()),
    SyscallCallColumn::new("Call", "Call", Word, |_, call| {
        let name = function_name(call.module.as_deref(), call.function.as_deref());
        call.status_name
            .as_ref()
            .map_or_else(|| name.clone(), |status| format!("{name} <- {status}"))
            .into()
    }),
    SyscallCallColumn::new("About", "About", Word, |_, call| {
        call.path.clone().or_else(|| call.key.clone()).into()
    })
    .shown_if_known(|_| true),
    SyscallCallColumn::new("EnterCpu", "CPU", Whole, |_, call| call.enter_cpu.into()).hidden(),
    SyscallCallColumn::new("ExitCpu", "Exit CPU", Whole, |_, call| call.exit_cpu.into()).hidden(),
];

const CALLS_BY_TIME: View<SyscallRequest, SyscallCall> = View::new(COLUMNS, |call| {
    call.enter_ns.or(call.exit_ns).map_or(0.0, |ns| ns as f64)
})
.ranking(|_| Ranked::No)
.with_below(|_, call| frames(call.stack.as_deref()));

const CALLS_BY_DURATION: View<SyscallRequest, SyscallCall> = View::new(COLUMNS, |call| {
    call.duration_ns.map_or(-1.0, |ns| ns as f64)
})
.with_below(|_, call| frames(call.stack.as_deref()));

/// Returns the name of a function; without a symbol the offset in its module.
#[must_use]
pub fn function_name(module: Option<&str>, name: Option<&str>) -> String {
    match (module, name) {
        (_, None) => "(entered before the trace)".to_owned(),
        (Some(module), Some(offset)) if offset.starts_with('+') => format!("{module}{offset}"),
        (None, Some(address)) => address.trim_start_matches('+').to_owned(),
        (_, Some(name)) => name.to_owned(),
    }
}

impl Question for SyscallRequest {
    const NAME: &'static str = "syscall";
    const SENTENCE: &'static str = "System calls: sums by function, process, thread or result, or single calls with their results";
    const USUAL: &'static [&'static str] = &["function", "status", "thread", "duration", "count"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "functions by time",
        },
        Example {
            words: "--by status --status failed slow.etl",
            answer: "results of calls that failed",
        },
    ];

    fn form(&self) -> Form<Self> {
        if !self.details {
            let answer = |asked: &Self, session: &Session| {
                Ok(Answer::rows(asked, &SUMS, asked.sums(session)?))
            };
            return Form::made::<SyscallRow>(self.sql(), answer)
                .shows(&SUMS)
                .top(self.top);
        }
        let view = if self.is_by_time() {
            &CALLS_BY_TIME
        } else {
            &CALLS_BY_DURATION
        };
        Form::rows(view, self.calls_sql())
            .needs(&SYSCALL, true)
            .top(self.top)
    }
}

pub(super) const SYSCALL: Recorded = Recorded {
    sums: "syscall_function",
    rows: "syscall",
    single: "system calls",
    what: "system calls",
    how: "record with the kernel keywords SYSCALL+CSWITCH+PROC_THREAD+LOADER, with `-stackwalk SyscallEnter` for their \
          stacks: `xperf -on SYSCALL+CSWITCH+PROC_THREAD+LOADER -stackwalk SyscallEnter`",
};
