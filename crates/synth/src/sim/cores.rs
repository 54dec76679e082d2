//! Processors of different kinds: affinity of threads, parking, frequencies.
//!
//! The events come from Microsoft-Windows-Kernel-Processor-Power.

use std::io::{Seek, Write};

use super::times::TICK_NS;
use super::{Happening, Sim, kind};
use crate::Result;
use crate::plan::{HybridPlan, Plan};
use crate::table::{Cpu, Table, Thread};
use crate::tape::MICROSECOND;
use crate::truth::{Core, Parked};

/// Ticks between two checks of the processors.
const CHECK: i64 = 100_000 * MICROSECOND;
/// Consecutive idle checks after which a processor is parked.
const IDLE_CHECKS: u32 = 3;

// Ids and versions of the events.
const PERFORMANCE_RUNDOWN: (u16, u8) = (64, 4);
const PARK: (u16, u8) = (14, 0);
const UNPARK: (u16, u8) = (15, 0);
const SOFT_PARK: (u16, u8) = (138, 0);
const DELIVERED: (u16, u8) = (148, 0);
const POLICIES: (u16, u8) = (120, 0);

/// State of one processor.
#[derive(Debug, Default)]
struct CoreState {
    /// Busy ticks until the last check.
    busy: i64,
    idle_checks: u32,
    parked_since: Option<i64>,
}

/// State of the processors.
#[derive(Debug)]
pub(super) struct CoresState {
    cores: Table<Cpu, CoreState>,
    last_check: i64,
}

impl CoresState {
    pub(super) fn new(plan: &Plan) -> Self {
        let cores = (0..plan.cpus).map(|_| CoreState::default()).collect();
        Self {
            cores,
            last_check: crate::tape::T0,
        }
    }
}

impl HybridPlan {
    /// True if a processor is an efficient one. The first one never is.
    const fn is_efficient(&self, cpu: Cpu, cpus: usize) -> bool {
        // Efficient processors have the highest numbers, as on machines of Intel, so that the first
        // one is performant.
        cpu.0 >= cpus - cpus * self.efficient_of_four as usize / 4
    }
}

impl<W: Write + Seek> Sim<W> {
    /// True if a thread may run on a processor.
    pub(super) fn may_run(&self, cpu: Cpu, thread: Thread) -> bool {
        let is_elsewhere = |(bound, to): &(Thread, Cpu)| *bound == thread && *to != cpu;
        let is_efficient = self.plan.threads[thread].efficient;
        (!is_efficient || self.efficiency_class(cpu) == 0)
            && !self.plan.bound.iter().any(is_elsewhere)
    }

    /// True if a processor takes a thread now: one that is parked takes only threads that may run
    /// nowhere else.
    pub(super) fn takes(&self, cpu: Cpu, thread: Thread) -> bool {
        let is_bound = |(bound, to): &(Thread, Cpu)| *bound == thread && *to == cpu;
        self.may_run(cpu, thread)
            && (!self.cpus[cpu].parked || self.plan.bound.iter().any(is_bound))
    }

    /// Returns the processors that a thread may run on, as a mask with a bit for each processor of
    /// the first group.
    pub(super) fn affinity(&self, thread: Thread) -> u64 {
        let cpus = (0..self.cpus.len().min(64)).filter(|cpu| self.may_run(Cpu(*cpu), thread));
        cpus.fold(0, |mask, cpu| mask | 1 << cpu)
    }

    /// Returns 0 for the most efficient processors, and for all if there is only one kind.
    fn efficiency_class(&self, cpu: Cpu) -> u8 {
        let cpus = self.cpus.len();
        // With too few processors, none is efficient, and all are of one kind.
        let Some(hybrid) = self
            .plan
            .hybrid
            .filter(|h| h.is_efficient(Cpu(cpus - 1), cpus))
        else {
            return 0;
        };
        u8::from(!hybrid.is_efficient(cpu, cpus))
    }

    fn nominal_mhz(&self, hybrid: HybridPlan, cpu: Cpu) -> u32 {
        if self.efficiency_class(cpu) == 0 {
            hybrid.mhz.0
        } else {
            hybrid.mhz.1
        }
    }

    /// Records the ticks that a thread ran on a processor.
    pub(super) fn ran(&mut self, cpu: Cpu, thread: Thread, ticks: i64) {
        if self.plan.hybrid.is_some() {
            let (_, pid) = self.ids(Some(thread));
            let class = self.efficiency_class(cpu);
            let of_process = self
                .truth
                .run_ns_by_class
                .entry(pid.to_string())
                .or_default();
            *of_process.entry(class).or_default() += ticks * TICK_NS;
        }
    }

    pub(super) fn plan_power_checks(&mut self) {
        if self.plan.hybrid.is_some() {
            self.plan_at(self.tape.now() + CHECK, Happening::PowerCheck);
        }
    }

    /// Writes the session's events about the processors at its start and stop.
    pub(super) fn core_rundown(&mut self) -> Result<()> {
        let Some(hybrid) = self.plan.hybrid else {
            return Ok(());
        };
        for cpu in self.cpus.keys() {
            let (class, mhz) = (self.efficiency_class(cpu), self.nominal_mhz(hybrid, cpu));
            let parked = u32::from(self.cpus[cpu].parked);
            self.tape.processor_power(PERFORMANCE_RUNDOWN, |p| {
                // Caps and desired performance in percent; nominal frequency.
                p.u16(0)
                    .bytes(&[cpu.0 as u8])
                    .u32(parked)
                    .u32(100)
                    .u32(100)
                    .u32(100)
                    .u32(mhz);
                // Least, most, tolerance, delivered; class twice; not autonomous.
                p.u32(5)
                    .u32(100)
                    .u32(0)
                    .u32(100)
                    .bytes(&[class, class])
                    .u32(0);
                // Energy preference, activity window, quality of service, relative performance.
                p.u32(33)
                    .u32(0)
                    .u32(0)
                    .u32(if class == 0 { 60 } else { 100 });
            })?;
            let core = self.truth.cores.entry(cpu.0 as u16).or_default();
            (core.efficiency_class, core.nominal_mhz) = (class, mhz);
        }
        self.tape.processor_power(POLICIES, |p| {
            // Policy 4 (automatic) of a machine with two kinds of processors, and its parts.
            p.u32(4)
                .u32(1)
                .u32(4)
                .u32(5)
                .u32(3)
                .u32(2)
                .u32(3)
                .u32(8)
                .u32(5000);
        })
    }

    /// Writes the processors in the description of the machine: numbers, names, speeds.
    pub(super) fn describe_cores(&mut self) -> Result<()> {
        let Some(hybrid) = self.plan.hybrid else {
            return Ok(());
        };
        let count = self.cpus.len();
        self.tape
            .kernel(0, kind::CONFIG_PROCESSOR_NUMBER, Some((0, 0)), |p| {
                p.u32(count as u32);
                for number in 0..count {
                    p.u16(0).bytes(&[number as u8, 0]);
                }
            })?;
        for cpu in self.cpus.keys() {
            let mhz = self.nominal_mhz(hybrid, cpu);
            self.tape
                .kernel(0, kind::CONFIG_PROCESSOR, Some((0, 0)), |p| {
                    p.u32(cpu.0 as u32).u32(0).u32(mhz);
                    p.wide_fixed("Acme Hybrid", 64);
                    p.wide_fixed("AMD64 Family 99 Model 1 Stepping 0", 128)
                        .wide_fixed("AcmeSilicon", 16);
                })?;
        }
        Ok(())
    }

    /// Checks the load of the processors, logs their frequencies, parks and unparks.
    pub(super) fn power_check(&mut self) -> Result<()> {
        let Some(hybrid) = self.plan.hybrid else {
            return Ok(());
        };
        let now = self.tape.next();
        self.plan_at(now + CHECK, Happening::PowerCheck);
        let length = (now - std::mem::replace(&mut self.cores.last_check, now)).max(1);
        for cpu in self.cpus.keys() {
            let busy = self.cpus[cpu].busy_until(now);
            let busy_ticks = busy - std::mem::replace(&mut self.cores.cores[cpu].busy, busy);
            // From 40 to 130 percent of the nominal frequency, the more the busier.
            let percent = 40 + (90 * busy_ticks / length).clamp(0, 90) as u32;
            let mhz = self.nominal_mhz(hybrid, cpu) * percent / 100;
            self.tape.processor_power(DELIVERED, |p| {
                p.u16(0)
                    .bytes(&[cpu.0 as u8])
                    .u32(percent)
                    .u64(length as u64 / 10)
                    .u32(mhz);
            })?;
            self.truth
                .cores
                .entry(cpu.0 as u16)
                .or_default()
                .frequency(mhz);
            self.park_or_not(cpu, busy_ticks > 0)?;
        }
        Ok(())
    }

    /// Parks a performant processor that was idle for long, and later unparks it.
    fn park_or_not(&mut self, cpu: Cpu, was_busy: bool) -> Result<()> {
        let checks = self.cores.cores[cpu].idle_checks;
        self.cores.cores[cpu].idle_checks = if was_busy { 0 } else { checks + 1 };
        if self.cpus[cpu].parked {
            // The count goes on while the processor is parked: it is used again after as many
            // checks as it took to park it, so that both events come again and again.
            if checks >= 2 * IDLE_CHECKS {
                self.unpark(cpu)?;
            }
            return Ok(());
        }
        let idle = self.cpus[cpu].current.is_none() && !self.cpus[cpu].dispatching;
        // One performant processor is always there.
        if idle && checks >= IDLE_CHECKS && cpu.0 > 0 && self.efficiency_class(cpu) > 0 {
            self.park(cpu)?;
        }
        Ok(())
    }

    /// Parks a processor for a script, whose thread must not run there.
    pub(super) fn parks(&mut self, cpu: Cpu) -> Result<()> {
        if self.cpus[cpu].parked {
            return Ok(());
        }
        self.park(cpu)?;
        self.vacate(cpu)?;
        // The others take the thread that ran there, or was on its way to the processor.
        let soon = self.tape.next() + MICROSECOND;
        let open: Vec<Cpu> = self
            .cpus
            .keys()
            .filter(|other| !self.cpus[*other].parked)
            .collect();
        for other in open {
            self.plan_at(soon, Happening::Dispatch(other));
        }
        Ok(())
    }

    /// Unparks a processor for a script.
    pub(super) fn unparks(&mut self, cpu: Cpu) -> Result<()> {
        if self.cpus[cpu].parked {
            self.unpark(cpu)?;
        }
        Ok(())
    }

    /// Writes that a processor is spared as long as the others suffice. Threads still run on it.
    pub(super) fn parks_softly(&mut self, cpu: Cpu) -> Result<()> {
        let check = self.tape.next() as u64;
        self.tape.processor_power(SOFT_PARK, |p| {
            p.u64(check).u16(0).bytes(&[cpu.0 as u8]).u32(1);
        })
    }

    fn park(&mut self, cpu: Cpu) -> Result<()> {
        self.cpus[cpu].parked = true;
        let time = self.parking(cpu, PARK)?;
        self.cores.cores[cpu].parked_since = Some(time);
        Ok(())
    }

    fn unpark(&mut self, cpu: Cpu) -> Result<()> {
        let time = self.parking(cpu, UNPARK)?;
        self.cpus[cpu].parked = false;
        let state = &mut self.cores.cores[cpu];
        state.idle_checks = 0;
        let since_ns = state.parked_since.take().map_or(0, Self::ns);
        let parked = Parked {
            from_ns: since_ns,
            to_ns: Some(Self::ns(time)),
        };
        self.truth
            .cores
            .entry(cpu.0 as u16)
            .or_default()
            .parked
            .push(parked);
        // Threads that became ready while it was parked were not sent to it, so it has to search
        // for them itself.
        self.plan_at(time + MICROSECOND, Happening::Dispatch(cpu));
        Ok(())
    }

    /// Writes that a processor is parked or unparked. Returns the time.
    fn parking(&mut self, cpu: Cpu, event: (u16, u8)) -> Result<i64> {
        let check = self.tape.next() as u64;
        self.tape.processor_power_at(event, |p| {
            p.u64(check).u16(0).bytes(&[cpu.0 as u8]);
        })
    }

    /// Adds processors that are parked when the trace ends.
    pub(super) fn finish_cores(&mut self) {
        for cpu in self.cpus.keys() {
            if let Some(since) = self.cores.cores[cpu].parked_since {
                let core = self.truth.cores.entry(cpu.0 as u16).or_default();
                core.parked.push(Parked {
                    from_ns: Self::ns(since),
                    to_ns: None,
                });
            }
        }
    }
}

impl Core {
    fn frequency(&mut self, mhz: u32) {
        self.min_mhz = if self.frequency_changes == 0 {
            mhz
        } else {
            self.min_mhz.min(mhz)
        };
        self.max_mhz = self.max_mhz.max(mhz);
        self.frequency_changes += 1;
    }
}
