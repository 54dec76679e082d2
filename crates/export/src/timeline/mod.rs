//! Contents of a timeline in any format: the activity of the threads of processes over time.

mod merge;
mod report;
mod request;
mod rows;
mod scene;
mod sql;
mod used;

pub use request::processes;
pub(crate) use request::write;
pub use scene::{Process, Scene, Thread};
pub(crate) use used::Used;

use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;
use etwkit_question::tag_query::TagQuery;

use crate::Result;

/// The part of a trace that a timeline shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimelineSelection<'a> {
    /// Name of the export.
    pub(crate) name: &'a str,
    /// The exported processes.
    pub(crate) processes: &'a ProcessQuery,
    /// Stack tags: only items whose stack has one of them, and marks.
    pub(crate) tags: &'a TagQuery,
    /// The exported range, in nanoseconds.
    pub(crate) time: Range,
}

/// The order of items for a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// All items by time.
    Time,
    /// Items of no thread first, then the items of each thread, by time.
    Thread,
}

/// A consumer of the items of a timeline.
pub trait Timeline {
    /// Returns the order of its items.
    fn order(&self) -> Order;

    /// Writes the start of the file, before the first item.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn start(&mut self, scene: &Scene<'_>) -> Result<()>;

    /// Writes an item.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn item(&mut self, item: &Item, scene: &Scene<'_>) -> Result<()>;

    /// Writes the end of the file, after the last item.
    ///
    /// # Errors
    /// Nothing more can be written.
    fn end(self: Box<Self>, scene: &Scene<'_>) -> Result<()>;
}

/// An item of a timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its time, or its start.
    pub time_ns: i64,
    /// Key of its thread; missing if the thread is not known.
    pub thread: Option<i64>,
    /// Its kind and data.
    pub what: What,
}

/// The kind of an item, with its data.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A thread had a processor.
    Slice(Slice),
    /// A thread waited.
    Wait(Wait),
    /// A thread was ready, without a processor.
    Ready(Ready),
    /// A CPU sample.
    Sample(Sample),
    /// An operation on a disk or a file.
    Io(Io),
    /// A mark.
    Mark(String),
}

/// A scheduling slice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slice {
    /// True if its thread is exported. Formats that show processors also get the slices of other
    /// threads, so that they know when another thread had a processor.
    pub is_chosen: bool,
    /// Processor.
    pub cpu: i64,
    /// Its end, or the end of the exported range.
    pub end_ns: i64,
    /// Priority of the thread at its switch-in.
    pub priority: Option<i64>,
    /// Its switch-out; missing if that is not in the exported range.
    pub left: Option<SwitchOut>,
}

/// The switch-out of a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SwitchOut {
    /// Its new state: number of `KTHREAD_STATE`.
    pub state: i64,
    /// Its wait reason: number of `KWAIT_REASON`.
    pub reason: Option<i64>,
    /// True if it waited in user mode.
    pub is_user: Option<bool>,
}

/// A wait, up to the time at which the thread was made ready.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wait {
    /// Time at which the thread was made ready; missing if it still waited at the end.
    pub end_ns: Option<i64>,
    /// Number of `KWAIT_REASON`.
    pub reason: Option<i64>,
    /// The thread or DPC that made it ready.
    pub by: Readying,
}

/// The interval from the time at which a thread was made ready, or preempted, to its switch-in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ready {
    /// Switch-in; missing if there was none.
    pub end_ns: Option<i64>,
    /// Processor of the switch-in.
    pub cpu: Option<i64>,
    /// True if an event reports that the thread was made ready in the exported range: no event
    /// reports it for a thread that was preempted.
    pub is_event: bool,
    /// The thread or DPC that made it ready.
    pub by: Readying,
    /// Number of the reason for the adjustment of its priority.
    pub adjust_reason: Option<i64>,
}

/// The cause of a thread becoming ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Readying {
    /// Key of the thread that ran there; missing if it is not known, and for a DPC, which only
    /// interrupted it.
    pub thread: Option<i64>,
    /// True if it was a DPC.
    pub is_dpc: bool,
}

/// A CPU sample of a thread.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// Processor.
    pub cpu: i64,
    /// Time that it represents.
    pub weight_ns: i64,
    /// Its stack, of the extract.
    pub stack_id: i32,
}

/// An operation on a disk or a file, with all its bytes, even if only a part of it is in the
/// exported range.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Io {
    /// True for a disk, false for a file.
    pub is_disk: bool,
    /// Operation: `read`, `write` and others, as in the tables.
    pub operation: String,
    /// End; missing if it is not in the trace.
    pub end_ns: Option<i64>,
    /// Path, if it is known.
    pub path: Option<String>,
    /// Position.
    pub offset_bytes: Option<i64>,
    /// Bytes: moved ones of a disk, requested ones of a file.
    pub size_bytes: Option<i64>,
    /// Number of the disk.
    pub disk: Option<i64>,
    /// NTSTATUS of an operation on a file, as bit pattern.
    pub status: Option<i64>,
}

impl Io {
    /// Returns its name in a viewer: `Disk read`, `File create`.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.kind(), self.operation)
    }

    /// Returns `Disk` or `File`.
    pub(crate) const fn kind(&self) -> &'static str {
        if self.is_disk { "Disk" } else { "File" }
    }
}

/// Numbers of written items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimelineSums {
    /// Number of processes.
    pub processes: usize,
    /// Number of threads.
    pub threads: usize,
    /// Number of scheduling slices.
    pub slices: u64,
    /// Duration of all slices together, in nanoseconds.
    pub run_ns: i64,
    /// Number of waits.
    pub waits: u64,
    /// Number of samples.
    pub samples: u64,
    /// Time that the samples represent, in nanoseconds.
    pub cpu_ns: i64,
    /// Number of operations on disks and files.
    pub operations: u64,
    /// Number of marks.
    pub marks: u64,
}

impl TimelineSums {
    /// Returns `true` if there are no items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.slices == 0
            && self.waits == 0
            && self.samples == 0
            && self.operations == 0
            && self.marks == 0
    }

    fn add(&mut self, item: &Item) {
        let one = |count: &mut u64| *count = count.saturating_add(1);
        match &item.what {
            What::Slice(slice) if slice.is_chosen => {
                one(&mut self.slices);
                let run_ns = slice.end_ns.saturating_sub(item.time_ns);
                self.run_ns = self.run_ns.saturating_add(run_ns);
            }
            What::Slice(_) | What::Ready(_) => {}
            What::Wait(_) => one(&mut self.waits),
            What::Sample(sample) => {
                one(&mut self.samples);
                self.cpu_ns = self.cpu_ns.saturating_add(sample.weight_ns);
            }
            What::Io(_) => one(&mut self.operations),
            What::Mark(_) => one(&mut self.marks),
        }
    }
}
