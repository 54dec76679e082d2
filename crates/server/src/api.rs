//! Handling of requests: JSON is read, a thread answers, JSON is written.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use etwkit_base::shell;
use etwkit_engine::Asking;
use etwkit_sql::Session;
use etwkit_sql::literal::quoted;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::opening;
use crate::options::Limits;
use crate::problem::{Problem, Result};
use crate::state::{Ready, Shared};
use crate::wire::Source;
use crate::words::{file_word, trace_word};

/// Longest request.
const MAX_BODY: usize = 1 << 20;

/// Longest time in which the body of a request has to arrive.
const BODY_TIME: Duration = Duration::from_secs(15);

/// A request without parameters.
#[derive(Deserialize)]
pub(crate) struct Nothing {}

/// Context of a request that is answered on its own thread.
pub(crate) struct Call<'c> {
    pub(crate) shared: &'c Arc<Shared>,
    pub(crate) asking: &'c Asking,
    begun: Instant,
}

impl Call<'_> {
    /// Returns the trace of a request.
    pub(crate) fn ready(&self, trace: u32) -> Result<Arc<Ready>> {
        self.shared.ready(trace)
    }

    pub(crate) fn session(&self, ready: &Ready) -> Result<Session> {
        ready.session(&self.shared.engine, self.asking)
    }

    /// Returns the source of an answer that comes from one statement.
    pub(crate) fn of_sql(&self, ready: &Ready, sql: String, rows_read: u64) -> Source {
        let command = self.command(ready, &sql);
        Source {
            sql,
            command,
            rows_read,
            took_ms: self.took_ms(),
            ..Source::default()
        }
    }

    /// Returns the command line of a statement, with the files of the stack tags that it uses.
    fn command(&self, ready: &Ready, sql: &str) -> String {
        let path = ready.named.display().to_string();
        let mut command = vec!["etwkit sql".to_owned()];
        // The name of a set is the name of its file.
        for set in self.asking.tags.iter() {
            if sql.contains(&quoted(set.name())) {
                command.push(format!("--stack-tag-file {}", file_word(set.name())));
            }
        }
        command.push(trace_word(&path));
        command.push(shell::quoted(&on_one_line(sql)));
        command.join(" ")
    }

    /// Returns the milliseconds since the request arrived.
    pub(crate) fn took_ms(&self) -> f64 {
        self.begun.elapsed().as_secs_f64() * 1e3
    }
}

/// What work answers on a thread of its own, in so much time at most.
pub(crate) async fn answered_by<T: Send + 'static>(
    shared: &Shared,
    most: Duration,
    work: impl FnOnce(&Asking) -> Result<T> + Send + 'static,
) -> Result<T> {
    let asking = Asking {
        tags: shared.tags.sets(),
        ..Asking::default()
    };
    shared.workers.answer(asking, most, work).await?
}

/// Routes a request with JSON in both directions.
pub(crate) fn ask<Q, A>(answer: fn(&Call<'_>, &Q) -> Result<A>) -> MethodRouter<Arc<Shared>>
where
    Q: DeserializeOwned + Send + 'static,
    A: Serialize + Send + 'static,
{
    ask_for(
        answer,
        |limits| limits.question_time,
        |answer| Ok(json(&answer)),
    )
}

/// Routes an expensive request, which has the time limit of a diagnosis.
pub(crate) fn ask_at_length<Q, A>(
    answer: fn(&Call<'_>, &Q) -> Result<A>,
) -> MethodRouter<Arc<Shared>>
where
    Q: DeserializeOwned + Send + 'static,
    A: Serialize + Send + 'static,
{
    ask_for(
        answer,
        |limits| limits.diagnosis_time,
        |answer| Ok(json(&answer)),
    )
}

/// Routes a request in JSON with an Arrow stream as its answer.
pub(crate) fn ask_arrow<Q>(
    answer: fn(&Call<'_>, &Q) -> Result<Vec<u8>>,
) -> MethodRouter<Arc<Shared>>
where
    Q: DeserializeOwned + Send + 'static,
{
    ask_for(
        answer,
        |limits| limits.question_time,
        |bytes| {
            let kind = [(header::CONTENT_TYPE, "application/vnd.apache.arrow.stream")];
            Ok((kind, bytes).into_response())
        },
    )
}

fn ask_for<Q, A>(
    answer: fn(&Call<'_>, &Q) -> Result<A>,
    time: fn(&Limits) -> Duration,
    write: impl Fn(A) -> Result<Response> + Clone + Send + Sync + 'static,
) -> MethodRouter<Arc<Shared>>
where
    Q: DeserializeOwned + Send + 'static,
    A: Send + 'static,
{
    post(
        async move |State(shared): State<Arc<Shared>>, request: Request| -> Response {
            // Measured from here on, so that the reported time includes the wait in the queue.
            let begun = Instant::now();
            let answered = async {
                let request: Q = parse(&body(request.into_body()).await?)?;
                let of_call = shared.clone();
                let work = move |asking: &Asking| {
                    answer(
                        &Call {
                            shared: &of_call,
                            asking,
                            begun,
                        },
                        &request,
                    )
                };
                let most = time(&shared.limits);
                write(answered_by(&shared, most, work).await?)
            };
            answered.await.unwrap_or_else(|problem| {
                // The extract was replaced while it was open.
                if let Some(extract) = problem.replaced() {
                    opening::again(&shared, extract);
                }
                problem.into_response()
            })
        },
    )
}

/// Answers with data that the server holds itself, without querying an extract.
pub(crate) fn known<A: Serialize + Send + 'static>(
    answer: fn(&Shared) -> A,
) -> MethodRouter<Arc<Shared>> {
    get(async move |State(shared): State<Arc<Shared>>| json(&answer(&shared)))
}

/// Reads the body of a request.
pub(crate) async fn body(body: Body) -> Result<Bytes> {
    // A body that declares an excessive length is rejected without reading any of it.
    // The lower bound is what the client declares; the rest is limited while it is read.
    let is_long = usize::try_from(body.size_hint().lower()).map_or(true, |bytes| bytes > MAX_BODY);
    if is_long {
        return Err(Problem::too_large(format!(
            "a request has at most {MAX_BODY} bytes"
        )));
    }
    // A client that sends byte by byte holds a connection for at most this long.
    let read = tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, MAX_BODY)).await;
    let read = read.map_err(|_| Problem::slow())?;
    read.map_err(|_| Problem::too_large(format!("a request has at most {MAX_BODY} bytes")))
}

/// Parses a request.
pub(crate) fn parse<Q: DeserializeOwned>(body: &[u8]) -> Result<Q> {
    serde_json::from_slice(body)
        .map_err(|error| Problem::bad(format!("the request is not understood: {error}")))
}

pub(crate) fn json(answer: &impl Serialize) -> Response {
    match serde_json::to_vec(answer) {
        Ok(bytes) => ([(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(error) => Problem::internal(error.to_string()).into_response(),
    }
}

/// Returns a statement on one line, since `cmd` takes no other as a word. One with a comment or a text of
/// several lines stays as it is, or it would be another statement.
fn on_one_line(sql: &str) -> Cow<'_, str> {
    let mut is_in_text = false;
    let has_long_text = sql.chars().any(|letter| {
        is_in_text ^= letter == '\'';
        is_in_text && letter == '\n'
    });
    if has_long_text || sql.contains("--") || sql.contains("/*") {
        return Cow::Borrowed(sql);
    }
    let lines: Vec<&str> = sql.lines().map(str::trim).collect();
    Cow::Owned(lines.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_on_one_line_if_it_stays_the_same() {
        assert_eq!(
            on_one_line("SELECT 'it''s  1'\n  FROM (\n  t)"),
            "SELECT 'it''s  1' FROM ( t)"
        );
        for sql in [
            "SELECT 1 -- one\nFROM t",
            "SELECT /* one\n*/ 1",
            "SELECT 'a\nb'\nFROM t",
        ] {
            assert_eq!(on_one_line(sql), sql);
        }
    }
}
