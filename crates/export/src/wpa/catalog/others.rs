//! Graphs of profiles that an extract has no rows for, so that a profile which shows them gets an
//! answer by name. Where no page names a graph, its name says what its presets show.

/// A graph that cannot be written.
#[derive(Debug)]
pub struct Other {
    /// Its name.
    pub name: &'static str,
    /// GUID of the graph in profiles, in lower case.
    pub guid: &'static str,
    /// What records it.
    pub recorded_by: &'static str,
}

/// Returns the graph with this GUID, in any case and with or without braces.
#[must_use]
pub fn other(guid: &str) -> Option<&'static Other> {
    let guid = guid.trim_matches(['{', '}']);
    OTHERS
        .iter()
        .find(|other| other.guid.eq_ignore_ascii_case(guid))
}

const fn of(name: &'static str, guid: &'static str, recorded_by: &'static str) -> Other {
    Other {
        name,
        guid,
        recorded_by,
    }
}

/// All of them, by name.
pub static OTHERS: &[Other] = &[
    of(
        "Device I/O",
        "cbbd1db6-d7e2-4410-8784-f3df48ad56a5",
        "the keyword Drivers",
    ),
    of(
        "Energy Estimation Engine",
        "c1718a41-aad0-477a-ba79-79180815eeb1",
        "Microsoft-Windows-Energy-Estimation-Engine",
    ),
    of(
        "GPU Utilization",
        "b859d131-dfb5-4605-be19-810b298b6975",
        "Microsoft-Windows-DxgKrnl",
    ),
    of(
        "Heap Snapshot",
        "463048cb-2f2b-480d-8e94-a54f3fd88080",
        "heap snapshots of a process: wpr -snapshotconfig heap, with the profile HeapSnapshot",
    ),
    of(
        "Heap Snapshot Difference",
        "18fe1bac-a7d7-471d-a3d7-2abce0eb50cd",
        "heap snapshots of a process: wpr -snapshotconfig heap, with the profile HeapSnapshot",
    ),
    of(
        "Processor Parking",
        "69a8bf19-110a-40d8-bfb2-12fa8a5dff45",
        "Microsoft-Windows-Kernel-Processor-Power; `etwkit dump cores` has the times in which processors were parked",
    ),
    of(
        "Reference Set",
        "bc4f0890-4a76-4fe7-b014-6ae70677f8f5",
        "the keyword ReferenceSet",
    ),
    of(
        "Resident Set",
        "00c2282d-6788-482d-8528-36c079eabbd5",
        "the keyword Memory, as the profile ResidentSet has it",
    ),
    of(
        "Scheduled Tasks",
        "ebc77ae6-e73c-4a7c-83fc-fde0fde2de1c",
        "Microsoft-Windows-TaskScheduler",
    ),
    of(
        "Stacks",
        "ca513049-5ae4-4470-8e13-330db7bd49cc",
        "stacks of any events",
    ),
    of(
        "Total Commit",
        "260d346a-7457-4ccc-9931-c0c39ed685cd",
        "the keyword VirtualAllocation; the graph VirtualAlloc Commit Lifetimes has the commits",
    ),
    of(
        "WinINet",
        "4fc0828a-4555-480c-b485-6561cd0d0482",
        "Microsoft-Windows-WinINet",
    ),
    of(
        "Winlogon Notifications",
        "31b88db9-1be9-42fa-9452-3cd560899212",
        "Microsoft-Windows-Winlogon",
    ),
];
