//! The actions of a log, as Delta has them in JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::lake::layout::PART;
use crate::lake::unique::millis;

/// The version of the protocol that readers need, and writers.
pub(super) const READER: i64 = 1;
pub(super) const WRITER: i64 = 2;

/// Name of the attempts whose rows are left out, in what a commit says about itself.
const LEFT_OUT: &str = "etwkitLeftOut";

/// A line of a commit or a row of a checkpoint, which has one of these. Others do not change the rows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Line {
    // Not read: it can be large, and it does not change the rows.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub(super) commit_info: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protocol: Option<Protocol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meta_data: Option<MetaData>,
    // Other programs note here what they have written. A checkpoint must not lose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) txn: Option<Transaction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) add: Option<Add>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remove: Option<Remove>,
}

/// The version that a reader and a writer must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Protocol {
    pub(super) min_reader_version: i64,
    pub(super) min_writer_version: i64,
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MetaData {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Format {
    provider: String,
    #[serde(default)]
    options: Option<Settings>,
}

/// The last thing that another program has written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Transaction {
    pub(super) app_id: String,
    version: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_updated: Option<i64>,
}

/// A file that belongs to the table from this commit on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Add {
    pub(super) path: String,
    pub(super) partition_values: BTreeMap<String, Option<String>>,
    pub(super) size: u64,
    pub(super) modification_time: i64,
    pub(super) data_change: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stats: Option<String>,
    /// Rows of the file that do not count. They are not read, so their value does not matter.
    #[serde(default, skip_serializing)]
    pub(super) deletion_vector: Option<IgnoredAny>,
}

/// A file that belongs to the table no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Remove {
    pub(super) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) deletion_timestamp: Option<i64>,
    pub(super) data_change: bool,
}

/// Returns the attempts that a line of a commit names as those whose rows are left out.
pub(super) fn left_out(line: &str) -> Vec<i64> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Said {
        commit_info: Info,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Info {
        etwkit_left_out: Vec<i64>,
    }

    // Few lines have it.
    // A comparison of texts costs little; parsing every line a second time would double the time to
    // open a lake.
    if !line.contains(LEFT_OUT) {
        return Vec::new();
    }
    let said: Result<Said, serde_json::Error> = serde_json::from_str(line);
    // A line that cannot be parsed is reported where all actions are read.
    said.map_or_else(|_| Vec::new(), |said| said.commit_info.etwkit_left_out)
}

impl Line {
    /// The line about a commit itself, with the attempts whose rows it leaves out.
    pub(super) fn of_commit(operation: &str, left_out: Option<&BTreeSet<i64>>) -> Self {
        let mut info = json!({
            "timestamp": millis(SystemTime::now()),
            "operation": operation,
            "engineInfo": concat!("etwkit/", env!("CARGO_PKG_VERSION")),
        });
        if let (Some(info), Some(left_out)) = (info.as_object_mut(), left_out) {
            // Names of attempts are part of what a commit says about itself: other programs keep it
            // and need not understand it.
            info.insert(LEFT_OUT.to_owned(), json!(left_out));
        }
        Self {
            commit_info: Some(info),
            ..Self::default()
        }
    }

    /// The lines of a new table.
    pub(crate) fn created(id: &str, schema_string: String) -> [Self; 2] {
        let protocol = Protocol {
            min_reader_version: READER,
            min_writer_version: WRITER,
        };
        let metadata = MetaData {
            id: id.to_owned(),
            name: None,
            description: None,
            format: Format {
                provider: "parquet".to_owned(),
                options: Some(Settings::new()),
            },
            schema_string,
            // The only column that decides about folders.
            partition_columns: vec![PART.to_owned()],
            configuration: Some(Settings::new()),
            created_time: Some(millis(SystemTime::now())),
        };
        [Self::of_protocol(protocol), Self::of_metadata(metadata)]
    }

    /// The line of the versions that a reader and a writer must know.
    pub(super) fn of_protocol(protocol: Protocol) -> Self {
        Self {
            protocol: Some(protocol),
            ..Self::default()
        }
    }

    /// The line of changed columns.
    pub(crate) fn of_metadata(metadata: MetaData) -> Self {
        Self {
            meta_data: Some(metadata),
            ..Self::default()
        }
    }

    /// The line of another program.
    pub(super) fn of_transaction(transaction: Transaction) -> Self {
        Self {
            txn: Some(transaction),
            ..Self::default()
        }
    }

    /// The line of a file that the table gets.
    pub(super) fn of_add(add: Add) -> Self {
        Self {
            add: Some(add),
            ..Self::default()
        }
    }

    /// The line of a file that the table loses.
    pub(super) fn of_remove(remove: Remove) -> Self {
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

    #[test]
    fn a_commit_names_attempts_whose_rows_are_left_out() {
        let line = Line::of_commit("LEAVE OUT", Some(&BTreeSet::from([3, 5])));
        let line = serde_json::to_string(&line).unwrap();
        assert_eq!(left_out(&line), [3, 5]);
        for other in [
            r#"{"commitInfo":{"operation":"WRITE"}}"#,
            r#"{"commitInfo":{"etwkitLeftOut":"x"}}"#,
            r#"{"commitInfo":["etwkitLeftOut"]}"#,
        ] {
            assert!(left_out(other).is_empty(), "{other}");
        }
    }
}
