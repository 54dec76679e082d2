//! Whole commands against what independent decoders found.

use etwkit_testkit::{Comparison, Sample, read_json, samples, truth_files};
use serde_json::Value;

use crate::support::{Exit, json, made, run};

fn names(sample: &Sample) -> Vec<&str> {
    sample
        .files
        .iter()
        .map(|path| path.to_str().unwrap())
        .collect()
}

fn info(names: &[&str]) -> Value {
    let answer = run(&[&["info", "--json"], names].concat());
    assert_eq!(
        (answer.exit, answer.err.as_str()),
        (Exit::Answered, ""),
        "{names:?}"
    );
    serde_json::from_str(&answer.out).expect("one JSON object")
}

/// Compares the whole of `info --json`; the truth decides which sections there are.
#[track_caller]
fn check_info(name: &str, truth: &Value, names: &[&str]) -> usize {
    let ours = info(names);
    let comparison = Comparison::of(name, truth, &ours);
    comparison.assert_equal();
    // The comparison ignores keys that only we have; here such a key would be made up.
    for path in [
        "counts/kernel",
        "counts/provider",
        "processes",
        "cpu/by_process",
        "disk/by_file",
        "events",
    ] {
        let (truth, ours) = (
            truth.pointer(&format!("/{path}")),
            ours.pointer(&format!("/{path}")),
        );
        let len =
            |value: Option<&Value>| value.and_then(Value::as_object).map(serde_json::Map::len);
        assert_eq!(len(truth), len(ours), "{name}: number of keys of {path}");
    }
    comparison.compared
}

/// Compares the counts of these files as one session with the truth, however they are read.
#[track_caller]
fn check_counts(name: &str, truth: &Value, names: &[&str]) {
    for options in [
        &["--json"][..],
        &["--json", "--unordered"],
        &["--json", "--no-mmap"],
    ] {
        let answer = json(&[&["events", "--count"], options, names].concat());
        for key in ["total", "by_header", "by_cpu", "kernel", "provider"] {
            let (got, want) = (&answer["counts"][key], &truth["counts"][key]);
            assert!(
                !want.is_null() && got == want,
                "{key} of {name}: {got} is not {want}"
            );
        }
    }
}

#[test]
fn made_traces_of_the_repository() {
    let truths = truth_files(&made().join("info"));
    assert!(truths.len() >= 3);
    for path in truths {
        let truth = read_json(&path);
        let trace = made().join(path.with_extension("etl").file_name().unwrap());
        check_info(trace.to_str().unwrap(), &truth, &[trace.to_str().unwrap()]);
        check_counts(trace.to_str().unwrap(), &truth, &[trace.to_str().unwrap()]);
    }
}

#[test]
fn info_agrees_with_the_truth_of_every_sample() {
    let mut compared = 0;
    for sample in samples() {
        let values = check_info(&sample.name, &sample.truth, &names(&sample));
        eprintln!("{}: {values} values agree", sample.name);
        compared += values;
    }
    eprintln!("{compared} values agree");
}

#[test]
fn counts_agree_with_the_truth_of_every_sample() {
    for sample in samples() {
        check_counts(&sample.name, &sample.truth, &names(&sample));
    }
}
