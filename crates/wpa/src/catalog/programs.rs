//! Programs: processes, their modules and threads.

use super::{Graph, Kind, Time, col, function, join, named, process, process_name};
use crate::format::Unit;

/// A row for each process instance.
pub(super) static PROCESSES: Graph = Graph {
    name: "Processes",
    guid: Some("b186f02d-8d06-4bbb-9ad1-abf7985fb61a"),
    element: None,
    table: "process",
    only: None,
    joins: &[],
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
    ],
};

/// A row for each module of a process.
pub(super) static IMAGES: Graph = Graph {
    name: "Images",
    guid: Some("a1df89f9-5b2a-449e-aaab-1bcc3fd25c84"),
    element: None,
    table: "module",
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
};

/// A row for each thread instance.
pub(super) static THREADS: Graph = Graph {
    name: "Thread Lifetimes",
    guid: Some("a20f1ccd-d67f-4cdf-a186-0fd3f6535f18"),
    element: None,
    table: "thread",
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
};
