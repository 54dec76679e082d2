//! Arguments to a session over extracts.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etwkit_extract::manifest::Detail;
use etwkit_extract::{Extract, derive_again, is_current, is_json_archive, is_json_extract, open_all_json};
use etwkit_query::{Options, Session, Source};

use crate::printer::Printer;
use crate::shelf::Shelf;
use crate::{cache, input};

/// Names the folder for what does not fit into memory, as for archives.
const TEMP_DIR: &str = "ETWKIT_TMP";

/// Opens what the arguments name, as one session. Traces are extracted into the cache first, and the printer notes that.
pub(crate) fn open_extracts(paths: &[PathBuf], printer: &mut Printer<'_>) -> anyhow::Result<Arc<Session>> {
    let shelf = printer.shelf();
    open_shared(paths, 1, &shelf, printer.notes())
}

/// The same for a session that is changed, and that nobody else gets.
pub(crate) fn open_alone(paths: &[PathBuf], printer: &mut Printer<'_>) -> anyhow::Result<Session> {
    Ok(open_extracts(paths, printer)?.again(&options(1, &printer.shelf()))?)
}

/// The same for one of so many sessions that are asked at a time.
pub(crate) fn open_shared(
    paths: &[PathBuf],
    sessions: usize,
    shelf: &Shelf,
    notes: &mut Vec<String>,
) -> anyhow::Result<Arc<Session>> {
    let options = options(sessions, shelf);
    shelf.session(paths, &options, || {
        let mut sources = Vec::new();
        for path in paths {
            sources.push(source(path, notes)?);
        }
        Ok(Session::new(sources, &options)?)
    })
}

/// The rows of what an argument names.
pub(crate) fn source(path: &Path, notes: &mut Vec<String>) -> anyhow::Result<Source> {
    Ok(Source::from(open(&noted_extract_of(path, notes)?, notes)?))
}

/// Options of one of so many sessions that are asked at a time: each has its share of processors and memory.
pub(crate) fn options(sessions: usize, shelf: &Shelf) -> Options {
    let (cancel, process_names) = (shelf.cancel().clone(), shelf.process_names());
    let all = Options { temp_dir: temp_dir(), cancel, process_names, ..Options::default() };
    let share = |whole: usize| (whole / sessions.max(1)).max(1);
    Options { memory_bytes: share(all.memory_bytes), partitions: share(all.partitions), ..all }
}

/// The folder for temporary files, if one is named.
pub(crate) fn temp_dir() -> Option<PathBuf> {
    std::env::var_os(TEMP_DIR).filter(|dir| !dir.is_empty()).map(Into::into)
}

/// Opens an extract. Derived tables that are missing or of another version are computed first; a packed extract stays as it is.
fn open(path: &Path, notes: &mut Vec<String>) -> anyhow::Result<Extract> {
    let extract = Extract::open(path).map_err(etwkit_query::Error::from)?;
    if extract.derived().is_some_and(is_current)
        || extract.is_archive()
        || extract.manifest().detail != Detail::Full
    {
        return Ok(extract);
    }
    derive_again(&extract)?;
    notes.push(format!("computed the derived tables of {}, which were missing or old", path.display()));
    Ok(Extract::open(path).map_err(etwkit_query::Error::from)?)
}

/// The extract that a path means: the path itself, or the one in the cache that a trace or an extract of ETWAnalyzer became.
pub(crate) fn extract_of(path: &Path, printer: &mut Printer<'_>) -> anyhow::Result<PathBuf> {
    noted_extract_of(path, printer.notes())
}

fn noted_extract_of(path: &Path, notes: &mut Vec<String>) -> anyhow::Result<PathBuf> {
    let (doing, (extract, is_new)) = if is_json_extract(path) || is_json_archive(path) {
        ("imported", cache::import_of(path, &input::open_plain_json(path)?)?)
    } else if is_trace(path) {
        ("extracted", cache::extract_of(path, &input::open_plain(path)?)?)
    } else {
        return Ok(path.to_owned());
    };
    if is_new {
        notes.push(format!(
            "{doing} {} into {}, which later questions use",
            path.display(),
            extract.display()
        ));
    }
    Ok(extract)
}

/// What arguments name, with archives of several extracts of ETWAnalyzer as the extracts in the cache that
/// these became.
pub(crate) fn unpacked<'p>(
    paths: Cow<'p, [PathBuf]>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Cow<'p, [PathBuf]>> {
    if !paths.iter().any(|path| is_json_archive(path)) {
        return Ok(paths);
    }
    let mut all = Vec::new();
    for path in paths.iter() {
        if !is_json_archive(path) {
            all.push(path.clone());
            continue;
        }
        for member in open_all_json(path, &input::plain_options())? {
            let name = path.with_file_name(member.name());
            let (extract, is_new) = cache::import_of(&name, &member)?;
            if is_new {
                let (path, member) = (path.display(), member.name());
                let extract = extract.display();
                printer
                    .note(&format!("imported {member} of {path} into {extract}, which later questions use"));
            }
            all.push(extract);
        }
    }
    Ok(Cow::Owned(all))
}

/// Whether a file has the name of a trace or of an archive with traces; a packed extract is none.
pub(crate) fn is_trace(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_packed_extract = name.ends_with(".etwx.zip");
    let has_ending = [".etl", ".zip", ".7z", ".diagsession"].iter().any(|ending| name.ends_with(ending));
    has_ending && !is_packed_extract && path.is_file()
}
