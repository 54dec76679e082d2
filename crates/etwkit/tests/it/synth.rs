//! `etwkit synth`: what it prints, and what it leaves behind.

use std::path::Path;

use serde_json::Value;

use crate::support::{Answer, Exit, json, run};
use crate::transcripts::compare;

/// Runs commands with the folder in the place of `DIR` and compares what they print.
fn session(folder: &Path, commands: &[&[&str]], name: &str) {
    let (place, mut printed) = (folder.to_str().unwrap(), String::new());
    for args in commands {
        let full: Vec<String> = args.iter().map(|arg| arg.replace("DIR", place)).collect();
        let Answer { out, err, exit } = run(&full.iter().map(String::as_str).collect::<Vec<_>>());
        let text = format!("$ etwkit {}\n{out}{err}[exit {}]\n", args.join(" "), exit.code());
        printed.push_str(&text.replace(place, "DIR").replace('\\', "/"));
    }
    compare(&printed, name);
}

fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn scenarios_are_listed_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = "DIR/a.etl";
    session(
        folder.path(),
        &[
            &["synth", "list"],
            &["synth", "write", "office", "--out", out, "--compressed"],
            &["synth", "write", "office", "--out", out],
            &["synth", "write", "office", "--out", out, "--force", "--seed", "2"],
            &["synth", "write", "offic", "--out", "DIR/b.etl"],
            &["synth", "write", "office", "--out", "DIR/b.etl", "--scale", "0"],
        ],
        "synth",
    );
    assert_eq!(files(folder.path()), ["a.etl", "a.truth.json"]);
}

#[test]
fn the_truth_beside_the_trace_is_that_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let answer = run(&["synth", "write", "office", "--out", &path("t.etl"), "--seed", "9"]);
    assert_eq!((answer.exit, answer.err.as_str()), (Exit::Answered, ""));
    let truth: Value = serde_json::from_str(&std::fs::read_to_string(path("t.truth.json")).unwrap()).unwrap();
    let info = json(&["info", "--json", &path("t.etl")]);
    assert_eq!(info["counts"]["total"], truth["counts"]["total"]);
    assert_eq!(info["cpu"]["by_thread"], truth["samples"]["by_thread"]);
    assert_eq!((&truth["made"]["seed"], &truth["made"]["scenario"]), (&9.into(), &"office".into()));
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("no/such/t.etl");
    let answer = run(&["synth", "write", "office", "--out", out.to_str().unwrap()]);
    assert_eq!(answer.exit, Exit::Error);
    assert!(answer.err.starts_with("error: cannot write into "), "{}", answer.err);
    assert!(files(folder.path()).is_empty());
}
