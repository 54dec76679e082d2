//! Scheduling, as `CSwitch` and `ReadyThread` of ETW.
//!
//! A switch has the thread that leaves a processor and the one that comes. A thread that is not
//! exported has no number there, which Perfetto takes for an anonymous thread: so a processor does
//! not look idle while another process had it, and no thread seems to run at times for which the
//! trace names none.

use std::collections::BTreeMap;

use super::packets::{ETW_EVENTS, Packets, TIMESTAMP, id, time};
use crate::Result;
use crate::protobuf::Message;
use crate::timeline::{Ready, Scene, Slice, SwitchOut};

/// Maximum number of processors that the trace processor reads; events of others would end it.
const PROCESSORS: i64 = 1024;

/// Number of wait reasons with a name in Perfetto; others are written as plain numbers.
const REASONS: i64 = 37;

/// Number of thread states with a name in Perfetto.
const STATES: i64 = 8;

/// The last thread on each processor.
#[derive(Default)]
pub(super) struct Processors(BTreeMap<i64, Stay>);

/// A slice that was started, and has not ended yet.
#[derive(Clone, Copy)]
struct Stay {
    runner: Runner,
    end_ns: i64,
}

/// A running thread.
#[derive(Clone, Copy, Default)]
struct Runner {
    /// Thread id; missing for a thread that is not shown.
    tid: Option<u64>,
    priority: Option<i64>,
    /// The way in which it leaves.
    left: Option<SwitchOut>,
}

impl Processors {
    /// Adds a slice. Slices of a processor come in order of time.
    pub(super) fn slice(
        &mut self,
        packets: &mut Packets<'_>,
        (at, thread): (i64, Option<i64>),
        slice: &Slice,
        scene: &Scene<'_>,
    ) -> Result<()> {
        // Left out rather than put on another processor, where it would overlap the slices of
        // others.
        if !(0..PROCESSORS).contains(&slice.cpu) {
            return Ok(());
        }
        let is_shown = slice.is_chosen || scene.is_everyone;
        let tid = scene
            .thread(thread)
            .filter(|_| is_shown)
            .map(|thread| id(thread.tid));
        let runner = Runner {
            tid,
            priority: slice.priority,
            left: slice.left,
        };
        // A switch has both threads, so the end of a slice is written with the start of the next
        // one.
        let before = self.0.insert(
            slice.cpu,
            Stay {
                runner,
                end_ns: slice.end_ns,
            },
        );
        let mut old = Runner::default();
        if let Some(stay) = before {
            // No exported thread had the processor in between: it was idle, or had a thread that is
            // not in the extract.
            if stay.end_ns < at {
                switch(
                    packets,
                    slice.cpu,
                    stay.end_ns,
                    stay.runner,
                    Runner::default(),
                )?;
            } else {
                old = stay.runner;
            }
        }
        switch(packets, slice.cpu, at, old, runner)
    }

    /// Ends open slices.
    pub(super) fn end(self, packets: &mut Packets<'_>) -> Result<()> {
        let mut all: Vec<(i64, Stay)> = self.0.into_iter().collect();
        all.sort_by_key(|(cpu, stay)| (stay.end_ns, *cpu));
        for (cpu, stay) in all {
            switch(packets, cpu, stay.end_ns, stay.runner, Runner::default())?;
        }
        Ok(())
    }
}

/// Writes a switch, unless both sides are hidden threads.
fn switch(packets: &mut Packets<'_>, cpu: i64, at: i64, old: Runner, new: Runner) -> Result<()> {
    if old.tid.is_none() && new.tid.is_none() {
        return Ok(());
    }
    let is_old = old.tid.is_some();
    let switch = Message::new()
        .some(new.tid, |message, tid| message.number(1, tid))
        .some(old.tid, |message, tid| message.number(2, tid))
        .some(
            new.priority.filter(|_| new.tid.is_some()),
            |message, priority| message.zigzag(3, priority),
        )
        .some(old.priority.filter(|_| is_old), |message, priority| {
            message.zigzag(4, priority)
        })
        .some(old.left.filter(|_| is_old), leaving);
    packets.write(event(at, cpu, None, 2, &switch))
}

fn leaving(message: Message, left: SwitchOut) -> Message {
    let message = match left.state {
        state @ 0..STATES => message.int(8, state),
        state => message.zigzag(13, state),
    };
    message
        .some(left.reason, |message, reason| match reason {
            0..REASONS => message.int(6, reason),
            _ => message.int(11, reason),
        })
        .some(left.is_user, |message, is_user| {
            message.number(7, u64::from(is_user))
        })
}

/// Returns the event of a thread that is made ready. If a DPC does it, no thread is named: only the
/// DPC. The processor is the one on which the thread is switched in, since extracts do not have the
/// other one, and Perfetto reads no event without any.
pub(super) fn ready((at, thread): (i64, Option<i64>), ready: &Ready, scene: &Scene<'_>) -> Message {
    const BY_DPC: u64 = 1;
    let tid = |key| scene.thread(key).map(|thread| id(thread.tid));
    let event_of = Message::new()
        .some(tid(thread), |message, tid| message.number(1, tid))
        .some(ready.adjust_reason, |message, reason| match reason {
            0..=2 => message.int(2, reason),
            _ => message.int(5, reason),
        })
        .some(ready.by.is_dpc.then_some(BY_DPC), |message, flag| {
            message.number(4, flag)
        });
    // An event of Perfetto has to be on some processor.
    let cpu = ready
        .cpu
        .filter(|cpu| (0..PROCESSORS).contains(cpu))
        .unwrap_or(0);
    event(at, cpu, tid(ready.by.thread), 3, &event_of)
}

/// Returns an ETW event, alone in its bundle: the trace processor reads the first one of each.
fn event(at: i64, cpu: i64, tid: Option<u64>, field: u32, of: &Message) -> Message {
    let event = Message::new()
        .number(1, time(at))
        .number(4, id(cpu))
        .some(tid, |message, tid| message.number(5, tid))
        .message(field, of);
    Message::new()
        .number(TIMESTAMP, time(at))
        .message(ETW_EVENTS, &Message::new().message(2, &event))
}
