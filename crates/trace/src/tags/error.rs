//! Errors of stack tag files.

use crate::xml::place;

/// A fault in a stack tag file, with its position. Names and values of the file are unchanged and
/// have to be escaped for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: expected {expected}, found {found}")]
pub struct TagFileError {
    /// The file, as the caller named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
    /// The expected content.
    pub expected: String,
    /// The content found there.
    pub found: String,
}

impl TagFileError {
    /// Advice for the user.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "a stack tag file is XML: <Tag Name=\"\"> around <Tag Name=\"…\"> with <Entrypoint Module=\"…\" Method=\"…\"/>, as `etwkit docs stack-tags` shows"
    }

    pub(super) fn at(file: &str, text: &str, offset: usize, expected: &str, found: String) -> Self {
        let (line, column) = place(text, offset);
        Self {
            file: file.to_owned(),
            line,
            column,
            expected: expected.to_owned(),
            found,
        }
    }
}
