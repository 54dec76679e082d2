//! `etwkit record now`: from the start of a recording to its file in one step.

use std::ffi::OsString;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use etwkit_terminal::{Exit, Lines};

use crate::args::{BootArgs, DAY, NowArgs, StartArgs, StopArgs};
use crate::command::stop;
use crate::recording::Machine;
use crate::steps;

/// Polling interval for the end of the command.
const LOOK: Duration = Duration::from_millis(50);

/// Longest recording without `--for`.
const LONGEST: Duration = Duration::from_secs(DAY);

/// The reason why a recording ended.
enum End {
    Time,
    User,
    Command(ExitStatus),
}

/// Records until the time is over, the command ends, or the user presses Ctrl-C, and writes the
/// file.
///
/// # Errors
/// The recording cannot be started or written, or the command cannot be started. In the last case
/// nothing stays recording.
pub(crate) fn now(
    args: &NowArgs,
    machine: &mut Machine<'_>,
    lines: &mut Lines<'_>,
) -> Result<Exit> {
    // From here on Ctrl-C is polled and does not end this program.
    if !machine.clock.pause(Duration::ZERO) {
        return Ok(Exit::Interrupted);
    }
    let target = target(args);
    // Checked first, so that no recording is made that cannot be written.
    machine.free(&target)?;
    if let Some(warning) = machine.start(&StartArgs::of(args.profiles.clone()))? {
        lines.labelled(&format!("warning: {warning}"))?;
    }
    for note in steps::defaults(&args.profiles) {
        lines.labelled(&format!("note: {note}"))?;
    }
    lines.line(&format!("Recording{}", until(args)))?;
    lines.flush()?;
    let end = match wait(args, machine) {
        Ok(end) => end,
        Err(error) => {
            let cancelled = machine.cancel(&BootArgs { boot: false });
            cancelled
                .context("something is still being recorded, `etwkit record cancel` ends it")?;
            return Err(error.context("the recording was thrown away"));
        }
    };
    stop(&target, machine, lines)?;
    match end {
        End::Command(status) if !status.success() => {
            lines.labelled(&format!("note: the command failed ({status})"))?;
        }
        End::Time if !args.command.is_empty() => {
            lines.labelled("note: the command was still running when the recording ended")?;
        }
        _ => {}
    }
    Ok(Exit::Answered)
}

/// The file of the recording. Symbol files of precompiled .NET code are left out, since they would
/// keep the user waiting for minutes.
pub(crate) fn target(args: &NowArgs) -> StopArgs {
    StopArgs {
        no_facts: false,
        ..StopArgs::quick(args.name.clone())
    }
}

/// The end of the recording, as words after `Recording`.
fn until(args: &NowArgs) -> String {
    let seconds = args.time.map(|time| time.as_secs());
    let end = match (seconds, args.command.is_empty()) {
        (None, true) => String::new(),
        (None, false) => " until the command ends".to_owned(),
        (Some(seconds), true) => format!(" for {seconds} s"),
        (Some(seconds), false) => format!(" until the command ends, at most {seconds} s"),
    };
    format!("{end}; Ctrl-C ends it and writes the file")
}

/// Waits for the end of the recording.
///
/// # Errors
/// The command cannot be started.
fn wait(args: &NowArgs, machine: &Machine<'_>) -> Result<End> {
    let time = args.time.unwrap_or(LONGEST);
    let Some((program, words)) = args.command.split_first() else {
        let is_over = machine.clock.pause(time);
        return Ok(if is_over { End::Time } else { End::User });
    };
    let mut child = spawn(program, words)?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for the command")? {
            return Ok(End::Command(status));
        }
        if start.elapsed() >= time {
            return Ok(End::Time);
        }
        if !machine.clock.pause(LOOK) {
            return Ok(End::User);
        }
    }
}

fn spawn(program: &OsString, words: &[OsString]) -> Result<Child> {
    Command::new(program)
        .args(words)
        .spawn()
        .with_context(|| format!("cannot run {}", program.to_string_lossy()))
}
