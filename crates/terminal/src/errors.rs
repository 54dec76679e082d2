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
        let mut texts = error.chain().map(ToString::to_string).peekable();
        while let Some(text) = texts.next() {
            // The name of a file is an outer message, which its cause often repeats.
            if texts.peek().is_some_and(|cause| names(cause, &text)) {
                continue;
            }
            // Some errors include the text of their cause in their own message: it is not printed
            // twice.
            if said.is_empty() {
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

/// Returns `true` if a cause has the whole text of the outer message, and not as a part of a word.
fn names(cause: &str, outer: &str) -> bool {
    let parts: Vec<&str> = cause.split(outer).collect();
    let is_of_word = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    let is_apart = |(before, after): (&&str, &&str)| {
        !before.ends_with(is_of_word) && !after.starts_with(is_of_word)
    };
    outer.is_empty() || parts.iter().zip(parts.iter().skip(1)).any(is_apart)
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
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            "a file is in the way: name a folder, or give another name"
        }
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
    fn a_name_that_its_cause_repeats_is_left_out() {
        for (outer, want) in [
            (
                "a.etl",
                "error: cannot open a.etl\ncaused by: no such file\n",
            ),
            (
                "a",
                "error: a\ncaused by: cannot open a.etl\ncaused by: no such file\n",
            ),
            ("", "error: cannot open a.etl\ncaused by: no such file\n"),
        ] {
            let error = Err::<(), _>(anyhow!("no such file"))
                .context("cannot open a.etl")
                .context(outer);
            let mut out = Vec::new();
            Errors {
                out: &mut out,
                is_colored: false,
            }
            .error(&error.unwrap_err(), "x");
            assert_eq!(String::from_utf8(out).unwrap(), format!("{want}hint: x\n"));
        }
    }

    #[test]
    fn what_is_in_the_way_of_a_folder_is_named() {
        for kind in [io::ErrorKind::AlreadyExists, io::ErrorKind::NotADirectory] {
            let hint = hint_of_system(&kind.into()).unwrap();
            assert!(hint.starts_with("a file is in the way"), "{hint}");
        }
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
