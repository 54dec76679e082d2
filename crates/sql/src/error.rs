//! Errors of questions.

use std::io;

use datafusion::arrow::error::ArrowError;
use datafusion::common::{DataFusionError, Diagnostic};
use etwkit_extract::StoreError;

use crate::hints;
use crate::limits::{TooLong, TooWide};

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a question. Texts of the SQL appear in messages unchanged and have to be escaped for
/// a terminal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No extract was named.
    #[error("no extract was named")]
    NoSource,
    /// An extract cannot be opened.
    #[error(transparent)]
    Extract(#[from] StoreError),
    /// A lake cannot be read.
    #[error("{message}")]
    Lake {
        /// The error message.
        message: String,
        /// Advice for the user.
        hint: Option<String>,
    },
    /// The system cannot start threads.
    #[error("cannot start the threads that answer questions")]
    Threads(#[source] io::Error),
    /// The engine ended without an answer: a defect.
    #[error("the query engine stopped without an answer{}", behind(said.as_deref()))]
    Stopped {
        /// Its last message.
        said: Option<String>,
    },
    /// The statement is too long to be planned.
    #[error("expected at most {limit} {what}, found {found}")]
    TooLong {
        /// The unit of the numbers.
        what: &'static str,
        /// The actual number.
        found: usize,
        /// The maximum number.
        limit: usize,
    },
    /// None or several statements.
    #[error("expected one SQL statement, found {count}")]
    Statements {
        /// Number of statements.
        count: usize,
    },
    /// A statement that would change something, or that touches files.
    #[error("expected a question (SELECT, WITH, VALUES, EXPLAIN, SHOW, DESCRIBE), found {found}")]
    Refused {
        /// Its first words.
        found: String,
    },
    /// The SQL is invalid.
    #[error("{message}{}", at(*.position))]
    Sql {
        /// The error message.
        message: String,
        /// Line and column, from 1.
        position: Option<(u64, u64)>,
        /// Advice for the user.
        hint: Option<String>,
    },
    /// A parameter of a question.
    #[error("{}expected {expected}, found {found:?}", of_question(question))]
    Parameter {
        /// The question; empty for SQL of the user.
        question: String,
        /// The expected parameter, or the list of known parameters.
        expected: String,
        /// The given text.
        found: String,
    },
    /// The answer exceeds the memory limit, and cannot be computed in parts.
    #[error("the answer needs more memory than it may have: {message}")]
    Memory {
        /// The operation that needed the memory.
        message: String,
    },
    /// A function would compute for long without a pause.
    #[error("the answer needs more work than it may take: {message}")]
    Work {
        /// The function and its steps.
        message: String,
    },
    /// The rows of the answer exceed the memory limit for kept rows.
    #[error("the rows of the answer take more than {} MiB of memory", limit >> 20)]
    TooMuch {
        /// Limit in bytes.
        limit: usize,
    },
    /// The rows cannot be written.
    #[error("cannot write the rows")]
    Write(#[source] io::Error),
    /// The question was given up, see [`Cancel`](crate::Cancel).
    #[error("the question was given up")]
    Cancelled,
    /// Computing the answer failed.
    #[error("{message}")]
    Failed {
        /// The error message.
        message: String,
    },
}

impl Error {
    /// Returns advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Extract(error) => error.hint(),
            Self::Lake { hint, .. } => hint.as_deref(),
            Self::Sql { hint, .. } => Some(hint.as_deref().unwrap_or(REFERENCE)),
            Self::Statements { count: 0 } => {
                Some("write a statement, such as SELECT name, pid FROM process")
            }
            Self::Statements { .. } => Some("ask one question at a time"),
            Self::Refused { .. } => {
                Some("an extract is only read; results go to a file with --out")
            }
            Self::Memory { .. } => Some(
                "ask for fewer rows or columns at once, for shorter texts and lists, or aggregate before sorting and joining",
            ),
            Self::Work { .. } => Some(
                "the steps are the product of the lengths of the texts: shorten them, as with left(text, 1000)",
            ),
            Self::TooLong { .. } => {
                Some("compare with a list, as in x IN (1, 2, 3), instead of many terms")
            }
            Self::NoSource => Some("name an extract (NAME.etwx) or a trace (.etl)"),
            Self::Threads(_) => Some(
                "the system has no room for more threads: end other programs, or raise the limit",
            ),
            Self::Stopped { .. } => Some(
                "this is a defect of etwkit: please report it with the question and the version",
            ),
            Self::Parameter { .. } => Some(
                "`--param NAME=VALUE` gives a value; `etwkit docs sql` lists the parameters of the library",
            ),
            Self::TooMuch { .. } => Some(
                "ask for fewer rows: some processes, a part of the trace, without details; `etwkit sql` writes answers of any size",
            ),
            // The error of the system below has its own hint.
            Self::Write(_) => None,
            Self::Cancelled => Some("ask again"),
            Self::Failed { message } => Some(hints::of_execution(message)),
        }
    }
}

/// The hint for SQL without a better one.
const REFERENCE: &str = "the SQL dialect is DataFusion's; `etwkit docs sql` lists tables and functions, `etwkit sql --show-schema` the columns";

fn of_question(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!("@{name}: ")
    }
}

fn behind(said: Option<&str>) -> String {
    said.map_or_else(String::new, |said| format!(": {said}"))
}

fn at(position: Option<(u64, u64)>) -> String {
    position.map_or_else(String::new, |(line, column)| {
        format!(" (line {line}, column {column})")
    })
}

/// Returns the error of an extract that the engine passed on.
fn of_extract(error: &DataFusionError) -> Option<Error> {
    cause::<StoreError>(error)?
        .of_table_again()
        .map(Error::Extract)
}

/// Returns the error of a lake that the engine passed on.
fn of_lake(error: &DataFusionError) -> Option<Error> {
    let error = cause::<etwkit_extract::lake::Error>(error)?;
    Some(Error::Lake {
        message: error.to_string(),
        hint: error.hint().map(str::to_owned),
    })
}

/// Returns the error of an extract, of a lake or of a limit that the engine passed on.
fn known(error: &DataFusionError) -> Option<Error> {
    of_extract(error)
        .or_else(|| of_lake(error))
        .or_else(|| of_limit(error))
}

/// Returns the error of a limit.
fn of_limit(error: &DataFusionError) -> Option<Error> {
    if let Some(long) = cause::<TooLong>(error) {
        return Some(Error::Work {
            message: long.to_string(),
        });
    }
    let wide = cause::<TooWide>(error).map(ToString::to_string);
    let of_offsets = || {
        let is_overflow = matches!(
            cause::<ArrowError>(error)?,
            ArrowError::OffsetOverflowError(_)
        );
        is_overflow.then(|| OVERFLOW.to_owned())
    };
    Some(Error::Memory {
        message: wide.or_else(of_offsets)?,
    })
}

/// The message of values that are more than the engine can count in one column of a batch.
const OVERFLOW: &str = "the values of a column would be more than 2 GiB at once";

/// Returns the error of an engine that panicked with a message, which it does where values are more
/// than it can count.
pub(crate) fn from_panic(said: Option<String>) -> Error {
    let counts = [
        "offset overflow",
        "capacity overflow",
        "offset exceeds",
        "overflow offset",
    ];
    let is_limit = |said: &String| {
        let said = said.to_lowercase();
        counts.iter().any(|text| said.contains(text))
    };
    if said.as_ref().is_some_and(is_limit) {
        return Error::Memory {
            message: OVERFLOW.to_owned(),
        };
    }
    Error::Stopped { said }
}

/// Returns the first error of a kind among an error and its causes.
pub(crate) fn cause<E: std::error::Error + 'static>(error: &DataFusionError) -> Option<&E> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(known) = error.downcast_ref::<E>() {
            return Some(known);
        }
        // The wrapper of an error from the byte reader is not a cause of its own.
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        next = inner.map(|inner| inner as _).or_else(|| error.source());
    }
    None
}

/// Returns `true` if an error may come from damaged input, so a search for the damage is
/// worthwhile.
// Errors of the statement itself, of memory and of the disk are other kinds: they do not depend on
// the contents of a file, and examining files takes long.
pub(crate) fn may_be_damage(error: &DataFusionError) -> bool {
    matches!(
        innermost(error, &mut None),
        DataFusionError::ParquetError(_)
            | DataFusionError::ArrowError(..)
            | DataFusionError::External(_)
            | DataFusionError::ExecutionJoin(_)
            | DataFusionError::Internal(_)
    )
}

/// Converts an error of parsing or planning.
pub(crate) fn from_planning(error: &DataFusionError) -> Error {
    if let Some(known) = known(error) {
        return known;
    }
    let mut position = None;
    let error = innermost(error, &mut position);
    let (message, hint) = match error {
        DataFusionError::SQL(parser, _) => {
            let text = parser.to_string();
            let (message, place) = split_position(text.trim_start_matches("sql parser error: "));
            position = place.or(position);
            (format!("SQL is not understood: {message}"), None)
        }
        DataFusionError::SchemaError(schema, _) => hints::of_schema(schema),
        DataFusionError::Plan(message) => hints::of_plan(message),
        DataFusionError::NotImplemented(message) => hints::of_missing(message),
        DataFusionError::ResourcesExhausted(message) => {
            return Error::Memory {
                message: message.clone(),
            };
        }
        // Values of a statement are computed while it is planned.
        DataFusionError::ArrowError(..) => {
            let message = plain(error);
            let hint = hints::of_execution(&message).to_owned();
            (message, Some(hint))
        }
        other => hints::of_plan(&plain(other)),
    };
    Error::Sql {
        message,
        position,
        hint,
    }
}

/// Converts an error of computing rows.
pub(crate) fn from_execution(error: &DataFusionError) -> Error {
    if let Some(known) = known(error) {
        return known;
    }
    match innermost(error, &mut None) {
        DataFusionError::ResourcesExhausted(message) => Error::Memory {
            message: message.clone(),
        },
        other => Error::Failed {
            message: plain(other),
        },
    }
}

/// Returns the message of the engine without its prefix for the kind of error.
fn plain(error: &DataFusionError) -> String {
    let text = error.strip_backtrace();
    let kinds = [
        "Error during planning: ",
        "Execution error: ",
        "External error: ",
        "Arrow error: ",
        "Parquet error: ",
        "Internal error: ",
        "Cast error: ",
        "Compute error: ",
        "Parser error: ",
    ];
    // Errors are wrapped several times, so a message can start with several of these prefixes.
    let text = kinds
        .iter()
        .fold(text.as_str(), |text, kind| text.trim_start_matches(kind));
    // The engine asks for a report to its own project, which is the wrong place for questions to
    // this one.
    text.split("\nThis issue was likely caused by")
        .next()
        .unwrap_or(text)
        .to_owned()
}

/// Returns the error inside wrappers, and the position that one of them has.
fn innermost<'e>(
    error: &'e DataFusionError,
    position: &mut Option<(u64, u64)>,
) -> &'e DataFusionError {
    match error {
        DataFusionError::Diagnostic(diagnostic, inner) => {
            *position = place(diagnostic).or(*position);
            innermost(inner, position)
        }
        DataFusionError::Context(_, inner) => innermost(inner, position),
        DataFusionError::Shared(inner) => innermost(inner, position),
        DataFusionError::Collection(all) => match all.first() {
            Some(first) => innermost(first, position),
            None => error,
        },
        other => other,
    }
}

fn place(diagnostic: &Diagnostic) -> Option<(u64, u64)> {
    diagnostic
        .span
        .map(|span| (span.start.line, span.start.column))
}

/// The parser writes the position after its message.
fn split_position(text: &str) -> (&str, Option<(u64, u64)>) {
    let parts = || {
        let (message, place) = text.rsplit_once(" at Line: ")?;
        let (line, column) = place.split_once(", Column: ")?;
        Some((
            message,
            (line.trim().parse().ok()?, column.trim().parse().ok()?),
        ))
    };
    match parts() {
        Some((message, place)) => (message, Some(place)),
        None => (text, None),
    }
}
