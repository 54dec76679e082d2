//! Kernel pool memory: blocks that drivers allocated and did not free, by tag, process or stack;
//! single blocks.

use etwkit_question::declare;
mod sql;

use etwkit_question::Format::{Bytes, FineMilliseconds, Moment, Process, ProcessLine, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::ProcessQuery;
use etwkit_question::{Column, Example, Form, Question, Ranked, View, frames, group, option};

declare! {
    /// Grouping of the rows.
    pub words PoolBy {
        "tag" => Tag = "All blocks with a tag and of a type.",
        "process" => Process = "All blocks of a process.",
        "stack" => Stack = "All blocks that a stack allocated.",
    }

    /// Orders of sums and of single blocks.
    pub orders PoolSort {
        "outstanding" => Outstanding: "outstanding_bytes" / "coalesce(b.alloc_ns, b.free_ns)" =
            "Bytes that were not freed; single blocks by time.",
        "size" => Size: "allocated_bytes" / "b.size_bytes" =
            "Bytes that were allocated; of single blocks their size.",
        "count" => Count: "allocations" / "coalesce(b.alloc_ns, b.free_ns)" =
            "Allocations; single blocks by time.",
    }

    /// Options of `dump pool`.
    #[derive(Eq)]
    pub request PoolRequest {
        /// Processes whose threads allocated them, or freed those that were allocated before the
        /// trace
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by this property
        by: PoolBy = option("WHAT").excludes(&["details"]).shape(),
        /// Only blocks with these tags (*, ?, several with ;, ! excludes)
        tag: Option<String> = option("TAGS"),
        /// Only this memory
        paging: Option<String> = option("KIND").among(&["paged", "nonpaged"]),
        /// Only blocks that were allocated in the trace and not freed, or rows that have any
        leaked: bool = option("").called("leak"),
        /// Only blocks that were allocated (or freed, if the trace has no allocation) in this part of
        /// the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only blocks whose allocation has this frame in its stack (*, ?, several with ;, !
        /// excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Single blocks
        details: bool = option("").shape(),
        /// With --details or --by stack: frames of the stacks that allocated them
        stacks: bool = option("").called("show-stack").output(),
        /// Order
        sort: PoolSort = option("ORDER").called("sort-by").shape(),
    }

    /// Blocks of a tag and type, of a process, or of a stack.
    pub row PoolRow: process {
        ..process = "Process, with rows for each process; missing if it is not known.",
        tag: Option<String> = "Tag, with rows for each tag.",
        pool_type: Option<i64> = "Type of pool, with rows for each tag.",
        paging: Option<String> = "`paged` or `nonpaged`, with rows for each tag; missing for other types.",
        stack_id: Option<i64> = "Stack that allocated them, with rows for each; missing if none was recorded.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        allocations: i64 = "Allocations.",
        allocated_bytes: i64 = "Bytes allocated.",
        max_allocated_bytes: Option<i64> = "Largest allocation.",
        frees: i64 = "Frees.",
        freed_bytes: i64 = "Bytes freed.",
        frees_of_earlier: i64 = "Frees whose allocation is not in the trace.",
        outstanding_blocks: i64 = "Blocks that were allocated in the trace and not freed.",
        outstanding_bytes: i64 = "Bytes of these blocks.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A block.
    pub row PoolBlock: process {
        alloc_ns: Option<i64> = "When it was allocated; missing if that is not in the trace.",
        free_ns: Option<i64> = "When it was freed; missing if that is not in the trace.",
        lifetime_ns: Option<i64> = "The time between these.",
        tag: String = "Tag.",
        pool_type: i64 = "Type of pool.",
        paging: Option<String> = "`paged` or `nonpaged`; missing for other types.",
        size_bytes: i64 = "Bytes.",
        address: String = "Address, in hexadecimal digits.",
        outcome: String = "`freed`, `outstanding`, `replaced` or `unknown`.",
        ..process = "Process whose thread allocated it, or freed what was allocated before the trace.",
        tid: Option<i64> = "The thread.",
        free_tid: Option<i64> = "Thread that freed it.",
        alloc_stack_id: Option<i64> = "The stack that allocated it.",
        free_stack_id: Option<i64> = "The stack that freed it.",
        stack: Option<String> = "Frames of the allocation, innermost first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type PoolColumn = Column<PoolRequest, PoolRow>;

const SUMS: View<PoolRequest, PoolRow> = View::new(
    &[
        PoolColumn::new("OutstandingSize", "Not freed", Bytes, |_, row| {
            row.outstanding_bytes.into()
        })
        .cost(),
        PoolColumn::new("OutstandingCount", "Count", Whole, |_, row| {
            row.outstanding_blocks.into()
        })
        .cost(),
        PoolColumn::new("AllocatedSize", "Allocated", Bytes, |_, row| {
            row.allocated_bytes.into()
        })
        .cost(),
        PoolColumn::new("AllocatedCount", "Count", Whole, |_, row| {
            row.allocations.into()
        })
        .cost(),
        PoolColumn::new("MaxSize", "Largest", Bytes, |_, row| {
            row.max_allocated_bytes.into()
        })
        .worst(),
        PoolColumn::new("FreedSize", "Freed", Bytes, |_, row| row.freed_bytes.into()).sum(),
        PoolColumn::new("FreedCount", "Count", Whole, |_, row| row.frees.into()).sum(),
        PoolColumn::new("EarlierCount", "Of before", Whole, |_, row| {
            row.frees_of_earlier.into()
        })
        .sum()
        .hidden(),
        PoolColumn::new("Type", "Type", Whole, |_, row| row.pool_type.into()).shown_if(is_by_tag),
        PoolColumn::new("Paging", "Paging", Word, |_, row| row.paging.clone().into()).shown_if(is_by_tag),
        PoolColumn::new("Tag", "Tag", Word, |_, row| row.tag.clone().into()).shown_if(is_by_tag),
        PoolColumn::new("Process", "Process", ProcessLine, |_, row| row.into())
            .shown_if(|asked| asked.by == PoolBy::Process),
        PoolColumn::new("StackId", "Stack", Word, |_, row| row.stack_id.into())
            .or("(none)")
            .shown_if(|asked| asked.by == PoolBy::Stack),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {AllocatedCount|allocation|allocations} of {AllocatedSize}, not freed {OutstandingSize}",
    |_, _| true,
)
.with_below(|_, row| frames(row.stack.as_deref()));

pub(super) fn is_by_tag(asked: &PoolRequest) -> bool {
    asked.by == PoolBy::Tag
}

type PoolBlockColumn = Column<PoolRequest, PoolBlock>;

const BLOCKS: View<PoolRequest, PoolBlock> = View::new(
    &[
        PoolBlockColumn::time("Time", |_, row| row.alloc_ns.into()),
        PoolBlockColumn::new("Free", "Freed", Moment, |_, row| row.free_ns.into()),
        PoolBlockColumn::new("Lifetime", "Lifetime ms", FineMilliseconds, |_, row| {
            row.lifetime_ns.into()
        }),
        PoolBlockColumn::new("Size", "Size", Bytes, |_, row| row.size_bytes.into()).cost(),
        PoolBlockColumn::new("Outcome", "Outcome", Word, |_, row| {
            row.outcome.clone().into()
        }),
        PoolBlockColumn::new("Type", "Type", Whole, |_, row| row.pool_type.into()),
        PoolBlockColumn::new("Paging", "Paging", Word, |_, row| row.paging.clone().into()),
        PoolBlockColumn::new("Tag", "Tag", Word, |_, row| row.tag.clone().into()),
        PoolBlockColumn::new("Address", "Address", Word, |_, row| {
            row.address.clone().into()
        }),
        PoolBlockColumn::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| Ranked::rows_unless(asked.sort != PoolSort::Size))
.with_below(|_, row| frames(row.stack.as_deref()));

impl Question for PoolRequest {
    const NAME: &'static str = "pool";
    const SENTENCE: &'static str = "Kernel pool that drivers allocated and did not free, by tag";
    const USUAL: &'static [&'static str] = &["tag", "paging", "leak"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "pool tags by memory that was not freed",
        },
        Example {
            words: "--leak --by stack slow.etl",
            answer: "the stacks that allocated it",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&BLOCKS, self.blocks_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&RECORDED, self.details || self.needs_rows())
            .top(self.top)
    }
}

const RECORDED: Recorded = Recorded {
    sums: "pool_tag",
    rows: "pool",
    single: "blocks",
    what: "memory of the kernel",
    how: "record with the kernel keywords POOL+CSWITCH+PROC_THREAD+LOADER, with `-stackwalk PoolAlloc+PoolFree` for stacks",
};
