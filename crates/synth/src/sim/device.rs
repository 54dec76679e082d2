//! Devices whose DPCs keep a processor: meanwhile its thread stands still, and no other thread,
//! timer or interrupt of a lower level gets it.

use std::io::{Seek, Write};

use etwkit_etl::writer::StackOwner;

use super::{Happening, Sim, kind};
use crate::Result;
use crate::plan::DevicePlan;
use crate::table::{Cpu, Device, Function};
use crate::tape::MICROSECOND;

/// Interrupt vector of all devices.
const VECTOR: u16 = 0xA1;

/// Interrupts of a device.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DeviceState {
    is_on: bool,
    /// The next interrupt is planned, or a DPC runs.
    is_active: bool,
}

/// A DPC that has not ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenDpc {
    device: Device,
    since: i64,
    until: i64,
}

impl<W: Write + Seek> Sim<W> {
    pub(super) fn device_on(&mut self, device: Device) {
        self.devices[device].is_on = true;
        // A device that was off for a moment still has the interrupt that was planned before.
        if !std::mem::replace(&mut self.devices[device].is_active, true) {
            self.plan_interrupt(device);
        }
    }

    pub(super) fn device_off(&mut self, device: Device) {
        self.devices[device].is_on = false;
    }

    fn plan_interrupt(&mut self, device: Device) {
        let (low, high) = self.plan.devices[device].pause_us;
        let pause = MICROSECOND * i64::from(self.rng.between(low, high));
        self.plan_at(self.tape.now() + pause, Happening::Interrupt(device));
    }

    /// Interrupts a processor, and begins the DPC.
    pub(super) fn interrupt(&mut self, device: Device) -> Result<()> {
        if !self.devices[device].is_on {
            self.devices[device].is_active = false;
            return Ok(());
        }
        let plan = self.plan.devices[device];
        let cpu = self.interrupted_by(&plan);
        if let Some(until) = self.in_dpc_until(cpu) {
            self.plan_at(until, Happening::Interrupt(device));
            return Ok(());
        }
        self.isr(cpu, self.address_of(plan.isr), VECTOR)?;
        let (low, high) = plan.dpc_us;
        let length = MICROSECOND * i64::from(self.rng.between(low, high));
        let since = self.tape.next();
        let until = since + length;
        // What the thread of the processor computes takes longer by this time.
        self.cpus[cpu].until += length;
        self.cpus[cpu].dpc = Some(OpenDpc {
            device,
            since,
            until,
        });
        self.plan_at(until, Happening::DpcEnds(cpu));
        Ok(())
    }

    pub(super) fn dpc_ends(&mut self, cpu: Cpu) -> Result<()> {
        let Some(open) = self.cpus[cpu].dpc.take() else {
            return Ok(());
        };
        let routine = self.address_of(self.plan.devices[open.device].dpc);
        self.end_dpc(cpu, kind::DPC, routine, open.since)?;
        self.plan_interrupt(open.device);
        Ok(())
    }

    fn interrupted_by(&self, plan: &DevicePlan) -> Cpu {
        let is_idle = |cpu: &Cpu| {
            let state = &self.cpus[*cpu];
            state.current.is_none() && !state.dispatching && state.dpc.is_none()
        };
        plan.cpu
            .or_else(|| self.cpus.keys().find(is_idle))
            .unwrap_or(Cpu(0))
    }

    /// Returns the end of the DPC that keeps a processor.
    pub(super) fn in_dpc_until(&self, cpu: Cpu) -> Option<i64> {
        self.cpus[cpu].dpc.map(|open| open.until)
    }

    /// Returns the time to which a DPC defers something that was to happen at `time`.
    pub(super) fn deferred(&self, happening: Happening, time: i64) -> Option<i64> {
        if self.devices.len() == 0 {
            return None;
        }
        match happening {
            Happening::Computed(cpu, slice) if self.cpus[cpu].slice == slice => {
                Some(self.cpus[cpu].until).filter(|until| *until > time)
            }
            Happening::QuantumEnd(cpu, _) | Happening::Dispatch(cpu) => self.in_dpc_until(cpu),
            Happening::Input(_) => self.in_dpc_until(Self::INPUT_CPU),
            Happening::DiskDone | Happening::BackgroundDiskDone => {
                self.in_dpc_until(self.disk_cpu())
            }
            _ => None,
        }
    }

    /// Takes a sample of the DPC that keeps a processor, with its stack.
    pub(super) fn sample_dpc(&mut self, cpu: Cpu, open: OpenDpc) -> Result<()> {
        let path = self.plan.devices[open.device].path;
        let frames = &self.plan.code.paths[path];
        self.frames.kernel.clone_from(&frames.kernel);
        self.frames.user.clear();
        let address = self.frames.innermost();
        let (thread_id, process_id) = self.ids(self.cpus[cpu].current);
        let timestamp = self.write_sample(cpu, (address, true))?;
        // The functions of the DPC are not counted: those of the truth belong to threads.
        let owner = StackOwner {
            timestamp,
            process_id,
            thread_id,
        };
        self.write_sample_stack(cpu, owner)
    }

    fn address_of(&self, function: Function) -> u64 {
        self.plan.code.address(&self.plan.modules, function)
    }
}
