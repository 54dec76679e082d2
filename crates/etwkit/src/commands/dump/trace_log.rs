//! `etwkit dump tracelog`.

use std::collections::BTreeSet;

use clap::Args;
use etwkit_analysis::StackText;
use etwkit_query::dump::providers::Providers;
use etwkit_query::dump::trace_log::{EventRow, KindRow, ProviderRow, TraceLogRequest, TraceLogSort};
use etwkit_query::range::Unit;

use super::args::{Common, OUTPUT, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, ask, listed, show_sql, written};
use super::stack_lines::{frames, with_below, with_stacks};
use super::text::Text;
use crate::descriptions::DescriptionArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use etwkit_query::dump::cut::Cut;

const SORTS: &[(&str, TraceLogSort)] =
    &[("count", TraceLogSort::Count), ("name", TraceLogSort::Name), ("id", TraceLogSort::Id)];

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum By {
    #[default]
    Provider,
    Kind,
    Event,
}

const ROWS: &[(&str, By)] = &[("provider", By::Provider), ("kind", By::Kind), ("event", By::Event)];

#[derive(Debug, Args)]
pub(crate) struct TraceLogArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    pub(super) descriptions: DescriptionArgs,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Only these providers, by name or GUID, with a colon and events behind them: p1:ev1,ev2;p2:7;!p3. Events are ids, patterns with *
    /// and ?, or parts of names; ! excludes
    #[arg(long, value_name = "LIST")]
    provider: Option<String>,
    /// Rows: provider (in each process), kind of event, or each event. Without it kinds if --provider names no events, events if it does
    #[arg(long, value_name = "ROWS", value_parser = word(ROWS))]
    by: Option<By>,
    /// Only events whose fields fit, written as name=value with blanks between: '*user=bob*'
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Only events of these threads
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    tid: Option<String>,
    /// Only these seconds of the trace
    #[arg(long, visible_alias = "range", value_name = "A..B", allow_hyphen_values = true)]
    time: Option<String>,
    /// Only the first N events that fit
    #[arg(long, value_name = "N")]
    max_count: Option<usize>,
    /// Also events that others describe: providers with a manifest of Windows, and the kernel
    #[arg(long)]
    all_events: bool,
    /// Order of sums
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "count")]
    sort_by: TraceLogSort,
    /// Show stacks of events
    #[arg(long, help_heading = OUTPUT)]
    show_stack: bool,
    /// Only frames A to B of stacks
    #[arg(long, value_name = "A..B", default_value = "0..50", allow_hyphen_values = true, help_heading = OUTPUT)]
    cut_stack: Cut,
}

impl TraceLogArgs {
    fn request(&self) -> anyhow::Result<TraceLogRequest> {
        Ok(TraceLogRequest {
            processes: self.processes.query(),
            providers: self.provider.as_deref().map(Providers::parse),
            message: self.message.clone(),
            tid: self.tid.clone(),
            time: range("time", self.time.as_deref(), Unit::Seconds)?,
            max_count: self.max_count,
            all_events: self.all_events,
            sort: self.sort_by,
            top: self.top.top(),
        })
    }

    fn by(&self, request: &TraceLogRequest) -> By {
        let of_filter = match &request.providers {
            None => By::Provider,
            Some(providers) if providers.names_events() => By::Event,
            Some(_) => By::Kind,
        };
        self.by.unwrap_or(of_filter)
    }
}

fn provider(name: Option<&str>, guid: &str) -> String {
    name.map_or_else(|| guid.to_owned(), str::to_owned)
}

pub(super) fn run(args: &TraceLogArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    match args.by(&request) {
        By::Provider => providers(args, &request, printer),
        By::Kind => kinds(args, &request, printer),
        By::Event => events(args, &request, printer),
    }
}

fn providers(
    args: &TraceLogArgs,
    request: &TraceLogRequest,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    if args.common.show_sql {
        return show_sql(printer, &request.providers_sql());
    }
    listed(
        &args.common,
        "dump tracelog",
        printer,
        |session| request.of_providers(session),
        |one, lines| {
            let text = Text::new(&args.common, Some(&args.processes), &one.info);
            lines.file(&one.info, &text, "")?;
            let mut columns = Columns::new();
            columns.number("Count", "Events", true, |row: &ProviderRow| text.int(row.count));
            columns.number("Kinds", "Kinds", true, |row| text.int(row.kinds));
            columns.number("ProviderCount", "Of provider", true, |row| text.int(row.provider_count));
            columns.word("Provider", "Provider", true, |row| {
                provider(row.provider.as_deref(), &row.provider_guid)
            });
            columns.word("Guid", "GUID", false, |row| row.provider_guid.clone());
            columns.word("Process", "Process", true, |row| text.process_line(row.into()));
            columns.choose(args.common.column.as_deref())?;
            columns.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))?;
            let all: i64 = one.answer.iter().map(|row| row.count).sum();
            let of: BTreeSet<_> = one.answer.iter().map(|row| (&row.provider_guid, &row.provider)).collect();
            let processes: BTreeSet<_> = one.answer.iter().map(|row| row.process_key).collect();
            let (providers, processes) = (of.len(), processes.len());
            let all = text.int(all);
            lines.line(&format!("Total {all} events, providers: {providers}, processes: {processes}"))
        },
    )
}

fn kinds(args: &TraceLogArgs, request: &TraceLogRequest, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.common.show_sql {
        return show_sql(printer, &request.kinds_sql());
    }
    listed(
        &args.common,
        "dump tracelog",
        printer,
        |session| request.of_kinds(session),
        |one, lines| {
            let text = Text::new(&args.common, Some(&args.processes), &one.info);
            lines.file(&one.info, &text, "")?;
            let mut columns = Columns::new();
            columns.number("Count", "Events", true, |row: &KindRow| text.int(row.count));
            columns.number("Id", "Id", true, |row| row.event_id.to_string());
            columns.word("EventName", "Event", true, |row| row.event.clone().unwrap_or_default());
            columns.word("Provider", "Provider", true, |row| {
                provider(row.provider.as_deref(), &row.provider_guid)
            });
            columns.word("Guid", "GUID", false, |row| row.provider_guid.clone());
            columns.number("Processes", "Processes", true, |row| text.int(row.processes));
            columns.number("First", "First", false, |row| text.times.write(row.first_ns));
            columns.number("Last", "Last", false, |row| text.times.write(row.last_ns));
            columns.word("DescribedBy", "Described by", false, |row| {
                row.described_by.clone().unwrap_or_default()
            });
            columns.choose(args.common.column.as_deref())?;
            columns.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))?;
            let all: i64 = one.answer.iter().map(|row| row.count).sum();
            lines.line(&format!("Total {} events of {} kinds", text.int(all), one.answer.len()))
        },
    )
}

type Events = (Vec<EventRow>, Option<StackText>);

fn events(args: &TraceLogArgs, request: &TraceLogRequest, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.common.show_sql {
        return show_sql(printer, &request.list_sql());
    }
    let needs_stacks = args.show_stack || args.common.json || args.common.csv.is_some();
    let answers = ask(&args.common, "dump tracelog", printer, |session| {
        let stacks = if needs_stacks { Some(StackText::new(session)?) } else { None };
        Ok((request.list(session)?, stacks))
    })?;
    let rows = with_stacks(&answers, |rows| rows, |row| row.stack_id);
    written(&args.common, printer, rows.iter().map(|(info, row)| (*info, row)), |lines| {
        answers.iter().try_for_each(|one| list(args, one, lines))
    })
}

fn list(args: &TraceLogArgs, one: &Answered<Events>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let (rows, stacks) = &one.answer;
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    let mut columns = Columns::new();
    columns.number("Time", &text.times.title(), true, |row: &EventRow| text.times.write(row.ts_ns));
    columns.number("Pid", "Pid", true, move |row| number(row.pid));
    columns.number("Tid", "Tid", true, move |row| number(row.tid));
    columns.word("ProcessName", "Process", false, |row| row.process.clone().unwrap_or_default());
    columns.word("Provider", "Provider", true, |row| provider(row.provider.as_deref(), &row.provider_guid));
    columns.word("Guid", "GUID", false, |row| row.provider_guid.clone());
    columns.word("EventName", "Event", true, |row| row.event.clone().unwrap_or_default());
    columns.number("Id", "Id", true, |row| row.event_id.to_string());
    columns.number("Level", "Level", false, |row| row.level.to_string());
    columns.number("Opcode", "Opcode", false, |row| row.opcode.to_string());
    columns.number("Keyword", "Keyword", false, |row| format!("{:#x}", row.keyword));
    columns.word("DescribedBy", "Described by", false, |row| row.described_by.clone().unwrap_or_default());
    columns.word("Message", "Message", true, |row| row.message.clone().unwrap_or_default());
    columns.choose(args.common.column.as_deref())?;
    let stacks = stacks.as_ref().filter(|_| args.show_stack);
    with_below(&columns.lines(rows.iter()), rows, lines, |row, lines| {
        stacks.map_or(Ok(()), |stacks| frames(stacks, row.stack_id, args.cut_stack, lines))
    })
}
