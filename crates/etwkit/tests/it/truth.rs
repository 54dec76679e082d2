//! `events --count` against what independent decoders counted.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{json, made};

/// Compares the counts of these files as one session with the truth, read in both orders.
#[track_caller]
fn check(truth: &Path, traces: &[PathBuf]) {
    let want: Value = serde_json::from_slice(&std::fs::read(truth).unwrap()).unwrap();
    let names: Vec<&str> = traces.iter().map(|path| path.to_str().unwrap()).collect();
    for options in [&["--json"][..], &["--json", "--unordered"], &["--json", "--no-mmap"]] {
        let answer = json(&[&["events", "--count"], options, &names].concat());
        for key in ["total", "by_header", "by_cpu", "kernel", "provider"] {
            let (got, want) = (&answer["counts"][key], &want["counts"][key]);
            assert!(!want.is_null() && got == want, "{key} of {}: {got} is not {want}", truth.display());
        }
    }
}

/// The truth files of a folder.
fn truths(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    paths
}

fn stem(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

#[test]
fn made_traces_of_the_repository() {
    let truths = truths(&made().join("info"));
    assert_eq!(truths.len(), 3);
    for truth in truths {
        check(&truth, &[made().join(format!("{}.etl", stem(&truth)))]);
    }
}

#[test]
fn traces_of_the_field_and_all_made_ones() {
    let Some(folder) = std::env::var_os("ETWKIT_TRACES").map(PathBuf::from) else {
        eprintln!("skipped: ETWKIT_TRACES does not name a folder of traces");
        return;
    };
    let hub = folder.join("diaghub");
    let mut compared = 0;
    for truth in truths(&folder.join("truth")) {
        let name = stem(&truth);
        let traces = match name {
            "diaghub.merged" => {
                ["diaghub", "diaghub.kernel.1", "diaghub.user_injected.1", "diaghub.user_paged.1"]
                    .map(|part| hub.join(format!("{part}.etl")))
                    .to_vec()
            }
            "TraceLoggingTester" => vec![folder.join("TraceLoggingTester.7z")],
            _ if name.starts_with("diaghub") => vec![hub.join(format!("{name}.etl"))],
            _ => vec![folder.join(format!("{name}.etl"))],
        };
        check(&truth, &traces);
        compared += 1;
    }
    for truth in truths(&folder.join("made/info")) {
        check(&truth, &[folder.join(format!("made/{}.etl", stem(&truth)))]);
        compared += 1;
    }
    eprintln!("compared the counts of {compared} traces");
    assert!(compared >= 40, "only {compared} traces were compared");
}
