//! Description of a trace that is ready.

use etwkit_engine::{did_not_happen, has_something, questions};
use etwkit_extract::manifest::Detail;
use etwkit_question::{AnyQuestion, is_recorded_but_empty};
use etwkit_sql::Session;
use etwkit_trace::health::INCOMPLETE;
use etwkit_trace::table::Table;

use crate::cells::{one_row, whole_at};
use crate::problem::{Problem, Result};
use crate::wire::{Opening, Range, TableCount, TopicInfo};

/// Returns the description of the one trace of a session.
pub(crate) fn about(session: &Session) -> Result<Opening> {
    let (_, manifest) = session
        .manifests()
        .next()
        .ok_or_else(|| Problem::internal("the extract has no manifest"))?;
    let sql = "SELECT coalesce(range_start_ns, 0), coalesce(range_end_ns, duration_ns) FROM trace";
    let bounds = one_row(session, sql)?;
    let missing = manifest
        .diagnostics
        .iter()
        .filter(|d| INCOMPLETE.iter().any(|(kind, _)| *kind == d.kind));
    let topics = manifest.topics.iter();
    let (answered, others): (Vec<_>, Vec<_>) =
        questions().partition(|question| has_something(session, *question));
    Ok(Opening {
        hash: manifest.source.hash.clone(),
        range: Range {
            from_ns: whole_at(&bounds, 0)?,
            to_ns: whole_at(&bounds, 1)?,
        },
        start_filetime: manifest.clock.start_filetime.to_string(),
        computer: manifest.machine.computer.clone(),
        os: manifest.machine.os_version.clone(),
        processors: manifest.machine.processors.max(0).cast_unsigned(),
        // A summary has sums of the whole trace and cannot be queried for a part of it. The page
        // shows this.
        is_summary: manifest.detail != Detail::Full,
        tables: tables(session),
        topics: topics
            .map(|t| TopicInfo {
                name: t.topic.clone(),
                is_recorded: t.recorded,
            })
            .collect(),
        missing: missing.map(|d| d.message.clone()).collect(),
        questions: answered.iter().map(|q| q.name().to_owned()).collect(),
        did_not_happen: silent(session, &others)?,
    })
}

/// Returns the tables that were recorded and have no rows, and those of the questions without an answer that
/// find nothing for that reason.
fn silent(session: &Session, unanswered: &[&dyn AnyQuestion]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for table in etwkit_sql::tables() {
        if is_recorded_but_empty(session, table.name)? {
            names.push(table.name.to_owned());
        }
    }
    for question in unanswered {
        if did_not_happen(session, *question)? {
            names.push(question.name().to_owned());
        }
    }
    Ok(names)
}

/// Returns the tables that have rows, according to the manifests.
fn tables(session: &Session) -> Vec<TableCount> {
    let count = |table: &Table| TableCount {
        name: table.name.to_owned(),
        rows: session.row_count(table.name),
    };
    etwkit_sql::tables()
        .filter(|table| session.has_rows(table.name) == Some(true))
        .map(count)
        .collect()
}
