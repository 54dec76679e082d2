//! State that all calls share, and state of a single call.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use etwkit_engine::{Asking, Engine};
use etwkit_query::Session;
use etwkit_server::{Desk, Limits, Running};
use etwkit_terminal::Exit;

use crate::problem::Result;
use crate::tool::Tool;
use crate::traces::{Trace, Traces};

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
    pub(crate) desk: Desk,
    pub(crate) tools: Vec<Tool>,
    pub(crate) traces: Traces,
    /// Files that `etw_load` has loaded.
    pub(crate) loaded: Mutex<Vec<PathBuf>>,
    /// The page, after the first request for a link.
    pub(crate) page: Mutex<Option<Running>>,
    pub(crate) run_line: RunLine,
}

impl Shared {
    pub(crate) fn new(engine: Engine, tools: Vec<Tool>, run_line: RunLine) -> Arc<Self> {
        Arc::new(Self {
            engine,
            desk: Desk::new(Limits::default().question_bytes),
            tools,
            traces: Traces::default(),
            loaded: Mutex::default(),
            page: Mutex::default(),
            run_line,
        })
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
