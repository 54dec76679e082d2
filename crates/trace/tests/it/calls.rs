//! System calls: events in, rows out.

use etwkit_trace::import::Range;
use etwkit_trace::table::{Frame, Process, Row, Syscall};

use crate::counters::{Batches, Recording, bytes, read, words};

const ENTER: (u8, u8, u8) = (15, 51, 2);
const EXIT: (u8, u8, u8) = (15, 52, 2);

/// Status `ACCESS_DENIED`.
const DENIED: u64 = 0xC000_0022;

impl Recording {
    fn enter(&mut self, us: i64, cpu: u16, address: u64) {
        self.kernel(us, cpu, ENTER, &bytes(&[(address, 8)]));
    }

    fn exit(&mut self, us: i64, cpu: u16, status: u64) {
        self.kernel(us, cpu, EXIT, &bytes(&[(status, 4)]));
    }
}

/// Entry, exit, duration, low part of the status, both processors.
fn calls(rows: &Batches) -> Vec<[Option<i64>; 6]> {
    let columns = [
        "enter_ns",
        "exit_ns",
        "duration_ns",
        "status",
        "enter_cpu",
        "exit_cpu",
    ];
    let mut calls = read(rows, Syscall::TABLE, columns);
    calls
        .iter_mut()
        .for_each(|call| call[3] = call[3].map(|status| status & 0xFF));
    calls
}

#[test]
fn a_call_is_that_of_the_thread_that_runs_and_may_end_on_another_processor() {
    let mut trace = Recording::new();
    // Thread 8 calls at 10, waits from 30 to 50 and leaves the kernel on the other processor.
    // During the wait thread 12 calls on the first.
    trace.switch(5, 0, 0, 8, &[]);
    trace.enter(10, 0, 0xFFFF_8000_0000_1000);
    trace.switch(30, 0, 8, 12, &[]);
    trace.enter(35, 0, 0xFFFF_8000_0000_2000);
    trace.exit(38, 0, 0);
    trace.switch(50, 1, 0, 8, &[]);
    trace.exit(60, 1, DENIED);
    let rows = trace.rows(Range::ALL);
    let some = |row: [i64; 6]| row.map(Some);
    assert_eq!(
        calls(&rows),
        [some([35, 38, 3, 0, 0, 0]), some([10, 60, 50, 0x22, 0, 1])]
    );
    let threads = read(&rows, Syscall::TABLE, ["thread_key", "frame_id"]);
    assert!(threads[0] != threads[1], "{threads:?}");
    assert_eq!(read(&rows, Frame::TABLE, ["address"]).len(), 2);
}

#[test]
fn a_call_inside_another_ends_first_and_what_lacks_an_end_has_no_duration() {
    let mut trace = Recording::new();
    // The thread of the first switch-out also ran before it: its call started before the trace.
    trace.exit(5, 0, 1);
    trace.switch(10, 0, 4, 8, &[]);
    trace.enter(70, 0, 0x1000);
    trace.enter(72, 0, 0x2000);
    trace.exit(75, 0, 2);
    trace.exit(80, 0, 3);
    trace.enter(90, 0, 0x3000);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        calls(&rows),
        [
            [None, Some(5), None, Some(1), None, Some(0)],
            [Some(72), Some(75), Some(3), Some(2), Some(0), Some(0)],
            [Some(70), Some(80), Some(10), Some(3), Some(0), Some(0)],
            [Some(90), None, None, None, Some(0), None],
        ]
    );
    let addresses = read(&rows, Syscall::TABLE, ["address"]).concat();
    assert_eq!(addresses, [None, Some(0x2000), Some(0x1000), Some(0x3000)]);
}

#[test]
fn calls_around_lost_events_are_not_put_together() {
    let mut trace = Recording::new();
    trace.switch(10, 0, 0, 8, &[]);
    trace.enter(20, 0, 0x1000);
    trace.writer.flush(0).unwrap();
    trace.writer.lose_events(0, 3).unwrap();
    // The thread that leaves the kernel here is unknown until the next switch.
    trace.exit(30, 0, 1);
    trace.switch(40, 0, 0, 8, &[]);
    trace.enter(50, 0, 0x2000);
    trace.exit(55, 0, 2);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        calls(&rows),
        [
            [Some(20), None, None, None, Some(0), None],
            [None, Some(30), None, Some(1), None, Some(0)],
            [Some(50), Some(55), Some(5), Some(2), Some(0), Some(0)],
        ]
    );
    let known: Vec<bool> = read(&rows, Syscall::TABLE, ["thread_key"])
        .iter()
        .map(|row| row[0].is_some())
        .collect();
    assert_eq!(known, [true, false, true]);
}

#[test]
fn without_switches_nobody_knows_whose_calls_they_are() {
    let mut trace = Recording::new();
    trace.enter(10, 0, 0x1000);
    trace.exit(20, 0, 0);
    let rows = trace.rows(Range::ALL);
    let want = [[None, Some(10), None, None], [None, None, Some(20), None]];
    assert_eq!(
        read(
            &rows,
            Syscall::TABLE,
            ["thread_key", "enter_ns", "exit_ns", "duration_ns"]
        ),
        want
    );
}

#[test]
fn a_call_belongs_to_the_part_of_a_trace_in_which_it_began() {
    let of = |start_us: i64, end_us: i64| {
        let mut trace = Recording::new();
        trace.switch(5, 0, 0, 8, &[]);
        trace.enter(10, 0, 0x1000);
        trace.exit(20, 0, 0);
        trace.enter(30, 0, 0x1000);
        let rows = trace.rows(Range {
            start_ns: start_us * 1000,
            end_ns: end_us * 1000,
        });
        read(&rows, Syscall::TABLE, ["enter_ns"]).concat()
    };
    assert_eq!(
        (of(0, 15), of(15, 100), of(12, 25)),
        (vec![Some(10)], vec![Some(30)], vec![])
    );
}

/// The last example of `docs/numbers/syscalls.md`.
#[test]
fn a_call_has_the_file_key_and_handle_that_events_inside_it_name() {
    let mut trace = Recording::new();
    trace.switch(5, 0, 0, 8, &[]);
    let path = |text: &str| {
        text.encode_utf16()
            .chain([0])
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>()
    };
    let open = |irp: u64, tid: u64, name: &str| {
        let fixed = [(irp, 8), (7, 8), (tid, 4), (0x0100_0000, 4), (0, 4), (7, 4)];
        [bytes(&fixed), path(name)].concat()
    };
    let create = |pid: u64| {
        let fixed = [
            (9, 8),
            (pid, 4),
            (4, 4),
            (1, 4),
            (259, 4),
            (0, 8),
            (0, 4),
            (0, 4),
        ];
        [&bytes(&fixed)[..], b"a.exe\0", &[0; 6]].concat()
    };
    trace.kernel(8, 0, (4, 64, 3), &open(1, 8, "before"));
    trace.enter(10, 0, 0x1000);
    trace.kernel(11, 0, (4, 64, 3), &open(2, 8, "\\x\\first"));
    trace.kernel(12, 0, (4, 64, 3), &open(3, 8, "\\x\\second"));
    trace.kernel(13, 0, (4, 64, 3), &open(4, 12, "of another thread"));
    // A registry operation that started at 13, and its handle.
    let query = [((trace.start + 13) as u64, 8), (0, 4), (0, 4), (0, 8)];
    trace.kernel(
        14,
        0,
        (9, 11, 2),
        &[bytes(&query), path("\\REGISTRY\\A")].concat(),
    );
    trace.kernel(15, 0, (17, 32, 2), &bytes(&[(0x99, 8), (0x44, 4), (3, 2)]));
    trace.exit(20, 0, 0);
    // The call that starts a process.
    trace.enter(30, 0, 0x2000);
    trace.kernel(34, 0, (3, 1, 4), &create(60));
    trace.exit(40, 0, 0);
    let rows = trace.rows(Range::ALL);
    let text = |column| words(&rows, Syscall::TABLE, column);
    assert_eq!(
        (text("path"), text("key")),
        (
            vec!["\\x\\first".into(), "-".into()],
            vec!["\\REGISTRY\\A".into(), "-".into()]
        )
    );
    assert_eq!(
        read(&rows, Syscall::TABLE, ["handle"]),
        [[Some(0x44)], [None]]
    );
    let started = read(&rows, Process::TABLE, ["pid", "create_call_ns", "start_ns"]);
    assert!(started.contains(&[60, 30, 34].map(Some)), "{started:?}");
}
