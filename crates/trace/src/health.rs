//! The health of the files of a trace: events lost by the recorder, missing buffers, damage.

use etwkit_base::digits::{counted, noun};
use etwkit_etl::Session;
use etwkit_etl::clock::Clock;
use etwkit_etl::damage::Damage;
use etwkit_etl::session::{BufferCounts, TraceFile};

use crate::table::Diagnostic;

/// Kinds of diagnostics that make all numbers of a trace incomplete, and the words that follow
/// their count in a short sentence. If the words are empty, the message of the diagnostic is short
/// enough.
pub const INCOMPLETE: [(&str, &str); 16] = [
    ("lost_events", "events lost while recording"),
    ("lost_buffers", "buffers lost while recording"),
    ("missing_buffers", ""),
    ("cut_short", ""),
    ("not_closed", "files never closed"),
    ("truncated_buffer", "buffers cut off"),
    ("skipped_bytes", "places outside buffers"),
    ("decompression", "buffers that do not decompress"),
    ("record_header", "records broken"),
    ("buffer_size", "buffers of a wrong size"),
    ("too_many_open_buffers", "buffers left out"),
    ("other_clock", "recordings with another clock appended"),
    ("io", "places that could not be read"),
    ("packed_end", "packed files cut off"),
    ("unreadable_member", "files of the archive left out"),
    ("stack_key_dropped", "stacks not kept"),
];

/// A diagnostic with a count; none if it never happened.
pub(crate) fn diagnostic(
    severity: &str,
    kind: &str,
    count: u64,
    message: &str,
) -> Option<Diagnostic> {
    (count > 0).then(|| Diagnostic {
        severity: severity.to_owned(),
        kind: kind.to_owned(),
        count: i64::try_from(count).unwrap_or(i64::MAX),
        position: None,
        message: message.to_owned(),
    })
}

/// Loss, gaps and damage of a session. `last` is the raw time of its last event.
#[must_use]
pub fn of(session: &Session, damage: &Damage, last: Option<i64>) -> Vec<Diagnostic> {
    let files = session.files();
    let sum = |of: fn(&TraceFile) -> u64| files.iter().map(of).fold(0, u64::saturating_add);
    let lost = "events were lost while recording: counts and times are too low";
    let mut rows: Vec<Diagnostic> = [
        diagnostic("warning", "lost_events", sum(|f| f.header().events_lost.into()), lost),
        diagnostic(
            "warning",
            "lost_buffers",
            sum(|f| f.header().buffers_lost.into()),
            "buffers were lost while recording: their events are missing",
        ),
        diagnostic("warning", "missing_buffers", session.missing_buffers(), &missing_buffers(session)),
        end(session, last).and_then(|end| diagnostic("warning", "cut_short", 1, &end)),
        diagnostic(
            "warning",
            "not_closed",
            sum(|f| u64::from(f.header().end_time == 0)),
            "the recording was not closed: stopped by a crash, copied while recording, or still running",
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    for (kind, count) in damage.counts() {
        let first = damage
            .first_places()
            .iter()
            .find(|place| place.kind == kind);
        rows.push(Diagnostic {
            severity: "error".to_owned(),
            kind: kind.name().to_owned(),
            count: i64::try_from(count.places).unwrap_or(i64::MAX),
            position: first
                .map(|place| format!("file {} offset {:#x}", place.file + 1, place.offset)),
            message: match count.bytes {
                // How much a packed file would have held is not known.
                0 => kind.meaning().to_owned(),
                bytes => format!("{}: {bytes} bytes lost", kind.meaning()),
            },
        });
    }
    rows
}

/// The number of missing and expected buffers, as text.
fn missing_buffers(session: &Session) -> String {
    let counts = || session.files().iter().map(TraceFile::buffer_counts);
    let all = |c: BufferCounts| {
        let counted = c.total.saturating_add(c.missing);
        c.expected.map_or(counted, |expected| expected.max(counted))
    };
    let expected = counts().map(all).fold(0, u64::saturating_add);
    let missing = session.missing_buffers();
    let verb = noun(missing, ["is", "are"]);
    format!(
        "{missing} of {} {verb} missing",
        counted(expected, ["buffer", "buffers"])
    )
}

/// The text `the end of the file is missing: events reach to 0.361 s of 0.400 s`, if that is the
/// case.
#[must_use]
pub fn end(session: &Session, last: Option<i64>) -> Option<String> {
    let reach = session.clock().seconds(last.filter(|_| session.is_cut())?);
    let whole = recorded_s(session).filter(|whole| *whole > reach);
    let of = whole.map_or_else(String::new, |whole| format!(" of {whole:.3} s"));
    Some(format!(
        "the end of the file is missing: events reach to {reach:.3} s{of}"
    ))
}

/// The text `all processors are recorded from 0.075 s on: …`, if a ring of buffers begins at another
/// time on each. `since` is the raw time from which all are recorded.
pub(crate) fn ring_start(since: Option<i64>, clock: &Clock) -> Option<String> {
    // Rounded up: at the time that is printed all processors are recorded.
    let since = (clock.seconds(since?) * 1000.0).ceil() / 1000.0;
    Some(format!(
        "all processors are recorded from {since:.3} s on: later events replaced what was before on some of \
         them. The waits of threads and service times of disks in the time before are not known, and \
         not counted"
    ))
}

/// Recorded seconds according to the trace headers; `None` if no file was closed.
fn recorded_s(session: &Session) -> Option<f64> {
    let start = Some(session.clock().start).filter(|start| *start > 0)?;
    let end = session
        .files()
        .iter()
        .map(|file| file.header().end_time)
        .max()
        .filter(|end| *end > start)?;
    Some(end.saturating_sub(start) as f64 / etwkit_etl::clock::FILETIME_PER_SECOND as f64)
}
