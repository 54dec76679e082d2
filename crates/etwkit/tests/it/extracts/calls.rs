//! System calls of the made traces: tables and dumps against the truth.

use std::collections::BTreeMap;

use etwkit_base::path::file_name;
use serde_json::{Map, Value, json};

use super::support::{Extract, assert_near, dump_rows, has_all, made_with, print_as, us};
use crate::support::{run, trace};

/// What is summed up for a function of a thread or process.
#[derive(Debug, Default)]
struct Sum {
    count: i64,
    duration_us: f64,
    max_us: f64,
    moved: i64,
    by_status: BTreeMap<String, i64>,
}

/// Sums by owner and function.
type Sums = BTreeMap<(String, String), Sum>;

/// `0xc0000005` for the signed number.
fn status_text(status: &Value) -> String {
    format!("{:#x}", status.as_i64().unwrap() as u32)
}

fn check_sums(what: &str, sums: &Sums, truth: &Value, with_threads: bool) {
    let mut compared = 0;
    for (owner, functions) in truth.as_object().unwrap() {
        for (function, want) in functions.as_object().unwrap() {
            let key = (owner.clone(), function.clone());
            let ours = sums
                .get(&key)
                .unwrap_or_else(|| panic!("{what} {key:?} is missing"));
            assert_eq!(
                ours.count,
                want["count"].as_i64().unwrap(),
                "{what} {key:?}"
            );
            assert_near(
                &format!("{what} {key:?}"),
                ours.duration_us,
                &want["duration_us"],
            );
            assert_eq!(json!(ours.by_status), want["by_status"], "{what} {key:?}");
            if with_threads {
                assert_near(
                    &format!("{what} {key:?} longest"),
                    ours.max_us,
                    &want["max_us"],
                );
                assert_eq!(
                    ours.moved,
                    want["moved_cpu"].as_i64().unwrap(),
                    "{what} {key:?}"
                );
            }
            compared += 1;
        }
    }
    assert_eq!(compared, sums.len(), "{what}");
}

#[test]
fn calls_of_every_thread_and_function_are_the_truth() {
    let mut calls = 0;
    for (trace, truth) in made_with("syscalls") {
        let truth = &truth["syscalls"];
        let extract = Extract::of(&[&trace], &[]);
        let (mut by_thread, mut by_process) = (Sums::new(), Sums::new());
        for row in extract.ask(
            "select s.process_key, t.tid, m.path, hex(f.rva), s.status, count(*), sum(s.duration_ns), max(s.duration_ns),
               count(*) filter (where s.enter_cpu <> s.exit_cpu)
             from syscall s join thread t on t.thread_key = s.thread_key
             join frame f on f.frame_id = s.frame_id join module m on m.module_id = f.module_id
             where s.duration_ns is not null group by 1, 2, 3, 4, 5",
        ) {
            let process = extract.process(&row[0]);
            let function = format!("{}+{}", row[2].as_str().unwrap(), row[3].as_str().unwrap());
            let of_thread = by_thread.entry((format!("{process}/{}", row[1]), function.clone())).or_default();
            for sum in [of_thread, by_process.entry((process, function)).or_default()] {
                let count = row[5].as_i64().unwrap();
                (sum.count, sum.duration_us) = (sum.count + count, sum.duration_us + us(&row[6]));
                sum.max_us = sum.max_us.max(us(&row[7]));
                sum.moved += row[8].as_i64().unwrap();
                *sum.by_status.entry(status_text(&row[4])).or_default() += count;
            }
        }
        check_sums(&trace, &by_thread, &truth["by_thread"], true);
        check_sums(&trace, &by_process, &truth["by_process"], false);
        calls += truth["complete_calls"].as_i64().unwrap();
    }
    assert!(calls > 5000 || !has_all(), "{calls}");
}

#[test]
fn the_dump_has_the_sums_of_the_truth_with_and_without_single_calls() {
    for (trace, truth) in made_with("syscalls") {
        let truth = &truth["syscalls"];
        for detail in ["full", "summary"] {
            let extract = Extract::of(&[&trace], &["--detail", detail]);
            let rows = dump_rows(&["syscall", "--per-process"], &extract);
            let (mut count, mut open_start, mut open_end, mut functions) = (0, 0, 0, 0);
            for row in &rows {
                let process = extract.process(&row["process_key"]);
                open_start += row["open_at_start"].as_i64().unwrap();
                open_end += row["open_at_end"].as_i64().unwrap();
                let Some(function) = row["function"].as_str() else {
                    continue;
                };
                let name = format!("{}{function}", row["module"].as_str().unwrap());
                let of_process = truth["by_process"][&process].as_object().unwrap();
                let Some((_, want)) = of_process.iter().find(|(key, _)| file_name(key) == name)
                else {
                    // Only open calls: the truth has no sum of them.
                    assert_eq!(row["count"], 0, "{trace} {process} {name}");
                    continue;
                };
                let what = format!("{trace} {detail} {process} {name}");
                assert_eq!(row["count"], want["count"], "{what}");
                assert_near(&what, us(&row["duration_ns"]), &want["duration_us"]);
                let statuses = want["by_status"].as_object().unwrap().iter();
                let failed = statuses.filter(|(status, _)| status.len() == 10);
                let failed: i64 = failed.map(|(_, count)| count.as_i64().unwrap()).sum();
                assert_eq!(row["failures"], failed, "{what}");
                assert_eq!(
                    row["p50_duration_ns"].is_null(),
                    detail == "summary",
                    "{what}"
                );
                count += row["count"].as_i64().unwrap();
                functions += 1;
            }
            let want: usize = truth["by_process"]
                .as_object()
                .unwrap()
                .values()
                .map(|f| f.as_object().unwrap().len())
                .sum();
            assert_eq!(
                (count, functions),
                (truth["complete_calls"].as_i64().unwrap(), want),
                "{trace} {detail}"
            );
            assert_eq!(
                open_start,
                truth["exits_without_enter"].as_i64().unwrap(),
                "{trace} {detail}"
            );
            assert_eq!(
                open_end,
                truth["enters_without_exit"].as_i64().unwrap(),
                "{trace} {detail}"
            );
        }
    }
}

#[test]
fn open_calls_are_those_of_the_truth() {
    for (trace, truth) in made_with("syscalls") {
        let truth = &truth["syscalls"];
        let extract = Extract::of(&[&trace], &[]);
        let (mut entered, mut left) = (Map::new(), Map::new());
        for row in extract.ask(
            "select s.process_key, t.tid, m.path, hex(f.rva), count(*), s.enter_ns is null
             from syscall s join thread t on t.thread_key = s.thread_key
             left join frame f on f.frame_id = s.frame_id left join module m on m.module_id = f.module_id
             where s.duration_ns is null group by 1, 2, 3, 4, 6",
        ) {
            let thread = format!("{}/{}", extract.process(&row[0]), row[1]);
            if row[5] == true {
                left.insert(thread, row[4].clone());
            } else {
                let function = format!("{}+{}", row[2].as_str().unwrap(), row[3].as_str().unwrap());
                entered.insert(thread, function.into());
            }
        }
        assert_eq!(
            Value::Object(entered),
            truth["enters_without_exit_by_thread"],
            "{trace}"
        );
        assert_eq!(
            Value::Object(left),
            truth["exits_without_enter_by_thread"],
            "{trace}"
        );
    }
}

#[test]
fn single_calls_are_found_by_function_and_result() {
    for (trace, truth) in made_with("syscalls") {
        let extract = Extract::of(&[&trace], &[]);
        let name = truth["_function_names"]["NtCreateFile"].as_str().unwrap();
        let args = [
            "syscall",
            "--details",
            "--function",
            file_name(name),
            "--status",
            "STATUS_ACCESS_VIOLATION",
        ];
        let rows = dump_rows(&args, &extract);
        let mut want = truth["syscalls"]["access_violations_of_NtCreateFile"]
            .as_array()
            .unwrap()
            .clone();
        want.sort_by(|a, b| a[2].as_f64().unwrap().total_cmp(&b[2].as_f64().unwrap()));
        assert_eq!(rows.len(), want.len(), "{trace}");
        for (row, want) in rows.iter().zip(&want) {
            assert_eq!((&row["pid"], &row["tid"]), (&want[0], &want[1]), "{trace}");
            assert_near(&trace, us(&row["enter_ns"]), &want[2]);
            assert_near(&trace, us(&row["exit_ns"]), &want[3]);
            assert_eq!(row["status_name"], "ACCESS_VIOLATION");
        }
        let violations = want.len();
        // A status may be given as a number or as a name; excluding it leaves all other calls.
        for (status, negated) in [
            ("0xc0000005", "!0xc0000005"),
            ("-1073741819", "!ACCESS_VIOLATION"),
        ] {
            let [only, others, all] = [Some(status), Some(negated), None].map(|status| {
                let filter: &[&str] = &status.map_or(vec![], |status| vec!["--status", status]);
                let args = [
                    &["syscall", "--details", "--function", file_name(name)],
                    filter,
                ]
                .concat();
                dump_rows(&args, &extract)
                    .iter()
                    .filter(|row| !row["status"].is_null())
                    .count()
            });
            assert_eq!(
                (only, others),
                (violations, all - violations),
                "{trace} {status}"
            );
        }
    }
}

#[test]
fn sums_are_those_of_the_single_calls() {
    let Some((trace, _)) = made_with("syscalls").into_iter().next() else {
        return;
    };
    let extract = Extract::of(&[&trace], &[]);
    for by in ["function", "process", "thread", "status"] {
        let calls = dump_rows(
            &[
                "syscall",
                "--details",
                "--range",
                "0.05..0.15",
                "--duration",
                "20..",
            ],
            &extract,
        );
        let rows = dump_rows(
            &[
                "syscall",
                "--by",
                by,
                "--range",
                "0.05..0.15",
                "--duration",
                "20..",
            ],
            &extract,
        );
        let mut left = calls.len() as i64;
        for row in &rows {
            let is_same = |call: &&Value| match by {
                "function" => {
                    call["function"] == row["function"] && call["module"] == row["module"]
                }
                "process" => call["pid"] == row["pid"],
                "thread" => call["tid"] == row["tid"],
                _ => call["status"] == row["status"],
            };
            let mut durations: Vec<i64> = calls
                .iter()
                .filter(is_same)
                .map(|call| call["duration_ns"].as_i64().unwrap())
                .collect();
            durations.sort_unstable();
            let n = durations.len() as i64;
            left -= n;
            // PERCENTILE.INC, cut to whole nanoseconds.
            let percentile = |percent: i64| {
                let (at, rest) = ((n - 1) * percent / 100, (n - 1) * percent % 100);
                let low = durations[at as usize];
                low + (durations.get(at as usize + 1).unwrap_or(&low) - low) * rest / 100
            };
            assert_eq!(row["count"], n, "{by} {row}");
            assert_eq!(row["min_duration_ns"], durations[0], "{by}");
            assert_eq!(
                row["max_duration_ns"],
                durations[durations.len() - 1],
                "{by}"
            );
            assert_eq!(row["duration_ns"], durations.iter().sum::<i64>(), "{by}");
            for percent in [50, 90, 95, 99] {
                assert_eq!(
                    row[format!("p{percent}_duration_ns")],
                    percentile(percent),
                    "{by} {percent} of {n}"
                );
            }
        }
        assert!(left == 0 && !rows.is_empty(), "{by}: {left}");
    }
}

#[test]
fn what_the_dump_prints() {
    let extract = Extract::of(&[&trace("syscalls-5.etl")], &[]);
    let details = [
        "--details",
        "--process",
        "alpha",
        "--status",
        "failed",
        "--range",
        "..0.02",
        "--time-digits",
        "6",
    ];
    for (name, args) in [
        (
            "dump-syscall",
            &[
                "--per-process",
                "--process",
                "alpha;beta",
                "--count",
                "60..",
            ][..],
        ),
        (
            "dump-syscall-status",
            &["--by", "status", "--column", "Count;Failed;OpenEnd;Status"],
        ),
        ("dump-syscall-details", &details),
    ] {
        print_as(name, &[&["syscall"], args].concat(), &extract);
    }
}

#[test]
fn strace_counts_and_lists_the_calls_of_the_truth() {
    for (trace, truth) in made_with("syscalls") {
        let (mut calls, mut errors) = (0, 0);
        for functions in truth["syscalls"]["by_process"]
            .as_object()
            .unwrap()
            .values()
        {
            for want in functions.as_object().unwrap().values() {
                calls += want["count"].as_i64().unwrap();
                let statuses = want["by_status"].as_object().unwrap();
                let failed = statuses
                    .iter()
                    .filter(|(status, _)| status.len() == 10 && status.as_str() >= "0x8");
                errors += failed
                    .map(|(_, count)| count.as_i64().unwrap())
                    .sum::<i64>();
            }
        }
        let extract = Extract::of(&[&trace], &[]);
        let summary = run(&["strace", "-c", &extract.path]).out;
        let total = summary
            .lines()
            .last()
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>();
        assert_eq!(
            total[3..],
            [calls.to_string(), errors.to_string(), "total".to_owned()],
            "{summary}"
        );
        let failed = run(&["strace", "-Z", &extract.path]).out;
        // Calls whose entry is missing return as well; of these the truth knows only how many there are.
        let whole = failed
            .lines()
            .filter(|line| !line.contains("<... call resumed>"))
            .collect::<Vec<_>>();
        assert_eq!(whole.len() as i64, errors, "{trace}");
        assert!(
            whole
                .iter()
                .all(|line| line.starts_with("[pid ") && line.contains(") = 0x")),
            "{failed}"
        );
    }
}
