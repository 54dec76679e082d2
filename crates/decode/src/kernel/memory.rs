//! Use of memory: counts of pages of the machine and of each process.
//!
//! The kernel logger writes them as types 112 (flag MEMINFO, every half second) and 125 (flag
//! MEMINFO_WS) of the memory class; the provider Microsoft-Windows-Kernel-Memory writes the same
//! data as events 1 and 2. No available trace has either: the layouts follow the documentation of
//! Windows.

use etwkit_etl::Guid;
use etwkit_etl::bytes::Cursor;

/// Microsoft-Windows-Kernel-Memory.
pub const KERNEL_MEMORY: Guid = Guid::literal("d1d93ef7-e1f2-4f45-9943-03d245fe6c00");

/// Types of kernel events.
pub mod opcode {
    types! {
        MEMORY {
            /// Pages of the machine.
            MACHINE = 112, "Meminfo";
            /// Pages of processes.
            PROCESSES = 125, "MeminfoexWs";
        }
    }
}

/// IDs of [`KERNEL_MEMORY`].
pub mod id {
    /// Pages of the machine.
    pub const MACHINE: u16 = 1;
    /// Pages of processes.
    pub const PROCESSES: u16 = 2;
}

/// Standby lists, by priority.
const PRIORITIES: usize = 8;

/// Maximum number of lists that an event may claim.
const MAX_PRIORITIES: usize = 64;

/// Pages of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Machine {
    /// Zeroed pages.
    pub zero: u64,
    /// Free pages.
    pub free: u64,
    /// Modified pages, to be written.
    pub modified: u64,
    /// Modified pages, not to be written for now.
    pub modified_no_write: u64,
    /// Bad pages.
    pub bad: u64,
    /// Pages on standby, over all priorities.
    pub standby: u64,
    /// Number of standby pages repurposed since boot.
    pub repurposed: u64,
    /// Modified pages that will be written to a page file.
    pub modified_page_file: Option<u64>,
    /// Paged pool, committed.
    pub paged_pool: Option<u64>,
    /// Nonpaged pool.
    pub nonpaged_pool: Option<u64>,
    /// Pages locked by drivers.
    pub mdl: Option<u64>,
    /// Committed memory.
    pub commit: Option<u64>,
}

impl Machine {
    /// Reads the payload of type 112.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        Self::read(&mut Cursor::new(payload), pointer_size, PRIORITIES)
    }

    /// Reads the payload of event 1 of the provider, which starts with the number of lists.
    #[must_use]
    pub fn parse_provider(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let priorities = usize::from(c.u8()?);
        Self::read(&mut c, pointer_size, priorities.min(MAX_PRIORITIES))
    }

    fn read(c: &mut Cursor<'_>, pointer_size: usize, priorities: usize) -> Option<Self> {
        let mut machine = Self {
            zero: c.pointer(pointer_size)?,
            free: c.pointer(pointer_size)?,
            modified: c.pointer(pointer_size)?,
            modified_no_write: c.pointer(pointer_size)?,
            bad: c.pointer(pointer_size)?,
            ..Self::default()
        };
        for _ in 0..priorities {
            machine.standby = machine.standby.saturating_add(c.pointer(pointer_size)?);
        }
        for _ in 0..priorities {
            machine.repurposed = machine.repurposed.saturating_add(c.pointer(pointer_size)?);
        }
        machine.modified_page_file = c.pointer(pointer_size);
        machine.paged_pool = c.pointer(pointer_size);
        machine.nonpaged_pool = c.pointer(pointer_size);
        machine.mdl = c.pointer(pointer_size);
        machine.commit = c.pointer(pointer_size);
        Some(machine)
    }
}

/// Pages of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Process {
    /// Process ID; other numbers mean parts of the system.
    pub pid: u32,
    /// Working set: bytes in memory.
    pub working_set: u64,
    /// Committed memory.
    pub commit: u64,
    /// Addresses in use.
    pub virtual_size: u64,
    /// Private working set: bytes in memory that are not shared.
    pub private_working_set: u64,
    /// Size of its store of compressed pages.
    pub store: Option<u64>,
    /// Pages in that store.
    pub stored: Option<u64>,
    /// Committed memory that is charged elsewhere.
    pub commit_debt: Option<u64>,
    /// Committed memory that is shared.
    pub shared_commit: Option<u64>,
}

impl Process {
    /// Reads all entries of a payload. The number of entries and the length of the payload
    /// determine which of the two layouts it has. With any other length the result is empty.
    #[must_use]
    pub fn parse_all(payload: &[u8], pointer_size: usize) -> Vec<Self> {
        let mut c = Cursor::new(payload);
        let Some(count) = c
            .u32()
            .and_then(|count| usize::try_from(count).ok())
            .filter(|count| *count > 0)
        else {
            return Vec::new();
        };
        let rest = c.rest();
        let short = 4 + 4 * pointer_size;
        let long = 4 + 8 * pointer_size;
        // The version does not determine the layout. With a length between both, PIDs and pages of
        // all entries but the first would be read from the wrong places.
        let length = match rest.len().checked_div(count) {
            Some(length) if length == short || length == long => length,
            _ => return Vec::new(),
        };
        rest.chunks_exact(length)
            .take(count)
            .map_while(|entry| Self::read(entry, pointer_size))
            .collect()
    }

    fn read(entry: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(entry);
        Some(Self {
            pid: c.u32()?,
            working_set: c.pointer(pointer_size)?,
            commit: c.pointer(pointer_size)?,
            virtual_size: c.pointer(pointer_size)?,
            private_working_set: c.pointer(pointer_size)?,
            store: c.pointer(pointer_size),
            stored: c.pointer(pointer_size),
            commit_debt: c.pointer(pointer_size),
            shared_commit: c.pointer(pointer_size),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(numbers: impl IntoIterator<Item = u64>, size: usize) -> Vec<u8> {
        numbers
            .into_iter()
            .flat_map(|n| n.to_le_bytes()[..size].to_vec())
            .collect()
    }

    #[test]
    fn pages_of_the_machine_in_both_lengths() {
        for (size, length, commit) in [
            (4, 88, None),
            (8, 176, None),
            (4, 104, Some(25)),
            (8, 208, Some(25)),
        ] {
            // 22 or 26 numbers, counted up.
            let payload = pointers(0..26, size)[..length].to_vec();
            let machine = Machine::parse(&payload, size).unwrap();
            assert_eq!((machine.zero, machine.free, machine.bad), (0, 1, 4));
            assert_eq!(
                (machine.standby, machine.repurposed),
                ((5..13).sum(), (13..21).sum())
            );
            assert_eq!(
                (machine.modified_page_file, machine.commit),
                (Some(21), commit)
            );
        }
        assert_eq!(Machine::parse(&pointers(0..20, 8), 8), None);
    }

    #[test]
    fn the_provider_says_how_many_lists_there_are() {
        let payload = [vec![2], pointers(0..14, 8)].concat();
        let machine = Machine::parse_provider(&payload, 8).unwrap();
        assert_eq!(
            (machine.standby, machine.repurposed, machine.commit),
            (5 + 6, 7 + 8, Some(13))
        );
        assert_eq!(Machine::parse_provider(&[255, 0, 0], 8), None);
    }

    #[test]
    fn entries_of_processes_have_one_of_two_lengths() {
        for (size, numbers, shared) in
            [(8, 4, None), (8, 8, Some(8)), (4, 8, Some(8)), (4, 4, None)]
        {
            let entry =
                |pid: u32| [pid.to_le_bytes().to_vec(), pointers(1..=numbers, size)].concat();
            let payload = [2u32.to_le_bytes().to_vec(), entry(4), entry(u32::MAX)].concat();
            let all = Process::parse_all(&payload, size);
            assert_eq!(all.iter().map(|p| p.pid).collect::<Vec<_>>(), [4, u32::MAX]);
            assert_eq!(
                (
                    all[0].working_set,
                    all[1].private_working_set,
                    all[0].shared_commit
                ),
                (1, 4, shared)
            );
            assert!(Process::parse_all(&payload[..payload.len() - 1], size).is_empty());
        }
        for hostile in [&[][..], &[0; 4], &[255; 4], &[255; 400]] {
            assert!(Process::parse_all(hostile, 8).is_empty());
        }
    }
}
