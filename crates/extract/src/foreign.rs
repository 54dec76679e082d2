//! Conversion of rows from other readers into an extract.
//!
//! Traces are not the only source of extracts: another source is data that another program
//! extracted from a trace. Its reader writes rows to a [`Sink`], as the import of a trace does, and
//! provides here the content of the manifest.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::Path;

use arrow_array::RecordBatch;
use etwkit_trace::derive;
use etwkit_trace::sink::{Sink, SinkError};
use etwkit_trace::table::{self, Table, Trace};

use crate::code_hash;
use crate::convert::ConvertError;
use crate::manifest::{Detail, Diagnostic, ImportedFrom, Manifest, Topic, TraceSource};
use crate::sealed::Sealed;
use crate::tag_sets::STACK_TAGS;
use crate::{WriteSummary, Writer, WriterOptions};

/// The results of a reader apart from rows.
#[derive(Debug)]
pub struct Foreign {
    /// The recording, as the row of the table `trace` has it.
    pub trace: Trace,
    /// The source of the rows.
    pub imported_from: ImportedFrom,
    /// Kinds of information that were recorded, in the order in which the manifest lists them.
    pub topics: Vec<&'static str>,
    /// Notes for the reader of the numbers.
    pub diagnostics: Vec<table::Diagnostic>,
    /// Computed tables to build from the rows. All others hold only the rows that the reader wrote.
    pub computed: Vec<&'static str>,
    /// The tool that gave stacks their tags.
    pub tagged_by: &'static str,
    /// Labels of the extract.
    pub labels: BTreeMap<String, String>,
}

/// The extract that rows became.
#[derive(Debug)]
pub struct FromForeign {
    /// The extract.
    pub written: WriteSummary,
    /// The recording.
    pub trace: Trace,
    /// Notes for the reader of the numbers.
    pub diagnostics: Vec<Diagnostic>,
}

/// The reason for which a reader failed, with advice for the user.
#[derive(Debug)]
pub struct ReadError {
    error: Box<dyn Error + Send + Sync>,
    hint: Option<&'static str>,
}

impl ReadError {
    /// Creates the error from a reader's error and its advice.
    #[must_use]
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>, hint: Option<&'static str>) -> Self {
        Self {
            error: error.into(),
            hint,
        }
    }

    /// Advice for the user.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        self.hint
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Creates the extract `target`, of detail `summary`, from the rows that `read` writes.
///
/// # Errors
/// The errors of `read`, or the extract cannot be written. In both cases the target is unchanged.
pub fn import_rows(
    target: &Path,
    options: WriterOptions,
    source: TraceSource,
    read: impl FnOnce(&mut dyn Sink) -> Result<Foreign, ConvertError>,
) -> Result<FromForeign, ConvertError> {
    let run_id = crate::run_id(&source.hash);
    let mut writer = Writer::create(target, WriterOptions { run_id, ..options })?;
    let found = read(&mut writer)?;
    let sealed = code_hash::write(Sealed(writer.seal()?), &mut writer)?;
    derive::derive(
        &sealed,
        &[],
        &mut Only {
            tables: &found.computed,
            sink: &mut writer,
        },
    )?;
    writer.set_derived(BTreeMap::from([(
        STACK_TAGS.to_owned(),
        found.tagged_by.to_owned(),
    )]));
    let mut manifest = Manifest::of_trace(Detail::Summary, source, &found.trace);
    manifest.imported_from = Some(found.imported_from);
    manifest.labels = found.labels;
    let topic = |name: &&str| Topic {
        topic: (*name).to_owned(),
        recorded: true,
        events: None,
        hint: None,
    };
    manifest.topics = found.topics.iter().map(topic).collect();
    manifest.diagnostics = found.diagnostics.iter().map(Diagnostic::from).collect();
    let diagnostics = manifest.diagnostics.clone();
    let written = writer.finish(manifest)?;
    Ok(FromForeign {
        written,
        trace: found.trace,
        diagnostics,
    })
}

/// Passes on only the rows of some tables.
struct Only<'a> {
    tables: &'a [&'static str],
    sink: &'a mut dyn Sink,
}

impl Sink for Only<'_> {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        if self.tables.contains(&table.name) {
            self.sink.write(table, rows)
        } else {
            Ok(())
        }
    }
}
