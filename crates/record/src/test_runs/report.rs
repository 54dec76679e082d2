//! Results of the runs.

use std::io::Write;

use anyhow::Result;
use chrono::NaiveDateTime;
use etwkit_terminal::Table;
use serde::Serialize;

use crate::test_runs::matrix::Cell;

impl Row {
    /// Returns the run in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let duration = self
            .duration_ms
            .map_or_else(|| "no duration".to_owned(), |ms| format!("{ms} ms"));
        let status = match self.status {
            Status::Passed => String::new(),
            Status::Failed => ", failed".to_owned(),
            Status::Stopped => ", stopped".to_owned(),
        };
        let problem = self
            .problem
            .as_ref()
            .map_or_else(String::new, |problem| format!(": {problem}"));
        let recording = self
            .recording
            .as_ref()
            .map_or_else(String::new, |file| format!(", {file}"));
        format!(
            "{} #{}: {duration}{status}{problem}{recording}",
            self.case, self.repetition
        )
    }
}

/// Outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The command ended by itself and reported success.
    Passed,
    /// The command reported a failure, exceeded its time limit, or reported no duration.
    Failed,
    /// The user ended it.
    Stopped,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The test case with its parameters.
    pub case: String,
    /// Number of the repetition, from 1.
    pub repetition: u32,
    /// Its parameters.
    #[serde(serialize_with = "as_map")]
    pub parameters: Cell,
    /// Its outcome.
    pub status: Status,
    /// Its duration in milliseconds, by `--timing`; `None` if it is not known.
    pub duration_ms: Option<u64>,
    /// Its wall-clock time in milliseconds.
    pub wall_ms: f64,
    /// Exit code of the command.
    pub exit_code: Option<i32>,
    /// Its start, by the wall clock.
    #[serde(serialize_with = "as_time")]
    pub started: NaiveDateTime,
    /// The file of the recording, if there is one.
    pub recording: Option<String>,
    /// The problem, if there was one.
    pub problem: Option<String>,
}

fn as_map<S: serde::Serializer>(cell: &Cell, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_map(cell.values.iter().map(|(name, value)| (name, value)))
}

fn time(at: NaiveDateTime) -> String {
    at.format("%Y-%m-%dT%H:%M:%S").to_string()
}

fn as_time<S: serde::Serializer>(
    at: &NaiveDateTime,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(&time(*at))
}

/// Durations of the passed runs of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The test case with its parameters.
    pub case: String,
    /// Runs that passed.
    pub passed: usize,
    /// Runs that did not.
    pub failed: usize,
    /// The shortest, in milliseconds.
    pub min_ms: Option<u64>,
    /// The median: the middle duration, or the mean of the two middle ones.
    pub median_ms: Option<f64>,
    /// The longest.
    pub max_ms: Option<u64>,
}

/// Returns the sums as a table.
#[must_use]
pub fn table(summaries: &[Summary]) -> Table {
    let whole = |ms: Option<u64>| ms.map_or_else(String::new, |ms| ms.to_string());
    let rows = summaries.iter().map(|sum| {
        let median = sum
            .median_ms
            .map_or_else(String::new, |ms| format!("{ms:.1}"));
        let count = |count: usize| count.to_string();
        [
            sum.case.clone(),
            count(sum.passed),
            count(sum.failed),
            whole(sum.min_ms),
            median,
            whole(sum.max_ms),
        ]
    });
    Table::of(
        "test case|passed>|failed>|shortest ms>|median ms>|longest ms>",
        rows,
    )
}

/// Sums up the runs of each cell, in the order in which the cells were run.
pub(crate) fn summaries(rows: &[Row]) -> Vec<Summary> {
    let mut cases: Vec<&str> = Vec::new();
    // Stopped runs do not show the duration of the command.
    for row in rows.iter().filter(|row| row.status != Status::Stopped) {
        if !cases.contains(&row.case.as_str()) {
            cases.push(&row.case);
        }
    }
    let summary = |case: &str| {
        let of_case = || {
            rows.iter()
                .filter(|row| row.case == case && row.status != Status::Stopped)
        };
        let passed = of_case().filter(|row| row.status == Status::Passed);
        let mut durations: Vec<u64> = passed.filter_map(|row| row.duration_ms).collect();
        durations.sort_unstable();
        Summary {
            case: case.to_owned(),
            passed: durations.len(),
            failed: of_case().count() - durations.len(),
            min_ms: durations.first().copied(),
            median_ms: median(&durations),
            max_ms: durations.last().copied(),
        }
    };
    cases.into_iter().map(summary).collect()
}

fn median(sorted: &[u64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)? as f64;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(middle.checked_sub(1)?)? as f64;
    Some(f64::midpoint(lower, upper))
}

/// Writes rows as CSV, with a column for each parameter.
///
/// # Errors
/// They cannot be written.
pub fn write_csv(rows: &[Row], names: &[String], to: impl Write) -> Result<()> {
    let mut csv = csv::Writer::from_writer(to);
    let fixed = [
        "status",
        "duration_ms",
        "wall_ms",
        "exit_code",
        "started",
        "recording",
        "problem",
    ];
    let titles = ["case", "repetition"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .chain(fixed);
    csv.write_record(titles)?;
    for row in rows {
        let value = |name: &String| {
            let found = row.parameters.values.iter().find(|(own, _)| own == name);
            found.map_or_else(String::new, |(_, value)| value.clone())
        };
        let status = serde_json::to_value(row.status)?;
        let text = |value: &Option<String>| value.as_deref().unwrap_or("").to_owned();
        let front = [row.case.clone(), row.repetition.to_string()];
        let back = [
            status.as_str().unwrap_or("").to_owned(),
            row.duration_ms
                .map_or_else(String::new, |ms| ms.to_string()),
            format!("{:.3}", row.wall_ms),
            row.exit_code
                .map_or_else(String::new, |code| code.to_string()),
            time(row.started),
            text(&row.recording),
            text(&row.problem),
        ];
        csv.write_record(front.into_iter().chain(names.iter().map(value)).chain(back))?;
    }
    csv.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, status: Status, duration_ms: Option<u64>) -> Row {
        Row {
            case: case.to_owned(),
            repetition: 1,
            parameters: Cell {
                values: vec![("n".into(), "a,b".into())],
            },
            status,
            duration_ms,
            wall_ms: 1.25,
            exit_code: Some(0),
            started: "2020-07-17T12:44:47".parse().unwrap(),
            recording: None,
            problem: None,
        }
    }

    #[test]
    fn medians_are_those_of_runs_that_passed() {
        let rows = [
            row("a", Status::Passed, Some(10)),
            row("a", Status::Failed, Some(1000)),
            row("b", Status::Failed, None),
            row("a", Status::Passed, Some(40)),
            row("a", Status::Passed, Some(20)),
            row("a", Status::Passed, Some(21)),
            row("c", Status::Stopped, None),
        ];
        let all = summaries(&rows);
        let rows: Vec<_> = all
            .iter()
            .map(|s| (s.case.as_str(), s.passed, s.failed, s.median_ms))
            .collect();
        assert_eq!(rows, [("a", 4, 1, Some(20.5)), ("b", 0, 1, None)]);
        assert_eq!((all[0].min_ms, all[0].max_ms), (Some(10), Some(40)));
    }

    #[test]
    fn csv_has_a_column_for_each_parameter() {
        let mut out = Vec::new();
        write_csv(
            &[row("a", Status::Passed, Some(10))],
            &["n".to_owned()],
            &mut out,
        )
        .unwrap();
        let want = "case,repetition,n,status,duration_ms,wall_ms,exit_code,started,recording,problem\n\
                    a,1,\"a,b\",passed,10,1.250,0,2020-07-17T12:44:47,,\n";
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
