//! Sessions over files: what they read, and how damage is told.

use std::path::{Path, PathBuf};

use etwkit_extract::manifest::{Clock, Detail, Machine, TraceSource};
use etwkit_extract::{Manifest, Writer, WriterOptions};
use etwkit_query::{Options, Session, Source};
use etwkit_trace::table::{CpuSample, Process, Table};

use crate::support::{ask, rows};

/// Writes an extract.
pub(crate) fn write(
    folder: &Path,
    name: &str,
    tables: Vec<(&'static Table, Vec<etwkit_query::arrow::array::RecordBatch>)>,
) -> PathBuf {
    let path = folder.join(name);
    let mut writer = Writer::create(&path, WriterOptions::default()).unwrap();
    for (table, batches) in tables {
        batches.into_iter().for_each(|batch| writer.write(table, batch).unwrap());
    }
    let clock = Clock { kind: "qpc".into(), frequency: 1, start_utc: String::new(), start_filetime: 0 };
    let machine = Machine { computer: None, os_version: None, processors: 1 };
    writer.finish(Manifest::new(Detail::Full, TraceSource::default(), clock, machine)).unwrap();
    path
}

fn samples(count: i64) -> Vec<CpuSample> {
    let sample =
        |n| CpuSample { ts_ns: n, weight_ns: 1, process_key: Some((n % 3) as i32), ..CpuSample::default() };
    (0..count).map(sample).collect()
}

fn processes(names: &[&str]) -> Vec<Process> {
    let process = |(key, name): (i32, &&str)| Process {
        process_key: key,
        name: Some((*name).into()),
        ..Process::default()
    };
    (0..).zip(names).map(process).collect()
}

#[test]
fn one_extract() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(
        folder.path(),
        "a b'ü.etwx",
        vec![rows(&samples(200_000)), rows(&processes(&["x.exe", "y.exe", "z.exe"]))],
    );
    let session = Session::open(&[&path]).unwrap();
    assert_eq!(
        ask(&session, "SELECT count(*), sum(weight_ns), max(ts_ns) FROM cpu_sample"),
        "200000|200000|199999"
    );
    assert_eq!(ask(&session, "SELECT name, path = '' FROM extract"), "a b'ü|false");
    let sql = "SELECT name, count(*) FROM cpu_sample JOIN process USING (process_key) WHERE ts_ns BETWEEN 10 AND 20 GROUP BY 1 ORDER BY 1";
    assert_eq!(ask(&session, sql), "x.exe|3\ny.exe|4\nz.exe|4");
    assert_eq!(ask(&session, "SELECT count(*) FROM disk_io"), "0");
    let plan = ask(&session, "EXPLAIN SELECT ts_ns FROM cpu_sample ORDER BY ts_ns LIMIT 3");
    assert!(!plan.contains("SortExec"), "the order of the file is known: {plan}");
}

#[test]
fn three_extracts() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one.etwx", vec![rows(&samples(10)), rows(&processes(&["a", "b", "c"]))]);
    let two = write(folder.path(), "two.etwx", vec![rows(&processes(&["d"]))]);
    let three =
        write(folder.path(), "three.etwx", vec![rows(&samples(5)), rows(&processes(&["e", "f", "g"]))]);
    let session = Session::open(&[one, two, three]).unwrap();
    let sql = "SELECT e.name, p.name, sum(s.weight_ns) FROM cpu_sample s JOIN process p USING (trace_id, process_key)
        JOIN extract e USING (trace_id) WHERE s.ts_ns < 4 GROUP BY 1, 2 ORDER BY 1, 2";
    assert_eq!(ask(&session, sql), "one|a|2\none|b|1\none|c|1\nthree|e|2\nthree|f|1\nthree|g|1");
    assert_eq!(
        ask(&session, "SELECT trace_id, count(*) FROM process GROUP BY 1 ORDER BY 1"),
        "0|3\n1|1\n2|3"
    );
    assert_eq!(
        ask(&session, "SELECT * EXCEPT (is_defunct) FROM process WHERE trace_id = 1"),
        "1|0|0|-|-|d|-|-|-|-|-|-|-"
    );
    assert_eq!(ask(&session, "SELECT max(trace_id), count(*) FROM cpu_sample"), "2|15");
}

#[test]
fn files_and_rows_in_memory_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "one.etwx", vec![rows(&processes(&["a"]))]);
    let memory = Source::batches("memory", vec![rows(&processes(&["b"]))]);
    let session = Session::new(vec![Source::open(&path).unwrap(), memory], &Options::default()).unwrap();
    assert_eq!(ask(&session, "SELECT trace_id, name FROM process ORDER BY 1"), "0|a\n1|b");
}

#[test]
fn sorting_more_than_memory_goes_to_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "one.etwx", vec![rows(&samples(600_000))]);
    let temp_dir = Some(folder.path().to_owned());
    let options = Options { memory_bytes: 24 << 20, partitions: 2, temp_dir, ..Options::default() };
    let session = Session::new(vec![Source::open(&path).unwrap()], &options).unwrap();
    let sql = "SELECT * FROM cpu_sample ORDER BY process_key, ts_ns DESC";
    let mut count = 0;
    for batch in session.sql(sql).unwrap() {
        count += batch.unwrap().num_rows();
    }
    assert_eq!(count, 600_000);
}

#[test]
fn damaged_pages_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "one.etwx", vec![rows(&samples(50_000))]);
    let file = path.join("cpu_sample.parquet");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 3;
    bytes[4..middle].fill(0xA5);
    std::fs::write(&file, bytes).unwrap();
    let session = Session::open(&[&path]).unwrap();
    let result = session
        .sql("SELECT sum(ts_ns), sum(weight_ns) FROM cpu_sample")
        .and_then(etwkit_query::Answer::collect);
    assert!(!result.unwrap_err().to_string().is_empty());
    assert_eq!(ask(&session, "SELECT 1"), "1");
}
