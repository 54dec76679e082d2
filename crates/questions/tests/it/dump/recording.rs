//! Contents of a trace, and events without their own table: rows in, answers out.

use std::sync::Arc;

use etwkit_question::Error;
use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_questions::events::{EventsEvent, EventsKind, EventsRequest, EventsSort};
use etwkit_questions::stats::StatsRequest;
use etwkit_questions::trace_stats::{
    TraceStatsBy, TraceStatsRequest, TraceStatsRow, TraceStatsSecond, TraceStatsSort,
};
use etwkit_sql::Session;
use etwkit_trace::table::{
    CpuMethod, CpuTag, EventCount, GenericEvent, MachineFact, Process, Thread, Trace,
};

use super::super::support::rows;
use super::{MS, S, process, trace};

fn count(
    second: i64,
    provider: &str,
    (event_id, opcode): (i32, i32),
    numbers: [i64; 3],
) -> EventCount {
    let [events, record_bytes, stacks] = numbers;
    let is_kernel = provider == "Thread";
    EventCount {
        second,
        kernel_group: is_kernel.then_some(5),
        provider_guid: (!is_kernel).then(|| Arc::from(format!("guid of {provider}"))),
        provider: Some(provider.into()),
        name: Some(format!("event {event_id}/{opcode}").into()),
        event_id: Some(event_id),
        opcode: Some(opcode),
        version: Some(2),
        events,
        record_bytes,
        stacks,
    }
}

/// Switches in three seconds, of which one is silent, and two kinds of events of a provider.
fn counted() -> Session {
    counted_in(trace(), 2 * MS, &[])
}

/// Switches as in [`counted`], in a trace with this CPU of code that writes events and these methods.
fn counted_in(trace: Trace, tracing_ns: i64, methods: &[CpuMethod]) -> Session {
    let tag = |tag: &str, cpu_ns| CpuTag {
        process_key: Some(1),
        tag_set: "default".into(),
        tag: tag.into(),
        samples: 1,
        cpu_ns,
        ..CpuTag::default()
    };
    Session::from_batches(vec![
        rows(&[Trace {
            lost_events: 7,
            lost_buffers: 2,
            ..trace
        }]),
        rows(&[
            count(0, "Thread", (0, 36), [100, 8_000, 90]),
            count(0, "Dns", (3006, 0), [2, 500, 0]),
            count(2, "Thread", (0, 36), [300, 24_000, 0]),
            count(2, "Dns", (3006, 0), [1, 250, 1]),
            count(2, "Dns", (3008, 1), [4, 7_250, 0]),
        ]),
        rows(&[
            tag("Windows\\ETW Tracing", tracing_ns),
            tag("Other", 98 * MS),
        ]),
        rows(methods),
    ])
    .unwrap()
}

/// The kernel logs loads of images with the group of processes.
#[test]
fn a_class_with_two_groups_is_one_row() {
    let of = |kernel_group, opcode, events| EventCount {
        kernel_group: Some(kernel_group),
        provider_guid: None,
        ..count(0, "Image", (0, opcode), [events, 64, 0])
    };
    let counts = [of(20, 2, 5), of(3, 10, 4)];
    let session = Session::from_batches(vec![rows(&[trace()]), rows(&counts)]).unwrap();
    let groups = |by| {
        let request = TraceStatsRequest {
            by,
            ..TraceStatsRequest::default()
        };
        let found: Vec<TraceStatsRow> = request.ask(&session).unwrap();
        let row = |row: &TraceStatsRow| (row.kernel_group, row.kinds, row.events);
        found.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(groups(TraceStatsBy::Provider), [(Some(20), 2, 9)]);
    assert_eq!(
        groups(TraceStatsBy::Event),
        [(Some(3), 1, 4), (Some(20), 1, 5)]
    );
}

/// The example of `docs/numbers/recording.md`.
#[test]
fn providers_have_their_part_of_the_trace() {
    let session = counted();
    let providers = |request: TraceStatsRequest| {
        let rows: Vec<TraceStatsRow> = request.ask(&session).unwrap();
        let row = |row: TraceStatsRow| {
            let numbers = (
                row.kinds,
                row.events,
                row.record_bytes,
                row.stacks,
                row.peak_events,
            );
            (
                row.provider.unwrap(),
                numbers,
                (row.first_second, row.last_second),
            )
        };
        rows.into_iter().map(row).collect::<Vec<_>>()
    };
    let dns = || ("Dns".to_owned(), (2, 7, 8_000, 1, 5), (0, 2));
    let thread = || ("Thread".to_owned(), (1, 400, 32_000, 90, 300), (0, 2));
    let default = TraceStatsRequest::default;
    assert_eq!(providers(default()), [dns(), thread()]);
    assert_eq!(
        providers(TraceStatsRequest {
            provider: Some("guid of d*".into()),
            ..default()
        }),
        [dns()]
    );
    let part = Range { min: S, max: 5 * S };
    let late = providers(TraceStatsRequest {
        time: part,
        ..default()
    });
    assert_eq!(late[1].1, (1, 300, 24_000, 0, 300));
    let ratios: Vec<_> = default()
        .ask::<TraceStatsRow>(&session)
        .unwrap()
        .iter()
        .map(|row| row.bytes_ratio)
        .collect();
    assert_eq!(ratios, [Some(0.2), Some(0.8)]);
    // The other events are part of the trace although they are not asked for: 250 of 31,500 bytes.
    let chosen = TraceStatsRequest {
        by: TraceStatsBy::Event,
        event: Some("event 3006/0".into()),
        time: part,
        ..default()
    };
    let chosen: Vec<TraceStatsRow> = chosen.ask(&session).unwrap();
    assert_eq!(chosen[0].bytes_ratio, Some(250.0 / 31_500.0));
}

#[test]
fn kinds_of_events_are_distinguished_by_id_opcode_and_version() {
    let session = counted();
    let ids = |request: TraceStatsRequest| {
        let rows: Vec<TraceStatsRow> = request.ask(&session).unwrap();
        rows.iter()
            .map(|row| (row.event_id.unwrap(), row.opcode.unwrap(), row.events))
            .collect::<Vec<_>>()
    };
    let by = TraceStatsRequest {
        by: TraceStatsBy::Event,
        ..TraceStatsRequest::default()
    };
    assert_eq!(ids(by.clone()), [(3006, 0, 3), (3008, 1, 4), (0, 36, 400)]);
    let peak = TraceStatsRequest {
        sort: Some(TraceStatsSort::Peak),
        ..by.clone()
    };
    assert_eq!(ids(peak), [(3006, 0, 3), (3008, 1, 4), (0, 36, 400)]);
    let named = TraceStatsRequest {
        event: Some("*3008*".into()),
        ..by
    };
    assert_eq!(ids(named), [(3008, 1, 4)]);
}

#[test]
fn seconds_stand_in_their_order_and_the_whole_trace_below() {
    let session = counted();
    let by = TraceStatsRequest {
        by: TraceStatsBy::Second,
        ..TraceStatsRequest::default()
    };
    let seconds: Vec<_> = by.ask::<TraceStatsSecond>(&session).unwrap();
    let seconds: Vec<_> = seconds
        .iter()
        .map(|row| (row.second, row.kinds, row.events, row.record_bytes))
        .collect();
    assert_eq!(seconds, [(0, 2, 102, 8_500), (2, 3, 305, 31_500)]);
    let answer = by.answer(&session).unwrap();
    let foot = format!("{:?}", answer.parts[0].foot);
    for words in [
        "seconds without any event: ",
        "Tracing cost: ",
        "(code that is named)",
    ] {
        assert!(foot.contains(words), "{words}: {foot}");
    }
    let none = Session::from_batches(vec![rows::<EventCount>(&[]), rows(&[trace()])]).unwrap();
    assert!(matches!(
        by.ask::<TraceStatsSecond>(&none),
        Err(Error::NotRecorded { .. })
    ));
}

#[test]
fn a_part_without_the_start_of_a_second_says_so() {
    let instead = |min, max| {
        let request = TraceStatsRequest {
            time: Range { min, max },
            ..TraceStatsRequest::default()
        };
        let answer = request.answer(&counted()).unwrap();
        format!("{:?}", answer.parts[0].instead)
    };
    let short = instead(S / 4, S / 2);
    assert!(short.contains("no whole second starts"), "{short}");
    assert_eq!(instead(S / 4, S), "None");
}

/// Formats the lines below the rows.
fn foot(session: &Session) -> String {
    let answer = TraceStatsRequest::default().answer(session).unwrap();
    format!("{:?}", answer.parts[0].foot)
}

/// 407 events in ten seconds, or in the two seconds that were extracted.
#[test]
fn events_a_second_are_of_the_part_that_was_extracted() {
    let part = Trace {
        range_start_ns: Some(S),
        range_end_ns: Some(3 * S),
        ..trace()
    };
    for (trace, rate) in [(trace(), "Number(41)"), (part, "Number(204)")] {
        let foot = foot(&counted_in(trace, 2 * MS, &[]));
        assert!(foot.contains(rate), "{rate}: {foot}");
    }
    // 407 events and 40,000 bytes in 1,000 seconds.
    let long = Trace {
        duration_ns: 1000 * S,
        ..trace()
    };
    let foot = foot(&counted_in(long, 2 * MS, &[]));
    assert!(foot.contains("Float(0.407)"), "{foot}");
    assert!(foot.contains("kB a second"), "{foot}");
}

/// Code that writes events is recognized by its name: without names its cost is not 0.
#[test]
fn the_cost_of_tracing_is_not_known_without_names() {
    let method = |method: &str| CpuMethod {
        module: Some("ntoskrnl.exe".into()),
        method: method.into(),
        ..CpuMethod::default()
    };
    for (name, tracing_ns, is_known) in [
        ("+0x1076", 0, false),
        ("KeWaitForSingleObject", 0, true),
        ("+0x1076", MS, true),
    ] {
        let foot = foot(&counted_in(trace(), tracing_ns, &[method(name)]));
        let says_so = foot.contains("not known");
        assert_eq!(says_so, !is_known, "{name}, {tracing_ns}: {foot}");
    }
}

fn events() -> Session {
    let event = |ts_ns, process_key, (name, event_id): (&str, i32), fields: &str| GenericEvent {
        ts_ns,
        process_key,
        thread_key: process_key,
        provider_guid: "guid of Net".into(),
        provider: Some("Net".into()),
        name: Some(name.into()),
        event_id,
        described_by: Some("eventinfo"),
        fields: Some(fields.to_owned()),
        ..GenericEvent::default()
    };
    let thread = |key, tid| Thread {
        thread_key: key,
        tid,
        process_key: Some(key),
        ..Thread::default()
    };
    Session::from_batches(vec![
        rows(&[trace()]),
        rows(&[process(1, 100, "a.exe"), process(2, 200, "b.exe")]),
        rows(&[thread(1, 11), thread(2, 22)]),
        rows(&[
            event(MS, Some(1), ("Open", 1), r#"{"user":"bob"}"#),
            event(2 * MS, Some(2), ("Open", 1), r#"{"user":"eve"}"#),
            GenericEvent {
                stack_id: Some(3),
                ..event(3 * MS, Some(2), ("Close", 2), "{}")
            },
            GenericEvent {
                provider_guid: "guid of X".into(),
                ..GenericEvent::default()
            },
        ]),
    ])
    .unwrap()
}

#[test]
fn events_are_counted_by_name() {
    let session = events();
    let kinds = |request: EventsRequest| {
        let rows: Vec<EventsKind> = request.ask(&session).unwrap();
        let row = |row: EventsKind| {
            (
                row.event.unwrap_or_default(),
                row.count,
                row.stacks,
                row.processes,
            )
        };
        rows.into_iter().map(row).collect::<Vec<_>>()
    };
    let row = |name: &str, count, stacks, processes| (name.to_owned(), count, stacks, processes);
    let default = EventsRequest::default;
    assert_eq!(
        kinds(default()),
        [
            row("Close", 1, 1, 1),
            row("", 1, 0, 0),
            row("Open", 2, 0, 2)
        ]
    );
    let first = EventsRequest {
        sort: EventsSort::First,
        ..default()
    };
    assert_eq!(
        kinds(first),
        [
            row("", 1, 0, 0),
            row("Open", 2, 0, 2),
            row("Close", 1, 1, 1)
        ]
    );
    for (request, expected) in [
        (
            EventsRequest {
                event: Some("open".into()),
                ..default()
            },
            row("Open", 2, 0, 2),
        ),
        (
            EventsRequest {
                event: Some("2".into()),
                ..default()
            },
            row("Close", 1, 1, 1),
        ),
        (
            EventsRequest {
                provider: Some("*x".into()),
                ..default()
            },
            row("", 1, 0, 0),
        ),
        (
            EventsRequest {
                fields: Some("*user=bob*".into()),
                ..default()
            },
            row("Open", 1, 0, 1),
        ),
        (
            EventsRequest {
                tid: Some("11".into()),
                ..default()
            },
            row("Open", 1, 0, 1),
        ),
    ] {
        assert_eq!(kinds(request.clone()), [expected], "{request:?}");
    }
}

#[test]
fn each_event_has_its_fields_and_its_process() {
    let session = events();
    let request = EventsRequest {
        details: true,
        provider: Some("net".into()),
        ..EventsRequest::default()
    };
    let all: Vec<EventsEvent> = request.ask(&session).unwrap();
    let found: Vec<_> = all
        .iter()
        .map(|row| (row.ts_ns / MS, row.pid, row.tid, row.text.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            (1, Some(100), Some(11), Some("user=bob")),
            (2, Some(200), Some(22), Some("user=eve")),
            (3, Some(200), Some(22), Some("")),
        ]
    );
    let late = EventsRequest {
        time: Range {
            min: 2 * MS,
            max: 9 * MS,
        },
        ..request
    };
    assert_eq!(late.ask::<EventsEvent>(&session).unwrap().len(), 2);
    let none = vec![
        rows::<GenericEvent>(&[]),
        rows::<Process>(&[]),
        rows::<Thread>(&[]),
    ];
    let none = Session::from_batches(none).unwrap();
    assert!(matches!(
        late.ask::<EventsEvent>(&none),
        Err(Error::NotRecorded { .. })
    ));
}

#[test]
fn facts_about_the_machine_are_properties() {
    let fact = |name: &str, value: &str| MachineFact {
        name: name.into(),
        value: value.into(),
        source: Some("recorder".into()),
    };
    let session = Session::from_batches(vec![
        rows(&[Trace {
            os_revision: Some(4652),
            is_virtual_machine: Some(true),
            ..trace()
        }]),
        rows(&[fact("gpu", "Contoso X1"), fact("disk_encryption", "on")]),
    ])
    .unwrap();
    let properties = |names: &str| {
        let request = StatsRequest {
            properties: Some(names.into()),
            ..StatsRequest::default()
        };
        let rows = request.ask(&session).unwrap();
        rows.into_iter()
            .map(|row| format!("{}={}", row.name, row.value))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        properties("Fact.*"),
        ["Fact.disk_encryption=on", "Fact.gpu=Contoso X1"]
    );
    assert_eq!(
        properties("OSRevision;VirtualMachine"),
        ["OSRevision=4652", "VirtualMachine=yes"]
    );
}
