//! Whether the files of a session are whole, and belong together.

use etwkit_etl::clock::FILETIME_PER_SECOND;
use etwkit_etl::session::TraceFile;
use etwkit_etl::wire::trace_header::TraceHeader;
use etwkit_extract::Input;
use etwkit_trace::summary::Facts;
use serde_json::{Value, json};

use crate::printer::{Align, Printer, Table, WriteError, grouped};

/// How far the boot times of one boot may lie apart: Windows corrects them when it sets the clock.
const BOOT_TOLERANCE: u64 = 120 * FILETIME_PER_SECOND as u64;

/// The section of `etwkit info`.
pub(super) fn print(input: &Input, facts: &Facts, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    printer.heading("Health")?;
    printer.table(&table(input))?;
    notes(input, facts, printer)
}

/// What is lost or missing, file by file.
fn table(input: &Input) -> Table {
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
        let closed = if header.end_time == 0 {
            "no: stopped by a crash, copied while recording, or still running"
        } else {
            "yes"
        };
        table.row([part.label(), events_lost, buffers_lost, total, missing, closed.to_owned()]);
    }
    table
}

/// What the numbers of the table mean for every other number.
fn notes(input: &Input, facts: &Facts, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    let files = input.session().files();
    let sum = |number: fn(&TraceFile) -> u64| files.iter().map(number).fold(0, u64::saturating_add);
    if facts.walk.events == 0 {
        printer.line("  no event could be read")?;
    }
    if sum(|f| u64::from(f.header().events_lost) + u64::from(f.header().buffers_lost)) > 0 {
        printer.line("  events were lost while recording: counts and times here are too low")?;
    }
    if input.session().missing_buffers() > 0 {
        printer.line(
            "  missing: buffers that the trace header or the numbers of the others say there were; their \
             events are not here",
        )?;
    }
    if let Some(end) = etwkit_trace::health::end(input.session(), facts.times.map(|(_, last)| last)) {
        printer.line(&format!("  {end}"))?;
    }
    for other in strangers(input) {
        printer.line(&format!("  {other} is of another machine or another boot than the first file: their times do not fit together"))?;
    }
    Ok(())
}

/// What is missing, for machines.
pub(super) fn json(input: &Input, facts: &Facts) -> Value {
    let session = input.session();
    let files = input.parts().iter().zip(session.files()).map(|(part, file)| {
        let counts = file.buffer_counts();
        json!({
            "file": part.label(),
            "buffers_expected": counts.expected,
            "buffers_in_file": counts.total,
            "missing_buffers": counts.missing,
            "is_cut": counts.is_cut,
            "is_closed": file.header().end_time != 0,
        })
    });
    json!({
        "missing_buffers": session.missing_buffers(),
        "is_cut": session.is_cut(),
        "events_reach_s": facts.times.map(|(_, last)| session.clock().seconds(last)),
        "files": files.collect::<Value>(),
    })
}

/// Files that cannot belong to the session of the first one.
pub(super) fn strangers(input: &Input) -> Vec<String> {
    let files = input.session().files();
    let Some(first) = files.first().map(TraceFile::header) else { return Vec::new() };
    let boot = |a: i64, b: i64| a == 0 || b == 0 || a.abs_diff(b) <= BOOT_TOLERANCE;
    let same = |h: &TraceHeader| {
        (h.build, h.cpu_count, h.perf_freq) == (first.build, first.cpu_count, first.perf_freq)
            && boot(h.boot_time, first.boot_time)
    };
    let parts = input.parts().iter().zip(files).filter(|(_, file)| !same(file.header()));
    parts.map(|(part, _)| part.label()).collect()
}
