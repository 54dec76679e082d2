//! `etwkit info`: what a trace is, what was recorded and what not, whether it is intact, and who used the CPU.

use etwkit_etl::clock::utc_text;
use etwkit_etl::session::TraceFile;
use etwkit_extract::Input;
use etwkit_trace::summary::{CpuTotals, Facts, ProviderCount, Recorded, ScheduledRow, Summary, TopRow};
use serde_json::{Value, json};

use super::health::{self, strangers};
use super::{damage, title};
use crate::cli::InfoArgs;
use crate::exit::Exit;
use crate::input;
use crate::printer::{Align, FORMAT_VERSION, Printer, Table, WriteError, grouped};

/// Rows of the lists of processes, modules and providers.
const TOP_ROWS: usize = 10;

/// Bytes of a session whose CPU use is summed up without being asked for: about two seconds.
const MAX_BYTES: u64 = 512 << 20;

pub(crate) fn run(args: &InfoArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let input = input::open(&args.traces)?;
    let bytes: u64 = input.session().files().iter().map(TraceFile::size).sum();
    if args.json {
        printer.json(&json(&input, Summary::read(input.session())?))?;
    } else if bytes > MAX_BYTES && !args.full {
        let facts = Facts::read(input.session())?;
        print(&input, &facts, None, printer)?;
    } else {
        let summary = Summary::read(input.session())?;
        print(&input, &summary.facts, Some(&summary), printer)?;
    }
    Ok(Exit::Answered)
}

/// One object: the sections of the summary, and what only this command knows.
fn json(input: &Input, summary: Summary) -> Value {
    let damage = damage::of_walk(input, &summary.facts.walk);
    let recorded = |r: &Recorded| json!({ "topic": r.topic.name, "events": r.events, "recorded_by": r.topic.recorded_by });
    let provider =
        |p: &ProviderCount| json!({ "name": p.name, "guid": p.guid.to_string(), "events": p.events });
    let mut object = json!({
        "command": "info",
        "format_version": FORMAT_VERSION,
        "files": super::files_json(input),
        "damage": damage::json(&damage),
        "completeness": health::json(input, &summary.facts),
        "recorded": summary.facts.recorded.iter().map(recorded).collect::<Vec<_>>(),
        "files_of_other_sessions": strangers(input),
        "providers": summary.facts.providers.iter().map(provider).collect::<Vec<_>>(),
    });
    if let Some(map) = object.as_object_mut() {
        map.extend(summary.sections);
    }
    object
}

/// `summary` is missing where the trace is too large to sum up its CPU use without being asked.
fn print(
    input: &Input,
    facts: &Facts,
    summary: Option<&Summary>,
    printer: &mut Printer<'_>,
) -> Result<(), WriteError> {
    printer.file(&title(input))?;
    if let Some(file) = input.session().earliest() {
        printer.heading("Machine")?;
        printer.table(&machine(file, facts))?;
        printer.heading("Recording")?;
        printer.table(&recording(input, file, facts))?;
    }
    what_was_recorded(facts, printer)?;
    providers(&facts.providers, printer)?;
    health::print(input, facts, printer)?;
    match summary {
        Some(summary) => cpu(summary, printer)?,
        None => {
            printer.heading("CPU")?;
            printer.line(
                "  not summed up, since that takes long for so large a trace: info --full does it, or dump overview, which \
                 extracts the trace once",
            )?;
        }
    }
    damage::print(printer, input, &damage::of_walk(input, &facts.walk), damage::NONE)
}

fn cpu(summary: &Summary, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    cpu_totals(summary, printer)?;
    top("Processes by CPU samples", "process", &summary.top_processes, summary, printer)?;
    top("Modules by CPU samples in their own code", "module", &summary.top_modules, summary, printer)?;
    on_cpu(&summary.processes_on_cpu, printer)
}

fn machine(file: &TraceFile, facts: &Facts) -> Table {
    let (header, config) = (file.header(), &facts.config);
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
        put("memory", format!("{} MiB", grouped(cpu.memory_mb.into())));
    }
    put("booted", utc_text(header.boot_time).unwrap_or_default());
    table
}

fn recording(input: &Input, file: &TraceFile, facts: &Facts) -> Table {
    let (header, session) = (file.header(), input.session());
    let clock = session.clock();
    let mut table = Table::pairs();
    table.row(["session".into(), header.session_name.clone()]);
    // Of several files the one that ends last ends the recording.
    let (end, _) = session.ends();
    table.row(["start".into(), time(clock.start)]);
    table.row(["end".into(), time(end.map_or(0, |end| clock.filetime(end)))]);
    if let Some(end) = end {
        let cut = if session.is_cut() { ", of which the file lacks the end" } else { "" };
        table.row(["duration".into(), format!("{}{cut}", duration(clock.seconds(end)))]);
    }
    if let Some((first, last)) = facts.times {
        table.row([
            "events".into(),
            format!("from {:.3} s to {:.3} s", clock.seconds(first), clock.seconds(last)),
        ]);
    }
    let bytes: u64 = session.files().iter().map(TraceFile::size).sum();
    let events = grouped(facts.walk.events);
    table.row(["size".into(), format!("{} bytes, {events} events", grouped(bytes))]);
    let frequency = grouped(clock.frequency.unsigned_abs());
    table.row(["clock".into(), format!("{}, {frequency} ticks/s", clock.kind.name())]);
    table
}

/// Seconds, and what they are in hours if there are many.
fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).floor().max(0.0) as u64;
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds:.3} s"),
        (0, minutes) => format!("{seconds:.3} s ({minutes} min {:.0} s)", (seconds % 60.0).floor()),
        (hours, minutes) => format!("{seconds:.3} s ({} h {minutes} min)", grouped(hours)),
    }
}

fn time(filetime: i64) -> String {
    utc_text(filetime).unwrap_or_else(|| "not recorded".into())
}

fn what_was_recorded(facts: &Facts, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    let (yes, no): (Vec<&Recorded>, Vec<&Recorded>) = facts.recorded.iter().partition(|r| r.events > 0);
    printer.heading("Recorded")?;
    if yes.is_empty() {
        printer.line("  none of the topics below; what there is comes from the providers")?;
    } else {
        let columns = [("what", Align::Left), ("events", Align::Right), ("tells", Align::Left)];
        let mut table = Table::new(&columns);
        for r in yes {
            table.row([r.topic.name.to_owned(), grouped(r.events), r.topic.answers.to_owned()]);
        }
        printer.table(&table)?;
    }
    if no.is_empty() {
        return Ok(());
    }
    printer.heading("Not recorded")?;
    let mut table =
        Table::new(&[("what", Align::Left), ("would tell", Align::Left), ("is recorded by", Align::Left)]);
    for r in no {
        let topic = r.topic;
        table.row([topic.name.to_owned(), topic.answers.to_owned(), topic.recorded_by.to_owned()]);
    }
    printer.table(&table)?;
    printer.line("  (in capitals: keywords of the kernel logger, for xperf -on or a WPR profile)")
}

/// Who wrote events of its own, under the names that `etwkit events --provider` takes.
fn providers(rows: &[ProviderCount], printer: &mut Printer<'_>) -> Result<(), WriteError> {
    if rows.is_empty() {
        return Ok(());
    }
    printer.heading("Providers")?;
    let mut table = Table::new(&[("events", Align::Right), ("provider", Align::Left)]);
    for row in rows.iter().take(TOP_ROWS) {
        table.row([grouped(row.events), row.name.clone()]);
    }
    printer.table(&table)?;
    match rows.get(TOP_ROWS..).unwrap_or_default() {
        [] => Ok(()),
        more => {
            let events: u64 = more.iter().map(|row| row.events).sum();
            printer.line(&format!("  and {} more with {} events", more.len(), grouped(events)))
        }
    }
}

/// What the shares of the lists below are shares of.
fn cpu_totals(summary: &Summary, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    let CpuTotals { samples, busy } = summary.cpu_totals;
    if samples == 0 {
        return Ok(());
    }
    printer.heading("CPU")?;
    let mut table = Table::pairs();
    let of_all = |n: u64| format!("{} samples, {}", grouped(n), share(n, samples));
    table.row(["busy".into(), of_all(busy)]);
    table.row(["idle".into(), of_all(samples - busy)]);
    let interval = summary.profile_interval_100ns.map_or_else(
        || "not recorded, so samples cannot be turned into time".to_owned(),
        |i| format!("{} ms of one processor for each sample", f64::from(i) / 10_000.0),
    );
    table.row(["interval".into(), interval]);
    printer.table(&table)
}

/// A list by busy samples: their number, their time if the interval is known, their share.
fn top(
    heading: &str,
    what: &str,
    rows: &[TopRow],
    summary: &Summary,
    printer: &mut Printer<'_>,
) -> Result<(), WriteError> {
    // The share is that of the time in front of it: a sample may stand for several intervals.
    let all: u64 = rows.iter().map(|row| row.weight).sum();
    if all == 0 {
        return Ok(());
    }
    printer.heading(heading)?;
    let right = Align::Right;
    let mut table =
        Table::new(&[("samples", right), ("CPU ms", right), ("of busy", right), (what, Align::Left)]);
    for row in rows.iter().take(TOP_ROWS) {
        table.row([
            grouped(row.samples),
            milliseconds(summary, row.weight),
            share(row.weight, all),
            if row.name == "?" { format!("? (no {what} is known there)") } else { row.name.clone() },
        ]);
    }
    printer.table(&table)?;
    let more = rows.get(TOP_ROWS..).unwrap_or_default();
    if !more.is_empty() {
        let samples: u64 = more.iter().map(|row| row.samples).sum();
        printer.line(&format!("  and {} more with {} samples", more.len(), grouped(samples)))?;
    }
    let is_reused = |row: &TopRow| {
        row.name
            .rsplit_once('#')
            .is_some_and(|(_, end)| end.strip_suffix(')').is_some_and(|number| number.parse::<u32>().is_ok()))
    };
    if what == "process" && rows.iter().take(TOP_ROWS).any(is_reused) {
        printer.line("  (#2 is the second process with that id: Windows reuses ids)")?;
    }
    Ok(())
}

/// Sampled CPU time: each sample stands for one or more intervals.
fn milliseconds(summary: &Summary, weight: u64) -> String {
    let interval = summary.profile_interval_100ns;
    interval.map_or_else(|| "?".to_owned(), |i| tenths(weight as f64 * f64::from(i) / 1_000.0))
}

/// A number with one decimal, digits in groups.
fn tenths(tenths: f64) -> String {
    let tenths = tenths.round() as u64;
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

/// Where the time went, from context switches.
fn on_cpu(rows: &[ScheduledRow], printer: &mut Printer<'_>) -> Result<(), WriteError> {
    if rows.is_empty() {
        return Ok(());
    }
    printer
        .heading("Processes by time on a processor, and waits and times ready summed over their threads")?;
    let right = Align::Right;
    // Not the waiting and ready times of `dump cpu` and `dump overview`, which count a moment once for a process.
    let mut table = Table::new(&[
        ("running ms", right),
        ("ready sum ms", right),
        ("wait sum ms", right),
        ("switches", right),
        ("process", Align::Left),
    ]);
    let ms = |seconds: f64| tenths(seconds * 10_000.0);
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

fn share(part: u64, all: u64) -> String {
    format!("{:.1} %", part as f64 * 100.0 / all as f64)
}
