//! Copies the recordings of tests that are chosen.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use etwkit_files::out_file::all_different;
use etwkit_query::test_run::TestFile;

use super::args::Common;
use crate::printer::Printer;

/// Where recordings are copied to.
#[derive(Debug, Args)]
pub(super) struct CopyArgs {
    /// Copy the extracts of the chosen tests into a folder
    #[arg(long, value_name = "FOLDER")]
    copy_files_to: Option<PathBuf>,
    /// Copy traces and archives, too
    #[arg(long, requires = "copy_files_to")]
    with_traces: bool,
    /// Replace files that the folder has already
    #[arg(long, requires = "copy_files_to")]
    overwrite: bool,
}

impl CopyArgs {
    /// Copies the recordings that are chosen, if that is asked for, and says in text how many these were.
    /// What was named may be a link, what a folder holds may not.
    pub(super) fn run(&self, common: &Common, printer: &mut Printer<'_>) -> anyhow::Result<()> {
        let Some(folder) = &self.copy_files_to else { return Ok(()) };
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let files = common.files_of_tests(&common.tests.read()?)?;
        let chosen = |file: TestFile| file.extract.into_iter().chain(file.trace.filter(|_| self.with_traces));
        let (chosen, mut left_out): (Vec<_>, Vec<_>) = files
            .into_iter()
            .flat_map(chosen)
            .partition(|from| common.extracts.contains(from) || is_plain(from));
        all_different(chosen.iter().map(|from| (from.as_path(), target(from, folder))))?;
        for from in &chosen {
            self.copy(from, folder, &mut left_out)?;
        }
        for path in left_out {
            printer.note(&format!("{} is a link or no regular file and was not copied", path.display()));
        }
        if common.is_text() {
            printer.line(&format!("copied {} files and extracts to {}", chosen.len(), folder.display()))?;
        }
        Ok(())
    }

    fn copy(&self, from: &Path, folder: &Path, left_out: &mut Vec<PathBuf>) -> anyhow::Result<()> {
        let to = target(from, folder);
        // Not `exists`: a link that leads nowhere would count as a free place, and the copy would be written
        // where it leads.
        if to.symlink_metadata().is_ok() {
            if !self.overwrite {
                bail!("{} is there already; --overwrite replaces it", to.display());
            }
            // The target is removed before it is written: a copy onto itself would lose the recording.
            if to.canonicalize().is_ok_and(|to| from.canonicalize().is_ok_and(|from| from == to)) {
                bail!("{} would be copied onto itself", from.display());
            }
            remove(&to)?;
        }
        copy_all(from, &to, left_out)
            .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
    }
}

fn target(from: &Path, folder: &Path) -> PathBuf {
    folder.join(from.file_name().unwrap_or_default())
}

/// Removes what is replaced; an extract is a folder.
fn remove(path: &Path) -> anyhow::Result<()> {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.with_context(|| format!("cannot replace {}", path.display()))
}

/// Whether it is a file or folder and no link, pipe or device.
fn is_plain(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file() || found.is_dir())
}

/// Copies a file, or a folder with all that is in it but for links, pipes and devices, which go to
/// `left_out`: a link of a stranger could lead to any file of this system, and a pipe waits for its writer.
fn copy_all(from: &Path, to: &Path, left_out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !from.is_dir() {
        return std::fs::copy(from, to).map(|_| ());
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if is_plain(&entry.path()) {
            copy_all(&entry.path(), &to.join(entry.file_name()), left_out)?;
        } else {
            left_out.push(entry.path());
        }
    }
    Ok(())
}
