//! One module per command, and their common output.

pub(crate) mod cache;
mod counts;
pub(crate) mod damage;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod docs;
pub(crate) mod dump;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod extract;
pub(crate) mod front;
mod health;
pub(crate) mod info;
pub(crate) mod lake;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod strace;
pub(crate) mod symbols;
pub(crate) mod synth;
pub(crate) mod view;

use etwkit_extract::Input;
use serde_json::{Value, json};

/// Returns the files of the session, for JSON.
fn files_json(input: &Input) -> Value {
    let part = |part: &etwkit_extract::SessionFile| json!({"name": part.name, "archive": part.archive, "size_bytes": part.size});
    input.parts().iter().map(part).collect()
}

/// Returns the names of the session's files for messages.
fn labels(input: &Input) -> Vec<String> {
    input
        .parts()
        .iter()
        .map(etwkit_extract::SessionFile::label)
        .collect()
}

/// Returns the name of the session for headings.
fn title(input: &Input) -> String {
    match input.parts() {
        [] => String::new(),
        [one] => one.label(),
        [first, rest @ ..] => format!(
            "{} and {} more, read as one session",
            first.label(),
            rest.len()
        ),
    }
}
