//! `etwkit dump focus`.

use clap::Args;
use etwkit_query::dump::focus::{FocusRequest, FocusRow, FocusSort, FocusStay};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, listed, show_sql};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::{Printer, TableLine};

const SORTS: &[(&str, FocusSort)] = &[
    ("duration", FocusSort::Duration),
    ("max", FocusSort::Max),
    ("count", FocusSort::Count),
    ("time", FocusSort::Time),
];

#[derive(Debug, Args)]
pub(crate) struct FocusArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// What a row is
    #[arg(long, value_name = "WHAT", value_parser = ["process", "thread"], default_value = "process")]
    by: String,
    /// Only stays that were so long (s)
    #[arg(long, value_name = "A..B")]
    duration: Option<String>,
    /// Only stays that reach into this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Single stays, from when to when
    #[arg(long, conflicts_with = "by")]
    details: bool,
    /// Order; without it sums by duration, single stays by time
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS))]
    sort_by: Option<FocusSort>,
    /// Sums behind the rows: total, or none
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total"], default_value = "total")]
    show_total: String,
}

impl FocusArgs {
    fn request(&self) -> anyhow::Result<FocusRequest> {
        let default = if self.details { FocusSort::Time } else { FocusSort::Duration };
        Ok(FocusRequest {
            processes: self.processes.query(),
            duration: range("duration", self.duration.as_deref(), Unit::Seconds)?,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            by_thread: self.by == "thread",
            sort: self.sort_by.unwrap_or(default),
            top: self.top.top(),
        })
    }

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, FocusRow>> {
        let mut columns = Columns::new();
        columns.number("Duration", "Duration s", true, |row: &FocusRow| text.s(row.duration_ns, 3));
        columns.number("Max", "Longest s", true, |row| text.maybe_s(row.max_duration_ns, 3));
        columns.number("Count", "Count", true, |row| text.int(row.count));
        columns.number("First", "First", true, |row| text.times.write(row.first_ns));
        columns.number("Last", "Last", true, |row| text.times.write(row.last_ns));
        columns.number("Session", "Session", false, |row| text.maybe_int(row.session_id));
        columns.number("Tid", "Tid", self.by == "thread", |row| id(row.tid));
        columns.word("Process", "Process", true, |row| text.process_line(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn stay_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, FocusStay>> {
        let time = |ns: Option<i64>| ns.map(|ns| text.times.write(ns)).unwrap_or_default();
        let mut columns = Columns::new();
        columns.number("From", "From", true, move |row: &FocusStay| time(row.ts_ns));
        columns.number("To", "To", true, move |row| time(row.end_ns));
        columns.number("Duration", "Duration s", true, |row| {
            row.duration_ns.map_or_else(|| "?".into(), |ns| text.s(ns, 3))
        });
        columns.number("Session", "Session", false, |row| text.maybe_int(row.session_id));
        columns.number("Tid", "Tid", true, |row| id(row.tid));
        columns.word("Process", "Process", true, |row| text.process_line(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

/// Prints a table and how long all of it was.
fn print(
    args: &FocusArgs,
    table: &[TableLine],
    (stays, duration_ns): (i64, i64),
    text: &Text,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    table.iter().try_for_each(|line| lines.line(line))?;
    if args.show_total == "none" {
        return Ok(());
    }
    lines.line(&format!("Total: {} s in {} stays", text.s(duration_ns, 3), text.int(stays)))
}

fn sums(args: &FocusArgs, one: &Answered<Vec<FocusRow>>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let sum = |of: fn(&FocusRow) -> i64| one.answer.iter().map(of).fold(0, i64::saturating_add);
    let total = (sum(|row| row.count), sum(|row| row.duration_ns));
    print(args, &args.columns(&text)?.lines(one.answer.iter()), total, &text, lines)
}

fn stays(args: &FocusArgs, one: &Answered<Vec<FocusStay>>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let known = one.answer.iter().filter_map(|row| row.duration_ns);
    let total = (one.answer.len() as i64, known.fold(0, i64::saturating_add));
    print(args, &args.stay_columns(&text)?.lines(one.answer.iter()), total, &text, lines)
}

pub(super) fn run(args: &FocusArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    const COMMAND: &str = "dump focus";
    let (request, common) = (args.request()?, &args.common);
    if common.show_sql {
        return show_sql(printer, &if args.details { request.stays_sql() } else { request.sql() });
    }
    if args.details {
        return listed(
            common,
            COMMAND,
            printer,
            |session| request.ask_stays(session),
            |one, lines| stays(args, one, lines),
        );
    }
    listed(common, COMMAND, printer, |session| request.ask(session), |one, lines| sums(args, one, lines))
}
