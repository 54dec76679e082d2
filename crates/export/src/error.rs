//! Errors of exports.

use std::io;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The question has no answer.
    #[error(transparent)]
    Dump(#[from] etwkit_question::Error),
    /// The question failed.
    #[error(transparent)]
    Query(#[from] etwkit_sql::Error),
    /// An option has no meaning in the format.
    #[error("{option} does not go with --format {format}, which holds no sums of stacks")]
    NotOf {
        /// The option.
        option: &'static str,
        /// The format.
        format: &'static str,
    },
    /// A format takes another input than it declares.
    #[error("this format does not take what was asked for")]
    Format,
    /// The output cannot be written.
    #[error("cannot write the profile")]
    Write(#[source] io::Error),
    /// The temporary file for later parts of the output.
    #[error("cannot write a temporary file")]
    Spool(#[source] io::Error),
}

impl Error {
    /// Returns advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Dump(error) => error.hint(),
            Self::Query(error) => error.hint(),
            Self::NotOf { .. } => {
                Some("leave it out, or choose a format of stacks, such as --format speedscope")
            }
            Self::Write(_) | Self::Format => None,
            Self::Spool(_) => Some("ETWKIT_TMP names the folder for temporary files"),
        }
    }

    /// Returns `true` if the question is valid and there is nothing to answer.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        matches!(self, Self::Dump(error) if error.is_nothing())
    }
}
