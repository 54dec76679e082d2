//! The engine, and the settings of the running command for its queries.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use etwkit_engine::{Asking, Engine, Extracting, Progress};
use etwkit_sql::Cancel;
use etwkit_terminal::interrupt::Stoppable;
use indicatif::ProgressBar;

use crate::pace::Pace;

/// Settings of a command's queries. The engine belongs to the program, and the rest to the command.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) engine: Engine,
    pub(crate) asking: Asking,
}

impl Context {
    /// Creates the context of a command that `cancel` cancels.
    pub(crate) fn new(engine: &Engine, cancel: &Cancel) -> Self {
        let progress = Arc::new(Listener::default());
        let asking = Asking {
            cancel: cancel.clone(),
            progress,
            ..Asking::default()
        };
        Self {
            engine: engine.clone(),
            asking,
        }
    }
}

/// A command that only the end of the process cancels.
impl Default for Context {
    fn default() -> Self {
        Self::new(&Engine::default(), &Cancel::default())
    }
}

/// Shows the progress of a query, if it has a bar, and ends extractions at Ctrl-C.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    pub(crate) bar: Option<ProgressBar>,
    /// True to write notes about long extractions.
    pub(crate) wants_notes: bool,
}

impl Progress for Listener {
    fn asked(&self, done: usize, _of: usize) {
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }

    fn extracting(&self, trace: &Path) -> Extracting {
        // Ctrl-C ends the process at once unless work has started that can stop in order.
        let stoppable = Stoppable::begin();
        let what = format!("extracting {}", trace.display());
        let mut pace = Pace::begin(&what, self.wants_notes);
        Box::new(move |progress| {
            if let Some(pace) = &mut pace {
                pace.at(progress.done);
            }
            match stoppable.is_asked_to_stop() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
    }
}
