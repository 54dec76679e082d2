//! Questions as data: their names, options, and columns of answers.
//!
//! Each question is declared once, as plain values: a request, whose fields are its options, and
//! row types ([`declare!`](declare)); views ([`View`]), which define the meaning of columns
//! and the grouping of rows. Command line and help, JSON of requests and answers, text and CSV are
//! made from these declarations. Nothing here knows a terminal or an argument parser.

#![forbid(unsafe_code)]

#[macro_use]
mod declare;
mod answer;
mod any;
mod ask;
pub mod clock;
mod column;
mod files;
mod form;
pub mod moment;
pub mod nothing;
pub mod numbers;
mod options;
mod parts;
mod places;
pub mod range;
mod recorded;
mod schema;
mod table;
pub mod test_run;
pub mod text;
pub mod trace;
mod typed_row;
mod value;
mod values;
mod view;

/// Names of the session that [`declare!`](declare) writes into other crates.
#[doc(hidden)]
pub mod of_sql {
    pub use etwkit_sql::Result;
    pub use etwkit_sql::arrow::array::RecordBatch;
}

pub use answer::{Above, Answer, AnswerPart, Sets, Shows, Sums};
pub use any::{AnyQuestion, AnyRequest, TypedQuestion};
pub use ask::{Count, ask, has_rows, is_recorded, is_recorded_but_empty};
pub use column::{Better, Column, Style, Title, Total, Visibility};
pub use error::{Error, Result};
pub use files::{Descriptions, Files, FilesError, NamedFile};
pub use form::Form;
pub use options::{
    Among, Group, Opt, OptionError, OptionKind, Request, Spec, Values, group, option,
};
pub use parts::{
    any_rows, covered, cut, error, first_last, group, path, rows, sql, tag_query, zero,
};
pub use recorded::Recorded;
pub use rows::FromRows;
pub use schema::{request_schema, row_schema};
pub use sql::ProcessQuery;
pub use table::{AnyColumn, AnyTable, Heading, record};
pub use typed_row::{TypedRow, TypedValue};
pub use value::{Format, Line, Piece, ProcessCell, ProcessColumns, Value, frames};
pub use values::{OptionValue, Scalar, Words};
pub use view::{Cells, Merge, Ranked, Source, SumsLine, View, largest};

use std::path::Path;
use std::time::SystemTime;

use etwkit_base::path::name_of;

use crate::group::Top;
use crate::rows::Field;
use crate::test_run::TestFile;
use crate::trace::TraceInfo;
use etwkit_sql::Session;

/// Rules of stack tags in files of the user, in addition to the built-in ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tagging<'a> {
    /// No tags.
    None,
    /// Sums by the tags of these files, which the extract has to have.
    Derived(&'a [String]),
    /// Tags of these files, which the function `stack_tag` has to know.
    Function(&'a [String]),
}

impl Tagging<'_> {
    /// Returns the name of the set of a file: its file name without folders.
    #[must_use]
    pub fn name(file: &Path) -> String {
        name_of(file)
    }

    /// Returns the names of the sets of files.
    #[must_use]
    pub fn names(files: &[impl AsRef<Path>]) -> Vec<String> {
        files.iter().map(|file| Self::name(file.as_ref())).collect()
    }
}

/// The execution of a question about names of recordings.
pub struct OfNames<'a> {
    /// True if recordings in subfolders are included.
    pub recursive: bool,
    /// Returns the answer for them at a point in time.
    pub answer: Box<dyn Fn(Vec<TestFile>, SystemTime) -> Answer + 'a>,
}

/// A command line of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// Options and traces, behind `etwkit dump NAME`.
    pub words: &'static str,
    /// What it answers, without a full stop.
    pub answer: &'static str,
}

/// Returns the columns of a row type in JSON and CSV.
#[must_use]
pub fn fields<R: FromRows>() -> Vec<Field> {
    R::fields()
        .into_iter()
        .filter(|field| field.name != table::SORT_VALUE)
        .collect()
}

/// A question to one extract, or to several together.
pub trait Question: Request + Clone + Send + Sync + 'static {
    /// Name of the question, as in `etwkit dump NAME`.
    const NAME: &'static str;
    /// Other names.
    const ALIASES: &'static [&'static str] = &[];
    /// Description of the answer, in one sentence without a full stop.
    const SENTENCE: &'static str;
    /// Names of its own options that the short help shows, besides those that all questions share.
    const USUAL: &'static [&'static str];
    /// Command lines that help shows.
    const EXAMPLES: &'static [Example];
    /// True for a question that has one answer for all extracts: its session is then over all of
    /// them, and [`Session::each`] has one for each.
    const OF_ALL: bool = false;
    /// True for a comparison of two extracts. Both can be one extract, which is named twice then.
    const OF_TWO: bool = false;

    /// Returns the execution of the request with its options.
    fn form(&self) -> Form<Self>;

    /// Returns the SQL of the question, runnable as it is.
    fn show_sql(&self) -> String {
        self.form().sql
    }

    /// Returns the columns of the rows of its answer in JSON and CSV, in order.
    fn fields(&self) -> Vec<Field> {
        self.form().fields_of(self)
    }

    /// Queries the rows of [`Self::show_sql`] alone.
    ///
    /// # Errors
    /// The errors of [`Self::answer`].
    fn ask<R: FromRows>(&self, session: &Session) -> Result<Vec<R>> {
        self.form().ask(session)
    }

    /// Returns the execution for names of recordings, for a question about these and not about
    /// extracts.
    fn of_names(&self) -> Option<OfNames<'_>> {
        None
    }

    /// Runs the question and returns its answer.
    ///
    /// # Errors
    /// Nothing of the kind was recorded; single rows are needed, and the extract has none; the
    /// query fails.
    fn answer(&self, session: &Session) -> Result<Answer> {
        self.form().answer(self, session)
    }

    /// Returns the answer for people, without columns and rows that text has no place for and that
    /// take time to compute.
    ///
    /// # Errors
    /// The errors of [`Self::answer`].
    fn answer_for_people(&self, session: &Session) -> Result<Answer> {
        self.answer(session)
    }

    /// Returns the answer for formats that have only its rows, without lines around them that take
    /// time to compute.
    ///
    /// # Errors
    /// The errors of [`Self::answer`].
    fn answer_for_rows(&self, session: &Session) -> Result<Answer> {
        self.answer(session)
    }

    /// Reads the files that its options name. Front ends call it once, before they query the first
    /// extract.
    ///
    /// # Errors
    /// One of them cannot be read, or has another content than expected.
    fn read_files(&mut self, _: &dyn Files) -> std::result::Result<(), FilesError> {
        Ok(())
    }

    /// Returns the files that describe the requested events, which front ends read before they open
    /// traces.
    fn descriptions(&self) -> Option<&Descriptions> {
        None
    }

    /// Returns what could not be followed in the files that its options name, once these are read.
    fn file_notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns notes about the answers of all extracts together, given the numbers of each.
    fn notes(&self, _: &[Sums]) -> Vec<String> {
        Vec::new()
    }

    /// Returns the lines after the answers of all extracts, given the numbers of each.
    fn overall(&self, _: &[Sums]) -> Vec<Line> {
        Vec::new()
    }

    /// Checks that the answers of these extracts, each with its name and numbers, can be put into
    /// one list.
    ///
    /// # Errors
    /// They measure different things.
    fn check_together(&self, _: &[(&str, &Sums)]) -> Result<()> {
        Ok(())
    }

    /// Returns `true` if answers depend on the other extracts, so they are printed when all are
    /// known.
    fn compares(&self) -> bool {
        false
    }

    /// Adjusts the answers of all extracts to each other. Returns a final answer for all extracts
    /// together, for people; its columns can be made of theirs.
    ///
    /// # Errors
    /// None of them has the requested data.
    fn across(&self, _: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>> {
        Ok(None)
    }

    /// Returns `true` if the answers of several extracts become one list. Requests with their own
    /// option `merge` override it.
    fn merges(&self) -> bool {
        false
    }

    /// Returns what an answer without rows means, if that is more than an empty list. The text of such an
    /// answer about one extract says so itself.
    fn nothing_found(&self) -> Option<&'static str> {
        None
    }

    /// Returns why the request has no rows, if what it leaves out by itself is the reason, as in `all 5 waits are
    /// sleeps`.
    ///
    /// # Errors
    /// The query fails.
    fn why_nothing(&self, _: &Session) -> Result<Option<String>> {
        Ok(None)
    }

    /// Checks combinations of its options that their declarations do not cover.
    ///
    /// # Errors
    /// The option that excludes the others.
    fn check(&self) -> std::result::Result<(), OptionError> {
        Ok(())
    }

    /// Returns the option that chooses one table of a report: formats with fixed columns need one.
    fn one_table(&self) -> Option<&'static str> {
        None
    }

    /// Returns the rules of stack tags that its answer needs.
    fn tagging(&self) -> Tagging<'_> {
        Tagging::None
    }

    /// Returns the limits of the largest rows.
    fn top(&self) -> Top {
        self.form().top
    }
}
