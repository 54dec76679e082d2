//! Processes: counts, crashes, orders, filters.

use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_question::{AnyQuestion, ProcessQuery, TypedQuestion};
use etwkit_questions::process::{ProcessAnswer, ProcessCounts, ProcessRequest, ProcessSort};
use etwkit_sql::Session;
use etwkit_trace::table::Process;
use serde_json::{Value, json};

use super::super::support::rows;
use super::{S, process};

fn session() -> Session {
    let processes = [
        Process {
            session_id: Some(0),
            sid: Some("S-1-5-18".into()),
            ..process(0, 4, "System")
        },
        Process {
            session_id: Some(1),
            sid: Some("S-1-5-21".into()),
            ..process(1, 100, "explorer.exe")
        },
        // Started and ended, with an access violation.
        Process {
            parent_pid: Some(100),
            parent_process_key: Some(1),
            session_id: Some(1),
            sid: Some("S-1-5-21".into()),
            command_line: Some("cmd.exe /c build".into()),
            start_ns: Some(2 * S),
            stop_ns: Some(5 * S),
            exit_code: Some(-1_073_741_819),
            ..process(2, 200, "cmd.exe")
        },
        // The id is used again; this process ran on when the trace ended.
        Process {
            parent_pid: Some(100),
            parent_process_key: Some(1),
            start_ns: Some(6 * S),
            ..process(3, 200, "cmd.exe")
        },
        // Ended by itself with -1; its parent ended before the trace.
        Process {
            parent_pid: Some(77),
            stop_ns: Some(S),
            exit_code: Some(-1),
            ..process(4, 300, "a.exe")
        },
        // Reported by Windows Error Reporting, with exit code 0.
        Process {
            parent_process_key: Some(2),
            parent_pid: Some(200),
            start_ns: Some(3 * S),
            stop_ns: Some(4 * S),
            exit_code: Some(0),
            ..process(5, 400, "child.exe")
        },
        Process {
            start_ns: Some(3 * S + 1),
            command_line: Some("C:\\Windows\\system32\\WerFault.exe -u -p 400 -s 12".into()),
            ..process(6, 500, "WerFault.exe")
        },
    ];
    Session::from_batches(vec![rows(&processes)]).unwrap()
}

#[track_caller]
fn keys(request: &ProcessRequest) -> Vec<i64> {
    ask(request)
        .rows
        .iter()
        .map(|row| row.process_key)
        .collect()
}

#[track_caller]
fn ask(request: &ProcessRequest) -> ProcessAnswer {
    request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()))
}

#[test]
fn lifetimes_and_counts_are_of_what_the_trace_saw() {
    let answer = ask(&ProcessRequest::default());
    let counts = ProcessCounts {
        processes: 7,
        started: 4,
        ended: 3,
        permanent: 2,
        sessions: 2,
        users: 2,
    };
    assert_eq!(answer.counts, counts);
    let cmd = answer.rows.iter().find(|row| row.process_key == 2).unwrap();
    assert_eq!(
        (cmd.duration_ns, cmd.parent.as_deref()),
        (Some(3 * S), Some("explorer.exe"))
    );
    let running = answer.rows.iter().find(|row| row.process_key == 3).unwrap();
    assert_eq!((running.duration_ns, running.is_crash), (None, false));
}

#[test]
fn every_order() {
    for (sort, expected) in [
        (ProcessSort::Name, vec![4, 5, 2, 3, 1, 0, 6]),
        (ProcessSort::Time, vec![1, 0, 4, 2, 5, 6, 3]),
        (ProcessSort::StopTime, vec![3, 1, 0, 6, 4, 5, 2]),
        (ProcessSort::Session, vec![4, 5, 3, 6, 0, 2, 1]),
        (ProcessSort::Tree, vec![4, 0, 1, 2, 5, 3, 6]),
    ] {
        let request = ProcessRequest {
            sort,
            ..ProcessRequest::default()
        };
        assert_eq!(keys(&request), expected, "{sort:?}");
    }
    let levels: Vec<i64> = ask(&ProcessRequest {
        sort: ProcessSort::Tree,
        ..ProcessRequest::default()
    })
    .rows
    .iter()
    .map(|row| row.level)
    .collect();
    assert_eq!(levels, [0, 0, 0, 1, 2, 1, 0]);
}

#[test]
fn parents_in_a_circle_are_listed_once() {
    let circle = |key, parent| Process {
        parent_process_key: Some(parent),
        ..process(key, key, "x")
    };
    let session =
        Session::from_batches(vec![rows(&[circle(0, 1), circle(1, 0), circle(2, 2)])]).unwrap();
    let request = ProcessRequest {
        sort: ProcessSort::Tree,
        ..ProcessRequest::default()
    };
    let keys: Vec<i64> = request
        .ask(&session)
        .unwrap()
        .rows
        .iter()
        .map(|row| row.process_key)
        .collect();
    assert_eq!(keys, [2, 0, 1]);
}

#[test]
fn crashes_are_exit_codes_of_windows_and_reports() {
    assert_eq!(
        keys(&ProcessRequest {
            crashed: true,
            ..ProcessRequest::default()
        }),
        [5, 2]
    );
}

#[test]
fn ranges_take_what_is_missing_as_zero() {
    let long = ProcessRequest {
        duration: Range {
            min: S + 1,
            max: i64::MAX,
        },
        ..ProcessRequest::default()
    };
    assert_eq!(keys(&long), [2]);
    let late = ProcessRequest {
        start: Range {
            min: 3 * S,
            max: 6 * S,
        },
        ..ProcessRequest::default()
    };
    assert_eq!(keys(&late), [5, 3, 6]);
}

#[test]
fn filters_choose_processes() {
    let query = |processes| ProcessRequest {
        processes,
        ..ProcessRequest::default()
    };
    let by = |process: &str| {
        query(ProcessQuery {
            process: Some(process.into()),
            ..ProcessQuery::default()
        })
    };
    assert_eq!(keys(&by("cmd;!300")), [2, 3]);
    assert_eq!(keys(&by("400")), [5]);
    let line = query(ProcessQuery {
        command_line: Some("*build*".into()),
        ..ProcessQuery::default()
    });
    assert_eq!(keys(&line), [2]);
    let of_session = query(ProcessQuery {
        session: Some("1".into()),
        ..ProcessQuery::default()
    });
    assert_eq!(keys(&of_session), [2, 1]);
    for (new, expected) in [
        (0, vec![1, 0]),
        (1, vec![5, 2, 3, 6]),
        (-1, vec![4, 5, 2]),
        (2, vec![3, 6]),
        (-2, vec![4]),
    ] {
        let request = query(ProcessQuery {
            new_process: Some(new),
            ..ProcessQuery::default()
        });
        assert_eq!(keys(&request), expected, "{new}");
    }
    let children = ProcessRequest {
        parent: Some("explorer".into()),
        ..ProcessRequest::default()
    };
    assert_eq!(keys(&children), [2, 3, 1]);
    let orphans = ProcessRequest {
        parent: Some("77".into()),
        ..ProcessRequest::default()
    };
    assert_eq!(keys(&orphans), [4]);
}

#[test]
fn the_end_of_the_list_remains() {
    let request = ProcessRequest {
        top: Top {
            count: Some(2),
            skip: 1,
        },
        sort: ProcessSort::Name,
        ..ProcessRequest::default()
    };
    assert_eq!(keys(&request), [1, 0]);
    assert_eq!(ask(&request).counts.processes, 2);
}

#[test]
fn counts_of_a_part_of_the_list_say_so() {
    let total = |options: Value| {
        let question = TypedQuestion::<ProcessRequest>::QUESTION;
        let request = question.read(options.as_object().unwrap()).unwrap();
        let answer = request.answer(&session()).unwrap();
        format!("{:?}", answer.parts[0].table.total())
    };
    for cut in [json!({"top": 2}), json!({"top": 2, "sort-by": "name"})] {
        let text = total(cut);
        assert!(
            text.contains("Total of the rows shown: 2 processes"),
            "{text}"
        );
    }
    for whole in [json!({}), json!({"top": 0})] {
        let text = total(whole);
        assert!(
            text.contains("Total: ") && !text.contains("rows shown"),
            "{text}"
        );
    }
}
