//! What a trace lacks: events that were lost, buffers that are missing or damaged, addresses without names.
//!
//! Whoever opens extracts or traces gets their gaps with them, so that no answer is given without them.

use std::path::PathBuf;

use etwkit_base::digits::grouped;
use etwkit_extract::manifest::{Manifest, NativeNames};
use etwkit_query::Session;
use etwkit_trace::health::INCOMPLETE;
use etwkit_trace::table::Diagnostic;
use serde_json::{Map, Value, json};

/// What a trace lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gaps {
    /// The trace or extract, as it was named.
    trace: String,
    /// What was lost, missing or damaged: kind, how often, in words.
    lost: Vec<(String, i64, String)>,
    /// Native addresses without a name, where the answer shows methods.
    unnamed: Option<NativeNames>,
}

impl Gaps {
    /// The gaps of an extract, by the name that it was asked under.
    #[must_use]
    pub fn of_extract(trace: &str, manifest: &Manifest) -> Self {
        let rows = manifest
            .diagnostics
            .iter()
            .map(|d| (d.kind.as_str(), d.count, d.message.as_str()));
        Self::new(trace, rows)
    }

    /// The gaps of a trace that is read as it is.
    #[must_use]
    pub fn of_trace(trace: &str, health: &[Diagnostic]) -> Self {
        Self::new(
            trace,
            health
                .iter()
                .map(|d| (d.kind.as_str(), d.count, d.message.as_str())),
        )
    }

    fn new<'d>(trace: &str, rows: impl Iterator<Item = (&'d str, i64, &'d str)>) -> Self {
        // Some diagnostics are only worth knowing; those in the list make answers incomplete.
        let lost = rows.filter_map(|(kind, count, message)| {
            let (_, what) = INCOMPLETE.iter().find(|(known, _)| *known == kind)?;
            let words = if what.is_empty() {
                message.to_owned()
            } else {
                counted(count, what)
            };
            Some((kind.to_owned(), count, words))
        });
        Self {
            trace: trace.to_owned(),
            lost: lost.collect(),
            unnamed: None,
        }
    }

    /// Adds the names that are missing, for an answer that shows methods.
    #[must_use]
    pub fn with_names(mut self, manifest: &Manifest) -> Self {
        self.unnamed = manifest
            .native_names
            .filter(|names| names.named < names.addresses);
        self
    }

    /// These gaps, of the trace by another name.
    #[must_use]
    pub fn called(self, trace: &str) -> Self {
        Self {
            trace: trace.to_owned(),
            ..self
        }
    }

    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.unnamed.is_none()
    }

    /// Whether events or buffers are missing or damaged.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The trace or extract, as it was named.
    #[must_use]
    pub fn trace(&self) -> &str {
        &self.trace
    }

    /// Native addresses without a name, where the answer shows methods and some have none.
    #[must_use]
    pub fn unnamed(&self) -> Option<NativeNames> {
        self.unnamed
    }

    /// Takes what another answer to the same trace found out about it.
    pub fn update(&mut self, newer: Self) {
        // An answer that shows no methods does not look at names: what an earlier one found out about them
        // stays.
        let unnamed = newer.unnamed.or(self.unnamed);
        *self = Self { unnamed, ..newer };
    }

    /// What is missing or damaged, in words: `2 events lost while recording, events reach to 1 s`.
    #[must_use]
    pub fn words(&self) -> String {
        let is_cut = self.lost.iter().any(|(kind, ..)| kind == "cut_short");
        // Where a trace is cut short, that its last buffer is not whole goes without saying.
        let shown = self
            .lost
            .iter()
            .filter(|(kind, ..)| !is_cut || kind != "truncated_buffer");
        shown
            .map(|(.., words)| words.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// For machines: what is missing by kind, and in words.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut object: Map<String, Value> = self
            .lost
            .iter()
            .map(|(kind, count, _)| (kind.clone(), json!(count)))
            .collect();
        if let Some(names) = self.unnamed {
            object.insert("native_addresses".into(), json!(names.addresses));
            object.insert(
                "unnamed_addresses".into(),
                json!(names.addresses.saturating_sub(names.named)),
            );
        }
        if !self.lost.is_empty() {
            object.insert("message".into(), json!(self.words()));
        }
        json!({ "trace": self.trace, "incomplete": object })
    }
}

/// `1 event lost`, `2 events lost`: the first word is what is counted.
fn counted(count: i64, what: &str) -> String {
    let what = match what.split_once(' ') {
        Some((noun, rest)) if count == 1 => format!("{} {rest}", noun.trim_end_matches('s')),
        _ => what.to_owned(),
    };
    format!("{} {what}", grouped(count.unsigned_abs()))
}

/// The gaps of the extracts of a session that was opened at these paths.
#[must_use]
pub fn of_paths(paths: &[PathBuf], session: &Session) -> Vec<Gaps> {
    of_named(paths, session, false)
}

/// The gaps of the extracts of a session that was opened at these paths. `shows_methods`: the answer names
/// methods.
pub(crate) fn of_named(paths: &[PathBuf], session: &Session, shows_methods: bool) -> Vec<Gaps> {
    let gaps = paths
        .iter()
        .zip(session.manifests())
        .map(|(path, (_, manifest))| {
            let gaps = Gaps::of_extract(&path.display().to_string(), manifest);
            if shows_methods {
                gaps.with_names(manifest)
            } else {
                gaps
            }
        });
    gaps.filter(|gaps| !gaps.is_empty()).collect()
}

/// The gaps of the extracts of a session. `shows_methods`: the answer names methods.
pub(crate) fn of_session(session: &Session, trace: Option<&str>, shows_methods: bool) -> Vec<Gaps> {
    let extracts = session.manifests().map(|(path, manifest)| {
        let gaps = Gaps::of_extract(trace.unwrap_or(path), manifest);
        if shows_methods {
            gaps.with_names(manifest)
        } else {
            gaps
        }
    });
    extracts.filter(|gaps| !gaps.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_reported_in_words_and_by_kind() {
        let rows = [
            ("lost_events", 1234, ""),
            ("cut_short", 1, "events reach to 1 s"),
            ("truncated_buffer", 1, "left out"),
            ("stack_reused", 5, ""),
        ];
        let gaps = Gaps::new("a.etl", rows.into_iter());
        let words = "1 234 events lost while recording, events reach to 1 s";
        assert_eq!((gaps.words().as_str(), gaps.is_incomplete()), (words, true));
        let incomplete = &gaps.json()["incomplete"];
        assert_eq!(incomplete["lost_events"], 1234);
        assert_eq!(incomplete["message"], words);
        assert!(incomplete.get("stack_reused").is_none(), "that is no gap");
    }
}
