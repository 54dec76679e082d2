//! Sessions over files: the data that they read, and reports of damage.

use std::path::{Path, PathBuf};

use etwkit_extract::manifest::{Clock, Detail, Machine, TraceSource};
use etwkit_extract::{Manifest, Writer, WriterOptions, digest, run_id};
use etwkit_sql::{Options, Session, Source};
use etwkit_trace::table::{CpuSample, Process, Table};

use super::support::{ask, error, rows};

/// Writes an extract.
pub(crate) fn write(
    folder: &Path,
    name: &str,
    tables: Vec<(&'static Table, Vec<etwkit_sql::arrow::array::RecordBatch>)>,
) -> PathBuf {
    write_of(folder, name, &digest(&[name.as_bytes()]), tables)
}

/// Writes an extract of the trace with that hash.
fn write_of(
    folder: &Path,
    name: &str,
    hash: &str,
    tables: Vec<(&'static Table, Vec<etwkit_sql::arrow::array::RecordBatch>)>,
) -> PathBuf {
    let path = folder.join(name);
    let options = WriterOptions {
        run_id: run_id(hash),
        ..WriterOptions::default()
    };
    let mut writer = Writer::create(&path, options).unwrap();
    for (table, batches) in tables {
        batches
            .into_iter()
            .for_each(|batch| writer.write(table, batch).unwrap());
    }
    let start_filetime = 133_590_312_001_234_567;
    let clock = Clock {
        kind: "qpc".into(),
        frequency: 1,
        start_utc: String::new(),
        start_filetime,
    };
    let machine = Machine {
        computer: Some("PC".to_owned()),
        os_version: None,
        processors: 1,
    };
    let source = TraceSource {
        files: Vec::new(),
        hash: hash.to_owned(),
    };
    writer
        .finish(Manifest::new(Detail::Full, source, clock, machine))
        .unwrap();
    path
}

fn samples(count: i64) -> Vec<CpuSample> {
    let sample = |n| CpuSample {
        ts_ns: n,
        weight_ns: 1,
        process_key: Some((n % 3) as i32),
        ..CpuSample::default()
    };
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
        vec![
            rows(&samples(200_000)),
            rows(&processes(&["x.exe", "y.exe", "z.exe"])),
        ],
    );
    let session = Session::open(&[&path]).unwrap();
    assert_eq!(
        ask(
            &session,
            "SELECT count(*), sum(weight_ns), max(ts_ns) FROM cpu_sample"
        ),
        "200000|200000|199999"
    );
    assert_eq!(
        ask(&session, "SELECT name, path = '' FROM extract"),
        "a b'ü|false"
    );
    let sql = "SELECT name, count(*) FROM cpu_sample JOIN process USING (process_key) WHERE ts_ns BETWEEN 10 AND 20 GROUP BY 1 ORDER BY 1";
    assert_eq!(ask(&session, sql), "x.exe|3\ny.exe|4\nz.exe|4");
    assert_eq!(ask(&session, "SELECT count(*) FROM disk_io"), "0");
    let plan = ask(
        &session,
        "EXPLAIN SELECT ts_ns FROM cpu_sample ORDER BY ts_ns LIMIT 3",
    );
    assert!(
        !plan.contains("SortExec"),
        "the order of the file is known: {plan}"
    );
}

#[test]
fn a_false_order_of_rows_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = samples(5000);
    all.swap(100, 4000);
    let path = write(folder.path(), "a.etwx", vec![rows(&all)]);
    let manifest = path.join("manifest.json");
    let mut json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    let sql = "SELECT ts_ns FROM cpu_sample ORDER BY ts_ns LIMIT 1 OFFSET 99";
    assert_eq!(ask(&Session::open(&[&path]).unwrap(), sql), "99");
    json["tables"]["cpu_sample"]["sorted_by"] = serde_json::json!(["ts_ns"]);
    std::fs::write(&manifest, json.to_string()).unwrap();
    let error = error(&Session::open(&[&path]).unwrap(), sql).to_string();
    let expected = format!(
        "damaged extract: cpu_sample.parquet of {}: expected rows sorted by ts_ns, found others",
        path.display()
    );
    assert_eq!(error, expected);
    // Only a column of numbers can be an order of rows.
    for other in ["nothing", "is_idle"] {
        json["tables"]["cpu_sample"]["sorted_by"] = serde_json::json!([other]);
        std::fs::write(&manifest, json.to_string()).unwrap();
        assert_eq!(ask(&Session::open(&[&path]).unwrap(), sql), "99");
    }
}

#[test]
fn three_extracts() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(
        folder.path(),
        "one.etwx",
        vec![rows(&samples(10)), rows(&processes(&["a", "b", "c"]))],
    );
    let two = write(folder.path(), "two.etwx", vec![rows(&processes(&["d"]))]);
    let three = write(
        folder.path(),
        "three.etwx",
        vec![rows(&samples(5)), rows(&processes(&["e", "f", "g"]))],
    );
    let session = Session::open(&[one, two, three]).unwrap();
    let sql = "SELECT e.name, p.name, sum(s.weight_ns) FROM cpu_sample s JOIN process p USING (trace_id, process_key)
        JOIN extract e USING (trace_id) WHERE s.ts_ns < 4 GROUP BY 1, 2 ORDER BY 1, 2";
    assert_eq!(
        ask(&session, sql),
        "one|a|2\none|b|1\none|c|1\nthree|e|2\nthree|f|1\nthree|g|1"
    );
    assert_eq!(
        ask(
            &session,
            "SELECT trace_id, count(*) FROM process GROUP BY 1 ORDER BY 1"
        ),
        "0|3\n1|1\n2|3"
    );
    assert_eq!(
        ask(
            &session,
            "SELECT trace_id, process_key, pid, name, stop_ns FROM process WHERE trace_id = 1"
        ),
        "1|0|0|d|-"
    );
    assert_eq!(
        ask(&session, "SELECT max(trace_id), count(*) FROM cpu_sample"),
        "2|15"
    );
}

#[test]
fn files_and_rows_in_memory_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "one.etwx", vec![rows(&processes(&["a"]))]);
    let memory = Source::batches("memory", vec![rows(&processes(&["b"]))]);
    let session = Session::new(
        vec![Source::open(&path).unwrap(), memory],
        &Options::default(),
    )
    .unwrap();
    assert_eq!(
        ask(&session, "SELECT trace_id, name FROM process ORDER BY 1"),
        "0|a\n1|b"
    );
}

#[test]
fn sorting_more_than_memory_goes_to_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "one.etwx", vec![rows(&samples(600_000))]);
    let temp_dir = Some(folder.path().to_owned());
    let options = Options {
        memory_bytes: 24 << 20,
        partitions: 2,
        temp_dir,
        ..Options::default()
    };
    let session = Session::new(vec![Source::open(&path).unwrap()], &options).unwrap();
    let sql = "SELECT * FROM cpu_sample ORDER BY process_key, ts_ns DESC";
    let mut count = 0;
    for batch in session.sql(sql).unwrap() {
        count += batch.unwrap().num_rows();
        // They have no name: nothing would be left of them, even if this ended here.
        let names = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["one.etwx"]);
    }
    assert_eq!(count, 600_000);
    let nowhere = Options {
        temp_dir: Some(folder.path().join("gone")),
        ..options
    };
    let session = Session::new(vec![Source::open(&path).unwrap()], &nowhere).unwrap();
    let said = error(&session, sql).to_string();
    assert!(
        said.contains("cannot write a temporary file in ") && said.contains("gone"),
        "{said}"
    );
}

#[test]
fn damaged_pages_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "one.etwx", vec![rows(&samples(50_000))]);
    let other = write(folder.path(), "two.etwx", vec![rows(&samples(50_000))]);
    let file = path.join("cpu_sample.parquet");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 3;
    bytes[4..middle].fill(0xA5);
    std::fs::write(&file, bytes).unwrap();
    let sql = "SELECT sum(ts_ns), sum(weight_ns) FROM cpu_sample";
    let named = format!(
        "damaged extract: cpu_sample.parquet of {}: expected ",
        path.display()
    );
    // Checksums reveal damage when the bytes are read; small files are read when the
    // extract is opened.
    let opened = Session::open(&[&path]).map_err(|error| error.to_string());
    let said = opened.map_or_else(|error| error, |session| error(&session, sql).to_string());
    assert!(
        said.starts_with(&named) && said.contains("with the checksum"),
        "{said}"
    );
    // Without checksums, as in extracts of older versions: the decoder fails somewhere, and the
    // file is found afterwards, whichever of several it is.
    let manifest = path.join("manifest.json");
    let mut json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    json["tables"]["cpu_sample"]
        .as_object_mut()
        .unwrap()
        .remove("crc32")
        .unwrap();
    std::fs::write(&manifest, json.to_string()).unwrap();
    for paths in [vec![&path], vec![&other, &path]] {
        let session = Session::open(&paths).unwrap();
        let error = error(&session, sql);
        assert!(error.to_string().starts_with(&named), "{error}");
        let cause = std::error::Error::source(&error)
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(
            format!("{error} {cause}").contains("(column "),
            "{error} {cause}"
        );
        assert_eq!(error.hint(), Some("extract the trace again"));
        assert_eq!(ask(&session, "SELECT 1"), "1");
    }
}

#[test]
fn numbers_that_no_recording_has_are_named_by_dumps() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = samples(10);
    all.extend([7, 8].map(|ts_ns| CpuSample {
        ts_ns,
        weight_ns: i64::MAX,
        ..CpuSample::default()
    }));
    let path = write(folder.path(), "one.etwx", vec![rows(&all)]);
    let session = Session::open(&[&path]).unwrap();
    let sql = "SELECT CAST(power(CAST(weight_ns AS DOUBLE), 2) AS BIGINT) AS more FROM cpu_sample";
    let error = etwkit_question::ask::<Strange>(&session, sql).unwrap_err();
    let said = format!(
        "damaged extract: cpu_sample.parquet of {}: expected numbers of a recording in the column weight_ns, \
         found 9223372036854775807",
        path.display()
    );
    assert_eq!(
        (error.to_string(), error.hint()),
        (said, Some("extract the trace again"))
    );
}

etwkit_question::declare! {
    /// A row of a question that computes.
    row Strange {
        more: i64 = "A sum.",
    }
}

#[test]
fn one_extract_has_its_number_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(
        folder.path(),
        "a.etwx",
        vec![rows(&samples(6)), rows(&processes(&["x", "y", "z"]))],
    );
    let session = Session::open(&[&path]).unwrap();
    let sql = "SELECT e.name, trace_id, p.name, sum(s.weight_ns) FROM cpu_sample s JOIN process p USING (trace_id, process_key)
        JOIN extract e USING (trace_id) WHERE trace_id = 0 GROUP BY 1, 2, 3 ORDER BY 3";
    assert_eq!(ask(&session, sql), "a|0|x|2\na|0|y|2\na|0|z|2");
    assert_eq!(
        ask(
            &session,
            "SELECT count(*) FROM cpu_sample JOIN process USING (process_key)"
        ),
        "6"
    );
    assert_eq!(
        ask(
            &session,
            "SELECT trace_id FROM mark UNION SELECT trace_id FROM extract"
        ),
        "0"
    );
}

#[test]
fn joins_that_would_mix_extracts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let tables = || vec![rows(&samples(6)), rows(&processes(&["x", "y", "z"]))];
    let paths = ["one.etwx", "two.etwx"].map(|name| write(folder.path(), name, tables()));
    let session = Session::open(&paths).unwrap();
    for (sql, key) in [
        ("SELECT count(*) FROM cpu_sample JOIN process USING (process_key)", "the join on process_key"),
        ("SELECT count(*) FROM cpu_sample s LEFT JOIN process p ON s.process_key = p.process_key", "the join on process_key"),
        ("SELECT count(*) FROM cpu_sample s, process p WHERE s.process_key = p.process_key", "the join on process_key"),
        (
            "WITH s AS (SELECT process_key AS k, sum(weight_ns) AS ns FROM cpu_sample GROUP BY trace_id, process_key)
             SELECT p.name, ns FROM s JOIN (SELECT process_key + 0 AS a, process_key AS b, name FROM process) p ON k = p.b",
            "the join on process_key",
        ),
        (
            "SELECT count(*) FROM (SELECT * FROM cpu_sample WHERE trace_id = 0) s
             JOIN (SELECT * FROM process WHERE trace_id = 1) p USING (process_key)",
            "the join on process_key",
        ),
        // The condition of an outer join does not hold for the rows that it keeps.
        (
            "SELECT count(*) FROM cpu_sample s JOIN process p ON s.process_key = p.process_key
             LEFT JOIN extract e ON e.trace_id = s.trace_id AND s.trace_id = p.trace_id",
            "the join on process_key",
        ),
        ("SELECT count(*) FROM cpu_sample WHERE process_key IN (SELECT process_key FROM process)", "an inner question by process_key"),
        (
            "SELECT count(*) FROM cpu_sample s WHERE EXISTS (SELECT 1 FROM process p WHERE p.process_key = s.process_key)",
            "an inner question by process_key",
        ),
        ("SELECT process_key, sum(weight_ns) FROM cpu_sample GROUP BY process_key", "GROUP BY process_key"),
        ("SELECT sum(weight_ns) OVER (PARTITION BY thread_key) FROM cpu_sample", "PARTITION BY thread_key"),
        ("SELECT count(*) FROM disk_io CROSS JOIN trace", "a join without a common column"),
        ("SELECT count(*) FROM cpu_sample s JOIN mark m ON s.ts_ns < m.ts_ns", "a join without a common column"),
    ] {
        let error = error(&session, sql);
        let expected = format!("{key} would mix the extracts: these keys count anew in each, and trace_id distinguishes them");
        assert_eq!(error.to_string(), expected, "{sql}");
        assert!(error.hint().unwrap().contains("trace_id"), "{sql}: {:?}", error.hint());
    }
    for (sql, answer) in [
        ("SELECT count(*) FROM cpu_sample JOIN process USING (trace_id, process_key)", "12"),
        ("SELECT count(*) FROM cpu_sample JOIN process USING (trace_id, process_key) WHERE trace_id = 0", "6"),
        (
            "SELECT count(*) FROM cpu_sample s, process p, extract e
             WHERE s.process_key = p.process_key AND p.trace_id = s.trace_id AND e.trace_id = p.trace_id",
            "12",
        ),
        (
            "SELECT count(*) FROM cpu_sample s JOIN process p USING (process_key) WHERE s.trace_id = 1 AND p.trace_id = 1",
            "6",
        ),
        (
            "SELECT count(*) FROM (SELECT * FROM cpu_sample WHERE trace_id = 1) s
             JOIN (SELECT * FROM process WHERE trace_id = 1) p USING (process_key)",
            "6",
        ),
        ("SELECT count(*) FROM process a JOIN process b ON a.name = b.name AND a.trace_id < b.trace_id", "3"),
        ("SELECT count(*) FROM process a JOIN process b ON a.name = b.name", "12"),
        (
            "SELECT count(*) FROM cpu_sample s JOIN process p ON s.process_key = p.process_key
             JOIN extract e ON e.trace_id = s.trace_id AND s.trace_id = p.trace_id",
            "12",
        ),
        (
            "SELECT count(*) FROM cpu_sample s WHERE EXISTS
             (SELECT 1 FROM process p WHERE p.process_key = s.process_key AND p.trace_id = s.trace_id)",
            "12",
        ),
        ("SELECT count(*) FROM (SELECT process_key FROM cpu_sample GROUP BY trace_id, process_key)", "6"),
        ("SELECT count(*) FROM cpu_sample CROSS JOIN (SELECT sum(weight_ns) FROM cpu_sample)", "12"),
        ("SELECT count(*) FROM cpu_sample JOIN generate_series(0, 1) AS t(n) ON true", "24"),
        ("SELECT process_key, count(*) FROM process WHERE trace_id = 0 GROUP BY process_key ORDER BY 1 LIMIT 1", "0|1"),
        // Names of USING without a table, in conditions and over three tables.
        (
            "SELECT trace_id, process_key, count(*) FROM cpu_sample JOIN process USING (trace_id, process_key)
             LEFT JOIN extract e USING (trace_id) WHERE trace_id = 1 AND process_key < 2
             GROUP BY trace_id, process_key HAVING trace_id > 0 ORDER BY trace_id, process_key",
            "1|0|2\n1|1|2",
        ),
        (
            "SELECT count(*) FROM extract e LEFT JOIN mark m USING (trace_id) WHERE trace_id IN
             (SELECT trace_id FROM process JOIN extract USING (trace_id) WHERE trace_id = 0)",
            "1",
        ),
    ] {
        assert_eq!(ask(&session, sql), answer, "{sql}");
    }
}

#[test]
fn run_id_is_that_of_the_files_and_distinguishes_traces_as_trace_id_does() {
    let folder = tempfile::tempdir().unwrap();
    let tables = || vec![rows(&samples(6)), rows(&processes(&["x", "y", "z"]))];
    let write = |name, hash| write_of(folder.path(), name, hash, tables());
    let one = write("one.etwx", "0000000000000010");
    let two = write("two.etwx", "fffffffffffffffe");
    let again = write("again.etwx", "0000000000000010");
    let session = Session::open(&[&one, &two]).unwrap();
    for (sql, answer) in [
        ("SELECT trace_id, run_id, count(*) FROM cpu_sample GROUP BY 1, 2 ORDER BY 1", "0|16|6\n1|-2|6"),
        ("SELECT count(*) FROM cpu_sample JOIN process USING (run_id, process_key)", "12"),
        ("SELECT count(*) FROM cpu_sample JOIN process USING (run_id, process_key) WHERE run_id = -2", "6"),
        (
            "SELECT process_key, count(*) FROM process WHERE run_id = 16 GROUP BY process_key ORDER BY 1 LIMIT 1",
            "0|1",
        ),
        (
            "SELECT e.name, p.name, sum(weight_ns) FROM cpu_sample JOIN process p USING (run_id, process_key)
             JOIN extract e USING (run_id) WHERE run_id < 0 GROUP BY ALL ORDER BY 2 LIMIT 1",
            "two|x|2",
        ),
        (
            "SELECT trace_id, run_id, computer, start_utc, source_hash, detail FROM extract ORDER BY run_id LIMIT 1",
            "1|-2|PC|2024-05-01T10:00:00.123456Z|fffffffffffffffe|full",
        ),
        ("SELECT count(*) FROM extract WHERE start_utc < TIMESTAMP '2024-05-02T00:00:00Z'", "2"),
        ("SELECT count(DISTINCT run_id) FROM extract", "2"),
        ("SELECT count(*) FROM disk_io JOIN process USING (run_id, process_key)", "0"),
        ("SELECT count(*) FROM stack_text WHERE run_id = 16", "0"),
    ] {
        assert_eq!(ask(&session, sql), answer, "{sql}");
    }
    for sql in [
        "SELECT count(*) FROM cpu_sample s JOIN process p USING (process_key) WHERE s.run_id = 16 AND p.trace_id = 16",
        "SELECT count(*) FROM cpu_sample s JOIN process p ON s.process_key = p.process_key AND s.run_id = p.trace_id",
    ] {
        assert!(
            error(&session, sql)
                .to_string()
                .contains("would mix the extracts"),
            "{sql}"
        );
    }
    // Two extracts of one trace have the same number.
    let session = Session::open(&[&one, &again]).unwrap();
    for sql in [
        "SELECT count(*) FROM cpu_sample JOIN process USING (run_id, process_key)",
        "SELECT run_id, process_key, sum(weight_ns) FROM cpu_sample GROUP BY 1, 2",
        "SELECT process_key, count(*) FROM process WHERE run_id = 16 GROUP BY process_key",
    ] {
        assert!(
            error(&session, sql)
                .to_string()
                .contains("would mix the extracts"),
            "{sql}"
        );
    }
    let sql = "SELECT count(*) FROM cpu_sample JOIN process USING (trace_id, run_id, process_key)";
    assert_eq!(ask(&session, sql), "12");
}

#[test]
fn functions_of_single_rows_make_no_more_than_they_may() {
    let session = Session::from_batches(vec![rows(&samples(10_000))]).unwrap();
    for sql in [
        "SELECT array_length(array_repeat(ts_ns, 1000000000)) FROM cpu_sample",
        "SELECT length(repeat('x', 1000000000))",
        "SELECT length(lpad('x', 1000000000, 'y'))",
        "SELECT length(replace(repeat('x', 100000), 'x', repeat('y', 100000)))",
        "SELECT length(regexp_replace(repeat('x', 100000), 'x', repeat('y', 100000), 'g'))",
        "SELECT array_length(range(0, ts_ns * 1000000000)) FROM cpu_sample",
        "SELECT array_length(generate_series(0, 100000000000))",
        "SELECT array_length(array_resize([1], 1000000000, 0))",
    ] {
        let said = error(&session, sql).to_string();
        assert!(
            said.contains(" would make ") && said.ends_with(" MiB is the limit"),
            "{sql}: {said}"
        );
    }
    for (sql, answer) in [
        (
            "SELECT repeat('ab', 3), lpad('x', 3, 'y'), replace('abab', 'a', 'c')",
            "ababab|yyx|cbcb",
        ),
        (
            "SELECT array_repeat(1, 2), range(0, 3), generate_series(3), regexp_replace('aa', 'a', 'b', 'g')",
            "[1, 1]|[0, 1, 2]|[0, 1, 2, 3]|bb",
        ),
        (
            "SELECT sum(length(repeat('x', 100))) FROM cpu_sample",
            "1000000",
        ),
    ] {
        assert_eq!(ask(&session, sql), answer, "{sql}");
    }
}

#[test]
fn answers_that_are_kept_are_bounded_by_their_bytes() {
    let session = Session::from_batches(vec![rows(&samples(20_000))]).unwrap();
    // Two GB of text, of which a batch of 8192 rows has less than a function may make.
    let sql = "SELECT concat(a, a, a, a, a) AS text FROM (SELECT repeat('x', 20000) AS a FROM cpu_sample)";
    let error = etwkit_question::ask::<Text>(&session, sql).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the rows of the answer take more than 1024 MiB of memory"
    );
    assert!(error.hint().unwrap().starts_with("ask for fewer rows"));
    let sql = sql.replace("20000", "2");
    assert_eq!(
        etwkit_question::ask::<Text>(&session, &sql).unwrap().len(),
        20_000
    );
}

etwkit_question::declare! {
    /// A text.
    row Text {
        text: String = "The text.",
    }
}
