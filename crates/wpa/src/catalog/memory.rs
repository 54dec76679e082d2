//! Memory: commits, measured sizes of processes, blocks of the kernel.

use super::{Graph, Kind, Time, col, join, named, process, process_name};

/// A row for each commit of memory. The extract has no lifetimes, but the memory that is still
/// committed at the end.
pub(super) static VIRTUAL_ALLOC: Graph = Graph {
    name: "VirtualAlloc Commit Lifetimes",
    guid: Some("e6a4a964-3a87-46ef-9762-f9d9b9208051"),
    element: Some("CommitLifetimeGraphTreeItem"),
    table: "virtual_alloc",
    // Reserved address space does not use memory.
    only: Some("r.kind = 'commit'"),
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
        join(
            "kept",
            "LEFT JOIN (SELECT alloc_id, sum(size_bytes) AS size_bytes FROM virtual_range GROUP BY alloc_id) kept ON kept.alloc_id = r.alloc_id",
        ),
    ],
    time: Time::Moment("r.ts_ns"),
    columns: &[
        col(
            "Process Name",
            "744222db-e5a0-4e6d-b34e-9a9796f3ce38",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "cfe19628-6612-4e45-ad6e-84b7423c8132",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Committing ThreadId",
            "02a075ed-f8f0-4ff4-b474-f44059bf7a29",
            "t.tid",
            Kind::Number,
        ),
        col(
            "Commit Stack",
            "9298a5c9-42e9-42d0-b069-f211906a4078",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "Count",
            "3e80b2ba-b36a-4ff1-9c2c-d2542002a6d6",
            "1",
            Kind::Number,
        ),
        col(
            "Size",
            "355d0688-9ebd-41af-b2c4-0dc0f4294eaa",
            "r.changed_bytes",
            Kind::Bytes,
        ),
        col(
            "Impacting Size",
            "191711d7-f84c-4936-93b7-e2793639cdd1",
            "coalesce(kept.size_bytes, 0)",
            Kind::Bytes,
        ),
        col(
            "Commit Time",
            "e35ae2d1-6370-4e17-a79d-eada8afa60f6",
            "r.ts_ns",
            Kind::Moment,
        ),
    ],
};

/// A row for each process and moment at which memory was measured.
pub(super) static SNAPSHOTS: Graph = Graph {
    name: "Virtual Memory Snapshots",
    guid: Some("3dd69094-4675-4607-9fb4-0042b9e1a610"),
    element: None,
    table: "memory_sample",
    only: None,
    joins: &[join(
        "p",
        "LEFT JOIN process p ON p.process_key = r.process_key",
    )],
    time: Time::Moment("r.ts_ns"),
    columns: &[
        col(
            "Process",
            "f011fe6d-e0a7-4123-9019-bd02e848192b",
            "CASE WHEN r.part IS NOT NULL THEN r.part WHEN p.pid IS NULL THEN 'Unknown' ELSE concat(coalesce(p.name, 'Unknown'), ' (', CAST(p.pid AS VARCHAR), ')') END",
            Kind::Text,
        ),
        col(
            "Process Name",
            "7d259814-3b78-4f86-bf3c-95c079eabce8",
            "coalesce(r.part, p.name, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Time",
            "7f8e5887-fef5-4f40-9c15-138a03cef7c6",
            "r.ts_ns",
            Kind::Moment,
        ),
        col(
            "Working Set",
            "88ed32fc-2790-4491-9445-9437142c0bb5",
            "r.working_set_bytes",
            Kind::Bytes,
        ),
        col(
            "Private Working Set",
            "c7022d26-68dc-474b-83ce-2a24b9534612",
            "r.private_working_set_bytes",
            Kind::Bytes,
        ),
        col(
            "Commit",
            "8f3f770f-9245-430c-b4d4-5bba1f02017a",
            "r.commit_bytes",
            Kind::Bytes,
        ),
        col(
            "Virtual Size",
            "9069e66b-271d-478f-9604-661980cfaa18",
            "r.virtual_bytes",
            Kind::Bytes,
        ),
        col(
            "Shared Commit",
            "c0fa5e19-c709-48ff-bfcd-b7d1de03394c",
            "r.shared_commit_bytes",
            Kind::Bytes,
        ),
        col(
            "Total Commit",
            "7a63e768-d54c-4cad-b713-c593718ae1f3",
            "r.commit_bytes + coalesce(r.shared_commit_bytes, 0)",
            Kind::Bytes,
        ),
        col(
            "Count",
            "3e760f63-19dd-4193-b0f0-181391818027",
            "1",
            Kind::Number,
        ),
    ],
};

/// A row for each block of the kernel.
pub(super) static POOL: Graph = Graph {
    name: "Pool",
    guid: None,
    element: None,
    table: "pool",
    only: None,
    joins: &[
        join(
            "p",
            "LEFT JOIN process p ON p.process_key = r.alloc_process_key",
        ),
        join(
            "t",
            "LEFT JOIN thread t ON t.thread_key = r.alloc_thread_key",
        ),
    ],
    time: Time::Span("coalesce(r.alloc_ns, 0)", "coalesce(r.free_ns, $to)"),
    columns: &[
        named("Process Name", process_name!("p"), Kind::Text),
        named("Process", process!("p"), Kind::Process(process_name!("p"))),
        named("Thread ID", "t.tid", Kind::Number),
        named("Pool Tag", "r.tag", Kind::Text),
        named(
            "Paged",
            "CASE r.paging WHEN 'paged' THEN 'Paged' WHEN 'nonpaged' THEN 'NonPaged' END",
            Kind::Text,
        ),
        named("Alloc Stack", "r.alloc_stack_id", Kind::Stack),
        named("Free Stack", "r.free_stack_id", Kind::Stack),
        named("Count", "1", Kind::Number),
        named("Size", "r.size_bytes", Kind::Bytes),
        named(
            "Impacting Size",
            "CASE WHEN r.outcome = 'outstanding' THEN r.size_bytes ELSE 0 END",
            Kind::Bytes,
        ),
        named("Alloc Time", "r.alloc_ns", Kind::Moment),
        named("Free Time", "r.free_ns", Kind::Moment),
    ],
};
