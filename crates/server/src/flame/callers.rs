//! Trees from the innermost frame outward.

use std::collections::{BTreeMap, BinaryHeap};

use super::Leaf;
use super::names::Names;
use super::tree::Tree;

/// A node to unfold, the heaviest first; among equal ones the oldest first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Folded {
    total: i64,
    earlier: std::cmp::Reverse<u32>,
    /// The remaining stacks of this node: for each, the next frame outward, its weight, and its
    /// rows.
    leaves: Vec<(Option<i32>, i64, u64)>,
}

/// Adds stacks below a node. The heaviest nodes are unfolded first, until there are enough. Small
/// ones are never unfolded, since all stacks together have as many nodes as frames.
///
/// With a focus, stacks begin with the caller of its outermost frame, so that each frame is either
/// in this tree or in the tree of callees; stacks without it are left out.
pub(super) fn fold(
    tree: &mut Tree,
    below: u32,
    leaves: &[Leaf],
    names: &mut Names<'_>,
    (least_share, max_nodes): (f64, u32),
) {
    let begin: Vec<_> = leaves
        .iter()
        .filter_map(|leaf| Some((begin(leaf, names)?, leaf.weight, leaf.count)))
        .collect();
    let total = weight(&begin);
    let least = total as f64 * least_share;
    let most = usize::try_from(max_nodes)
        .unwrap_or(usize::MAX)
        .saturating_add(tree.nodes.len());
    // For each group anew: a process with many stacks must not leave the others without nodes.
    // Excess nodes are pruned at the end.
    let mut folded = BinaryHeap::from([Folded {
        total,
        earlier: std::cmp::Reverse(below),
        leaves: begin,
    }]);
    while let Some(Folded {
        earlier, leaves, ..
    }) = folded.pop()
    {
        let at = earlier.0;
        let mut children: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for (stack, weight, count) in leaves {
            match frame(stack, names) {
                Some((name, caller)) => children
                    .entry(name)
                    .or_default()
                    .push((caller, weight, count)),
                None => tree.add(at, weight, count),
            }
        }
        for (name, leaves) in children {
            let total = weight(&leaves);
            if total as f64 >= least && tree.nodes.len() < most {
                let earlier = std::cmp::Reverse(tree.child(at, name));
                folded.push(Folded {
                    total,
                    earlier,
                    leaves,
                });
            } else {
                // The weight stays in the totals of all nodes above, so that the width of a node
                // shows everything that goes through it.
                tree.add_folded(at, total, leaves.iter().map(|leaf| leaf.2).sum());
            }
        }
    }
}

fn weight(leaves: &[(Option<i32>, i64, u64)]) -> i64 {
    leaves
        .iter()
        .fold(0, |sum, leaf| sum.saturating_add(leaf.1))
}

/// Returns the start of a stack; `None` if the stack is left out.
pub(super) fn begin(leaf: &Leaf, names: &mut Names<'_>) -> Option<Option<i32>> {
    if !names.has_focus() {
        return Some(Some(leaf.stack));
    }
    let mut next = Some(leaf.stack);
    let mut found = None;
    while let Some((name, caller)) = frame(next, names) {
        // The search continues outward, since a recursive method occurs several times, and the
        // outermost frame counts.
        if names.is_focus(name) {
            found = Some(caller);
        }
        next = caller;
    }
    found
}

/// Returns the name of a stack's frame, and the stack of its caller. Missing frames are skipped.
pub(super) fn frame(stack: Option<i32>, names: &mut Names<'_>) -> Option<(u32, Option<i32>)> {
    let mut next = stack;
    loop {
        let (parent, frame) = names.frames.node(next?)?;
        if frame >= 0 {
            return Some((names.frame(frame), parent));
        }
        next = parent;
    }
}
