//! Which question is asked: SQL as an argument or from the standard input, or a name of the library.

use std::ffi::OsStr;
use std::io::Read;

use anyhow::{Context, bail};
use etwkit_query::library::{self, Query};
use etwkit_query::{Answer, Session};

/// More SQL than this is no question that somebody wrote; the session refuses it with its own limit.
const MAX_INPUT: u64 = 8 << 20;

/// A question.
pub(super) enum Question {
    Sql(String),
    Library(&'static Query, Vec<(String, String)>),
}

/// `SQL`, `-` for the standard input, or `@NAME` for a question of the library.
pub(super) fn read(argument: &OsStr, params: &[String]) -> anyhow::Result<Question> {
    let Some(text) = argument.to_str() else { bail!("the SQL is not valid UTF-8") };
    if let Some(name) = text.strip_prefix('@') {
        let Some(query) = library::find(name) else {
            let names: Vec<String> = library::all().iter().map(|query| format!("@{}", query.name)).collect();
            bail!("there is no question @{name}; there are: {}", names.join(", "));
        };
        let params = params.iter().map(|param| pair(param)).collect::<anyhow::Result<_>>()?;
        return Ok(Question::Library(query, params));
    }
    if !params.is_empty() {
        bail!("--param belongs to a question of the library (@NAME); write values into your own SQL");
    }
    if text != "-" {
        return Ok(Question::Sql(text.to_owned()));
    }
    let mut sql = String::new();
    std::io::stdin()
        .take(MAX_INPUT)
        .read_to_string(&mut sql)
        .context("cannot read the SQL from the standard input")?;
    Ok(Question::Sql(sql))
}

fn pair(param: &str) -> anyhow::Result<(String, String)> {
    match param.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => bail!("expected --param NAME=VALUE, found {param}"),
    }
}

impl Question {
    pub(super) fn ask(&self, session: &Session) -> anyhow::Result<Answer> {
        Ok(match self {
            Self::Sql(sql) => session.sql(sql)?,
            Self::Library(query, params) => session.ask(query, params)?,
        })
    }
}
