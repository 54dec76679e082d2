//! The recording profiles of etwkit, and the questions that each can answer. The recorded events
//! are in `profiles/etwkit.wprp`.

/// The file that has all of them.
pub const WPRP: &str = include_str!("../profiles/etwkit.wprp");

/// File name under which that file is written.
pub const FILE_NAME: &str = "etwkit.wprp";

/// A recording profile, and the questions that its recordings can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Name, here and in the file.
    pub name: &'static str,
    /// Purpose in one sentence, here and in the file.
    pub sentence: &'static str,
    /// The topics of extracts that it records, in addition to the topics of [`EVERY`].
    pub topics: &'static [&'static str],
    /// The questions that its recordings answer.
    pub questions: &'static [&'static str],
    /// True if it can only write to a file. Other profiles can also keep the last events in memory.
    pub file_only: bool,
    /// True if it needs counters of the processor, which virtual machines do not have.
    pub needs_counters: bool,
}

/// The topics that every recording has.
pub const EVERY: &[&str] = &["processes", "images", "image identities"];

/// Topics that no profile records, and their sources.
pub const ELSEWHERE: &[(&str, &str)] = &[
    (
        "heaps",
        "a process that is started with heap tracing: wpr -heaptracingconfig PROGRAM enable",
    ),
    (
        "network transfers",
        "the provider Microsoft-Windows-Kernel-Network; the profile network has them as TCP and UDP",
    ),
];

macro_rules! profiles {
    ($($name:literal, $sentence:literal,
        [$($topic:literal),*], [$($question:literal),*] $(, $flag:ident)*;)*) => {
        /// All profiles, the most used first.
        pub const PROFILES: &[Profile] = &[$(Profile {
            name: $name,
            sentence: $sentence,
            topics: &[$($topic),*],
            questions: &[$($question),*],
            $($flag: true,)*
            ..Profile::PLAIN
        }),*];
    };
}

impl Profile {
    /// Defaults for most profiles.
    const PLAIN: Self = Self {
        name: "",
        sentence: "",
        topics: &[],
        questions: &[],
        file_only: false,
        needs_counters: false,
    };
}

profiles! {
    "default", "First look: CPU samples, disk, hard faults, .NET exceptions, hanging windows",
        ["CPU samples", "stacks", "disk I/O", "disk I/O starts", "file names", "hard faults", ".NET"],
        ["cpu", "disk", "hard-fault", "exception", "ui-delay", "focus", "memory"];
    "cpu", "CPU use of methods and modules by samples, with DPCs and interrupts",
        ["CPU samples", "stacks", "DPCs and interrupts"], ["cpu", "dpc", "overhead"];
    "cswitch", "Waits, ready times and who ended them, and CPU use by samples",
        ["CPU samples", "stacks", "context switches", "ready threads", "DPCs and interrupts"],
        ["cpu", "wait", "critical-path", "ready", "overhead", "start", "cores", "dpc"];
    "file", "Operations on files with their paths, sizes and durations",
        ["file I/O", "file names", "stacks"], ["file"];
    "minifilter", "Time that drivers between programs and the file system take",
        ["minifilter drivers", "file I/O", "file names", "stacks"], ["mini-filter", "file"];
    "disk", "Reads, writes and flushes of disks with their files, and hard faults",
        ["disk I/O", "disk I/O starts", "file names", "hard faults", "stacks"], ["disk", "hard-fault"];
    "network", "TCP and UDP transfers by process, and TCP connections with retransmissions",
        ["TCP and UDP", "TCP connections"], ["net", "tcp"];
    "sockets", "Calls of programs to sockets: connect, accept, send, receive", ["sockets"], ["events"];
    "dns", "DNS queries with their answers, servers and time-outs", ["DNS queries"], ["dns"];
    "dotnet", ".NET: exceptions, garbage collections, compiled methods, contention, thread pool",
        [".NET", "CPU samples", "stacks"], ["exception", "gc", "jit", "thread-pool", "cpu"];
    "syscall", "System calls with their results and durations",
        ["system calls", "context switches", "stacks"], ["syscall"];
    "memory", "Committed memory and who allocated it, memory of processes and of the system",
        ["virtual memory", "stacks"], ["virtual-alloc", "memory"];
    "handle", "Handles and kernel objects: who opened them and which stay open",
        ["handles", "stacks"], ["objectref"];
    "gdi", "GDI and USER handles: who made them and which stay", [], ["gdi-user"];
    "usercrit", "The lock of the window manager: who holds it and who waits for it",
        ["context switches", "ready threads", "stacks"], ["user-lock"];
    "power", "Frequencies, kinds and idle states of processors, power plans and their settings",
        ["power settings", "CPU samples", "stacks"], ["power", "cores", "timer"];
    "pmc", "Cycles, instructions and cache misses of each scheduling slice",
        ["context switches", "ready threads", "CPU samples", "stacks"], ["pmc"], needs_counters;
    "lbr", "The last branches of the processor at each CPU sample",
        ["CPU samples", "stacks"], ["lbr"], needs_counters;
    "ui", "Windows that do not answer, the waits of their threads, and the window with the focus",
        ["CPU samples", "context switches", "ready threads", "stacks"], ["ui-delay", "focus", "wait"];
    "registry", "Operations on registry keys and values with their paths",
        ["registry", "stacks"], ["registry"];
    "pool", "Kernel memory that drivers allocate, by tag",
        ["kernel pool", "context switches", "stacks"], ["pool"];
    "alpc", "Messages between processes, and who waits for the answer",
        ["ALPC messages", "context switches", "stacks"], ["alpc"];
    "faults", "Page faults of every kind",
        ["page faults", "hard faults", "context switches", "stacks"], ["page-fault", "hard-fault"];
    "priority", "Changes of thread priorities, and boosts",
        ["thread priorities", "context switches", "ready threads", "stacks"], ["ready"];
    "boot", "The start of Windows: CPU, waits, disk and services until the desktop is ready",
        ["CPU samples", "context switches", "ready threads", "disk I/O", "disk I/O starts", "file names",
            "hard faults", "stacks"],
        ["cpu", "wait", "disk", "start"], file_only;
}

/// Profiles that are built into wpr.
const BUILT_IN: &str = "GeneralProfile CPU DiskIO FileIO Registry Network Heap Pool VirtualAllocation Audio \
    Video Power InternetExplorer EdgeBrowser Minifilter GPU Handle XAMLActivity HTMLActivity \
    DesktopComposition \
    XAMLAppResponsiveness HTMLResponsiveness ReferenceSet ResidentSet XAMLHTMLAppMemoryAnalysis UTC DotNET \
    WdfTraceLoggingProvider HeapSnapshot";

/// Returns the profile that is built into wpr, as wpr spells its name. A level of detail may follow:
/// `CPU.Light`, `CPU.Verbose`.
pub fn built_in(name: &str) -> Option<&'static str> {
    let bare = without_level(name);
    BUILT_IN
        .split_whitespace()
        .find(|known| known.eq_ignore_ascii_case(bare))
}

fn without_level(name: &str) -> &str {
    name.split('.').next().unwrap_or("")
}

/// Finds a profile by its name, ignoring case. `CPU`, as wpr spells its own profile, is that one: it
/// records something else than our `cpu`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Profile> {
    if built_in(name) == Some(without_level(name)) {
        return None;
    }
    PROFILES
        .iter()
        .find(|profile| profile.name.eq_ignore_ascii_case(name))
}

/// Returns the profiles that record a topic of extracts, the most used first.
pub fn of_topic(topic: &str) -> impl Iterator<Item = &'static Profile> {
    PROFILES
        .iter()
        .filter(move |profile| profile.topics.contains(&topic) || EVERY.contains(&topic))
}

/// Returns the profile to record with if a trace lacks data for a question. `missing` is the
/// missing topic, or a description.
#[must_use]
pub fn to_answer(question: &str, missing: &str) -> Option<&'static Profile> {
    let has_topic = |profile: &&Profile| profile.topics.contains(&missing);
    let answers = || of_question(question);
    // The missing topic takes precedence over the question: a profile for the question without that
    // topic would lack it again.
    answers()
        .find(has_topic)
        .or_else(|| PROFILES.iter().find(has_topic))
        .or_else(|| answers().next())
}

/// Returns the profiles whose recordings answer a question, the most used first.
pub fn of_question(question: &str) -> impl Iterator<Item = &'static Profile> {
    PROFILES
        .iter()
        .filter(move |profile| profile.questions.contains(&question))
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn names_as_wpr_spells_them_are_those_of_wpr() {
        for (name, own) in [
            ("cpu", Some("cpu")),
            ("Cpu", Some("cpu")),
            ("CPU", None),
            ("CPU.Light", None),
            ("Registry", None),
            ("registry", Some("registry")),
        ] {
            assert_eq!(find(name).map(|profile| profile.name), own, "{name}");
        }
    }
}
