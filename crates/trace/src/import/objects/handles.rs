//! Handles: opening and closing. References to objects.

use etwkit_decode::kernel::object::{
    self, Duplicate, Handle, KERNEL_HANDLE, References, Rundown, opcode,
};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use super::lifetimes::Objects;
use super::object_types::ObjectTypes;
use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, Seq, key, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{self, Row};
use crate::tracker::process::ProcessKey;

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[Events::Kernel(
        group::OBJECT,
        &[
            opcode::CREATE_HANDLE,
            opcode::CLOSE_HANDLE,
            opcode::DUPLICATE_HANDLE,
            opcode::TYPE_START,
            opcode::TYPE_END,
            opcode::HANDLE_START,
            opcode::HANDLE_END,
            opcode::CREATE_OBJECT,
            opcode::DELETE_OBJECT,
            opcode::REFERENCE,
            opcode::DEREFERENCE,
        ],
    )],
    tables: &[
        rows(table::Object::TABLE),
        rows(table::Handle::TABLE),
        rows(table::ObjectRef::TABLE),
    ],
    topics: &[Topic {
        place: 180,
        name: "handles",
        answers: "who leaks handles",
        recorded_by: "OB_HANDLE+OB_OBJECT",
        events: &[Events::KernelBetween(
            group::OBJECT,
            opcode::CREATE_HANDLE,
            opcode::DEREFERENCE,
        )],
        tables: &[
            table::Object::TABLE,
            table::Handle::TABLE,
            table::ObjectRef::TABLE,
            table::HandleType::TABLE,
        ],
    }],
    make: |learned| Box::new(Handles::new(&learned.collected.object_types)),
    ..Declaration::EMPTY
};

/// Maximum number of open handles, some 600 MiB. A trace with more of them is malicious.
const MAX_OPEN: usize = 1 << 22;

/// Process System, which has the handles of the kernel.
const SYSTEM: u32 = 4;

/// A handle of a process.
type HandleOf = (Option<ProcessKey>, u32);

/// A handle that is open.
#[derive(Debug)]
struct OpenHandle {
    row: table::Handle,
    start: Option<Seq>,
    object: u64,
}

/// The process and thread that logged an event.
#[derive(Debug, Clone, Copy, Default)]
struct Actor {
    tid: Option<u32>,
    process: Option<ProcessKey>,
    thread_key: Option<i32>,
}

/// An event, with the state needed to write rows.
struct At<'a, 'd> {
    time: i64,
    ns: i64,
    actor: Actor,
    context: &'a mut Context<'d>,
    sink: &'a mut dyn Sink,
}

/// Follows handles and objects.
#[derive(Debug)]
struct Handles<'t> {
    objects: Objects<'t>,
    open: FxHashMap<HandleOf, OpenHandle>,
    /// Processes by the ID of the process that started them, in the order of their starts; built
    /// when a handle is inherited.
    children: Option<FxHashMap<u32, Vec<(i64, ProcessKey)>>>,
    /// Number of handles that are not followed because there are too many.
    dropped: u64,
}

impl<'t> Handles<'t> {
    fn new(types: &'t ObjectTypes) -> Self {
        Self {
            objects: Objects::new(types),
            open: FxHashMap::default(),
            children: None,
            dropped: 0,
        }
    }

    fn event(
        &mut self,
        op: u8,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let payload = event.payload();
        let pointer_size = event.pointer_size();
        let time = event.timestamp;
        let ns = context.ns(event.timestamp);
        // The lists at both ends come from the session and not from a thread of the process: the
        // header of such an event says nothing about who opened the handle.
        if matches!(op, opcode::HANDLE_START | opcode::HANDLE_END) {
            let Some(read) = Rundown::parse(payload, pointer_size) else {
                return Ok(false);
            };
            let mut at = At {
                time,
                ns,
                actor: Actor::default(),
                context,
                sink,
            };
            return self.rundown(&read, op, &mut at).map(|()| true);
        }
        // The first pass already read the names of types.
        if matches!(op, opcode::TYPE_START | opcode::TYPE_END) {
            return Ok(true);
        }
        let actor = actor(event, context);
        let mut at = At {
            time,
            ns,
            actor,
            context,
            sink,
        };
        // Outside the range an event is parsed but changes nothing: a handle that was opened before
        // the range must look as it does in a trace that began there, open from an unknown time.
        let is_in_range = at.context.range.contains(ns);
        match op {
            opcode::CREATE_HANDLE | opcode::CLOSE_HANDLE => {
                let Some(read) = Handle::parse(payload, pointer_size) else {
                    return Ok(false);
                };
                match op {
                    // A payload outside the range is still parsed, so that whether an event is
                    // understood does not depend on the range.
                    _ if !is_in_range => {}
                    opcode::CREATE_HANDLE => self.create(&read, &mut at)?,
                    _ => self.close(&read, &mut at)?,
                }
            }
            opcode::DUPLICATE_HANDLE => {
                let Some(read) = Duplicate::parse(payload, pointer_size) else {
                    return Ok(false);
                };
                if is_in_range {
                    self.duplicate(read, &mut at)?;
                }
            }
            opcode::CREATE_OBJECT | opcode::DELETE_OBJECT => {
                let Some((address, kind)) = object::object(payload, pointer_size) else {
                    return Ok(false);
                };
                if is_in_range {
                    self.life(address, kind, op == opcode::CREATE_OBJECT, &mut at)?;
                }
            }
            opcode::REFERENCE | opcode::DEREFERENCE => {
                let Some(read) = References::parse(payload, pointer_size) else {
                    return Ok(false);
                };
                if is_in_range {
                    self.references(&read, op == opcode::REFERENCE, &mut at)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn create(&mut self, read: &Handle, at: &mut At<'_, '_>) -> Result<(), SinkError> {
        let owner = owner(at.actor.process, read.handle, at);
        let row = table::Handle {
            origin: "create",
            ..table::Handle::default()
        };
        self.opened(owner, read, row, at)
    }

    fn duplicate(&mut self, read: Duplicate, at: &mut At<'_, '_>) -> Result<(), SinkError> {
        let process_at = |pid: u32| at.context.directory.process_at(pid, at.time);
        let target = process_at(read.target_pid);
        // Without a source the event is the form for the calling process, which copies its own
        // handle.
        let source = read.source_pid.map_or(at.actor.process, process_at);
        // A copy into the same process with the value that it already has is a copy for a process
        // that is being started, whose ID is still unknown.
        let is_inherited = target.is_some() && source == target && read.source == read.target;
        let target = if is_inherited {
            self.heir(read.target_pid, at.time, at.context)
        } else {
            target
        };
        let owner = owner(target, read.target, at);
        let row = table::Handle {
            origin: if is_inherited { "inherit" } else { "duplicate" },
            source_process_key: key(source),
            source_handle: Some(read.source.into()),
            ..table::Handle::default()
        };
        // The event has no name of the object. If the object is known, an earlier event named it.
        let handle = Handle {
            object: read.object,
            handle: read.target,
            kind: read.kind,
            name: None,
        };
        self.opened(owner, &handle, row, at)
    }

    /// The first process that a process starts after a time.
    fn heir(&mut self, parent: u32, time: i64, context: &Context<'_>) -> Option<ProcessKey> {
        // Built once and kept: every inherited handle asks for it, and a shell that starts hundreds
        // of programs would otherwise scan all processes for each of their handles.
        let instances = context.directory.processes.instances();
        let children = self.children.get_or_insert_with(|| {
            let mut children: FxHashMap<u32, Vec<(i64, ProcessKey)>> = FxHashMap::default();
            for (process, number) in instances.iter().zip(0..) {
                if let Some((parent, start)) = process.parent_pid.zip(process.start) {
                    children
                        .entry(parent)
                        .or_default()
                        .push((start, ProcessKey(number)));
                }
            }
            children
                .values_mut()
                // Also by number, so that of two that start at one time it is always the same one.
                .for_each(|list| list.sort_unstable_by_key(|(start, child)| (*start, child.0)));
            children
        });
        let list = children.get(&parent)?;
        // The first start at or after the copy. Windows copies handles while it makes the process,
        // so that the start is logged after the copies.
        list.get(list.partition_point(|(start, _)| *start < time))
            .map(|(_, child)| *child)
    }

    /// Takes a handle that was created, copied or inherited.
    fn opened(
        &mut self,
        owner: HandleOf,
        read: &Handle,
        mut row: table::Handle,
        at: &mut At<'_, '_>,
    ) -> Result<(), SinkError> {
        // A value is unique within a process as long as the handle is open. If it is given out
        // again, the close was lost, and the old row ends here and not at the end of the trace.
        self.reused(owner, at)?;
        let ns = Some(at.ns);
        row.object_id = self
            .objects
            .at(read.object, Some(read.kind), ns, at.context, at.sink)?;
        self.objects.name(read.object, read.name.as_deref());
        // The object above still gets its row and its name. Only the handle is not followed.
        if self.open.len() >= MAX_OPEN {
            self.dropped += 1;
            return Ok(());
        }
        // Counted only now: a handle that is not followed is never closed here, and would keep its
        // object alive.
        self.objects.opened(read.object);
        (row.process_key, row.handle, row.open_ns) = (key(owner.0), owner.1.into(), ns);
        (row.open_process_key, row.open_thread_key) = (key(at.actor.process), at.actor.thread_key);
        // The stack of the opening arrives after this event, but the row is written at the close. A
        // start in the line keeps the stack until then.
        let start = at
            .context
            .wait(at.time, at.actor.tid, at.actor.process, Pending::Start);
        let open = OpenHandle {
            row,
            start: Some(start),
            object: read.object,
        };
        self.open.insert(owner, open);
        Ok(())
    }

    /// Ends a handle whose value is given again: its close was lost.
    fn reused(&mut self, owner: HandleOf, at: &mut At<'_, '_>) -> Result<(), SinkError> {
        let Some(mut open) = self.open.remove(&owner) else {
            return Ok(());
        };
        open.row.outcome = "reused";
        let object = (open.object, open.row.object_id);
        // No thread and no process: the close was not seen, so no stack that comes now can be its.
        at.context
            .wait(at.time, None, None, pending(open.row, open.start));
        self.objects.closed(object, at.context, at.sink)
    }

    fn close(&mut self, read: &Handle, at: &mut At<'_, '_>) -> Result<(), SinkError> {
        let owner = owner(at.actor.process, read.handle, at);
        // The value refers to another object than the one that was opened: the close and an opening
        // in between were lost.
        if self
            .open
            .get(&owner)
            .is_some_and(|open| open.object != read.object)
        {
            self.reused(owner, at)?;
        }
        let (mut row, start) = match self.open.remove(&owner) {
            Some(open) => (open.row, open.start),
            None => {
                // The opening was before the trace or was lost. The close is still worth a row,
                // since it names the object and the thread.
                let ns = Some(at.ns);
                let object_id =
                    self.objects
                        .at(read.object, Some(read.kind), ns, at.context, at.sink)?;
                let process_key = key(owner.0);
                let handle = owner.1.into();
                let origin = "unknown";
                let row = table::Handle {
                    process_key,
                    handle,
                    object_id,
                    origin,
                    ..table::Handle::default()
                };
                (row, None)
            }
        };
        self.objects.name(read.object, read.name.as_deref());
        row.outcome = "closed";
        row.close_ns = Some(at.ns);
        row.lifetime_ns = row.open_ns.map(|open| at.ns.saturating_sub(open));
        (row.close_process_key, row.close_thread_key) =
            (key(at.actor.process), at.actor.thread_key);
        let object = (read.object, row.object_id);
        at.context
            // Waited for by the thread that closes, which may be another one than the thread that
            // opened.
            .wait(at.time, at.actor.tid, at.actor.process, pending(row, start));
        self.objects.closed(object, at.context, at.sink)
    }

    /// A handle that was open when the session started or ended.
    fn rundown(&mut self, read: &Rundown, op: u8, at: &mut At<'_, '_>) -> Result<(), SinkError> {
        let handle = &read.handle;
        // The owner is looked up by the time of the list: a process ID may have been reused since
        // the opening.
        let owner = owner(
            at.context.directory.process_at(read.pid, at.time),
            handle.handle,
            at,
        );
        // A handle that was opened in the trace is in the list at the end once more.
        let is_known = self
            .open
            .get(&owner)
            .is_some_and(|open| open.object == handle.object);
        // The lists are made at the ends of the trace. They do not list the handles that were open
        // at the ends of a part of it.
        let is_kept = at.context.range.contains(at.ns) && self.open.len() < MAX_OPEN;
        // A value that is open with another object is left alone. Its own close, or its reuse,
        // corrects it.
        if !is_known && is_kept && !self.open.contains_key(&owner) {
            let kind = Some(handle.kind);
            // The list at the end proves nothing about the object before the end.
            let ns = Some(at.ns).filter(|_| op == opcode::HANDLE_START);
            let object_id = self
                .objects
                .at(handle.object, kind, ns, at.context, at.sink)?;
            self.objects.opened(handle.object);
            let process_key = key(owner.0);
            let value = owner.1.into();
            let row = table::Handle {
                process_key,
                handle: value,
                object_id,
                origin: "rundown",
                ..table::Handle::default()
            };
            self.open.insert(
                owner,
                OpenHandle {
                    row,
                    start: None,
                    object: handle.object,
                },
            );
        }
        self.objects.name(handle.object, handle.name.as_deref());
        Ok(())
    }

    fn life(
        &mut self,
        address: u64,
        kind: u16,
        begins: bool,
        at: &mut At<'_, '_>,
    ) -> Result<(), SinkError> {
        // The creation ends whatever was at the address. The deletion must first find the object,
        // which may be one that existed before the trace.
        let object_id = if begins {
            self.objects
                .create(address, kind, at.ns, at.context, at.sink)?
        } else {
            let id = self
                .objects
                .at(address, Some(kind), Some(at.ns), at.context, at.sink)?;
            self.objects
                .end(address, Some(at.ns), at.context, at.sink)?;
            id
        };
        let kind = if begins { "create" } else { "delete" };
        event_row(
            table::ObjectRef {
                object_id,
                kind,
                ..table::ObjectRef::default()
            },
            at,
        );
        Ok(())
    }

    fn references(
        &mut self,
        read: &References,
        taken: bool,
        at: &mut At<'_, '_>,
    ) -> Result<(), SinkError> {
        // References name no type, so they cannot tell whether another object is at the address by
        // now.
        let object_id = self
            .objects
            .at(read.object, None, Some(at.ns), at.context, at.sink)?;
        let kind = if taken { "reference" } else { "dereference" };
        // Tags are four characters and repeat millions of times, so each is kept once.
        let tag = Some(self.objects.text(&read.tag_text()));
        let count = Some(read.count.into());
        event_row(
            table::ObjectRef {
                object_id,
                kind,
                tag,
                count,
                ..table::ObjectRef::default()
            },
            at,
        );
        Ok(())
    }
}

impl Importer for Handles<'_> {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        self.event(hook.opcode, event, context, sink)
    }

    /// Writes the open handles and the live objects.
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let end = learned.collected.end;
        // A hash map has no order, and the same input has to give the same output.
        let mut open: Vec<(HandleOf, OpenHandle)> = self.open.into_iter().collect();
        open.sort_unstable_by_key(|((process, handle), open)| {
            (open.row.open_ns, process.map(|process| process.0), *handle)
        });
        for ((process, _), mut open) in open {
            open.row.outcome = if context.has_ended(process, end) {
                "process_end"
            } else {
                "open"
            };
            // At the end there is no event and no stack to wait for. The stack of the opening has
            // its own place.
            context.wait(end, None, None, pending(open.row, open.start));
        }
        context.notes.not_followed += self.dropped + self.objects.finish(context, sink)?;
        Ok(())
    }
}

/// The row of a handle. The stack of the close is the row's own.
fn pending(row: table::Handle, open: Option<Seq>) -> Pending {
    waiting::row(row, move |row, stacks| {
        (row.open_stack_id, row.close_stack_id) = (stacks.of(open), stacks.own());
    })
}

/// The process that owns a handle: kernel handles belong to System, independent of the process that
/// uses them.
fn owner(process: Option<ProcessKey>, handle: u32, at: &At<'_, '_>) -> HandleOf {
    let system = || at.context.directory.process_at(SYSTEM, at.time);
    (
        if handle & KERNEL_HANDLE == 0 {
            process
        } else {
            system().or(process)
        },
        handle,
    )
}

fn actor(event: &RawEvent<'_>, context: &mut Context<'_>) -> Actor {
    let time = event.timestamp;
    let tid = context.thread_of(event);
    let who = tid.map(|tid| context.of_thread(tid, time));
    let in_header = event
        .process_id()
        .and_then(|pid| context.directory.process_at(pid, time));
    // The header is right even if the thread is attached to another process, so it comes before the
    // process of the thread.
    let process = in_header.or(who.and_then(|who| who.process));
    Actor {
        tid,
        process,
        thread_key: who.map(|who| who.thread_key),
    }
}

fn event_row(row: table::ObjectRef, at: &mut At<'_, '_>) {
    let Actor {
        tid,
        process,
        thread_key,
    } = at.actor;
    let row = table::ObjectRef {
        ts_ns: at.ns,
        process_key: key(process),
        thread_key,
        ..row
    };
    let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
    at.context.wait(at.time, tid, process, row);
}
