//! Parts of a trace between two marks.

use etwkit_questions::QUESTIONS;
use etwkit_questions::dpc::{DpcRequest, DpcRow};
use etwkit_sql::Session;
use etwkit_trace::table::{DpcIsr, Mark};
use serde_json::json;

use super::super::support::rows;
use super::{MS, trace};

fn session() -> Session {
    let dpc = |ms: i64| DpcIsr {
        kind: "dpc",
        start_ns: ms * MS,
        end_ns: (ms + 1) * MS,
        duration_ns: MS,
        ..DpcIsr::default()
    };
    let mark = |ms: i64, text: &str| Mark {
        ts_ns: ms * MS,
        text: text.into(),
        ..Mark::default()
    };
    // A test that runs twice; its end from before the first start does not count as an end.
    let marks = [
        mark(5, "Test done"),
        mark(10, "Test begins"),
        mark(30, "Test done"),
        mark(40, "Test begins"),
    ];
    Session::from_batches(vec![
        rows(&[trace()]),
        rows(&marks),
        rows(&[3, 12, 20, 35, 45].map(dpc)),
    ])
    .unwrap()
}

/// Returns the number of DPCs between marks, or the error.
fn between(values: serde_json::Value) -> Result<String, String> {
    let serde_json::Value::Object(values) = values else {
        panic!("options by their words")
    };
    let question = QUESTIONS
        .iter()
        .find(|question| question.name() == "dpc")
        .unwrap();
    let request = question.read(&values).map_err(|error| error.to_string())?;
    let again = question.read(&request.write()).unwrap();
    assert_eq!(again.write(), values);
    let answer = request.answer(&session()).map_err(|error| {
        assert!(error.is_nothing());
        format!("{error}; {}", error.hint().unwrap_or_default())
    })?;
    let shown = request.show_sql();
    assert!(
        shown.starts_with("-- without --between \"Test b"),
        "{shown}"
    );
    Ok(answer
        .rows_of::<DpcRequest, DpcRow>()
        .map(|row| row.count)
        .sum::<i64>()
        .to_string())
}

#[test]
fn a_part_goes_from_the_first_mark_to_the_next_one_behind_it() {
    assert_eq!(
        between(json!({"between": ["Test b*", "Test done"]})).unwrap(),
        "2"
    );
    assert_eq!(
        between(json!({"between": ["Test b*", "Test b*"]})).unwrap(),
        "3"
    );
}

#[test]
fn marks_that_are_not_there_are_named() {
    let hint = "`etwkit dump mark` lists the marks that there are";
    let missing = between(json!({"between": ["Test b*", "Pause"]})).unwrap_err();
    assert_eq!(
        missing,
        format!("there is no mark \"Pause\" after the first; {hint}")
    );
    let both = between(json!({"between": ["a", "b"], "range": "1..2"})).unwrap_err();
    assert_eq!(both, "--between: --range already names the part");
    let one = between(json!({"between": ["a"]})).unwrap_err();
    assert_eq!(
        one,
        r#"--between: two texts of marks were expected, not ["a"]"#
    );
}
