//! Extracts that are queried together give the answers that each gives alone.

use std::sync::Arc;

use etwkit_sql::{Answer, KnownQuestions, Options, Session, Source};
use etwkit_trace::table::{CpuSample, Mark, Process};

use super::support::{rows, text};

/// Samples of processes, by key, with their weights.
fn samples(all: &[(i32, i64)]) -> Vec<CpuSample> {
    let sample = |(ts_ns, (process_key, weight_ns)): (i64, &(i32, i64))| CpuSample {
        ts_ns,
        weight_ns: *weight_ns,
        process_key: Some(*process_key),
        ..CpuSample::default()
    };
    (0..).zip(all).map(sample).collect()
}

fn processes(names: &[&str]) -> Vec<Process> {
    let process = |(key, name): (i32, &&str)| Process {
        process_key: key,
        pid: key * 10,
        name: Some((*name).into()),
        ..Process::default()
    };
    (0..).zip(names).map(process).collect()
}

/// Three extracts: keys mean other processes in each, the last one has no rows of most tables.
fn sources() -> Vec<Source> {
    let mark = |text: &str| Mark {
        ts_ns: 5,
        text: text.into(),
        ..Mark::default()
    };
    vec![
        Source::batches(
            "a",
            vec![
                rows(&samples(&[(0, 1), (1, 2), (1, 4)])),
                rows(&processes(&["x.exe", "y.exe"])),
                rows(&[mark("begin"), mark("end")]),
            ],
        ),
        Source::batches(
            "b",
            vec![
                rows(&samples(&[(1, 10), (0, 30), (1, 20)])),
                rows(&processes(&["y.exe", "z.exe"])),
            ],
        ),
        Source::batches("c", vec![rows(&processes(&["w.exe"]))]),
    ]
}

fn answered(answer: etwkit_sql::Result<Answer>, sql: &str) -> String {
    text(answer.unwrap_or_else(|error| panic!("{sql}: {error} (hint: {:?})", error.hint())))
}

/// Returns the answers of the extracts alone and together, and whether one plan answered for all of
/// them.
fn both(sql: &str) -> (Vec<String>, Vec<String>, bool) {
    let alone = sources().into_iter().map(|source| {
        let session = Session::new(vec![source], &Options::default()).unwrap();
        answered(session.sql(sql), sql)
    });
    let known = Arc::new(KnownQuestions::default());
    // The first extract teaches the plan of the question.
    for session in known.sessions(sources().drain(..1).collect(), &Options::default()) {
        answered(session.sql(sql), sql);
    }
    let together = known.sessions(sources(), &Options::default());
    let together: Vec<String> = together
        .iter()
        .map(|session| answered(session.sql(sql), sql))
        .collect();
    (alone.collect(), together, known.asked_alone().is_empty())
}

#[track_caller]
fn same(sql: &str, expected: [&str; 3]) {
    let (alone, together, is_lifted) = both(sql);
    assert_eq!(alone, expected, "{sql}");
    assert_eq!(together, expected, "together: {sql}");
    assert!(is_lifted, "one by one: {sql}");
}

#[test]
fn rows_filters_and_orders() {
    same(
        "SELECT name FROM process WHERE pid >= 0 ORDER BY name DESC",
        ["y.exe\nx.exe", "z.exe\ny.exe", "w.exe"],
    );
    same(
        "SELECT * FROM (SELECT pid, name AS n FROM process) p ORDER BY p.n",
        ["0|x.exe\n10|y.exe", "0|y.exe\n10|z.exe", "0|w.exe"],
    );
    same("SELECT DISTINCT 1 AS one FROM cpu_sample", ["1", "1", ""]);
}

#[test]
fn joins_stay_inside_an_extract() {
    let sql = "SELECT p.name, s.weight_ns FROM process p LEFT JOIN cpu_sample s ON s.process_key = p.process_key ORDER BY p.name, s.ts_ns";
    same(
        sql,
        [
            "x.exe|1\ny.exe|2\ny.exe|4",
            "y.exe|30\nz.exe|10\nz.exe|20",
            "w.exe|-",
        ],
    );
    let sql =
        "SELECT p.name, m.text FROM process p CROSS JOIN mark m WHERE p.pid = 0 ORDER BY m.text";
    same(sql, ["x.exe|begin\nx.exe|end", "", ""]);
    let sql = "SELECT s.weight_ns, p.name FROM process p RIGHT JOIN cpu_sample s ON s.process_key = p.process_key AND p.name <> 'y.exe' ORDER BY 1";
    same(sql, ["1|x.exe\n2|-\n4|-", "10|z.exe\n20|z.exe\n30|-", ""]);
}

#[test]
fn groups_and_windows_stay_inside_an_extract() {
    let sql = "SELECT process_key, sum(weight_ns) AS ns, count(*) AS samples FROM cpu_sample GROUP BY process_key ORDER BY ns, process_key";
    same(sql, ["0|1|1\n1|6|2", "0|30|1\n1|30|2", ""]);
    let sql = "SELECT name, row_number() OVER (ORDER BY name) AS at, count(*) OVER () AS all FROM process ORDER BY name";
    same(
        sql,
        ["x.exe|1|2\ny.exe|2|2", "y.exe|1|2\nz.exe|2|2", "w.exe|1|1"],
    );
}

#[test]
fn what_is_computed_from_all_rows_is_there_without_rows() {
    same(
        "SELECT count(*) AS n, sum(weight_ns) AS ns FROM cpu_sample",
        ["3|7", "3|60", "0|-"],
    );
    same(
        "SELECT coalesce(max(ts_ns), -1) + count(text) FROM mark",
        ["7", "-1", "-1"],
    );
    same(
        "SELECT count(*) FROM cpu_sample WHERE weight_ns > 5",
        ["0", "3", "0"],
    );
}

#[test]
fn inner_questions_have_a_value_for_each_extract() {
    let sql = "SELECT name, CASE WHEN (SELECT coalesce(sum(weight_ns), 0) FROM cpu_sample) > 7 THEN 'much' ELSE 'little' END AS cpu FROM process ORDER BY name";
    same(
        sql,
        [
            "x.exe|little\ny.exe|little",
            "y.exe|much\nz.exe|much",
            "w.exe|little",
        ],
    );
    let sql = "SELECT pid FROM process WHERE pid * 3 >= (SELECT max(weight_ns) FROM cpu_sample) ORDER BY 1";
    same(sql, ["10", "10", ""]);
}

#[test]
fn unions_and_values() {
    let sql = "SELECT * FROM (SELECT name AS t FROM process UNION ALL SELECT text FROM mark) u ORDER BY t";
    same(sql, ["begin\nend\nx.exe\ny.exe", "y.exe\nz.exe", "w.exe"]);
    let sql =
        "SELECT * FROM (SELECT name AS t FROM process UNION ALL SELECT 'always') u ORDER BY t";
    same(
        sql,
        [
            "always\nx.exe\ny.exe",
            "always\ny.exe\nz.exe",
            "always\nw.exe",
        ],
    );
    same("SELECT 1 + 1", ["2", "2", "2"]);
    let sql = "SELECT p.name, v.n FROM process p JOIN (VALUES (0, 'null'), (10, 'ten')) AS v(pid, n) ON v.pid = p.pid ORDER BY p.pid";
    same(
        sql,
        [
            "x.exe|null\ny.exe|ten",
            "y.exe|null\nz.exe|ten",
            "w.exe|null",
        ],
    );
}

#[test]
fn what_cannot_be_asked_together_is_asked_one_by_one() {
    for sql in [
        "SELECT name FROM process ORDER BY name LIMIT 1",
        "SELECT name FROM process p WHERE EXISTS (SELECT 1 FROM cpu_sample s WHERE s.process_key = p.process_key) ORDER BY name",
        "SELECT name, stack_contains(CAST(NULL AS INT), 'x') AS found FROM process ORDER BY name",
    ] {
        let (alone, together, is_lifted) = both(sql);
        assert_eq!(together, alone, "{sql}");
        assert!(!is_lifted, "{sql}");
    }
}

#[test]
fn one_extract_by_itself_leaves_the_others_together() {
    let (known, options) = (Arc::new(KnownQuestions::default()), Options::default());
    let sql = "SELECT name FROM process ORDER BY name";
    let ask = |sources: Vec<Source>| -> Vec<String> {
        known
            .sessions(sources, &options)
            .iter()
            .map(|one| answered(one.sql(sql), sql))
            .collect()
    };
    for _ in 0..2 {
        // The second time the question is known.
        assert_eq!(ask(sources().drain(..1).collect()), ["x.exe\ny.exe"]);
    }
    assert!(known.asked_alone().is_empty());
    assert_eq!(ask(sources()), ["x.exe\ny.exe", "y.exe\nz.exe", "w.exe"]);
    assert!(known.asked_alone().is_empty());
}

#[test]
fn headings_are_asked_together() {
    use etwkit_question::trace::TraceInfo;
    let known = Arc::new(KnownQuestions::default());
    for _ in 0..2 {
        for session in known.sessions(sources(), &Options::default()) {
            assert_eq!(
                TraceInfo::ask(&session).unwrap().extract_path.as_deref(),
                Some("")
            );
        }
    }
    assert!(known.asked_alone().is_empty());
}

#[test]
fn an_error_is_that_of_the_extract() {
    let known = Arc::new(KnownQuestions::default());
    let sql = "SELECT 1 / (pid - 10) AS x FROM process";
    let ask = |session: &Session| session.sql(sql).and_then(Answer::collect).map(|_| ());
    assert!(
        known
            .sessions(sources().drain(2..).collect(), &Options::default())
            .iter()
            .all(|one| ask(one).is_ok())
    );
    let together = known.sessions(sources(), &Options::default());
    let failed: Vec<bool> = together
        .iter()
        .map(|session| ask(session).is_err())
        .collect();
    assert_eq!(failed, [true, true, false], "pid 10 is in the first two");
}

#[test]
fn questions_of_dumps_are_asked_together() {
    let questions = [
        etwkit_questions::cpu::CpuRequest::default().process_sql(),
        etwkit_questions::cpu::CpuRequest::default().method_sql(),
        etwkit_questions::process::ProcessRequest::default().sql(),
        etwkit_questions::disk::DiskRequest::default().sql(),
        etwkit_questions::file::FileRequest::default().sql(),
        etwkit_questions::dns::DnsRequest::default().sql(),
        etwkit_questions::dns::DnsRequest::default().list_sql(),
        etwkit_questions::exception::ExceptionRequest::default().sql(),
        etwkit_questions::exception::ExceptionRequest::default().list_sql(),
        etwkit_questions::mark::MarkRequest::default().sql(),
        etwkit_questions::memory::MemoryRequest::default().sql(),
        etwkit_questions::object_ref::ObjectRequest::default().sql(),
        etwkit_questions::pmc::PmcRequest::default().sql(),
        etwkit_questions::syscall::SyscallRequest::default().sql(),
        etwkit_questions::syscall::SyscallRequest::default().calls_sql(),
        etwkit_questions::thread_pool::ThreadPoolRequest::default().sql(),
        etwkit_questions::trace_log::TraceLogRequest::default().kinds_sql(),
        etwkit_questions::version::VersionRequest::default().sql(),
        etwkit_questions::virtual_alloc::VirtualAllocRequest::default().sql(),
    ];
    for sql in questions {
        let known = Arc::new(KnownQuestions::default());
        for session in known.sessions(sources().drain(..1).collect(), &Options::default()) {
            answered(session.sql(&sql), &sql);
        }
        for session in known.sessions(sources(), &Options::default()) {
            answered(session.sql(&sql), &sql);
        }
        assert_eq!(known.asked_alone(), Vec::<String>::new());
    }
}

#[test]
fn the_table_of_extracts_has_the_row_of_each() {
    same("SELECT name FROM extract", ["a", "b", "c"]);
    let sql =
        "SELECT name, value FROM (SELECT -1 AS at, 'Source' AS name, name AS value FROM extract
        UNION ALL SELECT 1, 'marks', CAST(count(*) AS VARCHAR) FROM mark) ORDER BY at";
    same(
        sql,
        [
            "Source|a\nmarks|2",
            "Source|b\nmarks|0",
            "Source|c\nmarks|0",
        ],
    );
}

#[test]
fn properties_of_hundreds_of_traces_are_asked_with_one_plan() {
    let sql = etwkit_questions::stats::StatsRequest::default().sql();
    let (alone, together, is_lifted) = both(&sql);
    assert_eq!(alone, together);
    assert!(is_lifted, "one by one: {sql}");
}
