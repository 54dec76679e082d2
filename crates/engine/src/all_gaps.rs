//! Notes about incomplete traces in every answer: a line on the error stream, and a field of JSON.
//!
//! A front end adds the gaps of the extracts or traces that it opens for an answer here, and prints
//! them once for each answer.

use etwkit_base::digits::grouped;
use etwkit_base::shell::quoted_pattern;
use etwkit_extract::manifest::NativeNames;
use serde_json::Value;

use crate::Gaps;

/// Maximum number of traces that a line names.
// A question to hundreds of extracts would otherwise print a line of many screens.
const NAMED: usize = 3;

/// Less than one address without a name of so many is not worth a note.
const FEW: u64 = 20;

/// Returns the command with more details about a trace.
fn more(gaps: &Gaps) -> String {
    let trace = gaps.trace();
    let is_extract = [".etwx", ".etwx.zip"]
        .iter()
        .any(|ending| trace.to_lowercase().ends_with(ending));
    let is_extract = is_extract || etwkit_extract::lake::split(trace.as_ref()).is_some();
    let command = if is_extract {
        "etwkit dump overview"
    } else {
        "etwkit info"
    };
    format!("`{command} {}`", quoted_pattern(trace))
}

/// All gaps of an answer.
#[derive(Debug, Clone, Default)]
pub struct AllGaps {
    all: Vec<Gaps>,
    /// Number of gaps already handed on as JSON.
    in_json: usize,
}

impl AllGaps {
    /// Adds the gaps of a trace; replaces earlier ones of the same trace.
    pub fn add(&mut self, gaps: Gaps) {
        match self
            .all
            .iter_mut()
            .find(|known| known.trace() == gaps.trace())
        {
            Some(known) => known.update(gaps),
            None if gaps.is_empty() => {}
            None => self.all.push(gaps),
        }
    }

    /// Forgets all gaps, since the answer itself has reported them.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the gaps that JSON output has not reported yet.
    pub fn new_json(&mut self) -> Vec<Value> {
        let new = self.all.iter().skip(self.in_json).map(Gaps::json).collect();
        self.in_json = self.all.len();
        new
    }

    /// Returns the lines for the error stream: at most one on lost events, and one on names.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let lost: Vec<&Gaps> = self
            .all
            .iter()
            .filter(|gaps| gaps.is_incomplete())
            .collect();
        let unnamed: Vec<&Gaps> = self
            .all
            .iter()
            .filter(|gaps| gaps.unnamed().is_some())
            .collect();
        let lost = match lost.as_slice() {
            [] => None,
            [one] => Some(format!(
                "{} is incomplete: {}; see {}",
                one.trace(),
                one.words(),
                more(one)
            )),
            [first, ..] => {
                let named = listed(&lost, |gaps| format!("{} ({})", gaps.trace(), gaps.words()));
                Some(format!(
                    "{} traces are incomplete: {named}; see {}",
                    lost.len(),
                    more(first)
                ))
            }
        };
        [lost, unnamed_line(&unnamed)]
            .into_iter()
            .flatten()
            .collect()
    }
}

fn unnamed_line(unnamed: &[&Gaps]) -> Option<String> {
    let first = unnamed.first()?;
    let sum = |of: fn(NativeNames) -> u64| {
        unnamed
            .iter()
            .filter_map(|gaps| gaps.unnamed().map(of))
            .sum::<u64>()
    };
    let all = NativeNames {
        addresses: sum(|names| names.addresses),
        named: sum(|names| names.named),
    };
    let of = if unnamed.len() == 1 {
        String::new()
    } else {
        format!(" in {} traces", unnamed.len())
    };
    unnamed_words(all, &of, first.trace())
}

/// Returns the note on addresses without names; `None` where too few of them have none.
fn unnamed_words(
    NativeNames { addresses, named }: NativeNames,
    of: &str,
    trace: &str,
) -> Option<String> {
    let missing = addresses.saturating_sub(named);
    // Where symbols were read, a few addresses are in no function all the same.
    if named > 0 && missing < addresses / FEW {
        return None;
    }
    let trace = quoted_pattern(trace);
    let how = if named == 0 {
        format!("`etwkit symbols load --symbols MS {trace}`")
    } else {
        // The same command again would find no more.
        format!("`etwkit symbols load {trace}` lists their modules")
    };
    Some(format!(
        "{} of {} native addresses{of} have no name: {how}",
        grouped(missing),
        grouped(addresses),
    ))
}

/// Lists the first gaps, and the number of the others.
fn listed(all: &[&Gaps], text: impl Fn(&Gaps) -> String) -> String {
    let mut named: Vec<String> = all.iter().take(NAMED).map(|gaps| text(gaps)).collect();
    if let more @ 1.. = all.len().saturating_sub(NAMED) {
        named.push(format!("{more} more"));
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use etwkit_trace::table::Diagnostic;

    use super::*;

    fn gaps(trace: &str, lost: i64) -> Gaps {
        let row = |kind: &str, count, message: &str| Diagnostic {
            severity: String::new(),
            kind: kind.to_owned(),
            count,
            message: message.to_owned(),
            position: None,
        };
        let rows = [
            row("lost_events", lost, ""),
            row("cut_short", 1, "events reach to 1 s"),
        ];
        Gaps::of_trace(trace, &rows)
    }

    #[test]
    fn one_line_says_it_for_any_number_of_traces() {
        let mut all = AllGaps::default();
        assert!(all.lines().is_empty());
        all.add(gaps("a.etl", 1234));
        all.add(gaps("a.etl", 1234));
        let words = "1,234 events lost while recording, events reach to 1 s";
        assert_eq!(
            all.lines(),
            [format!(
                "a.etl is incomplete: {words}; see `etwkit info a.etl`"
            )]
        );
        assert_eq!(all.new_json().len(), 1);
        for trace in ["b.etwx", "c", "d", "e"] {
            all.add(gaps(trace, 7));
        }
        let line = all.lines().join("\n");
        assert!(
            line.starts_with(&format!(
                "5 traces are incomplete: a.etl ({words}), b.etwx (7 events lost"
            )),
            "{line}"
        );
        assert!(
            line.ends_with("), 2 more; see `etwkit info a.etl`"),
            "{line}"
        );
        assert_eq!(all.new_json().len(), 4);
        assert!(all.new_json().is_empty());
    }

    #[test]
    fn a_command_that_was_run_is_not_asked_for_again() {
        let words = |named| {
            let names = NativeNames {
                addresses: 551,
                named,
            };
            unnamed_words(names, "", "a.etl")
        };
        let load =
            "551 of 551 native addresses have no name: `etwkit symbols load --symbols MS a.etl`";
        assert_eq!(words(0).as_deref(), Some(load));
        let list = "427 of 551 native addresses have no name: `etwkit symbols load a.etl` lists their modules";
        assert_eq!(words(124).as_deref(), Some(list));
        assert_eq!(words(548), None);
    }

    #[test]
    fn an_extract_is_shown_by_a_command_that_takes_it() {
        let mut all = AllGaps::default();
        all.add(gaps("b.etwx", 1));
        assert!(all.lines()[0].ends_with("see `etwkit dump overview b.etwx`"));
        let mut all = AllGaps::default();
        all.add(gaps("my trace.etl", 1));
        assert!(all.lines()[0].ends_with("see `etwkit info \"my trace.etl\"`"));
    }
}
