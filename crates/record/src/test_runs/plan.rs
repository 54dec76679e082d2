//! The plan of a test: commands, repetitions, and conditions.

use std::path::PathBuf;
use std::time::Duration;

use crate::test_runs::matrix::Cell;
use crate::test_runs::timing::Timing;

/// A plan of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The test case, in the names of recordings.
    pub case: String,
    /// Program and arguments; `{name}` is replaced by a parameter of the matrix.
    pub command: Vec<String>,
    /// Combinations of parameters, each of which is run; at least one.
    pub cells: Vec<Cell>,
    /// Parameters that are power settings of the processor. They are set before each run.
    pub power: Vec<String>,
    /// File for the original values of these settings until they are restored; `None` keeps no
    /// file. Values that an earlier plan left there, because its process was killed, are restored
    /// first.
    pub restore_file: Option<PathBuf>,
    /// Number of runs of each.
    pub repeat: u32,
    /// Lines of the shell before each run, which are not measured.
    pub before: Vec<String>,
    /// Lines of the shell after each run, regardless of its outcome.
    pub after: Vec<String>,
    /// Pause between two runs.
    pub cool_down: Duration,
    /// Time limit of a command or a hook.
    pub timeout: Option<Duration>,
    /// Source of the duration.
    pub timing: Timing,
    /// True if the output of commands goes to our error stream, so that our own output stays
    /// readable for other programs.
    pub is_heard: bool,
    /// Folder for recordings.
    pub out: PathBuf,
}
