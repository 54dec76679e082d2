//! SQL for another query engine (`--dialect`): questions for which a test has compared the rows of
//! both engines.

use anyhow::bail;
use clap::ValueEnum;
use etwkit_engine::question;
use etwkit_question::{AnyQuestion, Opt, OptionKind, Values};
use etwkit_sql::dialect::{Dialect, shape};
use etwkit_terminal::errors::advised;
use serde_json::Value;

/// Compared questions, a line for each: the trace that has rows for it, then `sql @NAME`, or
/// `dump NAME` with options. Tests run them all.
const DUCKDB: &str = include_str!("dialect/duckdb.txt");

/// Another query engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OtherEngine {
    Duckdb,
}

impl OtherEngine {
    /// Returns its dialect.
    pub(crate) const fn dialect(self) -> Dialect {
        match self {
            Self::Duckdb => Dialect::DuckDb,
        }
    }

    /// Returns the compared questions: the word before the name, the name, and options.
    fn compared(self) -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
        let Self::Duckdb = self;
        DUCKDB.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let _trace = words.next().filter(|word| *word != "#")?;
            Some((words.next()?, words.next()?, words.collect()))
        })
    }
}

/// Returns the SQL of a question of the library in the dialect of an engine.
pub(crate) fn of_named_question(
    engine: OtherEngine,
    name: &str,
    sql: &str,
) -> anyhow::Result<String> {
    let translated = translated(engine, sql)?;
    let is_compared = engine
        .compared()
        .any(|(kind, known, _)| kind == "sql" && known.strip_prefix('@') == Some(name));
    if !is_compared {
        return Err(not_compared(engine, &format!("@{name}")));
    }
    Ok(translated)
}

/// Returns the SQL of a question of `dump` in the dialect of an engine.
pub(crate) fn of_declared_question(
    engine: OtherEngine,
    asked: &dyn AnyQuestion,
    sql: &str,
) -> anyhow::Result<String> {
    let translated = translated(engine, sql)?;
    // Values of options are literals of the SQL, so options that a test has compared with other
    // values are compared as well. Options that change anything else change the shape.
    let shape_of_asked = shape(sql);
    let is_compared = engine
        .compared()
        .filter(|(kind, name, _)| *kind == "dump" && *name == asked.name())
        .filter_map(|(_, name, options)| sql_of_line(name, &options))
        .any(|compared| shape(&compared) == shape_of_asked);
    if !is_compared {
        return Err(not_compared(
            engine,
            &format!("dump {} with these options", asked.name()),
        ));
    }
    Ok(translated)
}

fn translated(engine: OtherEngine, sql: &str) -> anyhow::Result<String> {
    let dialect = engine.dialect();
    match dialect.translate(sql) {
        Ok(translated) => Ok(translated),
        Err(obstacle) => bail!("{} cannot run this question: {obstacle}", dialect.title()),
    }
}

fn not_compared(engine: OtherEngine, question: &str) -> anyhow::Error {
    let title = engine.dialect().title();
    advised(
        format!("no test has shown that {title} has equal rows for {question}"),
        "--show-sql alone prints our SQL; `etwkit sql --format parquet` writes its rows",
    )
}

/// Returns the SQL of a compared question; `None` for a line that is not a question.
fn sql_of_line(name: &str, words: &[&str]) -> Option<String> {
    let question = question(name)?;
    let values = values(&question.options(), words)?;
    let request = question.read(&values).ok()?;
    Some(request.show_sql())
}

/// Reads options that have the form `--name` or `--name=value`.
fn values(options: &[Opt], words: &[&str]) -> Option<Values> {
    let mut values = Values::new();
    for word in words {
        let word = word.strip_prefix("--")?;
        let (name, text) = word.split_once('=').unwrap_or((word, ""));
        let option = options.iter().find(|option| option.name == name)?;
        let value = match option.kind {
            OptionKind::Flag => Value::from(true),
            OptionKind::Files | OptionKind::List | OptionKind::Two => Value::from(vec![text]),
            _ if text.is_empty() => Value::from(option.alone?),
            _ => Value::from(text),
        };
        values.insert(name.to_owned(), value);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use etwkit_sql::dialect::with_values;

    use super::*;

    #[test]
    fn each_line_is_a_question_that_is_offered() {
        let engine = OtherEngine::Duckdb;
        for (kind, name, options) in engine.compared() {
            let offered = match kind {
                "sql" => {
                    let name = name.strip_prefix('@').unwrap();
                    let query = etwkit_engine::library_question(name).unwrap();
                    of_named_question(engine, name, &with_values(query, &[]).unwrap())
                }
                "dump" => {
                    let sql = sql_of_line(name, &options).unwrap();
                    of_declared_question(engine, question(name).unwrap(), &sql)
                }
                _ => panic!("{kind}"),
            };
            assert!(offered.is_ok(), "{kind} {name} {options:?}: {offered:?}");
        }
    }
}
