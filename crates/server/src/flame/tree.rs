//! A tree of names with weights.

use std::collections::HashMap;

/// Numbers of the kinds of nodes, and of boxes of a chart.
pub(super) struct Kinds;

impl Kinds {
    pub(super) const ROOT: u8 = 0;
    pub(super) const PROCESS: u8 = 1;
    pub(super) const TAG: u8 = 2;
    pub(super) const METHOD: u8 = 3;
    pub(super) const PLACE: u8 = 4;
    pub(super) const UNKNOWN: u8 = 5;
    pub(super) const WAITING: u8 = 6;
    pub(super) const READY: u8 = 7;
    pub(super) const SEVERAL: u8 = 8;
}

/// A node of a tree. Its parent has a smaller number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) parent: u32,
    /// Number of its name.
    pub(super) name: u32,
    pub(super) total: i64,
    pub(super) own: i64,
    pub(super) count: u64,
}

/// A tree of names. Before it is summed up, totals are 0 and counts are the rows that end in a
/// node.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    known: HashMap<(u32, u32), u32>,
    /// Weight of rows without a stack.
    pub(super) without_stack: i64,
    /// Weight of the nodes that were too small to unfold.
    pub(super) left_out: i64,
    /// Own weight and count of nodes of which a part was not unfolded.
    folded: Vec<(u32, i64, u64)>,
}

impl Tree {
    pub(super) fn new(name: u32) -> Self {
        let root = Node {
            parent: 0,
            name,
            total: 0,
            own: 0,
            count: 0,
        };
        Self {
            nodes: vec![root],
            known: HashMap::new(),
            without_stack: 0,
            left_out: 0,
            folded: Vec::new(),
        }
    }

    pub(super) const fn root(&self) -> u32 {
        0
    }

    /// Returns the node with that name below another one, and adds it if it is missing.
    pub(super) fn child(&mut self, parent: u32, name: u32) -> u32 {
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let nodes = &mut self.nodes;
        *self.known.entry((parent, name)).or_insert_with(|| {
            nodes.push(Node {
                parent,
                name,
                total: 0,
                own: 0,
                count: 0,
            });
            next
        })
    }

    /// Adds rows that end in a node.
    pub(super) fn add(&mut self, at: u32, weight: i64, count: u64) {
        if let Some(node) = usize::try_from(at)
            .ok()
            .and_then(|at| self.nodes.get_mut(at))
        {
            node.own = node.own.saturating_add(weight);
            node.count = node.count.saturating_add(count);
        }
    }

    /// Adds rows that go through a node into frames that are left out.
    pub(super) fn add_folded(&mut self, at: u32, weight: i64, count: u64) {
        self.left_out = self.left_out.saturating_add(weight);
        self.folded.push((at, weight, count));
    }

    /// Computes totals, and counts of all rows that go through nodes.
    pub(super) fn sum_up(&mut self) {
        for node in &mut self.nodes {
            node.total = node.own;
        }
        for (at, weight, count) in std::mem::take(&mut self.folded) {
            if let Some(node) = usize::try_from(at)
                .ok()
                .and_then(|at| self.nodes.get_mut(at))
            {
                node.total = node.total.saturating_add(weight);
                node.count = node.count.saturating_add(count);
            }
        }
        // Children have larger numbers than their parents: backwards, each total is complete when
        // it is added to the parent's.
        let mut left = self.nodes.as_mut_slice();
        while let Some((node, above)) = left.split_last_mut() {
            // Only the root has no node above it.
            if let Some(parent) = above.get_mut(node.parent as usize) {
                parent.total = parent.total.saturating_add(node.total);
                parent.count = parent.count.saturating_add(node.count);
            }
            left = above;
        }
    }
}
