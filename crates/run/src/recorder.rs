//! Recorders, which record while a command runs.

use std::path::{Path, PathBuf};

use anyhow::Result;

/// Records one run at a time. After an error of [`start`](Recorder::start) nothing is recording;
/// after one of [`stop`](Recorder::stop) [`cancel`](Recorder::cancel) is called.
pub trait Recorder {
    /// Begins to record.
    ///
    /// # Errors
    /// It cannot begin.
    fn start(&mut self) -> Result<()>;

    /// Ends the recording and writes it to a file; the file that it is in, which is another one
    /// where this one could not be written.
    ///
    /// # Errors
    /// It cannot be written.
    fn stop(&mut self, file: &Path) -> Result<PathBuf>;

    /// Stops the recording and discards it. Never fails: the recorder itself reports to the user if
    /// a recording could not be stopped.
    fn cancel(&mut self);

    /// Ending of the files that it writes, with the dot; nothing where it writes none.
    fn ending(&self) -> Option<&str>;
}

/// Records nothing: runs are measured alone.
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
