//! Whether a trace has something for a question, without asking it.

use etwkit_query::Session;
use etwkit_query::question::{AnyQuestion, AnyRequest};

/// Tables that say what things are called. That they have rows does not mean that a question has an answer.
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

/// The tables that a statement reads and that hold more than names of things; `None` where this is not known
/// before it is asked.
#[must_use]
pub fn data_tables(session: &Session, sql: &str) -> Option<Vec<String>> {
    let mut tables = session.tables_named(sql).ok()?;
    tables.retain(|name| !NAMES.contains(&name.as_str()));
    Some(tables)
}

/// Whether a request can have an answer: whether one of the tables that it reads has rows. Where that is not
/// known before it is asked, it can.
#[must_use]
pub fn can_answer(session: &Session, request: &dyn AnyRequest) -> bool {
    // Such a request is asked of names of files, and an extract has nothing for it.
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

/// Whether a trace has something for a question as it is asked without options.
#[must_use]
pub fn has_something(session: &Session, question: &dyn AnyQuestion) -> bool {
    let request = question.read(&serde_json::Map::new());
    request.map_or(true, |request| can_answer(session, &*request))
}
