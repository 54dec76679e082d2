//! The declared questions of this crate.

use etwkit_question::{AnyQuestion, TypedQuestion};

use crate::diagnose::{DiagnoseRequest, TrendRequest};
use crate::diff::DiffRequest;
use crate::explain::ExplainRequest;
use crate::overhead::OverheadRequest;
use crate::path::PathRequest;
use crate::region::RegionRequest;
use crate::wait::WaitRequest;

/// The critical path, which is also a separate command.
pub static CRITICAL_PATH: &dyn AnyQuestion = &TypedQuestion::<PathRequest>::QUESTION;

/// The diagnosis, which is also a separate command.
pub static DIAGNOSE: &dyn AnyQuestion = &TypedQuestion::<DiagnoseRequest>::QUESTION;

/// The findings of many runs, which `diagnose --trend` shows.
pub static TREND: &dyn AnyQuestion = &TypedQuestion::<TrendRequest>::QUESTION;

/// The explanation of slow runs, which is also a separate command.
pub static EXPLAIN: &dyn AnyQuestion = &TypedQuestion::<ExplainRequest>::QUESTION;

/// The comparison of two traces, which is also a separate command.
pub static DIFF: &dyn AnyQuestion = &TypedQuestion::<DiffRequest>::QUESTION;

/// The questions, in the order in which help lists them.
pub static QUESTIONS: &[&dyn AnyQuestion] = &[
    &TypedQuestion::<RegionRequest>::QUESTION,
    &TypedQuestion::<WaitRequest>::QUESTION,
    &TypedQuestion::<OverheadRequest>::QUESTION,
    CRITICAL_PATH,
    DIAGNOSE,
    DIFF,
    EXPLAIN,
];
