//! ALPC messages: sending, receipt, answer and wait become one row. Their events name no thread:
//! they belong to the thread that runs on the processor.
//!
//! A message is identified by its number. Its answer has the same number, and later messages reuse
//! it.

use std::collections::BTreeMap;
use std::sync::Arc;

use etwkit_decode::kernel::alpc::{Step, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, Seq, Who, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{Alpc, AlpcProcess, Row};

/// The events of messages.
pub(crate) const EVENTS: Events = Events::KernelBetween(group::ALPC, opcode::SEND, opcode::UNWAIT);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    tables: &[rows(Alpc::TABLE)],
    topics: &[Topic {
        place: 155,
        name: "ALPC messages",
        answers: "who called a service, and who waited for it",
        recorded_by: "ALPC",
        events: &[EVENTS],
        tables: &[Alpc::TABLE, AlpcProcess::TABLE],
    }],
    make: |_| Box::new(Messages::default()),
    ..Declaration::EMPTY
};

/// Maximum number of open messages, and of waiting threads. If there are more messages, the oldest
/// are written incomplete.
const MAX_HELD: usize = 1 << 16;

/// Maximum number of distinct port names; further names are not kept.
const MAX_PORTS: usize = 1 << 14;

/// A message that later events may belong to.
#[derive(Debug)]
struct OpenMessage {
    row: Alpc,
    /// Its rank in the order of arrival.
    number: u64,
    /// Time of the first of its events.
    first_ns: i64,
    /// The event whose stack the row takes.
    stack: Option<Seq>,
    /// True if the sender waits for the answer.
    is_awaited: bool,
}

/// A wait of a thread.
#[derive(Debug)]
enum Wait {
    /// Wait for the answer to a message, since a time.
    Reply(u32, i64),
    /// Wait for any message at a port, since a time; the duration, once it ended.
    Message(Option<Arc<str>>, i64, Option<i64>),
}

/// The thread of an event, if it is known, and the time.
#[derive(Debug, Clone, Copy)]
struct Actor {
    tid: Option<u32>,
    who: Option<Who>,
    time: i64,
    ns: i64,
}

impl Actor {
    fn process_key(self) -> Option<i32> {
        self.who.and_then(Who::process_key)
    }

    fn thread_key(self) -> Option<i32> {
        self.who.map(|who| who.thread_key)
    }

    /// True if it may be that process: the keys are equal, or one of them is unknown.
    fn may_be(self, process_key: Option<i32>) -> bool {
        self.process_key()
            .zip(process_key)
            .is_none_or(|(own, other)| own == other)
    }
}

/// Combines the events of messages.
#[derive(Debug, Default)]
struct Messages {
    open: FxHashMap<u32, OpenMessage>,
    /// The open messages in order of arrival.
    order: BTreeMap<u64, u32>,
    next: u64,
    /// Waits by thread ID.
    waits: FxHashMap<u32, Wait>,
    ports: FxHashSet<Arc<str>>,
    /// Number of known gaps in the recording.
    gaps: u64,
}

impl Messages {
    fn step(&mut self, step: Step<'_>, actor: Actor, context: &mut Context<'_>) {
        match step {
            Step::Send(id) => self.send(id, actor, context),
            Step::Receive(id) => self.receive(id, actor, context),
            Step::WaitForReply(id) => self.wait_for_reply(id, actor, context),
            Step::WaitForMessage(port) => {
                let port = self.port(port);
                self.wait(actor, Wait::Message(port, actor.ns, None));
            }
            Step::Unwait(status) => self.unwait(status, actor, context),
        }
    }

    fn send(&mut self, id: u32, actor: Actor, context: &mut Context<'_>) {
        if let Some(OpenMessage { row, .. }) = self.open.get_mut(&id)
            && row.reply_ns.is_none()
            // The answer has the number of its message. It comes from the process that received it;
            // anything else is a new message with a reused number.
            && actor.may_be(row.receiver_process_key)
            && let Some(received) = row.receive_ns
        {
            row.reply_ns = Some(actor.ns);
            row.reply_thread_key = actor.thread_key();
            row.service_ns = Some(actor.ns.saturating_sub(received));
            return;
        }
        let open = self.begin(id, actor, context);
        open.row.send_ns = Some(actor.ns);
        sent_by(&mut open.row, actor);
        let process = actor.who.and_then(|who| who.process);
        open.stack = Some(context.wait(actor.time, actor.tid, process, Pending::Start));
    }

    fn receive(&mut self, id: u32, actor: Actor, context: &mut Context<'_>) {
        match self.open.get_mut(&id) {
            Some(open) if open.row.receive_ns.is_none() => {}
            Some(OpenMessage {
                row, is_awaited, ..
            }) if row.reply_ns.is_some()
                && row.end_ns.is_none()
                && actor.may_be(row.sender_process_key) =>
            {
                row.end_ns = Some(actor.ns);
                row.duration_ns = row.send_ns.map(|sent| actor.ns.saturating_sub(sent));
                // The receiver of the answer is the sender of the message.
                if row.send_ns.is_none() {
                    sent_by(row, actor);
                }
                // A sender that waits logs the end of the wait after this event, and the row
                // contains its length.
                if !*is_awaited {
                    self.end(id, actor.time, context);
                }
                return;
            }
            _ => {
                self.begin(id, actor, context);
            }
        }
        // A receipt ends a wait for any message. A wait for an answer ends with an event of its
        // own.
        let wait = actor.tid.and_then(|tid| match self.waits.remove(&tid) {
            Some(Wait::Message(port, since, length)) => Some((port, since, length)),
            other => {
                self.waits.extend(other.map(|wait| (tid, wait)));
                None
            }
        });
        let Some(OpenMessage { row, .. }) = self.open.get_mut(&id) else {
            return;
        };
        row.receive_ns = Some(actor.ns);
        row.receiver_process_key = actor.process_key();
        row.receiver_thread_key = actor.thread_key();
        row.delivery_ns = row.send_ns.map(|sent| actor.ns.saturating_sub(sent));
        if let Some((port, since, length)) = wait {
            row.port_name = port;
            row.receiver_wait_ns = length.or(Some(actor.ns.saturating_sub(since)));
        }
    }

    fn wait_for_reply(&mut self, id: u32, actor: Actor, context: &mut Context<'_>) {
        let is_own = |open: &OpenMessage| {
            actor.may_be(open.row.sender_process_key) && open.row.end_ns.is_none()
        };
        if !self.open.get(&id).is_some_and(is_own) {
            // The message was sent before the trace, or the event of its sending was lost.
            let open = self.begin(id, actor, context);
            sent_by(&mut open.row, actor);
        }
        if let Some(open) = self.open.get_mut(&id) {
            open.is_awaited = true;
        }
        self.wait(actor, Wait::Reply(id, actor.ns));
    }

    fn unwait(&mut self, status: u32, actor: Actor, context: &mut Context<'_>) {
        let Some(tid) = actor.tid else { return };
        match self.waits.get_mut(&tid) {
            // The message itself follows as an event of its own, which uses this length.
            Some(Wait::Message(_, since, length)) if status == 0 => {
                *length = Some(actor.ns.saturating_sub(*since));
            }
            Some(Wait::Reply(id, since)) => {
                let id = *id;
                let since = *since;
                self.waits.remove(&tid);
                // The number may belong to another message by now.
                let own = self.open.get_mut(&id).filter(|open| open.is_awaited);
                let Some(open) = own.filter(|open| actor.may_be(open.row.sender_process_key))
                else {
                    return;
                };
                open.is_awaited = false;
                open.row.sender_wait_ns = Some(actor.ns.saturating_sub(since));
                open.row.status = Some(status.cast_signed());
                if open.row.end_ns.is_some() {
                    self.end(id, actor.time, context);
                }
            }
            // The wait ended without a message.
            _ => _ = self.waits.remove(&tid),
        }
    }

    fn wait(&mut self, actor: Actor, wait: Wait) {
        let Some(tid) = actor.tid else { return };
        // No machine has this many threads that wait at the same time.
        if self.waits.len() >= MAX_HELD {
            self.waits.clear();
        }
        self.waits.insert(tid, wait);
    }

    fn port(&mut self, name: &[u8]) -> Option<Arc<str>> {
        let name = String::from_utf8_lossy(name);
        if let Some(known) = self.ports.get(&*name) {
            return Some(Arc::clone(known));
        }
        // A malicious trace can name a new port in every event.
        let is_kept = !name.is_empty() && self.ports.len() < MAX_PORTS;
        let name: Arc<str> = is_kept.then(|| name.into())?;
        self.ports.insert(Arc::clone(&name));
        Some(name)
    }

    /// Starts a message with its first event. A message that has the same number ends.
    fn begin(&mut self, id: u32, actor: Actor, context: &mut Context<'_>) -> &mut OpenMessage {
        self.end(id, actor.time, context);
        if self.open.len() >= MAX_HELD
            && let Some((_, oldest)) = self.order.first_key_value()
        {
            self.end(*oldest, actor.time, context);
        }
        let number = self.next;
        self.next += 1;
        self.order.insert(number, id);
        let row = Alpc {
            message_id: id.cast_signed(),
            ..Alpc::default()
        };
        let open = OpenMessage {
            row,
            number,
            first_ns: actor.ns,
            stack: None,
            is_awaited: false,
        };
        self.open.entry(id).insert_entry(open).into_mut()
    }

    /// Writes a message to which no more events belong.
    fn end(&mut self, id: u32, time: i64, context: &mut Context<'_>) {
        let Some(open) = self.open.remove(&id) else {
            return;
        };
        self.order.remove(&open.number);
        let OpenMessage {
            row,
            stack,
            first_ns,
            ..
        } = open;
        if context.range.contains(first_ns) {
            let row = waiting::row(row, move |row, stacks| row.stack_id = stacks.of(stack));
            context.wait(time, None, None, row);
            return;
        }
        // The message is outside the range, so no row takes its stack.
        stack.into_iter().for_each(|stack| context.forget(stack));
    }

    /// Writes all messages, in order of arrival.
    fn give_up(&mut self, time: i64, context: &mut Context<'_>) {
        for id in std::mem::take(&mut self.order).into_values() {
            self.end(id, time, context);
        }
        self.waits.clear();
    }
}

fn sent_by(row: &mut Alpc, actor: Actor) {
    row.sender_process_key = actor.process_key();
    row.sender_thread_key = actor.thread_key();
}

impl Importer for Messages {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let Some(step) = Step::parse(event.payload(), hook.opcode) else {
            return Ok(false);
        };
        let time = event.timestamp;
        if std::mem::replace(&mut self.gaps, context.gaps) != context.gaps {
            // Numbers may have been reused in the gap, and would join events of different messages.
            self.give_up(time, context);
        }
        let tid = context.thread_of(event);
        let who = tid.map(|tid| context.of_thread(tid, time));
        let actor = Actor {
            tid,
            who,
            time,
            ns: context.ns(time),
        };
        self.step(step, actor, context);
        Ok(true)
    }

    /// Writes the messages that are open when the trace ends.
    fn finish(
        mut self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.give_up(learned.collected.end, context);
        Ok(())
    }
}
