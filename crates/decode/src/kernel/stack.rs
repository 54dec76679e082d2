//! Stacks (group 24): walked at an event, or referred to by a key.

use etwkit_etl::bytes::{i64_at, pointer_at, tail, u32_at};

/// Types of these events.
pub mod opcode {
    types! {
        STACK {
            /// The frames themselves.
            STACK = 32, "Stack";
            /// A key is created, with its frames.
            KEY_CREATE = 34, "KeyCreate";
            /// A key dies, with its frames.
            KEY_DELETE = 35, "KeyDelete";
            /// A key lives when the session stops, with its frames.
            KEY_RUNDOWN = 36, "KeyRundown";
            /// Key of the kernel part of a stack.
            REFERENCE_KERNEL = 37, "StackKeyKernel";
            /// Key of the user part of a stack.
            REFERENCE_USER = 38, "StackKeyUser";
        }
    }
}

/// The event that a stack belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Raw time stamp of that event.
    pub timestamp: i64,
    /// Process ID.
    pub pid: u32,
    /// Thread that ran when it was logged.
    pub tid: u32,
}

impl Owner {
    /// Bytes before frames or key.
    pub const LEN: usize = 16;

    /// Reads the start of a stack or reference.
    #[inline]
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        Some(Self {
            timestamp: i64_at(payload, 0)?,
            pid: u32_at(payload, 8)?,
            tid: u32_at(payload, 12)?,
        })
    }
}

/// The key of a reference ([`Owner::LEN`] bytes into the payload) or definition (at its start).
#[inline]
#[must_use]
pub fn key(payload: &[u8], at: usize, pointer_size: usize) -> Option<u64> {
    pointer_at(payload, at, pointer_size)
}

/// Maximum number of frames of a stack: Windows records 192 with both halves, and cached stacks in
/// the available traces have up to 140.
const MAX_FRAMES: usize = 1024;

/// The addresses from `at` to the end, innermost first.
#[inline]
pub fn frames(payload: &[u8], at: usize, pointer_size: usize) -> impl Iterator<Item = u64> + '_ {
    tail(payload, at)
        .chunks_exact(pointer_size)
        .take(MAX_FRAMES)
        .filter_map(move |c| pointer_at(c, 0, pointer_size))
}

/// True if an address is a kernel address.
#[inline]
#[must_use]
pub const fn is_kernel_address(address: u64, pointer_size: usize) -> bool {
    // The kernel has the upper half of the addresses, which the highest bit shows.
    address >> (8 * pointer_size - 1) != 0
}
