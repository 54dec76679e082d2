//! A recording of each run of a command, for `etwkit run`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use etwkit_terminal::errors::advised;

use crate::args::{StartArgs, StopArgs};
use crate::facts::Document;
use crate::recording::Machine;
use crate::test_runs::Recorder;

/// Records one run after the other with the same profiles.
pub struct EachRun<'m, 'a> {
    machine: &'m mut Machine<'a>,
    start: StartArgs,
    /// Folder for a recording that cannot be written to its target.
    aside: PathBuf,
    /// Facts about the machine that no event contains. Gathered once, since that takes seconds.
    facts: Option<Document>,
    notes: Vec<String>,
}

impl<'m, 'a> EachRun<'m, 'a> {
    /// Creates the recorder without starting a recording. `aside` is the folder for recordings that
    /// cannot be written to their targets.
    ///
    /// # Errors
    /// The machine has no recorder.
    pub fn new(
        machine: &'m mut Machine<'a>,
        profiles: Vec<String>,
        aside: PathBuf,
    ) -> Result<Self> {
        if !machine.is_windows {
            let line = format!(
                "`etwkit record --script start {}` prints the lines for one",
                profiles.join(" ")
            );
            return Err(advised("runs are recorded on Windows machines only", line));
        }
        Ok(Self {
            machine,
            start: StartArgs::of(profiles),
            aside,
            facts: None,
            notes: Vec::new(),
        })
    }

    /// Returns notes for the user about the recordings, with advice.
    #[must_use]
    pub fn notes(self) -> Vec<String> {
        self.notes
    }

    /// Adds a note, once.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Writes a recording again whose first write failed. The first error is the one that is
    /// reported.
    fn write_aside(
        &mut self,
        file: &Path,
        stop: &StopArgs,
        reason: anyhow::Error,
    ) -> Result<PathBuf> {
        let Some(name) = file.file_name() else {
            return Err(reason);
        };
        let aside = self.aside.join(name);
        // Without the recording nothing can be written again, and an existing file is never
        // replaced.
        if aside == file || !matches!(self.machine.is_recording(), Ok(true)) || aside.exists() {
            return Err(reason);
        }
        match self.machine.write(stop, &aside) {
            Ok(written) => {
                self.note(format!(
                    "a recording could not be written to its folder, and is {} now: {reason:#}",
                    written.display()
                ));
                Ok(written)
            }
            Err(_) => Err(reason),
        }
    }

    /// Writes the facts file next to a recording. A failure does not affect the recording.
    fn write_facts(&mut self, recording: &Path) {
        // Facts of the machine are gathered once, since they are the same for all runs.
        let facts = self.facts.take().unwrap_or_else(|| self.machine.facts());
        if let Err(error) = facts.write(recording) {
            self.note(format!(
                "there are no facts about the machine next to a recording: {error:#}"
            ));
        }
        self.facts = Some(facts);
    }
}

impl Recorder for EachRun<'_, '_> {
    fn start(&mut self) -> Result<()> {
        if let Some(warning) = self.machine.start(&self.start)? {
            self.note(warning);
        }
        Ok(())
    }

    fn stop(&mut self, file: &Path) -> Result<PathBuf> {
        // Symbol files of precompiled .NET code would take 10 to 60 minutes after the first run.
        let stop = StopArgs::quick(file.display().to_string());
        let free = self.machine.free(&stop)?;
        if let Some(change) = self.machine.change() {
            self.note(change);
        }
        let written = match self.machine.write(&stop, &free) {
            Ok(written) => written,
            Err(reason) => self.write_aside(&free, &stop, reason)?,
        };
        self.write_facts(&written);
        // The path as named, if the file is there.
        Ok(if written == free {
            file.to_owned()
        } else {
            written
        })
    }

    fn cancel(&mut self) {
        if let Err(error) = self.machine.give_up() {
            self.note(format!(
                "the recording could not be ended, `etwkit record cancel` tries again: {error:#}"
            ));
        }
    }

    fn ending(&self) -> Option<&str> {
        Some(".etl")
    }
}
