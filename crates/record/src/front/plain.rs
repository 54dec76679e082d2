//! Front end of the stand-alone recorder: prints lines, and writes files of the file system.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};
use etwkit_terminal::errors::advised;
use etwkit_terminal::{CommandOutput, FORMAT_VERSION, Lines, Table};
use serde_json::{Value, json};

use crate::front::CommandFrontEnd;

/// Lines, and notes for the error stream.
pub struct Plain<'w> {
    /// Output of the command.
    pub lines: Lines<'w>,
    /// Notes for the user, printed on the error stream.
    pub notes: Vec<String>,
    /// The first line of JSON, held back until the next one is printed.
    started: Option<Value>,
}

impl<'w> Plain<'w> {
    /// Creates a front end without any output yet.
    #[must_use]
    pub fn new(lines: Lines<'w>) -> Self {
        Self {
            lines,
            notes: Vec::new(),
            started: None,
        }
    }
}

impl CommandOutput for Plain<'_> {
    fn line(&mut self, line: &str) -> Result<()> {
        Ok(self.lines.line(line)?)
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    fn json_start(&mut self, command: &str) {
        // Printed with the first object only: a command that fails before that prints no JSON at
        // all.
        self.started = Some(json!({"command": command, "format_version": FORMAT_VERSION}));
    }

    fn json(&mut self, value: &Value) -> Result<()> {
        if let Some(first) = self.started.take() {
            self.lines.json_line(&first.to_string())?;
        }
        Ok(self.lines.json_line(&value.to_string())?)
    }
}

impl CommandFrontEnd for Plain<'_> {
    fn table(&mut self, heading: &str, table: &Table) -> Result<()> {
        self.lines.heading(heading)?;
        Ok(self.lines.table(table)?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.lines.flush()?)
    }

    fn is_given_up(&self) -> bool {
        false
    }

    fn check_new(&self, file: &Path) -> Result<()> {
        if file.exists() {
            return Err(advised(
                format!("{} exists", file.display()),
                "give another name",
            ));
        }
        Ok(())
    }

    fn write_new(
        &mut self,
        file: &Path,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
    ) -> Result<()> {
        let cannot = || format!("cannot write {}", file.display());
        let mut out = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(file)
            .with_context(cannot)?;
        let written = write(&mut out).and_then(|()| Ok(out.sync_all()?));
        if written.is_err() {
            // A half-written file would look complete.
            let _ = fs::remove_file(file);
        }
        written.with_context(cannot)
    }

    fn extract(&mut self, recordings: &[&str]) -> Result<()> {
        let line = format!(
            "`etwkit extract {}` does, on the machine that reads",
            recordings.join(" ")
        );
        Err(advised("this program does not read recordings", line))
    }

    fn explain(&mut self, recordings: &[&str], _is_json: bool) -> Result<()> {
        let line = format!("`etwkit explain {}` does", recordings.join(" "));
        Err(advised("this program does not read recordings", line))
    }
}
