//! Lanes and series over time: what the timeline draws.

use serde::{Deserialize, Serialize};

use super::{Frame, Range, Selection, Source};

/// What a lane stands for.
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
    /// What lanes stand for.
    pub kind: LaneKind,
    /// Which of them; the range says by what time they are ordered.
    pub selection: Selection,
    /// How many, at most.
    pub limit: u32,
    /// How many are left out in front of those.
    pub offset: u32,
}

/// The lanes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LanesAnswer {
    /// In order.
    pub lanes: Vec<Lane>,
    /// How many there are in all.
    pub total: u32,
    /// How the answer came about.
    pub source: Source,
}

/// A lane.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Lane {
    /// Its key, see [`LaneKind`].
    pub key: i32,
    /// What it is called: `CPU 3`, `cmd.exe (4711)`, `4712 (cmd.exe 4711)`.
    pub label: String,
    /// More of it: command line, name of a thread, class of a core.
    pub detail: String,
    /// The process it is of; that of a thread.
    pub process_key: Option<i32>,
    /// Time running within the range.
    pub running_ns: i64,
    /// Time ready within the range; nothing without context switches.
    pub ready_ns: Option<i64>,
    /// Time waiting within the range; nothing without context switches.
    pub waiting_ns: Option<i64>,
    /// When it began, if the trace saw it.
    pub start_ns: Option<i64>,
    /// When it ended, if the trace saw it.
    pub stop_ns: Option<i64>,
}

/// `POST api/v1/timeline`: states of lanes over time. The answer is an Arrow stream of one batch: for each
/// lane in order, `buckets` rows. The JSON of a [`TimelineHeader`] is in the metadata `header` of its schema.
///
/// All columns are `UInt8`. A share is of the bucket, in 255ths; anything above nothing is at least 1, so
/// that a burst of a microsecond stays visible at every zoom. For threads and processes: `running`, `ready`
/// and `waiting` (shares), `reason` (what they waited for most, a place in [`WAITS`]), `switches` (how often
/// it was switched in, 255 for more). For cores: `running`, `dpc` (shares), `process` (a place in `palette`
/// of the header of the process that ran most, 255 for others and none), `switches`. Lanes × buckets are at
/// most 40,000; more are refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimelineRequest {
    /// The trace.
    pub trace: u32,
    /// What lanes stand for.
    pub kind: LaneKind,
    /// Their keys.
    pub keys: Vec<i32>,
    /// The part of the trace.
    pub range: Range,
    /// How many buckets it is divided into.
    pub buckets: u32,
    /// Only what is of these counts; of chips those of process, thread and core.
    pub selection: Selection,
}

/// What threads wait for, as `reason` names it.
pub use etwkit_pyramid::WAITS;

/// What a timeline says beside its columns.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimelineHeader {
    /// The range as the buckets divide it: it begins and ends at most one bucket outside of what was asked.
    pub range: Range,
    /// Buckets of each lane.
    pub buckets: u32,
    /// Processes by their place, for cores.
    pub palette: Vec<i32>,
    /// Switches in the range, of these lanes: what is drawn counts each.
    pub switches: u64,
    /// How the answer came about. `sql` gives nanoseconds of states and switch-ins by lane and bucket.
    pub source: Source,
}

/// What a series measures.
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
    /// How many events of any kind were logged.
    Events,
    /// How many marks there are.
    Marks,
}

/// `POST api/v1/series`: sums over time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesRequest {
    /// The trace.
    pub trace: u32,
    /// What is measured.
    pub kind: SeriesKind,
    /// The part of the trace.
    pub range: Range,
    /// How many buckets it is divided into, 2,000 at most.
    pub buckets: u32,
    /// How many series have a name of their own, 16 at most; the others are one.
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
    /// What it is called.
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
    /// Where the buckets begin and end.
    pub range: Range,
    /// What fills a bucket: processors times its width for CPU time; nothing where there is no bound.
    pub capacity: Option<i64>,
    /// `ns`, `bytes` or `count`.
    pub unit: String,
    /// The series.
    pub series: Vec<Series>,
    /// How the answer came about. `sql` gives the totals.
    pub source: Source,
}

/// Where a moment is looked up.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MomentRequest {
    /// The trace.
    pub trace: u32,
    /// What the lane stands for: a core or a thread.
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
    /// What it was doing; nothing if the trace does not say.
    pub slice: Option<Slice>,
    /// How the answer came about. `sql` gives the row that says it.
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
    /// What it is called.
    pub thread: String,
    /// Its process.
    pub process_key: i32,
    /// What that is called.
    pub process: String,
    /// Processor of a thread that runs.
    pub core: Option<i32>,
    /// What it waited for.
    pub wait_reason: Option<String>,
    /// Where it gave the processor up, leaf first.
    pub stack: Vec<Frame>,
    /// The thread that ended the wait.
    pub readying_thread_key: Option<i32>,
    /// What that is called.
    pub readying_thread: Option<String>,
    /// Where that one was then, leaf first.
    pub readying_stack: Vec<Frame>,
    /// How long the thread was ready before it ran again.
    pub ready_ns: Option<i64>,
}
