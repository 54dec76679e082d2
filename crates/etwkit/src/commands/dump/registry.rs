//! `etwkit dump registry`.

use clap::Args;
use etwkit_query::dump::registry::{
    RegistryBy, RegistryOperation, RegistryRequest, RegistryRow, RegistrySort,
};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, listed, show_sql};
use super::stack_lines::{text_frames, with_below};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

const ROWS: &[(&str, RegistryBy)] = &[
    ("key", RegistryBy::Key),
    ("process", RegistryBy::Process),
    ("operation", RegistryBy::Operation),
    ("status", RegistryBy::Status),
    ("value", RegistryBy::Value),
];

/// An order, or the usual one. Under a name of its own, since an `Option` would be an argument that may be missing.
type Sort = Option<RegistrySort>;

const SORTS: &[(&str, Sort)] = &[
    ("default", None),
    ("duration", Some(RegistrySort::Duration)),
    ("count", Some(RegistrySort::Count)),
    ("failed", Some(RegistrySort::Failed)),
    ("max", Some(RegistrySort::Max)),
    ("mean", Some(RegistrySort::Mean)),
    ("time", Some(RegistrySort::Time)),
];

#[derive(Debug, Args)]
pub(crate) struct RegistryArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// What a row sums up
    #[arg(long, value_name = "WHAT", value_parser = word(ROWS), default_value = "key", conflicts_with = "details")]
    by: RegistryBy,
    /// Rows for each process
    #[arg(long, conflicts_with = "details")]
    per_process: bool,
    /// Sum up keys that have so many parts below their root in common: 1 is HKLM\SOFTWARE
    #[arg(long, value_name = "N", conflicts_with = "details")]
    depth: Option<u32>,
    /// List single operations
    #[arg(long)]
    details: bool,
    /// Only these keys: whole paths such as HKLM\SOFTWARE\* (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "KEYS")]
    key: Option<String>,
    /// Only these values, by name (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    value: Option<String>,
    /// Only these operations: open_key, query_value, enumerate_* … (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "KINDS")]
    operation: Option<String>,
    /// Only operations that returned this: numbers (0, 0xc0000034), names (ACCESS_DENIED, NO_*) or failed (several with ;, ! excludes)
    #[arg(long, value_name = "STATUS", allow_negative_numbers = true)]
    status: Option<String>,
    /// Only operations on keys whose path is not known
    #[arg(long)]
    unknown: bool,
    /// Only operations with such a duration (us)
    #[arg(long, value_name = "A..B")]
    duration: Option<String>,
    /// Only rows with so many operations
    #[arg(long, value_name = "A..B", conflicts_with = "details")]
    count: Option<String>,
    /// Only operations that began in this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Order: default is duration, with --details time; count, failed and mean are those of sums
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "default")]
    sort_by: Sort,
    /// With --details: the stack of each operation
    #[arg(long, requires = "details")]
    show_stack: bool,
}

impl RegistryArgs {
    fn request(&self) -> anyhow::Result<RegistryRequest> {
        let usual = if self.details { RegistrySort::Time } else { RegistrySort::Duration };
        Ok(RegistryRequest {
            processes: self.processes.query(),
            key: self.key.clone(),
            value: self.value.clone(),
            operation: self.operation.clone(),
            status: self.status.clone(),
            unknown: self.unknown,
            depth: self.depth,
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

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, RegistryRow>> {
        let by = |by: RegistryBy| self.by == by;
        let mut columns = Columns::new();
        columns.number("Count", "Count", true, |row: &RegistryRow| text.int(row.count));
        columns.number("Failed", "Failed", true, |row| text.int(row.failures));
        columns.number("Opened", "Opened", false, |row| text.int(row.opens));
        columns.number("Closed", "Closed", false, |row| text.int(row.closes));
        columns.number("Duration", "Sum ms", true, |row| text.fine_ms(row.duration_ns));
        columns.number("Mean", "Mean us", true, |row| text.us(row.mean_duration_ns.round() as i64));
        columns.number("Max", "Max us", true, |row| {
            row.max_duration_ns.map(|ns| text.us(ns)).unwrap_or_default()
        });
        columns
            .number("Keys", "Keys", !by(RegistryBy::Key) && !by(RegistryBy::Value), |row| text.int(row.keys));
        columns.number("Processes", "Processes", false, |row| text.int(row.processes));
        columns.word("Status", "Status", by(RegistryBy::Status), |row| {
            row.status_name.clone().unwrap_or_default()
        });
        columns.word("Operation", "Operation", by(RegistryBy::Operation), |row| {
            row.operation.clone().unwrap_or_default()
        });
        columns.word("Key", "Key", by(RegistryBy::Key) || by(RegistryBy::Value), |row| {
            row.key.clone().unwrap_or_else(|| "(unknown)".into())
        });
        columns.word("Value", "Value", by(RegistryBy::Value), |row| row.value.clone().unwrap_or_default());
        columns.word("Process", "Process", self.per_process || by(RegistryBy::Process), |row| {
            text.process_line(row.into())
        });
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn operation_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, RegistryOperation>> {
        let mut columns = Columns::new();
        columns.number("Time", &text.times.title(), true, |row: &RegistryOperation| {
            text.times.write(row.start_ns)
        });
        columns.number("Duration", "us", true, |row| {
            row.duration_ns.map_or_else(|| "?".into(), |ns| text.us(ns))
        });
        columns.word("Process", "Process", true, |row| text.process(row.into()));
        columns.number("Tid", "Tid", true, |row| id(row.tid));
        columns.number("Cpu", "CPU", false, |row| row.cpu.to_string());
        columns.word("Operation", "Operation", true, |row| row.operation.clone());
        columns.word("Status", "Status", true, |row| row.status_name.clone());
        columns.number("Index", "Index", false, |row| text.maybe_int(row.index));
        columns.word("Key", "Key", true, key);
        columns.word("Value", "Value", true, |row| row.value.clone().unwrap_or_default());
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

/// The key; `…\` in front of a part of which it is not known what lies around it.
fn key(row: &RegistryOperation) -> String {
    match &row.key {
        Some(key) if row.is_whole_key => key.clone(),
        Some(part) => format!("...\\{part}"),
        None => "(unknown)".to_owned(),
    }
}

fn sums(
    args: &RegistryArgs,
    one: &Answered<Vec<RegistryRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    args.columns(&text)?.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))?;
    let sum = |of: fn(&RegistryRow) -> i64| one.answer.iter().map(of).fold(0, i64::saturating_add);
    lines.line(&format!(
        "Total {} operations, {} failed, {} ms; {} keys opened, {} closed",
        text.int(sum(|row| row.count)),
        text.int(sum(|row| row.failures)),
        text.fine_ms(sum(|row| row.duration_ns)),
        text.int(sum(|row| row.opens)),
        text.int(sum(|row| row.closes)),
    ))
}

fn operations(
    args: &RegistryArgs,
    one: &Answered<Vec<RegistryOperation>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let table = args.operation_columns(&text)?.lines(one.answer.iter());
    with_below(&table, &one.answer, lines, |row, lines| text_frames(row.stack.as_deref(), lines))
}

pub(super) fn run(args: &RegistryArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &if args.details { request.operations_sql() } else { request.sql() });
    }
    if args.details {
        return listed(
            &args.common,
            "dump registry",
            printer,
            |session| request.ask_operations(session),
            |one, lines| operations(args, one, lines),
        );
    }
    listed(
        &args.common,
        "dump registry",
        printer,
        |session| request.ask(session),
        |one, lines| sums(args, one, lines),
    )
}
