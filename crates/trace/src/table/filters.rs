//! Tables of minifilter drivers, and tables computed from them.

tables! {
    /// A callback of a minifilter driver before or after an operation on a file.
    MiniFilter / MiniFilterColumns = "mini_filter", order ["end_ns"] {
        /// `pre` before the operation, `post` after it.
        phase: &'static str;
        /// Routine of the driver that was called; its module is the driver.
        frame_id: i32, "key";
        /// Process of the thread; null if the running thread is unknown.
        process_key: Option<i32>, "key";
        /// Thread in which the driver ran; null if unknown.
        thread_key: Option<i32>, "key";
        /// Start; null if neither the start nor the end with its time was recorded.
        start_ns: Option<i64>, "ns";
        /// End; null if no event reports it.
        end_ns: Option<i64>, "ns";
        /// `end_ns` − `start_ns`: including waits of the driver.
        duration_ns: Option<i64>, "ns";
        /// Major function, as number.
        major_function: i32;
        /// Its name: `create`, `read`, `set_information` and so on; null for numbers without a
        /// name.
        operation: Option<&'static str>;
        /// Path with drive letter, if known.
        path: Option<Arc<str>>;
        /// NTSTATUS with which the driver made the operation fail, as bit pattern; null if no
        /// failure was reported.
        status: Option<i32>;
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// Calls of a minifilter driver by process and operation.
    MiniFilterDriver / MiniFilterDriverColumns = "mini_filter_driver", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// File name of the driver; null if no module is known.
        module: Option<String>;
        /// Path of the driver.
        module_path: Option<String>;
        /// `pre` or `post`.
        phase: String;
        /// Operation; null for numbers without a name.
        operation: Option<String>;
        /// Number of calls.
        count: i64;
        /// Calls with a start and an end.
        ended: i64;
        /// Calls that made the operation fail.
        failures: i64;
        /// Sum of durations; concurrent calls add up.
        duration_ns: i64, "ns";
        /// Longest call.
        max_duration_ns: Option<i64>, "ns";
    }
}

use std::sync::Arc;
