//! Windows on the screen: their delays, and the one that had the focus.

use super::unfilled::unfilled;
use super::{Graph, Kind, Time, col, join, process, process_name};
use crate::wpa::format::Unit;

/// A row for each delay that the system noticed.
pub(super) static UI_DELAYS: Graph = Graph {
    name: "UI Delays",
    guid: Some("920e6241-3dea-46c4-8e4f-04ce08f62c0a"),
    element: None,
    table: "ui_delay",
    rows: None,
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
    ],
    time: Time::Span("r.start_ns", "r.ts_ns"),
    columns: &[
        col(
            "Process",
            "6c8c776e-d434-5624-fcdb-9c753f48995c",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Delay Type",
            "df500143-42c5-5c44-c21a-6db72a05aa08",
            "CASE r.kind WHEN 'message' THEN 'Message check delay' WHEN 'input' THEN 'Input delay' ELSE 'Wait cursor' END",
            Kind::Text,
        ),
        col(
            "Count",
            "06d32d4f-33f2-5982-0ff4-ebc63591a82d",
            "1",
            Kind::Number,
        ),
        col(
            "Thread Id",
            "f97e23bf-f7f9-5a95-ef77-3f88e240f318",
            "t.tid",
            Kind::Number,
        ),
        col(
            "Duration",
            "b6c76b2c-d05a-5596-d7ff-b97ce190ae8b",
            "r.duration_ns",
            Kind::Duration(Unit::Seconds),
        ),
        col(
            "Class Name",
            "18a11f02-48ba-5ee3-0fb4-cec688a659e3",
            "r.class_name",
            Kind::Text,
        ),
        col(
            "Top Level Class Name",
            "27ef60ec-b78e-56ea-4483-e7ef26c59d36",
            "r.top_level_class_name",
            Kind::Text,
        ),
        col(
            "SinceInputRemove (ms)",
            "03caa086-61b9-5259-f3f6-9ac01c5ccd01",
            "r.since_input_remove_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "SinceOldestInput (ms)",
            "f468cec2-4547-5c84-696e-d9f17faa370e",
            "r.since_oldest_input_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "Message Id",
            "6059d1b1-29db-5700-3f71-1b95294f142d",
            "r.message_id",
            Kind::Number,
        ),
        col(
            "WParam",
            "16ccf420-592c-5a89-fb9c-dca154a4edfd",
            "r.wparam",
            Kind::Hex,
        ),
        col(
            "Thread Flags",
            "654b21d5-b577-5401-7b0e-4c927d33ae9b",
            "r.flags",
            Kind::Number,
        ),
        col(
            "Image Path",
            "d2d6c2cb-ce39-5c0f-ef8c-ca226cbe77a3",
            "r.image_path",
            Kind::Text,
        ),
        col(
            "Start Time",
            "0dfa0e06-53e6-5312-d642-d98b56f0dc60",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "End Time",
            "c7d6a333-a213-5b3c-1cb3-0b7632e9c9ef",
            "r.ts_ns",
            Kind::Moment,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "t.name",
            Kind::Text,
        ),
        col(
            "Process Id",
            "6b1caff7-daff-59c0-9494-240714cc0d90",
            "p.pid",
            Kind::Number,
        ),
    ],
    unfilled: &[unfilled(
        "Program Id",
        "a451dc77-20a3-5bd2-bc73-c8ded9b752e2",
        "events of delays name a program by its path and package alone",
    )],
};

/// A row for each stay of the focus in a thread.
pub(super) static FOCUS: Graph = Graph {
    name: "Window in Focus",
    guid: Some("3c18eb9c-2211-4988-bf94-bb029e4ce96e"),
    element: None,
    table: "focus_change",
    rows: None,
    // The table has processes as well as threads, which would count the same time twice.
    only: Some("r.level = 'thread'"),
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
    ],
    time: Time::Span("coalesce(r.ts_ns, 0)", "coalesce(r.end_ns, $to)"),
    columns: &[
        col(
            "Process Name",
            "d58b1dfa-71e4-53f1-ebb1-1777cce99b06",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process Id",
            "a75192ed-1e45-59f1-fed1-ac94a3c908b8",
            "p.pid",
            Kind::Number,
        ),
        col(
            "Thread Id",
            "5f946f93-1ff2-536a-3a12-2ae54c333fe3",
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
            "Count",
            "9da80591-e158-510a-38d6-fe2e46bf8bd9",
            "1",
            Kind::Number,
        ),
        col(
            "Duration",
            "08152814-7d1a-5468-6fe3-b73f6407a197",
            "r.duration_ns",
            Kind::Duration(Unit::Seconds),
        ),
        col(
            "Start Time",
            "f0aebc04-c1a3-598c-b345-f89d4bca4820",
            "r.ts_ns",
            Kind::Moment,
        ),
        col(
            "End Time",
            "458d607c-19fe-5729-fb0a-200224f027b6",
            "r.end_ns",
            Kind::Moment,
        ),
    ],
    unfilled: &[],
};
