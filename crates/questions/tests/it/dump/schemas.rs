//! Schemas of the numbers of rows.

use etwkit_question::{AnyQuestion, row_schema};
use etwkit_questions::QUESTIONS;
use serde_json::{Map, Value, json};

fn named(name: &str) -> &'static dyn AnyQuestion {
    *QUESTIONS
        .iter()
        .find(|question| question.name() == name)
        .unwrap()
}

/// Returns the properties of a column of its rows in the schema of a request.
fn said(question: &str, request: Value, column: &str) -> (Option<String>, Option<String>) {
    let Value::Object(values) = request else {
        panic!("{request}")
    };
    let schema = row_schema(&named(question).read(&values).unwrap().fields());
    let column = &schema["properties"][column];
    assert!(column["description"].is_string(), "{question}: {schema}");
    let word = |key: &str| column[key].as_str().map(str::to_owned);
    (word("total"), word("better"))
}

#[test]
fn numbers_say_how_they_add_up_and_what_is_good() {
    let details = || json!({"details": true});
    for (question, request, column, total, better) in [
        ("start", json!({}), "start_cost_ns", "sum", "less"),
        ("start", json!({}), "max_start_cost_ns", "max", "less"),
        ("start", json!({}), "starts", "sum", ""),
        ("start", json!({}), "program", "", ""),
        // Rows of another kind have columns of their own.
        ("start", details(), "start_cost_ns", "sum", "less"),
        ("start", details(), "terminate_ns", "", ""),
        ("ready", json!({}), "max_ready_ns", "max", "less"),
        // A view of values made of rows, and one that queries more than its request.
        ("process", json!({}), "session_id", "", ""),
        ("cpu", json!({}), "cpu_ns", "sum", "less"),
        ("cpu", json!({"methods": "*"}), "wait_ns", "sum", "less"),
        ("cpu", json!({}), "process_start_ns", "", ""),
        ("exception", json!({}), "count", "sum", "less"),
        ("memory", json!({}), "commit_bytes", "sum", "less"),
        // A column that divides is none of the number that it divides.
        ("ready", json!({}), "ready_ns", "sum", "less"),
    ] {
        let words = |word: &str| Some(word.to_owned()).filter(|word| !word.is_empty());
        let what = format!("{question} {request} {column}");
        assert_eq!(
            said(question, request, column),
            (words(total), words(better)),
            "{what}"
        );
    }
}

#[test]
fn nothing_but_numbers_adds_up() {
    for question in QUESTIONS {
        let request = question
            .read(&Map::new())
            .or_else(|_| question.read(&needed(*question)))
            .unwrap();
        for field in request.fields() {
            let says = row_schema(&[field])["properties"][field.name]["total"].is_string();
            assert!(
                !says || matches!(field.kind, "integer" | "number"),
                "{} {}",
                question.name(),
                field.name
            );
        }
    }
}

/// Times that are not nanoseconds since the start say whose clock they are of: a reader would
/// otherwise compare times of two zones.
#[test]
fn times_of_a_clock_say_whose() {
    let mut seen = 0;
    for question in QUESTIONS {
        let request = question
            .read(&Map::new())
            .or_else(|_| question.read(&needed(*question)))
            .unwrap();
        for field in request.fields() {
            let is_time = ["_time", "_at", "_date", "_utc"]
                .iter()
                .any(|end| field.name.ends_with(end));
            if !is_time || field.kind != "string" {
                continue;
            }
            seen += 1;
            let sentence =
                row_schema(&[field])["properties"][field.name]["description"].to_string();
            let clocks = ["UTC", "recorded machine", "clock of the wall"];
            assert!(
                field.name.ends_with("_utc") || clocks.iter().any(|clock| sentence.contains(clock)),
                "{} {}: {sentence}",
                question.name(),
                field.name
            );
        }
    }
    assert!(seen >= 2, "{seen}");
}

/// Returns the required options of a question.
fn needed(question: &dyn AnyQuestion) -> Map<String, Value> {
    let options = question
        .options()
        .into_iter()
        .filter(|option| option.is_required);
    options
        .map(|option| (option.name.to_owned(), json!("x")))
        .collect()
}
