//! The environment that a program provides to its commands: output, notes, JSON, and files. With it,
//! [`run()`] and [`lab()`] are the same in every program that offers them.

mod here;
mod lab;
mod plain;
mod run;

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use etwkit_terminal::{CommandOutput, Table};

pub use here::Here;
pub use lab::lab;
pub use plain::Plain;
pub use run::run;

/// Output of a command, and the services that it needs from the surrounding program.
pub trait CommandFrontEnd: CommandOutput {
    /// Prints a heading and the table below it.
    ///
    /// # Errors
    /// They cannot be written.
    fn table(&mut self, heading: &str, table: &Table) -> Result<()>;

    /// Flushes buffered output.
    ///
    /// # Errors
    /// It cannot be written.
    fn flush(&mut self) -> Result<()>;

    /// True if the command was cancelled by anything other than Ctrl-C.
    fn is_given_up(&self) -> bool;

    /// Rejects a file that already exists.
    ///
    /// # Errors
    /// The file exists already.
    fn check_new(&self, file: &Path) -> Result<()>;

    /// Writes a new file, which is either complete or absent.
    ///
    /// # Errors
    /// The file exists already, or cannot be written.
    fn write_new(
        &mut self,
        file: &Path,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
    ) -> Result<()>;

    /// Extracts these recordings and reports the extracts.
    ///
    /// # Errors
    /// One of them cannot be read, or this program reads no traces.
    fn extract(&mut self, recordings: &[&str]) -> Result<()>;

    /// Prints what the slow recordings have in common.
    ///
    /// # Errors
    /// They cannot be read, or this program reads no traces.
    fn explain(&mut self, recordings: &[&str], is_json: bool) -> Result<()>;
}
