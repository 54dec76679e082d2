//! Recording on this machine: checks, steps, and cleanup after failures.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use chrono::NaiveDateTime;
use etwkit_terminal::errors::advised;
use serde::{Deserialize, Serialize};

use crate::args::{BootArgs, StartArgs, StopArgs};
use crate::check;
use crate::facts::{self, Document};
use crate::failure;
use crate::pack::pack;
use crate::profiles::FILE_NAME;
use crate::runner::{Outcome, Runner};
use crate::step::Step;
use crate::steps;

/// The time of a machine.
pub trait Clock {
    /// Returns the current time, for the names of recordings.
    fn now(&self) -> NaiveDateTime;

    /// Waits for this time. Returns false as soon as the user stops the wait.
    fn pause(&self, time: Duration) -> bool;
}

/// The machine that is recorded.
pub struct Machine<'a> {
    /// Runs its programs.
    pub runner: &'a mut dyn Runner,
    /// True on Windows; on other systems only scripts are printed.
    pub is_windows: bool,
    /// Its name, for the names of recordings.
    pub name: String,
    /// Clock and interruptible pauses of the machine.
    pub clock: &'a dyn Clock,
    /// File that the last stop wrote.
    pub written: Option<PathBuf>,
    /// Folder for the profiles of etwkit, and for the settings to restore when the recording ends.
    pub folder: PathBuf,
}

/// Settings to restore when the recording ends.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Changed {
    /// The previous interval of CPU samples, in units of 100 ns; `None` if it could not be read.
    interval_before: Option<u32>,
}

impl<'a> Machine<'a> {
    /// This machine.
    pub fn here(
        runner: &'a mut dyn Runner,
        clock: &'a dyn Clock,
        name: String,
        folder: PathBuf,
    ) -> Self {
        Self {
            runner,
            is_windows: cfg!(windows),
            name,
            clock,
            written: None,
            folder,
        }
    }

    /// Runs a line that has to succeed.
    pub(crate) fn done(&mut self, step: &Step) -> Result<Outcome> {
        let outcome = self.outcome(step)?;
        if outcome.is_done() {
            Ok(outcome)
        } else {
            Err(failure::error(step, &outcome))
        }
    }

    pub(crate) fn outcome(&mut self, step: &Step) -> Result<Outcome> {
        let program = step.program;
        self.runner.run(step).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => advised(
                format!("{program} was not found"),
                "it is part of Windows 10 (wpr) or of the Windows ADK (xperf): put its folder into PATH",
            ),
            _ => anyhow::Error::new(error).context(format!("cannot run {program}")),
        })
    }

    /// True if wpr is recording.
    pub(crate) fn is_recording(&mut self) -> Result<bool> {
        Ok(self.status()?.is_some())
    }

    /// Returns the status that wpr reports; `None` if it is not recording. The status of a recording
    /// contains its time, with words in the language of Windows.
    pub(crate) fn status(&mut self) -> Result<Option<Outcome>> {
        let step = steps::status();
        let outcome = self.outcome(&step)?;
        if failure::is_denied(&outcome) {
            return Err(failure::error(&step, &outcome));
        }
        let is_recording = !failure::is_idle(&outcome) && outcome.said().any(has_time);
        Ok(is_recording.then_some(outcome))
    }

    /// Starts a recording and returns a note for the user. If a step after the start fails, the
    /// recording is canceled.
    ///
    /// # Errors
    /// Something is being recorded already, a profile is not known, or wpr cannot do it.
    pub fn start(&mut self, args: &StartArgs) -> Result<Option<String>> {
        // Built first, so that an unknown profile is rejected before anything is written.
        let steps = steps::start(args, &self.folder)?;
        let sessions = facts::sessions(self.runner);
        let profiles = check::check(self, args, &sessions)?;
        let file = self.folder.join(FILE_NAME);
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&file, &profiles.text))
            .with_context(|| format!("cannot write {}", file.display()))?;
        self.forget_pictures();
        // Read before the start: profiles of wpr set an interval of their own when they start.
        let before = if args.sample_every.is_some() {
            self.interval()
        } else {
            None
        };
        let mut steps = steps.iter();
        if let Some(start) = steps.next() {
            self.done(start)?;
        }
        let Err(error) = self.set_interval(args, before, steps.as_slice()) else {
            self.watch(sessions);
            return Ok(profiles.warning);
        };
        // The recording is canceled, since a recording with another interval than requested would
        // silently give other numbers.
        let ended = self.done(&steps::cancel(&BootArgs { boot: args.boot }));
        let restored = self.restore();
        Err(match (ended, restored) {
            (Ok(_), Ok(())) => {
                error.context("the recording was ended again, since the interval could not be set")
            }
            (Ok(_), Err(left)) => error.context(format!("the recording was ended again; {left}")),
            (Err(left), _) => error.context(format!(
                "something is still being recorded, `etwkit record cancel` ends it: {left}"
            )),
        })
    }

    fn set_interval(
        &mut self,
        args: &StartArgs,
        before: Option<u32>,
        steps: &[Step],
    ) -> Result<()> {
        let Some(wanted) = args.sample_every else {
            return Ok(());
        };
        // Written first: if this program is interrupted in between, too much is restored rather
        // than too little. A value that an earlier recording could not restore is still the
        // original one, so it is kept.
        if !self.changed().exists() {
            let text = serde_json::to_string(&Changed {
                interval_before: before,
            })?;
            fs::write(self.changed(), text)
                .context("cannot keep the interval of CPU samples that was before")?;
        }
        for step in steps {
            let outcome = self.done(step)?;
            if let Some(is) = ticks(&outcome).filter(|is| step.has("-profint") && *is != wanted) {
                let message = format!(
                    "the interval of CPU samples is {is} instead of {wanted} units of 100 ns"
                );
                return Err(advised(
                    message,
                    "the processor does not support this interval: choose another one",
                ));
            }
        }
        Ok(())
    }

    fn changed(&self) -> PathBuf {
        self.folder.join("changed.json")
    }

    fn interval(&mut self) -> Option<u32> {
        let step = Step::wpr(["-profint"], "The interval before.");
        let outcome = self.runner.run(&step).ok().filter(Outcome::is_done)?;
        ticks(&outcome)
    }

    /// Stops the recording and returns the path of the written file.
    ///
    /// # Errors
    /// The file exists already, or wpr cannot write it; the recording continues if possible.
    pub fn stop(&mut self, args: &StopArgs) -> Result<PathBuf> {
        let file = self.free(args)?;
        let written = self.write(args, &file);
        // The recorded data is lost only when the recording is canceled, so that is left to the
        // user.
        written.map_err(|error| match self.is_recording() {
            Ok(true) => error.context(
                "the file could not be written; the recording goes on and nothing is lost",
            ),
            _ => error,
        })
    }

    /// Returns a path where a recording can be written.
    pub(crate) fn free(&self, args: &StopArgs) -> Result<PathBuf> {
        let file = self.file(&args.name)?;
        let zipped = file.with_added_extension("zip");
        if let Some(taken) = [&file, &zipped].into_iter().find(|path| path.exists()) {
            return Err(advised(
                format!("{} exists already", taken.display()),
                "choose another name; nothing was stopped",
            ));
        }
        Ok(file)
    }

    /// Writes the facts file next to a recording, unless it is turned off, and returns the number
    /// of facts.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write_facts(
        &mut self,
        args: &StopArgs,
        recording: &Path,
    ) -> Result<Option<usize>> {
        if args.no_facts {
            self.unwatch();
            return Ok(None);
        }
        let document = self.facts();
        document.write(recording)?;
        Ok(Some(document.facts.len()))
    }

    /// Returns facts that no event contains, about the machine and the recording that has just
    /// ended.
    pub(crate) fn facts(&mut self) -> Document {
        let watch = self.watched();
        self.unwatch();
        facts::gather(self.runner, &watch)
    }

    /// Stops the recording, writes it into that file, and returns the path of the result.
    pub(crate) fn write(&mut self, args: &StopArgs, file: &Path) -> Result<PathBuf> {
        self.done(&steps::stop(args, &file.display().to_string()))?;
        // Restored before the file is checked, so that the interval is restored even if the file is
        // bad.
        self.restore()
            .with_context(|| format!("wpr has written {}", file.display()))?;
        if !file.metadata().is_ok_and(|file| file.len() > 0) {
            let message = format!(
                "wpr ended the recording and {} is missing or empty",
                file.display()
            );
            return Err(advised(
                message,
                "look for it in the folder of temporary files (WPR_initiated_*)",
            ));
        }
        if !args.zip {
            return Ok(file.to_owned());
        }
        let zipped = file.with_added_extension("zip");
        pack(file, &zipped)
            .with_context(|| format!("{} is complete and stays; cannot pack it", file.display()))?;
        Ok(zipped)
    }

    /// Returns the path of a recording: a name gets the machine and the time.
    fn file(&self, name: &str) -> Result<PathBuf> {
        if steps::ends_with(name, ".etl") {
            return Ok(std::path::absolute(name)?);
        }
        let at = self.clock.now().format("%Y%m%d-%H%M%S");
        Ok(std::path::absolute(format!(
            "{name}_{}.{at}.etl",
            self.name
        ))?)
    }

    /// Stops the recording and discards it.
    ///
    /// # Errors
    /// wpr cannot do it, or the interval of CPU samples cannot be restored.
    pub fn cancel(&mut self, args: &BootArgs) -> Result<()> {
        let cancelled = self.done(&steps::cancel(args));
        self.restore()?;
        cancelled.map(|_| ())
    }

    /// Cancels an abandoned recording, if there is one.
    ///
    /// # Errors
    /// As for [`cancel`](Self::cancel).
    pub(crate) fn give_up(&mut self) -> Result<()> {
        let step = steps::cancel(&BootArgs { boot: false });
        let outcome = self.outcome(&step);
        self.restore()?;
        match outcome? {
            // The recording was already stopped by another program.
            outcome if outcome.is_done() || failure::is_idle(&outcome) => Ok(()),
            outcome => Err(failure::error(&step, &outcome)),
        }
    }

    /// Restores the interval of CPU samples, if we changed it.
    pub(crate) fn restore(&mut self) -> Result<()> {
        let path = self.changed();
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(());
        };
        // From an unreadable file the default interval is restored.
        let changed: Changed = serde_json::from_str(&text).unwrap_or_default();
        self.done(&steps::restore_interval(changed.interval_before))
            .context(
                "the interval of CPU samples could not be restored, `wpr -resetprofint` does it",
            )?;
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
    }
}

/// Returns the first number that can be an interval of samples. The version of wpr cannot be one.
fn ticks(outcome: &Outcome) -> Option<u32> {
    let words = outcome
        .said()
        .flat_map(|line| line.split(|c: char| !c.is_ascii_digit()));
    let mut numbers = words.filter_map(|digits| digits.parse().ok());
    numbers.find(|ticks| (1221..=10_000_000).contains(ticks))
}

/// True if a line contains a time, such as 00:00:07.
fn has_time(line: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let is_time = |word: &str| word.split(':').count() == 3 && word.split(':').all(is_number);
    line.split_whitespace().any(is_time)
}
