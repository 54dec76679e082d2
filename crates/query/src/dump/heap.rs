//! Heaps of programs: what was allocated and not freed, by heap, process or stack; single events.

use super::sql::{
    NO_NUMBER, NO_TEXT, PROCESS_COLUMNS, ProcessQuery, filtered, known_condition, process_columns,
    stack_condition, stack_text, text_condition, time_condition,
};
use super::{Recorded, Top};
use crate::question::Format::{Bytes, FineMilliseconds, Id, Process, ProcessLine, Whole, Word};
use crate::question::{Column, Form, Question, Ranked, View, frames, group, option};
use crate::range::{Range, Unit};

declare! {
    /// What a row sums up.
    pub words HeapBy {
        "heap" => Heap = "All blocks of a heap of a process.",
        "process" => Process = "All blocks of a process.",
        "stack" => Stack = "All that a stack did to heaps.",
    }

    /// Orders of sums and of single events.
    pub orders HeapSort {
        "outstanding" => Outstanding: "outstanding_bytes" / "h.ts_ns" =
            "Bytes that were not freed; single events by time.",
        "size" => Size: "allocated_bytes" / "coalesce(h.size_bytes, 0)" =
            "Bytes that were allocated; of single events the size of the block.",
        "count" => Count: "allocations" / "h.ts_ns" = "Allocations; single events by time.",
        "peak" => Peak: "coalesce(peak_bytes, 0)" / "h.held_bytes" =
            "The most that a heap held; of single events what it held after them.",
    }

    /// Which blocks.
    #[derive(Eq)]
    pub request HeapRequest {
        /// Which processes
        processes: ProcessQuery = group(),
        /// How many of the largest rows
        top: Top = group(),
        /// What a row sums up
        by: HeapBy = option("WHAT").excludes(&["details"]).shape(),
        /// Only heaps with these handles, as rows show them (*, ?, several with ;, ! excludes)
        heap: Option<String> = option("HANDLES"),
        /// Only blocks of this size (bytes)
        size: Range = option("A..B").unit(Unit::Bytes),
        /// Only blocks that were allocated in the trace and not freed, or rows with such blocks
        leaked: bool = option("").called("leak"),
        /// Only events in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only events whose stack has such a frame: module!method, or its method alone (*, ?, several
        /// with ;, ! excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Single events
        details: bool = option("").shape(),
        /// With --details or --by stack: frames
        stacks: bool = option("").called("show-stack").output(),
        /// Order
        sort: HeapSort = option("ORDER").called("sort-by").shape(),
    }

    /// Blocks of a heap, of a process, or of a stack.
    pub row HeapRow: process {
        ..process = "Process; missing if it is not known.",
        heap: Option<String> = "Handle of the heap in hexadecimal digits, with rows for each heap.",
        stack_id: Option<i64> = "Stack, with rows for each stack; missing if none was recorded.",
        stack: Option<String> = "Frames of the stack, innermost first, if they are asked for.",
        allocations: i64 = "Allocations.",
        allocated_bytes: i64 = "Bytes allocated.",
        max_allocated_bytes: Option<i64> = "Largest allocation.",
        reallocations: i64 = "Changes of size.",
        frees: i64 = "Blocks that were freed one by one.",
        outstanding_blocks: i64 = "Blocks that were allocated in the trace and not freed.",
        outstanding_bytes: i64 = "Bytes of these blocks.",
        peak_bytes: Option<i64> =
            "The most that the heap held of blocks that were allocated in the trace, of a process that of one of \
             its heaps; missing with rows for each stack.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// What happened to a block or a heap.
    pub row HeapEvent: process {
        ts_ns: i64 = "Time.",
        kind: String = "`allocate`, `reallocate` or `free` of a block, `create` or `destroy` of a heap.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread.",
        heap: String = "Handle of the heap, in hexadecimal digits.",
        address: Option<String> = "Address of the block, in hexadecimal digits; missing for heaps.",
        size_bytes: Option<i64> =
            "Bytes of the block; missing for heaps, and where a block from before the trace is freed.",
        outstanding_bytes: i64 = "Bytes that were not freed.",
        lifetime_ns: Option<i64> = "Time since it was allocated, where it is freed or gets another size.",
        held_bytes: i64 = "Bytes that the heap held after it, in blocks that were allocated in the trace.",
        stack_id: Option<i64> = "Stack of the event.",
        stack: Option<String> = "Frames of the stack, innermost first, if they are asked for.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type Sum = Column<HeapRequest, HeapRow>;

const SUMS: View<HeapRequest, HeapRow> = View::new(
    &[
        Sum::new("OutstandingSize", "Not freed", Bytes, |_, row| row.outstanding_bytes.into()).cost(),
        Sum::new("OutstandingCount", "Count", Whole, |_, row| row.outstanding_blocks.into()).cost(),
        Sum::new("AllocatedSize", "Allocated", Bytes, |_, row| row.allocated_bytes.into()).cost(),
        Sum::new("AllocatedCount", "Count", Whole, |_, row| row.allocations.into()).cost(),
        Sum::new("MaxSize", "Largest", Bytes, |_, row| row.max_allocated_bytes.into()).worst(),
        Sum::new("ReallocatedCount", "Resized", Whole, |_, row| row.reallocations.into()).sum(),
        Sum::new("FreedCount", "Freed", Whole, |_, row| row.frees.into()).sum(),
        Sum::new("PeakSize", "Peak", Bytes, |_, row| row.peak_bytes.into())
            .worst()
            .shown_if(|asked| asked.by != HeapBy::Stack),
        Sum::new("Heap", "Heap", Word, |_, row| row.heap.clone().into())
            .shown_if(|asked| asked.by == HeapBy::Heap),
        Sum::new("StackId", "Stack", Word, |_, row| row.stack_id.into())
            .or("(none)")
            .shown_if(|asked| asked.by == HeapBy::Stack),
        Sum::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_sums("Total: {AllocatedCount} allocations of {AllocatedSize}, not freed {OutstandingSize}", |_, _| true)
.with_below(|_, row| frames(row.stack.as_deref()));

type Single = Column<HeapRequest, HeapEvent>;

const EVENTS: View<HeapRequest, HeapEvent> = View::new(
    &[
        Single::time("Time", |_, row| row.ts_ns.into()),
        Single::new("Kind", "What", Word, |_, row| row.kind.clone().into()),
        Single::new("Size", "Size", Bytes, |_, row| row.size_bytes.into()).worst(),
        Single::new("OutstandingSize", "Not freed", Bytes, |_, row| row.outstanding_bytes.into()).cost(),
        Single::new("Lifetime", "Lifetime ms", FineMilliseconds, |_, row| row.lifetime_ns.into()),
        Single::new("Held", "Heap holds", Bytes, |_, row| row.held_bytes.into()).worst(),
        Single::new("Address", "Address", Word, |_, row| row.address.clone().into()),
        Single::new("Heap", "Heap", Word, |_, row| row.heap.clone().into()),
        Single::new("Tid", "Tid", Id, |_, row| row.tid.into()).hidden(),
        Single::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(!matches!(asked.sort, HeapSort::Size | HeapSort::Peak)))
.with_below(|_, row| frames(row.stack.as_deref()));

impl Question for HeapRequest {
    const NAME: &'static str = "heap";
    const SENTENCE: &'static str = "Heaps of programs: what was allocated and not freed";

    fn form(&self) -> Form<Self> {
        if self.details {
            Form::rows(&EVENTS, self.events_sql()).needs(&RECORDED, true).top(self.top)
        } else {
            Form::rows(&SUMS, self.sql()).needs(&RECORDED, self.needs_rows()).top(self.top)
        }
    }
}

impl HeapRequest {
    /// Conditions on single events, which sums cannot answer.
    fn limits(&self) -> Vec<String> {
        let mut all = known_condition("h.size_bytes", self.size);
        all.extend(time_condition("h.ts_ns", self.time));
        all.extend(stack_condition("h.stack_id", self.stack.as_deref()));
        all
    }

    fn conditions(&self) -> Vec<String> {
        let mut all = self.processes.conditions();
        all.extend(text_condition("hex(h.heap_handle)", self.heap.as_deref()));
        all
    }

    fn needs_rows(&self) -> bool {
        self.by == HeapBy::Stack || !self.limits().is_empty()
    }

    /// Sums by process and heap, or events that are added up to such sums.
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
            filtered(&self.limits())
        )
    }

    /// The question for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let heap = if self.by == HeapBy::Heap { "hex(h.heap_handle)" } else { NO_TEXT };
        // What a heap held at its peak came from many stacks, so that rows by stack have none.
        let (stack, peak) = match self.by {
            HeapBy::Stack => ("h.stack_id", NO_NUMBER),
            HeapBy::Heap | HeapBy::Process => (NO_NUMBER, "h.peak_bytes"),
        };
        let (text, join) = stack_text("s.stack_id", "stack", self.stacks && self.by == HeapBy::Stack);
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, \
                    heap, stack_id";
        let leaked = if self.leaked { "\nHAVING sum(outstanding_blocks) > 0" } else { "" };
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
            conditions = filtered(&self.conditions()),
        )
    }

    /// The question for single events.
    #[must_use]
    pub fn events_sql(&self) -> String {
        let mut conditions = self.conditions();
        conditions.extend(self.limits());
        conditions.extend(self.leaked.then(|| "h.is_outstanding".to_owned()));
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
            conditions = filtered(&conditions),
        )
    }
}

/// Events, and whether they gave a block the size that it has at the end of the trace: no other event took
/// it away, nothing happened at its address later, and its heap was not created again or destroyed.
const FOLLOWED: &str = "    SELECT h.*, h.kind IN ('allocate', 'reallocate') AND f.allocation_id IS NULL
        AND h.heap_event_id = max(h.heap_event_id) OVER (PARTITION BY h.process_key, h.heap_handle, h.address)
        AND h.heap_event_id > coalesce(max(CASE WHEN h.kind IN ('create', 'destroy') THEN h.heap_event_id END)
          OVER (PARTITION BY h.process_key, h.heap_handle), -1) AS is_outstanding
    FROM heap h
    LEFT JOIN (SELECT DISTINCT allocation_id FROM heap WHERE allocation_id IS NOT NULL) f
      ON f.allocation_id = h.heap_event_id";

const RECORDED: Recorded = Recorded {
    sums: "heap_process",
    rows: "heap",
    single: "events of heaps",
    what: "heaps of programs",
    how: "to record it, start the program with heap tracing: `xperf -start HeapSession -heap -PidNewProcess PROGRAM -stackwalk \
          HeapAlloc+HeapRealloc+HeapFree`",
};
