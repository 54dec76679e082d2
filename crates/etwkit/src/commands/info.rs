//! `etwkit info`: what a trace is, what was recorded and what not, whether it is intact, and who used the CPU.

use etwkit_etl::clock::{FILETIME_PER_SECOND, utc_text};
use etwkit_etl::session::TraceFile;
use etwkit_extract::Input;
use etwkit_trace::summary::{Recorded, ScheduledRow, Summary, TopRow};
use serde_json::{Value, json};

use super::{damage, title};
use crate::cli::InfoArgs;
use crate::exit::Exit;
use crate::input;
use crate::printer::{Align, FORMAT_VERSION, Printer, Table, WriteError, grouped};

/// Rows of the lists by CPU samples.
const TOP_ROWS: usize = 10;

pub(crate) fn run(args: &InfoArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let input = input::open(&args.traces)?;
    let summary = Summary::read(input.session())?;
    if args.json {
        printer.json(&json(&input, summary))?;
    } else {
        print(&input, &summary, printer)?;
    }
    Ok(Exit::Answered)
}

/// One object: the sections of the summary, and what only this command knows.
fn json(input: &Input, summary: Summary) -> Value {
    let damage = damage::of_walk(input, &summary.walk);
    let recorded = |r: &Recorded| json!({ "topic": r.topic.name, "events": r.events, "recorded_by": r.topic.recorded_by });
    let mut object = json!({
        "command": "info",
        "format_version": FORMAT_VERSION,
        "files": super::files_json(input),
        "damage": damage::json(&damage),
        "recorded": summary.recorded.iter().map(recorded).collect::<Vec<_>>(),
    });
    if let Some(map) = object.as_object_mut() {
        map.extend(summary.sections);
    }
    object
}

fn print(input: &Input, summary: &Summary, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    printer.heading(&title(input))?;
    let files = input.session().files();
    if let Some(file) = files.first() {
        printer.heading("Machine")?;
        printer.table(&machine(file, summary))?;
        printer.heading("Recording")?;
        printer.table(&recording(input, file, summary))?;
    }
    what_was_recorded(summary, printer)?;
    printer.heading("Health")?;
    printer.table(&health(input, summary))?;
    top("Processes by CPU samples", "process", &summary.top_processes, summary, printer)?;
    top("Modules by CPU samples in their own code", "module", &summary.top_modules, summary, printer)?;
    on_cpu(&summary.processes_on_cpu, printer)?;
    damage::print(printer, input, &damage::of_walk(input, &summary.walk), damage::NONE)
}

fn machine(file: &TraceFile, summary: &Summary) -> Table {
    let (header, config) = (file.header(), &summary.config);
    let [major, minor, ..] = header.version;
    let mut table = Table::pairs();
    let mut put = |name: &str, value: String| {
        if !value.is_empty() {
            table.row([name.to_owned(), value]);
        }
    };
    if let Some(cpu) = &config.cpu {
        put("name", cpu.computer_name.clone());
    }
    let product = config.product_name.as_deref().map(|p| format!("{p}, ")).unwrap_or_default();
    put("Windows", format!("{product}{major}.{minor} build {}", header.build));
    if let Some(platform) = &config.platform {
        put("model", format!("{} {}", platform.manufacturer, platform.product).trim().to_owned());
    }
    let name = config.processors.values().next().map(|p| format!(", {}", p.name)).unwrap_or_default();
    put("processors", format!("{} at {} MHz{name}", header.cpu_count, header.cpu_mhz));
    if let Some(cpu) = &config.cpu {
        put("memory", format!("{} MB", grouped(cpu.memory_mb.into())));
    }
    put("booted", utc_text(header.boot_time).unwrap_or_default());
    table
}

fn recording(input: &Input, file: &TraceFile, summary: &Summary) -> Table {
    let (header, session) = (file.header(), input.session());
    let clock = session.clock();
    let mut table = Table::pairs();
    table.row(["session".into(), header.session_name.clone()]);
    table.row(["start".into(), time(clock.start)]);
    table.row(["end".into(), time(header.end_time)]);
    if header.end_time > 0 {
        let duration = (header.end_time - header.start_time) as f64 / FILETIME_PER_SECOND as f64;
        table.row(["duration".into(), format!("{duration:.3} s")]);
    }
    let bytes: u64 = session.files().iter().map(TraceFile::size).sum();
    let events = grouped(summary.walk.events);
    table.row(["size".into(), format!("{} bytes, {events} events", grouped(bytes))]);
    let frequency = grouped(clock.frequency.unsigned_abs());
    table.row(["clock".into(), format!("{}, {frequency} ticks/s", clock.kind.name())]);
    table
}

fn time(filetime: i64) -> String {
    utc_text(filetime).unwrap_or_else(|| "not recorded".into())
}

fn what_was_recorded(summary: &Summary, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    let (yes, no): (Vec<&Recorded>, Vec<&Recorded>) = summary.recorded.iter().partition(|r| r.events > 0);
    printer.heading("Recorded")?;
    let mut table = Table::new(&[("what", Align::Left), ("events", Align::Right), ("tells", Align::Left)]);
    for r in yes {
        table.row([r.topic.name.to_owned(), grouped(r.events), r.topic.answers.to_owned()]);
    }
    printer.table(&table)?;
    printer.heading("Not recorded")?;
    let mut table =
        Table::new(&[("what", Align::Left), ("would tell", Align::Left), ("is recorded by", Align::Left)]);
    for r in no {
        let topic = r.topic;
        table.row([topic.name.to_owned(), topic.answers.to_owned(), topic.recorded_by.to_owned()]);
    }
    printer.table(&table)
}

/// What is lost or missing, file by file.
fn health(input: &Input, summary: &Summary) -> Table {
    let right = Align::Right;
    let mut table = Table::new(&[
        ("file", Align::Left),
        ("events lost", right),
        ("buffers lost", right),
        ("buffers", right),
        ("missing", right),
        ("closed", Align::Left),
    ]);
    for (part, file) in input.parts().iter().zip(input.session().files()) {
        let (header, buffers) = (file.header(), file.buffer_counts());
        let numbers = [header.events_lost.into(), header.buffers_lost.into(), buffers.total, buffers.missing];
        let [events_lost, buffers_lost, total, missing] = numbers.map(grouped);
        let closed = if header.end_time == 0 { "no: the recording did not end regularly" } else { "yes" };
        table.row([part.label(), events_lost, buffers_lost, total, missing, closed.to_owned()]);
    }
    if summary.walk.events == 0 {
        table.row(["no event could be read".into()]);
    }
    table
}

/// A list by busy samples: their number, their time if the interval is known, their share.
fn top(
    heading: &str,
    what: &str,
    rows: &[TopRow],
    summary: &Summary,
    printer: &mut Printer<'_>,
) -> Result<(), WriteError> {
    let all: u64 = rows.iter().map(|row| row.samples).sum();
    if all == 0 {
        return Ok(());
    }
    printer.heading(heading)?;
    let right = Align::Right;
    let mut table =
        Table::new(&[("samples", right), ("CPU ms", right), ("share", right), (what, Align::Left)]);
    for row in rows.iter().take(TOP_ROWS) {
        table.row([
            grouped(row.samples),
            milliseconds(summary, row.weight),
            share(row.samples, all),
            row.name.clone(),
        ]);
    }
    printer.table(&table)?;
    match rows.get(TOP_ROWS..).unwrap_or_default() {
        [] => Ok(()),
        more => {
            let samples: u64 = more.iter().map(|row| row.samples).sum();
            printer.line(&format!("  and {} more with {} samples", more.len(), grouped(samples)))
        }
    }
}

/// Sampled CPU time: each sample stands for one or more intervals.
fn milliseconds(summary: &Summary, weight: u64) -> String {
    let interval = summary.profile_interval_100ns;
    interval.map_or_else(|| "?".to_owned(), |i| format!("{:.1}", weight as f64 * f64::from(i) / 10_000.0))
}

/// Where the time went, from context switches.
fn on_cpu(rows: &[ScheduledRow], printer: &mut Printer<'_>) -> Result<(), WriteError> {
    if rows.is_empty() {
        return Ok(());
    }
    printer.heading("Processes by time on a processor (sums over their threads)")?;
    let right = Align::Right;
    let mut table = Table::new(&[
        ("running ms", right),
        ("ready ms", right),
        ("waiting ms", right),
        ("switches", right),
        ("process", Align::Left),
    ]);
    let ms = |seconds: f64| format!("{:.1}", seconds * 1000.0);
    for row in rows.iter().take(TOP_ROWS) {
        let times = [row.running_s, row.ready_s, row.waiting_s].map(ms);
        let [running, ready, waiting] = times;
        table.row([running, ready, waiting, grouped(row.switches), row.name.clone()]);
    }
    printer.table(&table)?;
    match rows.len().saturating_sub(TOP_ROWS) {
        0 => Ok(()),
        more => printer.line(&format!("  and {more} more")),
    }
}

fn share(samples: u64, all: u64) -> String {
    format!("{:.1} %", samples as f64 * 100.0 / all as f64)
}
