//! Branch records.

use etwkit_question::Error;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_questions::lbr::{LbrRequest, TopMethods};
use etwkit_sql::Session;
use etwkit_trace::table::LbrMethod;

use super::super::support::rows;
use super::process;

fn session() -> Session {
    let branch = |process_key, caller: &str, callee: &str, count| LbrMethod {
        process_key: Some(process_key),
        caller_module: Some("a.dll".into()),
        caller: caller.into(),
        callee_module: Some("a.dll".into()),
        callee: callee.into(),
        count,
    };
    let branches = [
        branch(1, "main", "work", 5),
        branch(1, "other", "work", 2),
        branch(1, "main", "+0x1a", 4),
        branch(2, "main", "work", 1),
    ];
    Session::from_batches(vec![
        rows(&[process(1, 4, "a.exe"), process(2, 8, "b.exe")]),
        rows(&branches),
    ])
    .unwrap()
}

/// Process, callee, caller, count, count of the callee.
fn ask(request: &LbrRequest) -> Vec<String> {
    let answer = request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
    let row = |row: &etwkit_questions::lbr::LbrRow| {
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".into());
        format!(
            "{} {} {} {} {}",
            row.pid.unwrap(),
            word(&row.callee),
            word(&row.caller),
            row.count,
            row.callee_count
        )
    };
    answer
        .iter()
        .flat_map(|group| group.rows.iter().map(row))
        .collect()
}

#[test]
fn branches_are_counted_by_process_method_and_caller() {
    assert_eq!(ask(&LbrRequest::default()), ["8 - - 1 1", "4 - - 11 11"]);
    let methods = LbrRequest {
        methods: Some("*".into()),
        ..LbrRequest::default()
    };
    assert_eq!(
        ask(&methods),
        ["8 work - 1 1", "4 a.dll+0x1a - 4 4", "4 work - 7 7"]
    );
    let callers = LbrRequest {
        show_caller: true,
        ..methods.clone()
    };
    assert_eq!(
        ask(&callers),
        [
            "8 work main 1 1",
            "4 a.dll+0x1a main 4 4",
            "4 work main 5 7",
            "4 work other 2 7"
        ]
    );
    let named = LbrRequest {
        include_dll: true,
        methods: Some("a.dll!*".into()),
        ..LbrRequest::default()
    };
    assert_eq!(ask(&named), ["8 a.dll!work - 1 1", "4 a.dll!work - 7 7"]);
}

#[test]
fn counts_are_scaled_before_they_are_limited() {
    let request = LbrRequest {
        show_caller: true,
        scaling_factor: 1.5,
        count: Range {
            min: 6,
            max: i64::MAX,
        },
        ..LbrRequest::default()
    };
    // 5 × 1.5 and 4 × 1.5, rounded; the count of `other` is too small.
    assert_eq!(ask(&request), ["4 a.dll+0x1a main 6 6", "4 work main 8 11"]);
    let top = LbrRequest {
        methods: Some("*".into()),
        top: Top {
            count: Some(1),
            skip: 0,
        },
        top_methods: TopMethods {
            count: Some(1),
            skip: 0,
        },
        ..LbrRequest::default()
    };
    assert_eq!(ask(&top), ["4 work - 7 7"]);
}

#[test]
fn a_trace_without_branches_says_so() {
    let empty = Session::from_batches(vec![rows(&[process(1, 4, "a.exe")])]).unwrap();
    let error = LbrRequest::default().ask(&empty).unwrap_err();
    assert!(matches!(error, Error::NotRecorded { .. }), "{error}");
}
