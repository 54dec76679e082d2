//! The table of active times of stack tags.

tables! {
    /// A stretch of time in which a stack tag was active in a process. It had CPU samples of the
    /// tag, with gaps of at most a second, or a hundredth of the trace if that is longer. Samples
    /// without a matching rule (`Other`) have no rows.
    TagInterval / TagIntervalColumns = "tag_interval", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// The rules that define it: `default`, or the name of the user's file.
        tag_set: String;
        /// Path of the tag, in the form `Parent\Child`.
        tag: String;
        /// First sample.
        start_ns: i64, "ns";
        /// Last sample.
        end_ns: i64, "ns";
        /// Busy samples with the tag.
        samples: i64;
        /// Sampled CPU with the tag.
        cpu_ns: i64, "ns";
    }
}
