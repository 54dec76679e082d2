//! Answers as files to share, which the command that wrote one may overwrite.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use etwkit_analysis::page_begins;
use etwkit_terminal::errors::advised;

use crate::out_file::{self, Replace};
use crate::printer::Printer;

/// Returns the permission to replace a file that is a page of this command.
///
/// # Errors
/// Another file is there.
pub(super) fn may_replace(file: &Path, command: &str) -> anyhow::Result<Replace> {
    let begins = page_begins(command);
    let mut found = vec![0; begins.len()];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut found));
    let is_own = read.is_ok() && found == begins.as_bytes();
    if !is_own && file.is_file() {
        let message = format!(
            "{} exists, and is not a page of etwkit {command}",
            file.display()
        );
        return Err(advised(message, "give another name"));
    }
    let replace = if is_own {
        Replace::Anything
    } else {
        Replace::Nothing
    };
    out_file::check(file, replace)?;
    Ok(replace)
}

/// Rejects a target that exists.
///
/// # Errors
/// A file or a folder exists there.
pub(super) fn check_new(file: &Path) -> anyhow::Result<()> {
    if file.is_file() {
        return Err(advised(
            format!("{} exists", file.display()),
            "give another name",
        ));
    }
    out_file::check(file, Replace::Nothing)
}

/// Writes a file and reports it.
pub(super) fn write(
    file: &Path,
    replace: Replace,
    text: &str,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    out_file::write_text(file, replace, text)?;
    Ok(printer.line(&format!("Wrote {}", file.display()))?)
}
