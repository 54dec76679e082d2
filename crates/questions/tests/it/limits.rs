//! What questions may take at once, and how soon they end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use etwkit_sql::arrow::array::RecordBatch;
use etwkit_sql::{Answer, Cancel, Error, Options, Session, Source};
use etwkit_trace::table::{CpuSample, Table};

use super::support::{ask, error, rows};

/// Memory of a question of the page.
const MEMORY: usize = 512 << 20;

/// Time within which a question that was given up ends, a few times longer in a build that is not
/// optimised and while other tests run.
const ENDS: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 2 });

fn rows_of(count: i64) -> (&'static Table, Vec<RecordBatch>) {
    let sample = |n| CpuSample {
        ts_ns: n,
        ..CpuSample::default()
    };
    rows(&(0..count).map(sample).collect::<Vec<_>>())
}

fn session(count: i64) -> Session {
    let options = Options {
        memory_bytes: MEMORY,
        partitions: 2,
        ..Options::default()
    };
    Session::new(
        vec![Source::batches("memory", vec![rows_of(count)])],
        &options,
    )
    .unwrap()
}

#[test]
fn wide_rows_come_in_narrow_batches() {
    let session = session(2_000);
    let text = "repeat('x', 100000 + ts_ns % 2)";
    for (sql, answer) in [
        // A text of the statement stands in every row.
        ("SELECT min(length(repeat('x', 100000) || ts_ns)) FROM cpu_sample".to_owned(), "100001"),
        // A function makes one for each row.
        (format!("SELECT sum(length({text})) FROM cpu_sample"), "200001000"),
        (format!("SELECT count(*) FROM cpu_sample WHERE {text} ~ 'y'"), "0"),
        (format!("SELECT max(length(concat({text}, {text}))) FROM cpu_sample"), "200002"),
        // A join repeats one, as does a list.
        (
            "SELECT max(length(a.t || b.ts_ns)) FROM cpu_sample b CROSS JOIN
             (SELECT repeat('x', 100000 + ts_ns) AS t FROM cpu_sample WHERE ts_ns = 1) a".to_owned(),
            "100005",
        ),
        (
            "SELECT count(t), max(length(t)) FROM (SELECT t, unnest(range(0, 2000)) FROM
             (SELECT repeat('x', 100000 + ts_ns) AS t FROM cpu_sample WHERE ts_ns = 1))".to_owned(),
            "2000|100001",
        ),
        // A subquery has one value for all rows.
        (
            "SELECT max(length(t || ts_ns)) FROM (SELECT ts_ns,
             (SELECT repeat('x', 100000 + ts_ns) FROM cpu_sample WHERE ts_ns = 1) AS t FROM cpu_sample)".to_owned(),
            "100005",
        ),
    ] {
        assert_eq!(ask(&session, &sql), answer, "{sql}");
    }
    // Each batch that is handed out is narrow, too.
    for sql in [
        "SELECT repeat('x', 100000) AS t FROM cpu_sample".to_owned(),
        format!("SELECT {text} AS t FROM cpu_sample"),
    ] {
        let answer = session.sql(&sql).unwrap();
        for batch in answer.map(Result::unwrap) {
            assert!(batch.get_array_memory_size() <= MEMORY / 8, "{sql}");
        }
    }
}

#[test]
fn texts_that_are_too_long_are_a_limit_with_a_hint() {
    let session = session(10);
    for (sql, said) in [
        (
            "SELECT substr_index(repeat('a,', 50000000), ',', 49999999)",
            "repeat would make a text of 96 MiB at once, and 4 MiB is the limit",
        ),
        (
            "SELECT overlay(repeat('a', 1000000) || ts_ns PLACING repeat('b', 100000000) FROM 3) FROM cpu_sample",
            "repeat would make a text of 96 MiB at once, and 4 MiB is the limit",
        ),
        (
            "SELECT length(repeat('x', 3000000 + ts_ns) || repeat('y', 3000000 + ts_ns)) FROM cpu_sample",
            "|| would make a text of 6 MiB at once, and 4 MiB is the limit",
        ),
        (
            "SELECT unnest(array_repeat(repeat('x', 100000), 2000)) FROM cpu_sample",
            "array_repeat would make 191 MiB at once, and 32 MiB is the limit",
        ),
        (
            "SELECT array_to_string(range(0, 10000), repeat('x', 10000 + ts_ns)) FROM cpu_sample",
            "array_to_string would make a text of 764 MiB at once, and 4 MiB is the limit",
        ),
        (
            "SELECT generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2025-01-01', INTERVAL '1 millisecond')",
            "generate_series would make 482520 MiB at once, and 32 MiB is the limit",
        ),
        (
            "SELECT upper(t) FROM (SELECT string_agg(repeat('x', 1000000 + ts_ns), '') AS t FROM cpu_sample)",
            "upper would make a text of 10 MiB at once, and 4 MiB is the limit",
        ),
    ] {
        let error = error(&session, sql);
        assert!(matches!(error, Error::Memory { .. }), "{sql}: {error:?}");
        assert_eq!(
            error.to_string(),
            format!("the answer needs more memory than it may have: {said}"),
            "{sql}"
        );
        assert!(
            error.hint().unwrap().contains("shorter texts and lists"),
            "{sql}"
        );
    }
}

#[test]
fn aggregates_that_keep_their_rows_are_bounded() {
    let session = session(8_000);
    for (call, name) in [
        ("array_agg(repeat('x', 10000 + ts_ns))", "array_agg"),
        ("array_agg(range(0, 2000 + ts_ns))", "array_agg"),
        (
            "array_agg(string_to_array(repeat('ab,', 3000 + ts_ns), ','))",
            "array_agg",
        ),
        ("string_agg(repeat('x', 10000 + ts_ns), ', ')", "string_agg"),
    ] {
        let error = error(&session, &format!("SELECT {call} FROM cpu_sample"));
        assert!(matches!(error, Error::Memory { .. }), "{call}: {error:?}");
        let said = error.to_string();
        assert!(
            said.contains(&format!("{name} would keep "))
                && said.ends_with(" MiB, and 64 MiB is the limit"),
            "{said}"
        );
    }
    assert_eq!(
        ask(
            &session,
            "SELECT string_agg(DISTINCT CAST(ts_ns % 3 AS VARCHAR), ', ' ORDER BY CAST(ts_ns % 3 AS VARCHAR) DESC), cardinality(array_agg(ts_ns)) FROM cpu_sample"
        ),
        "2, 1, 0|8000"
    );
}

#[test]
fn work_without_a_pause_is_refused_beforehand() {
    let session = session(10);
    for call in [
        "levenshtein(repeat('a', 1000000 + ts_ns), repeat('b', 1000000 + ts_ns))",
        "levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
        "regexp_like(repeat('a', 1000000 + ts_ns), '(a*)*b(a|aa)+c{1,900}')",
        "repeat('a', 1000000 + ts_ns) ~ '(a*)*b(a|aa)+c{1,900}'",
        "repeat('a', 1000000 + ts_ns) SIMILAR TO '(a*)*b(a|aa)+c{1,900}'",
        "regexp_count(repeat('a', 1000000 + ts_ns), '.*[^a]|a')",
    ] {
        let error = error(&session, &format!("SELECT {call} FROM cpu_sample"));
        assert!(matches!(error, Error::Work { .. }), "{call}: {error:?}");
        assert!(
            error.to_string().ends_with("and 400 million is the limit"),
            "{error}"
        );
        assert!(error.hint().unwrap().contains("shorten"), "{call}");
    }
    assert_eq!(
        ask(
            &session,
            "SELECT levenshtein('kitten', 'sitting'), 'ab' ~ '^a{1,2}b$', 'ab' SIMILAR TO 'b'"
        ),
        "3|true|true"
    );
}

/// Returns the number of rows, none of which is kept.
fn count(answer: Answer) -> Result<usize, Error> {
    answer
        .map(|batch| batch.map(|batch| batch.num_rows()))
        .sum()
}

/// Asks, gives up after a while, and returns how long the work continued; `None` if it was over
/// before.
fn given_up(sql: &str, rows: i64, after: Duration) -> Option<Duration> {
    let cancel = Cancel::default();
    let options = Options {
        memory_bytes: MEMORY,
        partitions: 2,
        cancel: cancel.clone(),
        ..Options::default()
    };
    let batch = rows_of(rows);
    let column = batch.1[0].column(0).clone();
    let session = Session::new(vec![Source::batches("memory", vec![batch])], &options).unwrap();
    let (sender, over) = std::sync::mpsc::channel::<()>();
    let switch = std::thread::spawn(move || {
        // An answer that comes before ends the waiting.
        let _ = over.recv_timeout(after);
        cancel.ask();
        Instant::now()
    });
    let answer = session.sql(sql).and_then(count);
    drop((session, sender));
    let asked = switch.join().unwrap();
    if !matches!(answer, Err(Error::Cancelled)) {
        return None;
    }
    // The work holds the rows that it reads.
    while Arc::strong_count(&column) > 1 {
        assert!(asked.elapsed() < ENDS * 3, "{sql} never ends");
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(asked.elapsed())
}

#[test]
fn functions_and_operators_end_when_they_are_given_up() {
    for call in [
        "levenshtein(repeat('a', 10000 + ts_ns), repeat('b', 10000))",
        "regexp_count(repeat('a', 50000 + ts_ns), '.*[^a]|a')",
        "repeat('a', 10000 + ts_ns) ~ '(a*)*b(a|aa)+c{1,900}'",
        "strpos(repeat('a', 15000 + ts_ns) || 'é', repeat('a', 10000) || 'b')",
    ] {
        let sql = format!("SELECT count({call}) FROM cpu_sample");
        let ended = given_up(&sql, 8_000, Duration::from_millis(200));
        assert!(ended.expect(call) < ENDS, "{call}: {ended:?}");
    }
}

/// Arguments of calls: long and short texts, numbers, times, lists.
const ARGUMENTS: [&str; 22] = [
    "",
    "t",
    "n",
    "l",
    "m",
    "d",
    "t, t",
    "t, 'b'",
    "t, 2",
    "n, n",
    "m, m",
    "m, t",
    "m, 2",
    "d, d",
    "t, t, t",
    "t, 'b', 'c'",
    "t, 'b', 2",
    "t, 2, 3",
    "t, 2, t",
    "t, '(a*b)+', t, 'g'",
    "m, 't', t",
    "n, t",
];

/// Returns how long each function that a session offers took on long and many texts, and what the
/// process took at most.
fn table(rows: i64, length: i64, functions: impl Fn(usize) -> bool) -> Vec<String> {
    let named = ask(
        &session(1),
        "SELECT DISTINCT routine_name, function_type FROM information_schema.routines
         WHERE function_type IN ('SCALAR', 'AGGREGATE') ORDER BY 1",
    );
    let named: Vec<&str> = named
        .lines()
        .map(|line| line.split('|').next().unwrap())
        .collect();
    assert!(named.len() > 200, "{named:?}");
    let mut table = Vec::new();
    for (_, name) in named.iter().enumerate().filter(|(at, _)| functions(*at)) {
        for arguments in ARGUMENTS {
            let sql = format!(
                "SELECT {name}({arguments}) FROM (SELECT ts_ns AS n, to_timestamp(ts_ns) AS d,
                 repeat('ab', {length}) || ts_ns AS t, range(0, {length}) AS l,
                 string_to_array(repeat('a,', {length}), ',') AS m FROM cpu_sample)"
            );
            let started = Instant::now();
            let ended = given_up(&sql, rows, Duration::from_secs(1));
            let peak = peak_mib();
            if let Some(ended) = ended {
                assert!(ended < ENDS, "{name}({arguments}) went on for {ended:?}");
            }
            let took = started.elapsed().as_millis();
            let ended = ended.map_or(0, |ended| ended.as_millis());
            table.push(format!(
                "| `{name}({arguments})` | {took} | {ended} | {peak} |"
            ));
        }
    }
    table
}

/// Returns the most memory of the process since the last call, in MiB; 0 where it is not known.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    // The system starts to count anew.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map_or(0, |kib| kib >> 10)
}

#[test]
fn functions_of_the_session_end_when_they_are_given_up() {
    // A part of the functions in each run of the tests; the next test has all.
    assert!(!table(200, 1_000, |at| at % 16 == 7).is_empty());
}

/// Prints the table of all functions: time and memory of a call for 10,000 rows with texts of 20 kB.
#[test]
#[ignore = "takes minutes, and no other test may run beside it: it measures the process"]
fn all_functions_stay_within_the_memory_of_a_question() {
    println!("| call | ms | ms after it was given up | MiB |\n|---|---|---|---|");
    let mut most = 0;
    for row in table(10_000, 10_000, |_| true) {
        println!("{row}");
        let peak: u64 = row.rsplit('|').nth(1).unwrap().trim().parse().unwrap();
        most = peak.max(most);
    }
    assert!(most < (MEMORY as u64 >> 20) * 3 / 2, "{most} MiB");
}
