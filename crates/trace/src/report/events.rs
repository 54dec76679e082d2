//! Single events, decoded.

use std::ops::ControlFlow;
use std::sync::Arc;

use etwkit_decode::{Decoder, Descriptions};
use etwkit_etl::{Identity, Order, RawEvent, Session};

pub use super::filter::{EventFilter, NameFilter, ProviderFilter};
pub use super::row::EventRow;

use super::counts::{CountReport, EventCounts, Names};
use super::damage::{self, DamageReport};
use super::row::{Row, Rows};
use crate::counts::Counts;
use crate::directory::DirectoryBuilder;
use crate::health;
use crate::table::Diagnostic;

/// The events of a session, after a first pass over all of them: names and descriptions of events
/// can be anywhere in a trace.
pub struct Events<'s> {
    session: &'s Session,
    rows: Rows<'s>,
    /// Raw time of the last event.
    last: Option<i64>,
}

/// The data at the end of a list of events.
#[derive(Debug, Clone)]
pub struct EventListing {
    /// Number of listed events.
    pub events: u64,
    /// Messages of WPP among them without their text.
    pub without_format: u64,
    /// Damage in the files, as far as they were read.
    pub damage: DamageReport,
    /// Lost and missing data, in words.
    pub gaps: Vec<Diagnostic>,
}

/// The handling of an event.
enum Step {
    /// The event is not wanted.
    Pass,
    /// Neither it nor any later one is wanted.
    Over,
    /// The event is wanted.
    Take(Row),
}

/// The application of a filter in one pass over a session.
struct Choice<'f> {
    filter: &'f EventFilter<'f>,
    /// Raw ticks of the first and last event that may be wanted.
    ticks: (i64, i64),
    /// True if events come in order of time.
    in_order: bool,
    taken: u64,
}

impl Choice<'_> {
    fn step(&mut self, event: &RawEvent<'_>, rows: &mut Rows<'_>) -> Step {
        let (first, last) = self.ticks;
        let is_full = self.filter.limit.is_some_and(|limit| self.taken >= limit);
        // Only in order of time does an event after the range prove that no later one is wanted.
        if is_full || (self.in_order && event.timestamp > last) {
            return Step::Over;
        }
        if !(first..=last).contains(&event.timestamp) {
            rows.pass_over(event);
            return Step::Pass;
        }
        let row = rows.row(event);
        if !self.filter.includes(&row) {
            return Step::Pass;
        }
        self.taken += 1;
        Step::Take(row)
    }
}

impl<'s> Events<'s> {
    /// Reads the session once. `descriptions` are the descriptions of events from files.
    ///
    /// # Errors
    /// [`etwkit_etl::Error::Io`] if the system cannot read a file.
    pub fn open(session: &'s Session, descriptions: Arc<Descriptions>) -> etwkit_etl::Result<Self> {
        let mut decoder = Decoder::new();
        let mut builder = DirectoryBuilder::default();
        let mut last = None;
        session.for_each(Order::Time, |event| {
            last = last.max(Some(event.timestamp));
            decoder.observe(event);
            builder.observe(event);
            ControlFlow::Continue(())
        })?;
        decoder.finish_observing();
        decoder.give(descriptions);
        let directory = builder.finish(session.pointer_size(), session.clock().frequency);
        Ok(Self {
            session,
            rows: Rows::new(decoder, directory, session.clock()),
            last,
        })
    }

    /// Lost and missing data, in words, as far as known before events are read.
    #[must_use]
    pub fn gaps(&self) -> Vec<Diagnostic> {
        health::of(self.session, self.session.damage(), self.last)
    }

    /// Calls `on_row` with the wanted events in order of time, until it stops.
    ///
    /// # Errors
    /// [`etwkit_etl::Error::Io`] if the system cannot read a file.
    pub fn list(
        mut self,
        filter: &EventFilter<'_>,
        mut on_row: impl FnMut(&EventRow) -> ControlFlow<()>,
    ) -> etwkit_etl::Result<EventListing> {
        let mut choice = self.choice(filter, true);
        let mut without_format = 0;
        let pass = self.session.for_each(Order::Time, |event| {
            let row = match choice.step(event, &mut self.rows) {
                Step::Over => return ControlFlow::Break(()),
                Step::Pass => return ControlFlow::Continue(()),
                Step::Take(row) => row,
            };
            let is_message = matches!(event.identity(), Identity::Message { .. });
            without_format += u64::from(is_message && row.plan.is_none());
            on_row(&self.rows.decoded(row, event))
        })?;
        let damage = damage::of_pass(self.session, &pass);
        Ok(EventListing {
            events: choice.taken,
            without_format,
            damage: DamageReport::from(&damage),
            gaps: health::of(self.session, &damage, self.last),
        })
    }

    /// Counts the wanted events.
    pub(super) fn count(
        mut self,
        filter: &EventFilter<'_>,
        unordered: bool,
    ) -> etwkit_etl::Result<CountReport> {
        let mut choice = self.choice(filter, !unordered);
        let mut counted = Counts::default();
        let mut first_of_kind = Vec::new();
        let order = if unordered { Order::File } else { Order::Time };
        let pass = self.session.for_each(order, |event| {
            match choice.step(event, &mut self.rows) {
                Step::Over => return ControlFlow::Break(()),
                Step::Pass => {}
                Step::Take(row) => {
                    if counted.add(event) {
                        first_of_kind.push((event.identity(), row.plan));
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        let mut names = Names::of_plans(self.rows.decoder, first_of_kind);
        let damage = damage::of_pass(self.session, &pass);
        Ok(CountReport {
            counts: EventCounts::of(&counted, Some(&mut names)),
            damage: DamageReport::from(&damage),
            gaps: health::of(self.session, &damage, self.last),
        })
    }

    fn choice<'f>(&self, filter: &'f EventFilter<'f>, in_order: bool) -> Choice<'f> {
        Choice {
            filter,
            ticks: filter.ticks(self.rows.clock),
            in_order,
            taken: 0,
        }
    }
}
