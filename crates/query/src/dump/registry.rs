//! Operations on the registry: sums by key, process, kind, status or value, or single operations.

use super::sql::{
    PROCESS_COLUMNS, ProcessQuery, any_text_condition, filtered, known_condition, process_columns,
    range_condition, status_condition, text_condition, time_condition,
};
use super::{Recorded, Top};
use crate::question::Format::{FineMilliseconds, Id, Microseconds, Process, ProcessLine, Whole, Word};
use crate::question::{Among, Column, Form, Question, Ranked, View, frames, group, option};
use crate::range::{Range, Unit};

const KEYS: Among = Among::Texts("key", "keys", "SELECT key AS text FROM registry_key");

declare! {
    /// What a row is.
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

    /// Which operations.
    #[derive(Eq)]
    pub request RegistryRequest {
        /// Which processes
        processes: ProcessQuery = group(),
        /// How many of the largest rows
        top: Top = group(),
        /// What a row sums up
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
        /// Only these operations: open_key, query_value, enumerate_* … (*, ?, several with ;, ! excludes)
        operation: Option<String> = option("KINDS"),
        /// Only operations that returned this: numbers (0, 0xc0000034), names (ACCESS_DENIED, NO_*) or failed
        /// (several with ;, ! excludes)
        status: Option<String> = option("STATUS"),
        /// Only operations on keys whose path is not known
        unknown: bool = option(""),
        /// Only operations with such a duration (us)
        duration: Range = option("A..B").unit(Unit::Microseconds),
        /// Only rows with so many operations
        count: Range = option("A..B").unit(Unit::Count),
        /// Only operations that began in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Order: default is duration, with --details time; count, failed and mean are those of sums
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
        stack: Option<String> = "Stack, innermost frame first, if it is asked for.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type Sum = Column<RegistryRequest, RegistryRow>;

const SUMS: View<RegistryRequest, RegistryRow> = View::new(
    &[
        Sum::new("Count", "Count", Whole, |_, row| row.count.into()).cost(),
        Sum::new("Failed", "Failed", Whole, |_, row| row.failures.into()).cost(),
        Sum::new("Opened", "Opened", Whole, |_, row| row.opens.into()).sum().hidden(),
        Sum::new("Closed", "Closed", Whole, |_, row| row.closes.into()).sum().hidden(),
        Sum::new("Duration", "Sum ms", FineMilliseconds, |_, row| row.duration_ns.into()).cost(),
        Sum::new("Mean", "Mean us", Microseconds, |_, row| row.mean_duration_ns.into()).worst(),
        Sum::new("Max", "Max us", Microseconds, |_, row| row.max_duration_ns.into()).worst(),
        Sum::new("Keys", "Keys", Whole, |_, row| row.keys.into()).shown_if(|asked| !is_by_key(asked)),
        Sum::new("Processes", "Processes", Whole, |_, row| row.processes.into()).hidden(),
        Sum::new("Status", "Status", Word, |_, row| row.status_name.clone().into())
            .shown_if(|asked| asked.by == RegistryBy::Status),
        Sum::new("Operation", "Operation", Word, |_, row| row.operation.clone().into())
            .shown_if(|asked| asked.by == RegistryBy::Operation),
        Sum::new("Key", "Key", Word, |_, row| row.key.clone().into()).or("(unknown)").shown_if(is_by_key),
        Sum::new("Value", "Value", Word, |_, row| row.value.clone().into())
            .shown_if(|asked| asked.by == RegistryBy::Value),
        Sum::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_if(RegistryRequest::has_process),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total {Count} operations, {Failed} failed, {Duration} ms; {Opened} keys opened, {Closed} closed",
    |_, _| true,
);

/// Whether keys distinguish rows.
fn is_by_key(asked: &RegistryRequest) -> bool {
    matches!(asked.by, RegistryBy::Key | RegistryBy::Value)
}

type Single = Column<RegistryRequest, RegistryOperation>;

const OPERATIONS: View<RegistryRequest, RegistryOperation> = View::new(
    &[
        Single::time("Time", |_, row| row.start_ns.into()),
        Single::new("Duration", "us", Microseconds, |_, row| row.duration_ns.into()).cost().or("?"),
        Single::new("Process", "Process", Process, |_, row| row.into()),
        Single::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        Single::new("Cpu", "CPU", Id, |_, row| row.cpu.into()).hidden(),
        Single::new("Operation", "Operation", Word, |_, row| row.operation.clone().into()),
        Single::new("Status", "Status", Word, |_, row| row.status_name.clone().into()),
        Single::new("Index", "Index", Whole, |_, row| row.index.into()).hidden(),
        Single::new("Key", "Key", Word, |_, row| key(row).into()),
        Single::new("Value", "Value", Word, |_, row| row.value.clone().into()),
    ],
    |row| row.sort_value,
)
.alarming_if(|row| row.status < 0)
.ranking(|asked| Ranked::rows_unless(matches!(asked.sort, RegistrySort::Usual | RegistrySort::Time)))
.with_below(|_, row| frames(row.stack.as_deref()));

/// The key; `...\` in front of a part of which it is not known what lies around it.
fn key(row: &RegistryOperation) -> String {
    match &row.key {
        Some(key) if row.is_whole_key => key.clone(),
        Some(part) => format!("...\\{part}"),
        None => "(unknown)".to_owned(),
    }
}

impl Question for RegistryRequest {
    const NAME: &'static str = "registry";
    const SENTENCE: &'static str = "Operations on the registry by key, process, kind, result or value";

    fn form(&self) -> Form<Self> {
        if self.details {
            Form::rows(&OPERATIONS, self.operations_sql()).needs(&REGISTRY, true).top(self.top)
        } else {
            Form::rows(&SUMS, self.sql()).needs(&REGISTRY, self.needs_rows()).top(self.top)
        }
    }
}

/// Counts of sums, from the table that has them.
const OF_SUMS: &str = "r.count, r.failures, r.duration_ns, r.max_duration_ns, \
     CAST(NULL AS VARCHAR) AS value, CAST(NULL AS INT) AS status, CAST(NULL AS VARCHAR) AS status_name";

/// Counts of single operations.
const OF_ROWS: &str = "1 AS count, CASE WHEN r.status < 0 THEN 1 ELSE 0 END AS failures, coalesce(r.duration_ns, 0) AS duration_ns, \
     r.duration_ns AS max_duration_ns, r.value, r.status, ntstatus_name(r.status) AS status_name";

impl RegistryRequest {
    /// Conditions that sums can answer.
    fn conditions(&self) -> Vec<String> {
        let mut all = self.processes.conditions();
        all.extend(any_text_condition(&["r.key", "registry_key_name(r.key)"], self.key.as_deref()));
        all.extend(text_condition("r.operation", self.operation.as_deref()));
        // Paths of the kernel start with a backslash. One that does not is relative to a key whose control
        // block is not known.
        all.extend(self.unknown.then(|| "coalesce(NOT starts_with(r.key, '\\'), TRUE)".to_owned()));
        all
    }

    /// Conditions that only single operations can answer.
    fn row_conditions(&self) -> Vec<String> {
        let mut all: Vec<String> = text_condition("r.value", self.value.as_deref()).into_iter().collect();
        all.extend(self.status.as_deref().and_then(|filter| status_condition("r.status", filter)));
        all.extend(known_condition("r.duration_ns", self.duration));
        all.extend(time_condition("r.start_ns", self.time));
        all
    }

    /// Whether sums by key, process and kind say too little.
    fn needs_rows(&self) -> bool {
        !self.row_conditions().is_empty() || matches!(self.by, RegistryBy::Status | RegistryBy::Value)
    }

    /// Whether processes distinguish rows.
    fn has_process(&self) -> bool {
        self.per_process || self.by == RegistryBy::Process
    }

    /// The key that distinguishes rows.
    fn key(&self) -> String {
        let name = "registry_key_name(r.key)";
        match self.depth {
            None => name.to_owned(),
            Some(depth) => {
                // The root is one part as programs name it (`HKLM`), two as the kernel does
                // (`\REGISTRY\MACHINE`); it does not count as depth.
                let root = r"(?:\\REGISTRY\\[^\\]*|[^\\]*)";
                format!(r"regexp_replace({name}, '^({root}(?:\\[^\\]*){{0,{depth}}}).*$', '\1', 'i')")
            }
        }
    }

    /// The question for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let key = |is_key: bool, column: &str, name: &str, kind: &str| {
            if is_key { format!("{column} AS {name}") } else { format!("CAST(NULL AS {kind}) AS {name}") }
        };
        let by_value = self.by == RegistryBy::Value;
        let keys = [
            key(by_value || self.by == RegistryBy::Key, "name", "key", "VARCHAR"),
            key(by_value, "value", "value", "VARCHAR"),
            key(self.by == RegistryBy::Operation, "operation", "operation", "VARCHAR"),
            key(self.by == RegistryBy::Status, "status", "status", "INT"),
            key(self.by == RegistryBy::Status, "status_name", "status_name", "VARCHAR"),
        ]
        .join(", ");
        let (table, counts) =
            if self.needs_rows() { ("registry_io", OF_ROWS) } else { ("registry_key", OF_SUMS) };
        let mut conditions = self.conditions();
        conditions.extend(self.row_conditions());
        // An operation that failed opened nothing, so that it has no close: only the others are counted as
        // opens and closes, which can then be compared.
        let group = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, \
                     key, value, operation, status, status_name";
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {group},
  sum(count) AS count, sum(failures) AS failures,
  coalesce(sum(count - failures) FILTER (WHERE kind IN ('open_key', 'create_key')), 0) AS opens,
  coalesce(sum(count - failures) FILTER (WHERE kind = 'close_key'), 0) AS closes,
  sum(duration_ns) AS duration_ns, max(max_duration_ns) AS max_duration_ns,
  CAST(sum(duration_ns) AS DOUBLE) / sum(count) AS mean_duration_ns,
  count(DISTINCT path) AS keys, count(DISTINCT owner) AS processes
FROM (
  SELECT process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, {keys},
    operation AS kind, path, owner, count, failures, duration_ns, max_duration_ns
  FROM (
    SELECT {process}, {name} AS name, r.key AS path, r.process_key AS owner, r.operation,
      {counts}
    FROM {table} r
    LEFT JOIN process p ON p.process_key = r.process_key{conditions}
  )
)
GROUP BY {group}
){limits}
ORDER BY sort_value, duration_ns, count, key, value, operation, status, process_key",
            sort = self.sort.sql(),
            process = process_columns("r", self.has_process()),
            name = self.key(),
            conditions = filtered(&conditions),
            limits = filtered(&range_condition("count", self.count).into_iter().collect::<Vec<_>>()),
        )
    }

    /// The question for single operations.
    #[must_use]
    pub fn operations_sql(&self) -> String {
        let (stack, join) = if self.stacks {
            ("x.text AS stack", "\nLEFT JOIN stack_text x ON x.stack_id = r.stack_id")
        } else {
            ("CAST(NULL AS VARCHAR) AS stack", "")
        };
        let (sort, then) = match self.sort {
            RegistrySort::Usual | RegistrySort::Time => ("start_ns", "end_ns"),
            _ => ("coalesce(duration_ns, -1)", "start_ns"),
        };
        let mut conditions = self.conditions();
        conditions.extend(self.row_conditions());
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value FROM (
SELECT r.start_ns, r.end_ns, r.duration_ns, r.process_key, {PROCESS_COLUMNS}, t.tid, r.operation,
  registry_key_name(r.key) AS key, r.is_whole_key, r.value, r.index, r.status, ntstatus_name(r.status) AS status_name,
  r.cpu, {stack}
FROM registry_io r
LEFT JOIN process p ON p.process_key = r.process_key
LEFT JOIN thread t ON t.thread_key = r.thread_key{join}{}
)
ORDER BY {sort}, {then}, cpu, operation, key",
            filtered(&conditions)
        )
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
