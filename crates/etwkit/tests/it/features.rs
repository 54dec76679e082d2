//! `extract --features`: `explain` reads the numbers of runs, and answers as if it computed them.

use std::path::{Path, PathBuf};

use etwkit_analysis::explain::features_version;
use etwkit_extract::{Manifest, Writer, WriterOptions, run_id};
use etwkit_trace::table::{Columns as _, Feature, Process, Row, Trace};
use serde_json::{Value, json};

use crate::support::{Exit, json_lines, run};

/// The version of no program.
const OTHER: &str = "0123456789abcdef";

/// Questions that compare all kinds of features.
const QUESTIONS: [&[&str]; 3] = [
    &["explain"],
    &["explain", "--json"],
    &["explain", "--json", "--process", "ReportTest.exe"],
];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn done(words: &[&str]) -> String {
    let answer = run(words);
    assert_eq!(answer.exit, Exit::Answered, "{words:?}: {}", answer.err);
    answer.out
}

/// Extracts of so many test runs, which keep their features.
fn runs(folder: &Path, count: u64, detail: &str) -> Vec<PathBuf> {
    let (trace, symbols) = (folder.join("run.etl"), folder.join("run.symbols"));
    let of_seed = |seed: u64| {
        let extract = folder.join(format!("run{seed:02}.etwx"));
        let seed = seed.to_string();
        let written = ["synth", "write", "test-runs", "--force", "--seed", &seed];
        done(&[&written[..], &["--out", text(&trace)]].concat());
        let made = ["extract", "--features", "--detail", detail, "--symbols"];
        let places = [text(&symbols), "--out", text(&extract), text(&trace)];
        done(&[&made[..], &places].concat());
        extract
    };
    let all = (1..=count).map(of_seed).collect();
    std::fs::remove_file(trace).unwrap();
    all
}

/// Gives the features of an extract another version, so that they no longer count.
fn outdate(extract: &Path) {
    let path = extract.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(manifest["features"], features_version());
    manifest["features"] = OTHER.into();
    std::fs::write(path, manifest.to_string()).unwrap();
}

/// A lake of these extracts.
fn lake(path: &Path, extracts: &[PathBuf]) {
    done(&["lake", "init", text(path)]);
    let extracts: Vec<&str> = extracts.iter().map(|extract| text(extract)).collect();
    done(&[&["lake", "add", text(path)], &extracts[..]].concat());
}

/// The answers about a place.
fn answers(place: &Path) -> Vec<String> {
    let answer = |question: &&[&str]| done(&[question, &[text(place)][..]].concat());
    QUESTIONS.iter().map(answer).collect()
}

#[test]
fn stored_features_give_the_answers_that_computed_ones_give() {
    for (detail, count) in [("summary", 12), ("full", 4)] {
        let folder = tempfile::tempdir().unwrap();
        let extracts = runs(folder.path(), count, detail);
        let all = folder.path().join("*.etwx");
        let (stored_lake, other_lake) = (folder.path().join("lake1"), folder.path().join("lake2"));
        lake(&stored_lake, &extracts);
        let stored = answers(&all);
        // Features count only where all runs have them.
        outdate(&extracts[0]);
        assert_eq!(answers(&all), stored, "{detail}, one run without features");
        extracts[1..].iter().for_each(|extract| outdate(extract));
        assert_eq!(answers(&all), stored, "{detail}");
        lake(&other_lake, &extracts);
        let as_other = |answer: String| answer.replace("lake1", "lake2");
        let of_lake: Vec<String> = answers(&stored_lake).into_iter().map(as_other).collect();
        assert_eq!(answers(&other_lake), of_lake, "{detail}, lake");
        if detail == "summary" {
            let rows = json_lines(&stored[2]);
            assert!(rows.iter().any(|row| row["table"] == "causes"), "{rows:?}");
        }
    }
}

#[test]
fn only_features_of_this_version_are_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.etl");
    let extract = folder.path().join("run.etwx");
    done(&["synth", "write", "test-runs", "--out", text(&trace)]);
    let is_kept = |options: &[&str]| {
        let line = [
            "extract",
            "--json",
            "--no-overwrite",
            "--out",
            text(&extract),
        ];
        let out = done(&[&line[..], options, &[text(&trace)]].concat());
        json_lines(&out)[0]["kept"].clone()
    };
    assert_eq!(is_kept(&[]), false);
    assert_eq!(is_kept(&["--features"]), false);
    assert_eq!(is_kept(&["--features"]), true);
    assert_eq!(is_kept(&[]), true);
    outdate(&extract);
    assert_eq!(is_kept(&["--features"]), false);
}

fn write<R: Row>(writer: &mut Writer, row: &R) {
    let mut columns = R::Columns::default();
    columns.push(row);
    writer.write(R::TABLE, columns.take().unwrap()).unwrap();
}

/// Writes a run that took longer by a wait, which only its features have.
fn with_wait(folder: &Path, number: i64, wait_ms: i64, version: &str) {
    let hash = format!("{number:016x}");
    let options = WriterOptions {
        run_id: run_id(&hash),
        no_empty: true,
        ..WriterOptions::default()
    };
    let target = folder.join(format!("{number:02}.etwx"));
    let mut writer = Writer::create(&target, options).unwrap();
    let trace = Trace {
        duration_ns: (400 + wait_ms) * 1_000_000,
        ..Trace::default()
    };
    let feature = Feature {
        kind: "method".to_owned(),
        process: Some("a.exe".to_owned()),
        what: Some("ntfs.sys!Flush".to_owned()),
        cpu_ns: Some(0),
        wait_ns: Some(wait_ms * 1_000_000),
        ready_ns: Some(0),
        depth: Some(1.0),
        ..Feature::default()
    };
    write(&mut writer, &trace);
    write(&mut writer, &Process::default());
    write(&mut writer, &feature);
    let manifest: Manifest = serde_json::from_value(json!({
        "format": "etwkit-extract", "format_version": "2.0", "etwkit_version": "0.1.0", "detail": "full",
        "source": {"files": [{"name": "a.etl", "size_bytes": 3}], "hash": hash},
        "clock": {"kind": "qpc", "frequency": 1, "start_utc": "", "start_filetime": 0},
        "machine": {"computer": "PC-1", "os_version": "10.0.19041", "processors": 2},
        "features": version, "tables": {}
    }))
    .unwrap();
    writer.finish(manifest).unwrap();
}

#[test]
fn a_stored_feature_needs_no_other_rows() {
    for (version, is_read) in [(features_version(), true), (OTHER, false)] {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..12 {
            with_wait(folder.path(), number, number * 7 % 12 * 25, version);
        }
        let all = folder.path().join("*.etwx");
        let answer = run(&["explain", "--json", text(&all)]);
        let names = answer.out.contains("ntfs.sys!Flush");
        assert_eq!(names, is_read, "{version}: {}{}", answer.out, answer.err);
    }
}
