//! Programs: processes, their modules and threads.

use etwkit_questions::boot::PHASES_SQL as BOOT_PHASES;

use super::unfilled::unfilled;
use super::{
    Column, Graph, Kind, Time, col, function, join, named, process, process_name, services,
};
use crate::wpa::format::Unit;

/// A row for each process instance.
pub(super) static PROCESSES: Graph = Graph {
    name: "Processes",
    guid: Some("b186f02d-8d06-4bbb-9ad1-abf7985fb61a"),
    element: None,
    table: "process",
    rows: None,
    only: None,
    joins: &[join("services", services!("r.process_key"))],
    time: Time::Span("coalesce(r.start_ns, 0)", "coalesce(r.stop_ns, $to)"),
    columns: &[
        col(
            "Process Name",
            "0b34b57d-f3cd-519a-4584-b182e0088701",
            process_name!("r"),
            Kind::Text,
        ),
        col(
            "Process",
            "0edbeee1-8d7b-5652-6639-86415222c6e0",
            process!("r"),
            Kind::Process(process_name!("r")),
        ),
        col(
            "Process ID",
            "5f381ee6-ad8e-5906-7de0-4b678b7d78f1",
            "r.pid",
            Kind::Number,
        ),
        col(
            "Parent Process ID",
            "32ba004c-d028-5def-cc60-016892805d03",
            "r.parent_pid",
            Kind::Number,
        ),
        col(
            "Session ID",
            "226170ea-7139-5ea5-ef82-c7b8eb950467",
            "r.session_id",
            Kind::Number,
        ),
        col(
            "Command Line",
            "1093bbae-e3f8-570d-d300-fe006ec801fe",
            "r.command_line",
            Kind::Text,
        ),
        col(
            "Lifetime",
            "1ba44c8d-e138-5cfa-c4d8-49580277ab41",
            "CASE WHEN r.start_ns IS NULL AND r.stop_ns IS NULL THEN 'Permanent' WHEN r.start_ns IS NULL THEN 'Ended in trace' WHEN r.stop_ns IS NULL THEN 'Started in trace' ELSE 'Transient' END",
            Kind::Text,
        ),
        col(
            "Count",
            "26dd2129-e3d6-57aa-c56b-34b5a5b79fcb",
            "1",
            Kind::Number,
        ),
        col(
            "Permanent Count",
            "7b96de49-17c2-5b21-e879-cd3fa850202f",
            "CASE WHEN r.start_ns IS NULL AND r.stop_ns IS NULL THEN 1 ELSE 0 END",
            Kind::Number,
        ),
        col(
            "Duration",
            "c4cf3680-7ab6-5b50-a66e-bb282e861842",
            "least(coalesce(r.stop_ns, $end), $end) - greatest(coalesce(r.start_ns, 0), 0)",
            Kind::Duration(Unit::Seconds),
        ),
        col(
            "Avg Duration",
            "3546d491-9447-5abe-f1ea-c8363af9b77f",
            "least(coalesce(r.stop_ns, $end), $end) - greatest(coalesce(r.start_ns, 0), 0)",
            Kind::Duration(Unit::Seconds),
        ),
        col(
            "Min Duration",
            "fd1c6bea-5148-5a94-f0d2-720385dfddf6",
            "least(coalesce(r.stop_ns, $end), $end) - greatest(coalesce(r.start_ns, 0), 0)",
            Kind::Duration(Unit::Seconds),
        ),
        col(
            "Max Duration",
            "fa105ddf-fff0-57fb-8472-3b02066ee626",
            "least(coalesce(r.stop_ns, $end), $end) - greatest(coalesce(r.start_ns, 0), 0)",
            Kind::Duration(Unit::Seconds),
        ),
        col(
            "Package Full Name",
            "a5e0fdb2-8afa-59e2-91e7-5ade1195b805",
            "r.package",
            Kind::Text,
        ),
        col(
            "Start Time",
            "36c00ec5-61f8-5f89-a066-641288a34ca9",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "End Time",
            "19fb5aa9-a5fc-5f14-cb83-fad0691e92a8",
            "r.stop_ns",
            Kind::Moment,
        ),
        named("Exit Code", "r.exit_code", Kind::Number),
        named("User SID", "r.sid", Kind::Text),
        col(
            "Hosted Services",
            "a876035b-24bc-564f-3f6a-cede5f8c8918",
            "services.names",
            Kind::Text,
        ),
    ],
    unfilled: &[
        unfilled(
            "Process Tree",
            "d9e7685f-5f02-5731-d181-5545f0e0c5d3",
            "rows are not nested here; Parent Process ID shows the parent",
        ),
        unfilled(
            "Creation Stack",
            "d8e83424-bba6-55cf-41b7-d164f0cd3c7a",
            "extracts do not keep stacks of starts and ends of processes",
        ),
        unfilled(
            "Destruction Stack",
            "1b57a82a-5597-58e4-eddf-46d996048180",
            "extracts do not keep stacks of starts and ends of processes",
        ),
        unfilled(
            "Package Relative Application Id",
            "a38e516d-6cf2-5659-97f7-5b4d7b128289",
            "extracts keep the full name of the package alone",
        ),
        unfilled(
            "Modern Application Friendly Name",
            "7c8085f1-33de-5a34-b975-ff02c3a942fb",
            "extracts keep the full name of the package alone",
        ),
    ],
};

/// A row for each module of a process.
pub(super) static IMAGES: Graph = Graph {
    name: "Images",
    guid: Some("a1df89f9-5b2a-449e-aaab-1bcc3fd25c84"),
    element: None,
    table: "module",
    rows: None,
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join(
            "parent",
            "LEFT JOIN module parent ON parent.module_id = r.parent_module_id",
        ),
    ],
    time: Time::Span("coalesce(r.load_ns, 0)", "coalesce(r.unload_ns, $to)"),
    columns: &[
        col(
            "Process Name",
            "1088f617-20a8-53a7-9952-3eabefc445cf",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "63f64d61-d8b1-5fe8-661a-4e48aaf8c613",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Image Name",
            "805996ba-9555-5226-f229-e3a3c0625e12",
            "r.name",
            Kind::Text,
        ),
        col(
            "Image Path",
            "8db8684a-9af9-5134-8fac-ea61c4f2cee1",
            "r.path",
            Kind::Text,
        ),
        col(
            "Parent Image Name",
            "9c84e061-f412-5cd0-1ef5-336821b37382",
            "parent.name",
            Kind::Text,
        ),
        col(
            "Load Reason",
            "8c7175b2-2ccc-5612-79ca-e6cbffdaa6c4",
            "CASE r.load_reason WHEN 0 THEN 'StaticDependency' WHEN 1 THEN 'StaticForwarderDependency' WHEN 2 THEN 'DynamicForwarderDependency' WHEN 3 THEN 'DelayLoadDependency' WHEN 4 THEN 'Dynamic' WHEN 5 THEN 'MappedImage' WHEN 6 THEN 'MappedData' ELSE CAST(r.load_reason AS VARCHAR) END",
            Kind::Text,
        ),
        col(
            "Count",
            "756d7d5a-a03f-5d80-6eba-c3aa94cfe34b",
            "1",
            Kind::Number,
        ),
        col(
            "ImageSize",
            "a3ca869a-9c38-5325-e8cd-e6b0d562a72a",
            "r.size",
            Kind::Hex,
        ),
        col(
            "Company Name",
            "4cfbf4ef-4d37-5805-a53a-53d60d46f323",
            "r.company",
            Kind::Text,
        ),
        col(
            "File Description",
            "79c9c924-a76c-57f7-8a45-9570d12a6a0c",
            "r.description",
            Kind::Text,
        ),
        col(
            "File Version",
            "0ffcc6cd-c664-593b-f363-92d7bfd0de4f",
            "r.file_version",
            Kind::Text,
        ),
        col(
            "Product Version",
            "fd3a50be-1505-5e37-7b71-fd7f2f1e0963",
            "r.product_version",
            Kind::Text,
        ),
        col(
            "TimeDateStamp",
            "16e51d5d-f040-5d0f-072e-0242ec3890ca",
            "CAST(r.time_date_stamp AS BIGINT) & 4294967295",
            Kind::Hex,
        ),
        col(
            "Start Address",
            "542dbdbb-e4f1-5cb0-f70a-2da71320e1ce",
            "r.base",
            Kind::Hex,
        ),
        col(
            "End Address",
            "2b724277-8050-5de3-b33f-997462ea0eed",
            "r.base + r.size",
            Kind::Hex,
        ),
        col(
            "Start Time",
            "84fa7f2c-c8bb-575c-e607-9b03f2839a2d",
            "r.load_ns",
            Kind::Moment,
        ),
        col(
            "End Time",
            "b5b4978f-1421-5920-14e0-f4edbe844cd6",
            "r.unload_ns",
            Kind::Moment,
        ),
    ],
    unfilled: &[
        unfilled(
            "Load Stack",
            "26b77cb5-b290-5151-5b9a-184315cef673",
            "extracts do not keep stacks of loads",
        ),
        unfilled(
            "Original File Name",
            "53836370-15a4-5b6d-9cbd-0e4c23a36846",
            "extracts do not keep it of the version resource",
        ),
        unfilled(
            "Relocated Count",
            "3a9fa0d1-876d-5b93-009a-2cbb3b5e1448",
            "extracts do not keep the address that a module prefers",
        ),
    ],
};

/// A row for each thread instance.
pub(super) static THREADS: Graph = Graph {
    name: "Thread Lifetimes",
    guid: Some("a20f1ccd-d67f-4cdf-a186-0fd3f6535f18"),
    element: None,
    table: "thread",
    rows: None,
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join(
            "start_frame",
            "LEFT JOIN frame start_frame ON start_frame.frame_id = r.start_frame_id",
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
    time: Time::Span("coalesce(r.start_ns, 0)", "coalesce(r.stop_ns, $to)"),
    columns: &[
        col(
            "Process Name",
            "2b1971b8-3ed4-472f-ad6e-80d8569447d4",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "70beb539-3db0-46b5-b417-7eeb1f520e9d",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Thread ID",
            "cc358559-00e0-40c1-8b00-c031b7cc67e8",
            "r.tid",
            Kind::Number,
        ),
        col(
            "Lifetime",
            "a24c016c-2e58-4263-a878-e3931e41bb82",
            "CASE WHEN r.start_ns IS NULL AND r.stop_ns IS NULL THEN 'Permanent' WHEN r.start_ns IS NULL THEN 'Ended in trace' WHEN r.stop_ns IS NULL THEN 'Started in trace' ELSE 'Transient' END",
            Kind::Text,
        ),
        col(
            "Count",
            "6915eddd-0597-4454-bc37-cdd3d9deb1e9",
            "1",
            Kind::Number,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "r.name",
            Kind::Text,
        ),
        col(
            "Thread Start Module",
            "5b043402-efed-46d9-84bc-fbff69d81f52",
            "start_module.name",
            Kind::Text,
        ),
        col(
            "Thread Start Function",
            "bf979999-e911-4c4a-adce-004553af6ff8",
            function!("start_method", "start_frame"),
            Kind::Text,
        ),
        col(
            "Start Time",
            "f3a8ebc5-aa2a-4e2b-941b-3bcc5b8425b3",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "End Time",
            "8666bd5a-97a6-4b8f-94b4-f0ac184d98d0",
            "r.stop_ns",
            Kind::Moment,
        ),
    ],
    unfilled: &[
        unfilled(
            "Creation Stack",
            "e3d2c6ff-a1bc-4bf4-adb9-618c9b3c1cb7",
            "extracts do not keep stacks of starts and ends of threads",
        ),
        unfilled(
            "Start Rundown Stack",
            "e4f53056-a46f-46fa-91e4-3601a7d73ddc",
            "extracts do not keep stacks of starts and ends of threads",
        ),
        unfilled(
            "End Rundown Stack",
            "969de915-d420-413e-8123-60141266728c",
            "extracts do not keep stacks of starts and ends of threads",
        ),
        unfilled(
            "TEB Base",
            "6ebb8b5c-e436-48b7-b550-1549e9e0feec",
            "thread events have it, and extracts do not keep it",
        ),
    ],
};

/// A row for each service that ran, with the process that contains it. Its own changes are not in an
/// extract.
pub(super) static SERVICES: Graph = Graph {
    name: "Services",
    guid: Some("9745a443-5ba5-4305-aebe-493f04c7fc96"),
    element: None,
    table: "service",
    rows: None,
    only: None,
    joins: &[join(
        "p",
        "LEFT JOIN process p ON p.process_key = r.process_key",
    )],
    time: Time::Span("coalesce(p.start_ns, 0)", "coalesce(p.stop_ns, $to)"),
    columns: &[
        col(
            "Service",
            "1c2f9e6a-f185-4482-99bd-91090dc7ee46",
            "r.name",
            Kind::Text,
        ),
        col(
            "Container",
            "53552ac7-8665-4626-b288-b3f23277ffa5",
            "CASE WHEN r.process_name IS NULL AND p.name IS NULL THEN 'Unknown' ELSE concat(coalesce(p.name, r.process_name), ' (', CAST(r.pid AS VARCHAR), ')') END",
            Kind::Process("coalesce(p.name, r.process_name, 'Unknown')"),
        ),
        col(
            "Container Init At",
            "03285645-c53e-4874-803f-297d8e88ad42",
            "p.start_ns",
            Kind::Moment,
        ),
        named("Display Name", "r.display_name", Kind::Text),
        named("Process ID", "r.pid", Kind::Number),
        named("Count", "1", Kind::Number),
    ],
    unfilled: &[
        unfilled(
            "Started At",
            "c3379c10-b562-47ca-b4fb-dd6dddccb8e5",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
        unfilled(
            "Group",
            "c63f2445-2a75-4135-ad01-2b0c66be3874",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
        unfilled(
            "Transition",
            "50c87be4-d11b-4266-bbcc-471b7a4453f3",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
        unfilled(
            "Container Init Time",
            "088559b6-f9a5-4e4f-9e35-1ec3ecaaced0",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
        unfilled(
            "Service Init Time",
            "6e95fe55-3022-410d-aec8-6a06a136fdf6",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
        unfilled(
            "Image Load Time",
            "929353b6-e052-4151-b564-43bdf23f9eaa",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
        unfilled(
            "End Thread ID",
            "624da6ac-e55a-4c0c-a8ca-2d1f69fb73bc",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
        unfilled(
            "Execution Phase",
            "4b484e7a-426f-41f7-badb-c622c5f06218",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
        unfilled(
            "Start Type",
            "6c6476f3-b556-4497-9e82-ee13502c5f16",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
        unfilled(
            "Ended At",
            "e163d10e-c44b-4108-9339-d9b5148538df",
            "extracts have a list of the services that ran, not the events of their starts and stops",
        ),
    ],
};

/// A row for each phase of a boot, as `dump boot` finds them.
pub(super) static BOOT: Graph = Graph {
    name: "Boot Phases",
    guid: Some("da13748b-71c7-4ba1-a61d-6ae4e527e261"),
    element: None,
    table: "process",
    rows: Some(BOOT_PHASES),
    only: None,
    joins: &[],
    time: Time::Span("r.start_ns", "coalesce(r.end_ns, $to)"),
    columns: &[
        Column {
            name: "Phase Name",
            guid: Some("09f9ab65-72c9-5447-c56b-99d749bced3c"),
            sql: "r.phase",
            kind: Kind::Text,
            means: &[
                ("Pre Session Init", "kernel"),
                ("Session Init", "session"),
                ("Winlogon Init", "logon"),
            ],
        },
        col(
            "Phase #",
            "4d7f9f8e-bbe4-5ca7-003d-b982d1642eb9",
            "CAST(r.sort_value AS BIGINT)",
            Kind::Number,
        ),
        col(
            "Duration",
            "40fb0280-d775-513b-203f-77a5fb761913",
            "r.duration_ns",
            Kind::Duration(Unit::Seconds),
        ),
        col(
            "Start Time",
            "12020749-a4c5-5ed4-7316-9eefb76c72c9",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "End Time",
            "a80e59b2-f58f-543e-18e9-6e8fd4b49a84",
            "r.end_ns",
            Kind::Moment,
        ),
        named("Count", "1", Kind::Number),
    ],
    unfilled: &[],
};
