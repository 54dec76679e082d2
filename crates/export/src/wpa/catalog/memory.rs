//! Memory: commits, measured sizes of processes, blocks of the kernel.

use super::unfilled::unfilled;
use super::{Graph, Kind, Time, col, join, named, process, process_name};
use crate::wpa::format::Unit;

const OWN_WORDS: &str = "the words that Windows Performance Analyzer uses in it are not known here";

/// A row for each commit of memory. The extract has no lifetimes, but the memory that is still
/// committed at the end.
pub(super) static VIRTUAL_ALLOC: Graph = Graph {
    name: "VirtualAlloc Commit Lifetimes",
    guid: Some("e6a4a964-3a87-46ef-9762-f9d9b9208051"),
    element: Some("CommitLifetimeGraphTreeItem"),
    table: "virtual_alloc",
    rows: None,
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
        col(
            "Type",
            "f3e2404e-9274-48de-ba7a-81b10ac0d8e3",
            "CASE WHEN kept.size_bytes > 0 THEN 'AIFO' ELSE 'AIFI' END",
            Kind::Text,
        ),
    ],
    unfilled: &[
        unfilled(
            "Commit LifeTime",
            "cbc35ff9-0d12-4db3-9a75-578e2d746e4b",
            "extracts have the part of a commit that is left at the end of the trace, not when it was given back",
        ),
        unfilled(
            "Decommit Time",
            "093b4056-cb58-4209-90b9-29cdbb8ca214",
            "extracts have the part of a commit that is left at the end of the trace, not when it was given back",
        ),
        unfilled(
            "Impacting Type",
            "8e0f7d59-37d1-4191-9c30-625cbacbc04f",
            OWN_WORDS,
        ),
        unfilled(
            "Commit Nature",
            "9fb42912-dd33-4802-9b59-4d37b43e3c3c",
            OWN_WORDS,
        ),
        unfilled(
            "Impacting Stack",
            "ae3e0b03-508c-48bf-a974-d6d1934258c2",
            "Commit Stack has the stack of each commit, and Impacting Size what is left of it",
        ),
    ],
};

/// A row for each process and moment at which memory was measured.
pub(super) static SNAPSHOTS: Graph = Graph {
    name: "Virtual Memory Snapshots",
    guid: Some("3dd69094-4675-4607-9fb4-0042b9e1a610"),
    element: None,
    table: "memory_sample",
    rows: None,
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
    unfilled: &[unfilled(
        "EndTime(internal use)",
        "b71a93c1-90cf-4e7c-be52-d6757f04ca65",
        "Windows Performance Analyzer uses it inside",
    )],
};

/// A row for each block of the kernel.
pub(super) static POOL: Graph = Graph {
    name: "Pool",
    guid: None,
    element: None,
    table: "pool",
    rows: None,
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
    unfilled: &[],
};

/// Rows of heaps with the end of the heap: it frees the blocks that are left in it.
const BLOCKS: &str = "SELECT *, min(CASE WHEN kind = 'destroy' THEN ts_ns END) OVER \
    (PARTITION BY process_key, heap_handle ORDER BY ts_ns, heap_event_id \
    ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS destroy_ns FROM heap";

/// A row for each block of a heap of a program, from the event that gave it its size.
pub(super) static HEAP: Graph = Graph {
    name: "Heap Allocations",
    guid: Some("1a64d983-f796-45f8-aa64-ac50b95d0e45"),
    element: None,
    table: "heap",
    rows: Some(BLOCKS),
    only: Some("r.kind IN ('allocate', 'reallocate')"),
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
        join(
            "freed",
            "LEFT JOIN (SELECT allocation_id, min(ts_ns) AS ts_ns FROM heap GROUP BY allocation_id) freed ON freed.allocation_id = r.heap_event_id",
        ),
    ],
    time: Time::Span("r.ts_ns", "coalesce(freed.ts_ns, r.destroy_ns, $to)"),
    columns: &[
        col(
            "Process Name",
            "8693852d-a7e2-4c48-bad6-bd076d2d587a",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "06155709-500b-4182-8944-29665014b5c2",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Type",
            "fe123e27-eca6-461a-9a1b-b98056a84feb",
            "CASE WHEN coalesce(freed.ts_ns, r.destroy_ns) IS NULL THEN 'AIFO' ELSE 'AIFI' END",
            Kind::Text,
        ),
        col(
            "Thread",
            "454a2bd1-379a-4c5b-8437-1fe4bdccfa8f",
            "t.tid",
            Kind::Number,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "t.name",
            Kind::Text,
        ),
        col(
            "Stack",
            "759dc840-5079-49db-bae0-3c54e553b7fd",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "LifeTime",
            "219f972c-9c3e-413b-a921-228a9881d4b5",
            "coalesce(freed.ts_ns, r.destroy_ns) - r.ts_ns",
            Kind::Duration(Unit::Seconds),
        ),
        col(
            "Is Realloc",
            "aecdc967-1546-420b-a035-1d7184115e33",
            "CASE WHEN r.kind = 'reallocate' THEN 'True' ELSE 'False' END",
            Kind::Text,
        ),
        col(
            "Count",
            "62f5e535-a192-475d-8d4d-a725b8a160bd",
            "1",
            Kind::Number,
        ),
        col(
            "Size",
            "29a4dfc2-cd62-4de8-85c3-f580af6a47dd",
            "r.size_bytes",
            Kind::Bytes,
        ),
        col(
            "Impacting Size",
            "642a8591-f858-4345-b7fa-99e8e4567cca",
            "CASE WHEN coalesce(freed.ts_ns, r.destroy_ns) IS NULL THEN r.size_bytes ELSE 0 END",
            Kind::Bytes,
        ),
        col(
            "AllocTime",
            "514a6402-4276-405d-9a46-f8a583089c38",
            "r.ts_ns",
            Kind::Moment,
        ),
        col(
            "FreeTime",
            "859cecc2-100a-4b55-8756-5b83df7e5a93",
            "coalesce(freed.ts_ns, r.destroy_ns)",
            Kind::Moment,
        ),
        col(
            "Handle",
            "27654de6-995a-4162-a6a6-6dfacb4fa316",
            "r.heap_handle",
            Kind::Hex,
        ),
        col(
            "Address",
            "24937cb7-4655-43d0-8bdc-901cb2ac65d5",
            "r.address",
            Kind::Hex,
        ),
        col(
            "Page Address",
            "5ba0767a-7403-45b4-a991-6d74fd8b7338",
            "r.address & -4096",
            Kind::Hex,
        ),
    ],
    unfilled: &[
        unfilled(
            "ImpactingType",
            "0e8ea5da-f511-49fb-9f64-bde5bb6d3f95",
            OWN_WORDS,
        ),
        unfilled(
            "Allocation Nature",
            "d75f9647-91de-4814-82e1-77a5d6213876",
            OWN_WORDS,
        ),
        unfilled(
            "Source",
            "fbbd2929-3110-4d36-b252-47e65c52ff55",
            "extracts do not keep the inner structures of heaps",
        ),
        unfilled(
            "Bucket",
            "9db2c0ba-d1ca-4cd5-9861-a8875208193c",
            "extracts do not keep the inner structures of heaps",
        ),
        unfilled(
            "SubSegment",
            "7e63c342-84a2-4e36-a866-09b681551086",
            "extracts do not keep the inner structures of heaps",
        ),
        unfilled(
            "FreeType",
            "7710276b-86b8-42c8-8674-4e51cfc673f0",
            "extracts do not keep the inner structures of heaps",
        ),
        unfilled(
            "SelectionLifeTime",
            "7f3683a7-0b54-41e5-957e-84904844d506",
            "files have no selection; LifeTime is the time from allocation to free",
        ),
    ],
};
