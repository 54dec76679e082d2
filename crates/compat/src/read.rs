//! The words of a line, which all commands read in the same way: switches of tables, queries of
//! files, and words that only one command takes.

use std::path::Path;

use anyhow::bail;

use crate::LineError;
use crate::files::Queries;
use crate::line::{Line, Word};
use crate::switch::{Native, Switch, find};

/// The parsed words of a line.
#[derive(Debug, Default)]
pub(crate) struct ParsedLine {
    /// The queries for files.
    pub(crate) queries: Queries,
    /// Translated arguments.
    pub(crate) native: Native,
}

/// Reads the words of a line of that command. Words that its tables do not have are passed to
/// `other`, which returns whether it knows them, and may change the result.
pub(crate) fn read(
    command: &str,
    words: &[String],
    tables: &[&[Switch]],
    mut other: impl FnMut(&Word, &mut Line, &mut ParsedLine) -> anyhow::Result<bool>,
) -> anyhow::Result<ParsedLine> {
    let mut said = ParsedLine::default();
    let mut line = Line::new(words.iter().cloned());
    while let Some(word) = line.next() {
        let switch = match &word {
            Word::Switch(name) if name == command || said.queries.take(name, &mut line)? => {
                continue;
            }
            Word::Switch(name) => find(tables, name).map(|switch| (name, switch)),
            Word::Plain(_) => None,
        };
        match switch {
            Some((name, switch)) => switch.apply(name, &mut line, &mut said.native)?,
            None if other(&word, &mut line, &mut said)? => {}
            None => match word {
                Word::Plain(word) => return Err(stray(&word, command)),
                Word::Switch(name) => bail!("there is no switch -{name} of -{command}"),
            },
        }
    }
    Ok(said)
}

/// Returns the error for a word that no switch takes.
fn stray(word: &str, command: &str) -> anyhow::Error {
    let message = format!("{word:?} belongs to no switch of -{command}");
    if Path::new(word).exists() {
        let hint =
            "a shell puts names of files in place of patterns: put quotes around what has * or ?";
        return LineError::new(message, hint).into();
    }
    anyhow::anyhow!(message)
}
