//! Other programs open an extract and see the declared types and the written values.

use std::process::Command;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use etwkit_extract::{Extract, Writer, WriterOptions};
use etwkit_trace::table::{Column, DERIVED, Kind, TABLES, Table};
use serde_json::{Map, Value, json};

use crate::rows::manifest;
use crate::support::Folder;

const ROWS: i32 = 300;

/// The number of a row in a column: large, of both signs, and missing now and then where that is allowed.
fn number(column: &Column, row: i32) -> Option<i32> {
    (!column.nullable || row % 7 != 3).then_some((row - 100).wrapping_mul(7_654_321))
}

/// A value for each row, and their sum as the script computes it.
fn values(column: &Column) -> (ArrayRef, Value) {
    let all: Vec<Option<i32>> = (0..ROWS).map(|row| number(column, row)).collect();
    let some = || all.iter().flatten().map(|n| i64::from(*n));
    let wide = |n: i64| n * 1_000_003;
    let text = |n: i32| format!("ü{n}");
    let bytes = |n: i32| n.to_le_bytes();
    match column.kind {
        Kind::Int32 => (Arc::new(Int32Array::from(all.clone())), json!(some().sum::<i64>())),
        Kind::Int64 => {
            let array: Int64Array = all.iter().map(|n| n.map(|n| wide(i64::from(n)))).collect();
            (Arc::new(array), json!(some().map(wide).sum::<i64>()))
        }
        // Whole numbers, so that the sum is exact in every order.
        Kind::Float64 => {
            let array: Float64Array = all.iter().map(|n| n.map(f64::from)).collect();
            (Arc::new(array), json!(some().sum::<i64>() as f64))
        }
        Kind::Boolean => {
            let array: BooleanArray = all.iter().map(|n| n.map(|n| n % 2 == 0)).collect();
            (Arc::new(array), json!(some().filter(|n| n % 2 == 0).count()))
        }
        Kind::Text => {
            let array: StringArray = all.iter().map(|n| n.map(text)).collect();
            (Arc::new(array), json!(all.iter().flatten().map(|n| text(*n).len()).sum::<usize>()))
        }
        Kind::Binary => {
            let array: BinaryArray = all.iter().map(|n| n.map(bytes)).collect();
            (Arc::new(array), json!(4 * some().count()))
        }
    }
}

/// Types as DuckDB, pyarrow and polars name them.
fn types(column: &Column) -> [String; 3] {
    let (duckdb, pyarrow, polars) = match column.kind {
        Kind::Int32 => ("INTEGER", "int32", "Int32"),
        Kind::Int64 => ("BIGINT", "int64", "Int64"),
        Kind::Float64 => ("DOUBLE", "double", "Float64"),
        Kind::Boolean => ("BOOLEAN", "bool", "Boolean"),
        Kind::Text => ("VARCHAR", "string", "String"),
        Kind::Binary => ("BLOB", "binary", "Binary"),
    };
    let null = if column.nullable { "" } else { " not null" };
    [duckdb.to_owned(), format!("{pyarrow}{null}"), polars.to_owned()]
}

/// What the script should print for a table, with the rows to write.
fn expected(table: &'static Table) -> (RecordBatch, Value) {
    let (arrays, sums): (Vec<_>, Vec<_>) = table.columns.iter().map(values).unzip();
    let named = |values: Vec<Value>| -> Map<String, Value> {
        table.columns.iter().map(|column| column.name.to_owned()).zip(values).collect()
    };
    let typed = |index: usize| named(table.columns.iter().map(|c| json!(types(c)[index])).collect());
    let sums = named(sums);
    let seen = |types| json!({ "types": types, "rows": ROWS, "sums": &sums });
    let answer = json!({
        "duckdb": seen(typed(0)),
        "pyarrow": seen(typed(1)),
        "pandas": { "rows": ROWS, "sums": &sums },
        "polars": seen(typed(2)),
        "packed": seen(typed(1)),
    });
    (RecordBatch::try_new(table.schema(), arrays).unwrap(), answer)
}

#[test]
fn duckdb_pandas_pyarrow_and_polars_see_every_declared_column() {
    let Some(python) = std::env::var_os("ETWKIT_PYTHON") else {
        etwkit_testkit::skip(
            "elsewhere::duckdb_pandas_pyarrow_and_polars_see_every_declared_column: ETWKIT_PYTHON does not name a Python \
             with the packages of scripts/requirements.txt",
        );
        return;
    };
    let folder = Folder::new();
    let (target, packed) = (folder.path("run.etwx"), folder.path("run.etwx.zip"));
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    let mut wanted = Map::new();
    for table in TABLES.iter().chain(DERIVED) {
        let (rows, answer) = expected(table);
        writer.write(table, rows).unwrap();
        wanted.insert(table.name.to_owned(), answer);
    }
    writer.finish(manifest("0")).unwrap();
    Extract::open(&target).unwrap().pack(&packed).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/open_elsewhere.py");
    let output = Command::new(python).arg(script).args([&target, &packed]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (table, wanted) in &wanted {
        for (program, wanted) in wanted.as_object().unwrap() {
            assert_eq!(&found[table][program], wanted, "{table} in {program}");
        }
    }
    assert_eq!(found.as_object().unwrap().len(), wanted.len());
}
