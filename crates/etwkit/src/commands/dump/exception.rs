//! `etwkit dump exception`.

use clap::Args;
use etwkit_analysis::StackText;
use etwkit_query::dump::exception::{
    ExceptionAnswer, ExceptionRequest, ExceptionRow, ExceptionSort, Kept, ThrownRow,
};
use etwkit_query::range::Unit;

use super::args::{Common, OUTPUT, ProcessFilters, TopArgs, ZeroArgs, range, word};
use super::output::{Answered, Columns, Lines, ask_from_zero, show_sql, written};
use super::stack_lines::{frames, with_below, with_stacks};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::rules::ExceptionFilterArgs;
use etwkit_query::dump::cut::Cut;
use etwkit_query::dump::module_text as module;

/// What a row is, and in which order rows come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Equal exceptions.
    Together(ExceptionSort),
    /// Each exception, by time.
    Time,
}

impl Default for Order {
    fn default() -> Self {
        Self::Together(ExceptionSort::Count)
    }
}

const SORTS: &[(&str, Order)] = &[
    ("count", Order::Together(ExceptionSort::Count)),
    ("process", Order::Together(ExceptionSort::Process)),
    ("type", Order::Together(ExceptionSort::Type)),
    ("message", Order::Together(ExceptionSort::Message)),
    ("time", Order::Time),
];

#[derive(Debug, Args)]
pub(crate) struct ExceptionArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    #[command(flatten)]
    zero: ZeroArgs,
    /// Only such types, with namespace (*, ?, several with ;, ! excludes)
    #[arg(long = "type", value_name = "NAMES")]
    exception_type: Option<String>,
    /// Only messages of which one line fits (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Only stacks with such a frame: module!method or method (*, ?, several with ;, ! excludes stacks with such a frame)
    #[arg(long, value_name = "FRAMES")]
    stack_filter: Option<String>,
    #[command(flatten)]
    filters: ExceptionFilterArgs,
    /// Only exceptions of these seconds, counted from --zero-time
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    time: Option<String>,
    /// count, process, type and message put equal exceptions of a process together; time lists each one
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "count")]
    sort_by: Order,
    /// Show path, version and company of executables; =TEXT only where one of these fits (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    show_module: Option<String>,
    /// Show stacks: equal exceptions with different stacks are rows of their own
    #[arg(long, help_heading = OUTPUT)]
    show_stack: bool,
    /// Only frames A to B of stacks
    #[arg(long, value_name = "A..B", default_value = "0..50", allow_hyphen_values = true, help_heading = OUTPUT)]
    cut_stack: Cut,
    /// Characters of messages; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = OUTPUT)]
    max_message: usize,
    /// Show when equal exceptions were thrown, and by which threads
    #[arg(long, help_heading = OUTPUT)]
    show_time: bool,
    /// Show first and last time, threads, HRESULT and terminal sessions
    #[arg(long, help_heading = OUTPUT)]
    details: bool,
}

impl ExceptionArgs {
    fn request(&self) -> anyhow::Result<ExceptionRequest> {
        Ok(ExceptionRequest {
            processes: self.processes.query(),
            exception_type: self.exception_type.clone(),
            message: self.message.clone(),
            stack: self.stack_filter.clone(),
            modules: self.show_module.clone().filter(|text| !text.is_empty()),
            filters: self.filters.rules()?,
            time: range("time", self.time.as_deref(), Unit::Seconds)?,
            zero: self.zero.zero(),
            by_stack: self.needs_stacks(),
            sort: match self.sort_by {
                Order::Together(sort) => sort,
                Order::Time => ExceptionSort::default(),
            },
            top: self.top.top(),
        })
    }

    /// Whether stacks are read.
    fn needs_stacks(&self) -> bool {
        self.show_stack || self.common.json || self.common.csv.is_some()
    }

    fn message(&self, message: &str) -> String {
        if self.max_message == 0 || message.chars().count() <= self.max_message {
            return message.to_owned();
        }
        let begin: String = message.chars().take(self.max_message).collect();
        format!("{begin} ... (--max-message 0 shows all)")
    }
}

fn hresult(code: Option<i64>) -> String {
    code.map(|code| format!("{:#010x}", code & 0xFFFF_FFFF)).unwrap_or_default()
}

pub(super) fn run(args: &ExceptionArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match args.sort_by {
        Order::Together(_) => together(args, printer),
        Order::Time => listed(args, printer),
    }
}

fn together(args: &ExceptionArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    let answers = ask_from_zero(&args.common, "dump exception", &request.zero, printer, |session| {
        let stacks = if args.needs_stacks() { Some(StackText::new(session)?) } else { None };
        Ok((request.ask(session)?, stacks))
    })?;
    args.filters.tell(answers.iter().map(|one| one.answer.0.left_out).sum(), printer);
    let rows =
        with_stacks(&answers, |kept| kept.answer.iter().flat_map(|group| &group.rows), |row| row.stack_id);
    written(&args.common, printer, rows.iter().map(|(info, row)| (*info, row)), |lines| {
        answers.iter().try_for_each(|one| print(args, &request, one, lines))
    })
}

fn columns<'a>(args: &'a ExceptionArgs, text: &'a Text) -> anyhow::Result<Columns<'a, ExceptionRow>> {
    let star = if text.times.title().ends_with('*') { "*" } else { "" };
    let mut columns = Columns::new();
    columns.number("Count", "Count", true, |row: &ExceptionRow| text.int(row.count));
    columns.number("Rethrown", "Again", args.details, |row| text.int(row.rethrown));
    columns.number("First", &format!("First{star}"), args.details, |row| text.times.write(row.first_ns));
    columns.number("Last", &format!("Last{star}"), args.details, |row| text.times.write(row.last_ns));
    columns.number("Threads", "Threads", args.details, |row| text.int(row.threads));
    columns.number("Session", "Session", args.details, |row| text.maybe_int(row.session_id));
    columns.word("HResult", "HRESULT", args.details, |row| hresult(row.hresult));
    columns.word("Type", "Type", true, |row| row.exception_type.clone());
    columns.word("Message", "Message", true, |row| args.message(&row.message));
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}

fn print(
    args: &ExceptionArgs,
    request: &ExceptionRequest,
    one: &Answered<(Kept<ExceptionAnswer>, Option<StackText>)>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let text = text.moved(&request.zero);
    let (Kept { answer: groups, .. }, stacks) = &one.answer;
    let printed = columns(args, &text)?.lines(groups.iter().flat_map(|group| &group.rows));
    let mut printed = printed.iter();
    printed.next().map_or(Ok(()), |titles| lines.line(titles))?;
    for group in groups {
        if let Some(row) = group.rows.first() {
            let process = text.process_line(row.into());
            lines.line(&format!("  {process}  [{} exceptions]", text.int(group.total)))?;
            if args.show_module.is_some() {
                let of = module([&row.module_path, &row.file_version, &row.product_name, &row.company]);
                lines.line(&format!("    {of}"))?;
            }
        }
        for row in &group.rows {
            printed.next().map_or(Ok(()), |line| lines.line(line))?;
            below(args, &text, row, stacks.as_ref(), lines)?;
        }
    }
    let all: i64 = groups.iter().map(|group| group.total).sum();
    lines.line(&format!("Total {} exceptions in {} processes", text.int(all), groups.len()))
}

/// What stands below a row: times and stack.
fn below(
    args: &ExceptionArgs,
    text: &Text,
    row: &ExceptionRow,
    stacks: Option<&StackText>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    if args.show_time {
        for (time, tid) in row.times_ns.split(' ').zip(row.tids.split(' ')) {
            let time = time.parse().map(|ns| text.times.write(ns)).unwrap_or_default();
            lines.line(&format!("        at {time} by thread {tid}"))?;
        }
    }
    match stacks {
        Some(stacks) if args.show_stack => frames(stacks, row.stack_id, args.cut_stack, lines),
        _ => Ok(()),
    }
}

fn listed(args: &ExceptionArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &request.list_sql());
    }
    let answers = ask_from_zero(&args.common, "dump exception", &request.zero, printer, |session| {
        let stacks = if args.needs_stacks() { Some(StackText::new(session)?) } else { None };
        Ok((request.list(session)?, stacks))
    })?;
    args.filters.tell(answers.iter().map(|one| one.answer.0.left_out).sum(), printer);
    let rows = with_stacks(&answers, |kept| &kept.answer, |row| row.stack_id);
    written(&args.common, printer, rows.iter().map(|(info, row)| (*info, row)), |lines| {
        answers.iter().try_for_each(|one| list(args, &request, one, lines))
    })
}

fn list(
    args: &ExceptionArgs,
    request: &ExceptionRequest,
    one: &Answered<(Kept<Vec<ThrownRow>>, Option<StackText>)>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let text = text.moved(&request.zero);
    let (Kept { answer: rows, .. }, stacks) = &one.answer;
    let table = list_columns(args, &text)?.lines(Shown::of(rows).iter());
    let stacks = stacks.as_ref().filter(|_| args.show_stack);
    with_below(&table, rows, lines, |row, lines| {
        stacks.map_or(Ok(()), |stacks| frames(stacks, row.stack_id, args.cut_stack, lines))
    })
}

/// A row of the list, and the one above it: what is the same is not written again.
struct Shown<'a> {
    row: &'a ThrownRow,
    above: Option<&'a ThrownRow>,
}

impl<'a> Shown<'a> {
    fn of(rows: &'a [ThrownRow]) -> Vec<Self> {
        let above = std::iter::once(None).chain(rows.iter().map(Some));
        rows.iter().zip(above).map(|(row, above)| Self { row, above }).collect()
    }

    fn or_same<T: PartialEq>(
        &self,
        value: fn(&ThrownRow) -> T,
        text: impl Fn(&'a ThrownRow) -> String,
    ) -> String {
        let same = self.above.is_some_and(|above| value(above) == value(self.row));
        if same { "...".to_owned() } else { text(self.row) }
    }
}

fn list_columns<'a>(args: &'a ExceptionArgs, text: &'a Text) -> anyhow::Result<Columns<'a, Shown<'a>>> {
    let mut columns = Columns::new();
    columns.number("Time", &text.times.title(), true, |s: &Shown<'a>| text.times.write(s.row.ts_ns));
    columns.word("Process", "Process", true, |s| {
        s.or_same(|row| row.process_key, |row| text.process(row.into()))
    });
    columns.number("Thread", "Thread", true, |s| id(s.row.tid));
    columns.number("Session", "Session", args.details, |s| text.maybe_int(s.row.session_id));
    columns.word("HResult", "HRESULT", args.details, |s| hresult(s.row.hresult));
    columns.word("Type", "Type", true, |s| {
        s.or_same(|row| row.exception_type.clone(), |row| row.exception_type.clone())
    });
    columns.word("Message", "Message", true, |s| {
        s.or_same(|row| row.message.clone(), |row| args.message(&row.message))
    });
    columns.word("Module", "Path", args.show_module.is_some(), |s| {
        module([&s.row.module_path, &s.row.file_version, &s.row.product_name, &s.row.company])
    });
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}
