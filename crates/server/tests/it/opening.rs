//! Opening traces.

use std::time::Duration;

use serde_json::json;

use super::support::Place;

#[test]
fn a_trace_is_opened_in_the_background() {
    let place = Place::new();
    assert_eq!(place.get("info").json()["traces"], json!([]));
    let trace = place.trace("office.etl");
    let first = place.post("open", &json!({"path": trace})).json();
    let state = &first["traces"][0]["state"]["is"];
    assert!(state == "opening" || state == "ready", "{state}");
    let seen = place.settled(&trace);
    assert_eq!(seen.last().unwrap(), &json!({"is": "ready"}));
    for state in &seen[..seen.len() - 1] {
        assert!(!state["step"].as_str().unwrap().is_empty());
        assert!(
            state["done"]
                .as_f64()
                .is_none_or(|done| (0.0..=1.0).contains(&done))
        );
    }
    let info = place.get("info").json();
    let opening = &info["traces"][0]["opening"];
    assert_eq!(opening["hash"].as_str().unwrap().len(), 16);
    assert!(opening["range"]["to_ns"].as_i64().unwrap() > 0);
    assert!(
        opening["tables"]
            .as_array()
            .unwrap()
            .iter()
            .any(|table| table["name"] == "cpu_sample")
    );
    let questions = opening["questions"].as_array().unwrap();
    let all = place.get("schema").json()["questions"]
        .as_array()
        .unwrap()
        .len();
    assert!(
        questions.contains(&json!("cpu")) && questions.len() < all,
        "{questions:?}"
    );
    assert_eq!(info["recent"][0]["name"], "office.etl");
    // Opening it again opens nothing.
    place.open(&trace);
    assert_eq!(
        place.get("info").json()["traces"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn what_cannot_be_opened_says_why_and_the_server_goes_on() {
    let place = Place::new();
    let broken = place.folder.path().join("broken.etl");
    std::fs::write(&broken, b"no trace at all").unwrap();
    for path in [broken, place.folder.path().join("none.etl")] {
        let last = place.open(&path).pop().unwrap();
        assert_eq!(last["is"], "failed");
        assert!(
            !last["message"].as_str().unwrap().is_empty() && last["hint"].is_string(),
            "{last}"
        );
    }
    let reply = place.post("sql", &json!({"trace": 0, "sql": "SELECT 1", "limit": 1}));
    assert_eq!(
        (reply.status, reply.json()["code"].clone()),
        (404, json!("not_found"))
    );
    let trace = place.trace("office.etl");
    assert_eq!(place.open(&trace).pop().unwrap()["is"], "ready");
}

#[test]
fn a_file_of_another_kind_is_neither_a_trace_nor_an_extract() {
    let place = Place::new();
    let notes = place.folder.path().join("notes.txt");
    std::fs::write(&notes, b"no trace at all").unwrap();
    let last = place.open(&notes).pop().unwrap();
    let message = last["message"].as_str().unwrap();
    assert!(
        message.contains("notes.txt is neither a trace nor an extract"),
        "{message}"
    );
    assert!(last["hint"].as_str().unwrap().contains(".etl, "), "{last}");
}

#[test]
fn an_address_of_another_store_is_not_a_missing_file() {
    let place = Place::new();
    for address in ["gcs://traces/a.etl", "abfs://farm/a.etwx"] {
        let reply = place.post("open", &json!({"path": address}));
        assert_eq!(reply.status, 400);
        let failure = reply.json();
        let message = format!(
            "cannot open {address}: expected a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER \
             or gs://BUCKET/FOLDER"
        );
        assert_eq!(failure["message"], message);
        assert!(failure["hint"].is_string(), "{failure}");
    }
    assert_eq!(place.get("info").json()["traces"], json!([]));
}

#[test]
fn a_lake_is_not_opened() {
    let place = Place::new();
    let lake = place.folder.path().join("lake");
    std::fs::create_dir_all(lake.join("run").join("_delta_log")).unwrap();
    let run = format!("{}#0123456789abcdef", lake.display());
    for path in [lake.to_str().unwrap(), &run] {
        let reply = place.post("open", &json!({"path": path}));
        assert_eq!(reply.status, 400);
        let failure = reply.json();
        let message = format!("the page does not open the runs of a lake: {path}");
        assert_eq!(failure["message"], message);
        assert!(
            failure["hint"].as_str().unwrap().contains("LAKE#RUN"),
            "{failure}"
        );
    }
    assert_eq!(place.get("info").json()["traces"], json!([]));
}

#[test]
fn two_traces_answer_for_themselves() {
    let place = Place::new();
    let first = place.trace("first.etl");
    place.open(&first);
    // The page sends a trace that the server does not have, and opens the demonstration.
    let bytes = std::fs::read(&first).unwrap();
    let info = place.send("upload?name=sent%20one.etl", &bytes).json();
    assert_eq!(info["traces"][1]["name"], "sent one.etl");
    let info = place.post("demo", &json!({})).json();
    assert_eq!(info["traces"].as_array().unwrap().len(), 3);
    let ready = |_: &etwkit_server::Running| {
        let info = place.get("info").json();
        info["traces"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["state"]["is"] == "ready")
    };
    assert!(place.until(Duration::from_secs(120), ready));
    for trace in 0..3 {
        let sql = "SELECT count(*) > 0 FROM cpu_sample";
        let answer = place.answer("sql", &json!({"trace": trace, "sql": sql, "limit": 1}));
        assert_eq!(answer["tables"][0]["rows"], json!([[true]]));
    }
    let recent = place.get("info").json()["recent"].to_string();
    assert!(
        !recent.contains("sent one"),
        "what was sent goes with the server"
    );
}
