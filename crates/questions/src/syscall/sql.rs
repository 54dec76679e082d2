//! The SQL of system calls.

use super::{SYSCALL, SyscallBy, SyscallRequest, SyscallRow, SyscallSort};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, stack_text};
use etwkit_question::{Result, ask, has_rows};
use etwkit_sql::Session;

/// Percentiles of a row.
const PERCENTILES: [u32; 4] = [50, 90, 95, 99];

impl SyscallRequest {
    /// Returns `true` if a row of sums is of one process.
    pub(super) fn is_by_process(&self) -> bool {
        self.per_process || matches!(self.by, SyscallBy::Process | SyscallBy::Thread)
    }

    /// Returns `true` if single calls are in order of time.
    pub(super) const fn is_by_time(&self) -> bool {
        matches!(self.sort, SyscallSort::Usual | SyscallSort::Time)
    }

    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .any_text(&["function", "full_name"], self.function.as_deref())
            .status("s.status", self.status.as_deref())
            .and(
                self.thread
                    .map(|tid| format!("t.tid = {}", tid.cast_signed())),
            )
            .known("duration_ns", self.duration)
            .time("coalesce(enter_ns, exit_ns)", self.time)
    }

    /// Returns the calls that pass the conditions.
    fn calls(&self) -> String {
        format!(
            "call AS (
  SELECT s.*, {PROCESS_COLUMNS}, t.tid, CASE WHEN s.status IS NULL THEN NULL ELSE ntstatus_name(s.status) END AS status_name
  FROM (
    SELECT s.*, d.name AS module,
      CASE WHEN s.frame_id IS NULL THEN NULL ELSE coalesce(m.name, concat('+', hex(coalesce(f.rva, f.address)))) END AS function,
      CASE WHEN s.frame_id IS NULL THEN NULL
        WHEN m.name IS NULL THEN concat(coalesce(d.name, ''), '+', hex(coalesce(f.rva, f.address)))
        ELSE concat(coalesce(d.name, '?'), '!', m.name) END AS full_name
    FROM syscall s
    LEFT JOIN frame f ON f.frame_id = s.frame_id
    LEFT JOIN method m ON m.method_id = f.method_id
    LEFT JOIN module d ON d.module_id = f.module_id
  ) s
  LEFT JOIN process p ON p.process_key = s.process_key
  LEFT JOIN thread t ON t.thread_key = s.thread_key{conditions}
)",
            conditions = self.conditions()
        )
    }

    /// Returns the columns of a call by which rows are grouped, with a placeholder for the others.
    fn keys(&self) -> String {
        let with_process = self.is_by_process();
        let column = |is_key: bool, name: &str, kind: &str| {
            if is_key {
                name.to_owned()
            } else {
                format!("CAST(NULL AS {kind}) AS {name}")
            }
        };
        let is_function = self.by == SyscallBy::Function;
        let is_status = self.by == SyscallBy::Status;
        [
            column(with_process, "process_key", "INT"),
            column(with_process, "pid", "INT"),
            column(with_process, "process", "VARCHAR"),
            column(with_process, "command_line", "VARCHAR"),
            column(with_process, "session_id", "INT"),
            column(with_process, "process_start_ns", "BIGINT"),
            column(with_process, "process_stop_ns", "BIGINT"),
            column(self.by == SyscallBy::Thread, "thread_key", "INT"),
            column(self.by == SyscallBy::Thread, "tid", "INT"),
            column(is_function, "module", "VARCHAR"),
            column(is_function, "function", "VARCHAR"),
            column(is_status, "status", "INT"),
            column(is_status, "status_name", "VARCHAR"),
        ]
        .join(", ")
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, thread_key, tid, module, \
                    function, status, status_name";
        let percentile = |percent: u32| {
            // The value at (n - 1) * percent / 100, interpolated between two values. In whole
            // numbers, so that every machine computes the same.
            let at = |more: u32| {
                format!(
                    "max(duration_ns) FILTER (WHERE place = (ended - 1) * {percent} / 100 + {more})"
                )
            };
            let low = at(0);
            let high = at(1);
            format!(
                "{low} + (coalesce({high}, {low}) - {low}) * ((max(ended) - 1) * {percent} % 100) / 100 AS p{percent}_duration_ns"
            )
        };
        // The keys make `status` missing unless rows are by it; failures are counted by `result`,
        // which keeps it.
        format!(
            "WITH {calls},
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY {keys} ORDER BY duration_ns NULLS LAST) - 1 AS place,
    count(duration_ns) OVER (PARTITION BY {keys}) AS ended
  FROM (SELECT {own_keys}, enter_ns, exit_ns, duration_ns, result, enter_cpu, exit_cpu FROM (SELECT *, status AS result FROM call))
)
SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys},
  count(duration_ns) AS count,
  count(*) FILTER (WHERE duration_ns IS NOT NULL AND result < 0) AS failures,
  count(*) FILTER (WHERE duration_ns IS NOT NULL AND enter_cpu <> exit_cpu) AS moved,
  coalesce(sum(duration_ns), 0) AS duration_ns, min(duration_ns) AS min_duration_ns, max(duration_ns) AS max_duration_ns,
  CAST(sum(duration_ns) AS DOUBLE) / nullif(count(duration_ns), 0) AS mean_duration_ns,
  {percentiles},
  count(*) FILTER (WHERE enter_ns IS NULL) AS open_at_start, count(*) FILTER (WHERE exit_ns IS NULL) AS open_at_end
FROM ranked
GROUP BY {keys}
){limits}
ORDER BY sort_value, duration_ns, count, module, function, status, process_key, thread_key",
            calls = self.calls(),
            own_keys = self.keys(),
            sort = self.sort.sql(),
            percentiles = PERCENTILES.map(percentile).join(",\n  "),
            limits = Conditions::new().range("count", self.count),
        )
    }

    /// Returns the SQL for sums of an extract that has no single calls.
    fn sums_sql(&self) -> String {
        let conditions = self
            .processes
            .conditions()
            .any_text(&["s.function", "s.full_name"], self.function.as_deref());
        let with_process = self.by == SyscallBy::Process || self.per_process;
        let process = etwkit_question::sql::process_columns("s", with_process);
        let function = if self.by == SyscallBy::Function {
            "s.module, s.function"
        } else {
            "CAST(NULL AS VARCHAR) AS module, CAST(NULL AS VARCHAR) AS function"
        };
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, module, function";
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value FROM (
SELECT {keys}, CAST(NULL AS INT) AS tid, CAST(NULL AS INT) AS status, CAST(NULL AS VARCHAR) AS status_name,
  sum(count) AS count, sum(failures) AS failures, sum(moved) AS moved, sum(duration_ns) AS duration_ns,
  min(min_duration_ns) AS min_duration_ns, max(max_duration_ns) AS max_duration_ns,
  CAST(sum(duration_ns) AS DOUBLE) / nullif(sum(count), 0) AS mean_duration_ns,
  {percentiles},
  sum(open_at_start) AS open_at_start, sum(open_at_end) AS open_at_end
FROM (
  SELECT {process}, {function}, s.count, s.failures, s.moved, s.duration_ns, s.min_duration_ns, s.max_duration_ns, s.open_at_start, s.open_at_end
  FROM (
    SELECT *, CASE WHEN starts_with(function, '+') THEN concat(coalesce(module, ''), function)
      ELSE concat(coalesce(module, '?'), '!', function) END AS full_name
    FROM syscall_function
  ) s
  LEFT JOIN process p ON p.process_key = s.process_key{conditions}
)
GROUP BY {keys}
){limits}
ORDER BY sort_value, duration_ns, count, module, function, process_key",
            sort = self.sort.sql(),
            percentiles = PERCENTILES.map(|p| format!("CAST(NULL AS BIGINT) AS p{p}_duration_ns")).join(", "),
            limits = Conditions::new().range("count", self.count),
        )
    }

    /// Returns the SQL for single calls.
    #[must_use]
    pub fn calls_sql(&self) -> String {
        let (stack, join) = stack_text("call.stack_id", "stack", self.stacks);
        let order = if self.is_by_time() {
            "coalesce(enter_ns, exit_ns)"
        } else {
            "coalesce(duration_ns, -1), coalesce(enter_ns, exit_ns)"
        };
        format!(
            "WITH {}
SELECT call.*, {stack}
FROM call{join}
ORDER BY {order}, process_key, thread_key",
            self.calls()
        )
    }

    /// Returns `true` if the sums of an extract without single calls are not enough.
    fn needs_calls(&self) -> bool {
        self.status.is_some()
            || self.thread.is_some()
            || !self.duration.is_unlimited()
            || !self.time.is_unlimited()
            || matches!(self.by, SyscallBy::Thread | SyscallBy::Status)
    }

    /// Queries sums. For an extract without single calls they lack percentiles.
    ///
    /// # Errors
    /// No system calls were recorded; single calls are needed, and the extract has none; the query
    /// fails.
    pub fn sums(&self, session: &Session) -> Result<Vec<SyscallRow>> {
        SYSCALL.check(session, self.needs_calls())?;
        let sql = if has_rows(session, SYSCALL.rows)? {
            self.sql()
        } else {
            self.sums_sql()
        };
        let mut rows = ask(session, &sql)?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}
