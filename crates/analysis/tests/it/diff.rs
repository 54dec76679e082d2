//! The worked example of `docs/diff.md`: stack tags of two parts of one trace.

use etwkit_analysis::diff::{DiffRequest, DiffTable, Parts};
use etwkit_question::Question;
use etwkit_trace::table::CpuSample;
use serde_json::{Map, Value, json};

use super::support::{Machine, off};

const MS: i64 = 1_000_000;

/// A scan by Microsoft Defender in two parts of a trace.
fn machine() -> Machine {
    let mut machine = Machine::new(&["scan.exe"], 400 * MS);
    machine.module = Some("WdFilter.sys");
    let scan = machine.stack(&["Scan"]);
    let sample = |at: i64| CpuSample {
        ts_ns: at * MS,
        process_key: Some(1),
        thread_key: 1,
        weight_ns: MS,
        stack_id: scan,
        ..CpuSample::default()
    };
    machine.samples = [20, 40, 200, 210, 220].map(sample).into();
    machine
        .add(
            off(1, 50 * MS)
                .readied(150 * MS, 1)
                .ran(160 * MS, 250 * MS)
                .in_stack(scan),
        )
        .add(
            off(1, 250 * MS)
                .readied(350 * MS, 1)
                .ran(360 * MS, 380 * MS)
                .in_stack(scan),
        );
    machine
}

fn rows(parts: [&str; 2]) -> Vec<Map<String, Value>> {
    let request = DiffRequest {
        range: Parts(parts.map(str::to_owned).into()),
        table: Some(DiffTable::Tags),
        ..DiffRequest::default()
    };
    let answer = request.answer(&machine().session()).unwrap();
    let of = |table: &dyn etwkit_question::AnyTable| {
        (0..table.len())
            .map(|row| table.record(row).unwrap())
            .collect::<Vec<_>>()
    };
    answer
        .parts
        .iter()
        .flat_map(|part| of(part.records()))
        .collect()
}

#[test]
fn stack_tags_of_two_parts_are_computed_from_what_lies_in_each() {
    let rows = rows(["0..0.1", "0.1..0.3"]);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(
        (&row["name"], &row["of"]),
        (&json!(r"Antivirus\Microsoft Defender"), &json!("scan.exe"))
    );
    assert_eq!(
        (&row["of_time"], &row["difference_ns"]),
        (&json!("wait"), &json!(50 * MS))
    );
    for (name, ms) in [
        ("cpu_a_ns", 2),
        ("cpu_b_ns", 3),
        // 50 to 100 ms of the first wait are in A; the rest of it and 250 to 300 ms of the second
        // one in B.
        ("wait_a_ns", 50),
        ("wait_b_ns", 100),
        ("ready_a_ns", 0),
        ("ready_b_ns", 10),
    ] {
        assert_eq!(row[name], json!(ms * MS), "{name}");
    }
}
