//! The log by which a folder is known as a lake.

use std::path::{Path, PathBuf};

/// Name of the table of the runs of a lake.
pub const RUN: &str = "run";

/// Folder of the log in the folder of a table.
pub(crate) const FOLDER: &str = "_delta_log";

/// Returns the folder that changes with each run that is added to a lake or dropped from it.
#[must_use]
pub fn run_log(lake: &Path) -> PathBuf {
    lake.join(RUN).join(FOLDER)
}
