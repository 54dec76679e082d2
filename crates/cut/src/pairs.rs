//! Operations with a start event and an end event: those that were running when the part starts,
//! and those that end after it.

use etwkit_decode::kernel::file_io::{self, Operation, OperationEnd};
use etwkit_decode::kernel::mini_filter::{self, Callback, Step};
use etwkit_decode::kernel::{Hook, disk, group, idle, syscall};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::needed::{Id, Needed};
use crate::part::PartSide;

/// The meaning of the number in a [`Key`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// Request packet of a disk access.
    Disk,
    /// Request packet of a file operation.
    File,
    /// Open file.
    Opened,
    /// Callback of a minifilter driver.
    Callback,
    /// System calls of a thread, nested.
    Call,
    /// The last access that a disk completed.
    Completed,
    /// The last power transition of a processor: it went to sleep, or woke up.
    Idle,
}

/// A kind of operation, with the number that identifies one operation of this kind.
type Key = (Kind, u64);

/// Maximum number of open operations: the ends of further ones are not kept.
const MAX_OPEN: usize = 1 << 20;

/// Maximum number of nested system calls of a thread.
const MAX_NESTED: usize = 16;

/// The operation that an event starts, ends or replaces.
enum PairEvent {
    Starts(Key),
    Ends(Key),
    /// It replaces the previous one.
    Replaces(Key),
}

/// An operation that has not ended.
#[derive(Debug, Clone, Copy)]
struct StartedOperation {
    id: Id,
    place: PartSide,
}

/// Operations that have not ended.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    open: FxHashMap<Key, Vec<StartedOperation>>,
}

impl Pairs {
    /// Called at the start of the part: operations that have not ended are needed.
    pub(crate) fn begin(&self, needed: &mut Needed) {
        self.open
            .values()
            .flatten()
            .for_each(|open| needed.add(open.id));
    }

    pub(crate) fn event(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        running: Option<u32>,
        place: PartSide,
        needed: &mut Needed,
    ) {
        // One event may end an operation and start the next.
        for edge in pair_events(hook, event, running).into_iter().flatten() {
            match edge {
                PairEvent::Starts(key) => self.start(key, event, place),
                PairEvent::Replaces(key) => {
                    self.open.remove(&key);
                    self.start(key, event, place);
                }
                PairEvent::Ends(key) => {
                    // Operations that started in the part are reported whole. A state extends into
                    // the part from its start.
                    let reaches = |open: StartedOperation| {
                        open.place == PartSide::Within
                            || key.0 == Kind::Idle && open.place == PartSide::Before
                    };
                    // The end is kept if the start is in the part, wherever the end lies.
                    if self.end(key).is_some_and(reaches) && place == PartSide::Behind {
                        needed.add_behind(event);
                    }
                }
            }
        }
    }

    fn start(&mut self, key: Key, event: &RawEvent<'_>, place: PartSide) {
        // Beyond the limit ends are missing from the cut and not from memory.
        if self.open.len() >= MAX_OPEN {
            return;
        }
        let open = self.open.entry(key).or_default();
        // The kernel calls back into window procedures, and these call the kernel again, so several
        // calls of a thread can be open at a time. For every other kind only one can be open.
        let is_nested = key.0 == Kind::Call;
        if !is_nested {
            // The end of the previous one is missing.
            open.clear();
        } else if open.len() >= MAX_NESTED {
            open.remove(0);
        }
        open.push(StartedOperation {
            id: Id::of(event),
            place,
        });
    }

    fn end(&mut self, key: Key) -> Option<StartedOperation> {
        let open = self.open.get_mut(&key)?;
        let ended = open.pop();
        if open.is_empty() {
            // Empty lists would stay for every thread that ever made a call.
            self.open.remove(&key);
        }
        ended
    }
}

fn pair_events(hook: Hook, event: &RawEvent<'_>, running: Option<u32>) -> [Option<PairEvent>; 2] {
    match hook.group {
        group::DISK => disk_access(hook, event),
        group::FILE if file_io::name(hook.opcode).is_some() => file_operation(hook, event),
        group::FILE if hook.opcode == file_io::opcode::OPERATION_END => {
            let end = OperationEnd::parse(event.payload(), event.pointer_size());
            [end.map(|end| PairEvent::Ends((Kind::File, end.irp))), None]
        }
        group::FILE => [callback(hook, event), None],
        group::PERFINFO => [call(hook, event, running), None],
        group::POWER if matches!(hook.opcode, idle::opcode::ENTER | idle::opcode::EXIT) => {
            let processor = (Kind::Idle, event.cpu.into());
            // Going to sleep ends being awake, and vice versa: each event is both.
            [
                Some(PairEvent::Ends(processor)),
                Some(PairEvent::Starts(processor)),
            ]
        }
        _ => [None, None],
    }
}

fn disk_access(hook: Hook, event: &RawEvent<'_>) -> [Option<PairEvent>; 2] {
    use disk::opcode::{FLUSH, FLUSH_INIT, READ, READ_INIT, WRITE, WRITE_INIT};
    let payload = event.payload();
    let pointer_size = event.pointer_size();
    match hook.opcode {
        READ_INIT | WRITE_INIT | FLUSH_INIT => {
            let init = disk::parse_init(payload, hook.version, pointer_size);
            [
                init.map(|(irp, _)| PairEvent::Starts((Kind::Disk, irp))),
                None,
            ]
        }
        READ | WRITE | FLUSH => {
            let io = disk::DiskIo::parse(payload, hook.opcode, hook.version, pointer_size);
            let ends = io.map(|io| PairEvent::Ends((Kind::Disk, io.irp)));
            // The next access to the disk is served from here on.
            [
                ends,
                io.map(|io| PairEvent::Replaces((Kind::Completed, io.disk.into()))),
            ]
        }
        _ => [None, None],
    }
}

fn file_operation(hook: Hook, event: &RawEvent<'_>) -> [Option<PairEvent>; 2] {
    let read = Operation::parse(
        event.payload(),
        hook.opcode,
        hook.version,
        event.pointer_size(),
    );
    let Some(read) = read else {
        return [None, None];
    };
    let file = (Kind::Opened, read.file_object);
    let opened = match hook.opcode {
        file_io::opcode::CREATE | file_io::opcode::CREATE_NEW => Some(PairEvent::Starts(file)),
        file_io::opcode::CLOSE => Some(PairEvent::Ends(file)),
        _ => None,
    };
    [Some(PairEvent::Starts((Kind::File, read.irp))), opened]
}

fn callback(hook: Hook, event: &RawEvent<'_>) -> Option<PairEvent> {
    use mini_filter::opcode::{POST_FAILURE, PRE_START};
    if !(PRE_START..=POST_FAILURE).contains(&hook.opcode) {
        return None;
    }
    let read = Callback::parse(event.payload(), hook.opcode, event.pointer_size())?;
    let call = read.call;
    // Three addresses distinguish calls. Their high bits are equal; the rotations separate them.
    let mixed = call.routine.rotate_left(17) ^ call.irp.rotate_left(34) ^ call.callback_data;
    let key = (Kind::Callback, mixed ^ u64::from(call.is_post));
    Some(if read.step == Step::Start {
        PairEvent::Starts(key)
    } else {
        PairEvent::Ends(key)
    })
}

fn call(hook: Hook, event: &RawEvent<'_>, running: Option<u32>) -> Option<PairEvent> {
    let key = |tid: u32| (Kind::Call, tid.into());
    // Records with the short header name no thread.
    let tid = event.thread_id().or(running);
    match hook.opcode {
        syscall::opcode::ENTER => tid.map(|tid| PairEvent::Starts(key(tid))),
        syscall::opcode::EXIT => tid.map(|tid| PairEvent::Ends(key(tid))),
        _ => None,
    }
}
