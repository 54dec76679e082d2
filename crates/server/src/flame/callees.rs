//! Trees from the outermost frame inward.

use super::Leaf;
use super::names::Names;
use super::tree::Tree;

/// Marks the absence of a node.
const NONE: u32 = u32::MAX;

/// Adds stacks below a node. Nodes of the tree of stacks have larger numbers than their callers, so
/// one pass over the used ones finds the place of each.
///
/// With a focus, stacks begin at its outermost frame, which is the node itself; others are left
/// out.
pub(super) fn fold(tree: &mut Tree, below: u32, leaves: &[Leaf], names: &mut Names<'_>) {
    let used = used(leaves, names);
    let mut places: Vec<u32> = Vec::with_capacity(used.len());
    for (_, parent, frame) in used.iter().copied() {
        // `used` is ascending, so the caller of a node already has its place.
        let of_parent = match parent
            .and_then(|parent| used.binary_search_by_key(&parent, |node| node.0).ok())
        {
            Some(parent) => places.get(parent).copied().unwrap_or(NONE),
            None if names.has_focus() => NONE,
            None => below,
        };
        // A node without a frame is skipped: its callees become children of its caller.
        let place = if frame < 0 {
            of_parent
        } else {
            let name = names.frame(frame);
            match of_parent {
                NONE if names.is_focus(name) => below,
                NONE => NONE,
                parent => tree.child(parent, name),
            }
        };
        places.push(place);
    }
    for leaf in leaves {
        match used.binary_search_by_key(&leaf.stack, |node| node.0) {
            Ok(at) => match places.get(at).copied() {
                Some(NONE) | None => {}
                Some(place) => tree.add(place, leaf.weight, leaf.count),
            },
            // A missing stack, in a damaged extract.
            Err(_) if names.has_focus() => {}
            Err(_) => tree.add(below, leaf.weight, leaf.count),
        }
    }
}

/// Returns the nodes of the stack tree that these stacks go through, each with its caller and
/// frame, ascending.
fn used(leaves: &[Leaf], names: &mut Names<'_>) -> Vec<(i32, Option<i32>, i32)> {
    names.begin_round();
    let mut all = Vec::new();
    for leaf in leaves {
        let mut next = Some(leaf.stack);
        while let Some(stack) = next {
            // The rest of the path outward was taken before, for another stack.
            if !names.is_first(stack) {
                break;
            }
            let Some((parent, frame)) = names.frames.node(stack) else {
                break;
            };
            all.push((stack, parent, frame));
            next = parent;
        }
    }
    all.sort_unstable_by_key(|node| node.0);
    all
}
