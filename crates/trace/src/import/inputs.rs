//! Clicks and keys that screenshots belong to.

use std::collections::BTreeMap;

/// A click or key.
#[derive(Debug, Clone)]
pub(super) struct Input {
    /// Time.
    pub(super) ns: i64,
    /// True for a key, false for a click.
    pub(super) is_key: bool,
    /// Name of the button or key.
    pub(super) text: String,
    /// Position of a click.
    pub(super) at: Option<(i32, i32)>,
}

/// Clicks, keys and pictures that events report.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    pub(super) by_number: BTreeMap<i32, Input>,
    /// Names of screenshots, with the times of their events.
    pub(super) pictures: BTreeMap<String, i64>,
}
