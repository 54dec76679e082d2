//! `--show-schema`: the tables, or the columns of one.

use anyhow::bail;
use etwkit_sql::{reference, tables};
use etwkit_terminal::{Exit, Table};
use etwkit_trace::table::{Column, Table as Declared};
use serde_json::{Value, json};

use super::args::SqlFormat;
use crate::printer::Printer;

pub(super) fn show(
    name: &str,
    format: Option<SqlFormat>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let is_json = match format {
        None | Some(SqlFormat::Table) => false,
        Some(SqlFormat::Json) => true,
        Some(_) => bail!("--show-schema has the forms table and json"),
    };
    let chosen: Vec<&Declared> = tables()
        .filter(|table| name.is_empty() || table.name == name)
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = tables().map(|table| table.name).collect();
        bail!("there is no table {name}; there are: {}", names.join(", "));
    }
    if is_json {
        printer.json_start("sql");
        chosen
            .into_iter()
            .try_for_each(|table| printer.json(&object(table)))?;
        return Ok(Exit::Answered);
    }
    match (name, chosen.as_slice()) {
        ("", all) => {
            let rows = all
                .iter()
                .map(|table| [table.name.to_owned(), first(table.doc)]);
            printer.table(&Table::of("table|a row is", rows))?;
        }
        (_, one) => one.iter().try_for_each(|table| columns(table, printer))?,
    }
    Ok(Exit::Answered)
}

/// Returns the first line of a text about a table.
fn first(doc: &str) -> String {
    doc.lines().next().unwrap_or("").trim().to_owned()
}

fn columns(table: &Declared, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    printer.heading(&format!("{}: {}", table.name, first(table.doc)))?;
    let row = |c: &Column| {
        [
            c.name.to_owned(),
            reference::type_text(c),
            c.unit.to_owned(),
            one_line(c.doc),
        ]
    };
    Ok(printer.table(&Table::of(
        "column|type|unit|",
        table.columns.iter().map(row),
    ))?)
}

fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns everything that is declared about a table.
fn object(table: &Declared) -> Value {
    let column = |column: &Column| {
        json!({
            "name": column.name,
            "type": reference::type_text(column).trim_end_matches('?'),
            "nullable": column.nullable,
            "unit": column.unit,
            "doc": one_line(column.doc),
        })
    };
    json!({
        "table": table.name,
        "doc": one_line(table.doc),
        "order": table.order,
        "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
    })
}
