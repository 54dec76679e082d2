//! Copies the recordings of selected tests.

use std::path::{Path, PathBuf};

use clap::Args;
use etwkit_base::digits::counted;
use etwkit_question::test_run::TestFile;

use super::args::Common;
use super::copies::copy_into;
use crate::printer::Printer;

/// Target of copied recordings.
#[derive(Debug, Args)]
pub(super) struct CopyArgs {
    /// Copy the extracts of the chosen tests into a folder
    #[arg(long, value_name = "FOLDER")]
    copy_files_to: Option<PathBuf>,
    /// Also copy traces and archives
    #[arg(long, requires = "copy_files_to")]
    with_traces: bool,
    /// Replace files that the folder has already
    #[arg(long, requires = "copy_files_to")]
    overwrite: bool,
}

impl CopyArgs {
    /// Copies the selected recordings if requested, and prints their number in text.
    pub(super) fn run(&self, common: &Common, printer: &mut Printer<'_>) -> anyhow::Result<()> {
        let Some(folder) = &self.copy_files_to else {
            return Ok(());
        };
        let files = common.files_of_tests(&common.tests.read()?)?;
        let chosen = |file: TestFile| {
            file.extract
                .into_iter()
                .chain(file.trace.filter(|_| self.with_traces))
        };
        let is_named = |from: &Path| common.extracts.iter().any(|extract| extract == from);
        let copied = copy_into(
            folder,
            files.into_iter().flat_map(chosen),
            is_named,
            self.overwrite,
        )?;
        for path in &copied.left_out {
            printer.note(&format!(
                "{} is a link or no regular file and was not copied",
                path.display()
            ));
        }
        if common.is_text() {
            printer.line(&format!(
                "copied {} to {}",
                counted(
                    copied.count as u64,
                    ["file or extract", "files and extracts"]
                ),
                folder.display()
            ))?;
        }
        Ok(())
    }
}
