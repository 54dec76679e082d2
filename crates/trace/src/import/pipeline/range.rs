//! The part of a trace to extract.

use etwkit_decode::cut_mark::CutMark;

/// The part of the trace to extract, in nanoseconds; both ends are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
}

impl Range {
    /// Everything.
    pub const ALL: Self = Self {
        start_ns: i64::MIN,
        end_ns: i64::MAX,
    };

    /// The part of it in a trace that was cut.
    pub(crate) fn within(self, mark: Option<CutMark>) -> Self {
        mark.map_or(self, |CutMark { start_ns, end_ns }| Self {
            start_ns: self.start_ns.max(start_ns),
            end_ns: self.end_ns.min(end_ns),
        })
    }

    pub(crate) fn contains(self, ns: i64) -> bool {
        (self.start_ns..=self.end_ns).contains(&ns)
    }

    pub(crate) fn clip(self, ns: i64) -> i64 {
        ns.clamp(self.start_ns, self.end_ns.max(self.start_ns))
    }
}
