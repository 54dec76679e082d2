//! Many threads that ask one engine at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use etwkit_engine::{Asking, question};
use etwkit_sql::Answer;
use serde_json::Map;

use super::support::{Place, answers};

/// A join that computes for hours.
const ENDLESS: &str = "SELECT sum(a.out_ns % (b.out_ns + c.out_ns + d.out_ns))
    FROM context_switch a, context_switch b, context_switch c, context_switch d";

const NAMES: [&str; 4] = ["process", "cpu", "disk", "wait"];

/// A question that is given up ends at once, and no other one waits for its running work, or ends
/// with it.
#[test]
fn one_of_many_is_given_up_and_the_others_are_answered() {
    let place = Place::new();
    let (engine, paths) = (&place.engine, [place.trace.clone()]);
    let ask = |name: &str| {
        let mut request = question(name).unwrap().read(&Map::new()).unwrap();
        let all = answers(engine, &Asking::default(), &paths, &mut *request).unwrap();
        all[0].answer.as_ref().unwrap().1.as_ref().unwrap().len()
    };
    let alone = NAMES.map(ask);
    let endless = Asking::default();
    let session = engine.open(&endless, &paths, &mut Vec::new()).unwrap();
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        let given_up = scope.spawn(|| session.sql(ENDLESS).and_then(Answer::collect));
        let others: Vec<_> = (0..8)
            .map(|thread| {
                let (ask, answered) = (&ask, &answered);
                scope.spawn(move || {
                    for round in 0..4 {
                        let at = (thread + round) % NAMES.len();
                        assert_eq!(ask(NAMES[at]), alone[at], "{}", NAMES[at]);
                        answered.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        // In the middle of the other questions.
        while answered.load(Ordering::SeqCst) < 8 {
            thread::sleep(Duration::from_millis(5));
        }
        endless.cancel.ask();
        assert!(given_up.join().unwrap().is_err(), "it was given up");
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    assert_eq!(answered.load(Ordering::SeqCst), 32);
    // Any later question with the same switch is also given up.
    let mut request = question("cpu").unwrap().read(&Map::new()).unwrap();
    let all = answers(engine, &endless, &paths, &mut *request).unwrap();
    assert!(
        all[0]
            .answer
            .as_ref()
            .is_err_and(etwkit_engine::Error::is_cancelled)
    );
}

/// Several questions at once to a trace that is not in the cache extract it once.
#[test]
fn a_trace_is_extracted_once() {
    let place = Place::new();
    let notes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut own = Vec::new();
                place
                    .engine
                    .extract_of(&Asking::default(), &place.trace, &mut own)
                    .unwrap();
                notes.lock().unwrap().extend(own);
            });
        }
    });
    let notes = notes.into_inner().unwrap();
    assert_eq!((notes.len(), place.extracts().len()), (1, 1), "{notes:?}");
}
