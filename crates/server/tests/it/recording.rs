//! Recording from the page, against the stand-in of wpr.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etwkit_record::{Control, Outcome, Runner, Step};
use etwkit_server::Limits;
use serde_json::{Value, json};

use super::support::Place;

/// Answers in this process as wpr and the other programs of Windows do.
struct StandIn(PathBuf);

impl Runner for StandIn {
    fn run(&mut self, step: &Step) -> io::Result<Outcome> {
        let words: Vec<&str> = [step.program]
            .into_iter()
            .chain(step.args.iter().map(String::as_str))
            .collect();
        let (code, text) = etwkit_testkit::stand_in::noted(&self.0, &words);
        Ok(Outcome {
            code: Some(code),
            text,
        })
    }
}

/// A server on a machine that the stand-in records. Faults are planted in its folder.
fn recorded() -> Place {
    let control = |folder: &Path| Control {
        runner: Box::new(StandIn(folder.to_owned())),
        machine: "MAGNON".to_owned(),
        settings: folder.join("settings"),
        recordings: folder.join("recordings"),
    };
    Place::with(Limits::default(), |folder| Some(control(folder)))
}

fn plant(place: &Place, fault: &str) {
    fs::write(place.folder.path().join(fault), "").unwrap();
}

fn state(place: &Place) -> Value {
    place.answer("record", &json!({}))
}

/// The state as soon as no step runs in the background.
fn settled(place: &Place) -> Value {
    let begun = Instant::now();
    loop {
        let state = state(place);
        if state["step"] == "idle" || state["step"] == "recording" {
            return state;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{state}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn start(place: &Place) -> Value {
    let request = json!({"profiles": ["default", "cswitch"], "to_file": false});
    place.answer("record/start", &request);
    settled(place)
}

/// Checks that a request is refused, and returns the error.
fn refused(place: &Place, question: &str, request: &Value) -> (u16, String, String) {
    let reply = place.post(question, request);
    let failure = reply.json();
    assert!(failure["hint"].is_string(), "{failure}");
    let text = |name: &str| failure[name].as_str().unwrap().to_owned();
    (reply.status, text("code"), text("message"))
}

/// The lines of wpr that change a recording.
fn lines(place: &Place) -> Vec<String> {
    let text = fs::read_to_string(place.folder.path().join("lines")).unwrap_or_default();
    text.lines()
        .filter(|line| line.starts_with("wpr -") && !line.starts_with("wpr -status"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_recording_is_started_marked_written_and_opened() {
    let place = recorded();
    let idle = state(&place);
    assert_eq!(
        (&idle["is_possible"], &idle["step"], &idle["written"]),
        (&json!(true), &json!("idle"), &Value::Null)
    );
    let profiles = idle["profiles"].as_array().unwrap();
    assert_eq!(profiles[0]["name"], "default");
    assert!(
        profiles[0]["questions"]
            .as_array()
            .unwrap()
            .contains(&json!("cpu"))
    );
    assert!(profiles.iter().all(|profile| profile["name"] != "boot"));
    let folder = place.folder.path().join("recordings");
    assert_eq!(idle["folder"], folder.to_str().unwrap());

    start(&place);
    let started = state(&place);
    assert_eq!(started["step"], "recording");
    assert_eq!(started["recorded"], json!(["default", "cswitch"]));
    assert_eq!(
        started["counts"],
        json!([{"name": "Dropped event", "value": 0}, {"name": "Events Lost", "value": 0}])
    );
    let marked = place.answer("record/mark", &json!({"text": "the dialog opened"}));
    assert_eq!(marked["marks"], 1);
    place.answer("record/stop", &json!({}));
    let ended = settled(&place);
    assert_eq!(
        (&ended["step"], &ended["failure"], &ended["warnings"]),
        (&json!("idle"), &Value::Null, &json!([]))
    );
    let written = PathBuf::from(ended["written"].as_str().unwrap());
    assert!(written.starts_with(&folder) && written.exists());
    assert_eq!(
        place.settled(&written).last().unwrap(),
        &json!({"is": "ready"})
    );
    let lines = lines(&place);
    assert_eq!(lines[1], "wpr -marker the dialog opened");
    assert!(lines[2].starts_with("wpr -stop ") && lines.len() == 3);
    assert_eq!(place.running.recording_note(), None);
}

#[test]
fn there_is_one_recording_at_a_time() {
    let place = recorded();
    plant(&place, "slow");
    let request = json!({"profiles": ["cpu"], "to_file": true});
    let first = place.answer("record/start", &request);
    assert_eq!(first["step"], "starting");
    let already = (
        409,
        "conflict".to_owned(),
        "a recording is running already".to_owned(),
    );
    assert_eq!(refused(&place, "record/start", &request), already);
    let (status, _, message) = refused(&place, "record/stop", &json!({}));
    assert_eq!(
        (status, message.as_str()),
        (409, "the recording is being started or ended")
    );
    assert_eq!(settled(&place)["step"], "recording");
    assert_eq!(refused(&place, "record/start", &request), already);
    let note = place.running.recording_note().unwrap();
    assert!(note.contains("`etwkit record stop NAME`"), "{note}");
    place.answer("record/cancel", &json!({}));
    let ended = settled(&place);
    assert_eq!(
        (&ended["step"], &ended["written"]),
        (&json!("idle"), &Value::Null)
    );
    let lines = lines(&place);
    assert!(lines[0].ends_with("!cpu -filemode"), "{lines:?}");
    assert_eq!(lines[1..], ["wpr -cancel"]);
}

#[test]
fn without_a_recording_nothing_is_ended_or_marked() {
    let place = recorded();
    let idle = (
        409,
        "conflict".to_owned(),
        "nothing is being recorded".to_owned(),
    );
    let nothing = json!({});
    assert_eq!(refused(&place, "record/stop", &nothing), idle);
    assert_eq!(refused(&place, "record/cancel", &nothing), idle);
    let mark = json!({"text": "slow now"});
    assert_eq!(refused(&place, "record/mark", &mark), idle);
    assert_eq!(lines(&place), Vec::<String>::new());
}

#[test]
fn clients_choose_known_profiles_and_texts_of_marks_alone() {
    let place = recorded();
    for profiles in [
        json!([]),
        json!(["boot"]),
        json!(["CPU"]),
        json!(["cpu", "C:\\x.wprp!cpu"]),
        json!(["cpu -cancel"]),
    ] {
        let request = json!({"profiles": profiles, "to_file": false});
        let (status, code, _) = refused(&place, "record/start", &request);
        assert_eq!((status, code.as_str()), (400, "bad_request"), "{profiles}");
    }
    assert_eq!(place.post("record/start", &json!({})).status, 400);
    start(&place);
    for text in ["", "-cancel", " /stop", "a\r\nb", &"x".repeat(201)] {
        let (status, _, _) = refused(&place, "record/mark", &json!({"text": text}));
        assert_eq!(status, 422, "{text:?}");
    }
    assert_eq!(state(&place)["marks"], 0);
    assert_eq!(lines(&place).len(), 1, "the start");
}

#[test]
fn a_recorder_that_fails_is_reported_and_a_recording_is_not_lost() {
    let place = recorded();
    plant(&place, "denied");
    let denied = start(&place);
    assert_eq!(denied["step"], "idle");
    let failure = &denied["failure"];
    assert_eq!(failure["code"], "recorder");
    assert!(
        failure["message"]
            .as_str()
            .unwrap()
            .contains("needs the rights of an administrator"),
        "{failure}"
    );
    assert!(failure["hint"].is_string());
    let heal = |fault: &str| fs::remove_file(place.folder.path().join(fault)).unwrap();
    heal("denied");

    assert_eq!(start(&place)["failure"], Value::Null);
    plant(&place, "full");
    place.answer("record/stop", &json!({}));
    let full = settled(&place);
    assert_eq!(full["step"], "recording");
    assert!(
        full["failure"]["message"]
            .as_str()
            .unwrap()
            .contains("the recording goes on"),
        "{full}"
    );
    heal("full");
    place.answer("record/stop", &json!({}));
    assert!(settled(&place)["written"].is_string());
}

#[test]
fn a_recording_that_another_program_ends_is_over() {
    let place = recorded();
    let end = || fs::remove_file(place.folder.path().join("recording")).unwrap();
    start(&place);
    end();
    place.answer("record/stop", &json!({}));
    let ended = settled(&place);
    assert_eq!(ended["step"], "idle");
    assert_eq!(ended["failure"]["code"], "recorder");
    // Without a step of the page, the counts show it.
    start(&place);
    end();
    let is_over = |_: &etwkit_server::Running| state(&place)["step"] == "idle";
    assert!(place.until(Duration::from_secs(30), is_over));
    let message = &state(&place)["failure"]["message"];
    assert_eq!(message, "another program ended the recording");
}

#[test]
fn recording_needs_the_token_and_the_page_of_this_server() {
    let place = recorded();
    let [host, origin, token] = place.lines();
    let body = json!({"profiles": ["cpu"], "to_file": false}).to_string();
    for question in ["", "/start", "/mark", "/stop", "/cancel"] {
        let first = format!("POST /api/v1/record{question}");
        let status = |lines: &[&str]| place.raw(&first, lines, body.as_bytes()).status;
        assert_eq!(status(&[&host, &origin]), 401, "{first}");
        assert_eq!(
            status(&[&host, "Origin: http://evil.example", &token]),
            403,
            "{first}"
        );
        // A link or a picture on a page of others sends GET.
        let first = format!("GET /api/v1/record{question}");
        let reply = place.raw(&first, &[&host, &origin, &token], b"");
        assert_eq!(reply.status, 405, "{first}");
    }
    assert_eq!(lines(&place), Vec::<String>::new());
}

#[test]
fn elsewhere_nothing_can_be_recorded() {
    let place = Place::new();
    let state = state(&place);
    assert_eq!(
        (&state["is_possible"], &state["profiles"]),
        (&json!(false), &json!([]))
    );
    let request = json!({"profiles": ["cpu"], "to_file": false});
    let (status, code, message) = refused(&place, "record/start", &request);
    assert_eq!(
        (status, code.as_str(), message.as_str()),
        (404, "not_found", "this machine cannot be recorded")
    );
}
