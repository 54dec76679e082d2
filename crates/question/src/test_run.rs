//! Tests and test runs: the meaning of the names of trace files of automated tests, and the
//! selection among many files.
//!
//! Two forms of names are known: `Case_123msMACHINE.20200717-124447.etl` and
//! `Case_123ms_MACHINE_CLT_TestStatus-Passed_20200717-124447.etl`. Times in names are local
//! wall-clock times.

mod name;
mod select;

pub use name::{GeneratedAt, TestName, TestStatus, stem};
pub use select::{Selection, Test, TestFile, TestRun, runs, wall_clock};
