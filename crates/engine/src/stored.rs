//! Entries of the cache folder, and their removal.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use etwkit_sql::filter::TextFilter;

use crate::cache::{is_of_cache, size};
use crate::{Error, Result, Settings};

/// Folder of tables of symbols.
const SYMBOLS: &str = "symbol-tables";

/// The kind of an entry of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredKind {
    /// The extract of a trace that was queried without being extracted first.
    Extract,
    /// Computed tables of an extract that nothing can be added to.
    Derived,
    /// Sums for the timeline of an extract that nothing can be added to.
    Pages,
    /// Tables of symbol files.
    Symbols,
}

/// An entry of the cache.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct CacheEntry {
    /// Name of the file or folder.
    pub name: String,
    /// Its kind.
    pub kind: StoredKind,
    /// Size of the files in it, in bytes.
    pub bytes: u64,
    /// Time of its last use, in seconds since 1970; if that is not known, of its last change.
    pub asked_s: Option<u64>,
    #[serde(skip)]
    path: PathBuf,
}

/// A filter on entries.
#[derive(Debug, Clone, Default)]
pub struct StoredQuery {
    /// Filter on names of entries.
    pub names: TextFilter,
    /// Minimum time since the last use.
    pub older_than: Option<Duration>,
}

/// The result of removing entries.
#[derive(Debug, Default)]
pub struct Cleared {
    /// Removed entries.
    pub removed: Vec<CacheEntry>,
    /// Entries that could not be removed, each with the error of the system.
    pub left: Vec<(CacheEntry, std::io::Error)>,
}

impl Settings {
    /// Returns the entries of the cache, by name. Files that the cache did not create are not
    /// listed.
    ///
    /// # Errors
    /// There is no cache folder, or it cannot be read.
    pub fn stored(&self, query: &StoredQuery) -> Result<Vec<CacheEntry>> {
        let folder = self.cache()?;
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            // The folder is created with its first entry.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::system("read", folder)(error)),
        };
        let now = SystemTime::now();
        let is_old = |entry: &CacheEntry| match query.older_than {
            None => true,
            Some(limit) => entry.age(now).is_some_and(|age| age >= limit),
        };
        let mut all: Vec<CacheEntry> = entries
            .flatten()
            .filter_map(|entry| CacheEntry::of(&entry.path()))
            .filter(|entry| query.names.matches(Some(&entry.name)) && is_old(entry))
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Removes entries of the cache. An extract that is in use is made again when it is needed.
    ///
    /// # Errors
    /// The errors of [`Settings::stored`].
    pub fn clear(&self, query: &StoredQuery) -> Result<Cleared> {
        let mut cleared = Cleared::default();
        for entry in self.stored(query)? {
            // An entry that cannot be removed must not keep the others.
            match fs::remove_dir_all(&entry.path) {
                Ok(()) => cleared.removed.push(entry),
                Err(error) => cleared.left.push((entry, error)),
            }
        }
        Ok(cleared)
    }
}

impl CacheEntry {
    /// Returns the entry at a path; `None` if the cache did not create it. A link is not an entry:
    /// its target has another owner.
    fn of(path: &Path) -> Option<Self> {
        if !path.symlink_metadata().ok()?.is_dir() {
            return None;
        }
        let name = path.file_name()?.to_str()?.to_owned();
        let kind = kind(&name, path)?;
        // Each use of an extract sets the time of its manifest, see `touch` in `cache`.
        let manifest = fs::metadata(path.join("manifest.json"));
        let changed = manifest
            .or_else(|_| fs::metadata(path))
            .and_then(|file| file.modified());
        let asked_s = changed
            .ok()
            .and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let asked_s = asked_s.map(|since| since.as_secs());
        Some(Self {
            kind,
            bytes: size(path),
            asked_s,
            path: path.to_owned(),
            name,
        })
    }

    /// Returns the time since its last use.
    #[must_use]
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
        // Clocks can be set back: an entry from the future counts as new.
        Some(Duration::from_secs(now.saturating_sub(self.asked_s?)))
    }
}

fn kind(name: &str, path: &Path) -> Option<StoredKind> {
    let is_hash =
        |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if name == SYMBOLS {
        return Some(StoredKind::Symbols);
    }
    if let Some((hash, version)) = name.split_once(".pages-") {
        return (is_hash(hash) && version.parse::<u32>().is_ok()).then_some(StoredKind::Pages);
    }
    is_of_cache(path).then_some(if name.contains(".derived-") {
        StoredKind::Derived
    } else {
        StoredKind::Extract
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(names: &[(&str, u64)]) -> (tempfile::TempDir, Settings) {
        let folder = tempfile::tempdir().unwrap();
        for (name, age) in names {
            let entry = folder.path().join(name);
            fs::create_dir(&entry).unwrap();
            fs::write(entry.join("table"), [0; 100]).unwrap();
            let manifest = fs::File::create(entry.join("manifest.json")).unwrap();
            manifest
                .set_modified(SystemTime::now() - Duration::from_secs(*age))
                .unwrap();
        }
        let settings = Settings {
            cache: Some(folder.path().to_owned()),
            ..Settings::from_environment()
        };
        (folder, settings)
    }

    const OLD: &str = "slow-0123456789abcdef-0.1.0.etwx";
    const ALL: &[(&str, u64)] = &[
        (OLD, 10_000),
        ("quick-0123456789abcdef-0.1.0.etwx", 10),
        ("run.etwx.derived-0123456789abcdef-0.1.0.etwx", 10),
        ("0123456789abcdef.pages-2", 10),
        ("symbol-tables", 10),
        // Not created by the cache.
        ("mine.etwx", 10_000),
        ("notes.pages-2", 10_000),
        ("record", 10_000),
    ];

    #[test]
    fn entries_are_those_that_the_cache_made() {
        let (_folder, settings) = made(ALL);
        let all = settings.stored(&StoredQuery::default()).unwrap();
        let found: Vec<_> = all
            .iter()
            .map(|entry| (entry.name.as_str(), entry.kind, entry.bytes))
            .collect();
        let expected = [
            ("0123456789abcdef.pages-2", StoredKind::Pages, 100),
            (
                "quick-0123456789abcdef-0.1.0.etwx",
                StoredKind::Extract,
                100,
            ),
            (
                "run.etwx.derived-0123456789abcdef-0.1.0.etwx",
                StoredKind::Derived,
                100,
            ),
            (OLD, StoredKind::Extract, 100),
            ("symbol-tables", StoredKind::Symbols, 100),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_old_or_has_that_name_is_removed_and_nothing_else() {
        let (folder, settings) = made(ALL);
        let older_than = Some(Duration::from_secs(3600));
        let old = settings
            .clear(&StoredQuery {
                older_than,
                ..StoredQuery::default()
            })
            .unwrap();
        assert_eq!(
            old.removed
                .iter()
                .map(|entry| entry.name.as_str())
                .collect::<Vec<_>>(),
            [OLD]
        );
        let names = TextFilter::parse("*.pages-*");
        assert_eq!(
            settings
                .clear(&StoredQuery {
                    names,
                    ..StoredQuery::default()
                })
                .unwrap()
                .removed
                .len(),
            1
        );
        let all = settings.clear(&StoredQuery::default()).unwrap();
        assert_eq!((all.removed.len(), all.left.len()), (3, 0));
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|one| one.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["mine.etwx", "notes.pages-2", "record"]);
        let gone = Settings {
            cache: Some(folder.path().join("gone")),
            ..settings
        };
        assert!(gone.stored(&StoredQuery::default()).unwrap().is_empty());
    }
}
