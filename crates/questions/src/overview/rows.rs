//! Rows of the tables of an overview.

use etwkit_question::declare;
declare! {
    /// The recording and its machine.
    pub row Recording {
        file_name: String = "File name of the trace.",
        computer: Option<String> = "Computer.",
        os_name: Option<String> = "Windows edition.",
        os_version: Option<String> = "Windows version.",
        processors: i64 = "Processors.",
        core_classes: Option<String> =
            "How many processors are of which class, where the machine has several kinds of cores.",
        cpu_mhz: Option<i64> = "Speed of the processors in MHz.",
        memory_bytes: Option<i64> = "Memory.",
        start_utc: String = "Start, UTC.",
        duration_ns: i64 = "Length of the recording.",
        range_start_ns: Option<i64> = "Start of the part that was extracted; missing if all of the trace was.",
        range_end_ns: Option<i64> = "End of that part.",
        events: i64 = "Events.",
        has_switches: bool = "Whether context switches were recorded.",
        has_samples: bool = "Whether CPU was sampled.",
        has_dns: bool = "Whether DNS queries were recorded.",
        has_tcp: bool = "Whether TCP connections were recorded.",
        has_failed_syscalls: bool = "Whether system calls failed.",
        has_leaks: bool = "Whether handles were left open.",
        has_outstanding_memory: bool = "Whether virtual memory was not given back.",
    }

    /// A process.
    pub row ProcessShare {
        ..process = "Process key; missing for threads whose process is not known.",
        cpu_ns: i64 = "Sampled CPU; without any sample, time on processors from context switches.",
        machine_percent: Option<f64> = "Share of the time of all processors.",
        wait_ns: Option<i64> = "Time in which at least one thread waited.",
        ready_ns: Option<i64> = "Time in which at least one thread was ready.",
        switches: Option<i64> = "Switch-ins.",
    }

    /// A module, over all processes.
    pub row ModuleShare {
        kind: String =
            "`module`, `dotnet` for methods of .NET that were compiled at run time and are in no module, or \
             `unknown` for addresses in none.",
        module: Option<String> = "File name; missing for code outside files.",
        module_path: Option<String> = "Path: files of one name in several folders are several modules.",
        exclusive_ns: i64 = "Sampled CPU with its code innermost.",
    }

    /// A method of a process.
    pub row MethodShare {
        process: Option<String> = "File name of the executable.",
        pid: Option<i64> = "Process id.",
        module: Option<String> = "File name of the module.",
        method: String = "Function, or offset in the module.",
        exclusive_ns: i64 = "Sampled CPU with the method innermost.",
        cpu_ns: i64 = "Sampled CPU with the method in the stack.",
        wait_ns: Option<i64> = "Union of the waits of stacks with the method.",
    }

    /// A file on a disk.
    pub row FileShare {
        path: Option<String> = "Path; missing for flushes and for files without a name.",
        service_ns: i64 = "Service time of all operations.",
        operations: Option<i64> =
            "Reads, writes and flushes; missing where only their sums are known.",
        read_bytes: i64 = "Bytes read.",
        write_bytes: i64 = "Bytes written.",
    }

    /// A count of one kind of content.
    pub row Content {
        what: String = "What is counted.",
        count: i64 = "How many.",
        more: i64 = "A second number about it, 0 if there is none.",
        of: String = "What `more` counts; empty if there is nothing to say.",
    }

    /// A provider.
    pub row ProviderEvents {
        provider: String = "Name, or GUID.",
        events: i64 = "Events that have no table of their own.",
    }

    /// A kind of information that was recorded.
    pub row TopicEvents {
        topic: String = "What was recorded.",
        events: Option<i64> = "Events of that kind; missing where that is not known.",
    }

    /// A note on the reliability of the numbers.
    pub row Note {
        severity: String = "`error`, `warning` or `info`.",
        count: i64 = "How often.",
        position: Option<String> = "Where it was found first.",
        message: String = "The note as a sentence.",
    }

    /// A question that has an answer.
    pub row Next {
        command: String = "The command line, ready to paste.",
        why: String = "What it shows.",
    }

    /// CPU of the idle process.
    pub(super) row IdleCpu {
        cpu_ns: i64 = "Sampled CPU of DPCs and interrupts.",
    }

    /// A dump with something to show.
    pub(super) row Answering {
        dump: String = "Name of the dump.",
    }
}

impl Recording {
    /// Returns `true` if it shows which processes used the processors.
    #[must_use]
    pub const fn has_cpu(&self) -> bool {
        self.has_samples || self.has_switches
    }
}
