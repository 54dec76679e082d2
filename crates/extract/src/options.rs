//! Options for opening inputs.

use std::path::PathBuf;

/// Options for opening inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Maps files into memory if that is safe. Otherwise every buffer is read by position, which is
    /// slower but safe if a file shrinks.
    pub mmap: bool,
    /// Folder for unpacked members of archives; the system's folder for temporary files if `None`.
    pub temp_dir: Option<PathBuf>,
    /// Limits for unpacking archives.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mmap: true,
            temp_dir: None,
            limits: Limits::default(),
        }
    }
}

impl Options {
    /// The folder for unpacked members.
    pub(crate) fn spool_dir(&self) -> PathBuf {
        self.temp_dir.clone().unwrap_or_else(std::env::temp_dir)
    }
}

/// Limits for unpacking an archive, because a few bytes can expand to fill a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Unpacked bytes of all inputs together.
    pub total_bytes: u64,
    /// Unpacked bytes per packed byte.
    pub ratio: u64,
    /// Members up to this size are unpacked regardless of their ratio: a preallocated trace is
    /// mostly zeros.
    pub ratio_from_bytes: u64,
    /// Traces in all archives together; each one holds a file open.
    pub members: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total_bytes: 64 << 30,
            ratio: 1000,
            ratio_from_bytes: 1 << 30,
            members: 500,
        }
    }
}
