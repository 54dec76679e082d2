//! `etwkit dump virtual-alloc`.

use clap::Args;
use etwkit_query::dump::Top;
use etwkit_query::dump::virtual_alloc::{
    StackBy, VirtualAllocRequest, VirtualAllocRow, VirtualAllocSort, VirtualEvent, VirtualStackAnswer,
    VirtualStackRow,
};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, ask, listed, rows_of, show_sql, written};
use super::stack_lines::{text_frames, with_below};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, VirtualAllocSort)] = &[
    ("not-released-size", VirtualAllocSort::NotReleasedSize),
    ("not-released-count", VirtualAllocSort::NotReleasedCount),
    ("commit-size", VirtualAllocSort::CommitSize),
    ("commit-count", VirtualAllocSort::CommitCount),
    ("freed-size", VirtualAllocSort::FreedSize),
    ("freed-count", VirtualAllocSort::FreedCount),
    ("max-commit-size", VirtualAllocSort::MaxCommitSize),
    ("peak-size", VirtualAllocSort::PeakSize),
];

#[derive(Debug, Args)]
pub(crate) struct VirtualAllocArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Sums of processes; what is shown without any other word
    #[arg(long, conflicts_with_all = ["details", "methods", "stack_id", "events"])]
    stats: bool,
    /// Stacks of each process whose commits were not given back; with --stack-id the single allocations of
    /// these stacks
    #[arg(long, conflicts_with_all = ["methods", "events"])]
    details: bool,
    /// The same by method: only these (*, ?, several with ;, ! excludes), each with all stacks that contain it
    #[arg(long, value_name = "NAMES", conflicts_with_all = ["stack_id", "events"])]
    methods: Option<String>,
    /// Single allocations of these stacks: numbers that --details shows, with ;
    #[arg(long, value_name = "NUMBERS")]
    stack_id: Option<String>,
    /// Single allocations
    #[arg(long)]
    events: bool,
    /// With --details, --stack-id or --events: frames
    #[arg(long)]
    show_stack: bool,
    /// Only commits whose stack has such a frame: module!method, or its method alone (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "FRAMES")]
    stack_filter: Option<String>,
    /// With --details or --methods: only the N largest of each process
    #[arg(long, value_name = "N", default_value_t = 10)]
    top_stacks: usize,
    /// Leave the N largest of each process out first
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_stacks: usize,
    /// Order; of stacks by what was committed or not released
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "not-released-size")]
    sort_by: VirtualAllocSort,
    /// Only rows with so many bytes that were not given back
    #[arg(long, value_name = "A..B")]
    not_released_size: Option<String>,
    /// Only rows with so many commits that were not given back
    #[arg(long, value_name = "A..B")]
    not_released_count: Option<String>,
    /// Only allocations in this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Count what processes had when they ended as not given back
    #[arg(long)]
    include_exited: bool,
    /// Sums behind the rows: total, or none
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total"], default_value = "total")]
    show_total: String,
}

/// What is listed.
enum List {
    Processes,
    Stacks(StackBy),
    Events(Vec<i32>),
}

impl VirtualAllocArgs {
    fn list(&self) -> anyhow::Result<List> {
        if let Some(numbers) = &self.stack_id {
            let parts = numbers.split([';', ' ', ',']).filter(|part| !part.is_empty());
            let numbers: Result<Vec<i32>, _> = parts.map(str::parse).collect();
            return numbers.map(List::Events).map_err(|_| {
                anyhow::anyhow!(
                    "--stack-id {}: numbers with ; between are expected",
                    self.stack_id.as_deref().unwrap_or_default()
                )
            });
        }
        Ok(match (&self.methods, self.events, self.details) {
            (Some(methods), ..) => List::Stacks(StackBy::Method(methods.clone())),
            (None, true, _) => List::Events(Vec::new()),
            (None, false, true) => List::Stacks(StackBy::Stack { text: self.show_stack }),
            _ => List::Processes,
        })
    }

    fn request(&self) -> anyhow::Result<VirtualAllocRequest> {
        let lists_stacks = (self.details && self.stack_id.is_none()) || self.methods.is_some();
        let size = range("not-released-size", self.not_released_size.as_deref(), Unit::Bytes)?;
        let mut request = VirtualAllocRequest {
            processes: self.processes.query(),
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            stack: self.stack_filter.clone(),
            not_released_size: size,
            not_released_count: range("not-released-count", self.not_released_count.as_deref(), Unit::Count)?,
            include_exited: self.include_exited,
            sort: self.sort_by,
            top: self.top.top(),
            top_stacks: Top { count: Some(self.top_stacks), skip: self.skip_stacks },
        };
        let is_sorted_by_rest =
            matches!(self.sort_by, VirtualAllocSort::NotReleasedSize | VirtualAllocSort::NotReleasedCount);
        if lists_stacks && size.is_unlimited() && is_sorted_by_rest {
            // Stacks whose commits were all given back are no answer to what was not.
            request.not_released_size.min = 1;
        }
        Ok(request)
    }

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, VirtualAllocRow>> {
        let mut columns = Columns::new();
        columns.number("NotReleasedSize", "Not released", true, |row: &VirtualAllocRow| {
            text.bytes(row.outstanding_bytes)
        });
        columns.number("NotReleasedCount", "Count", true, |row| text.int(row.outstanding_commits));
        columns.number("CommitSize", "Committed", true, |row| text.bytes(row.commit_bytes));
        columns.number("CommitCount", "Count", true, |row| text.int(row.commits));
        columns.number("FreedSize", "Freed", true, |row| text.bytes(row.freed_bytes));
        columns.number("FreedCount", "Count", true, |row| text.int(row.frees));
        columns.number("MaxCommitSize", "Largest", true, |row| text.bytes(row.max_commit_bytes));
        columns.number("PeakSize", "Peak", true, |row| text.bytes(row.peak_bytes));
        columns.number("ReserveCount", "Reserves", false, |row| text.int(row.reserves));
        columns.word("Process", "Process", true, |row| text.process_line(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn stack_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, VirtualStackRow>> {
        let mut columns = Columns::new();
        columns.number("NotReleasedSize", "Not released", true, |row: &VirtualStackRow| {
            text.bytes(row.outstanding_bytes)
        });
        columns.number("NotReleasedCount", "Count", true, |row| text.int(row.outstanding_commits));
        columns.number("CommitSize", "Committed", true, |row| text.bytes(row.commit_bytes));
        columns.number("CommitCount", "Count", true, |row| text.int(row.commits));
        columns.number("MaxCommitSize", "Largest", false, |row| text.bytes(row.max_commit_bytes));
        columns.word("StackId", "Stack", self.methods.is_none(), |row| {
            row.stack_id.map_or_else(|| "(none)".into(), |id| id.to_string())
        });
        columns
            .word("Method", "Method", self.methods.is_some(), |row| row.method.clone().unwrap_or_default());
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn event_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, VirtualEvent>> {
        let mut columns = Columns::new();
        columns.number("Time", "Time", true, |row: &VirtualEvent| text.times.write(row.ts_ns));
        columns.word("Kind", "What", true, |row| row.kind.clone());
        columns.number("Size", "Size", true, |row| text.bytes(row.size_bytes));
        columns.number("NotReleasedSize", "Not released", true, |row| text.bytes(row.outstanding_bytes));
        columns.word("Address", "Address", true, |row| row.address.clone());
        columns.word("StackId", "Stack", true, |row| {
            row.stack_id.map_or_else(|| "(none)".into(), |id| id.to_string())
        });
        columns.number("Tid", "Tid", false, |row| id(row.tid));
        columns.word("Process", "Process", true, |row| text.process(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

fn processes(
    args: &VirtualAllocArgs,
    one: &Answered<Vec<VirtualAllocRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    args.columns(&text)?.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))?;
    if args.show_total == "none" {
        return Ok(());
    }
    let sum = |of: fn(&VirtualAllocRow) -> i64| one.answer.iter().map(of).fold(0, i64::saturating_add);
    lines.line(&format!(
        "Total: Processes: {} NotReleased: {} commits, {} memory",
        text.int(one.answer.len() as i64),
        text.int(sum(|row| row.outstanding_commits)),
        text.bytes(sum(|row| row.outstanding_bytes)),
    ))
}

fn stacks(
    args: &VirtualAllocArgs,
    one: &Answered<VirtualStackAnswer>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let printed = args.stack_columns(&text)?.lines(one.rows());
    let mut printed = printed.iter();
    printed.next().map_or(Ok(()), |titles| lines.line(titles))?;
    for group in &one.answer {
        if let Some(row) = group.rows.first() {
            let (bytes, commits) =
                (text.bytes(group.total.outstanding_bytes), text.int(group.total.outstanding_commits));
            lines.line(&format!("  {}: {bytes} in {commits} commits", text.process_line(row.into())))?;
        }
        for (row, line) in group.rows.iter().zip(printed.by_ref()) {
            lines.line(line)?;
            text_frames(row.stack.as_deref(), lines)?;
        }
    }
    Ok(())
}

fn events(
    args: &VirtualAllocArgs,
    one: &Answered<Vec<VirtualEvent>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let table = args.event_columns(&text)?.lines(one.answer.iter());
    with_below(&table, &one.answer, lines, |event, lines| text_frames(event.stack.as_deref(), lines))
}

pub(super) fn run(args: &VirtualAllocArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let (request, list) = (args.request()?, args.list()?);
    const COMMAND: &str = "dump virtual-alloc";
    let common = &args.common;
    if common.show_sql {
        let sql = match &list {
            List::Processes => request.sql(),
            List::Stacks(by) => request.stacks_sql(by),
            List::Events(stacks) => request.events_sql(stacks, args.show_stack),
        };
        return show_sql(printer, &sql);
    }
    match list {
        List::Processes => listed(
            common,
            COMMAND,
            printer,
            |session| request.ask(session),
            |one, lines| processes(args, one, lines),
        ),
        List::Stacks(by) => {
            let answers = ask(common, COMMAND, printer, |session| request.ask_stacks(session, &by))?;
            let rows = rows_of(&answers, |groups| groups.iter().flat_map(|group| &group.rows));
            written(common, printer, rows, |lines| {
                answers.iter().try_for_each(|one| stacks(args, one, lines))
            })
        }
        List::Events(numbers) => {
            let with_text = args.show_stack;
            listed(
                common,
                COMMAND,
                printer,
                |session| request.ask_events(session, &numbers, with_text),
                |one, lines| events(args, one, lines),
            )
        }
    }
}
