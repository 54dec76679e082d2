//! Rewriting of the derived tables of an extract.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatch;
use etwkit_trace::sink::{Sink, SinkError};
use etwkit_trace::table::{DERIVED, Table};

use super::{Tables, WriteSummary, empty, write_json, written};
use crate::about::run_id;
use crate::manifest::{self, DerivedManifest};
use crate::partial::Partial;
use crate::reader::Extract;
use crate::store_error::{StoreError, StoreResult};

/// Writes the folder `derived` of an extract as a whole. An existing folder is replaced when this
/// one is finished. An open [`Extract`] keeps the tables it found; open it again to see the new
/// ones.
#[derive(Debug)]
pub struct DerivedWriter {
    partial: Partial,
    tables: Tables,
    no_empty: bool,
}

impl DerivedWriter {
    /// Starts to write derived tables.
    ///
    /// # Errors
    /// If the extract is an archive, or its folder cannot be written to.
    pub fn create(extract: &Extract) -> StoreResult<Self> {
        if extract.is_archive() {
            return Err(StoreError::ReadOnlyArchive {
                path: extract.path().to_owned(),
            });
        }
        Self::at(&extract.path().join(manifest::DERIVED), extract)
    }

    /// Starts to write derived tables of an extract into the folder `target`.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub(crate) fn at(target: &Path, extract: &Extract) -> StoreResult<Self> {
        // The folder is replaced as a whole, so that tables of two versions never lie side by side.
        let partial = Partial::create(target)?;
        let tables = Tables::new(
            partial.content().to_owned(),
            run_id(&extract.manifest().source.hash),
        );
        Ok(Self {
            partial,
            tables,
            no_empty: extract.manifest().no_empty,
        })
    }

    /// Takes rows of a table.
    ///
    /// # Errors
    /// If the rows do not match the table, or the file cannot be written. The tables cannot be
    /// finished then.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a thread of its own may take the rows over"
    )]
    pub fn write(&mut self, table: &'static Table, rows: RecordBatch) -> StoreResult<()> {
        self.tables.write(table, &rows)?;
        // Row groups of many tables together must not exceed the memory; the largest gives back
        // most.
        while self.tables.held_bytes() > super::HELD_BYTES {
            self.tables.flush_largest()?;
        }
        Ok(())
    }

    /// Completes the files and publishes them. `depends_on` is stored in
    /// [`DerivedManifest::depends_on`].
    ///
    /// # Errors
    /// If something cannot be written, or could not be written before. Nothing is changed then.
    pub fn finish(self, depends_on: BTreeMap<String, String>) -> StoreResult<WriteSummary> {
        let Self {
            partial,
            tables,
            no_empty,
        } = self;
        let path = partial.target().to_owned();
        if tables.failed() {
            return Err(StoreError::Incomplete { path });
        }
        let mut manifest = DerivedManifest::new(depends_on);
        manifest.tables = tables.close()?;
        // Empty tables have files as well, so that other programs find every table.
        if !no_empty {
            empty::fill(partial.content(), DERIVED.iter(), &manifest.tables)?;
        }
        write_json(partial.content(), &manifest)?;
        partial.publish()?;
        Ok(WriteSummary {
            path,
            kept: false,
            tables: written(&manifest.tables, true),
        })
    }
}

impl Sink for DerivedWriter {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        Ok(Self::write(self, table, rows)?)
    }
}
