//! Flame graphs, call trees and single stacks.

use serde::{Deserialize, Serialize};

use super::{Range, Selection, Source};

/// Quantity that the width of a frame shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Sampled CPU time, in nanoseconds.
    Cpu,
    /// Time waiting, in nanoseconds, added over threads.
    Wait,
    /// Ready time, in nanoseconds, added over threads.
    Ready,
    /// Bytes of disk operations.
    DiskBytes,
}

/// The end of stacks that is at the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The outermost frame, where threads begin: whom it calls.
    TopDown,
    /// The innermost frame, where it happened: who called it.
    BottomUp,
}

/// `POST api/v1/flame`: stacks of a selection as one tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameRequest {
    /// The trace.
    pub trace: u32,
    /// Selects rows.
    pub selection: Selection,
    /// Quantity to add up.
    pub weight: Weight,
    /// End of the stacks that becomes the root.
    pub direction: Direction,
    /// Between the root and frames is a level of processes, where it has more than one.
    pub by_process: bool,
    /// Between the root and frames is a level of stack tags; each unfolds into its frames.
    pub by_tag: bool,
    /// Only stacks with this method, which becomes the root: callees top down, callers bottom up.
    /// Both together are the butterfly.
    pub focus: Option<String>,
    /// Names from below the root to one node: the answer has only rows that go through it, so that
    /// it unfolds what an earlier answer left out there. Sums of the nodes above count these rows.
    #[serde(default)]
    pub below: Vec<String>,
    /// Frames of less than this share of all are left out, 0 to 1.
    pub least_share: f64,
    /// Largest number of nodes, at most 20,000.
    pub max_nodes: u32,
}

/// A tree of frames.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameAnswer {
    /// Parents stand in front of their children; the first one is the root.
    pub nodes: Vec<FlameNode>,
    /// Texts of nodes: names of methods, tags and processes.
    pub names: Vec<String>,
    /// Weight of rows without a stack, which are in the root and in no frame.
    pub without_stack: i64,
    /// Weight of frames that were left out because they were small, which are in their parents.
    pub left_out: i64,
    /// `ns` or `bytes`.
    pub unit: String,
    /// Origin of the answer. `sql` gives processes, tags and the first level of frames.
    pub source: Source,
}

/// A frame with everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameNode {
    /// Place of its parent; that of the root is its own.
    pub parent: u32,
    /// Place of its text in `names`.
    pub name: u32,
    /// Weight of stacks that go through it.
    pub total: i64,
    /// Weight of stacks that end in it.
    pub own: i64,
    /// Number of rows that go through it.
    pub count: u64,
    /// Its kind: 0 root, 1 process, 2 tag, 3 method, 4 place in a module without symbols, 5 unknown
    /// place.
    pub kind: u8,
}

/// `POST api/v1/flame_chart`: the stacks of a thread over time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameChartRequest {
    /// The trace.
    pub trace: u32,
    /// Key of the thread.
    pub thread: i32,
    /// The part of the trace.
    pub range: Range,
    /// Pixels of the picture: boxes that are narrower can be one with their neighbors.
    pub columns: u32,
    /// Largest number of boxes, 1,000 to 10,000. Where there would be more, longer boxes are one
    /// with their neighbors, too.
    pub max_boxes: u32,
}

/// Boxes of frames, waits and ready times, by level and time. Times of a frame are those of the
/// first and the last observation of it, cut at the range.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameChartAnswer {
    /// Label of the thread.
    pub thread: String,
    /// The requested range.
    pub range: Range,
    /// Number of boxes of each level, outermost frames first. The columns below have the boxes of
    /// the first level, then those of the second one, and so on.
    pub levels: Vec<u32>,
    /// Start of each box.
    pub from_ns: Vec<i64>,
    /// End of each box; that of one sample is its start.
    pub to_ns: Vec<i64>,
    /// Place of its text in `texts`.
    pub names: Vec<u32>,
    /// Number of samples in it.
    pub samples: Vec<u64>,
    /// Number of waits in it.
    pub waits: Vec<u64>,
    /// Number of boxes that are one in it; 1 for a box by itself.
    pub pieces: Vec<u64>,
    /// Names of methods, states with their reasons, and one name for different frames together.
    pub texts: Vec<String>,
    /// Kind of each text: 3 to 5 frames as in a flame graph, 6 waiting, 7 ready, 8 different frames
    /// that are one box.
    pub kinds: Vec<u8>,
    /// Boxes shorter than this, and as close to each other, are one.
    pub grain_ns: i64,
    /// Samples in the range.
    pub all_samples: u64,
    /// Waits and ready times in the range.
    pub all_switches: u64,
    /// Number of boxes below the deepest level of an answer, which are left out.
    pub left_out: u64,
    /// Origin of the answer. `sql` gives the samples and switches that it is made of.
    pub source: Source,
}

/// `POST api/v1/stack`: the frames of stacks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StackRequest {
    /// The trace.
    pub trace: u32,
    /// `stack_id`, 64 at most.
    pub stacks: Vec<i32>,
}

/// Stacks in the order in which they were asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StackAnswer {
    /// Frames of each, leaf first.
    pub stacks: Vec<Vec<Frame>>,
}

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Frame {
    /// `module!method`, or `module+0x12` where no symbol is known.
    pub name: String,
    /// Its name comes from symbols.
    pub has_symbol: bool,
}
