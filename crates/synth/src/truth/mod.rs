//! The truth about a trace: sums of the simulation, none of them read back.
//!
//! All times are integers of nanoseconds (a tick has 100). Times of points count from the header
//! event. Processes are named by their id, threads by `process/thread`, processors, disks and
//! reasons (`KWAIT_REASON`) by their number.
//!
//! A thread that is switched out (T0), readied (T1) and switched in (T2) waited T1 - T0 and was
//! ready T2 - T1. One that was preempted or ran out of its quantum (switched out in state Ready)
//! did not wait and was ready T2 - T0; it counts as preempted. The first switch-in of a thread has
//! no T0: nothing is summed. A slice that is open at the end is not part of `run_ns`, nor is an
//! open wait part of `wait_ns`.

mod calls;
mod causes;
mod events;
mod lives;
mod objects;
mod runtime;
mod system;
mod windows;

use std::collections::BTreeMap;

use serde::Serialize;

pub use calls::{
    Call, CallTimes, Core, CounterSums, FunctionSamples, Link, Parked, Root, WaitSums, Watched,
};
pub use causes::{Acted, Cause, Victim};
pub use events::{
    Alpc, AlpcCalls, AlpcWaits, Callbacks, Delivered, HardFaultSums, HardFaults, HeapSums,
    MiniFilter, Pool, PoolSums,
};
pub use lives::{ProcessExit, ProcessStart, SyscallSums, Syscalls};
pub use objects::{HandleSums, Handles, Objects, Registry, RegistrySums};
pub use runtime::Collection;
pub use system::{Dns, Lookups, PowerSetting, TimerResolution};
pub use windows::{DelaySums, FocusStay, GuiSums, LockSums, Session, Sessions, Windows};

/// Version of this form.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// The whole truth about a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Truth {
    /// Origin of the trace.
    pub made: Made,
    /// Contents of the trace header.
    pub header: Header,
    /// Counts of events.
    pub counts: EventCounts,
    /// By process id.
    pub processes: BTreeMap<u32, Process>,
    /// By `process/thread`, without idle threads.
    pub threads: BTreeMap<String, ThreadTimes>,
    /// By processor.
    pub cpus: BTreeMap<u16, CpuTimes>,
    /// Samples.
    pub samples: Samples,
    /// DPCs and interrupts.
    pub interrupts: Interrupts,
    /// Transfers of the disk.
    pub disk: Disk,
    /// File operations, each with its end.
    pub file_io: FileIo,
    /// Points in time and their text.
    pub marks: Vec<Mark>,
    /// Samples by process and `image!function`, for named code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<String, BTreeMap<String, FunctionSamples>>,
    /// Waits that ended, by process and `image!function`, for named code; a function counts once
    /// for each wait.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub function_waits: BTreeMap<String, BTreeMap<String, WaitSums>>,
    /// Waits that ended, by the waiting thread and the readying one; `dpc` for a DPC.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub waited_for: BTreeMap<String, BTreeMap<String, WaitSums>>,
    /// Counts of the performance counters while each process ran, by process id, if switches carry
    /// them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, CounterSums>,
    /// Calls that the scenario is about, in the order of their ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Planted causes of slowness.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Times in which causes acted, by the names of their cards; goes into [`Truth::causes`].
    #[serde(skip)]
    pub(crate) acted: BTreeMap<&'static str, Acted>,
    /// Processors of different kinds, by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cores: BTreeMap<u16, Core>,
    /// Slices with both ends in the trace, by process and efficiency class of the processor.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub run_ns_by_class: BTreeMap<String, BTreeMap<u8, i64>>,
    /// Callbacks of filter drivers.
    #[serde(skip_serializing_if = "is_default")]
    pub mini_filter: MiniFilter,
    /// Page faults by process id and kind: `transition`, `demand_zero`, `copy_on_write`,
    /// `guard_page`, `hard`, `access_violation`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub page_faults: BTreeMap<String, BTreeMap<String, u64>>,
    /// Page faults that read from files.
    #[serde(skip_serializing_if = "is_default")]
    pub hard_faults: HardFaults,
    /// Memory of the kernel.
    #[serde(skip_serializing_if = "is_default")]
    pub pool: Pool,
    /// Heaps by process id and handle.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub heap: BTreeMap<String, BTreeMap<String, HeapSums>>,
    /// Messages between processes.
    #[serde(skip_serializing_if = "is_default")]
    pub alpc: Alpc,
    /// Starts of processes, if the scenario is about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<ProcessStart>,
    /// Requested exits, in the order of their ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<ProcessExit>,
    /// System calls.
    #[serde(skip_serializing_if = "is_default")]
    pub syscalls: Syscalls,
    /// Resolutions of the system timer, in the order in which they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timer_resolution: Vec<TimerResolution>,
    /// Settings of the power scheme by GUID, each with its values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub power_settings: BTreeMap<String, Vec<PowerSetting>>,
    /// The registry.
    #[serde(skip_serializing_if = "is_default")]
    pub registry: Registry,
    /// Handles and objects.
    #[serde(skip_serializing_if = "is_default")]
    pub handles: Handles,
    /// Queries of names.
    #[serde(skip_serializing_if = "is_default")]
    pub dns: Dns,
    /// The window manager.
    #[serde(skip_serializing_if = "is_default")]
    pub windows: Windows,
    /// Sessions of the tracing system.
    #[serde(skip_serializing_if = "is_default")]
    pub sessions: Sessions,
    /// Garbage collections of .NET runtimes, in the order of their starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<Collection>,
}

/// True if a section is empty, since the scenario does not record it.
fn is_default<T: Default + PartialEq>(section: &T) -> bool {
    *section == T::default()
}

/// The arguments that give the same trace again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Made {
    /// Version of the format of the truth.
    pub format_version: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// Length in seconds.
    pub scale: u32,
    /// Seed.
    pub seed: u64,
    /// True if buffers are compressed.
    pub compressed: bool,
}

/// Facts of the trace header.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Header {
    /// Logical processors.
    pub cpu_count: u16,
    /// Ticks of a second.
    pub perf_freq: i64,
    /// Header event to the end of the session.
    pub duration_ns: i64,
}

/// Counts of events, including the header event and the definitions of stack keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct EventCounts {
    /// All.
    pub total: u64,
    /// By kind of header.
    pub by_header: BTreeMap<String, u64>,
    /// By processor of the buffer.
    pub by_cpu: BTreeMap<u16, u64>,
    /// Kernel events by `group/type/version`.
    pub kernel: BTreeMap<String, u64>,
    /// Records of the merge step by `class/id/version/type`.
    pub provider: BTreeMap<String, u64>,
}

/// A process and the sums of its threads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Name.
    pub name: String,
    /// Parent.
    pub parent_pid: u32,
    /// Command line.
    pub command_line: String,
    /// Start, if it is in the trace.
    pub start_ns: Option<i64>,
    /// Stop, if it is in the trace.
    pub stop_ns: Option<i64>,
    /// 2 for one of 32 bits, 4 for a protected one.
    #[serde(skip_serializing_if = "is_default")]
    pub flags: u32,
    /// Threads that ran or wait.
    pub threads: Vec<u32>,
    /// Sums over the threads.
    pub times: Times,
}

/// Times of threads in each state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    /// Switch-ins.
    pub switches_in: u64,
    /// Slices with both ends in the trace.
    pub run_ns: i64,
    /// From the last switch-in to the end, if it is running then.
    pub run_open_end_ns: i64,
    /// Waits that ended.
    pub wait_ns: i64,
    /// Waits that ended, by reason.
    pub wait_ns_by_reason: BTreeMap<u8, i64>,
    /// Ready or preempted until switched in.
    pub ready_ns: i64,
    /// Switch-ins after a preemption or the end of a quantum.
    pub preempted: u64,
}

/// A thread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ThreadTimes {
    /// Sums.
    #[serde(flatten)]
    pub times: Times,
    /// The wait or ready time that the end of the trace cuts off; none if the thread is running
    /// then, or has ended.
    pub open_at_end: Option<SwitchedOut>,
}

/// A thread that is switched out when the trace ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SwitchedOut {
    /// Switch-out.
    pub since_ns: i64,
    /// State of the switch-out: 1 ready, 5 waiting.
    pub state: u8,
    /// Reason of the switch-out.
    pub reason: u8,
    /// Time of its last readying, if any.
    pub readied_ns: Option<i64>,
}

/// A processor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CpuTimes {
    /// Time with a thread that is not idle, from the header event to the end.
    pub busy_ns: i64,
    /// Context switches.
    pub switches: u64,
}

/// Samples of the profile interrupt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Samples {
    /// Interval in units of 100 ns.
    pub profile_interval_100ns: u32,
    /// All.
    pub samples: u64,
    /// Samples of idle threads, without those in DPCs.
    pub idle_samples: u64,
    /// All other samples.
    pub busy_samples: u64,
    /// Samples in a DPC.
    pub dpc_isr_samples: u64,
    /// All by process.
    pub by_process: BTreeMap<String, u64>,
    /// All by thread.
    pub by_thread: BTreeMap<String, u64>,
    /// All by processor.
    pub by_core: BTreeMap<u16, u64>,
    /// Busy ones by processor.
    pub busy_by_core: BTreeMap<u16, u64>,
    /// Busy samples by process and path of the image at their address.
    pub exclusive_by_module: BTreeMap<String, BTreeMap<String, u64>>,
    /// Their stacks.
    pub stacks: SampleStacks,
}

/// Stacks of samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SampleStacks {
    /// Samples with a kernel part in their stack.
    pub samples_with_kernel_stack: u64,
    /// Samples with a user-mode part in their stack.
    pub samples_with_user_stack: u64,
    /// Samples with a stack.
    pub samples_with_any_stack: u64,
    /// Frames of all stacks.
    pub frames: u64,
    /// Distinct stacks.
    pub distinct: u64,
}

/// DPCs and interrupts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Interrupts {
    /// DPCs, including timer DPCs.
    pub dpcs: u64,
    /// Their durations.
    pub dpc_ns: i64,
    /// Interrupts.
    pub isrs: u64,
    /// Their durations.
    pub isr_ns: i64,
}

/// Transfers of the disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// All.
    pub total: Transfers,
    /// By process of the requesting thread.
    pub by_process: BTreeMap<String, Transfers>,
    /// By disk.
    pub by_disk: BTreeMap<u32, Transfers>,
    /// By path as users know it.
    pub by_file: BTreeMap<String, Transfers>,
}

/// Sums over transfers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Transfers {
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Flushes.
    pub flushes: u64,
    /// From the request to its completion.
    pub elapsed_ns: i64,
    /// From the request, or the previous completion on that disk, to its completion.
    pub service_ns: i64,
}

/// File operations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileIo {
    /// By operation: `create`, `read`, `write`, `close`.
    pub by_operation: BTreeMap<String, Operations>,
    /// By process and operation.
    pub by_process: BTreeMap<String, BTreeMap<String, Operations>>,
}

/// Sums over operations that ended in the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Operations {
    /// Number of operations.
    pub count: u64,
    /// Bytes that they transferred.
    pub bytes: u64,
    /// From their start to their end.
    pub duration_ns: i64,
}

/// A mark of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// Its time.
    pub time_ns: i64,
    /// Its text.
    pub text: String,
}

impl Times {
    /// Adds the times of a thread.
    pub(crate) fn add(&mut self, other: &Self) {
        self.switches_in += other.switches_in;
        self.run_ns += other.run_ns;
        self.run_open_end_ns += other.run_open_end_ns;
        self.wait_ns += other.wait_ns;
        for (reason, ns) in &other.wait_ns_by_reason {
            *self.wait_ns_by_reason.entry(*reason).or_default() += ns;
        }
        self.ready_ns += other.ready_ns;
        self.preempted += other.preempted;
    }
}
