//! The subject of a system call: the file, key or handle in events of the same thread inside the
//! call, and the process that it started.

use std::sync::Arc;

use etwkit_decode::kernel::object::{self, Duplicate, Handle};
use etwkit_decode::kernel::process::{self, Process};
use etwkit_decode::kernel::{Hook, file_io, group, registry};
use etwkit_etl::RawEvent;
use etwkit_etl::bytes::utf16_text;

use crate::declared::Events;
use crate::import::files::io;
use crate::import::objects::registry::joined;
use crate::import::pipeline::Context;
use crate::table::Syscall;

/// Events that identify the subject of a call.
pub(super) const EVENTS: &[Events] = &[
    io::OPERATIONS,
    Events::Kernel(group::REGISTRY, registry::OPERATIONS),
    Events::Kernel(
        group::OBJECT,
        &[
            object::opcode::CREATE_HANDLE,
            object::opcode::CLOSE_HANDLE,
            object::opcode::DUPLICATE_HANDLE,
        ],
    ),
    Events::Kernel(group::PROCESS, &[process::opcode::START]),
];

/// The thread of the event: the ID in its payload, otherwise the ID in its header, otherwise the
/// running thread.
pub(super) fn thread(hook: Hook, event: &RawEvent<'_>, context: &Context<'_>) -> Option<u32> {
    match hook.group {
        group::FILE => Some(operation(hook, event)?.tid),
        _ => context.thread_of(event),
    }
}

fn operation<'e>(hook: Hook, event: &RawEvent<'e>) -> Option<file_io::Operation<'e>> {
    file_io::name(hook.opcode)?;
    file_io::Operation::parse(
        event.payload(),
        hook.opcode,
        hook.version,
        event.pointer_size(),
    )
}

/// Adds the data of an event inside a call to the row of the call. Only the first file, key and
/// handle count.
pub(super) fn add(row: &mut Syscall, hook: Hook, event: &RawEvent<'_>, context: &mut Context<'_>) {
    match hook.group {
        group::FILE if row.path.is_none() => row.path = file(hook, event, context),
        group::REGISTRY if row.key.is_none() => row.key = key(hook, event, context),
        group::OBJECT if row.handle.is_none() => row.handle = handle(hook, event).map(i64::from),
        group::PROCESS => started(row, hook, event, context),
        _ => {}
    }
}

fn file(hook: Hook, event: &RawEvent<'_>, context: &Context<'_>) -> Option<Arc<str>> {
    let op = operation(hook, event)?;
    let Some(opened) = op.open_path else {
        let path = |key| context.path(key, event.timestamp);
        return path(op.file_key).or_else(|| path(op.file_object));
    };
    let text = utf16_text(opened);
    (!text.is_empty()).then(|| context.directory.paths.dos_path(&Arc::from(text)))
}

fn key(hook: Hook, event: &RawEvent<'_>, context: &Context<'_>) -> Option<Arc<str>> {
    let read = registry::Operation::parse(event.payload(), hook.version, event.pointer_size())?;
    let base = context
        .directory
        .registry_keys
        .path(read.block, event.timestamp)
        .map(Arc::clone);
    let name = (!registry::names_value(hook.opcode) && !read.name.is_empty())
        .then(|| Arc::from(&*read.name));
    joined(base, name)
}

/// The value of the handle that is created, closed or duplicated; for a duplication, the new
/// handle.
fn handle(hook: Hook, event: &RawEvent<'_>) -> Option<u32> {
    let payload = event.payload();
    let pointer_size = event.pointer_size();
    if hook.opcode == object::opcode::DUPLICATE_HANDLE {
        return Duplicate::parse(payload, pointer_size).map(|read| read.target);
    }
    Handle::parse(payload, pointer_size).map(|read| read.handle)
}

fn started(row: &Syscall, hook: Hook, event: &RawEvent<'_>, context: &mut Context<'_>) {
    let read = Process::parse(event.payload(), hook.version, event.pointer_size());
    let process = read.and_then(|read| {
        context
            .directory
            .process_at(read.event.pid, event.timestamp)
    });
    if let Some((process, enter_ns)) = process.zip(row.enter_ns) {
        context.identity.create_call(process, enter_ns);
    }
}
