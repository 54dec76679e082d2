//! Reading of checkpoints: the state of a log as a Parquet file. Other programs write some, too, and may
//! delete the commits before.

use etwkit_extract::{Slice, quiet};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Map, Value};

use super::action::Line;
use super::name;
use crate::store::Store;
use crate::{Error, Result};

/// Maximum number of actions. A few bytes can stand for any number of rows.
pub(super) const MAX_ACTIONS: usize = 1 << 20;

/// Reads the actions of a checkpoint.
pub(super) fn lines(store: &Store, table: &str, version: u64) -> Result<Vec<Line>> {
    let path = store.path(&name::checkpoint(table, version));
    let wrong = |source| Error::File {
        path: path.clone(),
        expected: "a checkpoint of Delta".to_owned(),
        source: Some(source),
    };
    let slice = Slice::of_file(&path)?;
    // The decoder panics over some damaged numbers.
    let values = quiet::catch(|| values(&slice, MAX_ACTIONS));
    let values = values.map_err(|said| wrong(ParquetError::General(said)))?;
    let values = values.map_err(wrong)?;
    let lines = values.into_iter().map(serde_json::from_value);
    let lines: std::result::Result<Vec<Line>, serde_json::Error> = lines.collect();
    lines.map_err(|error| wrong(ParquetError::External(Box::new(error))))
}

/// The rows as JSON, as commits have them.
fn values(slice: &Slice, most: usize) -> std::result::Result<Vec<Value>, ParquetError> {
    let reader = SerializedFileReader::new(slice.clone())?;
    slice.check_pages(reader.metadata())?;
    let mut all = Vec::new();
    for row in reader.get_row_iter(None)? {
        if all.len() == most {
            let said = format!("more than {most} actions");
            return Err(ParquetError::General(said));
        }
        all.push(of_row(&row?));
    }
    Ok(all)
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use parquet::arrow::ArrowWriter;

    use super::*;

    #[test]
    fn the_number_of_actions_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.parquet");
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let rows = RecordBatch::try_from_iter([("a", column)]).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        let slice = Slice::of_file(&path).unwrap();
        assert_eq!(values(&slice, 3).unwrap().len(), 3);
        let error = values(&slice, 2).unwrap_err();
        assert!(error.to_string().contains("more than 2 actions"), "{error}");
    }
}
