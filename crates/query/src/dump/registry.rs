//! Operations on the registry: sums by key, process, kind, status or value, or single operations.

use super::sql::{
    PROCESS_COLUMNS, ProcessQuery, any_text_condition, ends, filtered, process_columns, range_condition,
    status_condition, text_condition,
};
use super::{Result, Top, ask, check_recorded, check_rows};
use crate::Session;
use crate::range::Range;

/// What a row is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RegistryBy {
    /// All operations on a key.
    #[default]
    Key,
    /// All operations of a process.
    Process,
    /// All operations of a kind.
    Operation,
    /// All operations that returned the same.
    Status,
    /// All operations on a value of a key.
    Value,
}

/// Orders of sums and of single operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RegistrySort {
    /// Sum of durations; of single operations their duration.
    #[default]
    Duration,
    /// Operations.
    Count,
    /// Operations that failed.
    Failed,
    /// Longest operation.
    Max,
    /// Mean duration.
    Mean,
    /// Time of the begin, of single operations.
    Time,
}

/// Which operations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegistryRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Which keys: a filter on whole paths, as the kernel or as programs name them (`HKLM\…`).
    pub key: Option<String>,
    /// Which values: a filter on their names.
    pub value: Option<String>,
    /// Which operations: a filter on their kinds.
    pub operation: Option<String>,
    /// Which results: numbers, names of statuses, `failed`, with `;` and `!`.
    pub status: Option<String>,
    /// Only operations on keys whose path is not known.
    pub unknown: bool,
    /// So many parts of a path below its root tell keys apart; all if missing.
    pub depth: Option<u32>,
    /// Duration of an operation in nanoseconds.
    pub duration: Range,
    /// Only operations that began in this part of the trace, in nanoseconds.
    pub time: Range,
    /// Operations of a row.
    pub count: Range,
    /// Rows of sums.
    pub by: RegistryBy,
    /// Rows for each process, too.
    pub per_process: bool,
    /// Order.
    pub sort: RegistrySort,
    /// How many of the largest rows.
    pub top: Top,
    /// With stacks, of single operations.
    pub stacks: bool,
}

rows! {
    /// Operations on a key, of a process, of a kind or with the same result.
    pub struct RegistryRow {
        /// Process, with rows for each process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Key as programs name it (`HKLM\…`), with rows for each key; missing where nothing of it is known.
        key: Option<String>,
        /// Value, with rows for each value; missing for operations on keys and on the default value.
        value: Option<String>,
        /// Kind, with rows for each kind.
        operation: Option<String>,
        /// What was returned, with rows for each result.
        status: Option<i64>,
        /// Its name; digits where it has none.
        status_name: Option<String>,
        /// Operations.
        count: i64,
        /// Those of them that failed: their status is an error or a warning.
        failures: i64,
        /// Keys that were opened or created.
        opens: i64,
        /// Keys that were closed.
        closes: i64,
        /// Sum of durations; operations at the same time add up.
        duration_ns: i64,
        /// Longest; missing if no duration is known.
        max_duration_ns: Option<i64>,
        /// Mean.
        mean_duration_ns: f64,
        /// Distinct keys.
        keys: i64,
        /// Distinct processes.
        processes: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }

    /// An operation.
    pub struct RegistryOperation {
        /// Begin.
        start_ns: i64,
        /// End.
        end_ns: i64,
        /// From begin to end; missing where the event tells a begin behind its end.
        duration_ns: Option<i64>,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id.
        tid: Option<i64>,
        /// Kind.
        operation: String,
        /// Key as programs name it; missing where nothing of it is known.
        key: Option<String>,
        /// Whether that is all of its path.
        is_whole_key: bool,
        /// Value; missing for operations on keys and on the default value.
        value: Option<String>,
        /// Place in an enumeration, class of information of a query.
        index: Option<i64>,
        /// What it returned, as signed number.
        status: i64,
        /// Its name; digits where it has none.
        status_name: String,
        /// Processor.
        cpu: i64,
        /// Stack, innermost frame first, if it is asked for.
        stack: Option<String>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
    }
}

/// Counts of sums, from the table that has them.
const OF_SUMS: &str = "r.count, r.failures, r.duration_ns, r.max_duration_ns, \
     CAST(NULL AS VARCHAR) AS value, CAST(NULL AS INT) AS status, CAST(NULL AS VARCHAR) AS status_name";

/// The same of single operations.
const OF_ROWS: &str = "1 AS count, CASE WHEN r.status < 0 THEN 1 ELSE 0 END AS failures, coalesce(r.duration_ns, 0) AS duration_ns, \
     r.duration_ns AS max_duration_ns, r.value, r.status, ntstatus_name(r.status) AS status_name";

impl RegistryRequest {
    /// Conditions that sums can answer.
    fn conditions(&self) -> Vec<String> {
        let mut all = self.processes.conditions();
        all.extend(any_text_condition(&["r.key", "registry_key_name(r.key)"], self.key.as_deref()));
        all.extend(text_condition("r.operation", self.operation.as_deref()));
        all.extend(self.unknown.then(|| "coalesce(NOT starts_with(r.key, '\\'), TRUE)".to_owned()));
        all
    }

    /// Conditions that only single operations can answer.
    fn row_conditions(&self) -> Vec<String> {
        let mut all: Vec<String> = text_condition("r.value", self.value.as_deref()).into_iter().collect();
        all.extend(self.status.as_deref().and_then(|filter| status_condition("r.status", filter)));
        if !self.duration.is_unlimited() {
            all.push("r.duration_ns IS NOT NULL".to_owned());
            all.extend(range_condition("r.duration_ns", self.duration));
        }
        if !self.time.is_unlimited() {
            let (a, b) = ends(self.time);
            all.push(format!("r.start_ns BETWEEN {a} AND {b}"));
        }
        all
    }

    /// Whether sums by key, process and kind tell too little.
    fn needs_rows(&self) -> bool {
        !self.row_conditions().is_empty() || matches!(self.by, RegistryBy::Status | RegistryBy::Value)
    }

    /// The key that tells rows apart.
    fn key(&self) -> String {
        let name = "registry_key_name(r.key)";
        match self.depth {
            None => name.to_owned(),
            Some(depth) => {
                let root = r"(?:\\REGISTRY\\[^\\]*|[^\\]*)";
                format!(r"regexp_replace({name}, '^({root}(?:\\[^\\]*){{0,{depth}}}).*$', '\1', 'i')")
            }
        }
    }

    /// The question for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let has_process = self.per_process || self.by == RegistryBy::Process;
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
            sort = self.sort_value(),
            process = process_columns("r", has_process),
            name = self.key(),
            conditions = filtered(&conditions),
            limits = filtered(&range_condition("count", self.count).into_iter().collect::<Vec<_>>()),
        )
    }

    const fn sort_value(&self) -> &'static str {
        match self.sort {
            RegistrySort::Duration | RegistrySort::Time => "duration_ns",
            RegistrySort::Count => "count",
            RegistrySort::Failed => "failures",
            RegistrySort::Max => "coalesce(max_duration_ns, 0)",
            RegistrySort::Mean => "mean_duration_ns",
        }
    }

    /// The question for single operations.
    #[must_use]
    pub fn operations_sql(&self) -> String {
        let (stack, join) = if self.stacks {
            ("x.text AS stack", "\nLEFT JOIN stack_text x ON x.stack_id = r.stack_id")
        } else {
            ("CAST(NULL AS VARCHAR) AS stack", "")
        };
        let order = if self.sort == RegistrySort::Time {
            "start_ns, end_ns"
        } else {
            "coalesce(duration_ns, -1), start_ns"
        };
        let mut conditions = self.conditions();
        conditions.extend(self.row_conditions());
        format!(
            "SELECT * FROM (
SELECT r.start_ns, r.end_ns, r.duration_ns, r.process_key, {PROCESS_COLUMNS}, t.tid, r.operation,
  registry_key_name(r.key) AS key, r.is_whole_key, r.value, r.index, r.status, ntstatus_name(r.status) AS status_name,
  r.cpu, {stack}
FROM registry_io r
LEFT JOIN process p ON p.process_key = r.process_key
LEFT JOIN thread t ON t.thread_key = r.thread_key{join}{}
)
ORDER BY {order}, cpu, operation, key",
            filtered(&conditions)
        )
    }

    /// Asks for sums.
    ///
    /// # Errors
    /// The registry was not recorded; single operations are needed, and the extract has none; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<RegistryRow>> {
        check(session, self.needs_rows())?;
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }

    /// Asks for single operations.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn ask_operations(&self, session: &Session) -> Result<Vec<RegistryOperation>> {
        check(session, true)?;
        let mut rows = ask(session, &self.operations_sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}

/// An error if there is nothing, or if single operations are needed and there are none.
fn check(session: &Session, needs_rows: bool) -> Result<()> {
    check_recorded(
        session,
        "registry_key",
        "operations on the registry",
        "record with the kernel keywords REGISTRY+CSWITCH+PROC_THREAD+LOADER: `wpr -start Registry`, or `xperf -on \
                  REGISTRY+CSWITCH+PROC_THREAD+LOADER -stackwalk RegOpenKey+RegQueryValue`",
    )?;
    check_rows(session, "registry_io", needs_rows, "operations on the registry")
}
