//! Measurements of a workload.

use std::time::Duration;

use serde::Serialize;

/// A measured number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    /// Name of the value.
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// Unit: `s`, `ms`, `MB/s`, `percent`, `count`.
    pub unit: &'static str,
}

/// Measurements of a workload, and the recording and question that show them.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The workload.
    pub workload: &'static str,
    /// Lines for people.
    #[serde(skip)]
    pub lines: Vec<String>,
    /// Values for machines.
    pub values: Vec<Value>,
    /// Profiles of `etwkit record` whose recordings show the workload.
    pub profiles: &'static [&'static str],
    /// The question that shows it in a recording.
    pub question: &'static str,
}

impl Report {
    pub(crate) const fn new(
        workload: &'static str,
        profiles: &'static [&'static str],
        question: &'static str,
    ) -> Self {
        Self {
            workload,
            lines: Vec::new(),
            values: Vec::new(),
            profiles,
            question,
        }
    }

    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    pub(crate) fn value(&mut self, name: &'static str, value: f64, unit: &'static str) {
        self.values.push(Value { name, value, unit });
    }

    pub(crate) fn seconds(&mut self, name: &'static str, time: Duration) {
        self.value(name, time.as_secs_f64(), "s");
    }

    /// Returns the commands that show the workload: the recording and the question.
    #[must_use]
    pub fn seen_by(&self) -> String {
        let profiles: String = self
            .profiles
            .iter()
            .map(|profile| format!(" --record {profile}"))
            .collect();
        format!(
            "To see it on Windows: etwkit run {}{profiles} -- etwkit lab {} …; then etwkit {}",
            self.workload, self.workload, self.question
        )
    }

    /// Returns the value with that name.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<f64> {
        self.values
            .iter()
            .find(|value| value.name == name)
            .map(|value| value.value)
    }
}
