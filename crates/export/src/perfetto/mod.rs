//! Packets for Perfetto (<https://ui.perfetto.dev>, 58 or later) and its trace processor.
//!
//! Field numbers come from the definitions in the Python package `perfetto` 0.59.1. Scheduling is
//! written as the ETW events that Perfetto knows ([`sched`]), from which it makes its own tracks of
//! threads and processors; samples are `stack_sample` ([`samples`]), operations and marks events of
//! tracks ([`tracks`]). The trace processor sorts packets, so they are written in any order.
//!
//! Times are nanoseconds since the start of the trace, on the clock that Perfetto calls boot time.
//! It has no negative times: earlier events of the extract are put at 0.

mod packets;
mod samples;
mod sched;
mod tracks;

use std::io::Write;

use packets::{DATA_NEEDED, Packets, STATE_CLEARED, time};
use samples::Stacks;
use sched::Processors;
use tracks::Tracks;

use crate::Result;
use crate::profile::{Format, Head, Takes, Writer};
use crate::protobuf::Message;
use crate::timeline::{Item, Order, Process, Scene, Thread, Timeline, What};

/// The format.
pub(crate) struct Perfetto;

impl Format for Perfetto {
    fn name(&self) -> &'static str {
        "perfetto"
    }

    fn sentence(&self) -> &'static str {
        "Packets for Perfetto 58 or later (ui.perfetto.dev): scheduling, samples, I/O and marks on their tracks"
    }

    fn takes(&self) -> Takes {
        Takes::Timeline
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, _: &Head<'_>) -> Result<Writer<'o>> {
        Ok(Writer::Timeline(Box::new(Trace {
            packets: Packets::new(out),
            processors: Processors::default(),
            stacks: Stacks::default(),
            tracks: Tracks::default(),
        })))
    }
}

struct Trace<'o> {
    packets: Packets<'o>,
    processors: Processors,
    stacks: Stacks,
    tracks: Tracks,
}

impl Timeline for Trace<'_> {
    fn order(&self) -> Order {
        Order::Time
    }

    fn start(&mut self, scene: &Scene<'_>) -> Result<()> {
        self.packets.write(clocks(scene))?;
        // The first packet with definitions resets all earlier ones.
        let defaults = Message::new().message(packets::DEFAULTS, &samples::defaults());
        self.packets
            .write(defaults.number(packets::SEQUENCE_FLAGS, STATE_CLEARED | DATA_NEEDED))?;
        let mut tree = Message::new();
        // The tree gives threads their processes and names before the first event mentions them by
        // number.
        for process in scene.processes.values().filter(|process| process.is_chosen) {
            tree = tree.message(1, &in_tree(process));
        }
        for thread in scene.chosen() {
            tree = tree.message(2, &thread_in_tree(thread, scene));
        }
        self.packets.write(
            Message::new()
                .number(packets::TIMESTAMP, 0)
                .message(packets::PROCESS_TREE, &tree),
        )?;
        self.tracks.start(&mut self.packets, scene)
    }

    fn item(&mut self, item: &Item, scene: &Scene<'_>) -> Result<()> {
        let at = item.time_ns;
        let thread = item.thread;
        match &item.what {
            What::Slice(slice) => {
                self.processors
                    .slice(&mut self.packets, (at, thread), slice, scene)
            }
            What::Ready(ready) if ready.is_event => {
                self.packets.write(sched::ready((at, thread), ready, scene))
            }
            // Perfetto derives waits and ready times from switches.
            What::Wait(_) | What::Ready(_) => Ok(()),
            What::Sample(sample) => {
                self.stacks
                    .sample(&mut self.packets, (at, thread), sample, scene)
            }
            What::Io(io) => self.tracks.operation(&mut self.packets, (at, thread), io),
            What::Mark(text) => self.tracks.mark(&mut self.packets, at, text),
        }
    }

    fn end(self: Box<Self>, _: &Scene<'_>) -> Result<()> {
        let Self {
            mut packets,
            processors,
            ..
        } = *self;
        processors.end(&mut packets)
    }
}

/// Returns the snapshot of clocks: the wall-clock time of time 0.
fn clocks(scene: &Scene<'_>) -> Message {
    const REALTIME: u64 = 1;
    const BOOTTIME: u64 = 6;
    let clock = |id, at| Message::new().number(1, id).number(2, at);
    let mut snapshot = Message::new().message(1, &clock(BOOTTIME, 0));
    if let Some(start) = scene.start_unix_ns {
        snapshot = snapshot.message(1, &clock(REALTIME, time(start)));
    }
    Message::new()
        .number(packets::TIMESTAMP, 0)
        .message(packets::CLOCK_SNAPSHOT, &snapshot.number(2, BOOTTIME))
}

/// Converts a process to `ProcessTree.Process`: its name is the first word of the command line.
fn in_tree(process: &Process) -> Message {
    let arguments = process
        .command_line
        .as_deref()
        .map(arguments)
        .filter(|line| !line.is_empty());
    Message::new()
        .int(1, process.pid)
        .some(process.parent_pid, |message, parent| message.int(2, parent))
        .text(3, process.name.as_deref().unwrap_or("?"))
        .some(arguments, |message, line| message.text(3, line))
        .some(process.start_ns, |message, start| {
            message.number(7, time(start))
        })
}

/// Converts a thread to `ProcessTree.Thread`.
fn thread_in_tree(thread: &Thread, scene: &Scene<'_>) -> Message {
    let process = scene.process(Some(thread.thread_key));
    Message::new()
        .int(1, thread.tid)
        .some(process, |message, process| message.int(3, process.pid))
        .some(thread.name.as_deref(), |message, name| {
            message.text(2, name)
        })
}

/// Returns a command line without its first word, which may be in quotes.
fn arguments(line: &str) -> &str {
    let rest = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').map_or("", |(_, rest)| rest),
        None => line
            .split_once(char::is_whitespace)
            .map_or("", |(_, rest)| rest),
    };
    rest.trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_behind_the_program() {
        for (line, rest) in [
            (r#""C:\a b\c.exe" -x "y z""#, r#"-x "y z""#),
            (r"c.exe  -x", "-x"),
            ("c.exe", ""),
            (r#""C:\open"#, ""),
            ("", ""),
        ] {
            assert_eq!(arguments(line), rest, "{line}");
        }
    }
}
