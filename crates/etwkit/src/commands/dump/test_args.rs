//! Which of many recordings of tests are asked.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Context;
use clap::Args;
use etwkit_engine::{is_folder, recordings};
use etwkit_query::range::{Range, Unit};
use etwkit_query::test_run::{Selection, TestFile};

use super::args::Common;

/// Heading of these options.
const TESTS: &str = "Tests";

/// Selects tests and test runs by the names of files.
#[derive(Debug, Args)]
pub(crate) struct TestSelectionArgs {
    /// From this test run on; the first one is 0
    #[arg(long, value_name = "N", help_heading = TESTS)]
    test_run_index: Option<usize>,
    /// Only so many test runs; 0 is all
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = TESTS)]
    test_run_count: usize,
    /// At most so many tests of a test case in each run; 0 is all
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = TESTS)]
    tests_per_run: usize,
    /// Leave the first N tests of a test case in each run out
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = TESTS)]
    skip_tests: usize,
    /// Only tests of the last N days; 0.5 is half a day
    #[arg(long, value_name = "N", help_heading = TESTS)]
    last_days: Option<f64>,
    /// Only tests that took so long (ms); several with ; between
    #[arg(long, value_name = "A..B", value_delimiter = ';', help_heading = TESTS)]
    test_time: Vec<String>,
    /// Only such test cases (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES", help_heading = TESTS)]
    test_case: Option<String>,
    /// Only recordings of such machines, by the names of files (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES", help_heading = TESTS)]
    machine: Option<String>,
    /// Only files that are named as tests are
    #[arg(long, help_heading = TESTS)]
    valid_tests_only: bool,
    /// All tests are one run
    #[arg(long, help_heading = TESTS)]
    no_test_run_grouping: bool,
}

impl TestSelectionArgs {
    /// As a selection.
    pub(crate) fn selection(&self) -> anyhow::Result<Selection> {
        let range = |text: &String| Range::parse(text, Unit::Milliseconds).context("--test-time");
        Ok(Selection {
            run_index: self.test_run_index,
            run_count: self.test_run_count,
            tests_per_run: self.tests_per_run,
            skip_tests: self.skip_tests,
            last_days: self.last_days,
            test_times: self.test_time.iter().map(range).collect::<anyhow::Result<_>>()?,
            test_case: self.test_case.clone(),
            machine: self.machine.clone(),
            valid_only: self.valid_tests_only,
            one_run: self.no_test_run_grouping,
        })
    }
}

impl Common {
    /// The extracts and traces that are asked: those that are named, in their order, and for each folder
    /// those in it, by time. A choice of tests puts all of them in the order of time and leaves one of a
    /// trace and its extract: the extract.
    pub(super) fn chosen(&self) -> anyhow::Result<Cow<'_, [PathBuf]>> {
        let selection = self.tests.selection()?;
        // All tests being one run chooses nothing by itself.
        let chooses = Selection { one_run: false, ..selection.clone() } != Selection::default();
        if chooses {
            let runs = selection.of(recordings(&self.extracts, self.recursive)?, SystemTime::now());
            let files = runs.into_iter().flat_map(|run| run.tests).flat_map(|test| test.files);
            return Ok(files.filter_map(asked).collect());
        }
        if !self.extracts.iter().any(|path| is_folder(path)) {
            return Ok(Cow::Borrowed(&self.extracts));
        }
        let mut all = Vec::new();
        for path in &self.extracts {
            if !is_folder(path) {
                all.push(path.clone());
                continue;
            }
            let mut inside = recordings(std::slice::from_ref(path), self.recursive)?;
            anyhow::ensure!(
                !inside.is_empty(),
                "no trace and no extract is in the folder {}",
                path.display()
            );
            inside.sort_by(|a, b| (a.performed_at, &a.stem).cmp(&(b.performed_at, &b.stem)));
            all.extend(inside.into_iter().filter_map(asked));
        }
        Ok(all.into())
    }
}

/// The extract of a recording, or the trace if there is none.
fn asked(file: TestFile) -> Option<PathBuf> {
    file.extract.or(file.trace)
}
