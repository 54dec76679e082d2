//! The process and thread that logged an event of a provider.

use etwkit_etl::RawEvent;

use super::context::Context;
use super::inline_stack::inline_stack;
use super::line::Seq;
use super::waiting::Pending;
use crate::tracker::process::ProcessKey;

/// Thread and process of an event, if they are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Actor {
    pub(crate) tid: Option<u32>,
    pub(crate) process: Option<ProcessKey>,
    pub(crate) thread_key: Option<i32>,
}

impl Actor {
    /// The actor in the header of an event.
    pub(crate) fn of(event: &RawEvent<'_>, context: &mut Context<'_>) -> Self {
        let time = event.timestamp;
        let tid = event.thread_id();
        let who = tid.map(|tid| context.of_thread(tid, time));
        let in_header = event
            .process_id()
            .and_then(|pid| context.directory.process_at(pid, time));
        // The header names the process even where no event described the thread; the ID alone may
        // have been reused, so both are looked up at the time of the event.
        let process = in_header.or_else(|| who.and_then(|who| who.process));
        Self {
            tid,
            process,
            thread_key: who.map(|who| who.thread_key),
        }
    }
}

/// Queues the stack of an event that starts something, if the event contains one.
pub(crate) fn start(event: &RawEvent<'_>, actor: Actor, context: &mut Context<'_>) -> Option<Seq> {
    let stack = inline_stack(event);
    (!stack.is_empty())
        .then(|| context.wait_with(event.timestamp, actor.process, &stack, Pending::Start))
}
