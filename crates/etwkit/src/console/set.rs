//! The loaded files.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use etwkit_base::digits::counted;
use etwkit_compat::console::{fits, found};
use etwkit_engine::Engine;
use etwkit_extract::Extract;
use etwkit_terminal::Table;

use crate::extracts::{extract_of, is_trace, open_extracts};
use crate::printer::{Printer, grouped};

/// A loaded file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Loaded {
    /// Its path, absolute, as it was named.
    named: PathBuf,
    /// Its extract; for a trace it exists after the first query.
    extract: Option<PathBuf>,
}

/// Loaded files, by the start of the recording.
#[derive(Debug)]
pub(super) struct Set {
    files: Vec<Loaded>,
    engine: Engine,
}

impl Set {
    pub(super) fn new(engine: Engine) -> Self {
        Self {
            files: Vec::new(),
            engine,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the paths of the loaded files, as they were named.
    pub(super) fn named(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| &*file.named)
    }

    /// Returns the extracts that already exist.
    pub(super) fn extracts(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter_map(|file| file.extract.as_deref())
    }

    /// Loads the files that queries name, in addition to the loaded files or instead of them. An
    /// extract that cannot be opened is reported and skipped.
    pub(super) fn load(
        &mut self,
        queries: &[String],
        is_recursive: bool,
        keeps: bool,
        printer: &mut Printer<'_>,
    ) -> anyhow::Result<()> {
        ensure!(
            !queries.is_empty(),
            "name files, folders or queries such as *slow*; . is the current folder"
        );
        let mut files = if keeps {
            self.files.clone()
        } else {
            Vec::new()
        };
        let mut loaded = 0;
        for path in found(queries, is_recursive)? {
            let named = std::path::absolute(&path).with_context(|| path.display().to_string())?;
            let extract = if is_trace(&named) {
                None
            } else {
                Some(named.clone())
            };
            if let Some(extract) = &extract
                && let Err(error) = Extract::open(extract)
            {
                printer.note(&format!("{} is not loaded: {error}", named.display()));
                continue;
            }
            loaded += 1;
            if files.iter().all(|file| file.named != named) {
                files.push(Loaded { named, extract });
            }
        }
        ensure!(loaded > 0, "nothing was loaded");
        self.files = files;
        self.keep_open();
        let loaded = counted(self.files.len() as u64, ["file is", "files are"]);
        printer.line(&format!("{loaded} loaded"))?;
        Ok(())
    }

    /// Opens the loaded files and reads the data that most questions need.
    pub(super) fn read_now(&mut self, printer: &mut Printer<'_>) -> anyhow::Result<()> {
        for path in self.choose(&[], printer)? {
            open_extracts(&[path], printer)?.frames()?;
        }
        Ok(())
    }

    /// Unloads the files that match queries, or all.
    pub(super) fn unload(
        &mut self,
        queries: &[String],
        printer: &mut Printer<'_>,
    ) -> anyhow::Result<()> {
        let before = self.files.len();
        self.files.retain(|file| {
            !queries.is_empty() && !queries.iter().any(|query| fits(query, &file.named))
        });
        self.keep_open();
        let gone = before - self.files.len();
        ensure!(
            gone > 0 || queries.is_empty(),
            "no loaded file matches {}",
            queries.join(" ")
        );
        printer.line(&format!("{gone} unloaded, {} left", self.files.len()))?;
        Ok(())
    }

    /// Returns the extracts of the loaded files that queries match, or of all. Traces are extracted
    /// first.
    pub(super) fn choose(
        &mut self,
        queries: &[String],
        printer: &mut Printer<'_>,
    ) -> anyhow::Result<Vec<PathBuf>> {
        if self.files.is_empty() {
            bail!("nothing is loaded: .load FILE loads an extract or a trace");
        }
        let is_chosen = |file: &Loaded| {
            queries.is_empty() || queries.iter().any(|query| fits(query, &file.named))
        };
        let all = self.files.len();
        let mut chosen = Vec::new();
        for file in self.files.iter_mut().filter(|file| is_chosen(file)) {
            let extract = match file.extract.take() {
                Some(extract) => extract,
                None => std::path::absolute(extract_of(&file.named, printer)?)?,
            };
            file.extract = Some(extract.clone());
            chosen.push(extract);
        }
        ensure!(
            !chosen.is_empty(),
            "no loaded file matches -fd {}",
            queries.join(" -fd ")
        );
        if chosen.len() == all && all > 1 && !queries.is_empty() {
            printer.note(&format!(
                "all {all} loaded files match -fd {}",
                queries.join(" -fd ")
            ));
        }
        self.keep_open();
        Ok(chosen)
    }

    /// Returns the traces of the loaded files: themselves, or the traces next to extracts or above
    /// their folder.
    pub(super) fn traces(&self) -> anyhow::Result<Vec<PathBuf>> {
        self.files
            .iter()
            .map(|file| trace_of(&file.named))
            .collect()
    }

    pub(super) fn list(&self, printer: &mut Printer<'_>) -> anyhow::Result<()> {
        let row = |file: &Loaded| {
            let manifest = file
                .extract
                .as_deref()
                .and_then(|path| Extract::open(path).ok());
            let (start, bytes) = manifest.map_or_else(Default::default, |extract| {
                let manifest = extract.manifest();
                let start = manifest.clock.start_utc.replace('T', " ");
                let bytes: u64 = manifest.tables.values().map(|table| table.bytes).sum();
                (
                    start.get(..19).unwrap_or(&start).to_owned(),
                    grouped(bytes.div_ceil(1_000_000)),
                )
            });
            [start, bytes, file.named.display().to_string()]
        };
        if !self.files.is_empty() {
            printer.table(&Table::of(
                "Recorded (UTC)|MB>|File",
                self.files.iter().map(row),
            ))?;
        }
        let loaded = self.files.len();
        let open = self.engine.pool().open_count();
        printer.line(&format!("{loaded} loaded, {open} open"))?;
        Ok(())
    }

    /// Closes all extracts, so that files can be replaced. The next query opens them again.
    pub(super) fn close(&self) {
        // The pool closes extracts that are no longer wanted.
        self.engine.pool().want([]);
        self.keep_open();
    }

    fn keep_open(&self) {
        self.engine.pool().want(self.extracts().map(Path::to_owned));
    }
}

fn trace_of(named: &Path) -> anyhow::Result<PathBuf> {
    if is_trace(named) {
        return Ok(named.to_owned());
    }
    let extract = Extract::open(named).map_err(etwkit_sql::Error::from)?;
    let file = extract.manifest().source.files.first();
    // A name without folders, even if the manifest has some.
    let name = file.map(|file| file.archive.as_ref().unwrap_or(&file.name));
    let name = name.and_then(|name| Path::new(name).file_name());
    // The folder of the extract, and the folder above it.
    let folders = named.ancestors().skip(1).take(2);
    let mut traces = folders
        .filter_map(|folder| Some(folder.join(name?)))
        .filter(|path| path.is_file());
    traces.next().with_context(|| {
        format!(
            "the trace of {} is neither next to it nor in the folder above: name it",
            named.display()
        )
    })
}
