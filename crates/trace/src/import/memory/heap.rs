//! Heaps of programs: which blocks were allocated, and which of them were freed.

use etwkit_decode::kernel::heap::{Change, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{
    Actor, Context, Declaration, Importer, IsShown, Learned, key, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{Heap, HeapProcess, Row};
use crate::tracker::process::ProcessKey;

const EVENTS: Events = Events::KernelBetween(group::HEAP, opcode::CREATE, opcode::FREE);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    tables: &[rows(Heap::TABLE)],
    topics: &[Topic {
        place: 175,
        name: "heaps",
        answers: "who allocated memory on a heap",
        recorded_by: "heap tracing of a process",
        events: &[EVENTS],
        tables: &[Heap::TABLE, HeapProcess::TABLE],
    }],
    make: |_| Box::new(Heaps::default()),
    ..Declaration::EMPTY
};

/// Maximum number of blocks over all heaps, some 200 MiB. Further allocations are counted and not
/// followed.
const MAX_BLOCKS: usize = 1 << 22;

/// Maximum number of heaps. A trace with more of them is malicious.
const MAX_HEAPS: usize = 1 << 16;

/// A block that was allocated.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The row of the event that gave it its size.
    row: i64,
    /// Time of the allocation. A change of its size does not change it.
    since_ns: i64,
    bytes: i64,
}

/// The blocks of a heap that were allocated in the trace, by address.
#[derive(Debug, Default)]
struct Blocks {
    by_address: FxHashMap<u64, Block>,
    bytes: i64,
}

impl Blocks {
    fn add(&mut self, address: u64, block: Block) -> Option<Block> {
        self.bytes = self.bytes.saturating_add(block.bytes);
        let before = self.by_address.insert(address, block);
        // Added first and subtracted afterwards: the sum cannot fall below zero for a block that is
        // replaced.
        self.bytes = self
            .bytes
            .saturating_sub(before.map_or(0, |before| before.bytes));
        before
    }

    fn take(&mut self, address: u64) -> Option<Block> {
        let block = self.by_address.remove(&address)?;
        self.bytes = self.bytes.saturating_sub(block.bytes);
        Some(block)
    }
}

/// A heap by its process and handle.
type HeapKey = (Option<ProcessKey>, u64);

/// Follows the blocks of all heaps.
#[derive(Debug, Default)]
struct Heaps {
    rows: i64,
    heaps: FxHashMap<HeapKey, Blocks>,
    /// Blocks of all heaps.
    blocks: usize,
    /// Number of allocations that are not followed because there are too many.
    dropped: u64,
}

impl Heaps {
    /// Applies a change, and sets its effect in its row.
    fn change(&mut self, of: HeapKey, change: Change, row: &mut Heap) {
        match change {
            // If the handle was in use, the end of the previous heap was lost.
            Change::Create | Change::Destroy => self.end(of, row),
            Change::Allocate { size, address } => {
                // The size that the program asked for.
                let bytes = signed(size);
                (row.address, row.size_bytes) = (Some(address.cast_signed()), Some(bytes));
                self.hold(of, (address, bytes), row.ts_ns, row);
            }
            Change::Reallocate {
                address,
                old_address,
                size,
                ..
            } => {
                let bytes = signed(size);
                (row.address, row.size_bytes) = (Some(address.cast_signed()), Some(bytes));
                // A block that grows in place keeps its address, so the old one has to go first.
                let since_ns = self
                    .free(of, old_address, row)
                    .map_or(row.ts_ns, |old| old.since_ns);
                self.hold(of, (address, bytes), since_ns, row);
            }
            Change::Free { address } => {
                row.address = Some(address.cast_signed());
                // Null if the block was allocated before the trace: its size is not in the event of
                // the free.
                row.size_bytes = self.free(of, address, row).map(|block| block.bytes);
            }
        }
        // Of blocks that were allocated in the trace. Older ones are not known, so the sum says how
        // much the heap grew.
        row.held_bytes = self.heaps.get(&of).map_or(0, |heap| heap.bytes);
    }

    /// Adds the block of a row by its address and size. It was allocated at `since_ns`.
    fn hold(&mut self, of: HeapKey, (address, bytes): (u64, i64), since_ns: i64, row: &mut Heap) {
        // A heap that is known may still grow at the limit of heaps; only new ones are refused.
        let is_full = self.heaps.len() >= MAX_HEAPS && !self.heaps.contains_key(&of);
        if is_full || self.blocks >= MAX_BLOCKS {
            self.dropped += 1;
            return;
        }
        // The lifetime of a block that changes its size begins with the first allocation: to the
        // program it is one block.
        let block = Block {
            row: row.heap_event_id,
            since_ns,
            bytes,
        };
        let before = self.heaps.entry(of).or_default().add(address, block);
        row.changed_bytes = row.changed_bytes.saturating_add(bytes);
        row.changed_blocks += 1;
        self.blocks += 1;
        if let Some(before) = before {
            // The free of the previous block was lost: another block is at its address now.
            self.gone(before, row);
        }
    }

    /// Frees a block, which it returns if it was allocated in the trace.
    fn free(&mut self, of: HeapKey, address: u64, row: &mut Heap) -> Option<Block> {
        let block = self.heaps.get_mut(&of)?.take(address)?;
        row.allocation_id = Some(block.row);
        row.lifetime_ns = Some(row.ts_ns.saturating_sub(block.since_ns));
        self.gone(block, row);
        Some(block)
    }

    fn gone(&mut self, block: Block, row: &mut Heap) {
        row.changed_bytes = row.changed_bytes.saturating_sub(block.bytes);
        row.changed_blocks -= 1;
        // Saturating, since a damaged trace may free more than it allocated.
        self.blocks = self.blocks.saturating_sub(1);
    }

    /// Frees all blocks of a heap.
    fn end(&mut self, of: HeapKey, row: &mut Heap) {
        // A heap that was created before the trace and never used in it is not known. Its end frees
        // nothing that was counted.
        let Some(heap) = self.heaps.remove(&of) else {
            return;
        };
        row.changed_bytes = row.changed_bytes.saturating_sub(heap.bytes);
        row.changed_blocks -= i64::try_from(heap.by_address.len()).unwrap_or(i64::MAX);
        self.blocks = self.blocks.saturating_sub(heap.by_address.len());
    }
}

impl Importer for Heaps {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let read = Change::parse(event.payload(), hook.opcode, event.pointer_size());
        let Some((handle, change)) = read else {
            return Ok(false);
        };
        let ts_ns = context.ns(event.timestamp);
        // Outside the range nothing is followed either, so that a range answers as a trace of that
        // part does.
        if !context.range.contains(ts_ns) {
            return Ok(true);
        }
        let actor = Actor::of(event, context);
        let mut row = Heap {
            heap_event_id: self.rows,
            ts_ns,
            process_key: key(actor.process),
            thread_key: actor.thread_key,
            heap_handle: handle.cast_signed(),
            kind: change.name(),
            ..Heap::default()
        };
        self.rows += 1;
        self.change((actor.process, handle), change, &mut row);
        let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
        context.wait(event.timestamp, actor.tid, actor.process, row);
        Ok(true)
    }

    fn finish(
        self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        context.notes.not_followed += self.dropped;
        Ok(())
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
