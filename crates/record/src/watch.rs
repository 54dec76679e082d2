//! What is running while something is recorded, and whether somebody changes it: another recorder can take
//! keywords away from the session, or end it.

use std::fs;

use crate::facts::{self, Watch};
use crate::recording::Machine;
use crate::steps;

impl Machine<'_> {
    /// Keeps what was running before, and what has begun.
    pub(crate) fn watch(&mut self, before: Vec<String>) {
        let watch = Watch {
            before,
            began: self.state(),
            ..Watch::default()
        };
        self.keep(&watch);
    }

    /// What somebody has changed since the recording began, or since this was asked before; said once.
    pub(crate) fn change(&mut self) -> Option<String> {
        let mut watch = self.watched();
        watch.ended = self.state();
        let change = {
            let (was, is) = (lasting(&watch.began), lasting(&watch.ended));
            // Where wpr said nothing, nothing can be compared.
            let has_changed = !was.is_empty() && !is.is_empty() && was != is;
            has_changed.then(|| described(&missing(&was, &is), &missing(&is, &was)))
        };
        if change.is_some() {
            // What was reported is the state from now on, so that one change is reported once.
            watch.began.clone_from(&watch.ended);
        }
        self.keep(&watch);
        change.map(|change| format!("somebody has changed the recording: {change}"))
    }

    /// Keeps who else is recording while this recording still runs.
    pub(crate) fn see_sessions(&mut self) {
        let during = facts::sessions(self.runner);
        self.keep(&Watch {
            during,
            ..self.watched()
        });
    }

    /// What was kept of the recording that runs or has just ended.
    pub(crate) fn watched(&self) -> Watch {
        let text = fs::read_to_string(self.watch_file()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Forgets what was seen of a recording that has ended: the next one may be started by others.
    pub(crate) fn unwatch(&self) {
        let _ = fs::remove_file(self.watch_file());
    }

    /// What wpr says of the recording, a line each; nothing where it cannot be asked.
    fn state(&mut self) -> Vec<String> {
        let outcome = self.runner.run(&steps::status()).unwrap_or_default();
        if !outcome.is_done() {
            return Vec::new();
        }
        // Two columns that blanks keep apart.
        let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        outcome
            .said()
            .map(line)
            .filter(|line| line.contains(':'))
            .collect()
    }

    /// Without it a recording is as good: facts and the alarm are missing.
    fn keep(&self, watch: &Watch) {
        if let Ok(text) = serde_json::to_string(watch) {
            let _ = fs::write(self.watch_file(), text);
        }
    }

    fn watch_file(&self) -> std::path::PathBuf {
        self.folder.join("watch.json")
    }
}

/// The lines that stay the same as long as nobody changes anything: those with times and counts do not.
fn lasting(state: &[String]) -> Vec<&str> {
    // Counts of events and buffers change by themselves; only lines with something else in them say what is
    // recorded.
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

/// Lines of one that the other one has not.
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
