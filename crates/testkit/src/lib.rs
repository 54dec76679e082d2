//! For the tests of this workspace only: sample traces, the comparison with their truth, files,
//! damage, and [stand-ins](stand_in) for Windows programs.
//!
//! The variable `ETWKIT_TRACES` names a folder of sample traces with `truth/*.json` and
//! `made/info/*.json`. If it is not set, tests that need it report that and pass; under `CI` they
//! fail.
//!
//! With `ETWKIT_ALL=1`, as `scripts/test --all` sets it, tests go through every trace, strength and
//! combination that they can; without it each takes the smallest data that can show what it asserts.

#![recursion_limit = "512"]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod compare;
mod corrupt;
pub mod etwanalyzer;
pub mod files;
pub mod payload;
mod python;
pub mod stand_in;
pub mod xml_noise;

pub use compare::Comparison;
pub use corrupt::{KINDS, Random, buffer_starts, corrupt};
pub use python::{output_of, python};

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Returns the folder of sample traces, or `None` with a note that its tests are skipped.
///
/// # Panics
/// If there is none and the tests run under `CI`.
#[must_use]
pub fn traces() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("ETWKIT_TRACES").map(PathBuf::from) {
        assert!(
            folder.is_dir(),
            "ETWKIT_TRACES names {}, which is not a folder",
            folder.display()
        );
        return Some(folder);
    }
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    skip(&format!(
        "{test}: ETWKIT_TRACES does not name the folder of the sample traces"
    ));
    None
}

/// Prints that something is not tested, bypassing the output capture of the test runner.
///
/// # Panics
/// Under `CI`, where everything has to be tested.
pub fn skip(what: &str) {
    // One write, so that no other test's line gets in between.
    let _ = std::io::stderr().write_all(format!("skipped: {what}\n").as_bytes());
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci.is_empty()),
        "skipped under CI: {what}"
    );
}

/// Whether tests go through everything that they can: all traces, all strengths, all combinations.
#[must_use]
pub fn is_exhaustive() -> bool {
    std::env::var_os("ETWKIT_ALL").is_some_and(|all| !all.is_empty() && all != "0")
}

/// One trace of each series: `NAME-5.etl` stands for `NAME-4.etl` and `NAME-6.etl`, which another
/// seed or version of Windows made of the same machine. All of them if tests are exhaustive.
#[must_use]
pub fn one_of_each_series(files: Vec<PathBuf>) -> Vec<PathBuf> {
    if is_exhaustive() {
        return files;
    }
    let fifth_of = |path: &Path| {
        let stem = path.file_stem()?.to_str()?;
        let (series, number) = stem.rsplit_once('-')?;
        let is_numbered = number.bytes().all(|byte| byte.is_ascii_digit());
        is_numbered.then(|| path.with_file_name(format!("{series}-5.etl")))
    };
    let is_kept =
        |path: &PathBuf| fifth_of(path).is_none_or(|fifth| fifth == **path || !fifth.exists());
    files.into_iter().filter(is_kept).collect()
}

/// A trace with its expected results.
#[derive(Debug)]
pub struct Sample {
    /// Name of its truth file, without ending.
    pub name: String,
    /// Its files, which form one session; the archive if the trace is in one.
    pub files: Vec<PathBuf>,
    /// The whole truth, in the form of `etwkit info --json`.
    pub truth: Value,
}

/// Returns all samples with a truth; empty, with a note, if [`traces`] has none.
#[must_use]
pub fn samples() -> Vec<Sample> {
    let Some(root) = traces() else {
        return Vec::new();
    };
    let mut truths = truth_files(&root.join("truth"));
    truths.extend(truth_files(&root.join("made/info")));
    truths
        .iter()
        .filter_map(|truth| sample(&root, truth))
        .collect()
}

/// Returns the JSON files of a folder, sorted.
#[must_use]
pub fn truth_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    files
}

/// Reads a JSON file.
#[must_use]
pub fn read_json(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reads a sample. `None` if the file has its own format, such as `NAME.wpp.json`: special tests
/// read it.
fn sample(root: &Path, path: &Path) -> Option<Sample> {
    let truth = read_json(path);
    if truth["_meta"]["schema"] != "etwkit-truth-1" {
        return None;
    }
    let folders = [root.to_owned(), root.join("diaghub"), root.join("made")];
    let named = truth["_meta"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["name"].as_str().unwrap());
    let files = named.map(|name| {
        // A file that is not there itself is in an archive of the same name.
        let archive = Path::new(name).with_extension("7z");
        let candidates = folders
            .iter()
            .flat_map(|folder| [folder.join(name), folder.join(&archive)]);
        let found = candidates.into_iter().find(|file| file.is_file());
        found.unwrap_or_else(|| panic!("{name}, of {}, is missing", path.display()))
    });
    let files = files.collect();
    Some(Sample {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        files,
        truth,
    })
}

/// Returns every `.etl` file in the folder of sample traces, sorted.
#[must_use]
pub fn trace_files() -> Vec<PathBuf> {
    let Some(root) = traces() else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for folder in [root.clone(), root.join("diaghub"), root.join("made")] {
        let entries = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|ending| ending == "etl")));
    }
    files.sort();
    files
}
