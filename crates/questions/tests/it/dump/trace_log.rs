//! Events that describe themselves.

use etwkit_question::range::{Range, Unit};
use etwkit_questions::trace_log::{TraceLogRequest, TraceLogSort};
use etwkit_sql::Session;
use etwkit_trace::table::{GenericEvent, Thread};

use super::super::support::rows;
use super::{MS, process};

fn session() -> Session {
    let event =
        |ms: i64, process_key, provider: &str, name: &str, event_id, fields: &str| GenericEvent {
            ts_ns: ms * MS,
            process_key: Some(process_key),
            thread_key: Some(process_key),
            provider_guid: format!("0000000{}-0000-0000-0000-000000000000", provider.len()).into(),
            provider: Some(provider.into()),
            name: Some(name.into()),
            event_id,
            described_by: Some(if provider == "Kernel" {
                "template"
            } else {
                "tracelogging"
            }),
            fields: Some(fields.into()),
            ..GenericEvent::default()
        };
    let thread = |thread_key, tid| Thread {
        thread_key,
        tid,
        ..Thread::default()
    };
    Session::from_batches(vec![
        rows(&[process(1, 4, "a.exe"), process(2, 8, "b.exe")]),
        rows(&[thread(1, 44), thread(2, 48)]),
        rows(&[
            event(
                1,
                1,
                "Shop",
                "CartOpened",
                0,
                r#"{"user":"bob","items":{"count":2}}"#,
            ),
            event(2, 1, "Shop", "CartClosed", 0, r#"{"user":"eve"}"#),
            event(3, 2, "Shop", "CartOpened", 0, r#"{"user":"bobby"}"#),
            event(4, 2, "Database", "Query", 7, r#"{"text":"select"}"#),
            event(5, 2, "Kernel", "Open", 7, "{}"),
        ]),
    ])
    .unwrap()
}

fn providers(list: &str) -> TraceLogRequest {
    TraceLogRequest {
        providers: Some(list.to_owned()),
        ..TraceLogRequest::default()
    }
}

#[track_caller]
fn times(request: &TraceLogRequest) -> Vec<i64> {
    let rows = request
        .list(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.list_sql()));
    rows.iter().map(|row| row.ts_ns / MS).collect()
}

#[test]
fn providers_and_events_are_chosen() {
    for (list, expected) in [
        ("", &[1, 2, 3, 4][..]),
        ("shop", &[1, 2, 3]),
        ("S*", &[1, 2, 3]),
        ("sho", &[]),
        ("00000008-0000-0000-0000-000000000000", &[4]),
        ("shop:opened", &[1, 3]),
        ("shop:*Closed;Database:7", &[2, 4]),
        ("shop:!opened", &[2]),
        ("!shop", &[4]),
        (":cart;!shop:CLOSED", &[1, 3]),
        ("*:0", &[1, 2, 3]),
    ] {
        assert_eq!(times(&providers(list)), expected, "{list}");
    }
    let all_events = TraceLogRequest {
        all_events: true,
        ..TraceLogRequest::default()
    };
    assert_eq!(times(&all_events), [1, 2, 3, 4, 5]);
}

#[test]
fn events_are_filtered_by_what_they_say() {
    let all = TraceLogRequest::default();
    let text = |text: &str| Some(text.to_owned());
    for (request, expected) in [
        (
            TraceLogRequest {
                message: text("user=bob*"),
                ..all.clone()
            },
            &[1, 3][..],
        ),
        (
            TraceLogRequest {
                message: text("user=bobby"),
                ..all.clone()
            },
            &[3],
        ),
        (
            TraceLogRequest {
                message: text("*items.count=2*"),
                ..all.clone()
            },
            &[1],
        ),
        (
            TraceLogRequest {
                message: text("!*bob*"),
                ..all.clone()
            },
            &[2, 4],
        ),
        (
            TraceLogRequest {
                tid: text("48"),
                ..all.clone()
            },
            &[3, 4],
        ),
        (
            TraceLogRequest {
                time: Range::parse("2ms..3ms", Unit::Seconds).unwrap(),
                ..all.clone()
            },
            &[2, 3],
        ),
        (
            TraceLogRequest {
                tid: text("48"),
                max_count: Some(1),
                ..all.clone()
            },
            &[3],
        ),
    ] {
        assert_eq!(times(&request), expected, "{request:?}");
    }
}

#[test]
fn sums_by_provider_and_by_kind() {
    let all = TraceLogRequest::default();
    let rows = all
        .of_providers(&session())
        .unwrap_or_else(|e| panic!("{e}\n{}", all.providers_sql()));
    let sums: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.provider.as_deref().unwrap(),
                row.pid.unwrap(),
                row.count,
                row.kinds,
                row.provider_count,
            )
        })
        .collect();
    assert_eq!(
        sums,
        [
            ("Database", 8, 1, 1, 1),
            ("Shop", 8, 1, 1, 3),
            ("Shop", 4, 2, 2, 3)
        ]
    );
    let kinds = |sort| {
        let request = TraceLogRequest {
            sort,
            ..all.clone()
        };
        let rows = request
            .of_kinds(&session())
            .unwrap_or_else(|e| panic!("{e}\n{}", request.kinds_sql()));
        rows.into_iter()
            .map(|row| (row.event.unwrap(), row.count, row.processes))
            .collect::<Vec<_>>()
    };
    let (query, closed, opened) = (
        ("Query".into(), 1, 1),
        ("CartClosed".into(), 1, 1),
        ("CartOpened".into(), 2, 2),
    );
    assert_eq!(
        kinds(TraceLogSort::Count),
        [query.clone(), closed.clone(), opened.clone()]
    );
    assert_eq!(
        kinds(TraceLogSort::Name),
        [query.clone(), closed.clone(), opened.clone()]
    );
    assert_eq!(kinds(TraceLogSort::Id), [closed, opened, query]);
    // Sums count only the events that a limit leaves.
    let limited = TraceLogRequest {
        max_count: Some(1),
        ..all
    };
    assert_eq!(limited.of_kinds(&session()).unwrap().len(), 1);
}
