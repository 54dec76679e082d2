//! Errors of opening and querying traces and extracts.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use etwkit_extract::json7z::JsonError;
use etwkit_extract::{ConvertError, DescribeError, StoreError};
use etwkit_question::FilesError;
use etwkit_sql::xml;
use etwkit_trace::tags::TagFileError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of opening or querying a trace or extract. Texts of files appear in messages unchanged
/// and have to be escaped for a terminal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of one of several things.
    #[error("{name}")]
    Of {
        /// Its subject: a trace, an extract, a file.
        name: String,
        /// The error.
        source: Box<Self>,
    },
    /// The system refuses an operation.
    #[error("{doing}")]
    System {
        /// The refused operation.
        doing: String,
        /// The error of the system.
        source: io::Error,
    },
    /// An argument of a command line, or a line of a list, names nothing that can be queried.
    #[error("{message}")]
    Named {
        /// The error message.
        message: String,
        /// Advice for the user.
        hint: Cow<'static, str>,
        /// The error of the system.
        source: Option<io::Error>,
    },
    /// There is no cache folder.
    #[error("there is no folder for extracts of the cache: {variable} and HOME are not set")]
    NoCache {
        /// The environment variable that names one.
        variable: &'static str,
    },
    /// The cache cannot be written.
    #[error("cannot write the cache {}", folder.display())]
    Cache {
        /// Its folder.
        folder: PathBuf,
        /// The error of the extract.
        source: Box<StoreError>,
    },
    /// An extract is named twice: all sums would count it twice.
    #[error("named twice: {path}")]
    Twice {
        /// The extract.
        path: String,
    },
    /// No extract matches the condition of `--where`.
    #[error("{}", no_match(*of))]
    NoMatch {
        /// Number of extracts that were named.
        of: usize,
        /// The labels that they have.
        hint: String,
    },
    /// Two files with rules for stacks have one name.
    #[error("there is a set of stack tags {name} already: files need different names")]
    SameTagSet {
        /// The name.
        name: String,
    },
    /// An extract has no rows that could be tagged.
    #[error(
        "{path} keeps the tags that it was made with: it is a summary, packed, or made with --tables; \
         extract the trace again with --stack-tag-file"
    )]
    KeepsTags {
        /// The extract.
        path: String,
    },
    /// A trace or archive cannot be opened.
    #[error(transparent)]
    Trace(#[from] etwkit_extract::Error),
    /// An extract of ETWAnalyzer cannot be read.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A trace cannot become an extract, or tables cannot be computed.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// An extract cannot be opened.
    #[error(transparent)]
    Extract(#[from] StoreError),
    /// A lake cannot be read.
    #[error(transparent)]
    Lake(#[from] etwkit_extract::lake::Error),
    /// A session cannot be set up, or SQL is not answered.
    #[error(transparent)]
    Query(#[from] etwkit_sql::Error),
    /// A question is not answered.
    #[error(transparent)]
    Question(#[from] etwkit_question::Error),
    /// A file that a question names is unusable.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// A file of rules is invalid.
    #[error(transparent)]
    Rules(#[from] xml::FileError),
    /// A file of stack tags is invalid.
    #[error(transparent)]
    Tags(#[from] TagFileError),
    /// A file that describes events is invalid.
    #[error(transparent)]
    Description(#[from] DescribeError),
}

fn no_match(of: usize) -> String {
    match of {
        1 => "the trace or extract does not match --where".to_owned(),
        of => format!("none of {of} extracts matches --where"),
    }
}

impl Error {
    /// Returns this error with the name of its subject.
    #[must_use]
    pub fn of(self, name: impl Into<String>) -> Self {
        Self::Of {
            name: name.into(),
            source: Box::new(self),
        }
    }

    /// Creates an error of the system at a path: `cannot read slow.etl`.
    pub(crate) fn system(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let doing = format!("cannot {doing} {}", path.display());
        move |source| Self::System { doing, source }
    }

    /// Returns advice for the user, if there is some.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Of { source, .. } => source.hint(),
            Self::Named { hint, .. } => Some(hint),
            Self::NoMatch { hint, .. } => Some(hint),
            Self::System { .. } => None,
            Self::NoCache { .. } => {
                Some("set ETWKIT_CACHE to a folder, or extract the trace first")
            }
            Self::Cache { .. } => {
                Some("free some space, or set ETWKIT_CACHE to a folder that can be written")
            }
            Self::SameTagSet { .. } | Self::KeepsTags { .. } => None,
            Self::Twice { .. } => Some("name each extract once"),
            Self::Trace(error) => error.hint(),
            Self::Json(error) => error.hint(),
            Self::Convert(error) => error.hint(),
            Self::Extract(error) => error.hint(),
            Self::Lake(error) => error.hint(),
            Self::Query(error) => error.hint(),
            Self::Question(error) => error.hint(),
            Self::Files(error) => error.hint(),
            Self::Rules(error) => Some(error.hint()),
            Self::Tags(error) => Some(error.hint()),
            Self::Description(error) => Some(error.hint()),
        }
    }

    /// Returns the path that does not exist, if that is the error.
    #[must_use]
    pub fn missing(&self) -> Option<&Path> {
        match self {
            Self::Of { source, .. } => source.missing(),
            Self::Trace(etwkit_extract::Error::Open { path, source })
            | Self::Extract(StoreError::Io { path, source, .. }) => {
                (source.kind() == io::ErrorKind::NotFound).then_some(path.as_path())
            }
            _ => None,
        }
    }

    /// Returns `true` if the question was given up by its own switch.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        use etwkit_sql::Error as Query;
        match self {
            Self::Of { source, .. } => source.is_cancelled(),
            Self::Convert(ConvertError::Interrupted)
            | Self::Query(Query::Cancelled)
            | Self::Question(etwkit_question::Error::Query(Query::Cancelled)) => true,
            _ => false,
        }
    }
}
