//! The registry: operations on keys, and the control blocks that represent keys in their events.

use std::collections::BTreeSet;
use std::io::{Seek, Write};

use super::super::times::TICK_NS;
use super::super::{Sim, kind};
use crate::Result;
use crate::act::{RegistryAct, RegistryOperation};
use crate::table::{Cpu, RegistryKey, Thread};
use crate::tape::Kind;

/// Address of the first control block, and bytes between two.
const BLOCKS: u64 = 0xFFFF_8A0A_0000_0000;
const BLOCK_STEP: u64 = 0x300;

/// Open operation of a thread, and its start.
#[derive(Debug, Default)]
pub(in crate::sim) struct Registering(Option<(RegistryAct, i64)>);

/// Keys that have a control block.
#[derive(Debug, Default)]
pub(in crate::sim) struct RegistryState(BTreeSet<RegistryKey>);

impl<W: Write + Seek> Sim<W> {
    /// Control block of a key. Keys that share a place have the same block at different times.
    fn control_block(&self, key: RegistryKey) -> u64 {
        BLOCKS + BLOCK_STEP * u64::from(self.plan.keys[key].place)
    }

    /// Starts a registry operation. Nothing is logged before the operation is finished.
    pub(super) fn registry_begins(&mut self, thread: Thread, act: RegistryAct) {
        self.threads[thread].acting.registry.0 = Some((act, self.tape.now()));
    }

    pub(super) fn registry_ends(&mut self, cpu: Cpu, thread: Thread, status: u32) -> Result<()> {
        let Some((act, began)) = self.threads[thread].acting.registry.0.take() else {
            return Ok(());
        };
        let RegistryAct {
            operation,
            key,
            name,
        } = act;
        let (block, index) = (
            self.control_block(key),
            u32::from(operation == RegistryOperation::QueryValue),
        );
        let time = self.kernel_event(cpu, thread, Kind(9, operation.opcode(), 2), |p| {
            p.time(began).u32(status).u32(index).u64(block).wide(name);
        })?;
        let base = self.plan.keys[key].path;
        // The block represents the key that an operation starts from. A key name in the event leads
        // further down.
        let path = if name.is_empty() || operation.names_value() {
            base.to_owned()
        } else {
            format!(r"{base}\{name}")
        };
        self.call_is_about(thread, &path);
        let pid = self.pid_text(thread);
        let registry = &mut self.truth.registry;
        let of_process = registry.by_process.entry(pid).or_default();
        for sums in [
            of_process.entry(operation.name().to_owned()).or_default(),
            registry.by_key.entry(path).or_default(),
        ] {
            sums.count += 1;
            sums.failed += u64::from(status >> 30 == 3);
            sums.duration_ns += (time - began) * TICK_NS;
        }
        Ok(())
    }

    /// Gives a key its control block.
    pub(super) fn block_begins(&mut self, cpu: Cpu, key: RegistryKey) -> Result<()> {
        self.world.registry.0.insert(key);
        self.block_event(cpu, kind::BLOCK_CREATE, key)
    }

    /// Removes the control block of a key.
    pub(super) fn block_ends(&mut self, cpu: Cpu, key: RegistryKey) -> Result<()> {
        self.world.registry.0.remove(&key);
        self.block_event(cpu, kind::BLOCK_DELETE, key)
    }

    fn block_event(&mut self, cpu: Cpu, kind: Kind, key: RegistryKey) -> Result<()> {
        let (block, path) = (self.control_block(key), self.plan.keys[key].path);
        let now = self.tape.now();
        self.tape.kernel(cpu.0 as u16, kind, None, |p| {
            p.time(now).u32(0).u32(0).u64(block).wide(path);
        })?;
        Ok(())
    }

    /// Writes the control blocks that exist when the session begins. The others are named when they
    /// are created, or when the session ends.
    pub(in crate::sim) fn registry_rundown_at_start(&mut self) -> Result<()> {
        for key in self.plan.keys.keys() {
            let plan = &self.plan.keys[key];
            if plan.is_there && plan.is_listed_first {
                self.block_event(Cpu(0), kind::BLOCK_START, key)?;
            }
            // A control block that is not listed at the start is nevertheless in use; its name
            // comes only at the end.
            if self.plan.keys[key].is_there {
                self.world.registry.0.insert(key);
            }
        }
        Ok(())
    }

    pub(in crate::sim) fn registry_rundown_at_end(&mut self) -> Result<()> {
        let there = self.world.registry.0.clone();
        there
            .into_iter()
            .try_for_each(|key| self.block_event(Cpu(0), kind::BLOCK_END, key))
    }
}
