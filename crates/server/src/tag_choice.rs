//! The choice of stack tags: requests of the page.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Response};
use etwkit_sql::{DEFAULT_TAG_SET, TagSet};
use etwkit_trace::xml::Text;
use serde::{Deserialize, Serialize};

use crate::api::{self, Call, Nothing};
use crate::problem::{Problem, Result};
use crate::state::Shared;
use crate::tags::{Changed, OWN};
use crate::wire::{OwnTagsRequest, TagText, TagsAnswer};

/// Longest name of a file.
const LONGEST_NAME: usize = 200;

/// Answers with the stack tags in use.
pub(crate) fn show(call: &Call<'_>, _: &Nothing) -> Result<TagsAnswer> {
    Ok(call.shared.tags.answer())
}

/// Replaces the page's own rules. If they cannot be read, or started from other rules than those in
/// use, the ones before stay.
pub(crate) fn own(call: &Call<'_>, request: &OwnTagsRequest) -> Result<TagsAnswer> {
    let text = &request.text;
    let set = if text.is_empty() {
        None
    } else {
        Some(read(OWN, text.as_bytes())?)
    };
    let changed = call.shared.tags.use_own(&request.base, text, set);
    changed.map_err(|Changed| {
        let problem = Problem::conflict("another tab or window changed your own rules");
        problem.with_hint("the list shows them as they are now: try again")
    })?;
    Ok(call.shared.tags.answer())
}

/// Uses the built-in rules again.
pub(crate) fn built_in(call: &Call<'_>, _: &Nothing) -> Result<TagsAnswer> {
    call.shared.tags.use_file(None);
    Ok(call.shared.tags.answer())
}

/// Query parameters of a file: its name without folders, which is also the name of its set.
#[derive(Deserialize)]
pub(crate) struct Named {
    name: String,
}

/// Uses the rules of a file, whose bytes are the request, in place of the built-in ones.
pub(crate) async fn file(
    State(shared): State<Arc<Shared>>,
    Query(named): Query<Named>,
    request: Request,
) -> Response {
    response(use_file(&shared, named.name, request.into_body()).await)
}

async fn use_file(shared: &Shared, name: String, body: Body) -> Result<TagsAnswer> {
    check_name(&name)?;
    let bytes = api::body(body).await?;
    let most = shared.limits.question_time;
    let set = api::answered_by(shared, most, move |_| read(&name, &bytes)).await?;
    shared.tags.use_file(Some(set));
    Ok(shared.tags.answer())
}

/// Answers with the text of a file, whose bytes are the request. The page reads rules from it.
pub(crate) async fn text(request: Request) -> Response {
    let bytes = api::body(request.into_body()).await;
    response(bytes.and_then(|bytes| decoded(&bytes)))
}

fn decoded(bytes: &[u8]) -> Result<TagText> {
    let Some(Text { text, doubts }) = Text::decode(bytes) else {
        return Err(Problem::bad("expected text in UTF-8 or UTF-16"));
    };
    Ok(TagText {
        text: text.into_owned(),
        notes: doubts,
    })
}

fn response(answer: Result<impl Serialize>) -> Response {
    match answer {
        Ok(answer) => api::json(&answer),
        Err(problem) => problem.into_response(),
    }
}

fn read(name: &str, bytes: &[u8]) -> Result<TagSet> {
    let set = TagSet::read(name, &[(name, bytes)]);
    Ok(set.map_err(etwkit_engine::Error::from)?)
}

/// Refuses a name that `--stack-tag-file` would not give to a set.
fn check_name(name: &str) -> Result<()> {
    if name == OWN || name == DEFAULT_TAG_SET {
        let message = format!("the name {name:?} belongs to another set of stack tags");
        return Err(
            Problem::bad(message).with_hint("rename the file, or edit its tags as your own")
        );
    }
    let is_plain = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.contains(|letter: char| letter.is_control() || matches!(letter, '/' | '\\'));
    if !is_plain {
        let message =
            format!("expected a file name of at most {LONGEST_NAME} bytes, without folders");
        return Err(Problem::bad(message));
    }
    Ok(())
}
