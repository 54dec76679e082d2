//! Virtual memory: commits and releases of the pages of a process.

use std::collections::BTreeMap;

use etwkit_decode::kernel::virtual_memory::{Allocation, PAGE, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, StackSource, key, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{Row, VirtualAlloc, VirtualAllocProcess, VirtualRange};
use crate::tracker::process::ProcessKey;

const EVENTS: Events = Events::Kernel(group::MEMORY, &[opcode::ALLOC, opcode::FREE]);

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[EVENTS],
    tables: &[rows(VirtualAlloc::TABLE), rows(VirtualRange::TABLE)],
    topics: &[Topic {
        place: 170,
        name: "virtual memory",
        answers: "who allocated memory",
        recorded_by: "VIRT_ALLOC",
        events: &[EVENTS],
        tables: &[
            VirtualAlloc::TABLE,
            VirtualRange::TABLE,
            VirtualAllocProcess::TABLE,
        ],
    }],
    make: |_| Box::new(VirtualMemory::default()),
    ..Declaration::EMPTY
};

/// Maximum number of ranges over all processes, some 200 MiB. A trace that needs more is malicious.
const MAX_RANGES: usize = 1 << 22;

/// Follows the memory of all processes.
#[derive(Debug, Default)]
struct VirtualMemory {
    allocations: i64,
    spaces: FxHashMap<ProcessKey, Space>,
    ranges: usize,
    /// Number of commits whose pages are not followed because there are too many.
    dropped: u64,
}

impl VirtualMemory {
    fn event(
        &mut self,
        read: &Allocation,
        kind: &'static str,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
    ) {
        let time = event.timestamp;
        let ts_ns = context.ns(time);
        if !context.range.contains(ts_ns) {
            return;
        }
        // The process whose memory changes, which is not always the one that calls.
        let process = context.directory.process_at(read.pid, time);
        // A process that is not known cannot be followed, since IDs are reused. Its row still says
        // what was done.
        let changed = process.map_or(0, |process| self.change(process, read, kind));
        let committed = process
            .and_then(|process| self.spaces.get(&process))
            .map_or(0, |space| space.bytes);
        let tid = context.thread_of(event);
        let thread = tid.map(|tid| context.of_thread(tid, time));
        let row = VirtualAlloc {
            alloc_id: self.allocations,
            ts_ns,
            process_key: key(process),
            thread_key: thread.map(|who| who.thread_key),
            kind,
            address: read.base as i64,
            size_bytes: signed(read.size),
            flags: read.flags as i32,
            changed_bytes: changed,
            committed_bytes: signed(committed),
            stack_id: None,
        };
        self.allocations += 1;
        // A program may allocate in another process. The stack belongs to the caller, in the
        // caller's process.
        let (whose, place) = match (tid, thread) {
            (Some(tid), Some(who)) => (StackSource::Thread(tid), who.process.or(process)),
            _ => (StackSource::Process(read.pid), process),
        };
        let row = waiting::row(row, |row, stacks| row.stack_id = stacks.own());
        context.wait_for(time, whose, place, row);
    }

    /// Changes the committed memory of a process. Returns the difference in bytes.
    fn change(&mut self, process: ProcessKey, read: &Allocation, kind: &str) -> i64 {
        let (start, end) = read.pages();
        let space = self.spaces.entry(process).or_default();
        let before = space.owners.len();
        let changed = match kind {
            // Frees are still followed, so that there is room again.
            // The row is written all the same, with no change: what happened is known, and only the
            // sums stop being exact.
            "commit" if self.ranges >= MAX_RANGES => {
                self.dropped += 1;
                0
            }
            "commit" => signed(space.commit(start, end, self.allocations)),
            // A release ends a reservation and the commits in it; a decommit ends commits and keeps
            // the reservation. For the memory in use both are the same.
            "decommit" | "release" => -signed(space.free(start, end)),
            _ => 0,
        };
        // Every process has its own space, and the limit is over all: a trace may have many
        // processes with few ranges each.
        self.ranges = (self.ranges + space.owners.len()).saturating_sub(before);
        changed
    }
}

impl Importer for VirtualMemory {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let read = Allocation::parse(event.payload(), event.pointer_size());
        let Some((read, kind)) = read.and_then(|read| Some((read, read.kind(hook.opcode)?))) else {
            return Ok(false);
        };
        self.event(&read, kind, event, context);
        Ok(true)
    }

    /// Writes the ranges that are still committed.
    fn finish(
        self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // Reported with the answer, so that a sum that is too small is not taken for the truth.
        context.notes.not_followed += self.dropped;
        let mut spaces: Vec<(ProcessKey, Space)> = self.spaces.into_iter().collect();
        // A hash map has no order, and the same input has to give the same output.
        spaces.sort_unstable_by_key(|(process, _)| process.0);
        for (process, space) in spaces {
            for (start, Part { end, owner }) in space.owners {
                let row = VirtualRange {
                    process_key: key(Some(process)),
                    address: start as i64,
                    size_bytes: signed(end - start),
                    alloc_id: owner,
                };
                context.tables.push(&row, sink)?;
            }
        }
        Ok(())
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Addresses up to an end, and their owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part<T> {
    end: u64,
    owner: T,
}

/// Disjoint ranges by their first addresses.
type Ranges<T> = BTreeMap<u64, Part<T>>;

/// The committed memory of a process.
///
/// Committed addresses are held twice, once without owners. With only the ranges of owners, all of
/// them would have to be scanned whenever memory is committed again, which a malicious file could
/// make take forever. Covered ranges are merged, so each is scanned once.
#[derive(Debug, Default)]
struct Space {
    covered: Ranges<()>,
    owners: Ranges<i64>,
    bytes: u64,
}

impl Space {
    /// Commits pages. Returns the bytes that were not committed before.
    fn commit(&mut self, start: u64, end: u64, owner: i64) -> u64 {
        // A size of zero or one that wraps around in the address space changes nothing.
        if start >= end {
            return 0;
        }
        let mut from = start;
        let mut at = start;
        let mut added = 0;
        if let Some((first, part)) = self.covered.range(..start).next_back()
            // A range that only touches is joined as well, or neighboring commits would never grow
            // together.
            && part.end >= start
        {
            (from, at) = (*first, part.end);
        }
        let mut gaps = Vec::new();
        // The range may swallow any number of later ones. Each of them is removed here, so it is
        // visited once in its life.
        while let Some((next, part)) = self
            .covered
            .range(start..=end)
            .next()
            .map(|(s, part)| (*s, *part))
        {
            if next > at {
                gaps.push((at, next));
            }
            at = at.max(part.end);
            self.covered.remove(&next);
        }
        if at < end {
            gaps.push((at, end));
            at = end;
        }
        self.covered.insert(from, Part { end: at, owner: () });
        // Memory that was committed already keeps its first owner: committing it again changes
        // nothing in Windows.
        for (start, end) in gaps {
            self.owners.insert(start, Part { end, owner });
            added += end - start;
        }
        self.bytes += added;
        added
    }

    /// Releases pages. Returns the bytes that were committed.
    fn free(&mut self, start: u64, end: u64) -> u64 {
        // Owners are cut first and by the same addresses, so that both maps always cover the same
        // memory.
        cut(&mut self.owners, start, end);
        let freed = cut(&mut self.covered, start, end);
        self.bytes -= freed;
        freed
    }
}

/// Takes addresses out of ranges. Returns how many there were.
fn cut<T: Copy>(ranges: &mut Ranges<T>, start: u64, end: u64) -> u64 {
    if start >= end {
        return 0;
    }
    let mut taken = 0;
    if let Some((_, part)) = ranges.range_mut(..start).next_back()
        && part.end > start
    {
        // The part before the addresses stays under its first address, which is the key.
        let old = std::mem::replace(&mut part.end, start);
        taken += old.min(end) - start;
        // The range also continues after the addresses: it becomes two.
        if old > end {
            let owner = part.owner;
            ranges.insert(end, Part { end: old, owner });
        }
    }
    while let Some((next, part)) = ranges.range(start..end).next().map(|(s, part)| (*s, *part)) {
        // Ranges are disjoint and sorted, so the next one is always the first that remains.
        ranges.remove(&next);
        taken += part.end.min(end) - next;
        if part.end > end {
            ranges.insert(
                end,
                Part {
                    end: part.end,
                    owner: part.owner,
                },
            );
        }
    }
    taken
}

const _: () = assert!(PAGE.is_power_of_two());

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Committed pages and their owners, one by one.
    #[derive(Default)]
    struct Pages(HashMap<u64, i64>);

    impl Pages {
        fn commit(&mut self, start: u64, end: u64, owner: i64) -> u64 {
            let before = self.0.len();
            (start..end).for_each(|page| _ = self.0.entry(page).or_insert(owner));
            (self.0.len() - before) as u64
        }

        fn free(&mut self, start: u64, end: u64) -> u64 {
            let before = self.0.len();
            (start..end).for_each(|page| _ = self.0.remove(&page));
            (before - self.0.len()) as u64
        }
    }

    fn owners(space: &Space) -> HashMap<u64, i64> {
        let pages = |(start, part): (&u64, &Part<i64>)| {
            (*start..part.end)
                .map(|page| (page, part.owner))
                .collect::<Vec<_>>()
        };
        space.owners.iter().flat_map(pages).collect()
    }

    #[test]
    fn ranges_are_what_single_pages_are() {
        let (mut space, mut pages) = (Space::default(), Pages::default());
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for owner in 0..20_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (start, len) = (random >> 33 & 127, random >> 50 & 15);
            let end = start + len;
            if random >> 62 == 0 {
                assert_eq!(space.free(start, end), pages.free(start, end));
            } else if random >> 62 == 1 && len > 12 {
                assert_eq!(space.free(0, 200), pages.free(0, 200));
            } else {
                assert_eq!(
                    space.commit(start, end, owner),
                    pages.commit(start, end, owner)
                );
            }
            assert_eq!(space.bytes, pages.0.len() as u64);
            if owner % 16 == 0 {
                assert_eq!(owners(&space), pages.0);
                assert!(space.covered.len() <= space.owners.len());
            }
        }
    }

    #[test]
    fn the_worked_example() {
        let mut space = Space::default();
        // Eight pages by commit 1, the middle four released, six pages around the hole by commit 2.
        assert_eq!(space.commit(0x1000, 0x9000, 1), 0x8000);
        assert_eq!(space.free(0x3000, 0x7000), 0x4000);
        assert_eq!(space.commit(0x2000, 0x8000, 2), 0x4000);
        assert_eq!(space.free(0x6000, 0x9000), 0x3000);
        let left: Vec<_> = space
            .owners
            .iter()
            .map(|(start, part)| (*start, part.end, part.owner))
            .collect();
        assert_eq!(left, [(0x1000, 0x3000, 1), (0x3000, 0x6000, 2)]);
        assert_eq!((space.bytes, space.covered.len()), (0x5000, 1));
    }

    #[test]
    fn committing_all_again_goes_through_nothing_twice() {
        let mut space = Space::default();
        (0..1000).for_each(|i| _ = space.commit(i * 2, i * 2 + 1, i as i64));
        assert_eq!(space.commit(0, 2000, 1000), 1000);
        assert_eq!((space.covered.len(), space.owners.len()), (1, 2000));
        assert_eq!(space.commit(0, 2000, 1001), 0);
        assert_eq!(space.free(0, u64::MAX), 2000);
        assert_eq!(
            (space.covered.len(), space.owners.len(), space.bytes),
            (0, 0, 0)
        );
    }
}
