//! `etwkit extract --lake`: the extracts are added to a lake, and removed unless `--out` keeps them.

use std::fs;
use std::path::{Path, PathBuf};

use etwkit_extract::lake::{Added, Lake};
use tempfile::TempDir;

use super::plan::Job;
use crate::cli::ExtractArgs;
use crate::commands::lake::add;
use crate::input;
use crate::printer::Printer;

/// Bytes of extracts that wait until they are added together.
const WAITING: u64 = 4 << 30;

/// Creates the folder for extracts that are removed afterwards; `None` if they are kept.
pub(super) fn temporary_folder(args: &ExtractArgs) -> anyhow::Result<Option<TempDir>> {
    let is_wanted = args.lake.is_some() && args.out.is_none();
    let folder = is_wanted.then(|| input::temporary_folder(&input::temporary_place()));
    Ok(folder.transpose()?)
}

/// Adds extracts to a lake, many at a time.
pub(super) struct IntoLake {
    lake: Lake,
    waiting: Vec<Waiting>,
    /// Bytes of those that wait.
    bytes: u64,
    added: Added,
}

/// An extract that is not added yet.
struct Waiting {
    path: PathBuf,
    is_kept: bool,
}

impl IntoLake {
    pub(super) fn open(lake: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            lake: Lake::open(lake)?,
            waiting: Vec::new(),
            bytes: 0,
            added: Added::default(),
        })
    }

    /// Takes an extract. Those that cannot be added become errors of the command.
    pub(super) fn take(&mut self, job: &Job, bytes: u64, printer: &mut Printer<'_>) {
        self.waiting.push(Waiting {
            path: job.target.clone(),
            is_kept: job.kept().is_some(),
        });
        self.bytes += bytes;
        if self.waiting.len() >= add::AT_ONCE || self.bytes >= WAITING {
            self.add_waiting(printer);
        }
    }

    /// Adds the last ones, and prints how many runs there are in the lake that were not there.
    pub(super) fn finish(mut self, is_json: bool, printer: &mut Printer<'_>) -> anyhow::Result<()> {
        self.add_waiting(printer);
        if is_json {
            return Ok(printer.json(&add::object(&self.added))?);
        }
        Ok(printer.line(&add::text(&self.added))?)
    }

    fn add_waiting(&mut self, printer: &mut Printer<'_>) {
        let waiting = std::mem::take(&mut self.waiting);
        let paths: Vec<PathBuf> = waiting.iter().map(|one| one.path.clone()).collect();
        add::add_all(&self.lake, &paths, &mut self.added, printer);
        for one in waiting.iter().filter(|one| !one.is_kept) {
            // What cannot be removed now is removed with the whole folder.
            let _ = fs::remove_dir_all(&one.path);
        }
        self.bytes = 0;
    }
}
