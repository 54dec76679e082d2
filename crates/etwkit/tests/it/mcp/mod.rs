//! `etwkit mcp`, asked by a client that others wrote: the one of the package `mcp`, through the program as an
//! agent starts it.

mod claims;
mod etwanalyzer;
mod http;
mod investigation;
mod limits;

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

/// What the server answered to steps that the client made, see `client.py`; nothing without the client.
fn driven(test: &str, cache: &Path, arguments: &[&str], steps: &Value) -> Option<Vec<Value>> {
    let mut python = etwkit_testkit::python(&format!("mcp::{test}"))?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/client.py");
    let mut client = python
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_etwkit"))
        .args(arguments)
        .env("ETWKIT_CACHE", cache)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    client
        .stdin
        .take()
        .unwrap()
        .write_all(steps.to_string().as_bytes())
        .unwrap();
    let output = client.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// A call of a tool, as a step.
fn call(tool: &str, arguments: Value) -> Value {
    Value::from_iter([("call", tool.into()), ("arguments", arguments)])
}

/// What a call answered, which has to be no error.
#[track_caller]
fn answer(reply: &Value) -> &Value {
    assert_eq!(
        (&reply["is_error"], &reply["same_text"]),
        (&json!(false), &json!(true)),
        "{reply:#}"
    );
    &reply["answer"]
}

/// The error of a call: its message and hint.
#[track_caller]
fn error(reply: &Value) -> (&str, &str) {
    assert_eq!(reply["is_error"], true, "{reply:#}");
    let error = &reply["answer"]["error"];
    (
        error["message"].as_str().unwrap(),
        error["hint"].as_str().unwrap_or_default(),
    )
}

/// All sentences of a field of an answer in one text.
fn sentences(answer: &Value, field: &str) -> String {
    let all = answer[field]
        .as_array()
        .unwrap_or_else(|| panic!("{field}: {answer:#}"));
    all.iter()
        .map(|one| one.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Writes a trace of a scenario or card, and returns its path and its truth.
fn synth(folder: &Path, name: &str) -> (String, Value) {
    let path = folder.join(format!("{name}.etl"));
    let path = path.to_str().unwrap().to_owned();
    let written = crate::support::run(&["synth", "write", name, "--out", &path]);
    assert_eq!(
        written.exit,
        crate::support::Exit::Answered,
        "{}",
        written.err
    );
    let truth = std::fs::read_to_string(path.replace(".etl", ".truth.json")).unwrap();
    (path, serde_json::from_str(&truth).unwrap())
}
