//! Errors, on the error stream. If that is closed too, nobody listens.

use std::io::Write;

use crate::sanitize;
use crate::style::labelled;

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
    if let Some(hint) = hint(error) {
        line(err, &format!("hint: {hint}"));
    }
}

/// The advice of whichever library the error comes from.
fn hint(error: &anyhow::Error) -> Option<&str> {
    let of_extract = error.downcast_ref().and_then(etwkit_extract::Error::hint);
    of_extract
        .or_else(|| error.downcast_ref().and_then(etwkit_etl::Error::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_extract::ConvertError::hint))
        .or_else(|| error.downcast_ref().map(etwkit_extract::DescribeError::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_query::Error::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_query::dump::Error::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_export::Error::hint))
        .or_else(|| error.downcast_ref().map(etwkit_query::xml::FileError::hint))
        .or_else(|| error.downcast_ref::<etwkit_query::range::RangeError>().map(|error| error.hint))
        .or_else(|| error.downcast_ref::<crate::compat::Wrong>().map(|error| error.hint.as_str()))
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
