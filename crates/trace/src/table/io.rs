//! Tables of disks, files, page faults and the network, and tables computed from them.

tables! {
    /// A read, write or flush of a disk.
    DiskIo / DiskIoColumns = "disk_io", order ["complete_ns"] {
        /// `read`, `write` or `flush`.
        kind: &'static str;
        /// Number of the disk.
        disk: i32;
        /// Process that issued it, if its thread is known.
        process_key: Option<i32>, "key";
        /// Thread that issued it.
        thread_key: Option<i32>, "key";
        /// Time at which it was issued.
        init_ns: i64, "ns";
        /// Time of its completion.
        complete_ns: i64, "ns";
        /// `complete_ns` − `init_ns`: time in the queue and service time.
        io_ns: i64, "ns";
        /// Service time: from the later of `init_ns` and the previous completion on that disk, to
        /// `complete_ns`. Null if events of a processor are missing in that time: the previous
        /// completion may be one of them.
        service_ns: Option<i64>, "ns";
        /// `io_ns` − `service_ns`: time in the queue of the disk.
        queue_ns: Option<i64>, "ns";
        /// Position on the disk; null for a flush.
        offset_bytes: Option<i64>, "bytes";
        /// Bytes; 0 for a flush.
        size_bytes: i64, "bytes";
        /// Path with drive letter, if known; null for a flush and for files without a name.
        path: Option<Arc<str>>;
        /// I/O priority: 0 not set, 1 very low, 2 low, 3 normal, 4 high, 5 critical.
        priority: i32;
        /// Flags of the request packet, as bit pattern.
        irp_flags: i32;
        /// Requests of the disk in progress when it was issued, itself included. Requests that were
        /// not complete when the trace ended are unknown; null in a trace of millions of requests.
        queue_depth_start: Option<i32>;
        /// Requests of the disk in progress when it completed, itself included.
        queue_depth_end: Option<i32>;
        /// Stack that issued it.
        stack_id: Option<i32>, "key";
    }

    /// An operation on a file, from its start to its end.
    FileIo / FileIoColumns = "file_io", order ["end_ns"] {
        /// `create`, `read`, `write`, `close`, `cleanup`, `flush`, `set_info`, `query_info`,
        /// `delete`, `rename`, `set_link`, `dir_enum`, `dir_notify`, `fs_control`, `set_security`,
        /// `query_security`, `set_ea` or `query_ea`; `unknown` if only the end is in the trace.
        kind: &'static str;
        /// Process.
        process_key: Option<i32>, "key";
        /// Thread.
        thread_key: Option<i32>, "key";
        /// Start; null if only the end is in the trace: it started before, or its start was lost.
        start_ns: Option<i64>, "ns";
        /// End; null if no event reports it.
        end_ns: Option<i64>, "ns";
        /// `end_ns` − `start_ns`.
        duration_ns: Option<i64>, "ns";
        /// Path with drive letter, if known.
        path: Option<Arc<str>>;
        /// Position in the file, for reads and writes.
        offset_bytes: Option<i64>, "bytes";
        /// Bytes requested, for reads and writes.
        size_bytes: Option<i64>, "bytes";
        /// Bytes read or written; for other operations the information that the file system
        /// returned.
        result_bytes: Option<i64>, "bytes";
        /// NTSTATUS of the result, as bit pattern; 0 is success, negative an error or warning.
        status: Option<i32>;
        /// Options for opening a file: bits of `FILE_*` options (1 directory, 2 write through, 4
        /// sequential, 8 no intermediate buffering, 0x1000 delete on close …). Null for other
        /// operations, as the next three.
        create_options: Option<i32>;
        /// Action for a file that exists, or does not: 0 supersede, 1 open, 2 create, 3 open or
        /// create, 4 overwrite, 5 overwrite or create.
        create_disposition: Option<i32>;
        /// Attributes of a file that is created, as bit pattern.
        file_attributes: Option<i32>;
        /// Access that others may have at the same time: 1 read, 2 write, 4 delete.
        share_access: Option<i32>;
        /// Flags of the request packet of reads and writes, as bit pattern: 1 past the cache, 2
        /// paging, 4 synchronous, 0x40 synchronous paging, and others.
        io_flags: Option<i32>;
        /// Class of information to query or set: number of `FILE_INFORMATION_CLASS`; for
        /// `fs_control` the control code, as bit pattern.
        info_class: Option<i32>;
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// A page fault that was served from a disk.
    HardFault / HardFaultColumns = "hard_fault", order ["end_ns"] {
        /// Process.
        process_key: Option<i32>, "key";
        /// Thread that faulted.
        thread_key: i32, "key";
        /// Time of the fault.
        start_ns: i64, "ns";
        /// Time at which the page had been read.
        end_ns: i64, "ns";
        /// `end_ns` − `start_ns`.
        duration_ns: i64, "ns";
        /// Address that faulted, as bit pattern.
        address: i64;
        /// Position in the file.
        offset_bytes: i64, "bytes";
        /// Bytes read.
        size_bytes: i64, "bytes";
        /// Path with drive letter, if known.
        path: Option<Arc<str>>;
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// A TCP or UDP transfer, logged by the kernel.
    NetIo / NetIoColumns = "net_io", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// `tcp` or `udp`.
        protocol: &'static str;
        /// `send`, `receive`, `connect`, `disconnect`, `retransmit` or `accept`.
        kind: &'static str;
        /// Process.
        process_key: Option<i32>, "key";
        /// Bytes.
        size_bytes: i64, "bytes";
        /// Local address.
        local_address: Option<String>;
        /// Local port.
        local_port: Option<i32>;
        /// Remote address.
        remote_address: Option<String>;
        /// Remote port.
        remote_port: Option<i32>;
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// Disk I/O of a process by file.
    DiskFile / DiskFileColumns = "disk_file", order ["path"] {
        /// Path; null for flushes and for files without a name.
        path: Option<Arc<str>>;
        /// Number of the disk.
        disk: i32;
        /// Process; null if unknown, or if several processes share the row.
        process_key: Option<i32>, "key";
        /// Keys of the processes that share the row, separated by blanks. Only extracts created
        /// from sums have these rows, and the share of each process is unknown.
        process_keys: Option<String>;
        /// I/O priority: 0 not set, 1 very low, 2 low, 3 normal, 4 high, 5 critical.
        priority: i32;
        /// Number of reads.
        reads: i64;
        /// Bytes read.
        read_bytes: i64, "bytes";
        /// Service time of reads.
        read_service_ns: i64, "ns";
        /// Time of reads, queue included.
        read_io_ns: i64, "ns";
        /// Number of writes.
        writes: i64;
        /// Bytes written.
        write_bytes: i64, "bytes";
        /// Service time of writes.
        write_service_ns: i64, "ns";
        /// Time of writes, queue included.
        write_io_ns: i64, "ns";
        /// Number of flushes.
        flushes: i64;
        /// Service time of flushes.
        flush_service_ns: i64, "ns";
        /// Time of flushes, queue included.
        flush_io_ns: i64, "ns";
        /// Longest I/O, queue included.
        max_io_ns: i64, "ns";
    }

    /// Operations on files by process, path and kind.
    FileFile / FileFileColumns = "file_file", order ["path"] {
        /// Path; null if unknown.
        path: Option<Arc<str>>;
        /// Process; null if unknown.
        process_key: Option<i32>, "key";
        /// Kind of operation, as in `file_io`.
        kind: String;
        /// Operations with a start in the trace.
        count: i64;
        /// Sum of the durations of completed operations; concurrent operations add up.
        duration_ns: i64, "ns";
        /// Longest operation.
        max_duration_ns: i64, "ns";
        /// Bytes requested.
        size_bytes: i64, "bytes";
        /// Bytes read or written.
        result_bytes: i64, "bytes";
        /// Largest position after a read or write.
        max_position_bytes: i64, "bytes";
        /// Operations whose status is an error.
        failures: i64;
        /// Distinct statuses of failed operations, in the form `0xc0000034`, separated by commas.
        failure_statuses: String;
    }
}

use std::sync::Arc;
