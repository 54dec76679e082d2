//! A lake: a folder of Delta tables that keeps the rows of many extracts, so that a question about
//! thousands of runs opens a few files.
//!
//! `LAKE/<table>/` has the rows of all runs of one declared table, with the columns `run_id` and
//! `run_generation` before its own. `LAKE/run/` has a row for each run. That row is committed last and is
//! the only switch: rows of any table count if `run` names their `run_id` and `generation`. So a run
//! is there as a whole or not at all, although a commit covers a single table.
//!
//! Writers put commits into a log by creating files that must not exist yet, and try again if another
//! one was faster. Checkpoints spare readers the old commits. Rows that no run names any more stay until
//! [`Lake::compact`] leaves them out and [`Lake::vacuum`] deletes the files.
//!
//! A lake is a folder, or one of a bucket (`s3://BUCKET/FOLDER`, `az://CONTAINER/FOLDER`,
//! `gs://BUCKET/FOLDER`) with the feature `object-store`. This module could be a crate: it uses manifests, rows and checksums of extracts, and knows nothing of traces.

#![forbid(unsafe_code)]

mod add;
#[cfg(feature = "object-store")]
mod bucket;
#[cfg(not(feature = "object-store"))]
#[path = "no_bucket.rs"]
mod bucket;
mod check;
#[cfg(feature = "object-store")]
mod client;
mod compact;
mod drop;
mod error;
mod handle;
mod layout;
mod left_out;
mod log;
mod merge;
mod place;
mod read;
mod run;
mod snapshot;
mod store;
mod unique;
mod vacuum;
mod verdict;
mod write;

pub use crate::run_log::run_log;
pub use add::Added;
pub use check::{Checked, Problem};
pub use compact::Compacted;
pub use error::{Error, Result};
pub use handle::Lake;
pub use layout::{GENERATION, RUN};
pub use place::refuse_unknown;
pub use run::Run;
pub use snapshot::{LakeFile, LakeRun, Snapshot, is_lake, split, stamp};
pub use vacuum::Vacuumed;
