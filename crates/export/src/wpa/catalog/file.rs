//! File systems: operations on files, and the minifilter drivers that handle them.

use super::unfilled::unfilled;
use super::{Graph, Kind, Time, col, join, process, process_name};
use crate::wpa::format::Unit;

/// A row for each operation on a file.
pub(super) static FILE: Graph = Graph {
    name: "File I/O",
    guid: Some("e2a7d340-0dbd-4f24-8b26-e5388eeaf562"),
    element: None,
    table: "file_io",
    rows: None,
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
    ],
    time: Time::Span("coalesce(r.start_ns, r.end_ns)", "coalesce(r.end_ns, $to)"),
    columns: &[
        col(
            "Process Name",
            "f7732c29-62d3-4b32-ba4e-ced7ebe6b8ea",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "01cb52ab-5bb1-4cb6-9cff-e50ce2836e39",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Thread",
            "71a12a2f-ac40-4906-a979-5760738e4ad7",
            "t.tid",
            Kind::Number,
        ),
        col(
            "Stack",
            "ecf6e842-d5da-4d95-84c7-63ab3b6cf318",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "File Path",
            "0b043700-c82e-4d03-bc9c-ae7138093b47",
            "coalesce(r.path, 'Unknown')",
            Kind::Text,
        ),
        col(
            "File Name",
            "95611700-8168-452a-859d-b266392c7de0",
            "coalesce(regexp_match(r.path, '[^\\\\]*$')[1], 'Unknown')",
            Kind::Text,
        ),
        col(
            "Event Type",
            "db4da22c-8331-4243-9094-44f05969de01",
            "CASE r.kind WHEN 'create' THEN 'Create' WHEN 'read' THEN 'Read' WHEN 'write' THEN 'Write' WHEN 'close' THEN 'Close' WHEN 'cleanup' THEN 'Cleanup' WHEN 'flush' THEN 'Flush' WHEN 'set_info' THEN 'SetInfo' WHEN 'query_info' THEN 'QueryInfo' WHEN 'delete' THEN 'Delete' WHEN 'rename' THEN 'Rename' WHEN 'set_link' THEN 'SetLink' WHEN 'dir_enum' THEN 'DirEnum' WHEN 'dir_notify' THEN 'DirNotify' WHEN 'fs_control' THEN 'FSCtl' ELSE r.kind END",
            Kind::Text,
        ),
        col(
            "Count",
            "1a6168db-c962-472b-9c4a-a04621f1dc03",
            "1",
            Kind::Number,
        ),
        col(
            "Size",
            "8b8d220b-a24d-4773-81cb-6c6caebb084f",
            "r.size_bytes",
            Kind::Bytes,
        ),
        col(
            "Duration",
            "0f0fd63e-942e-441d-829b-3f921965cc9a",
            "r.duration_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Start",
            "26d231f4-e6e3-4ea0-b8f1-3c3cfacf067b",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "End",
            "e2c7e540-4aeb-47e0-99ba-dacf63ec19cf",
            "r.end_ns",
            Kind::Moment,
        ),
        col(
            "Result",
            "13e15a02-094f-4326-b5bd-e6721bdd3e87",
            "ntstatus_name(r.status)",
            Kind::Text,
        ),
        col(
            "Offset",
            "562233cc-2feb-4798-8fe9-bccdd1713c79",
            "r.offset_bytes",
            Kind::Number,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "t.name",
            Kind::Text,
        ),
        col(
            "Event SubType",
            "dcefaad1-2b62-4311-a003-1fc61c0f7f7e",
            "CASE WHEN r.kind = 'fs_control' THEN hex(CAST(r.info_class AS BIGINT) & 4294967295) ELSE CAST(r.info_class AS VARCHAR) END",
            Kind::Text,
        ),
        col(
            "Flags",
            "b85964cd-412b-46fe-823c-f3f08a738fbd",
            "r.io_flags",
            Kind::Hex,
        ),
    ],
    unfilled: &[
        unfilled(
            "Logging Process",
            "f793ebfb-acc0-44d3-bb35-b38d74d5ddaa",
            "extracts have the thread of the operation, not the one that ran when the event was written",
        ),
        unfilled(
            "Logging Thread",
            "00fe23ca-3361-4979-a1b5-4a052ea4a0c0",
            "extracts have the thread of the operation, not the one that ran when the event was written",
        ),
        unfilled(
            "IRP",
            "9486726c-c3e8-4e83-bd9b-e99a5d4a54ea",
            "extracts do not keep addresses of requests and of file objects",
        ),
        unfilled(
            "File Object",
            "0f1f4c1a-2187-4fdd-ba62-693dd5ddb8d5",
            "extracts do not keep addresses of requests and of file objects",
        ),
    ],
};

/// A row for each call of a minifilter driver.
pub(super) static MINI_FILTER: Graph = Graph {
    name: "Mini-Filter Delays",
    guid: Some("1fe3bbaa-6738-41b9-941e-7a6825821b35"),
    element: None,
    table: "mini_filter",
    rows: None,
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
        join("frame", "LEFT JOIN frame ON frame.frame_id = r.frame_id"),
        join(
            "code",
            "LEFT JOIN module code ON code.module_id = frame.module_id",
        ),
        join(
            "method",
            "LEFT JOIN method ON method.method_id = frame.method_id",
        ),
    ],
    time: Time::Span("coalesce(r.start_ns, r.end_ns)", "coalesce(r.end_ns, $to)"),
    columns: &[
        col(
            "Process Name",
            "0322646d-fd41-5075-502a-5c8703736d6c",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "ProcessID",
            "f27af7d4-baa8-530a-b26e-0f897789d318",
            "p.pid",
            Kind::Number,
        ),
        col(
            "ThreadID",
            "351e17b4-86e7-54af-a6e1-97df91646646",
            "t.tid",
            Kind::Number,
        ),
        col(
            "Stack",
            "c9c7f721-2d78-5a51-954d-8c0f97e03b80",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "File Name",
            "716cc11e-9879-5fa8-4266-5c7e75864420",
            "coalesce(r.path, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Mini-Filter Driver",
            "847e86a5-817b-5072-54e5-1a805e9a091f",
            "coalesce(code.name, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Major Function Name (Count)",
            "77c282c0-c64b-53ab-315d-93380685d331",
            "coalesce(r.operation, CAST(r.major_function AS VARCHAR))",
            Kind::Text,
        ),
        col(
            "Count",
            "5cffb5d6-633e-5161-88f3-a5b6744d7741",
            "1",
            Kind::Number,
        ),
        col(
            "EventType",
            "8151cf49-2d8e-5c55-a4a1-6fce164d2727",
            "CASE r.phase WHEN 'pre' THEN 'PreOp' ELSE 'PostOp' END",
            Kind::Text,
        ),
        col(
            "NTStatus",
            "5843c763-b4c3-5eaa-39b2-2d101d51ce07",
            "ntstatus_name(r.status)",
            Kind::Text,
        ),
        col(
            "Duration",
            "78dcbbaa-ecd4-56ce-313d-d6f8f59254f4",
            "r.duration_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Start",
            "bc94814c-9235-5643-6f96-439a1b8a69d8",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "End",
            "34aa2f35-c652-5c58-d8e4-17b6246b92f9",
            "r.end_ns",
            Kind::Moment,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "t.name",
            Kind::Text,
        ),
        col(
            "Major Function",
            "2afe6513-46a0-589f-0b2c-6c47a17602d9",
            "r.major_function",
            Kind::Number,
        ),
        col(
            "RoutineAddr",
            "e15af75c-e97a-506c-9e95-f1eb37e0f381",
            "frame.address",
            Kind::Hex,
        ),
    ],
    unfilled: &[
        unfilled(
            "IRP",
            "52041a48-9efd-5d15-8927-555020aa859f",
            "extracts do not keep addresses of requests and of file objects",
        ),
        unfilled(
            "FileContext",
            "99a586f7-65db-5948-8ef3-5c32ca44bfd3",
            "extracts do not keep addresses of requests and of file objects",
        ),
    ],
};
