//! The log of a table, as Delta has it: numbered files of JSON lines, each a commit.

use std::collections::BTreeMap;
use std::time::SystemTime;

use bytes::Bytes;
use object_store::path::Path as Name;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::layout::{PART, is_part};
use crate::store::Store;
use crate::unique::millis;
use crate::{Error, Result, checkpoint};

/// Folder of the log in the folder of a table.
pub(crate) const FOLDER: &str = "_delta_log";

/// The version of the protocol that readers need, and writers.
const READER: i64 = 1;
const WRITER: i64 = 2;

/// Digits of a version in the name of a commit.
const DIGITS: usize = 20;

/// A line of a commit, which has one of these. Others do not change the rows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Line {
    // Not read: it can be large, and it does not change the rows.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub(crate) commit_info: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protocol: Option<Protocol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) meta_data: Option<MetaData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) add: Option<Add>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remove: Option<Remove>,
}

/// The version that a reader and a writer must know.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Protocol {
    min_reader_version: i64,
    min_writer_version: i64,
}

/// The columns of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MetaData {
    id: String,
    format: Format,
    pub(crate) schema_string: String,
    pub(crate) partition_columns: Vec<String>,
    #[serde(default)]
    configuration: Option<Settings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created_time: Option<i64>,
}

/// Settings of a table. They are texts: other values would take many times their size in the commit.
type Settings = BTreeMap<String, Option<String>>;

/// The format of the files of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Format {
    provider: String,
    #[serde(default)]
    options: Option<Settings>,
}

/// A file that belongs to the table from this commit on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Add {
    path: String,
    partition_values: BTreeMap<String, Option<String>>,
    size: u64,
    modification_time: i64,
    data_change: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stats: Option<String>,
    /// Rows of the file that do not count. They are not read, so their value does not matter.
    #[serde(default, skip_serializing)]
    deletion_vector: Option<IgnoredAny>,
}

/// A file that belongs to the table no more.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Remove {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deletion_timestamp: Option<i64>,
    data_change: bool,
}

/// The statistics of a file, as far as they are used here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Stats {
    num_records: Option<u64>,
    min_values: Keys,
    max_values: Keys,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Keys {
    run_id: Option<i64>,
}

/// A live file of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// Name in the folder of the table.
    pub(crate) name: String,
    /// Bytes.
    pub(crate) size: u64,
    /// Rows; `None` if its writer did not say.
    pub(crate) rows: Option<u64>,
    /// The smallest and the largest `run_id`, if its writer said so.
    pub(crate) run_ids: Option<(i64, i64)>,
    /// The month of its runs.
    pub(crate) part: Option<String>,
    /// The path as its commit has it.
    written: String,
    /// Files are in the order in which they were added.
    order: usize,
}

/// A file that was written and is not committed yet.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// Name in the folder of the table.
    pub(crate) name: String,
    pub(crate) part: String,
    pub(crate) size: u64,
    pub(crate) rows: u64,
    pub(crate) run_ids: (i64, i64),
}

/// The state of a table after the last commit that was read.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    table: String,
    /// The last version; `None` if the table does not exist.
    version: Option<u64>,
    metadata: Option<MetaData>,
    live: BTreeMap<String, File>,
    /// Removed files, and when.
    removed: BTreeMap<String, i64>,
    added: usize,
}

impl Log {
    /// Reads the log of a table, which need not exist.
    pub(crate) fn load(store: &Store, table: &str) -> Result<Self> {
        let mut log = Self {
            table: table.to_owned(),
            version: None,
            metadata: None,
            live: BTreeMap::new(),
            removed: BTreeMap::new(),
            added: 0,
        };
        // Listed before the commits are read: other writers add some in the meantime.
        let names = store.names(&format!("{table}/{FOLDER}"))?;
        if store.size(&log.commit_name(0))?.is_none() {
            log.start_from_checkpoint(store, &names)?;
        }
        log.refresh(store)?;
        let newest = names.iter().filter_map(|name| commit_version(name)).max();
        if log.version < newest {
            return Err(log.wrong(&format!("its commit {}, which is missing", log.next())));
        }
        Ok(log)
    }

    /// Starts with the newest checkpoint that another program wrote, if there is one: the commits
    /// before it may be gone.
    fn start_from_checkpoint(&mut self, store: &Store, names: &[String]) -> Result<()> {
        let checkpoints = names.iter().filter_map(|name| checkpoint::version(name));
        let Some(last) = checkpoints.max() else {
            // Another writer may have created the table in the meantime.
            if names.is_empty() || store.size(&self.commit_name(0))?.is_some() {
                return Ok(());
            }
            return Err(self.wrong("its first commit, or a checkpoint in one file"));
        };
        let table = self.table.clone();
        checkpoint::each(store, &table, last, |line| self.apply(line))?;
        self.version = Some(last);
        Ok(())
    }

    /// Reads the commits that were added since; `true` if there are any.
    pub(crate) fn refresh(&mut self, store: &Store) -> Result<bool> {
        let before = self.version;
        while let Some(commit) = store.read(&self.commit_name(self.next()))? {
            let text = std::str::from_utf8(&commit).map_err(|_| self.wrong("texts in UTF-8"))?;
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                let parsed = serde_json::from_str(line);
                self.apply(parsed.map_err(|error| self.wrong(&format!("actions ({error})")))?)?;
            }
            self.version = Some(self.next());
        }
        Ok(self.version != before)
    }

    fn apply(&mut self, line: Line) -> Result<()> {
        if let Some(protocol) = line.protocol
            && (protocol.min_reader_version > READER || protocol.min_writer_version > WRITER)
        {
            let (reader, writer) = (protocol.min_reader_version, protocol.min_writer_version);
            return Err(self.wrong(&format!(
                "the protocol {READER} for readers and {WRITER} for writers, found {reader} and {writer}"
            )));
        }
        if let Some(metadata) = line.meta_data {
            self.metadata = Some(metadata);
        }
        if let Some(remove) = line.remove {
            let name = self.name_of(&remove.path)?;
            self.live.remove(&name);
            self.removed
                .insert(name, remove.deletion_timestamp.unwrap_or(i64::MAX));
        }
        if let Some(add) = line.add {
            let file = self.file(add)?;
            self.removed.remove(&file.name);
            self.live.insert(file.name.clone(), file);
        }
        Ok(())
    }

    fn file(&mut self, add: Add) -> Result<File> {
        if add.deletion_vector.is_some() {
            return Err(self.wrong("files without deletion vectors"));
        }
        // Statistics may be missing, and then other ways lead to the same rows.
        let stats: Stats = add
            .stats
            .and_then(|stats| serde_json::from_str(&stats).ok())
            .unwrap_or_default();
        let part = add.partition_values.get(PART).cloned().flatten();
        let part = part.filter(|part| !part.is_empty());
        if let Some(part) = part.as_deref().filter(|part| !is_part(part)) {
            return Err(self.wrong(&format!("months in the column {PART}, found {part:?}")));
        }
        self.added += 1;
        Ok(File {
            name: self.name_of(&add.path)?,
            size: add.size,
            rows: stats.num_records,
            run_ids: stats.min_values.run_id.zip(stats.max_values.run_id),
            part,
            written: add.path,
            order: self.added,
        })
    }

    /// Returns the name of a file by the path in its commit, in which some characters are encoded.
    fn name_of(&self, path: &str) -> Result<String> {
        let wrong = || self.wrong(&format!("files in the folder of the table, found {path:?}"));
        let name = Name::from_url_path(path).map_err(|_| wrong())?;
        // Absolute paths, URLs, drives and, on Windows, `\` lead out of the folder.
        if path.starts_with('/') || name.as_ref().contains([':', '\\']) {
            return Err(wrong());
        }
        Ok(name.as_ref().to_owned())
    }

    fn next(&self) -> u64 {
        self.version.map_or(0, |version| version.saturating_add(1))
    }

    /// Returns `true` if another commit was added since.
    pub(crate) fn is_outdated(&self, store: &Store) -> Result<bool> {
        Ok(store.size(&self.commit_name(self.next()))?.is_some())
    }

    /// The columns of the table, if it exists.
    pub(crate) const fn metadata(&self) -> Option<&MetaData> {
        self.metadata.as_ref()
    }

    /// The live files, in the order in which they were added.
    pub(crate) fn live(&self) -> Vec<&File> {
        let mut all: Vec<&File> = self.live.values().collect();
        all.sort_by_key(|file| file.order);
        all
    }

    /// Returns `true` if a file is still live.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.live.contains_key(name)
    }

    /// The time at which a file was removed, in milliseconds since 1970; `None` if it was not.
    pub(crate) fn removed_at(&self, name: &str) -> Option<i64> {
        self.removed.get(name).copied()
    }

    /// Adds a commit after the last one that was read; `false` if another writer was faster, and then
    /// nothing is changed.
    pub(crate) fn commit(
        &mut self,
        store: &Store,
        operation: &str,
        lines: Vec<Line>,
    ) -> Result<bool> {
        let info = Line {
            commit_info: Some(json!({
                "timestamp": millis(SystemTime::now()),
                "operation": operation,
                "engineInfo": concat!("etwkit/", env!("CARGO_PKG_VERSION")),
            })),
            ..Line::default()
        };
        let mut text = String::new();
        for line in std::iter::once(&info).chain(&lines) {
            let line = serde_json::to_string(line);
            text.push_str(&line.map_err(|error| self.wrong(&format!("actions ({error})")))?);
            text.push('\n');
        }
        if !store.create(&self.commit_name(self.next()), Bytes::from(text))? {
            return Ok(false);
        }
        for line in lines {
            self.apply(line)?;
        }
        self.version = Some(self.next());
        Ok(true)
    }

    fn commit_name(&self, version: u64) -> String {
        format!("{}/{FOLDER}/{version:0DIGITS$}.json", self.table)
    }

    fn wrong(&self, expected: &str) -> Error {
        Error::Log {
            table: self.table.clone(),
            expected: expected.to_owned(),
        }
    }
}

/// The version in the name of a commit; `None` for other files.
fn commit_version(name: &str) -> Option<u64> {
    version_of(name.strip_suffix(".json")?)
}

/// The version in the digits of a name; `None` for other texts. Delta counts in 63 bits, so each
/// version has a next one.
pub(crate) fn version_of(digits: &str) -> Option<u64> {
    let is_number = digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_digit());
    let version: i64 = is_number.then(|| digits.parse().ok()).flatten()?;
    u64::try_from(version).ok()
}

impl Line {
    /// The lines of a new table.
    pub(crate) fn created(id: &str, schema_string: String) -> [Self; 2] {
        let protocol = Protocol {
            min_reader_version: READER,
            min_writer_version: WRITER,
        };
        let metadata = MetaData {
            id: id.to_owned(),
            format: Format {
                provider: "parquet".to_owned(),
                options: Some(Settings::new()),
            },
            schema_string,
            partition_columns: vec![PART.to_owned()],
            configuration: Some(Settings::new()),
            created_time: Some(millis(SystemTime::now())),
        };
        [
            Self {
                protocol: Some(protocol),
                ..Self::default()
            },
            Self::of_metadata(metadata),
        ]
    }

    /// The line of changed columns.
    pub(crate) fn of_metadata(metadata: MetaData) -> Self {
        Self {
            meta_data: Some(metadata),
            ..Self::default()
        }
    }

    /// The line of a new file. `is_change` is false if its rows were in other files before.
    pub(crate) fn of_added(file: &Written, is_change: bool) -> Self {
        let (min, max) = file.run_ids;
        let stats = json!({
            "numRecords": file.rows,
            "minValues": { "run_id": min },
            "maxValues": { "run_id": max },
            "nullCount": { "run_id": 0 },
        });
        let add = Add {
            path: file.name.clone(),
            partition_values: BTreeMap::from([(PART.to_owned(), Some(file.part.clone()))]),
            size: file.size,
            modification_time: millis(SystemTime::now()),
            data_change: is_change,
            stats: Some(stats.to_string()),
            deletion_vector: None,
        };
        Self {
            add: Some(add),
            ..Self::default()
        }
    }

    /// The line of a removed file. `is_change` is false if its rows are in other files now.
    pub(crate) fn of_removed(file: &File, is_change: bool) -> Self {
        let remove = Remove {
            path: file.written.clone(),
            deletion_timestamp: Some(millis(SystemTime::now())),
            data_change: is_change,
        };
        Self {
            remove: Some(remove),
            ..Self::default()
        }
    }
}

impl MetaData {
    /// These columns with another schema.
    pub(crate) fn with_schema(&self, schema_string: String) -> Self {
        Self {
            schema_string,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_twenty_digits_and_a_next_one() {
        assert_eq!(version_of("00000000000000000012"), Some(12));
        assert_eq!(commit_version("00000000000000000012.json"), Some(12));
        for other in [
            "12",
            "+0000000000000000012",
            "18446744073709551615",
            "99999999999999999999",
        ] {
            assert_eq!(version_of(other), None, "{other}");
        }
        assert_eq!(commit_version("00000000000000000012.crc"), None);
    }

    #[test]
    fn settings_of_a_table_are_texts() {
        let line = |settings: &str| {
            let metadata = format!(
                r#"{{"metaData":{{"id":"x","format":{{"provider":"parquet","options":{{}}}},"schemaString":"","partitionColumns":[],"configuration":{settings}}}}}"#
            );
            let line = serde_json::from_str::<Line>(&metadata).ok()?;
            let written = serde_json::to_string(&line).unwrap();
            Some(written == metadata)
        };
        assert_eq!(
            line(r#"{"delta.appendOnly":"true","other":null}"#),
            Some(true)
        );
        assert_eq!(line("{}"), Some(true));
        // Each number would take a hundred bytes.
        assert_eq!(line("[0,0,0]"), None);
    }

    #[test]
    fn what_a_commit_says_about_itself_is_not_kept() {
        let line = r#"{"commitInfo":[[0,0],{"a":0}]}"#;
        let line: Line = serde_json::from_str(line).unwrap();
        assert!(line.commit_info.is_none());
    }
}
