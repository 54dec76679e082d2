//! Errors, on the error stream. If that is closed too, nobody listens.

use std::io::{self, Write};

use crate::sanitize;
use crate::style::labelled;

/// An error that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Advised {
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// The error stream, and whether it is coloured.
pub(crate) struct Errors<'w> {
    pub(crate) out: &'w mut dyn Write,
    pub(crate) is_colored: bool,
}

/// Prints `error:`, one `caused by:` per cause and `hint:` if there is advice.
pub(crate) fn error(err: &mut Errors<'_>, error: &anyhow::Error) {
    let mut said = String::new();
    for (position, cause) in error.chain().enumerate() {
        let text = cause.to_string();
        // Some causes repeat what the message in front of them said already.
        if position == 0 {
            line(err, &format!("error: {text}"));
        } else if !said.contains(&text) {
            line(err, &format!("caused by: {text}"));
        }
        said.push_str(&text);
    }
    line(err, &format!("hint: {}", hint(error)));
}

/// What is said where nothing better is known.
const HELP: &str = "`etwkit COMMAND --help` shows what a command takes, with examples";

/// The advice of whichever library the error, or one of its causes, comes from; else what helps with errors of its kind.
fn hint(error: &anyhow::Error) -> String {
    let of_system = || error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(of_system);
    error.chain().find_map(of_library).or_else(of_system).unwrap_or_else(|| HELP.to_owned())
}

/// The advice of a library.
fn of_library(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let known = error.downcast_ref().and_then(etwkit_extract::Error::hint);
    let known = known
        .or_else(|| error.downcast_ref().and_then(etwkit_etl::Error::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_extract::ConvertError::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_extract::StoreError::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_extract::JsonError::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_query::Error::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_query::dump::Error::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_export::Error::hint))
        .or_else(|| error.downcast_ref().map(etwkit_trace::tags::TagFileError::hint))
        .or_else(|| error.downcast_ref().map(etwkit_query::xml::FileError::hint))
        .or_else(|| error.downcast_ref::<etwkit_query::range::RangeError>().map(|error| error.hint));
    known
        .map(str::to_owned)
        .or_else(|| error.downcast_ref::<Advised>().map(|error| error.hint.clone()))
        .or_else(|| error.downcast_ref::<crate::compat::Wrong>().map(|error| error.hint.clone()))
}

/// What can be done about an error of the system.
fn of_system(error: &io::Error) -> String {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "check the name; relative names start in the current folder",
        io::ErrorKind::PermissionDenied => {
            "you may not read or write there, or another program holds it open: close that, or choose another place"
        }
        io::ErrorKind::StorageFull => "no space is left there: free some, or choose another place",
        io::ErrorKind::ReadOnlyFilesystem => "nothing can be written there: choose another place",
        io::ErrorKind::InvalidData => "the file is not what it should be: was it copied as a whole?",
        io::ErrorKind::NotSeekable => "this has to be a file: pipes cannot be written at any place",
        _ => return HELP.to_owned(),
    };
    hint.to_owned()
}

/// Prints a text of several lines, each one escaped.
pub(crate) fn lines(err: &mut Errors<'_>, text: &str) {
    for text in text.lines() {
        line(err, text);
    }
}

/// Prints something that the reader of an answer should know.
pub(crate) fn note(err: &mut Errors<'_>, text: &str) {
    line(err, &format!("note: {text}"));
}

fn line(err: &mut Errors<'_>, text: &str) {
    let text = sanitize::text(text);
    let _ = writeln!(err.out, "{}", labelled(&text, err.is_colored));
}
