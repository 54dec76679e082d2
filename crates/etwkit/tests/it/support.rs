//! Whole commands without a process.

use std::path::{Path, PathBuf};

pub(crate) use etwkit::Exit;
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
    let first: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!((&first["command"], &first["format_version"]), (&args[0].into(), &1.into()));
    match lines[..] {
        // One object that says what it is,
        [_] => first,
        // or a line that does, then the object.
        [_, object] => serde_json::from_str(object).unwrap(),
        _ => panic!("{} lines", lines.len()),
    }
}
