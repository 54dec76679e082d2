//! Questions about stacks as trees: calls from the root down and from a method up, and their names.

pub mod call_tree;
pub(super) mod names;
pub(super) mod stacked;
pub mod tree;
