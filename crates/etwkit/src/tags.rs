//! Stack tags of the user: files that an option names.

use std::path::PathBuf;

use clap::Args;
use etwkit_engine::{tag_sets, tag_warnings};
use etwkit_question::Tagging;
use etwkit_trace::tags::TagSet;

use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Also tag stacks by the rules of this file (.stacktags of Windows Performance Analyzer); can
    /// be repeated
    #[arg(long = "stack-tag-file", value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl TagArgs {
    /// True if any files are named.
    pub(crate) const fn are_given(&self) -> bool {
        !self.files.is_empty()
    }

    /// Returns the names of the sets that are made from the files.
    pub(crate) fn names(&self) -> Vec<String> {
        Tagging::names(&self.files)
    }

    /// Returns the built-in set, and one for each file, which has its name. What could not be
    /// followed in the files becomes notes.
    pub(crate) fn sets(&self, printer: &mut Printer<'_>) -> anyhow::Result<Vec<TagSet>> {
        let sets = tag_sets(&self.files)?;
        tag_warnings(&sets).for_each(|warning| printer.note(&warning));
        Ok(sets)
    }
}
