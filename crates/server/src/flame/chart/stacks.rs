//! Stacks of a thread in the order of time: frames stay open from one stack to the next one.

use etwkit_sql::frames::TraceFrames;

use super::boxes::{Boxes, Span};
use super::labels::Labels;
use crate::flame::names::Names;
use crate::wire::Range;

/// Largest gap between two stacks over which a frame stays open, in sampling intervals.
const NEAR: i64 = 3;

/// Sampling interval before the first sample: the default of Windows, in nanoseconds.
const DEFAULT_INTERVAL_NS: i64 = 1_000_000;

/// Number of nodes of a stack that are read; deeper stacks are damage.
const MOST_NODES: usize = 4_096;

/// Number of times off the processor that wait for the next stack.
const MOST_PENDING: usize = 4_096;

/// A sample of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) at_ns: i64,
    pub(super) stack: i32,
    /// The time that it represents: the sampling interval, most often.
    pub(super) weight_ns: i64,
}

/// The time from a switch-out to the next switch-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Off {
    pub(super) from_ns: i64,
    pub(super) to_ns: i64,
    /// End of the wait, and start of the ready time: `from_ns` if it was preempted, nothing if no
    /// event reports it.
    pub(super) ready_ns: Option<i64>,
    /// Number of the wait reason.
    pub(super) reason: Option<i32>,
    /// The stack in which it was, if one was recorded.
    pub(super) stack: Option<i32>,
}

impl Off {
    /// Returns the part inside a range.
    pub(super) fn within(self, range: Range) -> Self {
        let cut = |ns: i64| ns.max(range.from_ns).min(range.to_ns);
        Self {
            from_ns: cut(self.from_ns),
            to_ns: cut(self.to_ns),
            ready_ns: self.ready_ns.map(cut),
            ..self
        }
    }

    /// Returns the number of its waits: none if it was preempted, or if that is not known.
    fn waits(&self) -> u64 {
        u64::from(
            self.ready_ns
                .is_some_and(|ready_ns| ready_ns > self.from_ns),
        )
    }
}

/// A frame of the last stack.
#[derive(Debug, Clone, Copy)]
struct OpenFrame {
    node: i32,
    name: u32,
    from_ns: i64,
    /// Samples and waits before it.
    samples: u64,
    waits: u64,
}

/// The picture of a thread while its stacks are read.
pub(super) struct Stacks<'c, 'f> {
    frames: &'f TraceFrames,
    labels: Labels<'c, 'f>,
    /// Frames of the last stack, outermost first. Nodes ascend, since callers have smaller numbers.
    path: Vec<OpenFrame>,
    /// Nodes of the next stack that the last one does not have, innermost first, with their names.
    next: Vec<(i32, u32)>,
    /// End of the last stack.
    reach_ns: i64,
    interval_ns: i64,
    samples: u64,
    waits: u64,
    /// Times off the processor without a stack, since the last stack.
    pending: Vec<Off>,
    boxes: Boxes,
}

impl<'c, 'f> Stacks<'c, 'f> {
    /// Returns an empty picture.
    pub(super) fn new(names: &'c mut Names<'f>, boxes: Boxes) -> Self {
        let frames = names.frames;
        Self {
            frames,
            labels: Labels::new(names),
            path: Vec::new(),
            next: Vec::new(),
            reach_ns: i64::MIN,
            interval_ns: DEFAULT_INTERVAL_NS,
            samples: 0,
            waits: 0,
            pending: Vec::new(),
            boxes,
        }
    }

    /// Adds a sample, not before what was added last.
    pub(super) fn sample(&mut self, sample: Sample) {
        if sample.weight_ns > 0 {
            self.interval_ns = sample.weight_ns;
        }
        self.see(sample.at_ns, sample.at_ns, sample.stack);
        self.samples = self.samples.saturating_add(1);
    }

    /// Adds a time off the processor, not before what was added last.
    pub(super) fn off(&mut self, off: Off) {
        if let Some(stack) = off.stack {
            // The stack does not change while the thread is off the processor.
            self.see(off.from_ns, off.to_ns, stack);
            self.draw(self.path.len(), off);
            self.waits = self.waits.saturating_add(off.waits());
            return;
        }
        self.pending.push(off);
        if !self.is_near(off.to_ns) || self.pending.len() >= MOST_PENDING {
            self.end();
        }
    }

    /// Returns the boxes of all that was added.
    pub(super) fn finish(mut self) -> Boxes {
        self.end();
        self.boxes
    }

    /// True if frames of the last stack are still open at this moment.
    fn is_near(&self, at_ns: i64) -> bool {
        let gap_ns = at_ns.saturating_sub(self.reach_ns);
        !self.path.is_empty() && gap_ns <= self.interval_ns.saturating_mul(NEAR)
    }

    /// Takes the next stack: common frames stay open, others are drawn and make room for new ones.
    fn see(&mut self, from_ns: i64, to_ns: i64, stack: i32) {
        let shared = self.read(stack);
        let open = if self.is_near(from_ns) {
            shared.saturating_add(self.renewed(shared))
        } else {
            0
        };
        self.draw_open(open);
        self.draw_pending(open);
        let kept = open.max(shared);
        self.path.truncate(kept);
        // After a gap, frames that both stacks have are new ones.
        for again in self.path.iter_mut().skip(open) {
            *again = OpenFrame {
                from_ns,
                samples: self.samples,
                waits: self.waits,
                ..*again
            };
        }
        let new = self.next.iter().rev().skip(kept.saturating_sub(shared));
        self.path.extend(new.map(|(node, name)| OpenFrame {
            node: *node,
            name: *name,
            from_ns,
            samples: self.samples,
            waits: self.waits,
        }));
        self.reach_ns = self.reach_ns.max(to_ns);
    }

    /// Draws everything that was added so far; the next stack has nothing in common with it.
    fn end(&mut self) {
        self.draw_open(0);
        self.path.clear();
        self.draw_pending(0);
    }

    /// Reads a stack as far out as the last one does not have it, and returns the number of levels
    /// that both have.
    fn read(&mut self, stack: i32) -> usize {
        self.next.clear();
        let mut next = Some(stack);
        let mut level = self.path.len();
        for _ in 0..MOST_NODES {
            let Some(node) = next else {
                return 0;
            };
            while level > 0 && self.node(level) > node {
                level = level.saturating_sub(1);
            }
            if level > 0 && self.node(level) == node {
                return level;
            }
            let Some((parent, frame)) = self.frames.node(node) else {
                return 0;
            };
            // A node without a frame has no level.
            if frame >= 0 {
                let name = self.labels.frame(frame);
                self.next.push((node, name));
            }
            next = parent;
        }
        0
    }

    /// Returns the node of a level, counted from 1.
    fn node(&self, level: usize) -> i32 {
        self.path
            .get(level.saturating_sub(1))
            .map_or(-1, |open| open.node)
    }

    /// Gives the open frames from a level on their nodes in the next stack, as long as they are the
    /// same methods there; returns their number.
    fn renewed(&mut self, level: usize) -> usize {
        let open = self.path.iter_mut().skip(level);
        let mut renewed = 0_usize;
        // One method has several nodes, by its addresses.
        for (open, (node, name)) in open.zip(self.next.iter().rev()) {
            if open.name != *name {
                break;
            }
            open.node = *node;
            renewed = renewed.saturating_add(1);
        }
        renewed
    }

    /// Draws the open frames from a level on.
    fn draw_open(&mut self, level: usize) {
        for (at, open) in self.path.iter().enumerate().skip(level) {
            let span = Span {
                from_ns: open.from_ns,
                to_ns: self.reach_ns,
                name: open.name,
                samples: self.samples.saturating_sub(open.samples),
                waits: self.waits.saturating_sub(open.waits),
                pieces: 1,
            };
            self.boxes.add(at, span);
        }
    }

    /// Draws times off the processor without a stack below the frames that are still open after
    /// them.
    fn draw_pending(&mut self, level: usize) {
        for off in std::mem::take(&mut self.pending) {
            self.draw(level, off);
        }
    }

    /// Draws a time off the processor: its wait, then its ready time.
    fn draw(&mut self, level: usize, off: Off) {
        let ready_ns = off.ready_ns.unwrap_or(off.to_ns);
        let waiting = match off.ready_ns {
            Some(_) => self.labels.waiting(off.reason),
            None => self.labels.off,
        };
        for (from_ns, to_ns, name, waits) in [
            (off.from_ns, ready_ns, waiting, off.waits()),
            (ready_ns, off.to_ns, self.labels.ready, 0),
        ] {
            if to_ns > from_ns {
                let span = Span {
                    from_ns,
                    to_ns,
                    name,
                    samples: 0,
                    waits,
                    pieces: 1,
                };
                self.boxes.add(level, span);
            }
        }
    }
}
