//! Arguments to a session over extracts.

use std::path::{Path, PathBuf};

use etwkit_extract::manifest::Detail;
use etwkit_extract::{Extract, derive_again, is_current};
use etwkit_query::{Options, Session, Source};

use crate::printer::Printer;
use crate::{cache, input};

/// Names the folder for what does not fit into memory, as for archives.
const TEMP_DIR: &str = "ETWKIT_TMP";

/// Opens what the arguments name, as one session. Traces are extracted into the cache first, and the printer notes that.
pub(crate) fn open_extracts(paths: &[PathBuf], printer: &mut Printer<'_>) -> anyhow::Result<Session> {
    let mut sources = Vec::new();
    for path in paths {
        sources.push(source(path, printer.notes())?);
    }
    Ok(Session::new(sources, &options(1))?)
}

/// The rows of what an argument names.
pub(crate) fn source(path: &Path, notes: &mut Vec<String>) -> anyhow::Result<Source> {
    Ok(Source::from(open(&noted_extract_of(path, notes)?, notes)?))
}

/// Options of one of so many sessions that are asked at a time: each has its share of processors and memory.
pub(crate) fn options(sessions: usize) -> Options {
    let temp_dir = std::env::var_os(TEMP_DIR).filter(|dir| !dir.is_empty()).map(Into::into);
    let all = Options { temp_dir, ..Options::default() };
    let share = |whole: usize| (whole / sessions.max(1)).max(1);
    Options { memory_bytes: share(all.memory_bytes), partitions: share(all.partitions), ..all }
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

/// The extract that a path means: the path itself, or the one in the cache that a trace became.
pub(crate) fn extract_of(path: &Path, printer: &mut Printer<'_>) -> anyhow::Result<PathBuf> {
    noted_extract_of(path, printer.notes())
}

fn noted_extract_of(path: &Path, notes: &mut Vec<String>) -> anyhow::Result<PathBuf> {
    if !is_trace(path) {
        return Ok(path.to_owned());
    }
    let input = input::open_plain(path)?;
    let (extract, is_new) = cache::extract_of(path, &input)?;
    if is_new {
        notes.push(format!(
            "extracted {} into {}, which later questions use",
            path.display(),
            extract.display()
        ));
    }
    Ok(extract)
}

/// Whether a file has the name of a trace or of an archive with traces; a packed extract is none.
fn is_trace(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_packed_extract = name.ends_with(".etwx.zip");
    let has_ending = [".etl", ".zip", ".7z", ".diagsession"].iter().any(|ending| name.ends_with(ending));
    has_ending && !is_packed_extract && path.is_file()
}
