//! `etwkit dump syscall`.

use clap::Args;
use etwkit_query::dump::syscall::{SyscallBy, SyscallCall, SyscallRequest, SyscallRow, SyscallSort};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, listed, show_sql};
use super::stack_lines::{text_frames, with_below};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

const ROWS: &[(&str, SyscallBy)] = &[
    ("function", SyscallBy::Function),
    ("process", SyscallBy::Process),
    ("thread", SyscallBy::Thread),
    ("status", SyscallBy::Status),
];

/// An order, or the usual one. Under a name of its own, since an `Option` would be an argument that may be missing.
type Sort = Option<SyscallSort>;

const SORTS: &[(&str, Sort)] = &[
    ("default", None),
    ("duration", Some(SyscallSort::Duration)),
    ("count", Some(SyscallSort::Count)),
    ("failed", Some(SyscallSort::Failed)),
    ("max", Some(SyscallSort::Max)),
    ("mean", Some(SyscallSort::Mean)),
    ("time", Some(SyscallSort::Time)),
];

#[derive(Debug, Args)]
pub(crate) struct SyscallArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// What a row sums up
    #[arg(long, value_name = "WHAT", value_parser = word(ROWS), default_value = "function", conflicts_with = "details")]
    by: SyscallBy,
    /// Rows for each process, with --by function or status
    #[arg(long, conflicts_with = "details")]
    per_process: bool,
    /// List single calls with what they returned
    #[arg(long)]
    details: bool,
    /// Only these functions: name, module!name or module+0x1a2b (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    function: Option<String>,
    /// Only calls that returned this: numbers (0, 0xc0000022), names (ACCESS_DENIED, NO_*) or failed (several with ;, ! excludes)
    #[arg(long, value_name = "STATUS", allow_negative_numbers = true)]
    status: Option<String>,
    /// Only calls of this thread id
    #[arg(long, value_name = "TID")]
    thread: Option<u32>,
    /// Only calls with such a duration (us)
    #[arg(long, value_name = "A..B")]
    duration: Option<String>,
    /// Only rows with so many calls
    #[arg(long, value_name = "A..B", conflicts_with = "details")]
    count: Option<String>,
    /// Only calls that began in this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Order: default is duration, with --details time; count, failed and mean are those of sums
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "default")]
    sort_by: Sort,
    /// With --details: the stack of each call
    #[arg(long, requires = "details")]
    show_stack: bool,
}

impl SyscallArgs {
    fn request(&self) -> anyhow::Result<SyscallRequest> {
        let usual = if self.details { SyscallSort::Time } else { SyscallSort::Duration };
        Ok(SyscallRequest {
            processes: self.processes.query(),
            function: self.function.clone(),
            status: self.status.clone(),
            thread: self.thread,
            duration: range("duration", self.duration.as_deref(), Unit::Microseconds)?,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            count: range("count", self.count.as_deref(), Unit::Count)?,
            by: self.by,
            per_process: self.per_process,
            sort: self.sort_by.unwrap_or(usual),
            top: self.top.top(),
            stacks: self.show_stack,
        })
    }

    fn columns<'a>(&'a self, text: &'a Text, rows: &[SyscallRow]) -> anyhow::Result<Columns<'a, SyscallRow>> {
        let mut columns = Columns::new();
        let us = |ns: Option<i64>| ns.map(|ns| text.us(ns)).unwrap_or_default();
        let is_open = |of: fn(&SyscallRow) -> i64| rows.iter().any(|row| of(row) > 0);
        // Sums of an extract without single calls have none.
        let ranked = rows.iter().any(|row| row.p50_duration_ns.is_some());
        columns.number("Count", "Count", true, |row: &SyscallRow| text.int(row.count));
        columns.number("Failed", "Failed", true, |row| text.int(row.failures));
        columns.number("Duration", "Sum ms", true, |row| text.fine_ms(row.duration_ns));
        columns.number("Min", "Min us", true, move |row| us(row.min_duration_ns));
        columns
            .number("Mean", "Mean us", true, move |row| us(row.mean_duration_ns.map(|ns| ns.round() as i64)));
        columns.number("P50", "50 % us", ranked, move |row| us(row.p50_duration_ns));
        columns.number("P90", "90 % us", ranked, move |row| us(row.p90_duration_ns));
        columns.number("P95", "95 % us", false, move |row| us(row.p95_duration_ns));
        columns.number("P99", "99 % us", ranked, move |row| us(row.p99_duration_ns));
        columns.number("Max", "Max us", true, move |row| us(row.max_duration_ns));
        columns.number("Moved", "Moved", false, |row| text.int(row.moved));
        columns.number("OpenStart", "No entry", is_open(|row| row.open_at_start), |row| {
            text.int(row.open_at_start)
        });
        columns.number("OpenEnd", "No exit", is_open(|row| row.open_at_end), |row| text.int(row.open_at_end));
        let by = |by: SyscallBy| self.by == by;
        columns.word("Status", "Status", by(SyscallBy::Status), |row| {
            row.status_name.clone().unwrap_or_else(|| "(open)".into())
        });
        columns.word("Function", "Function", by(SyscallBy::Function), |row| {
            function(row.module.as_deref(), row.function.as_deref())
        });
        columns.number("Tid", "Tid", by(SyscallBy::Thread), |row| id(row.tid));
        let with_process = self.per_process || by(SyscallBy::Process) || by(SyscallBy::Thread);
        columns.word("Process", "Process", with_process, |row| text.process_line(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn call_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, SyscallCall>> {
        let mut columns = Columns::new();
        columns.number("Time", "Time", true, |call: &SyscallCall| {
            call.enter_ns.map_or_else(|| "before".into(), |ns| text.times.write(ns))
        });
        columns.number("Duration", "us", true, |call| {
            call.duration_ns.map_or_else(|| "open".into(), |ns| text.us(ns))
        });
        columns.word("Process", "Process", true, |call| text.process(call.into()));
        columns.number("Tid", "Tid", true, |call| id(call.tid));
        columns.word("Call", "Call", true, |call| {
            let name = function(call.module.as_deref(), call.function.as_deref());
            call.status_name.as_ref().map_or_else(|| name.clone(), |status| format!("{name} <- {status}"))
        });
        columns.number("EnterCpu", "CPU", false, |call| text.maybe_int(call.enter_cpu));
        columns.number("ExitCpu", "Exit CPU", false, |call| text.maybe_int(call.exit_cpu));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

/// Name of a function; without a symbol the offset in its module.
fn function(module: Option<&str>, name: Option<&str>) -> String {
    match (module, name) {
        (_, None) => "(entered before the trace)".to_owned(),
        (Some(module), Some(offset)) if offset.starts_with('+') => format!("{module}{offset}"),
        (None, Some(address)) => address.trim_start_matches('+').to_owned(),
        (_, Some(name)) => name.to_owned(),
    }
}

fn sums(
    args: &SyscallArgs,
    one: &Answered<Vec<SyscallRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    args.columns(&text, &one.answer)?
        .lines(one.answer.iter())
        .iter()
        .try_for_each(|line| lines.line(line))?;
    let sum = |of: fn(&SyscallRow) -> i64| one.answer.iter().map(of).fold(0, i64::saturating_add);
    lines.line(&format!(
        "Total {} calls, {} failed, {} ms; without entry {}, without exit {}",
        text.int(sum(|row| row.count)),
        text.int(sum(|row| row.failures)),
        text.fine_ms(sum(|row| row.duration_ns)),
        text.int(sum(|row| row.open_at_start)),
        text.int(sum(|row| row.open_at_end)),
    ))
}

fn calls(
    args: &SyscallArgs,
    one: &Answered<Vec<SyscallCall>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let table = args.call_columns(&text)?.lines(one.answer.iter());
    with_below(&table, &one.answer, lines, |call, lines| text_frames(call.stack.as_deref(), lines))
}

pub(super) fn run(args: &SyscallArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &if args.details { request.calls_sql() } else { request.sql() });
    }
    if args.details {
        return listed(
            &args.common,
            "dump syscall",
            printer,
            |session| request.ask_calls(session),
            |one, lines| calls(args, one, lines),
        );
    }
    listed(
        &args.common,
        "dump syscall",
        printer,
        |session| request.ask(session),
        |one, lines| sums(args, one, lines),
    )
}
