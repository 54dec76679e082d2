//! Many requests, and such that nobody waits for.

use std::time::Duration;

use serde_json::json;

use crate::support::Place;

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
    // Those that wait in line fill it; what the server knows by itself is told all the same.
    let full = || place.post("sql", &json!({"trace": 0, "sql": "SELECT 1", "limit": 1}));
    let mut reply = full();
    for _ in 0..100 {
        if reply.status == 503 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
        reply = full();
    }
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    for _ in 0..300 {
        assert_eq!(place.get("info").status, 200);
    }
    drop(asked);
    // What was given up ends at its next pause.
    let answered = place.until(Duration::from_secs(60), |_| full().status == 200);
    assert!(answered, "the line never empties");
}
