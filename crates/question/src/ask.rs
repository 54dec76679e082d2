//! The typed rows of a statement.

use etwkit_extract::manifest::Topic;
use etwkit_sql::Session;
use etwkit_trace::topics;

use crate::{FromRows, Result};

/// Returns all rows of an answer.
///
/// # Errors
/// The query fails, or its columns differ from the row type.
pub fn ask<R: FromRows>(session: &Session, sql: &str) -> Result<Vec<R>> {
    let mut rows = Vec::new();
    let mut held = etwkit_sql::KeptBytes::default();
    let mut read = || -> etwkit_sql::Result<()> {
        for batch in session.sql(sql)? {
            let batch = batch?;
            held.add(&batch)?;
            rows.extend(R::read(&batch)?);
        }
        Ok(())
    };
    match read() {
        Ok(()) => Ok(rows),
        // The SQL is part of this program and works for all numbers of a recording: a number that
        // makes it fail cannot come from one.
        Err(error @ etwkit_sql::Error::Failed { .. }) => Err(session
            .strange_number()
            .map_or(error, etwkit_sql::Error::Extract)
            .into()),
        Err(error) => Err(error.into()),
    }
}

declare! {
    /// A number of rows.
    pub row Count {
        rows: i64 = "Rows.",
    }
}

/// Returns `true` if a table has rows.
///
/// # Errors
/// The query fails.
pub fn has_rows(session: &Session, table: &str) -> Result<bool> {
    if let Some(known) = session.has_rows(table) {
        return Ok(known);
    }
    let counts: Vec<Count> = ask(session, &format!("SELECT count(*) AS rows FROM {table}"))?;
    Ok(counts.iter().any(|count| count.rows > 0))
}

/// Returns `true` if a table has the rows of what happened: it has some, or it is
/// [recorded but empty](is_recorded_but_empty).
///
/// # Errors
/// The query fails.
pub fn is_recorded(session: &Session, table: &str) -> Result<bool> {
    Ok(has_rows(session, table)? || is_recorded_but_empty(session, table)?)
}

/// Returns `true` if the traces, of which an extract may have a part, have no topic that fills one of
/// these tables. Of tables without a topic, and of topics that an extract does not list, that is not
/// known.
pub(crate) fn is_never_recorded(session: &Session, tables: &[&str]) -> bool {
    let is_missing = |name: &str| {
        let mut known = session
            .manifests()
            .flat_map(|(_, manifest)| &manifest.topics)
            .filter(|topic| topic.topic == name)
            .peekable();
        known.peek().is_some() && known.all(|topic| !topic.recorded)
    };
    let topics: Vec<&str> = tables
        .iter()
        .flat_map(|table| topics::of_table(table))
        .collect();
    !topics.is_empty() && topics.into_iter().all(is_missing)
}

/// Returns `true` if a table has no rows although its topic was recorded: none of it happened, or the
/// extract is of a part of a trace that has its events elsewhere.
///
/// # Errors
/// The query fails.
pub fn is_recorded_but_empty(session: &Session, table: &str) -> Result<bool> {
    if has_rows(session, table)? || session.leaves_out(table) {
        return Ok(false);
    }
    let of_table = topics::of_table(table);
    let recorded: Vec<&Topic> = session
        .manifests()
        .flat_map(|(_, manifest)| &manifest.topics)
        .filter(|topic| topic.recorded && of_table.contains(&topic.topic.as_str()))
        .collect();
    if recorded.iter().any(|topic| topic.events == Some(0)) {
        return Ok(true);
    }
    // A topic counts the events of the whole trace, whatever part of it the extract is of. Where it fills
    // several tables, these events need not be those of the table.
    let is_outside = recorded
        .iter()
        .any(|topic| topic.events.is_some() && topics::has_one_kind(&topic.topic));
    Ok(is_outside && session.is_of_part()?)
}
