//! Packets of rows that were made by hand, as pcapng: by a reader of a few lines, and by
//! `python-pcapng`.

use etwkit_export::{ExportRequest, PacketSums, format};
use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;
use etwkit_questions::cpu::Metric;
use etwkit_sql::Session;
use etwkit_trace::table::{GenericEvent, Process, Thread, Trace};
use serde_json::{Value, json};

use super::made_stacks::rows;

const PKT_MON: &str = "4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac";
const NDIS: &str = "2ed6006e-4729-4609-b423-3ee7bcd678ef";

const START: i64 = 0x4000_0000;
const END: i64 = 0x8000_0000;
const SEND: i64 = 0x1_0000_0000;
const RECEIVE: i64 = 0x2_0000_0000;
const WIRELESS_WAN: i64 = 0x200;
const NATIVE_802_11: i64 = 0x1_0000;

/// 10 June 2024, 20:18:27.9225833, and as nanoseconds since 1970.
const START_FILETIME: i64 = 133_625_243_079_225_833;
const START_UNIX_NS: u64 = 1_718_050_707_922_583_300;

fn event(guid: &str, event_id: i32, ts_ns: i64, keyword: i64, fields: &Value) -> GenericEvent {
    GenericEvent {
        ts_ns,
        provider_guid: guid.into(),
        event_id,
        keyword,
        fields: Some(fields.to_string()),
        process_key: Some(1),
        thread_key: Some(1),
        ..GenericEvent::default()
    }
}

fn ndis(ts_ns: i64, keyword: i64, (miniport, lower): (u32, u32), fragment: &str) -> GenericEvent {
    let fields = json!({"MiniportIfIndex": miniport, "LowerIfIndex": lower, "FragmentSize": fragment.len() / 2,
        "Fragment": fragment});
    event(NDIS, 1001, ts_ns, keyword, &fields)
}

fn pkt_mon(ts_ns: i64, event_id: i32, change: &Value) -> GenericEvent {
    let mut fields = json!({"PktGroupId": 7, "PktNumber": 2, "AppearanceCount": 1, "DirTag": "Rx",
        "PacketType": "Ethernet", "ComponentId": 59, "EdgeId": 1, "FilterId": 1, "DropReason": 0, "DropLocation": 0,
        "OriginalPayloadSize": 60, "LoggedPayloadSize": 4, "Payload": "00112233"});
    let changed = change.as_object().unwrap().iter();
    changed.for_each(|(name, value)| fields[name] = value.clone());
    event(PKT_MON, event_id, ts_ns, 0, &fields)
}

fn session(events: &[GenericEvent]) -> Session {
    let process = Process {
        process_key: 1,
        pid: 8,
        name: Some("shop.exe".into()),
        ..Process::default()
    };
    let thread = Thread {
        thread_key: 1,
        process_key: Some(1),
        tid: 80,
        ..Thread::default()
    };
    let trace = Trace {
        file_name: "x.etl".into(),
        start_filetime: START_FILETIME,
        ..Trace::default()
    };
    Session::from_batches(vec![
        rows(events),
        rows(&[process]),
        rows(&[thread]),
        rows(&[trace]),
    ])
    .unwrap()
}

/// A block, its options by code.
#[derive(Debug, Clone, PartialEq)]
struct Block {
    kind: u32,
    body: Vec<u8>,
    options: Vec<(u16, Vec<u8>)>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

impl Block {
    fn text(&self, code: u16) -> String {
        let option = self
            .options
            .iter()
            .find(|(own, _)| *own == code)
            .unwrap_or_else(|| panic!("no {code}"));
        String::from_utf8(option.1.clone()).unwrap()
    }

    fn has(&self, code: u16) -> bool {
        self.options.iter().any(|(own, _)| *own == code)
    }
}

/// All blocks of a file. Each has its length at both ends, and its options are ended.
fn blocks(mut file: &[u8]) -> Vec<Block> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let (kind, length) = (u32_at(file, 0), u32_at(file, 4) as usize);
        assert_eq!((length % 4, u32_at(file, length - 4) as usize), (0, length));
        let (block, rest) = file.split_at(length);
        file = rest;
        let inside = &block[8..length - 4];
        let fixed = match kind {
            0x0A0D_0D0A => 16,
            1 => 8,
            6 => 20 + (u32_at(inside, 12) as usize).next_multiple_of(4),
            other => panic!("a block {other}"),
        };
        let (body, mut left) = inside.split_at(fixed);
        let mut options = Vec::new();
        loop {
            let word = |at: usize| u16::from_le_bytes([left[at], left[at + 1]]);
            let (code, size) = (word(0), usize::from(word(2)));
            if code == 0 {
                assert_eq!((left.len(), size), (4, 0), "what stands behind the options");
                break;
            }
            options.push((code, left[4..4 + size].to_vec()));
            left = &left[4 + size.next_multiple_of(4)..];
        }
        blocks.push(Block {
            kind,
            body: body.to_vec(),
            options,
        });
    }
    blocks
}

fn written(request: &ExportRequest, events: &[GenericEvent]) -> (Vec<u8>, PacketSums) {
    let mut out = Vec::new();
    let written = request
        .write(format("pcapng").unwrap(), &session(events), &mut out)
        .unwrap();
    (out, written.packets.unwrap())
}

/// Interfaces and packets as lines.
fn lines(file: &[u8]) -> Vec<String> {
    let line = |block: &Block| match block.kind {
        1 => {
            assert_eq!(
                block.options.iter().find(|(code, _)| *code == 9).unwrap().1,
                [9],
                "nanoseconds"
            );
            let description = if block.has(3) {
                block.text(3)
            } else {
                String::new()
            };
            format!("{} link={} {description}", block.text(2), block.body[0])
        }
        6 => {
            let time = u64::from(u32_at(&block.body, 4)) << 32 | u64::from(u32_at(&block.body, 8));
            let (logged, original) = (u32_at(&block.body, 12) as usize, u32_at(&block.body, 16));
            let data: String = block.body[20..20 + logged]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let flags = block
                .options
                .iter()
                .find(|(code, _)| *code == 2)
                .map_or(0, |(_, flags)| flags[0]);
            format!(
                "{} @{} {data}/{original} flags={flags} {}",
                u32_at(&block.body, 0),
                time - START_UNIX_NS,
                block.text(1)
            )
        }
        _ => "section".to_owned(),
    };
    blocks(file).iter().map(line).collect()
}

const OWNER: &str = "PID=8 TID=80 Process=shop.exe";

#[test]
fn fragments_become_packets() {
    let both = START | END;
    let (file, sums) = written(
        &ExportRequest::default(),
        &[
            // Its length is 14 + 20, of which the capture kept 20 bytes.
            ndis(
                100,
                both | SEND,
                (5, 5),
                "000000000000000000000000080045000014aabb",
            ),
            ndis(200, START | RECEIVE, (5, 9), "0102"),
            // A packet of another interface in between.
            ndis(250, both | RECEIVE | WIRELESS_WAN, (6, 6), "450000200000"),
            ndis(300, RECEIVE, (5, 9), "03"),
            ndis(400, END | RECEIVE, (5, 9), "0405"),
            // The flag that says that the frame is encrypted is cleared.
            ndis(500, both | RECEIVE | NATIVE_802_11, (7, 7), "0842ff"),
            // A beginning without an end, and an end without a beginning.
            ndis(600, START | SEND, (5, 5), "aaaa"),
            ndis(700, END | RECEIVE, (5, 9), "bb"),
        ],
    );
    assert_eq!(
        lines(&file),
        [
            "section".to_owned(),
            "ndis:5 link=1 ".to_owned(),
            format!("0 @100 000000000000000000000000080045000014aabb/34 flags=2 {OWNER}"),
            "ndis:6 link=101 ".to_owned(),
            format!("1 @250 450000200000/32 flags=1 {OWNER}"),
            "ndis:9:5 link=1 filter over interface 5".to_owned(),
            format!("2 @400 0102030405/5 flags=1 {OWNER}"),
            "ndis:7 link=105 ".to_owned(),
            format!("3 @500 0802ff/3 flags=1 {OWNER}"),
            format!("0 @600 aaaa/2 flags=2 {OWNER} Incomplete"),
        ]
    );
    assert_eq!(
        sums,
        PacketSums {
            packets: 5,
            bytes: 20 + 6 + 5 + 3 + 2,
            interfaces: 4,
            left_out: 1
        }
    );
}

#[test]
fn packets_of_components_have_names_ways_and_reasons() {
    let component = |ts, fields: Value| event(PKT_MON, 20, ts, 0, &fields);
    let (file, sums) = written(
        &ExportRequest::default(),
        &[
            pkt_mon(10, 160, &json!({})),
            pkt_mon(
                20,
                160,
                &json!({"DirTag": 4, "ComponentId": 61, "AppearanceCount": 2, "PacketType": 3}),
            ),
            pkt_mon(
                30,
                170,
                &json!({"DropReason": "NoRoute", "DropLocation": 5}),
            ),
            // Bytes of a request alone are not a packet; an event that is not decoded is not one
            // either.
            pkt_mon(40, 160, &json!({"PacketType": 4})),
            GenericEvent {
                fields: None,
                ..pkt_mon(50, 160, &json!({}))
            },
            pkt_mon(60, 160, &json!({"Payload": "0"})),
            component(
                90,
                json!({"Id": 59, "Type": 10, "Name": "nic\u{0}\u{202e}.sys", "Description": "A \"NIC\""}),
            ),
            event(
                PKT_MON,
                90,
                95,
                0,
                &json!({"ComponentId": 59, "EdgeId": 1, "EdgeName": "Upper"}),
            ),
        ],
    );
    let of = "Group=7 Packet=2 Appearance=";
    assert_eq!(
        lines(&file),
        [
            "section".to_owned(),
            r#"pktmon:59:1 link=1 A "NIC" (nic\u{0}\u{202e}.sys), edge Upper"#.to_owned(),
            format!("0 @10 00112233/60 flags=1 {OWNER} {of}1 Filter=1"),
            "pktmon:61:1 link=101 ".to_owned(),
            format!("1 @20 00112233/60 flags=2 {OWNER} {of}2 Filter=1"),
            format!("0 @30 00112233/60 flags=1 {OWNER} {of}1 Filter=1 Dropped=noroute Location=5"),
        ]
    );
    assert_eq!(
        sums,
        PacketSums {
            packets: 3,
            bytes: 12,
            interfaces: 2,
            left_out: 3
        }
    );
    let id = 7_u64 << 16 | 2;
    let packets = blocks(&file).into_iter().filter(|block| block.kind == 6);
    assert!(
        packets.clone().count() == 3
            && packets
                .into_iter()
                .all(|p| p.options.contains(&(5, id.to_le_bytes().to_vec())))
    );
}

#[test]
fn ranges_and_processes_choose_packets() {
    let events: Vec<GenericEvent> = (0..10).map(|n| pkt_mon(n * 100, 160, &json!({}))).collect();
    let packets = |request: &ExportRequest| written(request, &events).1.packets;
    let time = Range { min: 200, max: 500 };
    assert_eq!(
        packets(&ExportRequest {
            time,
            ..ExportRequest::default()
        }),
        4
    );
    let of = |name: &str| ExportRequest {
        processes: ProcessQuery {
            process: Some(name.into()),
            ..ProcessQuery::default()
        },
        ..ExportRequest::default()
    };
    assert_eq!((packets(&of("shop")), packets(&of("other"))), (10, 0));
}

#[test]
fn what_means_nothing_for_packets_is_refused() {
    let session = session(&[pkt_mon(1, 160, &json!({}))]);
    let metric = ExportRequest {
        metric: Metric::Wait,
        ..ExportRequest::default()
    };
    let threads = ExportRequest {
        thread_roots: true,
        ..ExportRequest::default()
    };
    for (request, option) in [(metric, "--metric"), (threads, "--per-thread")] {
        let error = request
            .write(format("pcapng").unwrap(), &session, &mut Vec::new())
            .unwrap_err();
        assert!(
            error.to_string().starts_with(option) && error.hint().is_some(),
            "{error}"
        );
    }
}

#[test]
fn without_packets_there_is_nothing() {
    let session = session(&[event(PKT_MON, 20, 1, 0, &json!({"Id": 1}))]);
    let error = ExportRequest::default()
        .write(format("pcapng").unwrap(), &session, &mut Vec::new())
        .unwrap_err();
    assert!(
        error.is_nothing() && error.hint().unwrap().contains("pktmon start"),
        "{error}"
    );
}

#[test]
fn a_long_packet_and_many_interfaces_are_bounded() {
    let part = "00".repeat(60_000);
    let parts = |n: i64| {
        ndis(
            n,
            if n == 0 {
                START
            } else if n == 9 {
                END
            } else {
                0
            },
            (1, 1),
            &part,
        )
    };
    let (file, sums) = written(
        &ExportRequest::default(),
        &(0..10).map(parts).collect::<Vec<_>>(),
    );
    assert_eq!((sums.packets, sums.bytes), (1, 262_144));
    assert_eq!(
        u32_at(&blocks(&file)[2].body, 16),
        600_000,
        "how long it was"
    );
    let one = |n: u32| ndis(i64::from(n), START | END, (n, n), "00");
    let (_, sums) = written(
        &ExportRequest::default(),
        &(0..5000).map(one).collect::<Vec<_>>(),
    );
    assert_eq!(
        (sums.packets, sums.interfaces, sums.left_out),
        (4096, 4096, 904)
    );
    let open = |n: u32| ndis(i64::from(n), START, (n, n), "00");
    let (_, sums) = written(
        &ExportRequest::default(),
        &(0..3000).map(open).collect::<Vec<_>>(),
    );
    assert_eq!((sums.packets, sums.left_out), (3000, 0));
}

#[test]
fn python_reads_packets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pcapng");
    let both = START | END;
    let (file, _) = written(
        &ExportRequest {
            name: "a;\"b\u{0}".into(),
            ..ExportRequest::default()
        },
        &[
            ndis(123, both | SEND, (5, 5), "0001020304"),
            pkt_mon(456, 160, &json!({"ComponentId": 60, "PacketType": 2})),
            component_with_hostile_name(),
        ],
    );
    std::fs::write(&path, file).unwrap();
    let test = "packets::python_reads_packets";
    let Some(read) = super::run_reader(test, "read_packets.py", [&path]) else {
        return;
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    assert_eq!(text(&read["section"]["comment"]), r#"x.etl: a;"b\u{0}"#);
    assert_eq!(
        read["interfaces"],
        json!([
            {"name": "ndis:5", "description": "", "link": 1, "resolution": 1e-9},
            {"name": "pktmon:60:1", "description": r"\u{a}</a>&../..\x (-.sys)", "link": 105, "resolution": 1e-9},
        ])
    );
    let group = "Group=7 Packet=2 Appearance=1 Filter=1";
    assert_eq!(
        read["packets"],
        json!([
            {"interface": 0, "unix_ns": START_UNIX_NS + 123, "data": "0001020304", "original": 5, "comment": OWNER,
             "direction": 2},
            {"interface": 1, "unix_ns": START_UNIX_NS + 456, "data": "00112233", "original": 60,
             "comment": format!("{OWNER} {group}"), "direction": 1},
        ])
    );
}

fn component_with_hostile_name() -> GenericEvent {
    let fields = json!({"Id": 60, "Type": 10, "Name": "-.sys", "Description": "\n</a>&../..\\x"});
    event(PKT_MON, 20, 900, 0, &fields)
}
