//! `etwkit info`: what a trace is, from its headers and the directory of its buffers. Events are not read.

use etwkit_etl::clock::{Clock, utc_text};
use etwkit_etl::wire::trace_header::TraceHeader;
use etwkit_extract::Input;
use serde_json::{Value, json};

use super::{damage, title};
use crate::cli::InfoArgs;
use crate::exit::Exit;
use crate::input;
use crate::printer::{Align, Printer, Table, WriteError, grouped};

/// Buffers were found, not cut into events.
const DIRECTORY_INTACT: &str = "none between the buffers; `etwkit events --count` looks inside them";

pub(crate) fn run(args: &InfoArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let input = input::open(&args.traces)?;
    if args.json {
        printer.json_start("info")?;
        printer.json(&json(&input))?;
    } else {
        print(&input, printer)?;
    }
    Ok(Exit::Answered)
}

fn print(input: &Input, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    printer.heading(&title(input))?;
    let session = input.session();
    if let Some(file) = session.files().first() {
        printer.heading("Machine")?;
        printer.table(&machine(file.header()))?;
        printer.heading("Recording")?;
        printer.table(&recording(file.header(), session.clock()))?;
    }
    printer.heading("Files")?;
    printer.table(&files(input))?;
    damage::print(printer, input, session.damage(), DIRECTORY_INTACT)
}

fn machine(header: &TraceHeader) -> Table {
    let [major, minor, ..] = header.version;
    let mut table = Table::pairs();
    table.row(["Windows".into(), format!("{major}.{minor}.{}", header.build)]);
    table.row(["processors".into(), format!("{} at {} MHz", header.cpu_count, header.cpu_mhz)]);
    table.row(["pointers".into(), format!("{} bytes", header.pointer_size)]);
    table.row(["booted".into(), time(header.boot_time)]);
    table
}

fn recording(header: &TraceHeader, clock: &Clock) -> Table {
    let mut table = Table::pairs();
    table.row(["session".into(), header.session_name.clone()]);
    table.row(["recorded to".into(), header.log_file_name.clone()]);
    table.row(["start".into(), time(clock.start)]);
    table.row(["end".into(), time(header.end_time)]);
    table.row([
        "clock".into(),
        format!("{}, {} ticks per second", clock.kind.name(), grouped(clock.frequency.unsigned_abs())),
    ]);
    table
}

fn time(filetime: i64) -> String {
    utc_text(filetime).unwrap_or_else(|| "not recorded".into())
}

fn files(input: &Input) -> Table {
    let right = Align::Right;
    let mut table = Table::new(&[
        ("file", Align::Left),
        ("bytes", right),
        ("buffers", right),
        ("compressed", right),
        ("events lost", right),
        ("buffers lost", right),
    ]);
    for (part, file) in input.parts().iter().zip(input.session().files()) {
        let (header, buffers) = (file.header(), file.buffer_counts());
        let numbers = [
            part.size,
            buffers.total,
            buffers.compressed,
            header.events_lost.into(),
            header.buffers_lost.into(),
        ];
        let [size, total, compressed, events_lost, buffers_lost] = numbers.map(grouped);
        table.row([part.label(), size, total, compressed, events_lost, buffers_lost]);
    }
    table
}

fn json(input: &Input) -> Value {
    let session = input.session();
    let header = session.files().first().map(|file| {
        let h = file.header();
        let [os_major, os_minor, ..] = h.version;
        json!({
            "os_major": os_major,
            "os_minor": os_minor,
            "os_build": h.build,
            "cpu_count": h.cpu_count,
            "cpu_mhz": h.cpu_mhz,
            "pointer_size": h.pointer_size,
            "perf_freq": h.perf_freq,
            "clock_type": session.clock().kind.name(),
            "start_utc": utc_text(session.clock().start),
            "end_utc": utc_text(h.end_time),
            "boot_utc": utc_text(h.boot_time),
            "session_name": h.session_name,
            "log_file_name": h.log_file_name,
            "files": session.files().len(),
        })
    });
    json!({"header": header, "files": super::files_json(input), "damage": damage::json(session.damage())})
}
