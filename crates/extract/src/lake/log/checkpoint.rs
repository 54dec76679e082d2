//! Reading of checkpoints: the state of a log as a Parquet file. Other programs write some, too, and may
//! delete the commits before.

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Map, Value};

use super::action::Line;
use super::name;
use crate::Slice;
use crate::lake::read::guarded;
use crate::lake::store::Store;
use crate::lake::{Error, Result};

/// Maximum number of actions.
pub(super) const MAX_ACTIONS: usize = 1 << 20;

/// Limits of a checkpoint. A few bytes can stand for any number of rows and elements of lists, and a
/// text is written once for all rows that have it.
struct Limits {
    actions: usize,
    /// Values of a column, more than one for each action where it is a list or a map.
    values: u64,
    /// Bytes of all texts, with the names of their columns.
    text: usize,
}

const LIMITS: Limits = Limits {
    actions: MAX_ACTIONS,
    values: 1 << 22,
    text: 1 << 31,
};

/// Reads the actions of a checkpoint, one after the other.
pub(super) fn each(
    store: &Store,
    table: &str,
    version: u64,
    mut apply: impl FnMut(Line) -> Result<()>,
) -> Result<()> {
    let name = name::checkpoint(table, version);
    let file = store.whole(&name)?;
    // The callback can only stop the reader, so that its error is kept here.
    let mut applied = Ok(());
    let read = read(&file.slice, &LIMITS, &mut |value| {
        let line = serde_json::from_value(value);
        applied = apply(line.map_err(|error| ParquetError::External(Box::new(error)))?);
        Ok(applied.is_ok())
    });
    read.map_err(|source| Error::File {
        path: store.path(&name),
        expected: "a checkpoint of Delta".to_owned(),
        source: Some(source),
    })?;
    applied
}

/// Reads the rows as JSON, as commits have them, until `take` returns false.
fn read(
    slice: &Slice,
    limits: &Limits,
    take: &mut dyn FnMut(Value) -> std::result::Result<bool, ParquetError>,
) -> std::result::Result<(), ParquetError> {
    let too_much = |what: String| ParquetError::General(format!("more than {what}"));
    let reader = guarded(|| {
        slice.check_schema()?;
        let reader = SerializedFileReader::new(slice.clone())?;
        // The schema of a table is one text, of any length. It is in one of the rows.
        let values = slice.check_pages_for_rows(reader.metadata(), limits.text)?;
        // Bounded before anything is decoded, as each value may be a repetition that takes no space
        // in the file.
        if values > limits.values {
            return Err(too_much(format!("{} values in a column", limits.values)));
        }
        Ok(reader)
    })?;
    // The decoder panics over some damaged numbers.
    let mut rows = guarded(|| reader.get_row_iter(None))?;
    let (mut actions, mut text) = (0, 0_usize);
    // Row by row: a checkpoint of a large lake has a million of them.
    while let Some(row) = guarded(|| rows.next().transpose())? {
        actions += 1;
        if actions > limits.actions {
            return Err(too_much(format!("{} actions", limits.actions)));
        }
        // Counted as they come, because a dictionary writes one text for any number of rows.
        text = text.saturating_add(text_of_row(&row));
        if text > limits.text {
            return Err(too_much(format!("{} bytes of texts", limits.text)));
        }
        if !take(of_row(&row))? {
            break;
        }
    }
    Ok(())
}

/// Bytes of the texts of a row.
fn text_of_row(row: &Row) -> usize {
    let columns = row.get_column_iter();
    let bytes = columns.map(|(name, field)| match field {
        Field::Null => 0,
        field => name.len() + text_of_field(field),
    });
    bytes.sum()
}

fn text_of_field(field: &Field) -> usize {
    match field {
        Field::Str(text) => text.len(),
        Field::Group(row) => text_of_row(row),
        Field::ListInternal(list) => list.elements().iter().map(text_of_field).sum(),
        Field::MapInternal(map) => {
            let entries = map.entries().iter();
            let bytes = entries.map(|(key, value)| text_of_field(key) + text_of_field(value));
            bytes.sum()
        }
        _ => 0,
    }
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
                    // A key of another type cannot be in a checkpoint that Delta describes.
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

    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::types::Int64Type;
    use arrow_array::{ArrayRef, Int64Array, ListArray, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;

    use super::*;

    /// The number of actions of a checkpoint with this column, or the reason for which it is refused.
    fn counted(column: ArrayRef, limits: &Limits) -> std::result::Result<usize, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.parquet");
        let rows = RecordBatch::try_from_iter([("a", column)]).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        let slice = Slice::of_file(&path).unwrap();
        let mut count = 0;
        let done = read(&slice, limits, &mut |_| {
            count += 1;
            Ok(true)
        });
        done.map(|()| count).map_err(|error| error.to_string())
    }

    fn assert_bounded(column: &ArrayRef, rows: usize, enough: &Limits, less: &Limits, said: &str) {
        assert_eq!(counted(column.clone(), enough), Ok(rows));
        let error = counted(column.clone(), less).unwrap_err();
        assert!(error.contains(said), "{error}");
    }

    #[test]
    fn the_number_of_actions_is_bounded() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let actions = |actions| Limits { actions, ..LIMITS };
        assert_bounded(&column, 3, &actions(3), &actions(2), "more than 2 actions");
    }

    #[test]
    fn texts_are_counted_for_each_row_that_has_them() {
        let column: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(100); 50]));
        let text = |text| Limits { text, ..LIMITS };
        let said = "more than 5000 bytes of texts";
        assert_bounded(&column, 50, &text(5050), &text(5000), said);
    }

    #[test]
    fn the_length_of_lists_is_bounded() {
        let numbers = vec![Some(vec![Some(1); 100]); 2];
        let column: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(numbers));
        let values = |values| Limits { values, ..LIMITS };
        let said = "more than 199 values in a column";
        assert_bounded(&column, 2, &values(200), &values(199), said);
    }

    #[test]
    fn a_schema_may_be_long_in_a_checkpoint_of_many_actions() {
        let schema = "x".repeat(200 << 10);
        let others = std::iter::repeat_n(None, 9_000);
        let column: StringArray = [Some(schema.as_str())].into_iter().chain(others).collect();
        assert_eq!(counted(Arc::new(column), &LIMITS), Ok(9_001));
    }

    #[test]
    fn texts_of_one_row_are_bounded_before_they_are_written_out() {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for _ in 0..100 {
            lists.values().append_value("x".repeat(1_000));
        }
        lists.append(true);
        let column: ArrayRef = Arc::new(lists.finish());
        let text = |text| Limits { text, ..LIMITS };
        let said = "has a dictionary whose texts would take 100400 bytes at once";
        assert_bounded(&column, 1, &text(200_000), &text(50_000), said);
    }
}
