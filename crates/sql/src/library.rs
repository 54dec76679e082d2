//! The SQL library: frequent questions, in files `sql/AREA/NAME.sql`.
//!
//! The first line of a file is the description of its answer; lines
//! `-- param NAME: TYPE = DEFAULT – MEANING` declare its parameters, which the SQL names as
//! `$NAME`; lines `--   MORE` continue a meaning. Values are bound as typed literals, never pasted
//! into the text. Text inside `/*+ … */` applies to sessions over several extracts, whose rows carry
//! `trace_id`; for one extract it is a comment. Files of users have the same form, but every part of
//! it is optional: parameters that they do not declare have the type that the statement gives them.

use std::borrow::Cow;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;

use crate::parameters;
use crate::parameters::{Parameter, Values};
use crate::{Error, Result, statement};

macro_rules! library {
    ($($name:literal),+ $(,)?) => {
        &[$(Query::built_in($name, include_str!(concat!("../library/", $name, ".sql")))),+]
    };
}

static QUERIES: &[Query] = library![
    "trace/machine",
    "trace/health",
    "trace/rate",
    "cpu/processes",
    "cpu/threads",
    "cpu/methods",
    "cpu/modules",
    "cpu/wait_reasons",
    "cpu/busy_per_processor",
    "cpu/moves",
    "disk/processes",
    "disk/files",
    "file/operations",
    "memory/hard_faults",
    "net/processes",
    "dotnet/exceptions",
    "dotnet/gc",
];

/// Returns all questions, in the order of the reference.
#[must_use]
pub fn all() -> &'static [Query] {
    QUERIES
}

/// Returns the question with that name, such as `cpu/processes`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Query> {
    QUERIES.iter().find(|query| query.name == name)
}

/// The end of questions with a limit.
const LIMIT: &str = "LIMIT $top";

/// A question of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Area and name: `cpu/processes`. Empty for SQL from a command line.
    pub name: Cow<'static, str>,
    text: Cow<'static, str>,
    /// True if it is built into the program.
    is_built_in: bool,
}

/// A parameter of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param<'q> {
    /// Name; the SQL has `$name`.
    pub name: &'q str,
    /// `text`, `int`, `float` or `bool`.
    pub kind: &'q str,
    /// Default value as text; without one a value is required.
    pub default: Option<&'q str>,
    /// Its meaning.
    pub doc: Cow<'q, str>,
}

impl Query {
    const fn built_in(name: &'static str, text: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            text: Cow::Borrowed(text),
            is_built_in: true,
        }
    }

    /// Creates a built-in question from outside the library, such as a rule.
    #[must_use]
    pub fn of_program(name: impl Into<String>, text: &'static str) -> Self {
        Self {
            name: Cow::Owned(name.into()),
            text: Cow::Borrowed(text),
            is_built_in: true,
        }
    }

    /// Creates a question of a user, with a name for messages.
    #[must_use]
    pub fn own(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: Cow::Owned(name.into()),
            text: Cow::Owned(text.into()),
            is_built_in: false,
        }
    }

    /// Returns the description of its answer, one sentence.
    #[must_use]
    pub fn doc(&self) -> &str {
        // The first comment is the sentence.
        self.text
            .lines()
            .next()
            .map_or("", |line| line.trim_start_matches("-- "))
    }

    /// Returns the parameters that it declares.
    pub fn params(&self) -> impl Iterator<Item = Param<'_>> {
        let mut lines = self.text.lines().peekable();
        std::iter::from_fn(move || {
            let mut found = lines.by_ref().find_map(param)?;
            while let Some(more) = lines.peek().and_then(|line| line.strip_prefix(CONTINUED)) {
                let doc = found.doc.to_mut();
                if !doc.is_empty() {
                    doc.push(' ');
                }
                doc.push_str(more.trim());
                lines.next();
            }
            Some(found)
        })
    }

    /// Returns the SQL for a session over one or over several extracts, without the comments at the
    /// top of a built-in question. The SQL of a user keeps them, so that lines in messages are
    /// lines of its file.
    #[must_use]
    pub fn sql(&self, several: bool) -> String {
        // Its comments are for readers of the library, and an answer shows the SQL alone.
        let is_left_out = |line: &&str| self.is_built_in && line.starts_with("--");
        let lines: Vec<&str> = self.text.lines().skip_while(is_left_out).collect();
        let mut rest = lines.join("\n");
        let mut sql = String::with_capacity(rest.len());
        while let Some((before, marked)) = rest.split_once("/*+ ") {
            // A comment without an end is left to the parser, which reports it with its place.
            let (inside, after) = marked.split_once(" */").unwrap_or((marked, ""));
            sql.push_str(before);
            // One blank remains of a removed part.
            let (inside, after) = if several {
                (inside, after)
            } else {
                ("", after.trim_start_matches(' '))
            };
            sql.push_str(inside);
            rest = after.to_owned();
        }
        sql + &rest
    }

    /// Returns how many more operators its SQL may have, where a join or a union counts as five.
    #[must_use]
    pub fn room(&self) -> usize {
        statement::room(&self.sql(false))
    }

    /// Returns SQL that counts the rows that the question would have without its limit, for a
    /// session over one or over several extracts; `None` if it has no limit.
    pub(crate) fn count_sql(&self, several: bool) -> Option<String> {
        // The count is of the statement without its limit, which by custom of the library is its
        // last line.
        let sql = self.sql(several);
        let all = sql.trim_end().strip_suffix(LIMIT)?;
        Some(format!("SELECT count(*) AS rows FROM (\n{all})"))
    }

    /// Returns the maximum number of rows of the question with these parameters; `None` if it has
    /// no limit.
    #[must_use]
    pub fn limit(&self, given: &[Parameter]) -> Option<usize> {
        let top = self
            .params()
            .find(|param| LIMIT.ends_with(&format!("${}", param.name)))?;
        // If a parameter is given twice, the last one counts, as everywhere on command lines.
        let given = given.iter().rev().find(|given| given.name == top.name);
        let given = given.map(|given| given.text.as_str()).or(top.default);
        given?.parse().ok()
    }

    /// Returns the values of its parameters: the given ones, and the defaults of the others. Types
    /// that SQL of a user does not declare follow from its plan.
    pub(crate) fn bind(&self, given: &[Parameter]) -> Result<Values> {
        let is_declared = |name: &str| self.params().any(|param| param.name == name);
        let other: Vec<&Parameter> = given
            .iter()
            .filter(|given| !is_declared(&given.name))
            .collect();
        // A mistyped name would otherwise leave the default in force.
        if let Some(wrong) = other.first().filter(|_| self.is_built_in) {
            let names: Vec<&str> = self.params().map(|param| param.name).collect();
            return Err(Error::Parameter {
                expected: if names.is_empty() {
                    "no parameter".into()
                } else {
                    names.join(", ")
                },
                found: wrong.name.clone(),
                question: self.name.to_string(),
            });
        }
        let mut values = Values {
            question: self.name.to_string(),
            ..Values::default()
        };
        for param in self.params() {
            let given = given.iter().rev().find(|given| given.name == param.name);
            // A parameter without a default and without a value is reported by the planner.
            let Some(text) = given.map(|given| given.text.as_str()).or(param.default) else {
                continue;
            };
            let kind = given.and_then(|given| given.kind.clone());
            let value = self.typed(&param, text, kind)?;
            values.typed.push((param.name.to_owned(), value));
        }
        // If one is given twice, the last one counts, as for declared parameters.
        for one in other.into_iter().rev() {
            if values.open.iter().all(|known| known.name != one.name) {
                values.open.push(one.clone());
            }
        }
        Ok(values)
    }

    /// Returns a value in the type that is given, or in the declared one.
    fn typed(&self, param: &Param<'_>, text: &str, given: Option<DataType>) -> Result<ScalarValue> {
        let wrong = |expected, found: &str| Error::Parameter {
            expected,
            found: found.to_owned(),
            question: self.name.to_string(),
        };
        let Some(kind) = given.or_else(|| parameters::kind(param.kind)) else {
            return Err(wrong(
                format!("{} as one of the types text, int, float, bool", param.name),
                param.kind,
            ));
        };
        let words = parameters::type_in_words(&kind);
        parameters::value(text, Some(&kind))
            .ok_or_else(|| wrong(format!("{} as {words}", param.name), text))
    }
}

/// Start of a comment that continues the meaning of a parameter, as it does other texts of a rule.
const CONTINUED: &str = "--   ";

/// Reads `-- param name: type = default – meaning`; a question of a user may omit the default and
/// the meaning, and use a plain dash.
fn param(line: &str) -> Option<Param<'_>> {
    let (name, rest) = line.strip_prefix("-- param ")?.split_once(": ")?;
    let (value, doc) = [" – ", " - "]
        .iter()
        .find_map(|dash| rest.split_once(dash))
        .unwrap_or((rest, ""));
    let (kind, default) = match value.split_once(" = ") {
        Some((kind, default)) => (kind, Some(default.trim().trim_matches('\''))),
        None => (value, None),
    };
    Some(Param {
        name: name.trim(),
        kind: kind.trim(),
        default,
        doc: doc.into(),
    })
}

#[cfg(test)]
mod tests {
    use datafusion::common::ScalarValue;

    use super::*;

    #[test]
    fn every_file_is_in_the_library_and_declares_what_it_names() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
        let mut files = 0;
        for area in std::fs::read_dir(&folder).unwrap() {
            for file in std::fs::read_dir(area.unwrap().path()).unwrap() {
                let path = file.unwrap().path().with_extension("");
                let name = path
                    .strip_prefix(&folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/");
                let query = find(&name).unwrap_or_else(|| panic!("{name} is not in the library"));
                let declared = query
                    .text
                    .lines()
                    .filter(|line| line.starts_with("-- param"))
                    .count();
                assert_eq!(query.params().count(), declared, "{name}");
                assert!(query.doc().ends_with('.'), "{name}");
                let sql = query.sql(false);
                assert!(
                    query
                        .params()
                        .all(|param| sql.contains(&format!("${}", param.name))),
                    "{name}"
                );
                assert!(
                    query
                        .params()
                        .all(|param| matches!(param.kind, "text" | "int")),
                    "{name}"
                );
                // Rows beyond the limit can be counted.
                let has_limit = sql.contains("LIMIT");
                assert_eq!(
                    (query.count_sql(true).is_some(), query.limit(&[]).is_some()),
                    (has_limit, has_limit)
                );
                files += 1;
            }
        }
        assert_eq!(files, all().len());
    }

    #[test]
    fn marked_parts_are_for_several_extracts() {
        let query = Query::built_in(
            "x",
            "-- Doc.\nSELECT /*+ a.trace_id, */ b\nFROM c /*+ , d */",
        );
        assert_eq!(query.sql(false), "SELECT b\nFROM c ");
        assert_eq!(query.sql(true), "SELECT a.trace_id, b\nFROM c , d");
    }

    #[test]
    fn values_are_typed() {
        let query = find("cpu/processes").unwrap();
        let bound = query
            .bind(&[Parameter::new("process", "'; DROP")])
            .unwrap()
            .typed;
        assert_eq!(bound[0], ("process".into(), ScalarValue::from("'; DROP")));
        assert_eq!(bound[1], ("top".into(), ScalarValue::from(1000_i64)));
        let wrong = query
            .bind(&[Parameter::new("top", "x")])
            .unwrap_err()
            .to_string();
        assert_eq!(
            wrong,
            "@cpu/processes: expected top as an integer, found \"x\""
        );
        let wrong = query
            .bind(&[Parameter::new("tpo", "1")])
            .unwrap_err()
            .to_string();
        assert_eq!(
            wrong,
            "@cpu/processes: expected process, top, found \"tpo\""
        );
    }

    #[test]
    fn the_meaning_of_a_parameter_goes_on_in_the_lines_below() {
        let text = "-- Mine.\n-- param a: int = 5 – five\n--   of them,\n--    at most\n\
                    -- param b: float\n--   half\n-- A comment.\n--   More.\n-- param c: int\nSELECT 1";
        let query = Query::own("mine", text);
        let docs: Vec<String> = query.params().map(|param| param.doc.into_owned()).collect();
        assert_eq!(docs, ["five of them, at most", "half", ""]);
    }

    #[test]
    fn questions_of_users_declare_what_they_want_to() {
        let text = "-- Mine.\n-- param a: int = 5 – five\n-- param b: float\n-- param c: what = 1\nSELECT $a, $d";
        let query = Query::own("mine", text);
        let params: Vec<Param<'_>> = query.params().collect();
        assert_eq!(
            params[0],
            Param {
                name: "a",
                kind: "int",
                default: Some("5"),
                doc: "five".into()
            }
        );
        assert_eq!(
            params[1],
            Param {
                name: "b",
                kind: "float",
                default: None,
                doc: "".into()
            }
        );
        let wrong = query.bind(&[]).unwrap_err().to_string();
        assert_eq!(
            wrong,
            "@mine: expected c as one of the types text, int, float, bool, found \"what\""
        );
        // Its lines are those of the file, and undeclared parameters are left to the statement.
        assert_eq!(query.sql(false), text);
        let query = Query::own("mine", "-- param a: int = 5\nSELECT $a, $d");
        let bound = query
            .bind(&[Parameter::new("d", "1"), Parameter::new("d", "2")])
            .unwrap();
        assert_eq!(bound.typed, [("a".to_owned(), ScalarValue::from(5_i64))]);
        assert_eq!(bound.open, [Parameter::new("d", "2")]);
    }
}
