//! From paths to a session: traces and archives become extracts first.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use etwkit_base::endings;
use etwkit_base::path::name_of;
use etwkit_extract::json7z::{is_json_archive, is_json_extract, open_all_json, open_json};
use etwkit_extract::lake::{LakeRun, Snapshot};
use etwkit_extract::manifest::Detail;
use etwkit_extract::{
    ConvertError, Extract, StoreError, derive_again, is_current, name_again, starts_like_a_trace,
};
use etwkit_sql::{Session, Source};

use crate::cache::Cached;
use crate::same_trace::refuse_twice;
use crate::{Asking, Engine, Result, SameTrace, symbols};

impl Engine {
    /// Opens traces and extracts as one session, whose tables lead with a number of the extract.
    /// Notes for the reader of the answer are added to `notes`.
    ///
    /// # Errors
    /// One of them cannot be opened, or is named twice.
    pub fn open(
        &self,
        asking: &Asking,
        paths: &[PathBuf],
        notes: &mut Vec<String>,
    ) -> Result<Session> {
        self.open_share(asking, paths, 1, notes)
    }

    /// Opens traces and extracts as one session for a question to all of them. The question itself
    /// decides on the meaning of an extract that is named twice.
    pub(crate) fn open_all(
        &self,
        asking: &Asking,
        paths: &[PathBuf],
        notes: &mut Vec<String>,
    ) -> Result<Session> {
        let session = self
            .pool()
            .session(paths, &self.options(asking, 1), |options| {
                let source = |path: &PathBuf| {
                    let source = self.source(asking, path, notes);
                    Ok(source
                        .map_err(|error| error.of(path.display().to_string()))?
                        .0)
                };
                let sources = paths.iter().map(source).collect::<Result<_>>()?;
                Ok(Session::new(sources, options)?)
            })?;
        use_tags(asking, &session);
        Ok(session)
    }

    /// Opens one of `sessions` sessions that run at the same time.
    pub(crate) fn open_share(
        &self,
        asking: &Asking,
        paths: &[PathBuf],
        sessions: usize,
        notes: &mut Vec<String>,
    ) -> Result<Session> {
        let session = self
            .pool()
            .session(paths, &self.options(asking, sessions), |options| {
                let mut sources = Vec::new();
                let mut same = SameTrace::default();
                // Before a trace is extracted, which can take minutes.
                refuse_twice(paths)?;
                for path in paths {
                    let name = path.display().to_string();
                    let (source, hash) = self
                        .source(asking, path, notes)
                        .map_err(|error| error.of(&name))?;
                    same.see(&name, hash.as_deref(), notes);
                    sources.push(source);
                }
                Ok(Session::new(sources, options)?)
            })?;
        use_tags(asking, &session);
        Ok(session)
    }

    /// Returns the rows of a path, and the hash of its trace, if that is known.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn source(
        &self,
        asking: &Asking,
        path: &Path,
        notes: &mut Vec<String>,
    ) -> Result<(Source, Option<String>)> {
        if let Some(run) = Snapshot::run_at(path) {
            return Ok(source_of_run(run?, path, notes));
        }
        let extract = self.extract(asking, path, notes)?;
        let hash = Some(extract.manifest().source.hash.clone()).filter(|hash| !hash.is_empty());
        let source = Source::from(extract);
        Ok((
            if is_trace(path) {
                source.made_of(path)
            } else {
                source
            },
            hash,
        ))
    }

    /// Opens the extract of a path, which a trace gets in the cache.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn extract(
        &self,
        asking: &Asking,
        path: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Extract> {
        let extract = self.open_extract(asking, &self.extract_of(asking, path, notes)?, notes)?;
        if is_trace(path) && symbols::newer_folder(path, &extract).is_some() {
            return self.named_by_newer(asking, path, extract.path(), notes);
        }
        Ok(extract)
    }

    /// Gives an extract of the cache the names of a folder that was put next to its trace later.
    fn named_by_newer(
        &self,
        asking: &Asking,
        trace: &Path,
        path: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Extract> {
        let reserved = self.making().begin(path, &asking.cancel)?;
        // Another question may have done it in the meantime.
        let extract = Extract::open(path)?;
        if let Some(folder) = symbols::newer_folder(trace, &extract) {
            let names = symbols::names_beside(self.settings(), trace, &|_, _| {});
            let folder = folder.display();
            match name_again(&extract, &names) {
                Ok((_, Some(_))) => notes.push(format!(
                    "loaded the names of {folder}, which is newer than the extract"
                )),
                Ok((_, None)) => symbols::found_nothing_for(path),
                Err(error) => {
                    notes.push(format!("the names of {folder} cannot be loaded: {error}"));
                }
            }
        }
        drop(reserved);
        self.open_extract(asking, path, notes)
    }

    /// Returns the extract that a path means: the path itself, or the extract in the cache made of
    /// a trace or an extract of ETWAnalyzer.
    ///
    /// # Errors
    /// A trace cannot be read, or its extract cannot be written.
    pub fn extract_of(
        &self,
        asking: &Asking,
        path: &Path,
        notes: &mut Vec<String>,
    ) -> Result<PathBuf> {
        let (doing, cached) = if is_json_extract(path) || is_json_archive(path) {
            let input = open_json(path, &self.input_options())?;
            ("imported", self.cached_import(asking, path, &input)?)
        } else if is_trace(path) {
            let input = etwkit_extract::open(&[path.to_owned()], &self.input_options())?;
            ("extracted", self.cached_extract(asking, path, &input)?)
        } else {
            return Ok(path.to_owned());
        };
        Ok(noted(cached, &format!("{doing} {}", path.display()), notes))
    }

    /// Replaces archives of several extracts of ETWAnalyzer with their extracts in the cache.
    ///
    /// # Errors
    /// An archive cannot be read, or an extract cannot be written.
    pub fn unpacked<'p>(
        &self,
        asking: &Asking,
        paths: Cow<'p, [PathBuf]>,
        notes: &mut Vec<String>,
    ) -> Result<Cow<'p, [PathBuf]>> {
        if !paths.iter().any(|path| is_json_archive(path)) {
            return Ok(paths);
        }
        let mut all = Vec::new();
        for path in paths.iter() {
            if !is_json_archive(path) {
                all.push(path.clone());
                continue;
            }
            for member in open_all_json(path, &self.input_options())? {
                let name = path.with_file_name(member.name());
                let made = format!("imported {} of {}", member.name(), path.display());
                all.push(noted(
                    self.cached_import(asking, &name, &member)?,
                    &made,
                    notes,
                ));
            }
        }
        Ok(Cow::Owned(all))
    }

    /// Opens an extract. Derived tables that are missing or of another version are computed first;
    /// a packed extract stays as it is.
    fn open_extract(
        &self,
        asking: &Asking,
        path: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Extract> {
        let extract = Extract::open(path)?;
        if extract.derived().is_some_and(is_current) {
            return Ok(extract);
        }
        // Derived tables are computed from rows, some of which are missing here: only the tables of
        // an older version are available.
        if !extract.manifest().has_all_rows() {
            let is_summary = extract.manifest().detail == Detail::Summary;
            let what = if is_summary {
                "is a summary"
            } else {
                "was made with --tables"
            };
            notes.push(format!(
                "{} {what} by an older version ({}): its sums may mean something else than the sums \
                 of this version; extract the trace again",
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
                    return Ok(Extract::open(path)?);
                }
                // A read-only folder is not a reason to refuse an answer; any other error would
                // occur again in the cache.
                Err(error) if !is_not_writable(&error) => return Err(error.into()),
                Err(_) => {}
            }
        }
        // Nothing can be added to it: computed tables are in the cache, and its rows stay where
        // they are.
        let derived = self.cached_derived(asking, &extract)?;
        let why = if is_archive {
            "is packed"
        } else {
            "cannot be written to"
        };
        notes.push(format!(
            "computed the derived tables of {}, which {why}, in {}",
            path.display(),
            derived.display()
        ));
        Ok(extract.with_derived(&derived)?)
    }
}

/// Returns the rows of a run of a lake, and the hash of its trace.
fn source_of_run(lake: LakeRun, path: &Path, notes: &mut Vec<String>) -> (Source, Option<String>) {
    let run = &lake.run;
    if !run.derived().is_some_and(is_current) {
        notes.push(format!(
            "{} was added by another version ({}): its sums may mean something else than the sums \
             of this version; extract the trace again and add it",
            run.name(),
            run.manifest().etwkit_version
        ));
    }
    let hash = Some(run.hash().to_owned()).filter(|hash| !hash.is_empty());
    (Source::from((lake, path)), hash)
}

/// Sets the stack tags of the question in a session.
pub(crate) fn use_tags(asking: &Asking, session: &Session) {
    if !asking.tags.is_empty() {
        session.use_tags(asking.tags.clone());
    }
}

/// Returns `true` if only a place for the derived tables is missing.
fn is_not_writable(error: &ConvertError) -> bool {
    let ConvertError::Store(StoreError::Io { source, .. }) = error else {
        return false;
    };
    matches!(
        source.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
}

/// Adds a note about the source of an extract in the cache, if it was made now.
fn noted(
    Cached {
        path,
        is_new,
        notes: of_cache,
    }: Cached,
    made: &str,
    notes: &mut Vec<String>,
) -> PathBuf {
    notes.extend(of_cache);
    if is_new {
        notes.push(format!(
            "{made} into {}, which later questions use",
            path.display()
        ));
    }
    path
}

/// Returns `true` if a file has the name of a trace or of an archive with traces, or starts like a trace.
/// A packed extract is not a trace.
#[must_use]
pub fn is_trace(path: &Path) -> bool {
    let name = name_of(path).to_lowercase();
    // Windows itself names traces `trace.log` and `NtfsLog.etl.001`.
    let is_one = || endings::is_trace(&name) || starts_like_a_trace(path);
    !name.ends_with(".etwx.zip") && path.is_file() && is_one()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_one_by_its_name_or_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/made/dns-5.etl");
        let trace = std::fs::read(made).unwrap();
        for (name, bytes, expected) in [
            ("NtfsLog.etl.001", &trace[..], true),
            ("trace.log", &trace, true),
            ("trace", &trace, true),
            ("damaged.etl", b"zzz", true),
            ("slow.etwx.zip", b"PK\x03\x04", false),
            ("notes.txt", b"zzz", false),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(is_trace(&path), expected, "{name}");
        }
        assert!(!is_trace(&folder.path().join("gone.etl")));
    }
}
