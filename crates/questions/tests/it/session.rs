//! Sessions: which tables there are, several extracts, errors.

use etwkit_sql::arrow::array::RecordBatch;
use etwkit_sql::library::Query;
use etwkit_sql::{Cancel, Error, Options, Parameter, Session, Source};
use etwkit_trace::table::{ABOUT, CpuSample, DERIVED, Process};
use etwkit_trace::topics::TABLES;

use super::support::{ask, error, rows, text};

fn process(process_key: i32, pid: i32, name: &str) -> Process {
    Process {
        process_key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    }
}

fn sample(process_key: i32, weight_ns: i64) -> CpuSample {
    CpuSample {
        process_key: Some(process_key),
        weight_ns,
        ..CpuSample::default()
    }
}

fn one() -> Session {
    let samples = rows(&[sample(0, 10), sample(1, 5), sample(0, 7)]);
    Session::from_batches(vec![
        rows(&[process(0, 4, "System"), process(1, 8, "cmd.exe")]),
        samples,
    ])
    .unwrap()
}

#[test]
fn questions_are_answered() {
    let answer = ask(
        &one(),
        "SELECT name, sum(weight_ns) FROM cpu_sample JOIN process USING (process_key) GROUP BY name ORDER BY 2 DESC",
    );
    assert_eq!(answer, "System|17\ncmd.exe|5");
    let sql = "SELECT trace_id, run_id, name, path, computer FROM extract";
    assert_eq!(ask(&one(), sql), "0|0|memory||-");
}

#[test]
fn every_declared_table_can_be_named() {
    let session = one();
    for table in TABLES.iter().chain(DERIVED).chain(ABOUT) {
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| format!("t.{}", column.name))
            .collect();
        let sql = format!(
            "SELECT {} FROM {} t LIMIT 0",
            columns.join(", "),
            table.name
        );
        let answer = session.sql(&sql).unwrap();
        assert_eq!(
            answer.schema().fields(),
            table.schema().fields(),
            "{}",
            table.name
        );
        assert_eq!(
            answer
                .collect()
                .unwrap()
                .iter()
                .map(RecordBatch::num_rows)
                .sum::<usize>(),
            0
        );
    }
}

#[test]
fn several_extracts_are_distinguished_by_trace_id() {
    let source = |name: &str, pid| Source::batches(name, vec![rows(&[process(0, pid, name)])]);
    let sources = vec![
        source("good", 1),
        source("bad", 2),
        Source::batches("none", vec![]),
    ];
    let session = Session::new(sources, &Options::default()).unwrap();
    let sql = "SELECT e.name, p.trace_id, p.pid, p.name FROM extract e LEFT JOIN process p USING (trace_id)
        ORDER BY e.trace_id";
    assert_eq!(ask(&session, sql), "good|0|1|good\nbad|1|2|bad\nnone|-|-|-");
    assert_eq!(
        ask(&session, "SELECT count(*) FROM process WHERE trace_id = 1"),
        "1"
    );
    assert_eq!(
        ask(&session, "SELECT count(*) FROM disk_io WHERE trace_id = 1"),
        "0"
    );
}

#[test]
fn only_questions_are_answered() {
    let session = one();
    for (sql, found) in [
        ("CREATE TABLE x AS SELECT 1", "CREATE TABLE"),
        (
            "CREATE EXTERNAL TABLE x STORED AS PARQUET LOCATION '/etc/passwd'",
            "CREATE EXTERNAL",
        ),
        ("COPY process TO '/tmp/x.parquet'", "COPY process"),
        (
            "EXPLAIN ANALYZE COPY process TO '/tmp/x.parquet'",
            "COPY process",
        ),
        ("INSERT INTO process SELECT * FROM process", "INSERT INTO"),
        ("DROP TABLE process", "DROP TABLE"),
        (
            "SET datafusion.execution.batch_size = 1",
            "SET datafusion.execution.batch_size",
        ),
    ] {
        let want = format!(
            "expected a question (SELECT, WITH, VALUES, EXPLAIN, SHOW, DESCRIBE), found {found}"
        );
        assert_eq!(error(&session, sql).to_string(), want, "{sql}");
    }
    for sql in ["", ";", "SELECT 1; SELECT 2"] {
        assert!(
            error(&session, sql)
                .to_string()
                .starts_with("expected one SQL statement"),
            "{sql}"
        );
    }
    assert!(ask(&session, "SHOW TABLES").contains("cpu_sample"));
    assert!(ask(&session, "DESCRIBE process").contains("parent_pid"));
    assert!(ask(&session, "EXPLAIN SELECT * FROM process").contains("plan"));
    assert_eq!(ask(&session, "VALUES (1), (2)"), "1\n2");
}

#[test]
fn files_cannot_be_named_as_tables() {
    let path = std::env::current_exe().unwrap();
    let sql = format!("SELECT * FROM '{}'", path.display());
    assert!(
        error(&one(), &sql)
            .to_string()
            .starts_with("there is no table"),
        "{sql}"
    );
}

#[test]
fn dropping_an_answer_ends_its_work() {
    let endless = "SELECT count(*) FROM generate_series(1, 1000000000000) a WHERE a.value % 7 = 8";
    let answer = one().sql(endless).unwrap();
    drop(answer);
    assert_eq!(ask(&one(), "SELECT 1"), "1");
}

#[test]
fn errors_say_where_and_what_was_meant() {
    let session = one();
    let reference = "the SQL dialect is DataFusion's; `etwkit docs sql` lists tables and functions, `etwkit sql --show-schema` the columns";
    for (sql, message, hint) in [
        (
            "SELECT 1 FROM proces",
            "there is no table proces (line 1, column 15)",
            "did you mean process?",
        ),
        (
            "SELECT 1 FROM sample",
            "there is no table sample (line 1, column 15)",
            "did you mean cpu_sample or pmc_sample or memory_sample?",
        ),
        (
            "SELECT nme FROM process",
            "there is no column nme (line 1, column 8)",
            "did you mean name?",
        ),
        (
            "SELECT\n  p.weight FROM cpu_sample p",
            "there is no column p.weight (line 2, column 3)",
            "did you mean weight_ns?",
        ),
        (
            "SELECT process_key FROM process, thread",
            "several tables have a column process_key (line 1, column 8)",
            "write the table in front: TABLE.process_key",
        ),
        (
            "SELECT unon_duration(1, 2)",
            "there is no function unon_duration (line 1, column 8)",
            "did you mean union_duration?",
        ),
        (
            "SELECT 1 FRM process p",
            "SQL is not understood: Expected: end of statement, found: process (line 1, column 14)",
            reference,
        ),
        (
            "SELECT (",
            "SQL is not understood: Expected: an expression, found: EOF",
            reference,
        ),
    ] {
        let error = error(&session, sql);
        assert_eq!(
            (error.to_string().as_str(), error.hint().unwrap_or_default()),
            (message, hint),
            "{sql}"
        );
    }
}

#[test]
fn hostile_questions_end_in_errors_or_answers() {
    let session = one();
    let nested = format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000));
    assert!(
        error(&session, &nested).to_string().contains("recursion"),
        "nesting"
    );
    let terms = |count: usize| {
        format!(
            "SELECT count(*) FROM process WHERE {}",
            vec!["pid > 0"; count].join(" AND ")
        )
    };
    assert_eq!(ask(&session, &terms(250)), "2");
    assert_eq!(
        error(&session, &terms(1000)).hint(),
        Some("compare with a list, as in x IN (1, 2, 3), instead of many terms")
    );
    let sum = |count: usize| format!("SELECT {} FROM process", vec!["pid"; count].join(" + "));
    assert_eq!(ask(&session, &sum(500)), "2000\n4000");
    let unions = |count: usize| vec!["SELECT 1"; count].join(" UNION ALL ");
    assert_eq!(ask(&session, &unions(100)).len(), 199);
    assert!(
        error(&session, &unions(200))
            .to_string()
            .contains("found 995")
    );
    let long = format!("SELECT '{}'", "x".repeat(2 << 20));
    assert!(
        error(&session, &long)
            .to_string()
            .starts_with("expected at most"),
        "length"
    );
    for sql in [
        "SELECT 1/0",
        "SELECT CAST('x' AS INT)",
        "SELECT repeat('x', 9223372036854775807)",
        "SELECT \0",
        "\u{1b}[2J",
    ] {
        assert!(!error(&session, sql).to_string().is_empty(), "{sql}");
    }
    let list = vec!["1"; 20_000].join(",");
    assert_eq!(
        ask(
            &session,
            &format!("SELECT count(*) FROM process WHERE pid IN ({list})")
        ),
        "0"
    );
}

#[test]
fn a_question_is_given_up_and_the_next_one_is_answered() {
    let cancel = Cancel::default();
    let samples: Vec<CpuSample> = (0..200).map(|weight| sample(0, weight)).collect();
    let source = Source::batches("a", vec![rows(&samples)]);
    let options = Options {
        cancel: cancel.clone(),
        ..Options::default()
    };
    let session = Session::new(vec![source], &options).unwrap();
    let sql = "SELECT a.weight_ns FROM cpu_sample a, cpu_sample b, cpu_sample c";
    let mut answer = session.sql(sql).unwrap();
    assert!(
        answer.next().unwrap().unwrap().num_rows() < 8_000_000,
        "one batch of several"
    );
    cancel.ask();
    assert!(matches!(answer.next(), Some(Err(Error::Cancelled))));
    assert!(!matches!(answer.next(), Some(Ok(_))));
    assert!(matches!(session.sql("SELECT 1"), Err(Error::Cancelled)));
    assert!(matches!(session.frames(), Err(Error::Cancelled)));
    // Asking the same extracts with another switch is not affected.
    let other = session.again(&Options::default()).unwrap();
    assert_eq!(ask(&other, "SELECT count(*) FROM cpu_sample"), "200");
}

#[test]
fn sessions_over_the_same_extracts_share_what_was_read() {
    let first = one();
    let second = first
        .again(&Options {
            partitions: 1,
            ..Options::default()
        })
        .unwrap();
    assert!(std::sync::Arc::ptr_eq(
        &first.frames().unwrap(),
        &second.frames().unwrap()
    ));
    assert_eq!(ask(&second, "SELECT count(*) FROM process"), "2");
}

/// If a condition names no column, an aggregate without groups has one row or none, depending on
/// the condition.
#[test]
fn conditions_without_columns_hold_for_aggregates_without_groups() {
    let session = one();
    let most = "SELECT max(pid) AS m FROM process";
    for (is_true, condition) in [
        (false, "(SELECT count(*) FROM dns_query) > 0"),
        (true, "(SELECT count(*) FROM dns_query) = 0"),
        (false, "EXISTS (SELECT 1 FROM dns_query)"),
        (true, "NOT EXISTS (SELECT 1 FROM dns_query)"),
        (false, "1 IN (SELECT pid FROM process)"),
        (false, "random() > 2"),
        (true, "random() < 2"),
        (false, "1 = 0"),
        (true, "1 = 1"),
    ] {
        for sql in [
            format!("{most} HAVING {condition}"),
            format!("SELECT m FROM ({most}) WHERE {condition}"),
            format!(
                "WITH a AS ({most}), b AS (SELECT m, m + 1 AS n FROM a ORDER BY m) SELECT m FROM b WHERE {condition}"
            ),
            format!("SELECT a.m FROM ({most}) a CROSS JOIN (SELECT 1 AS x) b WHERE {condition}"),
            format!("SELECT a.m FROM ({most}) a JOIN (SELECT 1 AS x) b ON {condition}"),
            format!(
                "SELECT m FROM ({most} UNION ALL SELECT min(pid) FROM process) WHERE {condition} AND m = 8"
            ),
            format!(
                "SELECT m FROM (SELECT max(pid) AS m, {condition} AS fits FROM process) WHERE fits"
            ),
        ] {
            assert_eq!(ask(&session, &sql), if is_true { "8" } else { "" }, "{sql}");
        }
    }
    let value = Parameter::new("least", "9");
    let query = Query::own("own", format!("SELECT m FROM ({most}) WHERE $least < 9"));
    assert_eq!(text(session.ask(&query, &[value]).unwrap()), "");
    // Inner questions that name columns of the outer one are answered as before.
    let inner =
        "SELECT pid, (SELECT sum(weight_ns) FROM cpu_sample s WHERE s.process_key = p.process_key) AS cpu_ns
        FROM process p WHERE pid > 0 ORDER BY pid";
    assert_eq!(ask(&session, inner), "4|17\n8|5");
}
