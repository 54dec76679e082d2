//! A part of a trace reads like the same part of the whole.

use std::path::PathBuf;

use etwkit_cut::Fate;
use etwkit_extract::Input;
use etwkit_testkit::trace_files;
use etwkit_trace::import::Range;

use crate::support::{Tables, count, differences, made, opened, part, rows, sum, thirds};

/// Tables about the file itself, and tables with stack IDs, which follow the order of stacks in a
/// file.
const MAY_DIFFER: &[&str] = &["diagnostic", "logger", "stack", "frame", "method"];

/// Differences in tables whose rows depend on the events in a file.
fn of_events(found: Vec<String>) -> Vec<String> {
    let is_of_events = |text: &String| {
        !MAY_DIFFER
            .iter()
            .any(|name| text.starts_with(&format!("{name}:")))
    };
    found.into_iter().filter(is_of_events).collect()
}

fn check(name: &str, input: &Input) -> Vec<String> {
    let session = input.session();
    let ranges = thirds(session);
    let mut parts: Vec<Tables> = Vec::new();
    let mut wrong = Vec::new();
    for (range, number) in ranges.into_iter().zip(1..) {
        let Some(of_range) = rows(session, range) else {
            continue;
        };
        let (cut, cut_session) = part(session, range);
        let of_part = rows(&cut_session, Range::ALL).unwrap();
        wrong.extend(quantities(
            &format!("{name}, part {number}"),
            &of_range,
            &of_part,
        ));
        assert!(cut_session.damage().losses().is_empty(), "{name}");
        let within = cut.events.get(&Fate::Within).copied().unwrap_or_default();
        let events = sum(&of_part, "event_count", "events");
        // The header event is counted, but not as an event that was cut.
        let header = i64::from(range.start_ns == i64::MIN);
        if events != within.cast_signed() + header {
            wrong.push(format!(
                "{name}, part {number}: {within} events kept, {events} counted"
            ));
        }
        parts.push(of_part);
    }
    wrong.extend(sums(name, &rows(session, Range::ALL).unwrap(), &parts));
    wrong
}

/// Sums that differ between a part of the whole and the part as a trace of its own.
fn quantities(name: &str, of_range: &Tables, of_part: &Tables) -> Vec<String> {
    let columns = [
        ("event_count", "events"),
        ("context_switch", "run_ns"),
        ("context_switch", "wait_ns"),
        ("context_switch", "ready_ns"),
        ("cpu_sample", "weight_ns"),
        ("disk_io", "size_bytes"),
        ("disk_io", "io_ns"),
        ("file_io", "duration_ns"),
    ];
    let sums = columns.map(|(table, column)| {
        let [a, b] = [of_range, of_part].map(|tables| sum(tables, table, column));
        (a != b).then(|| format!("{name}: {table}.{column} is {a} and {b}"))
    });
    let tables = [
        "context_switch",
        "cpu_sample",
        "disk_io",
        "file_io",
        "dpc_isr",
        "generic_event",
    ];
    let counts = tables.map(|table| {
        let [a, b] = [of_range, of_part].map(|tables| count(tables, table));
        (a != b).then(|| format!("{name}: {table} has {a} and {b} rows"))
    });
    sums.into_iter().chain(counts).flatten().collect()
}

/// Sums of the parts that do not add up to the whole.
fn sums(name: &str, whole: &Tables, parts: &[Tables]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |what: &str, whole: i64, parts: i64| {
        // Consecutive parts leave out one nanosecond of each processor at each boundary.
        let spare = if what.ends_with("run_ns") || what.ends_with("ready_ns") {
            1000
        } else {
            0
        };
        if whole.abs_diff(parts) > spare {
            wrong.push(format!(
                "{name}: {what} of the parts is {parts}, of the whole {whole}"
            ));
        }
    };
    let all = |of: &dyn Fn(&Tables) -> i64| (of(whole), parts.iter().map(of).sum::<i64>());
    for (table, column) in [
        ("event_count", "events"),
        ("context_switch", "run_ns"),
        ("context_switch", "ready_ns"),
        ("cpu_sample", "weight_ns"),
        ("disk_io", "size_bytes"),
        ("disk_io", "io_ns"),
        ("net_io", "size_bytes"),
    ] {
        if whole.contains_key(table) {
            let (of_whole, of_parts) = all(&|tables| sum(tables, table, column));
            check(&format!("{table}.{column}"), of_whole, of_parts);
        }
    }
    for table in [
        "disk_io",
        "hard_fault",
        "dpc_isr",
        "generic_event",
        "cpu_sample",
    ] {
        let (of_whole, of_parts) = all(&|tables| count(tables, table) as i64);
        check(&format!("rows of {table}"), of_whole, of_parts);
    }
    wrong
}

/// Bytes of a synthetic trace with context switches, and the offsets of its buffers.
fn switches() -> (Vec<u8>, Vec<usize>) {
    let input = made("sched-5.etl");
    let buffers = input.session().files()[0].buffers();
    let offsets = buffers
        .iter()
        .map(|buffer| buffer.offset as usize)
        .collect();
    let bytes = std::fs::read(crate::support::fixture("sched-5.etl")).unwrap();
    (bytes, offsets)
}

/// A circular file whose first buffers were overwritten, so that its processors begin at other times.
fn ring() -> Vec<u8> {
    const MODE: usize = 0x88;
    const BUFFERS_WRITTEN: usize = 0x8C;
    const CIRCULAR: u8 = 2;
    const OVERWRITTEN: usize = 8;
    let (mut bytes, offsets) = switches();
    bytes.drain(offsets[1]..offsets[1 + OVERWRITTEN]);
    bytes[MODE] = CIRCULAR;
    let buffers = (offsets.len() - OVERWRITTEN) as u32;
    bytes[BUFFERS_WRITTEN..][..4].copy_from_slice(&buffers.to_le_bytes());
    bytes
}

/// Parts of damaged traces, and of a ring, lack the same events as the whole.
#[test]
fn parts_of_damaged_traces_lack_what_the_whole_lacks() {
    let (bytes, offsets) = switches();
    let (at, next) = (offsets[offsets.len() / 2], offsets[offsets.len() / 2 + 1]);
    let records = at + 72 + 400;
    let mut noise = bytes.clone();
    noise[at..next].fill(0xEE);
    let mut broken = bytes.clone();
    broken[records..records + 64].fill(0xEE);
    let wholes = [
        ("bytes between buffers", noise),
        ("records", broken),
        ("ring", ring()),
    ];
    for (what, bytes) in wholes {
        let whole = crate::support::session(bytes);
        for (range, number) in thirds(&whole).into_iter().zip(1..) {
            let (_, cut_session) = part(&whole, range);
            let (of_range, of_part) = (
                rows(&whole, range).unwrap(),
                rows(&cut_session, Range::ALL).unwrap(),
            );
            let wrong = quantities(&format!("{what}, part {number}"), &of_range, &of_part);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    }
}

fn check_all(files: &[PathBuf]) {
    let mut wrong = Vec::new();
    for file in files {
        wrong.extend(check(
            &file.file_name().unwrap().to_string_lossy(),
            &opened(std::slice::from_ref(file)),
        ));
    }
    wrong.retain(|text| !is_documented(text));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// DNS queries that were open before a part are not carried along (`docs/cut.md`): their other
/// events become rows of `generic_event` there.
fn is_documented(text: &str) -> bool {
    text.starts_with("dns-") && text.contains("generic_event")
}

#[test]
fn thirds_of_made_traces_are_read_as_ranges_of_the_whole() {
    let mut wrong = Vec::new();
    for name in [
        "sched-5.etl",
        "files-5.etl",
        "syscalls-5.etl",
        "dotnet-5.etl",
        "handles-5.etl",
        "pmc-5.etl",
    ] {
        wrong.extend(check(name, &made(name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn thirds_of_real_traces_are_read_as_ranges_of_the_whole() {
    let wanted = [
        "gcevents.etl",
        "tx_Process.etl",
        "ShutdownPerfDiagLogger.etl",
        "wppstr-sample.etl",
    ];
    let files = trace_files();
    let files = files
        .into_iter()
        .filter(|file| wanted.iter().any(|name| file.ends_with(name)));
    check_all(&files.collect::<Vec<_>>());
}

/// Checks every trace: `benches/cut` runs it.
#[test]
#[ignore = "takes minutes"]
fn thirds_of_all_traces_are_read_as_ranges_of_the_whole() {
    check_all(&trace_files());
}

#[test]
fn a_part_of_a_part_is_that_part_of_the_whole() {
    let input = made("sched-5.etl");
    let [_, range, _] = thirds(input.session());
    let (_, outer) = part(input.session(), range);
    let half = (range.end_ns - range.start_ns) / 2;
    let inner = Range {
        start_ns: range.start_ns + half,
        end_ns: i64::MAX,
    };
    let (cut, of_part) = part(&outer, inner);
    assert_eq!(cut.cut_before, Some(range));
    let wanted = rows(
        input.session(),
        Range {
            end_ns: range.end_ns,
            ..inner
        },
    )
    .unwrap();
    let found = quantities("sched-5", &wanted, &rows(&of_part, Range::ALL).unwrap());
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn all_of_a_trace_holds_the_same_events() {
    let input = made("files-5.etl");
    let (cut, whole) = part(input.session(), Range::ALL);
    assert_eq!(cut.total(false), 0);
    let (a, b) = (
        rows(input.session(), Range::ALL).unwrap(),
        rows(&whole, Range::ALL).unwrap(),
    );
    assert_eq!(of_events(differences(&a, &b)), Vec::<String>::new());
}
