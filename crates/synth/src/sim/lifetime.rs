//! Processes, threads and images that come and go.

use std::io::{Seek, Write};

use etwkit_etl::writer::MergeRecord;

use super::times::{TICK_NS, state};
use super::{Sim, kind};
use crate::Result;
use crate::code::pdb_guid;
use crate::payload::Payload;
use crate::plan::{Born, Maker, ModulePlan, ProgramPlan, ThreadPlan, reason};
use crate::rng::mix;
use crate::table::{Cpu, Module, Program, Thread};
use crate::tape::{Kind, T0};

/// A process.
#[derive(Debug, Default)]
pub(super) struct ProgramState {
    pub(super) alive: bool,
    pub(super) start: Option<i64>,
    pub(super) stop: Option<i64>,
    /// Time of the request to end, and its status.
    pub(super) terminated: Option<(i64, u32)>,
}

/// Age of all PDBs.
pub(crate) const PDB_AGE: u32 = 1;
/// `ExitStatus` of a process that runs.
pub(super) const STILL_ACTIVE: u32 = 0x103;

impl<W: Write + Seek> Sim<W> {
    /// Starts the threads that this one has to start by now.
    pub(super) fn start_threads(&mut self, cpu: Cpu, creator: Thread) -> Result<()> {
        for thread in self.threads.keys() {
            let Born::At(by, per_mille) = self.plan.threads[thread].born else {
                continue;
            };
            // A due thread is started at its creator's next step, since starting a thread takes a
            // running thread.
            let due = T0 + (self.end - T0) / 1000 * i64::from(per_mille);
            if by == creator && self.threads[thread].account.is_new() && due <= self.tape.now() {
                self.start_thread(cpu, creator, thread)?;
            }
        }
        Ok(())
    }

    pub(super) fn start_thread(&mut self, cpu: Cpu, creator: Thread, thread: Thread) -> Result<()> {
        let ids = self.ids(Some(creator));
        let plan = self.plan.threads[thread];
        let program = self.plan.programs[plan.program];
        // The first thread of a program brings its process along; the events come in the order of
        // Windows: process, thread, and the images when the thread runs.
        if !self.programs[plan.program].alive {
            let payload = |p: &mut Payload| process_payload(p, &program, STILL_ACTIVE);
            let start = self
                .tape
                .kernel(cpu.0 as u16, kind::PROCESS_START, Some(ids), payload)?;
            self.script_stack(cpu, creator, start)?;
            self.programs[plan.program] = ProgramState {
                alive: true,
                start: Some(start),
                ..ProgramState::default()
            };
            self.is_born(cpu, creator, thread, start);
            // The new process maps its images itself: their events name its first thread.
            self.threads[thread].loads_images = true;
        }
        let affinity = self.affinity(thread);
        let payload = |p: &mut Payload| thread_payload(p, &plan, program.pid, affinity);
        self.tape
            .kernel(cpu.0 as u16, kind::THREAD_START, Some(ids), payload)?;
        self.threads[thread].alive = true;
        self.make_ready(cpu, thread, None)
    }

    pub(super) fn load_images(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        if !std::mem::take(&mut self.threads[thread].loads_images) {
            return Ok(());
        }
        self.images(
            cpu,
            self.plan.threads[thread].program,
            kind::IMAGE_LOAD,
            Some(thread),
        )
    }

    /// Writes the events of all images of a program. Images that are loaded, or present at the
    /// start, also get their identities.
    pub(super) fn images(
        &mut self,
        cpu: Cpu,
        program: Program,
        kind: Kind,
        thread: Option<Thread>,
    ) -> Result<()> {
        let pid = self.plan.programs[program].pid;
        for module in self.plan.programs[program].modules {
            let plan = self.plan.modules[*module];
            if matches!(kind, kind::IMAGE_LOAD | kind::IMAGE_DC_START) {
                self.identity(cpu, *module, pid)?;
            }
            // Rundown of user images has no thread in its header; neither has it a time stamp.
            let rundown = matches!(kind, kind::IMAGE_DC_START | kind::IMAGE_DC_END);
            let ids = if rundown && !plan.is_kernel() {
                None
            } else {
                Some(self.ids(thread))
            };
            let stamp = if ids.is_some() { stamp(&plan) } else { 0 };
            self.tape.kernel(cpu.0 as u16, kind, ids, |p| {
                image_payload(p, &plan, pid, stamp);
            })?;
        }
        Ok(())
    }

    fn identity(&mut self, cpu: Cpu, module: Module, process_id: u32) -> Result<()> {
        let plan = self.plan.modules[module];
        let (image_base, time_date_stamp) = (plan.base, stamp(&plan));
        let (
            name,
            Maker {
                company,
                product,
                version,
                ..
            },
        ) = (plan.name, plan.maker);
        let strings = [
            name, name, version, version, "1033", product, company, version, "", "",
        ];
        let records = [
            MergeRecord::FileVersion {
                image_size: plan.size,
                time_date_stamp,
                strings,
            },
            MergeRecord::ImageInfo {
                image_base,
                image_size: plan.size.into(),
                process_id,
                time_date_stamp,
                original_file_name: name,
            },
            MergeRecord::DbgIdRsds {
                image_base,
                process_id,
                guid: pdb_guid(&plan),
                age: PDB_AGE,
                pdb_name: plan.pdb,
            },
        ];
        records
            .iter()
            .try_for_each(|record| self.tape.merge(cpu.0 as u16, record))
    }

    /// Ends a thread, and its process if it was the last one.
    pub(super) fn end_thread(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let plan = self.plan.threads[thread];
        let (pid, ids) = (
            self.plan.programs[plan.program].pid,
            Some(self.ids(Some(thread))),
        );
        self.threads[thread].alive = false;
        let last = !self.has_threads(plan.program);
        // The images go while their last thread still runs: each of these events names it.
        if last {
            self.images(cpu, plan.program, kind::IMAGE_UNLOAD, Some(thread))?;
        }
        let affinity = self.affinity(thread);
        self.tape.kernel(cpu.0 as u16, kind::THREAD_END, ids, |p| {
            thread_payload(p, &plan, pid, affinity);
        })?;
        if last {
            let program = self.plan.programs[plan.program];
            let status = self.programs[plan.program]
                .terminated
                .map_or(0, |(_, status)| status);
            let stop = self
                .tape
                .kernel(cpu.0 as u16, kind::PROCESS_END, ids, |p| {
                    process_payload(p, &program, status);
                })?;
            self.is_gone(plan.program, stop);
            self.programs[plan.program].alive = false;
            self.programs[plan.program].stop = Some(stop);
            self.timer_of_gone(cpu, thread, stop)?;
        }
        self.block(cpu, state::TERMINATED, reason::WR_TERMINATED)
    }

    fn has_threads(&self, program: Program) -> bool {
        let mut threads = self.plan.threads.iter();
        threads.any(|(thread, plan)| plan.program == program && self.threads[thread].alive)
    }

    /// Returns a point in time, as in the truth.
    pub(super) const fn ns(time: i64) -> i64 {
        (time - T0) * TICK_NS
    }
}

/// Link time of an image.
const fn stamp(plan: &ModulePlan) -> u32 {
    0x6400_0000 + (mix(plan.identity) >> 40) as u32
}

/// S-1-5-18, or a user of a domain.
const SYSTEM_SID: &[u8] = &[1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
const USER_SID: &[u8] = &[
    1, 5, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0, 0x11, 0x22, 0x33, 0x04, 0x55, 0x66, 0x77, 0x08, 0x99,
    0xAA, 0xBB, 0x0C, 0xE9, 3, 0, 0,
];

/// Returns the address of the object of a process.
pub(super) fn process_object(plan: &ProgramPlan) -> u64 {
    0xFFFF_A08D_1000_0000 + 0x80 * u64::from(plan.pid)
}

pub(super) fn process_payload(p: &mut Payload, plan: &ProgramPlan, exit_status: u32) {
    p.u64(process_object(plan));
    p.u32(plan.pid)
        .u32(plan.parent)
        .u32(plan.session)
        .u32(exit_status);
    p.u64(0x1_0000_0000 + 0x1000 * u64::from(plan.pid))
        .u32(plan.flags);
    if plan.pid == 0 {
        p.u32(0);
    } else {
        let sid = if plan.system { SYSTEM_SID } else { USER_SID };
        p.u64(0xFFFF_C50B_1234_5670).u64(0).bytes(sid);
    }
    p.ansi(plan.name).wide(plan.command_line).wide("").wide("");
}

/// Writes type 3 of `Thread_TypeGroup1`, with the processors that the thread may run on.
pub(super) fn thread_payload(p: &mut Payload, plan: &ThreadPlan, pid: u32, affinity: u64) {
    let kernel_stack = 0xFFFF_FA0C_0000_0000 + 0x1_0000 * u64::from(plan.tid);
    let user_stack = if pid == 4 {
        0
    } else {
        0xA1_0000_0000 + 0x10_0000 * u64::from(plan.tid)
    };
    p.u32(pid)
        .u32(plan.tid)
        .u64(kernel_stack)
        .u64(kernel_stack - 0x6000);
    p.u64(user_stack)
        .u64(user_stack.saturating_sub(0x4000))
        .u64(affinity);
    p.u64(plan.start)
        .u64(user_stack.saturating_add(0x20_0000))
        .u32(0);
    p.bytes(&[plan.priority, 5, 2, 0]);
}

pub(super) fn image_payload(p: &mut Payload, plan: &ModulePlan, pid: u32, stamp: u32) {
    p.u64(plan.base)
        .u64(plan.size.into())
        .u32(pid)
        .u32(plan.size ^ 0x5A5A)
        .u32(stamp)
        .u32(0);
    p.u64(0x1_8000_0000).zeros(16).wide(&plan.nt_path());
}
