//! Writing of checkpoints, after which readers need no earlier commit.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_json::ReaderBuilder;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::errors::ParquetError;
use serde_json::json;

use super::action::Line;
use super::checkpoint::MAX_ACTIONS;
use super::name::{self, FOLDER, LAST_CHECKPOINT};
use crate::lake::layout;
use crate::lake::store::Store;
use crate::lake::{Error, Result};

/// Writes the actions of a state as the checkpoint of a version. The file that names the newest
/// checkpoint comes last: without it, readers look for checkpoints by their names.
pub(super) fn write(store: &Store, table: &str, version: u64, lines: &[Line]) -> Result<()> {
    let encoding = |source| Error::Encode {
        table: table.to_owned(),
        source,
    };
    if lines.len() > MAX_ACTIONS {
        let said = format!("a checkpoint has {MAX_ACTIONS} actions at most");
        return Err(encoding(ParquetError::General(said)));
    }
    let rows = rows(lines).map_err(|source| Error::Rows {
        table: table.to_owned(),
        source,
    })?;
    let Some(rows) = rows else { return Ok(()) };
    let bytes = encoded(&rows).map_err(encoding)?;
    // One that is there may be damaged.
    store.replace(&name::checkpoint(table, version), Bytes::from(bytes))?;
    let last = json!({ "version": version, "size": lines.len() });
    let file = format!("{table}/{FOLDER}/{LAST_CHECKPOINT}");
    store.replace(&file, Bytes::from(last.to_string()))
}

/// The actions as rows: each has one of the columns.
fn rows(lines: &[Line]) -> std::result::Result<Option<RecordBatch>, ArrowError> {
    let mut decoder = ReaderBuilder::new(schema()).build_decoder()?;
    decoder.serialize(lines)?;
    decoder.flush()
}

fn encoded(rows: &RecordBatch) -> std::result::Result<Vec<u8>, ParquetError> {
    let options = ArrowWriterOptions::new()
        .with_properties(layout::properties())
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), rows.schema(), options)?;
    writer.write(rows)?;
    writer.into_inner()
}

/// The columns of a checkpoint, as far as actions have them here.
fn schema() -> SchemaRef {
    let integer = DataType::Int32;
    let number = DataType::Int64;
    let text = DataType::Utf8;
    let protocol = [
        ("minReaderVersion", integer.clone()),
        ("minWriterVersion", integer),
    ];
    let metadata = [
        ("id", text.clone()),
        ("name", text.clone()),
        ("description", text.clone()),
        ("format", file_format()),
        ("schemaString", text.clone()),
        ("partitionColumns", texts()),
        ("configuration", text_map()),
        ("createdTime", number.clone()),
    ];
    let transaction = [
        ("appId", text.clone()),
        ("version", number.clone()),
        ("lastUpdated", number.clone()),
    ];
    let add = [
        ("path", text.clone()),
        ("partitionValues", text_map()),
        ("size", number.clone()),
        ("modificationTime", number.clone()),
        ("dataChange", DataType::Boolean),
        ("stats", text.clone()),
    ];
    let remove = [
        ("path", text),
        ("deletionTimestamp", number),
        ("dataChange", DataType::Boolean),
    ];
    Arc::new(Schema::new(fields([
        ("protocol", group(protocol)),
        ("metaData", group(metadata)),
        ("txn", group(transaction)),
        ("add", group(add)),
        ("remove", group(remove)),
    ])))
}

/// The format of the files of a table.
fn file_format() -> DataType {
    group([("provider", DataType::Utf8), ("options", text_map())])
}

fn group<const N: usize>(columns: [(&str, DataType); N]) -> DataType {
    DataType::Struct(fields(columns))
}

fn fields<const N: usize>(columns: [(&str, DataType); N]) -> Fields {
    let fields = columns.map(|(name, kind)| Field::new(name, kind, true));
    Fields::from(fields.to_vec())
}

fn texts() -> DataType {
    DataType::List(Arc::new(Field::new("element", DataType::Utf8, true)))
}

fn text_map() -> DataType {
    let entry = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, true),
    ]);
    let entries = Field::new("key_value", DataType::Struct(entry), false);
    DataType::Map(Arc::new(entries), false)
}
