//! Rows of operations on the registry.

rows! {
    /// Operations on a key, of a process, of a kind or with the same result.
    pub struct RegistryRow: process {
        /// Process, with rows for each process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Key as programs name it (`HKLM\…`), with rows for each key; missing where nothing of it is known.
        key: Option<String>,
        /// Value, with rows for each value; missing for operations on keys and on the default value.
        value: Option<String>,
        /// Kind, with rows for each kind.
        operation: Option<String>,
        /// What was returned, with rows for each result.
        status: Option<i64>,
        /// Its name; digits where it has none.
        status_name: Option<String>,
        /// Operations.
        count: i64,
        /// Those of them that failed: their status is an error or a warning.
        failures: i64,
        /// Keys that were opened or created.
        opens: i64,
        /// Keys that were closed.
        closes: i64,
        /// Sum of durations; operations at the same time add up.
        duration_ns: i64,
        /// Longest; missing if no duration is known.
        max_duration_ns: Option<i64>,
        /// Mean.
        mean_duration_ns: f64,
        /// Distinct keys.
        keys: i64,
        /// Distinct processes.
        processes: i64,
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

    /// An operation.
    pub struct RegistryOperation: process {
        /// Begin.
        start_ns: i64,
        /// End.
        end_ns: i64,
        /// From begin to end; missing where the event tells a begin behind its end.
        duration_ns: Option<i64>,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id.
        tid: Option<i64>,
        /// Kind.
        operation: String,
        /// Key as programs name it; missing where nothing of it is known.
        key: Option<String>,
        /// Whether that is all of its path.
        is_whole_key: bool,
        /// Value; missing for operations on keys and on the default value.
        value: Option<String>,
        /// Place in an enumeration, class of information of a query.
        index: Option<i64>,
        /// What it returned, as signed number.
        status: i64,
        /// Its name; digits where it has none.
        status_name: String,
        /// Processor.
        cpu: i64,
        /// Stack, innermost frame first, if it is asked for.
        stack: Option<String>,
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
}
