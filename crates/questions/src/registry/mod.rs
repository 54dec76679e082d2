//! Operations on the registry: sums by key, process, kind, status or value, or single operations.

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

const KEYS: Among = Among::Texts("key", "keys", "SELECT key AS text FROM registry_key");

declare! {
    /// Grouping of the rows.
    pub words RegistryBy {
        "key" => Key = "All operations on a key.",
        "process" => Process = "All operations of a process.",
        "operation" => Operation = "All operations of a kind.",
        "status" => Status = "All operations that returned the same status.",
        "value" => Value = "All operations on a value of a key.",
    }

    /// Orders of sums and of single operations.
    pub orders RegistrySort {
        "default" => Usual: "duration_ns" = "Sums by duration, single operations by time.",
        "duration" => Duration: "duration_ns" = "Sum of durations; of single operations their duration.",
        "count" => Count: "count" = "Operations.",
        "failed" => Failed: "failures" = "Operations that failed.",
        "max" => Max: "coalesce(max_duration_ns, 0)" = "Longest operation.",
        "mean" => Mean: "mean_duration_ns" = "Mean duration.",
        "time" => Time: "duration_ns" = "Start of single operations.",
    }

    /// Options of `dump registry`.
    #[derive(Eq)]
    pub request RegistryRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: RegistryBy = option("WHAT").shape(),
        /// Rows for each process
        per_process: bool = option("").called("per-process").shape(),
        /// Sum up keys that have so many parts below their root in common: 1 is HKLM\SOFTWARE
        depth: Option<u32> = option("N").shape(),
        /// List single operations
        details: bool = option("").excludes(&["by", "per-process", "depth", "count"]).shape(),
        /// Only these keys: whole paths such as HKLM\SOFTWARE\* (*, ?, several with ;, ! excludes)
        key: Option<String> = option("KEYS").of(KEYS),
        /// Only these values, by name (*, ?, several with ;, ! excludes)
        value: Option<String> = option("NAMES"),
        /// Only these operations: open_key, query_value, enumerate_* … (*, ?, several with ;, !
        /// excludes)
        operation: Option<String> = option("KINDS"),
        /// Only operations that returned this: numbers (0, 0xc0000034), names (ACCESS_DENIED, NO_*)
        /// or failed (several with ;, ! excludes)
        status: Option<String> = option("STATUS"),
        /// Only operations on keys whose path is not known
        unknown: bool = option(""),
        /// Only operations with this duration (us)
        duration: Range = option("A..B").unit(Unit::Microseconds),
        /// Only rows with so many operations
        count: Range = option("A..B").unit(Unit::Count),
        /// Only operations that started in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Order: default is duration, with --details time; count, failed and mean are orders of
        /// sums
        sort: RegistrySort = option("ORDER").called("sort-by").shape(),
        /// With --details: the stack of each operation
        stacks: bool = option("").called("show-stack").requires("details").output(),
    }

    /// Operations on a key, of a process, of a kind or with the same result.
    pub row RegistryRow: process {
        ..process = "Process, with rows for each process; missing if it is not known.",
        key: Option<String> =
            "Key as programs name it (`HKLM\\…`), with rows for each key; missing where nothing of it is \
             known.",
        value: Option<String> =
            "Value, with rows for each value; missing for operations on keys and on the default value.",
        operation: Option<String> = "Kind, with rows for each kind.",
        status: Option<i64> = "What was returned, with rows for each result.",
        status_name: Option<String> = "Name of the status; digits where it has none.",
        count: i64 = "Operations.",
        failures: i64 = "Operations that failed: their status is an error or a warning.",
        opens: i64 = "Keys that were opened or created.",
        closes: i64 = "Keys that were closed.",
        duration_ns: i64 = "Sum of durations; operations at the same time add up.",
        max_duration_ns: Option<i64> = "Longest; missing if no duration is known.",
        mean_duration_ns: f64 = "Mean.",
        keys: i64 = "Distinct keys.",
        processes: i64 = "Distinct processes.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// An operation.
    pub row RegistryOperation: process {
        start_ns: i64 = "Start.",
        end_ns: i64 = "End.",
        duration_ns: Option<i64> = "From start to end; missing where the event reports a start after its end.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread id.",
        operation: String = "Kind.",
        key: Option<String> = "Key as programs name it; missing where nothing of it is known.",
        is_whole_key: bool = "Whether that is all of its path.",
        value: Option<String> = "Value; missing for operations on keys and on the default value.",
        index: Option<i64> = "Place in an enumeration, class of information of a query.",
        status: i64 = "What it returned, as signed number.",
        status_name: String = "Name of the status; digits where it has none.",
        cpu: i64 = "Processor.",
        stack: Option<String> = "Stack, innermost frame first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type RegistryColumn = Column<RegistryRequest, RegistryRow>;

const SUMS: View<RegistryRequest, RegistryRow> = View::new(
    &[
        RegistryColumn::new("Count", "Count", Whole, |_, row| row.count.into()).cost(),
        RegistryColumn::new("Failed", "Failed", Whole, |_, row| row.failures.into()).cost(),
        RegistryColumn::new("Opened", "Opened", Whole, |_, row| row.opens.into()).sum().hidden(),
        RegistryColumn::new("Closed", "Closed", Whole, |_, row| row.closes.into()).sum().hidden(),
        RegistryColumn::new("Duration", "Sum ms", FineMilliseconds, |_, row| row.duration_ns.into()).cost(),
        RegistryColumn::new("Mean", "Mean µs", Microseconds, |_, row| row.mean_duration_ns.into()).worst(),
        RegistryColumn::new("Max", "Max µs", Microseconds, |_, row| row.max_duration_ns.into()).worst(),
        RegistryColumn::new("Keys", "Keys", Whole, |_, row| row.keys.into()).shown_if(|asked| !is_by_key(asked)),
        RegistryColumn::new("Processes", "Processes", Whole, |_, row| row.processes.into()).hidden(),
        RegistryColumn::new("Status", "Status", Word, |_, row| row.status_name.clone().into())
            .shown_if(|asked| asked.by == RegistryBy::Status),
        RegistryColumn::new("Operation", "Operation", Word, |_, row| row.operation.clone().into())
            .shown_if(|asked| asked.by == RegistryBy::Operation),
        RegistryColumn::new("Key", "Key", Word, |_, row| row.key.clone().into()).or("(unknown)").shown_if(is_by_key),
        RegistryColumn::new("Value", "Value", Word, |_, row| row.value.clone().into())
            .shown_if(|asked| asked.by == RegistryBy::Value),
        RegistryColumn::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_if(RegistryRequest::has_process),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|operation|operations}, {Failed} failed, {Duration} ms; {Opened|key|keys} opened, {Closed} closed",
    |_, _| true,
);

/// Returns `true` if rows are grouped by key.
fn is_by_key(asked: &RegistryRequest) -> bool {
    matches!(asked.by, RegistryBy::Key | RegistryBy::Value)
}

type RegistryOperationColumn = Column<RegistryRequest, RegistryOperation>;

const OPERATIONS: View<RegistryRequest, RegistryOperation> = View::new(
    &[
        RegistryOperationColumn::time("Time", |_, row| row.start_ns.into()),
        RegistryOperationColumn::new("Duration", "µs", Microseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost()
        .or("?"),
        RegistryOperationColumn::new("Process", "Process", Process, |_, row| row.into()),
        RegistryOperationColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        RegistryOperationColumn::new("Cpu", "CPU", Id, |_, row| row.cpu.into()).hidden(),
        RegistryOperationColumn::new("Operation", "Operation", Word, |_, row| {
            row.operation.clone().into()
        }),
        RegistryOperationColumn::new("Status", "Status", Word, |_, row| {
            row.status_name.clone().into()
        }),
        RegistryOperationColumn::new("Index", "Index", Whole, |_, row| row.index.into()).hidden(),
        RegistryOperationColumn::new("Key", "Key", Word, |_, row| key(row).into()),
        RegistryOperationColumn::new("Value", "Value", Word, |_, row| row.value.clone().into()),
    ],
    |row| row.sort_value,
)
.alarming_if(|row| row.status < 0)
.ranking(|asked| {
    Ranked::rows_unless(matches!(
        asked.sort,
        RegistrySort::Usual | RegistrySort::Time
    ))
})
.with_below(|_, row| frames(row.stack.as_deref()));

/// Returns the key, with `...\` before it if its parent keys are not known.
pub(super) fn key(row: &RegistryOperation) -> String {
    match &row.key {
        Some(key) if row.is_whole_key => key.clone(),
        Some(part) => format!("...\\{part}"),
        None => "(unknown)".to_owned(),
    }
}

impl Question for RegistryRequest {
    const NAME: &'static str = "registry";
    const SENTENCE: &'static str =
        "Operations on the registry by key, process, kind, result or value";
    const USUAL: &'static [&'static str] =
        &["key", "value", "operation", "status", "depth", "duration"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "keys by time of operations",
        },
        Example {
            words: "--by status --status failed slow.etl",
            answer: "results of operations that failed",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&OPERATIONS, self.operations_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&REGISTRY, self.details || self.needs_rows())
            .top(self.top)
    }
}

const REGISTRY: Recorded = Recorded {
    sums: "registry_key",
    rows: "registry_io",
    single: "operations on the registry",
    what: "operations on the registry",
    how: "record with the kernel keywords REGISTRY+CSWITCH+PROC_THREAD+LOADER: `wpr -start Registry`, or `xperf -on \
          REGISTRY+CSWITCH+PROC_THREAD+LOADER -stackwalk RegOpenKey+RegQueryValue`",
};
