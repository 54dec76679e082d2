//! Explanations of missing rows that SQL cannot give: "not recorded", and summaries without single
//! rows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use etwkit_extract::left_out::is_row_table;
use etwkit_extract::manifest::{Detail, Manifest};
use etwkit_sql::Session;
use etwkit_trace::table::{Row, StackHash};
use etwkit_trace::topics;

/// Number of extracts that a note names.
const NAMED: usize = 3;

/// Returns the notes on the tables that the SQL names and that extracts lack.
pub(super) fn notes(session: &Session, paths: &[PathBuf], sql: &str) -> Vec<String> {
    // A statement whose tables cannot be found is no reason to reject its answer.
    let tables = session.tables_named(sql).unwrap_or_default();
    let mut lacking: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, (_, manifest)) in paths.iter().zip(session.manifests()) {
        for table in tables
            .iter()
            .filter(|table| !manifest.tables.contains_key(*table))
        {
            if let Some(why) = why(manifest, table) {
                lacking
                    .entry(why)
                    .or_default()
                    .push(path.display().to_string());
            }
        }
    }
    let note = |(why, extracts): (&String, &Vec<String>)| {
        let mut named: Vec<&str> = extracts.iter().take(NAMED).map(String::as_str).collect();
        let more = extracts.len().saturating_sub(NAMED);
        let more = if more > 0 {
            format!("{more} more")
        } else {
            String::new()
        };
        named.extend(Some(more.as_str()).filter(|more| !more.is_empty()));
        format!("{}: {why}", named.join(", "))
    };
    lacking.iter().map(note).collect()
}

/// Returns the reason why an extract has no rows of a table, unless there were none.
fn why(manifest: &Manifest, table: &str) -> Option<String> {
    let topics = topics::of_table(table);
    let known = manifest
        .topics
        .iter()
        .filter(|topic| topics.contains(&topic.topic.as_str()));
    let known: Vec<_> = known.collect();
    if known.is_empty() || known.iter().any(|topic| topic.recorded) {
        if manifest.left_out.contains(table) && table != StackHash::TABLE.name {
            return Some(format!(
                "made without {table} (--tables), which is empty for that reason"
            ));
        }
        let is_left_out = manifest.detail == Detail::Summary && is_row_table(table);
        return is_left_out.then(|| format!("summaries keep no rows of {table} and are left out"));
    }
    let names: Vec<&str> = known.iter().map(|topic| topic.topic.as_str()).collect();
    let hints: Vec<&str> = known
        .iter()
        .filter_map(|topic| topic.hint.as_deref())
        .collect();
    let how = if hints.is_empty() {
        String::new()
    } else {
        format!(" ({} records it)", hints.join(", or "))
    };
    Some(format!(
        "not recorded: {}; {table} is empty for that reason{how}",
        names.join(", ")
    ))
}
