//! Parts of traces, as a whole command: they answer as `--range` on the whole does.

use std::collections::BTreeSet;

use etwkit_testkit::files::Folder;
use serde_json::Value;

use crate::support::{Exit, json, json_lines, run, trace};

fn path(folder: &Folder, name: &str) -> String {
    folder.path(name).to_str().unwrap().to_owned()
}

#[test]
fn a_part_answers_as_the_range_of_the_whole() {
    let folder = Folder::new();
    for (name, range) in [
        ("sched-5", "0.3..0.7"),
        ("files-5", "..0.04"),
        ("dotnet-5", "0.02.."),
    ] {
        let (whole, part) = (
            trace(&format!("{name}.etl")),
            path(&folder, &format!("{name}.etl")),
        );
        let cut = run(&["cut", &whole, "--range", range, "--out", &part]);
        assert_eq!(cut.exit, Exit::Answered, "{}", cut.err);
        let of_range = path(&folder, &format!("{name}.etwx"));
        assert_eq!(
            run(&["extract", &whole, "--range", range, "--out", &of_range]).exit,
            Exit::Answered
        );
        for sql in [
            "SELECT sum(run_ns), sum(wait_ns), sum(ready_ns), count(*) FROM context_switch",
            "SELECT sum(weight_ns), count(*) FROM cpu_sample",
            "SELECT kind, count(*), sum(size_bytes), sum(io_ns) FROM disk_io GROUP BY kind ORDER BY kind",
            "SELECT kind, count(*), sum(duration_ns) FROM file_io GROUP BY kind ORDER BY kind",
            "SELECT name, pid, start_ns FROM process ORDER BY process_key",
            "SELECT range_start_ns, range_end_ns FROM trace",
        ] {
            let [a, b] = [&of_range, &part].map(|file| run(&["sql", "--format", "csv", file, sql]));
            // What was not recorded is reported by both.
            assert!(
                a.exit != Exit::Error && a.exit == b.exit,
                "{name}: {sql}: {}{}",
                a.err,
                b.err
            );
            assert_eq!(a.out, b.out, "{name}: {sql}");
        }
        let [a, b] =
            [&of_range, &part].map(|file| json_lines(&run(&["dump", "cpu", "--json", file]).out));
        let rows = |lines: &[Value]| {
            lines
                .iter()
                .map(|row| row["cpu_ns"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(&a), rows(&b), "{name}");
    }
}

#[test]
fn what_became_of_the_events_is_reported() {
    let folder = Folder::new();
    let part = path(&folder, "part.etl");
    let answer = run(&[
        "cut",
        &trace("sched-5.etl"),
        "--range",
        "0.3..0.7",
        "--out",
        &part,
        "--json",
    ]);
    let said = &json_lines(&answer.out)[0];
    let sum = |counts: &Value| {
        counts
            .as_object()
            .unwrap()
            .values()
            .filter_map(Value::as_u64)
            .sum::<u64>()
    };
    assert_eq!(sum(&said["kept"]), said["kept_events"]);
    assert_eq!(sum(&said["dropped"]), said["dropped_events"]);
    // Both commands count the same events.
    let info = json(&["info", "--json", &trace("sched-5.etl")]);
    let total = sum(&said["kept"]) + sum(&said["dropped"]);
    assert_eq!(info["counts"]["total"], total, "{said}");
    assert!(
        said["kept"]["within"].as_u64() > Some(100)
            && said["dropped"]["outside"].as_u64() > Some(100)
    );
    assert_eq!(
        said["range"],
        serde_json::json!({"start_ns": 300_000_000, "end_ns": 700_000_000})
    );
    // A part that is there is replaced on request, a recording never.
    let again = [
        "cut",
        &trace("sched-5.etl"),
        "--range",
        "0.3..0.5",
        "--out",
        &part,
    ];
    let refused = run(&again);
    assert_eq!(refused.exit, Exit::Error);
    assert!(refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(
        run(&[&again[..], &["--force"]].concat()).exit,
        Exit::Answered
    );
    let recording = path(&folder, "recording.etl");
    std::fs::copy(trace("files-5.etl"), &recording).unwrap();
    let onto = run(&["cut", &trace("sched-5.etl"), "--out", &recording, "--force"]);
    assert!(onto.err.contains("will not overwrite"), "{}", onto.err);
    let own = run(&["cut", &part, "--out", &part, "--force"]);
    assert!(own.err.contains("is a trace that is read"), "{}", own.err);
}

#[test]
fn a_part_outside_of_the_trace_is_an_error() {
    let folder = Folder::new();
    let part = path(&folder, "part.etl");
    for (option, value) in [
        ("--range", "9999.."),
        ("--range", "x"),
        ("--process", " ; "),
    ] {
        let answer = run(&["cut", &trace("sched-5.etl"), option, value, "--out", &part]);
        assert_eq!(answer.exit, Exit::Error, "{option} {value}: {}", answer.out);
    }
    assert!(!folder.path("part.etl").exists());
}

#[test]
fn a_redacted_trace_is_queried_by_real_names() {
    let folder = Folder::new();
    let whole = trace("dns-5.etl");
    let [mail, names] = ["mail.etl", "real.names"].map(|name| path(&folder, name));
    let cut = run(&["cut", &whole, "--redact", "--map", &names, "--out", &mail]);
    assert_eq!(cut.exit, Exit::Answered, "{}", cut.err);
    let found = |line: &[&str]| -> BTreeSet<String> {
        let rows = json_lines(&run(line).out);
        rows.iter()
            .filter_map(|row| row["name"].as_str().map(str::to_owned))
            .collect()
    };
    for [question, option, filter] in [
        ["process", "--process", "browser.exe"],
        ["process", "--process", "!bro*"],
        ["dns", "--query", "www.example.com"],
    ] {
        let line = ["dump", question, "--json", option, filter];
        let expected = found(&[&line[..], &[whole.as_str()]].concat());
        assert!(!expected.is_empty(), "{filter}");
        let real = found(&[&line[..], &["--map", names.as_str(), mail.as_str()]].concat());
        assert_eq!(real, expected, "{filter}");
    }
}
