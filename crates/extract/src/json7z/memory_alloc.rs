//! `VirtualAllocData`: virtual memory that was committed and not released, and sums of processes.

use etwkit_trace::table::{VirtualAlloc, VirtualAllocProcess, VirtualRange};

use crate::json7z::error::Result;
use crate::json7z::import::Import;
use crate::json7z::reader::Reader;
use crate::json7z::rows::write_all;
use crate::json7z::stacks::StackList;

/// Flags of a call that commits memory.
const COMMIT: i32 = 0x1000;

/// The allocations of the part, and sums of processes.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    /// Rows, with the numbers of their stacks.
    rows: Vec<(VirtualAlloc, Option<i64>)>,
    sums: Vec<VirtualAllocProcess>,
    /// Stacks, if they are in the part itself.
    stacks: Vec<String>,
}

/// Stacks of a part: older files contain them, newer files have them in a separate part.
pub(crate) fn stacks(reader: &mut Reader) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    reader.object(|reader, name| match name {
        "StackList" => {
            texts = reader.texts()?;
            Ok(())
        }
        _ => reader.unknown(),
    })?;
    Ok(texts)
}

impl Allocations {
    /// Reads the part. Returns whether there is one, as null is none.
    pub(crate) fn read(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<bool> {
        reader.object(|reader, name| {
            match name {
                "VirtualAllocEvents" => _ = reader.list(|reader| self.event(reader, import))?,
                "PerProcessStats" => {
                    let sums = reader.all(|reader| sum(reader, import).map(Some))?;
                    self.sums.extend(sums);
                }
                "Stacks" => self.stacks = stacks(reader)?,
                _ => reader.unknown()?,
            }
            Ok(())
        })
    }

    fn event(&mut self, reader: &mut Reader, import: &mut Import<'_>) -> Result<()> {
        let mut row = VirtualAlloc {
            kind: "commit",
            flags: COMMIT,
            ..VirtualAlloc::default()
        };
        let mut stack = None;
        let mut tid = None;
        reader.object(|reader, name| {
            match name {
                "ProcessIdx" => row.process_key = import.process_index(reader)?,
                "ThreadId" => tid = reader.bits()?,
                "BaseAddress" => row.address = reader.given(Reader::bits)?,
                "Size" => row.size_bytes = reader.given(Reader::int)?,
                "Flags" => row.flags = reader.bits()?.map_or(COMMIT, |flags| flags as i32),
                "TimeInSecondsSinceTraceStart" => row.ts_ns = reader.given(Reader::seconds)?,
                "StackIdx" => stack = reader.int()?,
                _ => reader.unknown()?,
            }
            Ok(())
        })?;
        row.thread_key = tid.map(|tid| import.threads.key(row.process_key, tid));
        row.changed_bytes = row.size_bytes;
        self.rows.push((row, stack));
        Ok(())
    }

    /// Writes `virtual_alloc`, `virtual_range` and `virtual_alloc_process`. `beside` holds the
    /// stacks of a separate part.
    pub(crate) fn write(mut self, beside: Vec<String>, import: &mut Import<'_>) -> Result<()> {
        let mut list = StackList::new(if beside.is_empty() {
            self.stacks
        } else {
            beside
        });
        self.rows.sort_by_key(|(row, _)| row.ts_ns);
        let mut rows = Vec::new();
        let mut ranges = Vec::new();
        for (alloc_id, (mut row, stack)) in (0..).zip(self.rows) {
            row.alloc_id = alloc_id;
            row.stack_id = list.get(stack, row.process_key, &mut import.stacks);
            ranges.push(VirtualRange {
                process_key: row.process_key,
                address: row.address,
                size_bytes: row.size_bytes,
                alloc_id,
            });
            rows.push(row);
        }
        import.missing_stacks += list.missing;
        import.lack(
            "virtual_alloc: memory that was given back, and memory that was committed in that time",
            rows.len(),
        );
        import.lack(
            "virtual_alloc_process: reservations, decommits and releases each on their own, and peaks",
            self.sums.len(),
        );
        write_all(rows, import.sink)?;
        write_all(ranges, import.sink)?;
        self.sums.sort_by_key(|row| row.process_key);
        write_all(self.sums, import.sink)
    }
}

fn sum(reader: &mut Reader, import: &mut Import<'_>) -> Result<VirtualAllocProcess> {
    let mut row = VirtualAllocProcess::default();
    let int = |reader: &mut Reader| reader.given(Reader::int);
    reader.object(|reader, name| {
        match name {
            "ProcessIdx" => row.process_key = import.process_index(reader)?,
            "CommitCount" => row.commits = int(reader)?,
            "CommittedSizeInBytes" => row.commit_bytes = int(reader)?,
            // Decommits and releases together.
            "FreedCount" => row.releases = int(reader)?,
            "FreedSizeInBytes" => row.freed_bytes = int(reader)?,
            "MaxCommitSizeInBytes" => row.max_commit_bytes = int(reader)?,
            "NotReleasedCommitCount" => row.outstanding_commits = int(reader)?,
            "NotReleasedSizeInBytes" => row.outstanding_bytes = int(reader)?,
            _ => reader.unknown()?,
        }
        Ok(())
    })?;
    Ok(row)
}
