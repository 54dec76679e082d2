//! Writing an extract.

mod background;
mod derived;
mod empty;
mod layout;
pub(crate) mod order;
mod output;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use etwkit_trace::sink::{Sink, SinkError};
use etwkit_trace::table::{ABOUT, Columns, DERIVED, ExtractInfo, Row, Table, TopicInfo};
use etwkit_trace::topics::TABLES;
use serde::Serialize;

use crate::about::{extract_row, run_id, topic_rows};
use crate::manifest::{self, DerivedManifest, Manifest, TableEntry};
use crate::partial::Partial;
use crate::reader::{Extract, TableFile, files_in_folder};
use crate::sealed::Sealed;
use crate::store_error::{StoreError, StoreResult};
use background::Background;
pub use derived::DerivedWriter;
use table::TableWriter;

/// Maximum bytes of encoded rows that all tables together hold back for their row groups. Above it,
/// the largest table is written.
const HELD_BYTES: usize = 256 << 20;

/// Folder in an extract with the symbol files that came with the trace.
pub(crate) const SYMBOLS: &str = "symbols";

/// Options for writing an extract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriterOptions {
    /// Keep a complete extract of the same trace that exists when this one is finished. Callers
    /// that want to save the work call [`Extract::same_source`] before they start.
    pub no_overwrite: bool,
    /// The number in the first column of all rows, see [`run_id`]. It belongs to the source in the
    /// manifest that finishes the extract.
    pub run_id: i64,
    /// Write no files of tables without rows.
    pub no_empty: bool,
}

/// Writes an extract: one Parquet file for each table, and the manifest.
///
/// Nothing is visible under the name of the target before [`Writer::finish`]. Dropping the writer
/// before that leaves nothing.
#[derive(Debug)]
pub struct Writer {
    // Dropped first: the thread that writes must end before the folder is removed.
    tables: Background,
    partial: Partial,
    options: WriterOptions,
    depends_on: Option<BTreeMap<String, String>>,
    /// Base tables whose files are complete.
    sealed: BTreeMap<String, TableEntry>,
}

/// The result of writing an extract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteSummary {
    /// The extract.
    pub path: PathBuf,
    /// True if an extract of the same trace existed and was kept; then nothing was written.
    pub kept: bool,
    /// Tables with rows, by name. Derived tables follow the others.
    pub tables: Vec<WrittenTable>,
}

/// A table that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTable {
    /// Name.
    pub name: String,
    /// Rows.
    pub rows: u64,
    /// Bytes of its file.
    pub bytes: u64,
    /// True if it is computed from other tables.
    pub derived: bool,
}

impl Writer {
    /// Starts an extract at the folder `target`.
    ///
    /// # Errors
    /// If the parent folder of `target` is missing or cannot be written to, or something that is
    /// not an extract exists there.
    pub fn create(target: &Path, options: WriterOptions) -> StoreResult<Self> {
        // Refused before any work, and once more before it is published.
        refuse_foreign(target)?;
        let partial = Partial::create(target)?;
        let tables = Tables::new(partial.content().to_owned(), options.run_id);
        let derived = Tables::new(partial.content().join(manifest::DERIVED), options.run_id);
        let tables = Background::new(Folders { tables, derived });
        Ok(Self {
            tables,
            partial,
            options,
            depends_on: None,
            sealed: BTreeMap::new(),
        })
    }

    /// Starts to rewrite an extract, with all its content except for the tables `without` and the
    /// computed tables.
    ///
    /// # Errors
    /// If its folder cannot be written to.
    pub(crate) fn again(extract: &Extract, without: &[&Table]) -> StoreResult<Self> {
        Self::again_at(extract.path(), extract, without)
    }

    /// Starts to write an extract at the folder `target` with the content of another one, except for
    /// the tables `without` and the computed tables.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub(crate) fn again_at(
        target: &Path,
        extract: &Extract,
        without: &[&Table],
    ) -> StoreResult<Self> {
        let run_id = run_id(&extract.manifest().source.hash);
        // A new extract that takes over what stays: the old one may be read while this one is
        // written.
        let mut writer = Self::create(
            target,
            WriterOptions {
                run_id,
                no_empty: extract.manifest().no_empty,
                ..WriterOptions::default()
            },
        )?;
        let content = writer.partial.content();
        for (name, entry) in &extract.manifest().tables {
            if without.iter().chain(ABOUT).all(|table| table.name != name) {
                let file = format!("{name}.parquet");
                // Links to the same bytes, so that gigabytes are not copied for a few names.
                take_over(&extract.path().join(&file), &content.join(&file))?;
                writer.sealed.insert(name.clone(), entry.clone());
            }
        }
        let symbols = extract.path().join(SYMBOLS);
        if symbols.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            take_over_folder(&symbols, &content.join(SYMBOLS))?;
        }
        Ok(writer)
    }

    /// The folder `symbols` of the extract, created on first use. Its files are published with the
    /// tables.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn symbols_dir(&self) -> StoreResult<PathBuf> {
        let folder = self.partial.content().join(SYMBOLS);
        fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
        Ok(folder)
    }

    /// Declares that the derived tables come with this extract, including those without rows.
    /// `depends_on` lists their other inputs.
    pub fn set_derived(&mut self, depends_on: BTreeMap<String, String>) {
        self.depends_on = Some(depends_on);
    }

    /// Takes rows of a table. Another thread encodes them and writes them to the file when their
    /// row group is full.
    ///
    /// # Errors
    /// If the rows do not match the table, or rows passed earlier could not be written. The extract
    /// cannot be finished then.
    pub fn write(&mut self, table: &'static Table, rows: RecordBatch) -> StoreResult<()> {
        // No file for a table without rows.
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let checked = table::check_columns(table, &rows);
        if checked.is_err() {
            // An extract with a hole must never be finished, whatever the caller does with the
            // error.
            self.tables.stop()?.tables.failed = true;
        }
        checked.and_then(|()| self.tables.write(table, rows))
    }

    /// Completes the files of all base tables with rows, so that derived tables can be computed
    /// from them. They take no more rows.
    ///
    /// # Errors
    /// If something cannot be written, or could not be written before.
    pub fn seal(&mut self) -> StoreResult<BTreeMap<String, TableFile>> {
        let folder = self.partial.content().to_owned();
        let folders = self.tables.stop()?;
        let tables = std::mem::replace(
            &mut folders.tables,
            Tables::new(folder.clone(), self.options.run_id),
        );
        // An error of an earlier batch shows here at the latest.
        if tables.failed() {
            folders.tables.failed = true;
            return Err(StoreError::Incomplete {
                path: self.partial.target().to_owned(),
            });
        }
        self.sealed.extend(tables.close()?);
        files_in_folder(&folder, &self.sealed)
    }

    /// Leaves a sealed table out of the extract.
    ///
    /// # Errors
    /// If its file cannot be deleted.
    pub fn remove(&mut self, table: &Table) -> StoreResult<()> {
        if self.sealed.remove(table.name).is_none() {
            return Ok(());
        }
        let path = self
            .partial
            .content()
            .join(format!("{}.parquet", table.name));
        fs::remove_file(&path).map_err(StoreError::io("delete", &path))
    }

    /// Rewrites a sealed table, changing each batch of it. A table without rows stays as it is.
    pub(crate) fn rewrite(
        &mut self,
        sealed: &Sealed,
        table: &'static Table,
        change: &mut dyn FnMut(&RecordBatch) -> Result<RecordBatch, SinkError>,
    ) -> Result<(), SinkError> {
        let Some(file) = sealed.0.get(table.name) else {
            return Ok(());
        };
        // A hidden name in the same folder: the new file gets the name of the table while the old
        // one is still being read.
        let aside = self
            .partial
            .content()
            .join(format!(".{}.parquet", table.name));
        // Renamed and not copied.
        fs::rename(&file.path, &aside).map_err(StoreError::io("rename", &file.path))?;
        self.sealed.remove(table.name);
        let before = file.moved_to(&aside);
        for batch in before.batches(None)? {
            self.write(table, change(&batch?)?)?;
        }
        fs::remove_file(&aside).map_err(StoreError::io("delete", &aside))?;
        Ok(())
    }

    /// Completes the files and publishes the extract. Sets the format, the versions and the tables
    /// of `manifest`.
    ///
    /// # Errors
    /// If something cannot be written, or could not be written before. Nothing is changed at the
    /// target then.
    pub fn finish(self, mut manifest: Manifest) -> StoreResult<WriteSummary> {
        let Self {
            tables,
            partial,
            options,
            depends_on,
            sealed,
        } = self;
        let target = partial.target().to_owned();
        // Joins the encoder, whose last error would otherwise be lost.
        let Folders { tables, derived } = tables.into_folders()?;
        if tables.failed() || derived.failed() {
            return Err(StoreError::Incomplete { path: target });
        }
        (manifest.format, manifest.format_version) =
            (manifest::FORMAT.to_owned(), manifest::VERSION);
        manifest.etwkit_version = env!("CARGO_PKG_VERSION").to_owned();
        manifest.tables = sealed;
        manifest.tables.extend(tables.close()?);
        let mut written = written(&manifest.tables, false);
        let of_derived = if depends_on.is_some() || !derived.writers.is_empty() {
            let depends_on = depends_on.unwrap_or_default();
            let of_derived = finish_derived(derived, depends_on, options.no_empty)?;
            written.extend(self::written(&of_derived.tables, true));
            Some(of_derived)
        } else {
            None
        };
        // Written into the manifest, so that a later run of the tables does the same.
        manifest.no_empty = options.no_empty;
        let about = write_about(partial.content(), &manifest, of_derived.as_ref())?;
        manifest.tables.extend(about);
        if !options.no_empty {
            let all = TABLES.iter().chain(ABOUT);
            empty::fill(partial.content(), all, &manifest.tables)?;
        }
        // After all tables, whose sizes and checksums it has.
        write_json(partial.content(), &manifest)?;
        let descriptions = manifest.descriptions.as_deref();
        // Checked at the very end: another program may have created the same extract in that time.
        if options.no_overwrite
            && Extract::same_source_without(
                &target,
                &manifest.source.hash,
                manifest.detail,
                descriptions,
                &manifest.left_out,
            )
            .is_some_and(|other| other.manifest().has_labels(&manifest.labels))
        {
            return Ok(WriteSummary {
                path: target,
                kept: true,
                tables: Vec::new(),
            });
        }
        // Looked at again, since writing may have taken minutes.
        refuse_foreign(&target)?;
        partial.publish()?;
        Ok(WriteSummary {
            path: target,
            kept: false,
            tables: written,
        })
    }
}

impl Sink for Writer {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        Ok(Self::write(self, table, rows)?)
    }
}

/// Completes the derived tables of a new extract, with their manifest.
fn finish_derived(
    tables: Tables,
    depends_on: BTreeMap<String, String>,
    no_empty: bool,
) -> StoreResult<DerivedManifest> {
    let folder = tables.folder.clone();
    let mut manifest = DerivedManifest::new(depends_on);
    manifest.tables = tables.close()?;
    fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
    if !no_empty {
        empty::fill(&folder, DERIVED.iter(), &manifest.tables)?;
    }
    write_json(&folder, &manifest)?;
    Ok(manifest)
}

/// Writes the tables about the extract, which follow from its manifests.
fn write_about(
    folder: &Path,
    manifest: &Manifest,
    derived: Option<&DerivedManifest>,
) -> StoreResult<BTreeMap<String, TableEntry>> {
    let of_derived = |name: &str| derived.and_then(|derived| derived.tables.get(name));
    let rows = |name: &str| {
        manifest
            .tables
            .get(name)
            .or_else(|| of_derived(name))
            .map_or(0, |entry| entry.rows)
    };
    let mut tables = Tables::new(folder.to_owned(), run_id(&manifest.source.hash));
    let extract = extract_row(manifest, derived.map(|derived| derived.derived_version));
    tables.write(ExtractInfo::TABLE, &rows_of([extract])?)?;
    tables.write(TopicInfo::TABLE, &rows_of(topic_rows(manifest, rows))?)?;
    tables.close()
}

fn rows_of<R: Row>(rows: impl IntoIterator<Item = R>) -> StoreResult<RecordBatch> {
    let mut columns = R::Columns::default();
    rows.into_iter().for_each(|row| columns.push(&row));
    let failed = |e: etwkit_trace::table::NotAsDeclared| StoreError::Encode {
        table: R::TABLE.name.to_owned(),
        source: parquet::errors::ParquetError::External(Box::new(e)),
    };
    columns.take().map_err(failed)
}

/// Creates a second name for a file, or a copy if the file system has no hard links.
fn take_over(from: &Path, to: &Path) -> StoreResult<()> {
    // Files of extracts are never changed in place, so both names may refer to the same bytes.
    let done = fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(|_| ()));
    done.map_err(StoreError::io("copy", from))
}

fn take_over_folder(from: &Path, to: &Path) -> StoreResult<()> {
    fs::create_dir(to).map_err(StoreError::io("create", to))?;
    for entry in fs::read_dir(from).map_err(StoreError::io("read", from))? {
        let entry = entry.map_err(StoreError::io("read", from))?;
        let from = entry.path();
        let to = to.join(entry.file_name());
        match entry.file_type().map_err(StoreError::io("read", &from))? {
            kind if kind.is_dir() => take_over_folder(&from, &to)?,
            kind if kind.is_file() => take_over(&from, &to)?,
            // A link could lead anywhere.
            _ => {}
        }
    }
    Ok(())
}

fn written(entries: &BTreeMap<String, TableEntry>, derived: bool) -> Vec<WrittenTable> {
    let one = |(name, entry): (&String, &TableEntry)| WrittenTable {
        name: name.clone(),
        rows: entry.rows,
        bytes: entry.bytes,
        derived,
    };
    entries.iter().map(one).collect()
}

/// Refuses a target that exists and is not an extract.
pub(crate) fn refuse_foreign(target: &Path) -> StoreResult<()> {
    // Nothing there is the usual case.
    let Ok(metadata) = target.symlink_metadata() else {
        return Ok(());
    };
    let what = if metadata.is_symlink() {
        "a symbolic link"
    } else if !metadata.is_dir() {
        "a file"
    } else if crate::reader::has_manifest(target) {
        return Ok(());
    } else {
        "a folder without the manifest of an extract"
    };
    Err(StoreError::NotOurs {
        path: target.to_owned(),
        what,
    })
}

pub(crate) fn write_json(folder: &Path, manifest: &impl Serialize) -> StoreResult<()> {
    let path = folder.join(manifest::FILE);
    let text = serde_json::to_vec_pretty(manifest).map_err(std::io::Error::from);
    let written = text.and_then(|mut text| {
        text.push(b'\n');
        fs::File::create(&path)?.write_all(&text)
    });
    written.map_err(StoreError::io("write", &path))
}

/// The tables of an extract, and those that are computed from them.
#[derive(Debug)]
struct Folders {
    tables: Tables,
    derived: Tables,
}

impl Folders {
    fn write(&mut self, table: &'static Table, rows: &RecordBatch) -> StoreResult<()> {
        let is_derived = DERIVED.iter().any(|derived| derived.name == table.name);
        let (tables, others) = if is_derived {
            (&mut self.derived, &mut self.tables)
        } else {
            (&mut self.tables, &mut self.derived)
        };
        tables.write(table, rows)?;
        // Until both together are below the limit.
        while tables.held_bytes() + others.held_bytes() > HELD_BYTES {
            // The largest is written, whichever folder it is in: row groups stay as large as the
            // common limit allows.
            let larger = if tables.held_bytes() > others.held_bytes() {
                &mut *tables
            } else {
                &mut *others
            };
            larger.flush_largest()?;
        }
        Ok(())
    }
}

/// The tables of one folder.
#[derive(Debug)]
pub(crate) struct Tables {
    folder: PathBuf,
    run_id: i64,
    writers: BTreeMap<&'static str, TableWriter>,
    failed: bool,
}

impl Tables {
    pub(crate) fn new(folder: PathBuf, run_id: i64) -> Self {
        Self {
            folder,
            run_id,
            writers: BTreeMap::new(),
            failed: false,
        }
    }

    pub(crate) fn write(&mut self, table: &'static Table, rows: &RecordBatch) -> StoreResult<()> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let done = self.try_write(table, rows);
        self.failed |= done.is_err();
        done
    }

    fn try_write(&mut self, table: &'static Table, rows: &RecordBatch) -> StoreResult<()> {
        if let Some(writer) = self.writers.get_mut(table.name) {
            return writer.write(rows);
        }
        fs::create_dir_all(&self.folder).map_err(StoreError::io("create", &self.folder))?;
        let mut writer = TableWriter::create(&self.folder, table, self.run_id)?;
        writer.write(rows)?;
        self.writers.insert(table.name, writer);
        Ok(())
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.writers.values().map(TableWriter::held_bytes).sum()
    }

    pub(crate) fn flush_largest(&mut self) -> StoreResult<()> {
        let largest = self
            .writers
            .values_mut()
            .max_by_key(|writer| writer.held_bytes());
        let done = largest.map_or(Ok(()), TableWriter::flush);
        self.failed |= done.is_err();
        done
    }

    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    pub(crate) fn close(self) -> StoreResult<BTreeMap<String, TableEntry>> {
        let entry = |(name, writer): (&str, TableWriter)| Ok((name.to_owned(), writer.close()?));
        self.writers.into_iter().map(entry).collect()
    }
}
