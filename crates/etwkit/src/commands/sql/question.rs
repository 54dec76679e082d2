//! Source of the question: SQL as an argument, from a file or from the standard input, or a name of
//! a library.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail};
use etwkit_base::shell::quoted_pattern;
use etwkit_engine::{library, library_question};
use etwkit_sql::dialect::with_values;
use etwkit_sql::library::Query;
use etwkit_sql::{Answer, Parameter, Session, similar};
use etwkit_terminal::errors::advised;

use super::args::SqlArgs;
use crate::dialect::of_named_question;
use crate::printer::grouped;

/// Longer SQL was not written by a person; the session rejects it with its own limit.
const MAX_INPUT: u64 = 8 << 20;

/// Folders below each other that a library may have.
const MAX_DEPTH: usize = 8;

/// Ending of the files of a library.
const SQL: &str = "sql";

/// A question with its parameters.
pub(super) struct Question {
    query: Cow<'static, Query>,
    params: Vec<Parameter>,
}

/// Returns the question of a command line, and the arguments before it, which are extracts.
pub(super) fn read(args: &SqlArgs) -> anyhow::Result<(Question, &[std::ffi::OsString])> {
    let params = args
        .params
        .iter()
        .map(|param| param.parse())
        .collect::<Result<_, _>>()?;
    let (query, extracts) = match (&args.file, args.items.as_slice()) {
        (Some(file), extracts) => (Cow::Owned(of_file(file, String::new())?), extracts),
        (None, [sql, extracts @ ..])
            if is_statement(sql) && extracts.last().is_some_and(|last| !is_statement(last)) =>
        {
            (of_word(sql, args.library.as_deref())?, extracts)
        }
        (None, [file]) if Path::new(file).exists() => return Err(without_sql(file)),
        (None, [extracts @ .., sql]) => (of_word(sql, args.library.as_deref())?, extracts),
        (None, []) => bail!("expected EXTRACT… and SQL"),
    };
    if extracts.is_empty() {
        return Err(advised(
            "expected an extract before the SQL",
            "name a trace or an extract first, as in `etwkit sql slow.etl \"SELECT name FROM process\"`",
        ));
    }
    Ok((Question { query, params }, extracts))
}

/// Returns the SQL of a question of the program with the values of its parameters, for `--dialect`
/// if that is given.
pub(super) fn text(args: &SqlArgs) -> anyhow::Result<String> {
    let name = args.items.last().and_then(|word| word.to_str());
    let Some(name) = name.and_then(|name| name.strip_prefix('@')) else {
        return Err(advised(
            "--show-sql prints the SQL of a question of the library",
            "name one, such as \"@cpu/processes\"",
        ));
    };
    let query = of_library(name, None)?;
    let params: Vec<Parameter> = args
        .params
        .iter()
        .map(|param| param.parse())
        .collect::<Result<_, _>>()?;
    let sql = with_values(&query, &params)?;
    match args.dialect {
        Some(engine) => of_named_question(engine, name, &sql),
        None => Ok(sql),
    }
}

/// Returns the error for a file without SQL.
fn without_sql(file: &OsStr) -> anyhow::Error {
    let file = quoted_pattern(&file.to_string_lossy());
    advised(
        "expected SQL after the extract",
        format!(
            "write it as the last word, as in `etwkit sql {file} \"SELECT name FROM process\"`"
        ),
    )
}

/// First words of statements that only read.
const READING: [&str; 4] = ["SELECT", "WITH", "VALUES", "EXPLAIN"];

/// Returns whether a word is a statement, and not a file. People who come from other tools write the
/// statement first.
fn is_statement(word: &OsStr) -> bool {
    let Some((first, _)) = word
        .to_str()
        .and_then(|text| text.trim_start().split_once(char::is_whitespace))
    else {
        return false;
    };
    READING
        .iter()
        .any(|known| first.eq_ignore_ascii_case(known))
        && !Path::new(word).exists()
}

/// Parses `SQL`, `-` for the standard input, or `@NAME` for a question of a library.
fn of_word(word: &OsStr, library: Option<&Path>) -> anyhow::Result<Cow<'static, Query>> {
    let Some(text) = word.to_str() else {
        bail!("the SQL is not valid UTF-8")
    };
    if let Some(name) = text.strip_prefix('@') {
        return of_library(name, library);
    }
    let sql = match text {
        "-" => limited(io::stdin()).context("cannot read the SQL from the standard input")?,
        sql => sql.to_owned(),
    };
    Ok(Cow::Owned(Query::own("", sql)))
}

/// Returns the question with that name: one of the user, otherwise one of the program.
fn of_library(name: &str, folder: Option<&Path>) -> anyhow::Result<Cow<'static, Query>> {
    let own = folder.map(names).transpose()?.unwrap_or_default();
    // Only names that the folder lists are read, so that no `..` leads out of it.
    if let Some(folder) = folder.filter(|_| own.contains(name)) {
        return Ok(Cow::Owned(of_file(
            &folder.join(format!("{name}.{SQL}")),
            name.to_owned(),
        )?));
    }
    if let Some(query) = library_question(name) {
        return Ok(Cow::Borrowed(query));
    }
    if Path::new(name).is_file() {
        let file = quoted_pattern(name);
        return Err(advised(
            format!("there is no question @{name}, but a file {name}"),
            format!(
                "`--file {file}` reads the SQL from it; only lists of extracts are written as \"@FILE\""
            ),
        ));
    }
    let known: BTreeSet<&str> = own.iter().map(String::as_str).collect();
    let known: Vec<&str> = known
        .into_iter()
        .chain(library().map(|query| &*query.name))
        .collect();
    let all = known
        .iter()
        .map(|name| format!("@{name}"))
        .collect::<Vec<_>>()
        .join(", ");
    let near = similar(name, &known).into_iter().next();
    let file = near.map_or_else(String::new, |near| format!("do you mean @{near}? "));
    let hint = "--file FILE asks the SQL of a file, --library FOLDER adds questions of your own";
    Err(advised(
        format!("there is no question @{name}; there are: {all}"),
        format!("{file}{hint}"),
    ))
}

/// Reads a question from a file of the user.
fn of_file(file: &Path, name: String) -> anyhow::Result<Query> {
    let text = File::open(file).and_then(limited);
    Ok(Query::own(
        name,
        text.with_context(|| format!("cannot read the SQL from {}", file.display()))?,
    ))
}

fn limited(reader: impl Read) -> io::Result<String> {
    let mut text = String::new();
    reader.take(MAX_INPUT).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns the names of the questions in a folder.
fn names(folder: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    below(folder, "", MAX_DEPTH, &mut names)
        .with_context(|| format!("cannot read the library {}", folder.display()))?;
    Ok(names)
}

fn below(folder: &Path, area: &str, depth: usize, names: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_stem().and_then(OsStr::to_str) else {
            continue;
        };
        if path.is_dir() && depth > 0 {
            let area = path.file_name().map_or_else(String::new, |name| {
                format!("{area}{}/", name.to_string_lossy())
            });
            below(&path, &area, depth.saturating_sub(1), names)?;
        } else if path.extension().is_some_and(|ending| ending == SQL) {
            names.insert(format!("{area}{name}"));
        }
    }
    Ok(())
}

impl Question {
    /// Returns its SQL, to find the names of tables in it.
    pub(super) fn sql(&self) -> String {
        self.query.sql(false)
    }

    /// Returns a note about rows that a limit of the library has cut off, given the number of rows
    /// in the answer.
    pub(super) fn cut_off(&self, session: &Session, rows: usize) -> anyhow::Result<Option<String>> {
        let Self { query, params } = self;
        if query.limit(params).is_none_or(|limit| rows < limit) {
            return Ok(None);
        }
        // Counting runs the query once more, so it is done only for an answer that reaches its
        // limit.
        let Some(all) = session.count(query, params)? else {
            return Ok(None);
        };
        let all = usize::try_from(all).unwrap_or(usize::MAX);
        let extracts = match session.manifests().count() {
            0 | 1 => String::new(),
            several => format!(" of all {several} extracts together"),
        };
        Ok((all > rows).then(|| {
            let rows = grouped(rows as u64);
            let all = grouped(all as u64);
            format!(
                "{rows} of {all} rows{extracts}; --param top={} shows all",
                all.replace(',', "")
            )
        }))
    }

    pub(super) fn ask(&self, session: &Session) -> anyhow::Result<Answer> {
        Ok(session.ask(&self.query, &self.params)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_questions_lie_in_folders_and_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("mine.sql", "SELECT 1");
        write("cpu/methods.sql", "SELECT 2");
        write("a/b/deep.sql", "SELECT 3");
        write("notes.txt", "no question");
        for (name, sql) in [
            ("mine", "SELECT 1"),
            ("cpu/methods", "SELECT 2"),
            ("a/b/deep", "SELECT 3"),
        ] {
            assert_eq!(
                of_library(name, Some(folder.path())).unwrap().sql(false),
                sql
            );
        }
        assert!(
            of_library("cpu/modules", Some(folder.path()))
                .unwrap()
                .sql(false)
                .contains("cpu_stack")
        );
        let unknown = of_library("notes", Some(folder.path()))
            .unwrap_err()
            .to_string();
        assert!(
            unknown.starts_with(
                "there is no question @notes; there are: @a/b/deep, @cpu/methods, @mine, @trace/machine"
            ),
            "{unknown}"
        );
        // No name leads out of the folder.
        write("inner/x.sql", "SELECT 4");
        assert!(of_library("../mine", Some(&folder.path().join("inner"))).is_err());
        let missing = of_library("x", Some(&folder.path().join("none")))
            .unwrap_err()
            .to_string();
        assert!(missing.starts_with("cannot read the library "), "{missing}");
    }
}
