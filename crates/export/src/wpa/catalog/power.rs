//! Processors: their speed, and what their counters counted.

use super::unfilled::unfilled;
use super::{Graph, Kind, Time, col, function, join, named, process, process_name, services};
use crate::wpa::format::Unit;

/// A row for each time in which a processor had one speed.
pub(super) static FREQUENCY: Graph = Graph {
    name: "Processor Frequency",
    guid: Some("9cfb2296-2c89-45af-a5bd-23b4885dcbab"),
    element: None,
    table: "cpu_frequency",
    rows: None,
    only: None,
    joins: &[],
    time: Time::Span("r.start_ns", "r.stop_ns"),
    columns: &[
        col(
            "Type",
            "f8ed33d8-05ac-55eb-5d34-b37ea176d89d",
            "r.kind",
            Kind::Text,
        ),
        col(
            "CPU",
            "a5d97d95-7d3e-5e7b-aadc-15dd67ff5e01",
            "r.cpu",
            Kind::Number,
        ),
        col(
            "Count",
            "bb519e7c-644e-5b47-3077-741bf8423b30",
            "1",
            Kind::Number,
        ),
        col(
            "Frequency (MHz)",
            "295c55a8-dbc8-5d2a-c1fa-a583d19d2f13",
            "r.mhz",
            Kind::Number,
        ),
        col(
            "Entry Time",
            "c5c5a3a4-deb5-5053-e4f8-cc66d6f59fb7",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "Exit Time",
            "44bfb966-82b4-566b-f1f2-09dea60b66a3",
            "r.stop_ns",
            Kind::Moment,
        ),
        col(
            "% Duration",
            "de6b5937-9f57-5a44-0fcb-c4455625c5b6",
            "r.stop_ns - r.start_ns",
            Kind::Percent,
        ),
        col(
            "Sum:Duration",
            "2776fca8-56ce-52f5-1ca8-1b3a67d9f6df",
            "r.stop_ns - r.start_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "Min:Duration",
            "f8b2de32-93a1-531c-1f2e-c9ea06de9c98",
            "r.stop_ns - r.start_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "Max:Duration",
            "c53efc0b-4f34-5023-5dc2-dab94c6da7ad",
            "r.stop_ns - r.start_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
    ],
    unfilled: &[],
};

/// A row for each time in which a processor had one speed, as a share of its usual one.
pub(super) static PERFORMANCE: Graph = Graph {
    name: "Processor Performance",
    guid: Some("d0b4b788-cf4e-40f0-973f-7abc33e53f08"),
    element: None,
    table: "cpu_frequency",
    rows: None,
    only: Some("r.performance_percent IS NOT NULL"),
    joins: &[],
    time: Time::Span("r.start_ns", "r.stop_ns"),
    columns: &[
        col(
            "Type",
            "c6b7e842-8189-51db-15ee-2446c5776750",
            "r.kind",
            Kind::Text,
        ),
        col(
            "CPU",
            "337e720c-de18-51ad-d791-ce8f7e9e3318",
            "r.cpu",
            Kind::Number,
        ),
        col(
            "Count",
            "80cc981b-898a-5161-425d-1c9511aae30c",
            "1",
            Kind::Number,
        ),
        col(
            "Performance %",
            "1c6aa9f8-a55b-57da-a6e4-e01faf7f76a9",
            "r.performance_percent",
            Kind::Number,
        ),
        col(
            "Entry Time",
            "37898339-993a-5045-7ec8-413ae10e8720",
            "r.start_ns",
            Kind::Moment,
        ),
        col(
            "Exit Time",
            "1b6d92ef-5af4-572f-0d73-805ef5fe5c0d",
            "r.stop_ns",
            Kind::Moment,
        ),
        col(
            "% Duration",
            "3fe0fdfd-3261-54ac-6903-21ee918e4d57",
            "r.stop_ns - r.start_ns",
            Kind::Percent,
        ),
        col(
            "Sum:Duration",
            "d1e12cd7-733b-5e1b-f065-5f5c82cbdd21",
            "r.stop_ns - r.start_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "Min:Duration",
            "f80e6a34-beec-5df1-7788-5b3e77fc6a46",
            "r.stop_ns - r.start_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
        col(
            "Max:Duration",
            "d4a615c0-5575-5f35-6739-18b2f09adc16",
            "r.stop_ns - r.start_ns",
            Kind::Duration(Unit::Milliseconds),
        ),
    ],
    unfilled: &[],
};

/// SQL of a counter, by the alias of the join that knows its position.
macro_rules! counter {
    ($alias:literal) => {
        concat!(
            "CASE ",
            $alias,
            ".position WHEN 0 THEN r.value_0 WHEN 1 THEN r.value_1 WHEN 2 THEN r.value_2 WHEN 3 THEN r.value_3 ",
            "WHEN 4 THEN r.value_4 WHEN 5 THEN r.value_5 WHEN 6 THEN r.value_6 END"
        )
    };
}

/// Join of the position of a counter, by its alias and the names that the counter has, the preferred
/// one first.
macro_rules! position {
    ($alias:literal, $first:literal, $second:literal, $third:literal) => {
        concat!(
            "CROSS JOIN (SELECT coalesce(min(CASE name WHEN '",
            $first,
            "' THEN position END), min(CASE name WHEN '",
            $second,
            "' THEN position END), min(CASE name WHEN '",
            $third,
            "' THEN position END)) AS position FROM pmc_counter) ",
            $alias
        )
    };
}

/// A row for each scheduling slice of a thread with counters.
pub(super) static COUNTERS: Graph = Graph {
    name: "Processor Counters",
    guid: Some("373aaf47-d079-45f0-b1d7-7e78139bc927"),
    element: None,
    table: "pmc",
    rows: None,
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
        join(
            "cycles",
            position!(
                "cycles",
                "UnhaltedCoreCycles",
                "TotalCycles",
                "UnhaltedCoreCyclesFixed"
            ),
        ),
        join(
            "instructions",
            position!(
                "instructions",
                "InstructionRetired",
                "TotalIssues",
                "InstructionsRetiredFixed"
            ),
        ),
        join("services", services!("r.process_key")),
    ],
    time: Time::Span("r.ts_ns - r.run_ns", "r.ts_ns"),
    columns: &[
        col(
            "Process Name",
            "5d8d8dba-c732-4fe1-b371-d04b3a4a5ec6",
            process_name!("p"),
            Kind::Text,
        ),
        col(
            "Process",
            "b9abd7ec-7d5e-4816-8684-444db815c4d9",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        col(
            "Service Display Name",
            "23f10e34-8573-4e2d-8b1c-4982208d0988",
            "services.display_names",
            Kind::Text,
        ),
        col(
            "Thread Id",
            "b66aed99-0a46-427f-9be3-157635ac8ac5",
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
            "8331fd67-4d6d-4c0b-99ad-068ae8042b7a",
            "r.cpu",
            Kind::Number,
        ),
        col(
            "Duration",
            "3b536599-3455-47b6-a789-2bf80c4604ef",
            "r.run_ns",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Clipped Duration",
            "53752d46-9394-409c-98af-f6017dbd5281",
            "greatest(least(r.ts_ns, $to) - greatest(r.ts_ns - r.run_ns, $from), 0)",
            Kind::Duration(Unit::Microseconds),
        ),
        col(
            "Cycle Count",
            "e1e7abac-28e1-4338-9815-88e04d51dc29",
            counter!("cycles"),
            Kind::Number,
        ),
        col(
            "Instruction Count",
            "8b257c12-800e-4693-a4fa-4931709a6358",
            counter!("instructions"),
            Kind::Number,
        ),
        col(
            "Count",
            "400d9464-c344-46a1-8cb3-b2a993a79390",
            "1",
            Kind::Number,
        ),
        col(
            "Start Time",
            "1c16459b-9171-4f15-bd8d-e122f2dfe3f7",
            "r.ts_ns - r.run_ns",
            Kind::Moment,
        ),
        col(
            "End Time",
            "82528f65-8bc8-4f7b-935c-dd18f41b31b7",
            "r.ts_ns",
            Kind::Moment,
        ),
    ],
    unfilled: &[],
};

/// A row for each sample of a counter.
pub(super) static COUNTER_SAMPLES: Graph = Graph {
    name: "PMC Samples",
    guid: Some("2adccbce-775d-4d71-bc88-df317d004293"),
    element: None,
    table: "pmc_sample",
    rows: None,
    only: None,
    joins: &[
        join("p", "LEFT JOIN process p ON p.process_key = r.process_key"),
        join("t", "LEFT JOIN thread t ON t.thread_key = r.thread_key"),
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
            "Counter",
            "0a76179f-f389-5324-add5-de98c4539b0a",
            "r.counter",
            Kind::Text,
        ),
        col(
            "Process",
            "b128ef4c-434b-509b-bcac-a11e5a2412c2",
            process!("p"),
            Kind::Process(process_name!("p")),
        ),
        named("Thread ID", "t.tid", Kind::Number),
        col(
            "Thread Name",
            "cb796d44-2927-5ac1-d231-4b71904c18f5",
            "t.name",
            Kind::Text,
        ),
        col(
            "Module",
            "c9ec93cf-1540-529c-28ab-804688503afe",
            "coalesce(code.name, 'Unknown')",
            Kind::Text,
        ),
        col(
            "Function",
            "df0368f2-2d8c-501e-307c-c0e6dbe00edb",
            function!("method", "frame"),
            Kind::Text,
        ),
        col(
            "Source File Name",
            "66eb41a7-7b4c-5003-b37e-9a22dcb70302",
            "frame.source_file",
            Kind::Text,
        ),
        col(
            "Source Line Number",
            "c61c24d4-fb33-56d8-5a0d-c66e98aecaa2",
            "frame.line",
            Kind::Number,
        ),
        col(
            "Stack",
            "d89bb6f3-da93-5457-bd27-2cf01cb99e5f",
            "r.stack_id",
            Kind::Stack,
        ),
        col(
            "Instruction Pointer",
            "a9b50a67-84d6-52c3-95b8-9f40d0ff1791",
            "frame.address",
            Kind::Hex,
        ),
        col(
            "Count",
            "0ae7ef55-5b3b-50b5-99a0-9f2909e5fb80",
            "1",
            Kind::Number,
        ),
        col(
            "CPU",
            "29002589-2191-5735-af1d-e65e4fb95717",
            "r.cpu",
            Kind::Number,
        ),
        col(
            "Timestamp",
            "3f8af5ba-d699-5218-2186-0407e5f57c1f",
            "r.ts_ns",
            Kind::Moment,
        ),
        col(
            "Sampling Interval",
            "0c074d4e-86e5-5ae6-0e63-e55b55de2060",
            "r.interval",
            Kind::Number,
        ),
        col(
            "Weight",
            "60d28638-1acb-5c85-999c-750cafccfcd0",
            "r.interval",
            Kind::Number,
        ),
    ],
    unfilled: &[unfilled(
        "% Weight",
        "9f52468b-29e2-468f-8d2d-6dd3d5812ed6",
        "counters have different units, and shares of all of them mean nothing; Weight has the amount",
    )],
};
