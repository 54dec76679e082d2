//! Tables of page faults, and tables computed from them and from the reads of pages.

tables! {
    /// A page fault raised by the processor. The file read that it caused is in `hard_fault`.
    PageFault / PageFaultColumns = "page_fault", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// `transition` (the page was in memory, on its way out), `demand_zero` (it got a page of
        /// zeros), `copy_on_write`, `guard_page`, `hard` (it has to be read) or `access_violation`.
        kind: &'static str;
        /// Process; null if the running thread is unknown.
        process_key: Option<i32>, "key";
        /// Thread that faulted; null if unknown.
        thread_key: Option<i32>, "key";
        /// Address that was accessed, as bit pattern.
        address: i64;
        /// The instruction that accessed it.
        frame_id: i32, "key";
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// Page faults of a process.
    PageFaultProcess / PageFaultProcessColumns = "page_fault_process", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// Kind of fault, as in `page_fault`.
        kind: String;
        /// Number of faults.
        count: i64;
        /// First fault.
        first_ns: i64, "ns";
        /// Last fault.
        last_ns: i64, "ns";
    }

    /// Reads of pages of a process by file.
    HardFaultFile / HardFaultFileColumns = "hard_fault_file", order ["path"] {
        /// Path; null if unknown.
        path: Option<Arc<str>>;
        /// Process; null if unknown.
        process_key: Option<i32>, "key";
        /// Number of reads.
        count: i64;
        /// Bytes read.
        size_bytes: i64, "bytes";
        /// Sum of durations; concurrent reads add up.
        duration_ns: i64, "ns";
        /// Longest read.
        max_duration_ns: i64, "ns";
    }
}

use std::sync::Arc;
