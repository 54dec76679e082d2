//! What an importer is: a declaration, which is plain data, and what it does with the events that it claims.

use etwkit_decode::kernel::Hook;
use etwkit_etl::{RawEvent, Session};

use super::collect::Collected;
use super::context::Context;
use crate::declared::{Events, Filled, Topic};
use crate::sink::{Sink, SinkError};

/// Whether a table shows all that an event says. What no table shows becomes a row of `generic_event`.
pub(super) type IsShown = Result<bool, SinkError>;

/// What the first pass learned, and the recording itself.
#[derive(Clone, Copy)]
pub(super) struct Learned<'a> {
    pub(super) session: &'a Session,
    pub(super) collected: &'a Collected,
    /// Whether bytes that could not be decoded are kept.
    pub(super) keep_payload: bool,
}

/// Makes rows of events in the second pass. It gets the events that its [`Declaration`] names.
pub(super) trait Importer {
    /// Takes a kernel event that it claims. An importer that only declares what the first pass has dealt with
    /// leaves this as it is.
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

    /// Writes what is still open when the trace ends.
    fn finish(
        self: Box<Self>,
        _learned: Learned<'_>,
        _context: &mut Context<'_>,
        _sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        Ok(())
    }
}

/// What an importer claims and fills. Nothing else has to be said about it: who gets which event, which
/// tables an extract has, which of them a summary leaves out, and what `info` says was recorded all follow
/// from this.
pub(crate) struct Declaration {
    /// Events that it alone takes.
    pub(super) takes: &'static [Events],
    /// Events that it hears of, whoever takes them.
    pub(super) hears: &'static [Events],
    /// Tables that it alone fills.
    pub(crate) tables: &'static [Filled],
    /// What its events are about.
    pub(crate) topics: &'static [Topic],
    /// Makes the importer, between the two passes.
    pub(super) make: for<'a> fn(Learned<'a>) -> Box<dyn Importer + 'a>,
}

impl Declaration {
    /// Claims and fills nothing: declarations name what they have and take the rest from it.
    pub(super) const EMPTY: Self = Self {
        takes: &[],
        hears: &[],
        tables: &[],
        topics: &[],
        make: |_| Box::new(Declared),
    };
}

/// An importer whose tables come from what the first pass learned: it has nothing to do with single events.
struct Declared;

impl Importer for Declared {}
