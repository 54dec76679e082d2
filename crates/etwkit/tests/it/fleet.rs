//! Questions about many extracts: the choice among them by their labels, and the limit of open files.

#[cfg(unix)]
use std::fmt::Write as _;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

use etwkit_extract::Manifest;
#[cfg(unix)]
use etwkit_extract::{Writer, WriterOptions};
use etwkit_sql::choice;
use etwkit_sql::choice::{Facts, fitting};
use etwkit_trace::table::{ABOUT, DERIVED};
#[cfg(unix)]
use etwkit_trace::table::{Columns as _, Mark, Row};
use etwkit_trace::topics::TABLES;
use serde_json::{Value, json};

use crate::support::{Answer, Exit, json_lines, run, trace};

/// The manifest of an extract.
fn manifest(changes: &Value) -> Manifest {
    let mut manifest = json!({
        "format": "etwkit-extract", "format_version": "2.0", "etwkit_version": "0.1.0", "detail": "full",
        "source": {"files": [{"name": "a.etl", "size_bytes": 3}, {"name": "b.etl", "size_bytes": 4}],
                   "hash": "0000000000000010"},
        "clock": {"kind": "qpc", "frequency": 1, "start_utc": "", "start_filetime": 0},
        "machine": {"computer": "PC-1", "os_version": "10.0.19041", "processors": 8},
        "tables": {}
    });
    let changes = changes.as_object().unwrap().clone();
    manifest.as_object_mut().unwrap().extend(changes);
    serde_json::from_value(manifest).unwrap()
}

/// 2026-11-01 and 2026-11-02, 00:00 UTC, in units of 100 ns since 1601.
const DAYS: [i64; 2] = [134_379_648_000_000_000, 134_380_512_000_000_000];

fn facts(name: &str, computer: &str, start: i64, labels: &Value) -> Facts {
    let changes = json!({
        "machine": {"computer": computer, "os_version": "10.0.19041", "processors": 8},
        "clock": {"kind": "qpc", "frequency": 1, "start_utc": "", "start_filetime": start},
        "labels": labels,
    });
    Facts::of_manifest(Path::new(name), &manifest(&changes))
}

/// Three extracts, and a trace without one.
fn four() -> [Facts; 4] {
    [
        facts(
            "a.etwx",
            "PC-1",
            DAYS[0],
            &json!({"suite": "Report", "build": "9"}),
        ),
        facts(
            "b.etwx",
            "PC-2",
            DAYS[1],
            &json!({"suite": "Login", "build": "10"}),
        ),
        facts(
            "c.etwx",
            "PC-1",
            DAYS[1],
            &json!({"name": "other", "a.b-c": "x"}),
        ),
        Facts::of_path(Path::new("runs/d.etl")),
    ]
}

#[test]
fn facts_and_labels_choose_extracts() {
    for (condition, expected) in [
        ("suite = 'Report'", "a"),
        ("SUITE = 'Report'", "a"),
        ("label['suite'] = 'Login'", "b"),
        ("LABEL['suite'] IS NULL", "cd"),
        ("label.suite = 'Login'", "b"),
        ("label['absent'] IS NULL", "abcd"),
        ("label['absent'] = 'x'", ""),
        ("label['name'] = 'other'", "c"),
        ("\"a.b-c\" = 'x'", "c"),
        ("name = 'd'", "d"),
        ("path LIKE 'runs/%'", "d"),
        ("computer = 'PC-1' AND start_utc >= '2026-11-02'", "c"),
        ("start < '2026-11-02T00:00:00Z'", "a"),
        ("start_utc < now() + interval '100 years'", "abc"),
        ("cast(build AS bigint) > 9", "b"),
        ("detail = 'full' AND processors = 8", "abc"),
        ("wildcard_match(computer, '*-2')", "b"),
        ("true", "abcd"),
        ("NULL", ""),
    ] {
        let fits = fitting(condition, &four()).unwrap_or_else(|e| panic!("{condition}: {e}"));
        let letters = "abcd".chars().zip(fits);
        let chosen: String = letters
            .filter_map(|(letter, fits)| fits.then_some(letter))
            .collect();
        assert_eq!(chosen, expected, "{condition}");
    }
}

#[test]
fn wrong_conditions_are_errors_with_their_place() {
    let error = |condition: &str| {
        let error = fitting(condition, &four()).unwrap_err();
        let hint = error.hint().unwrap_or_default().to_owned();
        (error.to_string(), hint)
    };
    let (message, hint) = error("computer = 'x'\n  AND suit = 'Report'");
    assert_eq!(message, "there is no column suit (line 2, column 7)");
    let expected = "did you mean suite? labels: a.b-c, build, name, suite; columns: name, path, computer, start_utc, ";
    assert!(hint.starts_with(expected), "{hint}");
    for (condition, expected) in [
        ("", "SQL is not understood: "),
        ("suite =", "SQL is not understood: "),
        (
            "suite = 'a' AS suite",
            "expected a condition, found a name for it: suite",
        ),
        ("suite = 'a'; DROP TABLE x", "SQL is not understood: "),
        (
            "suite",
            "expected a condition, found a value of the type Utf8",
        ),
        (
            "label = 'x'",
            "expected the name of a label (line 1, column 1)",
        ),
        (
            "label[1] = 'x'",
            "expected the name of a label (line 1, column 1)",
        ),
        (
            "process.name = 'x'",
            "there is no column process.name (line 1, column 9)",
        ),
        (
            "suite IN (SELECT name FROM process)",
            "expected a condition, found a question",
        ),
        ("nofunction(suite)", "there is no function nofunction"),
        (
            "count(*) > 1",
            "expected a condition on one extract, found a function over several",
        ),
        (
            "row_number() OVER () = 1",
            "expected a condition on one extract, found a function over several",
        ),
        ("suite = $suite", ""),
    ] {
        let (message, _) = error(condition);
        assert!(message.starts_with(expected), "{condition}: {message}");
    }
}

#[test]
fn conditions_know_the_facts_of_a_manifest() {
    let manifest = manifest(&json!({
        "detail": "summary",
        "clock": {"kind": "qpc", "frequency": 1, "start_utc": "", "start_filetime": DAYS[0]},
        "topics": [{"topic": "disk_io", "recorded": true}, {"topic": "marks", "recorded": false}],
        "diagnostics": [{"severity": "warning", "kind": "lost_events", "count": 12, "message": "m"}],
        "labels": {"build": "7731"},
        "left_out": ["syscall"],
    }));
    let condition = "name = 'x' AND path = 'runs/x.etwx' AND detail = 'summary' AND trace_bytes = 7 \
        AND run_id = 16 AND source_name = 'a.etl;b.etl' AND source_hash = '0000000000000010' \
        AND computer = 'PC-1' AND os_version = '10.0.19041' AND processors = 8 AND recorded = 'disk_io' \
        AND diagnostics = 'lost_events' AND left_out = 'syscall' AND labels = 'build=7731' \
        AND build = '7731' AND imported_from IS NULL AND format_version = '2.0' \
        AND etwkit_version = '0.1.0' AND start_utc = '2026-11-01T00:00:00Z' AND start = start_utc";
    for column in choice::columns() {
        assert!(condition.contains(&format!("{column} ")), "{column}");
    }
    let all = [Facts::of_manifest(Path::new("runs/x.etwx"), &manifest)];
    assert_eq!(fitting(condition, &all).unwrap(), [true]);
}

/// The page about names of files lists all columns.
#[test]
fn columns_of_conditions_are_documented() {
    let page = include_str!("../../../../docs/files.md");
    for column in choice::columns() {
        assert!(page.contains(&format!("`{column}`")), "{column}");
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Extracts of a trace with labels, and the trace of another one.
fn farm() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, suite, build) in [
        ("one", "Report", "7731"),
        ("two", "Report", "7730"),
        ("three", "Login", "7731"),
    ] {
        let target = folder.path().join(format!("{name}.etwx"));
        let (suite, build) = (format!("suite={suite}"), format!("build={build}"));
        let labels = ["--label", &suite, "--label", &build];
        // Two extracts of one trace are an error.
        let trace = trace(match name {
            "one" => "dns-5.etl",
            "two" => "sched-5.etl",
            _ => "power-5.etl",
        });
        let args = ["extract", "--no-empty", "--out", text(&target)];
        let made = run(&[&args[..], &labels, &[trace.as_str()]].concat());
        assert_eq!(made.exit, Exit::Answered, "{}", made.err);
    }
    folder
}

/// Runs a command over the folder.
fn over(folder: &tempfile::TempDir, before: &[&str], behind: &[&str]) -> Answer {
    let all = folder.path().join("*.etwx");
    run(&[before, &[text(&all)], behind].concat())
}

#[test]
fn every_command_over_many_extracts_chooses() {
    let folder = farm();
    let report = ["--where", "suite = 'Report'"];
    let one = ["--where", "suite = 'Report' AND label['build'] = '7731'"];

    let sql = [&["sql", "--format", "csv"], &report[..]].concat();
    let answer = over(&folder, &sql, &["SELECT labels FROM extract ORDER BY 1"]);
    assert_eq!(
        answer.out, "labels\r\nbuild=7730;suite=Report\r\nbuild=7731;suite=Report\r\n",
        "{}",
        answer.err
    );

    let stats = ["dump", "stats", "--json", "--properties", "SessionStart"];
    let rows = json_lines(&over(&folder, &[&stats[..], &report].concat(), &[]).out);
    let labels: Vec<&str> = rows
        .iter()
        .map(|row| row["labels"].as_str().unwrap())
        .collect();
    assert_eq!(
        labels,
        ["build=7731;suite=Report", "build=7730;suite=Report"]
    );
    assert!(rows.iter().all(|row| row["run_id"].is_i64()), "{rows:?}");

    let two = ["one", "two"].map(|name| folder.path().join(format!("{name}.etwx")));
    let two = [text(&two[0]), text(&two[1])];
    for command in ["diagnose", "explain", "diff"] {
        let chosen = over(&folder, &[&[command, "--json"][..], &report].concat(), &[]);
        let named = run(&[&[command, "--json"][..], &two].concat());
        assert_eq!(
            (chosen.exit, chosen.out),
            (named.exit, named.out),
            "{command}"
        );
    }
    // All three are too many for a comparison.
    assert_eq!(over(&folder, &["diff"], &[]).exit, Exit::Error);

    let out = folder.path().join("stacks.txt");
    let export = [
        "export",
        "--all-processes",
        "--format",
        "folded",
        "--out",
        text(&out),
    ];
    let answer = over(&folder, &[&export[..], &one].concat(), &[]);
    assert!(!answer.err.contains("become a file each"), "{}", answer.err);
    assert!(
        over(&folder, &export, &[])
            .err
            .contains("3 extracts become a file each")
    );
}

#[test]
fn no_match_names_the_labels_that_there_are() {
    let folder = farm();
    let answer = over(
        &folder,
        &["dump", "cpu", "--where", "suite = 'Report' AND build = '1'"],
        &[],
    );
    assert_eq!(answer.exit, Exit::Error);
    assert_eq!(
        answer.err,
        "error: none of 3 extracts matches --where\n\
         hint: their labels: build (7730, 7731), suite (Login, Report)\n"
    );
    let answer = over(
        &folder,
        &["sql", "--where", "branch = 'main'"],
        &["SELECT 1"],
    );
    assert_eq!(answer.exit, Exit::Error);
    assert!(
        answer
            .err
            .starts_with("error: there is no column branch (line 1, column 1)\nhint: ")
            && answer
                .err
                .contains("labels: build, suite; columns: name, path, computer, "),
        "{}",
        answer.err
    );
    // A trace has no manifest yet, which is no reason to extract it.
    let copy = folder.path().join("four.etl");
    std::fs::copy(trace("dns-5.etl"), &copy).unwrap();
    let answer = over(
        &folder,
        &["dump", "stats", "--where", "build = '7730'"],
        &[text(&copy)],
    );
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    assert!(
        answer
            .err
            .contains("note: one file is a trace without an extract: --where "),
        "{}",
        answer.err
    );
    assert!(!answer.err.contains("extracted "), "{}", answer.err);
}

#[test]
fn a_condition_on_traces_alone_names_the_line_that_extracts_them() {
    const NO_MATCH: &str = "error: the trace or extract does not match --where\n";
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("four.etl");
    std::fs::copy(trace("dns-5.etl"), &copy).unwrap();
    let line = format!("`etwkit extract --label NAME=VALUE {}`", text(&copy));
    for (condition, message) in [
        ("suite = 'Report'", "error: there is no column suite"),
        ("label['suite'] = 'Report'", NO_MATCH),
        ("computer = 'BUILD-7'", NO_MATCH),
    ] {
        let answer = run(&["dump", "cpu", "--where", condition, text(&copy)]);
        assert_eq!(answer.exit, Exit::Error, "{condition}");
        assert!(answer.err.starts_with(message), "{}", answer.err);
        assert!(answer.err.contains(&line), "{condition}: {}", answer.err);
    }
    // A typing error has nothing to do with traces.
    let answer = run(&["dump", "cpu", "--where", "suite = = 1", text(&copy)]);
    assert!(!answer.err.contains("etwkit extract"), "{}", answer.err);
}

#[test]
fn a_metric_of_other_columns_is_an_error_of_the_command_line() {
    let folder = farm();
    for sql in ["SELECT 1 AS one", "SELECT trace_id FROM trace"] {
        let answer = over(&folder, &["explain", "--metric", sql], &[]);
        assert_eq!(answer.exit, Exit::Error, "{sql}: {}", answer.out);
        let expected = "--metric: expected SQL that gives trace_id and one number";
        assert!(answer.err.contains(expected), "{sql}: {}", answer.err);
    }
}

#[test]
fn an_extract_that_is_replaced_unless_it_is_there_keeps_its_labels() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace("dns-5.etl");
    for name in ["a.etwx", "a.etwx.zip"] {
        let target = folder.path().join(name);
        let extract = |options: &[&str]| {
            let done = run(&[&["extract", "--out", text(&target), &trace][..], options].concat());
            assert_eq!(done.exit, Exit::Answered, "{}", done.err);
            let of = "SELECT detail, labels FROM extract";
            run(&["sql", "--format", "csv", text(&target), of]).out
        };
        extract(&["--label", "build=7"]);
        let summary = ["--detail", "summary", "--no-overwrite"];
        assert_eq!(extract(&summary), "detail,labels\r\nsummary,build=7\r\n");
        let full = ["--no-overwrite", "--label", "build=8"];
        assert_eq!(extract(&full), "detail,labels\r\nfull,build=8\r\n");
        // Other labels alone are a reason to replace it, and no labels are none.
        let other = ["--no-overwrite", "--label", "build=9"];
        assert_eq!(extract(&other), "detail,labels\r\nfull,build=9\r\n");
        let kept = extract(&["--no-overwrite"]);
        assert_eq!(kept, "detail,labels\r\nfull,build=9\r\n");
    }
}

/// Each row of many extracts has what it is joined by.
#[test]
fn rows_with_types_have_the_number_and_the_labels_of_their_trace() {
    let folder = farm();
    let out = folder.path().join("rows.parquet");
    let dump = ["dump", "process", "--out", text(&out)];
    let answer = over(&folder, &dump, &[]);
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    assert!(answer.out.starts_with("Wrote "), "{}", answer.out);
    assert_eq!(&std::fs::read(&out).unwrap()[..4], b"PAR1");
    // What is there stays, unless a user says otherwise.
    assert_eq!(over(&folder, &dump, &[]).exit, Exit::Error);
    let again = over(&folder, &[&dump[..], &["--force"]].concat(), &[]);
    assert_eq!(again.exit, Exit::Answered, "{}", again.err);
    for (wrong, expected) in [
        (
            &["--out", "rows.txt"][..],
            "--out needs a name that ends with .parquet or .arrows",
        ),
        (
            &["--format", "parquet"],
            "--format parquet needs --out FILE",
        ),
    ] {
        let answer = over(&folder, &[&["dump", "process"][..], wrong].concat(), &[]);
        assert_eq!(answer.exit, Exit::Error, "{wrong:?}");
        assert!(answer.err.contains(expected), "{}", answer.err);
    }
}

/// A file without rows would be read as the answer that there are none.
#[test]
fn no_file_is_written_if_every_trace_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [a, b] = ["a.etl", "b.etl"].map(path);
    for trace in [&a, &b] {
        std::fs::write(trace, "no trace").unwrap();
    }
    for (option, name) in [
        ("--out", "rows.parquet"),
        ("--out", "rows.arrows"),
        ("--csv", "rows.csv"),
    ] {
        let out = path(name);
        let answer = run(&["dump", "process", option, text(&out), text(&a), text(&b)]);
        assert_eq!(answer.exit, Exit::Error, "{name}: {}", answer.err);
        assert!(!out.exists(), "{name}: {}", answer.out);
    }
}

#[test]
fn a_comparison_of_one_trace_is_a_wrong_usage() {
    let answer = run(&["diff", &trace("sched-5.etl")]);
    assert_eq!(answer.exit, Exit::Error, "{}", answer.out);
    assert!(
        answer.err.contains("a comparison is of two") && answer.err.contains("--range"),
        "{}",
        answer.err
    );
}

/// Names of the table files of an extract, without their folder and their ending.
fn files(extract: &Path) -> Vec<String> {
    let mut names: Vec<String> = ["", "derived"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(extract.join(folder)).unwrap())
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".parquet").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

/// Names of the tables that the manifests of an extract list.
fn listed(extract: &Path) -> Vec<String> {
    let of = |folder: &str| -> Vec<String> {
        let text = std::fs::read(extract.join(folder).join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&text).unwrap();
        manifest["tables"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let mut names = [of(""), of("derived")].concat();
    names.sort();
    names
}

#[test]
fn extracts_without_empty_files_answer_as_others_do() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, small] = ["whole.etwx", "small.etwx"].map(|name| folder.path().join(name));
    let trace = trace("dns-5.etl");
    for (path, more) in [(&whole, &[][..]), (&small, &["--no-empty"])] {
        let args = [
            &["extract", "--out", text(path)][..],
            more,
            &[trace.as_str()],
        ]
        .concat();
        assert_eq!(run(&args).exit, Exit::Answered);
    }
    assert_eq!(listed(&small), listed(&whole));
    assert_eq!(files(&small), listed(&small));
    let every: Vec<&str> = TABLES
        .iter()
        .chain(ABOUT)
        .chain(DERIVED)
        .map(|table| table.name)
        .collect();
    assert_eq!(files(&whole).len(), every.len());
    assert!(files(&small).len() < every.len() / 2, "{:?}", files(&small));
    let kept = files(&small);
    let counts: Vec<String> = every
        .iter()
        .filter(|table| !kept.iter().any(|kept| kept == *table))
        .take(12)
        .chain(["process"].iter())
        .map(|table| format!("(SELECT count(*) FROM {table}) AS {table}"))
        .collect();
    let sql = format!("SELECT {}", counts.join(", "));
    let of = |path| run(&["sql", "--format", "json", text(path), &sql]);
    assert_eq!(of(&small).out, of(&whole).out);
    assert_eq!(of(&small).exit, Exit::Answered);
    // Tables that are computed again keep to it.
    std::fs::remove_dir_all(small.join("derived")).unwrap();
    let answer = run(&["dump", "cpu", text(&small)]);
    assert!(
        answer.err.contains("computed the derived tables"),
        "{}",
        answer.err
    );
    assert_eq!(files(&small), listed(&small));
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(small.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(
        (&manifest["no_empty"], &manifest["format_version"]),
        (&json!(true), &json!("2.0"))
    );
}

/// Extracts with a table that is too large to be held in memory.
#[cfg(unix)]
fn large(folder: &Path, count: usize) {
    let first = folder.join("0.etwx");
    let options = WriterOptions {
        no_empty: true,
        ..WriterOptions::default()
    };
    let mut writer = Writer::create(&first, options).unwrap();
    let mut rows = <Mark as Row>::Columns::default();
    let mut random = 1_u64;
    for ts_ns in 0..1000 {
        // Texts that compress badly.
        let mut words = String::new();
        for _ in 0..40 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            write!(words, "{random:016x}").unwrap();
        }
        rows.push(&Mark {
            ts_ns,
            text: words,
            ..Mark::default()
        });
    }
    writer.write(Mark::TABLE, rows.take().unwrap()).unwrap();
    writer.finish(manifest(&json!({}))).unwrap();
    let table = first.join("mark.parquet");
    assert!(
        table.metadata().unwrap().len() > 256 << 10,
        "{:?}",
        table.metadata()
    );
    for number in 1..count {
        let other = folder.join(format!("{number}.etwx"));
        std::fs::create_dir(&other).unwrap();
        for entry in std::fs::read_dir(&first).unwrap() {
            let entry = entry.unwrap();
            std::fs::hard_link(entry.path(), other.join(entry.file_name())).unwrap();
        }
    }
}

/// More tables than files that the system allows: the limit is raised where it may be, and files are
/// closed where it may not.
#[cfg(unix)]
#[test]
fn extracts_may_be_more_than_open_files() {
    let folder = tempfile::tempdir().unwrap();
    large(folder.path(), 160);
    for limit in ["ulimit -n 144", "ulimit -S -n 40"] {
        let answer = Command::new("sh")
            .args(["-c", &format!("{limit} && exec \"$0\" \"$@\"")])
            .arg(env!("CARGO_BIN_EXE_etwkit"))
            .args(["sql", "--quiet", "--format", "csv"])
            .arg(folder.path().join("*.etwx"))
            .arg("SELECT count(text) AS texts, sum(ts_ns) AS total FROM mark")
            .output()
            .unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&answer.stdout),
            String::from_utf8_lossy(&answer.stderr),
        );
        assert_eq!(out, "texts,total\r\n160000,79920000\r\n", "{limit}: {err}");
    }
}
