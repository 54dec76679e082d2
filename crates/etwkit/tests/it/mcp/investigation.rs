//! Investigations as an agent makes them: the demonstration, and five machines with a planted cause.

use serde_json::{Value, json};

use super::{answer, call, driven, sentences, synth};

/// Cards whose causes are found without names of functions.
const CARDS: [&str; 5] = [
    "filter-scan",
    "dns-timeout",
    "hard-faults",
    "write-cache-off",
    "registry-storm",
];

#[test]
fn the_demo_is_investigated_from_its_path_to_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let (path, truth) = synth(folder.path(), "git-bash");
    let on = |tool: &str, more: Value| {
        let mut arguments = json!({"trace": "t1"});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        call(tool, arguments)
    };
    let steps = json!([
        {"tools": true},
        call("open", json!({"path": path})),
        on("health", json!({})),
        on("questions", json!({})),
        on("questions", json!({"name": "cpu"})),
        on("diagnose", json!({"rows": 3})),
        on("ask", json!({"question": "process", "options": {"process": "bash.exe"}})),
        on("critical_path", json!({"process": "3640", "by-process": true})),
        on("wait_chain", json!({"process": "bash.exe", "method": "*CreateProcessW", "top": 1})),
        on("ask", json!({"question": "cpu", "options": {"process": "NwScanSvc.exe"}})),
        on("sql", json!({"sql": "SELECT name, pid FROM process WHERE name = 'NwScanSvc.exe'"})),
        on("view", json!({})),
        call("open", json!({"path": path})),
        call("list", json!({})),
        on("close", json!({})),
        on("health", json!({})),
    ]);
    let Some(replies) = driven("the_demo", folder.path(), &["mcp"], &steps) else {
        return;
    };
    assert_eq!(
        replies[0]["protocol"], "2026-07-28",
        "the newest revision that the library has"
    );
    assert!(
        replies[0]["instructions"]
            .as_str()
            .unwrap()
            .contains("does not prove")
    );
    let opened = answer(&replies[1]);
    assert_eq!(
        (&opened["trace"], &opened["is_incomplete"]),
        (&json!("t1"), &json!(false))
    );
    assert!(
        !replies[1]["progress"].as_array().unwrap().is_empty(),
        "an extraction says how far it is"
    );
    let health = answer(&replies[2]);
    let can = health["can_answer"].as_array().unwrap();
    assert!(
        can.contains(&json!("wait")) && can.contains(&json!("cpu")),
        "{health:#}"
    );
    let cannot = health["cannot_answer"].as_array().unwrap();
    let dns = cannot.iter().find(|one| one["question"] == "dns").unwrap();
    assert_eq!(dns["record_with"], json!(["dns"]));
    let questions = answer(&replies[3])["questions"].as_array().unwrap();
    assert!(questions.len() > 40 && questions.iter().all(|one| one["sentence"].is_string()));
    let schema = answer(&replies[4]);
    assert!(
        schema["options"]["properties"]["process"].is_object(),
        "{schema:#}"
    );
    assert!(
        schema["columns"]["properties"]["cpu_ns"].is_object(),
        "{schema:#}"
    );
    let diagnosis = answer(&replies[5]);
    assert!(
        diagnosis["rules"]["asked"].as_u64().unwrap() > 20,
        "{diagnosis:#}"
    );
    let measured = diagnosis["measured"].as_array().unwrap();
    assert!(
        measured.iter().any(|one| one["table"] == "context_switch"),
        "what the rules read: {diagnosis:#}"
    );
    assert!(!answer(&replies[6])["rows"].as_array().unwrap().is_empty());
    // Whom it waited for, and the longest wait, are what the simulation did.
    let by_process = answer(&replies[7]);
    assert!(
        by_process["rows"].to_string().contains("NwScanSvc.exe"),
        "{by_process:#}"
    );
    let chain = answer(&replies[8]);
    let wait = |call: &Value| {
        call["chain"][0]["ready_ns"]
            .as_i64()
            .zip(call["chain"][0]["wait_start_ns"].as_i64())
    };
    let calls = truth["calls"].as_array().unwrap();
    let longest = calls
        .iter()
        .filter_map(wait)
        .map(|(readied, start)| readied - start)
        .max()
        .unwrap();
    assert_eq!(chain["rows"][0]["wait_ns"], longest, "{chain:#}");
    assert_eq!(chain["rows"][0]["readying_process"], "NwScanSvc.exe");
    assert_eq!(chain["measured"][0]["table"], "context_switch");
    assert!(sentences(chain, "does_not_prove").contains("that who ended a wait caused its length"));
    assert_eq!(answer(&replies[9])["rows"].as_array().unwrap().len(), 1);
    let by_hand = answer(&replies[10]);
    assert_eq!(
        (&by_hand["rows"][0][0], &by_hand["columns"]),
        (&json!("NwScanSvc.exe"), &json!(["name", "pid"]))
    );
    let view = answer(&replies[11]);
    assert!(
        view["command"]
            .as_str()
            .unwrap()
            .starts_with("etwkit view "),
        "{view}"
    );
    assert!(
        view["link"]
            .as_str()
            .is_some_and(|link| link.starts_with("http://127.0.0.1:"))
            || view["no_link"].is_string()
    );
    assert_eq!(
        answer(&replies[12])["trace"],
        "t1",
        "a trace that is open keeps its handle"
    );
    assert_eq!(answer(&replies[13])["traces"].as_array().unwrap().len(), 1);
    assert_eq!(answer(&replies[14])["closed"], "t1");
    assert_eq!(
        super::error(&replies[15]).0,
        "there is no trace \"t1\"; open: none"
    );
}

#[test]
fn planted_causes_are_named_with_what_they_do_not_prove() {
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<(String, Value)> = CARDS
        .iter()
        .map(|card| synth(folder.path(), card))
        .collect();
    let mut steps = Vec::new();
    for (number, (path, _)) in (1..).zip(&cases) {
        let trace = format!("t{number}");
        steps.push(call("open", json!({"path": path})));
        steps.push(call("diagnose", json!({"trace": trace, "rows": 3})));
    }
    let Some(replies) = driven("planted_causes", folder.path(), &["mcp"], &steps.into()) else {
        return;
    };
    for ((card, (_, truth)), reply) in CARDS.iter().zip(&cases).zip(replies.chunks(2)) {
        let diagnosis = answer(&reply[1]);
        let cause = &truth["causes"][0];
        let rows = diagnosis["rows"].as_array().unwrap();
        let is_it =
            |row: &&Value| row["rule"] == cause["rule"] && row["culprit"] == cause["culprit"];
        let found = rows
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("{card}: {cause:#}\n{diagnosis:#}"));
        assert!(
            sentences(diagnosis, "follows").contains(found["sentence"].as_str().unwrap()),
            "{card}"
        );
        let unproven = format!(
            "{}: {}",
            found["rule"].as_str().unwrap(),
            found["not_proved"].as_str().unwrap()
        );
        assert!(
            sentences(diagnosis, "does_not_prove").contains(&unproven),
            "{card}: {unproven}"
        );
    }
}
