//! Options that choose rows, and options that only shape them.

use std::sync::Arc;

use etwkit_question::nothing::{RowFilters, no_process};
use etwkit_question::{Error, TypedQuestion, Values};
use etwkit_questions::cpu::CpuRequest;
use etwkit_sql::Session;
use etwkit_trace::table::Process;
use serde_json::json;

use super::support::rows;

fn chosen(values: &serde_json::Value) -> RowFilters {
    RowFilters::of(
        &TypedQuestion::<CpuRequest>::QUESTION,
        values.as_object().unwrap(),
    )
}

#[test]
fn what_shapes_rows_does_not_empty_an_answer() {
    let shapes = json!({"sort-by": "wait", "top": 3, "details": true, "show-module": "",
                        "stack-tag-file": ["a.stacktags"]});
    assert!(chosen(&shapes).is_empty());
    for choice in [json!({"process": "cmd"}), json!({"range": "1..2"})] {
        assert!(!chosen(&choice).is_empty(), "{choice}");
    }
}

#[test]
fn without_options_the_extract_has_no_rows() {
    let chosen = RowFilters::of(&TypedQuestion::<CpuRequest>::QUESTION, &Values::new());
    let sentence = chosen.sentence("a.etwx", || Err(Error::OfNames));
    assert_eq!(sentence.unwrap(), "no rows in a.etwx");
}

#[test]
fn processes_that_had_one_id_in_turn_count_each() {
    let process = |process_key| Process {
        process_key,
        pid: 8,
        name: Some("a.exe".into()),
        ..Process::default()
    };
    let session = Session::from_batches(vec![rows(&[process(1), process(2)])]).unwrap();
    let message = no_process(&session, "powershell").unwrap().unwrap();
    assert!(
        message.contains("(there are 2 processes: a.exe (8))"),
        "{message}"
    );
}

#[test]
fn idle_time_is_said_to_be_left_out() {
    let process = |process_key, pid, name: &str| Process {
        process_key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    };
    let sentence = |filter: &str| {
        let processes = rows(&[process(1, 0, "Idle"), process(2, 8, "a.exe")]);
        let open = || Ok::<_, Error>(Arc::new(Session::from_batches(vec![processes]).unwrap()));
        chosen(&json!({"process": filter}))
            .sentence("a.etwx", open)
            .unwrap()
    };
    for filter in ["idle", "0"] {
        let text = sentence(filter);
        let says = format!("only Idle (0) matches {filter}, and idle time is left out");
        assert!(
            text.contains(&says) && text.contains("dump cores"),
            "{text}"
        );
    }
    for filter in ["a.exe", "*"] {
        assert_eq!(
            sentence(filter),
            format!("nothing in a.etwx matches --process {filter}")
        );
    }
}
