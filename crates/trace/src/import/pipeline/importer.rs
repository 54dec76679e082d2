//! The interface of an importer: a declaration, which is plain data, and the handling of the events
//! that it claims.

use etwkit_decode::kernel::Hook;
use etwkit_etl::{RawEvent, Session};

use super::collect::Collected;
use super::context::Context;
use crate::declared::{Events, Filled, Topic};
use crate::sink::{Sink, SinkError};

/// True if a table shows the full content of an event. All other events become rows of
/// `generic_event`.
pub(crate) type IsShown = Result<bool, SinkError>;

/// The results of the first pass, and the recording itself.
#[derive(Clone, Copy)]
pub(crate) struct Learned<'a> {
    pub(crate) session: &'a Session,
    pub(crate) collected: &'a Collected,
    /// True to keep bytes that could not be decoded.
    pub(crate) keep_payload: bool,
}

/// Creates rows from events in the second pass. It gets the events that its [`Declaration`] names.
pub(crate) trait Importer {
    /// Takes a kernel event that it claims. An importer that only declares events of the first pass
    /// does not implement this.
    fn kernel(
        &mut self,
        _hook: Hook,
        _event: &RawEvent<'_>,
        _context: &mut Context<'_>,
        _sink: &mut dyn Sink,
    ) -> IsShown {
        Ok(true)
    }

    /// Takes any other event that it claims.
    fn other(
        &mut self,
        _event: &RawEvent<'_>,
        _context: &mut Context<'_>,
        _sink: &mut dyn Sink,
    ) -> IsShown {
        Ok(true)
    }

    /// Hears of an event before the importer that claims it takes it.
    fn hear(
        &mut self,
        _hook: Option<Hook>,
        _event: &RawEvent<'_>,
        _context: &mut Context<'_>,
        _sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        Ok(())
    }

    /// Writes everything still open when the trace ends.
    fn finish(
        self: Box<Self>,
        _learned: Learned<'_>,
        _context: &mut Context<'_>,
        _sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        Ok(())
    }
}

/// The events that an importer claims and the tables that it fills. Everything else follows from
/// this: the dispatch of events, the tables of an extract, the tables that a summary omits, and the
/// topics that `info` reports as recorded.
pub(crate) struct Declaration {
    /// Events that it alone takes.
    pub(crate) takes: &'static [Events],
    /// Events that it observes, in addition to the importer that takes them.
    pub(crate) hears: &'static [Events],
    /// Tables that it alone fills.
    pub(crate) tables: &'static [Filled],
    /// The topics of its events.
    pub(crate) topics: &'static [Topic],
    /// Creates the importer, between the two passes.
    pub(crate) make: for<'a> fn(Learned<'a>) -> Box<dyn Importer + 'a>,
}

impl Declaration {
    /// Claims and fills nothing: declarations state their own fields and take the rest from it.
    pub(crate) const EMPTY: Self = Self {
        takes: &[],
        hears: &[],
        tables: &[],
        topics: &[],
        make: |_| Box::new(Declared),
    };
}

/// An importer whose tables come from the first pass: it does nothing with single events.
struct Declared;

impl Importer for Declared {}
