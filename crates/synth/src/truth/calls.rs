//! Truth about scenarios with named code: functions, calls and their waits, processors of different
//! kinds.

use serde::Serialize;

/// Samples of a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FunctionSamples {
    /// Samples with the function on their stack; each counts once.
    pub inclusive: u64,
    /// Samples that hit the function itself.
    pub exclusive: u64,
}

/// Waits: of one thread that another one ended, or with a function on their stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WaitSums {
    /// Number of waits.
    pub waits: u64,
    /// From the switch-out to the readying.
    pub wait_ns: i64,
}

/// Counts of the performance counters between the switches of processors, without the first slice
/// of each processor and the slices at the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CounterSums {
    /// Scheduling slices.
    pub slices: u64,
    /// Instructions.
    pub instructions: u64,
    /// Cycles.
    pub cycles: u64,
    /// References to the last level of the cache.
    pub llc_references: u64,
    /// References that missed.
    pub llc_misses: u64,
}

/// A call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Call {
    /// Name of the call.
    pub name: String,
    /// `process/thread` that calls.
    pub thread: String,
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Times in each state; the three add up to its length.
    #[serde(flatten)]
    pub times: CallTimes,
    /// Activity of another thread during the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watched: Option<Watched>,
    /// Its longest wait, the last wait of the thread that ended it, and so on, as long as a thread
    /// ended the wait and came out of a wait itself in that time.
    pub chain: Vec<Link>,
    /// The reason of the last wait in this chain.
    pub root: Option<Root>,
}

/// Times of a call in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CallTimes {
    /// Running.
    pub run_ns: i64,
    /// Waiting.
    pub wait_ns: i64,
    /// Ready.
    pub ready_ns: i64,
}

/// Activity of another thread during a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Watched {
    /// `process/thread`.
    pub thread: String,
    /// Times in each state.
    #[serde(flatten)]
    pub times: CallTimes,
}

/// A wait in a chain of waits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Link {
    /// `process/thread` that waits.
    pub thread: String,
    /// Reason.
    pub reason: u8,
    /// Switch-out.
    pub wait_start_ns: i64,
    /// Readied.
    pub ready_ns: i64,
    /// Switch-in.
    pub switch_in_ns: i64,
    /// `process/thread` that ran where it was readied, if one did.
    pub readied_by: Option<String>,
    /// A DPC readied it, so that thread is accidental.
    pub in_dpc: bool,
}

/// The root of a chain of waits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Root {
    /// `disk read`, `disk write`, `timer`, `input`, or `thread`: the last thread did not wait.
    pub kind: String,
    /// File of a transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Bytes of a transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    /// Start of a transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init_ns: Option<i64>,
    /// End of a transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete_ns: Option<i64>,
}

/// A processor of a machine that has several kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Core {
    /// 0 for the most efficient ones.
    pub efficiency_class: u8,
    /// Nominal frequency.
    pub nominal_mhz: u32,
    /// Events that report its frequency.
    pub frequency_changes: u64,
    /// Lowest frequency reported.
    pub min_mhz: u32,
    /// Highest frequency reported.
    pub max_mhz: u32,
    /// Times in which it was parked.
    pub parked: Vec<Parked>,
}

/// A time in which a processor is parked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Parked {
    /// Start.
    pub from_ns: i64,
    /// End, if it is in the trace.
    pub to_ns: Option<i64>,
}
