//! An import as its caller sees it: options, progress, result and errors.

use std::ops::ControlFlow;
use std::sync::Arc;

use etwkit_decode::Descriptions;
use etwkit_etl::session::Pass;

use super::range::Range;
use crate::declared::Recorded;
use crate::import::ui::inputs::Inputs;
use crate::sink::SinkError;
use crate::table::{Diagnostic, Trace};

/// Options of an import.
#[derive(Debug, Clone)]
pub struct Options {
    /// Rows outside are omitted: points in time outside the range, operations that started outside,
    /// and slices of threads that do not reach into it. Slices and waits that extend beyond the
    /// range are written as if the trace started and ended with the range.
    pub range: Range,
    /// True if a scheduling slice, with its preceding wait, belongs as a whole to the range in
    /// which it starts, as an operation does.
    pub keep_whole: bool,
    /// True to keep bytes that could not be decoded.
    pub keep_payload: bool,
    /// Descriptions of events from files.
    pub descriptions: Arc<Descriptions>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            range: Range::ALL,
            keep_whole: false,
            keep_payload: true,
            descriptions: Arc::default(),
        }
    }
}

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Part of the work that is done, 0 to 1.
    pub done: f64,
    /// Events read so far, in both passes.
    pub events: u64,
}

/// The results of an import for the trace as a whole.
#[derive(Debug)]
pub struct Imported {
    /// The row of the table `trace`; name of the file and sizes on disk are for the caller to fill
    /// in.
    pub trace: Trace,
    /// The rows of the table `diagnostic`.
    pub diagnostics: Vec<Diagnostic>,
    /// The topics, recorded or not.
    pub recorded: Vec<Recorded>,
    /// Clicks and keys that screenshots belong to.
    pub inputs: Inputs,
    /// The result of the second pass.
    pub pass: Pass,
}

/// Errors that stop an import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] etwkit_etl::Error),
    /// The receiver of the rows failed.
    #[error(transparent)]
    Sink(SinkError),
    /// The range contains nothing of the trace.
    #[error("the range lies outside the trace, which is {duration_s:.3} s long")]
    EmptyRange {
        /// Length of the trace in seconds.
        duration_s: f64,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Reports to the caller how far the work is.
pub(crate) struct Ticker<'p> {
    pub(crate) progress: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
    pub(crate) start: i64,
    pub(crate) length: f64,
    /// Progress at the start of this pass, and its share of the whole.
    pub(crate) from: f64,
    pub(crate) share: f64,
    pub(crate) events: u64,
}

/// Events between two calls.
const TICK: u64 = 1 << 14;

impl Ticker<'_> {
    /// Counts an event.
    #[inline]
    pub(crate) fn tick(&mut self, time: i64) -> ControlFlow<()> {
        self.events += 1;
        if self.events.is_multiple_of(TICK) {
            self.report(time)
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Advances to the event with this number.
    pub(crate) fn reach(&mut self, events: u64, time: i64) -> ControlFlow<()> {
        let before = std::mem::replace(&mut self.events, events);
        // Numbers may skip the multiples of a tick, so the tick that they fall into is compared.
        if before / TICK == events / TICK {
            ControlFlow::Continue(())
        } else {
            self.report(time)
        }
    }

    fn report(&mut self, time: i64) -> ControlFlow<()> {
        let part = (time.saturating_sub(self.start) as f64 / self.length).clamp(0.0, 1.0);
        (self.progress)(Progress {
            done: self.from + self.share * part,
            events: self.events,
        })
    }
}
