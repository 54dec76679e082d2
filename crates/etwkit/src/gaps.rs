//! What every answer says of a trace that is not whole: a line on the error stream, and a field of JSON.
//!
//! Whoever opens extracts or traces for a command hands their gaps to the printer, which says them once for
//! each answer.

use std::path::PathBuf;

use etwkit_extract::manifest::{Manifest, NativeNames};
use etwkit_query::Session;
use etwkit_trace::health::INCOMPLETE;
use etwkit_trace::table::Diagnostic;
use serde_json::{Map, Value, json};

use crate::numbers::Numbers;

/// Traces that a line names.
const NAMED: usize = 3;

/// What a trace lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gaps {
    /// The trace or extract, as it was named.
    trace: String,
    /// What was lost, missing or damaged: kind, how often, in words.
    lost: Vec<(String, i64, String)>,
    /// Native addresses without a name, where the answer shows methods.
    unnamed: Option<NativeNames>,
}

impl Gaps {
    /// Of an extract.
    pub(crate) fn of_extract(trace: &str, manifest: &Manifest) -> Self {
        let rows = manifest.diagnostics.iter().map(|d| (d.kind.as_str(), d.count, d.message.as_str()));
        Self::new(trace, rows)
    }

    /// Of a trace that is read as it is.
    pub(crate) fn of_trace(trace: &str, health: &[Diagnostic]) -> Self {
        Self::new(trace, health.iter().map(|d| (d.kind.as_str(), d.count, d.message.as_str())))
    }

    fn new<'d>(trace: &str, rows: impl Iterator<Item = (&'d str, i64, &'d str)>) -> Self {
        let lost = rows.filter_map(|(kind, count, message)| {
            let (_, what) = INCOMPLETE.iter().find(|(known, _)| *known == kind)?;
            let words = if what.is_empty() { message.to_owned() } else { counted(count, what) };
            Some((kind.to_owned(), count, words))
        });
        Self { trace: trace.to_owned(), lost: lost.collect(), unnamed: None }
    }

    /// The same for an answer that shows methods.
    pub(crate) fn with_names(mut self, manifest: &Manifest) -> Self {
        self.unnamed = manifest.native_names.filter(|names| names.named < names.addresses);
        self
    }

    /// Whether there is nothing to say.
    pub(crate) fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.unnamed.is_none()
    }

    fn words(&self) -> String {
        let is_cut = self.lost.iter().any(|(kind, ..)| kind == "cut_short");
        // That the last buffer is not whole goes without saying then.
        let told = self.lost.iter().filter(|(kind, ..)| !is_cut || kind != "truncated_buffer");
        told.map(|(.., words)| words.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The command that shows more of it.
    fn more(&self) -> String {
        let is_extract =
            [".etwx", ".etwx.zip"].iter().any(|ending| self.trace.to_lowercase().ends_with(ending));
        let command = if is_extract { "etwkit dump overview" } else { "etwkit info" };
        format!("`{command} {}`", self.trace)
    }

    /// For machines: what is missing by kind, and in words.
    fn json(&self) -> Value {
        let mut object: Map<String, Value> =
            self.lost.iter().map(|(kind, count, _)| (kind.clone(), json!(count))).collect();
        if let Some(names) = self.unnamed {
            object.insert("native_addresses".into(), json!(names.addresses));
            object.insert("unnamed_addresses".into(), json!(names.addresses - names.named));
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
    format!("{} {what}", Numbers::default().grouped(count.unsigned_abs()))
}

/// What the extracts of a session lack that was opened at these paths.
pub(crate) fn of_paths(paths: &[PathBuf], session: &Session) -> Vec<Gaps> {
    let named = paths.iter().zip(session.manifests());
    let gaps = named.map(|(path, (_, manifest))| Gaps::of_extract(&path.display().to_string(), manifest));
    gaps.filter(|gaps| !gaps.is_empty()).collect()
}

/// What the extracts of a session lack. `shows_methods`: the answer names methods.
pub(crate) fn of_session(session: &Session, trace: Option<&str>, shows_methods: bool) -> Vec<Gaps> {
    let extracts = session.manifests().map(|(path, manifest)| {
        let gaps = Gaps::of_extract(trace.unwrap_or(path), manifest);
        if shows_methods { gaps.with_names(manifest) } else { gaps }
    });
    extracts.filter(|gaps| !gaps.is_empty()).collect()
}

/// All gaps of an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllGaps {
    all: Vec<Gaps>,
    /// How many of them JSON has.
    in_json: usize,
}

impl AllGaps {
    /// Adds those of a trace; what was known of it before is replaced.
    pub(crate) fn add(&mut self, gaps: Gaps) {
        match self.all.iter_mut().find(|known| known.trace == gaps.trace) {
            Some(known) => {
                let unnamed = gaps.unnamed.or(known.unnamed);
                *known = Gaps { unnamed, ..gaps };
            }
            None if gaps.is_empty() => {}
            None => self.all.push(gaps),
        }
    }

    /// Forgets all: the answer itself has told them.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What machine output has not told yet.
    pub(crate) fn new_json(&mut self) -> Vec<Value> {
        let new = self.all.get(self.in_json..).unwrap_or_default().iter().map(Gaps::json).collect();
        self.in_json = self.all.len();
        new
    }

    /// The lines for the error stream: at most one on what is lost, and one on names.
    pub(crate) fn lines(&self) -> Vec<String> {
        let lost: Vec<&Gaps> = self.all.iter().filter(|gaps| !gaps.lost.is_empty()).collect();
        let unnamed: Vec<&Gaps> = self.all.iter().filter(|gaps| gaps.unnamed.is_some()).collect();
        let lost = match lost.as_slice() {
            [] => None,
            [one] => Some(format!("{} is incomplete: {}; see {}", one.trace, one.words(), one.more())),
            [first, ..] => {
                let named = listed(&lost, |gaps| format!("{} ({})", gaps.trace, gaps.words()));
                Some(format!("{} traces are incomplete: {named}; see {}", lost.len(), first.more()))
            }
        };
        [lost, unnamed_line(&unnamed)].into_iter().flatten().collect()
    }
}

fn unnamed_line(unnamed: &[&Gaps]) -> Option<String> {
    let first = unnamed.first()?;
    let sum =
        |of: fn(NativeNames) -> u64| unnamed.iter().filter_map(|gaps| gaps.unnamed.map(of)).sum::<u64>();
    let (addresses, named) = (sum(|names| names.addresses), sum(|names| names.named));
    let grouped = |number| Numbers::default().grouped(number);
    let of = if unnamed.len() == 1 { String::new() } else { format!(" in {} traces", unnamed.len()) };
    Some(format!(
        "{} of {} native addresses{of} have no name: `etwkit symbols load --symbols MS {}`",
        grouped(addresses.saturating_sub(named)),
        grouped(addresses),
        first.trace
    ))
}

/// The first ones, and how many more there are.
fn listed(all: &[&Gaps], text: impl Fn(&Gaps) -> String) -> String {
    let mut named: Vec<String> = all.iter().take(NAMED).map(|gaps| text(gaps)).collect();
    if let more @ 1.. = all.len().saturating_sub(NAMED) {
        named.push(format!("{more} more"));
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(trace: &str, lost: i64) -> Gaps {
        Gaps::new(
            trace,
            [("lost_events", lost, ""), ("cut_short", 1, "events reach to 1 s"), ("stack_reused", 5, "")]
                .into_iter(),
        )
    }

    #[test]
    fn one_line_says_it_for_any_number_of_traces() {
        let mut all = AllGaps::default();
        assert!(all.lines().is_empty());
        all.add(gaps("a.etl", 1234));
        all.add(gaps("a.etl", 1234));
        let words = "1 234 events lost while recording, events reach to 1 s";
        assert_eq!(all.lines(), [format!("a.etl is incomplete: {words}; see `etwkit info a.etl`")]);
        assert_eq!(all.new_json().len(), 1);
        for trace in ["b.etwx", "c", "d", "e"] {
            all.add(gaps(trace, 7));
        }
        let line = all.lines().join("\n");
        assert!(
            line.starts_with(&format!("5 traces are incomplete: a.etl ({words}), b.etwx (7 events lost")),
            "{line}"
        );
        assert!(line.ends_with("), 2 more; see `etwkit info a.etl`"), "{line}");
        assert_eq!(all.new_json().len(), 4);
        assert!(all.new_json().is_empty());
    }

    #[test]
    fn an_extract_is_shown_by_a_command_that_takes_it() {
        let mut all = AllGaps::default();
        all.add(gaps("b.etwx", 1));
        assert!(all.lines()[0].ends_with("see `etwkit dump overview b.etwx`"));
    }
}
