//! Names of processes and methods in the loaded files, read on demand.

use std::path::Path;

use etwkit_engine::{Asking, Engine};
use etwkit_sql::arrow::util::display::{ArrayFormatter, FormatOptions};
use etwkit_sql::literal::quoted;
use etwkit_terminal::escape;

/// Largest number of extracts that are searched for names.
const MAX_EXTRACTS: usize = 8;
/// Names of one extract.
const MAX_NAMES: usize = 200;
/// Longer names are not typed.
const MAX_CHARS: usize = 300;

/// Kind of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Process,
    Method,
}

/// Returns names with this prefix, in any case. Extracts that cannot be queried have none.
pub(super) fn beginning<'p>(
    kind: Kind,
    begin: &str,
    extracts: impl Iterator<Item = &'p Path>,
    engine: &Engine,
) -> Vec<String> {
    let mut all = Vec::new();
    for extract in extracts.take(MAX_EXTRACTS) {
        all.extend(of_one(kind, begin, extract, engine).unwrap_or_default());
    }
    all.retain(|name| is_plain(name));
    all.sort();
    all.dedup();
    all
}

/// True if a name can be shown and typed without escapes or quotes.
pub(super) fn is_plain(name: &str) -> bool {
    name.chars().count() <= MAX_CHARS && escape::text(name) == name
}

/// The names that begin so.
fn sql(kind: Kind, begin: &str) -> String {
    let table = match kind {
        Kind::Process => "process",
        Kind::Method => "method",
    };
    format!(
        "SELECT DISTINCT name FROM {table} WHERE starts_with(lower(name), {}) ORDER BY name LIMIT {MAX_NAMES}",
        quoted(&begin.to_lowercase())
    )
}

fn of_one(kind: Kind, begin: &str, extract: &Path, engine: &Engine) -> anyhow::Result<Vec<String>> {
    let session = engine.open(&Asking::default(), &[extract.to_owned()], &mut Vec::new())?;
    let mut names = Vec::new();
    for batch in session.sql(&sql(kind, begin))? {
        let batch = batch?;
        let options = FormatOptions::default();
        let Some(column) = batch.columns().first() else {
            continue;
        };
        let column = ArrayFormatter::try_new(column, &options)?;
        names.extend((0..batch.num_rows()).map(|row| column.value(row).to_string()));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_that_is_typed_stays_in_its_literal() {
        let sql = sql(Kind::Process, "It's");
        assert!(sql.contains("starts_with(lower(name), 'it''s') "), "{sql}");
    }
}
