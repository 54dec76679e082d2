//! Rows of DNS queries.

rows! {
    /// All queries for a name.
    pub struct DnsRow {
        /// Name in lower case.
        name: String,
        /// Total time, as it is asked for.
        total_ns: i64,
        /// Time in which at least one query was under way.
        union_ns: i64,
        /// Sum of the durations.
        sum_ns: i64,
        /// Shortest query.
        min_ns: Option<i64>,
        /// Longest query.
        max_ns: Option<i64>,
        /// Queries with start and answer.
        count: i64,
        /// Those of them during which a server did not answer in time.
        timed_out: i64,
        /// Queries without an answer in the trace.
        unanswered: i64,
        /// Answers without a start in the trace.
        unstarted: i64,
        /// Processes that asked.
        processes: i64,
        /// Distinct Win32 errors of the answers, without 0, ascending, with commas between.
        statuses: Option<String>,
        /// Their names, with `;` between. Invalid parameters (87) are left out.
        return_codes: Option<String>,
        /// Distinct adapters, with `;` between.
        adapters: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }

    /// A single query.
    pub struct DnsQueryRow: process {
        /// Process.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the executable.
        process: Option<String>,
        /// Thread that asked.
        tid: Option<i64>,
        /// Name as it was asked for.
        name: String,
        /// Type of resource record.
        query_type: i64,
        /// Start, if in the trace.
        start_ns: Option<i64>,
        /// Answer, if in the trace.
        end_ns: Option<i64>,
        /// Time between.
        duration_ns: Option<i64>,
        /// Win32 error of the answer.
        status: Option<i64>,
        /// Its name.
        status_name: Option<String>,
        /// Whether a server did not answer in time.
        is_timed_out: bool,
        /// Those servers.
        timed_out_servers: Option<String>,
        /// Adapters over which the name was asked for.
        adapters: Option<String>,
        /// Their servers.
        adapter_servers: Option<String>,
        /// Servers that were asked.
        servers: Option<String>,
        /// Records of the answer.
        result: Option<String>,
        /// Whether it was sent to servers as it is.
        is_network: bool,
        /// Whether the caller did not wait for it.
        is_async: bool,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
}
