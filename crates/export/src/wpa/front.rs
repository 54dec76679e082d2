//! The environment that a program provides to the export.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use etwkit_sql::Session;
use etwkit_terminal::CommandOutput;

/// Output of the export, and access to extracts.
pub trait ExportFrontEnd: CommandOutput {
    /// Opens an extract, or the extract that is made from a trace.
    ///
    /// # Errors
    /// It cannot be read.
    fn open(&mut self, path: &Path) -> Result<Arc<Session>>;

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
