//! A part of a trace, extracted or asked, is the same part.

use serde_json::Value;

use super::support::{Extract, made_with};
use crate::support::{Exit, run};

/// The rows of `dump cpu`, without what a part of a trace cannot know.
fn cpu(path: &str, options: &[&str]) -> Vec<Value> {
    let answer = run(&[&["dump", "cpu", "--json", path], options].concat());
    assert_eq!(
        (answer.exit, answer.other_errors().as_str()),
        (Exit::Answered, "")
    );
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let columns = [
            "pid",
            "cpu_ns",
            "run_ns",
            "wait_ns",
            "ready_ns",
            "switches",
            "preemptions",
        ];
        columns
            .iter()
            .map(|column| row[column].clone())
            .collect::<Vec<_>>()
            .into()
    };
    answer.out.lines().skip(1).map(row).collect()
}

#[test]
fn cpu_of_a_range_is_that_of_the_extract_of_the_range() {
    let mut rows = 0;
    for (trace, truth) in made_with("sched") {
        if truth["sched"]["threads"].is_null() {
            continue;
        }
        let whole = Extract::of(&[&trace], &[]);
        for range in ["0.02..0.05", "0.03..", "..0.06"] {
            let part = Extract::of(&[&trace], &["--range", range]);
            let (asked, extracted) = (cpu(&whole.path, &["--range", range]), cpu(&part.path, &[]));
            assert_eq!(asked, extracted, "{trace} {range}");
            rows += asked.len();
        }
    }
    assert!(rows > 3);
}

#[test]
fn a_range_outside_the_trace_is_refused() {
    let (trace, _) = made_with("sched").remove(0);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.etwx");
    let answer = run(&[
        "extract",
        "--range",
        "500..600",
        "--out",
        out.to_str().unwrap(),
        &trace,
    ]);
    assert_eq!(answer.exit, Exit::Error);
    assert!(
        answer.err.contains("outside the trace") && answer.err.contains("hint: "),
        "{}",
        answer.err
    );
    assert!(!out.exists());
}

#[test]
fn damage_of_the_file_is_reported() {
    let (trace, _) = made_with("sched").remove(0);
    let bytes = std::fs::read(&trace).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.etl");
    std::fs::write(&cut, &bytes[..bytes.len() - 4001]).unwrap();
    let out = folder.path().join("cut.etwx");
    let answer = run(&[
        "extract",
        "--out",
        out.to_str().unwrap(),
        cut.to_str().unwrap(),
    ]);
    assert!(
        answer.out.contains("error: the file ends inside a buffer"),
        "{}",
        answer.out
    );
    let overview = run(&["dump", "overview", out.to_str().unwrap()]);
    assert!(
        overview
            .out
            .contains("error: the file ends inside a buffer"),
        "{}",
        overview.out
    );
}

#[test]
fn derived_tables_that_are_missing_are_computed_again() {
    let (trace, _) = made_with("sched").remove(0);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.etwx");
    let path = out.to_str().unwrap();
    assert_eq!(
        run(&["extract", "--out", path, &trace]).exit,
        Exit::Answered
    );
    let before = run(&["dump", "cpu", "--json", path]);
    std::fs::remove_dir_all(out.join("derived")).unwrap();
    let after = run(&["dump", "cpu", "--json", path]);
    assert_eq!((after.exit, &after.out), (Exit::Answered, &before.out));
    assert!(
        after.err.starts_with("note: computed the derived tables"),
        "{}",
        after.err
    );
    assert_eq!(run(&["dump", "cpu", "--json", path]).other_errors(), "");
}
