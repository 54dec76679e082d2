//! Questions of unknown type, as front ends hold them.

use std::marker::PhantomData;

use super::options::by_name;
use super::places::{Places, with_marks};
use super::{
    Answer, Descriptions, Example, Files, FilesError, Line, OfNames, Opt, OptionError, Question,
    Request, Sums, Tagging, Values,
};
use crate::Result;
use crate::group::Top;
use crate::rows::Field;
use crate::trace::TraceInfo;
use etwkit_sql::Session;

/// A question of any type.
pub trait AnyQuestion: Sync {
    /// Name of the question, as in `etwkit dump NAME`.
    fn name(&self) -> &'static str;
    /// Returns other names.
    fn aliases(&self) -> &'static [&'static str];
    /// Description of the answer, in one sentence without a full stop.
    fn sentence(&self) -> &'static str;
    /// Returns [`Question::USUAL`].
    fn usual(&self) -> &'static [&'static str];
    /// Returns [`Question::EXAMPLES`].
    fn examples(&self) -> &'static [Example];
    /// Returns [`Question::OF_ALL`].
    fn is_of_all(&self) -> bool;
    /// Returns [`Question::OF_TWO`].
    fn is_of_two(&self) -> bool;
    /// Returns its options, in the order in which they are declared.
    fn options(&self) -> Vec<Opt>;
    /// Reads a request from values.
    ///
    /// # Errors
    /// A name that is not an option, or a value that the option does not take.
    fn read(&self, values: &Values) -> std::result::Result<Box<dyn AnyRequest>, OptionError>;
}

/// A request with its ranges that are written as clock times.
struct RequestWithRanges<Q> {
    request: Q,
    places: Places,
}

/// Declares [`AnyRequest`]: methods that delegate to the methods of [`Question`] of the same name,
/// and others.
macro_rules! any_request {
    (
        handed on { $( fn $handed:ident(&self $(, $argument:ident: $type:ty)*) -> $result:ty; )+ }
        own { $( $(#[$doc:meta])+ fn $own:ident($($self:tt)+) -> $own_result:ty $body:block )+ }
    ) => {
        /// A request of any type.
        pub trait AnyRequest: Send + Sync {
            $( $(#[$doc])+ fn $own($($self)+) -> $own_result; )+
            $(
                #[doc = concat!("See [`Question::", stringify!($handed), "`].")]
                fn $handed(&self $(, $argument: $type)*) -> $result;
            )+
        }

        impl<Q: Question> AnyRequest for RequestWithRanges<Q> {
            $( fn $own($($self)+) -> $own_result $body )+
            $( fn $handed(&self $(, $argument: $type)*) -> $result {
                Question::$handed(&self.request $(, $argument)*)
            } )+
        }
    };
}

any_request! {
    handed on {
        fn fields(&self) -> Vec<Field>;
        fn top(&self) -> Top;
        fn check_together(&self, all: &[(&str, &Sums)]) -> Result<()>;
        fn compares(&self) -> bool;
        fn across(&self, all: &mut [(&TraceInfo, &mut Answer)]) -> Result<Option<Answer>>;
        fn merges(&self) -> bool;
        fn nothing_found(&self) -> Option<&'static str>;
        fn one_table(&self) -> Option<&'static str>;
        fn tagging(&self) -> Tagging<'_>;
        fn of_names(&self) -> Option<OfNames<'_>>;
        fn descriptions(&self) -> Option<&Descriptions>;
        fn file_notes(&self) -> Vec<String>;
        fn notes(&self, all: &[Sums]) -> Vec<String>;
    }
    own {
        /// Returns [`Question::OF_ALL`].
        fn is_of_all(&self) -> bool {
            Q::OF_ALL
        }
        /// Returns the values that differ from the defaults.
        fn write(&self) -> Values {
            let mut values = Request::write(&self.request);
            values.extend(self.places.written());
            values
        }
        /// Returns [`Question::show_sql`], without ranges whose position depends on the trace.
        fn show_sql(&self) -> String {
            format!("{}{}", self.places.comment(), Question::show_sql(&self.request))
        }
        /// Runs the question; if rows are ranked by size, the largest come first.
        ///
        /// # Errors
        /// The errors of [`Question::answer`].
        fn answer(&self, session: &Session) -> Result<Answer> {
            let request = self.places.placed(&self.request, session)?;
            let answer = Question::answer(&*request, session)?;
            Ok(answer.largest_first(true).limited(self.top(), self.has_fewer_processes()))
        }
        /// Calls [`Question::answer_for_people`].
        ///
        /// # Errors
        /// The errors of [`Question::answer`].
        fn answer_for_people(&self, session: &Session) -> Result<Answer> {
            let request = self.places.placed(&self.request, session)?;
            let answer = Question::answer_for_people(&*request, session)?;
            Ok(answer.largest_first(true).limited(self.top(), self.has_fewer_processes()))
        }
        /// Calls [`Question::answer_for_rows`].
        ///
        /// # Errors
        /// The errors of [`Question::answer`].
        fn answer_for_rows(&self, session: &Session) -> Result<Answer> {
            let request = self.places.placed(&self.request, session)?;
            let answer = Question::answer_for_rows(&*request, session)?;
            Ok(answer.largest_first(true).limited(self.top(), self.has_fewer_processes()))
        }
        /// Calls [`Question::why_nothing`].
        ///
        /// # Errors
        /// The query fails.
        fn why_nothing(&self, session: &Session) -> Result<Option<String>> {
            let request = self.places.placed(&self.request, session)?;
            Question::why_nothing(&*request, session)
        }
        /// Returns `true` if the request leaves out processes by their rank.
        fn has_fewer_processes(&self) -> bool {
            let values = Request::write(&self.request);
            ["top-processes", "skip-processes"].iter().any(|name| values.contains_key(*name))
        }
        /// Returns the lines of [`Question::overall`], which say so where rows were left out.
        fn overall(&self, all: &[Sums]) -> Vec<Line> {
            let lines = Question::overall(&self.request, all);
            let top = self.top();
            if top.most().is_none() && top.skip == 0 {
                return lines;
            }
            lines.into_iter().map(Line::of_shown).collect()
        }
        /// Calls [`Question::read_files`].
        ///
        /// # Errors
        /// One of the files cannot be read, or has another content than expected.
        fn read_files(&mut self, files: &dyn Files) -> std::result::Result<(), FilesError> {
            Question::read_files(&mut self.request, files)
        }
    }
}

/// The question of a request type.
pub struct TypedQuestion<Q>(PhantomData<fn() -> Q>);

impl<Q> TypedQuestion<Q> {
    /// The question.
    pub const QUESTION: Self = Self(PhantomData);
}

impl<Q: Question> AnyQuestion for TypedQuestion<Q> {
    fn name(&self) -> &'static str {
        Q::NAME
    }
    fn aliases(&self) -> &'static [&'static str] {
        Q::ALIASES
    }
    fn sentence(&self) -> &'static str {
        Q::SENTENCE
    }
    fn usual(&self) -> &'static [&'static str] {
        Q::USUAL
    }
    fn examples(&self) -> &'static [Example] {
        Q::EXAMPLES
    }
    fn is_of_all(&self) -> bool {
        Q::OF_ALL
    }
    fn is_of_two(&self) -> bool {
        Q::OF_TWO
    }
    fn options(&self) -> Vec<Opt> {
        with_marks(Q::options())
    }
    fn read(&self, values: &Values) -> std::result::Result<Box<dyn AnyRequest>, OptionError> {
        // Parts with clock times and marks are taken out first: only a trace gives them numbers,
        // and the declared options take nothing but numbers.
        let options = self.options();
        let (places, values) = Places::of(&options, &by_name(&options, values)?)?;
        let request = Q::from_json(&values)?;
        request.check()?;
        Ok(Box::new(RequestWithRanges { request, places }))
    }
}
