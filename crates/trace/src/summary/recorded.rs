//! What was recorded, and what a recording would need for the rest.

use std::collections::BTreeMap;

use etwkit_decode::clr::{RUNDOWN, RUNTIME};
use etwkit_decode::dns::DNS_CLIENT;
use etwkit_decode::kernel::merge::{IMAGE_ID, SYSTEM_CONFIG_EX};
use etwkit_decode::kernel::net::KERNEL_NETWORK;
use etwkit_decode::kernel::provider::KERNEL_PROCESS;
use etwkit_decode::tcpip::TCPIP;
use etwkit_decode::{Decoder, eventinfo};
use etwkit_etl::{Guid, Identity};

/// Microsoft-Windows-Kernel-Power.
const KERNEL_POWER: Guid = Guid::literal("331c3b3a-2005-44c2-ac5e-77220c37d6b4");

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
    /// The same, or events of Microsoft-Windows-Kernel-Process with one of these ids.
    KernelOrProvider(u8, &'static [u8], &'static [u16]),
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
    "processes", "what ran", "PROC_THREAD", Events::KernelOrProvider(3, &[1, 2, 3, 4, 39], &[1, 2, 15]);
    "images", "which modules were loaded", "LOADER", Events::KernelOrProvider(20, &[2, 3, 4, 10], &[5, 6]);
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
            (
                Self::Kernel(group, types) | Self::KernelOrProvider(group, types, _),
                Identity::Kernel { .. } | Identity::Classic { .. },
            ) => hook(identity).is_some_and(|(g, op)| g == group && types.contains(&op)),
            (Self::KernelOrProvider(_, _, ids), Identity::Manifest { provider, id, .. }) => {
                *provider == KERNEL_PROCESS && ids.contains(id)
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
pub(crate) fn recorded(counts: impl Iterator<Item = (Identity, u64)>) -> Vec<Recorded> {
    let mut rows = TOPICS.map(|topic| Recorded { topic, events: 0 });
    for (identity, n) in counts {
        for row in rows.iter_mut().filter(|row| row.topic.events.includes(&identity)) {
            row.events += n;
        }
    }
    rows.to_vec()
}

/// A provider and how many events of it there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCount {
    /// Its name, its GUID if nothing names it.
    pub name: String,
    /// Its GUID.
    pub guid: Guid,
    /// Its events.
    pub events: u64,
}

/// Providers by number of events, most first. Kernel events and the records that a merge step adds are left
/// out: the topics tell of them.
pub(super) fn providers(
    counts: impl Iterator<Item = (Identity, u64)>,
    decoder: &Decoder,
) -> Vec<ProviderCount> {
    let mut sums: BTreeMap<Guid, u64> = BTreeMap::new();
    for (identity, n) in counts {
        let guid = match identity {
            Identity::Manifest { provider, .. } => provider,
            Identity::Message { guid, .. } => guid,
            Identity::Classic { class, .. } if is_provider(class, &identity) => class,
            Identity::Classic { .. } | Identity::Kernel { .. } => continue,
        };
        *sums.entry(guid).or_default() += n;
    }
    let name = |guid: Guid| decoder.provider_name(guid).map_or_else(|| guid.to_string(), |n| n.to_string());
    let row = |(guid, events)| ProviderCount { name: name(guid), guid, events };
    let mut rows: Vec<ProviderCount> = sums.into_iter().map(row).collect();
    rows.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.name.cmp(&b.name)));
    rows
}

/// Whether a class is that of a provider: neither of the kernel nor of the merge step.
fn is_provider(class: Guid, identity: &Identity) -> bool {
    hook(identity).is_none() && ![IMAGE_ID, SYSTEM_CONFIG_EX, eventinfo::CLASS].contains(&class)
}
