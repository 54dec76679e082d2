//! Which extracts of folders are asked, and in which order.

use std::path::Path;

use serde_json::Value;

use crate::support::{Exit, run, trace};

/// Names of traces, and where their extracts lie.
const EXTRACTS: [(&str, &str); 5] = [
    ("Open_100msCLIENT.20200717-120000", ""),
    ("Open_100msSERVER.20200717-120100", ""),
    (
        "Close_450ms_CLIENT_SINGLE_TestStatus-Passed_20200717-121000",
        "Extract",
    ),
    ("Open_200msCLIENT.20200718-090000", "later"),
    ("other", ""),
];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, below) in EXTRACTS {
        let source = folder.path().join(format!("{name}.etl"));
        std::fs::copy(trace("power-5.etl"), &source).unwrap();
        let target = folder.path().join(below).join(format!("{name}.etwx"));
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        let made = run(&["extract", "--out", text(&target), text(&source)]);
        assert_eq!(made.exit, Exit::Answered, "{}", made.err);
        // The third trace stays: it and its extract count as one.
        if below != "Extract" {
            std::fs::remove_file(&source).unwrap();
        }
    }
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// First characters of the names of the traces that answer.
fn asked(args: &[&str]) -> (Vec<String>, Exit, String) {
    let answer = run(&[
        &["dump", "stats", "--json", "--properties", "SessionStart"],
        args,
    ]
    .concat());
    let rows = answer
        .out
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let names = rows.map(|row| {
        row["trace"]
            .as_str()
            .unwrap()
            .split('.')
            .next()
            .unwrap()
            .to_owned()
    });
    (names.collect(), answer.exit, answer.err)
}

#[test]
fn tests_are_chosen_before_they_are_asked() {
    let folder = folder();
    let (client, server) = ("Open_100msCLIENT", "Open_100msSERVER");
    let (close, later) = (
        "Close_450ms_CLIENT_SINGLE_TestStatus-Passed_20200717-121000",
        "Open_200msCLIENT",
    );
    let other = folder.path().join("other.etwx");
    let first = folder.path().join(format!("{}.etwx", EXTRACTS[0].0));
    for (args, expected) in [
        // Without a choice: folders by time, extracts as they are named.
        (&[][..], &["other", client, server, close][..]),
        (&["--recursive"], &["other", client, server, close, later]),
        (
            &["--recursive", "--valid-tests-only"],
            &[client, server, close, later],
        ),
        (
            &["--recursive", "--test-run-index", "1", "--valid-tests-only"],
            &[later],
        ),
        (
            &[
                "--recursive",
                "--test-run-index",
                "0",
                "--test-run-count",
                "1",
            ],
            &[client, server, close],
        ),
        (
            &["--recursive", "--test-case", "Open", "--machine", "client"],
            &[client, later],
        ),
        (
            &[
                "--recursive",
                "--test-time",
                "..150;440..460",
                "--valid-tests-only",
            ],
            &[client, server, close],
        ),
        (
            &[
                "--recursive",
                "--test-case",
                "Open",
                "--skip-tests",
                "1",
                "--no-test-run-grouping",
            ],
            &[later],
        ),
        (&["--last-days", "1", "--valid-tests-only"], &[]),
    ] {
        let (names, exit, err) = asked(&[args, &["--", text(folder.path())]].concat());
        assert_eq!(names, expected, "{args:?} {err}");
        let ends = if expected.is_empty() {
            Exit::Nothing
        } else {
            Exit::Answered
        };
        assert_eq!(exit, ends, "{args:?} {err}");
        assert_eq!(
            err.contains("no recording matches the choice of tests"),
            expected.is_empty(),
            "{err}"
        );
    }
    let named = [text(&other), text(&first)];
    assert_eq!(asked(&named).0, ["other", client], "as they are named");
    assert_eq!(
        asked(&[&["--tests-per-run", "5"], &named[..]].concat()).0,
        [client, "other"],
        "by time"
    );
    let empty = tempfile::tempdir().unwrap();
    let (_, exit, err) = asked(&[text(empty.path())]);
    assert!(
        exit == Exit::Error && err.contains("no trace and no extract is in the folder"),
        "{err}"
    );
}
