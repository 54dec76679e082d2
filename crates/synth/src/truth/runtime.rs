//! Truth about .NET runtimes.

use serde::Serialize;

/// A collection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Collection {
    /// Process.
    pub pid: u32,
    /// Number in the process.
    pub number: u32,
    /// Generation.
    pub generation: u32,
    /// 0 blocking, 1 in the background, 2 blocking while one runs in the background.
    pub kind: u32,
    /// Start.
    pub start_ns: i64,
    /// End, if it is in the trace.
    pub end_ns: Option<i64>,
    /// Its finished pauses: the pause in which it began, and for a background collection also the
    /// pauses in which no other one began.
    pub suspended_ns: i64,
    /// Part of the pauses until all threads had stopped.
    pub suspending_ns: i64,
    /// Part of the pauses in which threads were resumed.
    pub restarting_ns: i64,
    /// Size of generation 0 after it; this and the following fields are 0 without an end.
    pub gen0_bytes: u64,
    /// Size of generation 1.
    pub gen1_bytes: u64,
    /// Size of generation 2.
    pub gen2_bytes: u64,
    /// Size of the heap of large objects.
    pub large_bytes: u64,
    /// Size of the heap of pinned objects.
    pub pinned_bytes: u64,
    /// Bytes that survived, of all heaps.
    pub promoted_bytes: u64,
    /// Objects that could not be moved.
    pub pinned_objects: u32,
    /// Handles of the runtime.
    pub handles: u32,
}
