//! `etwkit lake`: a folder that keeps the rows of many extracts.

pub(super) mod add;
pub(crate) mod args;
mod runs;

use std::time::Duration;

use etwkit_base::digits::counted;
use etwkit_extract::lake::{Checked, Lake};
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;
use serde_json::{Value, json};

use crate::printer::Printer;
use args::{CompactArgs, LakeArgs, LakeCommand, OnlyLake, VacuumArgs};

/// Nouns of numbers.
const RUNS: [&str; 2] = ["run", "runs"];
const TABLES: [&str; 2] = ["table", "tables"];
const FILES: [&str; 2] = ["file", "files"];
const ROWS: [&str; 2] = ["row", "rows"];

/// Names of runs that a line lists.
const LISTED: usize = 5;

pub(crate) fn run(args: &LakeArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match &args.command {
        LakeCommand::Init(args) => init(args, printer),
        LakeCommand::Add(args) => add::run(args, printer),
        LakeCommand::List(args) => runs::list(args, printer),
        LakeCommand::Check(args) => check(args, printer),
        LakeCommand::Drop(args) => runs::drop(args, printer),
        LakeCommand::Compact(args) => compact(args, printer),
        LakeCommand::Vacuum(args) => vacuum(args, printer),
    }
}

fn init(args: &OnlyLake, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    Lake::init(&args.lake)?;
    let lake = args.lake.display();
    said(
        printer,
        ("lake init", args.json),
        &json!({ "lake": lake.to_string() }),
        &format!("made the lake {lake}, without runs"),
    )?;
    Ok(Exit::Answered)
}

fn check(args: &OnlyLake, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let checked = Lake::open(&args.lake)?.check()?;
    let problems: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
    let object = json!({
        "runs": checked.runs,
        "tables": checked.tables,
        "files": checked.files,
        "rows": checked.rows,
        "rows_of_no_run": checked.dead_rows,
        "runs_of_other_versions": checked.other_versions,
        "problems": problems,
    });
    let text = format!(
        "{}, {}, {}, {}",
        counted(checked.runs as u64, RUNS),
        counted(checked.tables as u64, TABLES),
        counted(checked.files as u64, FILES),
        counted(checked.rows, ROWS),
    );
    said(printer, ("lake check", args.json), &object, &text)?;
    note(&checked, printer);
    for problem in problems {
        let hint = "drop a run that lacks rows (`etwkit lake drop`) and add its extract again; `etwkit lake \
                    compact` replaces a damaged checkpoint; if another file is missing or damaged, \
                    create a new lake from the extracts";
        printer.failed(advised(problem, hint));
    }
    Ok(Exit::Answered)
}

/// Notes what is no fault, and what can be done about it.
fn note(checked: &Checked, printer: &mut Printer<'_>) {
    if checked.dead_rows > 0 {
        printer.note(&format!(
            "{} belong to no run: `etwkit lake compact` leaves them out",
            counted(checked.dead_rows, ROWS)
        ));
    }
    let others = &checked.other_versions;
    if !others.is_empty() {
        let named: Vec<&str> = others.iter().take(LISTED).map(String::as_str).collect();
        let more = match others.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        printer.note(&format!(
            "the sums of {}{more} were computed by another version: extract and add them again",
            named.join(", ")
        ));
    }
}

fn compact(args: &CompactArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let done = Lake::open(&args.lake)?.compact(age(args.older_than))?;
    let without_checkpoint: Vec<String> = done
        .without_checkpoint
        .into_iter()
        .map(|error| format!("{:#}", anyhow::Error::from(error)))
        .collect();
    let object = json!({
        "tables": done.tables,
        "files_before": done.merged,
        "files_after": done.written,
        "rows_left_out": done.left_out,
        "without_checkpoint": without_checkpoint,
    });
    let text = format!(
        "{}: {} became {}, {} left out",
        counted(done.tables as u64, TABLES),
        counted(done.merged as u64, FILES),
        done.written,
        counted(done.left_out, ROWS),
    );
    said(printer, ("lake compact", args.json), &object, &text)?;
    for reason in without_checkpoint {
        printer.note(&format!(
            "no checkpoint was written, so readers still need the earlier commits: {reason}"
        ));
    }
    Ok(Exit::Answered)
}

fn vacuum(args: &VacuumArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let done = Lake::open(&args.lake)?.vacuum(age(args.older_than))?;
    let object = json!({
        "files": done.files,
        "bytes": done.bytes,
        "files_too_new": done.kept,
    });
    let text = format!(
        "deleted {}, {:.1} MB; {} too new",
        counted(done.files as u64, FILES),
        done.bytes as f64 / 1e6,
        done.kept,
    );
    said(printer, ("lake vacuum", args.json), &object, &text)?;
    Ok(Exit::Answered)
}

fn age(days: u32) -> Duration {
    Duration::from_secs(u64::from(days) * 86_400)
}

/// Prints the result of a command as a line, or as an object.
fn said(
    printer: &mut Printer<'_>,
    (command, is_json): (&str, bool),
    object: &Value,
    text: &str,
) -> anyhow::Result<()> {
    if !is_json {
        return Ok(printer.line(text)?);
    }
    printer.json_start(command);
    Ok(printer.json(object)?)
}
