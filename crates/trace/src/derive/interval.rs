//! Waits and ready times as intervals.

use super::percentiles::ReadyKind;

/// A wait or a ready time of a thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interval {
    pub(super) process: Option<i32>,
    pub(super) stack: Option<i32>,
    pub(super) start: i64,
    pub(super) end: i64,
    /// How a ready time ended.
    pub(super) ready: ReadyKind,
}
