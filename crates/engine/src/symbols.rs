//! Sources of names of native code: places that a user names, and files next to a trace.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use etwkit_base::path::stem_of;
use etwkit_extract::{
    ConvertError, Extract, FoundNames, NameFrom, Naming, OnSymbols, default_target, own_tag_sets,
};
use etwkit_symbols::search_path::{Defaults, Element};
use etwkit_symbols::{Options, SearchPath};

use crate::Settings;

/// Folders with symbol files that recorders and this program put next to `slow.etl`, by their
/// suffix to its name.
const BESIDE: [&str; 3] = [".symbols", ".etl.NGENPDB", ".etl.EmbeddedPdbs"];

/// Returns the search path of a trace or extract: folders next to it, then `named`: folders,
/// `srv*CACHE*URL` as in `_NT_SYMBOL_PATH`, or `MS`, `Google`, `NtSymbolPath`. If both are empty,
/// `unnamed` is used.
#[must_use]
pub fn search_path(
    settings: &Settings,
    named: &[String],
    beside: &Path,
    unnamed: &[&str],
) -> SearchPath {
    let defaults = Defaults::of_system(cache_folder(settings, "symbols"));
    let path = if named.is_empty() {
        SearchPath::parse(unnamed.iter().copied(), &defaults)
    } else {
        SearchPath::parse(named.iter().map(String::as_str), &defaults)
    };
    let path = if settings.is_offline {
        path.without_servers()
    } else {
        path
    };
    // Each folder is put at the start of the path: in reverse, so that they are searched in the
    // order of the list.
    folders_beside(beside)
        .into_iter()
        .rev()
        .filter(|folder| !is_named(folder, &path))
        .fold(path.clone(), SearchPath::with_folder)
}

/// Returns `true` if a user names a folder, which is then searched where the user wants it.
fn is_named(folder: &Path, path: &SearchPath) -> bool {
    let is_same = |element: &Element| match element {
        Element::Folder(named) => is_same_folder(named, folder),
        _ => false,
    };
    path.elements().iter().any(is_same)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| fs::canonicalize(path).ok();
    whole(one).is_some_and(|one| whole(other) == Some(one))
}

/// Returns names from files next to a trace, and from nowhere else: no option, no environment, no
/// network.
#[must_use]
pub fn names_beside<'a>(
    settings: &Settings,
    trace: &Path,
    on_symbols: &'a OnSymbols<'a>,
) -> NameFrom<'a> {
    let path = search_path(settings, &[], trace, &[]);
    let options = options(settings, &path, false);
    NameFrom {
        path,
        options,
        on_symbols,
    }
}

/// Returns the options for reading symbol files: tables of their names are kept for the next run.
/// Without a place that is named, tables of an earlier run are not used either, so that the names
/// do not depend on earlier questions.
#[must_use]
pub fn options(settings: &Settings, path: &SearchPath, is_refresh: bool) -> Options {
    Options {
        tables: cache_folder(settings, "symbol-tables").filter(|_| path.has_named_place()),
        cache: cache_folder(settings, "symbols"),
        is_refresh,
        ..Options::default()
    }
}

/// Outcome of writing names into an extract.
#[derive(Debug)]
pub struct LoadedNames {
    /// The files that were found, and the reasons for the others.
    pub naming: Naming,
    /// True if the extract was replaced by one with these names.
    pub is_changed: bool,
    /// Sets of stack tags whose sums are gone: they were of the old names.
    pub lost_tags: Vec<String>,
}

impl LoadedNames {
    /// Returns the note about sums by stack tags that are gone, if there were any.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        if self.lost_tags.is_empty() {
            return None;
        }
        Some(format!(
            "sums by the stack tags of {} were of the old names and are gone; --stack-tag-file \
             with the next question computes them anew",
            self.lost_tags.join(", ")
        ))
    }
}

/// Writes the names that were found for an extract. `named` is the path of the user: the extract,
/// or the trace that it was made of.
///
/// # Errors
/// If the extract is damaged, or cannot be written to.
pub fn write_names(
    found: FoundNames,
    extract: &Extract,
    named: &Path,
) -> Result<LoadedNames, ConvertError> {
    let (naming, written) = found.write(extract)?;
    let is_changed = written.is_some();
    if !is_changed && extract.path() != named {
        found_nothing_for(extract.path());
    }
    // Sums by tag depend on names, and the rule files are not available here.
    let derived = extract.derived().filter(|_| is_changed);
    Ok(LoadedNames {
        naming,
        is_changed,
        lost_tags: derived.map_or_else(Vec::new, own_tag_sets),
    })
}

/// Returns a folder with symbol files that was put next to a trace after the extract was made, if
/// names are missing.
pub(crate) fn newer_folder(trace: &Path, extract: &Extract) -> Option<PathBuf> {
    let names = extract.manifest().native_names;
    if names.is_some_and(|names| names.named >= names.addresses) {
        return None;
    }
    let made = fs::metadata(extract.path()).ok()?.modified().ok()?;
    let is_new = |folder: &PathBuf| {
        has_entries(folder) && changed(folder).is_some_and(|changed| changed > made)
    };
    folders_beside(trace).into_iter().find(is_new)
}

/// Records that the folders next to a trace were searched and changed nothing in its extract in the
/// cache. Where the time of a folder cannot be set, they are only reported once more.
pub(crate) fn found_nothing_for(extract: &Path) {
    if let Ok(folder) = fs::File::open(extract) {
        let _ = folder.set_modified(SystemTime::now());
    }
}

/// Returns `true` for a folder, and not a link to one, that is not empty.
fn has_entries(folder: &Path) -> bool {
    let is_folder = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
    is_folder && fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// Returns the time at which a folder was put into its place, or got or lost an entry.
#[cfg(unix)]
fn changed(folder: &Path) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;
    // Copying programs set back the time of modification, but not the time of change.
    let found = fs::metadata(folder).ok()?;
    let seconds = u64::try_from(found.ctime()).ok()?;
    let nanos = u32::try_from(found.ctime_nsec()).ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos))
}

/// Returns the time at which a folder was put into its place, or got or lost an entry.
#[cfg(not(unix))]
fn changed(folder: &Path) -> Option<SystemTime> {
    let found = fs::metadata(folder).ok()?;
    let modified = found.modified().ok()?;
    Some(found.created().map_or(modified, |made| made.max(modified)))
}

fn cache_folder(settings: &Settings, name: &str) -> Option<PathBuf> {
    settings.cache.as_ref().map(|folder| folder.join(name))
}

fn folders_beside(path: &Path) -> Vec<PathBuf> {
    let extract = default_target(path);
    let target = if path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("etwx"))
    {
        path
    } else {
        &extract
    };
    let stem = stem_of(target);
    let folder = |ending: &&str| target.with_file_name(format!("{stem}{ending}"));
    // A link is not followed, but listed, so that the search reports it.
    let is_there = |folder: &PathBuf| {
        folder
            .symlink_metadata()
            .is_ok_and(|found| found.is_dir() || found.is_symlink())
    };
    BESIDE.iter().map(folder).filter(is_there).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_earlier_runs_count_once_a_place_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("slow.symbols")).unwrap();
        let trace = folder.path().join("slow.etl");
        let settings = Settings {
            cache: Some(folder.path().join("cache")),
            ..Settings::default()
        };
        // No system can use a place of FTP, as none can use a variable that is not set.
        let unusable = "ftp://nowhere";
        let place = folder.path().display().to_string();
        for (named, unnamed, expected) in [
            (None, None, false),
            (None, Some(unusable), false),
            (Some(unusable), None, false),
            (Some(place.as_str()), None, true),
            (None, Some(place.as_str()), true),
        ] {
            let named: Vec<String> = named.map(str::to_owned).into_iter().collect();
            let path = search_path(&settings, &named, &trace, unnamed.as_slice());
            let tables = options(&settings, &path, false).tables;
            assert_eq!(tables.is_some(), expected, "{named:?} {unnamed:?}");
        }
    }

    #[test]
    fn a_folder_next_to_a_trace_that_is_also_named_is_searched_once() {
        let folder = tempfile::tempdir().unwrap();
        let symbols = folder.path().join("slow.symbols");
        fs::create_dir(&symbols).unwrap();
        let trace = folder.path().join("slow.etl");
        let elements = |named: &[String]| {
            let path = search_path(&Settings::default(), named, &trace, &[]);
            path.elements().to_vec()
        };
        assert_eq!(elements(&[]), [Element::Beside(symbols.clone())]);
        let named = folder.path().join(".").join("slow.symbols");
        let named = named.display().to_string();
        let found = elements(&[named]);
        assert!(
            matches!(found.as_slice(), [Element::Folder(_)]),
            "{found:?}"
        );
    }
}
