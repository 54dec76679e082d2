//! `-fd`: the traces and extracts of a query.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use etwkit_base::endings::{self, strip};
use etwkit_base::path::{name_of, split_typed};
use etwkit_extract::json7z::{is_json_extract, looks_like_json_extract};
use etwkit_extract::manifest_of;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::similar_file;

use crate::drive::{drive_letter, local};
use crate::line::Line;
use crate::{Find, LineError};

/// Endings of files that can be queried, longest first; extracts are folders or packed folders.
const EXTRACTS: [&str; 2] = [".etwx.zip", ".etwx"];
/// Endings of extracts of ETWAnalyzer, which command lines name in place of ours.
const JSON: [&str; 2] = [".json7z", ".json"];
/// The folder next to traces in which ETWAnalyzer writes extracts.
pub(crate) const EXTRACT_FOLDER: &str = "Extract";

/// The queries of a line for the files that it means.
#[derive(Debug, Default)]
pub(crate) struct Queries {
    pub(crate) all: Vec<String>,
    pub(crate) is_recursive: bool,
}

impl Queries {
    /// Takes a switch for input files. Returns `true` if it was one.
    pub(crate) fn take(&mut self, name: &str, line: &mut Line) -> anyhow::Result<bool> {
        match name {
            "fd" | "filedir" | "dir" => {
                let first = line.required(name)?;
                let others: Vec<String> = std::iter::from_fn(|| line.file()).collect();
                self.add(first, others);
            }
            "recursive" => self.is_recursive = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Adds a query, or the files that a shell made of it. A pattern finds other files, too, which
    /// are left out as in a folder.
    fn add(&mut self, first: String, others: Vec<String>) {
        let is_pattern = !others.is_empty();
        let names = std::iter::once(first).chain(others);
        self.all.extend(names.filter(|name| {
            let path = Path::new(name);
            !is_pattern || is_extract_folder(path) || (path.is_file() && is_asked(path))
        }));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns traces for `-extract`.
    pub(crate) fn traces(&self) -> anyhow::Result<Vec<PathBuf>> {
        traces(&self.all, self.is_recursive)
    }

    /// Returns extracts and traces on disk.
    pub(crate) fn extracts(&self) -> anyhow::Result<Vec<PathBuf>> {
        extracts(&self.all, self.is_recursive)
    }

    /// Returns the files of the line, as `find` finds them.
    pub(crate) fn found(&self, find: Find<'_>) -> anyhow::Result<Vec<PathBuf>> {
        find(&self.all, self.is_recursive)
    }
}

/// Returns the files on disk that queries name; the default is the files of the current folder.
///
/// # Errors
///
/// No file matches, or a folder cannot be read.
pub fn on_disk(queries: &[String], is_recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let here = [".".to_owned()];
    let queries = if queries.is_empty() { &here } else { queries };
    let extracts = extracts(queries, is_recursive)?;
    if extracts.is_empty() {
        return Err(LineError::new(
            format!("no file matches -fd {}", queries.join(" -fd ")),
            "a query is compared with whole paths: start it with *",
        )
        .into());
    }
    Ok(extracts)
}

/// Returns the name of a file without folder and ending.
pub(crate) fn stem(path: &Path) -> String {
    let name = name_of(path);
    ending(&name)
        .and_then(|ending| strip(&name, ending))
        .unwrap_or(&name)
        .to_owned()
}

fn is_extract(path: &Path) -> bool {
    EXTRACTS
        .iter()
        .any(|ending| name_of(path).to_lowercase().ends_with(ending))
        || is_json_extract(path)
}

/// Returns the traces of queries for `-extract`: extracts are left out.
fn traces(queries: &[String], is_recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = all(queries, is_recursive)?;
    let mut seen = BTreeSet::new();
    // A file that two queries find is read once.
    found.retain(|path| !is_extract(path) && seen.insert(real(path)));
    // An archive holds the trace of the same name, with or without the ending of traces in its own.
    let of_archive = |path: &PathBuf| match path.with_extension("") {
        inner if has_ending(&inner, ".etl") => inner,
        inner => inner.with_added_extension("etl"),
    };
    let archives = found.iter().filter(|path| !has_ending(path, ".etl"));
    let archived: BTreeSet<PathBuf> = archives.map(of_archive).collect();
    found.retain(|path| !archived.contains(path));
    Ok(found)
}

/// Returns the files to query: the extract of each trace that has one, otherwise the trace; by the
/// start of the recording.
pub(crate) fn extracts(queries: &[String], is_recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut seen = BTreeSet::new();
    let mut dated = Vec::new();
    for found in all(queries, is_recursive)? {
        let path = extract_of(&found).unwrap_or(found);
        if seen.insert(real(&path)) {
            dated.push((start(&path), path));
        }
    }
    // The start of a trace without an extract is known only after reading it: such traces come
    // last.
    dated.sort_by_key(|(start, _)| start.unwrap_or(i64::MAX));
    Ok(dated.into_iter().map(|(_, path)| path).collect())
}

/// Returns the canonical path of a file; its own path if it cannot be resolved.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the start of the recording of an extract, in units of 100 ns since 1601.
fn start(path: &Path) -> Option<i64> {
    Some(manifest_of(path).ok()?.clock.start_filetime)
}

/// Returns the extract of a trace: in `Extract` next to it, or next to it; our own before one of
/// ETWAnalyzer. For an extract of ETWAnalyzer, returns our own next to it.
fn extract_of(path: &Path) -> Option<PathBuf> {
    let is_json = is_json_extract(path);
    if is_extract(path) && !is_json {
        return None;
    }
    let folder = path.parent()?;
    let stem = &stem(path);
    let endings = EXTRACTS
        .iter()
        .chain(if is_json { &[] } else { JSON.as_slice() });
    [folder.join(EXTRACT_FOLDER), folder.to_owned()]
        .iter()
        .filter(|of| !is_json || of.as_path() == folder)
        .flat_map(|folder| {
            endings
                .clone()
                .map(move |ending| folder.join(format!("{stem}{ending}")))
        })
        .find(|extract| {
            // Profiles and other files are JSON, too, and can have the name of the trace.
            extract.exists() && (!is_json_extract(extract) || looks_like_json_extract(extract))
        })
}

fn all(queries: &[String], is_recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for query in queries {
        found.extend(one(query, is_recursive).with_context(|| format!("-fd {query}"))?);
    }
    Ok(found)
}

fn one(query: &str, is_recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let whole = rejoined(query);
    let query = whole.as_deref().unwrap_or(query);
    if query.contains(['*', '?', ';', '!']) {
        return matching(query, is_recursive);
    }
    let path = local(query);
    if let Some(file) = named(&path) {
        return Ok(vec![file]);
    }
    if path.is_dir() {
        let mut found = Vec::new();
        list(&path, is_recursive, &mut found)?;
        return Ok(found);
    }
    // A name without folder and wildcards may be a part of names: `win10` means all files of this
    // folder with it in their names.
    if !query.contains(['\\', '/', ':']) {
        let part = query.to_lowercase();
        let mut found = Vec::new();
        list(Path::new("."), is_recursive, &mut found)?;
        found.retain(|path| name_of(path).to_lowercase().contains(&part));
        if !found.is_empty() {
            return Ok(found);
        }
    }
    if let Some((letter, _)) = drive_letter(query).filter(|_| !cfg!(windows)) {
        let hint = if query.contains(['\\', '/']) {
            of_drive(letter)
        } else {
            r"a shell takes \ away: put quotes around the path".to_owned()
        };
        return Err(LineError::new("was not found", hint).into());
    }
    let hint = similar_file(&path).map_or_else(
        || "name a file, a folder or a query such as *Serial*".to_owned(),
        |similar| format!("did you mean {}?", similar.display()),
    );
    Err(LineError::new("was not found", hint).into())
}

/// Returns a query of a drive with the separators that a shell took away: `C:tempslow.json` is
/// `C:/temp/slow.json` if there is such a file. `None` if it has separators, or means nothing that
/// exists.
fn rejoined(query: &str) -> Option<String> {
    let first = query.split(';').next()?;
    let (letter, rest) = drive_letter(first)?;
    let is_whole = first.contains(['\\', '/']) || rest.is_empty();
    if is_whole || named(&local(first)).is_some() {
        return None;
    }
    let drive = format!("{letter}:/");
    let folder = rejoined_in(&local(&drive), rest)?;
    let others = query.get(first.len()..)?;
    Some(format!("{drive}{folder}{others}"))
}

/// Finds the file or the pattern of a folder, or of folders below it, whose path without separators
/// is this text.
fn rejoined_in(folder: &Path, text: &str) -> Option<String> {
    let is_pattern = text.contains(['*', '?']);
    if !is_pattern && named(&local(&folder.join(text).display().to_string())).is_some() {
        return Some(text.to_owned());
    }
    let mut folders: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| begins(text, name))
        .collect();
    // The longest name first: `temp` and `temporary` can be beside each other.
    folders.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    let below = folders.iter().find_map(|name| {
        let rest = text.get(name.len()..)?;
        if rest.is_empty() {
            return Some(name.clone());
        }
        let rest = rejoined_in(&folder.join(name), rest)?;
        Some(format!("{name}/{rest}"))
    });
    below.or_else(|| is_pattern.then(|| text.to_owned()))
}

/// Returns `true` if a text begins with a name, in any case.
fn begins(text: &str, name: &str) -> bool {
    text.get(..name.len())
        .is_some_and(|begin| begin.to_lowercase() == name.to_lowercase())
}

/// Returns the file of that name, or with an ending, or our extract at the place of an extract of
/// ETWAnalyzer.
pub(crate) fn named(path: &Path) -> Option<PathBuf> {
    let name = name_of(path);
    let is_file = |path: &PathBuf| path.is_file() || is_extract_folder(path);
    let same = Some(path.to_owned()).filter(is_file);
    let own = |stem: &str| EXTRACTS.map(|ending| path.with_file_name(format!("{stem}{ending}")));
    let of_json = JSON.iter().find_map(|ending| strip(&name, ending)).map(own);
    same.or_else(|| of_json.into_iter().flatten().find(is_file))
        .or_else(|| {
            let endings = EXTRACTS.iter().chain(&JSON).chain(&endings::TRACES);
            let named = endings.map(|ending| path.with_file_name(format!("{name}{ending}")));
            // The case of a name matters only if two files differ in nothing else.
            let in_any_case = |path: PathBuf| local(&path.display().to_string());
            named
                .clone()
                .find(is_file)
                .or_else(|| named.map(in_any_case).find(is_file))
        })
}

/// Returns all files of the folder of the query whose paths match its last part.
fn matching(query: &str, is_recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let parts: Vec<&str> = query
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    // All parts filter the files of one folder, which the first part names.
    let folder = parts
        .first()
        .map_or("", |first| split_typed(first).0.trim_start_matches('!'));
    let filters: Vec<String> = parts
        .iter()
        .map(|part| {
            format!(
                "{}{}",
                if part.starts_with('!') { "!" } else { "" },
                split_typed(part).1.trim_start_matches('!')
            )
        })
        .collect();
    let filter = TextFilter::parse(&filters.join(";"));
    let folder = local(folder);
    if !folder.is_dir() {
        return Err(no_folder(parts.first().copied().unwrap_or(""), &folder).into());
    }
    let mut found = Vec::new();
    list(&folder, is_recursive, &mut found)?;
    found.retain(|path| fits(&filter, path));
    Ok(found)
}

/// Returns the error for a folder that does not exist. Elsewhere than on Windows a drive is a
/// folder that a variable names.
fn no_folder(query: &str, folder: &Path) -> LineError {
    let message = format!("there is no folder {}", folder.display());
    match drive_letter(query.trim_start_matches('!')).filter(|_| !cfg!(windows)) {
        Some((letter, _)) => LineError::new(message, of_drive(letter)),
        None => LineError::new(
            message,
            "check the name; relative names start in the current folder",
        ),
    }
}

/// Returns the hint for a path with a drive on another system than Windows.
fn of_drive(letter: char) -> String {
    format!("ETWKIT_DRIVE_{letter} sets the folder that drive {letter}: means")
}

/// Returns `true` if a full path matches, with its own name or with the name of an extract of
/// ETWAnalyzer.
pub(crate) fn fits(filter: &TextFilter, path: &Path) -> bool {
    let full = path
        .canonicalize()
        .unwrap_or_else(|_| path.to_owned())
        .display()
        .to_string();
    let aliases = EXTRACTS
        .iter()
        .find_map(|ending| strip(&full, ending))
        .into_iter();
    let aliases = aliases.flat_map(|stem| JSON.map(|ending| format!("{stem}{ending}")));
    std::iter::once(full.clone())
        .chain(aliases)
        .any(|name| filter.matches(Some(&name)))
}

/// Lists the files of a folder that can be queried, by name; with `is_recursive` also the files of
/// its subfolders.
fn list(folder: &Path, is_recursive: bool, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    // File systems list names in different orders, and the order of answers must not depend on
    // that.
    paths.sort();
    for path in paths {
        if is_extract_folder(&path) || (path.is_file() && is_asked(&path)) {
            // Windows writes `dir\name` for files of the current folder, without `.\`.
            found.push(path.strip_prefix(".").map_or(path.clone(), Path::to_owned));
        } else if is_recursive && path.is_dir() && !path.is_symlink() {
            list(&path, is_recursive, found)?;
        }
    }
    Ok(())
}

fn is_extract_folder(path: &Path) -> bool {
    has_ending(path, ".etwx") && path.is_dir()
}

/// Returns `true` if a file of a folder can be queried. Folders also have other files of JSON, and
/// parts of extracts.
fn is_asked(path: &Path) -> bool {
    ending(&name_of(path)).is_some() && (!is_json_extract(path) || looks_like_json_extract(path))
}

/// Returns the ending of the name of a file that can be queried.
fn ending(name: &str) -> Option<&'static str> {
    EXTRACTS
        .iter()
        .chain(&endings::TRACES)
        .chain(&JSON)
        .find(|ending| strip(name, ending).is_some())
        .copied()
}

fn has_ending(path: &Path, ending: &str) -> bool {
    strip(&name_of(path), ending).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the files that a query finds in a folder with these files; names that
    /// end with `.etwx` are folders.
    fn found(files: &[&str], query: &str, is_recursive: bool) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if file.ends_with(".etwx") {
                std::fs::create_dir_all(path).unwrap();
            } else {
                std::fs::write(path, "").unwrap();
            }
        }
        let query = format!("{}/{query}", folder.path().display());
        let names = |path: &Path| {
            path.strip_prefix(folder.path())
                .unwrap()
                .display()
                .to_string()
        };
        let all = extracts(&[query], is_recursive).map_err(|error| format!("{error:#}"))?;
        Ok(all.iter().map(|path| names(path)).collect())
    }

    #[test]
    fn queries_find_what_they_name() {
        let files = [
            "a_serial.etl",
            "a_parallel.etl",
            "Extract/a_serial.etwx",
            "Extract/Test.10-06-2022.19-46-16.etwx",
            // A profile, and no extract of ETWAnalyzer.
            "a_parallel.json",
            "b_serial.7z",
            "notes.txt",
            "WithAV/c_serial.etwx",
        ];
        for (query, is_recursive, expected) in [
            (
                ".",
                false,
                &["Extract/a_serial.etwx", "a_parallel.etl", "b_serial.7z"][..],
            ),
            ("*serial*", false, &["Extract/a_serial.etwx", "b_serial.7z"]),
            (
                "*serial*",
                true,
                &[
                    "Extract/a_serial.etwx",
                    "WithAV/c_serial.etwx",
                    "b_serial.7z",
                ],
            ),
            (
                "*serial*;!*WithAV*",
                true,
                &["Extract/a_serial.etwx", "b_serial.7z"],
            ),
            ("Extract/*_SERIAL.json", false, &["Extract/a_serial.etwx"]),
            ("Extract/a_serial.json", false, &["Extract/a_serial.etwx"]),
            ("Extract/a_serial.json7z", false, &["Extract/a_serial.etwx"]),
            (
                "Extract/Test.10-06-2022.19-46-16",
                false,
                &["Extract/Test.10-06-2022.19-46-16.etwx"],
            ),
            ("a_serial", false, &["Extract/a_serial.etwx"]),
            ("a_parallel.etl", false, &["a_parallel.etl"]),
            ("*nothing*", false, &[]),
        ] {
            let mut all = found(&files, query, is_recursive).unwrap();
            all.sort();
            assert_eq!(all, expected, "{query}");
        }
        let error = found(&files, "no.json", false).unwrap_err();
        assert!(error.contains("was not found"), "{error}");
    }

    #[test]
    fn separators_that_a_shell_took_away_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["temp/Extract/Slow.json", "temp/a.etl", "temporary/b.etl"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        for (text, expected) in [
            ("tempExtractSlow.json", Some("temp/Extract/Slow.json")),
            ("TEMPextractslow", Some("temp/Extract/slow")),
            ("tempa.etl", Some("temp/a.etl")),
            ("temporaryb.etl", Some("temporary/b.etl")),
            ("tempExtract", Some("temp/Extract")),
            ("temp*a*.etl", Some("temp/*a*.etl")),
            ("tempExtract*Slow*", Some("temp/Extract/*Slow*")),
            ("*Slow*", Some("*Slow*")),
            ("tempnosuch.etl", None),
            ("temporarya.etl", None),
        ] {
            let found = rejoined_in(folder.path(), text);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        // A path with separators is taken as it is.
        for query in [r"C:\temp\x.etl", "C:/temp/x.etl", "x.etl", "C:", "*x*"] {
            assert_eq!(rejoined(query), None, "{query}");
        }
    }

    #[test]
    fn files_that_a_shell_made_of_a_pattern_are_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        for name in ["a.etl", "a.symbols", "b.etl", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let taken = |words: &[&str]| {
            let words = words.iter().map(|word| match *word {
                name if name.contains('.') => path(name),
                word => word.to_owned(),
            });
            let (mut line, mut queries) = (Line::new(words), Queries::default());
            assert!(queries.take("fd", &mut line).unwrap());
            let left = std::iter::from_fn(|| line.value()).count();
            let names = queries.all.iter().map(|name| name_of(Path::new(name)));
            (names.collect::<Vec<_>>(), left)
        };
        let names = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        assert_eq!(
            taken(&["a.etl", "a.symbols", "b.etl", "notes.txt", "-pn"]),
            (names(&["a.etl", "b.etl"]), 0)
        );
        // A single name is what was typed, whatever it is.
        assert_eq!(taken(&["a.symbols"]), (names(&["a.symbols"]), 0));
        assert_eq!(taken(&["a.etl", "cpu"]), (names(&["a.etl"]), 1));
        assert_eq!(taken(&["a.etl", "no.etl"]), (names(&["a.etl"]), 1));
    }

    #[test]
    fn a_trace_is_extracted_once() {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "a.etl",
            "a.7z",
            "b.etl",
            "b.etl.zip",
            "c.10.06.etl",
            "c.10.06.7z",
            "d.etl",
        ] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let all = folder.path().display().to_string();
        let found = traces(&[format!("{all}/d.etl"), all], false).unwrap();
        let names: Vec<String> = found.iter().map(|path| name_of(path)).collect();
        assert_eq!(names, ["d.etl", "a.7z", "b.etl.zip", "c.10.06.7z"]);
    }
}
