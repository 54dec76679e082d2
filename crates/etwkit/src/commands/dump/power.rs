//! `etwkit dump power`.

use clap::Args;
use etwkit_query::dump::power::{PowerRequest, PowerRow, Snapshot};
use etwkit_query::dump::power_catalog::{self, KNOWN, Section};

use super::args::{Common, OUTPUT};
use super::output::{Answered, Lines, ask, show_sql, written};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::{Align, Printer, Table};

#[derive(Debug, Args)]
pub(crate) struct PowerArgs {
    #[command(flatten)]
    common: Common,
    /// Only settings that differ, without columns that are the same as one in front of them
    #[arg(long)]
    diff: bool,
    /// Also settings that have no name here, by GUID
    #[arg(long)]
    all: bool,
    /// Also GUIDs, names of powercfg, what settings do, and settings that have no name here
    #[arg(long, help_heading = OUTPUT)]
    details: bool,
}

/// A column: a moment of a trace.
struct Shown<'a> {
    title: String,
    snapshot: &'a Snapshot,
}

/// A setting that some column has.
struct Setting<'a> {
    section: &'a str,
    name: &'a str,
    guid: &'a str,
}

pub(super) fn run(args: &PowerArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.common.show_sql {
        return show_sql(printer, &PowerRequest.sql());
    }
    let answers = ask(&args.common, "dump power", printer, |session| PowerRequest.ask(session))?;
    let rows = answers.iter().flat_map(|one| {
        let rows = one.answer.iter().flat_map(|snapshot| &snapshot.rows);
        rows.map(|row| (&one.info, row))
    });
    written(&args.common, printer, rows, |lines| print(args, &answers, lines))
}

fn print(
    args: &PowerArgs,
    answers: &[Answered<Vec<Snapshot>>],
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let mut columns: Vec<Shown<'_>> = Vec::new();
    let mut all = 0;
    for one in answers {
        let text = Text::new(&args.common, None, &one.info);
        lines.file(&one.info, &text, "")?;
        for snapshot in &one.answer {
            all += 1;
            let title = format!("{} {}", one.info.file_name, text.times.write(snapshot.ts_ns));
            if args.diff && columns.iter().any(|column| column.snapshot.is_same(snapshot)) {
                lines.line(&format!("left out, the same as one in front of it: {title}"))?;
            } else {
                columns.push(Shown { title, snapshot });
            }
        }
    }
    if args.diff && all > 0 {
        lines.line(&format!("{} of {all} columns", columns.len()))?;
    }
    if answers.is_empty() {
        return Ok(());
    }
    let settings = settings(args, &columns);
    let right = columns.iter().map(|column| (column.title.as_str(), Align::Left));
    let titles: Vec<(&str, Align)> = std::iter::once(("Setting", Align::Left)).chain(right).collect();
    let mut table = Table::new(&titles);
    for setting in &settings {
        table.row(std::iter::once(setting.name.to_owned()).chain(cells(&columns, setting.guid)));
    }
    let printed = table.lines();
    let mut printed = printed.iter();
    printed.next().map_or(Ok(()), |titles| lines.line(titles))?;
    let mut section = "";
    for (line, setting) in printed.zip(&settings) {
        if setting.section != section {
            section = setting.section;
            lines.line(section)?;
        }
        lines.line(line)?;
        if args.details {
            details(setting, lines)?;
        }
    }
    Ok(())
}

/// The rows: settings that a column has, in the order of the list, then those without a name.
fn settings<'a>(args: &PowerArgs, columns: &[Shown<'a>]) -> Vec<Setting<'a>> {
    let has = |guid: &str| columns.iter().any(|column| column.snapshot.value(guid).is_some());
    let mut all: Vec<Setting<'a>> = KNOWN
        .iter()
        .filter(|known| has(known.guid))
        .map(|known| Setting { section: known.section.title(), name: known.name, guid: known.guid })
        .collect();
    if args.all || args.details {
        let rows = columns.iter().flat_map(|column| &column.snapshot.rows);
        let mut others: Vec<&'a PowerRow> =
            rows.filter(|row| power_catalog::find(&row.setting_guid).is_none()).collect();
        others.sort_by(|a, b| a.setting_guid.cmp(&b.setting_guid));
        others.dedup_by(|a, b| a.setting_guid == b.setting_guid);
        let section = Section::Other.title();
        all.extend(others.into_iter().map(|row| Setting {
            section,
            name: &row.name,
            guid: &row.setting_guid,
        }));
    }
    if args.diff {
        all.retain(|setting| differs(columns, setting.guid));
    }
    all
}

fn value<'a>(column: &Shown<'a>, guid: &str) -> Option<&'a str> {
    column.snapshot.value(guid).map(|row| row.value.as_str())
}

fn differs(columns: &[Shown<'_>], guid: &str) -> bool {
    let values = || columns.iter().map(|column| value(column, guid));
    values().zip(values().skip(1)).any(|(left, right)| left != right)
}

/// Values, `...` for one that is the same as its left neighbour, `-` where there is none.
fn cells(columns: &[Shown<'_>], guid: &str) -> Vec<String> {
    let values: Vec<Option<&str>> = columns.iter().map(|column| value(column, guid)).collect();
    let left = std::iter::once(None).chain(values.iter().map(Some));
    values
        .iter()
        .zip(left)
        .map(|(value, left)| match value {
            None => "-".to_owned(),
            same if left == Some(same) => "...".to_owned(),
            Some(value) => (*value).to_owned(),
        })
        .collect()
}

fn details(setting: &Setting<'_>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let known = power_catalog::find(setting.guid);
    let alias = known.map_or("", |known| known.alias);
    lines.line(format!("      {{{}}} {alias}", setting.guid).trim_end())?;
    known.map_or(Ok(()), |known| lines.line(&format!("      {}", known.help)))
}
