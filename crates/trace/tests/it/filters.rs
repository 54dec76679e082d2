//! Minifilter drivers: events of our own writer in, rows out. No real trace contains any.

use etwkit_trace::derive::derive;
use etwkit_trace::import::Range;
use etwkit_trace::table::{Frame, MiniFilter, MiniFilterDriver, Module, Row, Stack};

use crate::counters::{Batches, Recording, bytes, read, wide, words};

/// Bases of two drivers.
const SCANNER: u64 = 0xFFFF_8000_0001_0000;
const BACKUP: u64 = 0xFFFF_8000_0002_0000;

/// Types of events.
const PRE_START: u8 = 96;
const POST_START: u8 = 97;
const PRE_END: u8 = 98;
const POST_END: u8 = 99;
const PRE_FAILURE: u8 = 100;

/// Status `ACCESS_DENIED`.
const DENIED: u64 = 0xC000_0022;

const CREATE: u64 = 0;
const READ: u64 = 3;

impl Recording {
    /// An image of the kernel that was loaded before the trace.
    fn driver(&mut self, base: u64, path: &str) {
        let head = [
            (base, 8),
            (0x1000, 8),
            (0, 4),
            (0, 4),
            (0, 4),
            (0, 4),
            (base, 8),
            (0, 8),
            (0, 8),
        ];
        self.kernel(0, 0, (20, 3, 3), &[bytes(&head), wide(path)].concat());
    }

    /// An event of a call for operation 7 on the file object 0x10, with the bytes before and after
    /// the common fields.
    fn call(&mut self, us: i64, cpu: u16, op: u8, (routine, major): (u64, u64), more: Option<u64>) {
        let is_end = matches!(op, PRE_END | POST_END);
        let start = more
            .filter(|_| is_end)
            .map(|us| (self.start as u64 + us, 8));
        let key = if major == CREATE { 0 } else { 0x99 };
        let fields = [
            (routine, 8),
            (0x10, 8),
            (key, 8),
            (7, 8),
            (0x77, 8),
            (major, 4),
        ];
        let status = more.filter(|_| !is_end).map(|status| (status, 4));
        let all: Vec<(u64, usize)> = start.into_iter().chain(fields).chain(status).collect();
        self.kernel(us, cpu, (4, op, 3), &bytes(&all));
    }
}

/// Processor 0 runs thread 8, which opens a file and reads it; processor 1 runs thread 12.
fn started() -> Recording {
    let mut trace = Recording::new();
    trace.driver(SCANNER, r"\SystemRoot\System32\drivers\scan.sys");
    trace.driver(BACKUP, r"\SystemRoot\System32\drivers\backup.sys");
    trace.kernel(0, 0, (5, 3, 3), &bytes(&[(100, 4), (8, 4)]));
    trace.switch(1, 0, 0, 8, &[]);
    trace.switch(1, 1, 0, 12, &[]);
    let head = bytes(&[(7, 8), (0x10, 8), (8, 4), (0, 4), (0, 4), (0, 4)]);
    trace.kernel(5, 0, (4, 64, 3), &[head, wide(r"\Device\X\a.txt")].concat());
    trace
}

fn calls(rows: &Batches) -> Vec<[Option<i64>; 4]> {
    let columns = ["start_ns", "end_ns", "duration_ns", "status"];
    let mut calls = read(rows, MiniFilter::TABLE, columns);
    calls
        .iter_mut()
        .for_each(|call| call[3] = call[3].map(|status| status & 0xFF));
    calls
}

/// The example of `docs/numbers/filters.md`.
fn example() -> Recording {
    let mut trace = started();
    trace.call(10, 0, PRE_START, (SCANNER, CREATE), None);
    trace.call(30, 0, PRE_END, (SCANNER, CREATE), Some(10));
    trace.call(40, 0, POST_START, (SCANNER, CREATE), None);
    trace.call(45, 0, POST_END, (SCANNER, CREATE), Some(40));
    // Ends of calls whose starts were not recorded, and a failure after its end.
    trace.call(60, 0, PRE_END, (BACKUP, READ), Some(50));
    trace.call(75, 0, PRE_END, (BACKUP, READ), Some(70));
    trace.call(76, 0, PRE_FAILURE, (BACKUP, READ), Some(DENIED));
    // No event records the end of this one.
    trace.call(80, 0, PRE_START, (SCANNER, READ), None);
    trace
}

#[test]
fn begin_end_and_failure_of_a_call_are_one_row() {
    let rows = example().rows(Range::ALL);
    let some = |start, end| [Some(start), Some(end), Some(end - start), None];
    assert_eq!(
        calls(&rows),
        [
            some(10, 30),
            some(40, 45),
            some(50, 60),
            [Some(70), Some(75), Some(5), Some(0x22)],
            [Some(80), None, None, None],
        ]
    );
    assert_eq!(
        words(&rows, MiniFilter::TABLE, "phase"),
        ["pre", "post", "pre", "pre", "pre"]
    );
    assert_eq!(
        words(&rows, MiniFilter::TABLE, "operation"),
        ["create", "create", "read", "read", "read"]
    );
    assert_eq!(
        words(&rows, MiniFilter::TABLE, "path"),
        [r"\Device\X\a.txt"; 5]
    );
    let who = read(&rows, MiniFilter::TABLE, ["process_key", "major_function"]);
    assert_eq!(who, [0, 0, 3, 3, 3].map(|major| [Some(1), Some(major)]));
    let modules = read(&rows, Frame::TABLE, ["module_id"]).concat();
    assert_eq!(
        words(&rows, Module::TABLE, "name"),
        ["scan.sys", "backup.sys"]
    );
    let frames = read(&rows, MiniFilter::TABLE, ["frame_id"]).concat();
    let drivers: Vec<_> = frames
        .iter()
        .map(|frame| modules[frame.unwrap() as usize].unwrap())
        .collect();
    assert_eq!(drivers, [0, 0, 1, 1, 0]);
}

#[test]
fn sums_are_by_process_driver_phase_and_operation() {
    let rows = example().rows(Range::ALL);
    let mut sums = Batches::new();
    derive(&rows, &[], &mut sums).unwrap();
    let text = |column| words(&sums, MiniFilterDriver::TABLE, column);
    assert_eq!(
        text("module"),
        ["backup.sys", "scan.sys", "scan.sys", "scan.sys"]
    );
    assert_eq!(text("phase"), ["pre", "pre", "pre", "post"]);
    assert_eq!(text("operation"), ["read", "create", "read", "create"]);
    let columns = [
        "count",
        "ended",
        "failures",
        "duration_ns",
        "max_duration_ns",
    ];
    let numbers = read(&sums, MiniFilterDriver::TABLE, columns);
    let known = |row: [i64; 5]| row.map(Some);
    assert_eq!(
        numbers,
        [
            known([2, 2, 1, 15, 10]),
            known([1, 1, 0, 20, 20]),
            [Some(1), Some(0), Some(0), Some(0), None],
            known([1, 1, 0, 5, 5]),
        ]
    );
}

#[test]
fn a_failure_may_come_before_the_end_or_without_it() {
    let mut trace = started();
    trace.call(10, 0, PRE_START, (SCANNER, CREATE), None);
    trace.call(20, 0, PRE_FAILURE, (SCANNER, CREATE), Some(DENIED));
    // An event of another processor in between changes nothing.
    trace.call(21, 1, PRE_END, (BACKUP, READ), Some(15));
    trace.call(22, 0, PRE_END, (SCANNER, CREATE), Some(11));
    trace.call(30, 0, PRE_FAILURE, (SCANNER, CREATE), Some(DENIED));
    trace.call(40, 0, PRE_START, (BACKUP, CREATE), None);
    trace.call(44, 0, PRE_FAILURE, (BACKUP, CREATE), Some(DENIED));
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        calls(&rows),
        [
            [Some(11), Some(22), Some(11), Some(0x22)],
            [None, Some(30), None, Some(0x22)],
            [Some(15), Some(21), Some(6), None],
            [Some(40), Some(44), Some(4), Some(0x22)],
        ]
    );
    // The start identifies the thread that ran; without a start it is the thread that runs at the
    // end.
    let threads = read(&rows, MiniFilter::TABLE, ["thread_key"]).concat();
    assert!(
        threads[0] == threads[3] && threads[0] != threads[2],
        "{threads:?}"
    );
}

#[test]
fn a_call_has_the_stack_of_its_first_event_and_belongs_to_the_part_where_it_began() {
    let of = |range| {
        let mut trace = started();
        trace.call(10, 0, PRE_START, (SCANNER, CREATE), None);
        let owner = bytes(&[
            ((trace.start + 10) as u64, 8),
            (100, 4),
            (8, 4),
            (BACKUP, 8),
            (SCANNER, 8),
        ]);
        trace.kernel(11, 0, (24, 32, 2), &owner);
        trace.call(30, 0, PRE_END, (SCANNER, CREATE), Some(10));
        trace.rows(range)
    };
    let rows = of(Range::ALL);
    let stacks = read(&rows, MiniFilter::TABLE, ["stack_id"]).concat();
    assert_eq!(
        (stacks, read(&rows, Stack::TABLE, ["depth"]).len()),
        (vec![Some(1)], 2)
    );
    let part = |start_us: i64, end_us: i64| Range {
        start_ns: start_us * 1000,
        end_ns: end_us * 1000,
    };
    assert_eq!(
        calls(&of(part(5, 15))),
        [[Some(10), Some(30), Some(20), None]]
    );
    assert!(calls(&of(part(15, 50))).is_empty());
}

#[test]
fn calls_around_lost_events_are_not_put_together() {
    let mut trace = started();
    trace.call(10, 0, PRE_START, (SCANNER, CREATE), None);
    trace.writer.flush(0).unwrap();
    trace.writer.lose_events(0, 3).unwrap();
    trace.call(30, 0, PRE_FAILURE, (SCANNER, CREATE), Some(DENIED));
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        calls(&rows),
        [
            [Some(10), None, None, None],
            [None, Some(30), None, Some(0x22)]
        ]
    );
}
