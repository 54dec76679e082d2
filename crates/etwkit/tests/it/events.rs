//! Filters of `etwkit events`: the same events are listed and counted, whichever way they are asked for.

use serde_json::Value;

use crate::support::{Exit, json, run, trace};

/// A trace, filters, and other filters that choose the same events.
type Filter = (
    &'static str,
    &'static [&'static str],
    &'static [&'static [&'static str]],
);

/// A trace and filters, and what others choose the same events there.
const FILTERS: [Filter; 9] = [
    (
        "sched-5.etl",
        &["--name", "CSwitch"],
        &[&["--name", "Thread/CSwitch"], &["--name", "thread/cswitch"]],
    ),
    (
        "sched-5.etl",
        &["--name", "CSwitch;Image/*;!DCEnd"],
        &[&["--name", "CSwitch;Image/DCStart;KernelBase"]],
    ),
    (
        "sched-5.etl",
        &["--name", "Thread/*"],
        &[&["--provider", "Thread"]],
    ),
    (
        "sched-5.etl",
        &["--process", "beta", "--name", "CSwitch"],
        &[],
    ),
    (
        "sched-5.etl",
        &["--range", "0.1..0.2", "--provider", "PerfInfo"],
        &[],
    ),
    ("sched-5.etl", &["--name", "CSwitch", "--limit", "7"], &[]),
    (
        "dns-5.etl",
        &["--provider", "*DNS-Client", "--name", "EventID(3008)"],
        &[
            &["--name", "EventID(3008)"],
            &[
                "--provider",
                "1c95126e-7eea-49a9-a3fe-a378b03ddb4d",
                "--name",
                "*3008*",
            ],
        ],
    ),
    ("dns-5.etl", &["--provider", "!Microsoft-*"], &[]),
    ("power-5.etl", &["--range", "-1..0"], &[]),
];

/// How many events are listed.
fn listed(trace: &str, filters: &[&str]) -> usize {
    let answer = run(&[&["events", "--json", trace], filters].concat());
    assert_eq!(
        (answer.exit, answer.other_errors().as_str()),
        (Exit::Answered, ""),
        "{filters:?}"
    );
    answer
        .out
        .lines()
        .skip(1)
        .filter(|line| line.starts_with("{\"ts_ns\":"))
        .count()
}

fn counts(trace: &str, filters: &[&str]) -> Value {
    json(&[&["events", "--count", "--json", trace], filters].concat())["counts"].clone()
}

#[test]
fn what_is_listed_is_what_is_counted() {
    for (name, filters, others) in FILTERS {
        let trace = trace(name);
        let events = listed(&trace, filters);
        assert!(events > 0, "{filters:?} choose nothing of {name}");
        let counted = counts(&trace, filters);
        assert_eq!(counted["total"], events, "{filters:?}");
        for other in others {
            assert_eq!(
                listed(&trace, other),
                events,
                "{other:?} are not {filters:?}"
            );
            assert_eq!(
                counts(&trace, other),
                counted,
                "{other:?} are not {filters:?}"
            );
        }
    }
    // All events are those that a filter chooses and those that it leaves out.
    let trace = trace("sched-5.etl");
    let total = |filters: &[&str]| counts(&trace, filters)["total"].as_u64().unwrap();
    assert_eq!(
        total(&["--name", "CSwitch"]) + total(&["--name", "!CSwitch"]),
        total(&[])
    );
    let text = run(&["events", "--count", "--name", "CSwitch", &trace]).out;
    assert!(
        text.contains("Thread/CSwitch") && !text.contains("PerfInfo/"),
        "{text}"
    );
}

#[test]
fn the_order_of_the_file_gives_the_same_counts() {
    for (name, filters, _) in FILTERS {
        let trace = trace(name);
        let unordered = run(&[
            &["events", "--count", "--unordered", "--json", &trace],
            filters,
        ]
        .concat());
        if filters.contains(&"--process") || filters.contains(&"--limit") {
            assert_eq!(
                unordered.exit,
                Exit::Error,
                "{filters:?} need the order of time"
            );
            assert!(
                unordered
                    .err
                    .contains("the argument '--unordered' cannot be used with"),
                "{}",
                unordered.err
            );
            continue;
        }
        let object: Value = serde_json::from_str(unordered.out.lines().nth(1).unwrap()).unwrap();
        assert_eq!(object["counts"], counts(&trace, filters), "{filters:?}");
    }
}

/// Whatever reads the output gets rows of events and nothing else.
#[test]
fn that_nothing_matches_is_a_note() {
    let trace = trace("dns-5.etl");
    let csv = run(&["events", "--format", "csv", "--limit", "0", &trace]).out;
    for (form, out) in [
        (&[][..], ""),
        (&["--format", "csv"], csv.as_str()),
        (
            &["--json"],
            "{\"command\":\"events\",\"format_version\":1}\n",
        ),
    ] {
        let answer = run(&[&["events", "--process", "nobody", &trace], form].concat());
        assert_eq!(
            (answer.exit, answer.out.as_str()),
            (Exit::Nothing, out),
            "{form:?}"
        );
        assert!(
            answer
                .err
                .starts_with("note: no event matches; `etwkit info` names"),
            "{}",
            answer.err
        );
    }
    let counted = run(&["events", "--count", "--name", "Nothing", &trace]);
    assert_eq!(counted.exit, Exit::Nothing);
    assert!(
        counted.err.starts_with("note: no event matches"),
        "{}",
        counted.err
    );
    assert!(!counted.out.contains("no event matches"), "{}", counted.out);
    // A limit of 0 is no filter that let nothing pass.
    assert_eq!(
        run(&["events", "--limit", "0", &trace]).exit,
        Exit::Answered
    );
}
