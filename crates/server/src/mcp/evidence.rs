//! Evidence of an answer: measurements, correlations, conclusions, claims that it does not prove,
//! and missing data. The tables come from the SQL of the question, and their limits from
//! declarations.

use std::collections::BTreeSet;

use etwkit_engine::{Gaps, data_tables, of_paths};
use etwkit_question::is_recorded_but_empty;
use etwkit_sql::Session;
use etwkit_trace::topics;
use serde_json::{Value, json};

use crate::mcp::limits::{LIMITS, OF_QUESTIONS};
use crate::mcp::reply;
use crate::mcp::tool::Answer;
use crate::mcp::traces::Trace;

/// Largest number of sentences of each kind in an answer.
const MOST: usize = 12;

/// Tables of samples, and tables that are computed from samples.
const OF_SAMPLES: [&str; 5] = [
    "cpu_sample",
    "cpu_process",
    "cpu_method",
    "cpu_stack",
    "cpu_tag",
];

/// Evidence of an answer.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    measured: Vec<Value>,
    correlated: Vec<String>,
    follows: Vec<String>,
    unproven: Vec<String>,
    incomplete: Vec<Value>,
}

fn add(all: &mut Vec<String>, sentence: impl Into<String>) {
    let sentence = sentence.into();
    if !sentence.trim().is_empty() && !all.contains(&sentence) {
        all.push(sentence);
    }
}

impl Evidence {
    /// Adds the tables that a statement reads from a trace, and the limits of these tables.
    pub(crate) fn of_sql(&mut self, session: &Session, trace: &str, sql: &str) {
        let tables = data_tables(session, sql).unwrap_or_else(|| named_in(sql));
        for name in &tables {
            self.table(session, trace, name);
        }
        let reads_samples = tables
            .iter()
            .any(|name| OF_SAMPLES.contains(&name.as_str()));
        for (_, manifest) in session.manifests() {
            if !manifest.has_all_rows() {
                add(
                    &mut self.unproven,
                    format!(
                        "anything about single events of {trace}: its extract keeps sums, or only some tables"
                    ),
                );
            }
            let has_stacks = manifest
                .topics
                .iter()
                .any(|topic| topic.topic == "stacks" && topic.recorded);
            if reads_samples && !has_stacks {
                add(
                    &mut self.unproven,
                    format!(
                        "who called what in {trace}: no stacks were recorded, a sample has only the address that ran"
                    ),
                );
            }
        }
        let gaps = of_paths(&[trace.into()], session);
        gaps.iter().for_each(|gaps| self.gaps(gaps));
    }

    fn table(&mut self, session: &Session, trace: &str, name: &str) {
        let Some(table) = topics::find(name) else {
            return;
        };
        if session.has_rows(name) != Some(true) {
            add(&mut self.unproven, without_rows(session, trace, name));
            return;
        }
        let events = topics::of_table(name);
        let measured = json!({"trace": trace, "table": name, "row_is": table.doc, "events": events,
                              "rows_in_trace": session.row_count(name)});
        if !self.measured.contains(&measured) {
            self.measured.push(measured);
        }
        for limit in LIMITS.iter().filter(|limit| limit.tables.contains(&name)) {
            limit
                .correlated
                .iter()
                .for_each(|sentence| add(&mut self.correlated, *sentence));
            for sentence in limit.unproven {
                add(
                    &mut self.unproven,
                    format!("{sentence} (etwkit docs {})", limit.page),
                );
            }
        }
    }

    /// Adds the limits of a question, independent of its tables.
    pub(crate) fn of_question(&mut self, name: &str) {
        for (_, correlated, unproven) in OF_QUESTIONS.iter().filter(|(known, ..)| *known == name) {
            add(&mut self.correlated, *correlated);
            add(&mut self.unproven, *unproven);
        }
    }

    /// Adds the missing parts of a trace.
    pub(crate) fn gaps(&mut self, gaps: &Gaps) {
        // Several statements may have read one trace; its gaps are reported once.
        let missing = gaps.json();
        if self
            .incomplete
            .iter()
            .any(|known| known.get("trace") == missing.get("trace"))
        {
            return;
        }
        if gaps.is_incomplete() {
            add(
                &mut self.unproven,
                format!(
                    "that totals of {} are complete: {}; counts and times are lower bounds",
                    gaps.trace(),
                    gaps.words()
                ),
            );
        }
        if let Some(names) = gaps.unnamed() {
            let unnamed = names.addresses.saturating_sub(names.named);
            add(
                &mut self.unproven,
                format!(
                    "which functions {unnamed} of {} native addresses of {} are: they have no symbols",
                    names.addresses,
                    gaps.trace()
                ),
            );
        }
        self.incomplete.push(missing);
    }

    /// Adds a conclusion of the answer, as a sentence.
    pub(crate) fn follows(&mut self, sentence: &str) {
        add(&mut self.follows, sentence.trim());
    }

    /// Adds a claim that the answer does not prove.
    pub(crate) fn unproven(&mut self, sentence: impl Into<String>) {
        add(&mut self.unproven, sentence);
    }

    /// Reports that nothing was found, with the reason.
    pub(crate) fn nothing(&mut self, why: String) {
        add(&mut self.follows, why);
        add(
            &mut self.unproven,
            "that there was none of it: only recorded and matching data was checked",
        );
    }

    /// As answers have it.
    pub(crate) fn json(self) -> Answer {
        let sentences = |all: Vec<String>| -> Value {
            let left = all.len().saturating_sub(MOST);
            let mut first: Vec<String> = all.iter().take(MOST).map(|one| reply::cut(one)).collect();
            if left > 0 {
                first.push(format!("… {left} more"));
            }
            first.into()
        };
        let mut answer = Answer::new();
        answer.insert("measured".into(), self.measured.into());
        answer.insert("correlated".into(), sentences(self.correlated));
        answer.insert("follows".into(), sentences(self.follows));
        answer.insert("does_not_prove".into(), sentences(self.unproven));
        answer.insert("incomplete".into(), self.incomplete.into());
        answer
    }
}

/// Returns a sentence about a table without rows. These have two meanings, which only the recorded topics
/// distinguish: nothing happened, or it was not recorded.
fn without_rows(session: &Session, trace: &str, name: &str) -> String {
    // A query that fails proves nothing.
    if is_recorded_but_empty(session, name).unwrap_or(false) {
        return format!("{name} of {trace} has no rows: it was recorded, and none of it is there");
    }
    let topics = topics::of_table(name);
    let mut all = session
        .manifests()
        .flat_map(|(_, manifest)| &manifest.topics);
    let has_topic = all.any(|topic| topic.recorded && topics.contains(&topic.topic.as_str()));
    let why = if has_topic {
        format!(
            "has no rows of it, although it recorded {}",
            topics.join(", ")
        )
    } else {
        "did not record it".to_owned()
    };
    format!("that nothing of {name} happened: {trace} {why}, and no row is not zero")
}

/// Returns the declared tables after FROM and JOIN, sorted by name. The text may contain several
/// statements.
fn named_in(sql: &str) -> Vec<String> {
    // The parser of the engine takes one statement at a time. Words that are not tables are
    // filtered out below, so a comment or an alias does no harm.
    let words: Vec<&str> = sql
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let is_source =
        |word: &str| word.eq_ignore_ascii_case("from") || word.eq_ignore_ascii_case("join");
    let sources = words
        .iter()
        .zip(words.iter().skip(1))
        .filter(|(word, _)| is_source(word));
    let named: BTreeSet<&str> = sources.map(|(_, table)| *table).collect();
    named
        .into_iter()
        .filter(|name| topics::find(name).is_some())
        .map(str::to_owned)
        .collect()
}

/// Returns the gaps of a trace under its handle.
pub(crate) fn renamed(gaps: &Gaps, trace: &Trace) -> Gaps {
    gaps.clone().called(&trace.handle)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use etwkit_extract::{ConvertOptions, Extract, convert};
    use etwkit_sql::{Options, Source};
    use etwkit_testkit::files::made;
    use etwkit_trace::import::Range;

    use super::*;

    /// A session over the first microseconds of a trace, in which nothing happens.
    fn part_of(name: &str, folder: &std::path::Path) -> Session {
        let trace = made().join(name);
        let input = etwkit_extract::open(&[trace], &etwkit_extract::Options::default()).unwrap();
        let target = folder.join("part.etwx");
        let options = ConvertOptions {
            range: Range {
                start_ns: 1_000,
                end_ns: 2_000,
            },
            ..ConvertOptions::default()
        };
        convert(&input, &target, options, &mut |_| ControlFlow::Continue(())).unwrap();
        let extract = Extract::open(&target).unwrap();
        Session::new(vec![Source::from(extract)], &Options::default()).unwrap()
    }

    #[test]
    fn no_rows_say_what_is_known_of_their_recording() {
        for (name, table, says) in [
            (
                "files-5.etl",
                "disk_io",
                "it was recorded, and none of it is there",
            ),
            ("files-5.etl", "registry_io", "did not record it"),
            ("dotnet-5.etl", "exception", "although it recorded .NET"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let session = part_of(name, folder.path());
            let sentence = without_rows(&session, "t1", table);
            assert!(sentence.contains(says), "{table}: {sentence}");
        }
    }

    #[test]
    fn tables_of_several_statements_are_those_behind_from_and_join() {
        let sql = "-- a\nSELECT from_ns FROM cpu_process JOIN process USING (process_key)\n-- b\nselect 1 from nothing";
        assert_eq!(named_in(sql), ["cpu_process", "process"]);
    }

    #[test]
    fn sentences_are_said_once_and_not_without_end() {
        let mut evidence = Evidence::default();
        for number in 0..20 {
            evidence.follows(&format!("sentence {number}"));
            evidence.follows(" sentence 1 ");
        }
        evidence.nothing("no process matches".to_owned());
        let answer = evidence.json();
        let follows = answer["follows"].as_array().unwrap();
        assert_eq!(
            (follows.len(), &follows[MOST]),
            (MOST + 1, &json!("… 9 more"))
        );
        assert!(
            answer["does_not_prove"][0]
                .as_str()
                .unwrap()
                .starts_with("that there was none of it")
        );
    }
}
