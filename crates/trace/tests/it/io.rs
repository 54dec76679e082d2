//! Disk accesses, file operations and transfers: events in, rows out.

use std::ops::ControlFlow;

use etwkit_decode::kernel::net::KERNEL_NETWORK;
use etwkit_etl::Session;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::writer::{KernelContext, KernelEvent, ManifestEvent, SessionOptions, TraceWriter};
use etwkit_trace::import::{Options, Range, import};
use etwkit_trace::summary::Summary;
use etwkit_trace::table::{DiskIo, FileIo, NetIo, Row};
use serde_json::{Value, json};

use crate::counters::{Batches, bytes, read, words};

/// A trace that is being written; times are ticks of its clock.
struct Recording {
    writer: TraceWriter<std::io::Cursor<Vec<u8>>>,
    start: i64,
    start_time: i64,
}

/// Thread and process in the header of an event; version 3 has none.
const ISSUER: (u32, u32) = (44, 4);

impl Recording {
    /// The type of the clock, and the ticks of the performance counter per second.
    fn of(clock_type: u32, perf_freq: i64) -> Self {
        let mut options = SessionOptions {
            t0: 1_000_000,
            ..SessionOptions::default()
        };
        (options.header.clock_type, options.header.perf_freq) = (clock_type, perf_freq);
        options.header.start_time = 133_000_000_000_000_000;
        let writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
        Self {
            writer,
            start: options.t0,
            start_time: options.header.start_time,
        }
    }

    /// A clock with one tick per microsecond.
    fn new() -> Self {
        Self::of(1, 1_000_000)
    }

    fn kernel(
        &mut self,
        time: i64,
        (group, opcode, version): (u8, u8, u8),
        header: Option<(u32, u32)>,
        payload: &[u8],
    ) {
        let context = header.map_or(KernelContext::None, |(thread_id, process_id)| {
            KernelContext::IdsAndTimes {
                thread_id,
                process_id,
                kernel_time: 0,
                user_time: 0,
            }
        });
        let timestamp = self.start + time;
        let event = KernelEvent {
            context,
            timestamp,
            group,
            opcode,
            version,
            payload,
            ..KernelEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// A read of a disk that completes; `version` 3 has the thread 44 in its payload.
    fn read_done(
        &mut self,
        time: i64,
        version: u8,
        disk: u32,
        (irp, response): (u64, u64),
        header: bool,
    ) {
        let mut payload = bytes(&[(disk.into(), 4), (0, 4), (512, 4), (0, 4), (0, 8), (7, 8)]);
        payload.extend(if version == 1 {
            bytes(&[(response, 8)])
        } else {
            bytes(&[(irp, 8), (response, 8)])
        });
        if version >= 3 {
            payload.extend(ISSUER.0.to_le_bytes());
        }
        self.kernel(time, (1, 10, version), header.then_some(ISSUER), &payload);
    }

    fn session(self, length: i64) -> Session {
        let file = self
            .writer
            .finish(self.start_time + length)
            .unwrap()
            .into_inner();
        Session::open(vec![Box::new(file)]).unwrap()
    }
}

fn rows(session: &Session, range: Range) -> Batches {
    let mut sink = Batches::new();
    let options = Options {
        range,
        ..Options::default()
    };
    import(session, &options, &mut sink, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    sink
}

fn disk_section(session: &Session) -> Value {
    Summary::read(session).unwrap().sections["disk"].clone()
}

/// The table of `docs/numbers/io.md`: accesses to two disks in order of completion.
#[test]
fn service_times_of_a_disk_do_not_overlap() {
    let mut trace = Recording::new();
    // Disk, start, completion; then I/O time, service time.
    let accesses = [
        (0, 0, 10, 10, 10),
        (1, 5, 12, 7, 7),
        (0, 4, 15, 11, 5),
        (0, 1, 16, 15, 1),
        (0, 16, 16, 0, 0),
        (0, 20, 25, 5, 5),
        (1, 12, 30, 18, 18),
        (0, 25, 31, 6, 6),
        (1, 29, 30, 1, 0),
    ];
    for ((disk, start, end, ..), irp) in accesses.into_iter().zip(1..) {
        trace.read_done(end, 3, disk, (irp, (end - start) as u64), false);
    }
    let session = trace.session(1000);
    let found = read(
        &rows(&session, Range::ALL),
        DiskIo::TABLE,
        [
            "disk",
            "init_ns",
            "complete_ns",
            "io_ns",
            "service_ns",
            "queue_ns",
        ],
    );
    let mut expected = accesses.map(|(disk, start, end, io, service)| {
        [disk.into(), start, end, io, service, io - service].map(Some)
    });
    // Rows are in order of completion.
    expected.sort_by_key(|row| row[2]);
    assert_eq!(found, expected);
    let depths = read(
        &rows(&session, Range::ALL),
        DiskIo::TABLE,
        [
            "disk",
            "complete_ns",
            "queue_depth_start",
            "queue_depth_end",
        ],
    );
    assert_eq!(
        depths,
        [
            [0, 10, 1, 3],
            [1, 12, 1, 2],
            [0, 15, 3, 2],
            [0, 16, 2, 2],
            [0, 16, 1, 2],
            [0, 25, 1, 2],
            [1, 30, 1, 2],
            [1, 30, 2, 2],
            [0, 31, 1, 1],
        ]
        .map(|row| row.map(Some))
    );
    // A part of the trace has the queues of the whole.
    let part = rows(
        &session,
        Range {
            start_ns: 11_000,
            end_ns: 13_000,
        },
    );
    let depths = read(
        &part,
        DiskIo::TABLE,
        ["disk", "queue_depth_start", "queue_depth_end"],
    );
    assert_eq!(depths, [[Some(1), Some(1), Some(2)]]);
    // The busy time of each disk is the sum of its service times: 0 to 16, 20 to 31; 5 to 30.
    let disks = &disk_section(&session)["by_disk"];
    let sums = |disk: &str| {
        (
            disks[disk]["elapsed_us"].as_f64(),
            disks[disk]["service_us"].as_f64(),
        )
    };
    assert_eq!(
        (sums("0"), sums("1")),
        ((Some(47.0), Some(27.0)), (Some(26.0), Some(25.0)))
    );
}

/// The response time is in ticks of the performance counter, the completion in ticks of the clock.
#[test]
fn response_times_are_ticks_of_the_performance_counter() {
    // 3000 MHz processor; 35,795,450 ticks of a counter of 3.579545 MHz are 10 s, of one of 10 MHz
    // 3.579545 s.
    for (clock_type, perf_freq, ticks_per_s, io_s) in [
        (1, 3_579_545, 3_579_545, 10.0),
        (2, 3_579_545, 10_000_000, 10.0),
        (3, 3_579_545, 3_000_000_000, 10.0),
        (2, 10_000_000, 10_000_000, 3.579_545),
    ] {
        let mut trace = Recording::of(clock_type, perf_freq);
        trace.read_done(11 * ticks_per_s, 3, 0, (1, 35_795_450), false);
        // The previous access was completed a second earlier.
        trace.read_done(12 * ticks_per_s, 3, 0, (2, 35_795_450), false);
        let session = trace.session(200_000_000);
        let columns = ["init_ns", "complete_ns", "io_ns", "service_ns"];
        let us = |s: f64| Some((s * 1e6).round() as i64);
        let first = [us(11.0 - io_s), us(11.0), us(io_s), us(io_s)];
        let second = [us(12.0 - io_s), us(12.0), us(io_s), us(1.0)];
        assert_eq!(
            read(&rows(&session, Range::ALL), DiskIo::TABLE, columns),
            [first, second],
            "clock {clock_type}, {perf_freq} ticks/s"
        );
        let total = disk_section(&session)["total"].clone();
        let near = |name: &str, s: f64| (total[name].as_f64().unwrap() - s * 1e6).abs() < 0.5;
        assert!(
            near("elapsed_us", 2.0 * io_s) && near("service_us", io_s + 1.0),
            "clock {clock_type}: {total}"
        );
    }
}

/// Older completions do not contain the thread: it comes from the start with the same request
/// packet, or from the header.
#[test]
fn accesses_of_older_systems_belong_to_the_thread_of_their_headers() {
    let other = (55, 5);
    for (tid, pid) in [ISSUER, other] {
        let mut trace = Recording::new();
        for (tid, pid) in [ISSUER, other] {
            trace.kernel(
                1,
                (5, 3, 2),
                None,
                &bytes(&[(pid.into(), 4), (tid.into(), 4), (0, 48)]),
            );
        }
        // The starts of two versions, completed on a processor that ran another thread; then
        // completions without starts.
        let is_issuer = (tid, pid) == ISSUER;
        trace.kernel(10, (1, 12, 2), Some((tid, pid)), &bytes(&[(0x20, 8)]));
        trace.read_done(20, 2, 0, (0x20, 5), is_issuer);
        trace.kernel(21, (1, 12, 3), None, &bytes(&[(0x30, 8), (tid.into(), 4)]));
        trace.read_done(30, 2, 0, (0x30, 5), is_issuer);
        let session = trace.session(1000);
        let found = rows(&session, Range::ALL);
        let names = read(&found, DiskIo::TABLE, ["process_key", "thread_key"]);
        let key = i64::from(!is_issuer);
        assert_eq!(names, [[Some(key); 2]; 2], "{tid}");
        assert_eq!(
            disk_section(&session)["by_process"][pid.to_string()]["reads"],
            2,
            "{tid}"
        );
    }
    // Without any start: the thread in the header of the completion, or its process if the thread
    // is unknown.
    for version in [1, 2] {
        let mut trace = Recording::new();
        trace.read_done(20, version, 0, (0x20, 5), true);
        trace.read_done(30, version, 0, (0x30, 5), false);
        let session = trace.session(1000);
        let names = read(
            &rows(&session, Range::ALL),
            DiskIo::TABLE,
            ["process_key", "thread_key"],
        );
        assert_eq!(
            names,
            [[Some(0), Some(0)], [None, None]],
            "version {version}"
        );
        let by_process = disk_section(&session)["by_process"].clone();
        assert_eq!(
            (&by_process["4"]["reads"], &by_process["?"]["reads"]),
            (&json!(1), &json!(1))
        );
    }
}

#[test]
fn the_end_of_a_file_operation_without_its_start_is_a_row() {
    let trace = || {
        let mut trace = Recording::new();
        let end = |irp: u64, information: u64, status: u64| {
            bytes(&[(irp, 8), (information, 8), (status, 4)])
        };
        trace.kernel(10, (4, 76, 2), None, &end(1, 4096, 0));
        let read = bytes(&[(512, 8), (2, 8), (8, 8), (9, 8), (44, 4), (100, 4), (0, 4)]);
        trace.kernel(20, (4, 67, 3), None, &read);
        trace.kernel(30, (4, 76, 3), None, &end(2, 100, 0));
        trace.kernel(40, (4, 76, 3), None, &end(2, 0, 0xC000_0034));
        trace.session(1000)
    };
    let columns = [
        "start_ns",
        "end_ns",
        "duration_ns",
        "result_bytes",
        "status",
    ];
    let operations = |range| {
        let rows = rows(&trace(), range);
        (
            words(&rows, FileIo::TABLE, "kind"),
            read(&rows, FileIo::TABLE, columns),
        )
    };
    let failed = Some(i64::from(0xC000_0034_u32 as i32));
    let (first, last) = (
        [None, Some(10), None, Some(4096), Some(0)],
        [None, Some(40), None, Some(0), failed],
    );
    let (kinds, rows) = operations(Range::ALL);
    assert_eq!(kinds, ["unknown", "read", "unknown"]);
    assert_eq!(
        rows,
        [
            first,
            [Some(20), Some(30), Some(10), Some(100), Some(0)],
            last
        ]
    );
    // An operation without a start belongs to the range that contains its end.
    let (kinds, rows) = operations(Range {
        start_ns: 25_000,
        end_ns: 50_000,
    });
    assert_eq!((kinds, rows), (vec!["unknown".to_owned()], vec![last]));
}

#[test]
fn operations_have_what_they_were_asked_with() {
    let none = None;
    // Request packet, open file, thread; options and disposition, attributes, sharing.
    let v3 = [(2, 8), (8, 8), (44, 4), (0x0100_0062, 4), (0x80, 4), (5, 4)];
    let v2 = [(3, 8), (44, 8), (8, 8), (0x0500_1000, 4), (0x20, 4), (7, 4)];
    let mut trace = Recording::new();
    let path = [b'a', 0, 0, 0];
    trace.kernel(10, (4, 64, 3), None, &[&bytes(&v3)[..], &path].concat());
    trace.kernel(20, (4, 64, 2), None, &[&bytes(&v2)[..], &path].concat());
    // A paging read past the cache, with the word that Windows 10 appends, and a read that is cut
    // off.
    let read_at = [(512, 8), (4, 8), (8, 8), (9, 8), (44, 4), (100, 4)];
    trace.kernel(
        30,
        (4, 67, 3),
        None,
        &bytes(&[&read_at[..], &[(0x43, 4), (1, 4)]].concat()),
    );
    let mut cut = read_at;
    cut[1] = (5, 8);
    trace.kernel(40, (4, 67, 3), None, &bytes(&cut));
    // Information class, control code, directory listing.
    let info = |irp, class| [(irp, 8), (8, 8), (9, 8), (0, 8), (44, 4), (class, 4)];
    trace.kernel(50, (4, 74, 3), None, &bytes(&info(6, 5)));
    trace.kernel(60, (4, 75, 3), None, &bytes(&info(7, 0x0009_00A8)));
    let listing = [(8, 8), (8, 8), (9, 8), (44, 4), (4096, 4), (37, 4), (0, 4)];
    trace.kernel(
        70,
        (4, 72, 3),
        None,
        &[&bytes(&listing)[..], &path].concat(),
    );
    for (irp, time) in (2_u64..9).zip(100..) {
        trace.kernel(time, (4, 76, 3), None, &bytes(&[(irp, 8), (0, 8), (0, 4)]));
    }
    let rows = rows(&trace.session(1000), Range::ALL);
    let create = [
        "create_options",
        "create_disposition",
        "file_attributes",
        "share_access",
    ];
    let opened = [
        [Some(0x62), Some(1), Some(0x80), Some(5)],
        [Some(0x1000), Some(5), Some(0x20), Some(7)],
    ];
    let found = read(&rows, FileIo::TABLE, create);
    assert_eq!(
        (&found[..2], &found[2..]),
        (&opened[..], &[[none; 4]; 5][..])
    );
    assert_eq!(
        read(&rows, FileIo::TABLE, ["io_flags", "info_class"]),
        [
            [none, none],
            [none, none],
            [Some(0x43), none],
            [none, none],
            [none, Some(5)],
            [none, Some(0x0009_00A8)],
            [none, Some(37)],
        ]
    );
}

/// The example of `docs/numbers/net.md`.
#[test]
fn the_local_end_of_a_datagram_that_came_in_is_where_it_went() {
    let ends = [
        bytes(&[(100, 4), (64, 4)]),
        vec![224, 0, 0, 252, 10, 128, 2, 18],
        5355_u16.to_be_bytes().to_vec(),
        50649_u16.to_be_bytes().to_vec(),
        bytes(&[(0, 4), (0, 8)]),
    ]
    .concat();
    let v6 = [
        bytes(&[(100, 4), (64, 4)]),
        [0xfe; 16].to_vec(),
        [0xfd; 16].to_vec(),
        500_u16.to_be_bytes().to_vec(),
        501_u16.to_be_bytes().to_vec(),
        bytes(&[(0, 4), (0, 8)]),
    ]
    .concat();
    let mut trace = Recording::new();
    // UDP receive and send, TCP receive and send, of the kernel logger.
    for (time, group, opcode) in [(10, 8, 11), (11, 8, 10), (12, 6, 11), (13, 6, 10)] {
        trace.kernel(time, (group, opcode, 2), None, &ends);
    }
    trace.kernel(14, (8, 27, 2), None, &v6);
    let rows_of_logger = rows(&trace.session(1000), Range::ALL);
    let transfers = |rows: &Batches| {
        let column = |name| words(rows, NetIo::TABLE, name);
        let ports = read(rows, NetIo::TABLE, ["local_port", "remote_port"]);
        let ends = column("local_address")
            .into_iter()
            .zip(column("remote_address"))
            .zip(ports);
        ends.map(|((local, remote), [a, b])| {
            format!("{local}:{} {remote}:{}", a.unwrap(), b.unwrap())
        })
        .collect::<Vec<_>>()
    };
    let (group, sender) = ("224.0.0.252:5355", "10.128.2.18:50649");
    let (a, b) = (["fe"; 16], ["fd"; 16]);
    let v6_text = |digits: [&str; 16]| {
        digits
            .concat()
            .as_bytes()
            .chunks(4)
            .map(|c| String::from_utf8_lossy(c).into_owned())
            .collect::<Vec<_>>()
            .join(":")
    };
    assert_eq!(
        transfers(&rows_of_logger),
        [
            format!("{group} {sender}"),
            format!("{sender} {group}"),
            format!("{sender} {group}"),
            format!("{sender} {group}"),
            format!("{}:500 {}:501", v6_text(a), v6_text(b)),
        ]
    );
    let mut trace = Recording::new();
    for (time, id) in [(10, 43), (11, 42), (12, 11)] {
        let event = ManifestEvent {
            timestamp: trace.start + time,
            provider: KERNEL_NETWORK,
            descriptor: Descriptor {
                id,
                ..Descriptor::default()
            },
            payload: &ends,
            ..ManifestEvent::default()
        };
        trace.writer.write(0, event).unwrap();
    }
    let rows_of_provider = rows(&trace.session(1000), Range::ALL);
    assert_eq!(
        transfers(&rows_of_provider),
        [
            format!("{group} {sender}"),
            format!("{sender} {group}"),
            format!("{sender} {group}")
        ]
    );
}
