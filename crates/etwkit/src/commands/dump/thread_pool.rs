//! `etwkit dump thread-pool`.

use clap::Args;
use etwkit_query::dump::thread_pool::{ThreadPoolAnswer, ThreadPoolRequest, ThreadPoolRow};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range};
use super::output::{Answered, Columns, Lines, show_sql, streamed};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct ThreadPoolArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Changes of the number of threads for other reasons: Starvation unless given, * all of them (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    reason: Option<String>,
    /// Only these seconds of the trace
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
}

impl ThreadPoolArgs {
    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, ThreadPoolRow>> {
        let mut columns = Columns::new();
        columns.number("Time", &text.times.title(), true, |row: &ThreadPoolRow| text.times.write(row.ts_ns));
        columns.number("ThreadCount", "Threads", true, |row| text.maybe_int(row.worker_threads));
        columns.number("DiffSinceLast", "Since last s", true, |row| text.maybe_s(row.since_last_ns, 3));
        columns.word("Reason", "Reason", true, |row| row.reason.clone().unwrap_or_default());
        columns.number("Throughput", "Throughput", false, |row| text.maybe_fixed(row.throughput, 3));
        columns.number("Thread", "Thread", false, |row| id(row.tid));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

fn print(
    args: &ThreadPoolArgs,
    one: &Answered<ThreadPoolAnswer>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    if one.answer.is_empty() {
        let none = "thread pools were recorded, and no starvation fits the question";
        return lines.line(if args.reason.is_some() {
            "no change of a thread pool fits the question"
        } else {
            none
        });
    }
    let printed = args.columns(&text)?.lines(one.rows());
    let mut printed = printed.iter();
    printed.next().map_or(Ok(()), |titles| lines.line(titles))?;
    for group in &one.answer {
        if let Some(row) = group.rows.first() {
            lines.line(&format!(
                "  {}  [{} changes]",
                text.process_line(row.into()),
                text.int(group.total)
            ))?;
        }
        printed.by_ref().take(group.rows.len()).try_for_each(|line| lines.line(line))?;
    }
    Ok(())
}

pub(super) fn run(args: &ThreadPoolArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = ThreadPoolRequest {
        processes: args.processes.query(),
        reason: args.reason.clone(),
        time: range("range", args.range.as_deref(), Unit::Seconds)?,
        top: args.top.top(),
    };
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    streamed(
        &args.common,
        "dump thread-pool",
        printer,
        |session| request.ask(session),
        |groups| groups.iter().flat_map(|group| &group.rows).collect(),
        |one, lines| print(args, one, lines),
    )
}
