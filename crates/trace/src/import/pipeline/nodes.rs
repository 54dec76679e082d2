//! The tree of the table `stack`: finds the row of a frame on top of another row.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::mix::Mixer;

/// Maximum number of nodes that are recognized when they occur again. At this number all are
/// forgotten and stacks get new rows: some more rows in the extract instead of unbounded memory.
const MAX_NODES: usize = 1 << 23;

/// The innermost frame of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Top {
    id: u32,
    depth: u16,
}

impl Top {
    /// No frame.
    pub(crate) const NONE: Self = Self {
        id: u32::MAX,
        depth: u16::MAX,
    };

    /// Row of the table.
    pub(crate) const fn id(self) -> u32 {
        self.id
    }

    /// Row of the table, as a child refers to its parent; `None` for the root.
    pub(crate) fn row(self) -> Option<i32> {
        (self != Self::NONE).then_some(self.id as i32)
    }

    /// Frames below it.
    pub(crate) fn depth(self) -> i32 {
        self.depth.into()
    }
}

/// A node: the one below it, and its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    parent: u32,
    frame: u32,
}

/// All nodes.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// Row of the first node that is known.
    first: u32,
    nodes: Vec<Node>,
    known: HashTable<u32>,
    mixer: Mixer,
}

impl Nodes {
    /// Row of a frame on top of another one, and true if it is new.
    pub(crate) fn put(&mut self, outer: Top, frame: u32) -> (Top, bool) {
        let Self {
            first,
            nodes,
            known,
            mixer,
        } = self;
        let wanted = Node {
            parent: outer.id,
            frame,
        };
        let hash = |node: Node| mixer.mix(node.parent.into(), node.frame.into());
        let of = |index: u32| nodes.get(index as usize).copied();
        // The depth of `NONE` wraps around, so an outermost frame has depth 0.
        let depth = outer.depth.wrapping_add(1);
        let entry = known.entry(
            hash(wanted),
            |i| of(*i) == Some(wanted),
            |i| of(*i).map_or(0, hash),
        );
        match entry {
            Entry::Occupied(index) => (
                Top {
                    id: *first + *index.get(),
                    depth,
                },
                false,
            ),
            Entry::Vacant(vacant) => {
                let index = nodes.len() as u32;
                vacant.insert(index);
                nodes.push(wanted);
                (
                    Top {
                        id: *first + index,
                        depth,
                    },
                    true,
                )
            }
        }
    }

    /// Forgets all nodes if they are too many. The numbering of rows continues.
    pub(crate) fn forget_if_many(&mut self) -> bool {
        let is_many = self.nodes.len() >= MAX_NODES;
        if is_many {
            self.first += self.nodes.len() as u32;
            self.nodes.clear();
            self.known.clear();
        }
        is_many
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_on_a_row_is_one_row() {
        let mut nodes = Nodes::default();
        let (outer, is_new) = nodes.put(Top::NONE, 5);
        assert_eq!(
            (outer.id(), outer.depth(), outer.row(), is_new),
            (0, 0, Some(0), true)
        );
        let (inner, _) = nodes.put(outer, 5);
        assert_eq!((inner.id(), inner.depth()), (1, 1));
        assert_eq!(nodes.put(Top::NONE, 5), (outer, false));
        assert_eq!(nodes.put(outer, 5), (inner, false));
        assert_eq!(Top::NONE.row(), None);
    }

    #[test]
    fn rows_count_on_when_too_many_are_known() {
        let mut nodes = Nodes::default();
        for frame in 0..MAX_NODES as u32 {
            assert!(!nodes.forget_if_many());
            nodes.put(Top::NONE, frame);
        }
        assert!(nodes.forget_if_many());
        let (top, is_new) = nodes.put(Top::NONE, 0);
        assert_eq!((top.id(), is_new), (MAX_NODES as u32, true));
    }
}
