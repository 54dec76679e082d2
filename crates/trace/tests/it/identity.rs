//! Processes of events whose threads or processes are described late, twice or never; headers that
//! are wrong; files that cover different parts of a recording. Events in, rows out.

use etwkit_decode::eventsource::CHUNK_ID;
use etwkit_etl::{Guid, Session};
use etwkit_trace::import::Imported;
use etwkit_trace::report::info::Info;
use etwkit_trace::table::{CpuSample, GenericEvent, Process, Row, Thread};

use crate::counters::{Batches, bytes, read, wide};
use crate::scheduling::{Recording, rows};

/// A provider that nothing describes.
const MADE: Guid = Guid::literal("5a1d7c5e-0001-4000-8000-0123456789ab");

/// Offsets of fields of the trace header in a file.
const HEADER: usize = 0x48 + 0x20;
const END_TIME: usize = HEADER + 16;
const START_TIME: usize = HEADER + 0x108;

/// A process event of version 4.
fn process(pid: u64, key: u64) -> Vec<u8> {
    let numbers = [
        (key, 8),
        (pid, 4),
        (4, 4),
        (1, 4),
        (259, 4),
        (0, 8),
        (2, 4),
        (0, 4),
    ];
    [&bytes(&numbers)[..], b"a.exe\0", &wide("a.exe"), &[0; 4]].concat()
}

pub(crate) fn info(files: Vec<Vec<u8>>) -> Info {
    let names: Vec<String> = (1..=files.len()).map(|n| format!("{n}.etl")).collect();
    let sources = files.into_iter().map(|file| Box::new(file) as _);
    Info::read_once(&Session::open(sources.collect()).unwrap(), &names).unwrap()
}

fn count(imported: &Imported, kind: &str) -> Option<i64> {
    let note = imported.diagnostics.iter().find(|note| note.kind == kind)?;
    Some(note.count)
}

fn message<'a>(imported: &'a Imported, kind: &str) -> Option<&'a str> {
    let note = imported.diagnostics.iter().find(|note| note.kind == kind)?;
    Some(&note.message)
}

/// The time of each row with the process ID and the start of its process, times in milliseconds.
/// Columns are read in microseconds.
fn owners(
    rows: &Batches,
    table: &etwkit_trace::table::Table,
) -> Vec<(i64, Option<i64>, Option<i64>)> {
    let processes = read(rows, Process::TABLE, ["process_key", "pid", "start_ns"]);
    let ms = |us: i64| us / 1000;
    let owner = |[time, key]: [Option<i64>; 2]| {
        let found = processes
            .iter()
            .find(|[known, ..]| key.is_some() && *known == key);
        let [_, pid, start] = found.copied().unwrap_or_default();
        (ms(time.unwrap()), pid, start.map(ms))
    };
    let rows = read(rows, table, ["ts_ns", "process_key"]);
    rows.into_iter().map(owner).collect()
}

/// A recording whose ticks are microseconds.
fn microseconds(trace: Recording) -> (Batches, Imported) {
    rows(vec![trace.finish_after(2_000_000)])
}

fn recording() -> Recording {
    Recording::with(|options| {
        options.header.perf_freq = 1_000_000;
        options.header.cpu_count = 2;
    })
}

/// The example of `docs/numbers/lifetimes.md`: no thread event exists.
#[test]
fn threads_without_events_have_the_process_that_stacks_and_headers_name() {
    let mut trace = recording();
    for pid in [40, 60, 80] {
        trace.kernel(1, 0, None, (3, 3, 4), &process(pid, pid));
    }
    // Thread 64 has stacks; 68 logged an event; 72 is named by nothing; the ID 76 passes from one
    // process to another.
    for (ms, tid) in [
        (100, 64),
        (110, 68),
        (120, 72),
        (130, 76),
        (300, 76),
        (500, 76),
        (900, 64),
    ] {
        trace.sample(ms * 1000, tid, 0x1000);
        match (ms, tid) {
            (100, 64) => trace.stack_of(100_000, (60, 64)),
            (110, 68) => trace.provider(110_000, (80, 68), (MADE, 1), &[]),
            (130, 76) => trace.stack_of(130_000, (40, 76)),
            (500, 76) => trace.stack_of(500_000, (60, 76)),
            _ => {}
        }
    }
    let (rows, imported) = microseconds(trace);
    let pids: Vec<_> = owners(&rows, CpuSample::TABLE)
        .into_iter()
        .map(|(ms, pid, _)| (ms, pid))
        .collect();
    let expected = [
        (100, Some(60)),
        (110, Some(80)),
        (120, None),
        (130, Some(40)),
        // Nothing shows when the first thread 76 ended.
        (300, None),
        (500, Some(60)),
        (900, Some(60)),
    ];
    assert_eq!(pids, expected);
    let threads = read(&rows, Thread::TABLE, ["tid"]).concat();
    assert_eq!(threads.iter().filter(|tid| **tid == Some(76)).count(), 3);
    assert_eq!(count(&imported, "thread_by_other_events"), Some(4));
    assert_eq!(count(&imported, "thread_without_process"), Some(2));
}

#[test]
fn thread_events_hold_where_other_events_disagree() {
    let mut trace = recording();
    for pid in [40, 60] {
        trace.kernel(1, 0, None, (3, 3, 4), &process(pid, pid));
    }
    trace.thread(2, None, 3, 40, 64);
    trace.provider(200_000, (60, 64), (MADE, 1), &[]);
    trace.sample(300_000, 64, 0x1000);
    trace.thread(400_000, Some(64), 2, 40, 64);
    // It is another thread by now, whose start is missing.
    trace.sample(600_000, 64, 0x1000);
    trace.stack_of(600_000, (60, 64));
    let (rows, imported) = microseconds(trace);
    let pids: Vec<_> = owners(&rows, CpuSample::TABLE)
        .iter()
        .map(|row| row.1)
        .collect();
    assert_eq!(pids[0], Some(40));
    // Events of process 60 lie on both sides of the end: they prove nothing.
    assert_eq!(count(&imported, "thread_by_other_events"), None);

    let mut trace = recording();
    for pid in [40, 60] {
        trace.kernel(1, 0, None, (3, 3, 4), &process(pid, pid));
    }
    trace.thread(2, None, 3, 40, 64);
    trace.thread(400_000, Some(64), 2, 40, 64);
    trace.sample(600_000, 64, 0x1000);
    trace.stack_of(600_000, (60, 64));
    let (rows, imported) = microseconds(trace);
    assert_eq!(owners(&rows, CpuSample::TABLE)[0].1, Some(60));
    assert_eq!(count(&imported, "thread_by_other_events"), Some(1));
}

/// The example of `docs/numbers/lifetimes.md`: the ID is free from 1.0 s to 1.4 s.
#[test]
fn an_event_belongs_to_the_process_that_had_the_id_or_to_nobody() {
    let mut trace = recording();
    trace.kernel(1, 0, None, (3, 3, 4), &process(900, 1));
    let times = [500_000, 1_000_200, 1_200_000, 1_400_100, 1_900_000];
    for at in times {
        if at > 1_000_000 && at < 1_100_000 {
            trace.kernel(1_000_000, 0, Some(904), (3, 2, 4), &process(900, 1));
        }
        if at == 1_400_100 {
            trace.kernel(1_400_000, 0, None, (3, 1, 4), &process(900, 2));
        }
        trace.provider(at, (900, 904), (MADE, 1), &[]);
        trace.sample(at, 908, 0x1000);
        trace.stack_of(at, (900, 908));
    }
    let (rows, _) = microseconds(trace);
    let (old, nobody) = ((Some(900), None), (None, None));
    let new = (Some(900), Some(1400));
    let expected = [
        (500, old),
        (1000, old),
        (1200, nobody),
        (1400, new),
        (1900, new),
    ];
    for table in [GenericEvent::TABLE, CpuSample::TABLE] {
        let owners: Vec<_> = owners(&rows, table)
            .into_iter()
            .map(|(ms, pid, start)| (ms, (pid, start)))
            .collect();
        assert_eq!(owners, expected, "{}", table.name);
    }
}

#[test]
fn all_processors_count_that_any_part_of_the_trace_knows() {
    let mut trace = recording();
    trace.kernel(10, 3, None, (15, 34, 2), b"mark\0");
    let file = trace.finish();
    let (_, imported) = rows(vec![file.clone()]);
    assert_eq!(imported.trace.processors, 4);
    let told = "the trace header counts 2 processors, and events name 4: 4 are assumed";
    assert_eq!(message(&imported, "processors_disagree"), Some(told));
    let info = info(vec![file]);
    assert_eq!(info.machine.unwrap().processors, 4);
    assert_eq!(info.completeness.processors.as_deref(), Some(told));

    let mut trace = recording();
    trace.kernel(10, 0, None, (15, 34, 2), b"mark\0");
    let (_, imported) = microseconds(trace);
    assert_eq!(
        (
            imported.trace.processors,
            count(&imported, "processors_disagree")
        ),
        (2, None)
    );
}

#[test]
fn a_header_without_a_start_has_no_dates_and_times_from_zero() {
    const END: i64 = 132_404_548_206_236_167;
    for start in [0, i64::MAX] {
        let mut trace = recording();
        trace.kernel(2_000_000, 0, None, (15, 34, 2), b"mark\0");
        let mut file = trace.finish();
        file[START_TIME..START_TIME + 8].copy_from_slice(&start.to_le_bytes());
        file[END_TIME..END_TIME + 8].copy_from_slice(&END.to_le_bytes());
        let (_, imported) = rows(vec![file.clone()]);
        let row = &imported.trace;
        assert_eq!((row.start_utc.as_str(), row.start_filetime), ("", 0));
        assert_eq!(row.duration_ns, 2_000_000_000);
        let recording = info(vec![file]).recording.unwrap();
        assert_eq!((recording.start_utc, recording.end_utc), (None, None));
        assert_eq!(recording.duration_s, None);
        assert_eq!(recording.events_s, Some((0.0, 2.0)));
    }
}

/// Event 65534 with the whole manifest of a provider.
fn manifest() -> Vec<u8> {
    let xml = r#"<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events>
 <provider name="Made" guid="{5a1d7c5e-0001-4000-8000-0123456789ab}">
  <tasks><task name="Work" value="1"/></tasks>
  <events>
   <event value="1" task="Work" opcode="win:Start"/>
   <event value="65534" task="Work" opcode="win:Info"/>
  </events>
 </provider></events></instrumentation>
</instrumentationManifest>"#;
    // Format, version, magic number, number of chunks, number of this one.
    [&[1, 1, 0, 0x5B, 1, 0, 0, 0][..], xml.as_bytes()].concat()
}

#[test]
fn a_part_of_a_sequence_is_described_by_another_one() {
    const NEW_FILE: u32 = 0x8;
    let part = |start: i64| {
        Recording::with(|options| {
            options.header.perf_freq = 1_000_000;
            options.header.cpu_count = 2;
            options.header.log_file_mode |= NEW_FILE;
            options.header.session_name = "Rotated".to_owned();
            options.header.start_time = 132_404_548_206_236_167 + start * 10;
            options.t0 = start;
        })
    };
    let mut first = part(0);
    first.provider(10, (900, 904), (MADE, CHUNK_ID), &manifest());
    first.provider(400_000, (900, 904), (MADE, 1), &[]);
    let mut second = part(500_000);
    second.provider(300_000, (900, 904), (MADE, 1), &[]);
    let first = first.finish_after(500_000);
    let mut second = second.finish();
    // It was never closed.
    second[END_TIME..END_TIME + 8].copy_from_slice(&0_i64.to_le_bytes());

    let (_, alone) = rows(vec![second.clone()]);
    assert_eq!(count(&alone, "event_not_described"), Some(1));
    let told = message(&alone, "event_not_described").unwrap();
    assert!(told.contains("another one may describe them"), "{told}");

    let files = vec![first, second];
    let (_, both) = rows(files.clone());
    assert_eq!(count(&both, "event_not_described"), None);
    assert_eq!(both.trace.duration_ns, 800_000_000);
    // One session, however many files it wrote.
    assert_eq!(count(&both, "part_of_recording"), None);
    let recording = info(files).recording.unwrap();
    assert_eq!(recording.duration_s, Some(0.8));
    assert_eq!(recording.events_s, Some((0.0, 0.8)));
}

#[test]
fn sessions_that_reach_back_differently_are_told() {
    let mut kernel = recording();
    for ms in 0..100 {
        kernel.kernel(ms * 10_000 + 1, 0, None, (15, 34, 2), b"mark\0");
    }
    let mut user = recording();
    for ms in 70..100 {
        user.provider(ms * 10_000, (900, 904), (MADE, 1), &[]);
    }
    let files = vec![kernel.finish_after(1_000_000), user.finish_after(1_000_000)];
    let (_, imported) = rows(files.clone());
    let told = "file 2 (session \"\") has events from 0.700 s to 0.990 s of 1.000 s only";
    assert_eq!(message(&imported, "part_of_recording"), Some(told));
    let info = info(files);
    assert_eq!(info.completeness.parts, [told]);
    let reach: Vec<_> = info
        .completeness
        .files
        .iter()
        .map(|file| file.events_s)
        .collect();
    assert_eq!(reach, [Some((0.000_001, 0.990_001)), Some((0.7, 0.99))]);
}
