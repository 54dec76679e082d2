//! The SQL of exceptions.

use super::{ExceptionRequest, ExceptionSort};
use etwkit_question::sql::{EXECUTABLE_TEXT, EXECUTABLES, process_columns_from};

impl ExceptionRequest {
    /// Returns the chosen exceptions, one row for each.
    pub(super) fn chosen(&self) -> String {
        let modules = self
            .modules
            .as_deref()
            .filter(|modules| !modules.is_empty());
        let conditions = self
            .processes
            .conditions()
            .text("e.exception_type", self.exception_type.as_deref())
            .text("e.message", self.message.as_deref())
            .stack("e.stack_id", self.stack.as_deref())
            .text(EXECUTABLE_TEXT, modules)
            .range(&self.zero.moved("e.ts_ns"), self.time)
            .range("e.ts_ns", self.range);
        format!(
            "SELECT {ts}, e.process_key, {process}, t.tid, e.thread_key, e.exception_type, e.message, e.hresult, e.flags, e.stack_id,
    v.path AS module_path, v.file_version, v.product_name, v.company, v.product_version, v.description
  FROM exception e
  LEFT JOIN process p ON p.process_key = e.process_key
  LEFT JOIN thread t ON t.thread_key = e.thread_key{EXECUTABLES}{zero}{conditions}",
            ts = self.zero.column_as("e.ts_ns", "ts_ns"),
            process = process_columns_from(&self.zero),
            zero = self.zero.join(),
        )
    }

    /// Returns the SQL for groups of equal exceptions.
    #[must_use]
    pub fn sql(&self) -> String {
        let order = match self.sort {
            ExceptionSort::Count | ExceptionSort::Time => {
                "process_count, process_key, type_count, exception_type, count, first_ns, message, stack_id"
            }
            ExceptionSort::Process => {
                "lower(process), pid, process_key, exception_type, message, first_ns, stack_id"
            }
            ExceptionSort::Type => {
                "process_count, process_key, exception_type, count, first_ns, message, stack_id"
            }
            ExceptionSort::Message => {
                "process_count, process_key, message, exception_type, first_ns, stack_id"
            }
        };
        // Rules look at stacks, so rows are grouped by stack here, and the remaining rows are
        // merged afterwards.
        let (stack, by_stack) = if self.by_stack || self.has_rules() {
            ("stack_id", ", stack_id")
        } else {
            ("CAST(NULL AS INTEGER) AS stack_id", "")
        };
        format!(
            "SELECT *, sum(count) OVER (PARTITION BY process_key) AS process_count,
  sum(count) OVER (PARTITION BY process_key, exception_type) AS type_count, CAST(count AS DOUBLE) AS sort_value
FROM (
SELECT process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns,
  exception_type, message, {stack},
  module_path, file_version, product_name, company, product_version, description,
  count(*) AS count, count(*) FILTER (WHERE flags & 4 <> 0) AS rethrown, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
  count(DISTINCT thread_key) AS threads, min(hresult) AS hresult,
  string_agg(CAST(ts_ns AS VARCHAR), ' ' ORDER BY ts_ns, thread_key) AS times_ns,
  string_agg(coalesce(CAST(tid AS VARCHAR), '?'), ' ' ORDER BY ts_ns, thread_key) AS tids
FROM (
  {}
)
GROUP BY process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns,
  exception_type, message{by_stack},
  module_path, file_version, product_name, company, product_version, description
)
ORDER BY {order}",
            self.chosen()
        )
    }

    /// Returns the SQL for single exceptions, in order of time.
    #[must_use]
    pub fn list_sql(&self) -> String {
        format!("{}\nORDER BY ts_ns, e.thread_key", self.chosen())
    }
}
