//! `etwkit dump ui-delay`.

use clap::Args;
use etwkit_query::dump::ui_delay::{UiDelayEvent, UiDelayRequest, UiDelayRow, UiDelaySort};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, listed, show_sql};
use super::stack_lines::{text_frames, with_below};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, UiDelaySort)] = &[
    ("duration", UiDelaySort::Duration),
    ("max", UiDelaySort::Max),
    ("count", UiDelaySort::Count),
    ("time", UiDelaySort::Time),
];

const KINDS: &[(&str, &str)] = &[("message", "message"), ("input", "input"), ("wait-cursor", "wait_cursor")];

#[derive(Debug, Args)]
pub(crate) struct UiDelayArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Only this kind: no look at messages, input that waited, the cursor that asks to wait
    #[arg(long, value_name = "KIND", value_parser = word(KINDS))]
    kind: Option<&'static str>,
    /// Only delays of windows of such a class, or below such a one (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    class_name: Option<String>,
    /// Only delays that were so long (ms)
    #[arg(long, value_name = "A..B")]
    duration: Option<String>,
    /// Only delays that reach into this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Single delays
    #[arg(long)]
    details: bool,
    /// With --details: stacks
    #[arg(long, requires = "details")]
    show_stack: bool,
    /// Order; of single delays duration or time
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "duration")]
    sort_by: UiDelaySort,
}

impl UiDelayArgs {
    fn request(&self) -> anyhow::Result<UiDelayRequest> {
        Ok(UiDelayRequest {
            processes: self.processes.query(),
            kind: self.kind.map(str::to_owned),
            class: self.class_name.clone(),
            duration: range("duration", self.duration.as_deref(), Unit::Milliseconds)?,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            sort: self.sort_by,
            top: self.top.top(),
            stacks: self.show_stack,
        })
    }

    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, UiDelayRow>> {
        let mut columns = Columns::new();
        columns.number("Time", "Time ms", true, |row: &UiDelayRow| text.ms(row.union_ns));
        columns.number("Sum", "Sum ms", false, |row| text.ms(row.duration_ns));
        columns.number("Max", "Longest ms", true, |row| text.ms(row.max_duration_ns));
        columns.number("Count", "Count", true, |row| text.int(row.count));
        columns.word("Kind", "Kind", true, |row| word_of(&row.kind));
        columns.word("Process", "Process", true, |row| text.process_line(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn event_columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, UiDelayEvent>> {
        let plain = |text: &Option<String>| text.clone().unwrap_or_default();
        let mut columns = Columns::new();
        columns.number("Start", "Start", true, |row: &UiDelayEvent| text.times.write(row.start_ns));
        columns.number("End", "End", false, |row| text.times.write(row.ts_ns));
        columns.number("Duration", "Duration ms", true, |row| text.ms(row.duration_ns));
        columns.word("Kind", "Kind", true, |row| word_of(&row.kind));
        columns.number("SinceInputRemove", "Since input ms", false, |row| {
            text.maybe_ms(row.since_input_remove_ns)
        });
        columns.number("SinceOldestInput", "Oldest input ms", false, |row| {
            text.maybe_ms(row.since_oldest_input_ns)
        });
        columns.number("Tid", "Tid", true, |row| id(row.tid));
        columns.word("Process", "Process", true, |row| text.process(row.into()));
        columns.word("Class", "Class", true, move |row| plain(&row.class_name));
        columns.word("TopLevelClass", "Top-level class", true, move |row| plain(&row.top_level_class_name));
        columns.word("Message", "Message", true, |row| {
            row.message_id.map(|id| format!("{id:#06x}")).unwrap_or_default()
        });
        columns.word("WParam", "WParam", false, |row| {
            row.wparam.map(|value| format!("{value:#x}")).unwrap_or_default()
        });
        columns.word("Flags", "Flags", false, |row| {
            row.flags.map(|flags| format!("{flags:#x}")).unwrap_or_default()
        });
        columns.word("ImagePath", "Image path", false, move |row| plain(&row.image_path));
        columns.word("Package", "Package", false, move |row| plain(&row.package));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

/// A kind as options name it.
fn word_of(kind: &str) -> String {
    kind.replace('_', "-")
}

fn sums(
    args: &UiDelayArgs,
    one: &Answered<Vec<UiDelayRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    args.columns(&text)?.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))
}

fn events(
    args: &UiDelayArgs,
    one: &Answered<Vec<UiDelayEvent>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let table = args.event_columns(&text)?.lines(one.answer.iter());
    with_below(&table, &one.answer, lines, |event, lines| text_frames(event.stack.as_deref(), lines))
}

pub(super) fn run(args: &UiDelayArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    const COMMAND: &str = "dump ui-delay";
    let (request, common) = (args.request()?, &args.common);
    if common.show_sql {
        return show_sql(printer, &if args.details { request.events_sql() } else { request.sql() });
    }
    if args.details {
        return listed(
            common,
            COMMAND,
            printer,
            |session| request.ask_events(session),
            |one, lines| events(args, one, lines),
        );
    }
    listed(common, COMMAND, printer, |session| request.ask(session), |one, lines| sums(args, one, lines))
}
