//! Stacks by the methods from their outermost frame inward: common outermost methods, and their
//! number.

use std::collections::HashMap;

use super::{TraceFrames, at};

/// The tree of stacks with one node for each path from the outermost method inward.
///
/// Stacks of an extract differ by the place of a call within a method. Here a method is one step,
/// as in [`TraceFrames::identity`], and the number of a path is the smallest number of a stack on
/// it.
#[derive(Debug, Default)]
pub struct Rooted {
    stacks: Vec<Stack>,
}

#[derive(Debug, Clone, Copy)]
struct Stack {
    /// Number of its path; −1 means none.
    way: i32,
    /// Number of its frames.
    depth: u32,
    /// The stack of its caller; −1 means none.
    parent: i32,
    /// A stack further out, chosen so that any caller is a few steps away, however deep stacks are:
    /// as far beyond its parent as the two jumps of that one together if these are equally long,
    /// otherwise the parent.
    jump: i32,
}

impl Rooted {
    /// Returns the number of frames of a stack; `None` for a stack that does not exist or has none.
    #[must_use]
    pub fn depth(&self, stack_id: i32) -> Option<u32> {
        at(&self.stacks, stack_id)
            .filter(|stack| stack.way >= 0)
            .map(|stack| stack.depth)
    }

    /// Returns the given number of outermost frames of a stack, as the number of a path. A shorter
    /// stack is used as a whole. `None` for a stack that does not exist, and for one without
    /// frames.
    #[must_use]
    pub fn root(&self, stack_id: i32, frames: u32) -> Option<i32> {
        let mut stack = at(&self.stacks, stack_id)?;
        // A jump is taken only if it does not pass the wanted depth, so that the loop takes a
        // number of steps that grows with the logarithm of the depth.
        while stack.depth > frames {
            let jump = at(&self.stacks, stack.jump).filter(|jump| jump.depth >= frames);
            stack = jump.or_else(|| at(&self.stacks, stack.parent))?;
        }
        (stack.depth > 0).then_some(stack.way)
    }

    /// Returns the jump of a stack whose caller is this one.
    fn jump(&self, parent: i32) -> i32 {
        let depth = |number: i32| at(&self.stacks, number).map_or(0, |stack| stack.depth);
        let jump = |number: i32| at(&self.stacks, number).map_or(-1, |stack| stack.jump);
        let first = jump(parent);
        let second = jump(jump(parent));
        // Two jumps of one length become one of double length, as in a skew-binary list: that keeps
        // one jump per stack and needs no table of ancestors.
        let is_even = depth(parent).saturating_sub(depth(first))
            == depth(first).saturating_sub(depth(second));
        if is_even { second } else { parent }
    }
}

impl TraceFrames {
    /// Returns stacks by the methods from their outermost frame inward, built on the first access.
    #[must_use]
    pub fn rooted(&self) -> &Rooted {
        self.rooted.get_or_init(|| {
            let mut rooted = Rooted::default();
            let mut known: HashMap<(i32, u32), i32> = HashMap::new();
            for (number, node) in (0_i32..).zip(&self.nodes) {
                // A caller that does not come first is damage and counts as none.
                let parent = if node.parent < number {
                    node.parent
                } else {
                    -1
                };
                let (outer, depth) =
                    at(&rooted.stacks, parent).map_or((-1, 0), |stack| (stack.way, stack.depth));
                // A node whose frame is missing is damage: it does not count as a frame.
                let (way, depth) = match self.identity(node.frame) {
                    Some(method) => (
                        *known.entry((outer, method)).or_insert(number),
                        depth.saturating_add(1),
                    ),
                    None => (outer, depth),
                };
                // Parents come first, so their jumps are known.
                let jump = rooted.jump(parent);
                rooted.stacks.push(Stack {
                    way,
                    depth,
                    parent,
                    jump,
                });
            }
            rooted
        })
    }
}
