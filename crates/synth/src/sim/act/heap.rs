//! Heaps of programs: made, used and destroyed. Heap 0 is the process heap, which exists before the
//! trace.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Seek, Write};

use super::super::times::TICK_NS;
use super::super::{Sim, kind};
use crate::Result;
use crate::table::{Cpu, Program, Thread};
use crate::tape::Kind;
use crate::truth::HeapSums;

/// Address of the first heap, and bytes between two.
const HEAPS: u64 = 0x1F0_0000_0000;
const HEAP_STEP: u64 = 0x1_0000_0000;
/// Offset of the first block in its heap.
const FIRST_BLOCK: u64 = 0x740;
/// Size of the largest block in the low-fragmentation heap, in bytes.
const SMALL: u64 = 0x4000;

/// A block of a heap.
#[derive(Debug, Clone, Copy)]
struct Block {
    address: u64,
    bytes: u64,
    since: i64,
}

/// A heap.
#[derive(Debug, Default)]
struct Heap {
    /// The oldest first.
    live: VecDeque<Block>,
    free: Vec<u64>,
    blocks: u64,
}

/// Heaps of each program by number.
#[derive(Debug, Default)]
pub(in crate::sim) struct Heaps(BTreeMap<(Program, u32), Heap>);

/// Returns the handle of a heap. Programs have their own addresses, so heaps of several programs
/// have the same handle.
const fn handle(heap: u32) -> u64 {
    HEAPS + HEAP_STEP * heap as u64
}

/// Returns the part of the heap that serves a request.
const fn source(bytes: u64) -> u32 {
    if bytes < SMALL { 2 } else { 4 }
}

impl<W: Write + Seek> Sim<W> {
    fn heap_of(&mut self, thread: Thread, heap: u32) -> &mut Heap {
        self.world
            .heaps
            .0
            .entry((self.plan.threads[thread].program, heap))
            .or_default()
    }

    /// Returns a place for a block: the one that was freed last, or a new one.
    fn place(&mut self, thread: Thread, heap: u32) -> u64 {
        let state = self.heap_of(thread, heap);
        state.free.pop().unwrap_or_else(|| {
            state.blocks += 1;
            handle(heap) + FIRST_BLOCK + 0x10_0000 * state.blocks
        })
    }

    pub(super) fn heap_begins(&mut self, cpu: Cpu, thread: Thread, heap: u32) -> Result<()> {
        self.user_event(cpu, thread, kind::HEAP_CREATE, |p| {
            p.u64(handle(heap))
                .u32(2)
                .u64(0x10_0000)
                .u64(0x2000)
                .u64(0x740);
        })?;
        self.count_heap(thread, heap, |sums| sums.creates += 1);
        Ok(())
    }

    pub(super) fn heap_allocates(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        heap: u32,
        (low, high): (u32, u32),
    ) -> Result<()> {
        let bytes = u64::from(self.rng.between(low, high));
        let address = self.place(thread, heap);
        let since = self.user_event(cpu, thread, kind::HEAP_ALLOC, |p| {
            p.u64(handle(heap))
                .u64(bytes)
                .u64(address)
                .u32(source(bytes));
        })?;
        self.heap_of(thread, heap).live.push_back(Block {
            address,
            bytes,
            since,
        });
        self.count_heap(thread, heap, |sums| {
            sums.allocations += 1;
            sums.allocated_bytes += bytes;
        });
        Ok(())
    }

    /// Resizes the oldest block. A block that shrinks stays in place; a block that grows moves.
    pub(super) fn heap_resizes(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        heap: u32,
        (low, high): (u32, u32),
    ) -> Result<()> {
        let bytes = u64::from(self.rng.between(low, high));
        let Some(old) = self.heap_of(thread, heap).live.pop_front() else {
            return Ok(());
        };
        let address = if bytes <= old.bytes {
            old.address
        } else {
            self.place(thread, heap)
        };
        self.user_event(cpu, thread, kind::HEAP_REALLOC, |p| {
            p.u64(handle(heap))
                .u64(address)
                .u64(old.address)
                .u64(bytes)
                .u64(old.bytes)
                .u32(source(bytes));
        })?;
        let state = self.heap_of(thread, heap);
        if address != old.address {
            state.free.push(old.address);
        }
        // The block keeps its place as the oldest one and its start, since it lives on.
        state.live.push_front(Block {
            address,
            bytes,
            since: old.since,
        });
        self.count_heap(thread, heap, |sums| {
            sums.resizes += 1;
            sums.resized_from_bytes += old.bytes;
            sums.resized_to_bytes += bytes;
        });
        Ok(())
    }

    pub(super) fn heap_frees(&mut self, cpu: Cpu, thread: Thread, heap: u32) -> Result<()> {
        let Some(block) = self.heap_of(thread, heap).live.pop_front() else {
            return Ok(());
        };
        let Block {
            address,
            bytes,
            since,
        } = block;
        let time = self.user_event(cpu, thread, kind::HEAP_FREE, |p| {
            p.u64(handle(heap)).u64(address).u32(source(bytes));
        })?;
        self.heap_of(thread, heap).free.push(address);
        self.count_heap(thread, heap, |sums| {
            sums.frees += 1;
            sums.freed_bytes += bytes;
            sums.lifetime_ns += (time - since) * TICK_NS;
        });
        Ok(())
    }

    pub(super) fn heap_ends(&mut self, cpu: Cpu, thread: Thread, heap: u32) -> Result<()> {
        const DESTROY: Kind = kind::HEAP_DESTROY;
        self.user_event(cpu, thread, DESTROY, |p| {
            p.u64(handle(heap));
        })?;
        // Blocks that go with their heap have no events of their own: readers have to drop them by
        // the handle.
        let gone = std::mem::take(self.heap_of(thread, heap));
        let bytes: u64 = gone.live.iter().map(|block| block.bytes).sum();
        self.count_heap(thread, heap, |sums| {
            sums.destroys += 1;
            sums.destroyed_blocks += gone.live.len() as u64;
            sums.destroyed_bytes += bytes;
        });
        Ok(())
    }

    fn count_heap(&mut self, thread: Thread, heap: u32, count: impl FnOnce(&mut HeapSums)) {
        let heaps = self.truth.heap.entry(self.pid_text(thread)).or_default();
        count(heaps.entry(format!("{:#x}", handle(heap))).or_default());
    }

    pub(super) fn finish_heaps(&mut self) {
        for ((program, number), heap) in &self.world.heaps.0 {
            let heaps = self
                .truth
                .heap
                .entry(self.plan.programs[*program].pid.to_string())
                .or_default();
            let sums = heaps.entry(format!("{:#x}", handle(*number))).or_default();
            sums.live = heap.live.len() as u64;
            sums.live_bytes = heap.live.iter().map(|block| block.bytes).sum();
        }
    }
}
