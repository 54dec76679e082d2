//! Disks: requests, and page faults that waited for a disk.

use super::unfilled::unfilled;
use super::{Graph, Kind, Time, col, join, process, process_name, services};
use crate::wpa::format::Unit;

/// A row for each request that a disk completed.
pub(super) static DISK: Graph = Graph {
    name: "Disk Usage",
    guid: Some("12c5387c-58ca-45d4-a5c6-450475c30e06"),
    element: Some("DiskIOGraphTreeItem"),
    table: "disk_io",
    rows: None,
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
        join("services", services!("r.process_key")),
    ],
    time: Time::Span("r.init_ns", "r.complete_ns"),
    columns: &[
        col(
            "Process Name",
            "855b0ae3-e5fc-450c-807d-2e3f7a0ea21e",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "585dad88-c4ba-4e39-a1e5-c41f43c4e7fb",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Thread ID",
            "8986994a-34ee-48bf-9a28-29f7ff7062cc",
            "t.tid",
            Kind::Number,
        ),
        col(
            "IO Init Stack",
            "1735b930-a0d7-45a7-b7bf-85d2fdbb966a",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "Path Name",
            "01745275-2844-4895-967e-03c75d9e0ffe",
            "coalesce(r.path, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Path Tree",
            "35f601bd-6be5-4c1a-9b35-495dddbe4dff",
            "coalesce(r.path, 'Unknown')",
            Kind::Text,
        ),
        col(
            "File Extension",
            "cc1bde00-e396-4c90-a777-7f57a265c5a4",
            "coalesce(regexp_match(r.path, '\\.[^.\\\\]*$')[1], '')",
            Kind::Text,
        ),
        col(
            "IO Type",
            "0372579e-31f1-483c-8295-221e175f0cbd",
            "CASE r.kind WHEN 'read' THEN 'Read' WHEN 'write' THEN 'Write' ELSE 'Flush' END",
            Kind::Text,
        ),
        col(
            "Disk",
            "4faeb98e-ba24-44f4-93ce-208e0321f438",
            "r.disk",
            Kind::Number,
        ),
        col(
            "Priority",
            "6cc32316-40ee-42a0-8f71-88f7d175301d",
            "CASE r.priority WHEN 1 THEN 'Very Low' WHEN 2 THEN 'Low' WHEN 3 THEN 'Normal' WHEN 4 THEN 'High' WHEN 5 THEN 'Critical' ELSE 'Not set' END",
            Kind::Text,
        ),
        col(
            "Count",
            "a026c5ce-1efd-4073-b379-82882f08b68d",
            "1",
            Kind::Number,
        ),
        col(
            "Size",
            "a0cb7c64-4495-494b-baeb-c699693162cc",
            "r.size_bytes",
            Kind::Bytes,
        ),
        col(
            "Init Time",
            "b9c207c5-9da1-4e2d-94de-df17b84840bf",
            "r.init_ns",
            Kind::Moment,
        ),
        col(
            "Complete Time",
            "59b4288c-fee0-4b90-86dc-369b79f0b526",
            "r.complete_ns",
            Kind::Moment,
        ),
        col(
            "IO Time",
            "66852a8e-74d2-4ec7-ad13-bcae0644b9c9",
            "r.io_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Disk Service Time",
            "c01c5ca8-59e6-4c1d-9db7-32e00186d65c",
            "r.service_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Min Offset",
            "5dc8b11e-45ba-40db-9807-583931a5738b",
            "r.offset_bytes",
            Kind::Hex,
        ),
        col(
            "Max Offset",
            "ba4dda2c-3924-4b50-8162-69bc5ef926cc",
            "r.offset_bytes + r.size_bytes",
            Kind::Hex,
        ),
        col(
            "QD/I - Queue Depth at Init Time",
            "26c5073e-c597-460f-986d-d8392369ed55",
            "r.queue_depth_start",
            Kind::Number,
        ),
        col(
            "QD/C - Queue Depth at Complete Time",
            "87d56527-1be8-40da-aca1-bd274f7cdf05",
            "r.queue_depth_end",
            Kind::Number,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "t.name",
            Kind::Text,
        ),
        col(
            "Service Display Name",
            "bdc963c7-bac5-4caf-8f13-e7832d675663",
            "services.display_names",
            Kind::Text,
        ),
    ],
    unfilled: &[
        unfilled(
            "Source",
            "42699aab-80f4-4241-9659-948879aebf07",
            "no event names the source of a request",
        ),
        unfilled(
            "IBCB - #IOs Init Before Completed Before",
            "56d83e4c-7e1d-4d70-a230-c41269f01473",
            "extracts count requests at the same time, not by the order of their ends",
        ),
        unfilled(
            "IACB - #IOs Init After Completed Before",
            "ad341c3d-9a07-4d82-800e-e78f0f9effca",
            "extracts count requests at the same time, not by the order of their ends",
        ),
        unfilled(
            "IACA - #IOs Init After Completed After",
            "0d9468f1-a731-4539-ad01-72921d1b4ba6",
            "extracts count requests at the same time, not by the order of their ends",
        ),
        unfilled(
            "IoRate Block Reason",
            "1addd219-3f20-4c6d-b0d1-30c2cf034a67",
            "extracts have no events of limits of I/O rates",
        ),
        unfilled(
            "IoRate Blocked Time",
            "eeb919cb-e186-490c-940d-93493a28fada",
            "extracts have no events of limits of I/O rates",
        ),
        unfilled(
            "Global IO Init Time",
            "be507a9c-2672-4fcc-8660-f7775f053a74",
            "extracts have no events of limits of I/O rates",
        ),
        unfilled(
            "Global IO Time",
            "3501b657-b545-4b3c-8e53-4f48b0abe52c",
            "extracts have no events of limits of I/O rates",
        ),
    ],
};

/// A row for each page fault that a disk served.
pub(super) static HARD_FAULTS: Graph = Graph {
    name: "Hard Faults",
    guid: Some("7c60aeff-a47f-4ba8-942c-d2b154087ab9"),
    element: None,
    table: "hard_fault",
    rows: None,
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
    ],
    time: Time::Span("r.start_ns", "r.end_ns"),
    columns: &[
        col(
            "Process Name",
            "c1859dc2-9fc8-5609-41b6-c5eb4eb35206",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "3fd82a5a-fcbb-501e-4d61-c07025286ad1",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Thread ID",
            "bab750dc-6d2e-58f3-01b9-5eab38c83729",
            "t.tid",
            Kind::Number,
        ),
        col(
            "Stack",
            "839f35ec-c1ce-5a16-e3b1-1aa8dfe9a10a",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "Path Tree",
            "581ad6fe-f42a-57d9-a94b-ec2f4131c642",
            "coalesce(r.path, 'Unknown')",
            Kind::Text,
        ),
        col(
            "File Name",
            "e21731d3-b7a0-5201-76f1-a11a81e785b4",
            "coalesce(r.path, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Count",
            "8392664b-3f80-5bd5-68e5-0d2ef7056f12",
            "1",
            Kind::Number,
        ),
        col(
            "IO Time",
            "ca30ce13-326f-51d3-2f0a-1767ef0c468b",
            "r.duration_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Max IO Time",
            "1e5ad3ac-9a5c-5161-2c57-e77cc431cd8c",
            "r.duration_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Avg IO Time",
            "62ce151f-2768-5cea-f45f-bd2a224d3a54",
            "r.duration_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Virtual Address",
            "25ff0b0e-83b4-5a06-36d0-f727f4057280",
            "r.address",
            Kind::Hex,
        ),
        col(
            "File Offset",
            "3cede4ef-c63d-5968-9a85-778a967f2ded",
            "r.offset_bytes",
            Kind::Hex,
        ),
        col(
            "ByteCount",
            "42dcd928-7544-5f2b-169e-1cc5f6ce81dc",
            "r.size_bytes",
            Kind::Number,
        ),
        col(
            "Log Time",
            "001e6c8d-300a-54aa-cab4-617ad58dfc88",
            "r.end_ns",
            Kind::Moment,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "t.name",
            Kind::Text,
        ),
    ],
    unfilled: &[
        unfilled(
            "Section Name",
            "86551eef-39bf-41b1-8444-184ed27baf37",
            "symbol files say it, and extracts do not keep it",
        ),
        unfilled(
            "COFF Group",
            "cb4ec152-a004-46ad-b58a-9bc8fbe80aca",
            "symbol files say it, and extracts do not keep it",
        ),
    ],
};
