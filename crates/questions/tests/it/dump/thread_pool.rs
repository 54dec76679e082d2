//! Thread pools of .NET programs.

use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_questions::thread_pool::ThreadPoolRequest;
use etwkit_sql::Session;
use etwkit_trace::table::{Gc, Thread, ThreadPool};

use super::super::support::rows;
use super::{MS, process};

fn session() -> Session {
    let change = |ts_ns, process_key, workers, reason| ThreadPool {
        ts_ns,
        process_key: Some(process_key),
        thread_key: Some(1),
        kind: "adjustment",
        worker_threads: Some(workers),
        reason: Some(reason),
        throughput: Some(0.5),
        ..ThreadPool::default()
    };
    let start = ThreadPool {
        ts_ns: 0,
        process_key: Some(1),
        kind: "start",
        ..ThreadPool::default()
    };
    let thread = Thread {
        thread_key: 1,
        tid: 44,
        ..Thread::default()
    };
    Session::from_batches(vec![
        rows(&[process(1, 4, "a.exe"), process(2, 8, "b.exe")]),
        rows(&[thread]),
        rows(&[
            start,
            change(MS, 1, 5, 6),
            change(2 * MS, 2, 3, 6),
            change(3 * MS, 1, 4, 3),
            change(5 * MS, 1, 6, 6),
        ]),
    ])
    .unwrap()
}

#[track_caller]
fn ask(request: &ThreadPoolRequest) -> Vec<(Option<i64>, i64, Option<i64>)> {
    let answer = request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    answer
        .iter()
        .flat_map(|group| &group.rows)
        .map(|row| (row.pid, row.ts_ns, row.since_last_ns))
        .collect()
}

#[test]
fn starvation_by_process_with_the_time_since_the_last_one() {
    let all = ThreadPoolRequest::default();
    let (b, first, second) = (
        (Some(8), 2 * MS, None),
        (Some(4), MS, None),
        (Some(4), 5 * MS, Some(4 * MS)),
    );
    assert_eq!(ask(&all), [b, first, second]);
    // A range of the trace does not change the last one.
    let time = Range::parse("4ms..", Unit::Seconds).unwrap();
    assert_eq!(
        ask(&ThreadPoolRequest {
            time,
            ..all.clone()
        }),
        [second]
    );
    let top = Top {
        count: Some(1),
        skip: 0,
    };
    assert_eq!(ask(&ThreadPoolRequest { top, ..all.clone() }).len(), 2);
    let every = ThreadPoolRequest {
        reason: Some("*".into()),
        ..all.clone()
    };
    assert_eq!(ask(&every).len(), 4);
    assert!(
        ask(&ThreadPoolRequest {
            reason: Some("Warmup".into()),
            ..all
        })
        .is_empty()
    );
}

#[test]
fn what_was_not_recorded_is_distinguished() {
    let of = |tables| {
        let session = Session::from_batches(tables).unwrap();
        ThreadPoolRequest::default()
            .ask(&session)
            .map_err(|error| error.to_string())
    };
    let start = ThreadPool {
        kind: "start",
        ..ThreadPool::default()
    };
    assert_eq!(
        of(vec![rows(&[start])]).unwrap().len(),
        0,
        "recorded, and no pool starved"
    );
    assert!(
        of(vec![rows(&[Gc::default()])])
            .unwrap_err()
            .contains("though it has others of the .NET runtime")
    );
    assert!(
        of(vec![rows(&[process(1, 4, "a.exe")])])
            .unwrap_err()
            .contains("no events of the .NET runtime")
    );
}
