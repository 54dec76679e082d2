//! Arguments of a call: read one by one. Each error names the expected value.

use etwkit_question::Values;
use serde_json::Value;

use crate::mcp::problem::{Problem, Result};

/// Default number of rows in an answer.
const ROWS: u64 = 20;
/// Rows that are skipped, unless an agent asks for a later page.
const SKIPPED: u64 = 0;

/// Largest number of rows in an answer.
const MOST_ROWS: u64 = 500;

/// The arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a>(pub(crate) &'a Values);

/// The part of an answer's rows that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// Number of rows to skip.
    pub(crate) skip: usize,
    /// Largest number of rows from each table.
    pub(crate) rows: usize,
}

impl<'a> Arguments<'a> {
    /// Rejects arguments that the tool does not have.
    pub(crate) fn check(self, known: &Values) -> Result<()> {
        // If a misspelt argument were ignored, the answer would be to another question than the
        // agent intended.
        let Some(word) = self.0.keys().find(|word| !known.contains_key(*word)) else {
            return Ok(());
        };
        let words: Vec<&str> = known.keys().map(String::as_str).collect();
        let expected = if words.is_empty() {
            "none".to_owned()
        } else {
            words.join(", ")
        };
        Err(Problem::bad(format!(
            "{word:?} is not an argument of this tool; expected: {expected}"
        )))
    }

    /// Returns a text argument, if it is given.
    pub(crate) fn text(self, name: &str) -> Result<Option<&'a str>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a text", other)),
        }
    }

    /// Returns a required text argument.
    pub(crate) fn required(self, name: &str) -> Result<&'a str> {
        let text = self.text(name)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| Problem::bad(format!("{name}: expected a text, found nothing")))
    }

    /// Returns a list of texts, which may be empty.
    pub(crate) fn texts(self, name: &str) -> Result<Vec<&'a str>> {
        let all = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(all)) => all,
            Some(other) => return Err(wrong(name, "a list of texts", other)),
        };
        all.iter()
            .map(|one| {
                one.as_str()
                    .ok_or_else(|| wrong(name, "a list of texts", one))
            })
            .collect()
    }

    /// Options of a question.
    pub(crate) fn options(self, name: &str) -> Result<Values> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(Values::new()),
            Some(Value::Object(options)) => Ok(options.clone()),
            Some(other) => Err(wrong(name, "an object of options by name", other)),
        }
    }

    /// Returns a flag; false if it is not given.
    pub(crate) fn flag(self, name: &str) -> Result<bool> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong(name, "true or false", other)),
        }
    }

    /// Returns the requested part of the rows.
    pub(crate) fn page(self) -> Result<Page> {
        let rows = self.number("rows", 1, MOST_ROWS)?.unwrap_or(ROWS);
        let skip = self
            .number("skip", 0, u64::from(u32::MAX))?
            .unwrap_or(SKIPPED);
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Page {
            skip: size(skip),
            rows: size(rows),
        })
    }

    fn number(self, name: &str, least: u64, most: u64) -> Result<Option<u64>> {
        let given = self.0.get(name).filter(|given| !given.is_null());
        let Some(given) = given else { return Ok(None) };
        // A number out of bounds is rejected, not clamped: an agent that gets fewer rows than it
        // requested would take them for all rows.
        let number = given
            .as_u64()
            .filter(|number| (least..=most).contains(number));
        let expected = || {
            wrong(
                name,
                &format!("a whole number from {least} to {most}"),
                given,
            )
        };
        number.map(Some).ok_or_else(expected)
    }
}

fn wrong(name: &str, expected: &str, found: &Value) -> Problem {
    let found = found.to_string();
    let found: String = found.chars().take(80).collect();
    Problem::bad(format!("{name}: expected {expected}, found {found}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_says_what_was_expected() {
        let given = json!({"trace": 7, "rows": 501, "skip": -1, "options": [], "more": ["a", 1], "on": "yes"});
        let all = Arguments(given.as_object().unwrap());
        assert_eq!(
            message(all.required("trace")),
            "trace: expected a text, found 7"
        );
        assert_eq!(
            message(all.required("sql")),
            "sql: expected a text, found nothing"
        );
        assert_eq!(
            message(all.page()),
            "rows: expected a whole number from 1 to 500, found 501"
        );
        assert_eq!(
            message(all.options("options")),
            "options: expected an object of options by name, found []"
        );
        assert_eq!(
            message(all.texts("more")),
            "more: expected a list of texts, found 1"
        );
        assert_eq!(
            message(all.flag("on")),
            "on: expected true or false, found \"yes\""
        );
        let known = json!({"trace": {}, "rows": {}});
        let unknown = message(all.check(known.as_object().unwrap()));
        assert_eq!(
            unknown,
            "\"skip\" is not an argument of this tool; expected: trace, rows"
        );
    }

    #[test]
    fn a_page_is_small_unless_it_is_asked_to_be_larger() {
        let page = |given: Value| Arguments(given.as_object().unwrap()).page().unwrap();
        assert_eq!(page(json!({})), Page { skip: 0, rows: 20 });
        assert_eq!(
            page(json!({"rows": 3, "skip": 40})),
            Page { skip: 40, rows: 3 }
        );
    }
}
