//! Priorities of a process, which it gets at its start: a workload with a priority starts this
//! program again.

use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::lab::Bench;

/// Priority class of a process, with the names of Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Priority {
    /// Runs when nobody else wants to
    Idle,
    /// Less than others; hybrid processors may give it their efficient cores alone
    BelowNormal,
    /// More than others; on Windows alone
    AboveNormal,
    /// Much more than others; on Windows alone
    High,
}

impl Priority {
    /// Runs `etwkit lab` with that priority; the process prints its own answer.
    ///
    /// # Errors
    /// The system does not grant this priority to every user, or the process failed.
    pub(crate) fn run(self, bench: &Bench<'_>, args: &[String]) -> Result<()> {
        let mut command = self.command(bench)?;
        let status = command
            .arg("lab")
            .args(args)
            .status()
            .context("cannot start this program again")?;
        match status.code() {
            _ if (bench.is_stopped)() => Ok(()),
            Some(0) => Ok(()),
            code => bail!("the process with another priority ended with exit code {code:?}"),
        }
    }

    #[cfg(windows)]
    fn command(self, bench: &Bench<'_>) -> Result<Command> {
        use std::os::windows::process::CommandExt;
        // The priority classes of CreateProcess.
        let class = match self {
            Self::Idle => 0x40,
            Self::BelowNormal => 0x4000,
            Self::AboveNormal => 0x8000,
            Self::High => 0x80,
        };
        let mut command = Command::new(bench.program);
        command.creation_flags(class);
        Ok(command)
    }

    /// Runs `nice` of the system. It starts a program even if it cannot grant the priority, so only
    /// priorities that every user may set are passed to it.
    #[cfg(not(windows))]
    fn command(self, bench: &Bench<'_>) -> Result<Command> {
        let nice = match self {
            Self::Idle => "19",
            Self::BelowNormal => "10",
            Self::AboveNormal | Self::High => {
                let message = "on this system a program cannot take a priority above normal";
                let hint = "idle and below-normal are for everybody, sudo nice -n -10 etwkit lab for administrators";
                return Err(etwkit_terminal::errors::advised(message.to_owned(), hint));
            }
        };
        let mut command = Command::new("nice");
        command.args(["-n", nice]).arg(bench.program);
        Ok(command)
    }
}
