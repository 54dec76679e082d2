//! Tables of the contents of a recording, and of facts about the machine other than the events
//! themselves.

use std::sync::Arc;

tables! {
    /// Events of one kind in one second of the trace. Sums over all rows are the numbers of `info`:
    /// every record counts once, the header event and stacks included. Kinds are the same as in
    /// `info`: group, opcode and version of kernel events; provider, ID, version and opcode of
    /// others. Events that describe themselves (TraceLogging) may share a kind, which then has no
    /// name.
    EventCount / EventCountColumns = "event_count", order ["second"] {
        /// Second of the trace, rounded down: 0 is the first one, events before time zero are in
        /// negative ones.
        second: i64;
        /// Group of a kernel event; null for all others.
        kernel_group: Option<i32>;
        /// GUID of the provider, class or message; null for kernel events.
        provider_guid: Option<Arc<str>>;
        /// Name of the provider or class, if known.
        provider: Option<Arc<str>>;
        /// Name of the event, if known.
        name: Option<Arc<str>>;
        /// ID, or number of a message; 0 for kernel and classic events. Null, as opcode and
        /// version, for events of kinds that were not counted separately because there are too
        /// many.
        event_id: Option<i32>;
        /// Opcode, or type of a kernel event; 0 for messages.
        opcode: Option<i32>;
        /// Version; 0 for messages.
        version: Option<i32>;
        /// Events.
        events: i64;
        /// Bytes of their records in the buffers, with headers, rounded up to multiples of eight.
        record_bytes: i64, "bytes";
        /// Number of events with a stack, in the event itself or as an event of its own.
        stacks: i64;
    }

    /// A network interface of the machine, written by the recorder at the end of the trace.
    Adapter / AdapterColumns = "adapter", order [] {
        /// Description, such as `Intel(R) Ethernet Controller`.
        description: String;
        /// Name of the connection, such as `Ethernet 2`; only in merged traces.
        alias: Option<String>;
        /// Hardware address, such as `00:15:5d:7c:58:28`; null if it has none.
        mac: Option<String>;
        /// Interface index for IPv4; null if it has none.
        ipv4_index: Option<i32>;
        /// Interface index for IPv6; null if it has none.
        ipv6_index: Option<i32>;
        /// Addresses of the adapter, separated by `;`.
        addresses: Option<String>;
        /// Addresses of its DNS servers, separated by `;`.
        dns_servers: Option<String>;
        /// GUID of the interface; only in merged traces, as all following columns.
        interface_guid: Option<String>;
        /// Kind of interface by its IANA number: 6 Ethernet, 24 loopback, 71 wireless, 131 tunnel.
        interface_type: Option<i32>;
        /// Largest packet.
        mtu_bytes: Option<i64>, "bytes";
        /// True if it was operational.
        is_up: Option<bool>;
        /// Transmit speed in bits per second; null if it is not reported.
        transmit_bits_per_second: Option<i64>;
        /// Receive speed in bits per second.
        receive_bits_per_second: Option<i64>;
    }

    /// A .NET runtime in a process.
    DotnetRuntime / DotnetRuntimeColumns = "dotnet_runtime", order [] {
        /// Process.
        process_key: Option<i32>, "key";
        /// Number of the runtime within its process.
        clr_instance: i32;
        /// `framework` (.NET Framework) or `core` (.NET Core, .NET 5 and later); null for any
        /// other.
        flavour: Option<&'static str>;
        /// Version of the runtime, such as `4.0.30319.17929`; newer ones leave parts of it 0.
        version: String;
        /// Version of the base class library.
        library_version: String;
        /// Start of the runtime; null if it was running when recording started.
        start_ns: Option<i64>, "ns";
        /// Path of its module.
        path: Option<String>;
        /// Command line that it was started with.
        command_line: Option<String>;
        /// Startup mode: 1 a managed executable, 2 hosted, 4 for C++/CLI, 8 for COM, 16 other.
        startup_mode: i32;
        /// Flags of the start: 1 concurrent collections, 16 collections for servers, and more.
        startup_flags: i64;
    }

    /// A request for a resolution of the system timer, or the resolution in force (provider
    /// Microsoft-Windows-Kernel-Power), with its period of validity.
    TimerResolution / TimerResolutionColumns = "timer_resolution", order [] {
        /// `process`: a request of a process; `kernel`: a request of a driver or the kernel;
        /// `system`: the resolution in force.
        kind: &'static str;
        /// Requesting process.
        process_key: Option<i32>, "key";
        /// Path of its program, as the event reports it.
        application: Option<String>;
        /// Requested time between two ticks of the timer, or the time in force.
        resolution_ns: i64, "ns";
        /// Start; null if it was in effect when recording started.
        start_ns: Option<i64>, "ns";
        /// End: another request of the same process, or its exit; null if it stayed in effect.
        end_ns: Option<i64>, "ns";
        /// True if the system ignored the request; null if it is not reported.
        is_ignored: Option<bool>;
    }

    /// A socket of a process, from its creation to its close, with the data sent and received over
    /// it (provider Microsoft-Windows-Winsock-AFD). Only traces that describe these events have
    /// rows, such as traces of `wpr` and `netsh trace`.
    Socket / SocketColumns = "socket", order [] {
        /// Process, if known.
        process_key: Option<i32>, "key";
        /// Address of the endpoint, as bit pattern; reused once a socket is closed.
        endpoint: i64;
        /// Address family: 2 IPv4, 23 IPv6, 1 Unix, 34 Hyper-V; null if the creation is not in the
        /// trace, as for the two following columns.
        address_family: Option<i32>;
        /// Type: 1 stream, 2 datagram, 3 raw.
        socket_type: Option<i32>;
        /// Protocol: 6 TCP, 17 UDP.
        protocol: Option<i32>;
        /// First event of the socket.
        first_ns: i64, "ns";
        /// Time at which it was created; null if it existed before the trace.
        create_ns: Option<i64>, "ns";
        /// Time at which it was closed; null if it stayed open.
        close_ns: Option<i64>, "ns";
        /// Address and port that it was bound to.
        local_address: Option<String>;
        /// Address and port that it was connected to.
        remote_address: Option<String>;
        /// Time at which it started to connect.
        connect_ns: Option<i64>, "ns";
        /// Time at which that was done, with or without success.
        connected_ns: Option<i64>, "ns";
        /// Status of connecting (NTSTATUS as bit pattern), 0 for success.
        connect_status: Option<i32>;
        /// Completed requests to send.
        sends: i64;
        /// Bytes that they sent.
        send_bytes: i64, "bytes";
        /// Completed requests to receive.
        receives: i64;
        /// Bytes that they received.
        receive_bytes: i64, "bytes";
        /// Requests of any kind that failed.
        failures: i64;
        /// Status of the last one that failed (NTSTATUS as bit pattern).
        last_failure: Option<i32>;
    }

    /// A fact about the machine that no event contains. It comes from a file next to the trace,
    /// whose format docs/FORMAT.md describes.
    MachineFact / MachineFactColumns = "machine_fact", order [] {
        /// Name of the fact.
        name: String;
        /// Value of the fact as text.
        value: String;
        /// Source of the fact, as its file states it; null if it does not.
        source: Option<String>;
    }
}
