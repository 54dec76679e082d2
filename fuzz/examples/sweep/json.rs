//! Extracts of ETWAnalyzer, made odd: other types, extreme numbers, wide texts, crowds.

use etwkit_testkit::etwanalyzer::{small, write_large};
use serde_json::{Value, json};

/// The main file of a small extract, changed.
pub(crate) fn changed(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut extract = small();
    change(&mut extract.main);
    extract.main.to_string().into_bytes()
}

/// A main file with so many processes and methods.
pub(crate) fn large(processes: usize, methods: usize) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    write_large(file.path(), processes, methods);
    std::fs::read(file.path()).unwrap()
}

/// Does something to every value that holds no others.
fn each(value: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| each(value, change)),
        Value::Object(members) => members.values_mut().for_each(|value| each(value, change)),
        value => change(value),
    }
}

/// Every fifth value is one of another type.
pub(crate) fn other_types() -> Vec<u8> {
    let others = [
        json!(null),
        json!(true),
        json!("text"),
        json!(-1.5),
        json!([[]]),
        json!({"a": {}}),
    ];
    changed(|main| {
        let mut number = 0;
        each(main, &mut |value| {
            number += 1;
            if number % 5 == 0 {
                *value = others[number / 5 % others.len()].clone();
            }
        });
    })
}

/// Every text is as wide as one of an event, or six times as wide when it is escaped. Times and names of
/// members stay.
pub(crate) fn wide_texts() -> Vec<u8> {
    changed(|main| {
        let mut number = 0;
        each(main, &mut |value| {
            number += 1;
            let text = value.as_str().unwrap_or_default();
            if !text.is_empty() && !text.contains("T1") {
                let wide = if number % 2 == 0 { "x" } else { "\u{1B}" };
                *value = Value::from(wide.repeat(1 << 16));
            }
        });
    })
}

pub(crate) fn extreme_numbers() -> Vec<u8> {
    let extremes = [
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e308),
        json!(-1e308),
        json!(0),
    ];
    changed(|main| {
        let mut number = 0;
        each(main, &mut |value| {
            number += 1;
            if value.is_number() {
                *value = extremes[number % extremes.len()].clone();
            }
        });
    })
}
