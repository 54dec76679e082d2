//! File operations and transfers of the disk.

use std::io::{Seek, Write};

use super::times::TICK_NS;
use super::{Happening, Sim, kind};
use crate::Result;
use crate::plan::file_key;
use crate::table::{Cpu, File, Thread};
use crate::tape::{Kind, MICROSECOND};
use crate::truth::{Operations, Transfers};

/// Number of the only disk.
const DISK: u32 = 0;
/// Request flags: not cached, synchronous, of normal priority; then flags of low priority.
// Bits 17 to 19 are the I/O priority, the only part in which the two differ: 3 is normal, 2 is low.
const IRP_FLAGS: u32 = 0x6_0043;
const LOW_IRP_FLAGS: u32 = 0x4_0043;
/// Additional time of a write without a disk write cache, in microseconds.
const THROUGH_US: (u32, u32) = (4_000, 9_000);
/// Time that a low-priority request waits until the disk was idle long enough, in microseconds.
const IDLE_US: (u32, u32) = (30_000, 70_000);

/// An operation on a file that is not finished.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnfinishedFileIo {
    file: File,
    write: bool,
    /// The cache serves it; the disk is not needed.
    cached: bool,
    /// Pages are read for a fault: no operation on a file.
    pub(super) paging: bool,
    /// The fault has an event.
    has_event: bool,
    /// The file is open.
    opened: bool,
    /// Bytes of the transfer; 0 between transfers.
    bytes: u32,
    started: i64,
    /// Remaining transfers, and bytes of each; `None`: one transfer of a random size.
    parts: Option<(u32, u32)>,
}

/// A transfer that the disk has finished.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) file: File,
    pub(super) write: bool,
    pub(super) bytes: u32,
    pub(super) init: i64,
    pub(super) complete: i64,
}

/// A request to the disk.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) thread: Thread,
    file: File,
    write: bool,
    bytes: u32,
    offset: u64,
    init: i64,
    /// The request has low priority.
    is_background: bool,
}

/// Address of something that a thread has one of.
// Each thread has one operation at a time, so its id makes addresses unique, and they are reused as
// in a real pool.
pub(super) fn address(base: u64, tid: u32) -> u64 {
    base + 0x400 * u64::from(tid)
}

pub(super) const IRP: u64 = 0xFFFF_A08D_4000_0000;
pub(super) const FILE_OBJECT: u64 = 0xFFFF_A08D_7000_0000;

impl<W: Write + Seek> Sim<W> {
    /// Starts to open a file, to read or write it afterwards.
    pub(super) fn open(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        write: bool,
        cached: u64,
    ) -> Result<()> {
        // The file comes first and the cache second: the order of random draws is a part of the
        // meaning of a seed.
        let file = File(self.rng.below(self.plan.files.len() as u64) as usize);
        self.open_file(cpu, thread, (file, write), None)?;
        let cached = self.rng.chance(cached);
        if let Some(open) = &mut self.threads[thread].io {
            open.cached = cached;
        }
        Ok(())
    }

    /// Starts to open a file, to read or write it on the disk afterwards, in `parts` transfers of
    /// `bytes` each.
    pub(super) fn open_file(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (file, write): (File, bool),
        parts: Option<(u32, u32)>,
    ) -> Result<()> {
        let (tid, _) = self.ids(Some(thread));
        let path = self.plan.files[file].nt_path();
        let started = self
            .tape
            .kernel(cpu.0 as u16, kind::FILE_CREATE, None, |p| {
                p.u64(address(IRP, tid))
                    .u64(address(FILE_OBJECT, tid))
                    .u32(tid);
                p.u32(0x0100_0060).u32(0x80).u32(7).wide(&path);
            })?;
        let open = UnfinishedFileIo {
            file,
            write,
            cached: false,
            paging: false,
            has_event: false,
            opened: false,
            bytes: 0,
            started,
            parts,
        };
        self.threads[thread].io = Some(open);
        Ok(())
    }

    /// Serves the next file operation of a thread from the cache.
    pub(super) fn use_cache(&mut self, thread: Thread) {
        if let Some(open) = &mut self.threads[thread].io {
            open.cached = true;
        }
    }

    /// Starts to read pages of a file that a thread needs.
    pub(super) fn page_in(
        &mut self,
        thread: Thread,
        file: File,
        parts: (u32, u32),
        has_event: bool,
    ) {
        let (started, parts) = (self.tape.now(), Some(parts));
        self.threads[thread].io = Some(UnfinishedFileIo {
            file,
            write: false,
            cached: false,
            paging: true,
            has_event,
            opened: true,
            bytes: 0,
            started,
            parts,
        });
    }

    /// Continues an operation: the file is open, or the transfer is finished. Returns true if the
    /// thread has to wait for the disk now.
    pub(super) fn go_on(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        mut open: UnfinishedFileIo,
    ) -> Result<bool> {
        if open.bytes > 0 {
            if !open.paging {
                self.end_transfer(cpu, thread, open)?;
            } else if open.has_event {
                self.hard_fault(cpu, thread, (open.file, open.bytes), open.started)?;
            }
            // Without a number of parts there is one transfer, so that nothing is left.
            let left = open
                .parts
                .map(|(parts, bytes)| (parts.saturating_sub(1), bytes));
            if left.is_none_or(|(parts, _)| parts == 0) {
                if !open.paging {
                    self.close(cpu, thread, open)?;
                }
            } else {
                self.threads[thread].io = Some(UnfinishedFileIo {
                    bytes: 0,
                    parts: left,
                    ..open
                });
            }
            return Ok(false);
        }
        if !open.opened {
            self.end_operation(cpu, thread, ("create", open.started, 0))?;
            open.opened = true;
        }
        // Whole pages, as the cache manager and the memory manager read them.
        open.bytes = open
            .parts
            .map_or_else(|| 4096 * self.rng.between(1, 16), |(_, bytes)| bytes);
        let offset = 4096 * self.rng.below(100_000);
        if open.paging {
            open.started = self.tape.next();
            self.threads[thread].io = Some(open);
            self.submit(cpu, thread, open, offset)?;
            return Ok(true);
        }
        let (tid, _) = self.ids(Some(thread));
        let operation = if open.write {
            kind::FILE_WRITE
        } else {
            kind::FILE_READ
        };
        open.started = self.tape.kernel(cpu.0 as u16, operation, None, |p| {
            p.u64(offset)
                .u64(address(IRP, tid))
                .u64(address(FILE_OBJECT, tid))
                .u64(file_key(open.file));
            p.u32(tid).u32(open.bytes).u32(0).u32(0);
        })?;
        self.threads[thread].io = Some(open);
        if !open.cached {
            self.submit(cpu, thread, open, offset)?;
        }
        Ok(!open.cached)
    }

    fn submit(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        open: UnfinishedFileIo,
        offset: u64,
    ) -> Result<()> {
        let UnfinishedFileIo {
            file, write, bytes, ..
        } = open;
        let (tid, pid) = self.ids(Some(thread));
        let kind = if write {
            kind::DISK_WRITE_INIT
        } else {
            kind::DISK_READ_INIT
        };
        let init = self
            .tape
            .kernel(cpu.0 as u16, kind, Some((tid, pid)), |p| {
                p.u64(address(IRP, tid)).u32(tid);
            })?;
        let is_background = self.plan.background.contains(&thread);
        let request = Request {
            thread,
            file,
            write,
            bytes,
            offset,
            init,
            is_background,
        };
        if is_background {
            let idle = i64::from(self.rng.between(IDLE_US.0, IDLE_US.1)) * MICROSECOND;
            // Each low-priority request waits for the previous one, and then for an idle time of
            // its own.
            let after = self
                .background_disk
                .back()
                .map_or(init, |before| before.init.max(init));
            self.background_disk.push_back(request);
            self.plan_at(after + idle, Happening::BackgroundDiskDone);
            return Ok(());
        }
        self.disk.push_back(request);
        let (low, high) = self.plan.disk_us;
        let through = if open.write && !self.plan.has_write_cache {
            i64::from(self.rng.between(THROUGH_US.0, THROUGH_US.1)) * MICROSECOND
        } else {
            0
        };
        let repeats = self.repeated_reads(file);
        // 512 bytes take a tick, about 5 GB/s: large transfers take longer, but the latency
        // decides.
        let service = through
            + repeats
            + i64::from(self.rng.between(low, high)) * MICROSECOND
            + i64::from(bytes / 512);
        // The disk serves one operation after the other: a later one waits until the disk is free.
        self.disk_free_at = self.disk_free_at.max(init) + service;
        self.plan_at(self.disk_free_at, Happening::DiskDone);
        Ok(())
    }

    /// Returns the time until which a request of low priority has to wait, since the disk works for
    /// others.
    pub(super) fn gives_way_until(&self) -> Option<i64> {
        // Requests are short where no file is slow: there the moment makes no difference.
        let has_others = !self.plan.slow_files.is_empty() && !self.disk.is_empty();
        has_others.then(|| self.disk_free_at + i64::from(IDLE_US.0) * MICROSECOND)
    }

    /// Returns the time in which the disk repeats a transfer of a file in a bad place, in ticks.
    fn repeated_reads(&mut self, file: File) -> i64 {
        let slow = self.plan.slow_files.iter().find(|(slow, _)| *slow == file);
        // Nothing is drawn for other files, so that traces without slow files stay as they are.
        slow.map_or(0, |(_, (low, high))| {
            i64::from(self.rng.between(*low, *high)) * MICROSECOND
        })
    }

    pub(super) fn complete(&mut self, cpu: Cpu, request: &Request) -> Result<Done> {
        let (tid, pid) = self.ids(Some(request.thread));
        // The event holds the duration up to its own time, which is known before it is written.
        let elapsed = self.tape.next() - request.init;
        let kind = if request.write {
            kind::DISK_WRITE
        } else {
            kind::DISK_READ
        };
        let flags = if request.is_background {
            LOW_IRP_FLAGS
        } else {
            IRP_FLAGS
        };
        let time = self.tape.kernel(cpu.0 as u16, kind, None, |p| {
            p.u32(DISK)
                .u32(flags)
                .u32(request.bytes)
                .u32(0)
                .u64(request.offset);
            p.u64(file_key(request.file))
                .u64(address(IRP, tid))
                .time(elapsed)
                .u32(tid);
        })?;
        // The disk serves one request after the other, so service began when the previous one was
        // finished.
        let service = self
            .disk_completed_at
            .map_or(elapsed, |before| elapsed.min(time - before));
        self.disk_completed_at = Some(time);
        let path = self.plan.files[request.file].dos_path();
        let disk = &mut self.truth.disk;
        for sums in [
            &mut disk.total,
            disk.by_process.entry(pid.to_string()).or_default(),
            disk.by_disk.entry(DISK).or_default(),
            disk.by_file.entry(path).or_default(),
        ] {
            sums.add(request, elapsed * TICK_NS, service * TICK_NS);
        }
        let Request {
            file,
            write,
            bytes,
            init,
            ..
        } = *request;
        Ok(Done {
            file,
            write,
            bytes,
            init,
            complete: time,
        })
    }

    fn end_transfer(&mut self, cpu: Cpu, thread: Thread, open: UnfinishedFileIo) -> Result<()> {
        let name = if open.write { "write" } else { "read" };
        self.end_operation(cpu, thread, (name, open.started, open.bytes))
    }

    fn close(&mut self, cpu: Cpu, thread: Thread, open: UnfinishedFileIo) -> Result<()> {
        let (tid, _) = self.ids(Some(thread));
        let started = self
            .tape
            .kernel(cpu.0 as u16, kind::FILE_CLOSE, None, |p| {
                p.u64(address(IRP, tid))
                    .u64(address(FILE_OBJECT, tid))
                    .u64(file_key(open.file))
                    .u32(tid);
            })?;
        self.end_operation(cpu, thread, ("close", started, 0))
    }

    fn end_operation(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        operation: (&str, i64, u32),
    ) -> Result<()> {
        self.end_operation_with(cpu, thread, operation, 0)
    }

    /// Ends an operation, which began at that time, with a status.
    pub(super) fn end_operation_with(
        &mut self,
        cpu: Cpu,
        thread: Thread,
        (name, started, bytes): (&str, i64, u32),
        status: u32,
    ) -> Result<()> {
        const OPERATION_END: Kind = kind::FILE_OPERATION_END;
        let (tid, pid) = self.ids(Some(thread));
        let ended = self.tape.kernel(cpu.0 as u16, OPERATION_END, None, |p| {
            p.u64(address(IRP, tid)).u64(bytes.into()).u32(status);
        })?;
        let io = &mut self.truth.file_io;
        let of_process = io.by_process.entry(pid.to_string()).or_default();
        for sums in [&mut io.by_operation, of_process] {
            sums.entry(name.to_owned())
                .or_default()
                .add(bytes, (ended - started) * TICK_NS);
        }
        Ok(())
    }
}

impl Transfers {
    fn add(&mut self, request: &Request, elapsed_ns: i64, service_ns: i64) {
        let bytes = u64::from(request.bytes);
        if request.write {
            (self.writes, self.write_bytes) = (self.writes + 1, self.write_bytes + bytes);
        } else {
            (self.reads, self.read_bytes) = (self.reads + 1, self.read_bytes + bytes);
        }
        self.elapsed_ns += elapsed_ns;
        self.service_ns += service_ns;
    }
}

impl Operations {
    fn add(&mut self, bytes: u32, duration_ns: i64) {
        self.count += 1;
        self.bytes += u64::from(bytes);
        self.duration_ns += duration_ns;
    }
}
