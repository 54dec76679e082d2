//! Several open traces are compared as runs of one test.

use std::fs::File;

use etwkit_synth::Options;
use serde_json::{Value, json};

use super::support::Place;

/// A server with so many runs of a test that takes longer for several reasons.
fn with_runs(count: u64) -> Place {
    let place = Place::new();
    let scenario = etwkit_synth::find("test-runs").unwrap();
    for seed in 1..=count {
        let path = place.folder.path().join(format!("run{seed}.etl"));
        let options = Options {
            seed,
            ..Options::default()
        };
        scenario
            .write(File::create(&path).unwrap(), &options)
            .unwrap();
        place.open(&path);
    }
    place
}

fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().unwrap()
}

#[test]
fn causes_have_the_value_of_each_run_and_a_line_through_the_runs() {
    let place = with_runs(8);
    // The first trace is named twice and counts once.
    let traces = [0, 1, 2, 3, 4, 5, 6, 7, 0];
    let options = json!({"process": "ReportTest.exe"});
    let answer = place.answer("explain", &json!({"traces": traces, "options": options}));
    let sentence = answer["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with(
            "The slow half of 8 runs took 98 ms longer than the fast one (304 ms against 207 ms; \
             lifetime of ReportTest.exe)"
        ),
        "{sentence}"
    );
    assert_eq!(answer["metric"], "lifetime of ReportTest.exe");
    let runs = list(&answer, "runs");
    let traces: Vec<u64> = runs
        .iter()
        .map(|run| run["trace"].as_u64().unwrap())
        .collect();
    assert_eq!(traces, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        (&runs[6]["half"], &runs[1]["half"]),
        (&json!("slow"), &json!("fast"))
    );
    let is_lookup = |cause: &&Value| {
        let names = list(cause, "moves_with");
        names.contains(&json!("DNS query reports.contoso.example [ReportTest.exe]"))
    };
    let lookup = list(&answer, "causes").iter().find(is_lookup).unwrap();
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap();
    assert!((number(lookup, "effect_ms") - 57.1).abs() < 0.1, "{lookup}");
    assert_eq!(lookup["unit"], "ms");
    let points = list(lookup, "points");
    assert_eq!(points.len(), 8);
    let is_above = |point: &&Value| {
        let run = &runs[usize::try_from(point["run"].as_u64().unwrap()).unwrap()];
        let line =
            number(lookup, "base_ms") + number(lookup, "ms_per_unit") * number(point, "value");
        number(run, "metric_ms") > line
    };
    assert_eq!(points.iter().filter(is_above).count(), 4, "{lookup}");
    assert_eq!(answer["groups"], json!([]));
    let command = answer["source"]["command"].as_str().unwrap();
    assert!(
        command.starts_with("etwkit dump explain --process ReportTest.exe ")
            && command.ends_with("run8.etl"),
        "{command}"
    );
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let place = with_runs(1);
    let ask = |request: Value| place.post("explain", &request);
    assert_eq!(ask(json!({"traces": [9], "options": {}})).status, 404);
    assert_eq!(ask(json!({"traces": [], "options": {}})).status, 400);
    let unknown = json!({"traces": [0], "options": {"no_such": 1}});
    assert_eq!(ask(unknown).status, 400);
    let by_label = ask(json!({"traces": [0], "options": {"group-by": "color"}}));
    assert_eq!(by_label.status, 400);
    assert!(
        by_label.json()["message"]
            .as_str()
            .unwrap()
            .contains("no run has the label color")
    );
    let one = place.answer("explain", &json!({"traces": [0], "options": {}}));
    assert!(
        one["sentence"]
            .as_str()
            .unwrap()
            .starts_with("There is nothing to compare: 1 run "),
        "{one}"
    );
}
