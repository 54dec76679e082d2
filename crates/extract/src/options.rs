//! How inputs are opened.

use std::path::PathBuf;

/// How inputs are opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Map files into memory where that is safe. Without it every buffer is read by its position, which is
    /// slower but cannot be hurt by a file that shrinks.
    pub mmap: bool,
    /// Where members of archives are unpacked to; the system's folder for temporary files if `None`.
    pub temp_dir: Option<PathBuf>,
    /// What an archive may unpack to.
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

/// What an archive may unpack to, since a few bytes can stand for a full disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Unpacked bytes of all inputs together.
    pub total_bytes: u64,
    /// Unpacked bytes per packed byte.
    pub ratio: u64,
    /// Members up to this size are unpacked whatever their ratio: a preallocated trace is mostly zeros.
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
