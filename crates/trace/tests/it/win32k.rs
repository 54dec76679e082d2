//! Events of the window manager in, rows out. The examples of docs/numbers/windows.md.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, BooleanArray};
use arrow_schema::DataType;
use etwkit_decode::win32k::WIN32K;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::extended::kind::STACK_TRACE_64;
use etwkit_etl::writer::ManifestEvent;
use etwkit_trace::derive::derive;
use etwkit_trace::import::Range;
use etwkit_trace::table::{
    FocusChange, GdiUserObject, GdiUserType, GenericEvent, Process, Row, Table, Thread, UiDelay,
    UserLock, UserLockProcess,
};

use crate::counters::{Batches, Recording, bytes, read, wide};

const EDITOR: u32 = 100;
const CONSOLE: u32 = 200;

impl Recording {
    /// An event of the first thread of a process.
    fn window(&mut self, us: i64, pid: u32, id: u16, payload: &[u8]) {
        self.window_with(us, pid, id, payload, &[]);
    }

    fn window_with(&mut self, us: i64, pid: u32, id: u16, payload: &[u8], stack: &[u8]) {
        let extended = [(STACK_TRACE_64, stack)];
        let event = ManifestEvent {
            timestamp: self.start + us,
            provider: WIN32K,
            descriptor: Descriptor {
                id,
                ..Descriptor::default()
            },
            process_id: pid,
            thread_id: pid * 10,
            payload,
            extended: if stack.is_empty() { &[] } else { &extended },
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    /// Processes with one thread each, whose ID is ten times the process ID, in session 1 or 2.
    fn programs() -> Self {
        let mut trace = Self::new();
        for (pid, session) in [(EDITOR, 1), (CONSOLE, 1), (300, 2)] {
            let ids = [
                (0x1000 + u64::from(pid), 8),
                (pid.into(), 4),
                (4, 4),
                (session, 4),
                (0, 4),
                (0, 8),
            ];
            let tail = [
                &bytes(&[(0, 4), (0, 4)])[..],
                b"a.exe\0",
                &wide(""),
                &wide(""),
                &wide(""),
            ]
            .concat();
            trace.kernel(0, 0, (3, 3, 4), &[bytes(&ids), tail].concat());
            trace.kernel(
                0,
                0,
                (5, 3, 3),
                &bytes(&[(pid.into(), 4), (u64::from(pid) * 10, 4)]),
            );
        }
        trace
    }

    fn acquire(&mut self, us: i64, pid: u32, id: u16, (ticks, time): (u64, u64), token: u64) {
        self.window(us, pid, id, &bytes(&[(ticks, 8), (time, 4), (token, 8)]));
    }

    fn release(&mut self, us: i64, pid: u32, ticks: u64) {
        self.window(us, pid, 167, &bytes(&[(ticks, 8), (0, 4), (9, 8)]));
    }

    fn object(&mut self, us: i64, pid: u32, id: u16, handle: u64, kind: u64, owner: u32) {
        self.window(
            us,
            pid,
            id,
            &bytes(&[(handle, 8), (kind, 4), (1, 4), (owner.into(), 4)]),
        );
    }

    fn focus(&mut self, us: i64, id: u16, numbers: &[u32]) {
        let payload: Vec<(u64, usize)> =
            numbers.iter().map(|number| ((*number).into(), 4)).collect();
        self.window(us, EDITOR, id, &[bytes(&payload), vec![0; 8]].concat());
    }
}

/// Values of columns, `-` for none; times in microseconds, keys as IDs of processes and threads.
fn values(batches: &Batches, table: &Table, columns: &[&str]) -> Vec<String> {
    let pids = read(batches, Process::TABLE, ["process_key", "pid"]);
    let tids = read(batches, Thread::TABLE, ["thread_key", "tid"]);
    let id = |ids: &[[Option<i64>; 2]], key: i64| {
        ids.iter()
            .find(|row| row[0] == Some(key))
            .and_then(|row| row[1])
            .unwrap_or(-1)
    };
    let mut rows = Vec::new();
    for (_, batch) in batches.iter().filter(|(of, _)| of.name == table.name) {
        for row in 0..batch.num_rows() {
            let cell = |name: &&str| {
                let array = batch.column_by_name(name).unwrap();
                if array.is_null(row) {
                    return "-".to_owned();
                }
                match array.data_type() {
                    DataType::Int32 => {
                        let number = i64::from(array.as_primitive::<Int32Type>().value(row));
                        match *name {
                            key if key.ends_with("process_key") => id(&pids, number),
                            key if key.ends_with("thread_key") => id(&tids, number),
                            _ => number,
                        }
                        .to_string()
                    }
                    DataType::Int64 => {
                        let unit = if name.ends_with("_ns") { 1000 } else { 1 };
                        (array.as_primitive::<Int64Type>().value(row) / unit).to_string()
                    }
                    DataType::Boolean => {
                        let flags: &BooleanArray = array.as_boolean();
                        flags.value(row).to_string()
                    }
                    _ => array.as_string::<i32>().value(row).to_owned(),
                }
            };
            rows.push(columns.iter().map(cell).collect::<Vec<_>>().join(" "));
        }
    }
    rows
}

/// The derived tables of the imported rows.
fn derived(batches: &Batches) -> Batches {
    let mut out = Batches::new();
    derive(batches, &[], &mut out).unwrap();
    // Ids are looked up there.
    out.extend(
        batches
            .iter()
            .filter(|(of, _)| [Process::TABLE.name, Thread::TABLE.name].contains(&of.name))
            .cloned(),
    );
    out
}

const LOCK: [&str; 9] = [
    "process_key",
    "mode",
    "acquire_ns",
    "release_ns",
    "wait_ns",
    "hold_ns",
    "told_hold_ns",
    "is_slow",
    "token",
];

/// The example of lock acquisitions.
fn locks() -> Batches {
    let mut trace = Recording::programs();
    // The release of a lock that was acquired before the trace.
    trace.release(5, CONSOLE, 90);
    trace.acquire(10, EDITOR, 163, (4, 0), 1);
    trace.release(30, EDITOR, 20);
    // A slow acquisition is reported twice; this version reports a hold that begins with the wait.
    trace.acquire(40, CONSOLE, 163, (25, 0), 2);
    trace.acquire(41, CONSOLE, 416, (0, 0), 2);
    trace.acquire(45, EDITOR, 165, (0, 3), 3);
    trace.release(50, CONSOLE, 35);
    trace.release(55, EDITOR, 10);
    // Only slow acquisitions are recorded here, without their releases.
    trace.acquire(60, EDITOR, 417, (0, 2), 4);
    trace.acquire(70, EDITOR, 163, (1, 0), 5);
    trace.rows(Range::ALL)
}

#[test]
fn a_release_ends_the_acquisition_of_its_thread() {
    let rows = locks();
    assert_eq!(
        values(&rows, UserLock::TABLE, &LOCK),
        [
            "200 - - 5 - - 90 false -",
            "100 exclusive 10 30 4 20 20 false 1",
            "200 exclusive 40 50 25 10 35 true 2",
            "100 shared 45 55 3 10 10 false 3",
            "100 shared 60 - 2000 - - true 4",
            "100 exclusive 70 - 1 - - false 5",
        ]
    );
    assert!(values(&rows, GenericEvent::TABLE, &["event_id"]).is_empty());
    let sums = [
        "process_key",
        "mode",
        "acquisitions",
        "slow",
        "wait_ns",
        "max_wait_ns",
        "released",
        "hold_ns",
        "max_hold_ns",
        "only_released",
    ];
    let mut sums = values(&derived(&rows), UserLockProcess::TABLE, &sums);
    sums.sort();
    assert_eq!(
        sums,
        [
            "100 exclusive 2 0 5 4 1 20 20 0",
            "100 shared 2 1 2003 2000 1 10 10 0",
            "200 - 0 0 0 - 0 0 - 1",
            "200 exclusive 1 1 25 25 1 10 10 0",
        ]
    );
}

#[test]
fn a_part_of_a_trace_has_the_acquisitions_that_begin_in_it() {
    let mut trace = Recording::programs();
    trace.acquire(10, EDITOR, 163, (4, 0), 1);
    trace.release(30, EDITOR, 20);
    trace.acquire(40, EDITOR, 163, (4, 0), 2);
    trace.release(60, EDITOR, 20);
    let rows = trace.rows(Range {
        start_ns: 20_000,
        end_ns: 50_000,
    });
    assert_eq!(
        values(&rows, UserLock::TABLE, &["acquire_ns", "release_ns"]),
        ["40 60"]
    );
}

const OBJECT: [&str; 10] = [
    "class",
    "type_name",
    "handle",
    "process_key",
    "origin",
    "outcome",
    "create_ns",
    "destroy_ns",
    "owner_changes",
    "handle_changes",
];

#[test]
fn objects_are_followed_through_owners_and_handles() {
    let mut trace = Recording::programs();
    trace.object(10, EDITOR, 455, 0x51, 5, EDITOR);
    trace.object(20, EDITOR, 456, 0x51, 5, EDITOR);
    // The same handle for another object, and an object of the other class with that value.
    trace.object(30, EDITOR, 455, 0x51, 16, EDITOR);
    trace.object(31, CONSOLE, 452, 0x51, 1, CONSOLE);
    // A bitmap goes to another process, gets another handle, and is destroyed under that handle.
    trace.object(40, EDITOR, 455, 0x60, 5, EDITOR);
    trace.object(41, EDITOR, 457, 0x60, 5, CONSOLE);
    trace.window(
        42,
        CONSOLE,
        458,
        &bytes(&[(0x60, 8), (0x70, 8), (5, 4), (1, 4), (CONSOLE.into(), 4)]),
    );
    trace.object(50, CONSOLE, 456, 0x70, 5, CONSOLE);
    // An object from before the trace; and a handle that is reused, so that the end of its first
    // object is missing.
    trace.object(60, CONSOLE, 453, 0x80, 2, CONSOLE);
    trace.object(70, EDITOR, 452, 0x90, 1, EDITOR);
    trace.object(80, EDITOR, 452, 0x90, 16, EDITOR);
    // An object that no longer has a process.
    trace.object(90, EDITOR, 455, 0xA0, 99, EDITOR);
    trace.object(91, EDITOR, 457, 0xA0, 99, 0);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        values(&rows, GdiUserObject::TABLE, &OBJECT),
        [
            "gdi Bitmap 81 100 create destroyed 10 20 0 0",
            "gdi Bitmap 112 200 create destroyed 40 50 1 1",
            "user Menu 128 200 unknown destroyed - 60 0 0",
            "user Window 144 100 create reused 70 - 0 0",
            "gdi Brush 81 100 create open 30 - 0 0",
            "user Window 81 200 create open 31 - 0 0",
            "user Timer 144 100 create open 80 - 0 0",
            "gdi - 160 - create open 90 - 1 0",
        ]
    );
    let moved = values(
        &rows,
        GdiUserObject::TABLE,
        &[
            "create_process_key",
            "create_thread_key",
            "destroy_process_key",
            "destroy_thread_key",
            "lifetime_ns",
        ],
    );
    assert_eq!(
        (&*moved[0], &*moved[1]),
        ("100 1000 100 1000 10", "100 1000 200 2000 10")
    );
    let columns = [
        "process_key",
        "class",
        "type_name",
        "created",
        "destroyed",
        "destroyed_preexisting",
        "outstanding",
        "lifetime_ns",
    ];
    let mut types = values(&derived(&rows), GdiUserType::TABLE, &columns);
    types.sort();
    assert_eq!(
        types,
        [
            "- gdi - 1 0 0 1 0",
            "100 gdi Bitmap 1 1 0 0 10",
            "100 gdi Brush 1 0 0 1 0",
            "100 user Timer 1 0 0 1 0",
            "100 user Window 1 0 0 0 0",
            "200 gdi Bitmap 1 1 0 0 10",
            "200 user Menu 0 0 1 0 0",
            "200 user Window 1 0 0 1 0",
        ]
    );
}

#[test]
fn what_a_process_had_when_it_ended_is_not_outstanding() {
    let mut trace = Recording::programs();
    trace.object(10, EDITOR, 452, 0x51, 1, EDITOR);
    trace.object(11, CONSOLE, 452, 0x52, 1, CONSOLE);
    let ids = [
        (0x1064, 8),
        (EDITOR.into(), 4),
        (4, 4),
        (1, 4),
        (0, 4),
        (0, 8),
        (0, 4),
        (0, 4),
    ];
    let tail = [&b"a.exe\0"[..], &wide(""), &wide(""), &wide("")].concat();
    trace.kernel(20, 0, (3, 2, 4), &[bytes(&ids), tail].concat());
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        values(&rows, GdiUserObject::TABLE, &["process_key", "outcome"]),
        ["100 process_end", "200 open"]
    );
}

#[test]
fn delays_end_when_they_are_reported() {
    let mut trace = Recording::programs();
    let names = [
        wide("Edit"),
        wide("Notepad"),
        wide("C:\\e.exe"),
        bytes(&[(0x100, 4), (65, 8)]),
    ]
    .concat();
    trace.window(
        900,
        EDITOR,
        38,
        &bytes(&[(1, 4), (300, 4), (40, 4), (250, 4)]),
    );
    trace.window(
        901,
        EDITOR,
        37,
        &[bytes(&[(1, 4), (40, 4), (250, 4)]), names].concat(),
    );
    trace.focus(902, 35, &[CONSOLE * 10, CONSOLE, 1, 102, 1500]);
    let rows = trace.rows(Range::ALL);
    let columns = [
        "kind",
        "process_key",
        "thread_key",
        "start_ns",
        "duration_ns",
        "since_input_remove_ns",
    ];
    assert_eq!(
        values(&rows, UiDelay::TABLE, &columns),
        [
            "message 100 1000 -299100 300000 40000",
            "input 100 1000 -249099 250000 40000",
            "wait_cursor 200 2000 -1499098 1500000 -",
        ]
    );
    let columns = [
        "class_name",
        "top_level_class_name",
        "image_path",
        "message_id",
        "wparam",
        "cursor_type",
    ];
    assert_eq!(
        values(&rows, UiDelay::TABLE, &columns),
        [
            "- - - - - -",
            "Edit Notepad C:\\e.exe 256 65 -",
            "- - - - - 102"
        ]
    );
}

const FOCUS: [&str; 7] = [
    "level",
    "session_id",
    "process_key",
    "thread_key",
    "ts_ns",
    "end_ns",
    "duration_ns",
];

/// The example of the focus.
fn focus() -> Batches {
    let mut trace = Recording::programs();
    trace.focus(100, 2, &[EDITOR * 10, CONSOLE * 10]);
    trace.focus(101, 26, &[1, EDITOR, CONSOLE]);
    trace.focus(102, 259, &[1, EDITOR]);
    trace.focus(103, 258, &[1, CONSOLE]);
    trace.focus(250, 2, &[CONSOLE * 10, 0]);
    trace.focus(251, 259, &[1, CONSOLE]);
    trace.focus(300, 2, &[0, EDITOR * 10]);
    trace.focus(301, 258, &[1, EDITOR]);
    // The other session has its own focus.
    trace.focus(400, 258, &[2, 300]);
    // The end of the trace.
    trace.focus(1000, 999, &[]);
    trace.rows(Range::ALL)
}

#[test]
fn the_focus_stays_until_it_moves_on() {
    assert_eq!(
        values(&focus(), FocusChange::TABLE, &FOCUS),
        [
            "thread 1 100 1000 - 100 100",
            "process 1 100 - - 101 101",
            "thread 1 200 2000 100 250 150",
            "process 1 200 - 101 251 150",
            "thread 1 100 1000 300 - 700",
            "process 1 100 - 301 - 699",
            "process 2 300 - 400 - 600",
        ]
    );
}

#[test]
fn a_change_that_was_not_reported_leaves_lengths_open() {
    let mut trace = Recording::programs();
    trace.focus(100, 26, &[1, 0, EDITOR]);
    trace.focus(200, 26, &[1, CONSOLE, 300]);
    trace.focus(1000, 999, &[]);
    assert_eq!(
        values(&trace.rows(Range::ALL), FocusChange::TABLE, &FOCUS),
        [
            "process 1 100 - 100 - -",
            "process 1 200 - - 200 -",
            "process 1 300 - 200 - 800",
        ]
    );
}

#[test]
fn parts_of_a_trace_have_their_parts_of_stays() {
    let mut trace = Recording::programs();
    trace.focus(100, 2, &[EDITOR * 10, CONSOLE * 10]);
    trace.focus(300, 2, &[CONSOLE * 10, EDITOR * 10]);
    trace.focus(1000, 999, &[]);
    let rows = trace.rows(Range {
        start_ns: 150_000,
        end_ns: 400_000,
    });
    assert_eq!(
        values(&rows, FocusChange::TABLE, &FOCUS),
        ["thread 1 200 2000 - 300 150", "thread 1 100 1000 300 - 100"]
    );
}

#[test]
fn stacks_stand_in_the_events() {
    let mut trace = Recording::programs();
    let stack = |address: u64| {
        [0, address, 0x7FF8_0000_2000]
            .map(u64::to_le_bytes)
            .concat()
    };
    let object = bytes(&[(0x51, 8), (5, 4), (1, 4), (EDITOR.into(), 4)]);
    trace.window_with(10, EDITOR, 455, &object, &stack(0x7FF8_0000_1000));
    trace.window_with(
        11,
        EDITOR,
        163,
        &bytes(&[(4, 8), (0, 4), (1, 8)]),
        &stack(0x7FF8_0000_1010),
    );
    trace.release(12, EDITOR, 1);
    trace.window_with(
        13,
        EDITOR,
        38,
        &bytes(&[(0, 4); 4]),
        &stack(0x7FF8_0000_1020),
    );
    trace.window_with(20, EDITOR, 456, &object, &stack(0x7FF8_0000_1030));
    let rows = trace.rows(Range::ALL);
    let mut stacks = Vec::new();
    for (table, column) in [
        (GdiUserObject::TABLE, "create_stack_id"),
        (GdiUserObject::TABLE, "destroy_stack_id"),
        (UserLock::TABLE, "stack_id"),
        (UiDelay::TABLE, "stack_id"),
    ] {
        stacks.extend(values(&rows, table, &[column]));
    }
    stacks.sort();
    stacks.dedup();
    assert!(
        stacks.len() == 4 && !stacks.contains(&"-".to_owned()),
        "{stacks:?}"
    );
}

#[test]
fn what_is_cut_short_stays_an_event() {
    let mut trace = Recording::programs();
    trace.window(10, EDITOR, 163, &[1, 2, 3]);
    trace.window(11, EDITOR, 84, &[]);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        values(&rows, GenericEvent::TABLE, &["event_id"]),
        ["163", "84"]
    );
    assert!(values(&rows, UserLock::TABLE, &["acquire_ns"]).is_empty());
}
