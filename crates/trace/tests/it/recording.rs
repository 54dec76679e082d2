//! Contents of a recording and facts about the machine: events in, rows out. The examples of
//! docs/numbers/recording.md and docs/numbers/machine.md.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use etwkit_decode::afd::WINSOCK_AFD;
use etwkit_decode::clr;
use etwkit_decode::kernel::merge::{IMAGE_ID, image_id};
use etwkit_decode::kernel::power_setting::KERNEL_POWER;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{ClassicEvent, ManifestEvent};
use etwkit_etl::{Guid, Session};
use etwkit_trace::import::{Options, Range, import};
use etwkit_trace::table::{
    Adapter, DotnetRuntime, EventCount, GenericEvent, Row, Socket, TimerResolution,
};

use crate::counters::{Batches, Recording, bytes, read, wide, words};
use crate::info_records::{Info, Property};

const S: i64 = 1_000_000;

impl Recording {
    /// An event of a provider that a process wrote.
    pub(crate) fn of_process(
        &mut self,
        us: i64,
        pid: u32,
        provider: Guid,
        kind: (u16, u8),
        payload: &[u8],
    ) {
        let event = ManifestEvent {
            timestamp: self.start + us,
            provider,
            descriptor: Descriptor {
                id: kind.0,
                version: kind.1,
                ..Descriptor::default()
            },
            process_id: pid,
            thread_id: pid + 1,
            payload,
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// The stack of the event at a time.
    fn stack_of(&mut self, us: i64, cpu: u16, of_us: i64) {
        let owner = (self.start + of_us) as u64;
        self.kernel(
            us,
            cpu,
            (24, 32, 2),
            &bytes(&[(owner, 8), (4, 4), (8, 4), (0x1000, 8)]),
        );
    }

    /// The EventInfo record of an event of AFD.
    fn describe(&mut self, us: i64, id: u16, properties: &[(&'static str, u16)]) {
        let property = |(name, kind): &(&'static str, u16)| match *name {
            // The previous property contains the length.
            "Address" => Property {
                flags: 2,
                length: properties.len() as u16 - 2,
                ..Property::new(name, *kind)
            },
            _ => Property::new(name, *kind),
        };
        let properties: Vec<Property> = properties.iter().map(property).collect();
        let info = Info {
            id,
            task: "Afd",
            top: properties.len() as u32,
            properties,
            ..Info::default()
        };
        let mut payload = info.bytes();
        payload[..16].copy_from_slice(&WINSOCK_AFD.to_bytes());
        let event = ClassicEvent {
            timestamp: self.start + us,
            class: etwkit_decode::eventinfo::CLASS,
            opcode: 32,
            payload: &payload,
            ..ClassicEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }
}

/// Rows of `event_count` except for the header and for stacks: second, group, ID, opcode, events,
/// stacks.
fn counted(rows: &Batches) -> Vec<[i64; 6]> {
    let columns = [
        "second",
        "kernel_group",
        "event_id",
        "opcode",
        "events",
        "stacks",
    ];
    let all = read(rows, EventCount::TABLE, columns);
    let all = all
        .into_iter()
        .map(|row| row.map(|number| number.unwrap_or(-1)));
    all.filter(|row| ![0, 24].contains(&row[1])).collect()
}

/// The example of `docs/numbers/recording.md`.
#[test]
fn events_are_counted_in_the_second_in_which_they_were_logged() {
    let mut trace = Recording::new();
    let sample = bytes(&[(0x1000, 8), (8, 4), (1, 4)]);
    for (us, cpu) in [(10, 0), (10, 1), (S - 1, 0), (S, 0)] {
        trace.kernel(us, cpu, (15, 46, 2), &sample);
    }
    trace.of_process(S + 5, 4, KERNEL_POWER, (95, 0), &bytes(&[(10_000, 4)]));
    trace.stack_of(20, 1, 10);
    // The stack is logged in the next second, and counts in the second of its event.
    trace.stack_of(S + 6, 0, S - 1);
    // The stack of an event that is missing.
    trace.stack_of(S + 7, 0, 11);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        counted(&rows),
        [
            [0, 15, 0, 46, 3, 2],
            [1, 15, 0, 46, 1, 0],
            [1, -1, 95, 0, 1, 0]
        ],
        "samples of the first second, of the second one, and the event of the provider"
    );
    let bytes = read(
        &rows,
        EventCount::TABLE,
        ["kernel_group", "record_bytes", "events"],
    );
    let samples = bytes.iter().find(|row| row[0] == Some(15)).unwrap();
    assert_eq!(
        samples[1],
        Some(3 * 32),
        "headers of 16 bytes, payloads of 16"
    );
    assert!(
        words(&rows, EventCount::TABLE, "provider")
            .contains(&"Microsoft-Windows-Kernel-Power".to_owned())
    );
}

/// If the clock does not advance, each event has its stack, independent of the number of events of
/// that time.
#[test]
fn events_of_one_moment_have_a_stack_each() {
    const ALL: usize = 3000;
    let mut trace = Recording::new();
    for _ in 0..ALL {
        trace.kernel(10, 0, (15, 46, 2), &bytes(&[(0x1000, 8), (8, 4), (1, 4)]));
    }
    let owner = (trace.start + 10) as u64;
    for opcode in [37, 38] {
        for _ in 0..ALL {
            trace.kernel(
                20,
                0,
                (24, opcode, 2),
                &bytes(&[(owner, 8), (4, 4), (8, 4), (0xF00, 8)]),
            );
        }
    }
    let all = ALL as i64;
    assert_eq!(counted(&trace.rows(Range::ALL)), [[0, 15, 0, 46, all, all]]);
}

#[test]
fn a_part_of_a_trace_counts_its_own_events() {
    let trace = || {
        let mut trace = Recording::new();
        for us in [5, 10, 20] {
            trace.kernel(us, 0, (15, 46, 2), &bytes(&[(0x1000, 8), (8, 4), (1, 4)]));
        }
        trace
    };
    let part = |start_ns, end_ns| trace().rows(Range { start_ns, end_ns });
    assert_eq!(counted(&part(6_000, 20_000)), [[0, 15, 0, 46, 2, 0]]);
    assert_eq!(counted(&part(0, 5_999)), [[0, 15, 0, 46, 1, 0]]);
}

/// Two halves of one stack are one stack; two events of one time on a processor have one each.
#[test]
fn a_stack_counts_once_whatever_it_consists_of() {
    let mut trace = Recording::new();
    let sample = bytes(&[(0x1000, 8), (8, 4), (1, 4)]);
    trace.kernel(10, 0, (15, 46, 2), &sample);
    trace.kernel(10, 0, (15, 46, 2), &sample);
    let owner = (trace.start + 10) as u64;
    for (us, opcode) in [(11, 37), (12, 38), (13, 37)] {
        trace.kernel(
            us,
            0,
            (24, opcode, 2),
            &bytes(&[(owner, 8), (4, 4), (8, 4), (0x77, 8)]),
        );
    }
    assert_eq!(counted(&trace.rows(Range::ALL)), [[0, 15, 0, 46, 2, 2]]);
}

/// The merge step adds identities of images with the time of the load, whose stack is not theirs.
#[test]
fn identities_of_images_take_no_stacks() {
    let mut trace = Recording::new();
    let identity = ClassicEvent {
        timestamp: trace.start + 10,
        class: IMAGE_ID,
        opcode: image_id::FILE_VERSION,
        ..ClassicEvent::default()
    };
    trace.writer.write(0, identity).unwrap();
    trace.kernel(10, 0, (3, 10, 3), &[0; 64]);
    trace.stack_of(11, 0, 10);
    assert_eq!(
        counted(&trace.rows(Range::ALL)),
        [[0, -1, 0, 64, 1, 0], [0, 3, 0, 10, 1, 1]]
    );
}

#[test]
fn kinds_above_the_limit_are_counted_together() {
    let mut trace = Recording::new();
    for id in 0..20_000u16 {
        trace.of_process(id.into(), 4, KERNEL_POWER, (id, 0), &[]);
    }
    let file = trace
        .writer
        .finish(133_000_000_000_000_000)
        .unwrap()
        .into_inner();
    let session = Session::open(vec![Box::new(file)]).unwrap();
    let mut sink = Batches::new();
    let imported = import(&session, &Options::default(), &mut sink, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let rows = read(&sink, EventCount::TABLE, ["event_id", "events"]);
    let together: Vec<_> = rows.iter().filter(|row| row[0].is_none()).collect();
    // The header event and 16,382 IDs have a number of their own.
    assert_eq!(together, [&[None, Some(20_000 - 16_382)]]);
    assert_eq!(
        rows.iter().filter_map(|row| row[1]).sum::<i64>(),
        imported.trace.events
    );
    let note = imported
        .diagnostics
        .iter()
        .find(|note| note.kind == "event_kinds_together")
        .unwrap();
    assert_eq!(note.count, 20_000 - 16_382);
}

/// The example of `docs/numbers/machine.md`.
#[test]
fn a_request_for_a_timer_holds_until_the_next_one() {
    let mut trace = Recording::new();
    let path = |text: &str| {
        [
            bytes(&[(text.len() as u64, 2)]),
            wide(text)[..text.len() * 2].to_vec(),
        ]
        .concat()
    };
    let request = |resolution: u64, pid: u64, ignored: u64| {
        [
            bytes(&[(resolution, 4), (pid, 4)]),
            path("a.exe"),
            bytes(&[(0, 4), (ignored, 4)]),
        ]
        .concat()
    };
    let before = [
        bytes(&[(10_000, 4), (200, 4)]),
        path("b.exe"),
        bytes(&[(0, 4)]),
    ]
    .concat();
    trace.of_process(1, 4, KERNEL_POWER, (97, 1), &before);
    trace.of_process(
        2,
        4,
        KERNEL_POWER,
        (96, 0),
        &bytes(&[(156_250, 4), (0, 4), (0, 4), (0, 4), (0, 4)]),
    );
    trace.of_process(100, 100, KERNEL_POWER, (63, 2), &request(10_000, 100, 0));
    trace.of_process(101, 100, KERNEL_POWER, (95, 0), &bytes(&[(10_000, 4)]));
    trace.of_process(300, 100, KERNEL_POWER, (63, 2), &request(5_000, 100, 1));
    trace.of_process(500, 100, KERNEL_POWER, (63, 2), &request(0, 100, 0));
    // Listed again at the end, unchanged.
    trace.of_process(900, 4, KERNEL_POWER, (97, 1), &before);
    let rows = trace.rows(Range::ALL);
    let columns = ["resolution_ns", "start_ns", "end_ns"];
    assert_eq!(
        read(&rows, TimerResolution::TABLE, columns),
        [
            [Some(15_625), None, Some(101)],
            [Some(1_000), Some(100), Some(300)],
            [Some(500), Some(300), Some(500)],
            [Some(1_000), None, None],
            [Some(1_000), Some(101), None],
        ]
    );
    let kinds = words(&rows, TimerResolution::TABLE, "kind");
    assert_eq!(kinds, ["system", "process", "process", "process", "system"]);
    let applications = words(&rows, TimerResolution::TABLE, "application");
    assert_eq!(applications, ["-", "a.exe", "a.exe", "b.exe", "-"]);
    let ignored: Vec<Option<bool>> = rows
        .iter()
        .filter(|(table, _)| table.name == TimerResolution::TABLE.name)
        .flat_map(|(_, batch)| {
            batch
                .column_by_name("is_ignored")
                .unwrap()
                .as_boolean()
                .iter()
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(ignored, [None, Some(false), Some(true), Some(false), None]);
    assert_eq!(
        read(&rows, GenericEvent::TABLE, ["event_id"]).len(),
        7,
        "they stay events of their own"
    );
}

#[test]
fn a_runtime_is_listed_once_with_its_start() {
    let mut trace = Recording::new();
    let information = |sku: u64, version: [u64; 4]| {
        let four = |parts: [u64; 4]| bytes(&parts.map(|part| (part, 2)));
        let head = bytes(&[(9, 2), (sku, 2)]);
        let tail = [wide("app.exe -x"), vec![0; 16], wide("c:\\clr.dll")].concat();
        [
            head,
            four([4, 0, 0, 0]),
            four(version),
            bytes(&[(17, 4), (2, 1)]),
            tail,
        ]
        .concat()
    };
    trace.of_process(
        10,
        100,
        clr::RUNTIME,
        (187, 0),
        &information(2, [8, 0, 1, 2]),
    );
    trace.of_process(
        20,
        100,
        clr::RUNDOWN,
        (187, 0),
        &information(2, [8, 0, 1, 2]),
    );
    trace.of_process(
        30,
        200,
        clr::RUNDOWN,
        (187, 0),
        &information(1, [4, 0, 30319, 0]),
    );
    let rows = trace.rows(Range::ALL);
    let columns = ["clr_instance", "start_ns", "startup_mode", "startup_flags"];
    assert_eq!(
        read(&rows, DotnetRuntime::TABLE, columns),
        [
            [Some(9), Some(10), Some(2), Some(17)],
            [Some(9), None, Some(2), Some(17)]
        ]
    );
    assert_eq!(
        words(&rows, DotnetRuntime::TABLE, "flavour"),
        ["core", "framework"]
    );
    assert_eq!(
        words(&rows, DotnetRuntime::TABLE, "version"),
        ["8.0.1.2", "4.0.30319.0"]
    );
    assert_eq!(
        words(&rows, DotnetRuntime::TABLE, "path"),
        ["c:\\clr.dll", "c:\\clr.dll"]
    );
}

#[test]
fn a_list_of_runtimes_and_methods_is_no_recording_of_dotnet() {
    let is_recorded = |provider: Guid| {
        let mut trace = Recording::new();
        trace.of_process(10, 100, provider, (187, 0), &[]);
        let (_, imported) = trace.imported(Range::ALL);
        let mut topics = imported.recorded.iter();
        topics
            .find(|row| row.topic.name == ".NET")
            .unwrap()
            .is_recorded
    };
    assert!(is_recorded(clr::RUNTIME));
    assert!(!is_recorded(clr::RUNDOWN));
}

/// 584 bytes of a network adapter, 1352 of its interface, as the merge step writes them.
#[test]
fn cards_of_the_network_have_their_interface() {
    let mut trace = Recording::new();
    let card = [
        bytes(&[(0x2858_7c5d_1500, 8), (6, 4), (12, 4), (12, 4)]),
        wide("Ethernet Adapter"),
        wide("fe80::1;10.0.0.5"),
        wide("10.0.0.1"),
    ];
    trace.kernel(10, 0, (11, 13, 2), &card.concat());
    let mut interface = vec![0u8; 1352];
    interface[8] = 12;
    interface[28..28 + 6].copy_from_slice(&wide("LAN")[..6]);
    interface[1124..1128].copy_from_slice(&1500u32.to_le_bytes());
    (interface[1128], interface[1156]) = (6, 1);
    interface[1192..1200].copy_from_slice(&1_000_000_000u64.to_le_bytes());
    interface[1200..1208].fill(0xFF);
    let class = etwkit_decode::kernel::merge::SYSTEM_CONFIG_EX;
    let (timestamp, payload) = (trace.start + 20, &interface[..]);
    let event = ClassicEvent {
        timestamp,
        class,
        opcode: 36,
        payload,
        ..ClassicEvent::default()
    };
    trace.writer.write(0, event).unwrap();
    let rows = trace.rows(Range::ALL);
    assert_eq!(words(&rows, Adapter::TABLE, "mac"), ["00:15:5d:7c:58:28"]);
    assert_eq!(words(&rows, Adapter::TABLE, "alias"), ["LAN"]);
    assert_eq!(
        words(&rows, Adapter::TABLE, "addresses"),
        ["fe80::1;10.0.0.5"]
    );
    let columns = [
        "ipv4_index",
        "interface_type",
        "mtu_bytes",
        "transmit_bits_per_second",
        "receive_bits_per_second",
    ];
    assert_eq!(
        read(&rows, Adapter::TABLE, columns),
        [[Some(12), Some(6), Some(1500), Some(1_000_000_000), None]]
    );
}

/// In-types of descriptions.
const U32: u16 = 8;
const POINTER: u16 = 16;
const BINARY: u16 = 14;

/// A trace with the events of a socket, with or without their descriptions.
fn sockets(is_described: bool) -> Batches {
    let mut trace = Recording::new();
    let head = [
        ("EnterExit", U32),
        ("Location", U32),
        ("Process", POINTER),
        ("Endpoint", POINTER),
    ];
    let more: BTreeMap<u16, Vec<(&str, u16)>> = BTreeMap::from([
        (
            1000,
            vec![
                ("AddressFamily", U32),
                ("SocketType", U32),
                ("Protocol", U32),
                ("ProcessId", POINTER),
                ("Status", U32),
            ],
        ),
        (1001, vec![("Status", U32)]),
        (
            1003,
            vec![
                ("BufferCount", U32),
                ("Buffer", POINTER),
                ("BufferLength", U32),
                ("Status", U32),
            ],
        ),
        (
            1004,
            vec![
                ("BufferCount", U32),
                ("Buffer", POINTER),
                ("BufferLength", U32),
                ("Status", U32),
            ],
        ),
        (
            1018,
            vec![("Status", U32), ("AddressLen", U32), ("Address", BINARY)],
        ),
    ]);
    for (id, tail) in more.iter().filter(|_| is_described) {
        trace.describe(1, *id, &[&head[..], tail].concat());
    }
    let of = |stage: u64| vec![(stage, 4), (3000 + stage, 4), (0xFFFF, 8), (0xE0, 8)];
    let mut event = |us, id, stage, tail: &[(u64, usize)]| {
        trace.of_process(
            us,
            100,
            WINSOCK_AFD,
            (id, 0),
            &bytes(&[&of(stage)[..], tail].concat()),
        );
    };
    event(10, 1000, 0, &[(2, 4), (1, 4), (6, 4), (100, 8), (0, 4)]);
    event(11, 1000, 1, &[(2, 4), (1, 4), (6, 4), (100, 8), (0, 4)]);
    // AF_INET, port 443 and 10.0.0.9 in network byte order.
    let address = [
        (0, 4),
        (8, 4),
        (2, 2),
        (443u64.swap_bytes() >> 48, 2),
        (0x0900_000A, 4),
    ];
    event(20, 1018, 0, &address);
    event(50, 1018, 1, &address);
    for (us, id, stage, length, status) in [
        (60, 1003, 0, 100, 0),
        (61, 1003, 1, 100, 0),
        (70, 1004, 0, 4096, 0),
        (90, 1004, 1, 300, 0),
        (91, 1004, 1, 0, 0xC000_020D),
    ] {
        event(
            us,
            id,
            stage,
            &[(1, 4), (0x7000, 8), (length, 4), (status, 4)],
        );
    }
    event(100, 1001, 0, &[(0, 4)]);
    event(110, 1001, 1, &[(0, 4)]);
    // The endpoint address is reused by a socket that existed before the trace and stays open.
    event(120, 1003, 1, &[(1, 4), (0x7000, 8), (5, 4), (0, 4)]);
    trace.rows(Range::ALL)
}

/// The example of `docs/numbers/machine.md`.
#[test]
fn a_socket_lasts_from_its_creation_to_its_close() {
    let rows = sockets(true);
    let columns = [
        "create_ns",
        "connect_ns",
        "connected_ns",
        "connect_status",
        "close_ns",
    ];
    assert_eq!(
        read(&rows, Socket::TABLE, columns),
        [
            [Some(10), Some(20), Some(50), Some(0), Some(100)],
            [None; 5]
        ]
    );
    let columns = [
        "sends",
        "send_bytes",
        "receives",
        "receive_bytes",
        "failures",
    ];
    assert_eq!(
        read(&rows, Socket::TABLE, columns),
        [[1, 100, 2, 300, 1].map(Some), [1, 5, 0, 0, 0].map(Some)]
    );
    let columns = ["address_family", "socket_type", "protocol", "last_failure"];
    let reset = Some(i64::from(0xC000_020D_u32 as i32));
    assert_eq!(
        read(&rows, Socket::TABLE, columns),
        [[Some(2), Some(1), Some(6), reset], [None; 4]]
    );
    assert_eq!(
        words(&rows, Socket::TABLE, "remote_address"),
        ["10.0.0.9:443", "-"]
    );
}

#[test]
fn sockets_of_a_trace_that_does_not_describe_them_stay_events() {
    let rows = sockets(false);
    assert!(read(&rows, Socket::TABLE, ["sends"]).is_empty());
    assert_eq!(read(&rows, GenericEvent::TABLE, ["event_id"]).len(), 12);
}
