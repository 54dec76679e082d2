//! Objects, handles and mapped files.

use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_question::{Error, ProcessQuery};
use etwkit_questions::object_ref::{NEVER_NS, ObjectEvents, ObjectRequest, ObjectSort};
use etwkit_sql::Session;
use etwkit_trace::table::{FileMap, Handle, HandleType, Object, ObjectRef, Process};

use super::super::support::rows;
use super::{MS, process};

fn handle(
    process_key: i32,
    value: i64,
    object_id: i32,
    open: Option<i64>,
    close: Option<i64>,
) -> Handle {
    Handle {
        process_key: Some(process_key),
        handle: value,
        object_id: Some(object_id),
        origin: if open.is_some() { "create" } else { "rundown" },
        outcome: if close.is_some() { "closed" } else { "open" },
        open_ns: open,
        close_ns: close,
        open_process_key: open.map(|_| process_key),
        close_process_key: close.map(|_| process_key),
        ..Handle::default()
    }
}

/// Object 0 is inherited, object 1 has references and is deleted, object 2 was there before; two
/// mapped files.
fn session() -> Session {
    let object = |object_id: i32, name: &str| Object {
        object_id,
        address: 0xA0 + i64::from(object_id),
        type_name: Some("Event".into()),
        name: Some(name.into()),
        ..Object::default()
    };
    let inherited = Handle {
        origin: "inherit",
        open_process_key: Some(1),
        source_process_key: Some(1),
        source_handle: Some(0x14),
        ..handle(2, 0x14, 0, Some(2 * MS), Some(5 * MS))
    };
    let reference = |ts_ns, kind, count| ObjectRef {
        ts_ns,
        process_key: Some(1),
        object_id: Some(1),
        kind,
        tag: Some("Dflt".into()),
        count: Some(count),
        ..ObjectRef::default()
    };
    let life = |ts_ns, kind| ObjectRef {
        tag: None,
        count: None,
        ..reference(ts_ns, kind, 0)
    };
    let map = |map_id: i32, address, map_ns: Option<i64>, unmap_ns: Option<i64>| FileMap {
        map_id,
        process_key: Some(1),
        address,
        size_bytes: 0x5000,
        path: Some(r"C:\a.txt".into()),
        origin: if map_ns.is_some() { "map" } else { "unknown" },
        outcome: if unmap_ns.is_some() {
            "unmapped"
        } else {
            "open"
        },
        map_ns,
        unmap_ns,
        ..FileMap::default()
    };
    Session::from_batches(vec![
        rows(&[
            process(1, 100, "parent.exe"),
            Process {
                parent_process_key: Some(1),
                start_ns: Some(3 * MS),
                ..process(2, 200, "child.exe")
            },
            process(3, 300, "other.exe"),
        ]),
        rows(&[
            object(0, "Shared"),
            Object {
                deleted_ns: Some(9 * MS),
                ..object(1, "Counted")
            },
            object(2, "Old"),
        ]),
        rows(&[
            handle(1, 0x14, 0, Some(MS), None),
            inherited,
            handle(1, 0x18, 1, Some(2 * MS), Some(4 * MS)),
            handle(1, 0x1C, 2, None, None),
            handle(3, 0x20, 2, None, None),
        ]),
        rows(&[
            life(MS, "create"),
            reference(5 * MS, "reference", 3),
            reference(6 * MS, "dereference", 1),
            life(9 * MS, "delete"),
        ]),
        rows(&[
            map(0, 0x10000, Some(MS), None),
            map(1, 0x20000, None, Some(2 * MS)),
        ]),
        rows(&[HandleType {
            process_key: Some(1),
            created: 2,
            ..HandleType::default()
        }]),
    ])
    .unwrap()
}

#[track_caller]
fn ask(request: &ObjectRequest) -> Vec<ObjectEvents> {
    request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.sql()))
}

/// `0`, `1`, … for objects, `m0`, … for mapped files.
#[track_caller]
fn ids(request: &ObjectRequest) -> String {
    let id = |of: &ObjectEvents| {
        format!(
            "{}{}",
            if of.object.is_map { "m" } else { "" },
            of.object.id
        )
    };
    ask(request).iter().map(id).collect::<Vec<_>>().join(" ")
}

#[test]
fn objects_have_what_follows_from_their_events() {
    let all = ask(&ObjectRequest::default());
    let [shared, counted, old, mapped, unmapped] = &all[..] else {
        panic!("{all:?}")
    };
    let events = |of: &ObjectEvents| -> Vec<String> {
        of.events
            .iter()
            .filter_map(|event| event.event.clone())
            .collect()
    };
    assert_eq!(
        events(shared),
        ["handle_create", "handle_inherit", "handle_close"]
    );
    let o = &shared.object;
    assert_eq!(
        (o.creates, o.duplicates, o.closes, o.leaked, o.max_open),
        (1, 1, 1, 1, 2)
    );
    assert_eq!(
        (o.created_ns, o.destroyed_ns, o.lifetime_ns),
        (Some(MS), None, None)
    );
    assert_eq!(
        (o.is_multi_process, o.inherited_by.as_deref(), o.pid),
        (true, Some("child.exe(200)"), Some(100))
    );
    let inherited = &shared.events[1];
    assert_eq!(
        (
            inherited.owner_pid,
            inherited.source_pid,
            inherited.source_handle.as_deref()
        ),
        (Some(200), Some(100), Some("0x14"))
    );
    assert_eq!(
        events(counted),
        [
            "object_create",
            "handle_create",
            "handle_close",
            "object_delete"
        ]
    );
    let o = &counted.object;
    assert_eq!(
        (o.reference_changes, o.reference_balance, o.lifetime_ns),
        (2, 2, Some(8 * MS))
    );
    assert_eq!(
        (
            events(old).len(),
            old.object.preexisting,
            old.object.preexisting_owners
        ),
        (0, 2, 2)
    );
    assert_eq!(
        (old.object.pid, old.object.max_open, old.object.lifetime_ns),
        (None, 2, None)
    );
    assert_eq!(
        (events(mapped), mapped.object.leaked),
        (vec!["map".to_owned()], 1)
    );
    // Only its end was reported, so that its lifetime is not known; but it ended.
    let o = &unmapped.object;
    assert_eq!(
        (o.lifetime_ns, o.destroyed_ns, o.name.as_deref()),
        (None, Some(2 * MS), Some(r"C:\a.txt"))
    );
}

#[test]
fn references_are_shown_if_they_are_asked_for() {
    let request = ObjectRequest {
        references: true,
        id: Range { min: 1, max: 1 },
        ..ObjectRequest::default()
    };
    let events: Vec<_> = ask(&request)[0]
        .events
        .iter()
        .map(|event| (event.count, event.tag.clone()))
        .collect();
    assert_eq!(
        events.iter().filter(|(count, _)| count.is_some()).count(),
        2
    );
    assert!(
        events.contains(&(Some(3), Some("Dflt".into()))),
        "{events:?}"
    );
}

#[test]
fn filters_keep_the_objects_that_they_name() {
    let all = ObjectRequest::default;
    let text = |text: &str| Some(text.to_owned());
    for (request, want) in [
        (all(), "0 1 2 m0 m1"),
        (
            ObjectRequest {
                maps: Some(true),
                ..all()
            },
            "m0 m1",
        ),
        (
            ObjectRequest {
                maps: Some(false),
                ..all()
            },
            "0 1 2",
        ),
        (
            ObjectRequest {
                leaked: true,
                ..all()
            },
            "0 m0",
        ),
        (
            ObjectRequest {
                multi_process: true,
                ..all()
            },
            "0",
        ),
        (
            ObjectRequest {
                inherited: true,
                ..all()
            },
            "0",
        ),
        (
            ObjectRequest {
                overlapped: true,
                ..all()
            },
            "0 2",
        ),
        (
            ObjectRequest {
                handle: text("0x14;0x1c"),
                ..all()
            },
            "0",
        ),
        (
            ObjectRequest {
                name: text("*e*;!Old"),
                ..all()
            },
            "0 1",
        ),
        (
            ObjectRequest {
                object: text("0xa2"),
                ..all()
            },
            "2",
        ),
        (
            ObjectRequest {
                type_name: text("FileMapping"),
                ..all()
            },
            "m0 m1",
        ),
        (
            ObjectRequest {
                view_base: text("0x20000"),
                ..all()
            },
            "m1",
        ),
        (
            ObjectRequest {
                pointer_in_map: Some(0x14fff),
                ..all()
            },
            "m0",
        ),
        (
            ObjectRequest {
                pointer_in_map: Some(0x15000),
                ..all()
            },
            "",
        ),
        (
            ObjectRequest {
                map_size: Range {
                    min: 0x5001,
                    max: i64::MAX,
                },
                ..all()
            },
            "",
        ),
        (
            ObjectRequest {
                related: text("child"),
                ..all()
            },
            "0",
        ),
        (
            ObjectRequest {
                related: text("!parent"),
                ..all()
            },
            "0",
        ),
        (
            ObjectRequest {
                lifetime: Range {
                    min: NEVER_NS,
                    max: i64::MAX,
                },
                ..all()
            },
            "0 2 m0 m1",
        ),
        (
            ObjectRequest {
                time: Range {
                    min: 4 * MS,
                    max: 6 * MS,
                },
                ..all()
            },
            "0 1",
        ),
        (
            ObjectRequest {
                processes: ProcessQuery {
                    process: text("parent"),
                    ..ProcessQuery::default()
                },
                ..all()
            },
            "0 1 m0",
        ),
        (
            ObjectRequest {
                sort: ObjectSort::Handles,
                top: Top {
                    count: Some(1),
                    skip: 0,
                },
                ..all()
            },
            "0",
        ),
    ] {
        assert_eq!(ids(&request), want, "{request:?}");
    }
}

#[test]
fn an_extract_with_sums_alone_or_with_nothing_says_so() {
    let sums = rows(&[HandleType {
        created: 1,
        ..HandleType::default()
    }]);
    let error = ObjectRequest::default()
        .ask(&Session::from_batches(vec![sums]).unwrap())
        .unwrap_err();
    assert!(matches!(error, Error::NeedsRows { .. }), "{error}");
    let error = ObjectRequest::default()
        .ask_types(&Session::from_batches(vec![]).unwrap(), true)
        .unwrap_err();
    assert!(error.hint().unwrap().contains("OB_HANDLE"), "{error}");
}
