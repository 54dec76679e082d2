//! Which question is asked: SQL as an argument or from the standard input, or a name of the library.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::Read;

use anyhow::{Context, bail};
use etwkit_query::library::{self, Query};
use etwkit_query::{Answer, Session};

use crate::printer::grouped;

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
    /// Its SQL, for the names of tables in it.
    pub(super) fn sql(&self) -> Cow<'_, str> {
        match self {
            Self::Sql(sql) => sql.into(),
            Self::Library(query, _) => query.sql(false).into(),
        }
    }

    /// What the reader of an answer with so many rows should know of others that a limit of the library has
    /// cut off.
    pub(super) fn cut_off(&self, session: &Session, rows: usize) -> anyhow::Result<Option<String>> {
        let Self::Library(query, params) = self else { return Ok(None) };
        if query.limit(params).is_none_or(|limit| rows < limit) {
            return Ok(None);
        }
        let Some(all) = session.count(query, params)? else { return Ok(None) };
        let all = usize::try_from(all).unwrap_or(usize::MAX);
        let extracts = match session.manifests().count() {
            0 | 1 => String::new(),
            several => format!(" of all {several} extracts together"),
        };
        Ok((all > rows).then(|| {
            let (rows, all) = (grouped(rows as u64), grouped(all as u64));
            format!("{rows} of {all} rows{extracts}; --param top={} shows all", all.replace(' ', ""))
        }))
    }

    pub(super) fn ask(&self, session: &Session) -> anyhow::Result<Answer> {
        Ok(match self {
            Self::Sql(sql) => session.sql(sql)?,
            Self::Library(query, params) => session.ask(query, params)?,
        })
    }
}
