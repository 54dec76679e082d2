//! Which of many recordings of tests are meant, and what folders hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use clap::Args;
use etwkit_extract::Extract;
use etwkit_query::range::{Range, Unit};
use etwkit_query::test_run::{Selection, TestFile, TestName, stem, wall_clock};

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
    /// Only tests that took so long (ms); can be given several times
    #[arg(long, value_name = "A..B", help_heading = TESTS)]
    test_time: Vec<String>,
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
            valid_only: self.valid_tests_only,
            one_run: self.no_test_run_grouping,
        })
    }
}

/// From 1601, where file times begin, to 1970, in units of 100 ns.
const UNIX_EPOCH_FILETIME: i64 = 116_444_736_000_000_000;

/// The recordings that files and folders hold. A trace and the extract beside it that has its name are one.
pub(crate) fn recordings(paths: &[PathBuf], recursive: bool) -> anyhow::Result<Vec<TestFile>> {
    let mut found: BTreeMap<(PathBuf, String), TestFile> = BTreeMap::new();
    for path in paths {
        if is_extract(path) || !path.is_dir() {
            add(path, &mut found)?;
        } else {
            folder(path, recursive, &mut found)?;
        }
    }
    Ok(found.into_values().collect())
}

type Found = BTreeMap<(PathBuf, String), TestFile>;

fn folder(path: &Path, recursive: bool, found: &mut Found) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read {}", path.display()))?;
        let (path, kind) = (entry.path(), entry.file_type());
        // Links are not followed, so that no circle is walked.
        let is_folder = kind.is_ok_and(|kind| kind.is_dir()) && !is_extract(&path);
        if is_folder && recursive {
            folder(&path, recursive, found)?;
        } else if !is_folder {
            add(&path, found)?;
        }
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_extract(path: &Path) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    [".etwx", ".etwx.zip"].iter().any(|ending| name.ends_with(ending))
}

/// Adds a trace, archive or extract; other files are none of ours.
fn add(path: &Path, found: &mut Found) -> anyhow::Result<()> {
    let full = file_name(path);
    let Some(stem) = stem(&full).map(str::to_owned) else { return Ok(()) };
    if full.to_ascii_lowercase().contains(".json") {
        return Ok(());
    }
    let name = TestName::parse(&full);
    let is_extract = is_extract(path);
    let performed_at = match &name {
        Some(name) => name.performed_at,
        None => wall_clock(when(path, is_extract)?),
    };
    let key = (path.parent().unwrap_or_else(|| Path::new("")).to_owned(), stem.clone());
    let file = found.entry(key).or_insert(TestFile { stem, trace: None, extract: None, name, performed_at });
    if is_extract {
        (file.extract, file.performed_at) = (Some(path.to_owned()), performed_at);
    } else {
        file.trace = Some(path.to_owned());
    }
    Ok(())
}

/// When a file whose name does not tell it was recorded: an extract knows, of a trace the last change counts.
fn when(path: &Path, is_extract: bool) -> anyhow::Result<SystemTime> {
    if is_extract && let Ok(extract) = Extract::open(path) {
        let since_1970 = extract.manifest().clock.start_filetime.checked_sub(UNIX_EPOCH_FILETIME);
        let since_1970 = since_1970.and_then(|ticks| u64::try_from(ticks).ok()).filter(|ticks| *ticks > 0);
        if let Some(ticks) = since_1970 {
            return Ok(SystemTime::UNIX_EPOCH + Duration::from_micros(ticks / 10));
        }
    }
    let read = || format!("cannot read {}", path.display());
    std::fs::metadata(path).with_context(read)?.modified().with_context(read)
}
