//! Profiles of OpenTelemetry, read with its published messages.

use etwkit_export::{ExportRequest, format};
use etwkit_question::ProcessQuery;
use serde_json::{Value, json};

use super::made_stacks::{WEIGHT, named, session};

/// Returns what a reader of OpenTelemetry sees in a file; `None` without that reader.
fn read(request: &ExportRequest, session: &etwkit_sql::Session, test: &str) -> Option<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.otlp");
    let mut file = std::fs::File::create(&path).unwrap();
    request
        .write(format("otlp").unwrap(), session, &mut file)
        .unwrap();
    super::run_reader(test, "read_otlp.py", [&path])
}

#[test]
fn processes_are_attributes_and_modules_mappings() {
    let request = ExportRequest {
        process_roots: true,
        ..ExportRequest::default()
    };
    let test = "otlp::processes_are_attributes_and_modules_mappings";
    let Some(profile) = read(&request, &session(), test) else {
        return;
    };
    let sample = |stack: &[&str], count: i64, pid: i64, process: &str| {
        let frame = |name: &&str| json!([name, "shop.dll"]);
        json!({
            "stack": stack.iter().map(frame).collect::<Vec<_>>(),
            "values": [count * WEIGHT],
            "attributes": {"process.pid": pid, "process.executable.name": process},
        })
    };
    assert_eq!(
        profile["samples"],
        json!([
            sample(&["shop.dll!main"], 1, 8, "shop.exe"),
            sample(&["shop.dll!main", "shop.dll!a"], 1, 8, "shop.exe"),
            sample(&["shop.dll!main", "shop.dll!b"], 2, 8, "shop.exe"),
            sample(&["shop.dll!main", "shop.dll!b"], 1, 12, "db.exe"),
            sample(&["shop.dll+0x40"], 1, 12, "db.exe"),
        ])
    );
    assert_eq!(profile["type"], "cpu/nanoseconds");
    assert_eq!(profile["scope"], "etwkit");
    assert_eq!(profile["resource"], json!({"os.type": "windows"}));
    for (fact, expected) in [
        ("firsts_are_empty", true),
        ("has_unknown_fields", false),
        ("is_a_request", true),
    ] {
        assert_eq!(profile[fact], expected, "{fact}");
    }
}

#[test]
fn threads_are_attributes_and_names_can_be_seen() {
    let processes = ProcessQuery {
        process: Some("8".into()),
        ..ProcessQuery::default()
    };
    let request = ExportRequest {
        processes,
        thread_roots: true,
        ..ExportRequest::default()
    };
    let hostile = named(&["\u{202e}shop.exe", r"..\shop.dll", "main\n", "b", "a"]);
    let test = "otlp::threads_are_attributes_and_names_can_be_seen";
    let Some(profile) = read(&request, &hostile, test) else {
        return;
    };
    let samples = profile["samples"].as_array().unwrap();
    let threads: Vec<i64> = samples
        .iter()
        .filter_map(|sample| sample["attributes"]["thread.id"].as_i64())
        .collect();
    assert_eq!(
        (
            threads.iter().filter(|tid| **tid == 80).count(),
            threads.len()
        ),
        (2, 4)
    );
    let frames = samples
        .iter()
        .flat_map(|sample| sample["stack"].as_array().unwrap());
    for frame in frames {
        let file = frame[1].as_str().unwrap();
        assert_eq!(file, "shop.dll", "a mapping is a file name");
    }
    assert!(!profile.to_string().contains('\u{202e}'), "{profile}");
}
