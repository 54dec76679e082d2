//! Processes that are alive at the same time. Each reports with a byte on its output that it is
//! ready, and ends when its input does. So all of them end with the first process, for any reason.

use std::process::{Child as Process, Command, Stdio};
use std::{io::Read as _, mem};

use anyhow::{Context, Result, bail};
use etwkit_terminal::errors::advised;

/// The started processes. The remaining ones are killed after a failure.
pub(crate) struct Family(Vec<Process>);

impl Family {
    /// Starts `count` processes and waits until all are ready. `look` receives the progress, in
    /// steps of which each process has two, and returns true if the user has stopped it.
    ///
    /// # Errors
    /// A process cannot be started, ends before it is ready, or the user has stopped it.
    pub(crate) fn start(
        count: u32,
        command: impl Fn() -> Command,
        look: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        let mut family = Self(Vec::new());
        for started in 0..count {
            if look(started) {
                bail!("stopped");
            }
            let mut command = command();
            let process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let program = command.get_program().to_string_lossy().into_owned();
            family
                .0
                .push(process.with_context(|| format!("cannot start {program}"))?);
        }
        for (ready, process) in (0..).zip(&mut family.0) {
            if look(count + ready) {
                bail!("stopped");
            }
            let mut byte = [0];
            let output = process.stdout.as_mut();
            if output.is_none_or(|output| output.read_exact(&mut byte).is_err()) {
                let message = "a process ended before it was ready";
                return Err(advised(
                    message,
                    "is there a limit of processes (ulimit -u)? start fewer",
                ));
            }
        }
        look(count * 2);
        Ok(family)
    }

    /// Lets them end, and waits for their ends.
    ///
    /// # Errors
    /// One of them failed.
    pub(crate) fn end(mut self, look: &dyn Fn(u32) -> bool) -> Result<()> {
        // All are released before the first wait, so that they end at the same time.
        self.0
            .iter_mut()
            .for_each(|process| drop(process.stdin.take()));
        for (ended, mut process) in (1..).zip(mem::take(&mut self.0)) {
            let status = process.wait().context("cannot wait for a process")?;
            if !status.success() {
                bail!("a process failed: {status}");
            }
            look(ended);
        }
        Ok(())
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        // Their children end with them, since their inputs end.
        for process in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
