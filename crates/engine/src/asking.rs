//! The settings of one question.

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use etwkit_extract::Described;
use etwkit_sql::Cancel;
use etwkit_sql::rename::RenameRules;
use etwkit_trace::import;
use etwkit_trace::tags::TagSet;

/// The settings of one question, which travel with it. Copies have the same switch and report to
/// the same listener.
#[derive(Debug, Clone)]
pub struct Asking {
    /// Rules for the names of processes; the default is the names of the executables.
    pub process_names: Option<Arc<RenameRules>>,
    /// Descriptions of the events of traces that have to be extracted first.
    pub described: Described,
    /// Sets of stack tags that the function `stack_tag` knows; the default is the built-in one.
    pub tags: Arc<[TagSet]>,
    /// Memory and threads for the question; the default is [`Resources::default`].
    pub resources: Resources,
    /// Gives up this question, and no other one.
    pub cancel: Cancel,
    /// Receives the progress of the question.
    pub progress: Arc<dyn Progress>,
}

impl Default for Asking {
    fn default() -> Self {
        Self {
            process_names: None,
            described: Described::default(),
            tags: Arc::new([]),
            resources: Resources::default(),
            cancel: Cancel::default(),
            progress: Arc::new(Silent),
        }
    }
}

/// Limits of memory and threads of a question, if they differ from the defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// Bytes for sorting, grouping and joining, see
    /// [`Options::memory_bytes`](etwkit_sql::Options).
    pub memory_bytes: Option<usize>,
    /// Threads that compute, see [`Options::partitions`](etwkit_sql::Options).
    pub threads: Option<usize>,
}

/// Receives the steps of an extraction, and returns whether it continues.
pub type Extracting = Box<dyn FnMut(import::Progress) -> ControlFlow<()>>;

/// Receives the progress of a question.
pub trait Progress: fmt::Debug + Send + Sync {
    /// Called when `done` of `of` extracts have been queried: their answers are taken next, on the
    /// same thread.
    fn asked(&self, _done: usize, _of: usize) {}

    /// Called before a trace is extracted. The returned listener gets the steps, and is dropped at
    /// the end.
    fn extracting(&self, _trace: &Path) -> Extracting {
        Box::new(|_| ControlFlow::Continue(()))
    }
}

/// A listener that ignores everything.
#[derive(Debug)]
struct Silent;

impl Progress for Silent {}
