//! Events → rows of all tables, in two walks over a session.
//!
//! - [`collect`](self): the first walk, which learns what names and addresses mean
//! - `context`, `line`, `arena`, `identity`: what all importers share
//! - `outbox`, `rows`, `stacks`, `nodes`: what becomes of their rows, on a second thread
//! - `samples`, `switches`, `dpc`, `calls`, `io`, `net`, `dns`, `tcp`, `registry`, `handles` (with `objects`), `maps`, `memory`, `virtual_memory`, `settings`,
//!   `win32k` (with `user_lock`, `gdi_user` and `focus`), `screenshots`, `standby`, `loggers`, `dotnet`, `generic`, `machine`: one importer for each topic
//!
//! The second walk reads events in time order and hands rows on in batches, so that memory does not grow with the trace.

mod affinity;
mod arena;
mod assemblies;
mod calls;
mod clip;
mod collect;
mod context;
mod cores;
mod counters;
mod dns;
mod dotnet;
mod dpc;
mod focus;
mod gdi_user;
mod generic;
mod given;
mod handles;
mod identity;
mod io;
mod line;
mod loggers;
mod machine;
mod maps;
mod memory;
mod net;
mod nodes;
mod object_types;
mod objects;
mod outbox;
mod power;
mod registry;
mod rows;
mod samples;
pub mod screenshots;
mod settings;
mod stacks;
mod standby;
mod switches;
mod tables;
mod tcp;
mod tcp_connection;
mod user_lock;
mod virtual_memory;
mod walk;
mod win32k;

use std::ops::ControlFlow;
use std::sync::Arc;

use etwkit_decode::Descriptions;
use etwkit_etl::Session;
use etwkit_etl::session::Walk;

pub use context::Range;
pub use walk::write_trace;

use crate::sink::{Sink, SinkError};
use crate::summary::Recorded;
use crate::table::{Diagnostic, Trace};

/// What is extracted.
#[derive(Debug, Clone)]
pub struct Options {
    /// Rows outside are left out: points in time that lie outside, operations that began outside, and stays of threads that do not
    /// reach into it. Stays and waits that reach beyond are told as if the trace began and ended with the range.
    pub range: Range,
    /// Whether stays of threads, with the wait before, belong whole to the range in which they begin, as operations do.
    pub keep_whole: bool,
    /// Whether bytes that could not be decoded are kept.
    pub keep_payload: bool,
    /// What files say of events.
    pub descriptions: Arc<Descriptions>,
}

impl Default for Options {
    fn default() -> Self {
        Self { range: Range::ALL, keep_whole: false, keep_payload: true, descriptions: Arc::default() }
    }
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Part of the work that is done, 0 to 1.
    pub done: f64,
    /// Events read so far, in both walks.
    pub events: u64,
}

/// What an import found out about the trace as a whole.
#[derive(Debug)]
pub struct Imported {
    /// The row of the table `trace`; name of the file and sizes on disk are for the caller to fill in.
    pub trace: Trace,
    /// The rows of the table `diagnostic`.
    pub diagnostics: Vec<Diagnostic>,
    /// What was recorded and what not.
    pub recorded: Vec<Recorded>,
    /// Clicks and keys that pictures of the screen belong to.
    pub inputs: screenshots::Inputs,
    /// What the second walk met.
    pub walk: Walk,
}

/// What stops an import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] etwkit_etl::Error),
    /// The receiver of the rows failed.
    #[error(transparent)]
    Sink(SinkError),
    /// Nothing of the trace lies in the range.
    #[error("the range lies outside the trace, which is {duration_s:.3} s long")]
    EmptyRange {
        /// Length of the trace in seconds.
        duration_s: f64,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Reads a session twice and hands, from a thread of its own, the rows of all tables but `trace` and `diagnostic` to `sink`. `progress` is called every few
/// thousand events and can stop the import.
///
/// # Errors
/// [`ImportError`]: a file that cannot be read, a sink that fails, or the caller stops. Damage is no error: it is counted in
/// [`Imported::diagnostics`].
pub fn import(
    session: &Session,
    options: &Options,
    sink: &mut (dyn Sink + Send),
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Imported, ImportError> {
    let mut collected = collect::collect(session, progress)?;
    walk::walk(session, &mut collected, options, sink, progress)
}

/// Tells the caller how far the work is.
struct Ticker<'p> {
    progress: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
    start: i64,
    length: f64,
    /// Where this walk begins and how much of the whole it is.
    from: f64,
    share: f64,
    events: u64,
}

/// Events between two calls.
const TICK: u64 = 1 << 14;

impl Ticker<'_> {
    /// Counts an event.
    #[inline]
    fn tick(&mut self, time: i64) -> ControlFlow<()> {
        self.events += 1;
        if self.events.is_multiple_of(TICK) { self.tell(time) } else { ControlFlow::Continue(()) }
    }

    /// Goes to the event of that number.
    fn reach(&mut self, events: u64, time: i64) -> ControlFlow<()> {
        let before = std::mem::replace(&mut self.events, events);
        if before / TICK == events / TICK { ControlFlow::Continue(()) } else { self.tell(time) }
    }

    fn tell(&mut self, time: i64) -> ControlFlow<()> {
        let part = (time.saturating_sub(self.start) as f64 / self.length).clamp(0.0, 1.0);
        (self.progress)(Progress { done: self.from + self.share * part, events: self.events })
    }
}
