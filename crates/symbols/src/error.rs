//! Errors of symbol files.

/// The reason for which a symbol file, or a file of the cache, cannot be used. The caller that
/// opened the file adds its path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes could not be fetched.
    #[error("cannot read it: {0}")]
    Io(#[from] std::io::Error),
    /// The file has another format.
    #[error("expected {expected}, found {found}")]
    OtherFile {
        /// The expected file format.
        expected: &'static str,
        /// The first bytes of the file.
        found: String,
    },
    /// A part of it cannot be read.
    #[error("damaged: {part}, at {at:#x}: {why}")]
    Damaged {
        /// The damaged part.
        part: &'static str,
        /// Offset in that part, bytes.
        at: u64,
        /// The fault.
        why: &'static str,
    },
    /// It belongs to another build.
    #[error("belongs to another build: it is {found}, wanted is {wanted}")]
    OtherBuild {
        /// GUID and age of the file.
        found: String,
        /// The identity that the module expects.
        wanted: String,
    },
    /// It contains no native code symbols.
    #[error("{0}")]
    Unsupported(&'static str),
    /// It is larger than allowed.
    #[error("{size} bytes are more than the limit of {limit}")]
    TooLarge {
        /// Bytes.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// A decoder failed on damaged numbers.
    #[error("the decoder gave up over damaged numbers: {0}")]
    Decoder(String),
}

impl Error {
    /// The error for a decoder that panicked, with the message of the panic.
    pub(crate) fn of_panic(panic: &(dyn std::any::Any + Send)) -> Self {
        let literal = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = literal.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::Decoder(text.unwrap_or_else(|| "it left no message".to_owned()))
    }

    pub(crate) fn damaged(part: &'static str, at: impl TryInto<u64>, why: &'static str) -> Self {
        Self::Damaged {
            part,
            at: at.try_into().unwrap_or(u64::MAX),
            why,
        }
    }
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
