//! `.dir`: lists a folder.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use etwkit_base::path::{name_of, split_typed};
use etwkit_compat::console::path;
use etwkit_sql::Cancel;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::time_format::{TimeFormat, TimeWriter, TraceClock};
use etwkit_terminal::{Exit, Table};

use crate::printer::{Printer, grouped};

/// 1970 in units of 100 ns since 1601.
const UNIX_EPOCH_FILETIME: u64 = 116_444_736_000_000_000;

/// A file or folder.
struct Entry {
    path: PathBuf,
    is_folder: bool,
    bytes: u64,
    modified: SystemTime,
}

/// Lists files of a folder, or the files whose names match the pattern at the end of a path.
pub(super) fn list(words: &[String], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let mut is_recursive = false;
    let mut by_date = false;
    let mut place = None;
    for word in words {
        match word.to_lowercase().as_str() {
            "-r" | "-rec" | "-recursive" => is_recursive = true,
            "-od" => by_date = true,
            "-h" => {
                printer.line(".dir [-r] [-od] [FOLDER|QUERY]")?;
                return Ok(Exit::Answered);
            }
            switch if switch.starts_with('-') => bail!("there is no switch {word} of .dir"),
            _ => place = Some(word.as_str()),
        }
    }
    let (folder, filter) = split(place.unwrap_or("."));
    let filter = TextFilter::parse(filter);
    let mut entries = Vec::new();
    collect(
        &folder,
        is_recursive,
        &printer.context().asking.cancel,
        &mut entries,
    )?;
    entries.retain(|entry| {
        let name = name_of(&entry.path);
        filter.matches(Some(&name))
    });
    if by_date {
        entries.sort_by(|a, b| {
            a.modified
                .cmp(&b.modified)
                .then_with(|| a.path.cmp(&b.path))
        });
    }
    let row = |entry: &Entry| {
        let shown = entry
            .path
            .strip_prefix(&folder)
            .unwrap_or(&entry.path)
            .display()
            .to_string();
        let (size, slash) = if entry.is_folder {
            (String::new(), "/")
        } else {
            (grouped(entry.bytes.div_ceil(1000)), "")
        };
        [time(entry.modified), size, format!("{shown}{slash}")]
    };
    if entries.is_empty() {
        return Ok(Exit::Nothing);
    }
    printer.table(&Table::of("Changed|kB>|Name", entries.iter().map(row)))?;
    Ok(Exit::Answered)
}

/// Splits a path into a folder and the pattern of names after it.
fn split(place: &str) -> (PathBuf, &str) {
    if !place.contains(['*', '?']) {
        return (path(place), "*");
    }
    let (folder, pattern) = split_typed(place);
    (path(folder), pattern)
}

/// Collects entries by name; the contents of a folder follow it. An extract is listed as one file.
fn collect(
    folder: &Path,
    is_recursive: bool,
    cancel: &Cancel,
    entries: &mut Vec<Entry>,
) -> anyhow::Result<()> {
    let listed = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if cancel.is_asked() {
            return Ok(());
        }
        // A file without accessible metadata is listed without its size.
        let metadata = std::fs::metadata(&path).ok();
        let modified = metadata
            .as_ref()
            .and_then(|metadata| metadata.modified().ok());
        let is_folder = metadata.as_ref().is_some_and(std::fs::Metadata::is_dir);
        let is_extract = is_folder
            && path
                .extension()
                .is_some_and(|ending| ending.eq_ignore_ascii_case("etwx"));
        let bytes = if is_extract {
            size(&path)
        } else {
            metadata.map_or(0, |metadata| metadata.len())
        };
        entries.push(Entry {
            path: path.clone(),
            is_folder: is_folder && !is_extract,
            bytes,
            modified: modified.unwrap_or(UNIX_EPOCH),
        });
        if is_recursive && is_folder && !is_extract && !path.is_symlink() {
            // A folder without read permission does not hide the others.
            let _ = collect(&path, true, cancel, entries);
        }
    }
    Ok(())
}

/// Returns the bytes of the files of an extract.
fn size(extract: &Path) -> u64 {
    let folders = [extract.to_owned(), extract.join("derived")];
    let files = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten();
    files
        .filter_map(|file| file.metadata().ok())
        .filter(std::fs::Metadata::is_file)
        .map(|file| file.len())
        .sum()
}

/// Formats a time of this machine. Times before 1970 are shown as its start.
fn time(time: SystemTime) -> String {
    let since = time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let filetime = since
        .saturating_mul(10_000_000)
        .saturating_add(UNIX_EPOCH_FILETIME);
    let clock = TraceClock {
        start_filetime: i64::try_from(filetime).unwrap_or(i64::MAX),
        bias_minutes: None,
    };
    TimeWriter::new(TimeFormat::Here, 0, clock).write(0)
}
