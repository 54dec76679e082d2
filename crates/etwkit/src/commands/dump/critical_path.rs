//! `etwkit critical-path`.

use etwkit_analysis::questions::CRITICAL_PATH;
use etwkit_question::AnyQuestion;

use super::own::{NoMore, Own, OwnArgs};

/// Names the question.
#[derive(Debug)]
pub(crate) struct CriticalPath;

impl Own for CriticalPath {
    type More = NoMore;

    fn question() -> &'static dyn AnyQuestion {
        CRITICAL_PATH
    }
}

pub(crate) type PathArgs = OwnArgs<CriticalPath>;
