//! `etwkit dump screenshot`.

use clap::Args;
use etwkit_query::dump::screenshot::{ScreenshotRequest, ScreenshotRow, TRIGGERS};
use etwkit_query::range::Unit;

use super::args::{Common, TopArgs, range};
use super::output::{Answered, Columns, Lines, listed, show_sql};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct ScreenshotArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    top: TopArgs,
    /// Only pictures that were taken for these reasons, with commas between
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = TRIGGERS)]
    trigger: Vec<String>,
    /// Only files of such names (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    file: Option<String>,
    /// Only this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
}

impl ScreenshotArgs {
    fn request(&self) -> anyhow::Result<ScreenshotRequest> {
        let is_asked = |trigger: &&str| self.trigger.iter().any(|asked| asked == trigger);
        Ok(ScreenshotRequest {
            triggers: TRIGGERS.into_iter().filter(is_asked).collect(),
            file: self.file.clone(),
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            top: self.top.top(),
        })
    }

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, ScreenshotRow>> {
        let mut columns = Columns::new();
        columns.number("Time", &text.times.title(), true, |row: &ScreenshotRow| {
            row.ts_ns.map(|ns| text.times.write(ns)).unwrap_or_default()
        });
        columns.word("TimeFrom", "Told by", true, |row| row.time_from.clone().unwrap_or_default());
        columns.word("Trigger", "Trigger", true, |row| row.trigger.clone());
        columns.number("Event", "Event", true, |row| id(row.event_number));
        columns.word("Input", "Input", true, |row| row.input.clone().unwrap_or_default());
        columns.word("At", "At", true, |row| {
            row.x.zip(row.y).map(|(x, y)| format!("{x},{y}")).unwrap_or_default()
        });
        columns.number("Size", "Bytes", true, |row| text.maybe_int(row.size_bytes));
        columns.word("Picture", "Picture", true, |row| {
            row.path.clone().unwrap_or_else(|| format!("{} (not there)", row.file_name))
        });
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

fn print(
    args: &ScreenshotArgs,
    one: &Answered<Vec<ScreenshotRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, None, &one.info);
    lines.file(&one.info, &text, "")?;
    args.columns(&text)?.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))
}

pub(super) fn run(args: &ScreenshotArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let (request, common) = (args.request()?, &args.common);
    if common.show_sql {
        return show_sql(printer, &request.sql());
    }
    listed(
        common,
        "dump screenshot",
        printer,
        |session| request.ask(session),
        |one, lines| print(args, one, lines),
    )
}
