//! Arguments of a command line that name recordings: files, folders, patterns and lists of all of
//! these.
//!
//! This is the one place that knows how traces and extracts are named. Windows shells hand patterns
//! on unchanged, and no shell takes ten thousand names, so the program itself expands patterns and
//! lists.

mod list;
pub(crate) mod near;
mod pattern;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use etwkit_base::digits::counted;
use etwkit_base::natural::{Piece, pieces};
use etwkit_base::path::name_of;
use etwkit_extract::json7z::is_json_extract;
use etwkit_extract::lake::{Snapshot, is_lake, split};
use etwkit_question::test_run::TestFile;

use crate::lakes::is_of_lake;
use crate::{Error, Result, is_folder, recordings, refuse_address};

/// Advice for a folder or pattern that holds nothing.
const ENDINGS: &str = "etwkit looks for names that end with .etl, .etlgz, .etl.gz, .etl.zst, .etl.xz, .etl.bz2, .etl.lz4, \
     .zip, .7z, .cab, .diagsession, .etwx, .etwx.zip or .json7z. \
     In a pattern, ** stands for any number of folders";

/// Advice for a lake where traces are expected.
const RUNS_OF_LAKE: &str =
    "`etwkit lake list LAKE` lists its runs, which `etwkit dump` and `etwkit diagnose` take";

/// The kind of files that a folder or a pattern is searched for. A file that is named itself is
/// always accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// Files that can be queried: extracts, and traces without one.
    Answers,
    /// Files that can become an extract: traces, and extracts of ETWAnalyzer whose traces are not
    /// there.
    Sources,
    /// Files that are read as one session: traces. Folders are not searched, since the files of a
    /// folder are seldom one session.
    Session,
}

/// The meaning of an argument.
#[derive(Debug)]
enum Meaning {
    /// A path, and its position in a list; empty if it is not in one.
    Path(PathBuf, String),
    /// The matches of a pattern, and its position in a list.
    Matches {
        files: Vec<TestFile>,
        place: String,
        pattern: String,
    },
}

/// Returns the files that arguments name, in the order of the arguments; files of a folder or
/// pattern by the time in their names, otherwise by path, in which numbers count by value. A file
/// that a folder, a pattern or a list finds is listed once, however often it is found or named.
///
/// # Errors
/// A pattern, folder or list that holds nothing of what is wanted; a list, or a name in it, that
/// does not exist; an address of a store that etwkit does not open.
pub fn named(words: &[PathBuf], wanted: InputKind, recursive: bool) -> Result<Vec<PathBuf>> {
    let mut named = Named::default();
    for found in read(words)? {
        match found {
            Meaning::Path(path, place) if wanted == InputKind::Answers && is_lake(&path) => {
                let lake = Snapshot::open(&path)?;
                if lake.runs().is_empty() {
                    return Err(Error::Named {
                        message: format!("{place}no run is in the lake {}", path.display()),
                        hint: "`etwkit lake add LAKE EXTRACT…` adds extracts".into(),
                        source: None,
                    });
                }
                lake.run_paths().for_each(|run| named.add(run, true));
            }
            Meaning::Path(path, place) if wanted != InputKind::Answers && is_of_lake(&path) => {
                return Err(Error::Named {
                    message: format!("{place}a lake has rows and no traces: {}", path.display()),
                    hint: RUNS_OF_LAKE.into(),
                    source: None,
                });
            }
            Meaning::Path(path, place) if wanted != InputKind::Session && is_folder(&path) => {
                let inside = wanted.all(recordings(std::slice::from_ref(&path), recursive)?);
                named.all(inside, || no_file(&place, &path, wanted))?;
            }
            Meaning::Path(path, _)
                if wanted == InputKind::Answers && path.as_os_str() == "-" && !path.exists() =>
            {
                return Err(Error::Named {
                    message: "a trace on the standard input cannot be queried".to_owned(),
                    hint: "`etwkit extract - --out NAME.etwx` makes an extract of it, which can; ./- is a file of that name".into(),
                    source: None,
                });
            }
            Meaning::Path(path, place) => named.add(path, !place.is_empty()),
            Meaning::Matches {
                files,
                place,
                pattern,
            } => {
                let files = wanted.all(files);
                named.all(files, || no_match(&place, &pattern, wanted))?;
            }
        }
    }
    Ok(named.paths)
}

/// Returns the error about a folder that holds nothing.
fn no_file(place: &str, folder: &Path, wanted: InputKind) -> Error {
    Error::Named {
        message: format!(
            "{place}{} is in the folder {}",
            wanted.nothing(),
            folder.display()
        ),
        hint: ENDINGS.into(),
        source: None,
    }
}

/// Returns the error about a pattern that matches nothing.
fn no_match(place: &str, pattern: &str, wanted: InputKind) -> Error {
    let instead = instead(Path::new(pattern), wanted);
    Error::Named {
        message: format!("{place}{} matches {pattern}", wanted.nothing()),
        hint: instead.map_or(Cow::Borrowed(ENDINGS), Cow::Owned),
        source: None,
    }
}

/// Returns what there is instead of matches of a pattern: matches with another ending, or other
/// files of its folder.
fn instead(pattern: &Path, wanted: InputKind) -> Option<String> {
    // What cannot be read is no advice.
    let found = |paths: &[PathBuf]| recordings(paths, false).map(|files| wanted.all(files));
    let any_ending = near::with_any_ending(pattern)?;
    let alike = found(&pattern::matches(&any_ending).ok()?).ok()?;
    if let Some(other) = near::with_other_ending(pattern, &alike) {
        return Some(other);
    }
    let folder = pattern::folder(pattern)?;
    if !folder.is_dir() {
        return Some(format!("there is no folder {}", folder.display()));
    }
    let others = found(&[folder.to_owned()]).ok()?;
    let first = others.first()?;
    Some(format!(
        "the folder {} has {}, such as {}",
        folder.display(),
        counted(others.len() as u64, ["other", "others"]),
        name_of(first)
    ))
}

/// Sorts the files of a folder or pattern: first those without a time in their name, then by that
/// time. Otherwise by folder and name, in which numbers count by value.
pub(crate) fn in_order(mut files: Vec<TestFile>) -> Vec<TestFile> {
    files.sort_by_cached_key(|file| {
        let time = file.name.as_ref().and_then(|name| name.performed_at);
        let folder = file.trace.as_ref().or(file.extract.as_ref());
        let folder = folder.and_then(|path| path.parent());
        let folder: Vec<Vec<Piece>> = folder
            .into_iter()
            .flat_map(Path::components)
            .map(|part| pieces(&part.as_os_str().to_string_lossy()))
            .collect();
        // Two names can differ in leading zeros alone.
        (time, folder, pieces(&file.stem), file.stem.clone())
    });
    files
}

/// Returns files and folders that arguments name, and all matches of patterns, traces and extracts
/// alike.
///
/// # Errors
/// The errors of [`named`].
pub fn places(words: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut named = Named::default();
    for found in read(words)? {
        match found {
            Meaning::Path(path, place) => named.add(path, !place.is_empty()),
            Meaning::Matches { files, .. } => {
                let paths = files
                    .into_iter()
                    .flat_map(|file| file.trace.into_iter().chain(file.extract));
                paths.for_each(|path| named.add(path, true));
            }
        }
    }
    Ok(named.paths)
}

impl InputKind {
    fn of(self, TestFile { trace, extract, .. }: TestFile) -> Option<PathBuf> {
        match self {
            Self::Answers => extract.or(trace),
            Self::Sources => trace.or_else(|| extract.filter(|path| is_json_extract(path))),
            Self::Session => trace,
        }
    }

    /// Returns what is wanted of recordings, in their order.
    fn all(self, files: Vec<TestFile>) -> Vec<PathBuf> {
        let files = in_order(files).into_iter();
        files.filter_map(|file| self.of(file)).collect()
    }

    const fn nothing(self) -> &'static str {
        match self {
            Self::Answers => "no trace and no extract",
            Self::Sources | Self::Session => "no trace",
        }
    }
}

/// Paths in their order, and whether each was found rather than named.
#[derive(Default)]
struct Named {
    paths: Vec<PathBuf>,
    seen: HashMap<PathBuf, bool>,
}

/// Returns one path for all that lead to a file, through links or `..`, or to a run of a lake.
fn place_of(path: &Path) -> PathBuf {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match split(path) {
        Some((lake, run)) => real(&lake).join(run),
        None => real(path),
    }
}

/// Returns each place once, at its first path, and the paths that lead to a place again.
#[must_use]
pub fn each_once(paths: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut seen = HashSet::new();
    paths
        .into_iter()
        .partition(|path| seen.insert(place_of(path)))
}

impl Named {
    /// Adds a path. One that a user names twice stays twice, for callers that refuse it.
    fn add(&mut self, path: PathBuf, is_found: bool) {
        let place = place_of(&path);
        match self.seen.get(&place) {
            Some(was_found) if is_found || *was_found => {}
            _ => {
                self.seen.insert(place, is_found);
                self.paths.push(path);
            }
        }
    }

    /// Adds the files of a folder or pattern; none is an error.
    fn all(&mut self, paths: Vec<PathBuf>, error: impl FnOnce() -> Error) -> Result<()> {
        if paths.is_empty() {
            return Err(error());
        }
        paths.into_iter().for_each(|path| self.add(path, true));
        Ok(())
    }
}

/// Returns the meaning of all arguments.
fn read(words: &[PathBuf]) -> Result<Vec<Meaning>> {
    let mut all = Vec::new();
    for word in words {
        match list::name(word) {
            Some(list) => {
                for (number, line) in list::lines(&list)? {
                    let place = format!("{}, line {number}: ", list.display());
                    all.push(one(&line, place)?);
                }
            }
            None => all.push(one(word, String::new())?),
        }
    }
    Ok(all)
}

/// Returns the meaning of an argument, or of a line of a list; `place` is its position for
/// messages.
fn one(word: &Path, place: String) -> Result<Meaning> {
    // A file can have any name, even one with characters of a pattern. A run of a lake is not a file, nor is
    // a lake in a bucket.
    if word.symlink_metadata().is_ok() || split(word).is_some() || is_lake(word) {
        return Ok(Meaning::Path(word.to_owned(), place));
    }
    if let Err(address) = refuse_address(word) {
        return Err(match place.strip_suffix(": ") {
            Some(line) => address.of(line),
            None => address,
        });
    }
    if pattern::is_pattern(word) {
        let files = recordings(&pattern::matches(word)?, false)?;
        return Ok(Meaning::Matches {
            files,
            place,
            pattern: word.display().to_string(),
        });
    }
    // The code that opens a path of the command line reports that it does not exist. For a line of
    // a list that error would lack the list and the line, so it is reported here.
    if place.is_empty() {
        return Ok(Meaning::Path(word.to_owned(), place));
    }
    Err(Error::Named {
        message: format!("{place}there is no {}", word.display()),
        hint: "names in a list start in the current folder, as on a command line".into(),
        source: None,
    })
}
