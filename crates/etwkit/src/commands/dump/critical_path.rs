//! `etwkit critical-path`. It is printed as dumps are.

use clap::Args;
use etwkit_analysis::StackText;
use etwkit_analysis::path::{CriticalPath, PathAnswer, PathRequest, Segment};
use etwkit_analysis::wait_question::Stacks;
use etwkit_query::dump::Error;
use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::range::Unit;
use serde::Serialize;

use super::args::{Common, OUTPUT, ProcessFilters, range};
use super::critical_path_text::print;
use super::output::{Answered, ask, exit, machine};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::rules::NameArgs;

#[derive(Debug, Args)]
#[command(mut_arg("show_sql", |arg| arg.hide(true)))]
pub(crate) struct PathArgs {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(flatten)]
    pub(super) processes: ProcessFilters,
    #[command(flatten)]
    pub(crate) names: NameArgs,
    /// Only the thread with this id; without it the first thread of a process that began in the trace, else the thread that ran longest
    #[arg(long, value_name = "TID")]
    thread: Option<i64>,
    /// Exactly this part of the trace (s); without it from the first switch-in of the thread to its last switch-out
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Show who waited for whom instead of the segments
    #[arg(long, conflicts_with_all = ["sums", "by_process"], help_heading = OUTPUT)]
    pub(super) tree: bool,
    /// Show only what the time went to, by process
    #[arg(long, conflicts_with = "sums", help_heading = OUTPUT)]
    pub(super) by_process: bool,
    /// Show only what the time went to
    #[arg(long, help_heading = OUTPUT)]
    pub(super) sums: bool,
    /// Only the N longest segments, in the order of time
    #[arg(long, value_name = "N", conflicts_with_all = ["tree", "sums", "by_process"], help_heading = OUTPUT)]
    pub(super) top: Option<usize>,
    /// Show all frames of stacks
    #[arg(long, help_heading = OUTPUT)]
    pub(super) stacks: bool,
}

/// The path of one extract, with what writes its stacks.
pub(super) struct Found {
    pub(super) path: PathAnswer,
    pub(super) stacks: StackText,
}

pub(crate) fn run(args: &PathArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.common.show_sql {
        let message = "a critical path is followed from row to row; there is no SQL to show".to_owned();
        return Err(
            Error::TooWide { message, how: "`etwkit dump wait --show-sql` shows that of waits" }.into()
        );
    }
    let request = PathRequest {
        processes: args.processes.query(),
        tid: args.thread,
        time: range("range", args.range.as_deref(), Unit::Seconds)?,
    };
    let mut answers = ask(&args.common, "critical-path", printer, |session| {
        Ok(Found { path: request.ask(session)?, stacks: StackText::new(session)? })
    })?;
    for Answered { info, answer } in &mut answers {
        check_one(info, &answer.path)?;
        if let (PathAnswer::Path(path), Some(count)) = (&mut answer.path, args.top) {
            keep_longest(&mut path.segments, count);
        }
    }
    let paths: Vec<(&TraceInfo, &CriticalPath, &StackText)> = answers.iter().filter_map(found).collect();
    if !rows(args, &paths, printer)? {
        print(args, &answers, printer)?;
    }
    Ok(exit(paths.len()))
}

fn found(one: &Answered<Found>) -> Option<(&TraceInfo, &CriticalPath, &StackText)> {
    match &one.answer.path {
        PathAnswer::Path(path) => Some((&one.info, path, &one.answer.stacks)),
        _ => None,
    }
}

/// Several processes have no path together.
fn check_one(info: &TraceInfo, path: &PathAnswer) -> anyhow::Result<()> {
    let PathAnswer::Several(threads) = path else { return Ok(()) };
    let names: Vec<String> = threads
        .iter()
        .take(20)
        .map(|thread| format!("{}({})", thread.process.as_deref().unwrap_or("?"), thread.pid.unwrap_or(-1)))
        .collect();
    let message = format!(
        "{}: {} processes fit, and a path is that of one: {}",
        info.file_name,
        threads.len(),
        names.join(" ")
    );
    Err(Error::TooWide { message, how: "name one of them by its id: --process ID" }.into())
}

fn keep_longest(segments: &mut Vec<Segment>, count: usize) {
    let mut lengths: Vec<(i64, usize)> =
        segments.iter().map(|segment| segment.duration_ns).zip(0..).collect();
    lengths.sort_unstable_by_key(|(length, number)| (std::cmp::Reverse(*length), *number));
    let mut kept: Vec<usize> = lengths.into_iter().take(count).map(|(_, number)| number).collect();
    kept.sort_unstable();
    let mut number = 0;
    segments.retain(|_| {
        let keeps = kept.binary_search(&number).is_ok();
        number += 1;
        keeps
    });
}

/// Writes rows for machines, if that is asked for: segments, threads of the tree, or sums.
fn rows(
    args: &PathArgs,
    paths: &[(&TraceInfo, &CriticalPath, &StackText)],
    printer: &mut Printer<'_>,
) -> anyhow::Result<bool> {
    if args.by_process {
        return machine(&args.common, printer, each(paths, |path| &path.processes));
    }
    if args.sums {
        return machine(&args.common, printer, each(paths, |path| &path.shares));
    }
    if args.tree {
        let nodes =
            with_stacks(args, paths, |path| &path.tree, |node| (node.stack_id, node.readying_stack_id));
        return machine(&args.common, printer, nodes.iter().map(|(info, row)| (*info, row)));
    }
    if args.common.json || args.common.csv.is_some() {
        let segments =
            with_stacks(args, paths, |path| &path.segments, |one| (one.stack_id, one.readying_stack_id));
        return machine(&args.common, printer, segments.iter().map(|(info, row)| (*info, row)));
    }
    Ok(false)
}

type Paths<'a> = [(&'a TraceInfo, &'a CriticalPath, &'a StackText)];

fn each<'a, R: 'a>(
    paths: &'a Paths<'a>,
    rows: impl Fn(&'a CriticalPath) -> &'a Vec<R> + 'a,
) -> impl Iterator<Item = (&'a TraceInfo, &'a R)> {
    paths.iter().flat_map(move |(info, path, _)| rows(path).iter().map(move |row| (*info, row)))
}

/// A row with its stacks as text.
#[derive(Serialize)]
struct WithStacks<'a, R: Serialize> {
    #[serde(flatten)]
    row: &'a R,
    #[serde(flatten)]
    stacks: Stacks,
}

fn with_stacks<'a, R: Serialize>(
    args: &PathArgs,
    paths: &'a Paths<'a>,
    rows: impl Fn(&'a CriticalPath) -> &'a Vec<R>,
    ids: impl Fn(&R) -> (Option<i64>, Option<i64>),
) -> Vec<(&'a TraceInfo, WithStacks<'a, R>)> {
    let mut all = Vec::new();
    for (info, path, stacks) in paths {
        all.extend(
            rows(path)
                .iter()
                .map(|row| (*info, WithStacks { row, stacks: Stacks::of(stacks, args.stacks, ids(row)) })),
        );
    }
    all
}
