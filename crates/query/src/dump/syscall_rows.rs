//! Rows of system calls.

rows! {
    /// Calls of a function, process, thread or with the same result.
    pub struct SyscallRow: process {
        /// Process, with rows for each process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id, with rows for each thread.
        tid: Option<i64>,
        /// File name of the module of the function.
        module: Option<String>,
        /// Function; without a name the offset in the module, as `+0x1a2b`. Missing for calls whose entry is not in the trace.
        function: Option<String>,
        /// What was returned, with rows for each result.
        status: Option<i64>,
        /// Its name; digits where it has none.
        status_name: Option<String>,
        /// Calls with entry and exit.
        count: i64,
        /// Those of them that failed: their status is an error or a warning.
        failures: i64,
        /// Those that left the kernel on another processor.
        moved: i64,
        /// Sum of durations.
        duration_ns: i64,
        /// Shortest.
        min_duration_ns: Option<i64>,
        /// Longest.
        max_duration_ns: Option<i64>,
        /// Mean.
        mean_duration_ns: Option<f64>,
        /// Half of them were not longer.
        p50_duration_ns: Option<i64>,
        /// 90 per cent of them were not longer.
        p90_duration_ns: Option<i64>,
        /// 95 per cent of them were not longer.
        p95_duration_ns: Option<i64>,
        /// 99 per cent of them were not longer.
        p99_duration_ns: Option<i64>,
        /// Calls whose entry is not in the trace.
        open_at_start: i64,
        /// Calls whose exit is not in the trace.
        open_at_end: i64,
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

    /// A call.
    pub struct SyscallCall: process {
        /// Entry; missing if it is not in the trace.
        enter_ns: Option<i64>,
        /// Exit; missing if it is not in the trace.
        exit_ns: Option<i64>,
        /// From entry to exit.
        duration_ns: Option<i64>,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id.
        tid: Option<i64>,
        /// File name of the module of the function.
        module: Option<String>,
        /// Function; without a name the offset in the module, as `+0x1a2b`. Missing for a call whose entry is not in the trace.
        function: Option<String>,
        /// What it returned, as signed number.
        status: Option<i64>,
        /// Its name; digits where it has none.
        status_name: Option<String>,
        /// Processor of the entry.
        enter_cpu: Option<i64>,
        /// Processor of the exit.
        exit_cpu: Option<i64>,
        /// Stack of the entry, innermost frame first, if it is asked for.
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
