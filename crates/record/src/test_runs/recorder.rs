//! Recorders, which record while a command runs.

use std::path::{Path, PathBuf};

use anyhow::Result;

/// Records one run at a time. After an error of [`start`](Recorder::start) nothing is recording.
/// After an error of [`stop`](Recorder::stop) the caller calls [`cancel`](Recorder::cancel).
pub trait Recorder {
    /// Starts a recording.
    ///
    /// # Errors
    /// It cannot be started.
    fn start(&mut self) -> Result<()>;

    /// Stops the recording and writes it to a file. Returns the actual file, which is another one
    /// if this one could not be written.
    ///
    /// # Errors
    /// It cannot be written.
    fn stop(&mut self, file: &Path) -> Result<PathBuf>;

    /// Stops the recording and discards it. Never fails: the recorder itself reports to the user if
    /// a recording could not be stopped.
    fn cancel(&mut self);

    /// Returns the extension of the files that it writes, with the dot; `None` if it writes none.
    fn ending(&self) -> Option<&str>;
}

/// Records nothing: runs are only measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn start(&mut self) -> Result<()> {
        Ok(())
    }

    fn stop(&mut self, file: &Path) -> Result<PathBuf> {
        Ok(file.to_owned())
    }

    fn cancel(&mut self) {}

    fn ending(&self) -> Option<&str> {
        None
    }
}
