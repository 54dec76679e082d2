//! Stacks: one tree of frames for all of them, and the keys that stand for them.

use rustc_hash::FxHashMap;

/// A stack, named by its innermost frame's node in the [`StackTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(u32);

impl StackId {
    /// The stack without a frame.
    pub const EMPTY: Self = Self(0);
}

/// A prefix tree of call stacks, outermost frame first: memory grows with distinct stacks, not with events.
#[derive(Debug)]
pub struct StackTree {
    /// Parent and address of each node; node 0 is the empty stack.
    nodes: Vec<(u32, u64)>,
    children: FxHashMap<(u32, u64), u32>,
}

impl Default for StackTree {
    fn default() -> Self {
        Self { nodes: vec![(0, 0)], children: FxHashMap::default() }
    }
}

impl StackTree {
    /// The stack with these addresses, innermost first.
    pub fn intern(&mut self, frames: impl DoubleEndedIterator<Item = u64>) -> StackId {
        let mut node = 0;
        for address in frames.rev() {
            let next = self.nodes.len() as u32;
            let child = *self.children.entry((node, address)).or_insert(next);
            if child == next {
                self.nodes.push((node, address));
            }
            node = child;
        }
        StackId(node)
    }

    /// The addresses of a stack, innermost first.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = u64> + '_ {
        let mut node = stack.0;
        std::iter::from_fn(move || {
            if node == 0 {
                return None;
            }
            let (parent, address) = self.nodes.get(node as usize).copied()?;
            node = parent;
            Some(address)
        })
    }

    /// The stack without its innermost frame, and that frame's address; `None` for the empty stack.
    #[must_use]
    pub fn innermost(&self, stack: StackId) -> Option<(StackId, u64)> {
        if stack == StackId::EMPTY {
            return None;
        }
        self.nodes.get(stack.0 as usize).map(|(parent, address)| (StackId(*parent), *address))
    }

    /// Number of distinct stacks that are a part of a stack that was met.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether no frame was met.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What stack keys stand for. A key is defined when it dies, and reused.
#[derive(Debug, Default)]
pub struct StackKeys {
    definitions: FxHashMap<u64, Vec<Definition>>,
    count: u64,
}

#[derive(Debug, Clone, Copy)]
struct Definition {
    timestamp: i64,
    stack: StackId,
}

impl StackKeys {
    /// Takes a definition; those of one key must come in time order.
    pub fn define(&mut self, timestamp: i64, key: u64, stack: StackId) {
        self.count += 1;
        self.definitions.entry(key).or_default().push(Definition { timestamp, stack });
    }

    /// The stack that a reference at that raw time means: the next definition of the key. A definition does
    /// not tell which half of a stack it is, so that the kind of the reference does not matter.
    #[must_use]
    pub fn resolve(&self, timestamp: i64, key: u64) -> Option<StackId> {
        let definitions = self.definitions.get(&key)?;
        let start = definitions.partition_point(|d| d.timestamp < timestamp);
        definitions.get(start).map(|d| d.stack)
    }

    /// Number of definitions.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Whether there is no definition.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_share_their_outer_frames() {
        let mut tree = StackTree::default();
        let a = tree.intern([3, 2, 1].into_iter());
        let b = tree.intern([4, 2, 1].into_iter());
        assert_eq!(tree.frames(a).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(tree.frames(b).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!((tree.len(), tree.intern([3, 2, 1].into_iter())), (4, a));
        assert_eq!(tree.intern(std::iter::empty()), StackId::EMPTY);
    }

    #[test]
    fn a_key_means_its_next_definition() {
        let mut tree = StackTree::default();
        let [old, new] = [1, 2].map(|a| tree.intern([a].into_iter()));
        let mut keys = StackKeys::default();
        keys.define(10, 7, old);
        keys.define(15, 7, StackId::EMPTY);
        keys.define(20, 7, new);
        assert_eq!(
            [9, 10, 11, 15, 16, 21].map(|t| keys.resolve(t, 7)),
            [Some(old), Some(old), Some(StackId::EMPTY), Some(StackId::EMPTY), Some(new), None]
        );
        assert_eq!((keys.resolve(0, 8), keys.len()), (None, 3));
    }
}
