//! The library of SQL, with the questions of rules.

use std::collections::BTreeSet;
use std::path::Path;

use etwkit_engine::{library, library_question};
use etwkit_sql::reference;

#[test]
fn the_reference_is_as_it_is_declared() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = reference::page(library());
    if std::env::var_os("ETWKIT_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        found == page,
        "docs/sql.md is stale; ETWKIT_BLESS=1 writes it"
    );
}

#[test]
fn every_rule_stands_on_a_question_of_its_name() {
    let names: BTreeSet<&str> = library().map(|query| &*query.name).collect();
    assert_eq!(names.len(), library().count(), "no name twice");
    for rule in etwkit_analysis::diagnose::rules() {
        let query = library_question(&format!("rules/{}", rule.name)).unwrap();
        assert_eq!(query, rule.query(), "{}", rule.name);
        assert_eq!(query.doc(), rule.title, "{}", rule.name);
        // The header is not a part of the query.
        let sql = query.sql(false);
        assert!(
            !sql.starts_with("--") && rule.text().trim_end().ends_with(sql.trim_end()),
            "{}",
            rule.name
        );
    }
}
