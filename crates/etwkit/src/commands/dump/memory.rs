//! `etwkit dump memory`.

use std::collections::HashMap;

use clap::Args;
use etwkit_query::dump::memory::{MachineRow, MemoryRequest, MemoryRow, MemorySort};
use etwkit_query::range::Unit;

use super::args::{Common, OUTPUT, ProcessFilters, TopArgs, range, word};
use super::method::module;
use super::output::{Answered, Columns, Lines, ask, rows_of, show_sql, written};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::Printer;

const MIB: i64 = 1 << 20;

const SORTS: &[(&str, MemorySort)] = &[
    ("commit", MemorySort::Commit),
    ("working-set", MemorySort::WorkingSet),
    ("shared-commit", MemorySort::SharedCommit),
    ("diff", MemorySort::Diff),
];

#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Memory of the machine instead of processes
    #[arg(long)]
    total_memory: bool,
    /// Only processes that have so much committed at the end (MiB)
    #[arg(long, value_name = "A..B")]
    commit: Option<String>,
    /// Only processes that have so much in memory at the end (MiB)
    #[arg(long, value_name = "A..B")]
    working_set: Option<String>,
    /// Only processes that have so much in memory at the first sample (MiB); one that came later has 0
    #[arg(long, value_name = "A..B")]
    first_working_set: Option<String>,
    /// Only processes that have so much in memory, and not shared, at the end (MiB)
    #[arg(long, value_name = "A..B")]
    private_working_set: Option<String>,
    /// Only processes that have so much shared and committed at the end (MiB)
    #[arg(long, value_name = "A..B")]
    shared_commit: Option<String>,
    /// Only processes whose committed memory changed by N MiB, up or down; a process that came counts with all it has
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_diff: u32,
    /// Only processes whose committed memory differs by more than N MiB between the first and the last extract
    #[arg(long, value_name = "N")]
    global_diff: Option<u32>,
    /// The first and last sample of these seconds of the trace instead of all of it
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Order
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "commit")]
    sort_by: MemorySort,
    /// Show path, version and company of executables; =TEXT only where one of these fits (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    show_module: Option<String>,
    /// Sums: none, or total without processes; without it both
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total"])]
    show_total: Option<String>,
    /// Show private working sets and terminal sessions
    #[arg(long, help_heading = OUTPUT)]
    details: bool,
}

impl MemoryArgs {
    fn request(&self) -> anyhow::Result<MemoryRequest> {
        let of = |option, text: &Option<String>| range(option, text.as_deref(), Unit::Mebibytes);
        Ok(MemoryRequest {
            processes: self.processes.query(),
            modules: self.show_module.clone().filter(|text| !text.is_empty()),
            commit: of("commit", &self.commit)?,
            working_set: of("working-set", &self.working_set)?,
            first_working_set: of("first-working-set", &self.first_working_set)?,
            private_working_set: of("private-working-set", &self.private_working_set)?,
            shared_commit: of("shared-commit", &self.shared_commit)?,
            min_diff: i64::from(self.min_diff) * MIB,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            sort: self.sort_by,
            top: self.top.top(),
        })
    }
}

pub(super) fn run(args: &MemoryArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.total_memory {
        of_machine(args, &request, printer)
    } else {
        of_processes(args, &request, printer)
    }
}

fn of_processes(
    args: &MemoryArgs,
    request: &MemoryRequest,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    let mut answers = ask(&args.common, "dump memory", printer, |session| request.ask(session))?;
    if let Some(least) = args.global_diff {
        changed(&mut answers, i64::from(least) * MIB);
    }
    let rows = rows_of(&answers, |rows| rows);
    written(&args.common, printer, rows, |lines| answers.iter().try_for_each(|one| print(args, one, lines)))
}

/// Keeps processes, by name and id, whose committed memory differs by more than that between the first and the last extract.
fn changed(answers: &mut [Answered<Vec<MemoryRow>>], least: i64) {
    type Key = (Option<String>, Option<i64>);
    let key = |row: &MemoryRow| -> Key { (row.process.clone(), row.pid) };
    let commits = |one: Option<&Answered<Vec<MemoryRow>>>| -> HashMap<Key, i64> {
        one.into_iter().flat_map(|one| &one.answer).map(|row| (key(row), row.commit_bytes)).collect()
    };
    let (first, last) = (commits(answers.first()), commits(answers.last()));
    let differs = |row: &MemoryRow| match (first.get(&key(row)), last.get(&key(row))) {
        (Some(first), Some(last)) => (last - first).abs() > least,
        _ => false,
    };
    answers.iter_mut().for_each(|one| one.answer.retain(|row| differs(row)));
}

fn print(args: &MemoryArgs, one: &Answered<Vec<MemoryRow>>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let mib = |bytes: i64| text.mib(bytes);
    let maybe = |bytes: Option<i64>| bytes.map(mib).unwrap_or_default();
    let mut columns = Columns::new();
    columns.number("Time", &text.times.title(), true, |row: &MemoryRow| text.times.write(row.ts_ns));
    columns.number("Diff", "Diff MiB", true, move |row| mib(row.commit_diff_bytes));
    columns.number("Commit", "Commit MiB", true, move |row| mib(row.commit_bytes));
    columns.number("WorkingSet", "Working set MiB", true, move |row| mib(row.working_set_bytes));
    columns.number("WorkingSetDiff", "Diff MiB", false, move |row| mib(row.working_set_diff_bytes));
    columns.number("WorkingSetPrivate", "Private MiB", args.details, move |row| {
        mib(row.private_working_set_bytes)
    });
    columns.number("SharedCommit", "Shared commit MiB", true, move |row| maybe(row.shared_commit_bytes));
    columns.number("Session", "Session", args.details, |row| text.maybe_int(row.session_id));
    columns.word("Process", "Process", true, |row| match (row.process_key, row.pid) {
        (None, Some(pid)) => format!("(part of the system {pid})"),
        _ => text.process_line(row.into()),
    });
    columns.word("Module", "Path", args.show_module.is_some(), |row| {
        module([&row.module_path, &row.file_version, &row.product_name, &row.company])
    });
    columns.choose(args.common.column.as_deref())?;
    if args.show_total.as_deref() != Some("total") {
        columns.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))?;
    }
    if args.show_total.as_deref() == Some("none") || one.answer.len() < 2 && args.show_total.is_none() {
        return Ok(());
    }
    let sum = |value: fn(&MemoryRow) -> i64| mib(one.answer.iter().map(value).fold(0, i64::saturating_add));
    lines.line(&format!(
        "Total diff {} MiB, commit {} MiB, working set {} MiB, private {} MiB, {} processes",
        sum(|row| row.commit_diff_bytes),
        sum(|row| row.commit_bytes),
        sum(|row| row.working_set_bytes),
        sum(|row| row.private_working_set_bytes),
        one.answer.len()
    ))
}

fn of_machine(args: &MemoryArgs, request: &MemoryRequest, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.common.show_sql {
        return show_sql(printer, &request.machine_sql());
    }
    let answers = ask(&args.common, "dump memory", printer, |session| request.machine(session))?;
    let rows = rows_of(&answers, |rows| rows);
    written(&args.common, printer, rows, |lines| {
        for one in &answers {
            let text = Text::new(&args.common, None, &one.info);
            lines.file(&one.info, &text, "")?;
            let mib = |bytes: i64| text.mib(bytes);
            let maybe = |bytes: Option<i64>| bytes.map_or_else(|| "?".to_owned(), mib);
            let mut columns = Columns::new();
            columns.number("Time", &text.times.title(), true, |row: &MachineRow| text.times.write(row.ts_ns));
            columns.number("Committed", "Committed MiB", true, move |row| maybe(row.commit_bytes));
            columns.number("CommitDiff", "Diff MiB", true, move |row| maybe(row.commit_diff_bytes));
            columns.number("Active", "In use MiB", true, move |row| maybe(row.in_use_bytes));
            columns.number("ActiveDiff", "Diff MiB", true, move |row| maybe(row.in_use_diff_bytes));
            columns.number("Physical", "All memory MiB", true, move |row| maybe(row.memory_bytes));
            columns.number("Standby", "Standby MiB", args.details, move |row| mib(row.standby_bytes));
            columns.number("Free", "Free MiB", args.details, move |row| mib(row.free_bytes));
            columns.number("Modified", "Modified MiB", args.details, move |row| mib(row.modified_bytes));
            columns.number("Samples", "Samples", args.details, |row| text.int(row.samples));
            columns.choose(args.common.column.as_deref())?;
            columns.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))?;
        }
        Ok(())
    })
}
