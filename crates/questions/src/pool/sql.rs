//! The SQL of kernel pool memory.

use super::{PoolBy, PoolRequest, is_by_tag};
use etwkit_question::sql::{
    Conditions, NO_NUMBER, NO_TEXT, PROCESS_COLUMNS, process_columns, stack_text,
};

/// Blocks with the thread that allocated them; blocks from before the trace have the thread that
/// freed them.
const OWNED: &str =
    "    SELECT o.*, CASE WHEN o.alloc_ns IS NULL THEN o.free_process_key ELSE o.alloc_process_key END AS process_key,
      CASE WHEN o.alloc_ns IS NULL THEN o.free_thread_key ELSE o.alloc_thread_key END AS thread_key
    FROM pool o";

impl PoolRequest {
    /// Returns conditions on single blocks. Processes are among them, since sums by tag do not have
    /// the allocating process.
    fn limits(&self) -> Conditions {
        self.processes
            .conditions()
            .time("coalesce(b.alloc_ns, b.free_ns)", self.time)
            .stack("b.alloc_stack_id", self.stack.as_deref())
    }

    pub(super) fn needs_rows(&self) -> bool {
        self.by != PoolBy::Tag || !self.limits().is_empty()
    }

    fn conditions(&self) -> Conditions {
        Conditions::new()
            .text("b.tag", self.tag.as_deref())
            .word("b.paging", self.paging.as_deref())
    }

    /// Returns the sums by tag and type, or the blocks to add up to them.
    fn sums(&self) -> String {
        if !self.needs_rows() {
            return format!(
                "SELECT *, {NO_NUMBER} AS process_key, {NO_NUMBER} AS alloc_stack_id FROM pool_tag"
            );
        }
        format!(
            "SELECT b.process_key, b.alloc_stack_id, b.tag, b.pool_type, b.paging,
    CASE WHEN b.alloc_ns IS NULL THEN 0 ELSE 1 END AS allocations,
    CASE WHEN b.alloc_ns IS NULL THEN 0 ELSE b.size_bytes END AS allocated_bytes,
    CASE WHEN b.alloc_ns IS NOT NULL THEN b.size_bytes END AS max_allocated_bytes,
    CASE WHEN b.free_ns IS NULL THEN 0 ELSE 1 END AS frees,
    CASE WHEN b.free_ns IS NULL THEN 0 ELSE b.size_bytes END AS freed_bytes,
    CASE WHEN b.alloc_ns IS NULL THEN 1 ELSE 0 END AS frees_of_earlier,
    CASE WHEN b.outcome = 'outstanding' THEN 1 ELSE 0 END AS outstanding_blocks,
    CASE WHEN b.outcome = 'outstanding' THEN b.size_bytes ELSE 0 END AS outstanding_bytes
  FROM (
{OWNED}
  ) b
  LEFT JOIN process p ON p.process_key = b.process_key{}",
            self.limits()
        )
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let tag = if is_by_tag(self) {
            "b.tag, b.pool_type, b.paging".to_owned()
        } else {
            format!("{NO_TEXT} AS tag, {NO_NUMBER} AS pool_type, {NO_TEXT} AS paging")
        };
        let stack = if self.by == PoolBy::Stack {
            "b.alloc_stack_id"
        } else {
            NO_NUMBER
        };
        let (text, join) = stack_text(
            "s.stack_id",
            "stack",
            self.stacks && self.by == PoolBy::Stack,
        );
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, \
                    tag, pool_type, paging, stack_id";
        let leaked = if self.leaked {
            "\nHAVING sum(outstanding_blocks) > 0"
        } else {
            ""
        };
        format!(
            "SELECT s.*, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, sum(allocations) AS allocations, sum(allocated_bytes) AS allocated_bytes,
  max(max_allocated_bytes) AS max_allocated_bytes, sum(frees) AS frees, sum(freed_bytes) AS freed_bytes,
  sum(frees_of_earlier) AS frees_of_earlier, sum(outstanding_blocks) AS outstanding_blocks,
  sum(outstanding_bytes) AS outstanding_bytes
FROM (
  SELECT {process}, {tag}, {stack} AS stack_id, b.allocations, b.allocated_bytes, b.max_allocated_bytes, b.frees,
    b.freed_bytes, b.frees_of_earlier, b.outstanding_blocks, b.outstanding_bytes
  FROM (
  {sums}
  ) b
  LEFT JOIN process p ON p.process_key = b.process_key{conditions}
)
GROUP BY {keys}{leaked}
) s{join}
ORDER BY sort_value, s.allocated_bytes, s.freed_bytes, s.tag, s.pool_type, s.process_key, s.stack_id",
            sort = self.sort.sql(),
            process = process_columns("b", self.by == PoolBy::Process),
            sums = self.sums(),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single blocks.
    #[must_use]
    pub fn blocks_sql(&self) -> String {
        let conditions = self
            .conditions()
            .and(self.limits())
            .when(self.leaked, "b.outcome = 'outstanding'");
        let (text, join) = stack_text("b.alloc_stack_id", "stack", self.stacks);
        format!(
            "SELECT b.alloc_ns, b.free_ns, b.lifetime_ns, b.tag, b.pool_type, b.paging, b.size_bytes,
  hex(b.address) AS address, b.outcome, b.process_key, {PROCESS_COLUMNS}, t.tid, f.tid AS free_tid,
  b.alloc_stack_id, b.free_stack_id, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM (
{OWNED}
) b
LEFT JOIN process p ON p.process_key = b.process_key
LEFT JOIN thread t ON t.thread_key = b.thread_key
LEFT JOIN thread f ON f.thread_key = b.free_thread_key{join}{conditions}
ORDER BY sort_value, coalesce(b.alloc_ns, b.free_ns), b.tag, hex(b.address)",
            sort = self.sort.single_sql(),
        )
    }
}
