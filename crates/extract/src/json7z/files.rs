//! Finding the files of an extract: the main file, and its parts next to it or in the same archive.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use etwkit_base::endings::is_single_trace;
use etwkit_base::path::{file_name, name_of, without_ending};

use crate::json7z::error::{self, JsonError};
use crate::json7z::reader::Reader;
use crate::manifest::{self, SourceFile, TraceSource};
use crate::{
    Error, MemberSelection, Opened, OpenedFile, Options, files_hash, names_in_archive, open_files,
};

/// The text between the name of the main file and the name of a part.
const DERIVED: &str = "_Derived_";

/// The kinds of files to look for in an archive.
const WANTED: MemberSelection = MemberSelection {
    ending: "json",
    archives: &["zip", "7z", "json7z"],
};

/// Maximum number of names that a message lists.
const LISTED: usize = 8;

/// Names of the parts.
const PARTS: [&str; 9] = [
    "FileIO",
    "Modules",
    "CPUExtended",
    "Handle",
    "HandleStacks",
    "VirtualAlloc",
    "VirtualAllocStacks",
    "TraceLogging",
    "TraceLogStacks",
];

/// An extract of ETWAnalyzer that was opened.
#[derive(Debug)]
pub struct JsonInput {
    archive: Option<String>,
    /// The main file first.
    files: Vec<JsonFile>,
}

#[derive(Debug)]
struct JsonFile {
    opened: OpenedFile,
    /// Name of the part in lower case; empty for the main file.
    part: String,
}

impl JsonFile {
    /// Name without folders.
    fn name(&self) -> &str {
        &self.opened.name
    }
}

/// True if the file is named like an extract of ETWAnalyzer. Opening the file checks its contents.
#[must_use]
pub fn is_json_extract(path: &Path) -> bool {
    let name = name_of(path).to_lowercase();
    [".json7z", ".json"]
        .iter()
        .any(|ending| name.ends_with(ending) && name.len() > ending.len())
        && path.is_file()
}

/// True if the file is named like a part of an extract: `NAME_Derived_PART.json`.
#[must_use]
pub fn is_json_part(path: &Path) -> bool {
    let name = name_of(path);
    path.is_file() && part_of(&name).is_some_and(|(_, part)| !part.is_empty())
}

/// Bytes at the start of a main file that contain its first members.
const FIRST_BYTES: u64 = 4096;

/// True if a file of a folder is the main file of an extract, or an archive with one. Both the name
/// and the first bytes are checked, because folders also contain other JSON.
#[must_use]
pub fn looks_like_json_extract(path: &Path) -> bool {
    let name = name_of(path);
    let Some((_, part)) = part_of(&name) else {
        return is_json_extract(path);
    };
    // Checked before opening: opening a pipe waits for its writer.
    part.is_empty() && path.is_file() && File::open(path).is_ok_and(|file| has_first_members(&file))
}

/// True if the file starts with the members that a main file has.
fn has_first_members(mut file: &File) -> bool {
    let mut head = Vec::new();
    let is_read = file.seek(SeekFrom::Start(0)).is_ok()
        && file.take(FIRST_BYTES).read_to_end(&mut head).is_ok();
    let head = String::from_utf8_lossy(&head);
    let has = |member: &str| head.contains(&format!("\"{member}\""));
    is_read
        && ["SourceETLFileName", "UsedExtractOptions", "SessionStart"]
            .into_iter()
            .any(has)
}

/// True if the file is a zip or 7z archive that holds main files of ETWAnalyzer and no trace. Its
/// own name does not matter. Only the directory of the archive is read.
#[must_use]
pub fn is_json_archive(path: &Path) -> bool {
    let Some(names) = names_in_archive(path) else {
        return false;
    };
    // A packed extract of ours has a manifest in JSON, which would look like a main file here.
    let is_manifest = |name: &String| file_name(name) == manifest::FILE;
    if names.iter().any(is_manifest) {
        return false;
    }
    let is_main = |name: &String| part_of(name).is_some_and(|(_, part)| part.is_empty());
    let has_traces = names.iter().any(|name| is_single_trace(file_name(name)));
    !has_traces && names.iter().any(is_main)
}

/// Opens an extract of ETWAnalyzer: `NAME.json7z`, or `NAME.json` with its parts next to it.
///
/// # Errors
/// [`JsonError`] with the expected content and advice. An archive with several extracts is an
/// error.
pub fn open_json(path: &Path, options: &Options) -> Result<JsonInput, JsonError> {
    let mut all = open_all_json(path, options)?;
    match all.pop() {
        Some(one) if all.is_empty() => Ok(one),
        last => {
            let names: Vec<String> = all
                .iter()
                .chain(&last)
                .map(|input| input.name().to_owned())
                .collect();
            let found = format!("{} of them: {}", names.len(), listed(&names));
            Err(JsonError::Members {
                archive: name_of(path),
                found,
            })
        }
    }
}

/// Opens all extracts of ETWAnalyzer in a file: a single one, or all extracts of an archive by
/// name.
///
/// # Errors
/// Like [`open_json`], but for archives with several extracts.
pub fn open_all_json(path: &Path, options: &Options) -> Result<Vec<JsonInput>, JsonError> {
    match open_files(path, WANTED, options) {
        Ok(Opened::Plain(opened)) => Ok(vec![plain(path, opened)?]),
        Ok(Opened::Packed(members)) => packed(name_of(path), members),
        Err(Error::NoTrace {
            archive, inside, ..
        }) => {
            let found = if inside.is_empty() {
                "nothing".to_owned()
            } else {
                inside.join(", ")
            };
            Err(JsonError::Members { archive, found })
        }
        Err(error) => Err(error.into()),
    }
}

/// What stands before the ending of a name, in whatever case that is.
fn stem_of<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    let (stem, found) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    found.eq_ignore_ascii_case(ending).then_some(stem)
}

/// The first names of a list, and the number of the remaining ones.
fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let tail = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!("{}{tail}", names.get(..LISTED).unwrap_or(names).join(", "))
}

/// Name of the main file without its extension, and name of the part in lower case, which is empty
/// for the main file.
fn part_of(name: &str) -> Option<(&str, String)> {
    let stem = stem_of(name, ".json")?;
    let part = stem
        .rfind(DERIVED)
        .and_then(|at| Some((stem.get(..at)?, stem.get(at + DERIVED.len()..)?)));
    Some(part.map_or((stem, String::new()), |(main, part)| {
        (main, part.to_lowercase())
    }))
}

/// The extract of a main file, with the parts next to it.
fn plain(path: &Path, main: OpenedFile) -> Result<JsonInput, JsonError> {
    let stem = match part_of(&main.name) {
        Some((stem, part)) if part.is_empty() => stem.to_owned(),
        Some((stem, _)) => {
            return Err(JsonError::Part {
                main: format!("{stem}.json"),
                name: main.name.clone(),
            });
        }
        None => without_ending(&main.name).to_owned(),
    };
    let mut files = vec![JsonFile {
        opened: main,
        part: String::new(),
    }];
    for part in PARTS {
        let name = format!("{stem}{DERIVED}{part}.json");
        let beside: PathBuf = path.with_file_name(&name);
        if beside.is_file() {
            files.push(JsonFile {
                opened: OpenedFile::open(&beside)?,
                part: part.to_lowercase(),
            });
        }
    }
    Ok(JsonInput {
        archive: None,
        files,
    })
}

/// The extracts of an archive: each main file with its parts in the same folder. If there are
/// several candidates, JSON of other programs is skipped.
fn packed(archive: String, members: Vec<OpenedFile>) -> Result<Vec<JsonInput>, JsonError> {
    let mut extracts: BTreeMap<String, Vec<JsonFile>> = BTreeMap::new();
    for member in members {
        let Some((stem, part)) = part_of(&member.path) else {
            continue;
        };
        extracts.entry(stem.to_owned()).or_default().push(JsonFile {
            part,
            opened: member,
        });
    }
    let all = extracts.len();
    extracts.retain(|_, files| {
        // Parts are sorted, so that the same files give the same extract whichever program packed
        // them.
        files.sort_by(|a, b| (&a.part, a.name()).cmp(&(&b.part, b.name())));
        let main = files.first().filter(|main| main.part.is_empty());
        // A single file is opened regardless of its first members: its reader reports a better
        // error.
        main.is_some_and(|main| all == 1 || has_first_members(&main.opened.file))
    });
    if extracts.is_empty() {
        return Err(JsonError::Members {
            archive,
            found: "no main file".to_owned(),
        });
    }
    Ok(extracts
        .into_values()
        .map(|files| JsonInput {
            archive: Some(archive.clone()),
            files,
        })
        .collect())
}

impl JsonInput {
    /// Name of the main file, without folders; for a member of an archive the name in the archive.
    #[must_use]
    pub fn name(&self) -> &str {
        self.files.first().map_or("", JsonFile::name)
    }

    /// Bytes of all files, unpacked.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.opened.size).sum()
    }

    pub(crate) fn files(&self) -> usize {
        self.files.len()
    }

    /// Reads the main file from its start.
    pub(crate) fn main(&self) -> error::Result<Reader> {
        match self.files.first() {
            Some(main) => self.reader(main),
            None => Ok(Reader::new("", Box::new(std::io::empty()))?),
        }
    }

    /// Reads a part from its start, if it exists.
    pub(crate) fn part(&self, part: &str) -> error::Result<Option<Reader>> {
        let part = part.to_lowercase();
        self.files
            .iter()
            .find(|file| file.part == part)
            .map(|file| self.reader(file))
            .transpose()
    }

    /// Names of parts that the import does not read.
    pub(crate) fn other_parts(&self) -> Vec<&str> {
        let is_known = |file: &&JsonFile| {
            file.part.is_empty()
                || PARTS
                    .iter()
                    .any(|part| part.eq_ignore_ascii_case(&file.part))
        };
        self.files
            .iter()
            .filter(|file| !is_known(file))
            .map(JsonFile::name)
            .collect()
    }

    fn reader(&self, file: &JsonFile) -> error::Result<Reader> {
        let name = match &self.archive {
            Some(archive) => format!("{archive}: {}", file.name()),
            None => file.name().to_owned(),
        };
        let failed = |source| JsonError::Read {
            name: name.clone(),
            source,
        };
        // A clone shares the position of the file, and an earlier pass left it at the end.
        let mut source = file.opened.file.try_clone().map_err(failed)?;
        source.seek(SeekFrom::Start(0)).map_err(failed)?;
        Reader::new(&name, Box::new(source))
    }

    /// 16 hexadecimal digits that depend on the files alone, as for a trace
    /// ([`crate::Input::source_hash`]).
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn source_hash(&self) -> crate::Result<String> {
        files_hash(self.files.iter().map(|file| &file.opened))
    }

    /// The files as a manifest names them.
    pub(crate) fn trace_source(&self) -> crate::Result<TraceSource> {
        let file = |file: &JsonFile| SourceFile {
            name: file.name().to_owned(),
            archive: self.archive.clone(),
            size_bytes: file.opened.size,
        };
        Ok(TraceSource {
            files: self.files.iter().map(file).collect(),
            hash: self.source_hash()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_their_names() {
        for (name, expected) in [
            ("a.json", Some(("a", ""))),
            ("a_Derived_FileIO.JSON", Some(("a", "fileio"))),
            (
                "a_Derived_b_Derived_Modules.json",
                Some(("a_Derived_b", "modules")),
            ),
            ("a.json7z", None),
            ("json", None),
        ] {
            let found = part_of(name);
            assert_eq!(
                found.as_ref().map(|(main, part)| (*main, part.as_str())),
                expected,
                "{name}"
            );
        }
    }
}
