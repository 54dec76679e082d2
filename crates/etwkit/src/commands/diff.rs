//! `etwkit diff`.

use etwkit_analysis::questions::DIFF;
use etwkit_question::AnyQuestion;

use super::dump::question_command::{NoMore, QuestionCommand, QuestionCommandArgs};

/// Names the question.
#[derive(Debug)]
pub(crate) struct Diff;

impl QuestionCommand for Diff {
    type More = NoMore;

    fn question() -> &'static dyn AnyQuestion {
        DIFF
    }
}

pub(crate) type DiffArgs = QuestionCommandArgs<Diff>;
