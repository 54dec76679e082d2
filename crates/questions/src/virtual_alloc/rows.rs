//! Rows of virtual memory, and sums over them.

use etwkit_question::declare;
use etwkit_question::group::Group;

declare! {
    /// Virtual memory of a process.
    pub row VirtualAllocRow: process {
        ..process = "Process; missing if it is not known.",
        outstanding_bytes: i64 = "Bytes of pages that were committed and not given back.",
        outstanding_commits: i64 = "Commits with pages that were not given back.",
        commit_bytes: i64 = "Bytes of commits.",
        commits: i64 = "Commits.",
        freed_bytes: i64 = "Bytes of decommits and releases.",
        frees: i64 = "Decommits and releases.",
        decommits: i64 = "Decommits.",
        releases: i64 = "Releases.",
        reserves: i64 = "Reservations without a commit.",
        max_commit_bytes: i64 = "Largest commit.",
        peak_bytes: i64 = "Most memory that it had committed at one time, counting only commits in the trace.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// Commits of a process with one stack, or with one method in their stacks.
    pub row VirtualStackRow: process {
        ..process = "Process; missing if it is not known.",
        stack_id: Option<i64> = "The stack, with rows for each stack; missing where none was recorded.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        method: Option<String> = "The method, with rows for each method.",
        outstanding_bytes: i64 = "Bytes of pages that were committed and not given back.",
        outstanding_commits: i64 = "Commits with pages that were not given back.",
        commit_bytes: i64 = "Bytes of commits.",
        commits: i64 = "Commits.",
        max_commit_bytes: i64 = "Largest commit.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// An allocation.
    pub row VirtualEvent: process {
        ts_ns: i64 = "Time.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread that did it.",
        kind: String = "`commit`, `reserve`, `decommit` or `release`.",
        address: String = "First address, in hexadecimal digits.",
        size_bytes: i64 = "Bytes.",
        flags: String = "Flags, in hexadecimal digits.",
        outstanding_bytes: i64 = "Bytes of the allocation that were not given back.",
        stack_id: Option<i64> = "Stack of the allocation.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        ..process_details,
    }
}

/// Stacks or methods by process.
pub type VirtualStackAnswer = Vec<Group<VirtualStackRow, VirtualAllocTotal>>;

/// Sums over rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VirtualAllocTotal {
    /// Bytes that were not released.
    pub outstanding_bytes: i64,
    /// Commits that were not released.
    pub outstanding_commits: i64,
    /// The sort key of groups.
    pub sort_value: f64,
}

/// Returns the sums over stacks. A stack has many methods, so a sum over methods would count it
/// several times: the largest one is taken.
pub(super) fn total(rows: &[VirtualStackRow], is_method: bool) -> VirtualAllocTotal {
    rows.iter().fold(VirtualAllocTotal::default(), |sum, row| {
        if is_method {
            return VirtualAllocTotal {
                outstanding_bytes: sum.outstanding_bytes.max(row.outstanding_bytes),
                outstanding_commits: sum.outstanding_commits.max(row.outstanding_commits),
                sort_value: sum.sort_value.max(row.sort_value),
            };
        }
        VirtualAllocTotal {
            outstanding_bytes: sum.outstanding_bytes.saturating_add(row.outstanding_bytes),
            outstanding_commits: sum
                .outstanding_commits
                .saturating_add(row.outstanding_commits),
            sort_value: sum.sort_value + row.sort_value,
        }
    })
}
