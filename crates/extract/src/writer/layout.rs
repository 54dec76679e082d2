//! How the columns of a table are stored: encodings, compression, what the file says about itself.

use etwkit_trace::table::{Column, Kind, Table};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use serde_json::{Map, json};

use crate::manifest;

/// Rows of a row group: what a reader takes or skips as a whole.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// Properties of the file of a table.
pub(super) fn properties(table: &Table) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("etwkit version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_key_value_metadata(Some(description(table)));
    for column in table.columns {
        let path = ColumnPath::from(column.name);
        if is_rising(table, column) {
            builder = builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    builder.build()
}

/// Whether a column is the one by which the rows are sorted, as numbers.
fn is_rising(table: &Table, column: &Column) -> bool {
    table.order.contains(&column.name) && matches!(column.kind, Kind::Int32 | Kind::Int64)
}

/// What the file says about itself: the meaning of the table and of its columns.
fn description(table: &Table) -> Vec<KeyValue> {
    let column = |column: &Column| {
        let about = json!({ "doc": column.doc, "unit": column.unit });
        (column.name.to_owned(), about)
    };
    let columns: Map<_, _> = table.columns.iter().map(column).collect();
    let pair = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    vec![
        pair("etwkit.format_version", manifest::VERSION.to_string()),
        pair("etwkit.table", table.name.to_owned()),
        pair("etwkit.doc", table.doc.to_owned()),
        pair("etwkit.columns", json!(columns).to_string()),
    ]
}
