//! Files → tests → test runs, and the choice among them.

use std::path::PathBuf;
use std::time::SystemTime;

use chrono::{DateTime, Local, NaiveDateTime, TimeDelta};

use super::name::TestName;
use crate::option;
use crate::range::{Range, Unit};
use etwkit_sql::filter::TextFilter;

/// Minimum gap between two tests that starts a new run.
const GAP: TimeDelta = TimeDelta::hours(1);

/// Maximum distance between a file of a test and the next one.
const ONE_TEST: TimeDelta = TimeDelta::minutes(10);

/// A recording: a trace, its extract, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFile {
    /// File name without its ending.
    pub stem: String,
    /// The trace or archive.
    pub trace: Option<PathBuf>,
    /// The extract.
    pub extract: Option<PathBuf>,
    /// The parts of the file name, if it has one of the known forms.
    pub name: Option<TestName>,
    /// Local wall-clock time of the test.
    pub performed_at: NaiveDateTime,
}

impl TestFile {
    /// Returns the test case; the whole name if it has none of the known forms.
    #[must_use]
    pub fn test_case(&self) -> &str {
        self.name
            .as_ref()
            .map_or(&self.stem, |name| &name.test_case)
    }

    /// Returns the duration of the test; 0 if the name does not have it.
    #[must_use]
    pub fn duration_ms(&self) -> u64 {
        self.name.as_ref().map_or(0, |name| name.duration_ms)
    }

    /// Returns the machine, if the name has it.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.name.as_ref().map(|name| &*name.machine)
    }
}

/// Returns a time on the clock of this machine, for files whose names do not have the time of a
/// test.
#[must_use]
pub fn wall_clock(time: SystemTime) -> NaiveDateTime {
    DateTime::<Local>::from(time).naive_local()
}

/// A test: the files of all machines that took part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Its files; never empty.
    pub files: Vec<TestFile>,
}

impl Test {
    fn of(file: TestFile) -> Self {
        Self { files: vec![file] }
    }

    /// Returns the test case.
    #[must_use]
    pub fn test_case(&self) -> &str {
        self.files.first().map_or("", TestFile::test_case)
    }

    /// Returns its duration.
    #[must_use]
    pub fn duration_ms(&self) -> u64 {
        self.files.first().map_or(0, TestFile::duration_ms)
    }

    /// Returns its time: the time of its first file.
    #[must_use]
    pub fn performed_at(&self) -> NaiveDateTime {
        time_of(self.files.first())
    }

    /// Returns the time of its last file.
    fn last_file_at(&self) -> NaiveDateTime {
        time_of(self.files.last())
    }

    /// Returns the time between its first and its last file.
    fn length(&self) -> TimeDelta {
        self.last_file_at()
            .signed_duration_since(self.performed_at())
    }

    /// Returns `true` if a file is of this test: it has the same case and duration, is from another
    /// machine, and follows the last file of the test closely.
    fn has(&self, file: &TestFile) -> bool {
        let is_other = |known: &TestFile| known.machine() != file.machine();
        file.name.is_some()
            && self.test_case() == file.test_case()
            && self.duration_ms() == file.duration_ms()
            && file.performed_at.signed_duration_since(self.last_file_at()) < ONE_TEST
            && self.files.iter().all(is_other)
    }
}

/// Tests without a long gap between them, by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun {
    /// Number of the run, from 0, among all runs.
    pub index: usize,
    /// Its tests; never empty.
    pub tests: Vec<Test>,
}

impl TestRun {
    /// Returns the time of the first test.
    #[must_use]
    pub fn start(&self) -> NaiveDateTime {
        time_of(self.tests.first().and_then(|test| test.files.first()))
    }

    /// Returns the time of the last test.
    #[must_use]
    pub fn end(&self) -> NaiveDateTime {
        time_of(self.tests.last().and_then(|test| test.files.first()))
    }
}

/// Returns the time of the first or last file of a test or test run, which always has one.
fn time_of(file: Option<&TestFile>) -> NaiveDateTime {
    file.map(|file| file.performed_at).unwrap_or_default()
}

/// Heading of the options that choose tests.
const TESTS: &str = "Tests";

declare! {
    /// Options that choose tests.
    pub request Selection {
        /// Start with this test run; the first one is 0
        run_index: Option<usize> = option("N").called("test-run-index").below(TESTS),
        /// Only this many test runs; 0 is all
        run_count: usize = option("N").called("test-run-count").below(TESTS),
        /// At most this many tests of a test case in each run; 0 is all
        tests_per_run: usize = option("N").called("tests-per-run").below(TESTS),
        /// Leave out the first N tests of a test case in each run
        skip_tests: usize = option("N").called("skip-tests").below(TESTS),
        /// Only tests of the last N days; 0.5 is half a day
        last_days: Option<f64> = option("N").called("last-days").below(TESTS),
        /// Only tests with this duration (ms); several with ;
        test_times: Vec<Range> = option("A..B").called("test-time").unit(Unit::Milliseconds).below(TESTS),
        /// Only these test cases (*, ?, several with ;, ! excludes)
        test_case: Option<String> = option("TESTS").called("test-case").below(TESTS),
        /// Only recordings of these machines, by the names of files (*, ?, several with ;, !
        /// excludes)
        machine: Option<String> = option("MACHINES").below(TESTS),
        /// Only files with the name of a test
        valid_only: bool = option("").called("valid-tests-only").below(TESTS),
        /// Treat all tests as one run
        one_run: bool = option("").called("no-test-run-grouping").below(TESTS),
    }
}

/// Returns all test runs of the files.
#[must_use]
pub fn runs(mut files: Vec<TestFile>, one_run: bool) -> Vec<TestRun> {
    // Files of one second by name, so that tests do not depend on the order in which a folder lists
    // them.
    files.sort_by(|a, b| (a.performed_at, &a.stem).cmp(&(b.performed_at, &b.stem)));
    let mut tests: Vec<Test> = Vec::new();
    let mut longest = TimeDelta::zero();
    for file in files {
        // Tests are sorted by their first file: tests that are too old for the file need not be
        // compared, however long they are.
        let reach = ONE_TEST + longest;
        let near = tests.iter_mut().rev().take_while(|test| {
            file.performed_at.signed_duration_since(test.performed_at()) < reach
        });
        // The earliest of the matching tests, which the backward search meets last: files of one
        // test follow each other.
        match near.filter(|test| test.has(&file)).last() {
            Some(test) => {
                test.files.push(file);
                longest = longest.max(test.length());
            }
            None => tests.push(Test::of(file)),
        }
    }
    let mut runs: Vec<TestRun> = Vec::new();
    for test in tests {
        let gap = runs
            .last()
            .map(|run| test.performed_at().signed_duration_since(run.end()));
        match runs.last_mut() {
            Some(run) if one_run || gap.is_some_and(|gap| gap <= GAP) => run.tests.push(test),
            _ => runs.push(TestRun {
                index: runs.len(),
                tests: vec![test],
            }),
        }
    }
    runs
}

impl Selection {
    /// Returns the runs with the selected tests; runs without any are left out. Runs are numbered
    /// before any filter except `valid_only`.
    #[must_use]
    pub fn of(&self, mut files: Vec<TestFile>, now: SystemTime) -> Vec<TestRun> {
        files.retain(|file| !self.valid_only || file.name.is_some());
        let first = self.run_index.unwrap_or(0);
        let count = if self.run_count == 0 {
            usize::MAX
        } else {
            self.run_count
        };
        let mut runs: Vec<TestRun> = runs(files, self.one_run)
            .into_iter()
            .skip(first)
            .take(count)
            .collect();
        let oldest = self.last_days.and_then(|days| {
            // More days than a calendar reaches back mean no limit.
            let length = TimeDelta::try_milliseconds((days * 86_400_000.0) as i64)?;
            wall_clock(now).checked_sub_signed(length)
        });
        let case = self.test_case.as_deref().map(TextFilter::parse);
        let machine = self.machine.as_deref().map(TextFilter::parse);
        for run in &mut runs {
            run.tests.retain(|test| {
                case.as_ref()
                    .is_none_or(|case| case.matches(Some(test.test_case())))
            });
            if let Some(machine) = &machine {
                let fits = |file: &TestFile| machine.matches(file.machine());
                run.tests
                    .iter_mut()
                    .for_each(|test| test.files.retain(fits));
                run.tests.retain(|test| !test.files.is_empty());
            }
            run.tests
                .retain(|test| oldest.is_none_or(|oldest| test.performed_at() >= oldest));
            run.tests.retain(|test| self.takes_long_enough(test));
            // Last, so that it counts only tests that the other options leave.
            self.cut(&mut run.tests);
        }
        runs.retain(|run| !run.tests.is_empty());
        runs
    }

    fn takes_long_enough(&self, test: &Test) -> bool {
        let ns = i64::try_from(test.duration_ms().saturating_mul(1_000_000)).unwrap_or(i64::MAX);
        self.test_times.is_empty()
            || self
                .test_times
                .iter()
                .any(|range| (range.min..=range.max).contains(&ns))
    }

    /// Removes the first tests of each test case, and tests beyond the requested number.
    fn cut(&self, tests: &mut Vec<Test>) {
        let most = if self.tests_per_run == 0 {
            usize::MAX
        } else {
            self.tests_per_run
        };
        let end = self.skip_tests.saturating_add(most);
        let mut seen: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        tests.retain(|test| {
            let number = seen.entry(test.test_case().to_owned()).or_default();
            *number += 1;
            *number > self.skip_tests && *number <= end
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> TestFile {
        let parsed = TestName::parse(name);
        TestFile {
            stem: super::super::stem(name).unwrap().to_owned(),
            trace: Some(name.into()),
            extract: None,
            performed_at: parsed
                .as_ref()
                .and_then(|name| name.performed_at)
                .unwrap_or_default(),
            name: parsed,
        }
    }

    fn files() -> Vec<TestFile> {
        [
            "Open_100msCLIENT.20200717-120000.etl",
            "Open_100msSERVER.20200717-120100.etl",
            // Another duration is another test, and so is the same machine again.
            "Open_120msCLIENT.20200717-120200.etl",
            "Open_120msCLIENT.20200717-120300.etl",
            "Close_50msCLIENT.20200717-130300.etl",
            // A gap of more than an hour.
            "Open_200msCLIENT.20200717-140301.etl",
            "Open_300msCLIENT.20200718-140301.etl",
        ]
        .iter()
        .map(|name| file(name))
        .collect()
    }

    /// Returns numbers of the runs with the durations of their tests.
    fn shown(runs: &[TestRun]) -> Vec<(usize, Vec<u64>)> {
        runs.iter()
            .map(|run| (run.index, run.tests.iter().map(Test::duration_ms).collect()))
            .collect()
    }

    fn select(selection: &Selection) -> Vec<(usize, Vec<u64>)> {
        shown(&selection.of(files(), SystemTime::now()))
    }

    #[test]
    fn files_of_two_machines_are_one_test_and_gaps_part_runs() {
        let all = runs(files(), false);
        assert_eq!(
            shown(&all),
            [(0, vec![100, 120, 120, 50]), (1, vec![200]), (2, vec![300])]
        );
        assert_eq!(all[0].tests[0].files.len(), 2);
        assert_eq!(runs(files(), true).len(), 1);
        assert!(runs(Vec::new(), false).is_empty());
    }

    #[test]
    fn files_of_a_test_follow_each_other_closely() {
        let of = |names: &[&str]| -> Vec<Vec<String>> {
            let files = names.iter().map(|name| file(name)).collect();
            let machines = |test: &Test| {
                let machines = test.files.iter().filter_map(TestFile::machine);
                machines.map(str::to_owned).collect()
            };
            let runs = runs(files, true);
            runs[0].tests.iter().map(machines).collect()
        };
        // Each file less than ten minutes after the one before, another test between them.
        assert_eq!(
            of(&[
                "Open_1msA.20200717-120000.etl",
                "Close_1msA.20200717-120100.etl",
                "Open_1msB.20200717-120900.etl",
                "Open_1msC.20200717-121800.etl",
                "Close_1msB.20200717-121801.etl",
            ]),
            [vec!["A", "B", "C"], vec!["A"], vec!["B"]]
        );
        // Ten minutes are too long.
        assert_eq!(
            of(&[
                "Open_1msA.20200717-120000.etl",
                "Open_1msB.20200717-121000.etl",
            ]),
            [vec!["A"], vec!["B"]]
        );
        // A machine is in a test once.
        assert_eq!(
            of(&[
                "Open_1msA.20200717-120000.etl",
                "Open_1msB.20200717-120000.etl",
                "Open_1msA.20200717-120100.etl",
                "Open_1msB.20200717-120100.etl",
            ]),
            [vec!["A", "B"], vec!["A", "B"]]
        );
    }

    #[test]
    fn selections() {
        let all = Selection::default();
        let time = |text: &str| Range::parse(text, Unit::Milliseconds).unwrap();
        for (selection, expected) in [
            (
                Selection {
                    run_index: Some(1),
                    ..all.clone()
                },
                vec![(1, vec![200]), (2, vec![300])],
            ),
            (
                Selection {
                    run_index: Some(1),
                    run_count: 1,
                    ..all.clone()
                },
                vec![(1, vec![200])],
            ),
            (
                Selection {
                    run_index: Some(9),
                    ..all.clone()
                },
                vec![],
            ),
            (
                Selection {
                    tests_per_run: 1,
                    ..all.clone()
                },
                vec![(0, vec![100, 50]), (1, vec![200]), (2, vec![300])],
            ),
            (
                Selection {
                    skip_tests: 1,
                    tests_per_run: 1,
                    ..all.clone()
                },
                vec![(0, vec![120])],
            ),
            (
                Selection {
                    test_times: vec![time("..60"), time("110..200")],
                    ..all.clone()
                },
                vec![(0, vec![120, 120, 50]), (1, vec![200])],
            ),
            (
                Selection {
                    last_days: Some(0.5),
                    ..all.clone()
                },
                vec![],
            ),
            (
                Selection {
                    test_case: Some("open".to_owned()),
                    run_count: 2,
                    ..all.clone()
                },
                vec![(0, vec![100, 120, 120]), (1, vec![200])],
            ),
            (
                Selection {
                    test_case: Some("!O*;C*".to_owned()),
                    ..all.clone()
                },
                vec![(0, vec![50])],
            ),
            (
                Selection {
                    machine: Some("serv*".to_owned()),
                    ..all.clone()
                },
                vec![(0, vec![100])],
            ),
        ] {
            assert_eq!(select(&selection), expected, "{selection:?}");
        }
    }

    #[test]
    fn of_a_test_the_files_of_a_machine_are_left() {
        let selection = Selection {
            machine: Some("!SERVER".to_owned()),
            ..Selection::default()
        };
        let runs = selection.of(files(), SystemTime::now());
        let names: Vec<&str> = runs[0].tests[0]
            .files
            .iter()
            .map(|file| &*file.stem)
            .collect();
        assert_eq!(names, ["Open_100msCLIENT.20200717-120000"]);
    }

    #[test]
    fn other_names_are_tests_of_their_own_unless_they_are_not_wanted() {
        let mut with_other = files();
        with_other.push(file("trace.etl"));
        let now = SystemTime::now();
        let all = Selection::default().of(with_other.clone(), now);
        assert_eq!((all.len(), all[0].tests[0].test_case()), (4, "trace"));
        assert_eq!(
            Selection {
                valid_only: true,
                ..Selection::default()
            }
            .of(with_other, now)
            .len(),
            3
        );
    }
}
