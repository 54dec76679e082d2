//! Errors of dumps.

use std::path::Path;

use crate::OptionError;
use crate::ask::is_never_recorded;
use etwkit_sql::Session;

/// Result of a dump.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a dump.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The query failed.
    #[error(transparent)]
    Query(#[from] etwkit_sql::Error),
    /// The trace did not record the data that the question needs.
    #[error("the trace recorded no {what}")]
    NotRecorded {
        /// The missing data.
        what: &'static str,
        /// The recording that has it.
        how: &'static str,
        /// The tables that hold it, if the topics of these tables say whether it was recorded.
        tables: Vec<&'static str>,
    },
    /// The extract is of a part of a trace, and the part has nothing of it.
    #[error("the part of the trace that was extracted has no {what}")]
    NotInPart {
        /// The missing data.
        what: &'static str,
        /// The recording that has it, if the rest of the trace has none either.
        how: String,
    },
    /// The extract holds sums, and the question needs single rows.
    #[error("this question needs the single {what}, of which this extract keeps only sums")]
    NeedsRows {
        /// Name of the single rows.
        what: &'static str,
    },
    /// The question covers more than it can answer.
    #[error("{message}")]
    TooWide {
        /// The error message.
        message: String,
        /// A way to narrow the question.
        how: &'static str,
    },
    /// The question is asked of the wrong number of traces.
    #[error("{message}")]
    WrongCount {
        /// The error message.
        message: String,
        /// The right usage.
        how: &'static str,
    },
    /// CPU times of several traces are computed from different things.
    #[error(
        "CPU of {sampled} is sampled, CPU of {switched} is time on processors from context switches: they measure different things"
    )]
    CpuSourcesDiffer {
        /// A trace with samples.
        sampled: String,
        /// A trace without samples.
        switched: String,
    },
    /// The extract was imported from ETWAnalyzer, whose format does not hold the requested data.
    #[error("{why}; this extract was imported from one of ETWAnalyzer (JSON)")]
    Imported {
        /// The error that an extract of a trace would report.
        why: Box<Error>,
    },
    /// The extract was made without tables that the question needs.
    #[error(
        "this extract was made without the rows of {tables} (--tables), which the question needs"
    )]
    LeftOut {
        /// The tables.
        tables: String,
        /// The command that creates it again.
        how: String,
    },
    /// Data named by a file of the user is not in the trace.
    #[error("{message}")]
    NotThere {
        /// The error message.
        message: String,
        /// The recording that has it.
        how: String,
    },
    /// A range with clock times is not in the trace.
    #[error("--{option}")]
    Part {
        /// The option.
        option: &'static str,
        /// The problem and the syntax of a range.
        source: crate::range::RangeError,
    },
    /// No extract has the value of an option.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The extract holds sums only, and the question is about single events.
    #[error("the question needs the single {what}, of which this extract keeps only sums")]
    NeedsEvents {
        /// Name of the single events.
        what: &'static str,
    },
    /// The question is about names of recordings.
    #[error("the question is asked of names of files, not of an extract")]
    OfNames,
}

impl Error {
    /// Returns advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Query(error) => error.hint(),
            Self::Option(_) | Self::OfNames => None,
            Self::NotRecorded { how, .. }
            | Self::TooWide { how, .. }
            | Self::WrongCount { how, .. } => Some(how),
            Self::Imported { why } => match **why {
                Self::NotRecorded { .. } => Some(
                    "ETWAnalyzer stored none: extract the trace itself with `etwkit extract`, if it was recorded",
                ),
                _ => Some(
                    "ETWAnalyzer stores sums alone: extract the trace itself with `etwkit extract`",
                ),
            },
            Self::NotThere { how, .. }
            | Self::LeftOut { how, .. }
            | Self::NotInPart { how, .. } => Some(how),
            Self::Part { source, .. } => Some(source.hint),
            Self::CpuSourcesDiffer { .. } => Some(
                "ask each trace on its own, or compare `run_ns`, which is from context switches wherever they were recorded",
            ),
            Self::NeedsRows { .. } | Self::NeedsEvents { .. } => {
                Some("extract the trace again with `etwkit extract --detail full`")
            }
        }
    }

    /// Returns `true` if the question is valid and there is nothing to answer.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        matches!(
            self,
            Self::NotRecorded { .. }
                | Self::NotInPart { .. }
                | Self::NeedsRows { .. }
                | Self::NeedsEvents { .. }
                | Self::NotThere { .. }
                | Self::Imported { .. }
                | Self::LeftOut { .. }
        )
    }

    /// Adds the reason for which a session lacks the data.
    #[must_use]
    pub fn of(self, session: &Session) -> Self {
        let left_out = session.asked_left_out();
        if !self.is_nothing() {
            return self;
        }
        // An extract without the table is not evidence about the recording, so this reason comes
        // first.
        if let Some((path, manifest)) = session.manifests().next().filter(|_| !left_out.is_empty())
        {
            let tables = left_out.into_iter().collect::<Vec<_>>().join(", ");
            let how = format!(
                "make it anew with all tables: {}",
                manifest.command(Path::new(path))
            );
            return Self::LeftOut { tables, how };
        }
        if session.is_imported() {
            return Self::Imported {
                why: Box::new(self),
            };
        }
        match self {
            // An extract of a part lists the topics of the whole trace. A failing query leaves the error
            // that there is.
            Self::NotRecorded { what, how, tables }
                if !is_never_recorded(session, &tables)
                    && session.is_of_part().unwrap_or(false) =>
            {
                Self::NotInPart {
                    what,
                    how: format!("a longer part may have it; otherwise: {how}"),
                }
            }
            error => error,
        }
    }
}
