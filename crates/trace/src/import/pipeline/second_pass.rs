//! The second pass: every event goes to the importer that claims it.

use std::ops::ControlFlow;
use std::sync::Arc;

use etwkit_base::ordered::joined;
use etwkit_decode::kernel::Hook;
use etwkit_etl::session::Pass;
use etwkit_etl::{Order, RawEvent, Session};

use super::collect::{Collected, SHARE};
use super::context::Context;
use super::identity::first_methods;
use super::importer::{Declaration, Importer, Learned};
use super::job::{ImportError, Imported, Options, Progress, Ticker};
use super::notes;
use super::range::Range;
use super::routes::{Route, Routes};
use super::row_sender::{Batches, RowSender};
use super::rows::Rows;
use super::stacks::Stacks;
use crate::declared::{Recorded, sums};
use crate::import::events::event_count::EventCounter;
use crate::import::recording::machine;
use crate::import::ui::inputs::Inputs;
use crate::out::write_all;
use crate::schedule::{Schedule, starts};
use crate::sink::{Sink, SinkError};
use crate::table::{Diagnostic, Row, Trace};

/// The tables of the recording as a whole, see [`write_trace`].
pub(crate) const DECLARATION: Declaration = Declaration {
    tables: &[sums(Trace::TABLE), sums(Diagnostic::TABLE)],
    ..Declaration::EMPTY
};

/// All importers.
type Declarations = &'static [&'static Declaration];

/// Reads the session again and writes all rows. Events are read on this thread; a second one
/// creates their rows and uses the sink.
pub(crate) fn run(
    session: &Session,
    collected: &mut Collected,
    recorded: Vec<Recorded>,
    (declarations, options): (Declarations, &Options),
    sink: &mut (dyn Sink + Send),
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Imported, ImportError> {
    // Refused before anything is read: an extract without a row would look like a trace without
    // events.
    let range = range_in(session, collected, options.range)?;
    // The tree of keyed stacks is only read from here on. Its index is as large as the tree and is
    // freed.
    collected.directory.stacks.freeze();
    // Taken out, since importers change the decoder while everything else of the first pass is only
    // read.
    let mut decoder = std::mem::take(&mut collected.decoder);
    // Descriptions of other traces come last: what the trace says about itself holds.
    decoder.give(Arc::clone(&options.descriptions));
    let c = &*collected;
    let ids = first_methods(&c.methods);
    let stacks = Stacks::new(
        &c.directory,
        &c.methods,
        (&ids, &c.assemblies),
        &c.directory.stacks,
    );
    let (sender, batches, messages) = RowSender::new();
    // A scope, since both threads borrow the results of the first pass, which may be gigabytes.
    let (read, made) = std::thread::scope(|scope| {
        let maker = std::thread::Builder::new().name("rows".to_owned());
        let maker = maker.spawn_scoped(scope, || Rows::new(stacks).run(messages, sink));
        let maker = maker.map_err(|e| ImportError::Sink(e.into()))?;
        let schedule = Schedule::new(starts(session, &c.directory));
        let reach = (range, options.keep_whole);
        let directory = &c.directory;
        let clock = session.clock();
        let context = Context::new(
            directory,
            clock,
            (decoder, schedule),
            sender,
            c.patience,
            reach,
        );
        let learned = Learned {
            session,
            collected: c,
            keep_payload: options.keep_payload,
        };
        let importers = Importers::new(declarations, learned, context);
        let read = read(learned, importers, batches, progress);
        // Joined even after an error of reading: the sink must not be used by two threads.
        // A panic of the other thread is one of this import, with its message.
        let made = joined(maker);
        Ok::<_, ImportError>((read, made))
    })?;
    // If creating rows failed, reading stopped because of that, and its own error only reports that
    // the receiver is gone.
    let not_listed = made.map_err(ImportError::Sink)?;
    let (pass, inputs, diagnostics) = read?;
    let mut damage = session.damage().clone();
    // The first pass saw damage in headers, this one damage in buffers.
    damage.merge(&pass.damage);
    let mut health = crate::health::of(session, &damage, c.last);
    health.extend(diagnostics);
    health.extend(notes::not_listed(not_listed));
    Ok(Imported {
        trace: trace_row(session, c, &pass, range),
        diagnostics: health,
        recorded,
        inputs,
        pass,
    })
}

/// Returns the part of a trace that is imported.
///
/// # Errors
/// It has no time in common with the trace.
fn range_in(session: &Session, collected: &Collected, wanted: Range) -> Result<Range, ImportError> {
    let duration_ns = session.clock().nanoseconds(collected.end);
    // A cut trace has a part of its own, in which the range has to be.
    let range = wanted.within(collected.directory.cut);
    if range.start_ns > duration_ns || wanted.end_ns < 0 || range.start_ns > range.end_ns {
        return Err(ImportError::EmptyRange {
            duration_s: duration_ns as f64 / 1e9,
        });
    }
    Ok(range)
}

/// Returns the row of the table `trace`.
fn trace_row(session: &Session, c: &Collected, pass: &Pass, range: Range) -> Trace {
    let mut trace = machine::trace(session, &c.config, c.processors, c.end);
    if let Some((first, last)) = c.directory.kernel_times {
        trace.kernel_start_ns = Some(session.clock().nanoseconds(first));
        trace.kernel_end_ns = Some(session.clock().nanoseconds(last));
    }
    let ring_start = c.directory.ring_start;
    trace.ring_start_ns = ring_start.map(|start| session.clock().nanoseconds(start));
    trace.events = pass.events as i64;
    trace.last_event_ns = c.last.map(|last| session.clock().nanoseconds(last));
    trace.decompressed_bytes = c.event_bytes as i64;
    trace.sample_interval_ns = c.sample_interval.map(|interval| i64::from(interval) * 100);
    // Without a range both columns are null, which tells a whole trace from a part.
    if range != Range::ALL {
        trace.range_start_ns = Some(range.clip(0));
        trace.range_end_ns = Some(range.clip(trace.duration_ns));
    }
    trace
}

/// Passes all events to the importers.
fn read(
    learned: Learned<'_>,
    mut all: Importers<'_>,
    mut batches: Batches,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Pass, Inputs, Vec<Diagnostic>), ImportError> {
    let session = learned.session;
    let c = learned.collected;
    let clock = session.clock();
    let length = c.end.saturating_sub(clock.t0).max(1) as f64;
    let mut ticker = Ticker {
        progress,
        start: clock.t0,
        length,
        from: SHARE,
        share: 1.0 - SHARE,
        events: c.events,
    };
    let mut stopped: Option<ImportError> = None;
    let pass = session.for_each(Order::Time, |event| {
        if let Err(e) = all.event(event, &mut batches) {
            // The error is kept here, since the callback can only stop the pass.
            stopped = Some(ImportError::Sink(e));
            return ControlFlow::Break(());
        }
        let flow = ticker.tick(event.timestamp);
        if flow.is_break() {
            stopped = Some(ImportError::Interrupted);
        }
        flow
    })?;
    if let Some(e) = stopped {
        return Err(e);
    }
    let (inputs, diagnostics) = all
        .finish(learned, &mut batches)
        .map_err(ImportError::Sink)?;
    // Marks that everything was sent. Without it the other thread takes the end of the channel for
    // a failure.
    batches.end().map_err(ImportError::Sink)?;
    Ok((pass, inputs, diagnostics))
}

/// All importers, and the state that they share.
struct Importers<'a> {
    context: Context<'a>,
    counter: EventCounter,
    routes: Routes,
    all: Vec<Declared<'a>>,
}

/// An importer with its declaration.
type Declared<'a> = (&'static Declaration, Box<dyn Importer + 'a>);

impl<'a> Importers<'a> {
    fn new(declarations: Declarations, learned: Learned<'a>, context: Context<'a>) -> Self {
        let all = declarations
            .iter()
            .map(|declared| (*declared, (declared.make)(learned)));
        let counter = EventCounter::new(learned, context.range);
        Self {
            context,
            counter,
            routes: Routes::new(declarations),
            all: all.collect(),
        }
    }

    #[inline]
    fn event(&mut self, event: &RawEvent<'_>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        // Rows that have waited long enough leave before the event is looked at, so that the line
        // is as short as possible.
        self.context.advance(event.timestamp)?;
        let hook = Hook::of(event);
        let Self {
            routes,
            all,
            context,
            counter,
        } = self;
        // Counted before it is taken: the importer may return early.
        counter.event(hook, event, context, sink)?;
        let route = match hook {
            Some(hook) => routes.of_kernel(hook),
            None => routes.of_other(event),
        };
        if let Some(Route { taker, hearers }) = route {
            // Observers come first: a gap that one of them finds has to be known to the importer
            // that takes this event.
            for hearer in hearers {
                if let Some((declared, importer)) = all.get_mut(*hearer) {
                    context.tables.declare(declared.tables);
                    importer.hear(hook, event, context, sink)?;
                }
            }
            if let Some(taker) = taker.and_then(|taker| all.get_mut(taker))
                && take(taker, hook, event, context, sink)?
            {
                return Ok(());
            }
        }
        // An event that its importer does not show completely also gets a generic row.
        // The last importer gets the events that the others do not show.
        let Some(rest) = all.last_mut() else {
            return Ok(());
        };
        take(rest, hook, event, context, sink).map(|_| ())
    }

    /// Ends all open rows and passes on the rest.
    fn finish(
        self,
        learned: Learned<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(Inputs, Vec<Diagnostic>), SinkError> {
        let mut context = self.context;
        let attached = context.attached();
        // Backwards through the declarations, which end with the catch-all.
        // The importers of processes and threads come last, because rows that the others still
        // write may name further ones.
        for (declared, importer) in self.all.into_iter().rev() {
            context.tables.declare(declared.tables);
            importer.finish(learned, &mut context, sink)?;
        }
        self.counter.finish(&mut context, sink)?;
        context.drain()?;
        context.tables.flush(sink)?;
        Ok((
            // The notes are last, since they report what was dropped until the end.
            context.inputs,
            context
                .notes
                .diagnostics(learned.collected, attached, context.clock),
        ))
    }
}

/// Passes an event to an importer. Returns true if a table shows all of it.
#[inline]
fn take(
    (declared, importer): &mut Declared<'_>,
    hook: Option<Hook>,
    event: &RawEvent<'_>,
    context: &mut Context<'_>,
    sink: &mut dyn Sink,
) -> Result<bool, SinkError> {
    // A table exists in an extract as soon as an event of its kind was recorded, even if it has no
    // row.
    context.tables.declare(declared.tables);
    match hook {
        Some(hook) => importer.kernel(hook, event, context, sink),
        None => importer.other(event, context, sink),
    }
}

/// Writes the two tables that are complete only when everything else is.
///
/// # Errors
/// The errors of the sink.
pub fn write_trace(imported: &Imported, sink: &mut dyn Sink) -> Result<(), SinkError> {
    write_all([imported.trace.clone()], sink)?;
    write_all(imported.diagnostics.iter().cloned(), sink)
}
