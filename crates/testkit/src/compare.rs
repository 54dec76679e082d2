//! Compares a section of our output with the expected one, value by value.

use serde_json::Value;

/// Result of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Values compared.
    pub compared: usize,
    /// Path and difference of each value that differs.
    pub differences: Vec<String>,
}

impl Comparison {
    /// Compares `ours` with `truth`; `path` names both in the differences.
    ///
    /// Every key of the truth must be there, other keys of ours are ignored. A truth of null is
    /// satisfied also by a missing key, and keys of the outermost object that start with `_` are
    /// ignored. Where either number is a float they may differ by 1e-6 relative; if the key ends in
    /// `_s` by 1e-6 absolute; if it ends in `_us` by 1e-6 relative or 1 absolute. All else must be
    /// equal.
    #[must_use]
    pub fn of(path: &str, truth: &Value, ours: &Value) -> Self {
        let mut comparison = Self::default();
        match truth {
            Value::Object(truth) => {
                let kept = truth.iter().filter(|(key, _)| !key.starts_with('_'));
                let kept = Value::Object(kept.map(|(k, v)| (k.clone(), v.clone())).collect());
                comparison.walk(path, "", &kept, ours);
            }
            _ => comparison.walk(path, "", truth, ours),
        }
        comparison
    }

    /// Fails with the first differences, if there are any.
    pub fn assert_equal(&self) {
        let shown: Vec<_> = self
            .differences
            .iter()
            .take(30)
            .map(String::as_str)
            .collect();
        assert!(
            self.differences.is_empty(),
            "{} differ:\n{}",
            self.differences.len(),
            shown.join("\n")
        );
    }

    fn walk(&mut self, path: &str, key: &str, truth: &Value, ours: &Value) {
        match (truth, ours) {
            (Value::Object(truth), Value::Object(ours)) => {
                for (key, want) in truth {
                    match ours.get(key) {
                        Some(got) => self.walk(&format!("{path}.{key}"), key, want, got),
                        None if want.is_null() => {}
                        None => self.differ(&format!("{path}.{key}"), want, "missing"),
                    }
                }
            }
            (Value::Array(truth), Value::Array(ours)) => {
                if truth.len() != ours.len() {
                    self.differ(
                        path,
                        &truth.len().into(),
                        &format!("{} elements", ours.len()),
                    );
                }
                for (index, (want, got)) in truth.iter().zip(ours).enumerate() {
                    self.walk(&format!("{path}.{index}"), key, want, got);
                }
            }
            _ => {
                self.compared += 1;
                if !equal(key, truth, ours) {
                    self.differ(path, truth, &ours.to_string());
                }
            }
        }
    }

    fn differ(&mut self, path: &str, truth: &Value, ours: &str) {
        let cut = |text: &str| text.chars().take(160).collect::<String>();
        self.differences.push(format!(
            "{path}: expected {}, got {}",
            cut(&truth.to_string()),
            cut(ours)
        ));
    }
}

fn equal(key: &str, truth: &Value, ours: &Value) -> bool {
    let (Value::Number(a), Value::Number(b)) = (truth, ours) else {
        return truth == ours;
    };
    // Whole numbers are compared exactly: as floats, large ones would be equal to their neighbors.
    if !a.is_f64() && !b.is_f64() {
        return a == b;
    }
    let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else {
        return false;
    };
    let relative = 1e-6 * a.abs().max(b.abs());
    let slack = match key {
        // A bit more than a microsecond: the difference itself is rounded.
        key if key.ends_with("_s") => 1.001e-6,
        key if key.ends_with("_us") => relative.max(1.0),
        _ => relative,
    };
    (a - b).abs() <= slack
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn differences(truth: &Value, ours: &Value) -> usize {
        Comparison::of("t", truth, ours).differences.len()
    }

    #[test]
    fn numbers_have_the_slack_of_their_key() {
        assert_eq!(
            differences(&json!({"a_s": 1.0}), &json!({"a_s": 1.000_000_9})),
            0
        );
        assert_eq!(
            differences(&json!({"a_s": 1.0}), &json!({"a_s": 1.000_002})),
            1
        );
        assert_eq!(differences(&json!({"a_us": 5.0}), &json!({"a_us": 6})), 0);
        assert_eq!(
            differences(&json!({"a": 1e9}), &json!({"a": 1e9 + 100.0})),
            0
        );
        assert_eq!(
            differences(&json!({"a": 1_000_000_000}), &json!({"a": 1_000_000_001})),
            1
        );
        assert_eq!(
            differences(&json!({"a_s": [1.0]}), &json!({"a_s": [1.000_000_9]})),
            0
        );
        assert_eq!(differences(&json!({"a": 1}), &json!({"a": true})), 1);
    }

    #[test]
    fn keys_may_be_missing_only_for_null() {
        assert_eq!(differences(&json!({"a": null}), &json!({})), 0);
        assert_eq!(differences(&json!({"a": null}), &json!({"a": 1})), 1);
        assert_eq!(differences(&json!({"a": {}}), &json!({})), 1);
        assert_eq!(
            differences(&json!({"_a": 1, "b": {"_c": 1}}), &json!({"b": {}})),
            1
        );
        assert_eq!(differences(&json!({"a": [1, 2]}), &json!({"a": [1]})), 1);
        assert_eq!(differences(&json!({}), &json!({"more": 1})), 0);
    }
}
