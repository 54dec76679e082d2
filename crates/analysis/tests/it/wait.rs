//! Sums of waits, and single ones.

use std::sync::Arc;

use etwkit_analysis::wait::{WaitBy, WaitRequest, WaitSort, WaitSum};
use etwkit_question::ProcessQuery;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_trace::tags::TagSet;

use super::support::{Machine, off};

/// Two threads of `a` and one of `b`: 1 waits from 10 to 40, 2 from 30 to 50, 3 from 0 to 100.
fn machine() -> Machine {
    let mut machine = Machine::new(&["a.exe", "a.exe", "b.exe"], 200);
    machine
        .add(off(1, 10).readied(40, 3).ran(45, 60))
        .add(off(2, 30).readied_by_dpc(50, 0).ran(52, 60).reason(4))
        .add(off(3, 0).readied(100, 1).ran(101, 110))
        .add(off(1, 60).preempted().ran(70, 80));
    machine
}

fn ask(request: &WaitRequest) -> Vec<WaitSum> {
    request
        .ask(&machine().session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()))
}

#[test]
fn waits_of_a_process_are_a_union_and_a_sum() {
    let rows = ask(&WaitRequest::default());
    let [a, b] = &rows[..] else {
        panic!("{rows:?}")
    };
    assert_eq!(
        (a.process.as_deref(), b.process.as_deref()),
        (Some("a.exe"), Some("b.exe"))
    );
    assert_eq!(
        (
            a.waits,
            a.wait_ns,
            a.wait_sum_ns,
            a.wait_max_ns,
            a.wait_mean_ns
        ),
        (2, 40, 50, Some(30), Some(25))
    );
    // Ready from 40 to 45, from 50 to 52, and preempted from 60 to 70.
    assert_eq!(
        (
            a.ready_ns,
            a.ready_sum_ns,
            a.ready_max_ns,
            a.preemptions,
            a.threads
        ),
        (17, 17, Some(10), 1, 2)
    );
    assert_eq!((b.wait_ns, b.first_ns, b.open_waits), (100, Some(0), 0));
}

#[test]
fn waits_are_summed_up_by_thread_reason_and_by_who_ended_them() {
    let by = |by| {
        ask(&WaitRequest {
            by,
            ..WaitRequest::default()
        })
    };
    let threads: Vec<_> = by(WaitBy::Thread)
        .iter()
        .map(|row| (row.tid, row.wait_sum_ns))
        .collect();
    assert_eq!(
        threads,
        [(Some(102), 20), (Some(101), 30), (Some(103), 100)]
    );
    let reasons: Vec<_> = by(WaitBy::Reason)
        .iter()
        .map(|row| (row.wait_reason.clone().unwrap(), row.waits))
        .collect();
    let named = |name: &str, waits| (name.to_owned(), waits);
    assert_eq!(
        reasons,
        [
            named("WrPreempted", 0),
            named("DelayExecution", 1),
            named("UserRequest", 1),
            named("UserRequest", 1)
        ]
    );
    let ended: Vec<_> = by(WaitBy::Readying)
        .into_iter()
        .map(|row| {
            (
                row.process.unwrap(),
                row.ended_by,
                row.readying_process,
                row.wait_sum_ns,
            )
        })
        .collect();
    let ended_by = |of: &str, kind: Option<&str>, by: Option<&str>, sum| {
        (
            of.to_owned(),
            kind.map(str::to_owned),
            by.map(str::to_owned),
            sum,
        )
    };
    assert_eq!(
        ended,
        [
            ended_by("a.exe", None, None, 0),
            ended_by("a.exe", Some("dpc"), None, 20),
            ended_by("a.exe", Some("thread"), Some("b.exe"), 30),
            ended_by("b.exe", Some("thread"), Some("a.exe"), 100),
        ]
    );
    let thread: Vec<_> = by(WaitBy::ReadyingThread)
        .iter()
        .map(|row| row.readying_tid)
        .collect();
    assert_eq!(thread, [None, None, Some(103), Some(101)]);
}

#[test]
fn a_range_clips_waits() {
    let within = |min, max| {
        ask(&WaitRequest {
            time: Range { min, max },
            ..WaitRequest::default()
        })
    };
    let a = &within(35, 42)[1];
    // 1 waits from 35 to 40 and is ready from 40 to 42; 2 waits from 35 to 42.
    assert_eq!(
        (a.process.as_deref(), a.wait_ns, a.wait_sum_ns, a.ready_ns),
        (Some("a.exe"), 7, 12, 2)
    );
    assert_eq!((a.wait_max_ns, a.preemptions), (Some(7), 0));
    assert!(within(150, 160).is_empty());
}

#[test]
fn rows_are_limited_sorted_and_filtered() {
    let names = |request: WaitRequest| -> Vec<String> {
        ask(&request)
            .into_iter()
            .map(|row| row.process.unwrap())
            .collect()
    };
    let limit = |min, max| Range { min, max };
    assert_eq!(
        names(WaitRequest {
            wait: limit(50, i64::MAX),
            ..WaitRequest::default()
        }),
        ["b.exe"]
    );
    assert_eq!(
        names(WaitRequest {
            count: limit(2, 9),
            ..WaitRequest::default()
        }),
        ["a.exe"]
    );
    assert_eq!(
        names(WaitRequest {
            max: limit(30, 30),
            ..WaitRequest::default()
        }),
        ["a.exe"]
    );
    assert_eq!(
        names(WaitRequest {
            ready: limit(2, i64::MAX),
            ..WaitRequest::default()
        }),
        ["a.exe"]
    );
    let top = Top {
        count: Some(1),
        skip: 0,
    };
    assert_eq!(
        names(WaitRequest {
            top,
            sort: WaitSort::Ready,
            ..WaitRequest::default()
        }),
        ["a.exe"]
    );
    assert_eq!(
        names(WaitRequest {
            tid: Some(103),
            ..WaitRequest::default()
        }),
        ["b.exe"]
    );
    assert_eq!(
        names(WaitRequest {
            reason: Some("Delay*".into()),
            ..WaitRequest::default()
        }),
        ["a.exe"]
    );
    assert_eq!(
        names(WaitRequest {
            reason: Some("4".into()),
            ..WaitRequest::default()
        }),
        ["a.exe"]
    );
    let processes = ProcessQuery {
        process: Some("b".into()),
        ..ProcessQuery::default()
    };
    assert_eq!(
        names(WaitRequest {
            processes,
            ..WaitRequest::default()
        }),
        ["b.exe"]
    );
    // Threads whose process is not known match if all patterns are excluding.
    let mut machine = machine();
    machine.switches[2].process_key = None;
    let session = machine.session();
    for (filter, keys) in [
        ("!a", vec![None]),
        ("a", vec![Some(1)]),
        ("*", vec![Some(1), None]),
        ("z", vec![]),
    ] {
        let processes = ProcessQuery {
            process: Some(filter.into()),
            ..ProcessQuery::default()
        };
        let rows = WaitRequest {
            processes,
            ..WaitRequest::default()
        }
        .ask(&session)
        .unwrap();
        assert_eq!(
            rows.iter().map(|row| row.process_key).collect::<Vec<_>>(),
            keys,
            "{filter}"
        );
    }
}

#[test]
fn single_waits_are_the_longest_with_the_longest_last() {
    let list = |request: WaitRequest| -> Vec<(Option<i64>, Option<i64>)> {
        let rows = request.list(&machine().session()).unwrap();
        rows.iter().map(|row| (row.tid, row.wait_ns)).collect()
    };
    let all = [
        (Some(102), Some(20)),
        (Some(101), Some(30)),
        (Some(103), Some(100)),
    ];
    assert_eq!(list(WaitRequest::default()), all);
    let top = |count, skip| Top {
        count: Some(count),
        skip,
    };
    assert_eq!(
        list(WaitRequest {
            top: top(2, 0),
            ..WaitRequest::default()
        }),
        all[1..]
    );
    assert_eq!(
        list(WaitRequest {
            top: top(1, 1),
            ..WaitRequest::default()
        }),
        all[1..2]
    );
    // By ready time, preempted threads are in the list.
    let ready = list(WaitRequest {
        sort: WaitSort::Ready,
        top: top(1, 0),
        ..WaitRequest::default()
    });
    assert_eq!(ready, [(Some(101), Some(0))]);
}

#[test]
fn waits_that_are_open_at_the_end_are_shown_apart() {
    let mut machine = machine();
    machine.add(off(2, 120).open());
    let session = machine.session();
    let rows = WaitRequest {
        sort: WaitSort::Open,
        ..WaitRequest::default()
    }
    .ask(&session)
    .unwrap();
    let a = rows.last().unwrap();
    assert_eq!(
        (
            a.process.as_deref(),
            a.open_waits,
            a.open_max_ns,
            a.wait_sum_ns
        ),
        (Some("a.exe"), 1, Some(80), 50)
    );
    let list = WaitRequest {
        sort: WaitSort::Open,
        ..WaitRequest::default()
    }
    .list(&session)
    .unwrap();
    assert_eq!(list.len(), 1);
    let open = &list[0];
    assert_eq!(
        (open.tid, open.start_ns, open.wait_ns, open.is_open_wait),
        (Some(102), 120, Some(80), true)
    );
    assert_eq!((open.in_ns, open.ended_by.as_deref()), (None, Some("open")));
    // A range that ends before it starts does not contain it; one that starts during it sees the
    // part inside the range.
    let within = |min, max| {
        WaitRequest {
            time: Range { min, max },
            ..WaitRequest::default()
        }
        .ask(&session)
        .unwrap()
    };
    assert!(within(0, 110).iter().all(|row| row.open_waits == 0));
    let late = within(150, 160);
    assert_eq!(
        (late.len(), late[0].open_waits, late[0].open_max_ns),
        (1, 1, Some(10))
    );
}

#[test]
fn a_method_counts_once_for_each_stack_and_stacks_may_be_missing() {
    let mut machine = Machine::new(&["a.exe"], 200);
    let recursive = machine.stack(&["wait", "f", "g", "f", "main"]);
    let plain = machine.stack(&["wait", "main"]);
    machine
        .add(off(1, 0).readied(10, 1).ran(10, 20).in_stack(recursive))
        .add(off(1, 20).readied(25, 1).ran(25, 30).in_stack(plain))
        .add(off(1, 30).readied(70, 1).ran(70, 80));
    let session = machine.session();
    let sums = |request: WaitRequest| -> Vec<(String, i64, i64)> {
        let rows = request
            .ask(&session)
            .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()));
        rows.into_iter()
            .map(|row| {
                (
                    row.method.or(row.module).unwrap_or_default(),
                    row.waits,
                    row.wait_sum_ns,
                )
            })
            .collect()
    };
    let row = |name: &str, waits, sum| (name.to_owned(), waits, sum);
    assert_eq!(
        sums(WaitRequest {
            by: WaitBy::Method,
            ..WaitRequest::default()
        }),
        [
            row("f", 1, 10),
            row("g", 1, 10),
            row("main", 2, 15),
            row("wait", 2, 15)
        ]
    );
    assert_eq!(
        sums(WaitRequest {
            by: WaitBy::Module,
            ..WaitRequest::default()
        }),
        [row("a.dll", 2, 15)]
    );
    // For the process, the wait without a stack also counts.
    assert_eq!(sums(WaitRequest::default()), [row("", 3, 55)]);
    assert_eq!(
        sums(WaitRequest {
            method: Some("g".into()),
            ..WaitRequest::default()
        }),
        [row("", 1, 10)]
    );
    assert_eq!(
        sums(WaitRequest {
            method: Some("a.dll!ma*".into()),
            ..WaitRequest::default()
        }),
        [row("", 2, 15)]
    );
}

/// The tag, with its set if there are several, waits, their union and their sum.
fn tagged(rows: &[WaitSum]) -> Vec<(&str, &str, i64, i64, i64)> {
    let row = |row: &'_ WaitSum| (row.waits, row.wait_ns, row.wait_sum_ns);
    rows.iter()
        .map(|sum| {
            (
                sum.tag_set.as_deref().unwrap(),
                sum.tag.as_deref().unwrap(),
                row(sum),
            )
        })
        .map(|(set, tag, (waits, union, sum))| (set, tag, waits, union, sum))
        .collect()
}

#[test]
fn a_wait_counts_once_for_its_tag_of_each_set() {
    let mut machine = Machine::new(&["a.exe", "a.exe"], 200);
    let read = machine.stack(&["wait", "Read", "main"]);
    let plain = machine.stack(&["wait", "main"]);
    machine
        .add(off(1, 0).readied(10, 2).ran(10, 20).in_stack(read))
        .add(off(2, 5).readied(25, 1).ran(26, 30).in_stack(read))
        .add(off(1, 30).readied(70, 2).ran(70, 80).in_stack(plain))
        .add(off(1, 80).readied(85, 2).ran(85, 90))
        .add(off(2, 100).open());
    let session = machine.session();
    let rules = r#"<Tag Name=""><Tag Name="In"><Tag Name="Read"><Entrypoint Module="a.dll" Method="Read"/></Tag></Tag>
        <Tag Name="Wait" Priority="-1"><Entrypoint Module="*" Method="wait"/></Tag></Tag>"#;
    session.use_tags(Arc::new([TagSet::read(
        "own",
        &[("own", rules.as_bytes())],
    )
    .unwrap()]));
    let by_tag = WaitRequest {
        by: WaitBy::Tag,
        stack_tag_file: vec!["own".into()],
        ..WaitRequest::default()
    };
    let ask = |request: &WaitRequest| {
        request
            .ask(&session)
            .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()))
    };
    let all = ask(&by_tag);
    // The wait without a stack and the open one are `Other`, and have no tag of the other set.
    let own = [("own", "In\\Read", 2, 25, 30), ("own", "Wait", 1, 40, 40)];
    assert_eq!(
        tagged(&all),
        [own[0], own[1], ("default", "Other", 4, 70, 75)]
    );
    assert_eq!(
        (
            all[2].open_waits,
            all[0].open_waits,
            all[0].threads,
            all[0].ready_ns
        ),
        (1, 0, 2, 1)
    );

    let range = Range { min: 8, max: 40 };
    let clipped = ask(&WaitRequest {
        time: range,
        ..by_tag.clone()
    });
    assert_eq!(
        tagged(&clipped),
        [
            ("own", "Wait", 1, 10, 10),
            ("own", "In\\Read", 2, 17, 19),
            ("default", "Other", 3, 27, 29)
        ]
    );

    let filtered = |filter: &str| WaitRequest {
        tag: Some(filter.into()),
        ..by_tag.clone()
    };
    assert_eq!(tagged(&ask(&filtered("in\\*"))), own[..1]);
    assert_eq!(tagged(&ask(&filtered("!In*;!other"))), own[1..]);
    assert!(ask(&filtered("nothing")).is_empty());
    // For other sums, lists and methods: the waits of which one tag matches.
    let by = |by, tag: &str| {
        ask(&WaitRequest {
            by,
            ..filtered(tag)
        })
    };
    let sums = |rows: Vec<WaitSum>| {
        rows.iter()
            .map(|row| (row.waits, row.wait_sum_ns))
            .collect::<Vec<_>>()
    };
    assert_eq!(sums(by(WaitBy::Process, "*\\Read")), [(2, 30)]);
    assert_eq!(sums(by(WaitBy::Process, "Other")), [(4, 75)]);
    assert_eq!(sums(by(WaitBy::Process, "!Wait;!*\\Read")), [(1, 5)]);
    assert_eq!(sums(by(WaitBy::Method, "Wait")), [(1, 40), (1, 40)]);
    let list = filtered("Wait").list(&session).unwrap();
    assert_eq!(
        list.iter().map(|row| row.wait_ns).collect::<Vec<_>>(),
        [Some(40)]
    );

    let unknown = WaitRequest {
        stack_tag_file: vec!["it's".into()],
        ..by_tag.clone()
    }
    .ask(&session)
    .unwrap_err();
    assert!(
        !unknown.is_nothing() && unknown.to_string().contains("no set 'it's'"),
        "{unknown}"
    );
    let only_default = ask(&WaitRequest {
        stack_tag_file: Vec::new(),
        ..by_tag
    });
    assert_eq!(tagged(&only_default), [("default", "Other", 4, 70, 75)]);
}

#[test]
fn waits_that_nothing_parts_from_ready_are_counted_and_not_summed_up() {
    let mut machine = machine();
    machine.add(off(3, 110).ran(140, 150));
    let rows = WaitRequest::default().ask(&machine.session()).unwrap();
    let b = rows
        .iter()
        .find(|row| row.process.as_deref() == Some("b.exe"))
        .unwrap();
    assert_eq!((b.unknown, b.waits, b.wait_sum_ns), (1, 1, 100));
}
