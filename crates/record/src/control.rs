//! A recorder that another program controls, such as the server of the page: one step at a time and
//! without a terminal.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use chrono::{Local, NaiveDateTime};
use etwkit_terminal::Lines;
use etwkit_terminal::errors::{Advised, advised};

use crate::args::{BootArgs, MarkArgs, RecordArgs, RecordCommand, StartArgs, StopArgs};
use crate::command;
use crate::listen;
use crate::profiles::{PROFILES, Profile};
use crate::recording::{Clock, Machine};
use crate::runner::{Outcome, Runner};

/// Name of the recordings; machine, date and ending follow it.
const NAME: &str = "Recording";

/// Largest number of characters in a mark.
const LONGEST_MARK: usize = 200;

/// Records this machine for another program. Its owner chooses the programs that run and the
/// folders. Callers choose only names of [`profiles`](Self::profiles) and texts of marks.
pub struct Control {
    /// Runs the programs of the machine.
    pub runner: Box<dyn Runner + Send>,
    /// Name of the machine, for the names of recordings.
    pub machine: String,
    /// Folder for the settings to restore when the recording ends.
    pub settings: PathBuf,
    /// Folder that recordings are written to.
    pub recordings: PathBuf,
}

/// A recording that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedRecording {
    /// Its file.
    pub file: PathBuf,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// A count of events that the recorder reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// Its name, in the words of the recorder.
    pub name: String,
    /// The sum over the collectors of the recording.
    pub value: u64,
}

/// The reason why a step failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedStep {
    /// The error with its causes.
    pub message: String,
    /// Advice for correcting it.
    pub hint: Option<String>,
}

impl From<anyhow::Error> for FailedStep {
    fn from(error: anyhow::Error) -> Self {
        let advised = error.downcast_ref::<Advised>();
        Self {
            message: format!("{error:#}"),
            hint: advised.map(|advised| advised.hint.clone()),
        }
    }
}

impl Control {
    /// Returns the profiles that can be recorded now. The others record the next start of Windows.
    pub fn profiles() -> impl Iterator<Item = &'static Profile> {
        PROFILES.iter().filter(|profile| !profile.file_only)
    }

    /// Checks that these are names of [`profiles`](Self::profiles): other names can be files.
    ///
    /// # Errors
    /// The first name that is not one of them; no name.
    pub fn check(profiles: &[String]) -> Result<(), FailedStep> {
        if profiles.is_empty() {
            return Err(FailedStep {
                message: "no profile is chosen".to_owned(),
                hint: Some("choose at least one".to_owned()),
            });
        }
        let is_known = |name: &&String| Self::profiles().any(|profile| profile.name == **name);
        let Some(unknown) = profiles.iter().find(|name| !is_known(name)) else {
            return Ok(());
        };
        let known: Vec<&str> = Self::profiles().map(|profile| profile.name).collect();
        Err(FailedStep {
            message: format!("no profile is called \"{unknown}\""),
            hint: Some(format!("there are {}", known.join(", "))),
        })
    }

    /// Starts a recording and returns a warning for the user. With `to_file`, all events are kept;
    /// otherwise the last ones.
    ///
    /// # Errors
    /// A name is not of [`profiles`](Self::profiles), the folder of recordings cannot be written,
    /// something is being recorded already, or the recorder fails. Nothing is recorded then.
    pub fn start(
        &mut self,
        profiles: &[String],
        to_file: bool,
    ) -> Result<Option<String>, FailedStep> {
        Self::check(profiles)?;
        self.check_folder()?;
        let args = StartArgs {
            file: to_file,
            ..StartArgs::of(profiles.to_vec())
        };
        Ok(self.machine().start(&args)?)
    }

    /// Puts a mark into the recording.
    ///
    /// # Errors
    /// The text is not one short line, or reads as an option of the recorder; nothing is being
    /// recorded.
    pub fn mark(&mut self, text: &str) -> Result<(), FailedStep> {
        check_mark(text)?;
        let args = MarkArgs {
            text: text.to_owned(),
            picture: false,
            also: Vec::new(),
            word: String::new(),
        };
        listen::mark(&args, &mut self.machine(), &mut Lines::new(&mut io::sink()))?;
        Ok(())
    }

    /// Stops the recording and writes it into a new file of the folder, with its facts next to it.
    ///
    /// # Errors
    /// Nothing is being recorded, or the file cannot be written; the recording continues if
    /// possible.
    pub fn stop(&mut self) -> Result<EndedRecording, FailedStep> {
        let name = self.recordings.join(NAME).display().to_string();
        let args = StopArgs {
            no_facts: false,
            ..StopArgs::quick(name)
        };
        let mut said = Vec::new();
        let mut machine = self.machine();
        command::stop(&args, &mut machine, &mut Lines::new(&mut said))?;
        let file = machine.written.take();
        Ok(EndedRecording {
            file: file.context("the recorder did not name its file")?,
            warnings: warnings(&String::from_utf8_lossy(&said)),
        })
    }

    /// Stops the recording and discards it.
    ///
    /// # Errors
    /// Nothing is being recorded, or the recorder fails.
    pub fn cancel(&mut self) -> Result<(), FailedStep> {
        let args = RecordArgs {
            command: RecordCommand::Cancel(BootArgs { boot: false }),
            script: false,
        };
        command::run(&args, &mut self.machine(), &mut Lines::new(&mut io::sink()))?;
        Ok(())
    }

    /// Returns the counts of events that the recorder reports; `None` if nothing is being recorded.
    ///
    /// # Errors
    /// The recorder cannot be run, or refuses to answer.
    pub fn counts(&mut self) -> Result<Option<Vec<Count>>, FailedStep> {
        let status = self.machine().status()?;
        Ok(status.map(|outcome| counts(&outcome)))
    }

    fn machine(&mut self) -> Machine<'_> {
        Machine {
            runner: &mut *self.runner,
            is_windows: true,
            name: self.machine.clone(),
            clock: &LocalTime,
            written: None,
            folder: self.settings.clone(),
        }
    }

    /// Checks that a recording can be written, since otherwise it could only be discarded.
    fn check_folder(&self) -> Result<()> {
        let trial = format!(".etwkit-{}", std::process::id());
        let trial = self.recordings.join(trial);
        fs::create_dir_all(&self.recordings)
            .and_then(|()| File::create_new(&trial).map(drop))
            .and_then(|()| fs::remove_file(&trial))
            .with_context(|| format!("cannot write into {}", self.recordings.display()))
    }
}

/// The time of the system. The steps of a [`Control`] are not interrupted.
struct LocalTime;

impl Clock for LocalTime {
    fn now(&self) -> NaiveDateTime {
        Local::now().naive_local()
    }

    fn pause(&self, time: Duration) -> bool {
        std::thread::sleep(time);
        true
    }
}

/// Checks that a mark is one short line.
fn check_mark(text: &str) -> Result<()> {
    let is_line = !text.trim().is_empty() && !text.chars().any(char::is_control);
    if is_line && text.chars().count() <= LONGEST_MARK {
        return Ok(());
    }
    Err(advised(
        format!("a mark is one line of at most {LONGEST_MARK} characters"),
        "choose a shorter text without line breaks",
    ))
}

/// Returns the warnings among printed lines.
fn warnings(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("warning: "))
        .map(str::to_owned)
        .collect()
}

/// Adds up counts of events over the collectors of a recording, such as `Events Lost : 0`. Other
/// lines are settings, times and sizes of buffers.
fn counts(outcome: &Outcome) -> Vec<Count> {
    let mut all: Vec<Count> = Vec::new();
    for line in outcome.said() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let name = name.trim_end();
        let is_of_events = name.to_lowercase().contains("event");
        let Some(value) = value.trim().parse::<u64>().ok().filter(|_| is_of_events) else {
            continue;
        };
        match all.iter_mut().find(|count| count.name == name) {
            Some(known) => known.value = known.value.saturating_add(value),
            None => all.push(Count {
                name: name.to_owned(),
                value,
            }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_events_are_added_up_over_collectors() {
        let text = "Microsoft Windows Performance Recorder Version 10.0.19041\n\
                    Time since start        : 00:00:07\nDropped event           : 0\n\
                    Collector Name          : NT Kernel Logger\nBuffer Size             : 1024\n\
                    Events Lost             : 3\nCollector Name          : WPR_Events\n\
                    Events Lost             : 4\nSystem Keywords         : 12 events\n";
        let outcome = Outcome {
            code: Some(0),
            text: text.to_owned(),
        };
        let count = |name: &str, value| Count {
            name: name.to_owned(),
            value,
        };
        assert_eq!(
            counts(&outcome),
            [count("Dropped event", 0), count("Events Lost", 7)]
        );
    }

    #[test]
    fn names_and_marks_are_no_paths_and_no_options() {
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Control::check(&names).is_ok()
        };
        assert!(names(&["default", "cswitch"]));
        for wrong in [
            &[][..],
            &["boot"],
            &["CPU"],
            &["GeneralProfile"],
            &["cpu", "C:\\x.wprp!cpu"],
            &["-filemode"],
            &["cpu -cancel"],
        ] {
            assert!(!names(wrong), "{wrong:?}");
        }
        assert!(check_mark("the dialog opened & \"closed\"").is_ok());
        for wrong in ["", "  ", "a\nb", "a\0b", "\u{1b}[0m", &"x".repeat(201)] {
            assert!(check_mark(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn warnings_are_picked_from_what_is_printed() {
        let said = "warning: another program changed it\nRecorded /a.etl\nwarning: no facts\n";
        assert_eq!(warnings(said), ["another program changed it", "no facts"]);
        assert!(warnings("Recorded warning: .etl").is_empty());
    }
}
