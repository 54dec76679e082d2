//! Rows with the texts of the stacks of a wait.

use etwkit_analysis::StackText;
use serde::Serialize;

/// A row with its stacks as text.
#[derive(Serialize)]
pub(super) struct WithStacks<'a, R: Serialize> {
    #[serde(flatten)]
    pub(super) row: &'a R,
    /// Frames of the stack with which the thread was switched in, innermost first, with ` < ` between.
    stack: Option<String>,
    /// The same of the stack that made it ready.
    readying_stack: Option<String>,
}

impl<'a, R: Serialize> WithStacks<'a, R> {
    pub(super) fn new(row: &'a R, stacks: &StackText, all: bool, ids: (Option<i64>, Option<i64>)) -> Self {
        let text = |id: Option<i64>| {
            id.map(|id| frames(stacks, all, id).join(" < ")).filter(|text| !text.is_empty())
        };
        Self { row, stack: text(ids.0), readying_stack: text(ids.1) }
    }
}

pub(super) fn frames(stacks: &StackText, all: bool, stack_id: i64) -> Vec<String> {
    if all { stacks.all(stack_id) } else { stacks.some(stack_id) }
}
