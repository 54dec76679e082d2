//! Samples, DPCs, interrupts, marks.

use std::io::{Seek, Write};

use etwkit_etl::writer::StackOwner;

use super::io::Request;
use super::observe::Cause;
use super::times::TICK_NS;
use super::{Happening, Sim, kind};
use crate::Result;
use crate::plan::ModulePlan;
use crate::stacks::Taken;
use crate::table::{Cpu, Thread};
use crate::tape::{Kind, T0};
use crate::truth::Mark;

/// Per mille of samples that hit a DPC.
const DPC_SAMPLES: u64 = 4;
const IN_DPC: u8 = 1;

impl<W: Write + Seek> Sim<W> {
    /// The processor that interrupts of the keyboard go to.
    // Those of the disk go to the last one, so that a thread is often readied on another processor
    // than its own.
    pub(super) const INPUT_CPU: Cpu = Cpu(0);

    /// Returns the processor that interrupts of the disk go to.
    pub(super) fn disk_cpu(&self) -> Cpu {
        Cpu(self.cpus.len() - 1)
    }

    pub(super) fn sample(&mut self, cpu: Cpu) -> Result<()> {
        let start = self.tape.next();
        self.plan_at(
            start + i64::from(self.plan.interval),
            Happening::Sample(cpu),
        );
        if let Some(open) = self.cpus[cpu].dpc {
            return self.sample_dpc(cpu, open);
        }
        let current = self.cpus[cpu].current;
        // A DPC interrupts any running code, including the idle loop.
        let in_dpc = self.rng.chance(DPC_SAMPLES);
        let address = match current {
            _ if in_dpc => self.plan.routines.in_dpc + 4 * self.rng.below(64),
            None => self.plan.routines.idle,
            Some(thread) => {
                self.take_frames(thread, Taken::Sample);
                self.frames.innermost()
            }
        };
        // Taken for every sample, in a DPC or not: it draws a random number, and the sequence must
        // not depend on the sampled code.
        let dpc_start = self.begin_interrupt(cpu);
        let (thread_id, process_id) = self.ids(current);
        let timestamp = self.write_sample(cpu, (address, in_dpc))?;
        if in_dpc {
            // Written without a stack: no code of a thread ran, and counts of functions would
            // attribute it to one.
            return self.end_dpc(cpu, kind::DPC, self.plan.routines.disk.1, dpc_start);
        }
        if let Some(thread) = current {
            self.count_functions(thread);
            let owner = StackOwner {
                timestamp,
                process_id,
                thread_id,
            };
            return self.write_sample_stack(cpu, owner);
        }
        Ok(())
    }

    /// Writes the event of a sample at an address, in a DPC or not. Returns its time.
    pub(super) fn write_sample(&mut self, cpu: Cpu, (address, in_dpc): (u64, bool)) -> Result<i64> {
        let current = self.cpus[cpu].current;
        let (thread_id, process_id) = self.ids(current);
        let priority = current.map_or(0, |thread| self.plan.threads[thread].priority);
        let flags = priority << 3 | if in_dpc { IN_DPC } else { 0 };
        let timestamp = self.tape.kernel(cpu.0 as u16, kind::SAMPLE, None, |p| {
            p.u64(address).u32(thread_id).u16(1).bytes(&[flags, 0]);
        })?;
        // A DPC keeps its processor busy even if no thread runs there.
        let busy = in_dpc || current.is_some();
        self.count_sample(cpu, (thread_id, process_id), busy, in_dpc, address);
        Ok(timestamp)
    }

    /// Writes the stack in `self.frames`, which a sample has.
    pub(super) fn write_sample_stack(&mut self, cpu: Cpu, owner: StackOwner) -> Result<()> {
        let (kernel, user) = self.write_stack(cpu, owner)?;
        let stacks = &mut self.truth.samples.stacks;
        stacks.samples_with_any_stack += 1;
        stacks.samples_with_kernel_stack += u64::from(kernel > 0);
        stacks.samples_with_user_stack += u64::from(user > 0);
        stacks.frames += (kernel + user) as u64;
        Ok(())
    }

    fn count_sample(
        &mut self,
        cpu: Cpu,
        (tid, pid): (u32, u32),
        busy: bool,
        in_dpc: bool,
        address: u64,
    ) {
        let samples = &mut self.truth.samples;
        let (cpu, process) = (cpu.0 as u16, pid.to_string());
        samples.samples += 1;
        samples.idle_samples += u64::from(!busy);
        samples.busy_samples += u64::from(busy);
        samples.dpc_isr_samples += u64::from(in_dpc);
        *samples.by_thread.entry(format!("{pid}/{tid}")).or_default() += 1;
        *samples.by_core.entry(cpu).or_default() += 1;
        if busy {
            *samples.busy_by_core.entry(cpu).or_default() += 1;
            // Images of different processes may have the same address.
            let of_process = self
                .plan
                .programs
                .iter()
                .filter(|(_, plan)| plan.pid == 0 || plan.pid == pid);
            let images = of_process
                .flat_map(|(_, plan)| plan.modules)
                .map(|m| &self.plan.modules[*m]);
            // The first image that holds the address, as an image of the process and one of the
            // kernel cannot overlap.
            let module = images
                .into_iter()
                .find(|m| (m.base..m.base + u64::from(m.size)).contains(&address));
            let path = module.map_or_else(|| "?".to_owned(), ModulePlan::dos_path);
            let modules = samples
                .exclusive_by_module
                .entry(process.clone())
                .or_default();
            *modules.entry(path).or_default() += 1;
        }
        *samples.by_process.entry(process).or_default() += 1;
    }

    /// Runs a DPC with an action. Its event is written when it has finished.
    pub(super) fn dpc(
        &mut self,
        cpu: Cpu,
        kind: Kind,
        routine: u64,
        body: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let start = self.begin_interrupt(cpu);
        body(self)?;
        self.end_dpc(cpu, kind, routine, start)
    }

    pub(super) fn end_dpc(&mut self, cpu: Cpu, kind: Kind, routine: u64, start: i64) -> Result<()> {
        let end = self.tape.kernel(cpu.0 as u16, kind, None, |p| {
            p.time(start).u64(routine);
        })?;
        self.truth.interrupts.dpcs += 1;
        self.truth.interrupts.dpc_ns += (end - start) * TICK_NS;
        Ok(())
    }

    /// Returns a start some microseconds ago, but not before anything else on that processor.
    fn begin_interrupt(&mut self, cpu: Cpu) -> i64 {
        // The event of a DPC or interrupt is written at its end and holds its start, so that the
        // start is made up backwards: 0.8 to 6 microseconds.
        let long_ago = self.tape.next() - i64::from(self.rng.between(8, 60));
        // An interrupt that began before the latest record of its processor would have to contain
        // it.
        long_ago.max(self.tape.latest(cpu.0 as u16) + 1)
    }

    pub(super) fn isr(&mut self, cpu: Cpu, routine: u64, vector: u16) -> Result<()> {
        let start = self.begin_interrupt(cpu);
        let end = self.tape.kernel(cpu.0 as u16, kind::ISR, None, |p| {
            p.time(start)
                .u64(routine)
                .bytes(&[1])
                .u16(vector)
                .bytes(&[0]);
        })?;
        self.truth.interrupts.isrs += 1;
        self.truth.interrupts.isr_ns += (end - start) * TICK_NS;
        Ok(())
    }

    /// Fires a timer on some processor.
    pub(super) fn timer(&mut self, thread: Thread) -> Result<()> {
        let cpu = Cpu(self.rng.below(self.cpus.len() as u64) as usize);
        if let Some(until) = self.in_dpc_until(cpu) {
            self.plan_at(until, Happening::Timer(thread));
            return Ok(());
        }
        let routine = self.plan.routines.timer;
        self.dpc(cpu, kind::TIMER_DPC, routine, |sim| {
            sim.make_ready(cpu, thread, Some(Cause::Timer))
        })
    }

    pub(super) fn input(&mut self, thread: Thread) -> Result<()> {
        let (cpu, (isr, dpc)) = (Self::INPUT_CPU, self.plan.routines.keyboard);
        self.isr(cpu, isr, 0x91)?;
        self.dpc(cpu, kind::DPC, dpc, |sim| {
            sim.make_ready(cpu, thread, Some(Cause::Input))
        })
    }

    /// Interrupts for the disk. The finished request is completed in the DPC.
    pub(super) fn disk_done(&mut self, request: Option<Request>) -> Result<()> {
        let Some(request) = request else {
            return Ok(());
        };
        let (cpu, (isr, dpc)) = (self.disk_cpu(), self.plan.routines.disk);
        self.isr(cpu, isr, 0xB1)?;
        self.dpc(cpu, kind::DPC, dpc, |sim| {
            let transfer = sim.complete(cpu, &request)?;
            sim.make_ready(cpu, request.thread, Some(Cause::Disk(transfer)))
        })
    }

    pub(super) fn mark(&mut self, index: usize) -> Result<()> {
        let Some((_, text)) = self.plan.marks.get(index).copied() else {
            return Ok(());
        };
        self.set_mark(text)
    }

    pub(super) fn set_mark(&mut self, text: &str) -> Result<()> {
        let time = self.tape.kernel(0, kind::MARK, None, |p| {
            p.ansi(text);
        })?;
        self.truth.marks.push(Mark {
            time_ns: (time - T0) * TICK_NS,
            text: text.to_owned(),
        });
        Ok(())
    }
}
