//! Cutting a session: a first pass plans which events are kept, and a second pass writes them.

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::ops::ControlFlow;

use etwkit_decode::cut_mark::CutMark;
use etwkit_decode::kernel::Hook;
use etwkit_etl::bytes::align8;
use etwkit_etl::damage::Damage;
use etwkit_etl::writer::WriteError;
use etwkit_etl::{Order, RawEvent, Session};
use etwkit_trace::import::{Progress, Range};

use crate::event_choice::{Choice, Chooser, Facts, Verdict};
use crate::fate::{Fate, fate, is_header};
use crate::losses::{Edges, Losses};
use crate::part::Part;
use crate::plan::{Plan, Planner};
use crate::redact::{KeptTexts, Redacted, Redaction, Redactor, Substitute};
use crate::write::{Copy, Shape};

/// The selection of events to keep, and whether to redact them.
#[derive(Default)]
pub struct Options {
    /// The part of the time; [`Range::ALL`] if it is `None`.
    pub range: Option<Range>,
    /// Processes and providers.
    pub choice: Choice,
    /// The texts that are to be replaced.
    pub redact: Option<Redaction>,
}

/// The result of cutting a session: counts, the part, and damage.
#[derive(Debug, Default)]
pub struct Cut {
    /// Number of events by fate.
    pub events: BTreeMap<Fate, u64>,
    /// Bytes of the records that were kept, decompressed.
    pub bytes: u64,
    /// The part that was cut out.
    pub range: Option<Range>,
    /// The part that the trace was before, if it was cut.
    pub cut_before: Option<Range>,
    /// Different texts that were replaced; `None` if none were to be.
    pub texts: Option<u64>,
    /// Substitutes and originals.
    pub substitutes: Vec<Substitute>,
    /// Texts that a redaction kept, by reason.
    pub kept: KeptTexts,
    /// Damage found in the files.
    pub damage: Damage,
}

impl Cut {
    /// Events that were kept, or dropped.
    #[must_use]
    pub fn total(&self, kept: bool) -> u64 {
        self.events
            .iter()
            .filter(|(fate, _)| fate.is_kept() == kept)
            .map(|(_, count)| count)
            .sum()
    }
}

/// Errors that stop a cut.
#[derive(Debug, thiserror::Error)]
pub enum CutError {
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] etwkit_etl::Error),
    /// The new trace could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The part contains nothing of the trace.
    #[error("the range lies outside the trace, which is {duration_s:.3} s long")]
    EmptyRange {
        /// Length of the trace in seconds.
        duration_s: f64,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Receives the progress, and may stop the work.
pub type OnProgress<'p> = dyn FnMut(Progress) -> ControlFlow<()> + 'p;

/// Events between two reports.
const TICK: u64 = 1 << 14;

/// Cuts a session and writes the kept events into `sink`.
///
/// # Errors
/// [`CutError`]. Damage in the files is not an error, see [`Cut::damage`].
pub fn cut<W: Write + Seek>(
    session: &Session,
    options: &Options,
    sink: W,
    progress: &mut OnProgress<'_>,
) -> Result<(Cut, W), CutError> {
    // The filters need the owners of all events, which one more pass finds.
    let facts = if options.choice.is_all() {
        None
    } else {
        Some(Facts::read(session)?)
    };
    let facts = facts.as_ref();
    let mut losses = Losses::of(session, &[]);
    let mut planned = Work {
        session,
        options,
        facts,
        losses: &losses,
        progress: &mut *progress,
    }
    .plan()?;
    // Damage inside buffers is known only now, and it decides which events have to be kept.
    // The second plan is made only if buffers are damaged inside, which is rare.
    if !planned.damage.losses().is_empty() {
        losses = Losses::of(session, planned.damage.losses());
        planned = Work {
            session,
            options,
            facts,
            losses: &losses,
            progress: &mut *progress,
        }
        .plan()?;
    }
    Work {
        session,
        options,
        facts,
        losses: &losses,
        progress: &mut *progress,
    }
    .write(planned, sink)
}

/// The results of the first pass.
// The second pass writes, by the plan of the first.
struct Planned {
    plan: Plan,
    /// Bytes of records in header buffers.
    header_bytes: usize,
    /// The redactor, if texts are to be replaced.
    redactor: Option<Redactor>,
    /// Damage inside buffers.
    damage: Damage,
}

/// A session that is cut.
struct Work<'w, 'p> {
    session: &'w Session,
    options: &'w Options,
    facts: Option<&'w Facts>,
    losses: &'w Losses,
    progress: &'w mut OnProgress<'p>,
}

impl Work<'_, '_> {
    /// The first pass.
    fn plan(&mut self) -> Result<Planned, CutError> {
        let range = self.options.range.unwrap_or(Range::ALL);
        let mut planner =
            Planner::new(Part::new(range, self.session.clock()), self.facts.is_some());
        let mut edges = Edges::default();
        let mut header_bytes = 0;
        let mut last = i64::MIN;
        // Substitutes may be longer than what they stand for.
        let growth = if self.options.redact.is_some() { 2 } else { 1 };
        let mut redactor = self.options.redact.map(Redactor::new);
        let mut chooser = self
            .facts
            .map(|facts| Chooser::new(&self.options.choice, facts));
        let mut ticker = Ticker::new(self.session, (0.0, 0.5), self.progress);
        let pass = self.session.for_each(Order::Time, |event| {
            let verdict = verdict(chooser.as_mut(), event);
            // Every event is shown, since the plan follows threads and operations through all of
            // them.
            planner.event(event, verdict == Verdict::Wanted);
            edges.event(event, self.losses, planner.needed());
            if let Some(redactor) = &mut redactor {
                redactor.observe(event);
            }
            // Records of header buffers go into the new header buffer, whose size must be known
            // before anything is written.
            if event.buffer == 0 {
                header_bytes += growth * align8(event.record.len());
            }
            // The last event and not the end of the header, which is missing in files that were not
            // closed.
            last = last.max(event.timestamp);
            ticker.tick(event)
        })?;
        if ticker.is_stopped {
            return Err(CutError::Interrupted);
        }
        let clock = self.session.clock();
        let length = clock.nanoseconds(last.max(self.session.ends().0.unwrap_or(i64::MIN)));
        // The length is known only after the pass, because a file that was never closed does not
        // contain it.
        if range.start_ns > length || range.end_ns < 0 && last != i64::MIN {
            return Err(CutError::EmptyRange {
                duration_s: length as f64 / 1e9,
            });
        }
        if let Some(redactor) = &mut redactor {
            redactor.finish_observing();
        }
        // Borrows the facts, which the caller still needs.
        drop(chooser);
        let plan = planner.finish(clock);
        Ok(Planned {
            plan,
            header_bytes,
            redactor,
            damage: pass.damage,
        })
    }

    /// The second pass.
    fn write<W: Write + Seek>(&mut self, planned: Planned, sink: W) -> Result<(Cut, W), CutError> {
        let Planned {
            plan,
            header_bytes,
            mut redactor,
            ..
        } = planned;
        // A filter changes what a buffer holds, so that buffers cannot be copied.
        let is_one = self.session.files().len() == 1 && self.facts.is_none();
        let shape = Shape::of(self.session, header_bytes, |header| {
            if let Some(redactor) = &mut redactor {
                redactor.header(header);
            }
        });
        let shape = shape.ok_or(CutError::Interrupted)?;
        let mut copy = Copy::new(sink, &shape, self.losses, is_one, &plan.part)?;
        let mut cut = Cut {
            range: self.options.range,
            ..Cut::default()
        };
        let mark = plan
            .mark
            .map(|CutMark { start_ns, end_ns }| Range { start_ns, end_ns });
        cut.cut_before = mark;
        let mut chooser = self
            .facts
            .map(|facts| Chooser::new(&self.options.choice, facts));
        let mut failed = None;
        let mut ticker = Ticker::new(self.session, (0.5, 1.0), self.progress);
        // One file is copied buffer by buffer, which keeps the order of its events. The filters
        // need the order of time, because they follow which thread runs.
        let order = if is_one { Order::File } else { Order::Time };
        let pass = self.session.for_each(order, |event| {
            let fate = fate(event, &plan, verdict(chooser.as_mut(), event));
            // Kept here, since the callback can only stop the pass.
            if let Err(error) = one(event, fate, redactor.as_mut(), &mut copy, &mut cut) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            ticker.tick(event)
        })?;
        if ticker.is_stopped {
            return Err(CutError::Interrupted);
        }
        if let Some(error) = failed {
            return Err(error.into());
        }
        cut.damage = self.session.damage().clone();
        cut.damage.merge(&pass.damage);
        if let Some(redactor) = redactor {
            cut.texts = Some(redactor.texts());
            (cut.substitutes, cut.kept) = redactor.into_table();
        }
        let sink = copy.finish(shape.end_time())?;
        Ok((cut, sink))
    }
}

/// Writes or drops an event, and counts it.
fn one<W: Write + Seek>(
    event: &RawEvent<'_>,
    mut fate: Fate,
    redactor: Option<&mut Redactor>,
    copy: &mut Copy<'_, W>,
    cut: &mut Cut,
) -> Result<(), WriteError> {
    if fate.is_kept() {
        let redacted = redactor.map_or(Redacted::AsItIs, |redactor| redactor.event(event));
        match redacted {
            Redacted::AsItIs => copy.event(event)?,
            Redacted::Record(record) => copy.event(&RawEvent {
                record: &record,
                ..*event
            })?,
            // An event that is not understood may hold a name, so that it is dropped and not
            // copied.
            Redacted::NotUnderstood => fate = Fate::NotUnderstood,
        }
    }
    if fate.is_kept() {
        cut.bytes += align8(event.record.len()) as u64;
    }
    // The header of the first file is written anew, so it counts as a kept event.
    let is_rewritten = is_header(Hook::of(event)) && event.buffer == 0 && event.file == 0;
    // The count has to add up to the events of the trace.
    let counted = if is_rewritten { Fate::Describing } else { fate };
    *cut.events.entry(counted).or_default() += 1;
    Ok(())
}

fn verdict(chooser: Option<&mut Chooser<'_>>, event: &RawEvent<'_>) -> Verdict {
    chooser.map_or(Verdict::Wanted, |chooser| chooser.verdict(event))
}

/// Reports how far a pass is, by the bytes of buffers or by time.
struct Ticker<'t, 'p> {
    progress: &'t mut OnProgress<'p>,
    from: f64,
    to: f64,
    events: u64,
    start: i64,
    length: f64,
    is_stopped: bool,
}

impl<'t, 'p> Ticker<'t, 'p> {
    fn new(session: &Session, (from, to): (f64, f64), progress: &'t mut OnProgress<'p>) -> Self {
        let start = session.clock().t0;
        let length = session
            // At least one tick, as it is a divisor.
            .ends()
            .0
            .map_or(1.0, |end| end.saturating_sub(start).max(1) as f64);
        Self {
            progress,
            from,
            to,
            events: 0,
            start,
            length,
            is_stopped: false,
        }
    }

    fn tick(&mut self, event: &RawEvent<'_>) -> ControlFlow<()> {
        self.events += 1;
        if !self.events.is_multiple_of(TICK) {
            return ControlFlow::Continue(());
        }
        // Damaged times may lie outside of the trace.
        let part =
            (event.timestamp.saturating_sub(self.start) as f64 / self.length).clamp(0.0, 1.0);
        let done = self.from + (self.to - self.from) * part;
        let flow = (self.progress)(Progress {
            done,
            events: self.events,
        });
        self.is_stopped |= flow.is_break();
        flow
    }
}
