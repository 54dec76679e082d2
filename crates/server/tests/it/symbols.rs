//! Symbols that the page loads.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use etwkit_synth::Options;
use serde_json::{Value, json};

use super::support::Place;

/// The server with a trace of code that has names, and the folder with its symbol files, which is
/// not next to the trace.
fn with_symbols(place: &Place) -> (PathBuf, PathBuf) {
    let folder = place.folder.path();
    let (trace, symbols) = (folder.join("bash.etl"), folder.join("elsewhere"));
    let (scenario, options) = (etwkit_synth::find("git-bash").unwrap(), Options::default());
    scenario
        .write(File::create(&trace).unwrap(), &options)
        .unwrap();
    for file in scenario.symbols(&options).unwrap() {
        let path = symbols.join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file.text).unwrap();
    }
    assert_eq!(place.open(&trace).pop().unwrap()["is"], "ready");
    (trace, symbols)
}

fn state(place: &Place) -> Value {
    place.answer("symbols", &json!({}))
}

fn until(place: &Place, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let state = state(place);
        if is_so(&state) {
            return state;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{state}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Loads symbols and returns the outcome.
fn loaded(place: &Place, path: &str) -> Value {
    let started = place.answer("symbols/load", &json!({"trace": 0, "path": path}));
    assert_eq!(
        (&started["trace"], &started["is_changed"]),
        (&json!(0), &json!(false))
    );
    until(place, |state| state["step"] == "idle")
}

fn refused(place: &Place, question: &str, request: &Value) -> (u16, String) {
    let reply = place.post(question, request);
    let failure = reply.json();
    assert!(failure["hint"].is_string(), "{failure}");
    (
        reply.status,
        failure["message"].as_str().unwrap().to_owned(),
    )
}

/// Number of modules with names, as SQL counts them.
fn named_modules(place: &Place) -> i64 {
    let sql = "SELECT count(function_count) FROM module";
    let answer = place.answer("sql", &json!({"trace": 0, "sql": sql, "limit": 1}));
    answer["tables"][0]["rows"][0][0].as_i64().unwrap()
}

fn replaced(place: &Place) -> Value {
    place.get("info").json()["traces"][0]["replaced"].clone()
}

fn states(answer: &Value) -> Vec<&str> {
    let modules = answer["modules"].as_array().unwrap();
    modules
        .iter()
        .map(|one| one["state"].as_str().unwrap())
        .collect()
}

#[test]
fn names_of_a_folder_are_there_without_a_restart() {
    let place = Place::new();
    let (trace, symbols) = with_symbols(&place);
    let first = state(&place);
    assert_eq!(
        (&first["step"], &first["trace"]),
        (&json!("idle"), &Value::Null)
    );
    assert_eq!((named_modules(&place), replaced(&place)), (0, json!(0)));

    let answer = loaded(&place, symbols.to_str().unwrap());
    assert_eq!(answer["failure"], Value::Null, "{answer}");
    assert_eq!(answer["is_changed"], true);
    let addresses = answer["addresses"].as_u64().unwrap();
    let named = answer["named"].as_u64().unwrap();
    assert!(0 < named && named <= addresses, "{answer}");
    let found = answer["modules"].as_array().unwrap().iter();
    let found: Vec<&Value> = found.filter(|one| one["state"] == "found").collect();
    let kernel = found
        .iter()
        .find(|one| one["name"] == "ntoskrnl.exe")
        .unwrap();
    assert!(
        kernel["detail"].as_str().unwrap().ends_with(".sym"),
        "{kernel}"
    );

    // The server opens the new extract by itself.
    assert_eq!(place.settled(&trace).pop().unwrap()["is"], "ready");
    assert_eq!(replaced(&place), 1);
    assert!(named_modules(&place) > 0);
    let request = json!({
        "trace": 0, "of": null, "find": "", "selection": {"range": null, "chips": []}, "limit": 100,
    });
    let owners = place.answer("modules", &request)["owners"].take();
    let owners = owners.as_array().unwrap().iter();
    let with_symbols: i64 = owners
        .map(|one| one["with_symbols"].as_i64().unwrap())
        .sum();
    assert!(with_symbols > 0);
}

#[test]
fn a_place_without_the_files_says_so_and_changes_nothing() {
    let place = Place::new();
    with_symbols(&place);
    let folder = |name: &str| place.folder.path().join(name).display().to_string();
    fs::create_dir(folder("empty")).unwrap();
    let empty = loaded(&place, &folder("empty"));
    let states_of_empty = states(&empty);
    assert!(!states_of_empty.is_empty(), "{empty}");
    assert!(
        states_of_empty.iter().all(|state| *state == "not_found"),
        "{empty}"
    );
    let none = loaded(&place, &folder("none"));
    assert!(states(&none).contains(&"failed"), "{none}");
    assert!(none.to_string().contains("is no folder"), "{none}");
    for answer in [empty, none] {
        assert_eq!(
            (&answer["is_changed"], &answer["named"], &answer["failure"]),
            (&json!(false), &json!(0), &Value::Null)
        );
    }
    assert_eq!((named_modules(&place), replaced(&place)), (0, json!(0)));
}

#[test]
fn a_path_is_data_of_limited_length() {
    let place = Place::new();
    with_symbols(&place);
    for (path, message) in [
        (String::new(), "no place to look"),
        (" ; ".to_owned(), "no place to look"),
        ("ftp://127.0.0.1/symbols".to_owned(), "http and https only"),
        ("http*x".to_owned(), "starts with srv*"),
        ("a\nb".to_owned(), "on one line"),
        ("x".repeat(8_192), "at most 8191 bytes"),
    ] {
        let request = json!({"trace": 0, "path": path});
        let (status, said) = refused(&place, "symbols/load", &request);
        assert!(status == 400 && said.contains(message), "{status} {said}");
    }
    let (status, _) = refused(
        &place,
        "symbols/load",
        &json!({"trace": 7, "path": "/symbols"}),
    );
    assert_eq!(status, 404);
    // What a shell would run is the name of a folder.
    let file = place.folder.path().join("touched");
    let answer = loaded(&place, &format!("$(touch {})", file.display()));
    assert!(answer["is_changed"] == false && !file.exists());
    let idle = refused(&place, "symbols/cancel", &json!({}));
    assert_eq!(idle, (409, "no symbols are being loaded".to_owned()));
}

/// Starts a symbol server that sends a byte at a time and never ends.
fn endless_server() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = |mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 4096]);
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
        let mut sent = stream.write_all(head);
        while sent.is_ok() {
            std::thread::sleep(Duration::from_millis(10));
            sent = stream.write_all(b"x");
        }
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    url
}

#[test]
fn a_search_is_cancelled_and_there_is_one_at_a_time() {
    let place = Place::online();
    with_symbols(&place);
    let store = place.folder.path().join("store");
    let path = format!("srv*{}*{}", store.display(), endless_server());
    let request = json!({"trace": 0, "path": path});
    let started = place.answer("symbols/load", &request);
    assert_eq!(started["step"], "searching");
    until(&place, |state| states(state).contains(&"searching"));
    let second = refused(&place, "symbols/load", &request);
    assert_eq!(second, (409, "symbols are being loaded already".to_owned()));

    let cancelled = place.answer("symbols/cancel", &json!({}));
    assert!(
        cancelled["step"] == "cancelling" || cancelled["step"] == "idle",
        "{cancelled}"
    );
    let ended = until(&place, |state| state["step"] == "idle");
    assert_eq!(ended["failure"]["code"], "cancelled");
    assert!(!states(&ended).contains(&"searching"), "{ended}");
    assert_eq!(
        (&ended["is_changed"], replaced(&place)),
        (&json!(false), json!(0))
    );
    assert_eq!(named_modules(&place), 0);
    // Another one may start then.
    let (status, _) = refused(&place, "symbols/load", &json!({"trace": 0, "path": ""}));
    assert_eq!(status, 400);
    assert!(loaded(&place, place.folder.path().to_str().unwrap())["failure"].is_null());
}

#[test]
fn loading_needs_the_token_and_the_page_of_this_server() {
    let place = Place::new();
    let [host, origin, token] = place.lines();
    let body = json!({"trace": 0, "path": "/symbols"}).to_string();
    for question in ["", "/load", "/cancel"] {
        let first = format!("POST /api/v1/symbols{question}");
        let status = |lines: &[&str]| place.raw(&first, lines, body.as_bytes()).status;
        assert_eq!(status(&[&host, &origin]), 401, "{first}");
        let other = [&*host, "Origin: http://evil.example", &token];
        assert_eq!(status(&other), 403, "{first}");
        let first = format!("GET /api/v1/symbols{question}");
        let reply = place.raw(&first, &[&host, &origin, &token], b"");
        assert_eq!(reply.status, 405, "{first}");
    }
    assert_eq!(state(&place)["trace"], Value::Null);
}
