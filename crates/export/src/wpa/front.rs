//! The environment that a program provides to the export.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use etwkit_sql::Session;
use serde_json::Value;

/// Output of the export, and access to extracts.
pub trait Front {
    /// Opens an extract, or the extract that is made from a trace.
    ///
    /// # Errors
    /// It cannot be read.
    fn open(&mut self, path: &Path) -> Result<Arc<Session>>;

    /// Prints something, escaped.
    ///
    /// # Errors
    /// It cannot be written.
    fn emit(&mut self, what: Emitted<'_>) -> Result<()>;

    /// Writes a file under another name first, and gives it its name if `write` returns true. An
    /// older file is replaced with `force`, and then only.
    ///
    /// # Errors
    /// `write` fails, or the file cannot be written.
    fn write_file(
        &mut self,
        file: &Path,
        force: bool,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<bool>,
    ) -> Result<()>;
}

/// Something to print.
#[derive(Debug, Clone, Copy)]
pub enum Emitted<'a> {
    /// A line of the answer.
    Line(&'a str),
    /// A note for the error stream.
    Note(&'a str),
    /// The command whose JSON follows.
    JsonStart(&'a str),
    /// An object of JSON.
    Json(&'a Value),
}
