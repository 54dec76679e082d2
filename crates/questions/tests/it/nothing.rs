//! Options that choose rows, and options that only shape them.

use etwkit_question::nothing::{Chosen, no_process};
use etwkit_question::{Error, Of, Values};
use etwkit_questions::cpu::question::CpuQuestion;
use etwkit_sql::Session;
use etwkit_trace::table::Process;
use serde_json::json;

use super::support::rows;

fn chosen(values: &serde_json::Value) -> Chosen {
    Chosen::of(&Of::<CpuQuestion>::QUESTION, values.as_object().unwrap())
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
    let chosen = Chosen::of(&Of::<CpuQuestion>::QUESTION, &Values::new());
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
