//! Names that come close: advice about a pattern that matches nothing, and the words of a command
//! line for files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etwkit_base::digits::counted;
use etwkit_base::endings::{stem, strip};
use etwkit_base::path::name_of;
use etwkit_base::shell::quoted_pattern;
use etwkit_sql::filter::Pattern;

/// Endings of extracts, the longer of two that are alike first.
const EXTRACTS: [&str; 3] = [".etwx.zip", ".etwx", ".json7z"];

/// Number of files that a command line names one by one.
const NAMED: usize = 3;

/// Returns the pattern for the names that a pattern would match with any ending.
pub(super) fn with_any_ending(pattern: &Path) -> Option<PathBuf> {
    let start = start(pattern.file_name()?.to_str()?);
    let name = if start.ends_with('*') {
        start.to_owned()
    } else {
        format!("{start}*")
    };
    Some(pattern.with_file_name(name))
}

/// Returns a sentence about the pattern that differs in its ending and matches most of these files.
pub(super) fn with_other_ending(pattern: &Path, files: &[PathBuf]) -> Option<String> {
    let start = start(pattern.file_name()?.to_str()?);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for name in files.iter().map(|file| name_of(file).to_lowercase()) {
        let Some(ending) = ending(&name) else {
            continue;
        };
        let other = format!("{start}{ending}");
        if Pattern::new(&other).matches(&name) {
            *counts.entry(other).or_default() += 1;
        }
    }
    let (name, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let other = pattern.with_file_name(name);
    Some(format!(
        "{} has {}",
        quoted(&other),
        counted(count, ["match", "matches"])
    ))
}

/// Returns the words of a command line for files: the name of each, or a pattern for many.
pub(crate) fn words(files: &[&Path]) -> String {
    if let Some(pattern) = common(files).filter(|_| files.len() > NAMED) {
        return quoted(&pattern);
    }
    let mut words: Vec<String> = files.iter().take(NAMED).map(|file| quoted(file)).collect();
    if files.len() > NAMED {
        words.push("…".to_owned());
    }
    words.join(" ")
}

/// Returns the pattern of files that have one folder and one ending.
fn common(files: &[&Path]) -> Option<PathBuf> {
    let (first, others) = files.split_first()?;
    let pattern = pattern_of(first)?;
    let is_common = others
        .iter()
        .all(|file| pattern_of(file).as_ref() == Some(&pattern));
    is_common.then_some(pattern)
}

/// Returns the pattern of the files in its folder that have its ending.
fn pattern_of(file: &Path) -> Option<PathBuf> {
    let name = name_of(file).to_lowercase();
    let ending = ending(&name)?;
    Some(file.with_file_name(format!("*{ending}")))
}

fn quoted(path: &Path) -> String {
    quoted_pattern(&path.to_string_lossy())
}

/// Returns the ending of a trace or extract, such as `.etl.zip`; `None` for other files.
fn ending(name: &str) -> Option<&str> {
    let of_extract = EXTRACTS.iter().find_map(|ending| strip(name, ending));
    let stem = of_extract.or_else(|| stem(name))?;
    name.get(stem.len()..)
}

/// Returns a pattern of names without its ending.
fn start(name: &str) -> &str {
    let known = ending(name).and_then(|ending| name.strip_suffix(ending));
    known
        .or_else(|| name.rsplit_once('.').map(|(start, _)| start))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_alike_become_a_pattern() {
        let one = |files: &[&str]| {
            let files: Vec<&Path> = files.iter().map(Path::new).collect();
            words(&files)
        };
        assert_eq!(one(&["a.etl"]), "a.etl");
        assert_eq!(one(&["my a.etl", "b.etl"]), "\"my a.etl\" b.etl");
        assert_eq!(
            one(&["a.ETL.zip", "b.etl.zip", "c.etl.zip", "d.etl.zip"]),
            "\"*.etl.zip\""
        );
        assert_eq!(
            one(&["a.etl", "b.etl", "c.etl", "d.zip"]),
            "a.etl b.etl c.etl …"
        );
    }

    #[test]
    fn a_pattern_keeps_its_start() {
        for (pattern, expected) in [
            ("*.etl", "*"),
            ("Test*.etl.gz", "Test*"),
            ("Test?.etwx", "Test?*"),
            ("*.*", "*"),
            ("run?", "run?*"),
        ] {
            let any = with_any_ending(Path::new(pattern));
            assert_eq!(any.as_deref(), Some(Path::new(expected)), "{pattern}");
        }
    }
}
