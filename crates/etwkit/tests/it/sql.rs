//! `etwkit sql` over an extract that is written here.

use std::path::{Path, PathBuf};

use etwkit_extract::manifest::{Clock, Detail, Machine, TraceSource};
use etwkit_extract::{Manifest, Writer, WriterOptions};
use etwkit_sql::arrow::ipc::reader::StreamReader;
use etwkit_trace::table::{Columns, Mark, Process, Row};
use serde_json::{Value, json};

use crate::support::{Answer, Exit, run, trace};
use crate::transcripts::compare;

fn batch<R: Row>(writer: &mut Writer, rows: &[R]) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    writer.write(R::TABLE, columns.take().unwrap()).unwrap();
}

/// Writes an extract with two processes and marks with hostile texts.
fn extract(folder: &Path) -> PathBuf {
    let path = folder.join("run.etwx");
    let mut writer = Writer::create(&path, WriterOptions::default()).unwrap();
    let process = |process_key, pid, name: &str| Process {
        process_key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    };
    batch(
        &mut writer,
        &[
            process(0, 4, "System"),
            Process {
                process_key: 1,
                pid: 4711,
                ..Process::default()
            },
        ],
    );
    let mark = |ts_ns, text: &str| Mark {
        ts_ns,
        text: text.into(),
        ..Mark::default()
    };
    batch(
        &mut writer,
        &[
            mark(5, "a,\"b\"\r\nc"),
            mark(1000, "\u{1b}[2J\u{202e}"),
            mark(2000, "=cmd()"),
        ],
    );
    let clock = Clock {
        kind: "qpc".into(),
        frequency: 1,
        start_utc: String::new(),
        start_filetime: 0,
    };
    let machine = Machine {
        computer: None,
        os_version: None,
        processors: 1,
    };
    // It has derived tables, none of them with rows: nothing is computed behind its back.
    writer.set_derived(std::collections::BTreeMap::new());
    writer
        .finish(Manifest::new(
            Detail::Full,
            TraceSource::default(),
            clock,
            machine,
        ))
        .unwrap();
    path
}

/// Runs the command on the extract, which stands in front of the other arguments.
fn sql(args: &[&str]) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let path = extract(folder.path());
    run(&["sql", path.to_str().unwrap()]
        .iter()
        .chain(args)
        .copied()
        .collect::<Vec<_>>())
}

/// The command and what it printed.
fn transcript(args: &[&str]) -> String {
    let Answer { out, err, exit } = sql(args);
    // CSV in a pipe ends its lines with CR LF, which a transcript cannot show.
    let out = out.replace('\r', "\\r");
    format!(
        "$ etwkit sql run.etwx {}\n{out}{err}[exit {}]\n",
        args.join(" "),
        exit.code()
    )
}

#[test]
fn forms_of_rows() {
    let all = "SELECT ts_ns, ms(ts_ns) AS ms, text FROM mark ORDER BY ts_ns";
    let transcripts = [
        transcript(&["SELECT process_key, pid, name, pid > 100 AS high FROM process"]),
        transcript(&[all]),
        transcript(&[
            "--format",
            "csv",
            "SELECT ts_ns, ms(ts_ns) AS ms, text FROM mark WHERE ts_ns > 1000",
        ]),
        transcript(&["--format", "json", all]),
        transcript(&[
            "--format",
            "json",
            "SELECT 1 AS a, 2.5 AS \"\u{1b}\", NULL AS c, [1, 2] AS d, 'NaN'::double AS e",
        ]),
        transcript(&["SELECT * FROM process WHERE pid = 5"]),
        transcript(&["@trace/health"]),
        transcript(&["--param", "process=sys*", "@cpu/processes"]),
    ];
    compare(&transcripts.join("\n"), "sql-rows");
}

#[test]
fn errors_say_what_to_do() {
    let transcripts = [
        transcript(&["SELECT nme FROM proces"]),
        transcript(&["SELECT nme FROM process"]),
        transcript(&["SELECT 1 FROM \"\u{1b}[2J\""]),
        transcript(&["DROP TABLE process"]),
        transcript(&["@cpu/nothing"]),
        transcript(&["--param", "tpo=1", "@cpu/processes"]),
        transcript(&["--param", "top=1", "SELECT 1"]),
        transcript(&["SELECT name FROM process WHERE pid = $pid"]),
        transcript(&[
            "--param",
            "pid=x",
            "SELECT name FROM process WHERE pid = $pid",
        ]),
        transcript(&[
            "--param",
            "pid",
            "SELECT name FROM process WHERE pid = $pid",
        ]),
        transcript(&["SELECT ms('abc')"]),
        transcript(&["SELECT * FROM process PIVOT (count(pid) FOR name IN ('a'))"]),
        transcript(&["--file", "nowhere.sql"]),
        transcript(&["--format", "parquet", "SELECT 1"]),
    ];
    compare(&transcripts.join("\n"), "sql-errors");
    let alone = run(&["sql", "SELECT 1"]);
    assert_eq!((alone.exit, alone.out.as_str()), (Exit::Error, ""));
    assert!(
        alone
            .err
            .starts_with("error: expected an extract before the SQL"),
        "{}",
        alone.err
    );
}

#[test]
fn a_statement_can_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = extract(folder.path());
    let path = path.to_str().unwrap();
    let last = run(&["sql", path, "SELECT pid FROM process"]);
    assert_eq!(last.exit, Exit::Answered, "{}", last.err);
    for words in [
        &["SELECT pid FROM process", path][..],
        &["\nselect pid\nFROM process", path],
    ] {
        let first = run(&[&["sql"][..], words].concat());
        assert_eq!(
            (first.exit, &first.out),
            (Exit::Answered, &last.out),
            "{}",
            first.err
        );
    }
}

#[test]
fn sql_that_is_missing_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slowest.sql");
    std::fs::write(&file, "SELECT 1").unwrap();
    let file = file.to_str().unwrap();
    for (args, error, hint) in [
        (
            vec![file],
            "expected SQL after the extract",
            "SELECT name FROM process",
        ),
        (
            vec![file, ""],
            "expected one SQL statement, found 0",
            "write a statement",
        ),
        (
            vec![file, "SELECT 1; SELECT 2"],
            "expected one SQL statement, found 2",
            "one question",
        ),
        (vec![file, &format!("@{file}")], "but a file ", "`--file "),
    ] {
        let answer = match args.as_slice() {
            [_, words @ ..] if !words.is_empty() => sql(words),
            alone => run(&[&["sql"][..], alone].concat()),
        };
        assert_eq!(answer.exit, Exit::Error, "{args:?}");
        let (message, advice) = answer.err.split_once("hint: ").unwrap();
        assert!(message.contains(error), "{}", answer.err);
        assert!(advice.contains(hint), "{}", answer.err);
    }
}

#[test]
fn a_trace_is_extracted_into_the_cache_first() {
    for _ in 0..2 {
        let answer = run(&[
            "sql",
            "--format",
            "csv",
            &trace("dns-5.etl"),
            "SELECT events > 0 FROM trace",
        ]);
        assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
        assert!(answer.out.trim_end().ends_with("true"), "{}", answer.out);
        // Only the first question has to extract it; the cache can have it from a run before, when derived
        // tables were others.
        let known = ["note: extracted ", "note: computed the derived tables of "];
        let is_known = known.iter().any(|note| answer.err.starts_with(note));
        assert!(answer.err.is_empty() || is_known, "{}", answer.err);
    }
    let missing = run(&["sql", "nowhere.etwx", "SELECT 1"]);
    assert_eq!(missing.exit, Exit::Error);
    assert!(missing.err.contains("nowhere.etwx"), "{}", missing.err);
}

#[test]
fn schema() {
    let table = run(&["sql", "--show-schema", "stack"]);
    compare(
        &format!("$ etwkit sql --show-schema stack\n{}", table.out),
        "sql-schema-stack",
    );
    let tables = run(&["sql", "--show-schema"]);
    assert_eq!(tables.exit, Exit::Answered);
    assert!(
        tables
            .out
            .lines()
            .any(|line| line.starts_with("  stack_frame")),
        "{}",
        tables.out
    );
    let none = run(&["sql", "--show-schema", "x"]);
    assert_eq!(
        (
            none.exit,
            none.err
                .starts_with("error: there is no table x; there are: trace, ")
        ),
        (Exit::Error, true)
    );
}

#[test]
fn files_are_written_whole_and_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("rows.csv");
    let out = out.to_str().unwrap();
    let question = "SELECT ts_ns, text FROM mark ORDER BY ts_ns";
    let answer = sql(&["--format", "csv", "--out", out, question]);
    assert_eq!(
        (answer.exit, answer.out),
        (Exit::Answered, format!("Wrote 3 rows to {out}\n"))
    );
    let csv = "ts_ns,text\r\n5,\"a,\"\"b\"\"\r\nc\"\r\n1000,\u{1b}[2J\u{202e}\r\n2000,'=cmd()\r\n";
    assert_eq!(std::fs::read_to_string(out).unwrap(), csv);
    let again = sql(&["--out", out, question]);
    assert_eq!(
        (again.exit, again.err),
        (
            Exit::Error,
            format!("error: {out} exists\nhint: --force overwrites it\n")
        )
    );
    assert_eq!(
        sql(&["--out", out, "--force", "SELECT 1 WHERE false"]).exit,
        Exit::Nothing
    );
    assert_eq!(
        sql(&["--out", out, "--force", "SELECT 1/0"]).exit,
        Exit::Error
    );
    let parquet = folder.path().join("rows.parquet");
    let answer = sql(&[
        "--format",
        "parquet",
        "--out",
        parquet.to_str().unwrap(),
        question,
    ]);
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    assert_eq!(&std::fs::read(&parquet).unwrap()[..4], b"PAR1");
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn json_is_one_object_for_each_row() {
    let answer = sql(&[
        "--format",
        "json",
        "SELECT a.pid, b.pid FROM process a JOIN process b ON a.pid = b.pid WHERE a.pid = 4",
    ]);
    let lines: Vec<Value> = answer
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            json!({"command": "sql", "format_version": 1}),
            json!({"pid": 4, "pid_2": 4})
        ],
        "{}",
        answer.err
    );
}

#[test]
fn lists_and_structures_of_json_are_such() {
    let answer = sql(&[
        "--format",
        "json",
        "SELECT [1, NULL] AS a, [['x'], []] AS b, named_struct('i', 1, 'l', [true]) AS s, map(['k'], [2.5]) AS m, \
         array_agg(pid ORDER BY pid) AS pids, NULL AS n FROM process",
    ]);
    let row: Value = serde_json::from_str(answer.out.lines().nth(1).unwrap_or_default()).unwrap();
    let expected = json!({
        "a": [1, null], "b": [["x"], []], "s": {"i": 1, "l": [true]}, "m": {"k": 2.5}, "pids": [4, 4711], "n": null
    });
    assert_eq!(row, expected, "{}", answer.err);
}

#[test]
fn sql_of_files_and_folders_has_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let file = write(
        "names.sql",
        "-- Names.\n-- param least: int = 5 – least id\nSELECT pid FROM process WHERE pid >= $least ORDER BY pid",
    );
    write(
        "my/marks.sql",
        "SELECT count(*) AS marks FROM mark WHERE ts_ns > $after",
    );
    write("cpu/methods.sql", "SELECT 'mine' AS mine");
    let library = folder.path().display().to_string();
    for (args, expected) in [
        (&["--file", &file][..], "pid\r\n4711\r\n"),
        (
            &["--file", &file, "--param", "least=0"],
            "pid\r\n4\r\n4711\r\n",
        ),
        (&["--library", &library, "@names"], "pid\r\n4711\r\n"),
        (
            &["--library", &library, "--param", "after=10", "@my/marks"],
            "marks\r\n2\r\n",
        ),
        // A question of the user comes before one of the program with the same name; all others stay.
        (&["--library", &library, "@cpu/methods"], "mine\r\nmine\r\n"),
        (
            &["--library", &library, "@trace/health"],
            "severity,kind,count,position,message\r\n",
        ),
        (
            &[
                "--param",
                "pid=4",
                "SELECT name FROM process WHERE pid = $pid",
            ],
            "name\r\nSystem\r\n",
        ),
        (
            &[
                "--memory",
                "64",
                "--threads",
                "1",
                "SELECT count(*) AS n FROM process",
            ],
            "n\r\n2\r\n",
        ),
    ] {
        let answer = sql(&[&["--format", "csv"], args].concat());
        assert_eq!(answer.out, expected, "{args:?}: {}", answer.err);
    }
    let commented = sql(&[
        "--format",
        "csv",
        "-- how many\nSELECT count(*) AS n FROM process",
    ]);
    assert_eq!(commented.out, "n\r\n2\r\n", "{}", commented.err);
    // Messages name lines of the file.
    let wrong = write("wrong.sql", "-- What is wrong\n\nSELECT nme\nFROM process");
    let answer = sql(&["--file", &wrong]);
    assert!(
        answer
            .err
            .starts_with("error: there is no column nme (line 3, column 8)"),
        "{}",
        answer.err
    );
    let alone = run(&["sql", "--file", &file]);
    assert!(
        alone
            .err
            .starts_with("error: expected an extract before the SQL"),
        "{}",
        alone.err
    );
    for args in [["--memory", "1"], ["--threads", "0"], ["--threads", "257"]] {
        assert_eq!(
            sql(&[&args[..], &["SELECT 1"]].concat()).exit,
            Exit::Error,
            "{args:?}"
        );
    }
}

#[test]
fn streams_of_arrow_go_to_files_and_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (extract(folder.path()), folder.path().join("rows.arrows"));
    let (path, out) = (path.to_str().unwrap(), out.to_str().unwrap());
    let question = "SELECT ts_ns, text FROM mark ORDER BY ts_ns";
    let answer = run(&["sql", "--out", out, path, question]);
    assert_eq!(
        answer.out,
        format!("Wrote 3 rows to {out}\n"),
        "{}",
        answer.err
    );
    let (mut piped, mut err) = (Vec::new(), Vec::new());
    let exit = etwkit::run(
        ["etwkit", "sql", "--format", "arrow", path, question],
        &mut piped,
        &mut err,
    );
    assert_eq!((exit, err.as_slice()), (Exit::Answered, &b""[..]));
    assert_eq!(std::fs::read(out).unwrap(), piped);
    let batches = StreamReader::try_new(piped.as_slice(), None).unwrap();
    let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 3);
    // The output is no text, and no Arrow file either: it is a stream.
    let args = ["etwkit", "sql", "--format", "arrow", path, question];
    let terminal = etwkit::Terminal {
        width: Some(80),
        ..etwkit::Terminal::default()
    };
    let (mut shown, mut err) = (Vec::new(), Vec::new());
    assert_eq!(
        etwkit::run_on_screen(args, &mut shown, &mut err, terminal),
        Exit::Error
    );
    assert!(shown.is_empty() && String::from_utf8(err).unwrap().contains("--out"));
    let file = folder.path().join("rows.arrow");
    let answer = run(&["sql", "--out", file.to_str().unwrap(), path, question]);
    assert!(
        answer.exit == Exit::Error && answer.err.contains("NAME.arrows"),
        "{}",
        answer.err
    );
}

#[test]
fn schemas_are_objects_for_machines() {
    let answer = run(&["sql", "--show-schema", "--format", "json"]);
    let tables: Vec<Value> = answer
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(tables[0], json!({"command": "sql", "format_version": 1}));
    let named = run(&["sql", "--show-schema"]).out.lines().count() - 1;
    assert_eq!(tables.len() - 1, named);
    let of = |name: &str| tables.iter().find(|table| table["table"] == name).unwrap();
    let columns = of("cpu_sample")["columns"].as_array().unwrap();
    let column = columns
        .iter()
        .find(|column| column["name"] == "weight_ns")
        .unwrap();
    assert_eq!(
        (&column["type"], &column["unit"], &column["nullable"]),
        (&json!("Int64"), &json!("ns"), &json!(false))
    );
    assert!(!column["doc"].as_str().unwrap().is_empty() && of("cpu_sample")["order"][0] == "ts_ns");
    let one = run(&["sql", "--show-schema", "process", "--format", "json"]).out;
    assert_eq!(
        serde_json::from_str::<Value>(one.lines().nth(1).unwrap()).unwrap(),
        *of("process")
    );
    let csv = run(&["sql", "--show-schema", "--format", "csv"]);
    assert!(
        csv.err
            .starts_with("error: --show-schema has the forms table and json"),
        "{}",
        csv.err
    );
}

#[test]
fn tables_are_cut_at_the_edge_of_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = extract(folder.path());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = [
        "etwkit",
        "sql",
        path.to_str().unwrap(),
        "SELECT repeat('x', 100) AS a, 'short' AS b",
    ];
    let terminal = etwkit::Terminal {
        width: Some(20),
        ..etwkit::Terminal::default()
    };
    assert_eq!(
        etwkit::run_on_screen(args, &mut out, &mut err, terminal),
        Exit::Answered
    );
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "  a                …\n  xxxxxxxxxxxxxxxxx…\n"
    );
}

#[test]
fn rows_are_printed_while_they_come() {
    struct Closing(usize);
    impl std::io::Write for Closing {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.saturating_sub(bytes.len());
            if self.0 == 0 {
                Err(std::io::ErrorKind::BrokenPipe.into())
            } else {
                Ok(bytes.len())
            }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = extract(folder.path());
    let mut err = Vec::new();
    // The statement would not end if the reader did not go away.
    let endless = "SELECT value FROM generate_series(1, 1000000000000)";
    let exit = etwkit::run(
        ["etwkit", "sql", path.to_str().unwrap(), endless],
        &mut Closing(100_000),
        &mut err,
    );
    assert_eq!((exit, err.as_slice()), (Exit::Answered, &b""[..]));
}
