//! Questions whose types are not known: what front ends hold.

use std::marker::PhantomData;

use super::options::by_name;
use super::places::{Places, with_marks};
use super::{
    Answer, Descriptions, Files, FilesError, Line, OfNames, Opt, OptionError, Question, Request, Sums,
    Tagging, Values,
};
use crate::Session;
use crate::dump::rows::Field;
use crate::dump::trace::TraceInfo;
use crate::dump::{Result, Top};

/// A question of any type.
pub trait AnyQuestion: Sync {
    /// As it is called behind `dump`.
    fn name(&self) -> &'static str;
    /// Other names.
    fn aliases(&self) -> &'static [&'static str];
    /// What it answers, in one sentence without a full stop.
    fn sentence(&self) -> &'static str;
    /// Its options, in the order in which they are declared.
    fn options(&self) -> Vec<Opt>;
    /// The request that values mean.
    ///
    /// # Errors
    /// A word that is no option, or a value that the option does not take.
    fn read(&self, values: &Values) -> std::result::Result<Box<dyn AnyRequest>, OptionError>;
}

/// A request of any type.
pub trait AnyRequest: Send + Sync {
    /// The values that differ from the defaults.
    fn write(&self) -> Values;
    /// See [`Question::show_sql`].
    fn show_sql(&self) -> String;
    /// See [`Question::fields`].
    fn fields(&self) -> Vec<Field>;
    /// See [`Question::top`].
    fn top(&self) -> Top;
    /// See [`Question::check_together`].
    ///
    /// # Errors
    /// They measure different things.
    fn check_together(&self, all: &[(&str, &Sums)]) -> Result<()>;
    /// See [`Question::compares`].
    fn compares(&self) -> bool;
    /// See [`Question::across`].
    ///
    /// # Errors
    /// None of the answers has what is asked for.
    fn across(&self, all: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>>;
    /// See [`Question::merges`].
    fn merges(&self) -> bool;
    /// See [`Question::one_table`].
    fn one_table(&self) -> Option<&'static str>;
    /// See [`Question::tagging`].
    fn tagging(&self) -> Tagging<'_>;
    /// See [`Question::overall`].
    fn overall(&self, all: &[Sums]) -> Vec<Line>;
    /// See [`Question::of_names`].
    fn of_names(&self) -> Option<OfNames<'_>>;
    /// Asks; where rows are ranked by size, the largest come first.
    ///
    /// # Errors
    /// Those of [`Question::answer`].
    fn answer(&self, session: &Session) -> Result<Answer>;
    /// See [`Question::answer_for_people`].
    ///
    /// # Errors
    /// Those of [`Question::answer`].
    fn answer_for_people(&self, session: &Session) -> Result<Answer>;
    /// See [`Question::read_files`].
    ///
    /// # Errors
    /// One of the files cannot be read, or has something else in it than it should.
    fn read_files(&mut self, files: &dyn Files) -> std::result::Result<(), FilesError>;
    /// See [`Question::descriptions`].
    fn descriptions(&self) -> Option<&Descriptions>;
    /// See [`Question::notes`].
    fn notes(&self, all: &[Sums]) -> Vec<String>;
}

/// A request with its parts of a trace that are written as clock times.
struct Asked<Q> {
    request: Q,
    places: Places,
}

impl<Q: Question> AnyRequest for Asked<Q> {
    fn write(&self) -> Values {
        let mut values = Request::write(&self.request);
        values.extend(self.places.written());
        values
    }
    fn show_sql(&self) -> String {
        // Where the parts lie depends on the trace.
        format!("{}{}", self.places.comment(), Question::show_sql(&self.request))
    }
    fn fields(&self) -> Vec<Field> {
        Question::fields(&self.request)
    }
    fn top(&self) -> Top {
        Question::top(&self.request)
    }
    fn check_together(&self, all: &[(&str, &Sums)]) -> Result<()> {
        Question::check_together(&self.request, all)
    }
    fn compares(&self) -> bool {
        Question::compares(&self.request)
    }
    fn across(&self, all: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>> {
        Question::across(&self.request, all)
    }
    fn merges(&self) -> bool {
        Question::merges(&self.request)
    }
    fn one_table(&self) -> Option<&'static str> {
        Question::one_table(&self.request)
    }
    fn tagging(&self) -> Tagging<'_> {
        Question::tagging(&self.request)
    }
    fn overall(&self, all: &[Sums]) -> Vec<Line> {
        Question::overall(&self.request, all)
    }
    fn of_names(&self) -> Option<OfNames<'_>> {
        Question::of_names(&self.request)
    }
    fn answer(&self, session: &Session) -> Result<Answer> {
        let request = self.places.placed(&self.request, session)?;
        Question::answer(&*request, session).map(|answer| answer.largest_first(true))
    }
    fn answer_for_people(&self, session: &Session) -> Result<Answer> {
        let request = self.places.placed(&self.request, session)?;
        Question::answer_for_people(&*request, session).map(|answer| answer.largest_first(true))
    }
    fn read_files(&mut self, files: &dyn Files) -> std::result::Result<(), FilesError> {
        Question::read_files(&mut self.request, files)
    }
    fn descriptions(&self) -> Option<&Descriptions> {
        Question::descriptions(&self.request)
    }
    fn notes(&self, all: &[Sums]) -> Vec<String> {
        Question::notes(&self.request, all)
    }
}

/// The question of a request type.
pub struct Of<Q>(PhantomData<fn() -> Q>);

impl<Q> Of<Q> {
    /// The question.
    pub const QUESTION: Self = Self(PhantomData);
}

impl<Q: Question> AnyQuestion for Of<Q> {
    fn name(&self) -> &'static str {
        Q::NAME
    }
    fn aliases(&self) -> &'static [&'static str] {
        Q::ALIASES
    }
    fn sentence(&self) -> &'static str {
        Q::SENTENCE
    }
    fn options(&self) -> Vec<Opt> {
        with_marks(Q::options())
    }
    fn read(&self, values: &Values) -> std::result::Result<Box<dyn AnyRequest>, OptionError> {
        let options = self.options();
        let (places, values) = Places::of(&options, &by_name(&options, values)?)?;
        let request = Q::from_json(&values)?;
        request.check()?;
        Ok(Box::new(Asked { request, places }))
    }
}
