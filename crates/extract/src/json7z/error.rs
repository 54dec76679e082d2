//! Errors of reading an extract of ETWAnalyzer.

use std::io;

use etwkit_trace::sink::SinkError;

use crate::{ConvertError, ReadError};

/// The reason for which an extract of ETWAnalyzer could not be read. Its texts come from a file and
/// must be escaped before they are written to a terminal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The file cannot be opened or unpacked.
    #[error(transparent)]
    Open(#[from] crate::Error),
    /// The system cannot read the file.
    #[error("cannot read {name}")]
    Read {
        /// The file, or the archive and its member.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The content differs from the expected content.
    #[error("{0}")]
    Unexpected(Box<Unexpected>),
    /// The file is JSON, but nothing that ETWAnalyzer writes.
    #[error(
        "{name} is not an extract of ETWAnalyzer: expected an object with SessionStart and Processes, found no \
         {missing}"
    )]
    Foreign {
        /// The file, or the archive and its member.
        name: String,
        /// The member that is missing.
        missing: &'static str,
    },
    /// The archive does not contain exactly one main file of an extract.
    #[error("expected one .json file of ETWAnalyzer in {archive}, which holds {found}")]
    Members {
        /// The archive.
        archive: String,
        /// The contents of the archive, for the message.
        found: String,
    },
    /// A part without its main file.
    #[error("{name} is one part of an extract of ETWAnalyzer")]
    Part {
        /// The file.
        name: String,
        /// The main file that it belongs to.
        main: String,
    },
}

/// A place in the file, with the expected and the actual content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexpected {
    /// The file, or the archive and its member.
    pub name: String,
    /// The member of the JSON, as `CPU.Topology[3]`; empty at the outermost level.
    pub path: String,
    /// Line, counted from 1.
    pub line: u64,
    /// Column in bytes, counted from 1.
    pub column: u64,
    /// The expected content.
    pub expected: String,
    /// The content found there.
    pub found: String,
}

impl std::fmt::Display for Unexpected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            name,
            path,
            line,
            column,
            expected,
            found,
        } = self;
        let path = if path.is_empty() {
            String::new()
        } else {
            format!(" {path}")
        };
        write!(
            f,
            "{name}:{path} (line {line}, column {column}): expected {expected}, found {found}"
        )
    }
}

impl JsonError {
    /// Advice for the user, if there is any.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Open(error) => return error.hint(),
            Self::Read { .. } => return None,
            Self::Unexpected(at) if at.found == END => {
                "the file was cut short: copy it again, or extract the trace itself"
            }
            Self::Unexpected(_) => {
                "was the file changed by hand, or written by another program? extract the trace itself if you \
                 have it"
            }
            Self::Foreign { .. } => {
                "name a .json7z or .json file that ETWAnalyzer wrote, or a trace"
            }
            Self::Members { .. } => {
                "`etwkit extract` and `etwkit dump` read archives with several extracts, other commands \
                 those with one: NAME.json and its NAME_Derived_… files"
            }
            Self::Part { .. } => {
                "name the main file, the one without _Derived_ in its name; parts next to it are found"
            }
        })
    }
}

/// The text of [`Unexpected::found`] at the end of the file.
pub(crate) const END: &str = "the end of the file";

/// The reason for which an import stops: the file, or the sink that takes its rows.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error(transparent)]
    Sink(SinkError),
}

impl From<Failure> for ConvertError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Json(JsonError::Open(error)) => Self::Open(error),
            Failure::Json(error) => {
                let hint = error.hint();
                Self::Foreign(ReadError::new(error, hint))
            }
            Failure::Sink(error) => error.into(),
        }
    }
}

/// Result of reading.
pub(crate) type Result<T> = std::result::Result<T, Failure>;
