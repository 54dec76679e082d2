//! Findings: the rules' report of a planted cause, with everything that the page needs to go to it.

use std::fs::File;
use std::path::PathBuf;

use etwkit_synth::cards::{self, Case};
use serde_json::{Value, json};

use super::support::Place;

/// A server with the trace of a card that is ready.
fn with_card(is_healthy: bool) -> Place {
    let place = Place::new();
    let path: PathBuf = place.folder.path().join("card's trace.etl");
    let case = Case::new(vec![cards::find("filter-scan").unwrap()], 7);
    let case = Case { is_healthy, ..case };
    case.write(File::create(&path).unwrap()).unwrap();
    place.open(&path);
    place
}

fn of_rule<'a>(answer: &'a Value, rule: &str) -> Option<&'a Value> {
    answer["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["rule"] == rule)
}

#[test]
fn a_planted_cause_is_found_with_its_moment_and_evidence() {
    let place = with_card(false);
    let answer = place.answer("findings", &json!({"trace": 0}));
    let found = of_rule(&answer, "filter-scan").unwrap();
    let range = &found["range"];
    let (from, to) = (
        range["from_ns"].as_i64().unwrap(),
        range["to_ns"].as_i64().unwrap(),
    );
    let at = found["at_ns"].as_i64().unwrap();
    assert!(from <= at && at < to, "{found}");
    assert!(
        found["sentence"]
            .as_str()
            .unwrap()
            .contains(found["culprit"].as_str().unwrap()),
        "{found}"
    );
    assert!(
        found["cost_ns"].as_i64().unwrap() > 0 && found["share"].as_f64().unwrap() <= 1.0,
        "{found}"
    );
    // The evidence is words for the page, and a line for people: with the trace, and quoted.
    let evidence = &found["evidence"][0];
    assert_eq!(evidence["words"][1], "wait");
    assert_eq!(evidence["processes"], json!([found["process_key"]]));
    let command = evidence["command"].as_str().unwrap();
    assert!(
        command.starts_with("etwkit dump wait --process "),
        "{command}"
    );
    assert!(command.contains(r"card'\''s trace.etl"), "{command}");
    // The costs descend, and each rule has its outcome.
    let costs: Vec<i64> = answer["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["cost_ns"].as_i64().unwrap_or(-1))
        .collect();
    assert!(costs.is_sorted_by(|a, b| a >= b), "{costs:?}");
    let states: Vec<&str> = answer["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["state"].as_str().unwrap())
        .collect();
    assert!(
        states.contains(&"found") && states.contains(&"not checked"),
        "{states:?}"
    );
    // The answer is kept: a second request gets the same one, with the duration of the first.
    assert_eq!(place.answer("findings", &json!({"trace": 0})), answer);
}

#[test]
fn the_twin_without_the_cause_has_no_such_finding_and_says_what_was_asked() {
    let place = with_card(true);
    let answer = place.answer("findings", &json!({"trace": 0}));
    assert!(of_rule(&answer, "filter-scan").is_none(), "{answer}");
    let rules = answer["rules"].as_array().unwrap();
    assert!(
        rules
            .iter()
            .any(|one| one["rule"] == "filter-scan" && one["state"] == "nothing"),
        "{rules:?}"
    );
    assert_eq!(place.post("findings", &json!({"trace": 9})).status, 404);
}
