//! `run`: runs a command repeatedly and reports its durations.

use anyhow::{Context as _, Result};
use etwkit_terminal::Exit;
use etwkit_terminal::interrupt::Stoppable;
use serde_json::json;

use crate::front::CommandFrontEnd;
use crate::test_runs::{
    NoRecorder, Row, RunArgs, Status, Summary, run as run_all, table, write_csv,
};
use crate::{EachRun, Machine};

/// Runs a test case on that machine, and prints each run and the sums.
///
/// # Errors
/// The arguments contradict each other, a hook or the recorder fails, or nothing can be printed.
/// The rows measured by then are still printed and written.
pub fn run(
    args: &RunArgs,
    machine: &mut Machine<'_>,
    front: &mut dyn CommandFrontEnd,
) -> Result<Exit> {
    let mut plan = args.plan()?;
    plan.restore_file = Some(machine.folder.join("power.txt"));
    if let Some(file) = &args.csv {
        front.check_new(file)?;
    }
    let mut recorder = match args.record.as_slice() {
        [] => None,
        profiles => {
            let recorder = EachRun::new(machine, profiles.to_vec(), std::env::temp_dir())?;
            // Created now, since the first run can take long:
            let cannot = || format!("cannot make the folder {}", args.to.display());
            std::fs::create_dir_all(&args.to).with_context(cannot)?;
            Some(recorder)
        }
    };
    if args.json {
        front.json_start("run");
    }
    let stoppable = Stoppable::begin();
    let mut rows: Vec<Row> = Vec::new();
    let outcome = {
        // The runs use both closures at the same time, and each of them needs the front.
        let shared = std::cell::RefCell::new(&mut *front);
        let is_stopped = || stoppable.is_asked_to_stop() || shared.borrow().is_given_up();
        let mut on_row = |row: &Row| {
            rows.push(row.clone());
            let mut front = shared.borrow_mut();
            if args.json {
                front.json(&json!({"run": row}))?;
            } else {
                front.line(&row.line())?;
            }
            front.flush()
        };
        match &mut recorder {
            Some(recorder) => run_all(&plan, recorder, &is_stopped, &mut on_row),
            None => run_all(&plan, &mut NoRecorder, &is_stopped, &mut on_row),
        }
    };
    recorder
        .into_iter()
        .flat_map(EachRun::notes)
        .for_each(|note| front.note(&note));
    // Rows of an aborted plan are still measurements.
    if let Some(file) = args.csv.as_ref().filter(|_| !rows.is_empty()) {
        front.write_new(file, &mut |csv| write_csv(&rows, &args.parameters(), csv))?;
    }
    let outcome = outcome?;
    print_summaries(args, &outcome.summaries, front)?;
    follow_up(args, &rows, outcome.is_stopped, front)?;
    Ok(match rows.iter().all(|row| row.status == Status::Passed) {
        _ if outcome.is_stopped => Exit::Interrupted,
        true => Exit::Answered,
        false => Exit::Nothing,
    })
}

/// Extracts and explains the recordings of the runs, as far as the arguments want it.
fn follow_up(
    args: &RunArgs,
    rows: &[Row],
    is_stopped: bool,
    front: &mut dyn CommandFrontEnd,
) -> Result<()> {
    let recordings: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.recording.as_deref())
        .collect();
    if args.extract && !recordings.is_empty() {
        front.extract(&recordings)?;
    }
    if args.explain && !is_stopped {
        front.explain(&recordings, args.json)?;
    }
    Ok(())
}

fn print_summaries(
    args: &RunArgs,
    summaries: &[Summary],
    front: &mut dyn CommandFrontEnd,
) -> Result<()> {
    if args.json {
        for sum in summaries {
            front.json(&json!({"summary": sum}))?;
        }
    } else if !summaries.is_empty() {
        front.table("Durations", &table(summaries))?;
    }
    Ok(())
}
