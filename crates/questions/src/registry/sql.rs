//! The SQL of operations on the registry.

use super::{RegistryBy, RegistryRequest, RegistrySort};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, process_columns, stack_text};

/// Counts of sums, from the table that has them.
const OF_SUMS: &str = "r.count, r.failures, r.duration_ns, r.max_duration_ns, \
     CAST(NULL AS VARCHAR) AS value, CAST(NULL AS INT) AS status, CAST(NULL AS VARCHAR) AS status_name";

/// Counts of single operations.
const OF_ROWS: &str = "1 AS count, CASE WHEN r.status < 0 THEN 1 ELSE 0 END AS failures, coalesce(r.duration_ns, 0) AS duration_ns, \
     r.duration_ns AS max_duration_ns, r.value, r.status, ntstatus_name(r.status) AS status_name";

impl RegistryRequest {
    /// Returns conditions that sums can answer.
    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .any_text(&["r.key", "registry_key_name(r.key)"], self.key.as_deref())
            .text("r.operation", self.operation.as_deref())
            // Paths of the kernel start with a backslash. One that does not is relative to a key whose
            // control block is not known.
            .when(self.unknown, "coalesce(NOT starts_with(r.key, '\\'), TRUE)")
    }

    /// Returns conditions that only single operations can answer.
    fn row_conditions(&self) -> Conditions {
        Conditions::new()
            .text("r.value", self.value.as_deref())
            .status("r.status", self.status.as_deref())
            .known("r.duration_ns", self.duration)
            .time("r.start_ns", self.time)
    }

    /// Returns `true` if the sums by key, process and kind are not enough.
    pub(super) fn needs_rows(&self) -> bool {
        !self.row_conditions().is_empty()
            || matches!(self.by, RegistryBy::Status | RegistryBy::Value)
    }

    /// Returns `true` if rows are grouped by process.
    pub(super) fn has_process(&self) -> bool {
        self.per_process || self.by == RegistryBy::Process
    }

    /// Returns the key by which rows are grouped.
    pub(super) fn key(&self) -> String {
        let name = "registry_key_name(r.key)";
        match self.depth {
            None => name.to_owned(),
            Some(depth) => {
                // The root is one part as programs name it (`HKLM`), two as the kernel does
                // (`\REGISTRY\MACHINE`); it does not count as depth.
                let root = r"(?:\\REGISTRY\\[^\\]*|[^\\]*)";
                format!(
                    r"regexp_replace({name}, '^({root}(?:\\[^\\]*){{0,{depth}}}).*$', '\1', 'i')"
                )
            }
        }
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let key = |is_key: bool, column: &str, name: &str, kind: &str| {
            if is_key {
                format!("{column} AS {name}")
            } else {
                format!("CAST(NULL AS {kind}) AS {name}")
            }
        };
        let by_value = self.by == RegistryBy::Value;
        let keys = [
            key(
                by_value || self.by == RegistryBy::Key,
                "name",
                "key",
                "VARCHAR",
            ),
            key(by_value, "value", "value", "VARCHAR"),
            key(
                self.by == RegistryBy::Operation,
                "operation",
                "operation",
                "VARCHAR",
            ),
            key(self.by == RegistryBy::Status, "status", "status", "INT"),
            key(
                self.by == RegistryBy::Status,
                "status_name",
                "status_name",
                "VARCHAR",
            ),
        ]
        .join(", ");
        let (table, counts) = if self.needs_rows() {
            ("registry_io", OF_ROWS)
        } else {
            ("registry_key", OF_SUMS)
        };
        let conditions = self.conditions().and(self.row_conditions());
        // An operation that failed opened nothing, so it has no close: only the others are counted
        // as opens and closes, which can then be compared.
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
            limits = Conditions::new().range("count", self.count),
        )
    }

    /// Returns the SQL for single operations.
    #[must_use]
    pub fn operations_sql(&self) -> String {
        let (stack, join) = stack_text("r.stack_id", "stack", self.stacks);
        let (sort, then) = match self.sort {
            RegistrySort::Usual | RegistrySort::Time => ("start_ns", "end_ns"),
            _ => ("coalesce(duration_ns, -1)", "start_ns"),
        };
        let conditions = self.conditions().and(self.row_conditions());
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value FROM (
SELECT r.start_ns, r.end_ns, r.duration_ns, r.process_key, {PROCESS_COLUMNS}, t.tid, r.operation,
  registry_key_name(r.key) AS key, r.is_whole_key, r.value, r.index, r.status, ntstatus_name(r.status) AS status_name,
  r.cpu, {stack}
FROM registry_io r
LEFT JOIN process p ON p.process_key = r.process_key
LEFT JOIN thread t ON t.thread_key = r.thread_key{join}{conditions}
)
ORDER BY {sort}, {then}, cpu, operation, key"
        )
    }
}
