//! Errors that stop reading. Everything else is [`crate::damage`].

/// The reason for which a trace could not be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes could not be fetched.
    #[error("cannot read {len} bytes at offset {offset:#x}: {source}")]
    Io {
        /// Offset in the file, in bytes.
        offset: u64,
        /// Number of bytes requested.
        len: usize,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not an event trace, or its first buffer is destroyed.
    #[error("at offset {offset:#x}: expected {expected}, found {found}")]
    NotATrace {
        /// Offset in the file, in bytes.
        offset: u64,
        /// The expected content.
        expected: &'static str,
        /// The content of the file at that offset.
        found: String,
        /// Advice for the user.
        hint: &'static str,
    },
    /// Files that cannot be parts of one session.
    #[error("file {index} does not belong to the session of the first file: {reason}")]
    NotOneSession {
        /// Position in the list, counted from 1.
        index: usize,
        /// The difference.
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
