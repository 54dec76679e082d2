//! Disk accesses, file operations, page faults.

use std::sync::Arc;

use etwkit_decode::kernel::fault::HardFault;
use etwkit_decode::kernel::file_io::{self, Operation, OperationEnd};
use etwkit_decode::kernel::{Hook, disk, fault, file_name, group};
use etwkit_etl::RawEvent;
use etwkit_etl::bytes::utf16_text;
use rustc_hash::FxHashMap;

use super::disk_queue::DiskQueues;
use crate::declared::{Events, Topic, rows};
use crate::directory::Directory;
use crate::gaps::Unseen;
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, Seq, Who, waiting,
};
use crate::interner::Interner;
use crate::issuer::{Issuer, Issuers};
use crate::sink::{Sink, SinkError};
use crate::table::{self, Row};

/// Completions of disk accesses.
const COMPLETIONS: Events = Events::Kernel(
    group::DISK,
    &[disk::opcode::READ, disk::opcode::WRITE, disk::opcode::FLUSH],
);
/// Starts of disk accesses.
const INITS: Events = Events::Kernel(
    group::DISK,
    &[
        disk::opcode::READ_INIT,
        disk::opcode::WRITE_INIT,
        disk::opcode::FLUSH_INIT,
    ],
);
/// The path of each file key: read by the first pass.
const NAMES: Events = Events::Kernel(group::FILE, file_name::NAMES);
pub(crate) const OPERATIONS: Events = Events::KernelBetween(
    group::FILE,
    file_io::opcode::CREATE,
    file_io::opcode::QUERY_EA,
);
const FAULTS: Events = Events::Kernel(group::MEMORY, &[fault::opcode::HARD_FAULT]);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[COMPLETIONS, INITS, NAMES, OPERATIONS, FAULTS],
    tables: &[
        rows(table::DiskIo::TABLE),
        rows(table::FileIo::TABLE),
        rows(table::HardFault::TABLE),
    ],
    topics: &[
        Topic {
            place: 90,
            name: "disk I/O",
            answers: "which file kept the disk busy",
            recorded_by: "DISK_IO",
            events: &[COMPLETIONS],
            tables: &[table::DiskIo::TABLE, table::DiskFile::TABLE],
        },
        Topic {
            place: 100,
            name: "disk I/O starts",
            answers: "who started a disk access",
            recorded_by: "DISK_IO_INIT",
            events: &[INITS],
            tables: &[],
        },
        Topic {
            place: 110,
            name: "file names",
            answers: "names of the files in disk and file events",
            recorded_by: "FILENAME",
            events: &[NAMES],
            tables: &[],
        },
        Topic {
            place: 120,
            name: "file I/O",
            answers: "which file was opened, read, written, and how long it took",
            recorded_by: "FILE_IO+FILE_IO_INIT",
            events: &[OPERATIONS],
            tables: &[table::FileIo::TABLE, table::FileFile::TABLE],
        },
        Topic {
            place: 130,
            name: "hard faults",
            answers: "which pages were read from disk",
            recorded_by: "HARD_FAULTS",
            events: &[FAULTS],
            tables: &[table::HardFault::TABLE, table::HardFaultFile::TABLE],
        },
    ],
    make: |learned| Box::new(Io::new(learned)),
    ..Declaration::EMPTY
};

/// An operation that has not ended.
#[derive(Debug)]
struct OpenFileIo {
    row: table::FileIo,
    start: Seq,
}

/// Kind of an operation whose start is not in the trace.
const UNKNOWN: &str = "unknown";

/// Pairs starts with ends.
#[derive(Debug)]
struct Io<'l> {
    queues: &'l DiskQueues,
    unseen: Unseen,
    /// Starts of disk accesses by request packet.
    disk_starts: FxHashMap<u64, Seq>,
    issuers: Issuers,
    last_completion: FxHashMap<u32, i64>,
    /// File operations by request packet.
    operations: FxHashMap<u64, OpenFileIo>,
    /// Paths of open files, by file object, for files that have no key yet.
    opened: FxHashMap<u64, Arc<str>>,
    paths: Interner,
}

impl<'l> Io<'l> {
    fn new(learned: Learned<'l>) -> Self {
        let Directory {
            gaps, ring_start, ..
        } = &learned.collected.directory;
        Self {
            queues: &learned.collected.disk_queues,
            unseen: Unseen::of(gaps, *ring_start, learned.session.clock()),
            disk_starts: FxHashMap::default(),
            issuers: Issuers::default(),
            last_completion: FxHashMap::default(),
            operations: FxHashMap::default(),
            opened: FxHashMap::default(),
            paths: Interner::default(),
        }
    }

    /// Takes a disk event. Returns true if this table shows it.
    fn disk(&mut self, hook: Hook, event: &RawEvent<'_>, context: &mut Context<'_>) -> bool {
        use disk::opcode::{FLUSH, FLUSH_INIT, READ, READ_INIT, WRITE, WRITE_INIT};
        let payload = event.payload();
        let pointer_size = event.pointer_size();
        match hook.opcode {
            READ | WRITE | FLUSH => {
                // Layouts differ by version, and flushes lack fields that reads and writes have.
                let io = disk::DiskIo::parse(payload, hook.opcode, hook.version, pointer_size);
                let Some(io) = io else { return false };
                // The completion runs in the context of any thread, so the issuer comes from the
                // start.
                let issuer = self.issuers.completed(&io, event);
                self.disk_completion(hook.opcode, &io, issuer, event.timestamp, context);
                true
            }
            READ_INIT | WRITE_INIT | FLUSH_INIT => {
                let Some((irp, tid)) = disk::parse_init(payload, hook.version, pointer_size) else {
                    return false;
                };
                // No issuer means that the packet is one of another kind of request, which no
                // completion here will name.
                let Some(issuer) = self.issuers.start(irp, tid, event) else {
                    return true;
                };
                let process = issuer.process(context.directory);
                let seq = context.wait(event.timestamp, Some(issuer.tid), process, Pending::Start);
                // A request packet serves one request at a time. Its previous start was never
                // completed in the trace.
                if let Some(lost) = self.disk_starts.insert(irp, seq) {
                    context.forget(lost);
                }
                true
            }
            _ => false,
        }
    }

    fn disk_completion(
        &mut self,
        op: u8,
        io: &disk::DiskIo,
        issuer: Option<Issuer>,
        time: i64,
        context: &mut Context<'_>,
    ) {
        // Completions of old versions have no request packet, and 0 would join them to any start.
        let start = self.disk_starts.remove(&io.irp).filter(|_| io.irp != 0);
        // Disks are assumed to serve one request after the other: service started when the previous
        // request was done.
        let previous = self.last_completion.insert(io.disk, time);
        // Counted back from the completion, in ticks of the clock: the start may be before the
        // trace.
        let init_ns = context.clock.nanoseconds_before(time, io.response_ticks);
        let complete_ns = context.ns(time);
        // An access belongs to the range in which it started, as all operations do. Its completion
        // is remembered even outside, because the service of the next one starts there.
        if !context.range.contains(init_ns) {
            start.into_iter().for_each(|seq| context.forget(seq));
            return;
        }
        // Service cannot start before the request or end after it, whatever the times of other
        // requests say.
        let service_start = previous.map_or(init_ns, |previous| {
            context.ns(previous).clamp(init_ns, complete_ns)
        });
        // By the time of the request, since the thread may have ended before the disk answered.
        let who = issuer.map(|issuer| Who {
            process: issuer.process(context.directory),
            thread_key: context.of_thread(issuer.tid, issuer.time()).thread_key,
        });
        let io_ns = complete_ns.saturating_sub(init_ns);
        // The completion that really was before it may be missing, and then the disk was not at work
        // on this one all the time.
        let is_known = !self.unseen.is_within(service_start, complete_ns);
        let service_ns = is_known.then(|| complete_ns.saturating_sub(service_start));
        let is_flush = op == disk::opcode::FLUSH;
        // The depths come from the first pass, which saw all starts and ends in order.
        let depths = self.queues.depths(io.disk, init_ns, complete_ns);
        let row = table::DiskIo {
            kind: match op {
                disk::opcode::READ => "read",
                disk::opcode::WRITE => "write",
                _ => "flush",
            },
            disk: io.disk as i32,
            process_key: who.and_then(Who::process_key),
            thread_key: who.map(|who| who.thread_key),
            init_ns,
            complete_ns,
            io_ns,
            service_ns,
            queue_ns: service_ns.map(|service_ns| io_ns - service_ns),
            // A flush has no place on the disk.
            offset_bytes: (!is_flush).then_some(io.offset as i64),
            size_bytes: io.bytes.into(),
            path: if is_flush {
                None
            } else {
                context.path(io.file_key, time)
            },
            // Windows keeps the priority of a request in bits 17 to 19 of its flags.
            priority: (io.irp_flags >> 17 & 7) as i32,
            irp_flags: io.irp_flags as i32,
            queue_depth_start: depths.map(|(start, _)| start as i32),
            queue_depth_end: depths.map(|(_, end)| end as i32),
            stack_id: None,
        };
        let row = waiting::row(row, move |row, stacks| row.stack_id = stacks.of(start));
        context.wait(time, None, None, row);
    }

    /// Takes a file event. Returns true if this table shows it.
    fn file(&mut self, hook: Hook, event: &RawEvent<'_>, context: &mut Context<'_>) -> bool {
        let payload = event.payload();
        let pointer_size = event.pointer_size();
        // All ends are one kind of event, which names the request packet and not the operation.
        if hook.opcode == file_io::opcode::OPERATION_END {
            let Some(end) = OperationEnd::parse(payload, pointer_size) else {
                return false;
            };
            self.operation_end(&end, event.timestamp, context);
            return true;
        }
        let Some(kind) = file_io::name(hook.opcode) else {
            return false;
        };
        let Some(operation) = Operation::parse(payload, hook.opcode, hook.version, pointer_size)
        else {
            return false;
        };
        self.operation(kind, &operation, event.timestamp, context);
        true
    }

    fn operation(
        &mut self,
        kind: &'static str,
        op: &Operation<'_>,
        time: i64,
        context: &mut Context<'_>,
    ) {
        // The event names its thread, unlike the end, which may run on another one.
        let who = context.of_thread(op.tid, time);
        let path = self.path_of(kind, op, time, context);
        let row = table::FileIo {
            kind,
            process_key: who.process_key(),
            thread_key: Some(who.thread_key),
            start_ns: Some(context.ns(time)),
            path,
            offset_bytes: op.transfer.map(|(offset, _)| offset as i64),
            size_bytes: op.transfer.map(|(_, bytes)| bytes.into()),
            create_options: op.create.map(|create| create.options().cast_signed()),
            create_disposition: op.create.map(|create| create.disposition().into()),
            file_attributes: op.create.map(|create| create.attributes.cast_signed()),
            share_access: op.create.map(|create| create.share_access.cast_signed()),
            io_flags: op.io_flags.map(u32::cast_signed),
            info_class: op.info_class.map(u32::cast_signed),
            ..table::FileIo::default()
        };
        // The stack of an operation is logged at its start, the row is written at its end.
        let start = context.wait(time, Some(op.tid), who.process, Pending::Start);
        let open = OpenFileIo { row, start };
        if let Some(lost) = self.operations.insert(op.irp, open) {
            // The end of the previous operation was lost: its request packet serves another
            // operation by now.
            write(lost, time, context);
        }
    }

    /// The path of an operation: of the file key, otherwise of the open file, otherwise as it was
    /// opened.
    fn path_of(
        &mut self,
        kind: &str,
        op: &Operation<'_>,
        time: i64,
        context: &Context<'_>,
    ) -> Option<Arc<str>> {
        // The path is stored under the file object, since operations until the first name event have no
        // other link to it.
        if let Some(bytes) = op.open_path {
            let text = utf16_text(bytes);
            let opened = (!text.is_empty())
                .then(|| context.directory.paths.dos_path(&self.paths.intern(&text)));
            self.opened
                .extend(opened.clone().map(|path| (op.file_object, path)));
            return opened;
        }
        // Files are known by key or by object: which of both a name event had depends on its
        // version.
        let known = context
            .path(op.file_key, time)
            .or_else(|| context.path(op.file_object, time));
        // The address of a file object is reused as soon as the object is closed.
        let opened = if kind == "close" {
            self.opened.remove(&op.file_object)
        } else {
            self.opened.get(&op.file_object).cloned()
        };
        known.or(opened)
    }

    fn operation_end(&mut self, end: &OperationEnd, time: i64, context: &mut Context<'_>) {
        let end_ns = context.ns(time);
        let Some(mut open) = self.operations.remove(&end.irp) else {
            // The operation started before the trace, or its start was lost: neither its kind nor
            // its thread is known.
            // Outside the range an end without a start says nothing that a row could keep.
            if context.range.contains(end_ns) {
                let row = table::FileIo {
                    kind: UNKNOWN,
                    end_ns: Some(end_ns),
                    result_bytes: Some(end.information as i64),
                    status: Some(end.status as i32),
                    ..table::FileIo::default()
                };
                context.wait(time, None, None, waiting::row(row, |_, _| {}));
            }
            return;
        };
        open.row.end_ns = Some(end_ns);
        // Null only for an operation without a start.
        open.row.duration_ns = open.row.start_ns.map(|start| end_ns.saturating_sub(start));
        open.row.result_bytes = Some(end.information as i64);
        open.row.status = Some(end.status as i32);
        write(open, time, context);
    }

    /// Takes a page fault.
    fn fault(&mut self, event: &RawEvent<'_>, context: &mut Context<'_>) -> bool {
        let Some(fault) = HardFault::parse(event.payload(), event.pointer_size()) else {
            return false;
        };
        // The event is logged when the page is there, and has the raw time at which the fault
        // began.
        let start_ns = context.ns(fault.initial_time);
        let end_ns = context.ns(event.timestamp);
        if !context.range.contains(start_ns) {
            return true;
        }
        // The thread that waited, which is in the payload.
        let who = context.of_thread(fault.tid, event.timestamp);
        let row = table::HardFault {
            process_key: who.process_key(),
            thread_key: who.thread_key,
            start_ns,
            end_ns,
            duration_ns: end_ns.saturating_sub(start_ns),
            address: fault.address as i64,
            offset_bytes: fault.offset as i64,
            size_bytes: fault.bytes.into(),
            path: context.path(fault.file_key, event.timestamp),
            stack_id: None,
        };
        let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
        context.wait(event.timestamp, Some(fault.tid), who.process, row);
        true
    }
}

impl Importer for Io<'_> {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        Ok(match hook.group {
            group::DISK => self.disk(hook, event, context),
            // Names were read by the first pass. They count as shown, so that no generic row
            // repeats them.
            group::FILE => file_name::is_name(hook.opcode) || self.file(hook, event, context),
            _ => self.fault(event, context),
        })
    }

    /// Writes the operations that had not ended at the end of the trace.
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let mut open: Vec<OpenFileIo> = self.operations.into_values().collect();
        // The map has no order, and rows have to be the same in every run.
        // The position in the line is the order of the starts.
        open.sort_unstable_by_key(|open| open.start);
        for open in open {
            write(open, learned.collected.end, context);
        }
        Ok(())
    }
}

fn write(open: OpenFileIo, time: i64, context: &mut Context<'_>) {
    if open
        .row
        .start_ns
        .is_some_and(|start| context.range.contains(start))
    {
        let OpenFileIo { row, start } = open;
        let row = waiting::row(row, move |row, stacks| {
            row.stack_id = stacks.of(Some(start));
        });
        context.wait(time, None, None, row);
    } else {
        context.forget(open.start);
    }
}
