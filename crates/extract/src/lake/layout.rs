//! The columns of the tables of a lake, in Arrow, in Delta and in Parquet.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use etwkit_trace::table::{Column, ColumnKind, DERIVED, RUN_ID, Table};
use etwkit_trace::topics::TABLES;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use serde_json::{Map, Value, json};

use crate::lake::{Error, Result};

pub use crate::run_log::RUN;

/// The column after `run_id`: the attempt that wrote the rows of a run.
pub const GENERATION: Column = Column {
    name: "run_generation",
    kind: ColumnKind::Int64,
    nullable: false,
    unit: "",
    doc: "The attempt that wrote the row. Rows count if the table `run` has their `run_id` with this \
          `run_generation`.",
};

/// The column by which files lie in folders: the month in which the trace starts. It is not in the
/// files.
pub(crate) const PART: &str = "run_month";

/// Part of traces whose start is unknown.
pub(crate) const NO_PART: &str = "unknown";

/// The tables that a lake has: those of an extract and those that are computed from them.
pub(crate) fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().chain(DERIVED).copied()
}

/// The columns of the files of a table. Only the keys are never missing, so that a column can be added
/// later.
pub(crate) fn schema(table: &Table) -> SchemaRef {
    let keys =
        [RUN_ID, GENERATION].map(|column| Field::new(column.name, column.kind.data_type(), false));
    let own = table
        .columns
        .iter()
        // Every column may be missing in a run: extracts of older versions lack those that came
        // later.
        .map(|column| Field::new(column.name, column.kind.data_type(), true));
    Arc::new(Schema::new(keys.into_iter().chain(own).collect::<Vec<_>>()))
}

/// Returns rows with all columns of a schema: those that are found, and without values those that are
/// missing.
pub(crate) fn filled(
    table: &str,
    schema: &SchemaRef,
    rows: usize,
    find: impl Fn(&str) -> Option<ArrayRef>,
) -> Result<RecordBatch> {
    let columns = schema.fields().iter().map(|field| {
        let found = find(field.name());
        // A column that is missing has no values, in the type that the table has.
        found.unwrap_or_else(|| new_null_array(field.data_type(), rows))
    });
    RecordBatch::try_new(schema.clone(), columns.collect()).map_err(|source| Error::Rows {
        table: table.to_owned(),
        source,
    })
}

/// The part of a trace by the text of its start, as `2024-05-01T10:00:00Z`.
pub(crate) fn part_of(start_utc: &str) -> &str {
    start_utc
        // The date is a text of a trace. Only digits and dashes may become the name of a folder.
        .get(..7)
        .filter(|month| is_digits_and(month, &[4]))
        .unwrap_or(NO_PART)
}

/// Returns `true` for a part that a writer gives to files.
pub(crate) fn is_part(text: &str) -> bool {
    text == NO_PART || part_of(text) == text
}

/// The day in the text of a start.
pub(crate) fn day_of(start_utc: &str) -> Option<&str> {
    start_utc
        .get(..10)
        .filter(|day| is_digits_and(day, &[4, 7]))
}

/// Returns `true` for digits with `-` at these positions.
fn is_digits_and(text: &str, dashes: &[usize]) -> bool {
    text.bytes().enumerate().all(|(at, byte)| {
        if dashes.contains(&at) {
            byte == b'-'
        } else {
            byte.is_ascii_digit()
        }
    })
}

/// Properties of the Parquet files. Rows are sorted by run, so statistics of pages let readers skip the
/// other runs.
pub(crate) fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_created_by(concat!("etwkit version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        // Statistics of each page let a reader skip the runs that a question is not about.
        .set_statistics_enabled(EnabledStatistics::Page)
        .build()
}

/// The schema of a new table in the form of Delta.
pub(crate) fn delta_schema(schema: &Schema) -> Result<String> {
    let mut fields = Vec::new();
    for field in schema.fields() {
        fields.push(delta_field(field)?);
    }
    fields.push(json!({ "name": PART, "type": "string", "nullable": true, "metadata": {} }));
    Ok(json!({ "type": "struct", "fields": fields }).to_string())
}

fn delta_field(field: &Field) -> Result<Value> {
    Ok(json!({
        "name": field.name(),
        "type": delta_type(field.data_type())?,
        "nullable": field.is_nullable(),
        "metadata": {},
    }))
}

fn delta_type(kind: &DataType) -> Result<Value> {
    let name = match kind {
        DataType::Int32 => "integer",
        DataType::Int64 => "long",
        DataType::Float64 => "double",
        DataType::Boolean => "boolean",
        DataType::Utf8 => "string",
        DataType::Binary => "binary",
        DataType::Timestamp(..) => "timestamp",
        DataType::Map(entries, _) => return delta_map(entries),
        other => return Err(no_type(other)),
    };
    Ok(Value::from(name))
}

fn delta_map(entries: &Field) -> Result<Value> {
    // A type without a name in Delta would make the table unreadable for others.
    let DataType::Struct(fields) = entries.data_type() else {
        return Err(no_type(entries.data_type()));
    };
    let [key, value] = &**fields else {
        return Err(no_type(entries.data_type()));
    };
    Ok(json!({
        "type": "map",
        "keyType": delta_type(key.data_type())?,
        "valueType": delta_type(value.data_type())?,
        "valueContainsNull": true,
    }))
}

fn no_type(kind: &DataType) -> Error {
    Error::Columns {
        table: kind.to_string(),
        expected: "a type that Delta has".to_owned(),
    }
}

/// The schema of a table of the lake with the columns that it lacks; `None` if it has all of them.
///
/// # Errors
/// A column has another type there, or the schema cannot be understood.
pub(crate) fn widened(table: &str, known: &str, schema: &Schema) -> Result<Option<String>> {
    let columns = |expected: String| Error::Columns {
        table: table.to_owned(),
        expected,
    };
    let mut known: Map<String, Value> =
        serde_json::from_str(known).map_err(|error| columns(format!("a schema ({error})")))?;
    let fields = known.get_mut("fields").and_then(Value::as_array_mut);
    let fields = fields.ok_or_else(|| columns("a schema with fields".to_owned()))?;
    let mut is_new = false;
    for field in schema.fields() {
        let wanted = delta_field(field)?;
        let of_lake = fields
            .iter()
            // By name: other programs may have added columns of their own or changed their order.
            .find(|known| known.get("name") == wanted.get("name"));
        match of_lake {
            // The type must be the same. Delta has no conversion when a file is read.
            Some(known) if known.get("type") == wanted.get("type") => {}
            Some(_) => {
                let kind = field.data_type();
                return Err(columns(format!("{kind} in the column {}", field.name())));
            }
            None => {
                fields.push(wanted);
                is_new = true;
            }
        }
    }
    Ok(is_new.then(|| Value::from(known).to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arrow_array::{Array as _, Int64Array};
    use etwkit_trace::table::{Process, Row};

    use super::*;

    #[test]
    fn no_column_of_a_table_has_the_name_of_a_key() {
        for table in tables() {
            let schema = schema(table);
            let columns = schema.fields().iter().map(|field| field.name().as_str());
            // The partition is a column for a reader of the table.
            let names: Vec<&str> = columns.chain([PART]).collect();
            let distinct: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(distinct.len(), names.len(), "{}", table.name);
        }
    }

    #[test]
    fn months_and_days_come_from_the_text_of_a_start() {
        assert_eq!(part_of("2024-05-01T10:00:00.1234567Z"), "2024-05");
        assert_eq!(day_of("2024-05-01T10:00:00.1234567Z"), Some("2024-05-01"));
        assert!(is_part("2024-05") && is_part("unknown") && !is_part("2024-05-01"));
        for other in ["", "2024", "../../x", "2024-0x-01T", "éééééééééé"] {
            assert_eq!((part_of(other), day_of(other)), (NO_PART, None), "{other}");
            assert!(!is_part(other), "{other}");
        }
    }

    #[test]
    fn missing_columns_have_no_values_and_missing_keys_are_an_error() {
        let schema = schema(Process::TABLE);
        let key: ArrayRef = Arc::new(Int64Array::from(vec![7, 7]));
        let keys = |name: &str| {
            [RUN_ID.name, GENERATION.name]
                .contains(&name)
                .then(|| key.clone())
        };
        let rows = filled("process", &schema, 2, keys).unwrap();
        assert_eq!((rows.num_rows(), rows.schema()), (2, schema.clone()));
        assert_eq!(rows.column(0).null_count(), 0);
        assert_eq!(rows.column(2).null_count(), 2);
        let error = filled("process", &schema, 2, |_| None).unwrap_err();
        assert!(matches!(error, Error::Rows { .. }), "{error}");
    }

    #[test]
    fn only_keys_are_never_missing_and_columns_can_be_added() {
        let schema = schema(Process::TABLE);
        let fields = schema.fields();
        assert_eq!(
            fields.iter().filter(|field| !field.is_nullable()).count(),
            2
        );
        let all = delta_schema(&schema).unwrap();
        assert_eq!(widened("process", &all, &schema).unwrap(), None);
        let fewer = Schema::new(fields.iter().skip(3).cloned().collect::<Vec<_>>());
        let fewer = delta_schema(&fewer).unwrap();
        let wider = widened("process", &fewer, &schema).unwrap().unwrap();
        assert_eq!(widened("process", &wider, &schema).unwrap(), None);
        let other = all.replace("\"long\"", "\"string\"");
        assert!(widened("process", &other, &schema).is_err());
    }
}
