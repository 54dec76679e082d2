//! CPU usage: samples, scheduling slices, activities, DPCs and interrupts.

use super::{Column, Graph, Kind, Time, col, function, join, named, process, process_name};
use crate::format::Unit;

/// SQL of the start of a slice. An extract of a part of a trace has no switch-in of a thread that
/// ran when the part began, and no switch-out of a thread that ran when it ended. A slice over the
/// whole part has neither.
macro_rules! begin {
    () => {
        "coalesce(r.in_ns, r.out_ns - r.run_ns, $end - r.run_ns)"
    };
}

/// SQL of the end of a slice; null if it is not known, as before a gap.
macro_rules! end {
    () => {
        "coalesce(r.out_ns, r.in_ns + r.run_ns, CASE WHEN r.run_ns IS NOT NULL THEN $end END)"
    };
}

/// SQL of the moment from which a slice has its activity.
macro_rules! attributed_begin {
    () => {
        concat!(
            "greatest(",
            begin!(),
            ", coalesce(a.start_ns, ",
            begin!(),
            "))"
        )
    };
}

/// SQL of the moment until which a slice has its activity.
macro_rules! attributed_end {
    () => {
        concat!("least(", end!(), ", coalesce(a.stop_ns, ", end!(), "))")
    };
}

/// SQL of the part of a slice that is inside the view, by the macros of its start and its end.
/// `greatest` and `least` ignore nulls: without the condition, a slice of unknown length would
/// cover the whole view.
macro_rules! in_view {
    ($begin:ident, $end:ident) => {
        concat!(
            "CASE WHEN r.run_ns IS NOT NULL THEN greatest(least(",
            $end!(),
            ", $to) - greatest(",
            $begin!(),
            ", $from), 0) END"
        )
    };
}

/// A row for each sample, including samples of idle processors.
pub(super) static SAMPLED: Graph = Graph {
    name: "CPU Usage (Sampled)",
    guid: Some("b855361e-7be0-4bc8-a754-3e8507715ca5"),
    element: Some("CpuSamplingGraphTreeItem"),
    table: "cpu_sample",
    only: None,
    // Left joins everywhere: a sample of a process without a description is still a row, and
    // counts.
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
        join("leaf", "LEFT JOIN stack leaf ON leaf.stack_id = r.stack_id"),
        join("frame", "LEFT JOIN frame ON frame.frame_id = leaf.frame_id"),
        join(
            "code",
            "LEFT JOIN module code ON code.module_id = frame.module_id",
        ),
        join(
            "method",
            "LEFT JOIN method ON method.method_id = frame.method_id",
        ),
    ],
    time: Time::Moment("r.ts_ns"),
    columns: &[
        col(
            "Process Name",
            "9c1ceec3-ef4a-4865-b678-d774881187b9",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "5b77e48f-6d24-4f29-8972-69c30e32f87d",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Stack",
            "842af11e-661d-477e-b7b6-556ed8181177",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "Thread ID",
            "05100ece-df05-40c7-aad6-ffff99b60491",
            "t.tid",
            Kind::Number,
        ),
        col(
            "Module",
            "ccdb05c1-04a9-4289-aaa6-a376d1d66012",
            "coalesce(code.name, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Function",
            "7ad93780-708c-471c-9e3f-5a497cbefdd7",
            function!("method", "frame"),
            Kind::Text,
        ),
        Column {
            name: "DPC/ISR",
            guid: Some("d0028ea0-aa66-452a-882a-616fd8b9fdce"),
            sql: "CASE WHEN r.is_dpc_isr THEN 'DPC/ISR' ELSE 'Regular CPU Usage' END",
            kind: Kind::Text,
            means: &[("DPC", "DPC/ISR"), ("ISR", "DPC/ISR")],
        },
        col(
            "Address",
            "9aa2e00d-db0a-4207-a0bd-964aa492356e",
            "frame.address",
            Kind::Hex,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "t.name",
            Kind::Text,
        ),
        col(
            "CPU",
            "55d56ebb-77af-4af5-a056-6122751ea093",
            "r.cpu",
            Kind::Number,
        ),
        col(
            "Count",
            "01a82c2c-5048-4c9d-ac37-eaf6556f6af5",
            "CASE WHEN r.is_idle THEN 0 ELSE 1 END",
            Kind::Number,
        ),
        col(
            "Weight (in view)",
            "63cfb4e2-a24c-4e9d-80f2-393f03794d60",
            "r.weight_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "Weight",
            "e0c6cb9e-04c2-4bb5-ba5f-4ed765f4ecaa",
            "r.weight_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "% Weight",
            "f5ebf01b-f7cb-4afb-877d-c36edb2a62b6",
            "r.weight_ns",
            Kind::Percent,
        ),
        col(
            "TimeStamp",
            "0bbf4299-0176-445e-b1d9-991df475d631",
            "r.ts_ns",
            Kind::Moment,
        ),
        col(
            "Priority",
            "5a1e1ba4-6a14-43e5-96eb-3b462be470fe",
            "r.priority",
            Kind::Number,
        ),
        col(
            "Thread Start Module",
            "3cdbbb36-8a85-40ae-8e0d-f3a2e95636dd",
            "start_module.name",
            Kind::Text,
        ),
        col(
            "Thread Start Function",
            "d2449267-714a-402e-af70-cffb62621dfa",
            function!("start_method", "start_frame"),
            Kind::Text,
        ),
        col(
            "Source File Name",
            "13476f4a-b43c-4fbd-90b4-fd3db82f622c",
            "frame.source_file",
            Kind::Text,
        ),
        col(
            "Source Line Number",
            "fbbedb24-7344-4ec5-a469-c798d05460b9",
            "frame.line",
            Kind::Number,
        ),
        col(
            "Image RVA",
            "fc3b3d26-edaa-43f9-9300-af5ab4aff04d",
            "frame.rva",
            Kind::Hex,
        ),
        col(
            "Inlined Functions",
            "35780678-c25b-4e08-8b82-7efb20d9fcae",
            "frame.inlined",
            Kind::Text,
        ),
    ],
};

/// A row for each scheduling slice, with the preceding wait of its thread.
pub(super) static PRECISE: Graph = Graph {
    name: "CPU Usage (Precise)",
    guid: Some("c58f5fea-0319-4046-932d-e695ebe20b47"),
    element: None,
    table: "context_switch",
    // The row of an open wait has no slice: its thread was not switched in again before the trace
    // ended.
    only: Some("NOT r.is_open_wait"),
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
        join(
            "rt",
            "LEFT JOIN thread rt ON rt.thread_key = r.readying_thread_key",
        ),
        join(
            "rp",
            "LEFT JOIN process rp ON rp.process_key = rt.process_key",
        ),
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
    time: Time::Span(begin!(), end!()),
    columns: &[
        col(
            "New Process Name",
            "f64abe19-837a-4e53-8087-4547026b82b2",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "New Process",
            "b065487c-5e32-4f1f-a2cd-581e086ce29e",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "New Thread Id",
            "944ed37a-5774-421e-b2d5-84f17a4b3a05",
            "t.tid",
            Kind::Number,
        ),
        col(
            "New Thread Stack",
            "68482a06-b6a3-4eb9-922f-9fa43537148b",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "Ready Thread Stack",
            "74714606-d216-4cfa-a7d8-7ccb9c67de76",
            "r.readying_stack_id",
            Kind::Stack,
        ),
        col(
            "Readying Process Name",
            "5b7c10a2-868c-415c-826e-0b8065de3872",
            process_name!("rp"),
            Kind::Text,
        ),
        col(
            "Readying Process",
            "a91e1d66-1316-4baa-b95d-e69aeeef891e",
            process!("rp"),
            Kind::Process(process_name!("rp")),
        ),
        col(
            "Readying Thread Id",
            "4ce38ba6-1665-4d3a-91cb-35b64f8c4280",
            "rt.tid",
            Kind::Number,
        ),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "t.name",
            Kind::Text,
        ),
        col(
            "Ready Time",
            "7bb1053b-8f03-4c72-89f1-a5f8b9c45a9e",
            "r.readied_ns",
            Kind::Moment,
        ),
        col(
            "Count",
            "d227f58f-ec9b-4a52-8fe5-e082771c55c6",
            "CASE WHEN r.in_ns IS NULL THEN 0 ELSE 1 END",
            Kind::Number,
        ),
        col(
            "Time Since Last",
            "17a03387-5d14-405a-a5b2-0201c934f917",
            "r.in_ns - r.last_out_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Ready",
            "906ea81e-ab68-4dfd-9b9f-3adafab60f83",
            "r.ready_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Waits",
            "6d598aa8-2ec4-46cd-b71a-88a239dfacf7",
            "r.wait_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Count: Waits",
            "1db45bc8-4cd5-49f3-a0ec-7f861d33c7a2",
            "CASE WHEN r.in_ns IS NULL OR p.pid = 0 THEN 0 ELSE 1 END",
            Kind::Number,
        ),
        col(
            "Switch-In Time",
            "5417f63c-9b79-45aa-beb9-73e3c1959221",
            "r.in_ns",
            Kind::Moment,
        ),
        col(
            "Last Switch-Out Time",
            "71d9a1a9-f32c-4b0b-8f09-09b56cbbb843",
            "r.last_out_ns",
            Kind::Moment,
        ),
        col(
            "Next Switch-Out Time",
            "b0394c3a-60ba-4305-84d6-82384bd863cb",
            "r.out_ns",
            Kind::Moment,
        ),
        col(
            "New In Pri",
            "5664dbf4-e565-4b15-add0-3e826ee25c10",
            "r.priority",
            Kind::Number,
        ),
        col(
            "New Out Pri",
            "f88c657f-5f13-4477-a713-eaf1abf81ece",
            "coalesce(r.out_priority, r.priority)",
            Kind::Number,
        ),
        col(
            "New Prev State",
            "11628f2a-3000-43af-9924-d99198ae9be2",
            "thread_state_name(r.prev_state)",
            Kind::Text,
        ),
        col(
            "New Prev Wait Reason",
            "fe7ccd45-6275-413e-a538-3587f0eb452b",
            "wait_reason_name(r.wait_reason)",
            Kind::Text,
        ),
        col(
            "New Prev Wait Mode",
            "f9284962-f8ee-4344-817a-ca44acd3a75d",
            "CASE WHEN r.is_user_wait THEN 'UserMode' WHEN r.is_user_wait IS NOT NULL THEN 'KernelMode' END",
            Kind::Text,
        ),
        col(
            "CPU",
            "2575f38e-f991-4ce5-bafb-793e2ba1936a",
            "r.cpu",
            Kind::Number,
        ),
        col(
            "New Thread Start Module",
            "59117e0d-0465-42c7-a758-52728c5b0099",
            "start_module.name",
            Kind::Text,
        ),
        col(
            "New Thread Start Function",
            "b09b3bba-08ea-4e1b-9c16-4d0bb97926fb",
            function!("start_method", "start_frame"),
            Kind::Text,
        ),
        col(
            "New Switch-In Time",
            "03a1d898-7231-4cc5-9712-4bfbf53908c7",
            "r.run_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Adjust Reason",
            "009bfba2-9a07-4a98-92a8-56b5970d365d",
            "r.adjust_reason",
            Kind::Number,
        ),
        col(
            "Ready Thread In DPC",
            "cecd6383-5322-4832-9e8b-6706fe3dcaa1",
            "CASE WHEN r.is_readied_by_dpc THEN 'True' ELSE 'False' END",
            Kind::Text,
        ),
        col(
            "Prev CState",
            "6143445c-c984-49f5-994b-9351a7520f3c",
            "r.prev_c_state",
            Kind::Number,
        ),
        col(
            "CPU Usage (in view)",
            "e008ed7a-15b0-40ab-854b-b5f6392f298b",
            in_view!(begin, end),
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "% CPU Usage",
            "fc672588-da05-4f43-991f-6b644a3f5b3d",
            in_view!(begin, end),
            Kind::Percent,
        ),
    ],
};

/// A row for each scheduling slice, cut where the activity of its thread changes: the activity is
/// the region of interest that the thread started last and has not ended.
pub(super) static ATTRIBUTED: Graph = Graph {
    name: "CPU Usage (Attributed)",
    guid: None,
    element: None,
    table: "context_switch",
    only: Some("NOT r.is_open_wait"),
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
        join(
            "a",
            concat!(
                "LEFT JOIN activity a ON a.process_key = r.process_key AND a.tid = t.tid AND a.start_ns < ",
                end!(),
                " AND a.stop_ns > ",
                begin!()
            ),
        ),
    ],
    time: Time::Span(attributed_begin!(), attributed_end!()),
    columns: &[
        named("Process Name", process_name!("p"), Kind::Text),
        named("Process", process!("p"), Kind::Process(process_name!("p"))),
        named("Thread ID", "t.tid", Kind::Number),
        named("Thread Name", "t.name", Kind::Text),
        named("Activity", "coalesce(a.name, 'Unattributed')", Kind::Text),
        named("CPU", "r.cpu", Kind::Number),
        named(
            "Count",
            concat!(
                "CASE WHEN r.in_ns IS NULL OR a.start_ns > ",
                begin!(),
                " THEN 0 ELSE 1 END"
            ),
            Kind::Number,
        ),
        named("Start Time", attributed_begin!(), Kind::Moment),
        named("End Time", attributed_end!(), Kind::Moment),
        named(
            "CPU Usage (in view)",
            in_view!(attributed_begin, attributed_end),
            Kind::Duration(Unit::Milliseconds),
        ),
        named(
            "% CPU Usage",
            in_view!(attributed_begin, attributed_end),
            Kind::Percent,
        ),
    ],
};

/// A row for each DPC or interrupt, not for each of its fragments.
pub(super) static DPC_ISR: Graph = Graph {
    name: "DPC/ISR",
    guid: Some("79926001-a767-4658-9d56-cdbfc8140de9"),
    element: None,
    table: "dpc_isr",
    only: None,
    joins: &[
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
    time: Time::Span("r.start_ns", "r.end_ns"),
    columns: &[
        col(
            "Type",
            "d5a86240-d136-4a72-8a9f-4e180e559f1b",
            "CASE WHEN r.kind = 'isr' THEN 'Interrupt' ELSE 'DPC' END",
            Kind::Text,
        ),
        col(
            "DPC Type",
            "3be8ba6f-c4fa-488d-9e14-8351d4145503",
            "CASE r.kind WHEN 'dpc' THEN 'Regular' WHEN 'timer_dpc' THEN 'Timer' WHEN 'threaded_dpc' THEN 'Threaded' END",
            Kind::Text,
        ),
        col(
            "Module",
            "493f4085-4841-4383-a5ff-488235bfecf8",
            "coalesce(code.name, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Function",
            "4d81e6ec-6954-49e7-bde1-4e94aa82bb63",
            function!("method", "frame"),
            Kind::Text,
        ),
        col(
            "Address",
            "ce22f63e-a200-452f-8468-354ad7284c41",
            "frame.address",
            Kind::Hex,
        ),
        col(
            "CPU",
            "51f00195-dd7f-435e-a366-4c780884d01d",
            "r.cpu",
            Kind::Number,
        ),
        col(
            "Vector",
            "2e2ad6c8-0688-4a75-87dc-10dc3cd6d2db",
            "r.vector",
            Kind::Number,
        ),
        named("Stack", "r.stack_id", Kind::Stack),
        col(
            "DPC/ISR Enter Time",
            "3b58342e-8dd6-4d7e-8b37-7b55e3736154",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "DPC/ISR Exit Time",
            "23bdef64-045a-4c9a-959c-2bd23e1e379d",
            "r.end_ns",
            Kind::Moment,
        ),
        col(
            "Inclusive Duration",
            "8bcdd2f1-4691-474a-ba44-733d8337ec48",
            "r.duration_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Exclusive Duration",
            "36badece-bb81-434c-990a-0013d733f50e",
            "r.duration_ns - r.nested_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "% Inclusive Duration",
            "d08a034e-40ef-407a-b0ff-027d25ddfe57",
            "r.duration_ns",
            Kind::Percent,
        ),
        col(
            "% Exclusive Duration",
            "b2d83b26-4f29-4029-b06c-87ca6467cf5e",
            "r.duration_ns - r.nested_ns",
            Kind::Percent,
        ),
        col(
            "Count (DPCs/ISRs)",
            "815d0429-22c1-4b9b-ab98-500689e5b2db",
            "1",
            Kind::Number,
        ),
    ],
};
