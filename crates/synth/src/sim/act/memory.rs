//! Page faults, and memory of the kernel.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Seek, Write};

use super::super::times::TICK_NS;
use super::super::{Sim, kind};
use crate::Result;
use crate::act::{FaultKind, Pool};
use crate::plan::file_key;
use crate::rng::mix;
use crate::stacks::Taken;
use crate::table::{Cpu, File, Thread};
use crate::tape::Kind;
use crate::truth::PoolSums;

/// Addresses that programs touch, and addresses of blocks in the kernel.
const PAGES: u64 = 0x1A0_0000_0000;
const BLOCKS: u64 = 0xFFFF_B40C_0000_0000;
const PAGE: u64 = 4096;
/// Bytes between two blocks.
const BLOCK_STEP: u64 = 0x2000;

/// A block of the kernel's memory.
#[derive(Debug, Clone, Copy)]
struct Block {
    address: u64,
    bytes: u64,
    kind: u32,
    since: i64,
}

/// Blocks of each tag, the oldest first, and addresses that are free again.
#[derive(Debug, Default)]
pub(in crate::sim) struct PoolState {
    live: BTreeMap<&'static str, VecDeque<Block>>,
    free: Vec<u64>,
    blocks: u64,
}

impl<W: Write + Seek> Sim<W> {
    pub(super) fn soft_fault(&mut self, cpu: Cpu, thread: Thread, fault: FaultKind) -> Result<()> {
        let address = PAGES + PAGE * self.rng.below(1 << 20) + self.rng.below(PAGE);
        self.fault_event(cpu, thread, Kind(2, fault.opcode(), 2), address)?;
        let faults = self
            .truth
            .page_faults
            .entry(self.pid_text(thread))
            .or_default();
        *faults.entry(fault.name().to_owned()).or_default() += 1;
        Ok(())
    }

    /// Completes a hard fault: pages of a file are in memory that a thread has waited for since
    /// `began`.
    pub(in crate::sim) fn hard_fault(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (file, bytes): (File, u32),
        began: i64,
    ) -> Result<()> {
        let (tid, _) = self.ids(Some(thread));
        let offset = PAGE * (mix(began as u64) % 5000);
        let address = PAGES + offset;
        let ended = self.kernel_event(cpu, thread, kind::HARD_FAULT, |p| {
            p.time(began)
                .u64(offset)
                .u64(address)
                .u64(file_key(file))
                .u32(tid)
                .u32(bytes);
        })?;
        // Windows reports a hard fault twice: with the file and the duration, and among the other
        // page faults.
        self.fault_event(cpu, thread, kind::HARD_PAGE_FAULT, address)?;
        let pid = self.pid_text(thread);
        let faults = self.truth.page_faults.entry(pid.clone()).or_default();
        *faults.entry("hard".to_owned()).or_default() += 1;
        let path = self.plan.files[file].dos_path();
        let truth = &mut self.truth.hard_faults;
        for sums in [
            truth.by_process.entry(pid).or_default(),
            truth.by_file.entry(path).or_default(),
        ] {
            sums.count += 1;
            sums.bytes += u64::from(bytes);
            sums.duration_ns += (ended - began) * TICK_NS;
        }
        Ok(())
    }

    /// Writes the event of a page fault, with the address that a thread touched.
    fn fault_event(&mut self, cpu: Cpu, thread: Thread, kind: Kind, address: u64) -> Result<()> {
        self.take_frames(thread, Taken::Ready);
        // A fault is blamed on the instruction of the program, not on the code of the kernel that
        // handles it.
        let of_program = self.frames.user.first().copied();
        let counter = of_program.unwrap_or_else(|| self.frames.innermost());
        self.kernel_event(cpu, thread, kind, |p| {
            p.u64(address).u64(counter);
        })?;
        Ok(())
    }

    pub(super) fn pool_allocates(&mut self, cpu: Cpu, thread: Thread, pool: Pool) -> Result<()> {
        let Pool {
            tag,
            kind,
            low,
            high,
        } = pool;
        let bytes = u64::from(self.rng.between(low, high));
        let state = &mut self.world.pool;
        let address = state.free.pop().unwrap_or_else(|| {
            state.blocks += 1;
            BLOCKS + BLOCK_STEP * state.blocks
        });
        let since = self.pool_event(
            cpu,
            thread,
            kind::POOL_ALLOCATION,
            (tag, kind, bytes, address),
        )?;
        self.world
            .pool
            .live
            .entry(tag)
            .or_default()
            .push_back(Block {
                address,
                bytes,
                kind,
                since,
            });
        self.count_pool(thread, tag, |sums| {
            sums.allocations += 1;
            sums.allocated_bytes += bytes;
        });
        Ok(())
    }

    pub(super) fn pool_frees(&mut self, cpu: Cpu, thread: Thread, tag: &'static str) -> Result<()> {
        let Some(block) = self
            .world
            .pool
            .live
            .get_mut(tag)
            .and_then(VecDeque::pop_front)
        else {
            return Ok(());
        };
        let Block {
            address,
            bytes,
            kind,
            since,
        } = block;
        let time = self.pool_event(cpu, thread, kind::POOL_FREE, (tag, kind, bytes, address))?;
        self.world.pool.free.push(address);
        self.count_pool(thread, tag, |sums| {
            sums.frees += 1;
            sums.freed_bytes += bytes;
            sums.lifetime_ns += (time - since) * TICK_NS;
        });
        Ok(())
    }

    pub(super) fn pool_frees_earlier(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        tag: &'static str,
        bytes: u32,
    ) -> Result<()> {
        let bytes = u64::from(bytes);
        // An address after all blocks of the trace: readers must not find an allocation for it.
        let address = BLOCKS + (1 << 40) + BLOCK_STEP * self.rng.below(1 << 20);
        self.pool_event(cpu, thread, kind::POOL_FREE, (tag, 1, bytes, address))?;
        self.count_pool(thread, tag, |sums| {
            sums.frees += 1;
            sums.freed_bytes += bytes;
            sums.frees_of_earlier += 1;
        });
        Ok(())
    }

    fn pool_event(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        kind: Kind,
        (tag, pool, bytes, address): (&'static str, u32, u64, u64),
    ) -> Result<i64> {
        self.kernel_event(cpu, thread, kind, |p| {
            p.u32(pool).bytes(tag.as_bytes()).u64(bytes).u64(address);
        })
    }

    fn count_pool(&mut self, thread: Thread, tag: &str, count: impl Fn(&mut PoolSums)) {
        let pid = self.pid_text(thread);
        let truth = &mut self.truth.pool;
        count(truth.by_tag.entry(tag.to_owned()).or_default());
        count(truth.by_process.entry(pid).or_default());
    }

    pub(super) fn finish_pool(&mut self) {
        for (tag, blocks) in &self.world.pool.live {
            let sums = self.truth.pool.by_tag.entry((*tag).to_owned()).or_default();
            sums.live = blocks.len() as u64;
            sums.live_bytes = blocks.iter().map(|block| block.bytes).sum();
        }
    }
}
