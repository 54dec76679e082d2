//! The focus: the time that each thread and process had it.
//!
//! One kind of events reports threads, three others report processes: the change, the loss of the
//! focus and its gain. Any of them may be recorded without the others. So threads and processes are
//! followed separately, and a change that is reported twice counts once.

use std::collections::BTreeMap;

use etwkit_decode::win32k::Focus;

use crate::import::pipeline::{Context, key};
use crate::sink::{Sink, SinkError};
use crate::table::FocusChange;
use crate::tracker::process::ProcessKey;

/// Twice the maximum number of terminal sessions, because each has two levels. A trace with more of
/// them is malicious.
const MAX_SESSIONS: usize = 1 << 16;

/// The object of a report: threads or processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Thread,
    Process,
}

/// A thread or a process that has the focus.
#[derive(Debug, Clone, Copy)]
struct Holder {
    /// ID of the thread or process.
    id: u32,
    process: Option<ProcessKey>,
    thread_key: Option<i32>,
}

/// Start or end of a stay.
#[derive(Debug, Clone, Copy)]
enum Edge {
    /// Nanoseconds.
    Reported(i64),
    /// The start or end of the trace.
    Trace,
    /// Inside the trace, at an unknown time.
    Lost,
}

/// The holder of a session's focus.
#[derive(Debug, Clone, Copy)]
enum FocusState {
    /// Unknown, since before the trace.
    Unknown,
    /// Nowhere, since the one with that ID lost it.
    Nobody(u32),
    /// There.
    Held(Holder, Edge),
}

/// A session, if it is known.
type Session = Option<i32>;

/// Follows the focus of each session.
#[derive(Debug, Default)]
pub(super) struct Foci {
    places: BTreeMap<(Level, Session), FocusState>,
    /// Session of the last change of threads whose session was known.
    last: Session,
}

/// A stay of the focus.
struct Stay {
    level: Level,
    session: Session,
    holder: Holder,
    from: Edge,
    to: Edge,
}

impl Foci {
    /// Takes a change; `logger` is the process that logged it.
    pub(super) fn event(
        &mut self,
        read: Focus,
        time: i64,
        logger: Option<ProcessKey>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let process = |pid: u32| Holder {
            id: pid,
            // Zero is no process here: the focus is nowhere.
            process: Some(pid)
                .filter(|pid| *pid != 0)
                .and_then(|pid| context.directory.process_at(pid, time)),
            thread_key: None,
        };
        let (level, session, old, new) = match read {
            Focus::Threads(old, new) => {
                let old = thread(old, time, context);
                let new = thread(new, time, context);
                // The new holder is asked first. The process that logged the event may be a service
                // of the window manager.
                let known = [new.process, old.process, logger].into_iter().flatten();
                // The events of threads name no session: it is the session of one of the processes,
                // otherwise of the previous change.
                let session = known
                    .filter_map(|process| session_of(process, context))
                    .next()
                    .or(self.last);
                // Kept for changes whose processes are unknown: nearly all traces have one session.
                self.last = session;
                (Level::Thread, session, Some(old), Some(new))
            }
            Focus::Processes(session, old, new) => (
                Level::Process,
                Some(session.cast_signed()),
                // The event of processes names its session, so nothing has to be guessed.
                Some(process(old)),
                Some(process(new)),
            ),
            Focus::Gained(session, new) => (
                Level::Process,
                Some(session.cast_signed()),
                None,
                Some(process(new)),
            ),
            Focus::Lost(session, old) => (
                Level::Process,
                Some(session.cast_signed()),
                Some(process(old)),
                None,
            ),
        };
        let known = self.places.get(&(level, session)).copied();
        // A session that is known goes on being followed at the limit.
        if known.is_none() && self.places.len() >= MAX_SESSIONS {
            return Ok(());
        }
        let ns = context.ns(time);
        let stay = |holder, from, to| Stay {
            level,
            session,
            holder,
            from,
            to,
        };
        // Threads and processes are followed apart: their events come in any order, and each pair
        // repeats the other one.
        let (place, stays) = moved(known.unwrap_or(FocusState::Unknown), old, new, ns, stay);
        self.places.insert((level, session), place);
        stays
            .into_iter()
            .flatten()
            .try_for_each(|stay| write(&stay, 0, context, sink))
    }

    /// Writes the holders of the focus at the end.
    pub(super) fn finish(
        self,
        end: i64,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let end_ns = context.ns(end);
        for ((level, session), place) in self.places {
            if let FocusState::Held(holder, from) = place {
                write(
                    &Stay {
                        level,
                        session,
                        holder,
                        from,
                        to: Edge::Trace,
                    },
                    end_ns,
                    context,
                    sink,
                )?;
            }
        }
        Ok(())
    }
}

/// The holder of the focus after a change, and the stays that it ends. An event that reports only
/// one side has no `old` or no `new`.
fn moved(
    place: FocusState,
    old: Option<Holder>,
    new: Option<Holder>,
    ns: i64,
    stay: impl Fn(Holder, Edge, Edge) -> Stay,
) -> (FocusState, [Option<Stay>; 2]) {
    let now = Edge::Reported(ns);
    let next = match (new, old) {
        (Some(new), _) if new.id != 0 => FocusState::Held(new, now),
        // The ID is kept to recognize a second report of the same loss.
        (_, Some(old)) => FocusState::Nobody(old.id),
        _ => FocusState::Nobody(0),
    };
    // Zero as the old holder means that the focus was nowhere.
    let someone = old.filter(|old| old.id != 0);
    match (place, new, someone) {
        // Another kind of event reported the same change already.
        (FocusState::Held(held, _), Some(new), _) if held.id == new.id => (place, [None, None]),
        (FocusState::Held(held, _), None, Some(old)) if held.id != old.id => (place, [None, None]),
        (FocusState::Nobody(_), None, _) => (place, [None, None]),
        // The focus was not where this event reports it, so a change in between was lost.
        (FocusState::Held(held, from), _, Some(old)) if held.id != old.id => (
            next,
            [
                Some(stay(held, from, Edge::Lost)),
                Some(stay(old, Edge::Lost, now)),
            ],
        ),
        (FocusState::Held(held, from), _, None) if old.is_some() => {
            (next, [Some(stay(held, from, Edge::Lost)), None])
        }
        (FocusState::Nobody(last), _, Some(old)) if last != old.id => {
            (next, [Some(stay(old, Edge::Lost, now)), None])
        }
        (FocusState::Held(held, from), ..) => (next, [Some(stay(held, from, now)), None]),
        // It had the focus since before the trace.
        (FocusState::Unknown, _, Some(old)) => (next, [Some(stay(old, Edge::Trace, now)), None]),
        (FocusState::Unknown | FocusState::Nobody(_), ..) => (next, [None, None]),
    }
}

fn thread(tid: u32, time: i64, context: &mut Context<'_>) -> Holder {
    // Zero means that no thread has the focus; it is not the idle thread.
    if tid == 0 {
        return Holder {
            id: 0,
            process: None,
            thread_key: None,
        };
    }
    let who = context.of_thread(tid, time);
    Holder {
        id: tid,
        process: who.process,
        thread_key: Some(who.thread_key),
    }
}

fn session_of(process: ProcessKey, context: &Context<'_>) -> Session {
    context
        .directory
        .processes
        .instance(process)
        .and_then(|process| process.session_id)
}

/// Writes the part of a stay in the range. `end_ns` is the end of the trace, for a stay that
/// reaches to it.
fn write(
    stay: &Stay,
    end_ns: i64,
    context: &mut Context<'_>,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    let range = context.range;
    let (from, to) = match (stay.from, stay.to) {
        (Edge::Reported(from), Edge::Reported(to)) => (from, to),
        // Broken time stamps can put the start after the end of the trace.
        (Edge::Reported(from), Edge::Trace) => (from, end_ns.max(from)),
        (Edge::Reported(from), Edge::Lost) => (from, from),
        // A stay that started before the trace is counted from its start, which is time zero.
        (Edge::Trace, Edge::Reported(to)) => (to.min(0), to),
        (Edge::Lost, Edge::Reported(to)) => (to, to),
        (_, Edge::Trace | Edge::Lost) => return Ok(()),
    };
    // Compared after broken times are put in order, so that a stay is never dropped for its own
    // length.
    if to < range.start_ns || from > range.end_ns {
        return Ok(());
    }
    let in_range = |edge| match edge {
        Edge::Reported(ns) => Some(ns).filter(|ns| range.contains(*ns)),
        Edge::Trace | Edge::Lost => None,
    };
    // A lost change leaves the length unknown.
    let is_whole = !matches!(stay.from, Edge::Lost) && !matches!(stay.to, Edge::Lost);
    let row = FocusChange {
        ts_ns: in_range(stay.from),
        end_ns: in_range(stay.to),
        // The times are null where the stay goes on outside the range; the length is that inside of
        // it.
        duration_ns: is_whole.then(|| range.clip(to).saturating_sub(range.clip(from))),
        level: if stay.level == Level::Thread {
            "thread"
        } else {
            "process"
        },
        session_id: stay.session,
        process_key: key(stay.holder.process),
        thread_key: stay.holder.thread_key,
    };
    context.tables.push(&row, sink)
}
