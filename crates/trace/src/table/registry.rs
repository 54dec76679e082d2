//! Tables of the registry, and tables computed from them.

use std::sync::Arc;

tables! {
    /// An operation on the registry. Its event is written when it ends.
    RegistryIo / RegistryIoColumns = "registry_io", order ["end_ns"] {
        /// `create_key` (opens the key if it exists), `open_key`, `close_key`, `delete_key`,
        /// `query_key`, `enumerate_key`, `flush_key`, `set_value`, `delete_value`, `query_value`,
        /// `enumerate_value`, `query_multiple_values`, `set_information`, `query_security`,
        /// `set_security` or `virtualize`.
        operation: &'static str;
        /// Process of the thread; null if unknown.
        process_key: Option<i32>, "key";
        /// Thread; null if the running thread is unknown.
        thread_key: Option<i32>, "key";
        /// Start.
        start_ns: i64, "ns";
        /// End.
        end_ns: i64, "ns";
        /// `end_ns` − `start_ns`; null if the event reports a start after its end.
        duration_ns: Option<i64>, "ns";
        /// Path of the key, such as `\REGISTRY\MACHINE\SOFTWARE`; only the part that the program
        /// named if its base is unknown; null if nothing is known. Truncated after 8192 bytes.
        key: Option<Arc<str>>;
        /// True if `key` is a path from the root on.
        is_whole_key: bool;
        /// Address of the control block of the key that the operation started from, as bit pattern;
        /// 0 for none.
        key_block: i64;
        /// Name of the value; null for operations on keys, and for the default value, which has
        /// none.
        value: Option<Arc<str>>;
        /// Index in an enumeration; class of information of `query_key` and `set_information`; null
        /// if unknown.
        index: Option<i64>;
        /// NTSTATUS, as bit pattern.
        status: i32;
        /// Processor at the end.
        cpu: i32;
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// Operations on the registry by process, key and kind.
    RegistryKey / RegistryKeyColumns = "registry_key", order ["key"] {
        /// Path of the key, as in `registry_io`; null if unknown.
        key: Option<Arc<str>>;
        /// Process; null if unknown.
        process_key: Option<i32>, "key";
        /// Kind of operation, as in `registry_io`.
        operation: String;
        /// Number of operations.
        count: i64;
        /// Number of operations whose status is an error or a warning.
        failures: i64;
        /// Sum of their durations; concurrent operations add up.
        duration_ns: i64, "ns";
        /// Longest one; null if no duration is known.
        max_duration_ns: Option<i64>, "ns";
    }
}
