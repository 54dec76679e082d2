//! What stops reading: everything else is [`crate::damage`].

/// Why a trace could not be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes could not be fetched.
    #[error("cannot read {len} bytes at offset {offset:#x}: {source}")]
    Io {
        /// Where in the file.
        offset: u64,
        /// How many bytes were wanted.
        len: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no event trace, or its first buffer is destroyed.
    #[error("at offset {offset:#x}: expected {expected}, found {found}")]
    NotATrace {
        /// Where in the file.
        offset: u64,
        /// What should be there.
        expected: &'static str,
        /// What the file has there.
        found: String,
        /// What to try.
        hint: &'static str,
    },
    /// Files that cannot be parts of one session.
    #[error("file {index} does not belong to the session of the first file: {reason}")]
    NotOneSession {
        /// Position in the list, counted from 1.
        index: usize,
        /// What differs.
        reason: String,
    },
}

impl Error {
    /// A short advice for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io { .. } => None,
            Self::NotATrace { hint, .. } => Some(hint),
            Self::NotOneSession { .. } => Some("name only files that were recorded together"),
        }
    }
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
