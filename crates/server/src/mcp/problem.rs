//! Errors, as a tool reports them to an agent.

use etwkit_question::OptionError;
use serde_json::{Value, json};

use crate::{Unanswered, said};

/// Result of a call.
pub(crate) type Result<T> = std::result::Result<T, Problem>;

/// Error of a call. The message names the expected value, and the hint names the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Problem {
    code: &'static str,
    message: String,
    hint: Option<String>,
}

impl Problem {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
        }
    }

    /// Creates the error for wrong arguments of a call.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new("bad_arguments", message)
    }

    /// Creates the error for a valid request that this machine or server cannot carry out.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new("failed", message)
    }

    /// Creates the error for a call that the client has canceled.
    pub(crate) fn cancelled() -> Self {
        Self::new("cancelled", "the question was given up")
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    fn hinted(self, hint: Option<&str>) -> Self {
        Self {
            hint: hint.map(str::to_owned).or(self.hint),
            ..self
        }
    }

    /// Creates the error for an option of a question.
    pub(crate) fn of_option(error: &OptionError, question: &str) -> Self {
        Self::bad(said(error)).with_hint(format!(
            "`questions` with name {question:?} has the options"
        ))
    }

    pub(crate) fn json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(error), Some(hint)) = (error.as_object_mut(), &self.hint) {
            error.insert("hint".to_owned(), hint.as_str().into());
        }
        json!({ "error": error })
    }
}

impl From<etwkit_sql::Error> for Problem {
    fn from(error: etwkit_sql::Error) -> Self {
        use etwkit_sql::Error as E;
        // The code shows who can correct the problem: the agent with other arguments, the agent
        // with a smaller question, or only the owner of the machine.
        let code = match &error {
            E::Cancelled => return Self::cancelled(),
            E::Memory { .. } | E::TooMuch { .. } | E::Work { .. } => "limit",
            E::Threads(_) | E::Stopped { .. } | E::Extract(_) => "failed",
            _ => "bad_arguments",
        };
        Self::new(code, said(&error)).hinted(error.hint())
    }
}

impl From<etwkit_question::Error> for Problem {
    fn from(error: etwkit_question::Error) -> Self {
        match error {
            etwkit_question::Error::Query(error) => error.into(),
            error => Self::bad(said(&error)).hinted(error.hint()),
        }
    }
}

impl From<etwkit_engine::Error> for Problem {
    fn from(error: etwkit_engine::Error) -> Self {
        if error.is_cancelled() {
            return Self::cancelled();
        }
        match error {
            etwkit_engine::Error::Query(error) => error.into(),
            etwkit_engine::Error::Question(error) => error.into(),
            error => Self::bad(said(&error)).hinted(error.hint()),
        }
    }
}

impl From<Unanswered> for Problem {
    fn from(error: Unanswered) -> Self {
        let message = said(&error);
        match error {
            Unanswered::Busy => Self::new("limit", message).with_hint("ask again in a second"),
            Unanswered::Late(_) => Self::new("limit", message)
                .with_hint("ask for a part of the trace (range) or for one process"),
            Unanswered::Ending | Unanswered::Failed | Unanswered::Thread(_) => {
                Self::failed(message)
            }
        }
    }
}
