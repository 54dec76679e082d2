//! Typed views of the kernel events that trackers read: payload in, struct out.
//!
//! The tables of this crate decode every kernel event by name. These views read the few event kinds
//! that each trace contains by the thousand, at fixed offsets and without names.

#[macro_use]
mod types;
pub mod alpc;
pub mod config;
pub mod counter;
pub mod disk;
pub mod dpc;
pub mod event_trace;
pub mod fault;
pub mod file_io;
pub mod file_name;
pub mod group_mask;
pub mod heap;
pub mod idle;
pub mod image;
pub mod memory;
pub mod merge;
pub mod mini_filter;
pub mod net;
pub mod object;
pub mod pool;
pub mod power_setting;
pub mod process;
pub mod processor_power;
pub mod provider;
pub mod registry;
pub mod sample;
pub mod scheduler;
pub mod soft_fault;
pub mod stack;
pub mod syscall;
pub mod thread;
pub mod virtual_memory;

#[cfg(test)]
mod names;

use etwkit_etl::{Guid, Identity, RawEvent};

/// Groups of kernel events (the high byte of a hook ID).
pub mod group {
    /// Trace header and its extensions.
    pub const EVENT_TRACE: u8 = 0x00;
    /// Disk I/O.
    pub const DISK: u8 = 0x01;
    /// Page faults and memory.
    pub const MEMORY: u8 = 0x02;
    /// Processes.
    pub const PROCESS: u8 = 0x03;
    /// File names and file I/O.
    pub const FILE: u8 = 0x04;
    /// Threads and the scheduler.
    pub const THREAD: u8 = 0x05;
    /// TCP.
    pub const TCP: u8 = 0x06;
    /// UDP.
    pub const UDP: u8 = 0x08;
    /// The registry.
    pub const REGISTRY: u8 = 0x09;
    /// System configuration.
    pub const CONFIG: u8 = 0x0B;
    /// Branch records.
    pub const BRANCH: u8 = 0x0C;
    /// Memory of the kernel.
    pub const POOL: u8 = 0x0E;
    /// Samples, DPCs, interrupts, system calls, marks.
    pub const PERFINFO: u8 = 0x0F;
    /// Handles and objects.
    pub const OBJECT: u8 = 0x11;
    /// Idle states and sleep.
    pub const POWER: u8 = 0x12;
    /// Images.
    pub const IMAGE: u8 = 0x14;
    /// Stacks.
    pub const STACK: u8 = 0x18;
    /// Notifications (WNF), which programs log.
    pub const NOTIFICATION: u8 = 0x0D;
    /// Heaps, which programs log.
    pub const HEAP: u8 = 0x10;
    /// Critical sections, which programs log.
    pub const CRITICAL_SECTION: u8 = 0x17;
    /// Messages of ALPC.
    pub const ALPC: u8 = 0x1A;
    /// Thread pools, which programs log.
    pub const THREAD_POOL: u8 = 0x1C;
}

/// A kernel event in any header: kernel events that were relogged or replayed have a classic header
/// with the GUID of their class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hook {
    /// One of [`group`].
    pub group: u8,
    /// Type within the group.
    pub opcode: u8,
    /// Version of the layout.
    pub version: u8,
}

impl Hook {
    /// The kernel event, or `None`. Image loads are in [`group::IMAGE`] here, together with the
    /// other image events.
    #[inline]
    #[must_use]
    pub fn of(event: &RawEvent<'_>) -> Option<Self> {
        let (group, opcode) = if let Some(id) = event.hook_id() {
            let [opcode, group] = id.to_le_bytes();
            (group, opcode)
        } else if event.kind.is_classic() {
            (class_group(event.provider())?, event.opcode())
        } else {
            return None;
        };
        let (group, opcode) = with_image_load(group, opcode);
        Some(Self {
            group,
            opcode,
            version: event.version() as u8,
        })
    }
}

/// Group and type of a kernel event by its identity; see [`Hook::of`].
#[must_use]
pub fn hook_of(identity: &Identity) -> Option<(u8, u8)> {
    match identity {
        Identity::Kernel { group, opcode, .. } => Some(with_image_load(*group, *opcode)),
        Identity::Classic { class, opcode, .. } => {
            Some(with_image_load(class_group(*class)?, *opcode))
        }
        _ => None,
    }
}

const fn with_image_load(group: u8, opcode: u8) -> (u8, u8) {
    // The kernel logs loads with the group of processes, but unloads and the rundown with the group
    // of images.
    if group == group::PROCESS && opcode == image::opcode::LOAD {
        (group::IMAGE, opcode)
    } else {
        (group, opcode)
    }
}

/// The group of a classic kernel class that trackers read.
fn class_group(class: Guid) -> Option<u8> {
    CLASSES
        .iter()
        .find(|(guid, _)| *guid == class)
        .map(|(_, group)| *group)
}

const CLASSES: [(Guid, u8); 17] = [
    (
        Guid::literal("3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c"),
        group::DISK,
    ),
    (
        Guid::literal("3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c"),
        group::MEMORY,
    ),
    (
        Guid::literal("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"),
        group::PROCESS,
    ),
    (
        Guid::literal("90cbdc39-4a3e-11d1-84f4-0000f80464e3"),
        group::FILE,
    ),
    (
        Guid::literal("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"),
        group::THREAD,
    ),
    (
        Guid::literal("9a280ac0-c8e0-11d1-84e2-00c04fb998a2"),
        group::TCP,
    ),
    (
        Guid::literal("bf3a50c5-a9c9-4988-a005-2df0b7c80f80"),
        group::UDP,
    ),
    (
        Guid::literal("ae53722e-c863-11d2-8659-00c04fa321a1"),
        group::REGISTRY,
    ),
    (
        Guid::literal("01853a65-418f-4f36-aefc-dc0f1d2fd235"),
        group::CONFIG,
    ),
    (
        Guid::literal("99134383-5248-43fc-834b-529454e75df3"),
        group::BRANCH,
    ),
    (
        Guid::literal("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc"),
        group::PERFINFO,
    ),
    (
        Guid::literal("89497f50-effe-4440-8cf2-ce6b1cdcaca7"),
        group::OBJECT,
    ),
    (
        Guid::literal("e43445e0-0903-48c3-b878-ff0fccebdd04"),
        group::POWER,
    ),
    (
        Guid::literal("2cb15d1d-5fc1-11d2-abe1-00a0c911f518"),
        group::IMAGE,
    ),
    (
        Guid::literal("def2fe46-7bd6-4b80-bd94-f57fe20d0ce3"),
        group::STACK,
    ),
    (
        Guid::literal("222962ab-6180-4b88-a825-346b75f2a24a"),
        group::HEAP,
    ),
    (
        Guid::literal("45d8cccd-539f-4b72-a8b7-5c683142609a"),
        group::ALPC,
    ),
];

/// A payload with another pointer size or SID form than its header promises: 64-bit kernel events
/// that a 32-bit program replayed (the sawbuck traces).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read<T> {
    /// The event.
    pub event: T,
    /// True if the regular layout did not match.
    pub fallback: bool,
}

/// Reads with the first layout whose result ends exactly at the end of the payload. If there is
/// none, the first layout applies.
fn first_consistent<T, L: Copy>(
    layouts: &[L],
    read: impl Fn(L) -> Option<(T, bool)>,
) -> Option<Read<T>> {
    // If no layout matches exactly, the layout of the header applies: a payload that is cut short
    // matches none of them.
    let mut regular = None;
    for (index, layout) in layouts.iter().enumerate() {
        match read(*layout) {
            Some((event, true)) => {
                return Some(Read {
                    event,
                    fallback: index > 0,
                });
            }
            Some((event, false)) if index == 0 => {
                regular = Some(Read {
                    event,
                    fallback: false,
                });
            }
            _ => {}
        }
    }
    regular
}
