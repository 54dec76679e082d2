//! Other programs open an extract and read the declared types and the written values.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use etwkit_extract::{Extract, Manifest, Writer, WriterOptions};
use etwkit_trace::table::{
    ABOUT, Column, ColumnKind, CpuSample, DERIVED, Process, RUN_ID, Row, Table,
};
use etwkit_trace::topics::TABLES;
use serde_json::{Map, Value, json};

use crate::rows::{batch, manifest};
use crate::support::Folder;

const ROWS: i32 = 300;

/// The ID of the trace, which has more digits than a floating-point number.
const RUN: i64 = -7_654_321_098_765_431;

/// The number of a row in a column: large, of both signs, and sometimes missing if the column
/// allows it.
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
        ColumnKind::Int32 => (
            Arc::new(Int32Array::from(all.clone())),
            json!(some().sum::<i64>()),
        ),
        ColumnKind::Int64 => {
            let array: Int64Array = all.iter().map(|n| n.map(|n| wide(i64::from(n)))).collect();
            (Arc::new(array), json!(some().map(wide).sum::<i64>()))
        }
        // Whole numbers, so that the sum is exact in every order.
        ColumnKind::Float64 => {
            let array: Float64Array = all.iter().map(|n| n.map(f64::from)).collect();
            (Arc::new(array), json!(some().sum::<i64>() as f64))
        }
        ColumnKind::Boolean => {
            let array: BooleanArray = all.iter().map(|n| n.map(|n| n % 2 == 0)).collect();
            (
                Arc::new(array),
                json!(some().filter(|n| n % 2 == 0).count()),
            )
        }
        ColumnKind::Text => {
            let array: StringArray = all.iter().map(|n| n.map(text)).collect();
            (
                Arc::new(array),
                json!(all.iter().flatten().map(|n| text(*n).len()).sum::<usize>()),
            )
        }
        ColumnKind::Timestamp => panic!("{} is filled from the manifest", column.name),
        ColumnKind::Binary => {
            let array: BinaryArray = all.iter().map(|n| n.map(bytes)).collect();
            (Arc::new(array), json!(4 * some().count()))
        }
    }
}

/// The names of types in DuckDB, pyarrow and polars.
fn types(column: &Column) -> [String; 3] {
    let (duckdb, pyarrow, polars) = match column.kind {
        ColumnKind::Int32 => ("INTEGER", "int32", "Int32"),
        ColumnKind::Int64 => ("BIGINT", "int64", "Int64"),
        ColumnKind::Float64 => ("DOUBLE", "double", "Float64"),
        ColumnKind::Boolean => ("BOOLEAN", "bool", "Boolean"),
        ColumnKind::Text => ("VARCHAR", "string", "String"),
        ColumnKind::Binary => ("BLOB", "binary", "Binary"),
        ColumnKind::Timestamp => (
            "TIMESTAMP WITH TIME ZONE",
            "timestamp[us, tz=UTC]",
            "Datetime(time_unit='us', time_zone='UTC')",
        ),
    };
    let null = if column.nullable { "" } else { " not null" };
    [
        duckdb.to_owned(),
        format!("{pyarrow}{null}"),
        polars.to_owned(),
    ]
}

/// The expected output of the script for a table, with the rows to write.
fn expected(table: &'static Table) -> (RecordBatch, Value) {
    let (arrays, sums): (Vec<_>, Vec<_>) = table.columns.iter().map(values).unzip();
    let stored = || std::iter::once(&RUN_ID).chain(table.columns);
    let named = |values: Vec<Value>| -> Map<String, Value> {
        stored()
            .map(|column| column.name.to_owned())
            .zip(values)
            .collect()
    };
    let typed = |index: usize| named(stored().map(|c| json!(types(c)[index])).collect());
    let run_ids = json!(RUN * i64::from(ROWS));
    let sums = named(std::iter::once(run_ids).chain(sums).collect());
    let seen = |types| json!({ "types": types, "rows": ROWS, "sums": &sums });
    let answer = json!({
        "duckdb": seen(typed(0)),
        "pyarrow": seen(typed(1)),
        "pandas": { "rows": ROWS, "sums": &sums },
        "polars": seen(typed(2)),
        "packed": seen(typed(1)),
    });
    (
        RecordBatch::try_new(table.schema(), arrays).unwrap(),
        answer,
    )
}

#[test]
fn duckdb_pandas_pyarrow_and_polars_see_every_declared_column() {
    let name = "duckdb_pandas_pyarrow_and_polars_see_every_declared_column";
    let Some(mut python) = etwkit_testkit::python(&format!("elsewhere::{name}")) else {
        return;
    };
    let folder = Folder::new();
    let (target, packed) = (folder.path("run.etwx"), folder.path("run.etwx.zip"));
    let options = WriterOptions {
        run_id: RUN,
        ..WriterOptions::default()
    };
    let mut writer = Writer::create(&target, options).unwrap();
    let mut wanted = Map::new();
    for table in TABLES.iter().chain(DERIVED) {
        let (rows, answer) = expected(table);
        writer.write(table, rows).unwrap();
        wanted.insert(table.name.to_owned(), answer);
    }
    writer.finish(manifest("0")).unwrap();
    Extract::open(&target).unwrap().pack(&packed).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/open_elsewhere.py");
    let printed = etwkit_testkit::output_of(python.arg(script).args([&target, &packed]));
    let found: Value = serde_json::from_str(&printed).unwrap();
    for (table, wanted) in &wanted {
        for (program, wanted) in wanted.as_object().unwrap() {
            assert_eq!(&found[table][program], wanted, "{table} in {program}");
        }
    }
    assert_eq!(found.as_object().unwrap().len(), wanted.len() + ABOUT.len());
    for table in ABOUT {
        for (index, program) in ["duckdb", "pyarrow", "polars"].into_iter().enumerate() {
            let wanted: Map<String, Value> = std::iter::once(&RUN_ID)
                .chain(table.columns)
                .map(|column| (column.name.to_owned(), json!(types(column)[index])))
                .collect();
            assert_eq!(
                found[table.name][program]["types"],
                json!(wanted),
                "{} in {program}",
                table.name
            );
        }
    }
    // 1 May 2024, 10:00:00.123456.
    assert_eq!(
        found["extract"]["pyarrow"]["sums"]["start_utc"],
        1_714_557_600_123_456_i64
    );
}

#[test]
fn a_pattern_finds_a_table_in_all_extracts_whatever_rows_they_have() {
    let name = "a_pattern_finds_a_table_in_all_extracts_whatever_rows_they_have";
    let Some(mut python) = etwkit_testkit::python(&format!("elsewhere::{name}")) else {
        return;
    };
    let folder = Folder::new();
    for (name, hash, rows) in [("a", 1_i64, 10), ("b", -2, 0), ("c", 3, 7)] {
        let hash = format!("{hash:016x}");
        let options = WriterOptions {
            run_id: etwkit_extract::run_id(&hash),
            ..WriterOptions::default()
        };
        let mut writer = Writer::create(&folder.path(&format!("{name}.etwx")), options).unwrap();
        writer
            .write(CpuSample::TABLE, crate::rows::samples(rows, 0))
            .unwrap();
        writer.set_derived(std::collections::BTreeMap::new());
        let mut manifest = manifest(&hash);
        manifest.machine.computer = Some(name.to_uppercase());
        writer.finish(manifest).unwrap();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/open_many.py");
    python.arg(script).current_dir(folder.path(""));
    let found: Value = serde_json::from_str(&etwkit_testkit::output_of(&mut python)).unwrap();
    let rows = json!([["A", 1, 10], ["C", 3, 7]]);
    let runs = json!([-2, 1, 3]);
    for program in ["duckdb", "polars", "pyarrow"] {
        assert_eq!(
            found[program],
            json!({"samples": rows, "runs": runs, "disk_io": 0, "cpu_process": 0}),
            "{program}"
        );
    }
}

/// Lists that may be missing, or have missing elements, become floating-point numbers in pandas,
/// and addresses lose digits.
#[test]
fn no_column_is_a_list() {
    for table in TABLES.iter().chain(DERIVED) {
        for field in table.schema().fields() {
            assert!(!field.data_type().is_nested(), "{}.{field}", table.name);
        }
    }
}

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/FORMAT.md");
    std::fs::read_to_string(path).unwrap()
}

/// The page's code blocks in a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    page.split(&begin)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_manifest_of_the_page_is_one() {
    let all = blocks(&page(), "json");
    let manifests: Vec<&String> = all
        .iter()
        .filter(|json| json.contains("\"format_version\""))
        .collect();
    let [example] = manifests[..] else {
        panic!("the page has one manifest")
    };
    let json: Value = serde_json::from_str(example).unwrap();
    let manifest: Manifest = serde_json::from_str(example).unwrap();
    assert_eq!(
        serde_json::to_value(manifest).unwrap(),
        json,
        "every field is one that is written"
    );
}

#[test]
fn the_examples_of_the_page_answer_right() {
    let folder = Folder::new();
    let mut writer = Writer::create(&folder.path("run.etwx"), WriterOptions::default()).unwrap();
    let sample = |process_key, is_idle| CpuSample {
        process_key: Some(process_key),
        weight_ns: 1_000_000,
        is_idle,
        ..CpuSample::default()
    };
    let samples = [
        sample(1, false),
        sample(2, false),
        sample(1, false),
        sample(0, true),
    ];
    writer.write(CpuSample::TABLE, batch(samples)).unwrap();
    let processes = [(0, "Idle"), (1, "cmd.exe"), (2, "explorer.exe")].map(|(key, name)| Process {
        process_key: key,
        pid: key * 4,
        name: Some(name.to_owned()),
        ..Process::default()
    });
    writer.write(Process::TABLE, batch(processes)).unwrap();
    writer.finish(manifest("0")).unwrap();
    Extract::open(&folder.path("run.etwx"))
        .unwrap()
        .pack(&folder.path("run.etwx.zip"))
        .unwrap();
    let answers: [&[&str]; 8] = [
        &["9112917963168311149"],
        &["cpu_sample is whole", "process is whole"],
        &["cmd.exe", "2.0", "explorer.exe", "1.0"],
        &["cmd.exe         2.0", "explorer.exe    1.0"],
        &["Time that it represents"],
        &[
            "PC-1",
            "run.etl",
            "2024-05-01 ",
            "cmd.exe",
            "2.0",
            "explorer.exe",
            "1.0",
        ],
        &["3000000"],
        &["Idle", "cmd.exe", "explorer.exe"],
    ];
    let examples = blocks(&page(), "python");
    assert_eq!(examples.len(), answers.len());
    for (example, answer) in examples.iter().zip(answers) {
        let name = "elsewhere::the_examples_of_the_page_answer_right";
        let Some(mut python) = etwkit_testkit::python(name) else {
            return;
        };
        python.args(["-c", example]).current_dir(folder.path(""));
        let text = etwkit_testkit::output_of(&mut python);
        for part in answer {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
    }
}
