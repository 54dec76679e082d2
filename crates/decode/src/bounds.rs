//! Limits on the data kept for a trace, and counts of descriptions that could not be used.

use std::mem::size_of;

use crate::schema::Field;

/// Maximum number of fields of one event, including members of structs; more in a file are damage.
pub const MAX_FIELDS: usize = 1024;

/// Memory for all schemas that a trace describes.
pub const MAX_SCHEMA_BYTES: usize = 256 << 20;

/// Bytes of memory that may still be used. Text and fields that a file refers to more than once
/// count each time, so that a small file cannot grow into gigabytes.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    left: usize,
}

impl Budget {
    /// A budget of `left` bytes.
    #[must_use]
    pub const fn new(left: usize) -> Self {
        Self { left }
    }

    /// Takes bytes; `None`, and nothing is taken, if fewer are left.
    #[must_use = "a refused amount must not be used"]
    pub fn take(&mut self, bytes: usize) -> Option<()> {
        // Nothing is taken if it does not fit, so that a smaller description can still be used.
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    /// Returns bytes to the budget.
    pub const fn put_back(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes);
    }
}

/// Bytes of memory that fields occupy, value maps (which are shared) excluded.
#[must_use]
pub fn cost(fields: &[Field]) -> usize {
    fields
        .iter()
        .map(|field| size_of::<Field>() + field.name.len() + cost(&field.members))
        // Members count as well: a struct of structs is larger than its number of fields.
        .sum()
}

/// Number of event descriptions that could not be used, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Problems {
    /// Broken TraceLogging metadata: its events stay raw. Counted once for each distinct one.
    pub trace_logging: u64,
    /// Invalid chunks of manifests.
    pub manifest_chunks: u64,
    /// Manifests of which a chunk is missing.
    pub incomplete_manifests: u64,
    /// Manifests that are not XML or too large.
    pub manifests: u64,
    /// Events of manifests that refer to something the manifest does not have.
    pub manifest_events: u64,
    /// Broken `TRACE_EVENT_INFO` records.
    pub event_infos: u64,
    /// Broken `EVENT_MAP_INFO` records.
    pub maps: u64,
    /// Descriptions left out because memory for them is used up.
    pub over_limit: u64,
}

impl Problems {
    /// Names and counts of the problems that occurred, for the report to the user.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("tracelogging_metadata", self.trace_logging),
            ("manifest_chunks", self.manifest_chunks),
            ("incomplete_manifests", self.incomplete_manifests),
            ("manifests", self.manifests),
            ("manifest_events", self.manifest_events),
            ("event_infos", self.event_infos),
            ("value_maps", self.maps),
            ("over_limit", self.over_limit),
        ]
        .into_iter()
        .filter(|(_, count)| *count != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_amount_leaves_the_rest() {
        let mut budget = Budget::new(10);
        assert_eq!(budget.take(11), None);
        assert_eq!(budget.take(10), Some(()));
        assert_eq!(budget.take(1), None);
        budget.put_back(1);
        assert_eq!(budget.take(1), Some(()));
    }

    #[test]
    fn only_problems_that_occurred_are_named() {
        let problems = Problems {
            maps: 2,
            ..Problems::default()
        };
        assert_eq!(problems.counts().collect::<Vec<_>>(), [("value_maps", 2)]);
    }
}
