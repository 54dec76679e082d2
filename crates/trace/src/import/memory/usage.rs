//! Use of memory by the machine and by processes.

use etwkit_decode::kernel::memory::{KERNEL_MEMORY, Machine, Process, id, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use crate::declared::{Events, sums};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, key};
use crate::sink::Sink;
use crate::system_config::SystemConfig;
use crate::table::{MemoryMachine, MemorySample, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[
        Events::Kernel(group::MEMORY, &[opcode::MACHINE, opcode::PROCESSES]),
        Events::Provider(KERNEL_MEMORY, &[id::MACHINE, id::PROCESSES]),
    ],
    tables: &[sums(MemorySample::TABLE), sums(MemoryMachine::TABLE)],
    make: |learned| Box::new(Memory::new(&learned.collected.config)),
    ..Declaration::EMPTY
};

/// Bytes of a page if the trace does not contain the size.
const PAGE_BYTES: u32 = 4096;

/// Turns pages into bytes.
struct Memory {
    page_bytes: u64,
    /// Bytes of the machine.
    all: Option<u64>,
}

impl Memory {
    fn new(config: &SystemConfig) -> Self {
        let cpu = config.cpu.as_ref();
        let page_bytes = cpu
            .map(|cpu| cpu.page_size)
            .filter(|size| *size > 0)
            .unwrap_or(PAGE_BYTES);
        let all = cpu
            .map(|cpu| u64::from(cpu.memory_mb) << 20)
            .filter(|all| *all > 0);
        Self {
            page_bytes: page_bytes.into(),
            all,
        }
    }

    fn machine(
        &self,
        machine: Option<Machine>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let Some(m) = machine else { return Ok(false) };
        let ts_ns = context.ns(event.timestamp);
        if !context.range.contains(ts_ns) {
            return Ok(true);
        }
        // No event contains the memory in use: it is the memory on none of the page lists.
        let other = [
            m.zero,
            m.free,
            m.standby,
            m.modified,
            m.modified_no_write,
            m.bad,
        ];
        let other = other
            .into_iter()
            .fold(0u64, u64::saturating_add)
            .saturating_mul(self.page_bytes);
        let bytes = |pages| self.bytes(pages);
        let row = MemoryMachine {
            ts_ns,
            in_use_bytes: self
                .all
                .and_then(|all| i64::try_from(all.checked_sub(other)?).ok()),
            zero_bytes: bytes(m.zero),
            free_bytes: bytes(m.free),
            standby_bytes: bytes(m.standby),
            modified_bytes: bytes(m.modified),
            modified_no_write_bytes: bytes(m.modified_no_write),
            bad_bytes: bytes(m.bad),
            repurposed_pages: i64::try_from(m.repurposed).unwrap_or(i64::MAX),
            modified_page_file_bytes: m.modified_page_file.map(bytes),
            paged_pool_bytes: m.paged_pool.map(bytes),
            nonpaged_pool_bytes: m.nonpaged_pool.map(bytes),
            mdl_bytes: m.mdl.map(bytes),
            commit_bytes: m.commit.map(bytes),
        };
        context.tables.push(&row, sink)?;
        Ok(true)
    }

    fn processes(
        &self,
        processes: &[Process],
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let ts_ns = context.ns(event.timestamp);
        if !context.range.contains(ts_ns) {
            return Ok(!processes.is_empty());
        }
        let bytes = |pages| self.bytes(pages);
        for process in processes {
            let row = MemorySample {
                ts_ns,
                process_key: key(context.directory.process_at(process.pid, event.timestamp)),
                pid: process.pid.cast_signed(),
                // The meaning of the numbers of parts is not documented.
                part: None,
                working_set_bytes: bytes(process.working_set),
                private_working_set_bytes: bytes(process.private_working_set),
                commit_bytes: bytes(process.commit),
                shared_commit_bytes: process.shared_commit.map(bytes),
                virtual_bytes: bytes(process.virtual_size),
                commit_debt_bytes: process.commit_debt.map(bytes),
                stored_bytes: process.stored.map(bytes),
                store_bytes: process.store.map(bytes),
            };
            context.tables.push(&row, sink)?;
        }
        Ok(!processes.is_empty())
    }

    fn bytes(&self, pages: u64) -> i64 {
        i64::try_from(pages.saturating_mul(self.page_bytes)).unwrap_or(i64::MAX)
    }
}

impl Importer for Memory {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let payload = event.payload();
        let pointer_size = event.pointer_size();
        if hook.opcode == opcode::MACHINE {
            return self.machine(Machine::parse(payload, pointer_size), event, context, sink);
        }
        self.processes(
            &Process::parse_all(payload, pointer_size),
            event,
            context,
            sink,
        )
    }

    fn other(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let payload = event.payload();
        let pointer_size = event.pointer_size();
        if event.descriptor().id == id::MACHINE {
            return self.machine(
                Machine::parse_provider(payload, pointer_size),
                event,
                context,
                sink,
            );
        }
        self.processes(
            &Process::parse_all(payload, pointer_size),
            event,
            context,
            sink,
        )
    }
}
