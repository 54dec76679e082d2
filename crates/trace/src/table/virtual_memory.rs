//! Tables of virtual memory, and tables computed from them.

tables! {
    /// Addresses of a process that were reserved, committed, decommitted or released.
    VirtualAlloc / VirtualAllocColumns = "virtual_alloc", order ["ts_ns"] {
        /// Number.
        alloc_id: i64, "key";
        /// Time.
        ts_ns: i64, "ns";
        /// Process that owns the memory.
        process_key: Option<i32>, "key";
        /// Thread that did this; null if the running thread is unknown.
        thread_key: Option<i32>, "key";
        /// `commit` (reserved at the same time or not), `reserve`, `decommit` or `release`.
        kind: &'static str;
        /// First address, as bit pattern.
        address: i64;
        /// Bytes in the event; for a release the size of the whole region.
        size_bytes: i64, "bytes";
        /// Flags of the call, as bit pattern.
        flags: i32;
        /// Bytes of the pages that it committed; negative for pages that it decommitted.
        changed_bytes: i64, "bytes";
        /// Bytes that the process had committed in the trace and not released, after it.
        committed_bytes: i64, "bytes";
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// Addresses that were committed in the trace and not released to its end (or the end of the
    /// process).
    VirtualRange / VirtualRangeColumns = "virtual_range", order [] {
        /// Process.
        process_key: Option<i32>, "key";
        /// First address, as bit pattern.
        address: i64;
        /// Bytes: whole pages.
        size_bytes: i64, "bytes";
        /// The commit that made them available; if there were several, the first one.
        alloc_id: i64, "key";
    }

    /// Virtual memory of a process.
    VirtualAllocProcess / VirtualAllocProcessColumns = "virtual_alloc_process", order ["process_key"] {
        /// Process; null if unknown.
        process_key: Option<i32>, "key";
        /// Number of commits.
        commits: i64;
        /// Total bytes of the commits.
        commit_bytes: i64, "bytes";
        /// Largest commit.
        max_commit_bytes: i64, "bytes";
        /// Reservations without a commit.
        reserves: i64;
        /// Number of decommits.
        decommits: i64;
        /// Number of releases.
        releases: i64;
        /// Bytes of decommits and releases.
        freed_bytes: i64, "bytes";
        /// Bytes of pages that were committed in the trace and not released.
        outstanding_bytes: i64, "bytes";
        /// Commits with pages of this kind.
        outstanding_commits: i64;
        /// Largest amount that it had committed in the trace and not released.
        peak_bytes: i64, "bytes";
    }
}
