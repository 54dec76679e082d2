//! Questions for other query engines, which read the Parquet files of an extract.
//!
//! A statement is changed token by token, so its layout and its comments stay. The changes cover
//! constructs that other engines refuse, and constructs that they read in another way without an
//! error. Macros and views ([`Dialect::setup`]) stand for the functions and the tables that only
//! etwkit has.
//!
//! A changed statement is not known to be right: front ends offer only those that a test has
//! compared.

mod literals;
mod rewrite;
mod setup;
mod tokens;

use std::path::Path;

use crate::library::Query;
use crate::{Parameter, Result};

/// Another query engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// DuckDB.
    DuckDb,
}

/// A part of a statement that another engine lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Obstacle(String);

impl Dialect {
    /// Returns the name of the engine.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::DuckDb => "DuckDB",
        }
    }

    /// Returns a statement about one extract in this dialect.
    ///
    /// # Errors
    /// The first part that the engine lacks, as a sentence without a full stop.
    pub fn translate(self, sql: &str) -> std::result::Result<String, Obstacle> {
        match self {
            Self::DuckDb => rewrite::duckdb(sql),
        }
    }

    /// Returns the statements that create the macros and views of translated questions, over the
    /// files in the folder of an extract.
    #[must_use]
    pub fn setup(self, extract: &Path) -> String {
        match self {
            Self::DuckDb => setup::duckdb(extract),
        }
    }
}

/// Returns the SQL of a question about one extract, with the values of its parameters in place of
/// their names.
///
/// # Errors
/// A value is not of the declared type, or a parameter is not declared.
pub fn with_values(query: &Query, given: &[Parameter]) -> Result<String> {
    literals::insert(&query.sql(false), &query.bind(given)?)
}

/// Returns what is left of a statement without its literals, blanks and comments: equal for
/// statements that differ only in their values.
#[must_use]
pub fn shape(sql: &str) -> String {
    tokens::shape(sql)
}
