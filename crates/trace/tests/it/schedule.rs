//! Running, ready and waiting times of the synthetic traces, compared with the reference.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use etwkit_decode::kernel::Hook;
use etwkit_etl::source::ByteSource;
use etwkit_etl::{Order, Session};
use etwkit_testkit::{read_json, traces, truth_files};
use etwkit_trace::directory::{Directory, DirectoryBuilder};
use etwkit_trace::summary::ScheduleSummary;
use serde_json::Value;

fn directory(session: &Session) -> Directory {
    let mut builder = DirectoryBuilder::default();
    session
        .for_each(Order::Time, |event| {
            builder.observe(event);
            ControlFlow::Continue(())
        })
        .unwrap();
    builder.finish(session.pointer_size(), session.clock().frequency)
}

/// The end of the session according to the reference.
fn end_ns(truth: &Value) -> i64 {
    (truth["meta"]["trace_end_us"].as_f64().unwrap() * 1000.0).round() as i64
}

/// Differences from the reference for every thread and every processor.
fn check(name: &str, session: &Session, truth: &Value) -> Vec<String> {
    let directory = directory(session);
    let clock = session.clock();
    let (start, end) = directory.kernel_times.unwrap();
    let edges_us = [start - clock.t0, clock.nearest_tick(end_ns(truth)) - end]
        .map(|ticks| clock.duration_seconds(ticks) * 1e6);
    let mut summary = ScheduleSummary::new(&directory, session);
    session
        .for_each(Order::Time, |event| {
            if let Some(hook) = Hook::of(event) {
                summary.add(hook, event);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    summary.finish();

    let us = |ticks: i64| clock.duration_seconds(ticks) * 1e6;
    let mut ours: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for (process, tid, times) in summary.threads().filter(|(_, tid, _)| *tid != 0) {
        let process = process
            .and_then(|key| directory.processes.instance(key))
            .unwrap();
        let row = ours
            .entry(format!("{}/{tid}", process.key_text()))
            .or_default();
        for (key, value) in [
            ("run_us", us(times.running)),
            ("run_open_start_us", us(times.running_at_start)),
            ("run_open_end_us", us(times.running_at_end)),
            ("wait_us", us(times.waiting)),
            ("ready_us", us(times.ready)),
            ("switches_in", times.switches as f64),
            ("preempted", times.preempted as f64),
        ] {
            row.insert(key.to_owned(), value);
        }
    }
    for (process, tid, reason, ticks) in summary.wait_reasons() {
        let process = process
            .and_then(|key| directory.processes.instance(key))
            .unwrap();
        let row = ours
            .entry(format!("{}/{tid}", process.key_text()))
            .or_default();
        row.insert(format!("reason {reason}"), us(ticks));
    }
    let mut differences = Vec::new();
    let threads = truth["sched"]["threads"].as_object().unwrap();
    assert!(!threads.is_empty());
    for (key, want) in threads {
        let mut wanted: Vec<(String, f64)> = Vec::new();
        for (name, value) in want.as_object().unwrap() {
            match value {
                Value::Object(reasons) => {
                    wanted.extend(
                        reasons
                            .iter()
                            .map(|(r, v)| (format!("reason {r}"), v.as_f64().unwrap())),
                    );
                }
                value => wanted.push((name.clone(), value.as_f64().unwrap())),
            }
        }
        for (column, mut want) in wanted {
            // The reference covers the session from start to end; activity before the first event
            // of the kernel logger and after its last one is unknown.
            match column.as_str() {
                "run_open_start_us" if want > 0.0 => want -= edges_us[0],
                "run_open_end_us" if want > 0.0 => want -= edges_us[1],
                _ => {}
            }
            let got = ours
                .get(key)
                .and_then(|row| row.get(&column))
                .copied()
                .unwrap_or_default();
            // The end time of the header is known to 100 ns.
            if (got - want).abs() > 0.25 {
                differences.push(format!("{name} {key} {column}: expected {want}, got {got}"));
            }
        }
    }
    for key in ours.keys().filter(|key| !threads.contains_key(*key)) {
        differences.push(format!("{name} {key}: not in the truth"));
    }
    differences
}

#[test]
fn times_of_every_thread_equal_the_truth_to_a_quarter_microsecond() {
    let Some(root) = traces() else { return };
    let (mut compared, mut differences) = (0, Vec::new());
    for path in truth_files(&root.join("made")) {
        let truth = read_json(&path);
        let name = path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .replace(".truth.json", "");
        // The reference of cut traces ends at the damage; the test of lost buffers is below.
        if truth["sched"]["threads"].is_null() || name.starts_with("lost") {
            continue;
        }
        let bytes = std::fs::read(root.join(format!("made/{name}.etl"))).unwrap();
        let session = Session::open(vec![Box::new(bytes) as Box<dyn ByteSource>]).unwrap();
        differences.extend(check(&name, &session, &truth));
        compared += 1;
    }
    assert!(compared >= 6, "{compared}");
    assert!(
        differences.is_empty(),
        "{} differ:\n{}",
        differences.len(),
        differences[..differences.len().min(30)].join("\n")
    );
}
