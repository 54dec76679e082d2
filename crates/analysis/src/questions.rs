//! The declared questions of this crate.

use etwkit_query::question::{AnyQuestion, Of};

use crate::wait_question::WaitQuestion;

/// The questions, in the order in which help lists them.
pub static QUESTIONS: &[&dyn AnyQuestion] = &[&Of::<WaitQuestion>::QUESTION];
