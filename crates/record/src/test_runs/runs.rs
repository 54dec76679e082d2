//! The runs, one after the other.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use chrono::{Local, NaiveDateTime};
use etwkit_terminal::errors::advised;

use crate::test_runs::child::{self, Ended, Killed, Limits};
use crate::test_runs::matrix::Cell;
use crate::test_runs::name::{machine, recording_name};
use crate::test_runs::plan::Plan;
use crate::test_runs::power::{self, Power};
use crate::test_runs::recorder::Recorder;
use crate::test_runs::report::{Row, Status, Summary, summaries};

/// Result of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The runs that were started.
    pub rows: Vec<Row>,
    /// Sums of each cell.
    pub summaries: Vec<Summary>,
    /// The user ended it before all runs were finished.
    pub is_stopped: bool,
}

/// Runs a plan: each cell, then the next repetition of all, so that slow changes of a machine (its
/// temperature, its cache) affect all cells alike. A run that fails does not end the others.
///
/// # Errors
/// A recording cannot be begun or written, a power setting cannot be set or restored, or a hook
/// before a run fails: then no later run would be comparable. A running recording is stopped, and
/// earlier runs have been passed to `on_row`.
pub fn run(
    plan: &Plan,
    recorder: &mut dyn Recorder,
    is_stopped: &dyn Fn() -> bool,
    on_row: &mut dyn FnMut(&Row) -> Result<()>,
) -> Result<Outcome> {
    let mut powercfg = power::powercfg;
    let mut power = Power::of(&plan.power, plan.restore_file.as_deref(), &mut powercfg)?;
    let rows = all(plan, recorder, &mut power, is_stopped, on_row);
    // Regardless of the outcome of the runs.
    let restored = power.restore();
    // An error of the runs takes precedence over an error of the restore.
    let rows = rows?;
    restored?;
    let planned = plan
        .cells
        .len()
        .saturating_mul(usize::try_from(plan.repeat).unwrap_or(usize::MAX));
    let is_stopped =
        rows.len() < planned || rows.last().is_some_and(|row| row.status == Status::Stopped);
    Ok(Outcome {
        summaries: summaries(&rows),
        rows,
        is_stopped,
    })
}

fn all(
    plan: &Plan,
    recorder: &mut dyn Recorder,
    power: &mut Power<'_>,
    is_stopped: &dyn Fn() -> bool,
    on_row: &mut dyn FnMut(&Row) -> Result<()>,
) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    // All combinations run once before the first one repeats: slow changes, such as the
    // temperature, then affect all of them alike.
    'runs: for repetition in 1..=plan.repeat {
        for cell in &plan.cells {
            let is_first = rows.is_empty();
            if is_stopped() || (!is_first && !pause(plan.cool_down, is_stopped)) {
                break 'runs;
            }
            // Names of recordings have whole seconds; two runs in one second would have the same
            // name.
            if let Some(before) = rows.last()
                && recorder.ending().is_some()
                && !pause(
                    until_next_second(before.started, Local::now().naive_local()),
                    is_stopped,
                )
            {
                break 'runs;
            }
            power.set(cell)?;
            let done = one(plan, cell, repetition, recorder, is_stopped)?;
            // The measurement is reported even if its recording failed.
            on_row(&done.row)?;
            if let Some(broken) = done.broken {
                return Err(broken);
            }
            let is_ended = done.row.status == Status::Stopped;
            rows.push(done.row);
            if is_ended {
                break 'runs;
            }
        }
    }
    Ok(rows)
}

/// Returns the time to wait so that a run does not start in the same second as the previous one.
/// Names of recordings have a resolution of one second, and two short runs may have the same
/// duration in milliseconds.
fn until_next_second(before: NaiveDateTime, now: NaiveDateTime) -> Duration {
    if before.and_utc().timestamp() != now.and_utc().timestamp() {
        return Duration::ZERO;
    }
    let passed = Duration::from_nanos(now.and_utc().timestamp_subsec_nanos().into());
    Duration::from_secs(1).saturating_sub(passed)
}

/// Waits; returns `false` if the user stops the wait.
fn pause(time: Duration, is_stopped: &dyn Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if is_stopped() {
            return false;
        }
        std::thread::sleep(
            // In slices, so that a stop is noticed soon.
            time.saturating_sub(begun.elapsed())
                .min(Duration::from_millis(20)),
        );
    }
    !is_stopped()
}

/// A measured run.
struct Done {
    row: Row,
    /// Reason why its recording is missing; then no other run follows.
    broken: Option<anyhow::Error>,
}

/// Executes one run with its hooks. The hook after the run is always executed.
fn one(
    plan: &Plan,
    cell: &Cell,
    repetition: u32,
    recorder: &mut dyn Recorder,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Done> {
    let limits = Limits {
        is_stopped,
        timeout: plan.timeout,
        is_heard: plan.is_heard,
    };
    for line in &plan.before {
        child::run_hook(&cell.fill(line), &limits)?;
    }
    let result = recorded(plan, cell, repetition, recorder, &limits);
    // A user who stops the runs still expects the hooks to clean up.
    let limits = Limits {
        is_stopped: &|| false,
        ..limits
    };
    let mut problem = None;
    for line in &plan.after {
        if let Err(error) = child::run_hook(&cell.fill(line), &limits) {
            problem.get_or_insert_with(|| format!("{error:#}"));
        }
    }
    let mut done = result?;
    if done.row.problem.is_none() {
        done.row.problem = problem;
    }
    Ok(done)
}

fn recorded(
    plan: &Plan,
    cell: &Cell,
    repetition: u32,
    recorder: &mut dyn Recorder,
    limits: &Limits<'_>,
) -> Result<Done> {
    let words: Vec<String> = plan.command.iter().map(|word| cell.fill(word)).collect();
    let started = Local::now().naive_local();
    recorder
        .start()
        .context("the recording could not be started")?;
    let ended = match child::run(&words, limits) {
        Ok(ended) => ended,
        Err(error) => {
            recorder.cancel();
            return Err(error);
        }
    };
    // Judged from the command alone, before the recording is written: writing takes long and is not
    // part of the run.
    let (status, duration_ms, problem) = judged(plan, &ended);
    let case = cell.case(&plan.case);
    let mut row = Row {
        case,
        repetition,
        parameters: cell.clone(),
        status,
        duration_ms,
        wall_ms: ended.wall.as_secs_f64() * 1000.0,
        exit_code: ended.exit_code,
        started,
        recording: None,
        problem,
    };
    let mut broken = None;
    if status == Status::Stopped {
        recorder.cancel();
    } else if let Some(ending) = recorder.ending().map(str::to_owned) {
        let wall_ms = u64::try_from(ended.wall.as_millis()).unwrap_or(u64::MAX);
        let name = recording_name(
            &row.case,
            duration_ms.unwrap_or(wall_ms),
            &machine(),
            started,
            status,
        );
        let file = plan.out.join(name + &ending);
        match recorder.stop(&file) {
            Ok(written) => row.recording = Some(written.display().to_string()),
            Err(error) => {
                recorder.cancel();
                let message = format!(
                    "the recording {} could not be written: {error:#}",
                    file.display()
                );
                row.problem.get_or_insert_with(|| message.clone());
                broken = Some(advised(
                    message,
                    "its run is counted and shown, the recording is given up; free space, or name another \
                     folder with --to, and repeat",
                ));
            }
        }
    }
    Ok(Done { row, broken })
}

/// Returns the outcome of a command, its duration, and its problem.
fn judged(plan: &Plan, ended: &Ended) -> (Status, Option<u64>, Option<String>) {
    match ended.killed {
        Some(Killed::Stopped) => return (Status::Stopped, None, None),
        Some(Killed::TooLong) => {
            return (
                Status::Failed,
                None,
                Some("it took longer than --timeout".to_owned()),
            );
        }
        None => {}
    }
    let duration = plan
        .timing
        .duration_ms(ended.wall, ended.exit_code, &ended.printed);
    let wrong = match ended.exit_code {
        None => Some("it ended without an exit code".to_owned()),
        Some(code) if code != 0 && plan.timing.is_code_a_failure() => {
            Some(format!("exit code {code}"))
        }
        Some(_) => duration.as_ref().err().map(ToString::to_string),
    };
    let status = if wrong.is_some() {
        Status::Failed
    } else {
        Status::Passed
    };
    (status, duration.ok(), wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_begin_in_seconds_of_their_own() {
        let at = |text: &str| text.parse::<NaiveDateTime>().unwrap();
        let wait = |before, now| until_next_second(at(before), at(now)).as_millis();
        assert_eq!(
            wait("2023-03-07T23:21:41.100", "2023-03-07T23:21:41.300"),
            700
        );
        assert_eq!(
            wait("2023-03-07T23:21:41.900", "2023-03-07T23:21:42.000"),
            0
        );
        assert_eq!(
            wait("2023-03-07T23:21:41.900", "2023-03-07T23:21:47.950"),
            0
        );
    }
}
