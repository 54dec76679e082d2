//! Decoded events as text, JSON lines or CSV.

use std::ops::ControlFlow;

use etwkit_decode::Decoder;
use etwkit_etl::{Identity, Order, RawEvent, Session};
use etwkit_extract::Input;
use etwkit_trace::directory::{Directory, DirectoryBuilder};
use serde_json::{Value, json};

use super::super::damage;
use super::filter::Filter;
use super::row::{Decoded, Row, Rows};
use crate::cli::{EventsArgs, EventsFormat};
use crate::exit::Exit;
use crate::input;
use crate::printer::{Printer, WriteError, csv_cell, grouped};

/// Columns of the CSV form; `fields` is a JSON object, `counters` a list with blanks between.
const CSV_COLUMNS: &str = "ts_ns,cpu,pid,process,tid,provider,event,id,version,opcode,level,keyword,provider_guid,\
     complete,fields,message,counters";

pub(super) fn run(args: &EventsArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let described = args.descriptions.read()?;
    let input = input::open(&args.traces)?;
    let session = input.session();
    let filter = Filter::new(args, session)?;
    let format = if args.json { EventsFormat::Json } else { args.format };
    let (mut decoder, directory, last) = first_pass(session)?;
    decoder.give(described.descriptions().clone());
    let mut list = List {
        rows: Rows::new(decoder, directory, session.clock()),
        filter,
        format,
        limit: args.limit.unwrap_or(u64::MAX),
        printed: 0,
        without_format: 0,
        failure: None,
    };
    printer.add_gaps([damage::gaps(&input, session.damage(), last)]);
    list.begin(printer)?;
    let walk = session.for_each(Order::Time, |event| list.event(event, printer))?;
    if let Some(failure) = list.failure {
        return Err(failure.into());
    }
    let found = damage::of_walk(&input, &walk);
    printer.add_gaps([damage::gaps(&input, &found, last)]);
    end(&input, format, &found, printer)?;
    if list.without_format > 0 {
        let n = grouped(list.without_format);
        printer.note(&format!("messages of WPP without a text: {n}; name their format files with --tmf"));
    }
    // A trace without an event is an answer; a filter that finds none is not.
    if list.printed > 0 || !list.filter.asks() {
        return Ok(Exit::Answered);
    }
    if format == EventsFormat::Text {
        printer.line("no event matches; `etwkit info` names the providers, `etwkit events --count` all kinds of events")?;
    }
    Ok(Exit::Nothing)
}

/// What names and describes events lies anywhere in a trace. Also the raw time of the last event.
fn first_pass(session: &Session) -> anyhow::Result<(Decoder, Directory, Option<i64>)> {
    let (mut decoder, mut builder) = (Decoder::new(), DirectoryBuilder::default());
    let mut last = None;
    session.for_each(Order::Time, |event| {
        last = last.max(Some(event.timestamp));
        decoder.observe(event);
        builder.observe(event);
        ControlFlow::Continue(())
    })?;
    decoder.finish_observing();
    Ok((decoder, builder.finish(session.pointer_size()), last))
}

/// Damage ends the text; machine output says it in a line of its own, and only if there is some.
fn end(
    input: &Input,
    format: EventsFormat,
    found: &etwkit_etl::damage::Damage,
    printer: &mut Printer<'_>,
) -> Result<(), WriteError> {
    if found.is_empty() {
        return Ok(());
    }
    match format {
        EventsFormat::Text => damage::print(printer, input, found, damage::NONE),
        EventsFormat::Json => printer.json(&json!({ "damage": damage::json(found) })),
        // A table has no place for it; `etwkit info` and the other forms tell.
        EventsFormat::Csv => Ok(()),
    }
}

struct List<'t> {
    rows: Rows<'t>,
    filter: Filter,
    format: EventsFormat,
    limit: u64,
    printed: u64,
    /// Messages of WPP that were printed without their text.
    without_format: u64,
    failure: Option<WriteError>,
}

impl List<'_> {
    fn begin(&self, printer: &mut Printer<'_>) -> Result<(), WriteError> {
        match self.format {
            EventsFormat::Text => Ok(()),
            EventsFormat::Json => {
                printer.json_start("events");
                Ok(())
            }
            EventsFormat::Csv => printer.line(CSV_COLUMNS),
        }
    }

    fn event(&mut self, event: &RawEvent<'_>, printer: &mut Printer<'_>) -> ControlFlow<()> {
        if self.printed >= self.limit || self.filter.is_over(event.timestamp) {
            return ControlFlow::Break(());
        }
        if !self.filter.includes_time(event.timestamp) {
            self.rows.pass_over(event);
            return ControlFlow::Continue(());
        }
        let row = self.rows.row(event);
        if !self.is_wanted(&row) {
            return ControlFlow::Continue(());
        }
        self.printed += 1;
        let is_message = matches!(event.identity(), Identity::Message { .. });
        self.without_format += u64::from(is_message && row.plan.is_none());
        if let Err(failure) = self.print(&row, event, printer) {
            self.failure = Some(failure);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn is_wanted(&self, row: &Row) -> bool {
        let named = |wanted: &Option<super::filter::Patterns>, texts: &[&str]| {
            wanted.as_ref().is_none_or(|patterns| patterns.match_any(texts))
        };
        self.filter.includes_provider(row.guid, &row.provider)
            && named(&self.filter.name, &[&row.event])
            && (self.filter.process.is_none() || {
                let pid = row.pid.map(|pid| pid.to_string()).unwrap_or_default();
                let bare = row.process.strip_suffix(".exe").unwrap_or(&row.process);
                // As answers print it, here and elsewhere.
                let known = if row.process.is_empty() { "?" } else { &row.process };
                let printed = [known, bare].map(|name| [format!("{name} ({pid})"), format!("{name}({pid})")]);
                let [[a, b], [c, d]] = &printed;
                named(&self.filter.process, &[&row.process, bare, &pid, a, b, c, d])
            })
    }

    fn print(
        &mut self,
        row: &Row,
        event: &RawEvent<'_>,
        printer: &mut Printer<'_>,
    ) -> Result<(), WriteError> {
        let decoded = self.rows.decoded(row, event);
        match self.format {
            EventsFormat::Text => printer.line(&text(row, &decoded)),
            EventsFormat::Json => printer.json(&object(row, &decoded)),
            EventsFormat::Csv => printer.line(&csv(row, decoded)),
        }
    }
}

/// `seconds cpu process(pid) tid provider event: text name=value …`
fn text(row: &Row, Decoded { fields, complete, message }: &Decoded) -> String {
    use std::fmt::Write;
    let seconds = row.ts_ns as f64 / 1e9;
    let number = |id: Option<u32>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let process = if row.process.is_empty() { "?" } else { &row.process };
    let mut line =
        format!("{seconds:13.7} {:>3} {process} ({}) {}", row.cpu, number(row.pid), number(row.tid));
    // Kernel events have the class in their name already.
    match row.event.starts_with(&format!("{}/", row.provider)) {
        true => line.push_str(&format!("  {}", row.event)),
        false => line.push_str(&format!("  {} {}", row.provider, row.event)),
    }
    if let Some(message) = message {
        // A text may have several lines; an event has one.
        let _ = write!(line, ": {}", message.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    for (name, value) in fields {
        match value {
            Value::String(text) => {
                let _ = write!(line, " {name}=\"{}\"", text.replace('"', "\\\""));
            }
            other => {
                let _ = write!(line, " {name}={other}");
            }
        }
    }
    if !complete {
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
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

fn object(row: &Row, Decoded { fields, complete, message }: &Decoded) -> Value {
    json!({
        "ts_ns": row.ts_ns,
        "cpu": row.cpu,
        "pid": row.pid,
        "process": row.process,
        "tid": row.tid,
        "provider": row.provider,
        "event": row.event,
        "id": row.id,
        "version": row.version,
        "opcode": row.opcode,
        "level": row.level,
        "keyword": row.keyword.map(|k| format!("{k:#x}")),
        "provider_guid": row.guid.to_string(),
        "source": row.plan.as_ref().map(|plan| plan.schema().source.name()),
        "complete": complete,
        "message": message,
        "fields": fields,
        "counters": row.counters,
        "pebs_index": row.pebs_index,
    })
}

fn csv(row: &Row, Decoded { fields, complete, message }: Decoded) -> String {
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
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
        row.keyword.map(|k| format!("{k:#x}")).unwrap_or_default(),
        row.guid.to_string(),
        complete.to_string(),
        csv_cell(&crate::sanitize::json_text(&Value::Object(fields).to_string())),
        csv_cell(&message.unwrap_or_default()),
        numbers(&row.counters),
    ]
    .join(",")
}
