//! `lab`: workloads of case studies.

use anyhow::{Context as _, Result};
use etwkit_terminal::Exit;
use etwkit_terminal::interrupt::Stoppable;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::front::CommandFrontEnd;
use crate::lab::{Bench, LabArgs, run as run_workload};

/// Runs a workload and prints its measurements.
///
/// # Errors
/// The system refuses something, or nothing can be printed.
pub fn lab(args: &LabArgs, front: &mut dyn CommandFrontEnd) -> Result<Exit> {
    let program = std::env::current_exe().context("cannot find this program, to start it again")?;
    let stoppable = Stoppable::begin();
    let is_stopped = || stoppable.is_asked_to_stop() || front.is_given_up();
    // Without a terminal, no progress bar is drawn.
    let bar = ProgressBar::new(0).with_style(style());
    let progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let report = run_workload(
        args,
        &Bench {
            program: &program,
            is_stopped: &is_stopped,
            progress: &progress,
        },
    );
    bar.finish_and_clear();
    let Some(report) = report? else {
        return Ok(if is_stopped() {
            Exit::Interrupted
        } else {
            Exit::Answered
        });
    };
    if args.json {
        front.json_start("lab");
        front.json(&json!({ "measured": report }))?;
    } else {
        report.lines.iter().try_for_each(|line| front.line(line))?;
        front.note(&report.seen_by());
    }
    Ok(Exit::Answered)
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:20} {percent:>3} %, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
