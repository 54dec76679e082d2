//! Arguments to a session over extracts.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use etwkit_extract::manifest::Detail;
use etwkit_extract::{ConvertError, Described, Extract, StoreError, derive_again, is_current};
use etwkit_json7z::{is_json_archive, is_json_extract, open_all_json};
use etwkit_query::{Options, Session, Source};

use crate::cache::{self, Cached};
use crate::gaps;
use crate::input;
use crate::printer::Printer;
use crate::report::Advised;
use crate::shelf::Shelf;

/// Names the folder for what does not fit into memory, as for archives.
const TEMP_DIR: &str = "ETWKIT_TMP";

/// Opens what the arguments name, as one session. Traces are extracted into the cache first, and the printer notes that.
pub(crate) fn open_extracts(paths: &[PathBuf], printer: &mut Printer<'_>) -> anyhow::Result<Arc<Session>> {
    let shelf = printer.shelf();
    let session = open_shared(paths, 1, &shelf, printer.notes())?;
    printer.add_gaps(gaps::of_paths(paths, &session));
    Ok(session)
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
        let (mut sources, mut same) = (Vec::new(), SameTrace::default());
        refuse_twice(paths)?;
        for path in paths {
            let (source, hash) = source(path, shelf, notes).with_context(|| path.display().to_string())?;
            same.see(&path.display().to_string(), hash.as_deref(), notes);
            sources.push(source);
        }
        Ok(Session::new(sources, &options)?)
    })
}

/// The rows of what an argument names, and the hash of its trace.
pub(crate) fn source(
    path: &Path,
    shelf: &Shelf,
    notes: &mut Vec<String>,
) -> anyhow::Result<(Source, Option<String>)> {
    let extract = open(&noted_extract_of(path, &shelf.described(), notes)?, notes)?;
    let hash = Some(extract.manifest().source.hash.clone()).filter(|hash| !hash.is_empty());
    Ok((Source::from(extract), hash))
}

/// Refuses an extract that is named twice: whatever is summed up would count twice.
pub(crate) fn refuse_twice(paths: &[PathBuf]) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    for path in paths {
        if paths.len() > 1 && !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            let message = format!("named twice: {}", path.display());
            return Err(Advised { message, hint: "name each extract once".to_owned() }.into());
        }
    }
    Ok(())
}

/// Extracts of one trace among those that are asked together: several parts of it, or a summary beside the full one.
#[derive(Debug, Default)]
pub(crate) struct SameTrace(HashMap<String, String>);

impl SameTrace {
    /// Notes if the trace was seen before.
    pub(crate) fn see(&mut self, name: &str, hash: Option<&str>, notes: &mut Vec<String>) {
        let Some(hash) = hash else { return };
        match self.0.get(hash) {
            Some(first) => notes.push(format!(
                "{name} is of the same trace as {first}: what is in both counts twice where extracts are summed up"
            )),
            None => _ = self.0.insert(hash.to_owned(), name.to_owned()),
        }
    }
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
    if extract.derived().is_some_and(is_current) {
        return Ok(extract);
    }
    if extract.manifest().detail != Detail::Full {
        notes.push(format!(
            "{} is a summary by an older version ({}): its sums may mean something else than those of this one; \
             extract the trace again",
            path.display(),
            extract.manifest().etwkit_version
        ));
        return Ok(extract);
    }
    let is_archive = extract.is_archive();
    if !is_archive {
        match derive_again(&extract) {
            Ok(_) => {
                notes.push(format!(
                    "computed the derived tables of {}, which were missing or old",
                    path.display()
                ));
                return Ok(Extract::open(path).map_err(etwkit_query::Error::from)?);
            }
            Err(error) if !is_not_writable(&error) => return Err(error.into()),
            Err(_) => {}
        }
    }
    // Nothing can be added to it: what is computed lies in the cache, and its rows stay where they are.
    let derived = cache::derived_of(&extract)?;
    let why = if is_archive { "is packed" } else { "cannot be written to" };
    notes.push(format!(
        "computed the derived tables of {}, which {why}, in {}",
        path.display(),
        derived.display()
    ));
    Ok(extract.with_derived(&derived).map_err(etwkit_query::Error::from)?)
}

/// Whether derived tables could be computed if only there were a place for them.
fn is_not_writable(error: &ConvertError) -> bool {
    let ConvertError::Store(StoreError::Io { source, .. }) = error else { return false };
    matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// The extract that a path means: the path itself, or the one in the cache that a trace or an extract of ETWAnalyzer became.
pub(crate) fn extract_of(path: &Path, printer: &mut Printer<'_>) -> anyhow::Result<PathBuf> {
    let described = printer.shelf().described();
    noted_extract_of(path, &described, printer.notes())
}

fn noted_extract_of(path: &Path, described: &Described, notes: &mut Vec<String>) -> anyhow::Result<PathBuf> {
    let is_json = is_json_extract(path) || is_json_archive(path);
    let (doing, cached) = if is_json {
        ("imported", cache::import_of(path, &input::open_plain_json(path)?)?)
    } else if is_trace(path) {
        ("extracted", cache::extract_of(path, &input::open_plain(path)?, described)?)
    } else {
        return Ok(path.to_owned());
    };
    Ok(noted(cached, &format!("{doing} {}", path.display()), notes))
}

/// Notes what an extract in the cache was made of, if it was made now.
fn noted(Cached { path, is_new, notes: of_cache }: Cached, made: &str, notes: &mut Vec<String>) -> PathBuf {
    notes.extend(of_cache);
    if is_new {
        notes.push(format!("{made} into {}, which later questions use", path.display()));
    }
    path
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
            let made = format!("imported {} of {}", member.name(), path.display());
            all.push(noted(cache::import_of(&name, &member)?, &made, printer.notes()));
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
