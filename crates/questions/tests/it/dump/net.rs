//! Bytes over TCP and UDP.

use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_questions::net::{NetBy, NetEvent, NetRequest, NetRow, NetSort};
use etwkit_sql::Session;
use etwkit_trace::table::NetIo;

use super::super::support::rows;
use super::{MS, process};

fn session() -> Session {
    let did = |process_key, kind: &'static str, ms: i64, size_bytes, remote: (&str, i32)| NetIo {
        ts_ns: ms * MS,
        protocol: if remote.1 == 53 { "udp" } else { "tcp" },
        kind,
        process_key: Some(process_key),
        size_bytes,
        local_address: Some(
            if remote.1 == 53 {
                "10.0.0.1"
            } else {
                "fe80::1"
            }
            .into(),
        ),
        local_port: Some(5000),
        remote_address: Some(remote.0.into()),
        remote_port: Some(remote.1),
        ..NetIo::default()
    };
    let (web, other, dns) = (("fe80::2", 443), ("fe80::3", 443), ("10.0.0.9", 53));
    let all = [
        did(1, "connect", 10, 0, web),
        did(1, "send", 11, 100, web),
        did(1, "receive", 12, 1000, web),
        // Sent again: no more bytes of the program.
        did(1, "retransmit", 13, 100, web),
        did(1, "receive", 14, 50, other),
        did(2, "send", 20, 40, dns),
        did(2, "receive", 21, 80, dns),
    ];
    Session::from_batches(vec![
        rows(&[process(1, 4, "a.exe"), process(2, 8, "b.exe")]),
        rows(&all),
    ])
    .unwrap()
}

/// Formats the key of a row; bytes in all, sent and received; sends, receipts, connections,
/// retransmissions.
fn sums(request: &NetRequest) -> Vec<String> {
    let rows: Vec<NetRow> = request
        .form()
        .ask(&session())
        .unwrap_or_else(|e| panic!("{e}\n{}", request.sql()));
    let row = |row: &NetRow| {
        let of = row
            .remote_address
            .clone()
            .or_else(|| row.local_address.clone());
        let of = of
            .or_else(|| row.remote_port.map(|port| port.to_string()))
            .unwrap_or_default();
        let bytes = [row.total_bytes, row.sent_bytes, row.received_bytes];
        let counts = [row.sends, row.receives, row.connections, row.retransmits];
        format!("{}{of}: {bytes:?} {counts:?}", row.pid.unwrap())
    };
    rows.iter().map(row).collect()
}

/// The example of `docs/numbers/net.md`.
#[test]
fn what_is_sent_again_is_not_sent_twice() {
    let by = |by| NetRequest {
        by,
        ..NetRequest::default()
    };
    assert_eq!(
        sums(&by(NetBy::Process)),
        [
            "8: [120, 40, 80] [1, 1, 0, 0]",
            "4: [1150, 100, 1050] [1, 2, 1, 1]"
        ]
    );
    assert_eq!(
        sums(&by(NetBy::Remote)),
        [
            "4fe80::3: [50, 0, 50] [0, 1, 0, 0]",
            "810.0.0.9: [120, 40, 80] [1, 1, 0, 0]",
            "4fe80::2: [1100, 100, 1000] [1, 1, 1, 1]"
        ]
    );
    assert_eq!(
        sums(&by(NetBy::Port))[1],
        "4443: [1150, 100, 1050] [1, 2, 1, 1]"
    );
    assert_eq!(
        sums(&by(NetBy::Local))[0],
        "810.0.0.1: [120, 40, 80] [1, 1, 0, 0]"
    );
}

/// Connections that were open before the trace are not counted, so the line does not count them.
#[test]
fn connections_are_those_that_were_opened() {
    let answer = NetRequest::default().answer(&session()).unwrap();
    let total = format!("{:?}", answer.parts[0].table.total());
    assert!(
        total.contains("\" connection\"") && total.contains(" opened"),
        "{total}"
    );
}

#[test]
fn filters_choose_what_is_summed_up() {
    let all = NetRequest::default();
    let udp = NetRequest {
        protocol: Some("udp".into()),
        kind: Some("send".into()),
        ..all.clone()
    };
    assert_eq!(sums(&udp), ["8: [40, 40, 0] [1, 0, 0, 0]"]);
    let port = NetRequest {
        port: Range { min: 400, max: 500 },
        remote: Some("!*3".into()),
        ..all.clone()
    };
    assert_eq!(sums(&port), ["4: [1100, 100, 1000] [1, 1, 1, 1]"]);
    let part = NetRequest {
        time: Range {
            min: 14 * MS,
            max: 20 * MS,
        },
        ..all
    };
    assert_eq!(
        sums(&part),
        ["8: [40, 40, 0] [1, 0, 0, 0]", "4: [50, 0, 50] [0, 1, 0, 0]"]
    );
}

#[test]
fn single_operations_are_in_the_order_asked_for() {
    let asked = NetRequest {
        details: true,
        kind: Some("send;receive".into()),
        ..NetRequest::default()
    };
    let sizes = |asked: &NetRequest| -> Vec<i64> {
        let all: Vec<NetEvent> = asked.form().ask(&session()).unwrap();
        all.iter().map(|row| row.size_bytes).collect()
    };
    assert_eq!(sizes(&asked), [40, 50, 80, 100, 1000]);
    assert_eq!(
        sizes(&NetRequest {
            sort: NetSort::Time,
            ..asked
        }),
        [100, 1000, 50, 40, 80]
    );
}
