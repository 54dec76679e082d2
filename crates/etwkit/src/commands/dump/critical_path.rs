//! `etwkit critical-path`.

use etwkit_analysis::questions::CRITICAL_PATH;
use etwkit_query::question::AnyQuestion;

use super::own::{Own, OwnArgs};

/// Names the question.
#[derive(Debug)]
pub(crate) struct CriticalPath;

impl Own for CriticalPath {
    fn question() -> &'static dyn AnyQuestion {
        CRITICAL_PATH
    }
}

pub(crate) type PathArgs = OwnArgs<CriticalPath>;
