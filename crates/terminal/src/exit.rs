//! Exit codes of the process.

use std::process::ExitCode;

/// Outcome of a command, as an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The question was answered. A reader that has closed the pipe also counts as answered.
    Answered = 0,
    /// Nothing was found, or the trace did not record it.
    Nothing = 1,
    /// The command line is wrong, or an input could not be read.
    Error = 2,
    /// The condition that the command was to fail on is met.
    Failed = 3,
    /// Interrupted by the user.
    Interrupted = 130,
}

impl Exit {
    /// Returns the worse of two exit codes.
    #[must_use]
    pub const fn worse(self, other: Self) -> Self {
        // Codes rise with severity, so they can be compared.
        if other.code() > self.code() {
            other
        } else {
            self
        }
    }

    /// Returns the exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
