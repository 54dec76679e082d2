//! Tables of the recording and the machine.

tables! {
    /// The recording; one row.
    Trace / TraceColumns = "trace", order [] {
        /// File name of the trace, without folder.
        file_name: String;
        /// Files that were read as one session.
        files: i32;
        /// Bytes of all files, as stored on disk, or in the archive after unpacking.
        size_bytes: i64, "bytes";
        /// Bytes of all event buffers, decompressed.
        decompressed_bytes: i64, "bytes";
        /// Name of the recording session.
        session_name: Option<String>;
        /// Computer.
        computer: Option<String>;
        /// Windows version, such as `10.0.19041`.
        os_version: Option<String>;
        /// Windows edition, from the registry of the machine; Windows 11 by its build, since the
        /// registry still says Windows 10.
        os_name: Option<String>;
        /// Revision of the Windows build, the number of its last update, from the registry of the
        /// machine; only in merged traces.
        os_revision: Option<i32>;
        /// True if the machine is virtual, by the manufacturer and product in its firmware; null if
        /// the trace does not have these. See docs/numbers/machine.md.
        is_virtual_machine: Option<bool>;
        /// Start of the recording, UTC, such as `2024-05-01T10:00:00.1234567Z`.
        start_utc: String;
        /// Start of the recording in units of 100 ns since 1601.
        start_filetime: i64;
        /// UTC minus local time on the recorded machine, in minutes.
        time_zone_bias_minutes: Option<i32>;
        /// Boot of the machine in units of 100 ns since 1601.
        boot_filetime: Option<i64>;
        /// Length of the recording; up to the last event if the end of a file is missing.
        duration_ns: i64, "ns";
        /// First event of the kernel logger, which may have started later than other sessions of
        /// the recording; null if it wrote none.
        kernel_start_ns: Option<i64>, "ns";
        /// Last event of the kernel logger: the later activity of threads is unknown.
        kernel_end_ns: Option<i64>, "ns";
        /// Time from which all processors are recorded in a ring of buffers that lost its first
        /// events; null in other recordings. A merged ring counts as one that lost them.
        ring_start_ns: Option<i64>, "ns";
        /// Clock: `qpc`, `system_time` or `cpu_cycles`.
        clock: String;
        /// Ticks of the clock per second.
        clock_frequency: i64;
        /// Number of processors.
        processors: i32;
        /// Speed of the processors in MHz.
        cpu_mhz: Option<i32>;
        /// Bytes of a pointer of the machine: 4 or 8.
        pointer_size: i32;
        /// Memory of the machine.
        memory_bytes: Option<i64>, "bytes";
        /// Sampling interval at the start; null without samples.
        sample_interval_ns: Option<i64>, "ns";
        /// Events in the trace.
        events: i64;
        /// Events that the recorder lost.
        lost_events: i64;
        /// Buffers that the recorder lost.
        lost_buffers: i64;
        /// Buffers that were recorded and are not in the files: the files were cut, or damaged.
        /// Null if unknown.
        missing_buffers: Option<i64>;
        /// Time of the last event. If the end of a file is missing, the recording ends here.
        last_event_ns: Option<i64>, "ns";
        /// Start of `--range`; null if all was extracted.
        range_start_ns: Option<i64>, "ns";
        /// End of `--range`; null if all was extracted.
        range_end_ns: Option<i64>, "ns";
    }

    /// A note for readers of the numbers: damage, loss, or data that could not be decoded.
    Diagnostic / DiagnosticColumns = "diagnostic", order [] {
        /// `error`, `warning` or `info`.
        severity: String;
        /// Subject, as one word.
        kind: String;
        /// Number of occurrences.
        count: i64;
        /// The first place: file name and offset, if it has one.
        position: Option<String>;
        /// The text of the note.
        message: String;
    }

    /// A fact about the machine, written by the recorder at the end of the trace.
    SystemConfigItem / SystemConfigColumns = "system_config", order [] {
        /// Part of the machine, for example `cpu`, `nic` or `platform`.
        topic: String;
        /// Number of the part among its kind, from 0.
        item: i32;
        /// Name of the fact.
        name: String;
        /// Value of the fact as text.
        value: Option<String>;
    }

    /// A physical disk.
    Disk / DiskColumns = "disk", order ["disk"] {
        /// Number of the disk.
        disk: i32;
        /// Model, as the disk reports it.
        model: Option<String>;
        /// Size.
        size_bytes: Option<i64>, "bytes";
        /// Bytes of a sector.
        sector_size_bytes: Option<i64>, "bytes";
        /// Drive letter of the partition that Windows booted from, if it is on that disk.
        boot_drive_letter: Option<String>;
        /// True if the write cache is on.
        is_write_cache_enabled: Option<bool>;
    }

    /// A volume, and the prefix of kernel paths on it.
    Volume / VolumeColumns = "volume", order [] {
        /// Drive letter or other DOS path, such as `C:`; null if it has none.
        drive: Option<String>;
        /// Path of the device, such as `\Device\HarddiskVolume3`.
        nt_path: Option<String>;
        /// Number of the disk.
        disk: Option<i32>;
        /// File system.
        file_system: Option<String>;
        /// Size.
        size_bytes: Option<i64>, "bytes";
        /// Free space when the trace ended.
        free_bytes: Option<i64>, "bytes";
    }

    /// A Windows service that ran.
    Service / ServiceColumns = "service", order ["name"] {
        /// Name.
        name: String;
        /// Display name.
        display_name: Option<String>;
        /// File name of its process, from the recorder.
        process_name: Option<String>;
        /// Process ID.
        pid: i32;
        /// Process.
        process_key: Option<i32>, "key";
    }
}
