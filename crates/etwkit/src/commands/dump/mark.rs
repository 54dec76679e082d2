//! `etwkit dump mark`.

use clap::Args;
use etwkit_query::dump::mark::{MarkRequest, MarkRow};
use etwkit_query::range::Unit;

use super::args::{Common, TopArgs, ZeroArgs, range};
use super::output::{Columns, show_sql, streamed_from_zero};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct MarkArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    top: TopArgs,
    #[command(flatten)]
    zero: ZeroArgs,
    /// Only marks with such texts (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "TEXT")]
    marker_filter: Option<String>,
    /// Only marks that are so far from zero, in seconds; in front of it numbers are negative
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    diff: Option<String>,
}

impl MarkArgs {
    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, MarkRow>> {
        let mut columns = Columns::new();
        columns.number("Time", &text.times.title(), true, |row: &MarkRow| text.times.write(row.ts_ns));
        columns.number("DiffToZero", "Diff to zero s", true, |row| text.s(row.diff_to_zero_ns, 3));
        columns.number("Cpu", "Cpu", false, |row| row.cpu.to_string());
        columns.number("Thread", "Thread", false, |row| id(row.tid));
        columns.word("Process", "Process", false, |row| {
            let pid = row.pid.map(|pid| format!("({pid})")).unwrap_or_default();
            format!("{}{pid}", row.process.as_deref().unwrap_or_default())
        });
        columns.word("Mark", "Mark", true, |row| row.text.clone());
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

pub(super) fn run(args: &MarkArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = MarkRequest {
        text: args.marker_filter.clone(),
        diff: range("diff", args.diff.as_deref(), Unit::Seconds)?,
        zero: args.zero.zero(),
        top: args.top.top(),
    };
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    let zero = &request.zero;
    streamed_from_zero(
        (&args.common, zero),
        "dump mark",
        printer,
        |session| request.ask(session),
        |rows| rows.iter().collect(),
        |one, lines| {
            let text = Text::new(&args.common, None, &one.info);
            lines.file(&one.info, &text, "")?;
            let text = text.moved(zero);
            args.columns(&text)?.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))
        },
    )
}
