//! Errors, on the error stream. If that stream is also closed, errors are dropped.

use std::io::{self, Write};

use crate::escape;
use crate::style::labelled;

/// An error with a hint for the user.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Advised {
    /// The fault, and the expected input.
    pub message: String,
    /// Advice for correcting it.
    pub hint: String,
}

/// Creates an error with a hint for the user.
pub fn advised(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Advised {
        message: message.into(),
        hint: hint.into(),
    }
    .into()
}

/// The error stream, and true if it is colored.
pub struct Errors<'w> {
    /// The stream that errors are written to.
    pub out: &'w mut dyn Write,
    /// True if labels are colored.
    pub is_colored: bool,
}

impl Errors<'_> {
    /// Prints `error:`, one `caused by:` per cause and `hint:`.
    pub fn error(&mut self, error: &anyhow::Error, hint: &str) {
        let mut said = String::new();
        for (position, cause) in error.chain().enumerate() {
            let text = cause.to_string();
            // Some errors include the text of their cause in their own message: it is not printed
            // twice.
            if position == 0 {
                self.line(&format!("error: {text}"));
            } else if !said.contains(&text) {
                self.line(&format!("caused by: {text}"));
            }
            said.push_str(&text);
        }
        self.line(&format!("hint: {hint}"));
    }

    /// Prints a note for the reader of an answer.
    pub fn note(&mut self, text: &str) {
        self.line(&format!("note: {text}"));
    }

    /// Prints a text of several lines, each one escaped.
    pub fn lines(&mut self, text: &str) {
        text.lines().for_each(|text| self.line(text));
    }

    /// Prints one line: line breaks in it are escaped.
    pub fn line(&mut self, text: &str) {
        let text = escape::text(text);
        // If even the error stream is closed, there is no other place to report that.
        let _ = writeln!(self.out, "{}", labelled(&text, self.is_colored));
    }
}

/// Returns advice about a system error; `None` if the kind of error does not suggest any.
#[must_use]
pub fn hint_of_system(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        io::ErrorKind::NotFound => "check the name; relative names start in the current folder",
        io::ErrorKind::PermissionDenied => {
            "you may not read or write there, or another program holds it open: close that, or choose another place"
        }
        io::ErrorKind::StorageFull => "no space is left there: free some, or choose another place",
        io::ErrorKind::ReadOnlyFilesystem => "nothing can be written there: choose another place",
        io::ErrorKind::InvalidData => {
            "the file is not what it should be: was it copied as a whole?"
        }
        io::ErrorKind::NotSeekable => "this has to be a file: pipes cannot be written at any place",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn causes_that_repeat_the_message_are_left_out_and_controls_are_escaped() {
        let error = Err::<(), _>(anyhow!("disk \x1B full"))
            .context("cannot write: disk \x1B full")
            .context("x");
        let mut out = Vec::new();
        Errors {
            out: &mut out,
            is_colored: false,
        }
        .error(&error.unwrap_err(), "free some");
        let want = "error: x\ncaused by: cannot write: disk \\u{1b} full\nhint: free some\n";
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }

    #[test]
    fn a_text_of_lines_stays_one_and_only_labels_are_coloured() {
        let mut out = Vec::new();
        let mut errors = Errors {
            out: &mut out,
            is_colored: true,
        };
        errors.lines("a\nb");
        errors.note("c\nd");
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a\nb\n\x1B[33mnote:\x1B[0m c\\nd\n"
        );
    }
}
