//! Changes of the priorities of threads.

use etwkit_decode::kernel::scheduler::{PriorityChange, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, waiting};
use crate::sink::Sink;
use crate::table::{Row, ThreadPriority};

/// Types of the events, and the priority that they change.
const KINDS: [(u8, &str); 4] = [
    (opcode::SET_PRIORITY, "dynamic"),
    (opcode::SET_BASE_PRIORITY, "base"),
    (opcode::SET_PAGE_PRIORITY, "page"),
    (opcode::SET_IO_PRIORITY, "io"),
];

const EVENTS: Events = Events::Kernel(
    group::THREAD,
    &[
        opcode::SET_PRIORITY,
        opcode::SET_BASE_PRIORITY,
        opcode::SET_PAGE_PRIORITY,
        opcode::SET_IO_PRIORITY,
    ],
);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    tables: &[rows(ThreadPriority::TABLE)],
    topics: &[Topic {
        place: 45,
        name: "thread priorities",
        answers: "who changed which priority",
        recorded_by: "PRIORITY",
        events: &[EVENTS],
        tables: &[ThreadPriority::TABLE],
    }],
    make: |_| Box::new(Priorities),
    ..Declaration::EMPTY
};

/// Each change is a row; nothing is kept between events.
struct Priorities;

impl Importer for Priorities {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let kind = KINDS.iter().find(|(opcode, _)| *opcode == hook.opcode);
        let (Some(&(_, kind)), Some(change)) = (kind, PriorityChange::parse(event.payload()))
        else {
            return Ok(false);
        };
        let time = event.timestamp;
        let ts_ns = context.ns(event.timestamp);
        if !context.range.contains(ts_ns) {
            return Ok(true);
        }
        let of = context.of_thread(change.tid, time);
        // These events name the thread whose priority changes, not the thread that changes it.
        let actor = context.running_on(event.cpu);
        let by = actor.map(|tid| context.of_thread(tid, time));
        let row = ThreadPriority {
            ts_ns,
            thread_key: of.thread_key,
            process_key: of.process_key(),
            kind,
            old_priority: change.old.into(),
            new_priority: change.new.into(),
            by_thread_key: by.map(|by| by.thread_key),
            stack_id: None,
        };
        let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
        context.wait(time, actor, by.and_then(|by| by.process), row);
        Ok(true)
    }
}
