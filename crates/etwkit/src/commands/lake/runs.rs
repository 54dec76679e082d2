//! `etwkit lake list` and `etwkit lake drop`.

use std::path::PathBuf;

use etwkit_base::digits::counted;
use etwkit_extract::lake::{Lake, Run};
use etwkit_sql::choice::{Facts, fitting};
use etwkit_terminal::{Exit, Table};
use serde_json::{Value, json};

use super::RUNS;
use super::args::{DropArgs, ListArgs};
use crate::printer::{Printer, grouped};

/// Characters of a start up to its seconds.
const SECONDS: usize = 19;

pub(super) fn list(args: &ListArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let mut runs = Lake::open(&args.lake)?.runs()?;
    if let Some(condition) = &args.chosen_by.condition {
        runs = chosen(runs, condition)?;
    }
    print(&mut runs, ("lake list", args.json), printer)?;
    if !args.json {
        printer.line(&counted(runs.len() as u64, RUNS))?;
    }
    Ok(exit(&runs))
}

pub(super) fn drop(args: &DropArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let lake = Lake::open(&args.lake)?;
    let mut runs = chosen(lake.runs()?, &args.condition)?;
    let dropped = if args.dry_run {
        0
    } else {
        lake.drop_runs(&runs)?
    };
    if args.dry_run || args.json {
        print(&mut runs, ("lake drop", args.json), printer)?;
    }
    if !args.json {
        let (verb, number) = if args.dry_run {
            ("would drop", runs.len())
        } else {
            ("dropped", dropped)
        };
        printer.line(&format!("{verb} {}", counted(number as u64, RUNS)))?;
    }
    if dropped > 0 {
        printer.note(
            "their rows stay in the files until `etwkit lake compact` and `etwkit lake vacuum`",
        );
    }
    Ok(exit(&runs))
}

fn exit(runs: &[Run]) -> Exit {
    if runs.is_empty() {
        Exit::Nothing
    } else {
        Exit::Answered
    }
}

/// Returns the runs for which a condition is true.
fn chosen(runs: Vec<Run>, condition: &str) -> anyhow::Result<Vec<Run>> {
    let facts: Vec<Facts> = runs.iter().map(facts).collect();
    let fits = fitting(condition, &facts)?;
    let chosen = runs.into_iter().zip(fits);
    Ok(chosen
        .filter_map(|(run, fits)| fits.then_some(run))
        .collect())
}

fn facts(run: &Run) -> Facts {
    let path = PathBuf::from(run.digits());
    Facts::of_manifest(&path, run.manifest()).named(run.name())
}

/// Prints runs, by the time of their start.
fn print(
    runs: &mut [Run],
    (command, is_json): (&str, bool),
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    runs.sort_by_cached_key(|run| (start(run).to_owned(), run.name().to_owned()));
    if is_json {
        printer.json_start(command);
        for run in &*runs {
            printer.json(&json!({ "run": object(run) }))?;
        }
        return Ok(());
    }
    let rows = runs.iter().map(|run| {
        let manifest = run.manifest();
        [
            start(run).to_owned(),
            manifest.machine.computer.clone().unwrap_or_default(),
            manifest.detail.name().to_owned(),
            grouped(row_count(run)),
            run.digits(),
            run.name().to_owned(),
            labels(run),
        ]
    });
    if !runs.is_empty() {
        let titles = "start (UTC)|computer|detail|rows>|run|name|labels";
        printer.table(&Table::of(titles, rows))?;
    }
    Ok(())
}

fn object(run: &Run) -> Value {
    let manifest = run.manifest();
    json!({
        "run": run.digits(),
        "run_id": run.run_id(),
        "generation": run.generation(),
        "name": run.name(),
        "start_utc": manifest.clock.start_utc,
        "computer": manifest.machine.computer,
        "detail": manifest.detail.name(),
        "labels": manifest.labels,
        "rows": row_count(run),
        "etwkit_version": manifest.etwkit_version,
    })
}

fn start(run: &Run) -> &str {
    let start = run.manifest().clock.start_utc.as_str();
    start.get(..SECONDS).unwrap_or(start)
}

fn row_count(run: &Run) -> u64 {
    run.tables().map(|(_, rows)| rows).sum()
}

fn labels(run: &Run) -> String {
    let labels = run.manifest().labels.iter();
    let labels: Vec<String> = labels
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    labels.join(" ")
}
