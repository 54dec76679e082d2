//! Stacks of addresses while their rows wait, in bounded memory.
//!
//! Stacks that keys stand for are known from the first walk. Those that events carry whole are kept in two trees in turn: when one is full
//! and no row waits any more whose stack lies in the other, the other one is emptied and filled next.

use std::ops::Range;

use super::line::Seq;
use crate::tracker::stack::{StackId, StackTree};

/// Nodes of a tree that is full.
const FULL: usize = 1 << 21;

/// A stack of addresses, in one of three trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RawStack {
    tree: Tree,
    id: StackId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Tree {
    Keyed,
    Even,
    Odd,
}

impl RawStack {
    /// The stack without a frame.
    pub(super) const EMPTY: Self = Self::keyed(StackId::EMPTY);

    /// A stack that a key stands for.
    pub(super) const fn keyed(id: StackId) -> Self {
        Self { tree: Tree::Keyed, id }
    }
}

/// The three trees.
#[derive(Debug)]
pub(super) struct RawStacks<'d> {
    keyed: &'d StackTree,
    even: StackTree,
    odd: StackTree,
    /// Which of the two is filled.
    current: Tree,
    /// The row that came next when the other one was filled last.
    turned_at: Seq,
}

impl<'d> RawStacks<'d> {
    pub(super) fn new(keyed: &'d StackTree) -> Self {
        let (even, odd) = (StackTree::default(), StackTree::default());
        Self { keyed, even, odd, current: Tree::Even, turned_at: 0 }
    }

    /// Takes the addresses of a stack, innermost first.
    pub(super) fn intern(&mut self, addresses: &[u64]) -> RawStack {
        if addresses.is_empty() {
            return RawStack::EMPTY;
        }
        let tree = if self.current == Tree::Even { &mut self.even } else { &mut self.odd };
        RawStack { tree: self.current, id: tree.intern(addresses) }
    }

    /// The addresses of a stack, innermost first.
    pub(super) fn frames(&self, stack: RawStack) -> impl Iterator<Item = u64> + '_ {
        let tree = match stack.tree {
            Tree::Keyed => self.keyed,
            Tree::Even => &self.even,
            Tree::Odd => &self.odd,
        };
        tree.frames(stack.id)
    }

    /// Turns to the other tree if this one is full and none of the rows that wait has a stack in the other. Returns whether stacks were
    /// forgotten.
    pub(super) fn make_room(&mut self, waiting: Range<Seq>) -> bool {
        let (this, other, next) = match self.current {
            Tree::Even => (&self.even, &mut self.odd, Tree::Odd),
            _ => (&self.odd, &mut self.even, Tree::Even),
        };
        if this.len() < FULL || waiting.start < self.turned_at {
            return false;
        }
        other.clear();
        self.current = next;
        self.turned_at = waiting.end;
        true
    }

    /// Whether the trees hold much more than is meant, because rows wait for very long.
    pub(super) fn is_full(&self) -> bool {
        self.even.len() + self.odd.len() > 4 * FULL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(stacks: &mut RawStacks<'_>) {
        for n in 0..=FULL as u64 {
            stacks.intern(&[n + 1]);
        }
    }

    #[test]
    fn a_tree_is_emptied_only_when_no_row_waits_for_it() {
        let keyed = StackTree::default();
        let mut stacks = RawStacks::new(&keyed);
        let first = stacks.intern(&[7, 8]);
        fill(&mut stacks);
        // The first turn: the other tree is empty, rows 0 to 4 may have stacks in this one.
        assert!(stacks.make_room(0..5));
        assert!(stacks.frames(first).eq([7, 8]));
        fill(&mut stacks);
        assert!(!stacks.make_room(4..9), "row 4 waits");
        assert!(stacks.frames(first).eq([7, 8]));
        assert!(stacks.make_room(5..9));
        let again = stacks.intern(&[7, 8]);
        assert!(stacks.frames(again).eq([7, 8]));
        assert!(stacks.even.len() < 4 && !stacks.is_full());
    }
}
