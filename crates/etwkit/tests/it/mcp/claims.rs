//! Conclusions that must not be drawn from a trace: each answer that invites one says so.

use serde_json::{Value, json};

use super::{call, driven, sentences};
use crate::support::{Exit, run, trace};

/// The traces, by handles from `t1` on; the last two are a trace that is cut in its middle, and sums alone.
const TRACES: [&str; 9] = [
    "sched-5.etl",
    "dns-5.etl",
    "files-5.etl",
    "tcp-5.etl",
    "handles-5.etl",
    "power-5.etl",
    "syscalls-5.etl",
    "dotnet-5.etl",
    "pmc-5.etl",
];

/// What must not be concluded: a handle, a question with its options, and what the answer says against it.
fn conclusions() -> Vec<(&'static str, &'static str, Value, &'static str)> {
    let all = json!({});
    vec![
        (
            "t2",
            "wait",
            all.clone(),
            "anything about wait: it may have happened without being recorded",
        ),
        (
            "t2",
            "cpu",
            all.clone(),
            "anything about cpu: it may have happened",
        ),
        (
            "t2",
            "dns",
            all.clone(),
            "that the process waited for a query",
        ),
        (
            "t2",
            "sql:SELECT count(*) FROM context_switch",
            all.clone(),
            "that nothing of context_switch happened",
        ),
        (
            "t3",
            "disk",
            all.clone(),
            "that a program waited for a disk access",
        ),
        (
            "t3",
            "disk",
            all.clone(),
            "that a file without disk accesses was not used",
        ),
        (
            "t3",
            "file",
            all.clone(),
            "that bytes of a file operation reached a disk",
        ),
        (
            "t3",
            "hard-fault",
            all.clone(),
            "that the next run reads these pages again",
        ),
        (
            "t3",
            "dns",
            all.clone(),
            "anything about dns: it may have happened",
        ),
        (
            "t4",
            "tcp",
            all.clone(),
            "where on the way packets were lost",
        ),
        (
            "t5",
            "objectref",
            all.clone(),
            "that memory or an object that was not given back at the end is a leak",
        ),
        (
            "t5",
            "virtual-alloc",
            all.clone(),
            "that memory or an object that was not given back at the end is a leak",
        ),
        (
            "t7",
            "syscall",
            all.clone(),
            "that the time of a call was spent working",
        ),
        (
            "t8",
            "exception",
            all.clone(),
            "that an exception was an error",
        ),
        (
            "t8",
            "gc",
            all.clone(),
            "that a collection stopped the work that the user waited for",
        ),
        (
            "t9",
            "pmc",
            all.clone(),
            "which instruction or memory access cost the cycles",
        ),
        (
            "t1",
            "wait",
            all.clone(),
            "that who ended a wait caused its length",
        ),
        ("t1", "wait", all.clone(), "that waits add up to lost time"),
        (
            "t1",
            "cpu",
            all.clone(),
            "that a method without samples did not run",
        ),
        (
            "t1",
            "cpu",
            all.clone(),
            "that CPU of one process made another one slow",
        ),
        (
            "t1",
            "cpu",
            json!({"process": "nobody.exe"}),
            "that there was none of it",
        ),
        (
            "t6",
            "diagnose",
            all.clone(),
            "that nothing was slow: the rules look for known causes alone",
        ),
        ("t6", "diagnose", all.clone(), "could not be checked"),
        (
            "t10",
            "cpu",
            all.clone(),
            "counts and times are lower bounds",
        ),
        (
            "t10",
            "diagnose",
            all.clone(),
            "counts and times are lower bounds",
        ),
        ("t11", "cpu", all, "anything about single events of t11"),
    ]
}

#[test]
fn conclusions_that_do_not_follow_are_spoken_against() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let bytes = std::fs::read(trace("sched-5.etl")).unwrap();
    std::fs::write(path("cut.etl"), &bytes[..bytes.len() / 2]).unwrap();
    let summary = run(&[
        "extract",
        "--detail",
        "summary",
        "--out",
        &path("sums.etwx"),
        &trace("sched-5.etl"),
    ]);
    assert_eq!(summary.exit, Exit::Answered, "{}", summary.err);
    let paths = TRACES
        .iter()
        .map(|name| trace(name))
        .chain([path("cut.etl"), path("sums.etwx")]);
    let mut steps: Vec<Value> = paths
        .map(|path| call("open", json!({"path": path})))
        .collect();
    let opened = steps.len();
    let conclusions = conclusions();
    for (trace, question, options, _) in &conclusions {
        steps.push(match question.split_once(':') {
            Some((_, sql)) => call("sql", json!({"trace": trace, "sql": sql})),
            None if *question == "diagnose" => call("diagnose", json!({"trace": trace})),
            None => call(
                "ask",
                json!({"trace": trace, "question": question, "options": options}),
            ),
        });
    }
    steps.push(call("diff", json!({"before": "t1", "after": "t10"})));
    let Some(replies) = driven("conclusions", folder.path(), &["mcp"], &steps.into()) else {
        return;
    };
    let mut missing = Vec::new();
    for ((trace, question, _, expected), reply) in conclusions.iter().zip(&replies[opened..]) {
        let answer = super::answer(reply);
        let unproven = sentences(answer, "does_not_prove");
        if !unproven.contains(expected) {
            missing.push(format!("{trace} {question}: {expected}\n{unproven}\n"));
        }
        let follows = sentences(answer, "follows").to_lowercase();
        for claim in ["nobody waited", "did not wait", "because of", "caused"] {
            assert!(
                !follows.contains(claim),
                "{trace} {question} claims {claim}: {follows}"
            );
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    // A question about what was not recorded is no failure: the answer names the recording that would have
    // it.
    let wait = super::answer(&replies[opened]);
    assert_eq!(
        (&wait["answered"], &wait["record_with"][0]),
        (&json!(false), &json!("cswitch"))
    );
    let diff = super::answer(replies.last().unwrap());
    assert!(
        sentences(diff, "does_not_prove").contains("that a difference is the cause"),
        "{diff:#}"
    );
    assert!(
        sentences(diff, "correlated").contains("what differs between two recordings goes with")
    );
    let cut = super::answer(&replies[opened - 2]);
    assert_eq!(cut["is_incomplete"], true, "{cut:#}");
}
