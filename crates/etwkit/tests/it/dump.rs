//! `etwkit dump` on an extract of a simulated machine: what is printed, and that numbers are those of the
//! simulation.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::{Answer, Exit, behind_kernel_logger, run, running_at_the_end, trace};
use crate::transcripts::compare;

/// The folder with `office.etl` and its extract `office.etwx`, made once.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let trace = folder.path().join("office.etl");
            let trace = trace.to_str().unwrap();
            for args in [
                vec!["synth", "write", "office", "--out", trace],
                vec!["extract", trace],
            ] {
                let Answer { err, exit, .. } = run(&args);
                assert_eq!(exit, Exit::Answered, "{args:?}: {err}");
            }
            folder
        })
        .path()
}

/// Runs a dump of the extract; `DIR` stands for its folder.
fn dump(args: &[&str]) -> Answer {
    let place = folder().to_str().unwrap();
    let mut full = vec!["dump".to_owned()];
    full.extend(args.iter().map(|arg| arg.replace("DIR", place)));
    if !full.iter().any(|arg| arg.contains(place)) {
        full.push(format!("{place}/office.etwx"));
    }
    run(&full.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Objects behind the first line.
#[track_caller]
fn rows(args: &[&str]) -> Vec<Value> {
    let Answer { out, err, exit } = dump(&[args, &["--json"]].concat());
    assert_eq!(exit, Exit::Answered, "{args:?}: {err}");
    out.lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn truth() -> Value {
    let text = std::fs::read_to_string(folder().join("office.truth.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_dumps_print() {
    let times = ["--time-format", "s"];
    let commands: &[(&str, &[&str])] = &[
        ("dump-process", &["process", "--sort-by", "tree"]),
        (
            "dump-process-columns",
            &[
                "process",
                "--column",
                "ProcessId;Start*;Process",
                "--process-format",
                "none",
            ],
        ),
        ("dump-cpu", &["cpu", "--show-total", "file", "--no-cmdline"]),
        (
            "dump-cpu-range",
            &[
                "cpu",
                "--range",
                "0.2..0.4",
                "--top",
                "3",
                "--first-last",
                "--show-core-number",
            ],
        ),
        (
            "dump-cpu-methods",
            &[
                "cpu",
                "--methods",
                "*",
                "--top",
                "2",
                "--top-methods",
                "5",
                "--include-dll",
            ],
        ),
        (
            "dump-cpu-stacks",
            &[
                "cpu",
                "--stacks",
                "--top",
                "1",
                "--min-percent",
                "20",
                "--max-depth",
                "15",
                "--range",
                "0.1..0.3",
            ],
        ),
        (
            "dump-cpu-bottom-up",
            &[
                "cpu",
                "--bottom-up",
                "--top",
                "1",
                "--top-children",
                "2",
                "--max-depth",
                "3",
                "--min-percent",
                "0.5",
                "--by",
                "thread",
                "--details",
            ],
        ),
        (
            "dump-cpu-butterfly",
            &[
                "cpu",
                "--butterfly",
                "*+0x25ec0",
                "--merge",
                "--metric",
                "wait",
                "--min-percent",
                "40",
            ],
        ),
        (
            "dump-cpu-module",
            &[
                "cpu",
                "--by",
                "module",
                "--top",
                "1",
                "--show-module=*Acme*",
            ],
        ),
        (
            "dump-cpu-thread",
            &[
                "cpu",
                "--by",
                "thread",
                "--top",
                "1",
                "--first-last",
                "--zero-time",
                "process-end",
                "--zero-process",
                "updater",
            ],
        ),
        (
            "dump-cpu-details",
            &[
                "cpu",
                "--top-methods",
                "1",
                "--top",
                "2",
                "--details",
                "--cut-method",
                "-12",
            ],
        ),
        (
            "dump-process-zero",
            &[
                "process",
                "--process",
                "viewer",
                "--zero-time",
                "marker:nothing",
            ],
        ),
        (
            "dump-cpu-tree-of-methods",
            &["cpu", "--stacks", "--by", "method"],
        ),
        ("dump-disk", &["disk", "--dir-level", "1"]),
        (
            "dump-disk-process",
            &[
                "disk",
                "--per-process",
                "--top",
                "2",
                "--dir-level",
                "100",
                "--details",
            ],
        ),
        (
            "dump-file",
            &["file", "--dir-level", "2", "--sort-by", "count"],
        ),
        ("dump-stats", &["stats"]),
        ("dump-version", &["version", "--dll", "n*", "--top", "2"]),
        ("dump-missing-pdb", &["version", "--missing-pdb"]),
        (
            "dump-wait",
            &["wait", "--sort-by", "open", "--details", "--no-cmdline"],
        ),
        (
            "dump-wait-readying",
            &[
                "wait",
                "--by",
                "readying",
                "--process",
                "editor",
                "--wait",
                "1ms..",
            ],
        ),
        (
            "dump-wait-sql",
            &[
                "wait",
                "--by",
                "method",
                "--range",
                "0.1..0.2",
                "--reason",
                "o'x",
                "--show-sql",
            ],
        ),
        (
            "dump-sql",
            &[
                "cpu",
                "--process",
                "o'neill",
                "--wait",
                "10ms..",
                "--show-sql",
            ],
        ),
        ("dump-bad-range", &["cpu", "--cpu", "5MB.."]),
        ("dump-bad-column", &["disk", "--column", "nosuch"]),
    ];
    for (name, args) in commands {
        let Answer { out, err, exit } = dump(&[*args, &times[..]].concat());
        let printed = format!(
            "$ etwkit dump {}\n{out}{err}[exit {}]\n",
            args.join(" "),
            exit.code()
        );
        compare(&printed.replace(folder().to_str().unwrap(), "DIR"), name);
    }
}

#[test]
fn run_wait_and_ready_times_are_those_of_the_simulation() {
    let truth = truth();
    let behind_ns = behind_kernel_logger(&format!("{}/office.etwx", folder().to_str().unwrap()));
    let rows = rows(&["cpu"]);
    let mut compared = 0;
    for row in &rows {
        let Some(process) = row["pid"]
            .as_i64()
            .and_then(|pid| truth["processes"].get(pid.to_string()))
        else {
            continue;
        };
        let times = &process["times"];
        let run_ns = times["run_ns"].as_i64().unwrap() + times["run_open_end_ns"].as_i64().unwrap();
        let unseen_ns = behind_ns * running_at_the_end(&truth, &row["pid"].to_string());
        assert_eq!(row["run_ns"], run_ns - unseen_ns, "{row}");
        assert_eq!(row["switches"], process["times"]["switches_in"], "{row}");
        compared += 1;
    }
    assert!(compared > 3, "{compared} of {}", rows.len());
}

#[test]
fn a_range_over_the_whole_trace_gives_the_numbers_without_range() {
    for (dump, numbers) in [
        (
            "cpu",
            &[
                "cpu_ns", "run_ns", "wait_ns", "ready_ns", "switches", "threads",
            ][..],
        ),
        (
            "wait",
            &[
                "waits",
                "wait_ns",
                "wait_sum_ns",
                "wait_max_ns",
                "ready_ns",
                "preemptions",
                "open_waits",
            ][..],
        ),
        (
            "disk",
            &[
                "reads",
                "read_bytes",
                "read_service_ns",
                "writes",
                "write_bytes",
                "write_service_ns",
                "flushes",
            ][..],
        ),
        (
            "file",
            &[
                "reads",
                "read_bytes",
                "read_ns",
                "writes",
                "opens",
                "close_ns",
                "failures",
                "total_count",
            ][..],
        ),
    ] {
        let (all, ranged) = (rows(&[dump]), rows(&[dump, "--range", "-1..1000000"]));
        assert!(!all.is_empty() && all.len() == ranged.len(), "{dump}");
        let key = |row: &Value| (row["process_key"].to_string(), row["path"].to_string());
        for row in &all {
            let same = ranged.iter().find(|other| key(other) == key(row)).unwrap();
            for number in numbers {
                assert_eq!(row[number], same[number], "{dump} {number}: {row}");
            }
        }
    }
}

#[test]
fn csv_has_the_columns_of_the_json() {
    let path = folder().join("cpu.csv");
    let Answer { out, err, exit } =
        dump(&["cpu", "--csv", path.to_str().unwrap(), "DIR/office.etwx"]);
    assert_eq!(exit, Exit::Answered, "{out}{err}");
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let json = rows(&["cpu"]);
    let names: Vec<&str> = json[0]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), names);
    assert_eq!(reader.records().count(), json.len());
    assert!(names.contains(&"cpu_ns") && !names.contains(&"sort_value"));
}

#[test]
fn an_extract_without_rows_says_what_it_lacks() {
    let out = folder().join("summary.etwx");
    let trace = folder().join("office.etl");
    let args = [
        "extract",
        "--detail",
        "summary",
        "--out",
        out.to_str().unwrap(),
        trace.to_str().unwrap(),
    ];
    let made = run(&args);
    assert_eq!(made.exit, Exit::Answered, "{}", made.err);
    for name in ["cpu", "disk", "file"] {
        let Answer {
            out: text, exit, ..
        } = dump(&[name, "--range", "0..1", out.to_str().unwrap()]);
        assert!(
            exit == Exit::Nothing && text.contains("--detail full"),
            "{name}: {text}"
        );
        assert_eq!(
            dump(&[name, out.to_str().unwrap()]).exit,
            Exit::Answered,
            "{name}"
        );
    }
    let out = out.to_str().unwrap();
    for args in [
        vec!["dump", "wait", out],
        vec!["dump", "wait", "--chain", out],
        vec!["critical-path", out],
    ] {
        let Answer {
            out: text, exit, ..
        } = run(&args);
        assert!(
            exit == Exit::Nothing && text.contains("--detail full"),
            "{args:?}: {text}"
        );
    }
}

#[test]
fn what_chains_and_critical_paths_print() {
    let extract = format!("{}/office.etwx", folder().to_str().unwrap());
    let commands: &[(&str, &[&str])] = &[
        (
            "dump-wait-chain",
            &[
                "dump",
                "wait",
                "--chain",
                "--process",
                "editor",
                "--top",
                "2",
            ],
        ),
        (
            "dump-wait-single",
            &[
                "dump",
                "wait",
                "--by",
                "wait",
                "--process",
                "editor",
                "--top",
                "4",
            ],
        ),
        (
            "critical-path",
            &[
                "critical-path",
                "--process",
                "editor",
                "--range",
                "0.1..0.2",
                "--top",
                "12",
            ],
        ),
        (
            "critical-path-tree",
            &[
                "critical-path",
                "--process",
                "editor",
                "--range",
                "0.1..0.2",
                "--tree",
            ],
        ),
        (
            "critical-path-several",
            &["critical-path", "--process", "*.exe", "--range", "0.1..0.2"],
        ),
    ];
    for (name, args) in commands {
        let full: Vec<&str> = args
            .iter()
            .copied()
            .chain(["--time-format", "s", &extract])
            .collect();
        let Answer { out, err, exit } = run(&full);
        let printed = format!(
            "$ etwkit {}\n{out}{err}[exit {}]\n",
            args.join(" "),
            exit.code()
        );
        compare(&printed.replace(folder().to_str().unwrap(), "DIR"), name);
    }
}

#[test]
fn waits_of_processes_are_those_of_the_dump_of_cpu() {
    let (waits, cpu) = (rows(&["wait"]), rows(&["cpu"]));
    for row in &waits {
        let same = cpu
            .iter()
            .find(|other| other["process_key"] == row["process_key"])
            .unwrap();
        assert_eq!(
            (&row["wait_ns"], &row["ready_ns"]),
            (&same["wait_ns"], &same["ready_ns"]),
            "{row}"
        );
        assert_eq!(row["preemptions"], same["preemptions"], "{row}");
    }
    assert!(waits.len() > 3, "{}", waits.len());
}

#[test]
fn rows_of_critical_paths_and_chains_add_up_for_machines() {
    let extract = format!("{}/office.etwx", folder().to_str().unwrap());
    let lines = |args: &[&str]| -> Vec<Value> {
        let answer = run(&[args, &["--json", &extract]].concat());
        assert_eq!(
            (answer.exit, answer.other_errors().as_str()),
            (Exit::Answered, ""),
            "{args:?}"
        );
        answer
            .out
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let path = ["critical-path", "--range", "0.2..0.3"];
    let sum = |rows: Vec<Value>, column: &str| {
        rows.iter()
            .map(|row| row[column].as_i64().unwrap())
            .sum::<i64>()
    };
    assert_eq!(sum(lines(&path), "duration_ns"), 100_000_000);
    assert_eq!(
        sum(lines(&[&path[..], &["--sums"]].concat()), "duration_ns"),
        100_000_000
    );
    assert_eq!(
        lines(&[&path[..], &["--tree"]].concat())[0]["total_ns"],
        100_000_000
    );
    let chains = lines(&["dump", "wait", "--chain", "--top", "5"]);
    let roots = chains.iter().filter(|row| row["kind"] != "wait").count();
    assert_eq!((roots, &chains.last().unwrap()["chain"]), (5, &5.into()));
}

#[test]
fn nothing_found_is_no_answer() {
    assert_eq!(dump(&["cpu", "--process", "nobody"]).exit, Exit::Nothing);
    assert_eq!(dump(&["stats", "--properties", "nosuch"]).exit, Exit::Error);
}

#[test]
fn a_wrong_column_is_an_error_before_anything_is_printed() {
    let answer = dump(&["process", "--column", "nosuch"]);
    assert_eq!((answer.exit, answer.out.as_str()), (Exit::Error, ""));
}

#[test]
fn a_summary_has_the_same_call_trees() {
    let out = folder().join("trees.etwx");
    let trace = folder().join("office.etl");
    let args = [
        "extract",
        "--detail",
        "summary",
        "--out",
        out.to_str().unwrap(),
        trace.to_str().unwrap(),
    ];
    assert_eq!(run(&args).exit, Exit::Answered);
    let tree = ["cpu", "--stacks", "--min-percent", "0"];
    let full = dump(&[&tree[..], &["--json"]].concat());
    let summary = dump(&[&tree[..], &["--json", out.to_str().unwrap()]].concat());
    assert_eq!(full.exit, Exit::Answered);
    // The first line names the extract.
    assert!(
        full.out.lines().skip(1).eq(summary.out.lines().skip(1)),
        "{}",
        summary.out
    );
    let Answer {
        out: text, exit, ..
    } = dump(&["cpu", "--stacks", "--metric", "wait", out.to_str().unwrap()]);
    assert!(
        exit == Exit::Nothing && text.contains("--detail full"),
        "{text}"
    );
}

#[test]
fn merged_extracts_show_how_processes_differ_from_the_newest() {
    let later = folder().join("later.etl");
    let later = later.to_str().unwrap();
    let out = folder().join("later.etwx");
    let out = out.to_str().unwrap();
    for args in [
        vec!["synth", "write", "office", "--out", later, "--seed", "2"],
        vec!["extract", later],
    ] {
        assert_eq!(run(&args).exit, Exit::Answered, "{args:?}");
    }
    let args = [
        "cpu",
        "--merge",
        "--process",
        "editor",
        "--column",
        "Cpu;Diff;File",
        "DIR/office.etwx",
        out,
    ];
    let Answer {
        out: text, exit, ..
    } = dump(&args);
    assert_eq!(exit, Exit::Answered);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 2, "{text}");
    let cpu = |file: &str| -> i64 {
        let row = rows.iter().find(|row| row.last() == Some(&file)).unwrap();
        row[0].parse().unwrap()
    };
    for row in &rows {
        let own: i64 = row[0].parse().unwrap();
        let diff: i64 = row[1].parse().unwrap();
        // If two recordings began at the same moment, the second one counts as the newest.
        assert!((cpu("later.etl") - own - diff).abs() <= 1, "{text}");
    }
}

#[test]
fn an_overview_suggests_only_what_the_trace_can_answer() {
    let Answer { out, exit, .. } = dump(&["overview", "DIR/office.etwx"]);
    assert_eq!(exit, Exit::Answered);
    assert!(
        out.contains("etwkit dump wait --chain") && out.contains("etwkit dump disk"),
        "{out}"
    );
    assert!(
        !out.contains("dump dns") && !out.contains("dump tcp"),
        "{out}"
    );
    // A recording of DNS queries has no samples, no context switches and no disk operations.
    let folder = tempfile::tempdir().unwrap();
    let extract = folder.path().join("dns.etwx");
    let extract = extract.to_str().unwrap();
    assert_eq!(
        run(&["extract", "--out", extract, &trace("dns-5.etl")]).exit,
        Exit::Answered
    );
    let Answer { out, exit, .. } = run(&["dump", "overview", extract]);
    assert_eq!(exit, Exit::Answered);
    assert!(
        !out.contains("dump cpu") && !out.contains("dump wait") && !out.contains("dump disk"),
        "{out}"
    );
    assert!(
        out.contains("etwkit dump dns") && !out.contains("dump tcp"),
        "{out}"
    );
    let extract = folder.path().join("tcp.etwx");
    let extract = extract.to_str().unwrap();
    assert_eq!(
        run(&["extract", "--out", extract, &trace("tcp-5.etl")]).exit,
        Exit::Answered
    );
    let Answer { out, .. } = run(&["dump", "overview", extract]);
    assert!(
        out.contains("etwkit dump tcp") && !out.contains("dump dns"),
        "{out}"
    );
}

/// Tables of an overview as machines get them; a part of the trace that is all of it has the same numbers.
#[test]
fn an_overview_has_rows_of_the_whole_trace_and_of_parts() {
    let all = rows(&["overview", "--top", "0"]);
    let part = rows(&["overview", "--top", "0", "--range", "-5..1000"]);
    let of = |rows: &[Value], table: &str, key: &str, value: &str| -> BTreeMap<String, i64> {
        let of_table = rows.iter().filter(|row| row["table"] == table);
        of_table
            .map(|row| (row[key].to_string(), row[value].as_i64().unwrap()))
            .collect()
    };
    for (table, key, value) in [
        ("processes", "pid", "cpu_ns"),
        ("modules", "module_path", "exclusive_ns"),
        ("files", "path", "service_ns"),
    ] {
        let whole = of(&all, table, key, value);
        assert!(whole.len() > 3, "{table}: {whole:?}");
        assert_eq!(of(&part, table, key, value), whole, "{table}");
    }
    let half = of(
        &rows(&["overview", "--range", "0..0.5"]),
        "modules",
        "module_path",
        "exclusive_ns",
    );
    assert!(
        half.values().sum::<i64>()
            < of(&all, "modules", "module_path", "exclusive_ns")
                .values()
                .sum()
    );
    let recording = all.iter().find(|row| row["table"] == "recording").unwrap();
    assert_eq!(
        (&recording["processors"], &recording["core_classes"]),
        (&4.into(), &Value::Null)
    );
    let commands = all.iter().filter(|row| row["table"] == "next");
    assert!(commands.clone().count() > 3);
    assert!(
        commands
            .clone()
            .all(|row| row["command"].as_str().unwrap().starts_with("etwkit "))
    );
    // What has columns needs one table.
    let modules = dump(&[
        "overview", "--table", "modules", "--column", "Module", "--top", "1",
    ]);
    assert_eq!(
        (modules.exit, modules.out.lines().count()),
        (Exit::Answered, 3),
        "{}",
        modules.out
    );
    let several = dump(&["overview", "--column", "Module"]);
    assert!(
        several.exit == Exit::Error && several.err.contains("--table"),
        "{}",
        several.err
    );
}

#[test]
fn what_dumps_of_the_network_print() {
    let commands: &[(&str, &str, &[&str])] = &[
        (
            "dump-dns",
            "dns-5.etl",
            &[
                "dns",
                "--show-process",
                "--show-adapter",
                "--show-return-code",
            ],
        ),
        (
            "dump-dns-details",
            "dns-5.etl",
            &[
                "dns",
                "--details",
                "--top",
                "2",
                "--top-details",
                "3",
                "--skip-details",
                "1",
            ],
        ),
        (
            "dump-dns-longest",
            "dns-5.etl",
            &[
                "dns",
                "--total-by",
                "longest",
                "--time",
                "20ms..",
                "--top",
                "2",
            ],
        ),
        (
            "dump-dns-sql",
            "dns-5.etl",
            &["dns", "--query", "o'x", "--total-time", "1..", "--show-sql"],
        ),
        ("dump-dns-none", "tcp-5.etl", &["dns"]),
        ("dump-tcp", "tcp-5.etl", &["tcp"]),
        (
            "dump-tcp-details",
            "tcp-5.etl",
            &[
                "tcp",
                "--details",
                "--stats",
                "--top",
                "3",
                "--no-digit-sep",
            ],
        ),
        (
            "dump-tcp-retransmit",
            "tcp-5.etl",
            &[
                "tcp",
                "--show-retransmit",
                "--sort-retransmit-by",
                "delay",
                "--top-retransmits",
                "3",
                "--top",
                "3",
            ],
        ),
        (
            "dump-tcp-group",
            "tcp-5.etl",
            &[
                "tcp",
                "--group-by",
                "source-ip-port-remote-ip",
                "--sort-by",
                "total-size",
                "--ip-port",
                "192*",
            ],
        ),
        (
            "dump-tcp-zero",
            "tcp-5.etl",
            &[
                "tcp",
                "--column",
                "Connection;ConnectTime",
                "--zero-time",
                "process-start",
                "--connect",
                "0.3..",
            ],
        ),
        (
            "dump-tcp-total",
            "tcp-5.etl",
            &["tcp", "--show-total", "total", "--process", "server"],
        ),
        ("dump-tcp-issue", "tcp-5.etl", &["tcp", "--issue", "post"]),
        (
            "dump-tcp-sql",
            "tcp-5.etl",
            &[
                "tcp",
                "--group-by",
                "source-ip-remote-ip",
                "--sent-bytes",
                "1KB..",
                "--show-sql",
            ],
        ),
        ("dump-tcp-none", "dns-5.etl", &["tcp"]),
    ];
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    for name in ["dns-5", "tcp-5"] {
        let out = format!("{place}/{name}.etwx");
        let made = run(&["extract", "--out", &out, &trace(&format!("{name}.etl"))]);
        assert_eq!(made.exit, Exit::Answered, "{}", made.err);
    }
    for (name, trace, args) in commands {
        let extract = format!("{place}/{}", trace.replace(".etl", ".etwx"));
        let full: Vec<&str> = ["dump"]
            .iter()
            .chain(*args)
            .copied()
            .chain(["--time-format", "s", &extract])
            .collect();
        let Answer { out, err, exit } = run(&full);
        let printed = format!(
            "$ etwkit dump {} {trace}\n{out}{err}[exit {}]\n",
            args.join(" "),
            exit.code()
        );
        compare(&printed.replace(place, "DIR"), name);
    }
}
