//! Sources of the rows of a session.

use std::collections::HashMap;
use std::path::Path;

use datafusion::arrow::array::RecordBatch;
use etwkit_extract::lake::LakeRun;
use etwkit_extract::manifest::Manifest;
use etwkit_extract::{Extract, extract_row, run_id};
use etwkit_trace::table::{ExtractInfo, Row, StackHash, Table};

use crate::Result;

/// Rows of one trace.
#[derive(Debug)]
pub struct Source {
    /// Name for people, in the table `extract`.
    pub(crate) name: String,
    /// Path, in the table `extract`.
    pub(crate) path: String,
    /// The trace that was named, if the extract was made of it for the question.
    pub(crate) trace: Option<String>,
    pub(crate) rows: Rows,
}

/// The storage of the rows.
#[derive(Debug)]
pub(crate) enum Rows {
    /// Batches by the name of their table.
    Batches(HashMap<&'static str, Vec<RecordBatch>>),
    /// Table files.
    Extract(Box<Extract>),
    /// A run of a lake, whose files have rows of others, too.
    Lake(LakeRun),
}

impl From<(LakeRun, &Path)> for Source {
    /// Creates a source of a run of a lake, named after the extract that it was added from.
    fn from((run, path): (LakeRun, &Path)) -> Self {
        Self {
            name: run.run.name().to_owned(),
            path: path.display().to_string(),
            trace: None,
            rows: Rows::Lake(run),
        }
    }
}

impl From<Extract> for Source {
    /// Creates a source named after the extract, without `.etwx`.
    fn from(extract: Extract) -> Self {
        let path = extract.path().display().to_string();
        let name = extract
            .path()
            .file_stem()
            .map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
        Self {
            name,
            path,
            trace: None,
            rows: Rows::Extract(Box::new(extract)),
        }
    }
}

impl Source {
    /// Opens the extract at that path. Reads no row.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Extract::open(path)?.into())
    }

    /// Marks an extract in a cache as made of this trace, which was named instead of it.
    #[must_use]
    pub fn made_of(self, trace: &Path) -> Self {
        Self {
            trace: Some(trace.display().to_string()),
            ..self
        }
    }

    /// Returns the size of its tables in bytes; rows in memory do not count.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        match &self.rows {
            Rows::Batches(_) => 0,
            Rows::Extract(extract) => extract.tables().map(|table| table.length).sum(),
            Rows::Lake(lake) => lake.run.bytes(),
        }
    }

    /// Returns its manifest; rows in memory have none.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        match &self.rows {
            Rows::Batches(_) => None,
            Rows::Extract(extract) => Some(extract.manifest()),
            Rows::Lake(lake) => Some(lake.run.manifest()),
        }
    }

    /// Returns the tables that it was made without, although their events were recorded. Numbers of
    /// stacks are computed.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &str> {
        let manifest = self.manifest().into_iter();
        manifest
            .flat_map(Manifest::left_out_of_recorded)
            .filter(|table| *table != StackHash::TABLE.name)
    }

    /// Returns the number of its trace; 0 for rows in memory.
    pub(crate) fn run_id(&self) -> i64 {
        self.manifest()
            .map_or(0, |manifest| run_id(&manifest.source.hash))
    }

    /// Returns its row of the table `extract`, without the columns that only a session knows.
    pub(crate) fn about(&self) -> ExtractInfo {
        match &self.rows {
            Rows::Batches(_) => ExtractInfo::default(),
            Rows::Extract(extract) => {
                let derived = extract.derived().map(|derived| derived.derived_version);
                extract_row(extract.manifest(), derived)
            }
            Rows::Lake(LakeRun { run, .. }) => {
                let derived = run.derived().map(|derived| derived.derived_version);
                extract_row(run.manifest(), derived)
            }
        }
    }

    /// Returns `true` if it was imported from an extract of another program.
    pub(crate) fn is_imported(&self) -> bool {
        self.manifest()
            .is_some_and(|manifest| manifest.imported_from.is_some())
    }

    /// Returns rows of a table that is a file; 0 for rows in memory.
    pub(crate) fn row_count(&self, table: &str) -> u64 {
        match &self.rows {
            Rows::Batches(_) => 0,
            Rows::Extract(extract) => extract.table(table).map_or(0, |table| table.rows),
            Rows::Lake(lake) => lake.run.rows(table),
        }
    }

    /// Returns `true` if a table has rows.
    pub(crate) fn has_rows(&self, table: &str) -> bool {
        match &self.rows {
            Rows::Batches(batches) => batches
                .get(table)
                .is_some_and(|batches| batches.iter().any(|batch| batch.num_rows() > 0)),
            // The manifest lists only tables with rows.
            Rows::Extract(extract) => extract.table(table).is_some(),
            Rows::Lake(lake) => lake.run.rows(table) > 0,
        }
    }

    /// Creates a source of rows in memory, with a name. Separate batches of one table are combined.
    #[must_use]
    pub fn batches(name: &str, tables: Vec<(&'static Table, Vec<RecordBatch>)>) -> Self {
        let mut rows: HashMap<&'static str, Vec<RecordBatch>> = HashMap::new();
        for (table, batches) in tables {
            rows.entry(table.name).or_default().extend(batches);
        }
        Self {
            name: name.to_owned(),
            path: String::new(),
            trace: None,
            rows: Rows::Batches(rows),
        }
    }
}
