//! Handles, objects and virtual memory of the made traces: tables and dumps against the truth.

use std::collections::BTreeMap;

use etwkit_base::path::file_name;
use serde_json::Value;

use super::support::{Extract, assert_near, dump_rows, has_all, made_with, print_as, us};
use crate::support::{Exit, run, trace};

#[test]
fn handles_by_process_and_type_are_those_of_the_truth() {
    let mut compared = 0;
    for (trace, truth) in made_with("handles") {
        let truth = truth["handles"]["by_process_and_type"].as_object().unwrap();
        for detail in ["full", "summary"] {
            let extract = Extract::of(&[&trace], &["--detail", detail]);
            let rows = dump_rows(&["objectref", "--show-total", "process"], &extract);
            assert_eq!(rows.len(), truth.len(), "{trace} {detail}");
            for row in &rows {
                let key = format!(
                    "{} {}",
                    extract.process(&row["process_key"]),
                    row["type_name"].as_str().unwrap()
                );
                let want = truth.get(&key).unwrap_or_else(|| panic!("{trace} {key}"));
                for (ours, theirs) in [
                    ("created", "created"),
                    ("duplicated_in", "duplicated_in"),
                    ("closed", "closed"),
                    ("closed_preexisting", "closed_preexisting"),
                    ("leaked", "leaked"),
                    ("preexisting", "preexisting_open_at_end"),
                ] {
                    assert_eq!(row[ours], want[theirs], "{trace} {detail} {key} {ours}");
                }
                assert_near(
                    &format!("{trace} {key}"),
                    us(&row["lifetime_ns"]),
                    &want["lifetime_us"],
                );
                assert_near(
                    &format!("{trace} {key} longest"),
                    us(&row["max_lifetime_ns"]),
                    &want["max_lifetime_us"],
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 100 || !has_all(), "{compared}");
}

/// The innermost frame of a program in the text of a stack.
fn app_frame(stack: &Value) -> Option<&str> {
    let programs = ["leaky.exe+", "tidy.exe+", "peer.exe+"];
    stack
        .as_str()?
        .lines()
        .find(|frame| programs.iter().any(|program| frame.starts_with(program)))
}

#[test]
fn leaked_handles_are_those_of_the_truth_with_the_stacks_that_made_them() {
    for (trace, truth) in made_with("handles") {
        let extract = Extract::of(&[&trace], &[]);
        let mut rows = dump_rows(&["objectref", "--leak", "--show-stack"], &extract);
        rows.retain(|row| row["is_leaked"] == true);
        rows.sort_by_key(|row| row["ts_ns"].as_i64());
        let mut want = truth["handles"]["leaked"]["rows"]
            .as_array()
            .unwrap()
            .clone();
        want.sort_by(|a, b| a[0].as_f64().unwrap().total_cmp(&b[0].as_f64().unwrap()));
        assert_eq!(rows.len(), want.len(), "{trace}");
        let mut by_process: BTreeMap<String, u64> = BTreeMap::new();
        for (row, want) in rows.iter().zip(&want) {
            let what = format!("{trace} {want}");
            assert_near(&what, us(&row["ts_ns"]), &want[0]);
            let columns = ["owner_pid", "handle", "type_name", "address"];
            for (column, want) in columns.iter().zip(&want.as_array().unwrap()[1..]) {
                assert_eq!(&row[column], want, "{what} {column}");
            }
            assert_eq!(row["name"].as_str().unwrap_or_default(), want[5], "{what}");
            assert_eq!(
                row["event"],
                format!("handle_{}", want[6].as_str().unwrap()),
                "{what}"
            );
            assert_eq!(
                app_frame(&row["stack"]),
                want[7].as_str().map(file_name),
                "{what}"
            );
            *by_process.entry(row["owner_pid"].to_string()).or_default() += 1;
        }
        assert_eq!(
            serde_json::json!(by_process),
            truth["handles"]["leaked_by_process"],
            "{trace}"
        );
    }
}

#[test]
fn addresses_that_are_used_again_are_several_objects() {
    let mut reused = 0;
    for (trace, _) in made_with("handles") {
        let extract = Extract::of(&[&trace], &[]);
        reused += extract
            .ask("select address from object group by address having count(*) > 1")
            .len();
        // No handle reaches over the life of its object, and handles of one object have one type.
        let wrong = extract.ask(
            "select count(*) from handle h join object o on o.object_id = h.object_id
             where h.open_ns < o.first_ns or o.type_name is null",
        );
        assert_eq!(wrong[0][0], 0, "{trace}");
    }
    assert!(reused > 3 || !has_all(), "{reused}");
}

#[test]
fn classes_of_objects_come_from_their_events() {
    let Some((trace, _)) = made_with("handles").into_iter().next() else {
        return;
    };
    let extract = Extract::of(&[&trace], &[]);
    let ids = |args: &[&str]| {
        let rows = dump_rows(&[&["objectref"], args].concat(), &extract);
        let mut ids: Vec<i64> = rows.iter().map(|row| row["id"].as_i64().unwrap()).collect();
        ids.dedup();
        ids
    };
    let all = dump_rows(&["objectref"], &extract);
    let several = |row: &&Value| row["is_multi_process"] == true;
    let mut multi: Vec<i64> = all
        .iter()
        .filter(several)
        .map(|row| row["id"].as_i64().unwrap())
        .collect();
    multi.dedup();
    assert!(!multi.is_empty());
    assert_eq!(ids(&["--multi-process"]), multi);
    let everything = ids(&[]);
    let overlapped = ids(&["--overlapped"]);
    assert!(!overlapped.is_empty() && overlapped.len() < everything.len());
    let first = &all[0];
    let (id, handle) = (
        first["id"].as_i64().unwrap(),
        first["handle"].as_str().unwrap(),
    );
    assert_eq!(ids(&["--id", &format!("{id}-{id}")]), [id]);
    assert!(ids(&["--handle", handle]).contains(&id));
    assert!(ids(&["--object", first["address"].as_str().unwrap()]).contains(&id));
    let (ended, lasting) = (
        ids(&["--lifetime", "..9998"]),
        ids(&["--lifetime", "9999.."]),
    );
    assert!(!ended.is_empty() && lasting.iter().all(|id| !ended.contains(id)));
    assert_eq!(lasting.len() + ended.len(), everything.len());
    let (by, related) = (
        ids(&["--process", "leaky"]),
        ids(&["--related-process", "leaky"]),
    );
    assert!(!by.is_empty() && by.iter().all(|id| related.contains(id)));
    assert!(ids(&["--create-stack", "leaky.exe+0x14640"]).len() < by.len());
    assert!(!ids(&["--destroy-stack", "leaky.exe*"]).is_empty());
    assert!(!ids(&["--stack-filter", "!leaky.exe*", "--range", "0.01..0.1"]).is_empty());
    assert_eq!(ids(&["--inherit"]), Vec::<i64>::new());
    assert_eq!(ids(&["--mapped", "1"]), Vec::<i64>::new());
}

#[test]
fn virtual_memory_is_that_of_the_truth() {
    let mut compared = 0;
    for (trace, truth) in made_with("virtual_alloc") {
        let truth = &truth["virtual_alloc"];
        for detail in ["full", "summary"] {
            let extract = Extract::of(&[&trace], &["--detail", detail]);
            let rows = dump_rows(&["virtual-alloc"], &extract);
            assert_eq!(
                rows.len(),
                truth.as_object().unwrap().len(),
                "{trace} {detail}"
            );
            for row in &rows {
                let process = extract.process(&row["process_key"]);
                let want = &truth[&process];
                for (ours, theirs) in [
                    ("commits", "commit_events"),
                    ("commit_bytes", "commit_bytes"),
                    ("decommits", "decommit_events"),
                    ("releases", "release_events"),
                    ("reserves", "reserve_only_events"),
                    ("freed_bytes", "freed_bytes"),
                    ("outstanding_bytes", "outstanding_bytes"),
                ] {
                    assert_eq!(row[ours], want[theirs], "{trace} {detail} {process} {ours}");
                }
                assert!(
                    row["peak_bytes"].as_i64() >= row["outstanding_bytes"].as_i64(),
                    "{trace} {process}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 18 || !has_all(), "{compared}");
}

#[test]
fn memory_that_was_not_given_back_is_that_of_the_truth_by_frame() {
    for (trace, truth) in made_with("virtual_alloc") {
        let extract = Extract::of(&[&trace], &[]);
        let args = [
            "virtual-alloc",
            "--details",
            "--show-stack",
            "--top-stacks",
            "1000000",
        ];
        let mut ours: BTreeMap<(String, String), i64> = BTreeMap::new();
        for row in dump_rows(&args, &extract) {
            let frame = app_frame(&row["stack"])
                .unwrap_or_else(|| panic!("{trace} {row}"))
                .to_owned();
            *ours
                .entry((extract.process(&row["process_key"]), frame))
                .or_default() += row["outstanding_bytes"].as_i64().unwrap();
        }
        let mut want = BTreeMap::new();
        for (process, of) in truth["virtual_alloc"].as_object().unwrap() {
            for (frame, bytes) in of["outstanding_by_stack"].as_object().unwrap() {
                want.insert(
                    (process.clone(), file_name(frame).to_owned()),
                    bytes.as_i64().unwrap(),
                );
            }
        }
        assert_eq!(ours, want, "{trace}");
        // By method each stack counts once, with all of its frames.
        let args = [
            "virtual-alloc",
            "--methods",
            "*.exe+*",
            "--top-stacks",
            "1000000",
        ];
        for row in dump_rows(&args, &extract) {
            let key = (
                extract.process(&row["process_key"]),
                row["method"].as_str().unwrap().to_owned(),
            );
            assert!(
                want.get(&key)
                    .is_none_or(|least| row["outstanding_bytes"].as_i64() >= Some(*least)),
                "{row}"
            );
        }
    }
}

/// The number that looks at first addresses alone: the last commit of an address whose last free lies before
/// it.
const EXACT_BASE: &str = "select process_key, sum(size_bytes) from (
  select process_key, kind, size_bytes, row_number() over (partition by process_key, address order by alloc_id desc) as latest
  from virtual_alloc where kind <> 'reserve'
) where latest = 1 and kind = 'commit' group by 1";

#[test]
fn the_number_by_exact_addresses_can_be_asked_in_sql() {
    for (trace, truth) in made_with("virtual_alloc") {
        let extract = Extract::of(&[&trace], &[]);
        for (process, row) in extract.by_process(EXACT_BASE) {
            assert_eq!(
                row[0], truth["virtual_alloc"][&process]["outstanding_by_exact_base_rule"],
                "{trace} {process}"
            );
        }
    }
}

#[test]
fn a_part_of_a_trace_has_the_allocations_in_it() {
    let Some((trace, _)) = made_with("virtual_alloc").into_iter().next() else {
        return;
    };
    let extract = Extract::of(&[&trace], &[]);
    let sum = |args: &[&str], column: &str| -> i64 {
        let rows = dump_rows(&[&["virtual-alloc"], args].concat(), &extract);
        rows.iter().map(|row| row[column].as_i64().unwrap()).sum()
    };
    for column in [
        "commits",
        "commit_bytes",
        "outstanding_bytes",
        "freed_bytes",
        "outstanding_commits",
    ] {
        let (early, late) = (
            sum(&["--range", "..0.07"], column),
            sum(&["--range", "0.070000001.."], column),
        );
        assert!(early > 0 && late > 0, "{column}");
        assert_eq!(early + late, sum(&[], column), "{column}");
    }
    let events = dump_rows(&["virtual-alloc", "--events"], &extract);
    assert_eq!(
        events
            .iter()
            .map(|row| row["outstanding_bytes"].as_i64().unwrap())
            .sum::<i64>(),
        sum(&[], "outstanding_bytes")
    );
}

#[test]
fn what_was_not_recorded_is_named_with_how_to_record_it() {
    let Some((trace, _)) = made_with("pmc").into_iter().next() else {
        return;
    };
    let extract = Extract::of(&[&trace], &[]);
    for (dump, keyword) in [
        ("syscall", "SYSCALL"),
        ("handles", "OB_HANDLE"),
        ("virtualalloc", "VIRT_ALLOC"),
    ] {
        let answer = run(&["dump", dump, &extract.path]);
        assert_eq!(answer.exit, Exit::Nothing, "{dump}");
        assert!(answer.out.contains(keyword), "{dump}: {}", answer.out);
    }
}

#[test]
fn a_summary_says_what_needs_single_events() {
    let questions: [(&str, &[&str]); 4] = [
        ("syscalls", &["syscall", "--details"]),
        ("syscalls", &["syscall", "--status", "failed"]),
        ("handles", &["objectref", "--leak"]),
        ("virtual_alloc", &["virtual-alloc", "--details"]),
    ];
    for (section, args) in questions {
        let Some((trace, _)) = made_with(section).into_iter().next() else {
            return;
        };
        let extract = Extract::of(&[&trace], &["--detail", "summary"]);
        let answer = run(&[&["dump"], args, &[&extract.path]].concat());
        assert_eq!(answer.exit, Exit::Nothing, "{args:?}");
        assert!(
            answer.out.contains("only sums") && answer.out.contains("--detail full"),
            "{}",
            answer.out
        );
    }
}

#[test]
fn what_the_dumps_print() {
    let extract = Extract::of(&[&trace("handles-5.etl")], &[]);
    let leaks = [
        "objectref",
        "--leak",
        "--overlapped",
        "--type",
        "Event",
        "--time-digits",
        "6",
    ];
    for (name, args) in [
        ("dump-objectref", &leaks[..]),
        (
            "dump-objectref-types",
            &["objectref", "--show-total", "total"],
        ),
        ("dump-virtual-alloc", &["virtual-alloc"]),
        (
            "dump-virtual-alloc-details",
            &[
                "virtual-alloc",
                "--details",
                "--top-stacks",
                "1",
                "--show-stack",
            ],
        ),
        (
            "dump-virtual-alloc-methods",
            &[
                "virtual-alloc",
                "--methods",
                "leaky.exe*",
                "--top-stacks",
                "3",
            ],
        ),
        (
            "dump-virtual-alloc-events",
            &[
                "virtual-alloc",
                "--events",
                "--range",
                "0.02..0.03",
                "--process",
                "leaky",
            ],
        ),
    ] {
        print_as(name, args, &extract);
    }
}
