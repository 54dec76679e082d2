//! Gaps of a trace: lost events, missing or damaged buffers, addresses without names.
//!
//! Opening an extract or a trace also returns its gaps, so that no answer is given without them.

use std::path::PathBuf;

use etwkit_base::digits::grouped;
use etwkit_extract::manifest::{Manifest, NativeNames};
use etwkit_sql::Session;
use etwkit_trace::health::INCOMPLETE;
use etwkit_trace::table::Diagnostic;
use serde_json::{Map, Value, json};

/// The gaps of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gaps {
    /// The trace or extract, as it was named.
    trace: String,
    /// Lost, missing or damaged parts: kind, number, description.
    lost: Vec<(String, i64, String)>,
    /// Native addresses without a name, if the answer shows methods.
    unnamed: Option<NativeNames>,
}

impl Gaps {
    /// Returns the gaps of an extract, by the name that was given.
    #[must_use]
    pub fn of_extract(trace: &str, manifest: &Manifest) -> Self {
        let rows = manifest
            .diagnostics
            .iter()
            .map(|d| (d.kind.as_str(), d.count, d.message.as_str()));
        Self::new(trace, rows)
    }

    /// Returns the gaps of a trace that is read without an extract.
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
        // Some diagnostics are only informative; the ones in the list make answers incomplete.
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

    /// Adds the missing names, for an answer that shows methods.
    #[must_use]
    pub fn with_names(mut self, manifest: &Manifest) -> Self {
        self.unnamed = manifest
            .native_names
            .filter(|names| names.named < names.addresses);
        self
    }

    /// Returns these gaps with another name of the trace.
    #[must_use]
    pub fn called(self, trace: &str) -> Self {
        Self {
            trace: trace.to_owned(),
            ..self
        }
    }

    /// Returns `true` if there are no gaps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.unnamed.is_none()
    }

    /// Returns `true` if events or buffers are missing or damaged.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Returns the trace or extract, as it was named.
    #[must_use]
    pub fn trace(&self) -> &str {
        &self.trace
    }

    /// Returns native addresses without a name, if the answer shows methods and some have none.
    #[must_use]
    pub fn unnamed(&self) -> Option<NativeNames> {
        self.unnamed
    }

    /// Updates the gaps with the gaps from another answer to the same trace.
    pub fn update(&mut self, newer: Self) {
        // An answer that shows no methods does not look at names: the result of an earlier one
        // stays.
        let unnamed = newer.unnamed.or(self.unnamed);
        *self = Self { unnamed, ..newer };
    }

    /// Describes missing or damaged parts: `2 events lost while recording, events reach to 1 s`.
    #[must_use]
    pub fn words(&self) -> String {
        let is_cut = self.lost.iter().any(|(kind, ..)| kind == "cut_short");
        // If a trace is cut short, its incomplete last buffer is implied.
        let shown = self
            .lost
            .iter()
            .filter(|(kind, ..)| !is_cut || kind != "truncated_buffer");
        shown
            .map(|(.., words)| words.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns JSON with the missing parts by kind, and a description.
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

/// Formats `1 event lost`, `2 events lost`: the first word is the counted noun.
fn counted(count: i64, what: &str) -> String {
    let what = match what.split_once(' ') {
        Some((noun, rest)) if count == 1 => format!("{} {rest}", noun.trim_end_matches('s')),
        _ => what.to_owned(),
    };
    format!("{} {what}", grouped(count.unsigned_abs()))
}

/// Returns the gaps of the extracts of a session that was opened at these paths.
#[must_use]
pub fn of_paths(paths: &[PathBuf], session: &Session) -> Vec<Gaps> {
    of_named(paths, session, false)
}

/// Returns the gaps of the extracts of a session that was opened at these paths. `shows_methods`:
/// the answer names methods.
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

/// Returns the gaps of the extracts of a session. `shows_methods`: the answer names methods.
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
        let words = "1,234 events lost while recording, events reach to 1 s";
        assert_eq!((gaps.words().as_str(), gaps.is_incomplete()), (words, true));
        let incomplete = &gaps.json()["incomplete"];
        assert_eq!(incomplete["lost_events"], 1234);
        assert_eq!(incomplete["message"], words);
        assert!(incomplete.get("stack_reused").is_none(), "that is no gap");
    }
}
