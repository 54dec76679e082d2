//! What was recorded, and what a recording would need for the rest.

use etwkit_decode::clr::{RUNDOWN, RUNTIME};
use etwkit_decode::kernel::net::KERNEL_NETWORK;
use etwkit_etl::{Guid, Identity};

/// Microsoft-Windows-DNS-Client.
const DNS_CLIENT: Guid = Guid::literal("1c95126e-7eea-49a9-a3fe-a378b03ddb4d");
/// Microsoft-Windows-TCPIP.
const TCPIP: Guid = Guid::literal("2f07e2ee-15db-40f1-90ef-9d7ba282188a");
/// Microsoft-Windows-Kernel-Power.
const KERNEL_POWER: Guid = Guid::literal("331c3b3a-2005-44c2-ac5e-77220c37d6b4");
/// Image identities of the merge step.
const IMAGE_ID: Guid = Guid::literal("b3e675d7-2554-4f18-830b-2762732560de");

/// Something that a trace can tell about.
#[derive(Debug, Clone, Copy)]
pub struct Topic {
    /// What it is called.
    pub name: &'static str,
    /// What it answers.
    pub answers: &'static str,
    /// What records it: keywords of the kernel logger as xperf and WPR spell them, or a provider.
    pub recorded_by: &'static str,
    events: Events,
}

/// Which events belong to a topic.
#[derive(Debug, Clone, Copy)]
enum Events {
    /// Kernel events of a group with one of these types.
    Kernel(u8, &'static [u8]),
    /// Kernel events of a group, all types in the range.
    KernelRange(u8, u8, u8),
    /// Events of a provider, with one of these ids (all, if none is given).
    Provider(&'static [Guid], &'static [u16]),
    /// Classic events of a class.
    Class(Guid),
}

/// A topic and how many events of it there are.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    /// The topic.
    pub topic: Topic,
    /// Its events.
    pub events: u64,
}

macro_rules! topics {
    ($($name:literal, $answers:literal, $by:literal, $events:expr;)*) => {
        [$(Topic { name: $name, answers: $answers, recorded_by: $by, events: $events }),*]
    };
}

/// Every topic, the most asked for first.
const TOPICS: [Topic; 23] = topics! {
    "CPU samples", "which code used the CPU", "PROFILE", Events::Kernel(15, &[46]);
    "context switches", "who waited, and for how long", "CSWITCH", Events::Kernel(5, &[36]);
    "ready threads", "who ended a wait", "DISPATCHER", Events::Kernel(5, &[50]);
    "stacks", "who called it", "-stackwalk Profile+CSwitch+ReadyThread", Events::Kernel(24, &[32, 37, 38]);
    "DPCs and interrupts", "which driver took the CPU", "DPC+INTERRUPT", Events::Kernel(15, &[50, 66, 67, 68, 69, 95]);
    "processes", "what ran", "PROC_THREAD", Events::Kernel(3, &[1, 2, 3, 4, 39]);
    "images", "which modules were loaded", "LOADER", Events::Kernel(20, &[2, 3, 4, 10]);
    "image identities", "which PDB belongs to a module", "merge (xperf -d, wpr -stop)", Events::Class(IMAGE_ID);
    "disk I/O", "which file kept the disk busy", "DISK_IO", Events::Kernel(1, &[10, 11, 14]);
    "disk I/O starts", "who started a disk access", "DISK_IO_INIT", Events::Kernel(1, &[12, 13, 15]);
    "file names", "names behind disk and file events", "FILENAME", Events::Kernel(4, &[0, 32, 35, 36]);
    "file I/O", "which file was opened, read, written, and how long it took", "FILE_IO+FILE_IO_INIT", Events::KernelRange(4, 64, 86);
    "hard faults", "which pages were read from disk", "HARD_FAULTS", Events::Kernel(2, &[32]);
    "TCP and UDP", "how much each process sent", "NETWORKTRACE", Events::KernelRange(6, 10, 38);
    "system calls", "which calls a program made", "SYSCALL", Events::Kernel(15, &[51, 52]);
    "registry", "which keys were read", "REGISTRY", Events::KernelRange(9, 10, 49);
    "virtual memory", "who allocated memory", "VIRT_ALLOC", Events::Kernel(2, &[98, 99]);
    "handles", "who leaks handles", "OB_HANDLE+OB_OBJECT", Events::KernelRange(17, 32, 51);
    ".NET", "collections, compiled methods, exceptions", "Microsoft-Windows-DotNETRuntime", Events::Provider(&[RUNTIME, RUNDOWN], &[]);
    "DNS queries", "which name took long to resolve", "Microsoft-Windows-DNS-Client", Events::Provider(&[DNS_CLIENT], &[3006, 3008]);
    "TCP connections", "retransmits, resets, round trips", "Microsoft-Windows-TCPIP", Events::Provider(&[TCPIP], &[]);
    "network transfers", "how much each process sent", "Microsoft-Windows-Kernel-Network", Events::Provider(&[KERNEL_NETWORK], &[]);
    "power settings", "which power plan was in force", "Microsoft-Windows-Kernel-Power", Events::Provider(&[KERNEL_POWER], &[]);
};

impl Events {
    fn includes(self, identity: &Identity) -> bool {
        match (self, identity) {
            (Self::Kernel(group, types), Identity::Kernel { .. } | Identity::Classic { .. }) => {
                hook(identity).is_some_and(|(g, op)| g == group && types.contains(&op))
            }
            (Self::KernelRange(group, first, last), Identity::Kernel { .. } | Identity::Classic { .. }) => {
                hook(identity).is_some_and(|(g, op)| g == group && (first..=last).contains(&op))
            }
            (Self::Provider(guids, ids), Identity::Manifest { provider, id, .. }) => {
                guids.contains(provider) && (ids.is_empty() || ids.contains(id))
            }
            (Self::Class(guid), Identity::Classic { class, .. }) => guid == *class,
            _ => false,
        }
    }
}

/// Group and type, with image loads in the image group and UDP in that of TCP.
fn hook(identity: &Identity) -> Option<(u8, u8)> {
    let (group, opcode) = etwkit_decode::kernel::hook_of(identity)?;
    Some(if group == 8 { (6, opcode) } else { (group, opcode) })
}

/// How many events of each topic there are.
pub(super) fn recorded(counts: impl Iterator<Item = (Identity, u64)>) -> Vec<Recorded> {
    let mut rows = TOPICS.map(|topic| Recorded { topic, events: 0 });
    for (identity, n) in counts {
        for row in rows.iter_mut().filter(|row| row.topic.events.includes(&identity)) {
            row.events += n;
        }
    }
    rows.to_vec()
}
