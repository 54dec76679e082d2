//! Stacks: one tree of frames for all of them, and the keys that refer to them.

use std::sync::atomic::{AtomicU32, Ordering};

use etwkit_decode::kernel::stack::is_kernel_address;
use etwkit_etl::bytes::tail;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHashMap;

use crate::mix::Mixer;

/// A stack, named by its innermost frame's node in the [`StackTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(u32);

impl StackId {
    /// The stack without a frame.
    pub const EMPTY: Self = Self(0);
}

/// A prefix tree of call stacks, outermost frame first: memory grows with distinct stacks, not with
/// events.
#[derive(Debug)]
pub struct StackTree {
    /// Parent of each node; node 0 is the empty stack.
    parents: Vec<u32>,
    addresses: Vec<u64>,
    /// Nodes by parent and address.
    children: HashTable<u32>,
    /// The latest stacks by their hash: most stacks repeat soon, and are found without a lookup for
    /// each frame.
    recent: Vec<(u64, u32)>,
    mixer: Mixer,
}

/// Size of [`StackTree::recent`]; a power of two. Half a mebibyte stays in the cache of a core.
const RECENT: usize = 1 << 15;

impl Default for StackTree {
    fn default() -> Self {
        Self {
            // Node 0 is the root: the empty stack.
            parents: vec![0],
            addresses: vec![0],
            children: HashTable::new(),
            recent: Vec::new(),
            mixer: Mixer::default(),
        }
    }
}

impl StackTree {
    /// The stack with these addresses, innermost first.
    pub fn intern(&mut self, frames: &[u64]) -> StackId {
        if frames.is_empty() {
            // Node 0, so that no stack is never confused with a stack of one frame.
            return StackId::EMPTY;
        }
        // An empty or frozen tree holds no cache; the first stack allocates it.
        if self.recent.is_empty() {
            self.recent = vec![(0, 0); RECENT];
        }
        let hash = frames.iter().fold(frames.len() as u64, |hash, address| {
            self.mixer.mix(hash, *address)
        });
        // The place of a hash is overwritten by the next one: old stacks lose their shortcut, not
        // their node.
        let place = hash as usize % RECENT;
        if let Some((_, node)) = self.recent.get(place).filter(|(known, _)| *known == hash)
            // Two stacks may have one hash, so the frames are also compared.
            && self.is(*node, frames)
        {
            return StackId(*node);
        }
        // From the outermost frame inward: stacks with the same callers share nodes.
        let node = frames
            .iter()
            .rev()
            .fold(0, |node, address| self.child(node, *address));
        if let Some(recent) = self.recent.get_mut(place) {
            // Also after a lookup that found the node, so that a stack which comes again is found
            // at once.
            *recent = (hash, node);
        }
        StackId(node)
    }

    /// True if a node is the stack with these addresses.
    fn is(&self, node: u32, frames: &[u64]) -> bool {
        self.frames(StackId(node)).eq(frames.iter().copied())
    }

    fn child(&mut self, parent: u32, address: u64) -> u32 {
        let Self {
            parents,
            addresses,
            children,
            mixer,
            ..
        } = self;
        // The key of a node is its content, so that the table holds four bytes for each.
        let of = |node: u32| Some((*parents.get(node as usize)?, *addresses.get(node as usize)?));
        let hash =
            |node: &u32| of(*node).map_or(0, |(parent, address)| mixer.mix(parent.into(), address));
        let wanted = Some((parent, address));
        match children.entry(
            mixer.mix(parent.into(), address),
            |node| of(*node) == wanted,
            hash,
        ) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => {
                let node = parents.len() as u32;
                vacant.insert(node);
                parents.push(parent);
                addresses.push(address);
                node
            }
        }
    }

    /// The addresses of a stack, innermost first.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = u64> + '_ {
        let mut node = stack.0;
        // Node 0 ends the walk. Parents always have smaller numbers, so it cannot run in a circle.
        std::iter::from_fn(move || {
            if node == 0 {
                return None;
            }
            let address = *self.addresses.get(node as usize)?;
            node = *self.parents.get(node as usize)?;
            Some(address)
        })
    }

    /// The innermost address of a stack; `None` for the empty one.
    #[must_use]
    pub fn innermost(&self, stack: StackId) -> Option<u64> {
        self.frames(stack).next()
    }

    /// Gives up the memory that only [`StackTree::intern`] needs. Stacks that come later are not
    /// recognized as ones that are known.
    pub fn freeze(&mut self) {
        // The second pass only reads, and the index is a third of the memory.
        (self.children, self.recent) = (HashTable::new(), Vec::new());
        self.parents.shrink_to_fit();
        self.addresses.shrink_to_fit();
    }

    /// Forgets all stacks, and keeps the memory for new ones.
    pub fn clear(&mut self) {
        // Node 0, the empty stack, remains.
        self.parents.truncate(1);
        self.addresses.truncate(1);
        self.children.clear();
        self.recent.fill((0, 0));
    }

    /// Number of nodes: distinct stacks, and their callers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parents.len() - 1
    }

    /// True if there are no frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The half of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackPart {
    /// Frames in the kernel.
    Kernel,
    /// Frames in user mode.
    User,
}

impl StackPart {
    /// The half that has this address as its outermost frame.
    #[must_use]
    pub const fn of(outermost: u64, pointer_size: usize) -> Self {
        if is_kernel_address(outermost, pointer_size) {
            Self::Kernel
        } else {
            Self::User
        }
    }
}

/// The meanings of stack keys. A key is defined when it is deleted, and reused. A kernel key and a
/// user key can have the same value at one time.
#[derive(Debug, Default)]
pub struct StackKeys {
    kernel: FxHashMap<u64, Definitions>,
    user: FxHashMap<u64, Definitions>,
    count: u64,
}

/// The stacks that one key referred to, in order of time.
#[derive(Debug, Default)]
struct Definitions {
    times: Vec<i64>,
    stacks: Vec<StackId>,
    /// Position of the last answer. References come in order of time, so the next one is near.
    last: AtomicU32,
}

impl Definitions {
    /// Position of the first definition that is not before a time.
    fn position(&self, timestamp: i64) -> usize {
        let is_before = |at: usize| self.times.get(at).is_some_and(|time| *time < timestamp);
        let last = self.last.load(Ordering::Relaxed) as usize;
        // The last position is only a hint: an answer for an earlier time has to search from the
        // start again.
        let position = if last > 0 && !is_before(last - 1) {
            self.times.partition_point(|time| *time < timestamp)
        } else if !is_before(last) {
            last
        } else if !is_before(last + 1) {
            last + 1
        } else {
            let rest = tail(&self.times, last);
            last + rest.partition_point(|time| *time < timestamp)
        };
        self.last.store(position as u32, Ordering::Relaxed);
        position
    }
}

impl StackKeys {
    /// Takes a definition; definitions of one key must come in order of time. `part` is recognized
    /// by its outermost frame; a definition without frames ends the meaning of the key in both.
    pub fn define(&mut self, timestamp: i64, key: u64, part: Option<StackPart>, stack: StackId) {
        self.count += 1;
        let tables = match part {
            Some(StackPart::Kernel) => [Some(&mut self.kernel), None],
            Some(StackPart::User) => [Some(&mut self.user), None],
            // A deletion without frames does not say which half it ends.
            None => [Some(&mut self.kernel), Some(&mut self.user)],
        };
        for table in tables.into_iter().flatten() {
            let definitions = table.entry(key).or_default();
            definitions.times.push(timestamp);
            definitions.stacks.push(stack);
        }
    }

    /// The stack that a reference to a half at that raw time means: the next definition of the key
    /// for this half.
    #[must_use]
    pub fn resolve(&self, timestamp: i64, key: u64, part: StackPart) -> Option<StackId> {
        let table = if part == StackPart::Kernel {
            &self.kernel
        } else {
            &self.user
        };
        let definitions = table.get(&key)?;
        definitions
            .stacks
            .get(definitions.position(timestamp))
            .copied()
    }

    /// Number of definitions.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// True if there is no definition.
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
        let a = tree.intern(&[3, 2, 1]);
        let b = tree.intern(&[4, 2, 1]);
        assert_eq!(tree.frames(a).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(tree.frames(b).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!((tree.len(), tree.intern(&[3, 2, 1])), (4, a));
        assert_eq!(tree.intern(&[]), StackId::EMPTY);
    }

    #[test]
    fn one_stack_is_one_node_however_many_came_between() {
        let mut tree = StackTree::default();
        let stack = |n: u64| [n % 7, n * 31, n >> 3, 5];
        let first: Vec<StackId> = (0..100_000).map(|n| tree.intern(&stack(n))).collect();
        let nodes = tree.len();
        for (id, n) in first.into_iter().zip(0..) {
            assert_eq!(tree.intern(&stack(n)), id);
            assert!(tree.frames(id).eq(stack(n)));
        }
        assert_eq!(tree.len(), nodes);
        tree.clear();
        let one = tree.intern(&[9, 8]);
        assert_eq!((tree.len(), tree.innermost(one)), (2, Some(9)));
    }

    #[test]
    fn a_key_means_its_next_definition() {
        let mut tree = StackTree::default();
        let [old, new] = [1, 2].map(|a| tree.intern(&[a]));
        let mut keys = StackKeys::default();
        let part = StackPart::User;
        keys.define(10, 7, Some(part), old);
        keys.define(15, 7, None, StackId::EMPTY);
        keys.define(20, 7, Some(part), new);
        assert_eq!(
            [9, 10, 11, 15, 16, 21].map(|t| keys.resolve(t, 7, part)),
            [
                Some(old),
                Some(old),
                Some(StackId::EMPTY),
                Some(StackId::EMPTY),
                Some(new),
                None
            ]
        );
        assert_eq!((keys.resolve(0, 8, part), keys.len()), (None, 3));
    }

    #[test]
    fn one_key_of_the_kernel_and_one_of_user_mode_can_have_the_same_value() {
        let mut tree = StackTree::default();
        let [kernel, user] = [1, 2].map(|a| tree.intern(&[a]));
        let mut keys = StackKeys::default();
        keys.define(10, 7, Some(StackPart::of(0xFFFF_8000_0000_0001, 8)), kernel);
        keys.define(20, 7, Some(StackPart::of(0x7FF0_0000_0001, 8)), user);
        let resolve =
            |time| [StackPart::Kernel, StackPart::User].map(|part| keys.resolve(time, 7, part));
        assert_eq!(
            (resolve(5), resolve(15)),
            ([Some(kernel), Some(user)], [None, Some(user)])
        );
    }
}
