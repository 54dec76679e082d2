//! The declared questions of this crate.

use etwkit_query::question::{AnyQuestion, Of};

use crate::path::PathRequest;
use crate::region::RegionRequest;
use crate::wait_question::WaitQuestion;

/// The critical path, which is a command of its own, too.
pub static CRITICAL_PATH: &dyn AnyQuestion = &Of::<PathRequest>::QUESTION;

/// The questions, in the order in which help lists them.
pub static QUESTIONS: &[&dyn AnyQuestion] =
    &[&Of::<RegionRequest>::QUESTION, &Of::<WaitQuestion>::QUESTION, CRITICAL_PATH];
