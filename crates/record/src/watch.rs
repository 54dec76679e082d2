//! Sessions during a recording, and changes by other programs: another recorder can remove keywords
//! from the session, or end it.

use std::fs;

use crate::facts::{self, Watch};
use crate::recording::Machine;
use crate::steps;

impl Machine<'_> {
    /// Stores the sessions before the recording and its status after the start.
    pub(crate) fn watch(&mut self, before: Vec<String>) {
        let watch = Watch {
            before,
            began: self.state(),
            ..Watch::default()
        };
        self.keep(&watch);
    }

    /// Returns the change by another program since the start of the recording or the previous call.
    /// Each change is reported once.
    pub(crate) fn change(&mut self) -> Option<String> {
        let mut watch = self.watched();
        watch.ended = self.state();
        let change = {
            let was = lasting(&watch.began);
            let is = lasting(&watch.ended);
            // Without any status from wpr there is nothing to compare.
            let has_changed = !was.is_empty() && !is.is_empty() && was != is;
            has_changed.then(|| described(&missing(&was, &is), &missing(&is, &was)))
        };
        if change.is_some() {
            // The reported state becomes the reference, so that one change is reported once.
            watch.began.clone_from(&watch.ended);
        }
        self.keep(&watch);
        change.map(|change| format!("another program changed the recording: {change}"))
    }

    /// Stores the sessions of other recorders while this recording still runs.
    pub(crate) fn see_sessions(&mut self) {
        let during = facts::sessions(self.runner);
        self.keep(&Watch {
            during,
            ..self.watched()
        });
    }

    /// Returns the observations of the recording that is running or has just ended; none if their file
    /// is missing or damaged, as a recording does not fail for its facts.
    pub(crate) fn watched(&self) -> Watch {
        let text = fs::read_to_string(self.watch_file()).ok();
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Deletes the observations of a recording that has ended: the next one may be started by other
    /// programs.
    pub(crate) fn unwatch(&self) {
        let _ = fs::remove_file(self.watch_file());
    }

    /// Returns the status of the recording, one entry per line; empty if wpr fails.
    fn state(&mut self) -> Vec<String> {
        let outcome = match self.runner.run(&steps::status()) {
            Ok(outcome) if outcome.is_done() => outcome,
            _ => return Vec::new(),
        };
        // Two columns, separated by blanks.
        let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        outcome
            .said()
            .map(line)
            .filter(|line| line.contains(':'))
            .collect()
    }

    /// Stores the observations. A failure does not affect the recording: only facts and the warning
    /// are missing.
    fn keep(&self, watch: &Watch) {
        if let Ok(text) = serde_json::to_string(watch) {
            let _ = fs::write(self.watch_file(), text);
        }
    }

    fn watch_file(&self) -> std::path::PathBuf {
        self.folder.join("watch.json")
    }
}

/// Returns the lines that change only if another program changes the session: not lines with times
/// and counts.
fn lasting(state: &[String]) -> Vec<&str> {
    // Counts of events and buffers change by themselves. Only lines with other content describe the
    // recorded events.
    let is_count = |value: &str| {
        value
            .chars()
            .all(|c| c.is_ascii_digit() || " :.,".contains(c))
    };
    let lasts = |line: &&str| {
        line.split_once(':')
            .is_some_and(|(_, value)| !is_count(value))
    };
    state.iter().map(String::as_str).filter(lasts).collect()
}

/// Returns the lines that the other state does not have.
fn missing<'l>(of: &[&'l str], other: &[&str]) -> Vec<&'l str> {
    of.iter()
        .filter(|line| !other.contains(line))
        .copied()
        .collect()
}

fn described(lacks: &[&str], gains: &[&str]) -> String {
    let part = |what: &str, lines: &[&str]| {
        (!lines.is_empty()).then(|| format!("{what} {}", lines.join("; ")))
    };
    let parts = [part("it was", lacks), part("it is now", gains)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_counts_are_no_change_and_keywords_are_one() {
        let state = |lines: &[&str]| {
            lines
                .iter()
                .map(|line| (*line).to_owned())
                .collect::<Vec<_>>()
        };
        let was = state(&[
            "Time since start : 00:00:07",
            "Events Lost : 0",
            "System Keywords : CSwitch Loader",
        ]);
        let later = state(&[
            "Time since start : 01:00:07",
            "Events Lost : 9",
            "System Keywords : CSwitch Loader",
        ]);
        assert_eq!(lasting(&was), lasting(&later));
        let now = state(&["Time since start : 01:00:07", "System Keywords : Loader"]);
        let (was, now) = (lasting(&was), lasting(&now));
        let change = described(&missing(&was, &now), &missing(&now, &was));
        assert_eq!(
            change,
            "it was System Keywords : CSwitch Loader, it is now System Keywords : Loader"
        );
    }
}
