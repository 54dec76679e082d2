//! The diagnosis of an extract that is being made.

use std::path::Path;

use etwkit_analysis::diagnose::{diagnosis_tables, rules_version};
use etwkit_extract::Diagnosed;
use etwkit_sql::{Cancel, Options, Session, Source};

use crate::Result;

/// Diagnoses an extract that has all its rows, for the tables of the extract that takes its place.
/// `at_once` diagnoses run at the same time and share the memory.
///
/// # Errors
/// The extract cannot be read, or the diagnosis was canceled. A rule that fails is an outcome.
pub fn diagnosis_of(extract: &Path, cancel: &Cancel, at_once: usize) -> Result<Diagnosed> {
    let defaults = Options::default();
    let options = Options {
        memory_bytes: defaults.memory_bytes / at_once.max(1),
        cancel: cancel.clone(),
        ..defaults
    };
    let session = Session::new(vec![Source::open(extract)?], &options)?;
    Ok(Diagnosed {
        rows: diagnosis_tables(&session)?,
        rules: rules_version(),
    })
}
