//! An extract that is asked questions before it gets its name: a diagnosis, and the features of the run. The
//! program that answers them needs all rows, which a summary leaves out, so there is a full extract first.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use etwkit_trace::table::Table;
use etwkit_trace::tags::TagSet;

use crate::convert::{derive_without, left_out_of, summarise};
use crate::left_out::ASKED;
use crate::manifest::{Detail, Manifest};
use crate::partial::Partial;
use crate::sealed::Sealed;
use crate::tag_sets::depends_on;
use crate::writer::refuse_foreign;
use crate::{ConvertError, Extract, StoreResult, WriteSummary, Writer};

/// The answers of an extract that it keeps.
#[derive(Debug, Default)]
pub struct Diagnosed {
    /// Rows of the tables `finding`, `rule_outcome` and `feature`.
    pub rows: Vec<(&'static Table, RecordBatch)>,
    /// The rules, as [`Manifest::rules`] has them; `None` without a diagnosis.
    pub rules: Option<String>,
    /// The version of the features, as [`Manifest::features`] has it; `None` without any.
    pub features: Option<String>,
}

/// An extract that keeps answers: first a full one at a temporary place, then at its target with the
/// answers of that one.
#[derive(Debug)]
pub struct Diagnosing {
    partial: Partial,
    target: PathBuf,
}

impl Diagnosing {
    /// Creates a temporary folder next to `target`. The next writer there removes the remains of a
    /// killed program.
    ///
    /// # Errors
    /// If something other than an extract exists at `target`, or its parent folder cannot be written
    /// to.
    pub fn begin(target: &Path) -> StoreResult<Self> {
        // Refused before the work: the conversion and the diagnosis can take minutes.
        refuse_foreign(target)?;
        Ok(Self {
            partial: Partial::create(target)?,
            target: target.to_owned(),
        })
    }

    /// Place of the full extract.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.partial.content().join("full.etwx")
    }

    /// Puts the extract at its target, with that detail and its answers. `sets` are the stack
    /// tags with which it was made.
    ///
    /// # Errors
    /// If the full extract is missing or damaged, or the target cannot be written to.
    pub fn finish(
        self,
        (detail, sets): (Detail, &[TagSet]),
        diagnosed: Diagnosed,
    ) -> Result<WriteSummary, ConvertError> {
        let full = Extract::open(&self.folder())?;
        let mut writer = Writer::again_at(&self.target, &full, &ASKED)?;
        for (table, rows) in diagnosed.rows {
            writer.write(table, rows)?;
        }
        // Findings are among the sealed tables, so that a summary keeps their stacks.
        let sealed = Sealed(writer.seal()?);
        let left_out = left_out_of(&full);
        match detail {
            Detail::Full => derive_without(&sealed, sets, &left_out, &mut writer)?,
            Detail::Summary => summarise(&sealed, sets, &left_out, &mut writer)?,
        }
        writer.set_derived(depends_on(sets));
        let manifest = Manifest {
            detail,
            rules: diagnosed.rules,
            features: diagnosed.features,
            ..full.manifest().clone()
        };
        Ok(writer.finish(manifest)?)
    }
}
