//! Many requests at once, and requests whose client does not wait for the answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use etwkit_server::Limits;
use serde_json::{Value, json};

use super::support::{Place, answered};

fn one() -> Value {
    json!({"trace": 0, "sql": "SELECT 1", "limit": 1})
}

/// A server with a trace that grants so much.
fn limited(limits: Limits) -> Place {
    let place = Place::limited(limits);
    let trace = place.trace("office.etl");
    place.open(&trace);
    place
}

#[test]
fn a_client_that_goes_away_takes_its_question_along() {
    let place = Place::with_trace();
    let asked = place.say(&place.endless());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(place.running.given_up(), 0);
    drop(asked);
    assert!(place.until(Duration::from_secs(1), |running| running.given_up() == 1));
}

#[test]
fn a_flood_leaves_the_server_answering() {
    let place = Place::with_trace();
    let request = place.endless();
    let asked: Vec<_> = (0..200).map(|_| place.say(&request)).collect();
    // Queued requests fill the line; the server still answers from its own state.
    let full = || place.post("sql", &json!({"trace": 0, "sql": "SELECT 1", "limit": 1}));
    let mut reply = full();
    for _ in 0..100 {
        if reply.status == 503 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
        reply = full();
    }
    assert_eq!(
        (reply.status, reply.header("retry-after")),
        (503, Some("1"))
    );
    for _ in 0..300 {
        assert_eq!(place.get("info").status, 200);
    }
    drop(asked);
    // A canceled request ends at its next pause.
    let answered = place.until(Duration::from_secs(60), |_| full().status == 200);
    assert!(answered, "the line never empties");
}

/// More connections than there are places: of those who ask too much, of those who may not ask, and
/// of those who say nothing sensible.
#[test]
fn more_connections_than_places_leave_the_server_answering() {
    let place = Place::with_trace();
    let (endless, lines) = (place.endless(), place.lines());
    let stranger = format!("GET /api/v1/info HTTP/1.1\r\n{}\r\n\r\n", lines[0]).into_bytes();
    let broken = b"\x16\x03\x01 this is no request\r\n\r\n".to_vec();
    let mut asked = Vec::new();
    for turn in 0..450 {
        let words: &[u8] = match turn % 3 {
            0 => &endless,
            1 => &stranger,
            _ => &broken,
        };
        asked.push(place.say(words));
    }
    let begun = Instant::now();
    for _ in 0..20 {
        assert_eq!(place.get("info").status, 200);
    }
    // Clients that were refused keep their connection until it has been idle for some time.
    assert!(
        begun.elapsed() < Duration::from_secs(40),
        "{:?}",
        begun.elapsed()
    );
    drop(asked);
    assert!(place.until(
        Duration::from_secs(60),
        |_| place.post("sql", &one()).status == 200
    ));
}

/// A connection with a small buffer in the system, which is tens of megabytes for others.
fn narrow(place: &Place) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(64 << 10).unwrap();
        socket
            .connect(place.running.address)
            .await
            .unwrap()
            .into_std()
            .unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
}

/// Requests an answer that is larger than the system's buffers for a client.
fn much(place: &Place) -> TcpStream {
    let sql = "SELECT repeat('x', 60000) FROM cpu_sample LIMIT 200";
    let (lines, body) = (
        place.lines().join("\r\n"),
        json!({"trace": 0, "sql": sql, "limit": 200}).to_string(),
    );
    let head = format!(
        "POST /api/v1/sql HTTP/1.1\r\n{lines}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = narrow(place);
    stream
        .set_read_timeout(Some(Duration::from_secs(90)))
        .unwrap();
    stream
        .write_all(&[head.as_bytes(), body.as_bytes()].concat())
        .unwrap();
    stream
}

/// Returns the rest of an answer, and the length in its head.
fn rest(stream: &mut TcpStream, mut bytes: Vec<u8>) -> (usize, usize) {
    // A connection that was ended may also be an error.
    let _ = stream.read_to_end(&mut bytes);
    let head = bytes
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap();
    (bytes.len() - head - 4, length.parse().unwrap())
}

#[test]
fn who_does_not_take_an_answer_is_sent_away() {
    let place = limited(Limits {
        receiving_time: Duration::from_secs(1),
        ..Limits::default()
    });
    // More than are answered at a time: an answer that is not received does not occupy the place of
    // a request.
    let mut silent: Vec<_> = (0..8).map(|_| much(&place)).collect();
    let mut slow = much(&place);
    // Their answers have begun to come.
    for stream in silent.iter().chain([&slow]) {
        assert_eq!(stream.peek(&mut [0]).unwrap(), 1);
    }
    let (begun, mut taken) = (Instant::now(), Vec::new());
    while begun.elapsed() < Duration::from_secs(5) {
        let mut byte = [0];
        if slow.read(&mut byte).is_ok_and(|count| count == 1) {
            taken.push(byte[0]);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(place.post("sql", &one()).status, 200);
    let (got, of) = rest(&mut slow, taken);
    assert!(got < of, "a byte at a time: {got} of {of}");
    for stream in &mut silent {
        let (got, of) = rest(stream, Vec::new());
        assert!(got < of, "nothing at all: {got} of {of}");
    }
    // A client that reads its answer gets all of it.
    let reply = answered(&mut much(&place));
    assert!(
        reply.status == 200 && reply.body.len() > 12_000_000,
        "{}",
        reply.body.len()
    );
}

#[test]
fn a_question_that_takes_too_long_is_given_up() {
    let place = limited(Limits {
        question_time: Duration::from_secs(1),
        ..Limits::default()
    });
    let begun = Instant::now();
    let reply = answered(&mut place.say(&place.endless()));
    assert_eq!(
        (reply.status, reply.json()["code"].clone()),
        (422, json!("limit"))
    );
    assert!(begun.elapsed() < Duration::from_secs(10) && place.running.given_up() == 1);
    assert_eq!(place.post("sql", &one()).status, 200);
}

#[test]
fn a_diagnosis_has_a_time_of_its_own() {
    let place = limited(Limits {
        question_time: Duration::ZERO,
        ..Limits::default()
    });
    assert_eq!(place.post("sql", &one()).status, 422);
    assert_eq!(place.post("findings", &json!({"trace": 0})).status, 200);
    let place = limited(Limits {
        diagnosis_time: Duration::ZERO,
        ..Limits::default()
    });
    assert_eq!(place.post("findings", &json!({"trace": 0})).status, 422);
}

#[test]
fn a_question_that_needs_too_much_memory_is_refused() {
    let place = limited(Limits {
        question_bytes: 16 << 20,
        ..Limits::default()
    });
    let sql = "SELECT cardinality(array_agg(a.ts_ns + b.ts_ns)) FROM cpu_sample a, cpu_sample b";
    let reply = place.post("sql", &json!({"trace": 0, "sql": sql, "limit": 1}));
    assert_eq!(
        (reply.status, reply.json()["code"].clone()),
        (422, json!("limit")),
        "{}",
        reply.json()
    );
    assert!(reply.json()["hint"].is_string());
    assert_eq!(place.post("sql", &one()).status, 200);
}

/// Texts of an answer are bounded together, not only each of them.
#[test]
fn answers_of_long_texts_are_cut() {
    let place = Place::with_trace();
    let sql = "SELECT repeat('x', 70000) FROM cpu_sample";
    let answer = place.answer("sql", &json!({"trace": 0, "sql": sql, "limit": 10_000}));
    let table = &answer["tables"][0];
    let rows = table["rows"].as_array().unwrap();
    assert!(
        rows.len() > 100 && rows.len() < 600 && table["is_cut"] == true,
        "{} rows",
        rows.len()
    );
    assert!(rows[0][0].as_str().unwrap().len() < 70_000);
}
