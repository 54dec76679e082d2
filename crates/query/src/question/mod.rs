//! A question is data: what it is called, what can be chosen, which columns its answer has.
//!
//! Each question is declared once, as plain values: a request ([`request!`](crate::request)), whose fields are its options; row types
//! ([`rows!`](crate::rows)); views ([`View`]), which say what columns mean and how rows are put together. Command line and help, JSON of
//! requests and answers, text and CSV are made from these declarations. Nothing here knows a terminal or an argument parser.

mod answer;
mod any;
mod column;
#[macro_use]
mod options;
mod schema;
mod table;
mod value;
mod values;
mod view;

pub use answer::{Answer, Part, Sets, Shows, Sums};
pub use any::{AnyQuestion, AnyRequest, Of};
pub use column::{Better, Column, Shown, Style, Title, Total};
pub use options::{Group, Kind, Opt, OptionError, Request, Spec, Values, group, option};
pub use schema::{request_schema, row_schema};
pub use table::{AnyColumn, Heading, Table, record};
pub use value::{Format, Line, Piece, ProcessCell, ProcessColumns, Value, frames};
pub use values::{OptionValue, Parsed, Words, parsed};
pub use view::{Merge, Source, View, largest};

use crate::Session;
use crate::dump::rows::Field;
use crate::dump::{FromRows, Result, Top};

/// Rules of stack tags beside the built-in ones, in files of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tagging<'a> {
    /// There are none.
    None,
    /// The extract has to have sums by the tags of these files.
    Derived(&'a [String]),
    /// The function `stack_tag` has to know those of these files.
    Function(&'a [String]),
}

impl Tagging<'_> {
    /// Names of the sets that files make: their own without folders.
    #[must_use]
    pub fn names(files: &[String]) -> Vec<String> {
        let name = |file: &String| {
            std::path::Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned())
        };
        files.iter().map(|file| name(file).unwrap_or_default()).collect()
    }
}

/// The columns of a row type as machines get them.
#[must_use]
pub fn fields<R: FromRows>() -> Vec<Field> {
    R::fields().into_iter().filter(|field| field.name != table::SORT_VALUE).collect()
}

/// A question to one extract.
pub trait Question: Request + Clone + Send + Sync + 'static {
    /// As it is called behind `dump`.
    const NAME: &'static str;
    /// Other names.
    const ALIASES: &'static [&'static str] = &[];
    /// What it tells, in one sentence without a full stop.
    const SENTENCE: &'static str;

    /// The SQL that is asked, runnable as it is.
    fn show_sql(&self) -> String;

    /// The columns of the rows of its answer as machines get them, in the order in which they stand.
    fn fields(&self) -> Vec<Field>;

    /// Asks.
    ///
    /// # Errors
    /// Nothing of the kind was recorded; single rows are needed, and the extract has none; the query fails.
    fn answer(&self, session: &Session) -> Result<Answer>;

    /// What stands behind the answers of all extracts, given the numbers of each.
    fn overall(&self, _: &[Sums]) -> Vec<Line> {
        Vec::new()
    }

    /// Whether answers of these extracts, each with its name and numbers, can be put into one list.
    ///
    /// # Errors
    /// They measure different things.
    fn check_together(&self, _: &[(&str, &Sums)]) -> Result<()> {
        Ok(())
    }

    /// Whether rows of an extract depend on the answers of the others, so that these are printed when all are known.
    fn compares(&self) -> bool {
        false
    }

    /// Leaves out rows of the answers of all extracts by what the others have.
    fn compare(&self, _: &mut [&mut Answer]) {}

    /// Whether the answers of several extracts become one list; requests with an option `merge` of their own say so.
    fn merges(&self) -> bool {
        false
    }

    /// Whether its options can stand together, as far as their declarations do not say it.
    ///
    /// # Errors
    /// The option that cannot.
    fn check(&self) -> std::result::Result<(), OptionError> {
        Ok(())
    }

    /// Where its answer is a report of several tables: how one of them is chosen, which what has columns needs.
    fn one_table(&self) -> Option<&'static str> {
        None
    }

    /// The rules of stack tags that its answer needs.
    fn tagging(&self) -> Tagging<'_> {
        Tagging::None
    }

    /// How many of the largest rows.
    fn top(&self) -> Top {
        Top::default()
    }
}
