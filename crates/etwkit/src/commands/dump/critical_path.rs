//! `etwkit critical-path`.

use etwkit_analysis::questions::CRITICAL_PATH;
use etwkit_question::AnyQuestion;

use super::question_command::{NoMore, QuestionCommand, QuestionCommandArgs};

/// Names the question.
#[derive(Debug)]
pub(crate) struct CriticalPath;

impl QuestionCommand for CriticalPath {
    type More = NoMore;

    fn question() -> &'static dyn AnyQuestion {
        CRITICAL_PATH
    }
}

pub(crate) type PathArgs = QuestionCommandArgs<CriticalPath>;
