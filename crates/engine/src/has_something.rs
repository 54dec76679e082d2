//! Checks, without a query, whether a trace has data for a question.

use etwkit_question::{AnyQuestion, AnyRequest, is_recorded_but_empty};
use etwkit_sql::Session;

/// Tables of names. Rows in them do not mean that a question has an answer.
const NAMES: [&str; 13] = [
    "process",
    "process_recorded",
    "thread",
    "trace",
    "extract",
    "topic",
    "module",
    "method",
    "frame",
    "stack",
    "stack_frame",
    "stack_text",
    "diagnostic",
];

/// Returns the tables that a statement reads and that hold more than names; `None` if they are
/// known only after the query.
#[must_use]
pub fn data_tables(session: &Session, sql: &str) -> Option<Vec<String>> {
    let mut tables = session.tables_named(sql).ok()?;
    tables.retain(|name| !NAMES.contains(&name.as_str()));
    Some(tables)
}

/// Returns `true` if a request can have an answer: if one of the tables that it reads has rows, or
/// if its tables are known only after the query.
#[must_use]
pub fn can_answer(session: &Session, request: &dyn AnyRequest) -> bool {
    // This request is about names of files, and an extract has nothing for it.
    if request.of_names().is_some() {
        return false;
    }
    let Some(tables) = data_tables(session, &request.show_sql()) else {
        return true;
    };
    tables.is_empty()
        || tables
            .iter()
            .any(|name| session.has_rows(name) == Some(true))
}

/// Returns `true` if a trace has data for a question without options.
#[must_use]
pub fn has_something(session: &Session, question: &dyn AnyQuestion) -> bool {
    let request = question.read(&serde_json::Map::new());
    request.map_or(true, |request| can_answer(session, &*request))
}

/// Returns `true` if a question without options, for which a trace [has nothing](has_something), lacks data
/// since none of it happened while it was recorded.
///
/// # Errors
/// A query fails.
pub fn did_not_happen(
    session: &Session,
    question: &dyn AnyQuestion,
) -> etwkit_question::Result<bool> {
    let Ok(request) = question.read(&serde_json::Map::new()) else {
        return Ok(false);
    };
    let Some(tables) = data_tables(session, &request.show_sql()) else {
        return Ok(false);
    };
    for table in tables {
        if is_recorded_but_empty(session, &table)? {
            return Ok(true);
        }
    }
    Ok(false)
}
