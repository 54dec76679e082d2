//! `etwkit dump wait`: sums of waits, and single ones.

use etwkit_analysis::StackText;
use etwkit_analysis::wait::{WaitBy, WaitRow, WaitSum};
use etwkit_query::Session;
use serde::Serialize;

use super::chain;
use super::output::{Answered, Columns, ask, listed, show_sql, written};
use super::text::{Text, id};
use super::wait_args::{Rows, WaitArgs};
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) fn run(args: &WaitArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.chain {
        return chain::run(args, printer);
    }
    match args.by {
        Rows::Sums(by) => sums(args, by, printer),
        Rows::Single => single(args, printer),
    }
}

fn sums(args: &WaitArgs, by: WaitBy, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let sets = args.sets()?;
    let request = args.request(&sets)?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    let question = |session: &Session| {
        session.use_tags(sets.clone());
        request.ask(session)
    };
    listed(&args.common, "dump wait", printer, question, |Answered { info, answer }, lines| {
        let text = Text::new(&args.common, Some(&args.processes), info);
        lines.file(info, &text, "")?;
        let columns = sum_columns(args, by, &text, answer)?;
        columns.lines(answer.iter()).iter().try_for_each(|line| lines.line(line))
    })
}

fn sum_columns<'a>(
    args: &WaitArgs,
    by: WaitBy,
    text: &'a Text,
    rows: &[WaitSum],
) -> anyhow::Result<Columns<'a, WaitSum>> {
    let details = args.details;
    let has_open = details || rows.iter().any(|row| row.open_waits > 0);
    let has_unknown = details || rows.iter().any(|row| row.unknown > 0);
    let mut columns = Columns::new();
    columns.number("Wait", "Wait ms", true, |row: &WaitSum| text.ms(row.wait_ns));
    columns.number("WaitSum", "Sum ms", true, |row| text.ms(row.wait_sum_ns));
    columns.number("Max", "Max ms", true, |row| text.maybe_ms(row.wait_max_ns));
    columns.number("Mean", "Mean us", true, |row| {
        text.maybe_int(row.wait_mean_ns.map(|ns| super::text::rounded(ns, 1000)))
    });
    columns.number("Count", "Waits", true, |row| text.int(row.waits));
    columns.number("Unknown", "Unknown", has_unknown, |row| text.int(row.unknown));
    columns.number("Open", "Open", has_open, |row| text.int(row.open_waits));
    columns.number("OpenMax", "Open max ms", has_open, |row| text.maybe_ms(row.open_max_ns));
    columns.number("Ready", "Ready ms", true, |row| text.ms(row.ready_ns));
    columns.number("ReadySum", "Ready sum ms", details, |row| text.ms(row.ready_sum_ns));
    columns.number("ReadyMax", "Ready max us", details, |row| {
        text.maybe_int(row.ready_max_ns.map(|ns| super::text::rounded(ns, 1000)))
    });
    columns.number("Preemptions", "Preempted", details, |row| text.int(row.preemptions));
    columns.number("Threads", "Threads", details, |row| text.int(row.threads));
    columns.number("First", "First", details, |row| text.times.write(row.first_ns.unwrap_or_default()));
    columns.number("Thread", "Thread", by == WaitBy::Thread, |row| id(row.tid));
    columns.word("Reason", "Reason", by == WaitBy::Reason, |row| row.wait_reason.clone().unwrap_or_default());
    let is_by_tag = by == WaitBy::Tag;
    // Only files of the user make sets that have to be told apart.
    let has_sets = is_by_tag && (details || args.has_files());
    columns.word("TagSet", "Tag set", has_sets, |row| row.tag_set.clone().unwrap_or_default());
    columns.word("Tag", "Tag", is_by_tag, |row| row.tag.clone().unwrap_or_default());
    let is_by_code = matches!(by, WaitBy::Method | WaitBy::Module);
    columns.word("Method", if by == WaitBy::Module { "Module" } else { "Method" }, is_by_code, code);
    let is_by_end = matches!(by, WaitBy::Readying | WaitBy::ReadyingThread);
    // Only sums by what ended waits have one; others asked for with --column have none, which is not the same as preempted.
    columns.word(
        "Readying",
        "Ended by",
        is_by_end,
        move |row| {
            if is_by_end { readying(row) } else { String::new() }
        },
    );
    columns.word("Process", "Process", true, |row| text.process_line(row.into()));
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}

/// `module!method`; code without a name as `module+0x1a2b`.
fn code(row: &WaitSum) -> String {
    let module = row.module.as_deref().unwrap_or("?");
    match row.method.as_deref() {
        None => module.to_owned(),
        Some(offset) if offset.starts_with("+0x") => format!("{module}{offset}"),
        Some(method) => format!("{module}!{method}"),
    }
}

fn readying(row: &WaitSum) -> String {
    ended_by(row.ended_by.as_deref(), row.readying_process.as_deref(), row.readying_pid, row.readying_tid)
}

/// Who ended a wait.
pub(super) fn ended_by(
    kind: Option<&str>,
    process: Option<&str>,
    pid: Option<i64>,
    tid: Option<i64>,
) -> String {
    match kind {
        Some("thread") => {
            let thread = tid.map(|tid| format!(" thread {tid}")).unwrap_or_default();
            let pid = pid.map(|pid| format!("({pid})")).unwrap_or_default();
            format!("{}{pid}{thread}", process.unwrap_or("(unknown)"))
        }
        Some("dpc") => "(DPC)".into(),
        Some("open") => "(still open)".into(),
        Some(_) => "(not recorded)".into(),
        None => "(preempted)".into(),
    }
}

/// A row with its stacks as text.
#[derive(Serialize)]
pub(super) struct WithStacks<'a, R: Serialize> {
    #[serde(flatten)]
    pub(super) row: &'a R,
    /// Frames of the stack with which the thread was switched in, innermost first, with ` < ` between.
    stack: Option<String>,
    /// The same of the stack that made it ready.
    readying_stack: Option<String>,
}

impl<'a, R: Serialize> WithStacks<'a, R> {
    pub(super) fn new(row: &'a R, stacks: &StackText, all: bool, ids: (Option<i64>, Option<i64>)) -> Self {
        let text = |id: Option<i64>| {
            id.map(|id| frames(stacks, all, id).join(" < ")).filter(|text| !text.is_empty())
        };
        Self { row, stack: text(ids.0), readying_stack: text(ids.1) }
    }

    pub(super) fn stack(&self) -> &str {
        self.stack.as_deref().unwrap_or_default()
    }

    pub(super) fn readying_stack(&self) -> &str {
        self.readying_stack.as_deref().unwrap_or_default()
    }
}

pub(super) fn frames(stacks: &StackText, all: bool, stack_id: i64) -> Vec<String> {
    if all { stacks.all(stack_id) } else { stacks.some(stack_id) }
}

fn single(args: &WaitArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let sets = args.sets()?;
    let request = args.request(&sets)?;
    if args.common.show_sql {
        return show_sql(printer, &request.list_sql());
    }
    let answers = ask(&args.common, "dump wait", printer, |session| {
        session.use_tags(sets.clone());
        Ok((request.list(session)?, StackText::new(session)?))
    })?;
    let shown: Vec<_> = answers
        .iter()
        .flat_map(|one| {
            let (rows, stacks) = &one.answer;
            rows.iter().map(move |row| {
                (&one.info, WithStacks::new(row, stacks, args.stacks, (row.stack_id, row.readying_stack_id)))
            })
        })
        .collect();
    written(&args.common, printer, shown.iter().map(|(info, row)| (*info, row)), |lines| {
        let mut shown = shown.iter().map(|(_, row)| row);
        for Answered { info, answer: (rows, _) } in &answers {
            let text = Text::new(&args.common, Some(&args.processes), info);
            lines.file(info, &text, "")?;
            let columns = single_columns(args, &text)?;
            let rows: Vec<&WithStacks<'_, WaitRow>> = shown.by_ref().take(rows.len()).collect();
            columns.lines(rows.into_iter()).iter().try_for_each(|line| lines.line(line))?;
        }
        Ok(())
    })
}

fn single_columns<'a>(
    args: &WaitArgs,
    text: &'a Text,
) -> anyhow::Result<Columns<'a, WithStacks<'a, WaitRow>>> {
    type Row<'a> = WithStacks<'a, WaitRow>;
    let mut columns = Columns::new();
    columns.number("Start", "Start", true, |s: &Row<'a>| text.times.write(s.row.start_ns));
    columns.number("Wait", "Wait ms", true, |s| text.maybe_fine_ms(s.row.wait_ns));
    columns.number("Ready", "Ready ms", true, |s| text.maybe_fine_ms(s.row.ready_ns));
    columns.word("Reason", "Reason", true, |s| s.row.wait_reason.clone().unwrap_or_default());
    columns.number("Thread", "Thread", true, |s| id(s.row.tid));
    columns.word("Process", "Process", true, |s| text.process(s.row.into()));
    columns.word("Readying", "Ended by", true, |s| {
        let row = s.row;
        ended_by(row.ended_by.as_deref(), row.readying_process.as_deref(), row.readying_pid, row.readying_tid)
    });
    columns.word("Stack", "Waited in", true, |s| s.stack().to_owned());
    columns.word("ReadyingStack", "Ended in", args.details, |s| s.readying_stack().to_owned());
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}
