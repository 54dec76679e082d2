//! Reading an extract: a folder, or an archive in place.

mod checks;
mod chunks;
mod guard;
mod pages;
mod place;
mod remote;
mod schema;
mod slice;
mod thrift;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

pub use remote::Ranges;
pub use slice::{Batches, Cursor, Slice, TableFile};

use etwkit_trace::table::ABOUT;

use crate::left_out::Names;
use crate::manifest::{self, DerivedManifest, Detail, Manifest, TableEntry};
use crate::store_error::{StoreError, StoreResult};
pub(crate) use place::Container;

/// Maximum number of attempts to open an extract that is being replaced, two seconds in all: the
/// pauses between them get longer, so that writers who replace it again and again come to an end.
const ATTEMPTS: u64 = 60;

/// An open extract. All table files were present and complete when it was opened; their pages are
/// read on demand. If the extract is replaced in the meantime, pages come from the new one or give
/// an error. Open it again in that case.
#[derive(Debug)]
pub struct Extract {
    path: PathBuf,
    place: Container,
    manifest: Manifest,
    derived: Option<DerivedManifest>,
    derived_problem: Option<StoreError>,
    tables: BTreeMap<String, TableFile>,
    fingerprint: String,
}

impl Extract {
    /// Opens the folder of an extract, or the archive of one in place.
    ///
    /// # Errors
    /// If it is not an extract, was written by a newer version, or a table is missing or damaged.
    /// Damage in derived tables is not an error, because they can be computed again; see
    /// [`Extract::derived_problem`].
    pub fn open(path: &Path) -> StoreResult<Self> {
        // An extract is replaced as a whole, by exchanging folders, but it is opened file by file.
        // The manifest before and after shows if all files belong to one extract.
        let mut before = read_manifest(path)?;
        for attempt in 1..ATTEMPTS {
            let opened = Self::open_with(path, &before);
            let after = read_manifest(path)?;
            // Equal bytes mean that no writer came in between.
            if before.1 == after.1 {
                return opened;
            }
            // The extract was replaced in the meantime: the files that were opened may belong to
            // either version.
            before = after;
            thread::sleep(Duration::from_millis(attempt));
        }
        Self::open_with(path, &before)
    }

    fn open_with(path: &Path, (place, bytes): &(Container, Vec<u8>)) -> StoreResult<Self> {
        let place = place.clone();
        let manifest = Manifest::parse(bytes, path)?;
        let mut tables = table_files(
            path,
            &place,
            &manifest.tables,
            // The checksum of the manifest tells later whether an error is damage or a new extract.
            (false, Some(crc32fast::hash(bytes))),
        )?;
        let (derived, derived_problem) = match open_derived(path, &place) {
            Ok(Some((derived, files))) => {
                tables.extend(files);
                (Some(derived), None)
            }
            Ok(None) => (None, None),
            // Damaged derived tables are no reason to refuse the others: they can be computed
            // again.
            Err(problem) => (None, Some(problem)),
        };
        // Of the bytes and not of the values, since the manifest has checksums of all tables.
        let fingerprint = crate::hash::short(blake3::hash(bytes));
        Ok(Self {
            path: path.to_owned(),
            place,
            manifest,
            derived,
            derived_problem,
            tables,
            fingerprint,
        })
    }

    /// The complete extract of that trace at `path`, with that detail and without files that
    /// describe events, if there is one. `no_overwrite` keeps this extract.
    #[must_use]
    pub fn same_source(path: &Path, hash: &str, detail: Detail) -> Option<Self> {
        Self::same_source_as(path, hash, detail, None)
    }

    /// The complete extract of that trace at `path`, if there is one with that detail for which
    /// files with this content described events (see [`Described::hash`](crate::Described::hash)).
    #[must_use]
    pub fn same_source_as(
        path: &Path,
        hash: &str,
        detail: Detail,
        descriptions: Option<&str>,
    ) -> Option<Self> {
        Self::same_source_without(path, hash, detail, descriptions, &Names::new())
    }

    /// The complete extract of that trace at `path`, with that detail, created with these files
    /// that describe events, that omits exactly these tables; `None` if there is none.
    #[must_use]
    pub fn same_source_without(
        path: &Path,
        hash: &str,
        detail: Detail,
        descriptions: Option<&str>,
        left_out: &Names,
    ) -> Option<Self> {
        let extract = Self::open(path).ok()?;
        let manifest = extract.manifest();
        // Another selection of tables is another extract, even of the same trace.
        if manifest.left_out != *left_out {
            return None;
        }
        // An extract of an older version lacks tables of newer ones, and would report them as not
        // recorded.
        let is_current = manifest.format_version >= manifest::VERSION;
        let is_same = manifest.source.hash == hash && manifest.detail == detail;
        let same_files = manifest.descriptions.as_deref() == descriptions;
        (is_same && same_files && is_current).then_some(extract)
    }

    /// True if it is in an archive, which cannot be added to.
    #[must_use]
    pub const fn is_archive(&self) -> bool {
        matches!(self.place, Container::Archive(_))
    }

    pub(crate) const fn place(&self) -> &Container {
        &self.place
    }

    /// Distinguishes extracts by their contents: 16 hexadecimal digits, computed from the manifest
    /// with its checksums.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// This extract with the derived tables that [`derive_into`](crate::derive_into) wrote to
    /// another folder, instead of its own.
    ///
    /// # Errors
    /// If there are none in that folder, or they are damaged.
    pub fn with_derived(mut self, folder: &Path) -> StoreResult<Self> {
        let derived = derived_in(folder)?;
        // Derived tables of the extract itself are dropped: mixing tables of two versions would
        // give sums that do not agree.
        // Also tables that the folder does not have: half of the old ones would be worse than none.
        self.tables.retain(|_, table| !table.derived);
        for (name, mut file) in
            table_files(folder, &Container::Folder, &derived.tables, (false, None))?
        {
            file.derived = true;
            self.tables.insert(name, file);
        }
        (self.derived, self.derived_problem) = (Some(derived), None);
        Ok(self)
    }

    /// The folder or archive.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The description of its source and contents.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The manifest of the derived tables, if it has any.
    #[must_use]
    pub const fn derived(&self) -> Option<&DerivedManifest> {
        self.derived.as_ref()
    }

    /// The reason for which the derived tables cannot be used, if there is one.
    #[must_use]
    pub const fn derived_problem(&self) -> Option<&StoreError> {
        self.derived_problem.as_ref()
    }

    /// The file of a table, derived ones included; `None` if it has no rows.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&TableFile> {
        self.tables.get(name)
    }

    /// All tables with rows, by name, including derived ones, without those about the extract
    /// itself, which repeat its manifest.
    pub fn tables(&self) -> impl Iterator<Item = &TableFile> {
        self.tables.values()
    }
}

/// The manifest of an extract. Its tables are not opened.
///
/// # Errors
/// If it is not an extract, or was written by a newer version.
pub fn manifest_of(path: &Path) -> StoreResult<Manifest> {
    let (_, bytes) = read_manifest(path)?;
    Manifest::parse(&bytes, path)
}

/// The manifest of a folder that [`derive_into`](crate::derive_into) wrote.
///
/// # Errors
/// If the folder has no manifest of derived tables.
pub fn derived_in(folder: &Path) -> StoreResult<DerivedManifest> {
    let bytes = Container::Folder.read(folder, manifest::FILE)?;
    let what = "a folder without manifest.json".to_owned();
    let bytes = bytes.ok_or_else(|| StoreError::NotAnExtract {
        path: folder.to_owned(),
        what,
    })?;
    DerivedManifest::parse(&bytes, folder)
}

/// True if a folder holds a manifest of an extract of any version.
pub(crate) fn has_manifest(folder: &Path) -> bool {
    folder.is_dir() && is_ours(folder, &Container::Folder)
}

/// True if a file is an archive with a manifest of an extract of any version.
pub(crate) fn is_packed_extract(file: &Path) -> bool {
    file.is_file() && Container::of(file).is_ok_and(|place| is_ours(file, &place))
}

fn is_ours(path: &Path, place: &Container) -> bool {
    let Ok(Some(bytes)) = place.read(path, manifest::FILE) else {
        return false;
    };
    let parsed: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    // Any version counts as ours, so that old extracts can be replaced.
    parsed.is_some_and(|json| {
        json.get("format")
            .is_some_and(|format| format == manifest::FORMAT)
    })
}

fn read_manifest(path: &Path) -> StoreResult<(Container, Vec<u8>)> {
    let place = Container::of(path)?;
    let bytes = place.read(path, manifest::FILE)?;
    let what = "a folder without manifest.json".to_owned();
    let bytes = bytes.ok_or_else(|| StoreError::NotAnExtract {
        path: path.to_owned(),
        what,
    })?;
    Ok((place, bytes))
}

/// CRC-32 of the current manifest.
fn manifest_crc(path: &Path, derived: bool) -> Option<u32> {
    let name = if derived {
        manifest::DERIVED_FILE
    } else {
        manifest::FILE
    };
    let bytes = Container::of(path).ok()?.read(path, name).ok()??;
    Some(crc32fast::hash(&bytes))
}

type Tables = BTreeMap<String, TableFile>;

fn open_derived(path: &Path, place: &Container) -> StoreResult<Option<(DerivedManifest, Tables)>> {
    let Some(bytes) = place.read(path, manifest::DERIVED_FILE)? else {
        return Ok(None);
    };
    let derived = DerivedManifest::parse(&bytes, path)?;
    let files = table_files(
        path,
        place,
        &derived.tables,
        (true, Some(crc32fast::hash(&bytes))),
    )?;
    Ok(Some((derived, files)))
}

/// The tables of a folder that is still being written.
pub(crate) fn files_in_folder(
    folder: &Path,
    entries: &BTreeMap<String, TableEntry>,
) -> StoreResult<Tables> {
    table_files(folder, &Container::Folder, entries, (false, None))
}

fn table_files(
    path: &Path,
    place: &Container,
    entries: &BTreeMap<String, TableEntry>,
    (derived, of_manifest): (bool, Option<u32>),
) -> StoreResult<Tables> {
    let folder = if derived { "derived/" } else { "" };
    let mut files = Tables::new();
    // Tables about the extract repeat the manifest, which was read already. With hundreds of
    // extracts every file less is faster.
    let is_about = |name: &str| ABOUT.iter().any(|table| table.name == name);
    for (name, entry) in entries.iter().filter(|(name, _)| !is_about(name)) {
        let member = format!("{folder}{name}.parquet");
        // A table that the manifest names has rows, so that a missing file is damage and not an
        // empty table.
        let Some(range) = place.find(path, &member)? else {
            let expected = format!("a file of {} bytes, it is missing", entry.bytes);
            return Err(StoreError::Table {
                path: path.to_owned(),
                file: member,
                expected,
                source: None,
            });
        };
        let file = TableFile {
            name: name.clone(),
            path: range.path,
            offset: range.offset,
            length: range.length,
            rows: entry.rows,
            sorted_by: entry.sorted_by.clone(),
            crc32: entry.crc32.clone(),
            derived,
            extract: path.to_owned(),
            member,
            of_manifest,
        };
        // Checked when the extract is opened, because a question would find the damage only after
        // it has begun to answer.
        check(&file, entry)?;
        files.insert(name.clone(), file);
    }
    Ok(files)
}

/// Maximum number of rows per byte of a table file. A million equal rows take some thousand bytes;
/// a file with a larger claim would be read for days.
const MAX_ROWS_PER_BYTE: u64 = 1 << 16;

/// Checks that a table file has the length in the manifest, and ends like a Parquet file with the
/// number of rows in the manifest, both in the file and in its row groups.
fn check(file: &TableFile, entry: &TableEntry) -> StoreResult<()> {
    if file.length != entry.bytes {
        return Err(file.wrong(format!("{} bytes, found {}", entry.bytes, file.length)));
    }
    if !entry.crc32.fit(entry.bytes) {
        return Err(file.wrong(format!(
            "checksums of {} bytes in the manifest, found another number",
            entry.bytes
        )));
    }
    let metadata = file.metadata()?;
    let rows = metadata.file_metadata().num_rows();
    if u64::try_from(rows) != Ok(entry.rows) {
        return Err(file.wrong(format!("{} rows, found {rows}", entry.rows)));
    }
    // Row groups decide what is read, so that their sum has to be that of the file.
    let mut groups = metadata
        .row_groups()
        .iter()
        .map(|group| u64::try_from(group.num_rows()).ok());
    if groups.try_fold(0u64, |sum, rows| sum.checked_add(rows?)) != Some(entry.rows) {
        return Err(file.wrong(format!(
            "{rows} rows in its row groups, found another number"
        )));
    }
    if entry.rows / MAX_ROWS_PER_BYTE > entry.bytes {
        return Err(file.wrong(format!("fewer rows for {} bytes than {rows}", entry.bytes)));
    }
    Ok(())
}
