//! The SQL of heap allocations.

use super::{HeapBy, HeapRequest};
use etwkit_question::sql::{
    Conditions, NO_NUMBER, NO_TEXT, PROCESS_COLUMNS, process_columns, stack_text,
};

/// Events, and whether they gave a block the size that it has at the end of the trace: no other
/// event ended it, nothing happened at its address later, and its heap was not created again or
/// destroyed.
const FOLLOWED: &str = "    SELECT h.*, h.kind IN ('allocate', 'reallocate') AND f.allocation_id IS NULL
        AND h.heap_event_id = max(h.heap_event_id) OVER (PARTITION BY h.process_key, h.heap_handle, h.address)
        AND h.heap_event_id > coalesce(max(CASE WHEN h.kind IN ('create', 'destroy') THEN h.heap_event_id END)
          OVER (PARTITION BY h.process_key, h.heap_handle), -1) AS is_outstanding
    FROM heap h
    LEFT JOIN (SELECT DISTINCT allocation_id FROM heap WHERE allocation_id IS NOT NULL) f
      ON f.allocation_id = h.heap_event_id";

impl HeapRequest {
    /// Returns conditions on single events, which sums cannot answer.
    fn limits(&self) -> Conditions {
        Conditions::new()
            .known("h.size_bytes", self.size)
            .time("h.ts_ns", self.time)
            .stack("h.stack_id", self.stack.as_deref())
    }

    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .text("hex(h.heap_handle)", self.heap.as_deref())
    }

    pub(super) fn needs_rows(&self) -> bool {
        self.by == HeapBy::Stack || !self.limits().is_empty()
    }

    /// Returns the sums by process and heap, or the events to add up to them.
    fn sums(&self) -> String {
        if !self.needs_rows() {
            return format!("SELECT *, {NO_NUMBER} AS stack_id FROM heap_process");
        }
        format!(
            "SELECT h.process_key, h.heap_handle, h.stack_id,
    CASE WHEN h.kind = 'allocate' THEN 1 ELSE 0 END AS allocations,
    CASE WHEN h.kind = 'allocate' THEN h.size_bytes ELSE 0 END AS allocated_bytes,
    CASE WHEN h.kind = 'allocate' THEN h.size_bytes END AS max_allocated_bytes,
    CASE WHEN h.kind = 'reallocate' THEN 1 ELSE 0 END AS reallocations,
    CASE WHEN h.kind = 'free' THEN 1 ELSE 0 END AS frees,
    CASE WHEN h.is_outstanding THEN 1 ELSE 0 END AS outstanding_blocks,
    CASE WHEN h.is_outstanding THEN h.size_bytes ELSE 0 END AS outstanding_bytes, h.held_bytes AS peak_bytes
  FROM (
{FOLLOWED}
  ) h{}",
            self.limits()
        )
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let heap = if self.by == HeapBy::Heap {
            "hex(h.heap_handle)"
        } else {
            NO_TEXT
        };
        // The peak of a heap comes from many stacks, so rows by stack have none.
        let (stack, peak) = match self.by {
            HeapBy::Stack => ("h.stack_id", NO_NUMBER),
            HeapBy::Heap | HeapBy::Process => (NO_NUMBER, "h.peak_bytes"),
        };
        let (text, join) = stack_text(
            "s.stack_id",
            "stack",
            self.stacks && self.by == HeapBy::Stack,
        );
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, \
                    heap, stack_id";
        let leaked = if self.leaked {
            "\nHAVING sum(outstanding_blocks) > 0"
        } else {
            ""
        };
        format!(
            "SELECT s.*, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, sum(allocations) AS allocations, sum(allocated_bytes) AS allocated_bytes,
  max(max_allocated_bytes) AS max_allocated_bytes, sum(reallocations) AS reallocations, sum(frees) AS frees,
  sum(outstanding_blocks) AS outstanding_blocks, sum(outstanding_bytes) AS outstanding_bytes,
  max(peak_bytes) AS peak_bytes
FROM (
  SELECT {process}, {heap} AS heap, {stack} AS stack_id, h.allocations, h.allocated_bytes, h.max_allocated_bytes,
    h.reallocations, h.frees, h.outstanding_blocks, h.outstanding_bytes, {peak} AS peak_bytes
  FROM (
  {sums}
  ) h
  LEFT JOIN process p ON p.process_key = h.process_key{conditions}
)
GROUP BY {keys}{leaked}
) s{join}
ORDER BY sort_value, s.allocated_bytes, s.frees, s.process_key, s.heap, s.stack_id",
            sort = self.sort.sql(),
            process = process_columns("h", true),
            sums = self.sums(),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single events.
    #[must_use]
    pub fn events_sql(&self) -> String {
        let conditions = self
            .conditions()
            .and(self.limits())
            .when(self.leaked, "h.is_outstanding");
        let (text, join) = stack_text("h.stack_id", "stack", self.stacks);
        format!(
            "SELECT h.ts_ns, h.kind, h.process_key, {PROCESS_COLUMNS}, t.tid, hex(h.heap_handle) AS heap,
  hex(h.address) AS address, h.size_bytes, CASE WHEN h.is_outstanding THEN h.size_bytes ELSE 0 END AS outstanding_bytes,
  h.lifetime_ns, h.held_bytes, h.stack_id, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM (
{FOLLOWED}
) h
LEFT JOIN process p ON p.process_key = h.process_key
LEFT JOIN thread t ON t.thread_key = h.thread_key{join}{conditions}
ORDER BY sort_value, h.ts_ns, h.heap_event_id",
            sort = self.sort.single_sql(),
        )
    }
}
