//! Whole commands without a process.

use std::path::{Path, PathBuf};

use etwkit::Exit;
use serde_json::Value;

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) exit: Exit,
}

pub(crate) fn run(args: &[&str]) -> Answer {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = etwkit::run(["etwkit"].iter().chain(args), &mut out, &mut err);
    Answer { out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap(), exit }
}

/// The folder of the small traces that are part of the repository.
pub(crate) fn made() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/made")
}

/// Path of a small trace.
pub(crate) fn trace(name: &str) -> String {
    made().join(name).to_str().unwrap().to_owned()
}

/// The object that a command prints with `--json`.
#[track_caller]
pub(crate) fn json(args: &[&str]) -> Value {
    let answer = run(args);
    assert_eq!((answer.exit, answer.err.as_str()), (Exit::Answered, ""), "{args:?}");
    let lines: Vec<&str> = answer.out.lines().collect();
    assert_eq!(lines.len(), 2, "a line that names the format, then the object");
    let start: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!((&start["command"], &start["format_version"]), (&args[0].into(), &1.into()));
    serde_json::from_str(lines[1]).unwrap()
}
