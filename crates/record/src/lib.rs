//! Recording with the recorders of Windows, `wpr.exe` and `xperf.exe`: [`profiles`] of etwkit, the
//! command lines that start and stop a recording, and the handling of failures. [`test_runs`]
//! repeats commands and times them, [`lab`] has workloads. Those with large libraries are a program
//! of their own, `etwkit-lab-data`, which the feature `lab-data` builds.
//!
//! ```text
//! arguments ─► record / test_runs / lab ─► front: lines, notes, JSON, files of the program
//! ```
//!
//! Both `etwkit` and `etwkit-recorder` offer these commands through a [`front`]. The latter, the
//! program of this crate, is for the recorded machine: it has no query engine, so it can be built
//! and copied quickly.
//!
//! This crate does not read traces. On other systems than Windows, the command lines are explained
//! and printed as a script.

#![forbid(unsafe_code)]

mod args;
mod check;
mod command;
mod control;
mod each_run;
mod facts;
mod failure;
pub mod front;
pub mod lab;
mod line;
mod listen;
mod now;
mod pack;
mod pictures;
pub mod profiles;
mod recording;
mod rotate;
mod runner;
mod script;
mod step;
mod steps;
pub mod test_runs;
mod watch;
pub mod wprp;

pub use args::{
    BootArgs, CheckArgs, LineArgs, ListenArgs, MarkArgs, NowArgs, ProfilesArgs, RecordArgs,
    RecordCommand, StartArgs, StopArgs,
};
pub use command::{extract_line, run};
pub use control::{Control, Count, EndedRecording, FailedStep};
pub use each_run::EachRun;
pub use recording::{Clock, Machine};
pub use runner::{Outcome, Programs, Runner, wait};
pub use step::Step;
