//! `etwkit dump stats`.

use std::sync::{Mutex, PoisonError};

use anyhow::bail;
use clap::Args;
use etwkit_query::dump::stats::{Property, StatsRequest, is_known};

use super::args::Common;
use super::output::{Lines, ask, rows_of, show_sql, written};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::{Printer, Table};

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    common: Common,
    /// Only these properties: names with , ; or blanks between (*, ?, ! excludes)
    #[arg(long, value_name = "NAMES")]
    properties: Option<String>,
    /// All properties of an extract on one line
    #[arg(long)]
    one_line: bool,
}

pub(super) fn run(args: &StatsArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = StatsRequest { properties: args.properties.clone() };
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    let known = Mutex::new(Vec::new());
    let answers = ask(&args.common, "dump stats", printer, |session| {
        let rows = request.ask(session)?;
        if rows.is_empty() {
            let all =
                StatsRequest::default().ask(session)?.into_iter().map(|property| property.name).collect();
            *known.lock().unwrap_or_else(PoisonError::into_inner) = all;
        }
        Ok(rows)
    })?;
    let known = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_empty = answers.iter().all(|one| one.answer.is_empty());
    if !known.is_empty() && is_empty {
        let asked = args.properties.as_deref().unwrap_or_default();
        if is_known(asked) {
            return Ok(Exit::Nothing);
        }
        bail!("--properties {asked:?}: no such property; there are: {}", known.join(" "));
    }
    let rows = rows_of(&answers, |rows| rows);
    written(&args.common, printer, rows, |lines| {
        for one in &answers {
            let text = Text::new(&args.common, None, &one.info);
            lines.file(&one.info, &text, "")?;
            print(&one.answer, args.one_line, lines)?;
        }
        Ok(())
    })
}

fn print(properties: &[Property], one_line: bool, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    if one_line {
        let all: Vec<String> = properties.iter().map(|p| format!("{}: {}", p.name, p.value)).collect();
        return lines.line(&format!("  {}", all.join("; ")));
    }
    let mut table = Table::pairs();
    for property in properties {
        table.row([property.name.clone(), property.value.clone()]);
    }
    table.lines().iter().try_for_each(|line| lines.line(line))
}
