//! CPU usage: samples, scheduling slices, activities, DPCs and interrupts.

use super::unfilled::unfilled;
use super::{
    Column, Graph, Kind, Time, col, function, join, named, process, process_name, services,
};
use crate::wpa::format::Unit;

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

/// Join of scheduling slices, by the two columns that find one, their alias and the condition. Where
/// two have the same values, as slices of no length can, none of them is certain to be the right one,
/// and neither is joined.
macro_rules! slices {
    ($first:literal, $second:literal, $alias:literal, $on:literal) => {
        concat!(
            "LEFT JOIN (SELECT ",
            $first,
            " AS first, ",
            $second,
            " AS second, max(thread_key) AS thread, max(process_key) AS process, max(run_ns) AS run, ",
            "max(coalesce(out_priority, priority)) AS last_priority, max(prev_state) AS state, ",
            "max(wait_reason) AS reason, bool_or(is_user_wait) AS is_user ",
            "FROM context_switch GROUP BY ",
            $first,
            ", ",
            $second,
            " HAVING count(*) = 1) ",
            $alias,
            " ON ",
            $on
        )
    };
}

const ON_BEHALF: &str = "extracts have no events of work on behalf of others";
const NO_RANK: &str = "extracts do not keep ranks of threads";
const IN_SYMBOLS: &str = "symbol files say it, and extracts do not keep it";

/// A row for each sample, including samples of idle processors.
pub(super) static SAMPLED: Graph = Graph {
    name: "CPU Usage (Sampled)",
    guid: Some("b855361e-7be0-4bc8-a754-3e8507715ca5"),
    element: Some("CpuSamplingGraphTreeItem"),
    table: "cpu_sample",
    rows: None,
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
    unfilled: &[
        unfilled(
            "Display Name",
            "00875e0c-482f-418d-ab40-decf05030541",
            "extracts have no names of programs for display",
        ),
        unfilled(
            "WorkOnBehalf Thread ID",
            "32acf445-36b3-456e-a54e-19bcad276a4f",
            ON_BEHALF,
        ),
        unfilled(
            "WorkOnBehalf Process Name",
            "303f4b83-026a-4142-979a-247296c5f4cb",
            ON_BEHALF,
        ),
        unfilled(
            "WorkOnBehalf Process",
            "56e0aeb4-5ed0-44a6-a60b-9db4e918e5a1",
            ON_BEHALF,
        ),
        unfilled("Rank", "ab54241e-ce5d-4ef7-a28c-bbcb5b8d39d4", NO_RANK),
        unfilled(
            "Section Name",
            "1667fd6a-0e7f-4a99-9d2c-3ba6a6f5f850",
            IN_SYMBOLS,
        ),
        unfilled(
            "COFF Group",
            "40915a4b-2140-4ed1-95b2-dbee0ae4b34f",
            IN_SYMBOLS,
        ),
        unfilled(
            "Is PGO'ed",
            "6e81cc09-edf0-4ed9-b667-befc9278e035",
            IN_SYMBOLS,
        ),
        unfilled(
            "Compiler Optimization",
            "d8276b3e-7279-431e-a4d1-c7cbc9476869",
            IN_SYMBOLS,
        ),
        unfilled(
            "PGO Dynamic Instruction Count",
            "8a74bcc6-4df6-4dde-9bc0-562237c71034",
            IN_SYMBOLS,
        ),
    ],
};

/// A row for each scheduling slice, with the preceding wait of its thread.
pub(super) static PRECISE: Graph = Graph {
    name: "CPU Usage (Precise)",
    guid: Some("c58f5fea-0319-4046-932d-e695ebe20b47"),
    element: None,
    table: "context_switch",
    rows: None,
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
        join(
            "before",
            slices!(
                "thread_key",
                "out_ns",
                "before",
                "before.first = r.thread_key AND before.second = r.last_out_ns"
            ),
        ),
        join(
            "after",
            slices!(
                "thread_key",
                "last_out_ns",
                "after",
                "after.first = r.thread_key AND after.second = r.out_ns"
            ),
        ),
        join(
            "old",
            slices!(
                "cpu",
                "out_ns",
                "old",
                "old.first = r.cpu AND old.second = r.in_ns"
            ),
        ),
        join(
            "old_after",
            slices!(
                "thread_key",
                "last_out_ns",
                "old_after",
                "old_after.first = old.thread AND old_after.second = r.in_ns"
            ),
        ),
        join("op", "LEFT JOIN process op ON op.process_key = old.process"),
        join("ot", "LEFT JOIN thread ot ON ot.thread_key = old.thread"),
        join(
            "readying_frame",
            "LEFT JOIN frame readying_frame ON readying_frame.frame_id = rt.start_frame_id",
        ),
        join(
            "readying_module",
            "LEFT JOIN module readying_module ON readying_module.module_id = readying_frame.module_id",
        ),
        join(
            "readying_method",
            "LEFT JOIN method readying_method ON readying_method.method_id = readying_frame.method_id",
        ),
        join(
            "old_frame",
            "LEFT JOIN frame old_frame ON old_frame.frame_id = ot.start_frame_id",
        ),
        join(
            "old_module",
            "LEFT JOIN module old_module ON old_module.module_id = old_frame.module_id",
        ),
        join(
            "old_method",
            "LEFT JOIN method old_method ON old_method.method_id = old_frame.method_id",
        ),
        join("services", services!("r.process_key")),
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
        col(
            "New Prev Out Pri",
            "f611f788-c420-49a0-84b2-21ad7cfea811",
            "before.last_priority",
            Kind::Number,
        ),
        col(
            "New State",
            "ef1e0e6d-e243-48e8-b40a-71c408eeae9f",
            "thread_state_name(after.state)",
            Kind::Text,
        ),
        col(
            "New Wait Reason",
            "d8d5d554-5877-4b5a-8df5-7cfa1935430a",
            "wait_reason_name(after.reason)",
            Kind::Text,
        ),
        col(
            "New Wait Mode",
            "3fd1ebd9-3538-443f-b50b-d08de1352271",
            "CASE WHEN after.is_user THEN 'UserMode' WHEN after.is_user IS NOT NULL THEN 'KernelMode' END",
            Kind::Text,
        ),
        col(
            "Old Process Name",
            "c10c7661-6e59-4743-894d-9fbc770a41f3",
            process_name!("op"),
            Kind::Text,
        ),
        col(
            "Old Process",
            "e93e468d-86a2-4f3a-a750-bb3b07c14a0b",
            process!("op"),
            Kind::Process(process_name!("op")),
        ),
        col(
            "Old Thread Id",
            "7e24b8da-fe12-4e69-b8cc-9ab0c22c9734",
            "ot.tid",
            Kind::Number,
        ),
        col(
            "Old Thread Start Module",
            "96d10b76-4157-42d0-8163-91dc0b8b12b5",
            "old_module.name",
            Kind::Text,
        ),
        col(
            "Old Thread Start Function",
            "e99e2971-b205-41e9-894d-ba0c19e2af83",
            function!("old_method", "old_frame"),
            Kind::Text,
        ),
        col(
            "Old Out Pri",
            "3aa1863c-4219-4667-9aa8-aedc0da92bbe",
            "old.last_priority",
            Kind::Number,
        ),
        col(
            "Old State",
            "6d59239b-c825-4f19-bc0f-039d59568408",
            "thread_state_name(old_after.state)",
            Kind::Text,
        ),
        col(
            "Old Wait Reason",
            "89a7715b-5b16-48ec-b6db-f6a28ac4ca63",
            "wait_reason_name(old_after.reason)",
            Kind::Text,
        ),
        col(
            "Old Wait Mode",
            "0a1c969d-e94a-4ca8-83f1-086f55c46dd1",
            "CASE WHEN old_after.is_user THEN 'UserMode' WHEN old_after.is_user IS NOT NULL THEN 'KernelMode' END",
            Kind::Text,
        ),
        col(
            "Old Switch-In Time",
            "ad3b2db0-2dbb-449b-88f5-cf83b8db33ec",
            "old.run",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Readying Thread Start Module",
            "de478623-0270-43d8-b2b4-c7df7b93ec7a",
            "readying_module.name",
            Kind::Text,
        ),
        col(
            "Readying Thread Start Function",
            "3a13296d-8e2d-40d7-8ab6-46ebb2646caa",
            function!("readying_method", "readying_frame"),
            Kind::Text,
        ),
        col(
            "Ideal Cpu",
            "e93dcc3d-9960-446a-aa1d-fa05d47d5aa4",
            "t.ideal_cpu",
            Kind::Number,
        ),
        col(
            "New Service Display Name",
            "e525fd54-5ae2-4e5e-a85d-927abaf8e149",
            "services.display_names",
            Kind::Text,
        ),
    ],
    unfilled: &[
        unfilled(
            "WorkOnBehalf Thread ID",
            "eebb72e2-1b69-4d05-872f-5c09dc909de5",
            ON_BEHALF,
        ),
        unfilled(
            "WorkOnBehalf Process",
            "7ce2a15b-86c2-488e-bea2-4a791f266994",
            ON_BEHALF,
        ),
        unfilled(
            "WorkOnBehalf Process Name",
            "90e30229-fa81-44cc-9996-ec46146daf8d",
            ON_BEHALF,
        ),
        unfilled(
            "NewThreadRank",
            "145e9709-1fc8-4cbf-8119-6a4c9b6bf945",
            NO_RANK,
        ),
        unfilled(
            "New Prev Thread Rank",
            "10400bbf-b55c-4034-94d7-9f190ae0b2c5",
            NO_RANK,
        ),
        unfilled(
            "Old Thread Rank",
            "f0350651-fec4-4716-9fdb-8ccc82bd5c8b",
            NO_RANK,
        ),
        unfilled(
            "New Thread Remaining Quantum",
            "12d422df-3a1b-4030-afad-e99eaf4f0bb8",
            "extracts do not keep quanta of threads",
        ),
        unfilled(
            "New Thread Prev Remaining Quantum",
            "92e39fbc-474d-4552-9b6b-102c770c66a8",
            "extracts do not keep quanta of threads",
        ),
        unfilled(
            "Old Thread Remaining Quantum",
            "f3c40e2a-ad5b-4ec3-ac26-7b966a6da1cb",
            "extracts do not keep quanta of threads",
        ),
        unfilled(
            "New Qnt",
            "32a7f4fc-f7ad-47a3-b5a8-ad740991c9c1",
            "extracts do not keep quanta of threads",
        ),
        unfilled(
            "Old Qnt",
            "2d8aa42b-6fde-45bb-8b4e-230c6adcc656",
            "extracts do not keep quanta of threads",
        ),
        unfilled(
            "New Pri Decr",
            "7d7dabe0-0896-4fd1-9617-1c6758d80da5",
            "extracts do not keep the part of a priority that is a boost",
        ),
        unfilled(
            "Adjust Increment",
            "c0c14208-2fc6-4077-928c-3df6f2f847fe",
            "ready events have it, and extracts do not keep it",
        ),
        unfilled(
            "Kernel Stack Not Resident",
            "196563c2-6480-4353-8ea4-ed9663fd5a6d",
            "ready events have it, and extracts do not keep it",
        ),
        unfilled(
            "Process Out of Memory",
            "c730d632-ba9f-41db-8c2b-ed97918ecd50",
            "ready events have it, and extracts do not keep it",
        ),
        unfilled(
            "Direct Switch Attempt",
            "6536b3d9-1bbd-4268-974d-4f9377122feb",
            "ready events have it, and extracts do not keep it",
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
    rows: None,
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
    unfilled: &[],
};

/// A row for each DPC or interrupt, not for each of its fragments.
pub(super) static DPC_ISR: Graph = Graph {
    name: "DPC/ISR",
    guid: Some("79926001-a767-4658-9d56-cdbfc8140de9"),
    element: None,
    table: "dpc_isr",
    rows: None,
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
    unfilled: &[
        unfilled(
            "Return Value",
            "2489ae5e-7d72-43ef-bfc5-8c4b84589d34",
            "interrupt events have it, and extracts do not keep it",
        ),
        unfilled(
            "MessageIndex",
            "7d573b76-0d30-45b6-965e-241c4e43869e",
            "extracts have one number for it and for the vector: Vector shows it",
        ),
        unfilled(
            "Count (Fragments)",
            "3e42d420-e63f-482b-9d24-d1974f51f750",
            "a DPC or interrupt has one row here, not one for each of its fragments; Exclusive Duration is the sum of theirs",
        ),
        unfilled(
            "Duration (Fragmented)",
            "68e9bd02-5848-4b85-94b4-16f704079529",
            "a DPC or interrupt has one row here, not one for each of its fragments; Exclusive Duration is the sum of theirs",
        ),
        unfilled(
            "% Duration (Fragmented)",
            "eb2af1c4-0a0c-452e-b89e-e89cfdc9f2ca",
            "a DPC or interrupt has one row here, not one for each of its fragments; Exclusive Duration is the sum of theirs",
        ),
        unfilled(
            "Fragment Enter Time",
            "385694db-6c2c-43b1-b887-f424042fde8d",
            "a DPC or interrupt has one row here, not one for each of its fragments; Exclusive Duration is the sum of theirs",
        ),
        unfilled(
            "Fragment Exit Time",
            "0dc53605-c4cd-4ccb-8207-450af8d9ac6d",
            "a DPC or interrupt has one row here, not one for each of its fragments; Exclusive Duration is the sum of theirs",
        ),
        unfilled(
            "Fragment",
            "7cb72020-c75c-43c0-88d7-86d19fb8f262",
            "a DPC or interrupt has one row here, not one for each of its fragments; Exclusive Duration is the sum of theirs",
        ),
    ],
};

/// A row for each scheduling slice, without waits. Compact context switches, which the program also
/// shows in this graph, are not in an extract.
pub(super) static BY_PROCESS: Graph = Graph {
    name: "CPU Usage by Process",
    guid: Some("4237fcb5-808e-4868-ae15-96772fb57e41"),
    element: None,
    table: "context_switch",
    rows: None,
    only: Some("NOT r.is_open_wait"),
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
    ],
    time: Time::Span(begin!(), end!()),
    columns: &[
        col(
            "Process Name",
            "f1f58603-c0ce-4f4c-a9c2-4335e04021d2",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "1e8cbc23-093a-4d49-a8e8-c4ed7951e254",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Thread ID",
            "06a17026-935e-4cc7-82fd-2dd99aca31e6",
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
            "CPU",
            "0686a137-1e89-474f-86cc-bd7e94361d92",
            "r.cpu",
            Kind::Number,
        ),
        col(
            "Switch-In Time",
            "3146e1c7-4112-45b2-bd36-c7c567c944ef",
            "r.in_ns",
            Kind::Moment,
        ),
        col(
            "Time Switched-In",
            "f54f983e-dd2d-4a72-bf45-756c1199b67c",
            "r.run_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "CPU Usage (in view)",
            "002c66b5-fd27-4792-bcb6-b897cceb150f",
            in_view!(begin, end),
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "% CPU Usage",
            "423a4686-a544-4d2a-9aaf-43575b97a9c4",
            in_view!(begin, end),
            Kind::Percent,
        ),
    ],
    unfilled: &[],
};
