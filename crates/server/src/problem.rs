//! Errors, as they are sent to clients.

use std::path::{Path, PathBuf};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use etwkit_extract::StoreError;

use crate::guard::Refused;
use crate::wire::Failure;
use crate::work::Unanswered;

/// Result of a request handler.
pub(crate) type Result<T> = std::result::Result<T, Problem>;

/// A failure with its HTTP status.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    failure: Failure,
    /// The extract that was replaced by another one during the question.
    replaced: Option<PathBuf>,
}

impl Problem {
    fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self {
            status,
            failure: Failure {
                code: code.to_owned(),
                message: message.into(),
                hint: None,
            },
            replaced: None,
        }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        self.hinted(Some(hint))
    }

    /// Adds a hint, if there is one.
    pub(crate) fn hinted(mut self, hint: Option<impl Into<String>>) -> Self {
        self.failure.hint = hint.map(Into::into);
        self
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn not_ready() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "not_ready",
            "the trace is still being opened",
        )
        .with_hint("ask again when `info` says that it is ready")
    }

    /// The request does not match the state of the recording, of the search for symbols or of the
    /// own stack tags.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    /// The recorder of Windows failed.
    pub(crate) fn recorder(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "recorder", message)
    }

    pub(crate) fn not_recorded(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "not_recorded", message)
    }

    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "limit", message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "limit", message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// A table of an extract cannot be read.
    pub(crate) fn of_table(error: &StoreError) -> Self {
        let StoreError::Replaced { path } = error else {
            return Self::internal(said(error)).hinted(error.hint());
        };
        let problem = Self {
            replaced: Some(path.clone()),
            ..Self::new(StatusCode::CONFLICT, "replaced", said(error))
        };
        problem.with_hint("reload the page: it opens the extract that is there now")
    }

    /// Returns the failure of a statement of this crate whose answer is not as it was written for.
    pub(crate) fn lacking(part: &str) -> Self {
        Self::internal(format!("an answer of the database lacks {part}"))
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "the token of the link is missing or wrong",
        )
        .with_hint("open the link that `etwkit view` printed")
    }

    pub(crate) fn forbidden(message: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(crate) fn busy() -> Self {
        let message = "too many questions at once";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "limit", message)
            .with_hint("ask again in a second")
    }

    pub(crate) fn slow() -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "limit",
            "the request did not arrive in time",
        )
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "cancelled",
            "the question was given up",
        )
    }

    /// Returns the extract that was replaced during the question.
    pub(crate) fn replaced(&self) -> Option<&Path> {
        self.replaced.as_deref()
    }

    /// Returns the failure alone, for callers that do not report an HTTP status.
    pub(crate) fn into_failure(self) -> Failure {
        self.failure
    }
}

/// Formats an error and its causes in one sentence, outermost first.
#[must_use]
pub fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        next = cause.source();
    }
    text
}

impl From<etwkit_sql::Error> for Problem {
    fn from(error: etwkit_sql::Error) -> Self {
        use etwkit_sql::Error as E;
        let problem = match &error {
            E::Cancelled => return Self::cancelled(),
            E::Memory { .. } | E::TooMuch { .. } | E::Work { .. } => Self::limit(said(&error)),
            E::Extract(error) => return Self::of_table(error),
            E::Threads(_) | E::Stopped { .. } => Self::internal(said(&error)),
            _ => Self::bad(said(&error)),
        };
        problem.hinted(error.hint())
    }
}

impl From<etwkit_question::Error> for Problem {
    fn from(error: etwkit_question::Error) -> Self {
        use etwkit_question::Error as E;
        let problem = match error {
            E::Query(error) => return error.into(),
            E::NotRecorded { .. } | E::NotInPart { .. } | E::NeedsRows { .. } => {
                Self::not_recorded(said(&error))
            }
            _ => Self::bad(said(&error)),
        };
        problem.hinted(error.hint())
    }
}

impl From<etwkit_engine::Error> for Problem {
    fn from(error: etwkit_engine::Error) -> Self {
        use etwkit_engine::Error as E;
        if error.is_cancelled() {
            return Self::cancelled();
        }
        match error {
            E::Query(error) => error.into(),
            E::Question(error) => error.into(),
            E::Extract(error @ StoreError::Replaced { .. }) => Self::of_table(&error),
            error => Self::bad(said(&error)).hinted(error.hint()),
        }
    }
}

impl From<Unanswered> for Problem {
    fn from(error: Unanswered) -> Self {
        let said = error.to_string();
        match error {
            Unanswered::Busy => Self::busy(),
            Unanswered::Late(_) => {
                Self::limit(said).with_hint("ask for a smaller part of the trace")
            }
            Unanswered::Ending | Unanswered::Failed => Self::internal(said),
            Unanswered::Thread(error) => error.into(),
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Token => Self::unauthorized(),
            Refused::Host | Refused::Origin => Self::forbidden(&refused.to_string()),
        }
    }
}

impl From<etwkit_record::FailedStep> for Problem {
    fn from(failed: etwkit_record::FailedStep) -> Self {
        Self::recorder(failed.message).hinted(failed.hint)
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::internal(said(&error))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // Two texts can always be written, and without them the client still has the status.
        let body = serde_json::to_vec(&self.failure).unwrap_or_default();
        let json = [(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        )];
        let mut response = (self.status, json, body).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            // Clients that wait for a connection take precedence over rejected ones.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extract_that_was_replaced_is_no_failure_of_the_server() {
        let replaced = || StoreError::Replaced {
            path: "slow.etwx".into(),
        };
        let problems: [Problem; 3] = [
            etwkit_sql::Error::Extract(replaced()).into(),
            etwkit_question::Error::from(etwkit_sql::Error::Extract(replaced())).into(),
            etwkit_engine::Error::Extract(replaced()).into(),
        ];
        for problem in problems {
            assert_eq!(problem.status, StatusCode::CONFLICT);
            assert_eq!(problem.replaced(), Some(Path::new("slow.etwx")));
            let failure = problem.into_failure();
            assert_eq!(failure.code, "replaced");
            assert_eq!(failure.message, "slow.etwx was replaced while it was read");
            assert!(failure.hint.is_some_and(|hint| hint.contains("reload")));
        }
    }
}
