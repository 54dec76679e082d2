//! Rows of virtual memory, and sums over them.

use super::Group;

rows! {
    /// Virtual memory of a process.
    pub struct VirtualAllocRow: process {
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Bytes of pages that were committed and not given back.
        outstanding_bytes: i64,
        /// Commits with such pages.
        outstanding_commits: i64,
        /// Bytes of commits.
        commit_bytes: i64,
        /// Commits.
        commits: i64,
        /// Bytes of decommits and releases.
        freed_bytes: i64,
        /// Decommits and releases.
        frees: i64,
        /// Decommits.
        decommits: i64,
        /// Releases.
        releases: i64,
        /// Reservations without a commit.
        reserves: i64,
        /// Largest commit.
        max_commit_bytes: i64,
        /// The most that it had committed at one time, of what was committed in the trace.
        peak_bytes: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }

    /// Commits of a process with one stack, or with one method in their stacks.
    pub struct VirtualStackRow: process {
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// The stack, with rows for each stack; missing where none was recorded.
        stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        stack: Option<String>,
        /// The method, with rows for each method.
        method: Option<String>,
        /// Bytes of pages that were committed and not given back.
        outstanding_bytes: i64,
        /// Commits with such pages.
        outstanding_commits: i64,
        /// Bytes of commits.
        commit_bytes: i64,
        /// Commits.
        commits: i64,
        /// Largest commit.
        max_commit_bytes: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }

    /// An allocation.
    pub struct VirtualEvent: process {
        /// Time.
        ts_ns: i64,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread that did it.
        tid: Option<i64>,
        /// `commit`, `reserve`, `decommit` or `release`.
        kind: String,
        /// First address, in hexadecimal digits.
        address: String,
        /// Bytes.
        size_bytes: i64,
        /// Flags, in hexadecimal digits.
        flags: String,
        /// Bytes of it that were not given back.
        outstanding_bytes: i64,
        /// The stack.
        stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        stack: Option<String>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
    }
}

/// Stacks or methods by process.
pub type VirtualStackAnswer = Vec<Group<VirtualStackRow, VirtualAllocTotal>>;

/// Sums over rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VirtualAllocTotal {
    /// Bytes that were not given back.
    pub outstanding_bytes: i64,
    /// Commits that were not given back.
    pub outstanding_commits: i64,
    /// What groups are sorted by.
    pub sort_value: f64,
}

/// Sums over stacks. A stack has many methods, so that over methods the largest one is what counts.
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
            outstanding_commits: sum.outstanding_commits.saturating_add(row.outstanding_commits),
            sort_value: sum.sort_value + row.sort_value,
        }
    })
}
