//! `etwkit diff`.

use etwkit_analysis::questions::DIFF;
use etwkit_query::question::AnyQuestion;

use super::dump::own::{Own, OwnArgs};

/// Names the question.
#[derive(Debug)]
pub(crate) struct Diff;

impl Own for Diff {
    fn question() -> &'static dyn AnyQuestion {
        DIFF
    }
}

pub(crate) type DiffArgs = OwnArgs<Diff>;
