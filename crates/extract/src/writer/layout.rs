//! The storage of the columns of a table: encodings, compression, and the description in the file.

use std::sync::Arc;

use arrow_schema::{Field, Schema};
use etwkit_trace::table::{Column, ColumnKind, RUN_ID, Row, Stack, Table};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use serde_json::{Map, json};

use crate::manifest;

/// Rows of a row group, the unit that a reader reads or skips.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// Measured with `cargo run -p etwkit-extract --example table_size -- compare`: level 3 makes
/// numbers one per cent smaller, JSON texts nine per cent larger, and is slower.
const ZSTD_LEVEL: i32 = 1;

/// Rows of a table that is called small.
pub(super) const FEW_ROWS: u64 = 512;

/// The number of rows of a table, as far as it is known when the first ones are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    /// No rows.
    None,
    /// All rows are known, and there are at most [`FEW_ROWS`].
    Few,
    /// There may be any number.
    Many,
}

impl Amount {
    /// A few rows are not compressed: a reader creates a decompressor for each column, which takes
    /// longer than reading these rows, and most bytes of the file are its metadata. In a query over
    /// hundreds of extracts this was a sixth of the time.
    fn compression(self) -> Compression {
        match self {
            // Compression pays from some pages on.
            Self::None | Self::Few => Compression::UNCOMPRESSED,
            // The level is a valid one.
            Self::Many => Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL).unwrap_or_default()),
        }
    }

    /// Statistics let readers skip row groups and pages. A few rows are one page, and its
    /// statistics would take more bytes than the rows.
    fn statistics(self) -> EnabledStatistics {
        match self {
            Self::None | Self::Few => EnabledStatistics::None,
            Self::Many => EnabledStatistics::Page,
        }
    }
}

/// Columns that are points in time. Rows come in the order of one of them, so the values of the
/// others are near to it.
const TIMES: [&str; 14] = [
    "complete_ns",
    "end_ns",
    "in_ns",
    "init_ns",
    "last_out_ns",
    "load_ns",
    "out_ns",
    "range_end_ns",
    "range_start_ns",
    "readied_ns",
    "start_ns",
    "stop_ns",
    "ts_ns",
    "unload_ns",
];

/// The columns of the file of a table: the column of the trace, and the table's own columns.
pub(super) fn schema(table: &Table) -> Arc<Schema> {
    let run_id = Arc::new(Field::new(
        RUN_ID.name,
        RUN_ID.kind.data_type(),
        RUN_ID.nullable,
    ));
    let declared = table.schema();
    // Own columns keep their declared order, which readers by position rely on.
    let all = std::iter::once(run_id).chain(declared.fields().iter().cloned());
    Arc::new(Schema::new(all.collect::<Vec<_>>()))
}

/// Properties of the file of a table.
pub(super) fn properties(table: &Table, amount: Amount) -> WriterProperties {
    // Without statistics no reader skips pages, so an index of them would only take space.
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("etwkit version ", env!("CARGO_PKG_VERSION")).to_owned())
        // Each of these is measured, see the constants.
        .set_compression(amount.compression())
        .set_statistics_enabled(amount.statistics())
        .set_offset_index_disabled(amount != Amount::Many)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_key_value_metadata(Some(description(table, amount)));
    // It is the same in all rows: this encoding takes the least time, and readers skip files by its
    // statistics.
    let run_id = ColumnPath::from(RUN_ID.name);
    if amount == Amount::Many {
        builder = builder
            .set_column_dictionary_enabled(run_id.clone(), false)
            .set_column_encoding(run_id.clone(), Encoding::DELTA_BINARY_PACKED)
            .set_column_statistics_enabled(run_id, EnabledStatistics::Chunk);
    }
    for column in table.columns {
        let path = ColumnPath::from(column.name);
        // Chosen by what a column holds and not by its size, so that the same rows give the same
        // bytes.
        builder = match storage(table, column) {
            Storage::Differences => builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            Storage::Plain => builder.set_column_dictionary_enabled(path, false),
            Storage::Dictionary => builder,
        };
    }
    builder.build()
}

/// The encoding of the values of a column before compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// Differences of neighbors, in as few bits as they need.
    Differences,
    /// Without an additional encoding.
    Plain,
    /// Dictionary encoding, if the dictionary does not grow too large.
    Dictionary,
}

fn storage(table: &Table, column: &Column) -> Storage {
    let name = column.name;
    let is_integer = matches!(column.kind, ColumnKind::Int32 | ColumnKind::Int64);
    let is_tree_key = |key: &str| name == key || name.ends_with(&format!("_{key}"));
    // Sorted columns differ by little from row to row.
    if is_integer && (TIMES.contains(&name) || table.order.contains(&name)) {
        Storage::Differences
    } else if name == "parent_id" {
        // The previous node, whenever a new stack continues down to its innermost frame.
        Storage::Differences
    } else if name.ends_with("_hash") && is_integer {
        // Hardly any two rows have the same value.
        Storage::Plain
    } else if is_integer
        && (is_tree_key("stack_id") || is_tree_key("frame_id") && table.name == Stack::TABLE.name)
    {
        // Too many distinct numbers for a dictionary, which repeat near to each other. Frames of
        // other tables are few.
        Storage::Plain
    } else {
        Storage::Dictionary
    }
}

/// The description in the file: the meaning of the table and of its columns. Files without rows
/// have none: there are many of them, and their descriptions are not read.
fn description(table: &Table, amount: Amount) -> Vec<KeyValue> {
    let column = |column: &Column| {
        let about = match column.unit {
            "" => json!({ "doc": column.doc }),
            unit => json!({ "doc": column.doc, "unit": unit }),
        };
        (column.name.to_owned(), about)
    };
    let pair = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let mut pairs = vec![
        pair("etwkit.format_version", manifest::VERSION.to_string()),
        pair("etwkit.table", table.name.to_owned()),
    ];
    if amount != Amount::None {
        let columns: Map<_, _> = std::iter::once(&RUN_ID)
            .chain(table.columns)
            .map(column)
            .collect();
        pairs.push(pair("etwkit.doc", table.doc.to_owned()));
        pairs.push(pair("etwkit.columns", json!(columns).to_string()));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use etwkit_trace::table::{ContextSwitch, CpuStack, DpcIsr, Frame, Method, StackHash};
    use etwkit_trace::topics::TABLES;

    use super::*;

    #[test]
    fn columns_are_stored_by_what_they_are() {
        let of = |table: &Table, name: &str| storage(table, table.column(name).unwrap());
        for (name, wanted) in [
            ("out_ns", Storage::Differences),
            ("last_out_ns", Storage::Differences),
            ("wait_ns", Storage::Dictionary),
            ("thread_key", Storage::Dictionary),
            ("readying_stack_id", Storage::Plain),
        ] {
            assert_eq!(of(ContextSwitch::TABLE, name), wanted, "{name}");
        }
        assert_eq!(
            of(Stack::TABLE, "stack_id"),
            Storage::Differences,
            "the rows are sorted by it"
        );
        assert_eq!(of(Stack::TABLE, "parent_id"), Storage::Differences);
        assert_eq!(of(Stack::TABLE, "frame_id"), Storage::Plain);
        assert_eq!(of(DpcIsr::TABLE, "frame_id"), Storage::Dictionary);
        assert_eq!(
            of(Frame::TABLE, "frame_id"),
            Storage::Differences,
            "the rows are sorted by it"
        );
        assert_eq!(of(CpuStack::TABLE, "stack_id"), Storage::Differences);
        assert_eq!(of(StackHash::TABLE, "stack_hash"), Storage::Plain);
        assert_eq!(of(Method::TABLE, "method_hash"), Storage::Plain);
    }

    #[test]
    fn every_time_is_a_column_of_some_table() {
        for time in TIMES {
            assert!(
                TABLES.iter().any(|table| table.column(time).is_some()),
                "{time}"
            );
        }
    }
}
