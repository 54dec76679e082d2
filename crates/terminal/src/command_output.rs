//! The output of a command, as a library sees it that runs in several programs.

use anyhow::Result;
use serde_json::Value;

/// Lines and JSON of the answer, and notes.
pub trait CommandOutput {
    /// Prints a line of the answer, escaped.
    ///
    /// # Errors
    /// It cannot be written.
    fn line(&mut self, line: &str) -> Result<()>;

    /// Keeps a note for the error stream.
    fn note(&mut self, text: &str);

    /// Sets the command that prints the JSON that follows.
    fn json_start(&mut self, command: &str);

    /// Prints an object of JSON.
    ///
    /// # Errors
    /// It cannot be written.
    fn json(&mut self, value: &Value) -> Result<()>;
}
