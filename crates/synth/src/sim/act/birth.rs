//! Costs of starting and ending a process: from the call of the creator to the first instruction of
//! the child, and from the request to end until the last thread is gone.

use std::io::{Seek, Write};

use super::super::times::TICK_NS;
use super::super::{Sim, kind};
use crate::Result;
use crate::table::{Cpu, Program, Thread};
use crate::truth::{ProcessExit, ProcessStart};

/// Role of a thread in process starts.
#[derive(Debug, Default)]
pub(in crate::sim) struct Birth {
    /// The start of its process, if it is the first thread of that and has not run.
    own: Option<usize>,
    /// The start that its current call has made.
    made: Option<usize>,
}

impl<W: Write + Seek> Sim<W> {
    /// Handles the creation of a process, whose first thread is `child`.
    pub(in crate::sim) fn is_born(&mut self, cpu: Cpu, creator: Thread, child: Thread, start: i64) {
        if !self.plan.reports_starts {
            return;
        }
        let plan = &self.plan.programs[self.plan.threads[child].program];
        let call = self.threads[creator].acting.call.since();
        let birth = ProcessStart {
            pid: plan.pid,
            name: plan.name.to_owned(),
            creator: self.thread_name(creator),
            creator_cpu: cpu.0 as u16,
            call_ns: call.map(Self::ns),
            start_ns: Self::ns(start),
            thread: self.thread_name(child),
            ..ProcessStart::default()
        };
        let number = self.truth.starts.len();
        self.truth.starts.push(birth);
        // Both find the entry again: the child when it runs first, the creator when its system call
        // returns, and either may come first.
        self.threads[child].acting.birth.own = Some(number);
        self.threads[creator].acting.birth.made = Some(number);
    }

    /// Handles the switch-in of a thread.
    pub(in crate::sim) fn runs(&mut self, cpu: Cpu, thread: Thread, time: i64) {
        let Some(number) = self.threads[thread].acting.birth.own.take() else {
            return;
        };
        let Some(start) = self.truth.starts.get_mut(number) else {
            return;
        };
        let run_ns = Self::ns(time);
        (start.first_run_ns, start.first_run_cpu) = (Some(run_ns), Some(cpu.0 as u16));
        // A creator waits for its call to return, not for the event of the start, which comes in
        // the middle of the call.
        start.cost_ns = Some(run_ns - start.call_ns.unwrap_or(start.start_ns));
    }

    /// Handles the end of a thread's system call.
    pub(super) fn call_of_start_ends(&mut self, thread: Thread, time: i64) {
        let Some(number) = self.threads[thread].acting.birth.made.take() else {
            return;
        };
        if let Some(start) = self.truth.starts.get_mut(number) {
            start.call_end_ns = Some(Self::ns(time));
        }
    }

    /// Handles a thread's request to end a process, its own or another one, with that status.
    pub(super) fn terminates(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (program, status): (Program, u32),
    ) -> Result<()> {
        let pid = self.plan.programs[program].pid;
        // The first request counts; a later one changes neither the time nor the status.
        if !self.programs[program].alive || self.programs[program].terminated.is_some() {
            return Ok(());
        }
        let time = self.user_event(cpu, thread, kind::PROCESS_TERMINATE, |p| {
            p.u32(pid);
        })?;
        self.programs[program].terminated = Some((time, status));
        // A thread that ends its own process continues with its script, at whose end the thread
        // ends.
        if program != self.plan.threads[thread].program {
            // Its threads end when they next run.
            for other in self
                .threads
                .keys()
                .filter(|other| self.plan.threads[*other].program == program)
            {
                self.threads[other].dies_at = time;
            }
        }
        Ok(())
    }

    /// Handles the end of a process's last thread.
    pub(in crate::sim) fn is_gone(&mut self, program: Program, time: i64) {
        let Some((terminated, status)) = self.programs[program].terminated else {
            return;
        };
        self.truth.exits.push(ProcessExit {
            pid: self.plan.programs[program].pid,
            terminate_ns: Self::ns(terminated),
            end_ns: Self::ns(time),
            duration_ns: (time - terminated) * TICK_NS,
            status,
        });
    }
}
