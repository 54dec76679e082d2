//! Errors of building or querying a pyramid.

use std::io;
use std::path::{Path, PathBuf};

use etwkit_extract::StoreError;
use etwkit_trace::derive::MissingColumn;
use parquet::errors::ParquetError;

/// The reason for which a pyramid could not be built or queried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table of the extract cannot be read, or the folder cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system refused something.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file of pages is invalid.
    #[error("damaged pages: {}", path.display())]
    Pages {
        /// The file.
        path: PathBuf,
        /// The error of the decoder.
        source: ParquetError,
    },
    /// A table of the extract lacks a column.
    #[error("cannot read the table {table}")]
    Column {
        /// The table.
        table: &'static str,
        /// The missing column.
        source: MissingColumn,
    },
    /// The request exceeds a limit.
    #[error("expected at most {limit} {what}, found {found}")]
    Limit {
        /// The kind of items.
        what: &'static str,
        /// The largest number allowed.
        limit: u64,
        /// The number requested.
        found: u64,
    },
    /// The extract has no rows of that.
    #[error("the extract has no rows of {what}")]
    NotRecorded {
        /// The requested quantity.
        what: &'static str,
        /// True if the extract is a summary, which omits rows.
        is_summary: bool,
    },
    /// Pages cannot be stored: nothing can be added to the extract, and no other folder was given.
    #[error("there is no place for the pages of {}", path.display())]
    NoPlace {
        /// The extract.
        path: PathBuf,
    },
    /// The caller stopped the build.
    #[error("building the timeline was stopped")]
    Stopped,
}

/// Result of building and asking.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn pages(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        move |source| Self::Pages {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn column(table: &'static str) -> impl Fn(MissingColumn) -> Self + Copy {
        move |source| Self::Column { table, source }
    }

    /// A short advice for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Store(error) => return error.hint(),
            Self::Io { .. } => "is there space on the disk, and may you write there?",
            Self::Pages { .. } => {
                "remove the folder of the pages: it is made anew from the extract"
            }
            Self::NoPlace { .. } => "unpack it, or name a folder of caches that can be written to",
            Self::Column { .. } => "extract the trace again",
            Self::Limit { .. } => "ask for fewer lanes, buckets or rows",
            Self::NotRecorded {
                is_summary: true, ..
            } => "it is a summary: extract the trace without --detail summary",
            Self::NotRecorded { .. } => "the topics of the trace list the recorded data",
            Self::Stopped => return None,
        })
    }
}
