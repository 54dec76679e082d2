//! What the window manager tells: its lock, its objects, delays, the focus.

use etwkit_decode::win32k::{Delay, Event};
use etwkit_etl::clock::ClockType;
use etwkit_etl::{RawEvent, Session};

use super::context::{Context, Pending};
use super::focus::Foci;
use super::gdi_user::GdiUser;
use super::generic::inline_stack;
use super::identity::key;
use super::line::Seq;
use super::user_lock::UserLocks;
use crate::sink::{Sink, SinkError};
use crate::table::UiDelay;
use crate::tracker::process::ProcessKey;

/// Nanoseconds of a millisecond.
const MS: i64 = 1_000_000;

/// Who logged an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Actor {
    pub(super) tid: Option<u32>,
    pub(super) process: Option<ProcessKey>,
    pub(super) thread_key: Option<i32>,
}

/// Takes events of the window manager.
#[derive(Debug)]
pub(super) struct Win32k {
    locks: UserLocks,
    objects: GdiUser,
    foci: Foci,
}

impl Win32k {
    pub(super) fn new(session: &Session) -> Self {
        Self {
            locks: UserLocks::new(counter_frequency(session)),
            objects: GdiUser::default(),
            foci: Foci::default(),
        }
    }

    /// Takes an event. Returns whether a table shows it.
    pub(super) fn event(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<bool, SinkError> {
        let Some(told) = Event::read(event) else { return Ok(false) };
        let actor = actor(event, context);
        match told {
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
            Event::Focus(read) => {
                self.foci.event(read, event.timestamp, actor.process, context, sink).map(|()| true)
            }
        }
    }

    /// Writes what is open. Returns how many objects and locks were not followed.
    pub(super) fn finish(
        self,
        end: i64,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<u64, SinkError> {
        let dropped = self.locks.finish(end, context) + self.objects.finish(end, context);
        self.foci.finish(end, context, sink)?;
        Ok(dropped)
    }
}

/// Ticks of the performance counter in a second, whatever clock stamped the events; `None` if the trace does not tell.
fn counter_frequency(session: &Session) -> Option<i64> {
    let clock = session.clock();
    let told = session.earliest().map(|file| file.header().perf_freq).filter(|told| *told > 0);
    match clock.kind {
        ClockType::Qpc => Some(clock.frequency),
        ClockType::System => told,
        // Where it is that of the cycles, the other one is not told.
        ClockType::Cpu => told.filter(|told| *told != clock.frequency),
    }
}

fn actor(event: &RawEvent<'_>, context: &mut Context<'_>) -> Actor {
    let (time, tid) = (event.timestamp, event.thread_id());
    let who = tid.map(|tid| context.of_thread(tid, time));
    let told = event.process_id().and_then(|pid| context.directory.process_at(pid, time));
    let process = told.or_else(|| who.and_then(|who| who.process));
    Actor { tid, process, thread_key: who.map(|who| who.thread_key) }
}

/// Puts the stack of an event that begins something in the line, if it brought one.
pub(super) fn start(event: &RawEvent<'_>, actor: Actor, context: &mut Context<'_>) -> Option<Seq> {
    let stack = inline_stack(event);
    (!stack.is_empty()).then(|| context.wait_with(event.timestamp, actor.process, &stack, Pending::Start))
}

fn delay(read: Delay, event: &RawEvent<'_>, actor: Actor, context: &mut Context<'_>) {
    let (time, ts_ns) = (event.timestamp, context.ns(event.timestamp));
    let ns = |ms: u32| i64::from(ms) * MS;
    let duration_ns = ns(read.duration_ms);
    let start_ns = ts_ns.saturating_sub(duration_ns);
    if !context.range.contains(start_ns) {
        return;
    }
    let (process, thread_key) = match read.whose {
        Some((pid, tid)) => {
            let who = context.of_thread(tid, time);
            (context.directory.process_at(pid, time).or(who.process), Some(who.thread_key))
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
    // Addresses of the stack are those of the process that logged it.
    context.wait_with(time, actor.process, &inline_stack(event), Pending::UiDelay(Box::new(row)));
}
