//! Choice among extracts by a condition on their manifests (`--where`), before any of them is
//! opened as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

use etwkit_base::ordered::{Workers, processors};
use etwkit_extract::json7z::{is_json_archive, is_json_extract};
use etwkit_extract::lake::{LakeRun, Snapshot};
use etwkit_extract::manifest_of;
use etwkit_sql::choice::{Facts, NO_COLUMN, fitting};

use crate::named::near::words;
use crate::open::is_trace;
use crate::{Error, Result};

/// Labels that the error about no match lists, and values of each.
const LISTED_LABELS: usize = 20;
const LISTED_VALUES: usize = 8;

/// Manifests that may be read ahead of the first one that is still missing.
const AHEAD: usize = 64;

/// Extracts that a condition chooses.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// The chosen ones, in their order.
    pub paths: Vec<PathBuf>,
    /// A note about files of which only the name is known.
    pub note: Option<String>,
}

/// Facts about a named file.
enum Looked {
    /// The facts of a manifest.
    Extract(Facts),
    /// A trace, which has a manifest only when it is extracted.
    Trace(Facts),
    /// No readable manifest.
    Unreadable(Facts),
}

impl Looked {
    fn at(path: &Path) -> Self {
        if let Some(run) = Snapshot::run_at(path) {
            return match run {
                Ok(LakeRun { run, .. }) => {
                    Self::Extract(Facts::of_manifest(path, run.manifest()).named(run.name()))
                }
                Err(_) => Self::Unreadable(Facts::of_path(path)),
            };
        }
        if is_trace(path) || is_json_extract(path) || is_json_archive(path) {
            return Self::Trace(Facts::of_path(path));
        }
        match manifest_of(path) {
            Ok(manifest) => Self::Extract(Facts::of_manifest(path, &manifest)),
            Err(_) => Self::Unreadable(Facts::of_path(path)),
        }
    }

    fn facts(self) -> Facts {
        match self {
            Self::Extract(facts) | Self::Trace(facts) | Self::Unreadable(facts) => facts,
        }
    }
}

/// Returns the extracts that match a condition. One whose manifest cannot be read is chosen as
/// well, so that its error is reported where it is opened.
///
/// # Errors
/// The condition is invalid; no extract matches it.
pub fn choose(paths: Vec<PathBuf>, condition: &str) -> Result<Choice> {
    let looked = look(&paths);
    // Names of labels are in manifests: without any, each file has an error of its own.
    if looked
        .iter()
        .all(|one| matches!(one, Looked::Unreadable(_)))
    {
        return Ok(Choice { paths, note: None });
    }
    let is_unreadable: Vec<bool> = looked
        .iter()
        .map(|one| matches!(one, Looked::Unreadable(_)))
        .collect();
    let traces: Vec<&Path> = paths
        .iter()
        .zip(&looked)
        .filter(|(_, one)| matches!(one, Looked::Trace(_)))
        .map(|(path, _)| path.as_path())
        .collect();
    let (note, advice) = (of_traces(traces.len()), extracting(&traces));
    let facts: Vec<Facts> = looked.into_iter().map(Looked::facts).collect();
    let fits = fitting(condition, &facts).map_err(|error| with_advice(error, advice.as_deref()))?;
    let chooses = fits.iter().zip(&is_unreadable).map(|(a, b)| *a || *b);
    let of = paths.len();
    let chosen: Vec<PathBuf> = paths
        .into_iter()
        .zip(chooses)
        .filter_map(|(path, is_chosen)| is_chosen.then_some(path))
        .collect();
    if chosen.is_empty() {
        return Err(Error::NoMatch {
            of,
            hint: none_matches(&facts, advice.as_deref()),
        });
    }
    Ok(Choice {
        paths: chosen,
        note,
    })
}

/// Reads the manifests, several at a time.
fn look(paths: &[PathBuf]) -> Vec<Looked> {
    let workers = Workers {
        threads: processors(),
        jobs_ahead: AHEAD,
    };
    let mut all = Vec::with_capacity(paths.len());
    let taken = workers.map(
        paths,
        |path| Looked::at(path),
        |_, looked| {
            all.push(looked);
            Ok::<_, Infallible>(())
        },
    );
    match taken {
        Ok(()) => all,
        Err(never) => match never {},
    }
}

/// Returns a note about traces; `None` without any.
fn of_traces(traces: usize) -> Option<String> {
    let (are, known) = match traces {
        0 => return None,
        1 => ("one file is a trace".to_owned(), "its name and its path"),
        several => (
            format!("{several} files are traces"),
            "their names and paths",
        ),
    };
    Some(format!(
        "{are} without an extract: --where knows only {known}"
    ))
}

/// Returns the note about traces with the command that makes extracts of them; `None` without any.
fn extracting(traces: &[&Path]) -> Option<String> {
    let note = of_traces(traces.len())?;
    let words = words(traces);
    Some(format!(
        "{note}; `etwkit extract --label NAME=VALUE {words}` makes extracts (.etwx) with labels"
    ))
}

/// Adds advice about traces to the error about a column that is not known: it can be a label.
fn with_advice(error: etwkit_sql::Error, advice: Option<&str>) -> etwkit_sql::Error {
    match (error, advice) {
        (
            etwkit_sql::Error::Sql {
                message,
                position,
                hint: Some(hint),
            },
            Some(advice),
        ) if message.starts_with(NO_COLUMN) => etwkit_sql::Error::Sql {
            message,
            position,
            hint: Some(format!("{advice}; {hint}")),
        },
        (error, _) => error,
    }
}

/// Returns the labels that there are, for the error about no match.
fn none_matches(facts: &[Facts], of_traces: Option<&str>) -> String {
    let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in facts.iter().flat_map(Facts::labels) {
        labels.entry(name).or_default().insert(value);
    }
    let values = |values: &BTreeSet<&str>| listed(values.iter().copied(), LISTED_VALUES);
    let all = labels
        .iter()
        .map(|(name, of)| format!("{name} ({})", values(of)));
    let all = format!("their labels: {}", listed(all, LISTED_LABELS));
    match (labels.is_empty(), of_traces) {
        (true, None) => {
            "none of them has labels: `etwkit extract --label NAME=VALUE` writes them".to_owned()
        }
        (true, Some(of_traces)) => of_traces.to_owned(),
        (false, None) => all,
        (false, Some(of_traces)) => format!("{all}; {of_traces}"),
    }
}

/// Returns the first words, and the number of the others.
fn listed<W: AsRef<str>>(words: impl Iterator<Item = W>, most: usize) -> String {
    let words: Vec<W> = words.collect();
    let shown: Vec<&str> = words.iter().take(most).map(AsRef::as_ref).collect();
    let more = match words.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_cannot_be_read_are_left_to_their_own_errors() {
        let paths = vec![PathBuf::from("gone.etwx"), PathBuf::from("lost.etwx")];
        let choice = choose(paths.clone(), "suite = 'Report'").unwrap();
        assert_eq!(choice, Choice { paths, note: None });
    }

    #[test]
    fn long_lists_are_cut_and_counted() {
        assert_eq!(listed(["a", "b"].iter(), 2), "a, b");
        assert_eq!(listed(["a", "b", "c", "d"].iter(), 2), "a, b, and 2 more");
    }
}
