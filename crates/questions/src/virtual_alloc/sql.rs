//! The SQL of questions for virtual memory.

use super::{StackBy, VirtualAllocRequest};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, stack_text, text_condition};

impl VirtualAllocRequest {
    /// Returns outstanding bytes as SQL: the memory of ended processes is gone, unless it is
    /// requested.
    fn outstanding(&self, column: &str) -> String {
        if self.include_exited {
            return format!("coalesce({column}, 0)");
        }
        format!("CASE WHEN p.stop_ns IS NULL THEN coalesce({column}, 0) ELSE 0 END")
    }

    /// Returns conditions on an allocation named `a`.
    pub(super) fn limits(&self) -> Conditions {
        Conditions::new()
            .time("a.ts_ns", self.time)
            .stack("a.stack_id", self.stack.as_deref())
    }

    /// Returns sums of processes, by `process_key`.
    fn sums(&self) -> String {
        let limits = self.limits();
        if limits.is_empty() {
            return "SELECT * FROM virtual_alloc_process".to_owned();
        }
        // Ranges are summed by allocation before the join: an allocation of which parts were freed
        // is left with several ranges, and would count once for each.
        format!(
            "SELECT a.process_key, count(*) FILTER (WHERE a.kind = 'commit') AS commits,
    coalesce(sum(a.size_bytes) FILTER (WHERE a.kind = 'commit'), 0) AS commit_bytes,
    coalesce(max(a.size_bytes) FILTER (WHERE a.kind = 'commit'), 0) AS max_commit_bytes,
    count(*) FILTER (WHERE a.kind = 'reserve') AS reserves, count(*) FILTER (WHERE a.kind = 'decommit') AS decommits,
    count(*) FILTER (WHERE a.kind = 'release') AS releases,
    coalesce(sum(a.size_bytes) FILTER (WHERE a.kind IN ('decommit', 'release')), 0) AS freed_bytes,
    coalesce(sum(r.size_bytes), 0) AS outstanding_bytes, count(r.alloc_id) AS outstanding_commits,
    max(a.committed_bytes) AS peak_bytes
  FROM virtual_alloc a
  LEFT JOIN (SELECT alloc_id, sum(size_bytes) AS size_bytes FROM virtual_range GROUP BY alloc_id) r ON r.alloc_id = a.alloc_id{limits}
  GROUP BY a.process_key"
        )
    }

    fn row_limits(&self) -> Conditions {
        Conditions::new()
            .range("outstanding_bytes", self.not_released_size)
            .range("outstanding_commits", self.not_released_count)
    }

    /// Returns the SQL for processes.
    #[must_use]
    pub fn sql(&self) -> String {
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT a.process_key, {PROCESS_COLUMNS}, a.commits, a.commit_bytes, a.max_commit_bytes, a.reserves, a.decommits, a.releases,
  a.decommits + a.releases AS frees, a.freed_bytes, a.peak_bytes,
  {bytes} AS outstanding_bytes, {commits} AS outstanding_commits
FROM (
  {sums}
) a
LEFT JOIN process p ON p.process_key = a.process_key{conditions}
){limits}
ORDER BY sort_value, outstanding_bytes, commit_bytes, process_key",
            sort = self.sort.sql(),
            bytes = self.outstanding("a.outstanding_bytes"),
            commits = self.outstanding("a.outstanding_commits"),
            sums = self.sums(),
            conditions = self.processes.conditions(),
            limits = self.row_limits(),
        )
    }

    /// Returns the SQL for stacks or methods of commits.
    #[must_use]
    pub fn stacks_sql(&self, by: &StackBy) -> String {
        let sort = self.sort.single_sql();
        let conditions = self
            .processes
            .conditions()
            .and(self.limits())
            .word("a.kind", Some("commit"));
        let by_stack = format!(
            "SELECT a.process_key, a.stack_id, count(*) AS commits, sum(a.size_bytes) AS commit_bytes, max(a.size_bytes) AS max_commit_bytes,
    sum({bytes}) AS outstanding_bytes, sum(CASE WHEN {bytes} > 0 THEN 1 ELSE 0 END) AS outstanding_commits
  FROM virtual_alloc a
  LEFT JOIN (SELECT alloc_id, sum(size_bytes) AS size_bytes FROM virtual_range GROUP BY alloc_id) r ON r.alloc_id = a.alloc_id
  LEFT JOIN process p ON p.process_key = a.process_key{conditions}
  GROUP BY a.process_key, a.stack_id",
            bytes = self.outstanding("r.size_bytes"),
        );
        let (columns, from) = match by {
            StackBy::Stack { text } => {
                let (text, join) = stack_text("a.stack_id", "stack", *text);
                (
                    format!("a.stack_id, {text}, CAST(NULL AS VARCHAR) AS method"),
                    format!("by_stack a{join}"),
                )
            }
            StackBy::Method(filter) => {
                let filter =
                    text_condition("name", Some(filter)).unwrap_or_else(|| "TRUE".to_owned());
                (
                    "CAST(NULL AS INT) AS stack_id, CAST(NULL AS VARCHAR) AS stack, a.name AS method".to_owned(),
                    format!(
                        "(
  SELECT b.process_key, n.name, sum(b.commits) AS commits, sum(b.commit_bytes) AS commit_bytes, max(b.max_commit_bytes) AS max_commit_bytes,
    sum(b.outstanding_bytes) AS outstanding_bytes, sum(b.outstanding_commits) AS outstanding_commits
  FROM by_stack b
  JOIN (
    SELECT * FROM (
      SELECT s.stack_id, CASE WHEN m.name IS NULL THEN concat(coalesce(d.name, ''), '+', hex(coalesce(f.rva, f.address)))
        ELSE concat(coalesce(d.name, '?'), '!', m.name) END AS name
      FROM stack_frame s
      JOIN frame f ON f.frame_id = s.frame_id
      LEFT JOIN method m ON m.method_id = f.method_id
      LEFT JOIN module d ON d.module_id = f.module_id
      WHERE s.first AND s.stack_id IN (SELECT stack_id FROM by_stack)
    ) WHERE {filter}
  ) n ON n.stack_id = b.stack_id
  GROUP BY b.process_key, n.name
) a"
                    ),
                )
            }
        };
        format!(
            "WITH by_stack AS (
  {by_stack}
)
SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT a.process_key, {PROCESS_COLUMNS}, {columns}, a.commits, a.commit_bytes, a.max_commit_bytes, a.outstanding_bytes, a.outstanding_commits
FROM {from}
LEFT JOIN process p ON p.process_key = a.process_key
){limits}
ORDER BY sort_value, commit_bytes, process_key, stack_id, method",
            limits = self.row_limits(),
        )
    }

    /// Returns the SQL for single allocations; with `stacks`, only allocations of these stacks.
    #[must_use]
    pub fn events_sql(&self, stacks: &[i32], text: bool) -> String {
        let list: Vec<String> = stacks.iter().map(i32::to_string).collect();
        let is_one = format!("a.stack_id IN ({})", list.join(", "));
        let conditions = self
            .processes
            .conditions()
            .and(self.limits())
            .when(!stacks.is_empty(), &is_one);
        let (text, join) = stack_text("a.stack_id", "stack", text);
        format!(
            "SELECT a.ts_ns, a.process_key, {PROCESS_COLUMNS}, t.tid, a.kind, hex(a.address) AS address, a.size_bytes,
  hex(a.flags) AS flags, {bytes} AS outstanding_bytes, a.stack_id, {text}
FROM virtual_alloc a
LEFT JOIN (SELECT alloc_id, sum(size_bytes) AS size_bytes FROM virtual_range GROUP BY alloc_id) r ON r.alloc_id = a.alloc_id
LEFT JOIN process p ON p.process_key = a.process_key
LEFT JOIN thread t ON t.thread_key = a.thread_key{join}{conditions}
ORDER BY a.ts_ns, a.alloc_id",
            bytes = self.outstanding("r.size_bytes"),
        )
    }
}
