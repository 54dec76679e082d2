//! Recordings in folders: traces, archives and extracts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use etwkit_base::path::name_of;
use etwkit_extract::json7z::{is_json_extract, looks_like_json_extract};
use etwkit_extract::manifest_of;
use etwkit_question::test_run::{TestFile, TestName, stem, wall_clock};
use etwkit_question::{Answer, AnyRequest};

use crate::{Error, Result, places};

/// Time from 1601, where file times start, to 1970, in units of 100 ns.
const UNIX_EPOCH_FILETIME: i64 = 116_444_736_000_000_000;

/// The name of folders whose extracts belong to the traces next to the folder.
// ETWAnalyzer writes its extracts there.
const EXTRACT_FOLDER: &str = "Extract";

type FilesByTime = BTreeMap<(PathBuf, String), TestFile>;

/// Returns the recordings in files and folders. A trace and the extract of the same name next to
/// it, or in the folder `Extract` next to it, are one recording.
///
/// # Errors
/// A file or folder cannot be read.
pub fn recordings(paths: &[PathBuf], recursive: bool) -> Result<Vec<TestFile>> {
    let mut found = FilesByTime::new();
    for path in paths {
        if is_folder(path) {
            folder(path, recursive, &mut found)?;
        } else {
            add(path, &mut found)?;
        }
    }
    Ok(found.into_values().collect())
}

/// Returns the answer to a question about names of recordings; `None` for a question about
/// extracts.
///
/// # Errors
/// The errors of [`recordings`].
pub fn ask_names(request: &dyn AnyRequest, paths: &[PathBuf]) -> Result<Option<Answer>> {
    let Some(names) = request.of_names() else {
        return Ok(None);
    };
    Ok(Some((names.answer)(
        recordings(&places(paths)?, names.recursive)?,
        SystemTime::now(),
    )))
}

/// Returns `true` if a path is a folder and not an extract.
#[must_use]
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() && !is_extract(path)
}

fn folder(path: &Path, recursive: bool, found: &mut FilesByTime) -> Result<()> {
    let entries = std::fs::read_dir(path).map_err(Error::system("read", path))?;
    for entry in entries {
        let entry = entry.map_err(Error::system("read", path))?;
        let path = entry.path();
        let kind = entry.file_type();
        // Links are not followed, so that no circle is walked.
        let is_folder = kind.is_ok_and(|kind| kind.is_dir()) && !is_extract(&path);
        if is_folder && recursive {
            folder(&path, recursive, found)?;
        } else if !is_folder && path.exists() {
            // A link to a file that is gone has no time, and must not hide the others.
            add(&path, found)?;
        }
    }
    Ok(())
}

pub(crate) fn is_extract(path: &Path) -> bool {
    let name = name_of(path).to_ascii_lowercase();
    [".etwx", ".etwx.zip"]
        .iter()
        .any(|ending| name.ends_with(ending))
        || path.join(etwkit_extract::manifest::FILE).is_file()
}

/// Adds a trace, archive or extract; other files are left out.
fn add(path: &Path, found: &mut FilesByTime) -> Result<()> {
    let full = name_of(path);
    let is_extract = is_extract(path);
    let is_json = is_json_extract(path);
    if is_json && !looks_like_json_extract(path) {
        return Ok(());
    }
    let stem = match stem(&full) {
        Some(stem) => stem.to_owned(),
        None if is_extract => full.clone(),
        None => return Ok(()),
    };
    let name = TestName::parse(&full);
    let performed_at = match name.as_ref().and_then(|name| name.performed_at) {
        Some(performed_at) => performed_at,
        None => wall_clock(when(path, is_extract)?),
    };
    let key = (beside(path), stem.clone());
    let file = found.entry(key).or_insert(TestFile {
        stem,
        trace: None,
        extract: None,
        name,
        performed_at,
    });
    if is_json {
        // Our own extract has more data than one of ETWAnalyzer, and is not replaced by it.
        file.extract.get_or_insert_with(|| path.to_owned());
    } else if is_extract {
        (file.extract, file.performed_at) = (Some(path.to_owned()), performed_at);
    } else {
        file.trace = Some(path.to_owned());
    }
    Ok(())
}

/// Returns the folder of the trace of a recording, whether or not it exists.
fn beside(path: &Path) -> PathBuf {
    let parent = path.parent().unwrap_or_else(|| Path::new(""));
    match parent.parent() {
        Some(above) if name_of(parent).eq_ignore_ascii_case(EXTRACT_FOLDER) => above.to_owned(),
        _ => parent.to_owned(),
    }
}

/// Returns the time of a recording whose file name does not have it: from the extract, or for a
/// trace the time of its last change.
fn when(path: &Path, is_extract: bool) -> Result<SystemTime> {
    if is_extract && let Ok(manifest) = manifest_of(path) {
        let since_1970 = manifest
            .clock
            .start_filetime
            .checked_sub(UNIX_EPOCH_FILETIME);
        let since_1970 = since_1970
            .and_then(|ticks| u64::try_from(ticks).ok())
            .filter(|ticks| *ticks > 0);
        if let Some(ticks) = since_1970 {
            return Ok(SystemTime::UNIX_EPOCH + Duration::from_micros(ticks / 10));
        }
    }
    let changed = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    changed.map_err(Error::system("read", path))
}
