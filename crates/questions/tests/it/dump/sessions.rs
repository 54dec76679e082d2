//! Recording sessions and connected standby.

use etwkit_question::Error;
use etwkit_question::Question;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_questions::logger::{LoggerEventRow, LoggerRow, LoggerSort, LoggersRequest};
use etwkit_questions::standby::{StandbyRequest, StandbyRow, StandbySort};
use etwkit_sql::Session;
use etwkit_trace::table::{Logger, LoggerEvent, Process, Standby, Thread};

use super::super::support::rows;
use super::MS;

fn session() -> Session {
    let logger = |name: &str, start_ns: Option<i64>, events_lost: Option<i64>| Logger {
        name: Some(name.into()),
        start_ns,
        events_lost,
        ..Logger::default()
    };
    let event = |ts_ns, kind, session: Option<&str>, provider: &str| LoggerEvent {
        ts_ns,
        kind,
        session: session.map(Into::into),
        provider: Some(provider.into()),
        provider_guid: Some(format!("guid of {provider}").into()),
        ..LoggerEvent::default()
    };
    Session::from_batches(vec![
        rows::<Process>(&[]),
        rows::<Thread>(&[]),
        rows(&[
            Logger {
                is_of_trace: true,
                buffers_lost: Some(3),
                ..logger("Trace", None, Some(1))
            },
            logger("Late", Some(5 * MS), Some(9)),
            Logger {
                status: Some(0xC000_0022u32 as i32),
                ..logger("Early", Some(MS), None)
            },
        ]),
        rows(&[
            event(MS, "enable", Some("LATE"), "Dns"),
            event(2 * MS, "enable", Some("Late"), "Dns"),
            event(3 * MS, "enable", Some("Late"), "Tcp"),
            event(4 * MS, "register", None, "Dns"),
        ]),
    ])
    .unwrap()
}

#[test]
fn sessions_are_sorted_and_know_their_providers() {
    let session = session();
    let names = |request: LoggersRequest| {
        let rows: Vec<LoggerRow> = request.ask(&session).unwrap();
        rows.iter()
            .map(|row| (row.name.clone().unwrap(), row.providers))
            .collect::<Vec<_>>()
    };
    let row = |name: &str, providers| (name.to_owned(), providers);
    let by = |sort| {
        names(LoggersRequest {
            sort,
            ..LoggersRequest::default()
        })
    };
    assert_eq!(
        by(LoggerSort::Start),
        [row("Trace", 0), row("Early", 0), row("Late", 2)]
    );
    assert_eq!(
        by(LoggerSort::Lost),
        [row("Early", 0), row("Trace", 0), row("Late", 2)]
    );
    assert_eq!(
        by(LoggerSort::Name),
        [row("Early", 0), row("Late", 2), row("Trace", 0)]
    );
    let only = LoggersRequest {
        session: Some("e*".into()),
        ..LoggersRequest::default()
    };
    let only: Vec<LoggerRow> = only.ask(&session).unwrap();
    assert_eq!(only[0].status_name.as_deref(), Some("ACCESS_DENIED"));
}

#[test]
fn events_of_sessions_are_found() {
    let session = session();
    let times = |request: LoggersRequest| {
        request
            .ask::<LoggerEventRow>(&session)
            .unwrap()
            .iter()
            .map(|row| row.ts_ns / MS)
            .collect::<Vec<_>>()
    };
    let default = || LoggersRequest {
        details: true,
        ..LoggersRequest::default()
    };
    let text = |text: &str| Some(text.to_owned());
    for (request, want) in [
        (default(), vec![1, 2, 3, 4]),
        (
            LoggersRequest {
                session: text("late"),
                ..default()
            },
            vec![1, 2, 3],
        ),
        (
            LoggersRequest {
                provider: text("*tcp"),
                ..default()
            },
            vec![3],
        ),
        (
            LoggersRequest {
                kind: text("!enable"),
                ..default()
            },
            vec![4],
        ),
        (
            LoggersRequest {
                time: Range {
                    min: 2 * MS,
                    max: 3 * MS,
                },
                ..default()
            },
            vec![2, 3],
        ),
        (
            LoggersRequest {
                top: Top {
                    count: Some(1),
                    skip: 0,
                },
                ..default()
            },
            vec![4],
        ),
    ] {
        assert_eq!(times(request.clone()), want, "{request:?}");
    }
    let none = Session::from_batches(vec![rows::<LoggerEvent>(&[]), rows::<Logger>(&[])]).unwrap();
    assert!(matches!(
        default().ask::<LoggerEventRow>(&none),
        Err(Error::NotRecorded { .. })
    ));
}

/// The example of `docs/numbers/standby.md`.
#[test]
fn stays_have_their_part_in_the_deepest_state() {
    let stay =
        |enter_ns: Option<i64>, exit_ns: Option<i64>, reported: i64, drips: i64, drain: i64| {
            Standby {
                enter_ns,
                exit_ns,
                duration_ns: enter_ns.zip(exit_ns).map(|(enter, exit)| exit - enter),
                told_duration_ns: Some(reported),
                drips_ns: Some(drips),
                non_drips_ns: Some(reported - drips),
                energy_drain: Some(drain),
                ..Standby::default()
            }
        };
    let open = Standby {
        enter_ns: Some(90 * MS),
        ..Standby::default()
    };
    let session = Session::from_batches(vec![rows(&[
        stay(Some(10 * MS), Some(40 * MS), 100 * MS, 90 * MS, 3),
        stay(Some(50 * MS), Some(80 * MS), 40 * MS, 0, 7),
        open,
    ])])
    .unwrap();
    let enters = |request: StandbyRequest| {
        let rows: Vec<StandbyRow> = request.ask(&session).unwrap();
        rows.iter()
            .map(|row| row.enter_ns.unwrap() / MS)
            .collect::<Vec<_>>()
    };
    let default = StandbyRequest::default;
    assert_eq!(enters(default()), [10, 50, 90]);
    assert_eq!(
        enters(StandbyRequest {
            sort: StandbySort::Drain,
            ..default()
        }),
        [90, 10, 50]
    );
    assert_eq!(
        enters(StandbyRequest {
            sort: StandbySort::NonDrips,
            ..default()
        }),
        [90, 10, 50]
    );
    assert_eq!(
        enters(StandbyRequest {
            time: Range {
                min: 60 * MS,
                max: 95 * MS
            },
            ..default()
        }),
        [50, 90]
    );
    assert_eq!(
        enters(StandbyRequest {
            duration: Range {
                min: 1,
                max: i64::MAX
            },
            ..default()
        }),
        [10, 50]
    );
    let ratios: Vec<_> = default()
        .ask::<StandbyRow>(&session)
        .unwrap()
        .iter()
        .map(|row| row.drips_ratio)
        .collect();
    assert_eq!(ratios, [Some(0.9), Some(0.0), None]);
    let none = Session::from_batches(vec![rows::<Standby>(&[])]).unwrap();
    assert!(matches!(
        default().ask::<StandbyRow>(&none),
        Err(Error::NotRecorded { .. })
    ));
}
