//! Removes nodes that are too small to be visible.

use super::tree::{Node, Tree};

/// The nodes that remain of a tree.
pub(super) struct Pruned {
    /// Parents before their children, and the heaviest children first.
    pub(super) nodes: Vec<Node>,
    /// Weight of frames that were left out.
    pub(super) left_out: i64,
}

/// Keeps the `max_nodes` heaviest nodes that have at least the share `least_share` of the total.
pub(super) fn prune(tree: Tree, least_share: f64, max_nodes: u32) -> Pruned {
    let all = tree.nodes;
    let total = all.first().map_or(0, |root| root.total);
    let least = total as f64 * least_share;
    // No node is heavier than its parent, which has the smaller number: the parent of a kept node
    // is always kept.
    let mut kept: Vec<u32> = (0..)
        .zip(&all)
        .filter(|(_, node)| node.total as f64 >= least)
        .map(|(at, _)| at)
        .collect();
    let total_of = |at: u32| node(&all, at).map_or(0, |node| node.total);
    // Among equal weights the smaller number comes first, which keeps a parent before its children.
    kept.sort_by_key(|at| (std::cmp::Reverse(total_of(*at)), *at));
    kept.truncate(usize::try_from(max_nodes).unwrap_or(usize::MAX));
    let mut is_kept = vec![false; all.len()];
    // The root stays even if nothing is heavy enough, since it has the total.
    for at in kept.iter().copied().chain([0]) {
        if let Some(known) = usize::try_from(at).ok().and_then(|at| is_kept.get_mut(at)) {
            *known = true;
        }
    }
    let is_kept = |at: u32| {
        usize::try_from(at)
            .ok()
            .and_then(|at| is_kept.get(at))
            .copied()
            .unwrap_or(false)
    };
    let mut children = vec![Vec::new(); all.len()];
    let mut left_out = tree.left_out;
    // Lists of children have the heaviest first, since `kept` has.
    for at in kept.iter().copied().filter(|at| *at != 0) {
        let parent = node(&all, at).and_then(|node| usize::try_from(node.parent).ok());
        if let Some(list) = parent.and_then(|parent| children.get_mut(parent)) {
            list.push(at);
        }
    }
    for (at, node) in (0_u32..).zip(&all).skip(1) {
        // Only the topmost node of a removed subtree is added: its total contains everything below
        // it.
        if !is_kept(at) && is_kept(node.parent) {
            left_out = left_out.saturating_add(node.total);
        }
    }
    Pruned {
        nodes: in_order(&all, &children),
        left_out,
    }
}

fn node(all: &[Node], at: u32) -> Option<&Node> {
    all.get(usize::try_from(at).ok()?)
}

/// Returns the nodes in drawing order, with the new places of their parents.
fn in_order(all: &[Node], children: &[Vec<u32>]) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut next = vec![(0_u32, 0_u32)];
    while let Some((at, parent)) = next.pop() {
        // Children are numbers of nodes.
        let Some(node) = node(all, at) else { continue };
        let place = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        nodes.push(Node { parent, ..*node });
        let below = usize::try_from(at).ok().and_then(|at| children.get(at));
        // The last node that is pushed is the next one that is popped.
        next.extend(
            below
                .into_iter()
                .flatten()
                .rev()
                .map(|child| (*child, place)),
        );
    }
    nodes
}
