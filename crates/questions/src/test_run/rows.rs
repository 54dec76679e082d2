//! Rows of test runs: one for each recording, and numbers of runs.

use etwkit_question::declare;
use std::collections::BTreeSet;
use std::path::PathBuf;

use etwkit_question::test_run::{Test, TestFile, TestRun, TestStatus};

declare! {
    /// A recording of a test.
    pub row TestRow {
        run: i64 = "Number of the run, from 0, among all runs.",
        test_case: String = "The test case; the whole name where it does not follow the pattern of test runs.",
        performed_at: String = "When the test was, on the clock of the wall.",
        duration_ms: i64 = "How long the test took; 0 if the name does not say.",
        machine: Option<String> = "The machine, if the name says which.",
        status: Option<String> = "`passed` or `failed`, if the name says so.",
        is_valid: bool = "Whether the name has one of the known forms.",
        trace: Option<String> = "The trace or archive.",
        extract: Option<String> = "The extract.",
    }
}

impl TestRow {
    /// Returns the recordings of a run, in order of time.
    #[must_use]
    pub fn of(run: &TestRun) -> Vec<Self> {
        let files = run
            .tests
            .iter()
            .flat_map(|test| test.files.iter().map(move |file| (test, file)));
        files
            .map(|(test, file)| Self::of_file(run, test, file))
            .collect()
    }

    fn of_file(run: &TestRun, test: &Test, file: &TestFile) -> Self {
        let status = file
            .name
            .as_ref()
            .and_then(|name| name.status)
            .map(|status| match status {
                TestStatus::Passed => "passed",
                TestStatus::Failed => "failed",
            });
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        Self {
            run: count(run.index),
            test_case: test.test_case().to_owned(),
            performed_at: file.performed_at.format("%Y-%m-%dT%H:%M:%S").to_string(),
            duration_ms: i64::try_from(test.duration_ms()).unwrap_or(i64::MAX),
            machine: file.machine().map(str::to_owned),
            status: status.map(str::to_owned),
            is_valid: file.name.is_some(),
            trace: path(&file.trace),
            extract: path(&file.extract),
        }
    }
}

/// Numbers of test runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RunSums {
    /// Different test cases.
    pub test_cases: usize,
    /// Tests.
    pub tests: usize,
    /// Recordings.
    pub recordings: usize,
    /// Recordings that are extracted.
    pub extracted: usize,
    /// Machines, by name, with blanks between.
    pub machines: String,
    /// From the first test to the last one.
    pub seconds: i64,
}

impl RunSums {
    /// Returns the numbers of some runs, which are in order of time.
    #[must_use]
    pub fn of(runs: &[TestRun]) -> Self {
        let tests = || runs.iter().flat_map(|run| &run.tests);
        let files = || tests().flat_map(|test| &test.files);
        let cases: BTreeSet<&str> = tests().map(Test::test_case).collect();
        let machines: BTreeSet<&str> = files().filter_map(TestFile::machine).collect();
        let length = runs.first().zip(runs.last());
        let length = length.map(|(first, last)| last.end().signed_duration_since(first.start()));
        Self {
            test_cases: cases.len(),
            tests: tests().count(),
            recordings: files().count(),
            extracted: files().filter(|file| file.extract.is_some()).count(),
            machines: machines.into_iter().collect::<Vec<_>>().join(" "),
            seconds: length.map_or(0, |length| length.num_seconds()),
        }
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etwkit_question::test_run::{TestName, runs, stem};

    #[test]
    fn recordings_of_a_test_are_rows_and_numbers() {
        let file = |name: &str| {
            let known = TestName::parse(name);
            TestFile {
                stem: stem(name).unwrap().to_owned(),
                trace: Some(name.into()),
                extract: name.contains("CLIENT").then(|| "x.etwx".into()),
                performed_at: known
                    .as_ref()
                    .and_then(|name| name.performed_at)
                    .unwrap_or_default(),
                name: known,
            }
        };
        let runs = runs(
            vec![
                file("Open_100msCLIENT.20200717-120000.etl"),
                file("Open_100msSERVER.20200717-120100.etl"),
                file("Close_50ms_CLIENT_SINGLE_TestStatus-Failed_20200717-121000.etl"),
            ],
            false,
        );
        let sums = RunSums::of(&runs);
        assert_eq!(
            (sums.test_cases, sums.tests, sums.recordings, sums.extracted),
            (2, 2, 3, 2)
        );
        assert_eq!(
            (sums.machines.as_str(), sums.seconds),
            ("CLIENT SERVER", 600)
        );
        assert_eq!(RunSums::of(&[]), RunSums::default());
        let rows: Vec<TestRow> = runs.iter().flat_map(TestRow::of).collect();
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row.test_case.as_str(), row.status.as_deref()))
            .collect();
        assert_eq!(
            found,
            [("Open", None), ("Open", None), ("Close", Some("failed"))]
        );
        assert_eq!(
            (rows[1].performed_at.as_str(), rows[1].duration_ms),
            ("2020-07-17T12:01:00", 100)
        );
        assert_eq!((rows[1].extract.as_deref(), rows[1].is_valid), (None, true));
    }
}
