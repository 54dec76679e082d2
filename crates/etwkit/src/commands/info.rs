//! `etwkit info`: the identity of a trace, the recorded topics, its health, and its CPU use.

use etwkit_base::digits::counted;
use etwkit_extract::{Input, SessionFile};
use etwkit_terminal::{Exit, Table, WriteError};
use etwkit_trace::report::info::{
    CpuTotals, CpuUse, Info, Machine, Provider, RecordedTopic, Recording, ScheduledRow, TopRow,
};
use serde_json::{Value, json};

use super::{damage, health, labels, title};
use crate::cli::InfoArgs;
use crate::input;
use crate::printer::{FORMAT_VERSION, Printer, grouped};

/// Rows of the lists of processes, modules and providers.
const TOP_ROWS: usize = 10;

/// Nouns of a number of samples.
const SAMPLES: [&str; 2] = ["sample", "samples"];

/// Largest session whose CPU use is always summed up, in bytes: this takes about two seconds.
const MAX_BYTES: u64 = 512 << 20;

pub(crate) fn run(args: &InfoArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let input = input::open(&args.traces)?;
    let bytes = input
        .parts()
        .iter()
        .map(|part: &SessionFile| part.size)
        .fold(0, u64::saturating_add);
    let files = labels(&input);
    let is_whole = args.json || args.full || bytes <= MAX_BYTES;
    let info = if is_whole {
        Info::read(input.session(), &files)?
    } else {
        Info::read_once(input.session(), &files)?
    };
    if args.json {
        printer.json(&json(&input, &info)?)?;
    } else {
        print(&input, &info, printer)?;
    }
    note_strangers(&files, &info, printer);
    Ok(Exit::Answered)
}

/// Notes files that do not belong to the session. Several files are always read as one session, so
/// the note also appears when the answer goes to a file.
fn note_strangers(files: &[String], info: &Info, printer: &mut Printer<'_>) {
    let others: Vec<&str> = info
        .files_of_other_sessions
        .iter()
        .map(|other| other.file.as_str())
        .collect();
    if let (Some(first), [_, ..]) = (files.first(), others.as_slice()) {
        let were = if others.len() == 1 { "was" } else { "were" };
        printer.note(&format!(
            "several files are read as one session, but {} {were} not recorded together with {first}: ask \
             about each session on its own",
            others.join(", "),
        ));
    }
}

/// Returns one JSON object: the report, and the values that only this command has.
fn json(input: &Input, info: &Info) -> serde_json::Result<Value> {
    let mut object = json!({
        "command": "info",
        "format_version": FORMAT_VERSION,
        "files": super::files_json(input),
    });
    if let (Some(map), Value::Object(report)) =
        (object.as_object_mut(), serde_json::to_value(info)?)
    {
        map.extend(report);
    }
    Ok(object)
}

fn print(input: &Input, info: &Info, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    printer.file(&title(input))?;
    if let Some(machine) = &info.machine {
        printer.heading("Machine")?;
        printer.table(&machine_table(machine))?;
    }
    if let Some(recording) = &info.recording {
        printer.heading("Recording")?;
        printer.table(&recording_table(recording))?;
    }
    what_was_recorded(&info.recorded, printer)?;
    providers(&info.providers, printer)?;
    health::print(info, printer)?;
    match &info.cpu {
        Some(cpu) => print_cpu(cpu, printer)?,
        None => {
            printer.heading("CPU")?;
            printer.line(
                "  not summed up, since that takes long for so large a trace: info --full does it, or dump overview, \
                 which extracts the trace once",
            )?;
        }
    }
    damage::print(printer, input, &info.damage, damage::NONE)
}

fn print_cpu(cpu: &CpuUse, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    cpu_totals(cpu, printer)?;
    top(
        "Processes by CPU samples",
        "process",
        &cpu.processes,
        cpu,
        printer,
    )?;
    top(
        "Modules by CPU samples in their own code",
        "module",
        &cpu.modules,
        cpu,
        printer,
    )?;
    on_cpu(&cpu.on_cpu, printer)
}

fn machine_table(machine: &Machine) -> Table {
    let mut table = Table::pairs();
    // What is not known has no row.
    let mut put = |name: &str, value: String| {
        if !value.is_empty() {
            table.row([name.to_owned(), value]);
        }
    };
    put("name", machine.computer.as_deref().unwrap_or("").to_owned());
    let product = machine
        .product
        .as_deref()
        .map_or_else(String::new, |p| format!("{p}, "));
    let (major, minor) = machine.version;
    put(
        "Windows",
        format!("{product}{major}.{minor} build {}", machine.build),
    );
    put("model", machine.model.as_deref().unwrap_or("").to_owned());
    let name = machine
        .processor_name
        .as_deref()
        .map_or_else(String::new, |name| format!(", {name}"));
    put(
        "processors",
        format!("{} at {} MHz{name}", machine.processors, machine.mhz),
    );
    if let Some(memory) = machine.memory_mib {
        put("memory", format!("{} MiB", grouped(memory.into())));
    }
    put(
        "booted",
        machine.booted_utc.as_deref().unwrap_or("").to_owned(),
    );
    table
}

fn recording_table(recording: &Recording) -> Table {
    let time = |utc: &Option<String>| utc.clone().unwrap_or_else(|| "not recorded".into());
    let mut table = Table::pairs();
    table.row(["session".into(), recording.session.clone()]);
    table.row(["start".into(), time(&recording.start_utc)]);
    table.row(["end".into(), time(&recording.end_utc)]);
    if let Some(seconds) = recording.duration_s {
        let cut = if recording.is_cut {
            ", of which the file lacks the end"
        } else {
            ""
        };
        table.row(["duration".into(), format!("{}{cut}", duration(seconds))]);
    }
    if let Some((first, last)) = recording.events_s {
        table.row(["events".into(), format!("from {first:.3} s to {last:.3} s")]);
    }
    let bytes = grouped(recording.bytes);
    let events = counted(recording.events, ["event", "events"]);
    table.row(["size".into(), format!("{bytes} bytes, {events}")]);
    let frequency = grouped(recording.frequency.unsigned_abs());
    table.row([
        "clock".into(),
        format!("{}, {frequency} ticks/s", recording.clock),
    ]);
    table
}

/// Formats seconds, with hours in addition if there are many.
fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).floor().max(0.0) as u64;
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds:.3} s"),
        (0, minutes) => format!(
            "{seconds:.3} s ({minutes} min {:.0} s)",
            (seconds % 60.0).floor()
        ),
        (hours, minutes) => format!("{seconds:.3} s ({} h {minutes} min)", grouped(hours)),
    }
}

fn what_was_recorded(
    topics: &[RecordedTopic],
    printer: &mut Printer<'_>,
) -> Result<(), WriteError> {
    let (yes, no): (Vec<&RecordedTopic>, Vec<&RecordedTopic>) =
        topics.iter().partition(|r| r.is_recorded);
    printer.heading("Recorded")?;
    if yes.is_empty() {
        printer.line("  none of the topics below; what there is comes from the providers")?;
    } else {
        let row = |r: &RecordedTopic| [r.topic.to_owned(), grouped(r.events), r.answers.to_owned()];
        printer.table(&Table::of("what|events>|shows", yes.into_iter().map(row)))?;
    }
    if no.is_empty() {
        return Ok(());
    }
    printer.heading("Not recorded")?;
    let row = |r: &RecordedTopic| [r.topic, r.answers, r.recorded_by].map(str::to_owned);
    printer.table(&Table::of(
        "what|would show|is recorded by",
        no.into_iter().map(row),
    ))?;
    printer.line("  (in capitals: keywords of the kernel logger, for xperf -on or a WPR profile)")
}

/// Prints the providers of events, under the names that `etwkit events --provider` accepts.
fn providers(rows: &[Provider], printer: &mut Printer<'_>) -> Result<(), WriteError> {
    if rows.is_empty() {
        return Ok(());
    }
    printer.heading("Providers")?;
    let row = |row: &Provider| [grouped(row.events), row.name.clone()];
    printer.table(&Table::of(
        "events>|provider",
        rows.iter().take(TOP_ROWS).map(row),
    ))?;
    match rows.get(TOP_ROWS..).unwrap_or(&[]) {
        [] => Ok(()),
        more => {
            let events: u64 = more.iter().map(|row| row.events).sum();
            printer.line(&format!(
                "  and {} more with {}",
                more.len(),
                counted(events, ["event", "events"])
            ))
        }
    }
}

/// Prints the totals on which the shares of the lists below are based.
fn cpu_totals(cpu: &CpuUse, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    let CpuTotals { samples, busy } = cpu.totals;
    if samples == 0 {
        return Ok(());
    }
    printer.heading("CPU")?;
    let mut table = Table::pairs();
    let of_all = |n: u64| format!("{}, {}", counted(n, SAMPLES), share(n, samples));
    table.row(["busy".into(), of_all(busy)]);
    table.row(["idle".into(), of_all(samples - busy)]);
    let interval = cpu.interval_100ns.map_or_else(
        || "not recorded, so samples cannot be turned into time".to_owned(),
        |i| {
            format!(
                "{} ms of one processor for each sample",
                f64::from(i) / 10_000.0
            )
        },
    );
    table.row(["interval".into(), interval]);
    printer.table(&table)
}

/// Prints a list by busy samples: their number, their time if the interval is known, their share.
fn top(
    heading: &str,
    what: &str,
    rows: &[TopRow],
    cpu: &CpuUse,
    printer: &mut Printer<'_>,
) -> Result<(), WriteError> {
    // The share refers to the time before it: a sample may represent several intervals.
    let all: u64 = rows.iter().map(|row| row.weight).sum();
    if all == 0 {
        return Ok(());
    }
    printer.heading(heading)?;
    let row = |row: &TopRow| {
        let unknown = || format!("? (no {what} is known there)");
        let name = if row.name == "?" {
            unknown()
        } else {
            row.name.clone()
        };
        [
            grouped(row.samples),
            milliseconds(cpu, row.weight),
            share(row.weight, all),
            name,
        ]
    };
    let titles = format!("samples>|CPU ms>|of busy>|{what}");
    printer.table(&Table::of(&titles, rows.iter().take(TOP_ROWS).map(row)))?;
    let more = rows.get(TOP_ROWS..).unwrap_or(&[]);
    if !more.is_empty() {
        let samples: u64 = more.iter().map(|row| row.samples).sum();
        printer.line(&format!(
            "  and {} more with {}",
            more.len(),
            counted(samples, SAMPLES)
        ))?;
    }
    let is_reused = |row: &TopRow| {
        row.name.rsplit_once('#').is_some_and(|(_, end)| {
            end.strip_suffix(')')
                .is_some_and(|number| number.parse::<u32>().is_ok())
        })
    };
    if what == "process" && rows.iter().take(TOP_ROWS).any(is_reused) {
        printer.line("  (#2 is the second process with that id: Windows reuses ids)")?;
    }
    Ok(())
}

/// Sampled CPU time: each sample represents one or more intervals.
fn milliseconds(cpu: &CpuUse, weight: u64) -> String {
    cpu.interval_100ns.map_or_else(
        || "?".to_owned(),
        |i| tenths(weight as f64 * f64::from(i) / 1_000.0),
    )
}

/// Formats a number with one decimal and grouped digits.
fn tenths(tenths: f64) -> String {
    let tenths = tenths.round() as u64;
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

/// Prints the distribution of time, from context switches.
fn on_cpu(rows: &[ScheduledRow], printer: &mut Printer<'_>) -> Result<(), WriteError> {
    if rows.is_empty() {
        return Ok(());
    }
    printer.heading(
        "Processes by time on a processor, and waits and ready times summed over their threads",
    )?;
    // Not the waiting and ready times of `dump cpu` and `dump overview`, which count a moment once
    // for a process.
    let titles = "running ms>|ready sum ms>|wait sum ms>|switches>|process";
    let ms = |seconds: f64| tenths(seconds * 10_000.0);
    let row = |row: &ScheduledRow| {
        let [running, ready, waiting] = [row.running_s, row.ready_s, row.waiting_s].map(ms);
        [
            running,
            ready,
            waiting,
            grouped(row.switches),
            row.name.clone(),
        ]
    };
    printer.table(&Table::of(titles, rows.iter().take(TOP_ROWS).map(row)))?;
    match rows.len().saturating_sub(TOP_ROWS) {
        0 => Ok(()),
        more => printer.line(&format!("  and {more} more")),
    }
}

fn share(part: u64, all: u64) -> String {
    format!("{:.1} %", part as f64 * 100.0 / all as f64)
}
