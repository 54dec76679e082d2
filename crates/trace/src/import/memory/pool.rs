//! Kernel pool: each block from its allocation to its free. The events name no thread: they belong
//! to the thread that runs on the processor.

use std::sync::Arc;

use etwkit_decode::kernel::pool::{self, Block, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, Seq, Who, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{Pool, PoolTag, Row};
use crate::tracker::process::ProcessKey;

const EVENTS: Events = Events::KernelBetween(group::POOL, opcode::ALLOCATE, opcode::FREE_SESSION);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    tables: &[rows(Pool::TABLE)],
    topics: &[Topic {
        place: 177,
        name: "kernel pool",
        answers: "which drivers allocate memory of the kernel",
        recorded_by: "POOL",
        events: &[EVENTS],
        tables: &[Pool::TABLE, PoolTag::TABLE],
    }],
    make: |_| Box::new(Pools::default()),
    ..Declaration::EMPTY
};

/// Maximum number of blocks, some 400 MiB. Further allocations are counted and not followed.
const MAX_BLOCKS: usize = 1 << 22;

/// A block by its session and address: each session has its own memory at the same addresses.
type BlockKey = (Option<u32>, u64);

/// The running thread at an event, and the time of the event.
#[derive(Debug, Clone, Copy)]
struct At {
    time: i64,
    ns: i64,
    tid: Option<u32>,
    who: Option<Who>,
}

impl At {
    fn process(self) -> Option<ProcessKey> {
        self.who.and_then(|who| who.process)
    }

    /// Keys of process and thread.
    fn keys(self) -> (Option<i32>, Option<i32>) {
        (
            self.who.and_then(Who::process_key),
            self.who.map(|who| who.thread_key),
        )
    }
}

/// A block that lives.
#[derive(Debug, Clone, Copy)]
struct Live {
    block: Block,
    since_ns: i64,
    process_key: Option<i32>,
    thread_key: Option<i32>,
    start: Seq,
}

/// Follows all blocks.
#[derive(Debug, Default)]
struct Pools {
    live: FxHashMap<BlockKey, Live>,
    /// Number of allocations that are not followed because there are too many.
    dropped: u64,
}

impl Pools {
    fn allocate(&mut self, block: Block, at: At, context: &mut Context<'_>) {
        // The stack of the allocation comes before the row is complete. A start in the line keeps
        // it until the free.
        let start = context.wait(at.time, at.tid, at.process(), Pending::Start);
        let (process_key, thread_key) = at.keys();
        let live = Live {
            block,
            since_ns: at.ns,
            process_key,
            thread_key,
            start,
        };
        // A block that replaces a known one needs no further room.
        if self.live.len() >= MAX_BLOCKS && !self.live.contains_key(&key_of(&block)) {
            self.dropped += 1;
            // The row is written at once, since the free of this block will not be recognized.
            not_freed(&live, "unknown", at.time, context);
        } else if let Some(before) = self.live.insert(key_of(&block), live) {
            // The free of the previous block was lost: another block is at its address now.
            not_freed(&before, "replaced", at.time, context);
        }
    }

    fn free(&mut self, block: Block, at: At, context: &mut Context<'_>) {
        // Null columns of the allocation mean that the block is older than the trace, or that it
        // was not followed.
        let live = self.live.remove(&key_of(&block));
        let row = live.as_ref().map_or_else(|| of_block(&block), Live::row);
        let (free_process_key, free_thread_key) = at.keys();
        let row = Pool {
            outcome: "freed",
            free_ns: Some(at.ns),
            lifetime_ns: row.alloc_ns.map(|alloc| at.ns.saturating_sub(alloc)),
            free_process_key,
            free_thread_key,
            ..row
        };
        let start = live.map(|live| live.start);
        // Two stacks for one row: whoever looks for a leak needs the allocation, and whoever looks
        // for a crash the free.
        let row = waiting::row(row, move |row, stacks| {
            (row.alloc_stack_id, row.free_stack_id) = (stacks.of(start), stacks.own());
        });
        context.wait(at.time, at.tid, at.process(), row);
    }
}

impl Live {
    fn row(&self) -> Pool {
        Pool {
            alloc_ns: Some(self.since_ns),
            alloc_process_key: self.process_key,
            alloc_thread_key: self.thread_key,
            ..of_block(&self.block)
        }
    }
}

impl Importer for Pools {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let read = Block::parse(event.payload(), hook.opcode, event.pointer_size());
        let Some((block, is_allocated)) = read else {
            return Ok(false);
        };
        let time = event.timestamp;
        let ns = context.ns(time);
        if !context.range.contains(ns) {
            return Ok(true);
        }
        let tid = context.thread_of(event);
        let who = tid.map(|tid| context.of_thread(tid, time));
        let at = At { time, ns, tid, who };
        if is_allocated {
            self.allocate(block, at, context);
        } else {
            self.free(block, at, context);
        }
        Ok(true)
    }

    /// Writes the blocks that were not freed.
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        context.notes.not_followed += self.dropped;
        // A hash map has no order, and the same input has to give the same output.
        // Sorted by time and key: two blocks of one time still have one order.
        let mut live: Vec<Live> = self.live.into_values().collect();
        live.sort_unstable_by_key(|live| (live.since_ns, key_of(&live.block)));
        for live in live {
            not_freed(&live, "outstanding", learned.collected.end, context);
        }
        Ok(())
    }
}

/// Writes a block without a free.
fn not_freed(live: &Live, outcome: &'static str, time: i64, context: &mut Context<'_>) {
    let start = Some(live.start);
    let row = Pool {
        outcome,
        ..live.row()
    };
    let row = waiting::row(row, move |row, stacks| {
        row.alloc_stack_id = stacks.of(start);
    });
    // Nobody waits for a stack here: the block was not freed by anybody.
    context.wait(time, None, None, row);
}

fn of_block(block: &Block) -> Pool {
    Pool {
        // The tag is kept as text, as lists of drivers have it.
        tag: Arc::from(pool::tag_text(block.tag)),
        pool_type: block.kind.cast_signed(),
        paging: pool::paging(block.kind),
        session_id: block.session.map(u32::cast_signed),
        address: block.address.cast_signed(),
        // A size that does not fit is damage; it must not become negative and shrink sums.
        size_bytes: i64::try_from(block.bytes).unwrap_or(i64::MAX),
        ..Pool::default()
    }
}

fn key_of(block: &Block) -> BlockKey {
    (block.session, block.address)
}
