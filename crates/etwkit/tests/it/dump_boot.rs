//! `dump boot` on boots that are written here.

use std::path::Path;

use etwkit_extract::{Writer, WriterOptions};
use etwkit_trace::table::{CpuSample, Process, Trace};
use serde_json::{Value, json};

use crate::dump_small::{batch, finish};
use crate::support::{json_lines, run};

const MS: i64 = 1_000_000;
/// Interval of the samples.
const SAMPLE_MS: i64 = 10;

/// A process: its key, name, parent and start in milliseconds.
type Started = (i32, &'static str, i32, Option<i64>);

/// Writes a boot of two processors for 60 s in which the program with key 9 computes until a time.
fn boot(path: &Path, started: &[Started], busy_until_ms: i64) {
    let mut writer = Writer::create(path, WriterOptions::default()).unwrap();
    let trace = Trace {
        duration_ns: 60_000 * MS,
        processors: 2,
        ..Trace::default()
    };
    batch(&mut writer, &[trace]);
    let processes: Vec<Process> = started
        .iter()
        .map(|(key, name, parent, start_ms)| Process {
            process_key: *key,
            pid: 100 + *key,
            parent_pid: Some(*parent),
            name: Some((*name).into()),
            start_ns: start_ms.map(|ms| ms * MS),
            ..Process::default()
        })
        .collect();
    batch(&mut writer, &processes);
    let samples: Vec<CpuSample> = (0..60_000 / SAMPLE_MS)
        .map(|at| CpuSample {
            ts_ns: at * SAMPLE_MS * MS,
            process_key: Some(9),
            weight_ns: SAMPLE_MS * MS,
            is_idle: at * SAMPLE_MS >= busy_until_ms,
            ..CpuSample::default()
        })
        .collect();
    batch(&mut writer, &samples);
    finish(writer);
}

fn phases(path: &Path) -> Vec<Value> {
    let out = run(&["dump", "boot", "--json", path.to_str().unwrap()]).out;
    let rows = json_lines(&out);
    let row = |row: &Value| {
        let ms = |name: &str| row[name].as_i64().map(|ns| ns / MS);
        json!([
            row["phase"],
            ms("start_ns"),
            ms("end_ns"),
            row["is_long"],
            row["busiest"],
            ms("busiest_cpu_ns"),
        ])
    };
    rows.iter().map(row).collect()
}

const BOOT: [Started; 6] = [
    (1, "System", 0, None),
    (2, "smss.exe", 4, Some(2_000)),
    // The copy of the session manager for a session.
    (3, "smss.exe", 102, Some(2_500)),
    (4, "Winlogon.exe", 103, Some(15_000)),
    (5, "explorer.exe", 104, Some(20_000)),
    (9, "optimizer.exe", 104, Some(21_000)),
];

#[test]
fn phases_of_a_boot_end_with_the_start_of_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boot.etwx");
    // One of two processors is busy until 30 s: ten seconds with at most 20 % begin at 26 s, of which
    // four are busy (4 of 20 s).
    boot(&path, &BOOT, 30_000);
    let optimizer = "optimizer.exe (109)";
    assert_eq!(
        phases(&path),
        [
            json!(["kernel", 0, 2_000, false, optimizer, 2_000]),
            json!(["session", 2_000, 15_000, true, optimizer, 13_000]),
            json!(["logon", 15_000, 20_000, false, optimizer, 5_000]),
            json!(["desktop", 20_000, 26_000, false, optimizer, 6_000]),
        ]
    );
}

#[test]
fn a_phase_that_the_trace_does_not_end_has_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("busy.etwx");
    boot(&path, &BOOT, 60_000);
    let last = phases(&path).pop().unwrap();
    let expected = json!(["desktop", 20_000, null, null, "optimizer.exe (109)", 40_000]);
    assert_eq!(last, expected);
    let path = folder.path().join("no-shell.etwx");
    boot(&path, &BOOT[..4], 0);
    let phases = phases(&path);
    assert_eq!(phases.len(), 3, "{phases:?}");
    assert_eq!(phases[2], json!(["logon", 15_000, null, null, null, null]));
}

#[test]
fn a_session_that_starts_later_is_no_boot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("later.etwx");
    boot(&path, &BOOT[2..], 0);
    let answer = run(&["dump", "boot", path.to_str().unwrap()]);
    assert_eq!(answer.exit, etwkit::Exit::Nothing, "{}", answer.out);
    assert!(
        answer.out.contains("Phase") || answer.err.contains("nothing"),
        "{}",
        answer.err
    );
}
