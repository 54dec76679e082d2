//! Comparison with the truth, and sums to compare.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde_json::{Map, Value, json};

use super::SLACK_US;

/// Compares two values with all their keys: numbers of which one is a float to [`SLACK_US`], all else
/// exactly. Returns the number of values.
#[track_caller]
pub(super) fn agree(path: &str, truth: &Value, ours: &Value) -> usize {
    let mut differences = Vec::new();
    let compared = walk(path, truth, ours, &mut differences);
    let shown: Vec<_> = differences.iter().take(12).map(String::as_str).collect();
    assert!(
        differences.is_empty(),
        "{} of {compared} differ:\n{}",
        differences.len(),
        shown.join("\n")
    );
    compared
}

fn walk(path: &str, truth: &Value, ours: &Value, differences: &mut Vec<String>) -> usize {
    match (truth, ours) {
        (Value::Object(truth), Value::Object(ours)) => {
            let invented = ours.keys().filter(|key| !truth.contains_key(*key));
            differences
                .extend(invented.map(|key| format!("{path}/{key}: only in ours: {}", ours[key])));
            truth
                .iter()
                .map(|(k, v)| {
                    walk(
                        &format!("{path}/{k}"),
                        v,
                        ours.get(k).unwrap_or(&json!("missing")),
                        differences,
                    )
                })
                .sum()
        }
        (Value::Array(truth), Value::Array(ours)) => {
            if truth.len() != ours.len() {
                differences.push(format!(
                    "{path}: expected {} elements, got {}",
                    truth.len(),
                    ours.len()
                ));
            }
            truth
                .iter()
                .zip(ours)
                .enumerate()
                .map(|(i, (a, b))| walk(&format!("{path}/{i}"), a, b, differences))
                .sum()
        }
        _ => {
            if !equal(truth, ours) {
                differences.push(format!("{path}: expected {truth}, got {ours}"));
            }
            1
        }
    }
}

fn equal(truth: &Value, ours: &Value) -> bool {
    match (truth.as_f64(), ours.as_f64()) {
        (Some(a), Some(b)) if truth.is_f64() || ours.is_f64() => (a - b).abs() <= SLACK_US,
        _ => truth == ours,
    }
}

/// The object without some of its keys, at every depth.
pub(super) fn without(value: &Value, keys: &[&str]) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object
                .iter()
                .filter(|(key, _)| !keys.contains(&key.as_str()));
            kept.map(|(key, value)| (key.clone(), without(value, keys)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(list) => list.iter().map(|value| without(value, keys)).collect(),
        other => other.clone(),
    }
}

/// How often each key was met.
pub(super) fn counts<K: Display>(keys: impl Iterator<Item = K>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key.to_string()).or_default() += 1;
    }
    counts
}

/// Sums of numbers under a path of keys, made when they are first met.
#[derive(Default)]
pub(super) struct Sums(pub(super) Map<String, Value>);

impl Sums {
    pub(super) fn at<'s>(&'s mut self, keys: &[&str]) -> &'s mut Map<String, Value> {
        let mut object = &mut self.0;
        for key in keys {
            object = object
                .entry(*key)
                .or_insert_with(|| json!({}))
                .as_object_mut()
                .unwrap();
        }
        object
    }
}

pub(super) fn add(object: &mut Map<String, Value>, key: &str, more: u64) {
    let value = object.entry(key).or_insert_with(|| json!(0));
    *value = json!(value.as_u64().unwrap() + more);
}

pub(super) fn add_us(object: &mut Map<String, Value>, key: &str, more: f64) {
    let value = object.entry(key).or_insert_with(|| json!(0.0));
    *value = json!(value.as_f64().unwrap() + more);
}

pub(super) fn raise_us(object: &mut Map<String, Value>, key: &str, candidate: f64) {
    let value = object.entry(key).or_insert_with(|| json!(candidate));
    *value = json!(value.as_f64().unwrap().max(candidate));
}
