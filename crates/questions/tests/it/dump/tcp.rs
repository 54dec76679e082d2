//! TCP connections.

use etwkit_question::ProcessQuery;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_question::zero::{ZeroMode, ZeroTime};
use etwkit_questions::tcp::{
    NumberRanges, TcpAnswer, TcpGroup, TcpNumber, TcpRequest, TcpRow, TcpSort,
};
use etwkit_sql::Session;
use etwkit_trace::table::{Mark, TcpConnection, TcpEvent, TcpRetransmit};

use super::super::support::rows;
use super::{MS, S, process, trace};

fn connection(
    connection_id: i32,
    process_key: Option<i32>,
    ends: (&str, i32, &str, i32),
) -> TcpConnection {
    TcpConnection {
        connection_id,
        process_key,
        kind: "connect",
        tcb: -0x2e7b_3e0f_f510 - i64::from(connection_id) * 0x10,
        local_address: Some(ends.0.into()),
        local_port: Some(ends.1),
        remote_address: Some(ends.2.into()),
        remote_port: Some(ends.3),
        ..TcpConnection::default()
    }
}

fn again(
    connection_id: i32,
    kind: &'static str,
    ms: i64,
    delay: i64,
    size_bytes: i64,
) -> TcpRetransmit {
    TcpRetransmit {
        ts_ns: ms * MS,
        connection_id,
        kind,
        first_ns: (ms - delay) * MS,
        delay_ns: delay * MS,
        size_bytes,
        sequence: 7,
    }
}

fn event(connection_id: i32, kind: &'static str, ms: i64, bytes: i64) -> TcpEvent {
    TcpEvent {
        ts_ns: ms * MS,
        connection_id,
        kind,
        size_bytes: Some(bytes),
        ..TcpEvent::default()
    }
}

/// Two connections to one server, one over IPv6 of a process that is not known, one that failed.
fn session() -> Session {
    let connections = [
        TcpConnection {
            open_ns: Some(S),
            close_ns: Some(3 * S),
            posts: 4,
            post_bytes: 4000,
            sends: 6,
            send_bytes: 6000,
            receives: 3,
            receive_bytes: 900,
            max_send_gap_ns: Some(500 * MS),
            max_receive_gap_ns: Some(100 * MS),
            send_bytes_per_s: Some(10_000.0),
            stat_in_bytes: Some(1000),
            stat_out_bytes: Some(7000),
            stat_in_packets: Some(5),
            stat_out_packets: Some(8),
            template: Some("Internet"),
            last_send_ns: Some(2 * S),
            ..connection(0, Some(1), ("10.0.0.1", 50_000, "10.9.9.9", 443))
        },
        TcpConnection {
            posts: 5,
            post_bytes: 500,
            sends: 2,
            injects: 1,
            inject_bytes: 50,
            receives: 9,
            receive_bytes: 9000,
            keep_alives: 2,
            retransmit_timeout_ns: Some(4 * S),
            max_send_gap_ns: Some(100 * MS),
            max_receive_gap_ns: Some(700 * MS),
            template: Some("DataCenter"),
            ..connection(1, Some(2), ("10.0.0.1", 50_001, "10.9.9.9", 443))
        },
        TcpConnection {
            open_ns: Some(2 * S),
            sends: 3,
            send_bytes: 300,
            ..connection(2, None, ("fe80::1", 8080, "fe80::2", 1234))
        },
        TcpConnection {
            open_ns: Some(5 * S),
            close_ns: Some(5 * S + 20 * MS),
            abort_ns: Some(5 * S + 10 * MS),
            is_failed: true,
            ..connection(3, Some(1), ("10.0.0.1", 50_002, "10.8.8.8", 445))
        },
    ];
    let retransmits = [
        again(0, "retransmit", 1200, 200, 1460),
        again(0, "retransmit", 1600, 400, 1460),
        again(0, "client", 1700, 300, 100),
        again(1, "client", 2000, 50, 100),
        // One byte is a keep-alive probe.
        again(2, "retransmit", 3000, 1000, 1),
    ];
    let events = [
        event(0, "send", 1000, 1000),
        event(1, "send", 1050, 500),
        event(0, "send", 1100, 500),
        event(1, "send", 2000, 5),
        event(0, "receive", 1500, 400),
        event(0, "receive", 1700, 500),
    ];
    let mark = Mark {
        ts_ns: S,
        text: "go".into(),
        ..Mark::default()
    };
    Session::from_batches(vec![
        rows(&connections),
        rows(&retransmits),
        rows(&events),
        rows(&[process(1, 4, "client.exe"), process(2, 8, "server.exe")]),
        rows(&[mark]),
        rows(&[trace()]),
    ])
    .unwrap()
}

#[track_caller]
fn ask(request: &TcpRequest) -> TcpAnswer {
    request
        .ask(&session())
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", request.sql(), request.retransmits_sql()))
}

#[track_caller]
fn ids(request: &TcpRequest) -> Vec<i64> {
    ask(request)
        .rows
        .iter()
        .map(|row| row.connection_id)
        .collect()
}

fn row(id: i64) -> TcpRow {
    ask(&TcpRequest::default())
        .rows
        .into_iter()
        .find(|row| row.connection_id == id)
        .unwrap()
}

#[test]
fn a_row_has_what_was_sent_and_received() {
    let row = row(0);
    assert_eq!(
        (row.local.as_deref(), row.remote.as_deref()),
        (Some("10.0.0.1:50000"), Some("10.9.9.9:443"))
    );
    // Segments sent again are packets, their bytes were sent once.
    assert_eq!(
        (row.sent_packets, row.sent_bytes, row.segment_bytes),
        (6, 4000, 6000)
    );
    assert_eq!((row.received_packets, row.received_bytes), (3, 900));
    assert_eq!((row.total_packets, row.total_bytes), (9, 4900));
    assert_eq!(
        (row.retransmits, row.client_retransmits, row.retransmit_ns),
        (3, 1, 900 * MS)
    );
    // The share counts the retransmissions of this side.
    assert_eq!(row.own_retransmits, 2);
    assert!(
        (row.retransmit_percent.unwrap() - 100.0 * row.own_retransmits as f64 / 6.0).abs() < 1e-9
    );
    assert_eq!(
        (
            row.retransmit_min_ns,
            row.retransmit_max_ns,
            row.retransmit_median_ns
        ),
        (Some(200 * MS), Some(400 * MS), Some(3e8))
    );
    assert_eq!(
        (row.duration_ns, row.process.as_deref(), row.processes),
        (Some(2 * S), Some("client.exe"), 1)
    );
    assert_eq!(row.tcb.as_deref(), Some("0xffffd184c1f00af0"));
}

#[test]
fn sends_that_were_not_recorded_as_such_are_those_of_segments() {
    let row = row(2);
    assert_eq!((row.sent_packets, row.sent_bytes), (3, 300));
    assert_eq!(
        (row.local.as_deref(), row.retransmits),
        (Some("[fe80::1]:8080"), 0)
    );
    // Still open: to the end of the recording of ten seconds.
    assert_eq!(row.duration_ns, Some(8 * S));
}

#[test]
fn retransmissions_are_filtered_and_listed() {
    let answer = ask(&TcpRequest::default());
    assert_eq!(
        answer
            .rows
            .iter()
            .map(|row| row.connection_id)
            .collect::<Vec<_>>(),
        [3, 2, 1, 0]
    );
    let delays: Vec<i64> = answer.retransmits[3]
        .iter()
        .map(|again| again.delay_ns / MS)
        .collect();
    assert_eq!(delays, [200, 400, 300]);
    let client = TcpRequest {
        only_client_retransmit: true,
        ..TcpRequest::default()
    };
    assert_eq!(ask(&client).rows[3].retransmits, 1);
    // Connections without a remaining retransmission are dropped.
    let delay = Range {
        min: 300 * MS,
        max: i64::MAX,
    };
    let slow = TcpRequest {
        retransmit_delay: delay,
        ..TcpRequest::default()
    };
    assert_eq!((ids(&slow), ask(&slow).rows[0].retransmits), (vec![0], 2));
    let any = TcpRequest {
        retransmit_bytes: Range::default(),
        ..TcpRequest::default()
    };
    assert_eq!(ask(&any).total.retransmits, 5);
}

#[test]
fn every_order() {
    let last = |sort| {
        ids(&TcpRequest {
            sort,
            ..TcpRequest::default()
        })
        .pop()
        .unwrap()
    };
    for (sort, id) in [
        (TcpSort::RetransmissionCount, 0),
        (TcpSort::RetransmissionTime, 0),
        (TcpSort::MaxRetransmissionTime, 0),
        (TcpSort::ReceivedCount, 1),
        (TcpSort::SentCount, 0),
        (TcpSort::ReceivedSize, 1),
        (TcpSort::SentSize, 0),
        (TcpSort::TotalCount, 1),
        (TcpSort::TotalSize, 1),
        (TcpSort::ConnectTime, 3),
        (TcpSort::DisconnectTime, 3),
        (TcpSort::ClientResetTime, 3),
        (TcpSort::LastSentTime, 0),
        (TcpSort::LastReceivedTime, 1),
        (TcpSort::MaxSendDelay, 0),
        (TcpSort::MaxReceiveDelay, 1),
        (TcpSort::SendRate, 0),
        (TcpSort::ReceiveRate, 1),
        (TcpSort::Post, 1),
        (TcpSort::Inject, 1),
    ] {
        assert_eq!(last(sort), id, "{sort:?}");
    }
}

#[test]
fn every_limit() {
    let (s, all) = (Range { min: 1, max: S }, i64::MAX);
    for (number, min, max, expected) in [
        (TcpNumber::SentBytes, 4000, all, vec![0]),
        (TcpNumber::ReceivedBytes, 900, 900, vec![0]),
        (TcpNumber::Bytes, 1, 300, vec![2]),
        (TcpNumber::SentPackets, 5, 5, vec![1]),
        (TcpNumber::ReceivedPackets, 3, 9, vec![1, 0]),
        (TcpNumber::Packets, 0, 0, vec![3]),
        // Connections without counters of the system are left out by every limit.
        (TcpNumber::StatBytesIn, 0, all, vec![0]),
        (TcpNumber::StatPacketsIn, 0, all, vec![0]),
        (TcpNumber::StatBytes, 8000, 8000, vec![0]),
        (TcpNumber::StatPackets, 13, 13, vec![0]),
        (TcpNumber::StatBytesOut, 7001, all, vec![]),
        (TcpNumber::StatPacketsOut, 8, all, vec![0]),
        (TcpNumber::RetransmitCount, 1, 2, vec![1]),
        (TcpNumber::Connect, 0, 0, vec![1]),
        (TcpNumber::Connect, s.min, s.max, vec![0]),
        (TcpNumber::Disconnect, 0, 0, vec![2, 1]),
        (TcpNumber::LastSent, 2 * S, all, vec![0]),
        (TcpNumber::LastReceived, 1, all, vec![]),
        (TcpNumber::ClientReset, 1, all, vec![3]),
        // A connection from before the trace is older than any other.
        (TcpNumber::Duration, 7 * S, all, vec![2, 1]),
        (TcpNumber::Duration, 0, S, vec![3]),
        (TcpNumber::SendDelay, 500 * MS, all, vec![0]),
        (TcpNumber::ReceiveDelay, 500 * MS, all, vec![1]),
        (TcpNumber::SendRate, 10_000, 10_000, vec![0]),
        (TcpNumber::ReceiveRate, 1, all, vec![]),
        (TcpNumber::Post, 5, all, vec![1]),
        (TcpNumber::Inject, 1, all, vec![1]),
    ] {
        let limits = [(number, Range { min, max })].into_iter().collect();
        assert_eq!(
            ids(&TcpRequest {
                limits,
                ..TcpRequest::default()
            }),
            expected,
            "{number:?} {min}..{max}"
        );
    }
}

#[test]
fn filters_on_ends_and_state() {
    let text = |text: &str| Some(text.to_owned());
    for (request, expected) in [
        (
            TcpRequest {
                ip_port: text("10.0.0.1:5000?10.9.*"),
                ..TcpRequest::default()
            },
            vec![1, 0],
        ),
        (
            TcpRequest {
                source_ip_port: text("*:8080"),
                ..TcpRequest::default()
            },
            vec![2],
        ),
        (
            TcpRequest {
                remote_ip_port: text("!*:443"),
                ..TcpRequest::default()
            },
            vec![3, 2],
        ),
        (
            TcpRequest {
                tcb: text("0xFFFFD184C1F00AF0"),
                ..TcpRequest::default()
            },
            vec![0],
        ),
        (
            TcpRequest {
                reset: true,
                ..TcpRequest::default()
            },
            vec![1],
        ),
        (
            TcpRequest {
                keep_alive: true,
                ..TcpRequest::default()
            },
            vec![1],
        ),
        (
            TcpRequest {
                top: Top {
                    count: Some(2),
                    skip: 1,
                },
                ..TcpRequest::default()
            },
            vec![2, 1],
        ),
    ] {
        assert_eq!(ids(&request), expected, "{request:?}");
    }
}

#[test]
fn connections_without_process_pass_only_if_that_is_asked_for() {
    let of = |name: &str, unknown_process| TcpRequest {
        processes: ProcessQuery {
            process: Some(name.into()),
            ..ProcessQuery::default()
        },
        unknown_process,
        ..TcpRequest::default()
    };
    assert_eq!(ids(&of("client", false)), [3, 0]);
    assert_eq!(ids(&of("client", true)), [3, 2, 0]);
    assert_eq!(ids(&of("!client", false)), [2, 1]);
}

#[test]
fn rows_of_several_connections() {
    let by = |group| {
        ask(&TcpRequest {
            group_by: Some(group),
            ..TcpRequest::default()
        })
    };
    let answer = by(TcpGroup::SourceIpRemoteIp);
    let row = answer
        .rows
        .iter()
        .find(|row| row.connection_id == 0)
        .unwrap();
    assert_eq!(
        (row.connections, row.local.as_deref()),
        (2, Some("10.0.0.1"))
    );
    assert_eq!(
        (row.remote.as_deref(), row.remote_port, row.local_port),
        (Some("10.9.9.9:* (2)"), Some(443), None)
    );
    assert_eq!(
        (row.processes, row.pid, row.template.as_deref()),
        (2, None, None)
    );
    assert_eq!(
        (row.sent_packets, row.sent_bytes, row.received_bytes),
        (11, 4500, 9900)
    );
    assert_eq!((row.retransmits, row.retransmit_ns), (4, 950 * MS));
    assert_eq!(
        (row.open_ns, row.close_ns, row.retransmit_timeout_ns),
        (Some(S), Some(3 * S), Some(4 * S))
    );
    assert_eq!(
        (row.max_send_gap_ns, row.max_receive_gap_ns),
        (Some(500 * MS), Some(700 * MS))
    );
    assert_eq!((row.keep_alives, row.stat_in_bytes), (2, Some(1000)));
    // One burst of the sends of both: 2000 bytes from 1000 to 1100 ms; the one at 2000 ms is alone.
    assert_eq!(
        (row.send_bytes_per_s, row.receive_bytes_per_s),
        (Some(20_000.0), Some(4500.0))
    );
    let at = answer
        .rows
        .iter()
        .position(|row| row.connection_id == 0)
        .unwrap();
    assert_eq!(answer.retransmits[at].len(), 4);
    assert_eq!(by(TcpGroup::SourceIpPortRemoteIp).rows.len(), 4);
    assert_eq!(
        answer
            .rows
            .iter()
            .find(|row| row.connection_id == 2)
            .unwrap()
            .local
            .as_deref(),
        Some("[fe80::1]")
    );
}

/// An imported extract has no single events: the rate of a row of one connection is known, and that
/// of several is not.
#[test]
fn a_row_of_one_connection_has_its_rate_without_events() {
    let of = |id, remote: &str| TcpConnection {
        send_bytes_per_s: Some(50.0 + f64::from(id)),
        ..connection(id, None, ("10.0.0.1", 50_000 + id, remote, 443))
    };
    let connections = [of(0, "10.9.9.9"), of(1, "10.9.9.9"), of(2, "10.8.8.8")];
    let session = Session::from_batches(vec![rows(&connections), rows(&[trace()])]).unwrap();
    let request = TcpRequest {
        group_by: Some(TcpGroup::SourceIpRemoteIp),
        ..TcpRequest::default()
    };
    let answer = request.ask(&session).unwrap();
    let mut rates: Vec<_> = answer
        .rows
        .iter()
        .map(|row| (row.connections, row.send_bytes_per_s))
        .collect();
    rates.sort_by_key(|(connections, _)| *connections);
    assert_eq!(rates, [(1, Some(52.0)), (2, None)]);
}

#[test]
fn sums_are_those_of_the_rows() {
    let total = ask(&TcpRequest::default()).total;
    assert_eq!(
        (total.connections, total.sent_packets, total.sent_bytes),
        (4, 14, 4800)
    );
    assert_eq!((total.received_packets, total.received_bytes), (12, 9900));
    assert_eq!((total.retransmits, total.retransmit_ns), (4, 950 * MS));
}

#[test]
fn times_are_moved_before_they_are_limited() {
    let zero = ZeroTime {
        mode: Some(ZeroMode::Marker),
        filter: Some("go".into()),
        process: None,
    };
    let range = Range {
        min: 4 * S,
        max: 4 * S,
    };
    let limits = [(TcpNumber::Connect, range)].into_iter().collect();
    let request = TcpRequest {
        zero,
        limits,
        ..TcpRequest::default()
    };
    let answer = ask(&request);
    assert_eq!(answer.rows.len(), 1);
    let row = &answer.rows[0];
    assert_eq!(
        (row.connection_id, row.open_ns, row.duration_ns),
        (3, Some(4 * S), Some(20 * MS))
    );
    let all = ask(&TcpRequest {
        limits: NumberRanges::default(),
        ..request
    });
    assert_eq!(all.retransmits[3][0].ts_ns, 200 * MS);
}

#[test]
fn sends_that_were_let_go_too_late_are_listed() {
    let sends = [
        TcpEvent {
            sequence: Some(1000),
            ..event(0, "post", 0, 100)
        },
        TcpEvent {
            sequence: Some(1000),
            ..event(0, "post", 1, 50)
        },
        TcpEvent {
            sequence: Some(1050),
            ..event(0, "inject", 2, 100)
        },
        // In order.
        TcpEvent {
            sequence: Some(5),
            ..event(1, "post", 0, 100)
        },
        TcpEvent {
            sequence: Some(5),
            ..event(1, "inject", 1, 100)
        },
    ];
    let connections =
        [0, 1].map(|id| connection(id, Some(1), ("10.0.0.1", 50_000 + id, "10.9.9.9", 443)));
    let session = Session::from_batches(vec![
        rows(&sends),
        rows(&connections),
        rows(&[process(1, 4, "client.exe")]),
        rows(&[trace()]),
    ])
    .unwrap();
    let found = TcpRequest::default().ask_post_issues(&session).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|row| {
            (
                row.issue,
                row.role.as_str(),
                row.ts_ns / MS,
                row.sequence_difference,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (1, "captured", 0, None),
            (1, "overtaking", 1, None),
            (1, "injected", 2, Some(50))
        ]
    );
    let other = TcpRequest {
        source_ip_port: Some("*:50001".into()),
        ..TcpRequest::default()
    };
    assert!(other.ask_post_issues(&session).unwrap().is_empty());
}

#[test]
fn what_is_missing_is_named() {
    let nothing = Session::from_batches(vec![]).unwrap();
    let error = TcpRequest::default().ask(&nothing).unwrap_err();
    assert!(error.is_nothing() && error.hint().unwrap().contains("Microsoft-Windows-TCPIP"));
    let sums = Session::from_batches(vec![rows(&[connection(0, None, ("a", 1, "b", 2))])]).unwrap();
    let error = TcpRequest::default().ask_post_issues(&sums).unwrap_err();
    assert!(error.hint().unwrap().contains("--detail full"));
}
