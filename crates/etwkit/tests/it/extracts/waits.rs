//! Waits, chains of waits and critical paths, against what an independent decoder knows of the same traces.

use std::collections::{BTreeMap, HashMap};

use etwkit_analysis::chain::Chain;
use etwkit_analysis::path::{CriticalPath, PathAnswer, PathRequest};
use etwkit_analysis::wait::{WaitBy, WaitRequest, WaitSort, WaitSum};
use etwkit_question::ProcessQuery;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_sql::Session;
use serde_json::Value;

use super::support::{Extract, assert_us, has_all, made_with};

fn session(extract: &Extract) -> Session {
    Session::open(&[&extract.path]).unwrap()
}

fn of_process(pid: &Value) -> ProcessQuery {
    ProcessQuery {
        process: Some(pid.to_string()),
        ..ProcessQuery::default()
    }
}

fn us(ns: i64) -> f64 {
    ns as f64 / 1000.0
}

/// Times are those of raw ticks in microseconds, ours nanoseconds rounded down.
#[track_caller]
fn assert_time(what: &str, ours: Option<i64>, truth: &Value) {
    let truth_us = truth
        .as_f64()
        .unwrap_or_else(|| panic!("{what}: the truth is {truth}"));
    let ours = ours.unwrap_or_else(|| panic!("{what} is missing"));
    assert!(
        (us(ours) - truth_us).abs() <= 0.25,
        "{what}: {ours} ns, the truth is {truth_us} us"
    );
}

#[test]
fn chains_of_waits_are_the_truth() {
    let mut chains = 0;
    for (trace, truth) in made_with("waitchain") {
        let session = session(&Extract::of(&[&trace], &[]));
        let truth = &truth["waitchain"];
        let waits = WaitRequest {
            processes: of_process(&truth["A"]["pid"]),
            tid: truth["A"]["tid"].as_i64(),
            reason: Some("WrLpcReply".into()),
            sort: WaitSort::Time,
            top: Top {
                count: Some(100),
                skip: 0,
            },
            ..WaitRequest::default()
        };
        let ours = waits.chains(&session).unwrap();
        let want = truth["chains"].as_array().unwrap();
        assert_eq!(ours.len(), want.len(), "{trace}");
        for (number, (ours, want)) in ours.iter().zip(want).enumerate() {
            check_chain(&format!("{trace} chain {number}"), ours, want);
            chains += 1;
        }
    }
    assert!(chains >= 12 || !has_all(), "{chains}");
}

fn check_chain(what: &str, ours: &Chain, want: &Value) {
    assert_eq!(ours.links.len(), want["depth"], "{what}");
    assert_time(
        &format!("{what} total"),
        ours.total_wait_ns(),
        &want["total_wait_us"],
    );
    let names: BTreeMap<&str, i64> = [
        ("Executive", 0),
        ("DelayExecution", 4),
        ("UserRequest", 6),
        ("WrLpcReply", 17),
    ]
    .into();
    for (ours, want) in ours.links.iter().zip(want["links"].as_array().unwrap()) {
        let what = format!("{what} link {}", ours.link);
        let number = |value: &str| want[value].as_i64();
        assert_eq!(
            (ours.pid, ours.tid),
            (number("pid"), number("tid")),
            "{what}"
        );
        assert_time(
            &format!("{what} start"),
            ours.start_ns,
            &want["wait_start_us"],
        );
        assert_time(&format!("{what} ready"), ours.readied_ns, &want["ready_us"]);
        assert_time(
            &format!("{what} switch-in"),
            ours.in_ns,
            &want["switch_in_us"],
        );
        let readying = (number("readying_pid"), number("readying_tid"));
        assert_eq!((ours.readying_pid, ours.readying_tid), readying, "{what}");
        assert_eq!(ours.is_readied_by_dpc, want["ready_in_dpc"], "{what}");
        assert_eq!(
            names.get(ours.wait_reason.as_deref().unwrap()).copied(),
            number("wait_reason"),
            "{what}"
        );
    }
    let (root, want) = (&ours.root, &want["root"]);
    if want["kind"] == "timer" {
        assert_eq!(root.kind, "timer", "{what}");
        return;
    }
    assert_eq!(
        (root.kind.as_str(), root.operation.as_deref()),
        ("disk_io", Some("read")),
        "{what}"
    );
    assert_eq!(
        (root.object.as_deref(), root.size_bytes),
        (want["file"].as_str(), want["size"].as_i64()),
        "{what}"
    );
    assert_time(&format!("{what} init"), root.start_ns, &want["init_us"]);
    assert_time(
        &format!("{what} completion"),
        root.readied_ns,
        &want["complete_us"],
    );
}

fn path(session: &Session, request: &PathRequest) -> Box<CriticalPath> {
    match request.ask(session).unwrap() {
        PathAnswer::Path(path) => path,
        other => panic!("{request:?}: {other:?}"),
    }
}

/// Segments follow each other, and their sums are the length of the path to the nanosecond, in whatever way
/// they are added up.
#[track_caller]
fn check_sums(what: &str, path: &CriticalPath) {
    let length = path.to_ns - path.from_ns;
    let mut at = path.from_ns;
    for segment in &path.segments {
        assert_eq!(segment.start_ns, at, "{what}");
        assert!(
            segment.duration_ns > 0 && segment.end_ns - segment.start_ns == segment.duration_ns,
            "{what}"
        );
        at = segment.end_ns;
    }
    assert_eq!(at, path.to_ns, "{what}");
    assert_eq!(
        path.shares
            .iter()
            .map(|share| share.duration_ns)
            .sum::<i64>(),
        length,
        "{what}"
    );
    assert_eq!(path.tree[0].total_ns, length, "{what}");
    let own: i64 = path
        .tree
        .iter()
        .map(|n| n.run_ns + n.ready_ns + n.wait_ns + n.unknown_ns)
        .sum();
    assert_eq!(own, length, "{what}");
}

#[test]
fn critical_paths_are_the_truth() {
    let mut segments = 0;
    for (trace, truth) in made_with("critical_path") {
        let session = session(&Extract::of(&[&trace], &[]));
        let truth = &truth["critical_path"];
        let processes = of_process(&truth["pid"]);
        let by_thread = PathRequest {
            processes,
            tid: truth["tid"].as_i64(),
            ..PathRequest::default()
        };
        let ours = path(&session, &by_thread);
        assert_time(
            &format!("{trace} begin"),
            Some(ours.from_ns),
            &truth["from_us"],
        );
        assert_time(&format!("{trace} end"), Some(ours.to_ns), &truth["to_us"]);
        check_sums(&trace, &ours);
        let want = truth["rows"].as_array().unwrap();
        assert_eq!(ours.segments.len(), want.len(), "{trace}");
        for (ours, want) in ours.segments.iter().zip(want) {
            let what = format!("{trace} {want}");
            assert_eq!(
                (ours.pid, ours.tid),
                (want[0].as_i64(), want[1].as_i64()),
                "{what}"
            );
            assert_eq!(
                (ours.state.name(), ours.depth),
                (want[2].as_str().unwrap(), want[6].as_i64().unwrap()),
                "{what}"
            );
            assert_time(&what, Some(ours.start_ns), &want[3]);
            assert_time(&what, Some(ours.end_ns), &want[4]);
            assert_eq!(ours.wait_reason.is_some(), want[5].is_i64(), "{what}");
            segments += 1;
        }
        let mut sums: HashMap<String, i64> = HashMap::new();
        for share in &ours.shares {
            let key = format!(
                "{}/{} {}",
                share.pid.unwrap(),
                share.tid.unwrap(),
                share.state.name()
            );
            *sums.entry(key).or_default() += share.duration_ns;
        }
        let want = truth["sum_by_thread_state_us"].as_object().unwrap();
        assert_eq!(sums.len(), want.len(), "{trace}");
        want.iter()
            .for_each(|(key, want)| assert_us(&format!("{trace} {key}"), us(sums[key]), want));
        // The process has only this thread.
        assert_eq!(
            path(
                &session,
                &PathRequest {
                    tid: None,
                    ..by_thread
                }
            ),
            ours,
            "{trace}"
        );
    }
    assert!(segments > 100 || !has_all(), "{segments}");
}

fn keyed(extract: &Extract, rows: Vec<WaitSum>) -> HashMap<(String, String), WaitSum> {
    let key = |row: &WaitSum| {
        let tid = row.tid.map(|tid| tid.to_string()).unwrap_or_default();
        (
            extract.process(&row.process_key.into()),
            tid + row.wait_reason.as_deref().unwrap_or_default(),
        )
    };
    rows.into_iter().map(|row| (key(&row), row)).collect()
}

#[test]
fn sums_by_thread_process_and_reason_are_the_truth() {
    let mut threads = 0;
    for (trace, truth) in made_with("sched") {
        let sched = &truth["sched"];
        let Some(by_thread) = sched["threads"].as_object() else {
            continue;
        };
        let extract = Extract::of(&[&trace], &[]);
        let session = session(&extract);
        let ask = |by| {
            keyed(
                &extract,
                WaitRequest {
                    by,
                    ..WaitRequest::default()
                }
                .ask(&session)
                .unwrap(),
            )
        };
        let ours = ask(WaitBy::Thread);
        for (key, want) in by_thread {
            let (process, tid) = key.split_once('/').unwrap();
            let row = ours
                .get(&(process.to_owned(), tid.to_owned()))
                .cloned()
                .unwrap_or_default();
            check_sum(&format!("{trace} {key}"), &row, want);
            threads += 1;
        }
        let ours = ask(WaitBy::Process);
        for (key, want) in sched["processes"].as_object().unwrap() {
            let row = ours
                .get(&(key.clone(), String::new()))
                .cloned()
                .unwrap_or_default();
            check_sum(&format!("{trace} {key}"), &row, want);
        }
        check_reasons(&trace, &ask(WaitBy::Reason), by_thread);
        check_open(&trace, &extract, &session, &sched["open_waits_at_end"]);
    }
    assert!(threads > 100 || !has_all(), "{threads}");
}

fn check_sum(what: &str, ours: &WaitSum, want: &Value) {
    assert_us(
        &format!("{what} waits"),
        us(ours.wait_sum_ns),
        &want["wait_us"],
    );
    assert_us(
        &format!("{what} is ready"),
        us(ours.ready_sum_ns),
        &want["ready_us"],
    );
    assert_eq!(ours.preemptions, want["preempted"], "{what}");
    assert!(
        ours.wait_ns <= ours.wait_sum_ns && ours.ready_ns <= ours.ready_sum_ns,
        "{what}"
    );
}

fn check_reasons(
    trace: &str,
    ours: &HashMap<(String, String), WaitSum>,
    threads: &serde_json::Map<String, Value>,
) {
    let mut want: BTreeMap<(String, String), f64> = BTreeMap::new();
    for (key, thread) in threads {
        let process = key.split_once('/').unwrap().0;
        for (reason, waited) in thread["wait_us_by_reason"].as_object().unwrap() {
            let name = etwkit_sql::functions::wait_reason_name(reason.parse().unwrap());
            *want.entry((process.to_owned(), name)).or_default() += waited.as_f64().unwrap();
        }
    }
    for (key, want) in want {
        let row = ours.get(&key).cloned().unwrap_or_default();
        assert_us(
            &format!("{trace} {key:?}"),
            us(row.wait_sum_ns),
            &want.into(),
        );
    }
}

fn check_open(trace: &str, extract: &Extract, session: &Session, truth: &Value) {
    let Some(truth) = truth.as_object() else {
        return;
    };
    let waiting = truth.iter().filter(|(_, wait)| wait["state"] == 5).count();
    let open = WaitRequest {
        sort: WaitSort::Open,
        ..WaitRequest::default()
    }
    .list(session)
    .unwrap();
    assert_eq!(open.len(), waiting, "{trace}");
    for row in &open {
        let key = format!(
            "{}/{}",
            extract.process(&row.process_key.into()),
            row.tid.unwrap()
        );
        assert_time(
            &format!("{trace} {key}"),
            Some(row.start_ns),
            &truth[&key]["since_us"],
        );
        assert!(
            row.is_open_wait && row.in_ns.is_none() && row.ended_by.as_deref() == Some("open"),
            "{trace} {key}"
        );
    }
}

#[test]
fn sums_by_method_are_the_truth() {
    let mut methods = 0;
    for (trace, truth) in made_with("sched") {
        let Some(truth) = truth["sched"]["methods_wait_ready"]["rows"].as_object() else {
            continue;
        };
        let extract = Extract::of(&[&trace], &[]);
        let request = WaitRequest {
            by: WaitBy::Method,
            ..WaitRequest::default()
        };
        let mut ours = HashMap::new();
        for row in request.ask(&session(&extract)).unwrap() {
            let process = extract.process(&row.process_key.into());
            ours.insert(
                (
                    process,
                    row.module.unwrap_or_default(),
                    row.method.unwrap_or_default(),
                ),
                (row.wait_ns, row.ready_ns),
            );
        }
        for (process, list) in truth {
            for want in list.as_array().unwrap() {
                let (module, rva) = (want[0].as_str().unwrap(), want[1].as_str().unwrap());
                if module == "?" {
                    // Code that was compiled at run time: the truth has its address, we have its name.
                    continue;
                }
                let file = module.rsplit('\\').next().unwrap();
                let key = (process.clone(), file.to_owned(), format!("+{rva}"));
                let (wait, ready) = ours.get(&key).copied().unwrap_or_default();
                assert_us(&format!("{trace} {key:?} wait"), us(wait), &want[2]);
                assert_us(&format!("{trace} {key:?} ready"), us(ready), &want[3]);
                methods += 1;
            }
        }
    }
    assert!(methods > 100 || !has_all(), "{methods}");
}

/// Sums by method and module do not come from the SQL that is shown for them.
#[test]
fn sums_by_code_are_those_of_the_sql_that_is_shown() {
    for (trace, _) in made_with("waitchain")
        .into_iter()
        .chain(made_with("lost"))
        .take(3)
    {
        let session = session(&Extract::of(&[&trace], &[]));
        for (by, sort) in [
            (WaitBy::Method, WaitSort::Wait),
            (WaitBy::Module, WaitSort::ReadySum),
        ] {
            for time in [
                Range::default(),
                Range {
                    min: 20_000_000,
                    max: 21_000_000,
                },
            ] {
                let count = Range { min: 2, max: 1000 };
                let request = WaitRequest {
                    by,
                    sort,
                    time,
                    count,
                    ..WaitRequest::default()
                };
                let shown: Vec<WaitSum> = etwkit_question::ask(&session, &request.sql()).unwrap();
                // Whole, and in many windows of time.
                for held in [i64::MAX, 200] {
                    let ours = request.ask_holding(&session, held).unwrap();
                    assert_eq!(ours.len(), shown.len(), "{trace} {by:?} {held}");
                    for (ours, shown) in ours.iter().zip(&shown) {
                        assert_eq!(ours, shown, "{trace} {by:?} {held}");
                    }
                    assert!(!ours.is_empty() || !time.is_unlimited(), "{trace}");
                }
            }
        }
    }
}

/// Waiting and ready, union and sum, by process and tag.
type OfTags = BTreeMap<(Option<i64>, String), [i64; 4]>;

fn of_tags(session: &Session, time: Range) -> OfTags {
    let request = WaitRequest {
        by: WaitBy::Tag,
        time,
        ..WaitRequest::default()
    };
    let rows = request.ask(session).unwrap().into_iter();
    let times = |row: &WaitSum| [row.wait_ns, row.wait_sum_ns, row.ready_ns, row.ready_sum_ns];
    rows.map(|row| (times(&row), row))
        .filter(|(times, _)| times.iter().any(|time| *time > 0))
        .map(|(times, row)| ((row.process_key, row.tag.unwrap()), times))
        .collect()
}

#[test]
fn sums_by_tag_are_those_of_the_table() {
    let (mut tags, mut named) = (0, 0);
    for (trace, _) in made_with("sched") {
        let extract = Extract::of(&[&trace], &[]);
        let sql = "SELECT process_key, tag, coalesce(wait_ns, 0), coalesce(wait_sum_ns, 0), coalesce(ready_ns, 0), \
                   coalesce(ready_sum_ns, 0) FROM cpu_tag WHERE tag_set = 'default'";
        let table: OfTags = extract
            .ask(sql)
            .into_iter()
            .map(|row| {
                let times = [2, 3, 4, 5].map(|column: usize| row[column].as_i64().unwrap());
                (
                    (row[0].as_i64(), row[1].as_str().unwrap().to_owned()),
                    times,
                )
            })
            .filter(|(_, times)| times.iter().any(|time| *time > 0))
            .collect();
        let session = session(&extract);
        let Some(mut ours) = of_tags_or_nothing(&session) else {
            continue;
        };
        assert_eq!(ours, table, "{trace}");
        tags += ours.len();
        named += ours.keys().filter(|(_, tag)| tag != "Other").count();

        // The parts add up: what lies across their borders is clipped.
        let (a, b) = (7_000_000, 21_000_001);
        for (min, max) in [(i64::MIN, a), (a, b), (b, i64::MAX)] {
            for (key, part) in of_tags(&session, Range { min, max }) {
                let whole = ours
                    .get_mut(&key)
                    .unwrap_or_else(|| panic!("{trace} {key:?}"));
                whole
                    .iter_mut()
                    .zip(part)
                    .for_each(|(whole, part)| *whole -= part);
            }
        }
        assert!(
            ours.values().all(|rest| *rest == [0; 4]),
            "{trace} {ours:?}"
        );
    }
    assert!(tags > 100 && named > 4 || !has_all(), "{tags} {named}");
}

/// Nothing where waits were not recorded.
fn of_tags_or_nothing(session: &Session) -> Option<OfTags> {
    match WaitRequest::default().ask(session) {
        Ok(_) => Some(of_tags(session, Range::default())),
        Err(error) if error.is_nothing() => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn up_to_the_damage_waits_are_the_truth() {
    for (trace, truth) in made_with("before_damage") {
        let session = session(&Extract::of(&[&trace], &[]));
        let before = &truth["before_damage"];
        let limit = (before["limit_us"].as_f64().unwrap() * 1000.0).round() as i64;
        let extract = Extract::of(&[&trace], &[]);
        let mut sums: HashMap<String, i64> = HashMap::new();
        for row in WaitRequest::default().list(&session).unwrap() {
            if row.in_ns.is_some_and(|into| into <= limit) {
                let key = format!(
                    "{}/{}",
                    extract.process(&row.process_key.into()),
                    row.tid.unwrap()
                );
                *sums.entry(key).or_default() += row.wait_ns.unwrap_or(0);
            }
        }
        for (key, want) in before["sched"]["threads"].as_object().unwrap() {
            let waited = sums.get(key).copied().unwrap_or(0);
            assert_us(&format!("{trace} {key}"), us(waited), &want["wait_us"]);
        }
    }
}

/// Whatever a trace is like: paths have no gaps, and no chain is without a root.
#[test]
fn paths_of_processes_add_up() {
    let mut paths = 0;
    for (trace, truth) in made_with("sched") {
        let session = session(&Extract::of(&[&trace], &[]));
        let threads = truth["processes"]
            .as_object()
            .unwrap()
            .values()
            .filter_map(|p| p["threads"].get(0));
        let times = [
            Range::default(),
            Range {
                min: 10_000_000,
                max: 30_000_000,
            },
        ];
        for (tid, time) in threads.take(6).zip(times.into_iter().cycle()) {
            let request = PathRequest {
                tid: tid.as_i64(),
                time,
                ..PathRequest::default()
            };
            if let PathAnswer::Path(path) = request.ask(&session).unwrap() {
                check_sums(&format!("{trace} thread {tid}"), &path);
                paths += 1;
            }
        }
        let waits = WaitRequest {
            top: Top {
                count: Some(50),
                skip: 0,
            },
            ..WaitRequest::default()
        };
        for chain in waits.chains(&session).unwrap() {
            assert!(
                !chain.links.is_empty()
                    && !["cycle", "too_deep", "wait", ""].contains(&chain.root.kind.as_str()),
                "{chain:?}"
            );
        }
    }
    assert!(paths > 50 || !has_all(), "{paths}");
}

/// Sums by anything else do not say who ended waits, even where all columns are asked for.
#[test]
fn who_ended_waits_is_shown_only_in_sums_by_that() {
    let trace = crate::support::trace("sched-5.etl");
    let printed =
        |by: &str| crate::support::run(&["dump", "wait", "--by", by, "--column", "*", &trace]).out;
    for by in ["process", "thread", "reason"] {
        let text = printed(by);
        assert!(
            text.contains("Ended by") && !text.contains("(preempted)"),
            "{by}: {text}"
        );
    }
    assert!(
        printed("readying").contains("(preempted)"),
        "{}",
        printed("readying")
    );
}
