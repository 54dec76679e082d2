//! Timelines of traces, read back by other programs: their sums equal the sums of SQL.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use etwkit_export::ExportRequest;
use etwkit_extract::{ConvertOptions, convert};
use etwkit_question::range::Range;
use etwkit_sql::Session;
use etwkit_synth::Options;
use serde_json::Value;

use super::timeline_rows::{TIMELINES, read};

etwkit_question::declare! {
    /// A sum.
    row Sum {
        of: String = "Of what.",
        rows: i64 = "Rows.",
        sum: i64 = "Sum.",
    }
}

/// Extracts a trace.
fn extract(trace: PathBuf, folder: &Path) -> Session {
    let input = etwkit_extract::open(&[trace], &etwkit_extract::Options::default()).unwrap();
    let target = folder.join("x.etwx");
    convert(&input, &target, ConvertOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    Session::open(&[target]).unwrap()
}

fn sums(session: &Session, sql: &str) -> BTreeMap<String, (i64, i64)> {
    let sums: Vec<Sum> = etwkit_question::ask(session, sql).unwrap();
    sums.into_iter()
        .filter(|sum| sum.sum != 0)
        .map(|sum| (sum.of, (sum.rows, sum.sum)))
        .collect()
}

/// Sums that were read, by name, without those that are zero: a number, or several with their count
/// in front.
fn found(of: &Value, at: usize) -> BTreeMap<String, (i64, i64)> {
    let number = |value: &Value| value.as_i64().unwrap();
    let pair = |value: &Value| match value.as_array() {
        Some(all) => (number(&all[0]), number(&all[at])),
        None => (0, number(value)),
    };
    let all = of
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), pair(value)));
    all.filter(|(_, (_, sum))| *sum != 0).collect()
}

/// Only the sums, without their counts.
fn only_sums(of: BTreeMap<String, (i64, i64)>) -> BTreeMap<String, i64> {
    of.into_iter().map(|(name, (_, sum))| (name, sum)).collect()
}

/// Compares everything that has a sum with SQL, in a part of the trace.
fn sums_are_those_of_sql(session: &Session, (a, b): (i64, i64), test: &str) {
    let request = ExportRequest {
        time: Range { min: a, max: b },
        ..ExportRequest::default()
    };
    let Some(read) = read(&request, session, test) else {
        return;
    };
    // Processes that ended before the part began are none of it, and have nothing there.
    let run = |idle: &str| {
        format!(
            "SELECT CAST(t.tid AS VARCHAR) AS of, count(*) AS rows, sum(least(to_ns, {b}) - greatest(from_ns, {a})) AS sum
             FROM (SELECT thread_key, process_key, coalesce(in_ns, out_ns - run_ns) AS from_ns,
               coalesce(out_ns, in_ns + run_ns) AS to_ns FROM context_switch WHERE run_ns IS NOT NULL) c
             JOIN thread t ON t.thread_key = c.thread_key LEFT JOIN process p ON p.process_key = c.process_key
             WHERE from_ns <= {b} AND to_ns >= {a}{idle} GROUP BY t.tid"
        )
    };
    assert_eq!(
        only_sums(found(&read["perfetto"]["run"], 0)),
        only_sums(sums(session, &run(""))),
        "{test}: time on processors, idle threads and all"
    );
    let busy = only_sums(sums(session, &run(" AND coalesce(p.pid, -1) <> 0")));
    assert_eq!(only_sums(found(&read["chrome"]["run"], 0)), busy, "{test}");
    let samples = sums(
        session,
        &format!(
            "SELECT CAST(p.pid AS VARCHAR) AS of, count(*) AS rows, sum(s.weight_ns) AS sum FROM cpu_sample s
             JOIN process p ON p.process_key = s.process_key
             WHERE NOT s.is_idle AND p.pid <> 0 AND s.ts_ns BETWEEN {a} AND {b} GROUP BY p.pid"
        ),
    );
    let bytes = sums(
        session,
        &format!(
            "SELECT concat('Disk ', d.kind) AS of, count(*) AS rows, sum(d.size_bytes) AS sum FROM disk_io d
             LEFT JOIN process p ON p.process_key = d.process_key
             WHERE d.complete_ns >= {a} AND d.init_ns <= {b} AND coalesce(p.pid, -1) <> 0 GROUP BY d.kind
             UNION ALL SELECT concat('File ', f.kind), count(*), coalesce(sum(f.size_bytes), 0) FROM file_io f
             LEFT JOIN process p ON p.process_key = f.process_key
             WHERE coalesce(f.end_ns, {b}) >= {a} AND coalesce(f.start_ns, f.end_ns) <= {b} AND coalesce(p.pid, -1) <> 0
             GROUP BY f.kind"
        ),
    );
    let marks = sums(
        session,
        &format!(
            "SELECT text AS of, count(*) AS rows, count(*) AS sum FROM mark WHERE ts_ns BETWEEN {a} AND {b} GROUP BY text"
        ),
    );
    for name in TIMELINES {
        assert_eq!(
            found(&read[name]["samples"], 1),
            samples,
            "{test}: samples in {name}"
        );
        assert_eq!(
            found(&read[name]["io"], 1),
            bytes,
            "{test}: bytes in {name}"
        );
        let count = read[name]["marks"].as_array().unwrap().len();
        assert_eq!(
            i64::try_from(count).unwrap(),
            marks.values().map(|(_, sum)| sum).sum::<i64>(),
            "{name}"
        );
    }
    // A sample is somewhere in a slice, so the run time between the first and the last is no
    // longer.
    for (tid, ran) in found(&read["firefox"]["run"], 0) {
        assert!(
            ran.1 <= busy.get(&tid).copied().unwrap_or(0),
            "{test}: {tid} ran {} ns",
            ran.1
        );
    }
}

fn all_and_a_part(session: &Session, test: &str) {
    sums_are_those_of_sql(session, (i64::MIN / 8, i64::MAX / 8), test);
    sums_are_those_of_sql(session, (100_000_000, 200_000_000), test);
}

#[test]
fn sums_of_made_traces_are_those_of_sql() {
    for name in ["sched-5", "files-5", "dotnet-5"] {
        let folder = tempfile::tempdir().unwrap();
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/made/{name}.etl"));
        all_and_a_part(
            &extract(path, folder.path()),
            "traces::sums_of_made_traces_are_those_of_sql",
        );
    }
}

#[test]
fn sums_of_scenarios_are_those_of_sql() {
    for name in ["wait-chain", "file-writer"] {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("x.etl");
        let scenario = etwkit_synth::find(name).unwrap();
        scenario
            .write(std::fs::File::create(&trace).unwrap(), &Options::default())
            .unwrap();
        all_and_a_part(
            &extract(trace, folder.path()),
            "traces::sums_of_scenarios_are_those_of_sql",
        );
    }
}

#[test]
fn sums_of_a_real_trace_are_those_of_sql() {
    let Some(traces) = etwkit_testkit::traces() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let session = extract(traces.join("net.4.5.2.x64.etl"), folder.path());
    all_and_a_part(&session, "traces::sums_of_a_real_trace_are_those_of_sql");
}
