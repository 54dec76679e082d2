//! Restriction of stacks to those below one node of a tree.

use std::collections::BTreeMap;

use super::names::Names;
use super::{Groups, Leaf, callers};
use crate::wire::{Direction, FlameRequest};

/// Keeps the stacks that go through the node with the path `request.below`.
///
/// `has_processes` is true if the tree has a level of processes.
pub(super) fn keep(
    groups: &mut Groups,
    labels: &BTreeMap<i32, String>,
    names: &mut Names<'_>,
    request: &FlameRequest,
    has_processes: bool,
) {
    let mut path = request.below.as_slice();
    if has_processes && let Some((label, rest)) = path.split_first() {
        groups.retain(|(process, _), _| super::label(*process, labels) == Some(label.as_str()));
        path = rest;
    }
    if request.by_tag
        && let Some((tag, rest)) = path.split_first()
    {
        groups.retain(|(_, of), _| of.as_ref() == Some(tag));
        path = rest;
    }
    if path.is_empty() {
        return;
    }
    for group in groups.values_mut() {
        group.without_stack = 0;
        group.without_stack_count = 0;
        group
            .leaves
            .retain(|leaf| starts_with(leaf, path, request.direction, names));
    }
}

/// True if a stack, from the end at the root, begins with these frames.
fn starts_with(leaf: &Leaf, path: &[String], direction: Direction, names: &mut Names<'_>) -> bool {
    match direction {
        Direction::BottomUp => {
            let Some(mut next) = callers::begin(leaf, names) else {
                return false;
            };
            path.iter().all(|wanted| {
                callers::frame(next, names).is_some_and(|(name, caller)| {
                    next = caller;
                    names.is(name, wanted)
                })
            })
        }
        Direction::TopDown => {
            let mut outward = Vec::new();
            let mut next = Some(leaf.stack);
            while let Some((name, caller)) = callers::frame(next, names) {
                outward.push(name);
                next = caller;
            }
            let mut inward = outward.into_iter().rev();
            // The focus itself is the root.
            if names.has_focus() && !inward.any(|name| names.is_focus(name)) {
                return false;
            }
            path.iter()
                .all(|wanted| inward.next().is_some_and(|name| names.is(name, wanted)))
        }
    }
}
