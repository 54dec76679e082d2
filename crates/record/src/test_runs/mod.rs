//! Runs of a test case: a command runs repeatedly, for each combination of parameters. Its
//! durations are reported in numbers and in the names of its recordings.
//!
//! ```text
//! args ─► plan: cells of a matrix × repetitions ─► runs: before, start recording, command, stop, after
//!                                                     │
//!                                                     └─► report: rows, medians by cell, CSV
//! ```
//!
//! Recorders implement [`Recorder`]; without one ([`NoRecorder`]) this is a stopwatch that works on
//! every system.

mod args;
mod child;
mod matrix;
mod name;
mod plan;
mod power;
mod recorder;
mod report;
mod runs;
mod timing;

pub use args::RunArgs;
pub use matrix::{Axis, Cell};
pub use name::{machine, recording_name};
pub use plan::Plan;
pub use recorder::{NoRecorder, Recorder};
pub use report::{Row, Status, Summary, table, write_csv};
pub use runs::{Outcome, run};
pub use timing::Timing;
