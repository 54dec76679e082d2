//! `etwkit run`: a command is run again and again.

#![cfg(unix)]

use std::path::Path;

use etwkit_question::test_run::{TestName, TestStatus};
use etwkit_record::test_runs::{Status, recording_name};
use serde_json::Value;

use crate::support::{Exit, run, trace};

#[test]
fn each_combination_is_a_line_a_row_and_a_sum() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("runs.csv");
    let args = [
        "run",
        "Case",
        "--repeat",
        "2",
        "--cool-down",
        "0",
        "--matrix",
        "ms=7,1500",
        "--timing",
        "printed",
    ];
    let with_csv = [
        "--csv",
        csv.to_str().unwrap(),
        "--",
        "echo",
        "done in {ms} ms",
    ];
    let answer = run(&[&args[..], &with_csv[..]].concat());
    assert_eq!(answer.exit, Exit::Answered, "{answer:?}");
    let want = "Case+ms=7 #1: 7 ms\nCase+ms=1500 #1: 1500 ms\nCase+ms=7 #2: 7 ms\nCase+ms=1500 #2: 1500 ms\n\n\
                Durations\n  test case     passed  failed  shortest ms  median ms  longest ms\n  \
                Case+ms=7          2       0            7        7.0           7\n  \
                Case+ms=1500       2       0         1500     1500.0        1500\n";
    assert_eq!(answer.out, want);
    let rows = std::fs::read_to_string(&csv).unwrap();
    let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows[0][..5],
        ["case", "repetition", "ms", "status", "duration_ms"]
    );
    assert_eq!(
        rows[4][..5],
        ["Case+ms=1500", "2", "1500", "passed", "1500"]
    );
    // Durations of yesterday are not overwritten.
    let again = run(&[&args[..], &with_csv[..]].concat());
    assert_eq!((again.exit, again.out.as_str()), (Exit::Error, ""));
    assert!(again.err.contains("runs.csv exists"), "{}", again.err);
}

#[test]
fn failed_runs_are_reported_in_every_way() {
    let answer = run(&[
        "run",
        "Case",
        "--json",
        "--repeat",
        "2",
        "--cool-down",
        "0",
        "--",
        "sh",
        "-c",
        "exit 3",
    ]);
    assert_eq!(answer.exit, Exit::Nothing);
    let lines: Vec<Value> = answer
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["command"], "run");
    assert_eq!(
        (
            lines[1]["run"]["status"].as_str(),
            lines[1]["run"]["exit_code"].as_i64()
        ),
        (Some("failed"), Some(3))
    );
    assert_eq!(lines[3]["summary"]["failed"], 2);
    let text = run(&["run", "Case", "--", "sh", "-c", "exit 3"]);
    assert!(
        text.out.contains(" ms, failed: exit code 3\n"),
        "{}",
        text.out
    );
    let slow = run(&["run", "Case", "--timeout", "0.1", "--", "sleep", "30"]);
    assert!(
        slow.out
            .starts_with("Case #1: no duration, failed: it took longer than --timeout\n"),
        "{}",
        slow.out
    );
}

#[test]
fn what_cannot_be_run_is_an_error_with_a_hint() {
    for (args, want) in [
        (
            vec!["run", "Case", "--", "no-such-program-here"],
            "error: cannot start no-such-program-here\n",
        ),
        (
            vec!["run", "a.b", "--", "true"],
            "error: expected a name of letters, digits and hyphens, found \"a.b\"\n",
        ),
        (
            vec!["run", "Case", "--before", "exit 2", "--", "true"],
            "error: the hook \"exit 2\" ended with exit code 2\n",
        ),
    ] {
        let answer = run(&args);
        assert_eq!(answer.exit, Exit::Error);
        assert!(
            answer.err.starts_with(want) && answer.err.contains("hint: "),
            "{}",
            answer.err
        );
    }
}

/// Names that are written are names that are read.
#[test]
fn recordings_have_names_that_distinguish_tests() {
    let at = "2026-11-23T12:44:47".parse().unwrap();
    for (status, want) in [
        (Status::Passed, None),
        (Status::Failed, Some(TestStatus::Failed)),
    ] {
        let name = recording_name("Copy+threads=4", 1234, "PC-1", at, status) + ".etl";
        let read =
            TestName::parse(Path::new(&name).file_name().unwrap().to_str().unwrap()).unwrap();
        assert_eq!(
            (
                read.test_case.as_str(),
                read.duration_ms,
                read.machine.as_str()
            ),
            ("Copy+threads=4", 1234, "PC-1")
        );
        assert_eq!((read.status, read.performed_at), (want, Some(at)));
    }
}

#[test]
fn what_an_earlier_trace_needed_is_a_comment_in_front_of_the_script() {
    let said = |like: &str| run(&["record", "start", "cpu", "--script", "--like", like]);
    let planned = said(&trace("sched-5.etl"));
    assert_eq!(planned.exit, Exit::Answered, "{planned:?}");
    let (front, script) = planned.out.split_once("@echo off").unwrap();
    assert!(
        front.contains("seconds_in_memory") && front.lines().all(|line| line.starts_with("rem")),
        "{front}"
    );
    assert!(script.contains("wpr -start etwkit.wprp!cpu"), "{script}");
    let decimals = |word: &str| word.split_once('.').map_or(0, |(_, rest)| rest.len());
    assert!(
        front.split_whitespace().all(|word| decimals(word) <= 3),
        "{front}"
    );
    let missing = said("no-such-trace.etl");
    assert_eq!((missing.exit, missing.out.as_str()), (Exit::Error, ""));
    assert!(
        missing
            .err
            .contains("it is not known what the earlier trace needed"),
        "{}",
        missing.err
    );
}

#[test]
fn a_checked_profile_that_records_nothing_is_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.wprp");
    let profile =
        r#"<Profile Id="P.Verbose.File" Name="P" DetailLevel="Verbose" LoggingMode="File"/>"#;
    let text = format!(
        "<WindowsPerformanceRecorder><Profiles>{profile}</Profiles></WindowsPerformanceRecorder>"
    );
    std::fs::write(&file, text).unwrap();
    let checked = run(&["record", "check", file.to_str().unwrap()]);
    assert_eq!(checked.exit, Exit::Nothing, "{checked:?}");
    assert!(
        checked.out.contains("the profile \"P\" records nothing"),
        "{}",
        checked.out
    );
}
