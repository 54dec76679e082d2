//! Tables of the use of memory.

tables! {
    /// Memory of a process at a moment.
    MemorySample / MemorySampleColumns = "memory_sample", order ["ts_ns"] {
        /// Time; the same for all processes of a sample.
        ts_ns: i64, "ns";
        /// Process; null if unknown, and for parts of the system.
        process_key: Option<i32>, "key";
        /// Process ID; negative and very small numbers mean parts of the system.
        pid: i32;
        /// Part of the system, if its name is known; null for processes.
        part: Option<String>;
        /// Working set: bytes in memory.
        working_set_bytes: i64, "bytes";
        /// Private working set: bytes in memory that are not shared.
        private_working_set_bytes: i64, "bytes";
        /// Committed memory that is not shared.
        commit_bytes: i64, "bytes";
        /// Shared with others and committed; null in old recordings.
        shared_commit_bytes: Option<i64>, "bytes";
        /// Addresses in use.
        virtual_bytes: i64, "bytes";
        /// Committed and charged elsewhere; null in old recordings.
        commit_debt_bytes: Option<i64>, "bytes";
        /// Compressed pages, before compression; null in old recordings.
        stored_bytes: Option<i64>, "bytes";
        /// Bytes that they take in the store; null in old recordings.
        store_bytes: Option<i64>, "bytes";
    }

    /// Memory of the machine at a moment.
    MemoryMachine / MemoryMachineColumns = "memory_machine", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// In use: all memory except for the memory in the next columns; null if the size of the
        /// memory is unknown.
        in_use_bytes: Option<i64>, "bytes";
        /// Zeroed pages.
        zero_bytes: i64, "bytes";
        /// Free pages.
        free_bytes: i64, "bytes";
        /// Standby pages.
        standby_bytes: i64, "bytes";
        /// Modified pages, to be written.
        modified_bytes: i64, "bytes";
        /// Modified pages, not to be written for now.
        modified_no_write_bytes: i64, "bytes";
        /// Bad pages.
        bad_bytes: i64, "bytes";
        /// Standby pages repurposed since boot.
        repurposed_pages: i64;
        /// Modified pages bound for a page file, a part of `modified_bytes`; null in old
        /// recordings.
        modified_page_file_bytes: Option<i64>, "bytes";
        /// Paged pool; null in old recordings.
        paged_pool_bytes: Option<i64>, "bytes";
        /// Nonpaged pool; null in old recordings.
        nonpaged_pool_bytes: Option<i64>, "bytes";
        /// Locked by drivers; null in old recordings.
        mdl_bytes: Option<i64>, "bytes";
        /// Committed; null in old recordings.
        commit_bytes: Option<i64>, "bytes";
    }
}
