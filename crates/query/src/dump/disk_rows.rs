//! Rows of disk I/O.

rows! {
    /// Disk I/O of a folder or file.
    pub struct DiskRow: process {
        /// Process, with rows for each process; missing if it is not known, and with sets of processes.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name; of sets as `process_names`.
        process: Option<String>,
        /// Drive, folder or file; missing for flushes and for files without a name.
        path: Option<String>,
        /// Reads; missing where only their sums are known.
        reads: Option<i64>,
        /// Bytes read.
        read_bytes: i64,
        /// Service time of reads.
        read_service_ns: i64,
        /// Time of reads, queue included.
        read_io_ns: i64,
        /// Writes; missing where only their sums are known.
        writes: Option<i64>,
        /// Bytes written.
        write_bytes: i64,
        /// Service time of writes.
        write_service_ns: i64,
        /// Time of writes, queue included.
        write_io_ns: i64,
        /// Flushes; missing where only their sums are known.
        flushes: Option<i64>,
        /// Service time of flushes.
        flush_service_ns: i64,
        /// Longest operation, queue included.
        max_io_ns: i64,
        /// Bytes read and written.
        total_bytes: i64,
        /// Service time of all operations.
        total_service_ns: i64,
        /// Share of the time that a disk worked on them, in percent.
        active_percent: f64,
        /// Files with a name.
        files: i64,
        /// Processes.
        processes: i64,
        /// Names and ids of these processes, with ; between.
        process_names: Option<String>,
        /// Numbers of the disks, with ; between.
        disks: Option<String>,
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
    /// Sums of disk I/O.
    pub struct DiskTotal {
        /// Reads.
        reads: i64,
        /// Bytes read.
        read_bytes: i64,
        /// Service time of reads.
        read_service_ns: i64,
        /// Writes.
        writes: i64,
        /// Bytes written.
        write_bytes: i64,
        /// Service time of writes.
        write_service_ns: i64,
        /// Flushes.
        flushes: i64,
        /// Service time of flushes.
        flush_service_ns: i64,
        /// Service time of all operations.
        total_service_ns: i64,
        /// Service time that is in no row, since it is of files that several processes shared.
        shared_service_ns: i64,
        /// What groups are sorted by.
        sort_value: f64,
    }
}
