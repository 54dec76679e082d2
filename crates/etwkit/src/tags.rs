//! Stack tags of the user: files that an option names.

use std::path::PathBuf;

use clap::Args;
use etwkit_engine::tag_sets;
use etwkit_trace::tags::TagSet;

use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Tag stacks by the rules of this file, too (.stacktags of Windows Performance Analyzer); can be
    /// repeated
    #[arg(long = "stack-tag-file", value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl TagArgs {
    /// The rules of these files.
    pub(crate) fn of(files: &[String]) -> Self {
        Self { files: files.iter().map(PathBuf::from).collect() }
    }

    /// Whether any files are named.
    pub(crate) const fn are_given(&self) -> bool {
        !self.files.is_empty()
    }

    /// The built-in set, and one for each file, which has its name.
    pub(crate) fn sets(&self) -> anyhow::Result<Vec<TagSet>> {
        Ok(tag_sets(&self.files)?)
    }

    /// Makes sure that extracts have the tags of the files, if any are named.
    pub(crate) fn apply(&self, extracts: &[PathBuf], printer: &mut Printer<'_>) -> anyhow::Result<()> {
        let context = printer.context();
        Ok(context.engine.tag_extracts(&context.asking, &self.files, extracts, printer.notes())?)
    }
}
