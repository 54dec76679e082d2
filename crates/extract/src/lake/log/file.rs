//! The files of a table.

use std::collections::BTreeMap;
use std::time::SystemTime;

use object_store::path::Path as Name;
use serde::Deserialize;
use serde_json::json;

use super::action::{Add, Line, Remove};
use crate::lake::layout::{PART, is_part};
use crate::lake::unique::millis;

/// A live file of a table.
#[derive(Debug, Clone, PartialEq)]
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
    /// Its action, as its writer has written it.
    add: Add,
    /// Files are in the order in which they were added.
    pub(super) order: usize,
}

/// A file that was written and is not committed yet.
#[derive(Debug, Clone)]
pub(crate) struct UncommittedFile {
    /// Name in the folder of the table.
    pub(crate) name: String,
    pub(crate) part: String,
    pub(crate) size: u64,
    pub(crate) rows: u64,
    pub(crate) run_ids: (i64, i64),
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

impl File {
    /// Its name in the lake.
    pub(crate) fn name_in(&self, table: &str) -> String {
        format!("{table}/{}", self.name)
    }

    /// Returns the file of an action.
    ///
    /// # Errors
    /// The expected content, if there is something else.
    pub(super) fn of(add: Add, order: usize) -> Result<Self, String> {
        if add.deletion_vector.is_some() {
            return Err("files without deletion vectors".to_owned());
        }
        // Statistics may be missing, and then other ways lead to the same rows.
        let stats = add.stats.as_deref();
        let stats: Stats = stats
            .and_then(|stats| serde_json::from_str(stats).ok())
            .unwrap_or_default();
        let part = add.partition_values.get(PART).cloned().flatten();
        let part = part.filter(|part| !part.is_empty());
        if let Some(part) = part.as_deref().filter(|part| !is_part(part)) {
            return Err(format!("months in the column {PART}, found {part:?}"));
        }
        Ok(Self {
            name: name_of(&add.path)?,
            size: add.size,
            rows: stats.num_records,
            run_ids: stats.min_values.run_id.zip(stats.max_values.run_id),
            part,
            add,
            order,
        })
    }

    /// Its line in a checkpoint.
    pub(super) fn kept(&self) -> Line {
        Line::of_add(Add {
            data_change: false,
            ..self.add.clone()
        })
    }
}

/// Returns the name of a file by the path in its commit, in which some characters are encoded.
///
/// # Errors
/// The expected content, if the path leads out of the folder.
pub(super) fn name_of(path: &str) -> Result<String, String> {
    let wrong = || format!("files in the folder of the table, found {path:?}");
    let name = Name::from_url_path(path).map_err(|_| wrong())?;
    // Absolute paths, URLs, drives and, on Windows, `\` lead out of the folder.
    if path.starts_with('/') || name.as_ref().contains([':', '\\']) {
        return Err(wrong());
    }
    Ok(name.as_ref().to_owned())
}

impl Line {
    /// The line of a new file. `is_change` is false if its rows were in other files before.
    pub(crate) fn of_added(file: &UncommittedFile, is_change: bool) -> Self {
        let (min, max) = file.run_ids;
        let stats = json!({
            "numRecords": file.rows,
            "minValues": { "run_id": min },
            "maxValues": { "run_id": max },
            "nullCount": { "run_id": 0 },
        });
        Self::of_add(Add {
            path: file.name.clone(),
            partition_values: BTreeMap::from([(PART.to_owned(), Some(file.part.clone()))]),
            size: file.size,
            modification_time: millis(SystemTime::now()),
            data_change: is_change,
            stats: Some(stats.to_string()),
            deletion_vector: None,
        })
    }

    /// The line of a removed file. `is_change` is false if its rows are in other files now.
    pub(crate) fn of_removed(file: &File, is_change: bool) -> Self {
        Self::of_remove(Remove {
            path: file.add.path.clone(),
            deletion_timestamp: Some(millis(SystemTime::now())),
            data_change: is_change,
        })
    }
}
