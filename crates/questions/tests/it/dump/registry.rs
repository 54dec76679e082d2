//! The registry.

use etwkit_question::Question;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_question::{Error, ProcessQuery};
use etwkit_questions::registry::{
    RegistryBy, RegistryOperation, RegistryRequest, RegistryRow, RegistrySort,
};
use etwkit_sql::Session;
use etwkit_trace::table::{RegistryIo, RegistryKey, Thread};

use super::super::support::rows;
use super::{MS, process};

/// Status `OBJECT_NAME_NOT_FOUND`.
const NOT_FOUND: i32 = 0xC000_0034u32 as i32;

const RUN: &str = r"\REGISTRY\MACHINE\SOFTWARE\Run";

fn io(
    operation: &'static str,
    process_key: i32,
    start_ns: i64,
    length: i64,
    key: Option<&str>,
) -> RegistryIo {
    RegistryIo {
        operation,
        process_key: Some(process_key),
        thread_key: Some(process_key),
        start_ns,
        end_ns: start_ns + length,
        duration_ns: Some(length),
        key: key.map(Into::into),
        is_whole_key: key.is_some_and(|key| key.starts_with('\\')),
        ..RegistryIo::default()
    }
}

fn sum(operation: &str, process_key: i32, key: Option<&str>, numbers: [i64; 4]) -> RegistryKey {
    let [count, failures, duration_ns, max] = numbers;
    RegistryKey {
        key: key.map(Into::into),
        process_key: Some(process_key),
        operation: operation.into(),
        count,
        failures,
        duration_ns,
        max_duration_ns: Some(max),
    }
}

/// Returns the operations described in `docs/numbers/registry.md`.
fn operations() -> [RegistryIo; 6] {
    let value = |name: &str, start, length, status| RegistryIo {
        value: Some(name.into()),
        status,
        ..io("query_value", 1, start, length, Some(RUN))
    };
    [
        io("open_key", 1, MS, 4000, Some(RUN)),
        value("Tray", 2 * MS, 1000, 0),
        value("Helper", 3 * MS, 3000, NOT_FOUND),
        RegistryIo {
            status: NOT_FOUND,
            ..io(
                "open_key",
                2,
                4 * MS,
                2000,
                Some(r"\Registry\Machine\SOFTWARE\Run\Sub"),
            )
        },
        io("close_key", 1, 5 * MS, 500, Some(RUN)),
        RegistryIo {
            duration_ns: None,
            ..io("query_key", 2, 6 * MS, 0, Some("Lost"))
        },
    ]
}

fn sums() -> [RegistryKey; 5] {
    [
        sum("open_key", 1, Some(RUN), [1, 0, 4000, 4000]),
        sum("query_value", 1, Some(RUN), [2, 1, 4000, 3000]),
        sum("close_key", 1, Some(RUN), [1, 0, 500, 500]),
        sum(
            "open_key",
            2,
            Some(r"\Registry\Machine\SOFTWARE\Run\Sub"),
            [1, 1, 2000, 2000],
        ),
        RegistryKey {
            max_duration_ns: None,
            ..sum("query_key", 2, Some("Lost"), [1, 0, 0, 0])
        },
    ]
}

fn session() -> Session {
    let thread = |thread_key: i32, tid| Thread {
        thread_key,
        tid,
        ..Thread::default()
    };
    Session::from_batches(vec![
        rows(&[process(1, 100, "setup.exe"), process(2, 200, "shell.exe")]),
        rows(&[thread(1, 101), thread(2, 201)]),
        rows(&operations()),
        rows(&sums()),
    ])
    .unwrap()
}

/// Key, count, failures, duration and longest of each row.
fn by_key(request: &RegistryRequest) -> Vec<(String, i64, i64, i64, Option<i64>)> {
    let rows: Vec<RegistryRow> = request.ask(&session()).unwrap();
    rows.into_iter()
        .map(|row| {
            (
                row.key.unwrap_or("-".into()),
                row.count,
                row.failures,
                row.duration_ns,
                row.max_duration_ns,
            )
        })
        .collect()
}

#[test]
fn sums_of_keys_are_the_same_with_and_without_single_operations() {
    let want = vec![
        ("Lost".to_owned(), 1, 0, 0, None),
        (r"HKLM\SOFTWARE\Run\Sub".to_owned(), 1, 1, 2000, Some(2000)),
        (r"HKLM\SOFTWARE\Run".to_owned(), 4, 1, 8500, Some(4000)),
    ];
    assert_eq!(by_key(&RegistryRequest::default()), want);
    // A part of the trace needs single operations.
    let time = Range {
        min: 0,
        max: 100 * MS,
    };
    assert_eq!(
        by_key(&RegistryRequest {
            time,
            ..RegistryRequest::default()
        }),
        want
    );
}

#[test]
fn rows_sum_up_by_what_is_asked_for() {
    let session = session();
    let ask = |request: RegistryRequest| request.ask::<RegistryRow>(&session).unwrap();
    let default = RegistryRequest::default;
    let by = |by| {
        ask(RegistryRequest {
            by,
            sort: RegistrySort::Count,
            ..default()
        })
    };
    let processes = by(RegistryBy::Process);
    assert_eq!(
        processes
            .iter()
            .map(|row| (
                row.pid,
                row.count,
                row.failures,
                row.opens,
                row.closes,
                row.keys
            ))
            .collect::<Vec<_>>(),
        [(Some(200), 2, 1, 0, 0, 2), (Some(100), 4, 1, 1, 1, 1)]
    );
    let kinds: Vec<_> = by(RegistryBy::Operation)
        .into_iter()
        .map(|row| (row.operation, row.count))
        .collect();
    let kind = |name: &str, count| (Some(name.to_owned()), count);
    assert_eq!(
        kinds,
        [
            kind("query_key", 1),
            kind("close_key", 1),
            kind("query_value", 2),
            kind("open_key", 2)
        ]
    );
    let statuses: Vec<_> = by(RegistryBy::Status)
        .into_iter()
        .map(|row| (row.status_name, row.count, row.failures))
        .collect();
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(
        statuses,
        [
            (name("OBJECT_NAME_NOT_FOUND"), 2, 2),
            (name("SUCCESS"), 4, 0)
        ]
    );
    let values: Vec<_> = ask(RegistryRequest {
        by: RegistryBy::Value,
        operation: name("query_value"),
        ..default()
    })
    .into_iter()
    .map(|row| (row.key, row.value, row.duration_ns))
    .collect();
    let key = || name(r"HKLM\SOFTWARE\Run");
    assert_eq!(
        values,
        [(key(), name("Tray"), 1000), (key(), name("Helper"), 3000)]
    );
    let mean = ask(RegistryRequest {
        sort: RegistrySort::Mean,
        per_process: true,
        ..default()
    });
    let means: Vec<_> = mean
        .iter()
        .map(|row| (row.pid.unwrap(), row.mean_duration_ns))
        .collect();
    assert_eq!(means, [(200, 0.0), (200, 2000.0), (100, 2125.0)]);
}

#[test]
fn a_depth_puts_keys_below_each_other_together() {
    for (depth, want) in [
        (0, vec![("Lost", 1), ("HKLM", 5)]),
        (1, vec![("Lost", 1), (r"HKLM\SOFTWARE", 5)]),
        (2, vec![("Lost", 1), (r"HKLM\SOFTWARE\Run", 5)]),
        (
            3,
            vec![
                ("Lost", 1),
                (r"HKLM\SOFTWARE\Run\Sub", 1),
                (r"HKLM\SOFTWARE\Run", 4),
            ],
        ),
    ] {
        let rows = by_key(&RegistryRequest {
            depth: Some(depth),
            ..RegistryRequest::default()
        });
        let rows: Vec<_> = rows.iter().map(|row| (row.0.as_str(), row.1)).collect();
        assert_eq!(rows, want, "{depth}");
    }
}

#[test]
fn filters_find_single_operations() {
    let session = session();
    let starts = |request: RegistryRequest| {
        let request = RegistryRequest {
            details: true,
            sort: RegistrySort::Time,
            ..request
        };
        let rows: Vec<RegistryOperation> = request.ask(&session).unwrap();
        rows.iter().map(|row| row.start_ns / MS).collect::<Vec<_>>()
    };
    let text = |text: &str| Some(text.to_owned());
    let default = RegistryRequest::default;
    for (request, want) in [
        (default(), vec![1, 2, 3, 4, 5, 6]),
        (
            RegistryRequest {
                key: text(r"HKLM\SOFTWARE\Run"),
                ..default()
            },
            vec![1, 2, 3, 5],
        ),
        (
            RegistryRequest {
                key: text(r"\registry\machine\*;!*\Sub"),
                ..default()
            },
            vec![1, 2, 3, 5],
        ),
        (
            RegistryRequest {
                value: text("t*"),
                ..default()
            },
            vec![2],
        ),
        (
            RegistryRequest {
                operation: text("open*;close*"),
                ..default()
            },
            vec![1, 4, 5],
        ),
        (
            RegistryRequest {
                status: text("failed"),
                ..default()
            },
            vec![3, 4],
        ),
        (
            RegistryRequest {
                status: text("STATUS_OBJECT_NAME_*"),
                ..default()
            },
            vec![3, 4],
        ),
        (
            RegistryRequest {
                unknown: true,
                ..default()
            },
            vec![6],
        ),
        (
            RegistryRequest {
                duration: Range {
                    min: 2000,
                    max: i64::MAX,
                },
                ..default()
            },
            vec![1, 3, 4],
        ),
        (
            RegistryRequest {
                time: Range {
                    min: 2 * MS,
                    max: 4 * MS,
                },
                ..default()
            },
            vec![2, 3, 4],
        ),
        (
            RegistryRequest {
                processes: ProcessQuery {
                    process: text("shell"),
                    ..ProcessQuery::default()
                },
                ..default()
            },
            vec![4, 6],
        ),
        (
            RegistryRequest {
                top: Top {
                    count: Some(2),
                    skip: 1,
                },
                ..default()
            },
            vec![4, 5],
        ),
    ] {
        assert_eq!(starts(request.clone()), want, "{request:?}");
    }
    let first = RegistryRequest {
        details: true,
        sort: RegistrySort::Duration,
        ..default()
    };
    let first: RegistryOperation = first.ask(&session).unwrap().pop().unwrap();
    assert_eq!(
        (first.tid, first.key.as_deref(), first.is_whole_key),
        (Some(101), Some(r"HKLM\SOFTWARE\Run"), true)
    );
}

#[test]
fn what_is_missing_is_said() {
    let none =
        Session::from_batches(vec![rows::<RegistryIo>(&[]), rows::<RegistryKey>(&[])]).unwrap();
    let error = RegistryRequest::default()
        .ask::<RegistryRow>(&none)
        .unwrap_err();
    assert!(
        matches!(error, Error::NotRecorded { .. }) && error.hint().unwrap().contains("REGISTRY"),
        "{error}"
    );
    let summary = Session::from_batches(vec![
        rows(&[process(1, 100, "setup.exe"), process(2, 200, "shell.exe")]),
        rows::<RegistryIo>(&[]),
        rows(&sums()),
    ])
    .unwrap();
    assert_eq!(
        RegistryRequest::default()
            .ask::<RegistryRow>(&summary)
            .unwrap()
            .len(),
        3
    );
    let by = RegistryBy::Status;
    let error = RegistryRequest {
        by,
        ..RegistryRequest::default()
    }
    .ask::<RegistryRow>(&summary)
    .unwrap_err();
    assert!(matches!(error, Error::NeedsRows { .. }), "{error}");
}
