//! Findings: the rules' report of a planted cause, with everything that the page needs to go to it.

use std::fs::File;
use std::path::PathBuf;

use etwkit_synth::cards::{self, Case};
use etwkit_testkit::is_exhaustive;
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
    // Its evidence shows just the cost.
    assert_eq!(found["shows"], "");
    // The evidence is words for the page, and a line for people: with the trace, and quoted.
    let evidence = &found["evidence"][0];
    assert_eq!(evidence["words"][1], "wait");
    assert_eq!(evidence["processes"], json!([found["process_key"]]));
    let command = evidence["command"].as_str().unwrap();
    assert!(
        command.starts_with("etwkit dump wait --process "),
        "{command}"
    );
    // Quotes that cmd, PowerShell and sh agree on, also around an apostrophe.
    assert!(command.ends_with(r#"card's trace.etl""#), "{command}");
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

/// Cards of which one shows each kind of spot: waits below a module and below methods, CPU of a
/// module, ready time, and tables. `scripts/test --all` goes through all cards.
const ONE_OF_EACH: [&str; 6] = [
    "filter-scan",
    "user-lock",
    "antivirus-cpu",
    "wrong-cores",
    "write-cache-off",
    "dns-timeout",
];

/// A server with the trace of a card and its symbols that is ready.
fn with_symbols(card: &'static cards::Card) -> Place {
    let place = Place::new();
    let folder = place.folder.path();
    let case = Case::new(vec![card], 7);
    let trace = folder.join("card.etl");
    case.write(File::create(&trace).unwrap()).unwrap();
    for file in case.symbols() {
        let path = folder.join("card.symbols").join(&file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &file.text).unwrap();
    }
    place.open(&trace);
    place
}

/// Returns what the view of a spot shows: nanoseconds of a flame graph, rows of a table.
fn shown_at(place: &Place, finding: &Value) -> i64 {
    let spot = &finding["spot"];
    let selection = json!({"range": finding["range"], "chips": spot["chips"]});
    let Some(weight) = spot["weight"].as_str() else {
        let table = match spot["view"].as_str().unwrap() {
            "disk" => "disk_io",
            "file" => "file_io",
            "hard-fault" => "hard_fault",
            "dns" => "dns_query",
            "registry" => "registry_io",
            other => panic!("{other} is no view of rows"),
        };
        let rows = place.answer(
            "rows",
            &json!({"trace": 0, "table": table, "columns": [], "selection": selection, "sort": null, "offset": 0, "limit": 100}),
        );
        return i64::try_from(rows["rows"].as_array().unwrap().len()).unwrap();
    };
    let flame = place.answer(
        "flame",
        &json!({
            "trace": 0, "selection": selection, "weight": weight, "direction": "top_down",
            "by_process": false, "by_tag": false, "focus": null, "least_share": 0.001, "max_nodes": 2000,
        }),
    );
    flame["nodes"][0]["total"].as_i64().unwrap()
}

#[test]
fn the_spot_of_a_finding_shows_all_of_its_victims() {
    let place = Place::new();
    let trace = place.folder.path().join("bash.etl");
    etwkit_synth::find("git-bash")
        .unwrap()
        .write(
            File::create(&trace).unwrap(),
            &etwkit_synth::Options::default(),
        )
        .unwrap();
    place.open(&trace);
    let answer = place.answer("findings", &json!({"trace": 0}));
    let found = of_rule(&answer, "filter-scan").unwrap();
    let processes = &found["spot"]["chips"][0]["values"];
    assert!(processes.as_array().unwrap().len() > 1, "{found}");
    assert!(shown_at(&place, found) >= found["cost_ns"].as_i64().unwrap() * 9 / 10);
}

#[test]
fn the_spot_of_a_finding_shows_its_rows() {
    let all = cards::CARDS
        .iter()
        .filter(|card| is_exhaustive() || ONE_OF_EACH.contains(&card.name));
    let mut wrong = Vec::new();
    for card in all {
        let place = with_symbols(card);
        let answer = place.answer("findings", &json!({"trace": 0}));
        let Some(found) = of_rule(&answer, card.rule) else {
            wrong.push(format!("{}: not found", card.name));
            continue;
        };
        if found["spot"].is_null() {
            continue;
        }
        let shown = shown_at(&place, found);
        // The sum of threads and calls is at least the time in which one of them stood still. What
        // the rule cuts away at the edges is less than a tenth.
        let least = match found["spot"]["weight"].as_str() {
            Some(_) => found["cost_ns"].as_i64().unwrap_or(1) * 9 / 10,
            None => 1,
        };
        if shown < least {
            wrong.push(format!(
                "{}: {shown} of {least} at {}",
                card.name, found["spot"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
