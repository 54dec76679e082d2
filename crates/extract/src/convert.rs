//! A trace becomes an extract.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use etwkit_base::endings;
use etwkit_base::path::name_of;
use etwkit_trace::derive::{self, SummarySink, TableSource};
use etwkit_trace::import::{self, ImportError, Imported, Progress, Range, screenshots};
use etwkit_trace::sink::{Sink, SinkError};
use etwkit_trace::table::{CpuStack, Frame, Row, Stack, StackHash, Table};
use etwkit_trace::tags::TagSet;
use etwkit_trace::topics::{self, TABLES};

use crate::code_hash;
use crate::describe::Described;
use crate::facts::Facts;
use crate::foreign::ReadError;
use crate::left_out::{
    ASKED, Names, Without, kept_with_stacks, left_out_by_default, listed_in_manifest,
};
use crate::manifest::{Detail, Diagnostic, Manifest, Topic, TraceSource};
use crate::names::{self, NAMED, NameFrom, Naming, Renamed};
use crate::pictures::Pictures;
use crate::sealed::Sealed;
use crate::tag_sets::depends_on;
use crate::writer::SYMBOLS;
use crate::{Input, KeptSymbol, Limits, StoreError, WriteSummary, Writer, WriterOptions};

/// Options of a conversion: the amount of detail, and additional sources.
#[derive(Debug, Clone, Copy)]
pub struct ConvertOptions<'a> {
    /// Amount of detail to keep.
    pub detail: Detail,
    /// The part of the trace that is extracted.
    pub range: Range,
    /// True if a scheduling slice of a thread belongs entirely to the range in which it starts.
    pub keep_whole: bool,
    /// True to keep the bytes of events that could not be decoded.
    pub keep_payload: bool,
    /// Keep a complete extract of the same trace that already exists.
    pub no_overwrite: bool,
    /// Write no files of tables without rows.
    pub no_empty: bool,
    /// Source of names of native code; `None` means no names.
    pub names: Option<&'a NameFrom<'a>>,
    /// Descriptions of events from separate files.
    pub described: Option<&'a Described>,
    /// Labels of the extract, see [`Manifest::labels`].
    pub labels: Option<&'a BTreeMap<String, String>>,
    /// Tables that the extract does without, see [`left_out`](crate::left_out); `None` leaves out
    /// the usual ones.
    pub left_out: Option<&'a Names>,
}

impl Default for ConvertOptions<'_> {
    fn default() -> Self {
        Self {
            detail: Detail::Full,
            range: Range::ALL,
            keep_whole: false,
            keep_payload: true,
            no_overwrite: false,
            no_empty: false,
            names: None,
            described: None,
            labels: None,
            left_out: None,
        }
    }
}

/// The outcome of converting one trace: its extract, import statistics, and symbols.
#[derive(Debug)]
pub struct Converted {
    /// The extract.
    pub written: WriteSummary,
    /// The results of the import.
    pub imported: Imported,
    /// The outcome of the symbol search, if there was one.
    pub naming: Option<Naming>,
}

/// The reason for which a trace could not be converted.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The extract could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The trace could not be read.
    #[error(transparent)]
    Open(#[from] crate::Error),
    /// The trace could not be read.
    #[error(transparent)]
    Read(etwkit_etl::Error),
    /// Rows could not be computed.
    #[error("cannot compute tables from the rows of the trace")]
    Rows(#[source] SinkError),
    /// The range contains nothing of the trace.
    #[error("the range lies outside the trace, which is {duration_s:.3} s long")]
    EmptyRange {
        /// Length of the trace in seconds.
        duration_s: f64,
    },
    /// A reader of another file format failed.
    #[error(transparent)]
    Foreign(#[from] ReadError),
    /// Its waits have no stacks any more that could be named.
    #[error("{} is a summary, which keeps sums by method instead of the rows that names could be given to", path.display())]
    IsSummary {
        /// The extract.
        path: PathBuf,
    },
    /// Sums by method cannot be computed again without the rows that they are of.
    #[error("{} was made without some of the rows that sums by method are computed from", path.display())]
    WithoutRows {
        /// The extract.
        path: PathBuf,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl ConvertError {
    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Open(error) => error.hint(),
            Self::Read(error) => error.hint(),
            Self::Foreign(error) => error.hint(),
            Self::EmptyRange { .. } => {
                Some("give a part of the trace in seconds since its start, such as 1.5..2")
            }
            Self::IsSummary { .. } | Self::WithoutRows { .. } => {
                Some("extract the trace again with --symbols")
            }
            Self::Rows(_) => Some(
                "extract the trace again; if that fails too, it is a defect of etwkit: please report it",
            ),
            Self::Interrupted => Some("run it again"),
        }
    }
}

impl From<SinkError> for ConvertError {
    fn from(error: SinkError) -> Self {
        match error.downcast::<StoreError>() {
            Ok(store) => Self::Store(*store),
            Err(other) => Self::Rows(other),
        }
    }
}

/// Extracts a trace into the folder `target`. `progress` is called every few thousand events and
/// can stop the work.
///
/// # Errors
/// [`ConvertError`]; nothing is changed at the target then.
pub fn convert(
    input: &Input,
    target: &Path,
    options: ConvertOptions<'_>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Converted, ConvertError> {
    convert_with_tags(input, target, options, &[TagSet::built_in()], progress)
}

/// As [`convert`], with the stack tags of these sets: [`TagSet::built_in`] is one of them only if
/// it is named.
///
/// # Errors
/// The errors of [`convert`].
pub fn convert_with_tags(
    input: &Input,
    target: &Path,
    options: ConvertOptions<'_>,
    sets: &[TagSet],
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Converted, ConvertError> {
    // Hashed before anything is written: a file that cannot be read to its end is an error without
    // a trace of an extract.
    let source = input.trace_source()?;
    let writer_options = WriterOptions {
        no_overwrite: options.no_overwrite,
        run_id: crate::run_id(&source.hash),
        no_empty: options.no_empty,
    };
    // Created before the import, so that a target that cannot be written to is reported at once and
    // not after minutes.
    let mut writer = Writer::create(target, writer_options)?;
    let import_options = import::Options {
        range: options.range,
        keep_whole: options.keep_whole,
        keep_payload: options.keep_payload,
        // Without descriptions from elsewhere, events have those of the trace.
        descriptions: options
            .described
            .map(|described| described.descriptions().clone())
            .unwrap_or_default(),
    };
    // Rows are written as they come. From here on a failure drops the writer, which removes
    // everything.
    let mut imported = import::import(input.session(), &import_options, &mut writer, progress)
        .map_err(of_import)?;
    let kept = keep_symbol_files(input, &mut imported, &writer, progress)?;
    // Several files of one recording are one trace, and the trace is named after all of them.
    let names: Vec<&str> = input
        .parts()
        .iter()
        .map(|part| part.name.as_str())
        .collect();
    imported.trace.file_name = names.join(";");
    // Pictures and facts lie next to the trace and not in it, so that they are looked for by its
    // name.
    write_screenshots(input, &mut imported, options.range, &mut writer)?;
    let facts = Facts::beside(input);
    imported.diagnostics.extend(facts.diagnostics);
    import::facts::write(facts.all, &mut writer)?;
    // After all diagnostics are known; the row of the trace has their numbers.
    import::write_trace(&imported, &mut writer)?;
    // From here on, tables are read back from their files: names, hashes and derived tables need
    // complete tables, which do not fit into memory.
    let mut sealed = Sealed(writer.seal()?);
    // Names before derived tables, since sums by method are sums by name.
    let naming = options
        .names
        .map(|from| name(&mut sealed, &mut writer, from, kept.as_deref()))
        .transpose()?;
    // Hashes of code need the names, because two builds of one program have other addresses.
    let sealed = code_hash::write(sealed, &mut writer)?;
    let left_out = options
        .left_out
        .cloned()
        .unwrap_or_else(left_out_by_default);
    match options.detail {
        Detail::Full => derive_without(&sealed, sets, &left_out, &mut writer)?,
        Detail::Summary => summarise(&sealed, sets, &left_out, &mut writer)?,
    }
    // Left out only now: derived tables were computed from these rows.
    // The rows had to be there for the tables that are computed from them.
    for table in TABLES.iter().filter(|table| left_out.contains(table.name)) {
        writer.remove(table)?;
    }
    writer.set_derived(depends_on(sets));
    let mut manifest = manifest_of(source, &imported, options.detail);
    manifest.native_names = naming.as_ref().map(Naming::counts);
    manifest.descriptions = options
        .described
        .and_then(Described::hash)
        .map(str::to_owned);
    manifest.labels = options.labels.cloned().unwrap_or_default();
    manifest.left_out = listed_in_manifest(left_out);
    // The manifest is written last: a folder without one is no extract.
    let written = writer.finish(manifest)?;
    Ok(Converted {
        written,
        imported,
        naming,
    })
}

fn of_import(error: ImportError) -> ConvertError {
    match error {
        ImportError::Read(error) => ConvertError::Read(error),
        ImportError::Sink(error) => error.into(),
        ImportError::EmptyRange { duration_s } => ConvertError::EmptyRange { duration_s },
        ImportError::Interrupted => ConvertError::Interrupted,
    }
}

/// Keeps the symbol files that came with the trace, and returns their folder if there are any.
fn keep_symbol_files(
    input: &Input,
    imported: &mut Imported,
    writer: &Writer,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Option<PathBuf>, ConvertError> {
    if input.symbol_files().next().is_none() {
        return Ok(None);
    }
    // Symbol files lie in the extract, so that it can be named again on another machine.
    let folder = writer.symbols_dir()?;
    let events = imported.pass.events;
    // Progress stays at the end for the caller, which may still ask to stop.
    let go_on = || progress(Progress { done: 1.0, events });
    match input.keep_symbols(&folder, Limits::default(), go_on)? {
        ControlFlow::Continue(kept) => imported.diagnostics.extend(left_out(&kept)),
        ControlFlow::Break(()) => return Err(ConvertError::Interrupted),
    }
    Ok(Some(folder))
}

/// Computes the derived tables that are not left out.
pub(crate) fn derive_without(
    source: &dyn TableSource,
    sets: &[TagSet],
    left_out: &Names,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    // Tables that are left out are computed for no one; the sink drops their rows.
    derive::derive(source, sets, &mut Without { left_out, sink })?;
    if left_out.contains(StackHash::TABLE.name) {
        Ok(())
    } else {
        derive::stack_hashes(source, sink)
    }
}

/// The note about symbol files that came with the trace and were not unpacked, if any.
fn left_out(kept: &[KeptSymbol]) -> Option<etwkit_trace::table::Diagnostic> {
    let mut out = kept.iter().filter(|symbol| symbol.left_out.is_some());
    let first = out.next()?;
    let reason = first.left_out.as_deref().unwrap_or("");
    Some(etwkit_trace::table::Diagnostic {
        severity: "warning".to_owned(),
        kind: "symbol_file_left_out".to_owned(),
        count: 1 + out.count() as i64,
        // The first one as an example; a list of thousands would hide the count.
        position: Some(first.member.clone()),
        message: format!(
            "symbol files of the archive were not unpacked, the first one because: {reason}"
        ),
    })
}

/// Records the screenshots that are stored next to the trace.
fn write_screenshots(
    input: &Input,
    imported: &mut Imported,
    range: Range,
    writer: &mut Writer,
) -> Result<(), ConvertError> {
    let pictures = Pictures::beside(input);
    if pictures.cut {
        imported.diagnostics.push(etwkit_trace::table::Diagnostic {
            severity: "warning".to_owned(),
            kind: "screenshots_cut".to_owned(),
            count: 1,
            position: None,
            message: "the folder next to the trace has more files than etwkit looks at: pictures of the screen are missing"
                .to_owned(),
        });
    }
    screenshots::write(imported, &pictures.all, range, writer)?;
    Ok(())
}

/// Rewrites the tables of names. `kept` is a folder with symbol files that came with the trace.
fn name(
    sealed: &mut Sealed,
    writer: &mut Writer,
    from: &NameFrom<'_>,
    kept: Option<&Path>,
) -> Result<Naming, ConvertError> {
    // All rows of the tables of names are read and written again, as a name changes rows that
    // others refer to.
    let (naming, renamed) = names::rename(sealed, &from.symbols(kept), from.on_symbols)?;
    if let Some(renamed) = renamed {
        // Removed only when the new rows are known, so that a failed search changes nothing.
        NAMED.iter().try_for_each(|table| writer.remove(table))?;
        renamed.write(writer)?;
        *sealed = Sealed(writer.seal()?);
    }
    Ok(naming)
}

/// Names that were found for the code of an extract, and are not written yet.
pub struct FoundNames {
    naming: Naming,
    renamed: Option<Renamed>,
}

impl FoundNames {
    /// Returns `true` if writing them changes the extract.
    #[must_use]
    pub const fn has_news(&self) -> bool {
        self.renamed.is_some()
    }

    /// Replaces the extract by one with these names. If there are no news, nothing changes.
    ///
    /// # Errors
    /// If the extract is damaged, or cannot be written to.
    pub fn write(
        self,
        extract: &crate::Extract,
    ) -> Result<(Naming, Option<WriteSummary>), ConvertError> {
        let Self { naming, renamed } = self;
        let Some(renamed) = renamed else {
            return Ok((naming, None));
        };
        // Rules and features have names, so those without them are not those of the extract with them.
        let replaced: Vec<&Table> = NAMED.into_iter().chain(ASKED).collect();
        let mut writer = Writer::again(extract, &replaced)?;
        renamed.write(&mut writer)?;
        let sealed = code_hash::write(Sealed(writer.seal()?), &mut writer)?;
        let sets = [TagSet::built_in()];
        derive_without(&sealed, &sets, &left_out_of(extract), &mut writer)?;
        writer.set_derived(depends_on(&sets));
        let manifest = Manifest {
            native_names: Some(naming.counts()),
            rules: None,
            features: None,
            // Everything else about the extract stays as it was.
            ..extract.manifest().clone()
        };
        let written = writer.finish(manifest)?;
        // The extract is replaced at once at the end. Questions that read the old one go on with
        // its files.
        Ok((naming, Some(written)))
    }
}

impl std::fmt::Debug for FoundNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FoundNames")
            .field("naming", &self.naming)
            .finish_non_exhaustive()
    }
}

/// Names the native code of an existing extract, which is replaced at the end. If no symbols are
/// found, and no images that identify them, nothing changes.
///
/// # Errors
/// The errors of [`find_names`] and [`FoundNames::write`].
pub fn name_again(
    extract: &crate::Extract,
    from: &NameFrom<'_>,
) -> Result<(Naming, Option<WriteSummary>), ConvertError> {
    find_names(extract, from)?.write(extract)
}

/// Finds names for the native code of an existing extract, and changes nothing yet.
///
/// # Errors
/// If the extract is damaged, packed or a summary, or the search was given up.
pub fn find_names(
    extract: &crate::Extract,
    from: &NameFrom<'_>,
) -> Result<FoundNames, ConvertError> {
    // An archive would have to be written as a whole; the user is told to unpack it.
    if extract.is_archive() {
        return Err(StoreError::ReadOnlyArchive {
            path: extract.path().to_owned(),
        }
        .into());
    }
    if extract.manifest().detail == Detail::Summary {
        return Err(ConvertError::IsSummary {
            path: extract.path().to_owned(),
        });
    }
    if !extract.manifest().has_all_rows() {
        return Err(ConvertError::WithoutRows {
            path: extract.path().to_owned(),
        });
    }
    // A link is not followed, but a note reports it.
    let is_there = |folder: &PathBuf| {
        folder
            .symlink_metadata()
            .is_ok_and(|found| found.is_dir() || found.is_symlink())
    };
    let kept = Some(extract.path().join(SYMBOLS)).filter(is_there);
    let symbols = from.symbols(kept.as_deref());
    let (naming, renamed) = names::rename(&base(extract), &symbols, from.on_symbols)?;
    // What was not looked for would count as missing.
    if symbols.is_cancelled() {
        return Err(ConvertError::Interrupted);
    }
    Ok(FoundNames { naming, renamed })
}

/// The tables that are not computed from others.
fn base(extract: &crate::Extract) -> Sealed {
    let tables = extract
        .tables()
        .filter(|file| !file.derived)
        .map(|file| (file.name.clone(), file.clone()));
    Sealed(tables.collect())
}

/// Computes the derived tables and omits the rows that they are computed from, and the stacks that
/// only those rows refer to.
pub(crate) fn summarise(
    sealed: &Sealed,
    sets: &[TagSet],
    left_out: &Names,
    writer: &mut Writer,
) -> Result<(), ConvertError> {
    let mut sink = SummarySink::new(writer);
    // The sink keeps the stacks that sums refer to, while the rows go by.
    derive_without(sealed, sets, left_out, &mut sink)?;
    let kept = kept_with_stacks(left_out);
    let stacks = sink.finish(sealed, &kept)?;
    for (table, rows) in kept.into_iter().zip(stacks.kept) {
        writer.remove(table)?;
        // Only some stacks are kept, renumbered, so the rows that refer to them are rewritten.
        rows.into_iter()
            .try_for_each(|rows| writer.write(table, rows))?;
    }
    // Rows of events are gone in a summary, and with them the stacks that only they had.
    for table in topics::row_tables().chain([Stack::TABLE, Frame::TABLE]) {
        writer.remove(table)?;
    }
    writer.write(Frame::TABLE, stacks.frame)?;
    if !left_out.contains(Stack::TABLE.name) {
        writer.write(Stack::TABLE, stacks.stack)?;
    }
    writer.write(CpuStack::TABLE, stacks.cpu_stack)?;
    writer.write(StackHash::TABLE, stacks.stack_hash)?;
    Ok(())
}

/// Adds or renews the derived tables of an extract that has its rows.
///
/// # Errors
/// If the extract is damaged, or cannot be written to.
pub fn derive_again(extract: &crate::Extract) -> Result<WriteSummary, ConvertError> {
    derive_with_tags(extract, &[TagSet::built_in()])
}

/// Like [`derive_again`], with the stack tags of these sets.
///
/// # Errors
/// The errors of [`derive_again`].
pub fn derive_with_tags(
    extract: &crate::Extract,
    sets: &[TagSet],
) -> Result<WriteSummary, ConvertError> {
    let sealed = base(extract);
    let mut writer = crate::DerivedWriter::create(extract)?;
    // Rows that were left out are missing, so that a table computed from them would be empty and
    // wrong.
    derive_without(&sealed, sets, &left_out_of(extract), &mut writer)?;
    Ok(writer.finish(depends_on(sets))?)
}

/// Computes the derived tables of an extract that cannot be written to, into the folder `target`,
/// for [`Extract::with_derived`](crate::Extract::with_derived). Existing content is replaced: the
/// folder must belong to the caller.
///
/// # Errors
/// If the extract is damaged, or the folder cannot be written to.
pub fn derive_into(extract: &crate::Extract, target: &Path) -> Result<WriteSummary, ConvertError> {
    let sets = [TagSet::built_in()];
    let mut writer = crate::DerivedWriter::at(target, extract)?;
    derive_without(&base(extract), &sets, &left_out_of(extract), &mut writer)?;
    Ok(writer.finish(depends_on(&sets))?)
}

fn manifest_of(source: TraceSource, imported: &Imported, detail: Detail) -> Manifest {
    let mut manifest = Manifest::of_trace(detail, source, &imported.trace);
    manifest.topics = imported
        .recorded
        .iter()
        // The hint says how to record what was not recorded, as far as the trace shows.
        .map(|row| Topic {
            topic: row.topic.name.to_owned(),
            recorded: row.is_recorded,
            events: Some(row.events),
            hint: (!row.is_recorded).then(|| row.topic.recorded_by.to_owned()),
        })
        .collect();
    manifest.diagnostics = imported.diagnostics.iter().map(Diagnostic::from).collect();
    manifest
}

/// The default target of a trace: `NAME.etwx` next to its first file, without the extension of the
/// trace.
#[must_use]
pub fn default_target(trace: &Path) -> PathBuf {
    // An ending in any case is cut; a trace without one keeps its name.
    let name = name_of(trace);
    let of_json = || {
        [".json7z", ".json"]
            .iter()
            .find_map(|ending| endings::strip(&name, ending))
    };
    let stem = endings::stem(&name).or_else(of_json).unwrap_or(&name);
    trace.with_file_name(format!("{stem}.etwx"))
}

/// Names of the tables that an extract omits.
pub(crate) fn left_out_of(extract: &crate::reader::Extract) -> Names {
    // Hashes of stacks are omitted by default, and then the manifest does not list them. An extract
    // with hashes was created with them on purpose, and keeps them when its tables are computed
    // again.
    let has_hashes = extract.table(StackHash::TABLE.name).is_some();
    let usual = left_out_by_default().into_iter().filter(|_| !has_hashes);
    extract
        .manifest()
        .left_out
        // Tables that were omitted on purpose stay omitted when the others are computed again.
        .iter()
        .cloned()
        .chain(usual)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extract_is_named_after_its_trace() {
        for (trace, extract) in [
            ("a/slow.etl", "a/slow.etwx"),
            ("slow.ETL.zip", "slow.etwx"),
            ("slow.diagsession", "slow.etwx"),
            ("slow.7z", "slow.etwx"),
            ("slow.Json7z", "slow.etwx"),
            ("slow.json", "slow.etwx"),
            ("slow.etl.gz", "slow.etwx"),
            ("slow.EtlGz", "slow.etwx"),
            ("slow.etl.cab", "slow.etwx"),
            ("trace", "trace.etwx"),
            (".etl", ".etl.etwx"),
        ] {
            assert_eq!(
                default_target(Path::new(trace)),
                Path::new(extract),
                "{trace}"
            );
        }
    }
}
