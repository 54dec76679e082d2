//! The declared questions of this crate.

use etwkit_question::{AnyQuestion, Of};

use crate::diagnose::{DiagnoseRequest, TrendRequest};
use crate::diff::DiffRequest;
use crate::explain::ExplainRequest;
use crate::overhead::OverheadRequest;
use crate::path::PathRequest;
use crate::region::RegionRequest;
use crate::wait_question::WaitQuestion;

/// The critical path, which is also a separate command.
pub static CRITICAL_PATH: &dyn AnyQuestion = &Of::<PathRequest>::QUESTION;

/// The diagnosis, which is also a separate command.
pub static DIAGNOSE: &dyn AnyQuestion = &Of::<DiagnoseRequest>::QUESTION;

/// The findings of many runs, which `diagnose --trend` shows.
pub static TREND: &dyn AnyQuestion = &Of::<TrendRequest>::QUESTION;

/// The explanation of slow runs, which is also a separate command.
pub static EXPLAIN: &dyn AnyQuestion = &Of::<ExplainRequest>::QUESTION;

/// The comparison of two traces, which is also a separate command.
pub static DIFF: &dyn AnyQuestion = &Of::<DiffRequest>::QUESTION;

/// The questions, in the order in which help lists them.
pub static QUESTIONS: &[&dyn AnyQuestion] = &[
    &Of::<RegionRequest>::QUESTION,
    &Of::<WaitQuestion>::QUESTION,
    &Of::<OverheadRequest>::QUESTION,
    CRITICAL_PATH,
    DIAGNOSE,
    DIFF,
    EXPLAIN,
];
