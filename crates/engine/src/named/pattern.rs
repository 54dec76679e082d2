//! Patterns of paths: `*` and `?` inside a name, `**` for any number of folders.
//!
//! Names match in any case, like texts in all filters. Names that start with a dot match only
//! patterns that start with one: extracts that are being written have such names.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use etwkit_sql::filter::Pattern;

use crate::{Error, Result, is_folder};

/// The pattern for any number of folders.
const FOLDERS: &str = "**";

/// A part of a pattern, between separators.
enum Part {
    /// A literal name.
    Name(OsString),
    /// Names that match; the flag includes names that start with a dot.
    Fits(Pattern, bool),
    /// Any folders.
    Folders,
}

/// Returns `true` if a path is a pattern.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?'])
}

/// Returns the folder that a pattern starts in.
pub(super) fn folder(pattern: &Path) -> Option<&Path> {
    let mut folders = pattern.ancestors().skip(1);
    let folder = folders.find(|folder| !is_pattern(folder))?;
    Some(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    })
}

/// Returns all matching files and extracts, by path.
pub(super) fn matches(pattern: &Path) -> Result<Vec<PathBuf>> {
    let mut base = PathBuf::new();
    let mut parts: Vec<Part> = Vec::new();
    for component in pattern.components() {
        match component {
            Component::Normal(name) => parts.push(part(name.to_os_string())),
            // A prefix of the path that is not a name, such as a drive.
            other if parts.is_empty() => base.push(other),
            other => parts.push(Part::Name(other.as_os_str().to_owned())),
        }
    }
    // `FOLDER/**` alone would match only folders, none of which is a recording: it means all files
    // in them.
    if let Some(Part::Folders) = parts.last() {
        parts.push(part("*".into()));
    }
    let mut found = BTreeSet::new();
    walk(&base, &parts, &mut found)?;
    Ok(found.into_iter().collect())
}

fn part(name: OsString) -> Part {
    match name.to_str() {
        Some(FOLDERS) => Part::Folders,
        Some(text) if text.contains(['*', '?']) => {
            Part::Fits(Pattern::new(text), text.starts_with('.'))
        }
        _ => Part::Name(name),
    }
}

impl Part {
    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Name(_) | Self::Folders => !name.starts_with('.'),
            Self::Fits(pattern, with_dot) => {
                (*with_dot || !name.starts_with('.')) && pattern.matches(&name.to_lowercase())
            }
        }
    }
}

/// Adds the matches of the parts below a folder.
fn walk(base: &Path, parts: &[Part], found: &mut BTreeSet<PathBuf>) -> Result<()> {
    let Some((first, rest)) = parts.split_first() else {
        return Ok(());
    };
    if let Part::Name(name) = first {
        let path = base.join(name);
        return match rest {
            [] => {
                if path.exists() && !is_folder(&path) {
                    found.insert(path);
                }
                Ok(())
            }
            _ => walk(&path, rest, found),
        };
    }
    // `**` also matches no folder at all.
    if matches!(first, Part::Folders) {
        walk(base, rest, found)?;
    }
    let folder = if base.as_os_str().is_empty() {
        Path::new(".")
    } else {
        base
    };
    // Only a folder has contents.
    if !folder.is_dir() || !is_folder(folder) {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).map_err(Error::system("read", folder))?;
    for entry in entries {
        let entry = entry.map_err(Error::system("read", folder))?;
        let name = entry.file_name();
        if !first.fits(&name.to_string_lossy()) {
            continue;
        }
        // Not `./name`, if no folder was written.
        let path = base.join(&name);
        match (first, rest) {
            // Links are not followed, so that no circle is walked.
            (Part::Folders, _) => {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_folder(&path) {
                    walk(&path, parts, found)?;
                }
            }
            (_, []) if !is_folder(&path) => _ = found.insert(path),
            (_, []) => {}
            (_, rest) => walk(&path, rest, found)?,
        }
    }
    Ok(())
}
