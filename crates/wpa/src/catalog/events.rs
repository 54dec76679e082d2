//! Events of programs and of the system: events, marks, regions, the registry, the network.

use super::{Graph, Kind, Time, col, function, join, named, process, process_name};
use crate::format::Unit;

/// A row for each event that has no table of its own.
pub(super) static GENERIC: Graph = Graph {
    name: "Generic Events",
    guid: Some("04f69f98-176e-4d1c-b44e-97f734996ab8"),
    element: None,
    table: "generic_event",
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
        join(
            "start_frame",
            "LEFT JOIN frame start_frame ON start_frame.frame_id = t.start_frame_id",
        ),
        join(
            "start_module",
            "LEFT JOIN module start_module ON start_module.module_id = start_frame.module_id",
        ),
        join(
            "start_method",
            "LEFT JOIN method start_method ON start_method.method_id = start_frame.method_id",
        ),
    ],
    time: Time::Moment("r.ts_ns"),
    columns: &[
        col(
            "Provider Name",
            "8b4c40f8-0d99-437d-86ab-56ec200137dc",
            "coalesce(r.provider, r.provider_guid)",
            Kind::Text,
        ),
        col(
            "Provider Id",
            "2a23f9b1-65d6-46d2-87b2-72f3606b7f75",
            "r.provider_guid",
            Kind::Text,
        ),
        col(
            "Event Name",
            "90fe0b49-e3bb-440f-b829-5813c42108a1",
            "r.name",
            Kind::Text,
        ),
        // Names of events are those of the task and, behind a stroke, of the opcode.
        col(
            "Task Name",
            "511777f7-30ef-4e86-bd0b-0facaf23a0d3",
            "CASE WHEN starts_with(r.name, 'EventID(') THEN NULL ELSE split_part(r.name, '/', 1) END",
            Kind::Text,
        ),
        col(
            "Opcode Name",
            "5b51716b-b88f-443a-a396-c6316296d5f8",
            "CASE r.opcode WHEN 0 THEN 'win:Info' WHEN 1 THEN 'win:Start' WHEN 2 THEN 'win:Stop' ELSE nullif(split_part(r.name, '/', 2), '') END",
            Kind::Text,
        ),
        col(
            "Process Id",
            "b51bcda1-7ea3-4409-b4af-51a704893bd9",
            "p.pid",
            Kind::Number,
        ),
        col(
            "Id",
            "c72e1c5a-f6db-4c84-8c0b-85989e514075",
            "r.event_id",
            Kind::Number,
        ),
        col(
            "Version",
            "d446a182-5203-4a29-aca1-4ab9bea0d1b5",
            "r.version",
            Kind::Number,
        ),
        col(
            "Message",
            "0734f1a4-fbd9-4ff6-aec0-cf43875c8253",
            "coalesce(r.message, fields_text(r.fields))",
            Kind::Text,
        ),
        col(
            "Opcode/Type",
            "19eb156f-1908-4134-a783-b9e7e2555a1d",
            "r.opcode",
            Kind::Number,
        ),
        col(
            "Level",
            "65bc19fd-8f80-4011-8b00-c7be7d8ec256",
            "r.level",
            Kind::Number,
        ),
        col(
            "Keyword",
            "704a10b2-3e2d-40e9-98c8-7f22e09f6d95",
            "r.keyword",
            Kind::Hex,
        ),
        col(
            "Process Name",
            "85d40897-ae0f-4a6b-aea3-b4bcd27c14f7",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "7ee6a5ff-1faf-428a-a7c2-7d2cb2b5cf26",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "ThreadId",
            "edf01e5d-3644-4dbc-ab9d-f8954e6db6ea",
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
            "Cpu",
            "3be8610c-babb-4154-9970-1b2210928024",
            "r.cpu",
            Kind::Number,
        ),
        col(
            "Stack",
            "26eed6bf-f07d-4bb0-a36f-43a7d3a68828",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "Thread Start Module",
            "52795c3b-48e5-4e95-8fb0-bc00e07a1a96",
            "start_module.name",
            Kind::Text,
        ),
        col(
            "Thread Start Function",
            "5dc9b807-1517-4e0f-bea4-ce75bea3e551",
            function!("start_method", "start_frame"),
            Kind::Text,
        ),
        col(
            "etw:ActivityId",
            "ebb63d26-9372-4ab1-9f0b-d0d15edbc41e",
            "r.activity_id",
            Kind::Text,
        ),
        col(
            "Count",
            "342f7677-17b2-4c7e-b9ec-e89612c49792",
            "1",
            Kind::Number,
        ),
        col(
            "Time",
            "bbfc990a-b6c9-4dcd-858b-f040ab4a1efe",
            "r.ts_ns",
            Kind::Moment,
        ),
        named("Task", "r.task", Kind::Number),
    ],
};

/// A row for each mark.
pub(super) static MARKS: Graph = Graph {
    name: "Marks",
    guid: Some("ec60ccb2-4409-444e-98fa-792c5b3c36da"),
    element: None,
    table: "mark",
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
    ],
    time: Time::Moment("r.ts_ns"),
    columns: &[
        col(
            "Mark",
            "d65b6c83-2625-591b-1484-8980c43b5c15",
            "r.text",
            Kind::Text,
        ),
        col(
            "Process",
            "45f9f4c9-14d2-5a26-978e-827fe881d522",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "ThreadId",
            "9674de60-3cda-5315-7836-aeb9918390ab",
            "t.tid",
            Kind::Number,
        ),
        named("Label", "r.text", Kind::Text),
        named("Thread ID", "t.tid", Kind::Number),
        named("CPU", "r.cpu", Kind::Number),
        col(
            "Process Name",
            "99748ec1-b3e6-5ffa-3cc7-e462ccdf2246",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Count",
            "c437109b-016b-5bd7-ced3-54eefde15a9a",
            "1",
            Kind::Number,
        ),
        col(
            "Time",
            "46ade377-978f-5dca-8827-9c083f015d90",
            "r.ts_ns",
            Kind::Moment,
        ),
    ],
};

/// A row for each instance of a region; the regions come from a file.
pub(super) static REGIONS: Graph = Graph {
    name: "Regions of Interest",
    guid: Some("1ce7fd53-2344-4ea8-acd6-1a0722a51427"),
    element: None,
    table: "region",
    only: None,
    joins: &[],
    time: Time::Span("r.start_ns", "coalesce(r.stop_ns, $to)"),
    columns: &[
        col(
            "Region",
            "d96b19f7-d47a-40f3-ba80-fe0b9fae4616",
            "r.region",
            Kind::Text,
        ),
        col(
            "Region Friendly Name",
            "07ec3178-e4ce-4729-a918-f1cc44ee55b9",
            "r.friendly_name",
            Kind::Text,
        ),
        col(
            "Region Guid",
            "471b850d-c2bc-482d-871d-13fb7c13bd2a",
            "r.region_guid",
            Kind::Text,
        ),
        col(
            "Instance Name",
            "a310de95-c012-4af7-be28-f78dd2f71247",
            "r.instance",
            Kind::Text,
        ),
        col(
            "Provider",
            "d683f423-cea9-4275-b67e-1aadd496289d",
            "r.provider",
            Kind::Text,
        ),
        col(
            "Event Name",
            "b521d564-9030-485d-97ae-3bd638a979bb",
            "r.start_event",
            Kind::Text,
        ),
        col(
            "Start Process",
            "d0b2a5cb-1966-4fe9-919f-1383932b2d84",
            "r.start_process",
            Kind::Text,
        ),
        col(
            "Start Process Name",
            "6d945afa-988e-4be4-906b-023fb72eda92",
            "r.start_process_name",
            Kind::Text,
        ),
        col(
            "Stop Process",
            "b9e5e33d-d875-4fb2-b4f9-7e9d14d8d370",
            "r.stop_process",
            Kind::Text,
        ),
        col(
            "Stop Process Name",
            "04222b11-b8be-49e1-9c52-a6d1f820a6d3",
            "r.stop_process_name",
            Kind::Text,
        ),
        col(
            "Start Thread",
            "c74dbb74-97bf-4c5a-9b21-d967ce08df00",
            "r.start_tid",
            Kind::Number,
        ),
        col(
            "Stop Thread",
            "052aa8a8-ce86-486b-8cc9-158ac7d27113",
            "r.stop_tid",
            Kind::Number,
        ),
        col(
            "Payload",
            "9fd0ec98-a6a4-432d-b0f9-b032609923e5",
            "r.fields",
            Kind::Text,
        ),
        col(
            "Count",
            "13bf2e93-0645-42c7-a915-f3495624e859",
            "1",
            Kind::Number,
        ),
        col(
            "Duration",
            "abfa45ec-ef0f-4fdd-8a6d-1c93a140032b",
            "r.stop_ns - r.start_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "Start Time",
            "93b276b8-d183-41b7-a16e-19eb9373dbf3",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "Stop Time",
            "03facf2d-1d9f-43c7-b8e8-aed46477f348",
            "r.stop_ns",
            Kind::Moment,
        ),
    ],
};

/// A row for each operation on the registry.
pub(super) static REGISTRY: Graph = Graph {
    name: "Registry",
    guid: Some("e97b189d-b977-4e41-9448-8c214c166f84"),
    element: None,
    table: "registry_io",
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
    ],
    time: Time::Span("r.start_ns", "r.end_ns"),
    columns: &[
        col(
            "Process Name",
            "1a9d76f5-008d-49c8-9fc6-59fa84800243",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "6e161ed1-5f7b-4b73-85cc-0d65dab67d53",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Thread ID",
            "1051b1bb-35cc-413f-bdef-067a55aa2e9a",
            "t.tid",
            Kind::Number,
        ),
        col(
            "Stack",
            "726bb914-96d6-4332-94a1-4491fb83fe1f",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "Entire Key (Base+Remainder)",
            "0b129433-39e5-4a9e-951a-b8ef208b2cfc",
            "coalesce(r.key, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Entire Key (Base+Remainder) Tree",
            "32515a40-448a-48b3-bff0-4cf4031e9f08",
            "coalesce(r.key, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Operation",
            "da3b10c0-1765-41f3-a783-dc51125851d1",
            "r.operation",
            Kind::Text,
        ),
        col(
            "Count",
            "a43842b0-7cf3-4d6f-b7a2-2d6f1e00133f",
            "1",
            Kind::Number,
        ),
        col(
            "Status",
            "1513fa10-153a-405d-82ee-33d538c2822e",
            "ntstatus_name(r.status)",
            Kind::Text,
        ),
        col(
            "Operation Time",
            "a50fdcd5-8158-4b3c-a147-ab58b9e7c539",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "Elapsed Time",
            "a42d1c14-a560-4cc1-9d27-abca0702612e",
            "r.duration_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Is Open/Close",
            "36094080-599c-44bb-be1c-14516446d832",
            "CASE WHEN r.operation IN ('create_key', 'open_key', 'close_key') THEN 'True' ELSE 'False' END",
            Kind::Text,
        ),
        named("Value", "r.value", Kind::Text),
    ],
};

/// A row for each transfer over TCP or UDP.
pub(super) static TCP_IP: Graph = Graph {
    name: "TCP/IP",
    guid: Some("21214383-88f8-4603-9eac-2a6422756b11"),
    element: None,
    table: "net_io",
    only: None,
    joins: &[join(
        "p",
        "LEFT JOIN process p ON p.process_key = r.process_key",
    )],
    time: Time::Moment("r.ts_ns"),
    columns: &[
        col(
            "Process Name",
            "399c8e56-3484-493e-83c3-8a21acc24601",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "bfdd92db-9783-49a1-9627-3562e237ea57",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Protocol",
            "08b8fe6b-4261-494a-9a03-b71f0c7c954e",
            "CASE r.protocol WHEN 'tcp' THEN 'TCP' ELSE 'UDP' END",
            Kind::Text,
        ),
        col(
            "Event Type",
            "aabbf5f7-fc6a-4ff6-af78-0d90f340968f",
            "CASE r.kind WHEN 'send' THEN 'Send' WHEN 'receive' THEN 'Receive' WHEN 'connect' THEN 'Connect' WHEN 'disconnect' THEN 'Disconnect' WHEN 'retransmit' THEN 'Retransmit' ELSE 'Accept' END",
            Kind::Text,
        ),
        col(
            "Local Address",
            "73e0a86e-4d6b-468b-b974-301026067f25",
            "concat(r.local_address, ':', CAST(r.local_port AS VARCHAR))",
            Kind::Text,
        ),
        col(
            "Remote Address",
            "3bbabfdb-4679-45b7-8451-3deef7d3b459",
            "concat(r.remote_address, ':', CAST(r.remote_port AS VARCHAR))",
            Kind::Text,
        ),
        col(
            "Count",
            "7aef84b7-38e4-41ba-8bcb-033a6e048f52",
            "1",
            Kind::Number,
        ),
        col(
            "Bytes",
            "ae3f2bb9-4d8e-4d72-8536-b42ecfca6b93",
            "r.size_bytes",
            Kind::Number,
        ),
        col(
            "Bytes Sent",
            "f65f987f-8756-4e90-9ee9-905aef6f3ebb",
            "CASE WHEN r.kind = 'send' THEN r.size_bytes ELSE 0 END",
            Kind::Number,
        ),
        col(
            "Bytes Received",
            "a4287486-67fa-4a19-a3c8-201ede64c02f",
            "CASE WHEN r.kind = 'receive' THEN r.size_bytes ELSE 0 END",
            Kind::Number,
        ),
        col(
            "Time",
            "869dba43-0f44-4572-9994-29d61aa43280",
            "r.ts_ns",
            Kind::Moment,
        ),
    ],
};
