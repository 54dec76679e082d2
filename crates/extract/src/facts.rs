//! Facts about the machine, stored next to a trace: `NAME.facts.json`. A recorder writes it with
//! facts that no event contains.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use etwkit_base::path::{file_name, name_of, without_ending};
use etwkit_trace::table::{Diagnostic, MachineFact};
use serde::Deserialize;
use serde_json::Value;

use crate::Input;

/// Suffix of the file name, after the name of the trace.
const ENDING: &str = ".facts.json";
/// The version of the format that is read.
const VERSION: u64 = 1;
/// Bytes of a file that is read, and facts of it that are kept.
const MAX_BYTES: u64 = 1 << 20;
const MAX_FACTS: usize = 4096;
/// Characters of a name or source, and of a value.
const MAX_NAME: usize = 200;
const MAX_VALUE: usize = 4096;

/// The facts stored next to a trace.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) all: Vec<MachineFact>,
    /// Files that could not be read.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The file.
#[derive(Debug, Deserialize)]
struct Document {
    version: u64,
    /// The program that wrote it; the source of facts without one of their own.
    source: Option<String>,
    facts: Vec<Fact>,
}

/// A fact. Members that later versions add are ignored.
#[derive(Debug, Deserialize)]
struct Fact {
    name: String,
    value: Value,
    source: Option<String>,
}

impl Facts {
    /// Reads the fact files of the parts of a trace. Files that cannot be read are reported and
    /// skipped.
    pub(crate) fn beside(input: &Input) -> Self {
        // A set, since several names of one trace may lead to one file.
        let paths: BTreeSet<PathBuf> = input
            .parts()
            .iter()
            .flat_map(|part| paths(&part.path, &part.name))
            .collect();
        let mut found = Self::default();
        for path in paths {
            match read(&path) {
                Ok(facts) => found.all.extend(facts),
                Err(problem) => found
                    .diagnostics
                    .extend(problem.map(|problem| unread(&path, &problem))),
            }
        }
        // A limit over all files, as each may have the most.
        found.all.truncate(MAX_FACTS);
        found
    }
}

/// The paths that the file can have: by the file that was named or by the trace in an archive, with
/// or without their endings.
fn paths(path: &Path, trace: &str) -> Vec<PathBuf> {
    let Some(folder) = path.parent() else {
        return Vec::new();
    };
    let file = name_of(path);
    let trace = file_name(trace).to_owned();
    let stem = |name: &str| without_ending(name).to_owned();
    // Without its ending first: that is what the recorder writes.
    let names = [stem(&file), stem(&trace), file, trace];
    names
        .iter()
        .filter(|name| !name.is_empty())
        .map(|name| folder.join(format!("{name}{ENDING}")))
        .collect()
}

/// Reads a file. A missing one is the error `None`.
fn read(path: &Path) -> Result<Vec<MachineFact>, Option<String>> {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    // Links are not followed.
    let file = is_file
        .then(|| std::fs::File::open(path))
        .ok_or(None)?
        .map_err(|e| Some(e.to_string()))?;
    let mut bytes = Vec::new();
    // One byte more than the limit shows a file that is too long.
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Some(e.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Some(format!("it has more than {MAX_BYTES} bytes")));
    }
    parse(&bytes).map_err(Some)
}

fn parse(bytes: &[u8]) -> Result<Vec<MachineFact>, String> {
    // Windows editors write a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let document: Document = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    if document.version != VERSION {
        return Err(format!(
            "it has version {}, and this program reads {VERSION}",
            document.version
        ));
    }
    let shared = document.source;
    // Facts beyond the limit are dropped. They are written by a program and not by hand.
    let facts = document.facts.into_iter().take(MAX_FACTS);
    Ok(facts
        .filter_map(|fact| {
            let source = fact.source.or_else(|| shared.clone());
            Some(MachineFact {
                name: Some(cut(&fact.name, MAX_NAME)).filter(|name| !name.is_empty())?,
                value: cut(&text(fact.value)?, MAX_VALUE),
                source: source
                    .map(|source| cut(&source, MAX_NAME))
                    .filter(|source| !source.is_empty()),
            })
        })
        .collect())
}

/// A value as text; the values of a list are joined by `;`. `null` and objects are not values.
fn text(value: Value) -> Option<String> {
    match value {
        Value::Null | Value::Object(_) => None,
        Value::String(text) => Some(text),
        Value::Array(list) => {
            let texts: Vec<String> = list.into_iter().filter_map(text).collect();
            Some(texts.join(";"))
        }
        other => Some(other.to_string()),
    }
}

fn cut(text: &str, characters: usize) -> String {
    // Characters and not bytes, so that no character is cut in two.
    text.trim().chars().take(characters).collect()
}

fn unread(path: &Path, problem: &str) -> Diagnostic {
    Diagnostic {
        severity: "warning".to_owned(),
        kind: "facts_unreadable".to_owned(),
        count: 1,
        position: path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned()),
        message: format!("facts about the machine next to the trace were left out: {problem}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_the_trace() {
        let names = paths(Path::new("a/slow.7z"), "slow.etl");
        let names: BTreeSet<String> = names
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        let expected = [
            "a/slow.7z.facts.json",
            "a/slow.etl.facts.json",
            "a/slow.facts.json",
        ];
        assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
    }

    /// The example of docs/FORMAT.md.
    #[test]
    fn facts_have_texts_as_values_and_the_source_of_the_file() {
        let file = r#"{
            "version": 1,
            "source": "recorder 2.1",
            "facts": [
                { "name": "gpu", "value": "Contoso X1", "source": "WMI Win32_VideoController" },
                { "name": "memory_modules", "value": 4 },
                { "name": "page_files", "value": ["C:\\pagefile.sys", "D:\\pagefile.sys"] },
                { "name": "unknown", "value": null }
            ]
        }"#;
        let facts = parse(file.as_bytes()).unwrap();
        let parsed: Vec<_> = facts
            .iter()
            .map(|fact| (&*fact.name, &*fact.value, fact.source.as_deref()))
            .collect();
        assert_eq!(
            parsed,
            [
                ("gpu", "Contoso X1", Some("WMI Win32_VideoController")),
                ("memory_modules", "4", Some("recorder 2.1")),
                (
                    "page_files",
                    r"C:\pagefile.sys;D:\pagefile.sys",
                    Some("recorder 2.1")
                ),
            ]
        );
    }

    #[test]
    fn other_versions_and_other_texts_are_refused() {
        assert!(
            parse(br#"{"version": 2, "facts": []}"#)
                .unwrap_err()
                .contains("version 2")
        );
        assert!(parse(b"{").is_err());
        assert_eq!(
            parse(b"\xef\xbb\xbf{\"version\": 1, \"facts\": []}").unwrap(),
            []
        );
    }
}
