//! The SQL library: questions that are asked often, in files `sql/AREA/NAME.sql`.
//!
//! The first line of a file says what it answers; lines `-- param NAME: TYPE = DEFAULT – MEANING` declare its
//! parameters, which the SQL names as `$NAME`. Values are bound as typed literals, never pasted into the
//! text. What is written as `/*+ … */` holds for sessions over several extracts, where rows carry `trace_id`;
//! for one extract it is a comment.

use datafusion::common::ScalarValue;

use crate::{Error, Result};

macro_rules! library {
    ($($name:literal),+ $(,)?) => {
        &[$(Query { name: $name, text: include_str!(concat!("../sql/", $name, ".sql")) }),+]
    };
}

static QUERIES: &[Query] = library![
    "trace/machine",
    "trace/health",
    "cpu/processes",
    "cpu/threads",
    "cpu/methods",
    "cpu/modules",
    "cpu/wait_reasons",
    "cpu/busy_per_processor",
    "disk/processes",
    "disk/files",
    "file/operations",
    "memory/hard_faults",
    "net/processes",
    "dotnet/exceptions",
    "dotnet/gc",
];

/// All questions, in the order of the reference.
#[must_use]
pub fn all() -> &'static [Query] {
    QUERIES
}

/// The question with that name, as `cpu/processes`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Query> {
    QUERIES.iter().find(|query| query.name == name)
}

/// How questions with a limit end.
const LIMIT: &str = "LIMIT $top";

/// A question of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    /// Area and name: `cpu/processes`.
    pub name: &'static str,
    text: &'static str,
}

/// A parameter of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Name; the SQL says `$name`.
    pub name: &'static str,
    /// `text` or `int`.
    pub kind: &'static str,
    /// Value if none is given, as it is given.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
}

impl Query {
    /// What it answers, as one sentence.
    #[must_use]
    pub fn doc(&self) -> &'static str {
        self.text.lines().next().map(|line| line.trim_start_matches("-- ")).unwrap_or_default()
    }

    /// Its parameters.
    pub fn params(&self) -> impl Iterator<Item = Param> + use<> {
        self.text.lines().filter_map(|line| param(line.strip_prefix("-- param ")?))
    }

    /// The SQL without its comments at the top, for a session over one or over several extracts.
    #[must_use]
    pub fn sql(&self, several: bool) -> String {
        let lines: Vec<&str> = self.text.lines().skip_while(|line| line.starts_with("--")).collect();
        let mut rest = lines.join("\n");
        let mut sql = String::with_capacity(rest.len());
        while let Some((before, marked)) = rest.split_once("/*+ ") {
            let (inside, after) = marked.split_once(" */").unwrap_or((marked, ""));
            sql.push_str(before);
            // One blank stays of what is left out.
            let (inside, after) = if several { (inside, after) } else { ("", after.trim_start_matches(' ')) };
            sql.push_str(inside);
            rest = after.to_owned();
        }
        sql + &rest
    }

    /// Counts the rows that it would have without its limit; none where it has no limit. For a session over
    /// one or over several extracts.
    pub(crate) fn count_sql(&self, several: bool) -> Option<String> {
        let sql = self.sql(several);
        let all = sql.trim_end().strip_suffix(LIMIT)?;
        Some(format!("SELECT count(*) AS rows FROM (\n{all})"))
    }

    /// The most rows that it gives with these parameters; none where it has no limit.
    #[must_use]
    pub fn limit(&self, given: &[(String, String)]) -> Option<usize> {
        let top = self.params().find(|param| LIMIT.ends_with(&format!("${}", param.name)))?;
        let given = given.iter().rev().find(|(name, _)| name == top.name);
        given.map_or(top.default, |(_, value)| value).parse().ok()
    }

    /// The values of its parameters: those that are given, as text, and the defaults of the others.
    pub(crate) fn bind(&self, given: &[(String, String)]) -> Result<Vec<(String, ScalarValue)>> {
        if let Some((name, _)) = given.iter().find(|(name, _)| self.params().all(|param| param.name != name))
        {
            let names: Vec<&str> = self.params().map(|param| param.name).collect();
            return Err(Error::Parameter {
                expected: if names.is_empty() { "no parameter".into() } else { names.join(", ") },
                found: name.clone(),
                query: self.name,
            });
        }
        let value = |param: Param| {
            let given = given.iter().rev().find(|(name, _)| name == param.name);
            let text = given.map_or(param.default, |(_, value)| value);
            Ok((param.name.to_owned(), typed(&param, text, self.name)?))
        };
        self.params().map(value).collect()
    }
}

fn typed(param: &Param, text: &str, query: &'static str) -> Result<ScalarValue> {
    if param.kind == "text" {
        return Ok(ScalarValue::Utf8(Some(text.to_owned())));
    }
    let wrong = |_| Error::Parameter {
        expected: format!("{} as a number", param.name),
        found: text.to_owned(),
        query,
    };
    text.parse().map(|number| ScalarValue::Int64(Some(number))).map_err(wrong)
}

/// Reads `name: type = default – meaning`.
fn param(line: &'static str) -> Option<Param> {
    let (name, rest) = line.split_once(": ")?;
    let (kind, rest) = rest.split_once(" = ")?;
    let (default, doc) = rest.split_once(" – ")?;
    Some(Param { name, kind, default: default.trim_matches('\''), doc })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_in_the_library_and_declares_what_it_names() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
        let mut files = 0;
        for area in std::fs::read_dir(&folder).unwrap() {
            for file in std::fs::read_dir(area.unwrap().path()).unwrap() {
                let path = file.unwrap().path().with_extension("");
                let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
                let query = find(&name).unwrap_or_else(|| panic!("{name} is not in the library"));
                let declared = query.text.lines().filter(|line| line.starts_with("-- param")).count();
                assert_eq!(query.params().count(), declared, "{name}");
                assert!(query.doc().ends_with('.'), "{name}");
                let sql = query.sql(false);
                assert!(query.params().all(|param| sql.contains(&format!("${}", param.name))), "{name}");
                assert!(query.params().all(|param| matches!(param.kind, "text" | "int")), "{name}");
                // What is cut off can be counted.
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
        let query = Query { name: "x", text: "-- Doc.\nSELECT /*+ a.trace_id, */ b\nFROM c /*+ , d */" };
        assert_eq!(query.sql(false), "SELECT b\nFROM c ");
        assert_eq!(query.sql(true), "SELECT a.trace_id, b\nFROM c , d");
    }

    #[test]
    fn values_are_typed() {
        let query = find("cpu/processes").unwrap();
        let bound = query.bind(&[("process".into(), "'; DROP".into())]).unwrap();
        assert_eq!(bound[0], ("process".into(), ScalarValue::from("'; DROP")));
        assert_eq!(bound[1], ("top".into(), ScalarValue::from(1000_i64)));
        let wrong = query.bind(&[("top".into(), "x".into())]).unwrap_err().to_string();
        assert_eq!(wrong, "@cpu/processes: expected top as a number, found \"x\"");
        let wrong = query.bind(&[("tpo".into(), "1".into())]).unwrap_err().to_string();
        assert_eq!(wrong, "@cpu/processes: expected process, top, found \"tpo\"");
    }
}
