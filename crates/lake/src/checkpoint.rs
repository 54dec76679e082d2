//! Checkpoints of a log: its state as a Parquet file, which other programs write and after which they
//! may delete old commits.

use bytes::Bytes;
use etwkit_extract::quiet;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Map, Value};

use crate::log::{FOLDER, Line};
use crate::store::Store;
use crate::{Error, Result};

/// End of the name of a checkpoint in one file. Those in several files, or with an id in the name, are
/// not read.
const END: &str = ".checkpoint.parquet";

/// The version in the name of a checkpoint; `None` for other files.
pub(crate) fn version(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(END)?;
    digits.parse().ok()
}

/// Reads the actions of a checkpoint.
pub(crate) fn lines(store: &Store, table: &str, version: u64) -> Result<Vec<Line>> {
    let name = format!("{table}/{FOLDER}/{version:020}{END}");
    let wrong = |source: Option<ParquetError>| Error::File {
        path: store.path(&name),
        expected: "a checkpoint of Delta".to_owned(),
        source,
    };
    let bytes = store.read(&name)?.ok_or_else(|| wrong(None))?;
    // The decoder panics over some damaged numbers.
    let values = quiet::catch(|| values(bytes));
    let values = values.map_err(|said| wrong(Some(ParquetError::General(said))))?;
    let values = values.map_err(|source| wrong(Some(source)))?;
    let lines = values.into_iter().map(serde_json::from_value);
    let lines: std::result::Result<Vec<Line>, serde_json::Error> = lines.collect();
    lines.map_err(|error| wrong(Some(ParquetError::External(Box::new(error)))))
}

/// The rows as JSON, as commits have them.
fn values(bytes: Bytes) -> std::result::Result<Vec<Value>, ParquetError> {
    let reader = SerializedFileReader::new(bytes)?;
    let rows = reader.get_row_iter(None)?;
    rows.map(|row| Ok(of_row(&row?))).collect()
}

fn of_row(row: &Row) -> Value {
    let columns = row.get_column_iter();
    // A missing value and a missing name mean the same.
    let present = columns.filter(|(_, field)| !matches!(field, Field::Null));
    let object: Map<String, Value> = present
        .map(|(name, field)| (name.clone(), of_field(field)))
        .collect();
    Value::from(object)
}

fn of_field(field: &Field) -> Value {
    match field {
        Field::Bool(value) => Value::from(*value),
        Field::Int(value) => Value::from(*value),
        Field::Long(value) => Value::from(*value),
        Field::Str(text) => Value::from(text.as_str()),
        Field::Group(row) => of_row(row),
        Field::ListInternal(list) => list.elements().iter().map(of_field).collect(),
        Field::MapInternal(map) => {
            let entries = map.entries().iter();
            let object: Map<String, Value> = entries
                .filter_map(|(key, value)| match key {
                    Field::Str(key) => Some((key.clone(), of_field(value))),
                    _ => None,
                })
                .collect();
            Value::from(object)
        }
        // No action that is used here has other types.
        _ => Value::Null,
    }
}
