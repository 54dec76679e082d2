//! Extracts of traces that were queried without being extracted first.
//!
//! They are in the cache folder of the [`Settings`](crate::Settings), one for each state of a trace
//! file. Together they take at most 20 GB: the least recently used ones are deleted first.
//!
//! The key is the hash of the trace (size, first and last MiB), its file identity, the time of its
//! last change, and the version of the rows. A trace that is queried while it is being copied may already
//! have its size and both ends, and later questions must not be answered from the incomplete copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use etwkit_base::lock::lock;
use etwkit_base::path::{name_of, stem_of};
use etwkit_extract::json7z::{JsonInput, import_json};
use etwkit_extract::manifest::{Detail, Manifest};
use etwkit_extract::{
    ConvertError, ConvertOptions, Described, Extract, Input, StoreError, WriterOptions, convert,
    default_target, derive_into, derived_in, is_current, manifest_of,
};
use etwkit_sql::Cancel;
use etwkit_trace::ROWS_VERSION;

use crate::{Asking, Engine, Error, Result, symbols};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Maximum size in bytes of all extracts of the cache together.
const MAX_BYTES: u64 = 20_000_000_000;

/// Interval at which a question that waits for another one's extract checks whether it was given
/// up.
const LOOK: Duration = Duration::from_millis(50);

/// An extract of the cache.
#[derive(Debug)]
pub(crate) struct Cached {
    pub(crate) path: PathBuf,
    /// True if it was made just now.
    pub(crate) is_new: bool,
    /// Notes on it for the reader of the answer.
    pub(crate) notes: Vec<String>,
}

/// Extracts that are being made, so that several questions at once to one trace extract it once.
#[derive(Debug, Default)]
pub(crate) struct InTheMaking {
    targets: Mutex<BTreeSet<PathBuf>>,
    done: Condvar,
}

impl InTheMaking {
    /// Waits until no other question makes the target, and reserves it for the caller as long as
    /// the returned value lives.
    pub(crate) fn begin<'m>(&'m self, target: &'m Path, cancel: &Cancel) -> Result<Making<'m>> {
        let mut targets = lock(&self.targets);
        while targets.contains(target) {
            if cancel.is_asked() {
                return Err(etwkit_sql::Error::Cancelled.into());
            }
            // With a timeout, since giving a question up does not wake this thread.
            let waited = self
                .done
                .wait_timeout(targets, LOOK)
                .unwrap_or_else(PoisonError::into_inner);
            targets = waited.0;
        }
        targets.insert(target.to_owned());
        Ok(Making { all: self, target })
    }
}

/// Reserves a target while this lives.
pub(crate) struct Making<'m> {
    all: &'m InTheMaking,
    target: &'m Path,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        lock(&self.all.targets).remove(self.target);
        self.all.done.notify_all();
    }
}

/// A source that becomes an extract.
struct Wanted<'w> {
    source: &'w Path,
    /// Hash of its content.
    hash: String,
    described: &'w Described,
    detail: Detail,
}

impl Engine {
    /// Returns the extract of a trace: the one in the cache, or else a new one.
    pub(crate) fn cached_extract(
        &self,
        asking: &Asking,
        trace: &Path,
        input: &Input,
    ) -> Result<Cached> {
        let described = &asking.described;
        let wanted = Wanted {
            source: trace,
            hash: input.source_hash()?,
            described,
            detail: Detail::Full,
        };
        self.cached(asking, &wanted, &|target| {
            let mut extracting = asking.progress.extracting(trace);
            let mut progress = |progress| {
                if asking.cancel.is_asked() {
                    std::ops::ControlFlow::Break(())
                } else {
                    extracting(progress)
                }
            };
            let names = symbols::names_beside(self.settings(), trace, &|_, _| {});
            let options = ConvertOptions {
                names: Some(&names),
                described: Some(described),
                ..ConvertOptions::default()
            };
            convert(input, target, options, &mut progress).map(|_| ())
        })
    }

    /// Returns the manifest of the extract that the cache has of a trace.
    pub(crate) fn cached_manifest(
        &self,
        trace: &Path,
        input: &Input,
        described: &Described,
    ) -> Option<Manifest> {
        let hash = input.source_hash().ok()?;
        let key = key(&described.with_source(&hash), &state(trace), ROWS_VERSION);
        manifest_of(&self.settings().cache().ok()?.join(name(trace, &key))).ok()
    }

    /// Returns the extract made of an extract of ETWAnalyzer: the one in the cache, or else a new
    /// one.
    pub(crate) fn cached_import(
        &self,
        asking: &Asking,
        json: &Path,
        input: &JsonInput,
    ) -> Result<Cached> {
        let described = &Described::default();
        let wanted = Wanted {
            source: json,
            hash: input.source_hash()?,
            described,
            detail: Detail::Summary,
        };
        self.cached(asking, &wanted, &|target| {
            import_json(input, target, WriterOptions::default(), BTreeMap::new()).map(|_| ())
        })
    }

    fn cached(
        &self,
        asking: &Asking,
        wanted: &Wanted<'_>,
        make: &dyn Fn(&Path) -> std::result::Result<(), ConvertError>,
    ) -> Result<Cached> {
        let Wanted {
            source,
            hash,
            described,
            detail,
        } = wanted;
        let folder = self.settings().cache()?;
        fs::create_dir_all(folder).map_err(Error::system("create", folder))?;
        let state = state(source);
        let key = key(&described.with_source(hash), &state, ROWS_VERSION);
        let path = folder.join(name(source, &key));
        let making = self.making().begin(&path, &asking.cancel)?;
        let mut notes = Vec::new();
        if Extract::same_source_as(&path, hash, *detail, described.hash()).is_some() {
            touch(&path);
            drop(making);
            return Ok(Cached {
                path,
                is_new: false,
                notes,
            });
        }
        if let Some(problem) = remove_unusable(&path)? {
            notes.push(format!(
                "{} could not be used and is made again: {problem}",
                path.display()
            ));
        }
        make(&path).map_err(|error| of_cache(folder, error))?;
        // The name of the extract has the state from before, so that later questions do not find an
        // extract of a file that was still being written.
        if self::state(source) != state {
            notes.push(format!(
                "{} was changed while it was read: the answer may be of a part of it; ask again when nothing \
                 writes to it any more",
                source.display()
            ));
        }
        // The new extract stays even if it exceeds the limit alone: its question is not answered
        // yet.
        make_room(folder, &path, MAX_BYTES);
        drop(making);
        Ok(Cached {
            path,
            is_new: true,
            notes,
        })
    }

    /// Returns the derived tables of an extract that nothing can be added to.
    pub(crate) fn cached_derived(&self, asking: &Asking, extract: &Extract) -> Result<PathBuf> {
        let folder = self.settings().cache()?;
        fs::create_dir_all(folder).map_err(Error::system("create", folder))?;
        let stem = short_stem_of(extract.path());
        let target = folder.join(format!(
            "{stem}.derived-{}-{VERSION}.etwx",
            extract.fingerprint()
        ));
        let making = self.making().begin(&target, &asking.cancel)?;
        if derived_in(&target).is_ok_and(|derived| is_current(&derived)) {
            touch(&target);
        } else {
            derive_into(extract, &target)?;
            make_room(folder, &target, MAX_BYTES);
        }
        drop(making);
        Ok(target)
    }
}

/// Removes an unusable entry with the name of an extract from the cache. Returns the problem if it
/// is worth reporting. An extract of an older version, which writing replaces, is not.
fn remove_unusable(path: &Path) -> Result<Option<String>> {
    let Err(problem) = Extract::open(path) else {
        return Ok(None);
    };
    // A link is removed itself, and its target stays.
    let Ok(found) = path.symlink_metadata() else {
        return Ok(None);
    };
    let removed = if found.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    removed.map_err(|source| {
        let doing = format!("cannot remove {}, which is damaged", path.display());
        Error::System { doing, source }
    })?;
    Ok(Some(problem.to_string()))
}

/// Returns the identity of a trace's file and the time of its last change.
fn state(source: &Path) -> Vec<u8> {
    let Ok(file) = fs::metadata(source) else {
        return Vec::new();
    };
    let since = |time: std::io::Result<SystemTime>| {
        let since = time
            .ok()
            .and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.map_or(0, |since| since.as_nanos())
    };
    let mut state = Vec::new();
    state.extend(since(file.modified()).to_le_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // The time of change cannot be set back, while copying programs set back the time of
        // modification.
        let numbers = [
            file.dev(),
            file.ino(),
            file.ctime().cast_unsigned(),
            file.ctime_nsec().cast_unsigned(),
        ];
        numbers
            .iter()
            .for_each(|number| state.extend(number.to_le_bytes()));
    }
    #[cfg(not(unix))]
    state.extend(since(file.created()).to_le_bytes());
    state
}

/// Returns 16 hexadecimal digits of the content and the state of a trace, and of the version of its rows:
/// an older build of the same version may have made an extract with other values.
fn key(hash: &str, state: &[u8], rows_version: u32) -> String {
    etwkit_extract::digest(&[hash.as_bytes(), state, &rows_version.to_le_bytes()])
}

/// Returns `slow-0123456789abcdef-0.1.0.etwx` for `slow.etl`: another version of the program does
/// not use it.
fn name(trace: &Path, key: &str) -> String {
    let stem = short_stem_of(&default_target(trace));
    format!("{stem}-{key}-{VERSION}.etwx")
}

/// Returns the stem of a file, cut to half of the 255 bytes that systems allow for a name: names in the
/// cache are longer than those of their traces.
fn short_stem_of(path: &Path) -> String {
    const LONGEST: usize = 127;
    let mut stem = stem_of(path);
    stem.truncate(stem.floor_char_boundary(LONGEST));
    stem
}

/// Records the use of an extract, in the time of its manifest. If that cannot be written, the
/// extract is only deleted earlier.
fn touch(extract: &Path) {
    if let Ok(file) = fs::File::options()
        .append(true)
        .open(extract.join("manifest.json"))
    {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Deletes the least recently used extracts until the total size is below the limit. Other programs
/// may do the same at the same time.
fn make_room(folder: &Path, keep: &Path, max_bytes: u64) {
    let mut extracts: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let asked =
            fs::metadata(path.join("manifest.json")).and_then(|manifest| manifest.modified());
        if let Ok(asked) = asked
            && is_of_cache(&path)
        {
            extracts.push((asked, size(&path), path));
        }
    }
    // By time, and extracts of the same time by size and path, so that the choice does not depend
    // on the order of the folder.
    extracts.sort();
    let mut total: u64 = extracts.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, path) in extracts.iter().filter(|(.., path)| path != keep) {
        if total <= max_bytes {
            return;
        }
        if fs::remove_dir_all(path).is_ok() {
            total = total.saturating_sub(*bytes);
        }
    }
}

/// Returns `true` if a folder has the name of an extract of the cache, of any version. Other
/// folders in it do not belong to the cache and are never deleted.
pub(crate) fn is_of_cache(path: &Path) -> bool {
    let name = name_of(path);
    let Some(name) = name.strip_suffix(".etwx") else {
        return false;
    };
    let mut parts = name.rsplit('-');
    let (Some(version), Some(hash)) = (parts.next(), parts.next()) else {
        return false;
    };
    let is_hash = hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash && version.split('.').count() == 3 && parts.next().is_some()
}

pub(crate) fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let one = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(one).sum()
}

/// Names the cache in an error of writing to it, since its user gave no name for the extract.
fn of_cache(folder: &Path, error: ConvertError) -> Error {
    let is_of_reading = |error: &StoreError| match error {
        StoreError::Io { doing, .. } => matches!(*doing, "open" | "read"),
        _ => true,
    };
    match error {
        ConvertError::Store(source) if !is_of_reading(&source) => Error::Cache {
            folder: folder.to_owned(),
            source: Box::new(source),
        },
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_cache_has_the_advice_of_a_cache() {
        let failed = |doing: &'static str| {
            ConvertError::Store(StoreError::Io {
                doing,
                path: "/cache/a.etwx/process.parquet".into(),
                source: std::io::ErrorKind::StorageFull.into(),
            })
        };
        let folder = Path::new("/cache");
        let full = of_cache(folder, failed("write"));
        assert!(
            full.hint()
                .is_some_and(|hint| hint.contains("ETWKIT_CACHE"))
        );
        assert!(matches!(
            of_cache(folder, failed("open")),
            Error::Convert(_)
        ));
    }

    #[test]
    fn the_extracts_that_were_asked_longest_ago_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let name = |name: &str| format!("{name}-0123456789abcdef-0.1.0.etwx");
        for (age, own) in [
            (30, "old"),
            (20, "new"),
            (40, "oldest"),
            (50, "kept"),
            (60, ""),
        ] {
            // The cache does not create any other names.
            let extract = folder.path().join(if own.is_empty() {
                "foreign.etwx".to_owned()
            } else {
                name(own)
            });
            fs::create_dir(&extract).unwrap();
            fs::write(extract.join("table"), [0; 90]).unwrap();
            let manifest = fs::File::create(extract.join("manifest.json")).unwrap();
            manifest
                .set_modified(SystemTime::now() - Duration::from_secs(age))
                .unwrap();
        }
        make_room(folder.path(), &folder.path().join(name("kept")), 200);
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(
            left,
            ["foreign.etwx".to_owned(), name("kept"), name("new")].map(std::ffi::OsString::from)
        );
    }

    #[test]
    fn an_extract_with_rows_of_another_meaning_has_another_key() {
        let of = |hash: &str, rows_version: u32| key(hash, &[1, 2], rows_version);
        assert_eq!(of("01ab", 1), of("01ab", 1));
        assert_ne!(of("01ab", 1), of("01ab", 2));
        assert_ne!(of("01ab", 1), of("01ac", 1));
    }

    #[test]
    fn an_extract_of_the_cache_is_named_by_trace_and_content() {
        assert_eq!(
            name(Path::new("a/slow.etl.zip"), "01ab"),
            format!("slow-01ab-{VERSION}.etwx")
        );
    }

    #[test]
    fn a_name_that_the_system_allows_for_a_trace_gives_one_for_its_extract() {
        // The longest names of one and of two bytes a character.
        for (letter, count, kept) in [("a", 251, 127), ("ü", 125, 63)] {
            let trace = format!("{}.etl", letter.repeat(count));
            let want = format!("{}-01ab-{VERSION}.etwx", letter.repeat(kept));
            assert_eq!(name(Path::new(&trace), "01ab"), want);
        }
    }
}
