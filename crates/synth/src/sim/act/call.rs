//! System calls. Their events name no thread, and a call may end on another processor than the one
//! where it began.

use std::io::{Seek, Write};

use super::super::times::TICK_NS;
use super::super::{Sim, kind};
use crate::Result;
use crate::table::{Cpu, Function, Thread};

/// A call that has not ended.
#[derive(Debug)]
struct RunningCall {
    function: Function,
    since: i64,
    /// Path of the first file or key that it is about.
    about: Option<String>,
}

/// Calls of a thread that have not ended, the innermost one last.
#[derive(Debug, Default)]
pub(in crate::sim) struct Calling(Vec<RunningCall>);

impl Calling {
    /// Returns the start of the outermost open call.
    pub(in crate::sim) fn since(&self) -> Option<i64> {
        self.0.first().map(|open| open.since)
    }
}

impl<W: Write + Seek> Sim<W> {
    pub(super) fn call_begins(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        function: Function,
    ) -> Result<()> {
        let address = self.plan.code.address(&self.plan.modules, function);
        let time = self.kernel_event(cpu, thread, kind::CALL_ENTER, |p| {
            p.u64(address);
        })?;
        self.threads[thread].acting.call.0.push(RunningCall {
            function,
            since: time,
            about: None,
        });
        Ok(())
    }

    /// Associates the current call of a thread with a file or a key.
    pub(super) fn call_is_about(&mut self, thread: Thread, path: &str) {
        if let Some(open) = self.threads[thread].acting.call.0.last_mut() {
            // The first object counts: later objects in the same call are used on its behalf.
            open.about.get_or_insert_with(|| path.to_owned());
        }
    }

    /// Ends the innermost call. If there is none, the call began before the trace.
    pub(super) fn call_ends(&mut self, cpu: Cpu, thread: Thread, status: u32) -> Result<()> {
        let time = self.tape.kernel(cpu.0 as u16, kind::CALL_EXIT, None, |p| {
            p.u32(status);
        })?;
        // Before the call is taken off: also the return of a call that began before the trace ends
        // the start of a process.
        self.call_of_start_ends(thread, time);
        let Some(RunningCall {
            function,
            since,
            about,
        }) = self.threads[thread].acting.call.0.pop()
        else {
            self.truth.syscalls.ends_of_earlier += 1;
            return Ok(());
        };
        let plan = &self.plan.code.functions[function];
        let name = format!("{}!{}", self.plan.modules[plan.module].name, plan.name);
        let pid = self.pid_text(thread);
        let calls = self.truth.syscalls.by_process.entry(pid).or_default();
        let of_path = about.map(|path| self.truth.syscalls.by_path.entry(path).or_default());
        for sums in of_path.into_iter().chain([calls.entry(name).or_default()]) {
            sums.count += 1;
            // The two highest bits of an NTSTATUS are its severity: 3 is an error, 2 a warning, no
            // failure.
            sums.failed += u64::from(status >> 30 == 3);
            sums.duration_ns += (time - since) * TICK_NS;
        }
        Ok(())
    }

    pub(super) fn finish_calls(&mut self) {
        let open = self
            .threads
            .iter()
            .map(|(_, thread)| thread.acting.call.0.len() as u64);
        self.truth.syscalls.open_at_end = open.sum();
    }
}
