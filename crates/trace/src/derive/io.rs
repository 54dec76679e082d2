//! Disk and file I/O by file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::TableSource;
use super::columns::{Get, int32, int64, text, whole_int32};
use crate::interner::Interner;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{DiskFile, DiskIo, FileFile, FileIo, Row};

type DiskKey = (Option<Arc<str>>, i32, Option<i32>, i32);

/// Computes `disk_file`.
pub(super) fn disks(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let columns = [
        "kind",
        "disk",
        "process_key",
        "io_ns",
        "service_ns",
        "size_bytes",
        "path",
        "priority",
    ];
    let mut texts = Interner::default();
    let mut sums: BTreeMap<DiskKey, DiskFile> = BTreeMap::new();
    source.scan(DiskIo::TABLE, &columns, &mut |batch| {
        let kind = text(batch, "kind")?;
        let path = text(batch, "path")?;
        let disks = whole_int32(batch, "disk")?;
        let process = int32(batch, "process_key")?;
        let io = int64(batch, "io_ns")?;
        let service = int64(batch, "service_ns")?;
        let size = int64(batch, "size_bytes")?;
        let priorities = whole_int32(batch, "priority")?;
        for (row, (disk, priority)) in disks.iter().zip(priorities).enumerate() {
            let path = path.get(row).map(|path| texts.intern(path));
            let key = (path, *disk, process.get(row), *priority);
            let sum = sums.entry(key).or_default();
            let [io, service, size] = [io, service, size].map(|column| column.amount(row));
            let (count, sums) = match kind.get(row) {
                Some("read") => (
                    &mut sum.reads,
                    [
                        (&mut sum.read_bytes, size),
                        (&mut sum.read_service_ns, service),
                        (&mut sum.read_io_ns, io),
                    ],
                ),
                Some("write") => (
                    &mut sum.writes,
                    [
                        (&mut sum.write_bytes, size),
                        (&mut sum.write_service_ns, service),
                        (&mut sum.write_io_ns, io),
                    ],
                ),
                _ => (
                    &mut sum.flushes,
                    // A flush moves no bytes, so it adds 0 in the place of the bytes of reads and
                    // writes.
                    [
                        (&mut sum.max_io_ns, 0),
                        (&mut sum.flush_service_ns, service),
                        (&mut sum.flush_io_ns, io),
                    ],
                ),
            };
            *count += 1;
            sums.into_iter()
                .for_each(|(sum, more)| *sum = sum.saturating_add(more));
            sum.max_io_ns = sum.max_io_ns.max(io);
        }
        Ok(())
    })?;
    let row = |((path, disk, process_key, priority), sum)| DiskFile {
        path,
        disk,
        process_key,
        priority,
        ..sum
    };
    write_all(sums.into_iter().map(row), sink)
}

/// Path, process and kind of operation.
type FileKey = (Option<Arc<str>>, Option<i32>, Arc<str>);

/// Sums for operations of one kind on a file.
#[derive(Debug, Default)]
struct Operations {
    row: FileFile,
    statuses: BTreeSet<i32>,
}

impl Operations {
    fn took(&mut self, duration: i64) {
        self.row.count += 1;
        self.row.duration_ns = self.row.duration_ns.saturating_add(duration);
        self.row.max_duration_ns = self.row.max_duration_ns.max(duration);
    }

    /// Adds a read or a write of `size` bytes, of which `moved` were read or written.
    fn moved(&mut self, size: i64, offset: Option<i64>, moved: Option<i64>) {
        self.row.size_bytes = self.row.size_bytes.saturating_add(size);
        // Without both numbers the position is unknown, which is not the start of the file.
        let Some(moved) = moved else { return };
        self.row.result_bytes = self.row.result_bytes.saturating_add(moved);
        // The bytes moved count, not the bytes requested: a read past the end of a file moves less.
        if let Some(offset) = offset {
            let position = offset.saturating_add(moved);
            self.row.max_position_bytes = self.row.max_position_bytes.max(position);
        }
    }

    fn failed(&mut self, status: i32) {
        self.row.failures += 1;
        if self.statuses.len() < MAX_STATUSES {
            self.statuses.insert(status);
        }
    }
}

/// Distinct statuses that are listed. Operations of one kind on one file fail in few ways; a
/// malicious file can claim any number.
const MAX_STATUSES: usize = 64;

/// Computes `file_file`.
pub(super) fn files(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let columns = [
        "kind",
        "process_key",
        "duration_ns",
        "path",
        "offset_bytes",
        "size_bytes",
        "result_bytes",
        "status",
    ];
    let mut texts = Interner::default();
    let mut sums: BTreeMap<FileKey, Operations> = BTreeMap::new();
    source.scan(FileIo::TABLE, &columns, &mut |batch| {
        let kind = text(batch, "kind")?;
        let path = text(batch, "path")?;
        let process = int32(batch, "process_key")?;
        let status = int32(batch, "status")?;
        let duration = int64(batch, "duration_ns")?;
        let offset = int64(batch, "offset_bytes")?;
        let size = int64(batch, "size_bytes")?;
        let result = int64(batch, "result_bytes")?;
        for row in 0..batch.num_rows() {
            let path = path.get(row).map(|path| texts.intern(path));
            let kind = texts.intern(kind.get(row).unwrap_or(""));
            let is_transfer = matches!(&*kind, "read" | "write");
            let sum = sums.entry((path, process.get(row), kind)).or_default();
            sum.took(duration.amount(row));
            if is_transfer {
                sum.moved(size.amount(row), offset.get(row), result.get(row));
            }
            if let Some(status) = status.get(row).filter(|status| *status < 0) {
                sum.failed(status);
            }
        }
        Ok(())
    })?;
    let row = |((path, process_key, kind), sum): (FileKey, Operations)| {
        let statuses: Vec<String> = sum
            .statuses
            .iter()
            .map(|status| format!("{status:#x}"))
            .collect();
        let failure_statuses = statuses.join(",");
        FileFile {
            path,
            process_key,
            kind: kind.to_string(),
            failure_statuses,
            ..sum.row
        }
    };
    write_all(sums.into_iter().map(row), sink)
}
