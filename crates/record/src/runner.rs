//! Execution of programs, replaceable by a stand-in in tests.

use std::io;
use std::process::{Command, Stdio};

use crate::failure;
use crate::step::Step;

/// Outcome of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The text that it printed, the error stream after the output.
    pub text: String,
}

impl Outcome {
    /// True if it succeeded.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.code == Some(0)
    }

    /// Returns the lines with content: without empty lines and without the banner of a recorder.
    pub(crate) fn said(&self) -> impl Iterator<Item = &str> {
        let says = |line: &&str| !line.is_empty() && !failure::is_banner(line);
        self.text.lines().map(str::trim).filter(says)
    }
}

/// Runs command lines of recorders.
pub trait Runner {
    /// Runs one and waits for its end.
    ///
    /// # Errors
    /// The program cannot be started.
    fn run(&mut self, step: &Step) -> io::Result<Outcome>;
}

/// The programs of this system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Programs;

impl Runner for Programs {
    fn run(&mut self, step: &Step) -> io::Result<Outcome> {
        wait(Command::new(step.program).args(&step.args))
    }
}

/// Waits for a program that Ctrl-C does not end: a recorder that is stopped while it writes its
/// file would leave neither a file nor a recording. It continues if the waiting program is killed.
///
/// # Errors
/// It cannot be started.
pub fn wait(command: &mut Command) -> io::Result<Outcome> {
    command.stdin(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    // CREATE_NEW_PROCESS_GROUP: Ctrl-C is off in the new group.
    std::os::windows::process::CommandExt::creation_flags(command, 0x200);
    let output = command.output()?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Ok(Outcome {
        code: output.status.code(),
        text,
    })
}
