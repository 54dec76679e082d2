//! Tests and test runs: what the names of trace files of automated tests say, and which of many files are
//! meant.
//!
//! Two forms of names are known: `Case_123msMACHINE.20200717-124447.etl` and
//! `Case_123ms_MACHINE_CLT_TestStatus-Passed_20200717-124447.etl`. Times in names are those of the clock on
//! the wall.

mod name;
mod question;
mod rows;
mod select;

pub use name::{GeneratedAt, TestName, TestStatus, stem};
pub use question::TestRunRequest;
pub use rows::{RunSums, TestRow};
pub use select::{Selection, Test, TestFile, TestRun, runs, wall_clock};
