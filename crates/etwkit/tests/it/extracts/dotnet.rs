//! Exceptions, collections, compilations and methods of .NET programs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};

use super::support::{Extract, assert_us, has_all, made_with, us};
use crate::support::{Exit, run};

#[test]
fn exceptions_collections_and_compilations_are_those_of_the_truth() {
    for (trace, truth) in made_with("gc") {
        let extract = Extract::of(&[&trace], &[]);
        let mut exceptions = BTreeMap::new();
        for row in
            extract.ask("select process_key, exception_type, message, count(*), count(stack_id) from exception group by 1, 2, 3")
        {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let key = format!("{}|{}|{}", extract.process(&row[0]), text(&row[1]), text(&row[2]));
            assert_eq!(row[3], row[4], "{trace}: these exceptions have stacks");
            exceptions.insert(key, row[3].clone());
        }
        assert_eq!(
            json!(exceptions),
            truth["exceptions"]["by_process_type_message"],
            "{trace}"
        );
        let gc = extract.by_process(
            "select process_key, count(duration_ns), sum(duration_ns), sum(suspended_ns) from gc group by 1",
        );
        for (process, want) in truth["gc"].as_object().unwrap() {
            assert_eq!(gc[process][0], want["count"], "{trace} {process}");
            assert_us(
                &format!("{trace} {process} collects"),
                us(&gc[process][1]),
                &want["gc_us"],
            );
            assert_us(
                &format!("{trace} {process} stands still"),
                us(&gc[process][2]),
                &want["suspended_us"],
            );
        }
        for by in ["generation", "reason"] {
            check_gc_counts(&trace, &extract, &truth["gc"], by);
        }
        let jit = extract.by_process(
            "select process_key, count(*), count(*) filter (where is_dynamic) from jit group by 1",
        );
        for (process, want) in truth["jit"].as_object().unwrap() {
            assert_eq!(
                jit[process],
                [want["loaded"].clone(), want["dynamic"].clone()],
                "{trace} {process}"
            );
        }
    }
}

/// Rows of a dump of an extract as JSON.
#[track_caller]
fn dump(extract: &Extract, args: &[&str]) -> Vec<Value> {
    let answer = run(&[&["dump"], args, &["--json", &extract.path]].concat());
    assert_eq!(
        (answer.exit, &*answer.other_errors()),
        (Exit::Answered, ""),
        "{args:?}"
    );
    answer
        .out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn dumped_exceptions_are_those_of_the_truth() {
    for (trace, truth) in made_with("exceptions") {
        let extract = Extract::of(&[&trace], &[]);
        let truth = &truth["exceptions"];
        let each = dump(&extract, &["exception", "--sort-by", "time"]);
        let want = truth["rows"].as_array().unwrap();
        assert_eq!(each.len(), want.len(), "{trace}");
        for (row, want) in each.iter().zip(want) {
            assert_us(&trace, us(&row["ts_ns"]), &want[0]);
            let ours = ["pid", "tid", "exception_type", "message"].map(|name| row[name].clone());
            assert_eq!(ours[..], want.as_array().unwrap()[1..5], "{trace}");
            let hresult = format!("{:#010x}", row["hresult"].as_i64().unwrap() & 0xFFFF_FFFF);
            assert_eq!(hresult, want[5], "{trace}");
            let frames = row["stack"].as_str().unwrap().split(" < ").count();
            assert_eq!(frames, want[7].as_array().unwrap().len(), "{trace}");
        }
        // Equal exceptions are one row: there is a row for each type, message and stack.
        let rows = dump(&extract, &["exception"]);
        let keys: BTreeSet<String> = want
            .iter()
            .map(|row| json!([row[1], row[3], row[4], row[7]]).to_string())
            .collect();
        assert_eq!(rows.len(), keys.len(), "{trace}");
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for row in &rows {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            let key = format!(
                "{}|{}|{}",
                extract.process(&row["process_key"]),
                text("exception_type"),
                text("message")
            );
            *counts.entry(key).or_default() += row["count"].as_i64().unwrap();
        }
        assert_eq!(json!(counts), truth["by_process_type_message"], "{trace}");
    }
}

#[test]
fn starvation_of_thread_pools_is_that_of_the_truth() {
    for (trace, truth) in made_with("threadpool") {
        let extract = Extract::of(&[&trace], &[]);
        let truth = &truth["threadpool"];
        let all = extract.ask("select count(*) from thread_pool where kind = 'adjustment'");
        assert_eq!(all[0][0], truth["adjustments"], "{trace}");
        let mut rows = dump(&extract, &["thread-pool"]);
        rows.sort_by_key(|row| row["ts_ns"].as_i64());
        let want = truth["starvation"].as_array().unwrap();
        assert_eq!(rows.len(), want.len(), "{trace}");
        for (row, want) in rows.iter().zip(want) {
            assert_us(&trace, us(&row["ts_ns"]), &want[0]);
            assert_eq!(
                [&row["pid"], &row["worker_threads"]],
                [&want[1], &want[2]],
                "{trace}"
            );
        }
    }
}

fn check_gc_counts(trace: &str, extract: &Extract, truth: &Value, by: &str) {
    let rows = extract.ask(&format!(
        "select process_key, {by}, count(duration_ns) from gc group by 1, 2"
    ));
    let mut counts: HashMap<String, BTreeMap<String, Value>> = HashMap::new();
    for row in rows.iter().filter(|row| row[2] != 0) {
        counts
            .entry(extract.process(&row[0]))
            .or_default()
            .insert(row[1].to_string(), row[2].clone());
    }
    for (process, want) in truth.as_object().unwrap() {
        assert_eq!(
            json!(counts[process]),
            want[format!("by_{by}")],
            "{trace} {process}"
        );
    }
}

#[test]
fn samples_are_named_by_the_method_that_was_there_then() {
    let mut methods = 0;
    for (trace, truth) in made_with("managed_samples") {
        let extract = Extract::of(&[&trace], &[]);
        let mut rows: HashMap<(String, String), Value> = HashMap::new();
        for row in
            extract.ask("select process_key, method, samples from cpu_method where samples > 0")
        {
            rows.insert(
                (
                    extract.process(&row[0]),
                    row[1].as_str().unwrap().to_owned(),
                ),
                row[2].clone(),
            );
        }
        for (process, list) in truth["managed_samples"]["inclusive"].as_object().unwrap() {
            for (method, samples) in list.as_object().unwrap() {
                let ours = rows.get(&(process.clone(), method.clone()));
                assert_eq!(ours, Some(samples), "{trace} {process} {method}");
                methods += 1;
            }
        }
    }
    assert!(methods > 50 || !has_all(), "{methods}");
}
