//! Messages between processes (ALPC): senders, receivers, and waits. The number of a message is
//! reused when it is finished.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use super::super::times::TICK_NS;
use super::super::{Sim, kind};
use crate::Result;
use crate::table::{Cpu, Port, Thread};
use crate::truth::{AlpcCalls, AlpcWaits, Delivered};

/// Number of the first message.
const FIRST: u32 = 0x1A40;

/// The message that a thread waits for, and the start of the wait.
#[derive(Debug, Clone, Copy)]
enum Waiting {
    Reply(u32, i64),
    New(i64),
}

/// Messaging state of a thread.
#[derive(Debug, Default)]
pub(in crate::sim) struct Messaging {
    waiting: Option<Waiting>,
}

/// A message on its way to an answer.
#[derive(Debug, Clone, Copy)]
struct Served {
    by: Thread,
    sent: i64,
    received: i64,
    answered: Option<i64>,
}

/// All messages.
#[derive(Debug, Default)]
pub(in crate::sim) struct Messages {
    /// Sent and not received: the sender and the time.
    under_way: BTreeMap<u32, (Thread, i64)>,
    /// Received and not answered.
    calls: BTreeMap<u32, Served>,
    free: Vec<u32>,
    numbers: u32,
}

impl<W: Write + Seek> Sim<W> {
    /// Sends a request to a port, if it is a message port. Returns the number of the message.
    pub(in crate::sim) fn send_request(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        port: Port,
    ) -> Result<Option<u32>> {
        if self.plan.ports[port].name.is_none() {
            return Ok(None);
        }
        let state = &mut self.world.messages;
        let message = state.free.pop().unwrap_or_else(|| {
            // Free numbers are reused first: readers must not take a number for an identity.
            state.numbers += 4;
            FIRST + state.numbers
        });
        self.send(cpu, thread, message)?;
        Ok(Some(message))
    }

    /// Sends a message, or the answer to it, which has the same number.
    pub(in crate::sim) fn send(&mut self, cpu: Cpu, thread: Thread, message: u32) -> Result<()> {
        let time = self.kernel_event(cpu, thread, kind::ALPC_SEND, |p| {
            p.u32(message);
        })?;
        self.world
            .messages
            .under_way
            .insert(message, (thread, time));
        if let Some(call) = self.world.messages.calls.get_mut(&message) {
            call.answered = Some(time);
        }
        self.truth.alpc.sent += 1;
        Ok(())
    }

    /// Receives the message with that number in a thread. `is_done` means that no other message is
    /// sent under it.
    pub(in crate::sim) fn receive(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        message: u32,
        is_done: bool,
    ) -> Result<()> {
        // The end of the wait comes before the receipt, as the thread has to run before it can
        // receive.
        self.ends_waiting(cpu, thread)?;
        let time = self.kernel_event(cpu, thread, kind::ALPC_RECEIVE, |p| {
            p.u32(message);
        })?;
        self.truth.alpc.received += 1;
        if let Some((sender, sent)) = self.world.messages.under_way.remove(&message) {
            let (sender, receiver) = (self.thread_name(sender), self.thread_name(thread));
            let of_sender = self.truth.alpc.delivered.entry(sender).or_default();
            let sums: &mut Delivered = of_sender.entry(receiver).or_default();
            sums.messages += 1;
            sums.latency_ns += (time - sent) * TICK_NS;
            let served = Served {
                by: thread,
                sent,
                received: time,
                answered: None,
            };
            // A message and its answer have the same number: the second receipt finds the first one
            // here, and completes the call.
            let before = self.world.messages.calls.insert(message, served);
            self.count_call(thread, before, time);
        }
        if is_done {
            self.world.messages.calls.remove(&message);
            self.world.messages.free.push(message);
        }
        Ok(())
    }

    /// Counts a call whose answer a thread has received.
    fn count_call(&mut self, thread: Thread, served: Option<Served>, time: i64) {
        let Some(Served {
            by,
            sent,
            received,
            answered: Some(answered),
        }) = served
        else {
            return;
        };
        let (client, server) = (self.thread_name(thread), self.thread_name(by));
        let sums: &mut AlpcCalls = self
            .truth
            .alpc
            .calls
            .entry(client)
            .or_default()
            .entry(server)
            .or_default();
        sums.calls += 1;
        sums.delivery_ns += (received - sent) * TICK_NS;
        sums.service_ns += (answered - received) * TICK_NS;
        sums.duration_ns += (time - sent) * TICK_NS;
    }

    /// Starts a thread's wait for the answer to its message.
    pub(in crate::sim) fn waits_for_reply(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        message: u32,
    ) -> Result<()> {
        let time = self.kernel_event(cpu, thread, kind::ALPC_WAIT_FOR_REPLY, |p| {
            p.u32(message);
        })?;
        self.threads[thread].acting.message.waiting = Some(Waiting::Reply(message, time));
        Ok(())
    }

    /// Starts a thread's wait for a request, if the port is a message port and the thread does not
    /// wait already.
    pub(in crate::sim) fn waits_for_request(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        port: Port,
    ) -> Result<()> {
        let Some(name) = self.plan.ports[port].name else {
            return Ok(());
        };
        if self.threads[thread].acting.message.waiting.is_none() {
            let time = self.kernel_event(cpu, thread, kind::ALPC_WAIT_FOR_NEW, |p| {
                p.u32(1).ansi(name);
            })?;
            self.threads[thread].acting.message.waiting = Some(Waiting::New(time));
        }
        Ok(())
    }

    /// Handles the arrival of the answer that a thread waits for.
    pub(in crate::sim) fn answered(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let Some(Waiting::Reply(message, _)) = self.threads[thread].acting.message.waiting else {
            return Ok(());
        };
        self.receive(cpu, thread, message, true)
    }

    fn ends_waiting(&mut self, cpu: Cpu, thread: Thread) -> Result<()> {
        let Some(waiting) = self.threads[thread].acting.message.waiting.take() else {
            return Ok(());
        };
        let time = self.kernel_event(cpu, thread, kind::ALPC_UNWAIT, |p| {
            p.u32(0);
        })?;
        let (what, since) = waiting.what_and_since();
        let sums = self.waits_of(thread, what);
        sums.waits += 1;
        sums.wait_ns += (time - since) * TICK_NS;
        Ok(())
    }

    fn waits_of(&mut self, thread: Thread, what: &str) -> &mut AlpcWaits {
        let name = self.thread_name(thread);
        self.truth
            .alpc
            .waits
            .entry(name)
            .or_default()
            .entry(what.to_owned())
            .or_default()
    }

    pub(super) fn finish_messages(&mut self) {
        self.truth.alpc.under_way_at_end = self.world.messages.under_way.len() as u64;
        for thread in self.threads.keys() {
            if let Some(waiting) = self.threads[thread].acting.message.waiting {
                self.waits_of(thread, waiting.what_and_since().0)
                    .open_at_end += 1;
            }
        }
    }
}

impl Waiting {
    const fn what_and_since(self) -> (&'static str, i64) {
        match self {
            Self::Reply(_, since) => ("reply", since),
            Self::New(since) => ("new_message", since),
        }
    }
}
