//! State that all calls share, and state of a single call.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use etwkit_engine::{Asking, Engine};
use etwkit_sql::Session;
use etwkit_terminal::Exit;

use crate::mcp::problem::{Problem, Result};
use crate::mcp::tool::Tool;
use crate::mcp::traces::{Trace, Traces};
use crate::{Limits, Running, WorkerPool, said};

/// Longest time of a call with one question.
pub(crate) const QUESTION: Duration = Duration::from_secs(180);

/// Longest time of a call that runs all rules.
pub(crate) const DIAGNOSIS: Duration = Duration::from_secs(600);

/// Longest time of a call that extracts a trace.
pub(crate) const EXTRACTION: Duration = Duration::from_secs(3600);

/// Runs a command line of ETWAnalyzer, given as words without the name of the program. The answer
/// goes to the first writer, notes and errors to the second one.
pub type RunLine =
    Arc<dyn Fn(&[String], &Asking, &mut dyn Write, &mut dyn Write) -> Exit + Send + Sync>;

/// State that all calls share.
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) workers: WorkerPool,
    pub(crate) tools: Vec<Tool>,
    pub(crate) traces: Traces,
    /// Folders whose files may be opened, without links in their paths; empty if all may.
    folders: Vec<PathBuf>,
    /// Files that `etw_load` has loaded.
    pub(crate) loaded: Mutex<Vec<PathBuf>>,
    /// The page, after the first request for a link.
    pub(crate) page: Mutex<Option<Running>>,
    pub(crate) run_line: RunLine,
}

impl Shared {
    pub(crate) fn new(
        engine: Engine,
        tools: Vec<Tool>,
        folders: Vec<PathBuf>,
        run_line: RunLine,
    ) -> Arc<Self> {
        Arc::new(Self {
            engine,
            folders,
            workers: WorkerPool::new(Limits::default().question_bytes),
            tools,
            traces: Traces::default(),
            loaded: Mutex::default(),
            page: Mutex::default(),
            run_line,
        })
    }

    /// Checks that a file is in one of the folders that were named. Links count as what they lead to.
    ///
    /// # Errors
    /// It is in none of them.
    pub(crate) fn check_place(&self, path: &Path) -> Result<()> {
        if self.folders.is_empty() {
            return Ok(());
        }
        let real = path
            .canonicalize()
            .map_err(|error| Problem::bad(said(&error)))?;
        if self.folders.iter().any(|folder| real.starts_with(folder)) {
            return Ok(());
        }
        let folders: Vec<String> = self
            .folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        let message = format!("{} may not be opened", path.display());
        let hint = format!("this server opens files in {}", folders.join(", "));
        Err(Problem::bad(message).with_hint(hint))
    }

    /// Keeps extracts open, since they are queried again and again.
    pub(crate) fn keep_open(&self) {
        self.engine
            .pool()
            .want(self.traces.all().iter().map(|trace| trace.extract.clone()));
    }
}

/// A call, on the thread that answers it.
#[derive(Clone, Copy)]
pub(crate) struct Call<'c> {
    pub(crate) shared: &'c Shared,
    pub(crate) asking: &'c Asking,
}

impl Call<'_> {
    /// Opens a session for one question.
    pub(crate) fn session(&self, trace: &Trace) -> Result<Session> {
        let extract = std::slice::from_ref(&trace.extract);
        Ok(self
            .shared
            .engine
            .open(self.asking, extract, &mut Vec::new())?)
    }
}
