//! `etwkit diff`.

use etwkit_analysis::questions::DIFF;
use etwkit_question::AnyQuestion;

use super::dump::own::{NoMore, Own, OwnArgs};

/// Names the question.
#[derive(Debug)]
pub(crate) struct Diff;

impl Own for Diff {
    type More = NoMore;

    fn question() -> &'static dyn AnyQuestion {
        DIFF
    }
}

pub(crate) type DiffArgs = OwnArgs<Diff>;
