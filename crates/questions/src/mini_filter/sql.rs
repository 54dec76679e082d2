//! The SQL of questions for calls of minifilter drivers.

use super::{MiniFilterBy, MiniFilterRequest};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, process_columns, stack_text};

impl MiniFilterRequest {
    /// Returns conditions on single calls, which sums cannot answer.
    fn limits(&self) -> Conditions {
        Conditions::new()
            .known("f.duration_ns", self.duration)
            .time("coalesce(f.start_ns, f.end_ns)", self.time)
            .text("f.path", self.file.as_deref())
            .stack("f.stack_id", self.stack.as_deref())
    }

    pub(super) fn needs_rows(&self) -> bool {
        self.by == MiniFilterBy::File || !self.limits().is_empty()
    }

    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .text("f.module", self.driver.as_deref())
            .text("f.operation", self.operation.as_deref())
            .word("f.phase", self.phase.as_deref())
    }

    /// Returns the sums by process, driver and operation, or the calls to add up to them.
    fn sums(&self) -> String {
        if !self.needs_rows() {
            return "SELECT *, CAST(NULL AS VARCHAR) AS path FROM mini_filter_driver".to_owned();
        }
        format!(
            "SELECT f.process_key, d.name AS module, f.phase, f.operation, f.path, 1 AS count,
    CASE WHEN f.duration_ns IS NULL THEN 0 ELSE 1 END AS ended, CASE WHEN f.status IS NULL THEN 0 ELSE 1 END AS failures,
    coalesce(f.duration_ns, 0) AS duration_ns, f.duration_ns AS max_duration_ns
  FROM mini_filter f
  LEFT JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN module d ON d.module_id = r.module_id{}",
            self.limits()
        )
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let column = |is_key: bool, name: &str| {
            if is_key {
                format!("f.{name}")
            } else {
                format!("CAST(NULL AS VARCHAR) AS {name}")
            }
        };
        let is_operation = self.by == MiniFilterBy::Operation;
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, module, phase, operation, path";
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, sum(count) AS count, sum(ended) AS ended, sum(failures) AS failures, sum(duration_ns) AS duration_ns,
  max(max_duration_ns) AS max_duration_ns, CAST(sum(duration_ns) AS DOUBLE) / nullif(sum(ended), 0) AS mean_duration_ns
FROM (
  SELECT {process}, {module}, {phase}, {operation}, {path}, f.count, f.ended, f.failures, f.duration_ns, f.max_duration_ns
  FROM (
  {sums}
  ) f
  LEFT JOIN process p ON p.process_key = f.process_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, duration_ns, count, module, phase, operation, path, process_key",
            sort = self.sort.sql(),
            process = process_columns("f", self.is_by_process()),
            module = column(self.by == MiniFilterBy::Driver, "module"),
            phase = column(is_operation, "phase"),
            operation = column(is_operation, "operation"),
            path = column(self.by == MiniFilterBy::File, "path"),
            sums = self.sums(),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single calls.
    #[must_use]
    pub fn calls_sql(&self) -> String {
        let sort = self.sort.single_sql();
        let conditions = self.conditions().and(self.limits());
        let (text, join) = stack_text("f.stack_id", "stack", self.stacks);
        format!(
            "SELECT f.start_ns, f.end_ns, f.duration_ns, f.phase, f.operation, f.major_function, f.module, f.routine, f.path, f.status,
  CASE WHEN f.status IS NULL THEN NULL ELSE ntstatus_name(f.status) END AS status_name, f.process_key, {PROCESS_COLUMNS}, t.tid,
  f.stack_id, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM (
  SELECT f.*, d.name AS module, m.name AS routine
  FROM mini_filter f
  LEFT JOIN frame r ON r.frame_id = f.frame_id
  LEFT JOIN method m ON m.method_id = r.method_id
  LEFT JOIN module d ON d.module_id = r.module_id
) f
LEFT JOIN process p ON p.process_key = f.process_key
LEFT JOIN thread t ON t.thread_key = f.thread_key{join}{conditions}
ORDER BY sort_value, coalesce(f.start_ns, f.end_ns), f.process_key, t.tid, f.module, f.phase",
        )
    }
}
