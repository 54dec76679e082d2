//! Operations on disks and files as slices, and marks as instants, on separate tracks.
//!
//! Slices of a track have to be nested. Operations overlap freely, so each kind has as many tracks
//! as were in progress at once, with one name: Perfetto shows those as one.

use std::collections::BTreeMap;

use super::packets::{Packets, TIMESTAMP, TRACK_DESCRIPTOR, TRACK_EVENT, id, time};
use crate::Result;
use crate::protobuf::Message;
use crate::timeline::{Io, Process, Scene};

// Types of `TrackEvent`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;

/// The track of marks.
const MARKS: u64 = 1;

/// A track of operations: its number, and the end of its last slice.
type Lane = (u64, i64);

/// The tracks that were described so far.
#[derive(Default)]
pub(super) struct Tracks {
    /// Number of described tracks, without the track of marks.
    count: u64,
    /// The tracks of threads, by key.
    threads: BTreeMap<i64, u64>,
    /// The tracks of operations, by thread and kind.
    lanes: BTreeMap<(Option<i64>, &'static str), Vec<Lane>>,
}

impl Tracks {
    /// Describes the tracks of processes and threads, and the track of marks.
    pub(super) fn start(&mut self, packets: &mut Packets<'_>, scene: &Scene<'_>) -> Result<()> {
        let marks = Message::new().number(1, MARKS).text(2, "Marks");
        packets.write(Message::new().message(TRACK_DESCRIPTOR, &marks))?;
        let mut processes: BTreeMap<i64, u64> = BTreeMap::new();
        for process in scene.processes.values().filter(|process| process.is_chosen) {
            let uuid = self.next();
            processes.insert(process.process_key, uuid);
            let track = Message::new()
                .number(1, uuid)
                .message(3, &described(process));
            packets.write(Message::new().message(TRACK_DESCRIPTOR, &track))?;
        }
        for thread in scene.chosen() {
            let uuid = self.next();
            self.threads.insert(thread.thread_key, uuid);
            let parent = thread
                .process_key
                .and_then(|key| processes.get(&key))
                .copied();
            let pid = scene
                .process(Some(thread.thread_key))
                .map(|process| process.pid);
            let of = Message::new()
                .some(pid, |message, pid| message.int(1, pid))
                .int(2, thread.tid)
                .some(thread.name.as_deref(), |message, name| {
                    message.text(5, name)
                });
            let track = Message::new()
                .number(1, uuid)
                .some(parent, |message, parent| message.number(5, parent))
                .message(4, &of);
            packets.write(Message::new().message(TRACK_DESCRIPTOR, &track))?;
        }
        Ok(())
    }

    const fn next(&mut self) -> u64 {
        self.count += 1;
        MARKS + self.count
    }

    /// Writes a slice. A slice without an end in the trace is started and not ended.
    pub(super) fn operation(
        &mut self,
        packets: &mut Packets<'_>,
        (at, thread): (i64, Option<i64>),
        io: &Io,
    ) -> Result<()> {
        // An operation without an end keeps its track forever: nothing may be nested in it.
        let end_ns = io.end_ns.map_or(i64::MAX, |end| end.max(at));
        let lane = self.lane(packets, thread, io.kind(), (at, end_ns))?;
        let event = |kind: u64| Message::new().number(9, kind).number(11, lane);
        let category = if io.is_disk { "disk_io" } else { "file_io" };
        let begin = annotated(event(BEGIN).text(22, category).text(23, &io.name()), io);
        write(packets, at, &begin)?;
        match io.end_ns {
            Some(_) => write(packets, end_ns, &event(END)),
            None => Ok(()),
        }
    }

    /// Returns a track of the kind that is free at `from`, and reserves it up to `to`.
    fn lane(
        &mut self,
        packets: &mut Packets<'_>,
        thread: Option<i64>,
        kind: &'static str,
        (from, to): (i64, i64),
    ) -> Result<u64> {
        // The number that `next` would return. It is used up only if no track is free.
        let uuid = self.count + 1 + MARKS;
        let parent = thread.and_then(|thread| self.threads.get(&thread)).copied();
        let lanes = self.lanes.entry((thread, kind)).or_default();
        // The first free track is taken, so that there are as few as were needed at once.
        // Operations come in the order of their starts, so a track that is free now stays free up
        // to them.
        if let Some((uuid, end)) = lanes.iter_mut().find(|(_, end)| *end <= from) {
            *end = to;
            return Ok(*uuid);
        }
        lanes.push((uuid, to));
        self.count += 1;
        let track = Message::new()
            .number(1, uuid)
            .some(parent, |message, parent| message.number(5, parent))
            .text(2, &format!("{kind} I/O"));
        packets.write(Message::new().message(TRACK_DESCRIPTOR, &track))?;
        Ok(uuid)
    }

    pub(super) fn mark(&self, packets: &mut Packets<'_>, at: i64, text: &str) -> Result<()> {
        let event = Message::new()
            .number(9, INSTANT)
            .number(11, MARKS)
            .text(22, "mark")
            .text(23, text);
        write(packets, at, &event)
    }
}

fn write(packets: &mut Packets<'_>, at: i64, event: &Message) -> Result<()> {
    packets.write(
        Message::new()
            .number(TIMESTAMP, time(at))
            .message(TRACK_EVENT, event),
    )
}

/// Converts a process to `ProcessDescriptor`.
fn described(process: &Process) -> Message {
    Message::new()
        .int(1, process.pid)
        .text(6, process.name.as_deref().unwrap_or("?"))
        .some(process.start_ns, |message, start| {
            message.number(7, time(start))
        })
}

/// Adds the known data of an operation to an event, as `DebugAnnotation`.
fn annotated(mut event: Message, io: &Io) -> Message {
    const FIELD: u32 = 4;
    if let Some(path) = &io.path {
        event = event.message(FIELD, &Message::new().text(10, "path").text(6, path));
    }
    for (name, value) in [
        ("size_bytes", io.size_bytes),
        ("offset_bytes", io.offset_bytes),
        ("disk", io.disk),
    ] {
        let Some(value) = value else { continue };
        event = event.message(FIELD, &Message::new().text(10, name).int(4, value));
    }
    if let Some(status) = io.status {
        // In hexadecimal, the usual notation of status codes.
        event = event.message(
            FIELD,
            &Message::new().text(10, "status").number(7, id(status)),
        );
    }
    event
}
