//! `manifest.json`: the source of an extract, and its contents.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use etwkit_trace::table::{self, Trace};
use etwkit_trace::topics::{self, TABLES};
use serde::{Deserialize, Serialize};

use crate::checksum::Checksums;
use crate::store_error::{StoreError, StoreResult};

/// Value of the field `format`.
pub const FORMAT: &str = "etwkit-extract";
/// Value of the field `format` of derived tables.
pub const DERIVED_FORMAT: &str = "etwkit-derived";
/// Format that this version writes. A reader accepts every minor version of its own major version.
pub const VERSION: Version = Version { major: 2, minor: 0 };
/// Version of the derived tables. It rises when their meaning changes, so that older ones are
/// computed again.
pub const DERIVED_VERSION: u32 = 5;

/// File name of the manifest of an extract and of its derived tables.
pub const FILE: &str = "manifest.json";
/// Folder of the derived tables, and its manifest as messages name it.
pub(crate) const DERIVED: &str = "derived";
pub(crate) const DERIVED_FILE: &str = "derived/manifest.json";
/// No manifest is that long; a larger one is not read.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// Version of the format, `1.0` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// Major version. Readers refuse newer ones.
    pub major: u32,
    /// Rises with additions that older readers can ignore.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text
            .split_once('.')
            .map(|(major, minor)| (major.parse(), minor.parse()));
        match parts {
            Some((Ok(major), Ok(minor))) => Ok(Self { major, minor }),
            _ => Err(format!("a version like 1.0, found {text:?}")),
        }
    }
}

/// The manifest of an extract. [`Writer::finish`](crate::Writer::finish) fills `format`, versions
/// and tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// Version of the format.
    pub format_version: Version,
    /// Version of the program that wrote it.
    pub etwkit_version: String,
    /// Amount of detail.
    pub detail: Detail,
    /// The trace.
    pub source: TraceSource,
    /// Its clock.
    pub clock: Clock,
    /// The recorded machine.
    pub machine: Machine,
    /// 16 hexadecimal digits that distinguish the files that described events (`--tmf`,
    /// `--manifest`) by their content; missing if none were named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptions: Option<String>,
    /// The foreign extract that it was converted from, instead of a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<ImportedFrom>,
    /// The topics of the trace, recorded or not.
    #[serde(default)]
    pub topics: Vec<Topic>,
    /// Notes for the reader of the numbers.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
    /// Counts of named addresses in native code; `None` if symbols were not searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_names: Option<NativeNames>,
    /// Labels set by the creator of the extract, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Tables that the creator omitted, computed ones included, see [`left_out`](crate::left_out).
    /// Their lack of rows proves nothing about the trace.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left_out: BTreeSet<String>,
    /// True if tables without rows have no files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_empty: bool,
    /// 16 hexadecimal digits that distinguish the rules of the diagnosis in the tables `finding` and
    /// `rule_outcome`; missing if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// 16 hexadecimal digits that distinguish versions of the table `feature`; missing if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<String>,
    /// Tables with rows, by name; derived ones have their own manifest. All others have files
    /// without rows, or none.
    pub tables: BTreeMap<String, TableEntry>,
}

impl Manifest {
    /// Returns `true` if its labels are the wanted ones. Without wanted labels any fit.
    #[must_use]
    pub fn has_labels(&self, wanted: &BTreeMap<String, String>) -> bool {
        wanted.is_empty() || self.labels == *wanted
    }

    /// A manifest without topics, diagnostics and tables, of this version.
    #[must_use]
    pub fn new(detail: Detail, source: TraceSource, clock: Clock, machine: Machine) -> Self {
        Self {
            format: FORMAT.to_owned(),
            format_version: VERSION,
            etwkit_version: env!("CARGO_PKG_VERSION").to_owned(),
            detail,
            source,
            clock,
            machine,
            descriptions: None,
            imported_from: None,
            topics: Vec::new(),
            diagnostics: Vec::new(),
            native_names: None,
            labels: BTreeMap::new(),
            left_out: BTreeSet::new(),
            no_empty: false,
            rules: None,
            features: None,
            tables: BTreeMap::new(),
        }
    }

    /// True if the extract has all rows that derived tables are computed from, so that these can be
    /// computed again.
    #[must_use]
    pub fn has_all_rows(&self) -> bool {
        let is_base = |name: &String| TABLES.iter().any(|table| table.name == name);
        // A summary has no rows, and an extract without some tables lacks those that others are
        // computed from.
        self.detail == Detail::Full && !self.left_out.iter().any(is_base)
    }

    /// The omitted tables for which the trace has data, as far as that is known.
    pub fn left_out_of_recorded(&self) -> impl Iterator<Item = &str> {
        self.left_out.iter().map(String::as_str).filter(|table| {
            let topics = topics::of_table(table);
            let mut known = self
                .topics
                .iter()
                .filter(|topic| topics.contains(&topic.topic.as_str()))
                .peekable();
            // The topics that are known decide; a topic that is not in the manifest says nothing.
            // A table without a topic may have data in any trace.
            known.peek().is_none() || known.any(|topic| topic.recorded)
        })
    }

    /// The command that recreates the extract at `path` with all its tables, with the traces named
    /// as in the manifest.
    #[must_use]
    pub fn command(&self, path: &Path) -> String {
        command(path, self.detail.name(), self.source.clone())
    }

    /// A manifest, still without tables, of the trace that a row of the table `trace` describes.
    #[must_use]
    pub(crate) fn of_trace(detail: Detail, source: TraceSource, trace: &Trace) -> Self {
        let clock = Clock {
            kind: trace.clock.clone(),
            frequency: trace.clock_frequency,
            start_utc: trace.start_utc.clone(),
            start_filetime: trace.start_filetime,
        };
        let machine = Machine {
            computer: trace.computer.clone(),
            os_version: trace.os_version.clone(),
            processors: trace.processors,
        };
        Self::new(detail, source, clock, machine)
    }
}

/// Amount of detail that an extract keeps of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// All tables.
    Full,
    /// Sums instead of the tables with a row for each event.
    Summary,
}

impl Detail {
    /// The word for it, in manifests, tables and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Summary => "summary",
        }
    }
}

/// The trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSource {
    /// Its files in the order in which they were read.
    pub files: Vec<SourceFile>,
    /// 16 hexadecimal digits that distinguish traces, see
    /// [`Input::source_hash`](crate::Input::source_hash).
    pub hash: String,
}

/// One file of the trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Name without folders.
    pub name: String,
    /// Archive that contained it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// Bytes, unpacked.
    pub size_bytes: u64,
}

/// The clock of the trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// `qpc`, `system_time` or `cpu_cycles`.
    pub kind: String,
    /// Ticks per second.
    pub frequency: i64,
    /// Time zero, as `2024-05-01T10:00:00.1234567Z`.
    pub start_utc: String,
    /// Time zero in units of 100 ns since 1601.
    pub start_filetime: i64,
}

/// The recorded machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    #[serde(default)]
    pub computer: Option<String>,
    /// Windows version, as `10.0.19041`.
    #[serde(default)]
    pub os_version: Option<String>,
    /// Number of processors.
    pub processors: i32,
}

/// Value of [`ImportedFrom::format`] for the JSON of ETWAnalyzer.
pub const ETWANALYZER: &str = "etwanalyzer-json";

/// An extract of another program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedFrom {
    /// Its format: [`ETWANALYZER`].
    pub format: String,
    /// The trace that it was created from, by its own statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The command line that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<String>,
}

/// A kind of information that a trace can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    /// Name of the topic, for example `cpu_samples`, `context_switches` or `disk_io`.
    pub topic: String,
    /// Number of its events in the trace; `None` if unknown.
    pub recorded: bool,
    /// Events of it in the trace; `None` where that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Advice on how to record the topic, if it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A row of the table `diagnostic`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// `error`, `warning` or `info`.
    pub severity: String,
    /// The subject, as one word.
    pub kind: String,
    /// Number of occurrences.
    pub count: i64,
    /// The first place: file name and offset, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The text for the user.
    pub message: String,
}

impl From<&table::Diagnostic> for Diagnostic {
    fn from(row: &table::Diagnostic) -> Self {
        Self {
            severity: row.severity.clone(),
            kind: row.kind.clone(),
            count: row.count,
            position: row.position.clone(),
            message: row.message.clone(),
        }
    }
}

/// Names of native code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeNames {
    /// Distinct addresses of native code in the stacks.
    pub addresses: u64,
    /// Number of addresses with a name.
    pub named: u64,
}

/// A table file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    /// Rows.
    pub rows: u64,
    /// Bytes of its file.
    pub bytes: u64,
    /// Columns by which the rows are in fact sorted, ascending and nulls last; empty if they are
    /// not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sorted_by: Vec<String>,
    /// Checksums of its file, by which damage is noticed when it is read.
    #[serde(default, skip_serializing_if = "Checksums::is_empty")]
    pub crc32: Checksums,
}

/// The manifest of the derived tables of an extract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DerivedManifest {
    /// [`DERIVED_FORMAT`].
    pub format: String,
    /// Version of the format of the files.
    pub format_version: Version,
    /// Version of the meaning of the tables, see [`DERIVED_VERSION`].
    pub derived_version: u32,
    /// Version of the program that wrote it.
    pub etwkit_version: String,
    /// Other inputs of the tables, for example `symbols` and `stack_tags`, each with a hash or
    /// version. If one changed, the tables are computed again.
    #[serde(default)]
    pub depends_on: BTreeMap<String, String>,
    /// Tables with rows, by name.
    pub tables: BTreeMap<String, TableEntry>,
}

impl DerivedManifest {
    /// A manifest without tables, of this version.
    #[must_use]
    pub fn new(depends_on: BTreeMap<String, String>) -> Self {
        Self {
            format: DERIVED_FORMAT.to_owned(),
            format_version: VERSION,
            derived_version: DERIVED_VERSION,
            etwkit_version: env!("CARGO_PKG_VERSION").to_owned(),
            depends_on,
            tables: BTreeMap::new(),
        }
    }
}

/// The part that all versions share.
#[derive(Deserialize)]
struct Head {
    format: String,
    format_version: Version,
}

/// Parses a manifest of the extract at `path`. The version is checked before the rest is parsed.
fn parse<T: for<'a> Deserialize<'a>>(
    bytes: &[u8],
    path: &Path,
    name: &'static str,
    format: &str,
) -> StoreResult<T> {
    let damaged = |expected: String| StoreError::Manifest {
        path: path.to_owned(),
        name,
        expected,
    };
    // The rest of another major version may have any form, so only this part is parsed before the
    // version is checked.
    let head: Head =
        // The error names the extract, since the manifest of one of many may be damaged.
        serde_json::from_slice(bytes).map_err(|e| damaged(format!("a manifest ({e})")))?;
    if head.format != format {
        return Err(damaged(format!(
            "the format {format:?}, found {:?}",
            head.format
        )));
    }
    let found = head.format_version;
    // A newer one may mean something else by the same name, so that it is refused and not read as
    // far as possible.
    if found.major > VERSION.major {
        let found = found.to_string();
        let supported = VERSION.to_string();
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            supported,
        });
    }
    if found.major < VERSION.major {
        let found = found.to_string();
        let supported = format!("{}.0", VERSION.major);
        let again = again(path, bytes);
        return Err(StoreError::Older {
            path: path.to_owned(),
            found,
            supported,
            again,
        });
    }
    serde_json::from_slice(bytes).map_err(|e| damaged(format!("a manifest ({e})")))
}

/// The fields of an older manifest that identify its source.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Origin {
    detail: String,
    source: TraceSource,
}

/// The command that recreates an extract of another version, with the traces named as in its
/// manifest.
fn again(path: &Path, manifest: &[u8]) -> String {
    // A manifest of another version can lack both, and the command is the shorter for it.
    let Origin { detail, source } = serde_json::from_slice(manifest).unwrap_or_default();
    command(path, &detail, source)
}

fn command(path: &Path, detail: &str, source: TraceSource) -> String {
    let detail = if detail == Detail::Summary.name() {
        "--detail summary "
    } else {
        ""
    };
    let name = |file: SourceFile| file.archive.unwrap_or(file.name);
    let mut names: Vec<String> = source.files.into_iter().map(name).collect();
    // Several members of one archive are one argument of the command.
    // Members of one archive follow each other, so that neighbors are enough.
    names.dedup();
    if names.is_empty() {
        names.push("TRACE".to_owned());
    }
    let several = if names.len() > 1 {
        "--one-session "
    } else {
        ""
    };
    // Lines are copied into shells, where other characters could have a special meaning.
    let is_plain = |c: char| c.is_alphanumeric() || " ._-".contains(c);
    for name in &mut names {
        // A name that begins with a dash would be taken for an option.
        if name.starts_with('-') || !name.chars().all(is_plain) {
            *name = "TRACE".to_owned();
        }
    }
    let quoted = |name: &str| {
        if name.contains(' ') {
            format!("\"{name}\"")
        } else {
            name.to_owned()
        }
    };
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let target = quoted(&path.display().to_string());
    format!(
        "etwkit extract {detail}{several}--out {target} {}",
        names.join(" ")
    )
}

/// Table names become file names, so they are words.
fn check_names(
    tables: &BTreeMap<String, TableEntry>,
    path: &Path,
    name: &'static str,
) -> StoreResult<()> {
    // Names become file names: without separators they cannot lead out of the extract.
    let is_word = |text: &str| {
        !text.is_empty()
            && text.len() <= 64
            && text.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
    };
    // The first wrong name is enough: the file is damaged or made to do harm.
    match tables.keys().find(|table| !is_word(table)) {
        None => Ok(()),
        Some(table) => Err(StoreError::Manifest {
            path: path.to_owned(),
            name,
            expected: format!("table names of letters, digits and _, found {table:?}"),
        }),
    }
}

impl Manifest {
    /// Reads `manifest.json` of the extract at `path`.
    pub(crate) fn parse(bytes: &[u8], path: &Path) -> StoreResult<Self> {
        let manifest: Self = parse(bytes, path, FILE, FORMAT)?;
        check_names(&manifest.tables, path, FILE)?;
        Ok(manifest)
    }
}

impl DerivedManifest {
    /// Reads `derived/manifest.json` of the extract at `path`.
    pub(crate) fn parse(bytes: &[u8], path: &Path) -> StoreResult<Self> {
        let manifest: Self = parse(bytes, path, DERIVED_FILE, DERIVED_FORMAT)?;
        check_names(&manifest.tables, path, DERIVED_FILE)?;
        Ok(manifest)
    }
}
