//! GDI and USER objects: creation, ownership and destruction.

use etwkit_decode::win32k::{Class, ObjectEvent, Step};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::import::pipeline::actor::start;
use crate::import::pipeline::inline_stack::inline_stack;
use crate::import::pipeline::{Actor, Context, Pending, Seq, key, waiting};
use crate::table::GdiUserObject;
use crate::tracker::process::ProcessKey;

/// Maximum number of live objects, some 900 MiB. A trace with more of them is malicious.
const MAX_OPEN: usize = 1 << 22;

/// An object: its class, terminal session and handle.
type ObjectKey = (Class, u32, u64);

#[derive(Debug)]
struct OpenObject {
    row: GdiUserObject,
    owner: Option<ProcessKey>,
    start: Option<Seq>,
}

/// Follows objects from their creation to their end.
#[derive(Debug, Default)]
pub(super) struct GdiUser {
    open: FxHashMap<ObjectKey, OpenObject>,
    dropped: u64,
}

impl GdiUser {
    /// Takes an event.
    pub(super) fn event(
        &mut self,
        read: ObjectEvent,
        event: &RawEvent<'_>,
        actor: Actor,
        context: &mut Context<'_>,
    ) {
        let time = event.timestamp;
        let ns = context.ns(event.timestamp);
        if !context.range.contains(ns) {
            return;
        }
        let place = (read.class, read.session, read.handle);
        let owner = Some(read.owner).filter(|pid| *pid != 0);
        let owner = owner.and_then(|pid| context.directory.process_at(pid, time));
        match read.step {
            Step::Create => {
                self.reused(place, time, context);
                let mut row = row(&read, "create");
                (row.create_ns, row.create_thread_key) = (Some(ns), actor.thread_key);
                row.create_process_key = key(actor.process);
                let start = start(event, actor, context);
                self.insert(place, OpenObject { row, owner, start }, context);
            }
            Step::Destroy => {
                let mut open = self.take(&read, place, owner);
                open.owner = owner.or(open.owner);
                let row = &mut open.row;
                (row.outcome, row.destroy_ns) = ("destroyed", Some(ns));
                row.lifetime_ns = row.create_ns.map(|create| ns.saturating_sub(create));
                (row.destroy_process_key, row.destroy_thread_key) =
                    (key(actor.process), actor.thread_key);
                row.process_key = key(open.owner);
                // The line keeps the row with the stack of this event, the destruction.
                let stack = inline_stack(event);
                context.wait_with(time, actor.process, &stack, pending(open.row, open.start));
            }
            Step::Owner => {
                let mut open = self.take(&read, place, None);
                open.row.owner_changes = open
                    .row
                    .owner_changes
                    .saturating_add((open.owner != owner).into());
                open.owner = owner;
                self.insert(place, open, context);
            }
            Step::Transform(before) => {
                let mut open = self.take(&read, (read.class, read.session, before), owner);
                open.row.handle = read.handle.cast_signed();
                open.row.handle_changes = open.row.handle_changes.saturating_add(1);
                if before != read.handle {
                    self.reused(place, time, context);
                }
                self.insert(place, open, context);
            }
        }
    }

    /// The object of a handle. An unknown object existed before the trace.
    fn take(
        &mut self,
        read: &ObjectEvent,
        place: ObjectKey,
        owner: Option<ProcessKey>,
    ) -> OpenObject {
        self.open.remove(&place).unwrap_or_else(|| OpenObject {
            row: row(read, "unknown"),
            owner,
            start: None,
        })
    }

    /// Ends an object whose handle is given again: its end was lost.
    fn reused(&mut self, place: ObjectKey, time: i64, context: &mut Context<'_>) {
        let Some(lost) = self.open.remove(&place) else {
            return;
        };
        write(lost, "reused", time, context);
    }

    fn insert(&mut self, place: ObjectKey, open: OpenObject, context: &mut Context<'_>) {
        if self.open.len() < MAX_OPEN {
            self.open.insert(place, open);
            return;
        }
        self.dropped += 1;
        open.start
            .into_iter()
            .for_each(|start| context.forget(start));
    }

    /// Writes the objects that still exist. Returns the number of objects that were not followed.
    pub(super) fn finish(self, end: i64, context: &mut Context<'_>) -> u64 {
        let mut open: Vec<(ObjectKey, OpenObject)> = self.open.into_iter().collect();
        open.sort_unstable_by_key(|(place, open)| (open.row.create_ns, *place));
        for (_, open) in open {
            let outcome = if context.has_ended(open.owner, end) {
                "process_end"
            } else {
                "open"
            };
            write(open, outcome, end, context);
        }
        self.dropped
    }
}

fn row(read: &ObjectEvent, origin: &'static str) -> GdiUserObject {
    GdiUserObject {
        class: read.class.name(),
        type_id: read.kind.cast_signed(),
        type_name: read.class.type_name(read.kind),
        handle: read.handle.cast_signed(),
        session_id: read.session.cast_signed(),
        origin,
        ..GdiUserObject::default()
    }
}

fn write(mut open: OpenObject, outcome: &'static str, time: i64, context: &mut Context<'_>) {
    open.row.outcome = outcome;
    open.row.process_key = key(open.owner);
    context.wait(time, None, None, pending(open.row, open.start));
}

/// The stack of the destruction is the row's own.
fn pending(row: GdiUserObject, creation: Option<Seq>) -> Pending {
    waiting::row(row, move |row, stacks| {
        (row.create_stack_id, row.destroy_stack_id) = (stacks.of(creation), stacks.own());
    })
}
