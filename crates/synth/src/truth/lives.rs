//! Truth about starts and exits of processes, and about system calls.

use std::collections::BTreeMap;

use serde::Serialize;

/// Start of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ProcessStart {
    /// Id.
    pub pid: u32,
    /// Name.
    pub name: String,
    /// `process/thread` that created it; the parent may be another process.
    pub creator: String,
    /// Processor that the creator was on.
    pub creator_cpu: u16,
    /// Start of the creator's system call, if it is recorded.
    pub call_ns: Option<i64>,
    /// End of the creator's system call.
    pub call_end_ns: Option<i64>,
    /// Event of the start.
    pub start_ns: i64,
    /// `process/thread` of the first thread.
    pub thread: String,
    /// First switch-in of the first thread.
    pub first_run_ns: Option<i64>,
    /// Processor of the first switch-in.
    pub first_run_cpu: Option<u16>,
    /// Time to the first switch-in: from the creator's call if it is recorded, otherwise from the
    /// event of the start.
    pub cost_ns: Option<i64>,
}

/// Exit of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ProcessExit {
    /// Id.
    pub pid: u32,
    /// Event of the request to end the process.
    pub terminate_ns: i64,
    /// Event of the end of the process.
    pub end_ns: i64,
    /// Between the two.
    pub duration_ns: i64,
    /// Status.
    pub status: u32,
}

/// System calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Syscalls {
    /// Calls with both ends in the trace, by process id and `image!function`.
    pub by_process: BTreeMap<String, BTreeMap<String, SyscallSums>>,
    /// Calls that are about a file or a key of the registry, by path.
    pub by_path: BTreeMap<String, SyscallSums>,
    /// Ends of calls that began before the trace.
    pub ends_of_earlier: u64,
    /// Calls that have not ended when the trace ends.
    pub open_at_end: u64,
}

/// Sums over system calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SyscallSums {
    /// Number of calls.
    pub count: u64,
    /// Calls that ended with an error.
    pub failed: u64,
    /// From their start to their end, waits included.
    pub duration_ns: i64,
}
