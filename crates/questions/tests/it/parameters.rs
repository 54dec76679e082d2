//! Parameters of own SQL, streams of Arrow, and the differences of the engine's SQL from other
//! engines.

use std::path::Path;

use etwkit_sql::arrow::array::RecordBatch;
use etwkit_sql::arrow::ipc::reader::StreamReader;
use etwkit_sql::library::Query;
use etwkit_sql::{Answer, Error, Options, Parameter, Session, Source};
use etwkit_trace::table::{ContextSwitch, Process};

use super::support::{ask, error, rows, text};

fn one() -> Session {
    let process = |process_key, pid, name: &str| Process {
        process_key,
        pid,
        name: Some(name.into()),
        ..Process::default()
    };
    let all = [
        process(0, 4, "System"),
        process(1, 42, "app.exe"),
        process(2, 77, "5"),
    ];
    Session::from_batches(vec![rows(&all)]).unwrap()
}

/// The answer to SQL with parameters as a command line has them.
fn with(sql: &str, parameters: &[&str]) -> Result<String, Error> {
    let parameters: Vec<Parameter> = parameters
        .iter()
        .map(|one| one.parse())
        .collect::<Result<_, _>>()?;
    one().ask(&Query::own("", sql), &parameters).map(text)
}

#[test]
fn parameters_have_the_type_that_the_statement_or_the_user_says() {
    for (sql, parameters, expected) in [
        // A value is compared as the type of its column, whatever it looks like.
        (
            "SELECT name FROM process WHERE pid = $pid",
            &["pid=42"][..],
            "app.exe",
        ),
        (
            "SELECT pid FROM process WHERE name = $name",
            &["name=5"],
            "77",
        ),
        (
            "SELECT pid FROM process WHERE name LIKE $name",
            &["name=app%"],
            "42",
        ),
        (
            "SELECT pid FROM process WHERE pid BETWEEN $a AND $b",
            &["a=5", "b=50"],
            "42",
        ),
        (
            "SELECT pid FROM process WHERE pid IN ($a, $b) ORDER BY pid",
            &["a=77", "b=4"],
            "4\n77",
        ),
        (
            "SELECT pid FROM process ORDER BY pid LIMIT $n",
            &["n=1"],
            "4",
        ),
        (
            "SELECT name FROM process WHERE wildcard_match(name, $n)",
            &["n=*.exe"],
            "app.exe",
        ),
        // Without a declared type, the text decides.
        (
            "SELECT $a + 1, $b || 'x', NOT $c",
            &["a=2", "b=y", "c=true"],
            "3|yx|false",
        ),
        ("SELECT ms($ns)", &["ns=1500000"], "1.5"),
        ("SELECT $a || 'x'", &["a:text=2"], "2x"),
        ("SELECT $a / 2", &["a:float=5"], "2.5"),
        // The last one counts.
        ("SELECT $a", &["a=1", "a=2"], "2"),
        // A value is a value: no SQL in it is run.
        (
            "SELECT count(*) FROM process WHERE name = $n",
            &["n=' OR true --"],
            "0",
        ),
        (
            "WITH p AS (SELECT pid FROM process WHERE pid > $p) SELECT count(*) FROM p",
            &["p=4"],
            "2",
        ),
        (
            "SELECT count(*) FROM process WHERE pid IN (SELECT pid FROM process WHERE pid < $p)",
            &["p=50"],
            "2",
        ),
        (
            "-- param top: int = 2 – rows\nSELECT pid FROM process ORDER BY pid LIMIT $top",
            &[],
            "4\n42",
        ),
        (
            "-- param top: int = 2 – rows\nSELECT pid FROM process ORDER BY pid LIMIT $top",
            &["top=1"],
            "4",
        ),
    ] {
        assert_eq!(
            with(sql, parameters).unwrap_or_else(|error| panic!("{sql}: {error}")),
            expected,
            "{sql}"
        );
    }
}

/// The question of a user that docs/sql-use.md shows.
#[test]
fn the_question_of_the_page_is_one() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql-use.md");
    let page = std::fs::read_to_string(page).unwrap();
    let sql = page
        .split("```sql\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let query = Query::own("waits/long", sql);
    assert_eq!(query.doc(), "Waits of a process that lasted long.");
    let wait = |process_key, wait_ns| ContextSwitch {
        process_key: Some(process_key),
        last_out_ns: Some(2_000_000_000),
        wait_ns: Some(wait_ns),
        ..ContextSwitch::default()
    };
    let source = |name| {
        let process = Process {
            process_key: 1,
            pid: 42,
            name: Some("app.exe".into()),
            ..Process::default()
        };
        let waits = rows(&[wait(1, 5_000_000), wait(1, 15_000_000)]);
        Source::batches(name, vec![rows(&[process]), waits])
    };
    let ask = |session: &Session, parameters: &[Parameter]| {
        text(session.ask(&query, parameters).unwrap())
    };
    let one = Session::new(vec![source("a")], &Options::default()).unwrap();
    assert_eq!(ask(&one, &[]), "app.exe|42|2.0|15.0|-");
    assert_eq!(
        ask(&one, &[Parameter::new("least_ms", "1")])
            .lines()
            .count(),
        2
    );
    assert_eq!(ask(&one, &[Parameter::new("process", "other")]), "");
    let several = Session::new(vec![source("a"), source("b")], &Options::default()).unwrap();
    let found = ask(&several, &[]);
    assert!(
        found
            .lines()
            .all(|line| line.ends_with("|app.exe|42|2.0|15.0|-")),
        "{found}"
    );
    assert_eq!(found.lines().count(), 2);
}

#[test]
fn parameters_that_do_not_fit_are_named() {
    for (sql, parameters, expected) in [
        ("SELECT $a", &[][..], "the parameter $a has no value"),
        ("SELECT $1", &[], "the parameter $1 has no value"),
        ("SELECT 1", &["a=1"], "expected no parameter, found \"a\""),
        (
            "SELECT $b, $a",
            &["a=1", "b=1", "c=1"],
            "expected $a, $b, found \"c\"",
        ),
        (
            "SELECT 1 FROM process WHERE pid = $a",
            &["a=x"],
            "expected a as an integer of 32 bits, found \"x\"",
        ),
        (
            "SELECT 1 FROM process WHERE pid = $a",
            &["a=99999999999"],
            "expected a as an integer of 32 bits, found \"99999999999\"",
        ),
        (
            "SELECT $a",
            &["a:int=x"],
            "expected a as an integer, found \"x\"",
        ),
        (
            "-- param a: int\nSELECT $a",
            &[],
            "the parameter $a has no value",
        ),
        (
            "-- param a: int\nSELECT $a",
            &["a=x"],
            "expected a as an integer, found \"x\"",
        ),
    ] {
        let error = with(sql, parameters).expect_err(sql);
        assert_eq!(error.to_string(), expected, "{sql}");
        assert!(
            error.hint().is_some_and(|hint| hint.contains("--param")),
            "{sql}"
        );
    }
    // Also where no value is given at all.
    assert_eq!(
        error(&one(), "SELECT $a").to_string(),
        "the parameter $a has no value"
    );
}

/// A disk without space.
struct Full;
impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn streams_of_arrow_hold_the_rows() {
    let sql = "SELECT name, pid, [pid, 1] AS list FROM process ORDER BY pid";
    let mut bytes = Vec::new();
    assert_eq!(one().sql(sql).unwrap().write_arrow(&mut bytes).unwrap(), 3);
    let read: Vec<RecordBatch> = StreamReader::try_new(bytes.as_slice(), None)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(read, one().sql(sql).and_then(Answer::collect).unwrap());
    // Without rows there still are columns.
    bytes.clear();
    let none = format!("SELECT * FROM ({sql}) WHERE pid < 0");
    assert_eq!(
        one().sql(&none).unwrap().write_arrow(&mut bytes).unwrap(),
        0
    );
    let reader = StreamReader::try_new(bytes.as_slice(), None).unwrap();
    assert_eq!(reader.schema().field(1).name(), "pid");
    let full = one().sql(sql).unwrap().write_arrow(Full).unwrap_err();
    assert!(matches!(full, Error::Write(error) if error.kind() == std::io::ErrorKind::StorageFull));
}

/// The statements of docs/sql-use.md about the engine, one line for each.
#[test]
fn the_engine_does_what_its_page_says() {
    let session = one();
    for (sql, expected) in [
        // Whole numbers wrap, and so do sums of them; decimals and fractions do not.
        ("SELECT 9223372036854775807 + 1", "-9223372036854775808"),
        (
            "SELECT sum(x) FROM (VALUES (9223372036854775807), (1)) t(x)",
            "-9223372036854775808",
        ),
        (
            "SELECT cast(2147483647 AS int) + cast(1 AS int)",
            "-2147483648",
        ),
        (
            "SELECT sum(x::double) > 9e18 FROM (VALUES (9223372036854775807), (1)) t(x)",
            "true",
        ),
        // Whole numbers are divided as such.
        ("SELECT 5 / 2, 5 / 2.0, -5 / 2", "2|2.5|-2"),
        // SIMILAR TO is a regular expression that may match anywhere, as ~ is.
        (
            "SELECT 'abc' SIMILAR TO 'b', 'abc' SIMILAR TO 'a%', 'abc' SIMILAR TO '^b$'",
            "true|false|false",
        ),
        (
            "SELECT 'abc' ~ 'b', 'abc' LIKE 'A%', 'abc' ILIKE 'A%', 'a' = 'A'",
            "true|false|true|false",
        ),
        // NULL is larger than everything.
        (
            "SELECT x FROM (VALUES (1), (NULL), (2)) t(x) ORDER BY x",
            "1\n2\n-",
        ),
        (
            "SELECT x FROM (VALUES (1), (NULL), (2)) t(x) ORDER BY x DESC",
            "-\n2\n1",
        ),
        (
            "SELECT x FROM (VALUES (1), (NULL), (2)) t(x) ORDER BY x DESC NULLS LAST",
            "2\n1\n-",
        ),
        (
            "SELECT count(*) FROM (VALUES (1), (NULL)) t(x) WHERE x NOT IN (3, NULL)",
            "0",
        ),
        // approx_percentile_cont sums values up in clusters: crude where there are few.
        (
            "SELECT approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM (VALUES (1), (2), (3), (100)) t(x)",
            "2.0",
        ),
        (
            "SELECT median(x) FROM (VALUES (1.0), (2.0), (3.0), (100.0)) t(x)",
            "2.5",
        ),
        (
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x::double) FROM (VALUES (1), (2), (3), (100)) t(x)",
            "2.5",
        ),
        (
            "SELECT abs(approx_percentile_cont(0.9) WITHIN GROUP (ORDER BY value) - 9000) < 20 FROM generate_series(1, 10000)",
            "true",
        ),
        // Hints in place of missing features.
        (
            "SELECT sum(pid) FILTER (WHERE name = 'System') AS s, sum(pid) FILTER (WHERE name = '5') AS f FROM process",
            "4|77",
        ),
        (
            "SELECT count(*) BETWEEN 700 AND 1300 FROM generate_series(1, 10000) WHERE random() < 0.1",
            "true",
        ),
        (
            "SELECT name, count(*) FROM process WHERE pid = 4 GROUP BY ALL",
            "System|1",
        ),
        ("SELECT unnest([1, 2])", "1\n2"),
    ] {
        assert_eq!(ask(&session, sql), expected, "{sql}");
    }
}

#[test]
fn messages_of_the_engine_are_put_into_words() {
    let session = one();
    for (sql, message, hint) in [
        (
            "SELECT ms('abc')",
            "ms(ns) expects a number, found text",
            "`etwkit docs sql` shows how ms is called",
        ),
        (
            "SELECT hex(1, 2)",
            "hex(number) expects an integer, found an integer, an integer",
            "cast(VALUE AS TYPE) converts",
        ),
        (
            "SELECT sum(name) FROM process",
            "sum cannot be called as sum(Utf8)",
            "there are: sum(Decimal), ",
        ),
        (
            "SELECT * FROM process PIVOT (count(pid) FOR name IN ('a'))",
            "PIVOT is not supported",
            "FILTER (WHERE name = 'a') AS a",
        ),
        (
            "SELECT * FROM process UNPIVOT (x FOR y IN (pid))",
            "UNPIVOT is not supported",
            "UNION ALL",
        ),
        (
            "SELECT TOP 3 pid FROM process",
            "TOP is not supported",
            "LIMIT",
        ),
        (
            "SELECT pid::uint FROM process",
            "the type uint is not supported",
            "bigint",
        ),
        (
            "SELECT * FROM process LATERAL VIEW explode(x) t",
            "LATERAL VIEW is not supported",
            "unnest",
        ),
        (
            "SELECT count(*) FROM process TABLESAMPLE (10)",
            "TABLESAMPLE is not supported",
            "random()",
        ),
        (
            "SELECT 1 FROM (SELECT * FROM process) AS p TABLESAMPLE BERNOULLI (10)",
            "TABLESAMPLE is not",
            "random()",
        ),
        (
            "SELECT 1 FROM process WHERE pid IS DISTINCT FROM 4 AND name = 'x'",
            "AND or OR behind IS DISTINCT FROM needs brackets",
            "(a IS DISTINCT FROM b) AND c",
        ),
        (
            "SELECT name FROM process GROUP BY pid",
            "Column in SELECT must be in GROUP BY",
            "GROUP BY ALL",
        ),
        (
            "SELECT 'a' + 1",
            "Cannot coerce arithmetic",
            "|| joins texts",
        ),
        (
            "SELECT pid FROM process WHERE pid LIKE 4",
            "There isn't a common type",
            "cast(VALUE AS TYPE)",
        ),
        (
            "SELECT cast('abc' AS bigint)",
            "Cannot cast string 'abc' to value of Int64 type",
            "try_cast",
        ),
        (
            "SELECT * FROM process WHERE name = 6",
            "Cannot cast string",
            "try_cast",
        ),
        (
            "SELECT (SELECT pid FROM process)",
            "Scalar subquery returned more than one row",
            "LIMIT 1",
        ),
        (
            "SELECT unnest(name) FROM process",
            "unnest() can only be applied",
            "make_array",
        ),
    ] {
        let error = error(&session, sql);
        let (text, found) = (error.to_string(), error.hint().unwrap_or_default());
        assert!(
            text.starts_with(message) && text.len() < 300,
            "{sql}: {text}"
        );
        assert!(found.contains(hint), "{sql}: {found}");
    }
}
