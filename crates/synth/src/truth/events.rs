//! Truth about scenarios that record more than scheduling and I/O: filter drivers, page faults,
//! memory, messages.

use std::collections::BTreeMap;

use serde::Serialize;

/// Callbacks of filter drivers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MiniFilter {
    /// By file name of the driver, and `pre create`, `post read` and so on.
    pub by_driver: BTreeMap<String, BTreeMap<String, Callbacks>>,
    /// By process id.
    pub by_process: BTreeMap<String, Callbacks>,
    /// By path as users know it.
    pub by_file: BTreeMap<String, Callbacks>,
    /// Callbacks that failed, by status (`0xc0000906`).
    pub failed_by_status: BTreeMap<String, u64>,
    /// Callbacks that are running when the trace ends; all others are complete.
    pub open_at_end: u64,
}

/// Sums over callbacks that ended in the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Callbacks {
    /// Number of callbacks.
    pub count: u64,
    /// Callbacks that failed.
    pub failed: u64,
    /// From their start to their end.
    pub duration_ns: i64,
}

/// Pages that were read from files because a thread touched them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HardFaults {
    /// By process id.
    pub by_process: BTreeMap<String, HardFaultSums>,
    /// By path as users know it.
    pub by_file: BTreeMap<String, HardFaultSums>,
}

/// Sums over hard faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HardFaultSums {
    /// Number of hard faults.
    pub count: u64,
    /// Bytes read.
    pub bytes: u64,
    /// From the start of the read until the thread goes on.
    pub duration_ns: i64,
}

/// Memory of the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pool {
    /// By tag.
    pub by_tag: BTreeMap<String, PoolSums>,
    /// By id of the process whose thread allocates or frees; live blocks are reported by tag only.
    pub by_process: BTreeMap<String, PoolSums>,
}

/// Sums over blocks of the kernel's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PoolSums {
    /// Number of allocations.
    pub allocations: u64,
    /// Their bytes.
    pub allocated_bytes: u64,
    /// Number of frees.
    pub frees: u64,
    /// Their bytes.
    pub freed_bytes: u64,
    /// Frees of blocks that were allocated before the trace.
    pub frees_of_earlier: u64,
    /// From allocation to free, of the blocks that were allocated and freed in the trace.
    pub lifetime_ns: i64,
    /// Blocks allocated in the trace that live when it ends.
    pub live: u64,
    /// Their bytes.
    pub live_bytes: u64,
}

/// Sums over one heap of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HeapSums {
    /// Number of creations: its handle is reused.
    pub creates: u64,
    /// Number of destructions.
    pub destroys: u64,
    /// Blocks that were allocated.
    pub allocations: u64,
    /// Their bytes.
    pub allocated_bytes: u64,
    /// Blocks that were resized.
    pub resizes: u64,
    /// Their bytes before that.
    pub resized_from_bytes: u64,
    /// Their bytes after that.
    pub resized_to_bytes: u64,
    /// Blocks that were freed.
    pub frees: u64,
    /// Their bytes when they were freed.
    pub freed_bytes: u64,
    /// From allocation to free, of the blocks that were freed.
    pub lifetime_ns: i64,
    /// Blocks that were destroyed with the heap.
    pub destroyed_blocks: u64,
    /// Their bytes.
    pub destroyed_bytes: u64,
    /// Blocks that live when the trace ends.
    pub live: u64,
    /// Their bytes.
    pub live_bytes: u64,
}

/// Messages between processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Alpc {
    /// Messages that were sent, answers included.
    pub sent: u64,
    /// Messages that were received.
    pub received: u64,
    /// Messages that were sent but not received when the trace ends.
    pub under_way_at_end: u64,
    /// Messages that were received, by the sending and the receiving thread (`process/thread`).
    pub delivered: BTreeMap<String, BTreeMap<String, Delivered>>,
    /// Messages whose answer was received, by the thread that called and the one that served.
    pub calls: BTreeMap<String, BTreeMap<String, AlpcCalls>>,
    /// Waits by thread, and `reply` or `new_message`.
    pub waits: BTreeMap<String, BTreeMap<String, AlpcWaits>>,
}

/// Messages from one thread to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Delivered {
    /// Number of messages.
    pub messages: u64,
    /// From sending to receiving.
    pub latency_ns: i64,
}

/// Calls of a thread that another one served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AlpcCalls {
    /// Number of calls.
    pub calls: u64,
    /// From sending to receiving.
    pub delivery_ns: i64,
    /// From receiving to sending the answer.
    pub service_ns: i64,
    /// From sending to receiving the answer.
    pub duration_ns: i64,
}

/// Waits for messages, from the event of their start to the event of their end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AlpcWaits {
    /// Waits that ended.
    pub waits: u64,
    /// Their lengths.
    pub wait_ns: i64,
    /// Waits that have not ended when the trace ends.
    pub open_at_end: u64,
}
