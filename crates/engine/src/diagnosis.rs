//! The answers that an extract keeps: a diagnosis and the features of its run, while it is being made.

use std::path::Path;

use etwkit_analysis::diagnose::{diagnosis_tables, rules_version};
use etwkit_analysis::explain::{feature_tables, features_version};
use etwkit_extract::{Diagnosed, Manifest};
use etwkit_sql::{Cancel, Options, Session, Source};

use crate::Result;

/// The answers that an extract should keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeptAnswers {
    /// The findings of the rules.
    pub findings: bool,
    /// The features that `explain` compares.
    pub features: bool,
}

impl KeptAnswers {
    /// Returns `true` if there is one.
    #[must_use]
    pub const fn is_any(self) -> bool {
        self.findings || self.features
    }

    /// Returns `true` if an extract has these answers, in the version of this program.
    #[must_use]
    pub fn are_in(self, manifest: &Manifest) -> bool {
        let has_findings = || manifest.rules.as_deref() == Some(rules_version().as_str());
        let has_features = || manifest.features.as_deref() == Some(features_version());
        (!self.findings || has_findings()) && (!self.features || has_features())
    }
}

/// Asks an extract that has all its rows, for the tables of the extract that takes its place. `at_once` of
/// them are asked at the same time and share the memory.
///
/// # Errors
/// The extract cannot be read, or the work was canceled. A rule that fails is an outcome.
pub fn diagnosis_of(
    extract: &Path,
    kept: KeptAnswers,
    (cancel, at_once): (&Cancel, usize),
) -> Result<Diagnosed> {
    let defaults = Options::default();
    let options = Options {
        memory_bytes: defaults.memory_bytes / at_once.max(1),
        cancel: cancel.clone(),
        ..defaults
    };
    let session = Session::new(vec![Source::open(extract)?], &options)?;
    let mut answers = Diagnosed::default();
    if kept.findings {
        answers.rows.extend(diagnosis_tables(&session)?);
        answers.rules = Some(rules_version());
    }
    if kept.features {
        answers.rows.extend(feature_tables(&session)?);
        answers.features = Some(features_version().to_owned());
    }
    Ok(answers)
}
