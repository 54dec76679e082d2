//! Call trees: the example of the page on CPU.

use std::sync::Arc;

use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;
use etwkit_question::tag_query::TagQuery;
use etwkit_questions::cpu::{By, CpuRequest, Metric};
use etwkit_questions::stack::tree::{TreeGroup, TreeRow};
use etwkit_sql::Session;
use etwkit_trace::tags::TagSet;

use super::methods::{example, summary};

#[track_caller]
fn ask(session: &Session, request: &CpuRequest) -> Vec<TreeGroup> {
    request
        .call_trees(session)
        .unwrap_or_else(|error| panic!("{error}\n{}", request.stack_sql(&TagQuery::default())))
}

/// A request for trees whose nodes are all shown.
fn unfolded() -> CpuRequest {
    CpuRequest {
        stacks: true,
        min_percent: 0.0,
        ..CpuRequest::default()
    }
}

/// Each node as `method inclusive exclusive samples`, indented by its depth.
fn text(tree: &TreeGroup) -> Vec<String> {
    let one = |row: &TreeRow| {
        let name = row
            .method
            .clone()
            .unwrap_or_else(|| format!("[{}]", row.folded));
        let indent = " ".repeat(row.depth as usize);
        format!(
            "{indent}{name} {} {} {}",
            row.inclusive_ns, row.exclusive_ns, row.samples
        )
    };
    tree.rows.iter().map(one).collect()
}

#[track_caller]
fn only_tree(session: &Session, request: &CpuRequest) -> Vec<String> {
    let trees = ask(session, request);
    assert_eq!(trees.len(), 1);
    text(&trees[0])
}

#[test]
fn top_down_a_method_that_calls_itself_goes_deeper() {
    for session in [example(), summary()] {
        let trees = ask(&session, &unfolded());
        assert_eq!(
            (trees.len(), trees[0].pid, trees[0].total_ns),
            (1, Some(8), 10)
        );
        assert_eq!(
            text(&trees[0]),
            ["main 10 0 2", " a 5 0 1", "  a 5 5 1", " b 5 5 1"]
        );
        assert_eq!(
            trees[0]
                .rows
                .iter()
                .map(|row| row.parent)
                .collect::<Vec<_>>(),
            [None, Some(0), Some(1), Some(0)]
        );
    }
}

#[test]
fn bottom_up_the_roots_are_what_ran() {
    let request = CpuRequest {
        bottom_up: true,
        ..unfolded()
    };
    let expected = [
        "a 5 5 1",
        " a 5 0 1",
        "  main 5 0 1",
        "b 5 5 1",
        " main 5 0 1",
    ];
    assert_eq!(only_tree(&example(), &request), expected);
}

#[test]
fn a_butterfly_counts_a_stack_once() {
    let of = |method: &str| CpuRequest {
        butterfly: Some(method.into()),
        ..unfolded()
    };
    // `a` calls itself: the outer one is the middle, the inner one a callee.
    let trees = ask(&example(), &of("a"));
    assert_eq!(trees[0].total_ns, 5);
    assert_eq!(
        text(&trees[0]),
        ["a 5 5 1", " main 5 0 1", "a 5 0 1", " a 5 5 1"]
    );
    let names: Vec<&str> = trees[0].rows.iter().map(|row| row.tree.as_str()).collect();
    assert_eq!(names, ["callers", "callers", "callees", "callees"]);
    // `main` has callees alone: nothing ran in it.
    assert_eq!(only_tree(&example(), &of("app.exe!main"))[0], "main 10 0 2");
    assert!(ask(&example(), &of("nothing")).is_empty());
}

#[test]
fn trees_have_only_stacks_with_the_requested_tags() {
    let rules = r#"<Tag Name=""><Tag Name="In"><Entrypoint Module="*" Method="a"/></Tag></Tag>"#;
    for session in [example(), summary()] {
        let set = TagSet::read("own", &[("own", rules.as_bytes())]).unwrap();
        session.use_tags(Arc::new([set]));
        let of = |tags: &str| CpuRequest {
            stack_tags: Some(tags.into()),
            stack_tag_file: vec!["own".into()],
            ..unfolded()
        };
        let of_a = ["main 5 0 1", " a 5 0 1", "  a 5 5 1"];
        assert_eq!(only_tree(&session, &of("In")), of_a);
        assert_eq!(only_tree(&session, &of("!In")), ["main 5 0 1", " b 5 5 1"]);
        assert!(ask(&session, &of("nothing")).is_empty());
        let callers = CpuRequest {
            bottom_up: true,
            ..of("In")
        };
        assert_eq!(
            only_tree(&session, &callers),
            ["a 5 5 1", " a 5 0 1", "  main 5 0 1"]
        );
    }
}

#[test]
fn waits_and_times_ready_are_summed_over_threads() {
    let of = |metric| CpuRequest {
        metric,
        ..unfolded()
    };
    // Waits of 40 and 50 below `wait`; their union is 70.
    assert_eq!(
        only_tree(&example(), &of(Metric::Wait)),
        ["main 90 0 2", " wait 90 90 2"]
    );
    assert_eq!(
        only_tree(&example(), &of(Metric::Ready)),
        ["main 22 0 3", " wait 12 12 2", " b 10 10 1"]
    );
}

#[test]
fn a_range_clips_what_stacks_weigh() {
    let of = |metric, min, max| CpuRequest {
        metric,
        time: Range { min, max },
        ..unfolded()
    };
    // Waits 0–40 and 20–70 have 10 and 15 in the range.
    assert_eq!(
        only_tree(&example(), &of(Metric::Wait, 30, 45)),
        ["main 25 0 2", " wait 25 25 2"]
    );
    assert_eq!(
        only_tree(&example(), &of(Metric::Cpu, 15, 25)),
        ["main 5 0 1", " b 5 5 1"]
    );
}

#[test]
fn trees_of_threads_and_of_everything() {
    let threads = CpuRequest {
        by: By::Thread,
        ..unfolded()
    };
    let trees = ask(&example(), &threads);
    let found: Vec<_> = trees
        .iter()
        .map(|tree| (tree.tid, tree.total_ns, text(tree)))
        .collect();
    let thread = |tid, lines: &[&str]| {
        (
            Some(tid),
            5,
            lines.iter().map(|line| (*line).to_owned()).collect(),
        )
    };
    assert_eq!(
        found,
        [
            thread(101, &["main 5 0 1", " a 5 0 1", "  a 5 5 1"]),
            thread(102, &["main 5 0 1", " b 5 5 1"])
        ]
    );
    let everything = CpuRequest {
        is_merged: true,
        ..unfolded()
    };
    let all = ask(&example(), &everything);
    assert_eq!((all.len(), all[0].pid, all[0].total_ns), (1, None, 10));
}

#[test]
fn roots_add_up_to_the_cpu_of_the_process() {
    for session in [example(), summary()] {
        let cpu = CpuRequest::default().process_answer(&session).unwrap();
        for bottom_up in [false, true] {
            let folded = CpuRequest {
                bottom_up,
                min_percent: 60.0,
                max_depth: Some(2),
                top_children: Some(1),
                ..unfolded()
            };
            let trees = ask(&session, &folded);
            let roots = trees[0].rows.iter().filter(|row| row.parent.is_none());
            assert_eq!(
                roots.map(|row| row.inclusive_ns).sum::<i64>(),
                cpu.rows[0].cpu_ns
            );
        }
    }
}

#[test]
fn without_samples_cpu_is_run_time_by_the_stack_of_the_switch_in() {
    let session = super::methods::without_samples();
    assert_eq!(
        only_tree(&session, &unfolded()),
        ["main 23 0 3", " wait 18 18 2", " b 5 5 1"]
    );
    let in_range = CpuRequest {
        time: Range { min: 55, max: 75 },
        ..unfolded()
    };
    assert_eq!(
        only_tree(&session, &in_range),
        ["main 8 0 2", " wait 8 8 2"]
    );
    for request in [unfolded(), in_range] {
        let trees = ask(&session, &request);
        assert!(
            trees[0]
                .rows
                .iter()
                .all(|row| row.source == "context_switches"),
            "{:?}",
            trees[0].rows
        );
    }
    let sampled = ask(&example(), &unfolded());
    assert!(sampled[0].rows.iter().all(|row| row.source == "samples"));
    let waits = ask(
        &example(),
        &CpuRequest {
            metric: Metric::Wait,
            ..unfolded()
        },
    );
    assert_eq!(waits[0].rows[0].source, "context_switches");
}

#[test]
fn sums_cannot_answer_what_needs_rows() {
    for request in [
        CpuRequest {
            metric: Metric::Wait,
            ..unfolded()
        },
        CpuRequest {
            by: By::Thread,
            ..unfolded()
        },
        CpuRequest {
            time: Range { min: 0, max: 5 },
            ..unfolded()
        },
    ] {
        let error = request.call_trees(&summary()).unwrap_err();
        assert!(
            error.is_nothing() && error.hint().unwrap().contains("--detail full"),
            "{error}"
        );
    }
    let nobody = ProcessQuery {
        process: Some("nobody".into()),
        ..ProcessQuery::default()
    };
    assert!(
        ask(
            &example(),
            &CpuRequest {
                processes: nobody,
                ..unfolded()
            }
        )
        .is_empty()
    );
}
