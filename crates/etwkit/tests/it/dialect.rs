//! SQL for another query engine: the questions that are offered have equal rows there.

use std::path::Path;
use std::process::Command;

use etwkit_engine::question;
use etwkit_testkit::{is_exhaustive, python};
use serde_json::{Value, json};

use crate::architecture::root;
use crate::extracts::support::kept_as;
use crate::support::{Exit, made, run};

/// The offered questions, each after the name of a trace that has rows for it.
const OFFERED: &str = include_str!("../../src/dialect/duckdb.txt");

/// A trace with rows of many kinds.
const USUAL: &str = "sched-5";

/// Lines of the list without its comments: the trace, and the words of the question.
fn offered() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let lines = OFFERED.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut words = line.split_whitespace();
        (words.next().unwrap(), words.collect())
    })
}

/// Runs a command, which has to succeed, and returns its output.
#[track_caller]
fn output(args: &[&str]) -> String {
    let answer = run(args);
    assert_ne!(answer.exit, Exit::Error, "{args:?}: {}", answer.err);
    answer.out
}

/// The extract of a small trace of the project, or of a simulated machine.
fn extract(name: &str) -> String {
    let fixture = made().join(name).with_extension("etl");
    kept_as(&("for other engines", name), |out| {
        if fixture.exists() {
            output(&["extract", fixture.to_str().unwrap(), "--out", out]);
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |ending: &str| folder.path().join(name).with_extension(ending);
        let [trace, symbols] = [path("etl"), path("symbols")];
        let [trace, of_trace] = [&trace, &symbols].map(|path| path.to_str().unwrap());
        output(&["synth", "write", name, "--out", trace]);
        let with_symbols = ["--symbols", of_trace];
        let with_symbols = if symbols.exists() {
            &with_symbols[..]
        } else {
            &[]
        };
        output(&[&["extract", trace, "--out", out][..], with_symbols].concat());
    })
}

/// Writes the macros and views, the SQL and our rows of a question about an extract.
fn case(folder: &Path, number: usize, words: &[&str], extract: &str) -> Value {
    let path = |name: String| folder.join(name).to_str().unwrap().to_owned();
    let name = words.join(" ");
    let rows = path(format!("{number}.parquet"));
    let sql = if words[0] == "sql" {
        let asked = of_library(words);
        let ours = ["sql", "--out", rows.as_str(), extract];
        output(&[&ours[..], &asked].concat());
        let theirs = ["sql", "--show-sql", "--dialect", "duckdb"];
        output(&[&theirs[..], &asked].concat())
    } else {
        let asked = [words, &["--show-sql", extract][..]].concat();
        output(&["sql", "--out", &rows, extract, &output(&asked)]);
        output(&[&asked[..], &["--dialect", "duckdb"][..]].concat())
    };
    json!({
        "name": format!("{name} on {extract}"),
        "setup": setup(folder, extract),
        "sql": sql,
        "rows": rows,
    })
}

/// The arguments of a question of the library: values of parameters, and its name.
fn of_library<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let values = words[2..].iter().flat_map(|value| ["--param", *value]);
    values.chain([words[1]]).collect()
}

/// Writes the macros and views of an extract.
fn setup(folder: &Path, extract: &str) -> String {
    let stem = Path::new(extract).file_stem().unwrap();
    let path = folder.join(stem).with_extension("sql");
    if !path.exists() {
        let setup = output(&["sql", "--show-setup", "duckdb", extract]);
        std::fs::write(&path, setup).unwrap();
    }
    path.to_str().unwrap().to_owned()
}

/// Compares the questions of one kind.
fn compare(test: &str, is_wanted: impl Fn(&[&str]) -> bool) {
    let Some(python) = python(test) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let wanted = offered().filter(|(_, words)| is_wanted(words));
    let cases = wanted
        .enumerate()
        .map(|(number, (trace, words))| case(folder.path(), number, &words, &extract(trace)));
    check(python, folder.path(), &cases.collect::<Vec<_>>());
}

/// Has Python compare rows.
fn check(mut python: Command, folder: &Path, cases: &[Value]) {
    assert!(!cases.is_empty());
    let list = folder.join("cases.json");
    std::fs::write(&list, serde_json::to_string(cases).unwrap()).unwrap();
    let script = root().join("crates/etwkit/tests/it/same_rows.py");
    let answer = python.arg(script).arg(&list).output().unwrap();
    assert!(
        answer.status.success(),
        "{}{}",
        String::from_utf8_lossy(&answer.stdout),
        String::from_utf8_lossy(&answer.stderr)
    );
}

fn is_rule(words: &[&str]) -> bool {
    words[1].starts_with("@rules/")
}

#[test]
fn offered_questions_of_the_library_have_equal_rows() {
    let test = "dialect::offered_questions_of_the_library_have_equal_rows";
    compare(test, |words| words[0] == "sql" && !is_rule(words));
}

#[test]
fn offered_rules_have_equal_rows() {
    compare("dialect::offered_rules_have_equal_rows", is_rule);
}

#[test]
fn offered_dumps_have_equal_rows() {
    // A report has many options; each night all of them are compared.
    compare("dialect::offered_dumps_have_equal_rows", |words| {
        let is_usual = words.len() == 2 || words[2].starts_with("--process");
        words[0] == "dump" && (is_exhaustive() || is_usual)
    });
}

/// Rows of a filter: pattern, text or name, process ID, and whether it passes.
const FILTERED: [(&str, Option<&str>, Option<i32>); 24] = [
    ("", None, None),
    ("*", None, None),
    ("cmd", Some("Cmd.exe"), Some(7)),
    ("CMD.EXE", Some("cmd.exe"), None),
    ("?md", Some("cmd.exe"), Some(7)),
    ("a.c", Some("abc"), Some(7)),
    ("a[b", Some("a[b"), Some(7)),
    (r"C:\*\x", Some(r"c:\dir\X"), Some(7)),
    ("a*;!ab", Some("ab"), Some(7)),
    (";; b ;", Some("b"), Some(7)),
    ("!a", None, Some(7)),
    ("1234", Some("x"), Some(1234)),
    ("1234", None, Some(1234)),
    ("4294967292", Some("x"), Some(-4)),
    ("cmd;!1234", Some("cmd.exe"), Some(1234)),
    ("cmd.exe(1024)", Some("cmd.exe"), Some(1024)),
    ("cmd (1024)", Some("cmd.exe"), Some(1024)),
    ("cmd.exe (1024#2) +-", Some("cmd.exe"), Some(1024)),
    ("cmd.exe (1024)", Some("cmd.exe"), Some(1025)),
    (
        "cmd.exe(1024) /c (a) build.cmd",
        Some("cmd.exe"),
        Some(1024),
    ),
    ("? (1024)", None, Some(1024)),
    ("*second*", Some("first\r\nthe second one"), Some(7)),
    ("irst", Some("first\nsecond"), Some(7)),
    ("stra?e", Some("STRAßE"), Some(7)),
];

#[test]
fn macros_answer_as_functions_do() {
    let test = "dialect::macros_answer_as_functions_do";
    let Some(python) = python(test) else {
        return;
    };
    // The engine reads a return before a line break as a part of the break, in literals, too.
    let quoted = |text: &str| {
        let doubled = text.replace('\'', "''");
        format!("'{}'", doubled.replace('\r', "' || chr(13) || '"))
    };
    let rows = FILTERED.map(|(pattern, text, pid)| {
        let text = text.map_or_else(|| "CAST(NULL AS VARCHAR)".to_owned(), quoted);
        let pid = pid.map_or_else(|| "NULL".to_owned(), |pid| pid.to_string());
        format!(
            "SELECT {} AS pattern, {text} AS text, CAST({pid} AS INT) AS pid",
            quoted(pattern)
        )
    });
    let filters = format!(
        "SELECT pattern, text, pid, wildcard_match(text, pattern) AS fits, process_match(text, pid, pattern) AS fits_process\n\
         FROM ({})\nORDER BY pattern, text, pid",
        rows.join(" UNION ALL ")
    );
    let names = "SELECT n, wait_reason_name(n) AS a, thread_state_name(n) AS b, gc_reason_name(n) AS c, thread_pool_reason_name(n) AS d, \
         ntstatus_name(n) AS e, win32_error_name(n) AS f, etwkit_hex(n) AS g, ms(n) AS h, us(n) AS i, seconds(n) AS j\n\
         FROM (VALUES (0), (5), (37), (99), (-1), (9003), (-1073741772), (-2147483600)) AS t(n)\nORDER BY n";
    let times = "SELECT t, utc_time(133590312000000000, t) AS utc, local_time(133590312000000000, -120, t) AS local, \
         registry_key_name(k) AS name\n\
         FROM (VALUES (0, '\\registry\\machine\\a'), (1500000999, '\\REGISTRY\\MACHINES'), (-1, '\\REGISTRY\\USER')) AS v(t, k)\nORDER BY t";
    let unions = "SELECT g, union_duration(s, e) AS ns\n\
         FROM (VALUES (1, 0, 10), (1, 5, 20), (1, 30, 40), (1, 50, 45), (2, NULL, 7), (3, 1, 9), (3, 2, 3)) AS t(g, s, e)\n\
         GROUP BY g\nORDER BY g";
    let folder = tempfile::tempdir().unwrap();
    let extract = &extract(USUAL);
    let statements = [filters.as_str(), names, times, unions];
    let cases = statements.iter().enumerate().map(|(number, sql)| {
        let rows = folder.path().join(format!("{number}.parquet"));
        let rows = rows.to_str().unwrap();
        let ours = sql.replace("etwkit_hex(", "hex(");
        output(&["sql", "--out", rows, extract, &ours]);
        json!({"name": sql, "setup": setup(folder.path(), extract), "sql": sql, "rows": rows})
    });
    check(python, folder.path(), &cases.collect::<Vec<_>>());
}

#[test]
fn what_no_test_compared_is_refused() {
    let extract = &extract(USUAL);
    let asked = |args: &[&str]| {
        let answer = run(&[args, &["--show-sql", "--dialect", "duckdb", extract][..]].concat());
        assert_eq!(
            (answer.exit, answer.out.as_str()),
            (Exit::Error, ""),
            "{args:?}"
        );
        answer.err
    };
    let stacks = asked(&["dump", "cpu", "--stack-tags", "*"]);
    assert!(
        stacks.contains("DuckDB cannot run this question: ")
            || stacks.contains("no test has shown that DuckDB has equal rows for dump cpu"),
        "{stacks}"
    );
    let own = run(&[
        "sql",
        "--show-sql",
        "--dialect",
        "duckdb",
        extract,
        "SELECT 1",
    ]);
    assert_eq!(own.exit, Exit::Error);
    assert!(
        own.err
            .contains("--show-sql prints the SQL of a question of the library"),
        "{}",
        own.err
    );
}

#[test]
fn other_values_of_a_compared_question_are_offered() {
    let extract = &extract(USUAL);
    let values = ["--param", "process=o'x;!y", "--param", "top=5"];
    let asked = [
        &["sql", "--show-sql", "--dialect", "duckdb"][..],
        &values,
        &["@cpu/processes"],
    ];
    let sql = output(&asked.concat());
    assert!(
        sql.contains("process_match(p.name, p.pid, 'o''x;!y')")
            && sql.trim_end().ends_with("LIMIT 5"),
        "{sql}"
    );
    // Without another engine the text is ours, and it runs as it is.
    let ours = output(&[&["sql", "--show-sql"][..], &values, &["@cpu/processes"]].concat());
    run(&["sql", extract, &ours]);
    assert!(
        !ours.contains("NULLS FIRST") && ours.contains("'o''x;!y'"),
        "{ours}"
    );
}

/// Where the list is on the page.
const PAGE: &str = "docs/sql-use.md";
const START: &str = "<!-- compared with DuckDB -->\n";
const END: &str = "<!-- end -->";

#[test]
fn the_page_lists_what_is_offered() {
    let of_kind = |prefix: &str| {
        let names = offered().filter_map(|(_, words)| {
            let name = words[1].strip_prefix(prefix)?;
            Some(format!("`{name}`"))
        });
        names.collect::<Vec<_>>()
    };
    let of_dump = offered()
        .map(|(_, words)| words)
        .filter(|words| words[0] == "dump");
    let dumps: Vec<String> = of_dump
        .inspect(|words| assert!(question(words[1]).is_some(), "{words:?}"))
        .map(|words| format!("`{}`", words[1..].join(" ")))
        .collect();
    let rules = of_kind("@rules/");
    let library: Vec<String> = of_kind("@")
        .into_iter()
        .filter(|name| !name.starts_with("`rules/"))
        .collect();
    let line = |title: &str, names: &[String]| {
        format!("- {title} ({}): {}\n", names.len(), names.join(", "))
    };
    let list = [
        line("Questions of the library", &library),
        line("Rules of `etwkit diagnose`, as `@rules/NAME`", &rules),
        line("Reports, as `etwkit dump`", &dumps),
    ]
    .concat();
    let path = root().join(PAGE);
    let page = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\r\n", "\n");
    let (before, rest) = page.split_once(START).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if std::env::var_os("ETWKIT_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{START}{list}{END}{after}")).unwrap();
        return;
    }
    assert!(found == list, "{PAGE} is stale; ETWKIT_BLESS=1 writes it");
}
