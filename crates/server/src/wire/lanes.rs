//! Lanes and series over time: what the timeline draws.

use serde::{Deserialize, Serialize};

use super::{Frame, Range, Selection, Source};

/// The object that a lane shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LaneKind {
    /// A processor, by its number.
    Core,
    /// A process, by `process_key`: its threads together.
    Process,
    /// A thread, by `thread_key`.
    Thread,
}

/// `POST api/v1/lanes`: which lanes there are, those with most CPU first (cores by number).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LanesRequest {
    /// The trace.
    pub trace: u32,
    /// Kind of lanes.
    pub kind: LaneKind,
    /// Selects the lanes; they are ordered by their time in its range.
    pub selection: Selection,
    /// Largest number of lanes.
    pub limit: u32,
    /// Number of lanes to skip before these.
    pub offset: u32,
}

/// The lanes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LanesAnswer {
    /// In order.
    pub lanes: Vec<Lane>,
    /// Number of all lanes.
    pub total: u32,
    /// Origin of the answer.
    pub source: Source,
}

/// A lane.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Lane {
    /// Its key, see [`LaneKind`].
    pub key: i32,
    /// Its label: `CPU 3`, `cmd.exe (4711)`, `cmd.exe (4711) thread 4712`.
    pub label: String,
    /// More of it: command line, name of a thread, class of a core.
    pub detail: String,
    /// The process it is of; that of a thread.
    pub process_key: Option<i32>,
    /// Time running within the range.
    pub running_ns: i64,
    /// Ready time within the range; nothing without context switches.
    pub ready_ns: Option<i64>,
    /// Time waiting within the range; nothing without context switches.
    pub waiting_ns: Option<i64>,
    /// Its start, if it is in the trace.
    pub start_ns: Option<i64>,
    /// Its end, if it is in the trace.
    pub stop_ns: Option<i64>,
}

/// `POST api/v1/timeline`: states of lanes over time. The answer is an Arrow stream of one batch:
/// for each lane in order, `buckets` rows. The JSON of a [`TimelineHeader`] is in the metadata
/// `header` of its schema.
///
/// All columns are `UInt8`. A share is of the bucket, in 255ths; anything above nothing is at least
/// 1, so that a burst of a microsecond stays visible at every zoom. For threads and processes:
/// `running`, `ready` and `waiting` (shares), `reason` (what they waited for most, a place in
/// [`WAITS`]), `switches` (how often it was switched in, 255 for more). For cores: `running`, `dpc`
/// (shares), `process` (a place in `palette` of the header of the process that ran most, 255 for
/// others and none), `switches`. Lanes × buckets are at most 40,000; more are refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimelineRequest {
    /// The trace.
    pub trace: u32,
    /// Kind of lanes.
    pub kind: LaneKind,
    /// Their keys.
    pub keys: Vec<i32>,
    /// The part of the trace.
    pub range: Range,
    /// Number of buckets that it is divided into.
    pub buckets: u32,
    /// Only what is of these counts; of chips those of process, thread and core.
    pub selection: Selection,
}

/// Wait reasons of threads, as `reason` numbers them.
pub use etwkit_pyramid::WAITS;

/// Metadata of a timeline.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimelineHeader {
    /// The range as the buckets divide it: it begins and ends at most one bucket outside of what
    /// was asked.
    pub range: Range,
    /// Buckets of each lane.
    pub buckets: u32,
    /// Processes by their place, for cores.
    pub palette: Vec<i32>,
    /// Switches in the range, of these lanes: what is drawn counts each.
    pub switches: u64,
    /// Origin of the answer. `sql` gives nanoseconds of states and switch-ins by lane and bucket.
    pub source: Source,
}

/// Quantity of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SeriesKind {
    /// CPU time by process, in nanoseconds: the first `keys` by number, then others together.
    Cpu,
    /// Bytes read and written by process.
    Disk,
    /// Time in which the disk was busy, by disk, in nanoseconds.
    DiskBusy,
    /// Bytes of file operations by process.
    File,
    /// Bytes sent and received by process.
    Net,
    /// Number of logged events of all kinds.
    Events,
    /// Number of marks.
    Marks,
}

/// `POST api/v1/series`: sums over time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesRequest {
    /// The trace.
    pub trace: u32,
    /// Quantity to measure.
    pub kind: SeriesKind,
    /// The part of the trace.
    pub range: Range,
    /// Number of buckets that it is divided into, at most 2,000.
    pub buckets: u32,
    /// Number of series with a name of their own, at most 16; the others are one.
    pub top: u32,
    /// Only what is of these counts; `range` of it is not read.
    pub selection: Selection,
}

/// One line or band.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Series {
    /// Key of the process or disk; nothing for the others together.
    pub key: Option<i32>,
    /// Its label.
    pub label: String,
    /// Its sum within the range, exactly.
    pub total: i64,
    /// One value for each bucket, in the unit of the kind.
    pub values: Vec<i64>,
}

/// The series, the largest first; others together last.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesAnswer {
    /// Range of the buckets.
    pub range: Range,
    /// Capacity of a bucket: for CPU time, the number of processors times its width; nothing if
    /// there is no bound.
    pub capacity: Option<i64>,
    /// `ns`, `bytes` or `count`.
    pub unit: String,
    /// The series.
    pub series: Vec<Series>,
    /// Origin of the answer. `sql` gives the totals.
    pub source: Source,
}

/// A moment to look up.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MomentRequest {
    /// The trace.
    pub trace: u32,
    /// Kind of the lane: a core or a thread.
    pub kind: LaneKind,
    /// Its key.
    pub key: i32,
    /// The moment.
    pub at_ns: i64,
    /// If nothing is at that moment, what is nearest within this many nanoseconds.
    pub within_ns: i64,
}

/// `POST api/v1/moment`: what was there at a moment of a lane.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Moment {
    /// The state at that moment; nothing if the trace does not contain it.
    pub slice: Option<Slice>,
    /// Origin of the answer. `sql` gives the row.
    pub source: Source,
}

/// A stretch of one state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Slice {
    /// `running`, `ready` or `waiting`.
    pub state: String,
    /// From when to when.
    pub range: Range,
    /// The thread.
    pub thread_key: i32,
    /// Its label.
    pub thread: String,
    /// Its process.
    pub process_key: i32,
    /// Label of the process.
    pub process: String,
    /// Processor of a thread that runs.
    pub core: Option<i32>,
    /// Wait reason.
    pub wait_reason: Option<String>,
    /// Stack at the switch-out, leaf first.
    pub stack: Vec<Frame>,
    /// The thread that ended the wait.
    pub readying_thread_key: Option<i32>,
    /// Label of that thread.
    pub readying_thread: Option<String>,
    /// Stack of that thread at that time, leaf first.
    pub readying_stack: Vec<Frame>,
    /// Time that the thread was ready before it ran again.
    pub ready_ns: Option<i64>,
}
