//! Tags as a stack tag file declares them.

use etwkit_base::index::Idx;

use super::index::PatternId;

/// A tag with entry points of its own. Of rules with equal priority the earlier one wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    /// Names of the tags around it and its own, joined by `\`.
    pub(super) path: String,
    pub(super) priority: i32,
    pub(super) hint: Option<Hint>,
}

/// The part that a `HintTag` adds to its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hint {
    pub(super) neighbour: Neighbour,
    /// The module alone, without the method.
    pub(super) only_module: bool,
}

/// A frame adjacent to the one that matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// The next one towards the innermost frame.
    Callee,
    /// The next one towards the outermost frame.
    Caller,
}

/// An `Entrypoint`: frames that a rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Pattern of the module name, in lower case.
    pub(super) module: PatternId,
    pub(super) method: PatternId,
    pub(super) rule: Idx<Rule>,
}
