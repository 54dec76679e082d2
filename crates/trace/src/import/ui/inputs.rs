//! Clicks and keys that screenshots belong to.

use std::collections::BTreeMap;

/// A click or key.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    /// Time.
    pub(crate) ns: i64,
    /// True for a key, false for a click.
    pub(crate) is_key: bool,
    /// Name of the button or key.
    pub(crate) text: String,
    /// Position of a click.
    pub(crate) at: Option<(i32, i32)>,
}

/// Clicks, keys and pictures that events report.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    pub(crate) by_number: BTreeMap<i32, Input>,
    /// Names of screenshots, with the times of their events.
    pub(crate) pictures: BTreeMap<String, i64>,
}
