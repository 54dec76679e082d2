//! Written extracts read back unchanged.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use etwkit_extract::manifest::{DERIVED_VERSION, Topic};
use etwkit_extract::{DerivedWriter, Extract, Writer, WriterOptions};
use etwkit_trace::sink::Sink;
use etwkit_trace::table::{CpuProcess, CpuSample, GenericEvent, Mark, Row, Stack};
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use crate::rows::{
    assert_refused, batch, extract, files, manifest, marks, names, samples, stacks, sums,
};
use crate::support::Folder;

fn all(extract: &Extract, table: &str) -> RecordBatch {
    let batches: Vec<_> = extract
        .table(table)
        .unwrap()
        .batches(None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let schema = etwkit_trace::topics::find(table).unwrap().schema();
    let columns = (0..schema.fields().len()).map(|column| {
        let parts: Vec<_> = batches
            .iter()
            .map(|batch| batch.column(column).as_ref())
            .collect();
        arrow_select::concat::concat(&parts).unwrap()
    });
    RecordBatch::try_new(schema.clone(), columns.collect()).unwrap()
}

#[test]
fn rows_come_back_and_tables_without_rows_are_none_of_the_manifest() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    let sink: &mut dyn Sink = &mut writer;
    sink.write(CpuSample::TABLE, samples(70_000, 0)).unwrap();
    sink.write(CpuSample::TABLE, samples(0, 0)).unwrap();
    sink.write(Stack::TABLE, stacks(1000)).unwrap();
    sink.write(Mark::TABLE, marks(&["a", "ü \u{1F600}", "", "\0\x1b[31m"]))
        .unwrap();
    assert!(!target.exists(), "nothing is seen before it is finished");
    let mut wanted = manifest("0123456789abcdef");
    wanted.topics.push(Topic {
        topic: "disk_io".into(),
        recorded: false,
        events: Some(0),
        hint: Some("-on DISK_IO".into()),
    });
    let written = writer.finish(wanted.clone()).unwrap();
    let rows: Vec<_> = written
        .tables
        .iter()
        .map(|table| (table.name.as_str(), table.rows))
        .collect();
    assert_eq!(rows, [("cpu_sample", 70_000), ("mark", 4), ("stack", 1000)]);
    assert_eq!(names(&target), files(&[]));
    assert_eq!(
        names(&folder.path("")),
        ["run.etwx"],
        "nothing else is left"
    );

    let extract = Extract::open(&target).unwrap();
    assert_eq!(all(&extract, "cpu_sample"), samples(70_000, 0));
    assert_eq!(all(&extract, "stack"), stacks(1000));
    assert_eq!(
        all(&extract, "mark"),
        marks(&["a", "ü \u{1F600}", "", "\0\x1b[31m"])
    );
    assert!(extract.table("disk_io").is_none());
    for table in &written.tables {
        let size = target
            .join(format!("{}.parquet", table.name))
            .metadata()
            .unwrap()
            .len();
        assert_eq!(
            (extract.table(&table.name).unwrap().length, table.bytes),
            (size, size)
        );
    }
    let mut found = extract.manifest().clone();
    found.tables.clear();
    assert_eq!(found, wanted);
}

/// Compression of the columns of a table, if it is the same for all.
fn compression(extract: &Extract, table: &str) -> Compression {
    let metadata = extract.table(table).unwrap().metadata().unwrap();
    let mut all = metadata
        .row_groups()
        .iter()
        .flat_map(RowGroupMetaData::columns)
        .map(ColumnChunkMetaData::compression);
    let first = all.next().unwrap();
    assert!(all.all(|other| other == first), "{table}");
    first
}

#[test]
fn only_tables_with_many_rows_are_compressed() {
    let folder = Folder::new();
    let mut writer = Writer::create(&folder.path("run.etwx"), WriterOptions::default()).unwrap();
    writer.write(Mark::TABLE, marks(&["a", "b"])).unwrap();
    // One row more than the writer holds back, in batches.
    (0..9).for_each(|_| writer.write(CpuSample::TABLE, samples(57, 0)).unwrap());
    writer.write(Stack::TABLE, stacks(512)).unwrap();
    writer.finish(manifest("0")).unwrap();
    let extract = Extract::open(&folder.path("run.etwx")).unwrap();
    assert_eq!(compression(&extract, "mark"), Compression::UNCOMPRESSED);
    assert_eq!(compression(&extract, "stack"), Compression::UNCOMPRESSED);
    assert!(matches!(
        compression(&extract, "cpu_sample"),
        Compression::ZSTD(_)
    ));
    assert_eq!(all(&extract, "cpu_sample").num_rows(), 513);
    assert_eq!(all(&extract, "cpu_sample").slice(456, 57), samples(57, 0));
    assert_eq!(all(&extract, "stack"), stacks(512));
}

#[test]
fn an_order_is_declared_only_where_it_holds() {
    let folder = Folder::new();
    let mut writer = Writer::create(&folder.path("run.etwx"), WriterOptions::default()).unwrap();
    for _ in 0..2 {
        writer.write(CpuSample::TABLE, samples(10, 0)).unwrap();
    }
    writer.write(Stack::TABLE, stacks(10)).unwrap();
    writer.finish(manifest("0")).unwrap();
    let extract = Extract::open(&folder.path("run.etwx")).unwrap();
    assert_eq!(extract.table("stack").unwrap().sorted_by, ["stack_id"]);
    assert!(
        extract.table("cpu_sample").unwrap().sorted_by.is_empty(),
        "time begins again at 0"
    );
}

#[test]
fn derived_tables_are_written_apart_and_replaced_as_a_whole() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    extract(&target, 100, 1).unwrap();
    let before = Extract::open(&target).unwrap();
    assert!(before.derived().is_none() && before.derived_problem().is_none());
    for (rows, symbols) in [(3, "none"), (5, "v2")] {
        let mut writer = DerivedWriter::create(&before).unwrap();
        writer.write(CpuProcess::TABLE, sums(rows)).unwrap();
        let depends_on = BTreeMap::from([("symbols".to_owned(), symbols.to_owned())]);
        writer.finish(depends_on.clone()).unwrap();
        let after = Extract::open(&target).unwrap();
        let derived = after.derived().unwrap();
        assert_eq!(
            (derived.derived_version, &derived.depends_on),
            (DERIVED_VERSION, &depends_on)
        );
        assert_eq!(all(&after, "cpu_process"), sums(rows));
        assert!(after.table("cpu_process").unwrap().derived);
        assert_eq!(all(&after, "cpu_sample"), samples(100, 1));
    }
    assert_eq!(names(&target), files(&["derived"]));
}

#[test]
fn derived_tables_can_come_with_the_others() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    writer.write(CpuProcess::TABLE, sums(2)).unwrap();
    std::fs::write(writer.symbols_dir().unwrap().join("a.pdb"), b"x").unwrap();
    let written = writer.finish(manifest("0")).unwrap();
    assert!(written.tables[0].derived && written.tables[0].rows == 2);
    assert_eq!(names(&target), files(&["derived", "symbols"]));
    assert_eq!(
        all(&Extract::open(&target).unwrap(), "cpu_process"),
        sums(2)
    );
}

#[test]
fn rows_of_another_table_are_refused_and_the_extract_cannot_be_finished() {
    let folder = Folder::new();
    let target = folder.path("run.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    let parts = [
        "rows of stack do not have its columns: expected stack_id Int32 not null",
        "found ts_ns Int64",
    ];
    assert_refused(writer.write(Stack::TABLE, samples(1, 0)), &parts);
    assert_refused(
        writer.finish(manifest("0")),
        &["is not complete: writing it failed before"],
    );
    assert!(names(&folder.path("")).is_empty(), "nothing is left");
}

#[test]
fn row_groups_are_bounded_by_rows_and_by_bytes() {
    let folder = Folder::new();
    let mut writer = Writer::create(&folder.path("run.etwx"), WriterOptions::default()).unwrap();
    let mut random = 1u64;
    for n in 0..11 {
        writer.write(CpuSample::TABLE, samples(100_000, 0)).unwrap();
        let noise = std::iter::repeat_with(|| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 56) as u8
        });
        let payload = noise.take(10 << 20).collect();
        let event = GenericEvent {
            ts_ns: n,
            payload: Some(payload),
            ..GenericEvent::default()
        };
        writer.write(GenericEvent::TABLE, batch([event])).unwrap();
    }
    writer.finish(manifest("0")).unwrap();
    let extract = Extract::open(&folder.path("run.etwx")).unwrap();
    let rows_of_groups = |table: &str| -> Vec<i64> {
        let metadata = extract.table(table).unwrap().metadata().unwrap();
        metadata
            .row_groups()
            .iter()
            .map(RowGroupMetaData::num_rows)
            .collect()
    };
    assert_eq!(
        rows_of_groups("cpu_sample"),
        [1 << 20, 1_100_000 - (1 << 20)]
    );
    assert_eq!(rows_of_groups("generic_event"), [7, 4]);
}

#[test]
fn a_file_says_what_it_holds() {
    let folder = Folder::new();
    extract(&folder.path("run.etwx"), 1_000, 1).unwrap();
    let opened = Extract::open(&folder.path("run.etwx")).unwrap();
    let metadata = opened.table("cpu_sample").unwrap().metadata().unwrap();
    let file = metadata.file_metadata();
    assert!(file.created_by().unwrap().starts_with("etwkit version "));
    let pairs = file.key_value_metadata().unwrap();
    let value = |key: &str| {
        pairs
            .iter()
            .find(|pair| pair.key == key)
            .and_then(|pair| pair.value.as_deref())
    };
    assert_eq!(value("etwkit.table"), Some("cpu_sample"));
    assert_eq!(value("etwkit.doc"), Some(CpuSample::TABLE.doc));
    assert!(value("ARROW:schema").is_none());
    let columns: serde_json::Value =
        serde_json::from_str(value("etwkit.columns").unwrap()).unwrap();
    assert_eq!(
        columns["ts_ns"],
        serde_json::json!({ "doc": "Time.", "unit": "ns" })
    );
    let has_statistics = |table: &str| {
        let metadata = opened.table(table).unwrap().metadata().unwrap();
        let columns = metadata.row_group(0).columns().to_vec();
        columns
            .iter()
            .map(|column| column.statistics().is_some())
            .collect::<Vec<_>>()
    };
    assert!(has_statistics("cpu_sample").iter().all(|has| *has));
    // For a few rows they would be larger than the rows.
    assert!(!has_statistics("mark").iter().any(|has| *has));
}
