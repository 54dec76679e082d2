//! Recording all day: one file after the other, and the oldest files are removed to make room for
//! the newest. If another program ends the recording, only one file is lost, not the day.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use etwkit_base::digits::counted;
use etwkit_terminal::errors::advised;
use etwkit_terminal::{Exit, Lines};

use crate::args::{StartArgs, StopArgs};
use crate::recording::Machine;
use crate::steps::ends_with;

/// Polling interval for the state of the recording.
const LOOK: Duration = Duration::from_secs(5);
/// Seconds between two checks for changes by other programs. Each check starts a program next to
/// the recording.
const CHANGE: u64 = 60;
/// Number of consecutive recordings that may be lost before their first check: after that, another
/// program ends them on purpose.
const LOST: u32 = 3;

/// Reason for the end of a file's recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Its time is up.
    Time,
    /// The user has stopped it.
    User,
    /// The recording has ended, after that time.
    Lost(Duration),
}

/// Records until the user stops it.
///
/// # Errors
/// A recording cannot be started, or not be written even after the oldest file was removed: then it
/// continues, and the user can stop it with another name.
pub(crate) fn rotate(
    args: &StartArgs,
    machine: &mut Machine<'_>,
    lines: &mut Lines<'_>,
) -> Result<Exit> {
    let every = args.rotate.context("--rotate has no time")?;
    if ends_with(&args.name, ".etl") || args.name.contains(['/', '\\']) {
        let message = format!("expected a name for --name, found \"{}\"", args.name);
        return Err(advised(
            message,
            "machine, time and ending are added after it; --into names the folder",
        ));
    }
    fs::create_dir_all(&args.into)
        .with_context(|| format!("cannot make the folder {}", args.into.display()))?;
    let mut files = Files {
        all: VecDeque::new(),
        keep: args.keep,
    };
    // From here on Ctrl-C is polled: otherwise it would end this program while wpr starts, and wpr
    // would continue to record.
    machine.clock.pause(Duration::ZERO);
    let mut lost = 0;
    loop {
        let since = machine.clock.now().format("%H:%M:%S").to_string();
        if let Some(warning) = machine.start(args).with_context(|| files.so_far())? {
            lines.labelled(&format!("warning: {warning}"))?;
        }
        lines.line(&format!(
            "Recording since {since}; Ctrl-C ends it and writes the file"
        ))?;
        lines.flush()?;
        let end = wait(every, machine, lines)?;
        if let End::Lost(after) = end {
            // Otherwise the changed settings would remain.
            machine.restore()?;
            let until = machine.clock.now().format("%H:%M:%S");
            lines.labelled(&format!(
                "warning: another program ended the recording: what happened from {since} to {until} is lost"
            ))?;
            // After Ctrl-C in the meantime, the user wants no other recording, and there is no file
            // to write.
            if !machine.clock.pause(Duration::ZERO) {
                machine.unwatch();
                return Ok(Exit::Answered);
            }
            // A single end may be intended. If each new recording ends at once, another program
            // ends them, and continuing would start one every few seconds.
            lost = if after <= LOOK { lost + 1 } else { 0 };
            if lost == LOST {
                let message = "another program ends the recording as soon as it starts";
                return Err(
                    advised(message, "`etwkit record sessions` lists who records")
                        .context(files.so_far()),
                );
            }
            continue;
        }
        lost = 0;
        let written = write(args, machine, &mut files, lines)?;
        files.add(written, lines)?;
        lines.flush()?;
        if end == End::User {
            machine.unwatch();
            return Ok(Exit::Answered);
        }
    }
}

fn wait(every: Duration, machine: &mut Machine<'_>, lines: &mut Lines<'_>) -> Result<End> {
    let mut waited = Duration::ZERO;
    while waited < every {
        let look = LOOK.min(every - waited);
        if !machine.clock.pause(look) {
            // Ctrl-C and an end by another program may come together: there is a file to write only
            // if the recording is still running.
            return Ok(if machine.is_recording()? {
                End::User
            } else {
                End::Lost(waited)
            });
        }
        waited += look;
        if !machine.is_recording()? {
            return Ok(End::Lost(waited));
        }
        // Checking for changes runs a program, so it is done less often than checking that the
        // recording still runs.
        let is_time = waited.as_secs().is_multiple_of(CHANGE) || waited >= every;
        if let Some(change) = is_time.then(|| machine.change()).flatten() {
            lines.labelled(&format!("warning: {change}"))?;
            lines.flush()?;
        }
    }
    Ok(End::Time)
}

/// Stops one part. If this fails, as on a full disk, the oldest file is removed first.
fn write(
    args: &StartArgs,
    machine: &mut Machine<'_>,
    files: &mut Files,
    lines: &mut Lines<'_>,
) -> Result<PathBuf> {
    let stop = StopArgs::quick(args.into.join(&args.name).display().to_string());
    match machine.stop(&stop) {
        // The disk may be full, so the oldest file makes room. Without --keep no file may be
        // removed, and a recording that has already ended cannot be written anyway.
        Err(error)
            if files.keep.is_some() && !files.all.is_empty() && machine.is_recording()? =>
        {
            lines.labelled(&format!("warning: {error:#}"))?;
            files.remove_oldest(lines)?;
            machine.stop(&stop)
        }
        written => written,
    }
}

/// Recordings so far, oldest first.
struct Files {
    all: VecDeque<(PathBuf, u64)>,
    keep: Option<u64>,
}

impl Files {
    /// Returns the context of errors after the first file.
    fn so_far(&self) -> String {
        format!(
            "the recording of the day ended after {} complete",
            counted(
                self.all.len() as u64,
                ["file, which is", "files, which are"]
            )
        )
    }

    /// Adds a file, and removes the oldest ones if all of them exceed the limit. The newest one
    /// stays.
    fn add(&mut self, file: PathBuf, lines: &mut Lines<'_>) -> Result<()> {
        let bytes = file
            .metadata()
            .with_context(|| format!("cannot read {}", file.display()))?
            .len();
        lines.line(&format!(
            "Recorded {} ({:.1} MB)",
            file.display(),
            bytes as f64 / 1e6
        ))?;
        self.all.push_back((file, bytes));
        let is_too_much = |files: &Self| {
            let all: u64 = files.all.iter().map(|(_, bytes)| bytes).sum();
            // The newest file always stays, even if it alone exceeds the limit.
            files.keep.is_some_and(|keep| all > keep) && files.all.len() > 1
        };
        while is_too_much(self) {
            self.remove_oldest(lines)?;
        }
        Ok(())
    }

    fn remove_oldest(&mut self, lines: &mut Lines<'_>) -> Result<()> {
        let Some((file, _)) = self.all.pop_front() else {
            return Ok(());
        };
        fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
        Ok(lines.line(&format!("Removed {}", file.display()))?)
    }
}
