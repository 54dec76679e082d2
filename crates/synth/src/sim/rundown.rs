//! Events at the start and stop of a session, the additions of a merge, and the final truth.

use std::io::{Seek, Write};

use etwkit_etl::Guid;
use etwkit_etl::writer::MergeRecord;

use super::lifetime::{STILL_ACTIVE, process_payload, thread_payload};
use super::times::TICK_NS;
use super::{Sim, kind};
use crate::Result;
use crate::payload::Payload;
use crate::plan::{Born, VOLUME, file_key};
use crate::table::{Cpu, Module};
use crate::tape::{Counts, Kind, SECOND};
use crate::truth::{EventCounts, Header, Process, Times, Truth};

/// FILETIME of the installation.
const INSTALLED: i64 = 133_200_000_000_000_000;
/// The processor of all these records.
const CPU: Cpu = Cpu(0);

impl<W: Write + Seek> Sim<W> {
    pub(super) fn rundown_at_start(&mut self) -> Result<()> {
        self.tape.merge(
            0,
            &MergeRecord::BuildInfo {
                install_date: INSTALLED,
                build_lab: "19041.1.amd64fre.vb_release.191206-1406",
                product_name: "Windows 10 Pro",
            },
        )?;
        let (system_directory, windows_directory) = (r"C:\Windows\system32\", r"C:\Windows\");
        self.tape.merge(
            0,
            &MergeRecord::SystemPaths {
                system_directory,
                windows_directory,
            },
        )?;
        for (nt_path, dos_path) in [VOLUME, (r"\SystemRoot\", windows_directory)] {
            self.tape
                .merge(0, &MergeRecord::VolumeMapping { nt_path, dos_path })?;
        }
        // The interval comes first, since the weight of a sample depends on it.
        self.interval(kind::INTERVAL_START)?;
        self.alive_at_start();
        self.rundown(
            kind::PROCESS_DC_START,
            kind::THREAD_DC_START,
            kind::IMAGE_DC_START,
        )?;
        self.name_counters()?;
        self.core_rundown()?;
        self.power_rundown_at_start()?;
        self.registry_rundown_at_start()?;
        self.handle_rundown_at_start()?;
        self.session_rundown_at_start()?;
        let base = self.plan.modules[Module(0)].base;
        self.event(kind::KERNEL_BASE, |p| {
            p.u64(base);
        })
    }

    pub(super) fn rundown_at_end(&mut self) -> Result<()> {
        // Windows describes the machine when a kernel session stops, not when it starts: readers
        // know disks and adapters only at the end.
        self.machine()?;
        self.describe_cores()?;
        self.core_rundown()?;
        self.power_rundown()?;
        self.registry_rundown_at_end()?;
        self.handle_rundown_at_end()?;
        self.session_rundown()?;
        for (file, plan) in self.plan.files.iter() {
            let path = plan.nt_path();
            self.tape.kernel(0, kind::FILE_RUNDOWN, None, |p| {
                p.u64(file_key(file)).wide(&path);
            })?;
        }
        self.rundown(
            kind::PROCESS_DC_END,
            kind::THREAD_DC_END,
            kind::IMAGE_DC_END,
        )?;
        // The interval once more: readers can see that it was the same all the time.
        self.interval(kind::INTERVAL_END)?;
        self.event(kind::RUNDOWN_COMPLETE, |_| ())
    }

    fn event(&mut self, kind: Kind, payload: impl FnOnce(&mut Payload)) -> Result<()> {
        self.tape.kernel(0, kind, Some((0, 0)), payload).map(|_| ())
    }

    fn interval(&mut self, kind: Kind) -> Result<()> {
        let ticks = self.plan.interval;
        self.truth.samples.profile_interval_100ns = ticks;
        self.event(kind, |p| {
            p.u32(0).u32(ticks).u32(ticks).wide("Timer");
        })
    }

    fn alive_at_start(&mut self) {
        for program in self.plan.programs.keys() {
            let mut threads = self
                .plan
                .threads
                .iter()
                .filter(|(_, thread)| thread.program == program);
            // Process 0 has no threads in a plan and always exists: the kernel images belong to it.
            let idle = self.plan.programs[program].pid == 0;
            self.programs[program].alive =
                idle || threads.any(|(_, thread)| thread.born == Born::Before);
        }
        for thread in self.threads.keys() {
            self.threads[thread].alive = self.plan.threads[thread].born == Born::Before;
        }
    }

    /// Writes everything that is alive: processes, their threads and images.
    fn rundown(&mut self, of_process: Kind, of_thread: Kind, of_image: Kind) -> Result<()> {
        for program in self.plan.programs.keys() {
            if !self.programs[program].alive {
                continue;
            }
            let plan = self.plan.programs[program];
            self.tape.kernel(0, of_process, None, |p| {
                process_payload(p, &plan, STILL_ACTIVE);
            })?;
            for thread in self.threads.keys() {
                let of = self.plan.threads[thread];
                if of.program == program && self.threads[thread].alive {
                    let affinity = self.affinity(thread);
                    self.tape.kernel(0, of_thread, None, |p| {
                        thread_payload(p, &of, plan.pid, affinity);
                    })?;
                }
            }
            self.images(CPU, program, of_image, None)?;
        }
        Ok(())
    }

    fn machine(&mut self) -> Result<()> {
        let cpus = self.plan.cpus.into();
        self.event(kind::CONFIG_CPU, |p| {
            p.u32(3000).u32(cpus).u32(16_384).u32(4096).u32(65_536);
            p.wide_fixed("ANNAS-PC", 256)
                .wide_fixed("ACME", 134)
                .u64(0)
                .u64(0x7FFF_FFFE_FFFF);
            p.u16(9)
                .u16(6)
                .u16(0x8E0A)
                .bytes(&[1, 0])
                .u32(2666)
                .zeros(4);
        })?;
        let write_cache = u8::from(self.plan.has_write_cache);
        self.event(kind::CONFIG_PHYSICAL_DISK, |p| {
            p.u32(0).u32(512).u32(63).u32(255).u64(62_260).zeros(16);
            p.wide_fixed("Acme SSD 512", 256)
                .u32(3)
                .bytes(&[write_cache, 0])
                .wide_fixed("C", 3)
                .zeros(4);
        })?;
        self.event(kind::CONFIG_LOGICAL_DISK, |p| {
            p.u64(0x1000_0000)
                .u64(0x76_0000_0000)
                .u32(0)
                .u32(0)
                .u32(1)
                .wide_fixed("C:", 4);
            p.u32(0)
                .u32(3)
                .u32(8)
                .u32(512)
                .u32(0)
                .u64(60_000_000)
                .u64(123_600_896);
            p.wide_fixed("NTFS", 16).u32(0).u32(0);
        })?;
        self.event(kind::CONFIG_NIC, |p| {
            p.u64(0x0605_0403_0202).u32(6).u32(7).u32(7);
            p.wide("Acme Gigabit")
                .wide("192.168.1.20;fe80::20")
                .wide("192.168.1.1");
        })
    }

    /// Completes the trace and its truth.
    pub(super) fn finish(mut self) -> Result<(W, Truth)> {
        self.finish_cores();
        self.finish_acts();
        self.truth.waited_for = self.waited_for();
        // Before the tape ends, since open causes are counted up to the end of the simulation, not
        // of the rundown.
        self.finish_causes();
        let (sink, counts, end) = self.tape.finish()?;
        let mut truth = std::mem::take(&mut self.truth);
        truth.header = Header {
            cpu_count: self.plan.cpus,
            perf_freq: SECOND,
            duration_ns: Self::ns(end),
        };
        truth.counts = counts.summed();
        // Stacks of threads without a script are counted when they are created, the others when a
        // sample hits them.
        truth.samples.stacks.distinct = self.stacks.distinct_of_samples() + self.hit.len() as u64;
        for (cpu, state) in self.cpus.iter() {
            truth.cpus.entry(cpu.0 as u16).or_default().busy_ns = state.busy_until(end) * TICK_NS;
        }
        for (program, plan) in self.plan.programs.iter() {
            let state = &self.programs[program];
            let process = Process {
                name: plan.name.to_owned(),
                parent_pid: plan.parent,
                command_line: plan.command_line.to_owned(),
                start_ns: state.start.map(Self::ns),
                stop_ns: state.stop.map(Self::ns),
                flags: plan.flags,
                threads: Vec::new(),
                times: Times::default(),
            };
            truth.processes.insert(plan.pid, process);
        }
        for (thread, plan) in self.plan.threads.iter() {
            let pid = self.plan.programs[plan.program].pid;
            let times = self.threads[thread].account.finish(end);
            if let Some(process) = truth.processes.get_mut(&pid) {
                process.threads.push(plan.tid);
                process.times.add(&times.times);
            }
            truth.threads.insert(format!("{pid}/{}", plan.tid), times);
        }
        Ok((sink, truth))
    }
}

impl Counts {
    fn summed(&self) -> EventCounts {
        let kernel = |(Kind(group, opcode, version), n): (&Kind, &u64)| {
            (format!("{group}/{opcode}/{version}"), *n)
        };
        let classic = |((class, version, opcode), n): (&(&str, u16, u8), &u64)| {
            (format!("{class}/0/{version}/{opcode}"), *n)
        };
        let provided = |((provider, id, version, opcode), n): (&(Guid, u16, u8, u8), &u64)| {
            (format!("{provider}/{id}/{version}/{opcode}"), *n)
        };
        EventCounts {
            total: self.cpus.values().sum(),
            by_header: self
                .headers
                .iter()
                .map(|(header, n)| ((*header).to_owned(), *n))
                .collect(),
            by_cpu: self.cpus.clone(),
            kernel: self.kernel.iter().map(kernel).collect(),
            provider: self
                .classic
                .iter()
                .map(classic)
                .chain(self.provided.iter().map(provided))
                .collect(),
        }
    }
}
