//! Why a dump has no answer.

use std::path::Path;

use crate::Session;
use crate::question::OptionError;

/// Result of a dump.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a dump has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The query failed.
    #[error(transparent)]
    Query(#[from] crate::Error),
    /// The trace did not record what is asked for.
    #[error("the trace recorded no {what}")]
    NotRecorded {
        /// What is missing.
        what: &'static str,
        /// How to record it.
        how: &'static str,
    },
    /// The extract holds sums, and the question needs single rows.
    #[error("this question needs the single {what}, of which this extract keeps only sums")]
    NeedsRows {
        /// What single rows are.
        what: &'static str,
    },
    /// The question reaches over more than it can answer.
    #[error("{message}")]
    TooWide {
        /// What is too much.
        message: String,
        /// How to ask for less.
        how: &'static str,
    },
    /// CPU times of several traces are computed from different things.
    #[error(
        "CPU of {sampled} is sampled, that of {switched} is time on processors from context switches: they measure different things"
    )]
    CpuSourcesDiffer {
        /// A trace with samples.
        sampled: String,
        /// A trace without.
        switched: String,
    },
    /// The extract was made of one of ETWAnalyzer, which does not hold what is asked for.
    #[error("{why}; this extract was imported from one of ETWAnalyzer (JSON)")]
    Imported {
        /// What an extract of a trace would say.
        why: Box<Error>,
    },
    /// The extract does without tables that the question needs.
    #[error(
        "this extract was made without the rows of {tables} (--tables), which the question needs"
    )]
    LeftOut {
        /// The tables.
        tables: String,
        /// The command that makes it anew.
        how: String,
    },
    /// What a file of the user names is not in the trace.
    #[error("{message}")]
    NotThere {
        /// What is missing.
        message: String,
        /// How to record it.
        how: String,
    },
    /// A part of the trace that is written with clock times does not lie in it.
    #[error("--{option}")]
    Part {
        /// The option.
        option: &'static str,
        /// What is wrong, and how a part is written.
        source: crate::range::RangeError,
    },
    /// What an option names is in none of the extracts.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The extract holds sums only, and the question is about single events.
    #[error("the question needs the single {what}, of which this extract keeps only sums")]
    NeedsEvents {
        /// What single events are.
        what: &'static str,
    },
    /// The question is one of names of recordings.
    #[error("the question is asked of names of files, not of an extract")]
    OfNames,
}

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Query(error) => error.hint(),
            Self::Option(_) | Self::OfNames => None,
            Self::NotRecorded { how, .. } | Self::TooWide { how, .. } => Some(how),
            Self::Imported { why } => match **why {
                Self::NotRecorded { .. } => Some(
                    "ETWAnalyzer stored none: extract the trace itself with `etwkit extract`, if it was recorded",
                ),
                _ => Some(
                    "ETWAnalyzer stores sums alone: extract the trace itself with `etwkit extract`",
                ),
            },
            Self::NotThere { how, .. } | Self::LeftOut { how, .. } => Some(how),
            Self::Part { source, .. } => Some(source.hint),
            Self::CpuSourcesDiffer { .. } => Some(
                "ask each trace on its own, or compare `run_ns`, which is from context switches wherever they were recorded",
            ),
            Self::NeedsRows { .. } | Self::NeedsEvents { .. } => {
                Some("extract the trace again with `etwkit extract --detail full`")
            }
        }
    }

    /// Whether the question was understood and there just is nothing to answer.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        matches!(
            self,
            Self::NotRecorded { .. }
                | Self::NeedsRows { .. }
                | Self::NeedsEvents { .. }
                | Self::NotThere { .. }
                | Self::Imported { .. }
                | Self::LeftOut { .. }
        )
    }

    /// The error, with the reason why a session lacks the data.
    #[must_use]
    pub fn of(self, session: &Session) -> Self {
        let left_out = session.asked_left_out();
        if !self.is_nothing() {
            return self;
        }
        // An extract without the table says nothing about the recording, so that this reason comes first.
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
            Self::Imported {
                why: Box::new(self),
            }
        } else {
            self
        }
    }
}
