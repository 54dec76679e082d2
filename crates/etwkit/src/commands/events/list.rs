//! Decoded events as text, JSON lines or CSV.

use std::ops::ControlFlow;
use std::sync::Arc;

use etwkit_extract::Input;
use etwkit_terminal::{Exit, WriteError, csv_cell};
use etwkit_trace::report::damage::DamageReport;
use etwkit_trace::report::events::{EventRow, Events};
use serde_json::{Value, json};

use super::super::damage;
use super::FilteredTrace;
use crate::cli::{EventsArgs, EventsFormat};
use crate::printer::{Printer, grouped};

/// Columns of the CSV form; `fields` is a JSON object, `counters` a list with blanks between.
const CSV_COLUMNS: &str = "ts_ns,cpu,pid,process,tid,provider,event,id,version,opcode,level,keyword,provider_guid,\
     complete,fields,message,counters";

pub(super) fn run(
    args: &EventsArgs,
    FilteredTrace {
        input,
        filter,
        described,
    }: &FilteredTrace,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let format = if args.json {
        EventsFormat::Json
    } else {
        args.format
    };
    let events = Events::open(input.session(), Arc::clone(described.descriptions()))?;
    printer.add_gaps([damage::gaps(input, &events.gaps())]);
    begin(format, printer)?;
    let mut printed = Ok(());
    let listed = events.list(filter, |row| {
        printed = print(row, format, printer);
        if printed.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    printed?;
    printer.add_gaps([damage::gaps(input, &listed.gaps)]);
    end(input, format, &listed.damage, printer)?;
    if listed.without_format > 0 {
        let n = grouped(listed.without_format);
        printer.note(&format!(
            "messages of WPP without a text: {n}; name their format files with --tmf"
        ));
    }
    Ok(super::ended(listed.events, filter, printer))
}

fn begin(format: EventsFormat, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    match format {
        EventsFormat::Text => Ok(()),
        EventsFormat::Json => {
            printer.json_start("events");
            Ok(())
        }
        EventsFormat::Csv => printer.line(CSV_COLUMNS),
    }
}

/// Prints the damage at the end of the text. Machine output has a line of its own for it, and only
/// if there is some.
fn end(
    input: &Input,
    format: EventsFormat,
    found: &DamageReport,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    match format {
        EventsFormat::Text => damage::print(printer, input, found, damage::NONE)?,
        EventsFormat::Json => printer.json(&json!({ "damage": serde_json::to_value(found)? }))?,
        // A table has no place for damage; `etwkit info` and the other formats report it.
        EventsFormat::Csv => {}
    }
    Ok(())
}

fn print(
    row: &EventRow,
    format: EventsFormat,
    printer: &mut Printer<'_>,
) -> Result<(), WriteError> {
    match format {
        EventsFormat::Text => printer.line(&text(row)),
        EventsFormat::Json => printer.json(&json!(row)),
        EventsFormat::Csv => printer.line(&csv(row)),
    }
}

/// `seconds cpu process(pid) tid provider event: text name=value …`
fn text(row: &EventRow) -> String {
    use std::fmt::Write;
    let seconds = row.ts_ns as f64 / 1e9;
    let number = |id: Option<u32>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let process = if row.process.is_empty() {
        "?"
    } else {
        &row.process
    };
    let mut line = format!(
        "{seconds:13.7} {:>3} {process} ({}) {}",
        row.cpu,
        number(row.pid),
        number(row.tid)
    );
    // Names of kernel events already contain the class.
    match row.event.starts_with(&format!("{}/", row.provider)) {
        true => line.push_str(&format!("  {}", row.event)),
        false => line.push_str(&format!("  {} {}", row.provider, row.event)),
    }
    if let Some(message) = &row.message {
        // A text may have several lines, but an event is one line.
        let _ = write!(
            line,
            ": {}",
            message.split_whitespace().collect::<Vec<_>>().join(" ")
        );
    }
    for (name, value) in &row.fields {
        match value {
            Value::String(text) => {
                let _ = write!(line, " {name}=\"{}\"", text.replace('"', "\\\""));
            }
            other => {
                let _ = write!(line, " {name}={other}");
            }
        }
    }
    if !row.complete {
        line.push_str(" [payload ends early]");
    }
    if let Some(index) = row.pebs_index {
        let _ = write!(line, " [PEBS {index}]");
    }
    if !row.counters.is_empty() {
        let _ = write!(line, " [counters {}]", numbers(&row.counters));
    }
    line
}

fn numbers(numbers: &[u64]) -> String {
    numbers
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

fn csv(row: &EventRow) -> String {
    let number = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    [
        row.ts_ns.to_string(),
        row.cpu.to_string(),
        number(row.pid.map(u64::from)),
        csv_cell(&row.process),
        number(row.tid.map(u64::from)),
        csv_cell(&row.provider),
        csv_cell(&row.event),
        number(row.id.map(u64::from)),
        row.version.to_string(),
        row.opcode.to_string(),
        row.level.to_string(),
        row.keyword.map_or_else(String::new, |k| format!("{k:#x}")),
        row.provider_guid.clone(),
        row.complete.to_string(),
        csv_cell(&etwkit_terminal::escape::json_text(
            &Value::Object(row.fields.clone()).to_string(),
        )),
        csv_cell(row.message.as_deref().unwrap_or("")),
        numbers(&row.counters),
    ]
    .join(",")
}
