//! Finding the files of an extract: the main file, and its parts beside it or in the same archive.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::error::{JsonError, Result};
use super::reader::Reader;
use crate::archive::{self, Archive, Wanted};
use crate::hash::source_hash;
use crate::kind::Kind;
use crate::manifest::{self, SourceFile, TraceSource};
use crate::open::{base_name, open_file, sniff};
use crate::options::Options;
use crate::source::Source;
use crate::spool::Spool;

/// What stands in the name of a part between that of the main file and that of the part.
const DERIVED: &str = "_Derived_";

/// How many names a message lists.
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
    name: String,
    /// Name of the part in lower case; empty for the main file.
    part: String,
    size: u64,
    file: File,
}

/// Whether a file has the name of an extract of ETWAnalyzer. What is in it is seen when it is opened.
#[must_use]
pub fn is_json_extract(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    [".json7z", ".json"].iter().any(|ending| name.ends_with(ending) && name.len() > ending.len())
        && path.is_file()
}

/// Whether a file is a part of an extract by its name: `NAME_Derived_PART.json`.
pub(crate) fn is_part(path: &Path) -> bool {
    let name = base_name(path);
    path.is_file() && part_of(&name).is_some_and(|(_, part)| !part.is_empty())
}

/// Bytes at the begin of a main file in which its first members are.
const FIRST_BYTES: u64 = 4096;

/// Whether a file of a folder is the main file of an extract or an archive with one, by its name and first bytes: folders have other JSON, too.
#[must_use]
pub fn looks_like_json_extract(path: &Path) -> bool {
    let name = base_name(path);
    let Some((_, part)) = part_of(&name) else { return is_json_extract(path) };
    // Asked before opening: opening a pipe waits for its writer.
    part.is_empty() && path.is_file() && File::open(path).is_ok_and(|file| has_first_members(&file))
}

/// Whether a file begins with members that a main file has.
fn has_first_members(mut file: &File) -> bool {
    let mut head = Vec::new();
    let is_read =
        file.seek(SeekFrom::Start(0)).is_ok() && file.take(FIRST_BYTES).read_to_end(&mut head).is_ok();
    let head = String::from_utf8_lossy(&head);
    let has = |member: &str| head.contains(&format!("\"{member}\""));
    is_read && ["SourceETLFileName", "UsedExtractOptions", "SessionStart"].into_iter().any(has)
}

/// Whether a file is a zip or 7z archive that holds main files of ETWAnalyzer and no trace, whatever its
/// name. Only its directory is read.
#[must_use]
pub fn is_json_archive(path: &Path) -> bool {
    let Ok((file, size)) = open_file(path) else { return false };
    let kind = sniff(&file);
    let archive = Archive { file, size, name: base_name(path), wanted: Wanted::Json };
    let Some(names) = archive::names(kind, &archive) else { return false };
    // A packed extract of ours has a manifest in JSON.
    let is_manifest = |name: &String| name.rsplit(['/', '\\']).next() == Some(manifest::FILE);
    if names.iter().any(is_manifest) {
        return false;
    }
    let is_main = |name: &String| part_of(name).is_some_and(|(_, part)| part.is_empty());
    let has_traces = names.iter().any(|name| archive::has_ending(name, &[Wanted::Traces.ending()]));
    !has_traces && names.iter().any(is_main)
}

/// Opens an extract of ETWAnalyzer: `NAME.json7z`, or `NAME.json` with its parts beside it.
///
/// # Errors
/// [`crate::Error`] says what was expected and what to try. An archive with several extracts is one.
pub fn open_json(path: &Path, options: &Options) -> crate::Result<JsonInput> {
    let mut all = open_all_json(path, options)?;
    match all.pop() {
        Some(one) if all.is_empty() => Ok(one),
        last => {
            let names: Vec<String> = all.iter().chain(&last).map(|input| input.name().to_owned()).collect();
            let found = format!("{} of them: {}", names.len(), listed(&names));
            Err(JsonError::Members { archive: base_name(path), found }.into())
        }
    }
}

/// Opens all extracts of ETWAnalyzer in a file: one, or those of an archive, in the order of their names.
///
/// # Errors
/// As [`open_json`], but for archives with several extracts.
pub fn open_all_json(path: &Path, options: &Options) -> crate::Result<Vec<JsonInput>> {
    let (file, size) = open_file(path)?;
    let name = base_name(path);
    match sniff(&file) {
        kind @ (Kind::Zip | Kind::SevenZip) => {
            packed(kind, Archive { file, size, name, wanted: Wanted::Json }, options)
        }
        Kind::Other(kind) => Err(crate::Error::OtherArchive { name, kind }),
        Kind::Trace => Ok(vec![plain(path, JsonFile { name, part: String::new(), size, file })?]),
    }
}

/// The first names of some.
fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let tail = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{tail}", names.get(..LISTED).unwrap_or(names).join(", "))
}

/// Name of the main file without its ending, and name of the part in lower case, which is empty for the main file.
fn part_of(name: &str) -> Option<(&str, String)> {
    let end = name.len().checked_sub(".json".len())?;
    let stem = name
        .get(..end)
        .filter(|_| name.get(end..).is_some_and(|ending| ending.eq_ignore_ascii_case(".json")))?;
    let part = stem.rfind(DERIVED).and_then(|at| Some((stem.get(..at)?, stem.get(at + DERIVED.len()..)?)));
    Some(part.map_or((stem, String::new()), |(main, part)| (main, part.to_lowercase())))
}

fn plain(path: &Path, main: JsonFile) -> crate::Result<JsonInput> {
    let stem = match part_of(&main.name) {
        Some((stem, part)) if part.is_empty() => stem.to_owned(),
        Some((stem, _)) => {
            let error = JsonError::Part { main: format!("{stem}.json"), name: main.name.clone() };
            return Err(error.into());
        }
        None => Path::new(&main.name).file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let mut files = vec![main];
    for part in PARTS {
        let name = format!("{stem}{DERIVED}{part}.json");
        let beside: PathBuf = path.with_file_name(&name);
        if beside.is_file() {
            let (file, size) = open_file(&beside)?;
            files.push(JsonFile { name, part: part.to_lowercase(), size, file });
        }
    }
    Ok(JsonInput { archive: None, files })
}

/// The extracts of an archive: each main file with its parts in the same folder. JSON of other programs
/// beside several of them is passed over.
fn packed(kind: Kind, archive: Archive, options: &Options) -> crate::Result<Vec<JsonInput>> {
    let name = archive.name.clone();
    let members = archive::unpack(kind, archive, &mut Spool::new(options))?.members;
    let mut extracts: BTreeMap<String, Vec<JsonFile>> = BTreeMap::new();
    for member in members {
        let Some((stem, part)) = part_of(&member.path) else { continue };
        let file = JsonFile { part, name: member.name, size: member.size, file: member.file };
        extracts.entry(stem.to_owned()).or_default().push(file);
    }
    let all = extracts.len();
    extracts.retain(|_, files| {
        // Parts in their order, so that the same archive gives the same answer whatever packed it.
        files.sort_by(|a, b| (&a.part, &a.name).cmp(&(&b.part, &b.name)));
        let main = files.first().filter(|main| main.part.is_empty());
        main.is_some_and(|main| all == 1 || has_first_members(&main.file))
    });
    if extracts.is_empty() {
        return Err(JsonError::Members { archive: name, found: "no main file".to_owned() }.into());
    }
    Ok(extracts.into_values().map(|files| JsonInput { archive: Some(name.clone()), files }).collect())
}

impl JsonInput {
    /// Name of the main file, without folders. Of an archive it is what the archive says.
    #[must_use]
    pub fn name(&self) -> &str {
        self.files.first().map_or("", |main| main.name.as_str())
    }

    /// Bytes of all files, unpacked.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    pub(super) fn files(&self) -> usize {
        self.files.len()
    }

    /// Reads the main file from its begin.
    pub(super) fn main(&self) -> Result<Reader> {
        match self.files.first() {
            Some(main) => self.reader(main),
            None => Ok(Reader::new("", Box::new(std::io::empty()))?),
        }
    }

    /// Reads a part from its begin, if it is there.
    pub(super) fn part(&self, part: &str) -> Result<Option<Reader>> {
        let part = part.to_lowercase();
        self.files.iter().find(|file| file.part == part).map(|file| self.reader(file)).transpose()
    }

    /// Names of parts that nobody reads.
    pub(super) fn other_parts(&self) -> Vec<&str> {
        let is_known = |file: &&JsonFile| {
            file.part.is_empty() || PARTS.iter().any(|part| part.eq_ignore_ascii_case(&file.part))
        };
        self.files.iter().filter(|file| !is_known(file)).map(|file| file.name.as_str()).collect()
    }

    fn reader(&self, file: &JsonFile) -> Result<Reader> {
        let name = match &self.archive {
            Some(archive) => format!("{archive}: {}", file.name),
            None => file.name.clone(),
        };
        let failed = |source| JsonError::Read { name: name.clone(), source };
        let mut source = file.file.try_clone().map_err(failed)?;
        source.seek(SeekFrom::Start(0)).map_err(failed)?;
        Reader::new(&name, Box::new(source))
    }

    /// The same digits for the same files, see [`Input::source_hash`](crate::Input::source_hash).
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn source_hash(&self) -> crate::Result<String> {
        let mut sources = Vec::new();
        for file in &self.files {
            let path = PathBuf::from(&file.name);
            let clone = file.file.try_clone().map_err(|source| crate::Error::Open { path, source })?;
            sources.push(Source::new(clone, file.size, false));
        }
        source_hash(&sources).map_err(|(index, source)| {
            let path = self.files.get(index).map(|file| PathBuf::from(&file.name)).unwrap_or_default();
            crate::Error::Open { path, source }
        })
    }

    /// The files as a manifest names them.
    pub(super) fn trace_source(&self) -> crate::Result<TraceSource> {
        let file = |file: &JsonFile| SourceFile {
            name: file.name.clone(),
            archive: self.archive.clone(),
            size_bytes: file.size,
        };
        Ok(TraceSource { files: self.files.iter().map(file).collect(), hash: self.source_hash()? })
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
            ("a_Derived_b_Derived_Modules.json", Some(("a_Derived_b", "modules"))),
            ("a.json7z", None),
            ("json", None),
        ] {
            let found = part_of(name);
            assert_eq!(found.as_ref().map(|(main, part)| (*main, part.as_str())), expected, "{name}");
        }
    }
}
