//! Requests to a pyramid and its answers: times and counts, never names.
//!
//! The messages to the page (`etwkit_server::wire`) have lanes, ranges and series of their own.
//! Tests write them as TypeScript: with shared types this crate would have a feature for that, and
//! all above it would be built twice, once for the tests.

/// The kind of object that a lane shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaneKind {
    /// A processor, by its number.
    Core,
    /// A process, by `process_key`: its threads together.
    Process,
    /// A thread, by `thread_key`.
    Thread,
}

/// Start and end in nanoseconds from the start of the trace; the end is exclusive. Any two numbers
/// are valid: a range outside of the trace is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Its start.
    pub from_ns: i64,
    /// Its end.
    pub to_ns: i64,
}

/// A filter: only matching objects count. `None` is no condition; an empty list matches nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Processes, by `process_key`.
    pub processes: Option<Vec<i32>>,
    /// Threads, by `thread_key`.
    pub threads: Option<Vec<i32>>,
    /// Processors, by number.
    pub cores: Option<Vec<i32>>,
}

/// A condition of a [`Selection`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// Lanes of processes.
    Process,
    /// Lanes of threads.
    Thread,
    /// Lanes of processors.
    Core,
}

/// The source of an answer: its table, level and amount of work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Rows of tables and of pages that were decoded.
    pub rows_read: u64,
    /// Width of the buckets that were read; `None` if rows were read instead.
    pub level_ns: Option<i64>,
    /// Conditions of the selection that this answer could not apply.
    pub not_applied: Vec<Field>,
    /// Notes for the reader.
    pub notes: Vec<&'static str>,
}

/// Arguments of [`Pyramid::timeline`](crate::Pyramid::timeline).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineRequest {
    /// The kind of lanes.
    pub kind: LaneKind,
    /// Their keys, in the order of the answer.
    pub keys: Vec<i32>,
    /// The part of the trace.
    pub range: Range,
    /// Requested number of buckets. The answer has between half and one and a half times as many.
    pub buckets: u32,
    /// Filter of the objects that count.
    pub selection: Selection,
}

/// States of lanes over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Facts about the whole timeline.
    pub header: TimelineHeader,
    /// Name and values of each column: for each lane in the requested order, one value for each
    /// bucket. The columns are [`THREAD_COLUMNS`] for processes and threads, and [`CORE_COLUMNS`]
    /// for processors.
    pub columns: Vec<(&'static str, Vec<u8>)>,
    /// The source of the answer.
    pub source: Source,
}

/// The facts of a timeline apart from its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineHeader {
    /// The range covered by the buckets. It starts and ends at most one bucket outside of the
    /// requested range.
    pub range: Range,
    /// Buckets of each lane, all of the same width.
    pub buckets: u32,
    /// Width of a bucket.
    pub bucket_ns: i64,
    /// Processes by their index in `process`, for lanes of processors; -1 means threads of no known
    /// process.
    pub palette: Vec<i32>,
    /// Switch-ins in the range, of these lanes.
    pub switches: u64,
}

/// Columns of processes and threads. `running`, `ready` and `waiting` are shares of the bucket in
/// 255ths, at least 1 for anything above nothing and 255 for sums of threads that are longer than
/// the bucket; `reason` is a place in [`WAITS`]; `switches` are switch-ins, 255 for more.
pub const THREAD_COLUMNS: [&str; 5] = ["running", "ready", "waiting", "reason", "switches"];

/// Columns of processors: `running` and `dpc` are shares; `process` is an index in
/// [`TimelineHeader::palette`] of the process that ran most, 255 for others and none.
pub const CORE_COLUMNS: [&str; 4] = ["running", "dpc", "process", "switches"];

/// Groups of wait reasons, as `reason` numbers them. The number of each `KWAIT_REASON` is in
/// `docs/numbers/timeline.md`.
pub const WAITS: [&str; 7] = [
    "unknown",
    "sync",
    "io",
    "sleep",
    "paging",
    "ui",
    "suspended",
];

/// Maximum number of lanes times buckets of a timeline.
pub const MAX_CELLS: u64 = 40_000;

/// Maximum number of buckets of a series.
pub const MAX_SERIES_BUCKETS: u32 = 2_000;

/// The quantity that a series measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeriesKind {
    /// CPU time by process, in nanoseconds: from context switches, or from samples if there are
    /// none.
    Cpu,
    /// Bytes read and written by process, when the access was complete.
    Disk,
    /// Time in which the disk was busy, by disk, in nanoseconds.
    DiskBusy,
    /// Bytes of reads and writes of files by process, when the operation ended.
    File,
    /// Bytes sent and received by process.
    Net,
    /// Number of logged events of any kind, counted by seconds.
    Events,
    /// Number of marks.
    Marks,
}

/// Arguments of [`Pyramid::series`](crate::Pyramid::series).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesRequest {
    /// The quantity to measure.
    pub kind: SeriesKind,
    /// The part of the trace.
    pub range: Range,
    /// Requested number of buckets, at most [`MAX_SERIES_BUCKETS`]. The answer has between half and
    /// one and a half times as many.
    pub buckets: u32,
    /// Number of series with a key of their own.
    pub top: u32,
    /// Filter of the objects that count.
    pub selection: Selection,
}

/// A line or band.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Process or disk; `None` for all others together, and for threads of no known process.
    pub key: Option<i32>,
    /// Its exact sum within the requested range.
    pub total: i64,
    /// Values, one for each bucket.
    pub values: Vec<i64>,
}

/// The series, the largest first; all remaining ones together last, if there are any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesAnswer {
    /// The range covered by the buckets, at most one bucket outside of the requested range.
    pub range: Range,
    /// Width of a bucket.
    pub bucket_ns: i64,
    /// Value of a full bucket: the number of processors times its width for CPU time, its width for
    /// a disk; `None` if there is no bound.
    pub capacity: Option<i64>,
    /// `ns`, `bytes` or `count`.
    pub unit: &'static str,
    /// The series.
    pub series: Vec<Series>,
    /// The source of the answer.
    pub source: Source,
}

/// Arguments of [`Pyramid::lanes`](crate::Pyramid::lanes).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanesRequest {
    /// The kind of lanes.
    pub kind: LaneKind,
    /// Filter of the lanes.
    pub selection: Selection,
    /// The range of the sums.
    pub range: Range,
    /// Maximum number of lanes.
    pub limit: usize,
    /// Number of lanes to skip first.
    pub offset: usize,
}

/// Lanes with anything in the range: those with most CPU first, processors by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanesAnswer {
    /// The lanes, in their order.
    pub lanes: Vec<Lane>,
    /// Total number of lanes.
    pub total: usize,
    /// The source of the answer.
    pub source: Source,
}

/// A lane and its sums, clipped to the range, to the nanosecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// Its key, see [`LaneKind`].
    pub key: i32,
    /// The process of a thread, if it is known.
    pub process_key: Option<i32>,
    /// Time running.
    pub running_ns: i64,
    /// Ready time; `None` without context switches, and of processors.
    pub ready_ns: Option<i64>,
    /// Time waiting; `None` without context switches, and of processors.
    pub waiting_ns: Option<i64>,
    /// Switch-ins.
    pub switches: i64,
}

/// Arguments of [`Pyramid::moment`](crate::Pyramid::moment).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MomentRequest {
    /// The kind of lane: a processor or a thread. Processes have no answer.
    pub kind: LaneKind,
    /// Its key.
    pub key: i32,
    /// The moment.
    pub at_ns: i64,
    /// If the lane did nothing at that moment, the nearest slice within this many nanoseconds
    /// counts; at most [`MAX_WITHIN_NS`].
    pub within_ns: i64,
}

/// Maximum distance from a moment at which a slice is searched.
pub const MAX_WITHIN_NS: i64 = 1 << 30;

/// The activity of a lane at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The slice at the moment; `None` if the trace does not contain it.
    pub slice: Option<Slice>,
    /// The source of the answer.
    pub source: Source,
}

/// The state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It has a processor.
    Running,
    /// It could run and has none.
    Ready,
    /// It waits.
    Waiting,
}

impl State {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
        }
    }
}

/// A stretch of one state: a part of a row of `context_switch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The state of the thread.
    pub state: State,
    /// Start and end of the stretch.
    pub range: Range,
    /// The thread.
    pub thread_key: i32,
    /// Its process, if it is known.
    pub process_key: Option<i32>,
    /// Processor of a thread that runs.
    pub core: Option<i32>,
    /// Number of `KWAIT_REASON` of the wait before the slice.
    pub wait_reason: Option<i32>,
    /// Stack with which the thread was switched in. It shows the cause of the preceding wait.
    pub stack_id: Option<i32>,
    /// Thread that ran where it was readied.
    pub readying_thread_key: Option<i32>,
    /// Stack that readied it.
    pub readying_stack_id: Option<i32>,
    /// True if a DPC readied the thread; the readying thread was only interrupted then.
    pub is_readied_by_dpc: bool,
    /// Ready time of the thread before it ran, in nanoseconds.
    pub ready_ns: Option<i64>,
}
