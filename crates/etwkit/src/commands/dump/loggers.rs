//! `etwkit dump loggers`.

use clap::Args;
use etwkit_query::dump::logger::{LoggerEventRequest, LoggerEventRow, LoggerRequest, LoggerRow, LoggerSort};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Columns, listed, show_sql};
use super::text::{Text, id, rounded};
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, LoggerSort)] =
    &[("start", LoggerSort::Start), ("name", LoggerSort::Name), ("lost", LoggerSort::Lost)];

const COMMAND: &str = "dump loggers";

#[derive(Debug, Args)]
pub(crate) struct LoggersArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Only these sessions, by name (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    name: Option<String>,
    /// Order of sessions
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "start", conflicts_with = "details")]
    sort_by: LoggerSort,
    /// List what happened: starts, stops, providers that were switched on and off, losses
    #[arg(long)]
    details: bool,
    /// With --details: only these providers, by name or GUID (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES", requires = "details")]
    provider: Option<String>,
    /// With --details: only this: start, stop, running, enable, disable, register, unregister, lost* … (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "KINDS", requires = "details")]
    kind: Option<String>,
    /// With --details: only this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, requires = "details")]
    range: Option<String>,
}

impl LoggersArgs {
    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, LoggerRow>> {
        let mut columns = Columns::new();
        let time =
            |ns: Option<i64>, missing: &str| ns.map_or_else(|| missing.to_owned(), |ns| text.times.write(ns));
        columns.number("Start", "Start", true, move |row: &LoggerRow| time(row.start_ns, "before"));
        columns.number("Stop", "Stop", true, move |row| time(row.stop_ns, ""));
        columns.number("LostEvents", "Lost events", true, |row| text.maybe_int(row.events_lost));
        columns.number("LostBuffers", "Lost buffers", true, |row| text.maybe_int(row.buffers_lost));
        columns.number("LostRealTime", "Lost in real time", false, |row| {
            text.maybe_int(row.real_time_buffers_lost)
        });
        columns.number("BufferSize", "Buffer KiB", true, |row| {
            row.buffer_size_bytes.map(|bytes| text.int(rounded(bytes, 1024))).unwrap_or_default()
        });
        columns.number("EventBufferSize", "Buffer size", false, |row| text.maybe_int(row.event_buffer_size));
        columns.number("MinBuffers", "Min", false, |row| text.maybe_int(row.minimum_buffers));
        columns.number("MaxBuffers", "Max", false, |row| text.maybe_int(row.maximum_buffers));
        columns.number("Buffers", "Buffers", true, |row| {
            text.maybe_int(row.peak_buffers.or(row.current_buffers))
        });
        columns.number("Written", "Written", true, |row| text.maybe_int(row.buffers_written));
        columns.number("Id", "Id", false, |row| text.maybe_int(row.logger_id));
        columns.number("Providers", "Providers", true, |row| text.int(row.providers));
        columns.word("Guid", "GUID", false, |row| row.session_guid.clone().unwrap_or_default());
        columns.word("Status", "Status", false, |row| row.status_name.clone().unwrap_or_default());
        columns.word("Mode", "Mode", true, |row| row.modes.clone().unwrap_or_default());
        columns.word("Name", "Name", true, name);
        columns.word("File", "File", true, |row| row.file.clone().unwrap_or_default());
        columns.word("Keywords", "Keywords", true, |row| row.kernel_keywords.clone().unwrap_or_default());
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn event_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, LoggerEventRow>> {
        let mut columns = Columns::new();
        columns.number("Time", &text.times.title(), true, |row: &LoggerEventRow| text.times.write(row.ts_ns));
        columns.word("Kind", "Kind", true, |row| row.kind.clone());
        columns.word("Session", "Session", true, |row| row.session.clone().unwrap_or_default());
        columns.word("Provider", "Provider", true, |row| {
            row.provider.clone().or_else(|| row.provider_guid.clone()).unwrap_or_default()
        });
        columns.number("Level", "Level", true, |row| text.maybe_int(row.level));
        columns.number("Keywords", "Keywords", true, |row| {
            row.any_keyword.map(|bits| format!("{bits:#x}")).unwrap_or_default()
        });
        columns.word("Lost", "Lost", true, |row| {
            let id = row.event_id.map(|id| id.to_string());
            row.event_name.clone().or(id).unwrap_or_default()
        });
        columns.word("Status", "Status", true, |row| row.status_name.clone().unwrap_or_default());
        columns.word("Process", "Process", true, |row| {
            if row.process.is_some() || row.pid.is_some() { text.process(row.into()) } else { String::new() }
        });
        columns.number("Tid", "Tid", false, |row| id(row.tid));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn events(&self, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
        let request = LoggerEventRequest {
            processes: self.processes.query(),
            session: self.name.clone(),
            provider: self.provider.clone(),
            kind: self.kind.clone(),
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            top: self.top.top(),
        };
        if self.common.show_sql {
            return show_sql(printer, &request.sql());
        }
        listed(
            &self.common,
            COMMAND,
            printer,
            |session| request.ask(session),
            |one, lines| {
                let text = Text::new(&self.common, Some(&self.processes), &one.info);
                lines.file(&one.info, &text, "")?;
                let table = self.event_columns(&text)?.lines(one.answer.iter());
                table.iter().try_for_each(|line| lines.line(line))
            },
        )
    }
}

/// The name, marked if the session wrote the trace.
fn name(row: &LoggerRow) -> String {
    let mark = if row.is_of_trace { " (this trace)" } else { "" };
    format!("{}{mark}", row.name.as_deref().unwrap_or("(no name)"))
}

pub(super) fn run(args: &LoggersArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.details {
        return args.events(printer);
    }
    let request = LoggerRequest { session: args.name.clone(), sort: args.sort_by, top: args.top.top() };
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    listed(
        &args.common,
        COMMAND,
        printer,
        |session| request.ask(session),
        |one, lines| {
            let text = Text::new(&args.common, None, &one.info);
            lines.file(&one.info, &text, "")?;
            args.columns(&text)?.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))
        },
    )
}
