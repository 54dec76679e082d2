//! Heaps of programs: blocks that were allocated and not freed, by heap, process or stack; single
//! events.

use etwkit_question::declare;
mod sql;

use etwkit_question::Format::{Bytes, FineMilliseconds, Id, Process, ProcessLine, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{Column, Example, Form, Question, Ranked, View, frames, group, option};

declare! {
    /// Grouping of the rows.
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

    /// Options of `dump heap`.
    #[derive(Eq)]
    pub request HeapRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: HeapBy = option("WHAT").excludes(&["details"]).shape(),
        /// Only heaps with these handles, as rows show them (*, ?, several with ;, ! excludes)
        heap: Option<String> = option("HANDLES"),
        /// Only blocks of this size (bytes)
        size: Range = option("A..B").unit(Unit::Bytes),
        /// Only blocks that were allocated in the trace and not freed, or rows that have any
        leaked: bool = option("").called("leak"),
        /// Only events in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only events whose stack has this frame: module!method, or its method alone (*, ?,
        /// several with ;, ! excludes)
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
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        allocations: i64 = "Allocations.",
        allocated_bytes: i64 = "Bytes allocated.",
        max_allocated_bytes: Option<i64> = "Largest allocation.",
        reallocations: i64 = "Changes of size.",
        frees: i64 = "Blocks that were freed one by one.",
        outstanding_blocks: i64 = "Blocks that were allocated in the trace and not freed.",
        outstanding_bytes: i64 = "Bytes of these blocks.",
        peak_bytes: Option<i64> =
            "Most bytes that the heap held at one time, counting only blocks that were allocated in the trace; for a \
             process, the largest value of its heaps. Missing with rows for each stack.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// An event of a block or a heap.
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
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type HeapColumn = Column<HeapRequest, HeapRow>;

const SUMS: View<HeapRequest, HeapRow> = View::new(
    &[
        HeapColumn::new("OutstandingSize", "Not freed", Bytes, |_, row| {
            row.outstanding_bytes.into()
        })
        .cost(),
        HeapColumn::new("OutstandingCount", "Count", Whole, |_, row| {
            row.outstanding_blocks.into()
        })
        .cost(),
        HeapColumn::new("AllocatedSize", "Allocated", Bytes, |_, row| {
            row.allocated_bytes.into()
        })
        .cost(),
        HeapColumn::new("AllocatedCount", "Count", Whole, |_, row| {
            row.allocations.into()
        })
        .cost(),
        HeapColumn::new("MaxSize", "Largest", Bytes, |_, row| {
            row.max_allocated_bytes.into()
        })
        .worst(),
        HeapColumn::new("ReallocatedCount", "Resized", Whole, |_, row| {
            row.reallocations.into()
        })
        .sum(),
        HeapColumn::new("FreedCount", "Freed", Whole, |_, row| row.frees.into()).sum(),
        HeapColumn::new("PeakSize", "Peak", Bytes, |_, row| row.peak_bytes.into())
            .worst()
            .shown_if(|asked| asked.by != HeapBy::Stack),
        HeapColumn::new("Heap", "Heap", Word, |_, row| row.heap.clone().into())
            .shown_if(|asked| asked.by == HeapBy::Heap),
        HeapColumn::new("StackId", "Stack", Word, |_, row| row.stack_id.into())
            .or("(none)")
            .shown_if(|asked| asked.by == HeapBy::Stack),
        HeapColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {AllocatedCount|allocation|allocations} of {AllocatedSize}, not freed {OutstandingSize}",
    |_, _| true,
)
.with_below(|_, row| frames(row.stack.as_deref()));

type HeapEventColumn = Column<HeapRequest, HeapEvent>;

const EVENTS: View<HeapRequest, HeapEvent> = View::new(
    &[
        HeapEventColumn::time("Time", |_, row| row.ts_ns.into()),
        HeapEventColumn::new("Kind", "What", Word, |_, row| row.kind.clone().into()),
        HeapEventColumn::new("Size", "Size", Bytes, |_, row| row.size_bytes.into()).worst(),
        HeapEventColumn::new("OutstandingSize", "Not freed", Bytes, |_, row| {
            row.outstanding_bytes.into()
        })
        .cost(),
        HeapEventColumn::new("Lifetime", "Lifetime ms", FineMilliseconds, |_, row| {
            row.lifetime_ns.into()
        }),
        HeapEventColumn::new("Held", "Heap holds", Bytes, |_, row| row.held_bytes.into()).worst(),
        HeapEventColumn::new("Address", "Address", Word, |_, row| {
            row.address.clone().into()
        }),
        HeapEventColumn::new("Heap", "Heap", Word, |_, row| row.heap.clone().into()),
        HeapEventColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()).hidden(),
        HeapEventColumn::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(!matches!(asked.sort, HeapSort::Size | HeapSort::Peak)))
.with_below(|_, row| frames(row.stack.as_deref()));

impl Question for HeapRequest {
    const NAME: &'static str = "heap";
    const SENTENCE: &'static str = "Heaps of programs: what was allocated and not freed";
    const USUAL: &'static [&'static str] = &["heap", "size", "leak"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "heaps by memory that was not freed",
        },
        Example {
            words: "--leak --by stack slow.etl",
            answer: "the stacks that allocated it",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&EVENTS, self.events_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&RECORDED, self.details || self.needs_rows())
            .top(self.top)
    }
}

const RECORDED: Recorded = Recorded {
    sums: "heap_process",
    rows: "heap",
    single: "events of heaps",
    what: "heaps of programs",
    how: "to record it, start the program with heap tracing: `xperf -start HeapSession -heap -PidNewProcess PROGRAM -stackwalk \
          HeapAlloc+HeapRealloc+HeapFree`",
};
