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

/// Cards of which one shows each kind of spot without a field of stacks: a question that is a view,
/// a question with options, and a column of a table.
const ONE_OF_EACH_QUESTION: [&str; 3] = ["gc-pause", "object-leak", "registry-storm"];

/// Questions whose answers have the time of a finding, with the column that adds it up.
const SUMS: [(&str, &str); 3] = [
    ("gc", "Suspended"),
    ("jit", "Duration"),
    ("dpc", "Exclusive"),
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

/// Returns what the view of a spot shows: nanoseconds of stacks, the number of other rows.
fn shown_at(place: &Place, finding: &Value) -> i64 {
    let spot = &finding["spot"];
    let selection = json!({"range": finding["range"], "chips": spot["chips"]});
    if let Some(weight) = spot["weight"].as_str() {
        let flame = place.answer(
            "flame",
            &json!({
                "trace": 0, "selection": selection, "weight": weight, "direction": "top_down",
                "by_process": false, "by_tag": false, "focus": null, "least_share": 0.001, "max_nodes": 2000,
            }),
        );
        return flame["nodes"][0]["total"].as_i64().unwrap();
    }
    if spot["table"].is_null() {
        let answer = answer_at(place, finding);
        return number_of(&answer["tables"][0]["rows"]);
    }
    let rows = place.answer(
        "rows",
        &json!({
            "trace": 0, "table": spot["table"], "columns": [], "selection": selection,
            "filters": spot["columns"], "sort": null, "offset": 0, "limit": 100,
        }),
    );
    number_of(&rows["rows"])
}

fn number_of(rows: &Value) -> i64 {
    i64::try_from(rows.as_array().unwrap().len()).unwrap()
}

/// Returns the answer to the question of a spot, as the page asks it: chips and the range are options.
fn answer_at(place: &Place, finding: &Value) -> Value {
    let spot = &finding["spot"];
    let mut options = spot["options"].clone();
    let end = |name: &str| finding["range"][name].as_i64().unwrap() as f64 / 1e9;
    let (from, to) = (end("from_ns"), end("to_ns"));
    // The page leaves some space around a finding.
    let space = (to - from) / 50.0;
    options["range"] = json!(format!("{:.9}..{:.9}", (from - space).max(0.0), to + space));
    for chip in spot["chips"].as_array().unwrap() {
        assert_eq!(chip["field"], "process");
        let keys = chip["values"].as_array().unwrap().iter();
        let ids: Vec<String> = keys.map(|key| id_of(place, key)).collect();
        options["process"] = json!(ids.join(";"));
    }
    place.answer(
        "ask",
        &json!({"trace": 0, "question": spot["question"], "options": options}),
    )
}

/// Returns the id of a process with a key.
fn id_of(place: &Place, key: &Value) -> String {
    let key = key.as_str().unwrap();
    let sql = format!("SELECT pid FROM process WHERE process_key = {key}");
    let answer = place.answer("sql", &json!({"trace": 0, "sql": sql, "limit": 1}));
    answer["tables"][0]["rows"][0][0].to_string()
}

/// Returns the time that the answer to the question of a spot adds up, if it has such a column.
fn sum_at(place: &Place, finding: &Value) -> Option<i64> {
    let question = finding["spot"]["question"].as_str()?;
    let (_, column) = SUMS.iter().find(|(known, _)| *known == question)?;
    let answer = answer_at(place, finding);
    let table = &answer["tables"][0];
    let mut columns = table["columns"].as_array().unwrap().iter();
    let at = columns.position(|one| one["name"] == *column).unwrap();
    let rows = table["rows"].as_array().unwrap().iter();
    Some(rows.map(|row| row[at].as_i64().unwrap()).sum())
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
fn the_spot_of_a_largest_cost_shows_its_rows() {
    let place = with_card(true);
    let answer = place.answer("findings", &json!({"trace": 0}));
    let costs = answer["costs"].as_array().unwrap();
    assert!(!costs.is_empty(), "{answer}");
    for cost in costs {
        assert!(cost["spot"]["view"].is_string(), "{cost}");
    }
    let of_kind = |kind: &str| costs.iter().find(|cost| cost["kind"] == kind);
    let processor = of_kind("processor").unwrap();
    assert_eq!(
        shown_at(&place, processor),
        processor["cost_ns"].as_i64().unwrap()
    );
}

#[test]
fn the_spot_of_a_finding_shows_its_rows() {
    let all = cards::CARDS
        .iter()
        .filter(|card| !ONE_OF_EACH_QUESTION.contains(&card.name))
        .filter(|card| is_exhaustive() || ONE_OF_EACH.contains(&card.name));
    let wrong: Vec<String> = all.filter_map(wrong_spot).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_spot_of_a_finding_asks_its_question() {
    let all = cards::CARDS
        .iter()
        .filter(|card| ONE_OF_EACH_QUESTION.contains(&card.name));
    let wrong: Vec<String> = all.filter_map(wrong_spot).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns what is wrong with the spot of the finding of a card.
fn wrong_spot(card: &'static cards::Card) -> Option<String> {
    let place = with_symbols(card);
    let answer = place.answer("findings", &json!({"trace": 0}));
    let Some(found) = of_rule(&answer, card.rule) else {
        return Some(format!("{}: not found", card.name));
    };
    let spot = &found["spot"];
    if spot.is_null() {
        return Some(format!("{}: it has no spot", card.name));
    }
    // The sum of threads and calls is at least the time in which one of them stood still. What
    // the rule cuts away at the edges is less than a tenth.
    let least = (found["cost_ns"].as_i64().unwrap_or(1) * 9 / 10).max(1);
    let (shown, least) = match (spot["weight"].as_str(), sum_at(&place, found)) {
        (None, None) => (shown_at(&place, found), 1),
        (Some(_), _) => (shown_at(&place, found), least),
        (None, Some(sum)) => (sum, least),
    };
    (shown < least).then(|| format!("{}: {shown} of {least} at {spot}", card.name))
}
