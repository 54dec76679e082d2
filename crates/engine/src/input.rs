//! Options for opening traces.

use std::path::PathBuf;

use etwkit_extract::{Limits, Options};

use crate::Engine;

/// Default limit of data unpacked from archives, in GiB.
pub const DEFAULT_MAX_UNPACKED_GIB: u64 = 64;

/// Returns options for opening traces: whether they are mapped into memory, the limit of unpacked
/// archives in GiB, and the folder for members of archives, if not the folder of the system.
#[must_use]
pub fn input_options(mmap: bool, max_unpacked_gib: u64, temp_dir: Option<PathBuf>) -> Options {
    let limits = Limits {
        total_bytes: max_unpacked_gib.saturating_mul(1 << 30),
        ..Limits::default()
    };
    Options {
        mmap,
        temp_dir,
        limits,
    }
}

impl Engine {
    /// Returns the default options for opening traces.
    #[must_use]
    pub fn input_options(&self) -> Options {
        input_options(
            true,
            DEFAULT_MAX_UNPACKED_GIB,
            self.settings().temp_dir.clone(),
        )
    }
}
