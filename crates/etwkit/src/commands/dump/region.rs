//! `etwkit dump region`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use etwkit_analysis::region::{Manifest, RegionAnswer, RegionInstance, RegionRequest, RegionRow, RegionSort};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, show_sql, streamed};
use super::text::{ProcessText, Text, id};
use crate::descriptions::DescriptionArgs;
use crate::exit::Exit;
use crate::printer::Printer;

/// An order, or the usual one. Under a name of its own, since an `Option` would be an argument that may be missing.
type Sort = Option<RegionSort>;

const SORTS: &[(&str, Sort)] = &[
    ("default", None),
    ("time", Some(RegionSort::Time)),
    ("duration", Some(RegionSort::Duration)),
    ("count", Some(RegionSort::Count)),
    ("max", Some(RegionSort::Max)),
    ("mean", Some(RegionSort::Mean)),
    ("name", Some(RegionSort::Name)),
];

#[derive(Debug, Args)]
pub(crate) struct RegionArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    pub(super) descriptions: DescriptionArgs,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// What defines the regions: a Regions of Interest file of Windows Performance Analyzer
    #[arg(long, value_name = "FILE", required = true)]
    regions: PathBuf,
    /// Only these regions, by name or friendly name (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    region: Option<String>,
    /// Only instances with such names (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    instance: Option<String>,
    /// List instances, each with what lies in it
    #[arg(long)]
    details: bool,
    /// With --details: begins without an end, too
    #[arg(long, requires = "details")]
    open: bool,
    /// Only instances with such a duration (ms)
    #[arg(long, value_name = "A..B")]
    duration: Option<String>,
    /// Only regions with so many instances
    #[arg(long, value_name = "A..B", conflicts_with = "details")]
    count: Option<String>,
    /// Only instances that overlap with this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Order: default is duration, with --details time
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "default")]
    sort_by: Sort,
}

impl RegionArgs {
    fn request(&self) -> anyhow::Result<RegionRequest> {
        let name = self.regions.display().to_string();
        let bytes = crate::tags::read(&self.regions).with_context(|| format!("cannot read {name}"))?;
        let manifest = Manifest::parse(&name, &bytes)?;
        let usual = if self.details { RegionSort::Time } else { RegionSort::Duration };
        Ok(RegionRequest {
            manifest,
            region: self.region.clone(),
            instance: self.instance.clone(),
            processes: self.processes.query(),
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            duration: range("duration", self.duration.as_deref(), Unit::Milliseconds)?,
            count: range("count", self.count.as_deref(), Unit::Count)?,
            open: self.open,
            sort: self.sort_by.unwrap_or(usual),
            top: self.top.top(),
        })
    }

    fn columns<'a>(&'a self, text: &'a Text, rows: &[RegionRow]) -> anyhow::Result<Columns<'a, RegionRow>> {
        let has = |of: fn(&RegionRow) -> i64| rows.iter().any(|row| of(row) > 0);
        let time = |ns: Option<i64>| ns.map(|ns| text.times.write(ns)).unwrap_or_default();
        let mut columns = Columns::new();
        columns.number("Count", "Count", true, |row: &RegionRow| text.int(row.count));
        columns.number("Duration", "Sum ms", true, |row| text.fine_ms(row.duration_ns));
        columns.number("Min", "Min ms", true, |row| text.maybe_fine_ms(row.min_duration_ns));
        columns.number("Mean", "Mean ms", true, |row| {
            text.maybe_fine_ms(row.mean_duration_ns.map(|ns| ns.round() as i64))
        });
        columns.number("Max", "Max ms", true, |row| text.maybe_fine_ms(row.max_duration_ns));
        columns.number("First", "First", true, move |row| time(row.first_start_ns));
        columns.number("Last", "Last", true, move |row| time(row.last_stop_ns));
        columns.number("Names", "Names", has(|row| row.names), |row| text.int(row.names));
        columns.number("OpenStart", "No end", has(|row| row.open_starts), |row| text.int(row.open_starts));
        columns.number("OpenStop", "No begin", has(|row| row.open_stops), |row| text.int(row.open_stops));
        columns.word("Region", "Region", true, |row| title(&row.region, row.friendly_name.as_deref()));
        columns.word("Guid", "GUID", false, |row| row.region_guid.clone());
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    fn instance_columns<'a>(
        &'a self,
        text: &'a Text,
        rows: &[RegionInstance],
    ) -> anyhow::Result<Columns<'a, RegionInstance>> {
        let has = |of: fn(&RegionInstance) -> bool| rows.iter().any(of);
        let mut columns = Columns::new();
        columns.number("Start", &text.times.title(), true, |row: &RegionInstance| {
            text.times.write(row.start_ns)
        });
        columns.number("Stop", "Stop", true, |row| {
            row.stop_ns.map_or_else(|| "open".to_owned(), |ns| text.times.write(ns))
        });
        columns.number("Duration", "ms", true, |row| text.maybe_fine_ms(row.duration_ns));
        columns.number("Id", "Id", false, |row| row.id.to_string());
        columns.number("Parent", "Parent", false, |row| text.maybe_int(row.parent_id));
        columns.word("Region", "Region", true, |row| {
            let indent = "  ".repeat(usize::try_from(row.depth).unwrap_or_default().min(40));
            format!("{indent}{}", title(&row.region, row.friendly_name.as_deref()))
        });
        columns.word("Instance", "Instance", has(|row| row.instance.is_some()), |row| {
            row.instance.clone().unwrap_or_default()
        });
        columns.word("Process", "Process", true, |row| {
            process(text, row.start_process.as_deref(), row.start_pid)
        });
        columns.number("Tid", "Tid", true, |row| id(row.start_tid));
        let ends_elsewhere =
            has(|row| row.stop_ns.is_some() && row.stop_process_key != row.start_process_key);
        columns.word("StopProcess", "Stop process", ends_elsewhere, |row| {
            process(text, row.stop_process.as_deref(), row.stop_pid)
        });
        columns.number("StopTid", "Stop tid", false, |row| id(row.stop_tid));
        columns.word("Provider", "Provider", false, |row| row.provider.clone().unwrap_or_default());
        columns.word("StartEvent", "Start event", false, |row| row.start_event.clone().unwrap_or_default());
        columns.word("StopEvent", "Stop event", false, |row| row.stop_event.clone().unwrap_or_default());
        columns
            .word("StartFields", "Start fields", false, |row| row.start_fields.clone().unwrap_or_default());
        columns.word("StopFields", "Stop fields", false, |row| row.stop_fields.clone().unwrap_or_default());
        columns.word("Metadata", "Metadata", false, |row| row.metadata.clone().unwrap_or_default());
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

/// The name for people, else the name.
fn title(name: &str, friendly_name: Option<&str>) -> String {
    friendly_name.filter(|name| !name.is_empty()).unwrap_or(name).to_owned()
}

fn process(text: &Text, name: Option<&str>, pid: Option<i64>) -> String {
    if name.is_none() && pid.is_none() {
        return String::new();
    }
    text.process(ProcessText { name, pid, start_ns: None, stop_ns: None, command_line: None })
}

/// What the file names and the extract does not have.
fn missing<R>(one: &Answered<RegionAnswer<R>>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    one.answer.missing.iter().try_for_each(|event| lines.line(&format!("not in the extract: {event}")))
}

fn sums(
    args: &RegionArgs,
    one: &Answered<RegionAnswer<RegionRow>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let rows = &one.answer.rows;
    args.columns(&text, rows)?.lines(rows.iter()).iter().try_for_each(|line| lines.line(line))?;
    missing(one, lines)
}

fn instances(
    args: &RegionArgs,
    one: &Answered<RegionAnswer<RegionInstance>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let rows = &one.answer.rows;
    args.instance_columns(&text, rows)?.lines(rows.iter()).iter().try_for_each(|line| lines.line(line))?;
    missing(one, lines)
}

pub(super) fn run(args: &RegionArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    const COMMAND: &str = "dump region";
    let request = args.request()?;
    if args.common.show_sql {
        // The events; instances are found in them.
        return show_sql(printer, &request.sql());
    }
    if args.details {
        return streamed(
            &args.common,
            COMMAND,
            printer,
            |session| request.ask_instances(session),
            |answer| answer.rows.iter().collect(),
            |one, lines| instances(args, one, lines),
        );
    }
    streamed(
        &args.common,
        COMMAND,
        printer,
        |session| request.ask(session),
        |answer| answer.rows.iter().collect(),
        |one, lines| sums(args, one, lines),
    )
}
