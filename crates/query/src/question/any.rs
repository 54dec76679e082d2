//! Questions whose types are not known: what front ends hold.

use std::marker::PhantomData;

use super::{Answer, Line, Opt, OptionError, Question, Request, Sums, Tagging, Values};
use crate::Session;
use crate::dump::rows::Field;
use crate::dump::{Result, Top};

/// A question of any type.
pub trait AnyQuestion: Sync {
    /// As it is called behind `dump`.
    fn name(&self) -> &'static str;
    /// Other names.
    fn aliases(&self) -> &'static [&'static str];
    /// What it tells, in one sentence without a full stop.
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
    /// See [`Question::compare`].
    fn compare(&self, all: &mut [&mut Answer]);
    /// See [`Question::merges`].
    fn merges(&self) -> bool;
    /// See [`Question::one_table`].
    fn one_table(&self) -> Option<&'static str>;
    /// See [`Question::tagging`].
    fn tagging(&self) -> Tagging<'_>;
    /// See [`Question::overall`].
    fn overall(&self, all: &[Sums]) -> Vec<Line>;
    /// Asks.
    ///
    /// # Errors
    /// Those of [`Question::answer`].
    fn answer(&self, session: &Session) -> Result<Answer>;
}

impl<Q: Question> AnyRequest for Q {
    fn write(&self) -> Values {
        Request::write(self)
    }
    fn show_sql(&self) -> String {
        Question::show_sql(self)
    }
    fn fields(&self) -> Vec<Field> {
        Question::fields(self)
    }
    fn top(&self) -> Top {
        Question::top(self)
    }
    fn check_together(&self, all: &[(&str, &Sums)]) -> Result<()> {
        Question::check_together(self, all)
    }
    fn compares(&self) -> bool {
        Question::compares(self)
    }
    fn compare(&self, all: &mut [&mut Answer]) {
        Question::compare(self, all);
    }
    fn merges(&self) -> bool {
        Question::merges(self)
    }
    fn one_table(&self) -> Option<&'static str> {
        Question::one_table(self)
    }
    fn tagging(&self) -> Tagging<'_> {
        Question::tagging(self)
    }
    fn overall(&self, all: &[Sums]) -> Vec<Line> {
        Question::overall(self, all)
    }
    fn answer(&self, session: &Session) -> Result<Answer> {
        Question::answer(self, session)
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
        Q::options()
    }
    fn read(&self, values: &Values) -> std::result::Result<Box<dyn AnyRequest>, OptionError> {
        let request = Q::from_json(values)?;
        request.check()?;
        Ok(Box::new(request))
    }
}
