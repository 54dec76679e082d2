//! Events of the window manager: its lock, its objects, delays, the focus.

use etwkit_decode::win32k::{Delay, Event, WIN32K};
use etwkit_etl::clock::ClockType;
use etwkit_etl::{RawEvent, Session};

use super::focus::Foci;
use super::gdi_user::GdiUser;
use super::user_lock::UserLocks;
use crate::declared::{Events, rows, sums};
use crate::import::pipeline::inline_stack::inline_stack;
use crate::import::pipeline::{
    Actor, Context, Declaration, Importer, IsShown, Learned, key, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{FocusChange, GdiUserObject, Row, UiDelay, UserLock};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[Events::Provider(WIN32K, &[])],
    tables: &[
        rows(UserLock::TABLE),
        rows(GdiUserObject::TABLE),
        sums(UiDelay::TABLE),
        sums(FocusChange::TABLE),
    ],
    make: |learned| Box::new(Win32k::new(learned.session)),
    ..Declaration::EMPTY
};

/// Nanoseconds of a millisecond.
const MS: i64 = 1_000_000;

/// Takes events of the window manager.
#[derive(Debug)]
struct Win32k {
    locks: UserLocks,
    objects: GdiUser,
    foci: Foci,
}

impl Win32k {
    fn new(session: &Session) -> Self {
        Self {
            locks: UserLocks::new(counter_frequency(session)),
            objects: GdiUser::default(),
            foci: Foci::default(),
        }
    }
}

impl Importer for Win32k {
    fn other(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let Some(read) = Event::read(event) else {
            return Ok(false);
        };
        // Once for all kinds: each of them needs the process and thread that logged the event.
        let actor = Actor::of(event, context);
        match read {
            Event::Acquired(read) => Ok(self.locks.acquired(read, event, actor, context)),
            Event::Released(read) => Ok(self.locks.released(read, event, actor, context)),
            Event::Object(read) => {
                self.objects.event(read, event, actor, context);
                Ok(true)
            }
            Event::Delay(read) => {
                delay(*read, event, actor, context);
                Ok(true)
            }
            Event::Focus(read) => self
                .foci
                .event(read, event.timestamp, actor.process, context, sink)
                .map(|()| true),
        }
    }

    /// Writes the open rows.
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let end = learned.collected.end;
        context.notes.not_followed +=
            // In this order in every run: it is the order of the rows that are still open.
            self.locks.finish(end, context) + self.objects.finish(end, context);
        self.foci.finish(end, context, sink)
    }
}

/// Ticks of the performance counter per second, independent of the session's clock; `None` if the
/// trace does not contain it.
fn counter_frequency(session: &Session) -> Option<i64> {
    let clock = session.clock();
    let in_header = session
        .earliest()
        .map(|file| file.header().perf_freq)
        .filter(|in_header| *in_header > 0);
    match clock.kind {
        ClockType::Qpc => Some(clock.frequency),
        ClockType::System => in_header,
        // Some systems store the frequency of the processor cycles here, and then the frequency of
        // the counter is unknown.
        ClockType::Cpu => in_header.filter(|in_header| *in_header != clock.frequency),
    }
}

fn delay(read: Delay, event: &RawEvent<'_>, actor: Actor, context: &mut Context<'_>) {
    let time = event.timestamp;
    let ts_ns = context.ns(event.timestamp);
    let ns = |ms: u32| i64::from(ms) * MS;
    let duration_ns = ns(read.duration_ms);
    // The event comes when the delay is over, and says only how long it was.
    let start_ns = ts_ns.saturating_sub(duration_ns);
    // By the start, as all operations: the event of a long delay may be far after it.
    if !context.range.contains(start_ns) {
        return;
    }
    // The delay names its window's thread. Without that, the thread that logged it is the one that
    // was delayed.
    let (process, thread_key) = match read.whose {
        Some((pid, tid)) => {
            let who = context.of_thread(tid, time);
            (
                context.directory.process_at(pid, time).or(who.process),
                Some(who.thread_key),
            )
        }
        None => (actor.process, actor.thread_key),
    };
    let row = UiDelay {
        ts_ns,
        start_ns,
        process_key: key(process),
        thread_key,
        kind: read.kind.name(),
        duration_ns,
        flags: read.flags.map(u32::cast_signed),
        since_input_remove_ns: read.since_input_remove_ms.map(ns),
        since_oldest_input_ns: read.since_oldest_input_ms.map(ns),
        class_name: read.class_name,
        top_level_class_name: read.top_level_class_name,
        image_path: read.image_path,
        package: read.package,
        message_id: read.message_id.map(u32::cast_signed),
        wparam: read.wparam.map(u64::cast_signed),
        cursor_type: read.cursor.map(u32::cast_signed),
        stack_id: None,
    };
    // The stack belongs to the process that logged the event, which need not be the delayed one.
    let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
    context.wait_with(time, actor.process, &inline_stack(event), row);
}
