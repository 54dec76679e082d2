//! The system timer, with the resolutions that programs and drivers request, and settings of the
//! power scheme (Microsoft-Windows-Kernel-Power).

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use etwkit_etl::Guid;

use super::super::Sim;
use crate::Result;
use crate::table::{Cpu, Program, Thread};
use crate::tape::Provided;
use crate::truth::{PowerSetting, TimerResolution};

/// Microsoft-Windows-Kernel-Power.
const KERNEL_POWER: Guid = Guid::literal("331c3b3a-2005-44c2-ac5e-77220c37d6b4");
/// Keywords of the timer and of settings.
const TIMER: u64 = 0x4000;
const SETTINGS: u64 = 0x80;
/// Resolution without any request, and the finest one, in units of 100 ns.
const COARSE: u32 = 156_250;
const FINE: u32 = 5_000;
/// Kind of a setting that nothing overrides.
const NOT_OVERRIDDEN: u32 = 0;

const fn event(id: u16, version: u8, keyword: u64) -> Provided {
    Provided {
        provider: KERNEL_POWER,
        id,
        version,
        opcode: 0,
        keyword,
    }
}

/// The source of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asker {
    Process(Program),
    Kernel,
    System,
}

/// A request in force: its index in the truth, the resolution, and true if the system ignores it.
#[derive(Debug, Clone, Copy)]
struct Held {
    place: usize,
    resolution: u32,
    is_ignored: bool,
}

/// The timer and the settings.
#[derive(Debug, Default)]
pub(in crate::sim) struct PowerState {
    held: BTreeMap<Asker, Held>,
    settings: BTreeMap<Guid, Vec<u8>>,
}

impl<W: Write + Seek> Sim<W> {
    /// Handles a process's request for a resolution; 0 releases its request.
    pub(super) fn asks_timer(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (resolution, is_ignored): (u32, bool),
    ) -> Result<()> {
        let program = self.plan.threads[thread].program;
        let (pid, path) = (self.plan.programs[program].pid, self.image_path(program));
        let time = self.provider_event(cpu, thread, event(63, 2, TIMER), |p| {
            p.u32(resolution)
                .u32(pid)
                .counted_wide(&path)
                .u32(0)
                .u32(is_ignored.into());
        })?;
        self.holds(
            Asker::Process(program),
            (resolution, is_ignored),
            Some(time),
        );
        self.update_timer(cpu, thread)
    }

    /// Handles a request of the kernel or a driver for a resolution.
    pub(super) fn kernel_asks_timer(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        resolution: u32,
    ) -> Result<()> {
        let time = self.provider_event(cpu, thread, event(98, 1, TIMER), |p| {
            p.u32(resolution).bytes(b"CamT");
        })?;
        self.holds(Asker::Kernel, (resolution, false), Some(time));
        self.update_timer(cpu, thread)
    }

    /// Puts the finest requested resolution into force.
    fn update_timer(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let finest = self.finest();
        // The kernel reports the resolution in force only when it changes, not at each request.
        if self
            .world
            .power
            .held
            .get(&Asker::System)
            .is_some_and(|held| held.resolution == finest)
        {
            return Ok(());
        }
        let time = self.provider_event(cpu, thread, event(95, 0, TIMER), |p| {
            p.u32(finest);
        })?;
        self.holds(Asker::System, (finest, false), Some(time));
        Ok(())
    }

    fn finest(&self) -> u32 {
        // The resolution in force is not a request: counted as one, it would keep itself in force.
        let asked = self
            .world
            .power
            .held
            .iter()
            .filter(|(asker, held)| **asker != Asker::System && !held.is_ignored);
        asked
            .map(|(_, held)| held.resolution)
            .min()
            .unwrap_or(COARSE)
            .clamp(FINE, COARSE)
    }

    /// Starts a request for that resolution, or puts it into force.
    fn holds(&mut self, asker: Asker, (resolution, is_ignored): (u32, bool), time: Option<i64>) {
        // A new request replaces the previous one, and 0 only releases it.
        self.held_until(asker, time);
        if resolution == 0 {
            return;
        }
        let (kind, pid) = match asker {
            Asker::Process(program) => ("process", Some(self.plan.programs[program].pid)),
            Asker::Kernel => ("kernel", None),
            Asker::System => ("system", None),
        };
        let place = self.truth.timer_resolution.len();
        self.truth.timer_resolution.push(TimerResolution {
            kind: kind.to_owned(),
            pid,
            resolution_100ns: resolution,
            from_ns: time.map(Self::ns),
            to_ns: None,
            is_ignored,
        });
        self.world.power.held.insert(
            asker,
            Held {
                place,
                resolution,
                is_ignored,
            },
        );
    }

    fn held_until(&mut self, asker: Asker, time: Option<i64>) {
        let Some(held) = self.world.power.held.remove(&asker) else {
            return;
        };
        if let Some(resolution) = self.truth.timer_resolution.get_mut(held.place) {
            resolution.to_ns = time.map(Self::ns);
        }
    }

    /// Drops the request of a process that has ended.
    pub(in crate::sim) fn timer_of_gone(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        time: i64,
    ) -> Result<()> {
        let asker = Asker::Process(self.plan.threads[thread].program);
        if !self.world.power.held.contains_key(&asker) {
            return Ok(());
        }
        // Windows drops the requests of a process that ends without an event of it; only the change
        // of the system shows.
        self.held_until(asker, Some(time));
        self.update_timer(cpu, thread)
    }

    /// Sets a setting.
    pub(super) fn sets_power(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (setting, data): (Guid, &[u8]),
    ) -> Result<()> {
        let time = self.provider_event(cpu, thread, event(112, 1, SETTINGS), |p| {
            p.guid(setting)
                .u32(data.len() as u32)
                .bytes(data)
                .u32(NOT_OVERRIDDEN);
        })?;
        self.has_setting(setting, data, Some(time));
        Ok(())
    }

    fn has_setting(&mut self, setting: Guid, data: &[u8], time: Option<i64>) {
        let value = PowerSetting {
            from_ns: time.map(Self::ns),
            data: data.iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        self.truth
            .power_settings
            .entry(setting.to_string())
            .or_default()
            .push(value);
        self.world.power.settings.insert(setting, data.to_vec());
    }

    /// Sets the state from before the session, and writes the session's events about it.
    pub(in crate::sim) fn power_rundown_at_start(&mut self) -> Result<()> {
        let Some(plan) = self.plan.power.clone() else {
            return Ok(());
        };
        // Without a time: readers cannot know since when it holds, and the truth must not say more
        // than the trace.
        for (program, resolution) in plan.timers {
            self.holds(Asker::Process(program), (resolution, false), None);
        }
        let finest = self.finest();
        self.holds(Asker::System, (finest, false), None);
        for (setting, data) in plan.settings {
            self.has_setting(setting, data, None);
        }
        self.power_rundown()
    }

    /// Writes the state at the start or end of a session.
    pub(in crate::sim) fn power_rundown(&mut self) -> Result<()> {
        let held = self.world.power.held.clone();
        for (
            asker,
            Held {
                resolution,
                is_ignored,
                ..
            },
        ) in held
        {
            match asker {
                Asker::Process(program) => {
                    let (pid, path) = (self.plan.programs[program].pid, self.image_path(program));
                    self.tape
                        .provided(0, event(97, 1, TIMER), (0, 4), &[], |p| {
                            p.u32(resolution)
                                .u32(pid)
                                .counted_wide(&path)
                                .u32(is_ignored.into());
                        })?;
                }
                Asker::System => {
                    let kernel = self
                        .world
                        .power
                        .held
                        .get(&Asker::Kernel)
                        .map_or(0, |held| held.resolution);
                    self.tape
                        .provided(0, event(96, 1, TIMER), (0, 4), &[], |p| {
                            p.u32(resolution)
                                .u32(FINE)
                                .u32(COARSE)
                                .u32(u32::from(kernel > 0))
                                .u32(kernel)
                                .u32(0);
                        })?;
                }
                // The request of the kernel is a part of the event of the system: it has no event
                // of its own in a rundown.
                Asker::Kernel => {}
            }
        }
        for (setting, data) in &self.world.power.settings {
            self.tape
                .provided(0, event(111, 1, SETTINGS), (0, 4), &[], |p| {
                    p.guid(*setting)
                        .u32(data.len() as u32)
                        .bytes(data)
                        .u32(NOT_OVERRIDDEN);
                })?;
        }
        Ok(())
    }

    /// Returns the path of a program's executable, in the form of the kernel.
    pub(super) fn image_path(&self, program: Program) -> String {
        let image = self.plan.programs[program].modules.first();
        image.map_or_else(String::new, |module| self.plan.modules[*module].nt_path())
    }
}
