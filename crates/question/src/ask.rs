//! The typed rows of a statement.

use etwkit_sql::Session;

use crate::{FromRows, Result};

/// Returns all rows of an answer.
///
/// # Errors
/// The query fails, or its columns differ from the row type.
pub fn ask<R: FromRows>(session: &Session, sql: &str) -> Result<Vec<R>> {
    let mut rows = Vec::new();
    let mut held = etwkit_sql::Held::default();
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

/// Returns `true` if a table is empty since nothing of it happened while it was recorded.
///
/// # Errors
/// The query fails.
pub fn is_known_empty(session: &Session, table: &str) -> Result<bool> {
    let sql = format!(
        "SELECT count(*) AS rows FROM topic
WHERE is_recorded AND events = 0 AND concat(';', tables, ';') LIKE '%;{table};%'"
    );
    let counts: Vec<Count> = ask(session, &sql)?;
    Ok(counts.iter().any(|count| count.rows > 0))
}
