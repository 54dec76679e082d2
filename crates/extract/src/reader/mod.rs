//! Reading an extract: a folder, or an archive in place.

mod slice;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

pub use slice::{Cursor, Slice, TableFile};

use crate::manifest::{self, DerivedManifest, Detail, Manifest, TableEntry};
use crate::store_error::{StoreError, StoreResult};
use slice::read_small;

/// An opened extract. All table files were found whole; their pages are read when they are asked for.
#[derive(Debug)]
pub struct Extract {
    path: PathBuf,
    manifest: Manifest,
    derived: Option<DerivedManifest>,
    derived_problem: Option<StoreError>,
    tables: BTreeMap<String, TableFile>,
}

impl Extract {
    /// Opens the folder of an extract.
    ///
    /// # Errors
    /// If it is none, was written by a newer version, or a table is missing or damaged. Damage of derived tables is no
    /// error, since they can be computed again; see [`Extract::derived_problem`].
    pub fn open(path: &Path) -> StoreResult<Self> {
        let metadata = path.metadata().map_err(StoreError::io("open", path))?;
        if !metadata.is_dir() {
            return Err(StoreError::NotAnExtract { path: path.to_owned(), what: "a file".to_owned() });
        }
        let bytes = match read_small(&path.join(manifest::FILE), manifest::MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let what = "a folder without manifest.json".to_owned();
                return Err(StoreError::NotAnExtract { path: path.to_owned(), what });
            }
            Err(e) => return Err(StoreError::io("read", &path.join(manifest::FILE))(e)),
        };
        let manifest = Manifest::parse(&bytes, path)?;
        let mut tables = table_files(path, &manifest.tables, false)?;
        let (derived, derived_problem) = match open_derived(path) {
            Ok(Some((derived, files))) => {
                tables.extend(files);
                (Some(derived), None)
            }
            Ok(None) => (None, None),
            Err(problem) => (None, Some(problem)),
        };
        Ok(Self { path: path.to_owned(), manifest, derived, derived_problem, tables })
    }

    /// The complete extract of that trace at `path`, if there is one with that detail: what `no_overwrite` keeps.
    #[must_use]
    pub fn same_source(path: &Path, hash: &str, detail: Detail) -> Option<Self> {
        let extract = Self::open(path).ok()?;
        let manifest = extract.manifest();
        (manifest.source.hash == hash && manifest.detail == detail).then_some(extract)
    }

    /// Whether it lies in an archive, to which nothing can be added.
    #[must_use]
    pub const fn is_archive(&self) -> bool {
        false
    }

    /// The folder or archive.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is of and what is in it.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The manifest of the derived tables, if they are there.
    #[must_use]
    pub const fn derived(&self) -> Option<&DerivedManifest> {
        self.derived.as_ref()
    }

    /// Why the derived tables cannot be used, if there are some.
    #[must_use]
    pub const fn derived_problem(&self) -> Option<&StoreError> {
        self.derived_problem.as_ref()
    }

    /// The file of a table, derived ones included; `None` if it has no rows.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&TableFile> {
        self.tables.get(name)
    }

    /// All tables with rows, by name, derived ones included.
    pub fn tables(&self) -> impl Iterator<Item = &TableFile> {
        self.tables.values()
    }
}

/// Whether a folder holds a manifest of an extract, of whatever version.
pub(crate) fn has_manifest(folder: &Path) -> bool {
    let Ok(bytes) = read_small(&folder.join(manifest::FILE), manifest::MAX_BYTES) else { return false };
    let parsed: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    parsed.is_some_and(|json| json.get("format").is_some_and(|format| format == manifest::FORMAT))
}

type Tables = BTreeMap<String, TableFile>;

fn open_derived(path: &Path) -> StoreResult<Option<(DerivedManifest, Tables)>> {
    let file = path.join(manifest::DERIVED_FILE);
    let bytes = match read_small(&file, manifest::MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(StoreError::io("read", &file)(e)),
    };
    let derived = DerivedManifest::parse(&bytes, path)?;
    let files = table_files(path, &derived.tables, true)?;
    Ok(Some((derived, files)))
}

fn table_files(path: &Path, entries: &BTreeMap<String, TableEntry>, derived: bool) -> StoreResult<Tables> {
    let mut files = Tables::new();
    for (name, entry) in entries {
        let folder = if derived { "derived/" } else { "" };
        let member = format!("{folder}{name}.parquet");
        let file = TableFile {
            name: name.clone(),
            path: path.join(&member),
            offset: 0,
            length: entry.bytes,
            rows: entry.rows,
            sorted_by: entry.sorted_by.clone(),
            derived,
            extract: path.to_owned(),
            member,
        };
        check(&file)?;
        files.insert(name.clone(), file);
    }
    Ok(files)
}

/// Whether a table file is there, as long as the manifest says, and ends like a Parquet file with that many rows.
fn check(file: &TableFile) -> StoreResult<()> {
    let found = match file.path.metadata() {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        Ok(_) => return Err(file.wrong("a file".to_owned())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(file.wrong(format!("a file of {} bytes, it is missing", file.length)));
        }
        Err(e) => return Err(StoreError::io("open", &file.path)(e)),
    };
    if found != file.length {
        return Err(file.wrong(format!("{} bytes, found {found}", file.length)));
    }
    let rows = file.metadata()?.file_metadata().num_rows();
    if u64::try_from(rows) != Ok(file.rows) {
        return Err(file.wrong(format!("{} rows, found {rows}", file.rows)));
    }
    Ok(())
}
