//! The library of SQL: questions of tables, and the question of each rule of a diagnosis.

use etwkit_sql::library::{Query, all};

/// Returns all built-in questions, in the order of the reference.
pub fn library() -> impl Iterator<Item = &'static Query> {
    all().iter().chain(
        etwkit_analysis::diagnose::rules()
            .iter()
            .map(etwkit_analysis::diagnose::Rule::query),
    )
}

/// Returns the question of that name, such as `cpu/processes` or `rules/dns-timeout`.
#[must_use]
pub fn library_question(name: &str) -> Option<&'static Query> {
    library().find(|query| query.name == name)
}
