//! Heaps and pool of a scenario: the sums of extracts equal the sums of single events and blocks.

use std::fs::File;
use std::path::Path;

use etwkit_engine::{Asking, question};
use etwkit_synth::Options;
use serde_json::{Map, Value, json};

use super::support::{Place, answers};

/// The rows of a question to the trace.
fn rows(place: &Place, trace: &Path, name: &str, values: &Value) -> Vec<Map<String, Value>> {
    let mut request = question(name)
        .unwrap()
        .read(values.as_object().unwrap())
        .unwrap();
    let trace = [trace.to_owned()];
    let asked = answers(&place.engine, &Asking::default(), &trace, &mut *request).unwrap();
    let (_, answer) = asked[0].answer.as_ref().unwrap();
    let table = &answer
        .as_ref()
        .unwrap_or_else(|error| panic!("{name} {values}: {error}"))
        .parts[0]
        .table;
    (0..table.len())
        .map(|row| table.record(row).unwrap())
        .collect()
}

/// The sum of a column.
fn sum(rows: &[Map<String, Value>], column: &str) -> i64 {
    rows.iter().map(|row| row[column].as_i64().unwrap()).sum()
}

#[test]
fn sums_of_heaps_and_pool_are_those_of_single_events() {
    let place = Place::new();
    let trace = place.folder.path().join("memory.etl");
    let scenario = etwkit_synth::find("memory").unwrap();
    scenario
        .write(File::create(&trace).unwrap(), &Options::default())
        .unwrap();
    let counts = [
        "allocations",
        "allocated_bytes",
        "frees",
        "outstanding_blocks",
        "outstanding_bytes",
    ];
    for (name, by) in [("heap", "process"), ("pool", "process"), ("pool", "tag")] {
        let all = rows(&place, &trace, name, &json!({ "by": by }));
        // A range makes the question add up events instead of taking sums, and this one covers the
        // whole trace.
        let part = rows(
            &place,
            &trace,
            name,
            &json!({ "by": by, "range": "-1..1000" }),
        );
        assert_eq!(part, all, "{name} by {by}");
        assert!(!all.is_empty(), "{name} by {by}");
        let by_stack = rows(&place, &trace, name, &json!({ "by": "stack" }));
        for count in counts {
            assert_eq!(
                sum(&by_stack, count),
                sum(&all, count),
                "{name} by {by}: {count}"
            );
        }
        assert!(
            sum(&all, "outstanding_bytes") > 0 && sum(&all, "frees") > 0,
            "{name}: {all:?}"
        );
        let left = rows(
            &place,
            &trace,
            name,
            &json!({ "details": true, "leak": true }),
        );
        assert_eq!(
            i64::try_from(left.len()).unwrap(),
            sum(&all, "outstanding_blocks"),
            "{name}"
        );
    }
    let heaps = rows(&place, &trace, "heap", &json!({}));
    assert_eq!(
        rows(&place, &trace, "heap", &json!({ "range": "-1..1000" })),
        heaps
    );
    assert!(
        heaps
            .iter()
            .all(|heap| heap["peak_bytes"].as_i64() >= heap["outstanding_bytes"].as_i64())
    );
}
