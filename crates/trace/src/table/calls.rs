//! Tables of system calls, and tables computed from them.

use std::sync::Arc;

tables! {
    /// A call of a thread into the kernel, from its entry to its exit.
    ///
    /// The events name no thread: it is the one that context switches put on the processor. Calls
    /// without an entry were in progress when the trace started, or their entry was lost. Calls
    /// without an exit were in progress when it ended, or their exit was lost.
    Syscall / SyscallColumns = "syscall", order ["exit_ns"] {
        /// Process of the thread; null if unknown.
        process_key: Option<i32>, "key";
        /// Thread that called; null if the running thread is unknown: no context switches were
        /// recorded, or some were lost.
        thread_key: Option<i32>, "key";
        /// Address of the function, as bit pattern; null without an entry.
        address: Option<i64>;
        /// The function: its module, and its name if symbols are available; null without an entry.
        frame_id: Option<i32>, "key";
        /// Entry; null if it is not in the trace.
        enter_ns: Option<i64>, "ns";
        /// Exit; null if it is not in the trace.
        exit_ns: Option<i64>, "ns";
        /// `exit_ns` − `enter_ns`, waits included.
        duration_ns: Option<i64>, "ns";
        /// Return value, as bit pattern: an NTSTATUS; functions of the window manager return any
        /// number.
        status: Option<i32>;
        /// First file named by an event of the thread inside the call, with drive letter; null if
        /// file operations were not recorded.
        path: Option<Arc<str>>;
        /// First registry key in an event inside the call.
        key: Option<Arc<str>>;
        /// First handle that an event inside the call opens, closes or duplicates: its value in its
        /// process.
        handle: Option<i64>;
        /// Processor of the entry.
        enter_cpu: Option<i32>;
        /// Processor of the exit.
        exit_cpu: Option<i32>;
        /// Stack of the entry.
        stack_id: Option<i32>, "key";
    }

    /// System calls of a process by function.
    SyscallFunction / SyscallFunctionColumns = "syscall_function", order ["process_key"] {
        /// Process; null if unknown.
        process_key: Option<i32>, "key";
        /// File name of the function's module; null if none was mapped there, and without an entry.
        module: Option<Arc<str>>;
        /// Function; without a name the offset in the module or the address, such as `+0x1a2b`;
        /// null without an entry.
        function: Option<String>;
        /// Calls with entry and exit.
        count: i64;
        /// Number of calls whose status is an error or a warning.
        failures: i64;
        /// Number of calls that left the kernel on another processor than they entered it.
        moved: i64;
        /// Sum of their durations; concurrent calls add up.
        duration_ns: i64, "ns";
        /// Shortest one; null if there is none.
        min_duration_ns: Option<i64>, "ns";
        /// Longest one; null if there is none.
        max_duration_ns: Option<i64>, "ns";
        /// Calls without an entry.
        open_at_start: i64;
        /// Calls without an exit.
        open_at_end: i64;
    }
}
