//! The example in docs/numbers/waits.md.

use std::sync::Arc;

use etwkit_analysis::path::{PathAnswer, PathRequest};
use etwkit_analysis::wait::{WaitBy, WaitRequest, WaitSort};
use etwkit_question::group::Top;
use etwkit_trace::table::DiskIo;
use etwkit_trace::tags::TagSet;

use super::support::{Machine, first, off};

/// `ui` asks `broker`, which asks `store`, which reads from a disk.
fn machine() -> Machine {
    let mut machine = Machine::new(&["ui.exe", "broker.exe", "store.exe"], 200);
    let ask = machine.stack(&["Ask", "main"]);
    machine
        .add(first(1, 0, 10))
        .add(
            off(1, 10)
                .readied(90, 2)
                .ran(92, 100)
                .reason(17)
                .in_stack(ask),
        )
        .add(off(1, 100).open())
        .add(off(2, 0).readied(8, 1).ran(9, 20))
        .add(off(2, 20).readied(80, 3).ran(83, 95))
        .add(off(3, 0).readied(18, 2).ran(25, 30))
        .add(off(3, 30).readied_by_dpc(70, 0).ran(72, 85).reason(0));
    machine.transfers.push(DiskIo {
        kind: "read",
        thread_key: Some(3),
        init_ns: 29,
        complete_ns: 70,
        path: Some("C:\\data\\store.db".into()),
        ..DiskIo::default()
    });
    machine
}

#[test]
fn the_example_of_the_page_on_waits() {
    let session = machine().session();

    let sums = WaitRequest {
        sort: WaitSort::Time,
        ..WaitRequest::default()
    }
    .ask(&session)
    .unwrap();
    let rows: Vec<_> = sums
        .iter()
        .map(|row| {
            (
                row.process.as_deref().unwrap(),
                row.waits,
                row.wait_sum_ns,
                row.wait_max_ns,
                row.ready_sum_ns,
                row.open_waits,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("store.exe", 2, 58, Some(40), 9, 0),
            ("broker.exe", 2, 68, Some(60), 4, 0),
            ("ui.exe", 1, 80, Some(80), 2, 1)
        ]
    );

    let methods = WaitRequest {
        by: WaitBy::Method,
        ..WaitRequest::default()
    }
    .ask(&session)
    .unwrap();
    assert_eq!(
        methods
            .iter()
            .map(|row| (row.method.as_deref().unwrap(), row.wait_ns))
            .collect::<Vec<_>>(),
        [("Ask", 80), ("main", 80)]
    );

    let rules =
        r#"<Tag Name=""><Tag Name="Request"><Entrypoint Module="a.dll" Method="Ask"/></Tag></Tag>"#;
    session.use_tags(Arc::new([TagSet::read(
        "team.stacktags",
        &[("team", rules.as_bytes())],
    )
    .unwrap()]));
    let by_tag = WaitRequest {
        by: WaitBy::Tag,
        sort: WaitSort::WaitSum,
        stack_tag_file: vec!["team.stacktags".into()],
        ..WaitRequest::default()
    };
    let tags: Vec<_> = by_tag
        .ask(&session)
        .unwrap()
        .into_iter()
        .map(|row| {
            (
                row.process.unwrap(),
                row.tag_set.unwrap(),
                row.tag.unwrap(),
                row.wait_ns,
                row.open_waits,
            )
        })
        .collect();
    let tag = |of: &str, set: &str, tag: &str, wait, open| {
        (of.into(), set.into(), tag.into(), wait, open)
    };
    assert_eq!(
        tags,
        [
            tag("store.exe", "default", "Other", 58, 0),
            tag("broker.exe", "default", "Other", 68, 0),
            tag("ui.exe", "default", "Other", 80, 1),
            tag("ui.exe", "team.stacktags", "Request", 80, 0),
        ]
    );

    let waits = WaitRequest {
        reason: Some("WrLpcReply".into()),
        top: Top {
            count: Some(1),
            skip: 0,
        },
        ..WaitRequest::default()
    };
    let chains = waits.chains(&session).unwrap();
    let links: Vec<_> = chains[0]
        .links
        .iter()
        .map(|link| (link.process.as_deref().unwrap(), link.wait_ns.unwrap()))
        .collect();
    assert_eq!(
        links,
        [("ui.exe", 80), ("broker.exe", 60), ("store.exe", 40)]
    );
    assert_eq!(
        (
            chains[0].root.kind.as_str(),
            chains[0].root.object.as_deref()
        ),
        ("disk_io", Some("C:\\data\\store.db"))
    );

    let PathAnswer::Path(path) = (PathRequest {
        tid: Some(101),
        ..PathRequest::default()
    })
    .ask(&session)
    .unwrap() else {
        panic!("no path")
    };
    let segments: Vec<_> = path
        .segments
        .iter()
        .map(|s| {
            (
                s.start_ns,
                s.end_ns,
                s.process.as_deref().unwrap(),
                s.state.name(),
                s.depth,
            )
        })
        .collect();
    assert_eq!(
        segments,
        [
            (0, 10, "ui.exe", "running", 0),
            (10, 20, "broker.exe", "running", 1),
            (20, 25, "store.exe", "ready", 2),
            (25, 30, "store.exe", "running", 2),
            (30, 70, "store.exe", "waiting", 2),
            (70, 72, "store.exe", "ready", 2),
            (72, 80, "store.exe", "running", 2),
            (80, 83, "broker.exe", "ready", 1),
            (83, 90, "broker.exe", "running", 1),
            (90, 92, "ui.exe", "ready", 0),
            (92, 100, "ui.exe", "running", 0),
        ]
    );
    let tree: Vec<_> = path
        .tree
        .iter()
        .map(|node| {
            (
                node.process.as_deref().unwrap(),
                node.total_ns,
                node.total_percent,
            )
        })
        .collect();
    assert_eq!(
        tree,
        [
            ("ui.exe", 100, 100.0),
            ("broker.exe", 80, 80.0),
            ("store.exe", 60, 60.0)
        ]
    );
    assert_eq!(
        (
            path.shares[0].state.name(),
            path.shares[0].ended_by.as_deref(),
            path.shares[0].duration_ns
        ),
        ("waiting", Some("disk_io"), 40)
    );
    assert_eq!(path.open_wait, Some((100, Some("UserRequest".into()))));
}
