//! What is run, how often, and what goes with it.

use std::path::PathBuf;
use std::time::Duration;

use crate::matrix::Cell;
use crate::timing::Timing;

/// A plan of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The test case, as recordings are called.
    pub case: String,
    /// Program and arguments; `{name}` stands for a parameter of the matrix.
    pub command: Vec<String>,
    /// Combinations of parameters, each of which is run; at least one.
    pub cells: Vec<Cell>,
    /// Parameters that are power settings of the processor, which are set in front of each run.
    pub power: Vec<String>,
    /// Where is kept what these settings were before, until they are that again; none keeps nothing. What an
    /// earlier plan left there, since its process was ended, is restored first.
    pub restore_file: Option<PathBuf>,
    /// How often each is run.
    pub repeat: u32,
    /// Lines of the shell in front of each run, outside of what is measured.
    pub before: Vec<String>,
    /// Lines of the shell behind each run, whatever came of it.
    pub after: Vec<String>,
    /// Pause between two runs.
    pub cool_down: Duration,
    /// The longest that a command or a hook may take.
    pub timeout: Option<Duration>,
    /// What the duration is.
    pub timing: Timing,
    /// What commands print goes to our error stream, so that our answer stays readable for other programs.
    pub is_heard: bool,
    /// Where recordings go.
    pub out: PathBuf,
}
