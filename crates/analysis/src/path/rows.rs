//! Rows of a critical path: segments, tree, shares.

use std::collections::{BTreeMap, BTreeSet};

use etwkit_question::Error;
use etwkit_sql::functions::wait_reason_name;

use super::Parts;
use super::follow::{PathNode, PathPiece};
use crate::Result;
use crate::root::{Ended, RootKind};
use crate::slice::NONE;
use crate::time_line::State;

etwkit_question::declare! {
    /// A piece of a critical path.
    pub row Segment {
        start_ns: i64 = "Start.",
        end_ns: i64 = "End.",
        duration_ns: i64 = "`end_ns` − `start_ns`.",
        depth: i64 = "How many waits were replaced to get here: 0 for the thread itself.",
        process_key: Option<i64> = "Process of the thread; missing if not known.",
        pid: Option<i64> = "Its id.",
        process: Option<String> = "File name of its executable.",
        thread_key: i64 = "The thread.",
        tid: Option<i64> = "Its id.",
        state: State = "What it did.",
        wait_reason: Option<String> = "Wait reason of a wait.",
        ended_by: Option<String> =
            "What ended a wait, see [`RootKind`]; missing if it was a thread that could not be followed.",
        operation: Option<String> = "`read`, `write` or `flush` of a transfer; kind of a DPC.",
        object: Option<String> = "File of a transfer, routine of a DPC.",
        is_open_wait: bool = "Whether the wait was still open when the trace ended.",
        stack_id: Option<i64> = "Stack with which the thread was switched in after a wait or ready time.",
        readying_stack_id: Option<i64> = "Stack that made it ready.",
    }

    /// A thread of the tree.
    pub row Node {
        depth: i64 = "0 for the thread itself, 1 for those that ended its waits, and so on.",
        process_key: Option<i64> = "Process of the thread; missing if not known.",
        pid: Option<i64> = "Its id.",
        process: Option<String> = "File name of its executable.",
        thread_key: i64 = "The thread.",
        tid: Option<i64> = "Its id.",
        waits: i64 = "Waits of the thread above that it ended; 0 for the thread itself.",
        is_creator: bool =
            "Whether it created the thread above; before the start of that thread, the path follows its creator.",
        total_ns: i64 = "Time on the path of the thread and of all threads below it.",
        total_percent: f64 = "`total_ns` in percent of the length of the path.",
        run_ns: i64 = "Time on the path in which it ran itself.",
        ready_ns: i64 = "Time on the path in which it was ready.",
        wait_ns: i64 = "Time on the path of its waits that no thread ended.",
        unknown_ns: i64 = "Time on the path about which nothing was recorded.",
        stack_id: Option<i64> = "Stack of the longest of these waits.",
        readying_stack_id: Option<i64> = "Stack that ended that wait.",
    }

    /// A share of the time of a path: a thread in one state, by reason and by the end of its waits.
    pub row Share {
        process_key: Option<i64> = "Process of the thread; missing if not known.",
        pid: Option<i64> = "Its id.",
        process: Option<String> = "File name of its executable.",
        thread_key: i64 = "The thread.",
        tid: Option<i64> = "Its id.",
        state: State = "What it did.",
        wait_reason: Option<String> = "Wait reason of waits.",
        ended_by: Option<String> = "What ended waits.",
        segments: i64 = "Number of segments.",
        duration_ns: i64 = "Sum of their durations.",
        percent: f64 = "`duration_ns` in percent of the length of the path.",
    }

    /// The share of a process in the time of a path, over all of its threads.
    pub row ProcessShare {
        process_key: Option<i64> = "The process; missing if not known.",
        pid: Option<i64> = "Its id.",
        process: Option<String> = "File name of its executable.",
        threads: i64 = "Its threads on the path.",
        total_ns: i64 = "Their time on the path.",
        percent: f64 = "`total_ns` in percent of the length of the path.",
        run_ns: i64 = "Time on the path in which they ran.",
        ready_ns: i64 = "Time on the path in which they were ready.",
        wait_ns: i64 = "Time on the path of their waits that no thread ended.",
        disk_ns: i64 = "The part of `wait_ns` that transfers of disks ended.",
        unknown_ns: i64 = "Time on the path about which nothing was recorded.",
    }
}

fn percent(part: i64, whole: i64) -> f64 {
    if whole > 0 {
        part as f64 * 100.0 / whole as f64
    } else {
        0.0
    }
}

fn stack(id: i32) -> Option<i64> {
    (id != NONE).then_some(i64::from(id))
}

impl Parts {
    pub(super) fn segment(&self, piece: &PathPiece, ended: Option<&Ended>) -> Segment {
        let thread = self.threads.get(piece.thread);
        let state = piece.piece.state;
        let from = piece.piece.from;
        let to = piece.piece.to;
        let slice = piece.piece.slice;
        // The wait before a slice does not describe the activity in the slice.
        // Ready time belongs to the wait before it.
        let waited = slice.filter(|_| matches!(state, State::Waiting | State::Ready));
        let waiting = slice.filter(|_| state == State::Waiting);
        let transfer = ended.and_then(|ended| ended.transfer.as_ref());
        // A transfer is the reason, and the DPC that completed it is not shown as well.
        let dpc = ended
            .and_then(|ended| ended.dpc.as_ref())
            .filter(|_| transfer.is_none());
        let unended = || waiting.and_then(|slice| without_end(&slice));
        Segment {
            start_ns: from,
            end_ns: to,
            duration_ns: to.saturating_sub(from),
            depth: i64::try_from(piece.depth).unwrap_or(i64::MAX),
            process_key: thread.and_then(|thread| thread.process_key),
            pid: thread.and_then(|thread| thread.pid),
            process: thread.and_then(|thread| thread.process.clone()),
            thread_key: piece.thread.into(),
            tid: thread.map(|thread| thread.tid),
            state,
            wait_reason: waiting
                .and_then(|slice| slice.reason())
                .map(wait_reason_name),
            ended_by: ended
                .map(|ended| ended.kind)
                .or_else(unended)
                .map(|kind| kind.name().to_owned()),
            operation: transfer
                .map(|t| t.kind.clone())
                .or_else(|| dpc.map(|dpc| dpc.kind.clone())),
            object: transfer
                .and_then(|t| t.path.clone())
                .or_else(|| self.stacks.frame(dpc?.frame_id)),
            is_open_wait: waiting.is_some_and(|slice| slice.is_open()),
            stack_id: waited.and_then(|slice| stack(slice.stack)),
            readying_stack_id: waited.and_then(|slice| stack(slice.by_stack)),
        }
    }

    /// Returns the tree, each node before those below it, and the largest first among siblings.
    pub(super) fn tree(&self, sums: &Sums, nodes: &[PathNode], length: i64) -> Vec<Node> {
        let mut rows: Vec<Node> = nodes.iter().map(|node| self.node(node)).collect();
        // Nodes and sums have the same numbers.
        for (row, times) in rows.iter_mut().zip(&sums.of_nodes) {
            row.run_ns = times.run_ns;
            row.ready_ns = times.ready_ns;
            row.wait_ns = times.wait_ns;
            row.unknown_ns = times.unknown_ns;
        }
        // Children have larger numbers than the node that waits for them, so from the last to the
        // first each child is complete before it is added to its parent.
        for number in (0..nodes.len()).rev() {
            let below: i64 = nodes
                .get(number)
                .into_iter()
                .flat_map(|node| node.children.values())
                .filter_map(|child| rows.get(*child))
                .map(|child| child.total_ns)
                .sum();
            if let Some(row) = rows.get_mut(number) {
                row.total_ns = below + row.run_ns + row.ready_ns + row.wait_ns + row.unknown_ns;
                row.total_percent = percent(row.total_ns, length);
            }
        }
        in_order(&rows, nodes)
    }

    fn node(&self, node: &PathNode) -> Node {
        let thread = self.threads.get(node.thread);
        Node {
            depth: i64::try_from(node.depth).unwrap_or(i64::MAX),
            // Depth is a number of a row; it cannot be that large.
            process_key: thread.and_then(|thread| thread.process_key),
            pid: thread.and_then(|thread| thread.pid),
            process: thread.and_then(|thread| thread.process.clone()),
            thread_key: node.thread.into(),
            tid: thread.map(|thread| thread.tid),
            waits: node.waits,
            is_creator: node.is_creator,
            total_ns: 0,
            total_percent: 0.0,
            run_ns: 0,
            ready_ns: 0,
            wait_ns: 0,
            unknown_ns: 0,
            stack_id: stack(node.stack.1),
            readying_stack_id: stack(node.by_stack),
        }
    }
}

/// Returns the reported end of a wait that no DPC ended and that was not replaced.
fn without_end(slice: &crate::slice::Slice) -> Option<RootKind> {
    match (slice.is_open(), slice.by) {
        (true, _) => Some(RootKind::Open),
        (false, NONE) => Some(RootKind::NotRecorded),
        (false, _) => None,
    }
}

fn in_order(rows: &[Node], nodes: &[PathNode]) -> Vec<Node> {
    // An explicit stack and no recursion, so that the depth of the tree does not matter.
    let mut ordered = Vec::with_capacity(rows.len());
    let mut open = vec![0];
    while let Some(number) = open.pop() {
        let (Some(row), Some(node)) = (rows.get(number), nodes.get(number)) else {
            continue;
        };
        ordered.push(row.clone());
        let mut children: Vec<usize> = node.children.values().copied().collect();
        // The last one is popped first, so the largest has to be last.
        children.sort_by_key(|child| {
            (
                rows.get(*child).map_or(0, |row| row.total_ns),
                std::cmp::Reverse(*child),
            )
        });
        open.extend(children);
    }
    ordered
}

/// Returns sums of shares by process, largest first.
pub(super) fn by_process(shares: &[Share], length: i64) -> Vec<ProcessShare> {
    let mut sums: BTreeMap<Option<i64>, (ProcessShare, BTreeSet<i64>)> = BTreeMap::new();
    for share in shares {
        let (sum, threads) = sums.entry(share.process_key).or_default();
        (sum.process_key, sum.pid) = (share.process_key, share.pid);
        sum.process.clone_from(&share.process);
        threads.insert(share.thread_key);
        let part = match share.state {
            State::Running => &mut sum.run_ns,
            State::Ready => &mut sum.ready_ns,
            State::Waiting => &mut sum.wait_ns,
            // Unknown time is a share of its own, so that the shares add up to the path.
            State::Unknown => &mut sum.unknown_ns,
        };
        *part = part.saturating_add(share.duration_ns);
        if share.ended_by.as_deref() == Some(RootKind::DiskIo.name()) {
            sum.disk_ns = sum.disk_ns.saturating_add(share.duration_ns);
        }
        sum.total_ns = sum.total_ns.saturating_add(share.duration_ns);
    }
    let counted = |(sum, threads): (ProcessShare, BTreeSet<i64>)| ProcessShare {
        threads: i64::try_from(threads.len()).unwrap_or(i64::MAX),
        percent: percent(sum.total_ns, length),
        ..sum
    };
    let mut sums: Vec<ProcessShare> = sums.into_values().map(counted).collect();
    // Stable: processes with equal sums keep the order of their keys.
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.total_ns));
    sums
}

/// The times of a node of the tree, without the nodes below it.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    run_ns: i64,
    ready_ns: i64,
    wait_ns: i64,
    unknown_ns: i64,
}

/// Sums of the pieces of a path, to which pieces are added as they are found.
#[derive(Debug, Default)]
pub(super) struct Sums {
    of_nodes: Vec<Times>,
    /// Shares by thread and state, one for each reason and end of its waits.
    shares: BTreeMap<(i64, State), Vec<Share>>,
}

impl Sums {
    /// Adds a piece and its row.
    pub(super) fn add(&mut self, piece: &PathPiece, segment: &Segment) {
        // Nodes are numbered as they are found, and their sums follow.
        if self.of_nodes.len() <= piece.node {
            self.of_nodes.resize(piece.node + 1, Times::default());
        }
        if let Some(times) = self.of_nodes.get_mut(piece.node) {
            let sum = match segment.state {
                State::Running => &mut times.run_ns,
                State::Ready => &mut times.ready_ns,
                State::Waiting => &mut times.wait_ns,
                State::Unknown => &mut times.unknown_ns,
            };
            *sum = sum.saturating_add(segment.duration_ns);
        }
        let key = (segment.thread_key, segment.state);
        let shares = self.shares.entry(key).or_default();
        let is_of = |share: &Share| {
            share.wait_reason == segment.wait_reason && share.ended_by == segment.ended_by
        };
        // A thread in one state has few reasons, so that a search is enough.
        let place = shares.iter().position(is_of).unwrap_or_else(|| {
            shares.push(share_of(segment));
            shares.len() - 1
        });
        let Some(share) = shares.get_mut(place) else {
            return;
        };
        share.segments += 1;
        share.duration_ns = share.duration_ns.saturating_add(segment.duration_ns);
    }

    /// Returns the sums by thread, state, reason and end of waits, largest first.
    pub(super) fn shares(self, length: i64) -> Vec<Share> {
        let mut shares: Vec<Share> = self.shares.into_values().flatten().collect();
        for share in &mut shares {
            share.percent = percent(share.duration_ns, length);
        }
        let order = |share: &Share| {
            (
                std::cmp::Reverse(share.duration_ns),
                share.thread_key,
                share.state,
                share.wait_reason.clone(),
                share.ended_by.clone(),
            )
        };
        shares.sort_by_cached_key(order);
        shares
    }
}

/// Returns the empty share that a segment is a part of.
fn share_of(segment: &Segment) -> Share {
    Share {
        process_key: segment.process_key,
        pid: segment.pid,
        process: segment.process.clone(),
        thread_key: segment.thread_key,
        tid: segment.tid,
        state: segment.state,
        wait_reason: segment.wait_reason.clone(),
        ended_by: segment.ended_by.clone(),
        segments: 0,
        duration_ns: 0,
        percent: 0.0,
    }
}

/// Maximum number of segments of an answer: a few hundred MB of rows.
const MAX_SEGMENTS: usize = 2_000_000;

/// Segments of a path: all of them, or the longest.
#[derive(Debug)]
pub(super) struct Segments {
    most: usize,
    kept: Vec<Segment>,
    left_out: LeftOut,
}

/// The number of segments that are not in the answer, and their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of segments.
    pub segments: usize,
    /// Sum of their durations.
    pub duration_ns: i64,
}

impl Segments {
    /// Returns a list of the `most` longest segments.
    pub(super) const fn new(most: usize) -> Self {
        Self {
            most,
            kept: Vec::new(),
            left_out: LeftOut {
                segments: 0,
                duration_ns: 0,
            },
        }
    }

    /// Adds segments that follow those before.
    ///
    /// # Errors
    /// There are more than an answer may have.
    pub(super) fn add(&mut self, segments: impl IntoIterator<Item = Segment>) -> Result<()> {
        self.kept.extend(segments);
        // Cut after each addition, so that the list never grows with the path.
        let left_out = keep_largest(&mut self.kept, self.most, |segment| segment.duration_ns);
        self.left_out.segments += left_out.0;
        self.left_out.duration_ns = self.left_out.duration_ns.saturating_add(left_out.1);
        if self.kept.len() > MAX_SEGMENTS {
            return Err(Error::TooWide {
                message: format!("the path has more than {MAX_SEGMENTS} segments"),
                how: "ask for the longest with --top N, for sums with --sums, or for a part of the trace with --range",
            });
        }
        Ok(())
    }

    /// Returns the segments in order of time, and what is left out.
    pub(super) fn finish(self) -> (Vec<Segment>, LeftOut) {
        (self.kept, self.left_out)
    }
}

/// Keeps the `count` largest rows, in their order; among equal ones the first. Returns the number of
/// the others and the sum of their sizes.
pub(super) fn keep_largest<R>(
    rows: &mut Vec<R>,
    count: usize,
    size: fn(&R) -> i64,
) -> (usize, i64) {
    if rows.len() <= count {
        return (0, 0);
    }
    let mut sizes: Vec<(i64, usize)> = rows.iter().map(size).zip(0..).collect();
    sizes.sort_unstable_by_key(|(size, number)| (std::cmp::Reverse(*size), *number));
    let left_out = sizes.split_off(count);
    let mut kept: Vec<usize> = sizes.into_iter().map(|(_, number)| number).collect();
    // In their old order, which is that of time.
    kept.sort_unstable();
    let mut numbers = 0..;
    rows.retain(|_| {
        numbers
            .next()
            .is_some_and(|number: usize| kept.binary_search(&number).is_ok())
    });
    let time = left_out
        .iter()
        .map(|(size, _)| *size)
        .fold(0, i64::saturating_add);
    (left_out.len(), time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_rows_stay_in_their_order() {
        let kept = |count| {
            let mut rows = vec![3, 9, 1, 9, 5];
            let left_out = keep_largest(&mut rows, count, |row| *row);
            (rows, left_out)
        };
        assert_eq!(kept(9), (vec![3, 9, 1, 9, 5], (0, 0)));
        assert_eq!(kept(3), (vec![9, 9, 5], (2, 4)));
        assert_eq!(kept(1), (vec![9], (4, 18)));
        assert_eq!(kept(0), (Vec::new(), (5, 27)));
    }

    #[test]
    fn the_longest_segments_of_all_parts_are_kept() {
        let segment = |duration_ns| Segment {
            duration_ns,
            ..Segment::default()
        };
        let mut segments = Segments::new(2);
        for part in [[5, 1, 7], [6, 7, 2]] {
            segments.add(part.map(segment)).unwrap();
        }
        let (kept, left_out) = segments.finish();
        let durations: Vec<i64> = kept.iter().map(|row| row.duration_ns).collect();
        assert_eq!(durations, [7, 7]);
        let rest = LeftOut {
            segments: 4,
            duration_ns: 14,
        };
        assert_eq!(left_out, rest);
    }
}
