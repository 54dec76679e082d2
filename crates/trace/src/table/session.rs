//! Tables of recording sessions and of connected standby.

use std::sync::Arc;

tables! {
    /// A recording session: the session of the trace, and others that
    /// Microsoft-Windows-Kernel-EventTracing reports.
    Logger / LoggerColumns = "logger", order [] {
        /// Name; null if unknown.
        name: Option<String>;
        /// True if it is a session that wrote this trace: one row for each file.
        is_of_trace: bool;
        /// GUID of the session; null if unknown.
        session_guid: Option<String>;
        /// Number of the session on the machine.
        logger_id: Option<i64>;
        /// Start; null if it was running before the trace started.
        start_ns: Option<i64>, "ns";
        /// Stop; null if it continued, or if unknown.
        stop_ns: Option<i64>, "ns";
        /// File that it wrote.
        file: Option<String>;
        /// Bits of `LogFileMode`.
        mode: Option<i64>;
        /// Names of the mode bits, separated by `+`.
        modes: Option<String>;
        /// Size of its buffers, for sessions of the trace.
        buffer_size_bytes: Option<i64>, "bytes";
        /// Size of its buffers according to its events; the unit is not documented.
        event_buffer_size: Option<i64>;
        /// Minimum number of buffers.
        minimum_buffers: Option<i64>;
        /// Maximum number of buffers.
        maximum_buffers: Option<i64>;
        /// Largest number of buffers that it had.
        peak_buffers: Option<i64>;
        /// Number of buffers when that was reported.
        current_buffers: Option<i64>;
        /// Buffers that it wrote, for sessions of the trace; 0 if it was never closed.
        buffers_written: Option<i64>;
        /// Events that it lost; null if unknown.
        events_lost: Option<i64>;
        /// Buffers that it lost; null if unknown.
        buffers_lost: Option<i64>;
        /// Buffers lost by its real-time consumer; null if unknown.
        real_time_buffers_lost: Option<i64>;
        /// NTSTATUS of a failed start, a stop, or a failed write, as bit pattern; null if there was
        /// no error.
        status: Option<i32>;
        /// Kernel events enabled for the trace, as keywords of xperf; null if unknown.
        kernel_keywords: Option<String>;
    }

    /// An event of a session or a provider, reported by Microsoft-Windows-Kernel-EventTracing.
    LoggerEvent / LoggerEventColumns = "logger_event", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// `start`, `stop`, `running` (of a session), `start_error`, `stop_error`, `write_error`,
        /// `register`, `unregister` (of a provider by a process), `enable`, `disable` (of a
        /// provider for a session), `lost_event` or `lost_system_event`.
        kind: &'static str;
        /// Session; null if the event names none.
        session: Option<Arc<str>>;
        /// GUID of the provider; null if the event names none.
        provider_guid: Option<Arc<str>>;
        /// Name of the provider, if known.
        provider: Option<Arc<str>>;
        /// Keywords, as bit pattern; an event needs one of them.
        any_keyword: Option<i64>;
        /// Keywords, as bit pattern; an event needs all of them.
        all_keyword: Option<i64>;
        /// Most detailed level that is recorded.
        level: Option<i32>;
        /// Bits of `EVENT_ENABLE_PROPERTY_…`.
        enable_property: Option<i64>;
        /// NTSTATUS of an error or a loss, as bit pattern.
        status: Option<i32>;
        /// ID of the lost event; for a kernel event its hook ID.
        event_id: Option<i32>;
        /// Name of the lost event.
        event_name: Option<String>;
        /// Process that logged it; null if unknown.
        process_key: Option<i32>, "key";
        /// Thread that logged it; null if unknown.
        thread_key: Option<i32>, "key";
    }

    /// A stay in connected standby (modern standby).
    Standby / StandbyColumns = "standby", order [] {
        /// Entry; null if it is not in the trace.
        enter_ns: Option<i64>, "ns";
        /// Exit; null if it is not in the trace.
        exit_ns: Option<i64>, "ns";
        /// Length: `exit_ns` − `enter_ns`, without an entry the length in the exit event; null
        /// without an exit.
        duration_ns: Option<i64>, "ns";
        /// Number of the stay; null without an entry, and in old versions.
        scenario: Option<i64>;
        /// Reason for the entry, as number; null without an entry.
        enter_reason: Option<i32>;
        /// Reason for the entry, as text; null for numbers without a name.
        enter_reason_name: Option<&'static str>;
        /// Reason for the exit, as number; null without an exit.
        exit_reason: Option<i32>;
        /// Reason for the exit, as text; null for numbers without a name.
        exit_reason_name: Option<&'static str>;
        /// Length according to the exit event; it includes time in which clocks stand still.
        told_duration_ns: Option<i64>, "ns";
        /// Time in the deepest idle state of the platform (DRIPS).
        drips_ns: Option<i64>, "ns";
        /// `told_duration_ns` − `drips_ns`: time outside that state.
        non_drips_ns: Option<i64>, "ns";
        /// Time up to the first entry into that state; 0 if there was none.
        first_drips_ns: Option<i64>, "ns";
        /// Entries into that state.
        drips_transitions: Option<i64>;
        /// Time outside that state that is attributed to activators.
        activated_ns: Option<i64>, "ns";
        /// Time in which the machine was active.
        active_ns: Option<i64>, "ns";
        /// Drain of the battery, in the units of the battery, mostly mWh.
        energy_drain: Option<i64>;
        /// Charge of the battery at the entry.
        remaining_capacity: Option<i64>;
        /// Charge of the full battery.
        full_capacity: Option<i64>;
        /// True if the lid was open at the entry.
        is_lid_open: Option<bool>;
        /// True if there was an external monitor at the entry.
        has_external_monitor: Option<bool>;
        /// True if audio was playing at the exit.
        is_audio_playing: Option<bool>;
        /// True if the machine was on external power at the exit.
        is_on_ac: Option<bool>;
    }
}
