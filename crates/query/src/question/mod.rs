//! A question is data: what it is called, what can be chosen, which columns its answer has.
//!
//! Each question is declared once, as plain values: a request, whose fields are its options, and row types
//! ([`declare!`](crate::declare)); views ([`View`]), which say what columns mean and how rows are put
//! together. Command line and help, JSON of requests and answers, text and CSV are made from these
//! declarations. Nothing here knows a terminal or an argument parser.

mod answer;
mod any;
mod column;
mod places;
#[macro_use]
mod declare;
mod files;
mod form;
mod options;
mod schema;
mod table;
mod value;
mod values;
mod view;

pub use answer::{Above, Answer, Part, Sets, Shows, Sums};
pub use any::{AnyQuestion, AnyRequest, Of};
pub use column::{Better, Column, Shown, Style, Title, Total};
pub use files::{Descriptions, Files, FilesError, NamedFile};
pub use form::Form;
pub use options::{Among, Group, Kind, Opt, OptionError, Request, Spec, Values, group, option};
pub use schema::{request_schema, row_schema};
pub use table::{AnyColumn, Heading, Table, record};
pub use value::{Format, Line, Piece, ProcessCell, ProcessColumns, Value, frames};
pub use values::{OptionValue, Scalar, Words};
pub use view::{Cells, Merge, Ranked, Source, SumsLine, View, largest};

use std::path::Path;
use std::time::SystemTime;

use etwkit_base::path::name_of;

use crate::Session;
use crate::dump::rows::Field;
use crate::dump::trace::TraceInfo;
use crate::dump::{FromRows, Result, Top};
use crate::test_run::TestFile;

/// Rules of stack tags beside the built-in ones, in files of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tagging<'a> {
    /// There are none.
    None,
    /// The extract has to have sums by the tags of these files.
    Derived(&'a [String]),
    /// The function `stack_tag` has to know the tags of these files.
    Function(&'a [String]),
}

impl Tagging<'_> {
    /// The name of the set that a file makes: its own without folders.
    #[must_use]
    pub fn name(file: &Path) -> String {
        name_of(file)
    }

    /// Names of the sets that files make.
    #[must_use]
    pub fn names(files: &[impl AsRef<Path>]) -> Vec<String> {
        files.iter().map(|file| Self::name(file.as_ref())).collect()
    }
}

/// How a question is asked of names of recordings.
pub struct OfNames<'a> {
    /// Recordings in folders below folders are meant, too.
    pub recursive: bool,
    /// The answer to them at a point in time.
    pub answer: Box<dyn Fn(Vec<TestFile>, SystemTime) -> Answer + 'a>,
}

/// The columns of a row type as machines get them.
#[must_use]
pub fn fields<R: FromRows>() -> Vec<Field> {
    R::fields()
        .into_iter()
        .filter(|field| field.name != table::SORT_VALUE)
        .collect()
}

/// A question to one extract, or to several together.
pub trait Question: Request + Clone + Send + Sync + 'static {
    /// As it is called behind `dump`.
    const NAME: &'static str;
    /// Other names.
    const ALIASES: &'static [&'static str] = &[];
    /// What it answers, in one sentence without a full stop.
    const SENTENCE: &'static str;
    /// Whether it is asked of all extracts together and has one answer: the session that it is asked of is
    /// over all of them then, and [`Session::each`] has one for each. An extract may be named twice.
    const OF_ALL: bool = false;

    /// How it is asked as its options stand.
    fn form(&self) -> Form<Self>;

    /// The SQL that is asked, runnable as it is.
    fn show_sql(&self) -> String {
        self.form().sql
    }

    /// The columns of the rows of its answer as machines get them, in the order in which they stand.
    fn fields(&self) -> Vec<Field> {
        self.form().fields_of(self)
    }

    /// Asks for the rows of [`Self::show_sql`] alone.
    ///
    /// # Errors
    /// Those of [`Self::answer`].
    fn ask<R: FromRows>(&self, session: &Session) -> Result<Vec<R>> {
        self.form().ask(session)
    }

    /// How it is asked of names of recordings, where it is a question to these and to no extract.
    fn of_names(&self) -> Option<OfNames<'_>> {
        None
    }

    /// Asks.
    ///
    /// # Errors
    /// Nothing of the kind was recorded; single rows are needed, and the extract has none; the query fails.
    fn answer(&self, session: &Session) -> Result<Answer> {
        self.form().answer(self, session)
    }

    /// Asks only for what people see, where machines get more that takes time to compute: columns and rows
    /// that text has no place for are left out.
    ///
    /// # Errors
    /// Those of [`Self::answer`].
    fn answer_for_people(&self, session: &Session) -> Result<Answer> {
        self.answer(session)
    }

    /// Reads the files that its options name. Front ends call it once, before they ask the first extract.
    ///
    /// # Errors
    /// One of them cannot be read, or has something else in it than it should.
    fn read_files(&mut self, _: &dyn Files) -> std::result::Result<(), FilesError> {
        Ok(())
    }

    /// The files that describe the events it asks for, which front ends read before they open traces.
    fn descriptions(&self) -> Option<&Descriptions> {
        None
    }

    /// What the reader should know of the answers of all extracts together, given the numbers of each.
    fn notes(&self, _: &[Sums]) -> Vec<String> {
        Vec::new()
    }

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

    /// Whether answers depend on those of the other extracts, so that they are printed when all are known.
    fn compares(&self) -> bool {
        false
    }

    /// Changes the answers of all extracts by what the others have, and gives what people read behind them:
    /// an answer that stands for all extracts together, whose columns can be made of theirs.
    ///
    /// # Errors
    /// None of them has what is asked for.
    fn across(&self, _: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>> {
        Ok(None)
    }

    /// Whether the answers of several extracts become one list; requests with an option `merge` of their own
    /// say so.
    fn merges(&self) -> bool {
        false
    }

    /// Checks that its options can stand together, as far as their declarations do not say so.
    ///
    /// # Errors
    /// The option that cannot stand with the others.
    fn check(&self) -> std::result::Result<(), OptionError> {
        Ok(())
    }

    /// How one table is chosen, where the answer is a report of several: formats with fixed columns need one.
    fn one_table(&self) -> Option<&'static str> {
        None
    }

    /// The rules of stack tags that its answer needs.
    fn tagging(&self) -> Tagging<'_> {
        Tagging::None
    }

    /// How many of the largest rows.
    fn top(&self) -> Top {
        self.form().top
    }
}
