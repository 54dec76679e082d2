//! Handles, objects, mapped files and virtual memory: events in, rows out.

use etwkit_etl::writer::{KernelContext, KernelEvent};
use etwkit_trace::import::Range;
use etwkit_trace::table::{
    FileMap, Handle, Object, ObjectRef, Process, Row, VirtualAlloc, VirtualRange,
};

use crate::counters::{Recording, bytes, read, wide, words};

/// Number of the type `Event`.
const EVENT: u64 = 16;

impl Recording {
    /// An event of a thread of a process.
    fn of(&mut self, us: i64, pid: u32, kind: (u8, u8, u8), payload: &[u8]) {
        let (group, opcode, version) = kind;
        let context = KernelContext::IdsAndTimes {
            thread_id: pid * 10,
            process_id: pid,
            kernel_time: 0,
            user_time: 0,
        };
        let timestamp = self.start + us;
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

    /// A process and a thread of it start (type 1), or existed before the trace (type 3).
    fn process(&mut self, us: i64, op: u8, pid: u32, parent: u32) {
        let ids = [
            (0x1000 + u64::from(pid), 8),
            (pid.into(), 4),
            (parent.into(), 4),
            (0, 4),
            (0, 4),
            (0, 8),
        ];
        // Flags, no SID, a name, an empty command line, no package and no application.
        let tail = [
            &bytes(&[(0, 4)])[..],
            &bytes(&[(0, 8)]),
            b"a.exe\0",
            &wide(""),
            &wide(""),
            &wide(""),
        ]
        .concat();
        self.kernel(us, 0, (3, op, 4), &[bytes(&ids), tail].concat());
        self.kernel(
            us,
            0,
            (5, op, 3),
            &bytes(&[(pid.into(), 4), (u64::from(pid) * 10, 4)]),
        );
    }

    fn handle(&mut self, us: i64, op: u8, pid: u32, object: u64, handle: u64, name: &str) {
        let mut payload = bytes(&[(object, 8), (handle, 4), (EVENT, 2)]);
        payload.extend(if name.is_empty() {
            vec![0, 0]
        } else {
            wide(name)
        });
        self.of(us, pid, (17, op, 2), &payload);
    }

    fn duplicate(&mut self, us: i64, by: u32, object: u64, source: (u32, u64), target: (u32, u64)) {
        let payload = [
            (object, 8),
            (source.1, 4),
            (target.1, 4),
            (target.0.into(), 4),
            (EVENT, 2),
            (source.0.into(), 4),
        ];
        self.of(us, by, (17, 34, 2), &bytes(&payload));
    }
}

const CREATE: u8 = 32;
const CLOSE: u8 = 33;

fn started() -> Recording {
    let mut trace = Recording::new();
    trace.process(0, 3, 4, 0);
    trace.process(0, 3, 100, 4);
    trace.process(0, 3, 200, 4);
    trace
}

/// Process IDs of a column of keys.
fn pids(rows: &crate::counters::Batches, column: &str) -> Vec<Option<i64>> {
    let processes = read(rows, Process::TABLE, ["process_key", "pid"]);
    let pid = |key: Option<i64>| {
        processes
            .iter()
            .find(|row| row[0] == key && key.is_some())
            .and_then(|row| row[1])
    };
    read(rows, Handle::TABLE, [column])
        .concat()
        .into_iter()
        .map(pid)
        .collect()
}

#[test]
fn values_and_addresses_are_used_again() {
    let mut trace = started();
    trace.handle(10, CREATE, 100, 0xA0, 0x14, "");
    trace.handle(30, CLOSE, 100, 0xA0, 0x14, "First");
    // The same value and address for another object, whose handle is also copied to another process
    // and stays open there.
    trace.handle(40, CREATE, 100, 0xA0, 0x14, "");
    trace.duplicate(45, 100, 0xA0, (100, 0x14), (200, 0x20));
    trace.handle(50, CLOSE, 100, 0xA0, 0x14, "Second");
    // The close of the first of these is missing.
    trace.handle(60, CREATE, 100, 0xB0, 0x18, "");
    trace.handle(70, CREATE, 100, 0xC0, 0x18, "");
    trace.handle(75, CLOSE, 100, 0xC0, 0x18, "");
    // No event records the creation of this one.
    trace.handle(80, CLOSE, 200, 0xD0, 0x30, "Old");
    trace.kernel(
        90,
        0,
        (17, 37, 2),
        &[bytes(&[(EVENT, 2), (0, 2)]), wide("Event")].concat(),
    );
    let rows = trace.rows(Range::ALL);
    let handles = read(
        &rows,
        Handle::TABLE,
        ["handle", "open_ns", "close_ns", "lifetime_ns"],
    );
    assert_eq!(
        handles,
        [
            [Some(0x14), Some(10), Some(30), Some(20)],
            [Some(0x14), Some(40), Some(50), Some(10)],
            [Some(0x18), Some(60), None, None],
            [Some(0x18), Some(70), Some(75), Some(5)],
            [Some(0x30), None, Some(80), None],
            [Some(0x20), Some(45), None, None],
        ]
    );
    assert_eq!(
        words(&rows, Handle::TABLE, "origin"),
        [
            "create",
            "create",
            "create",
            "create",
            "unknown",
            "duplicate"
        ]
    );
    assert_eq!(
        words(&rows, Handle::TABLE, "outcome"),
        ["closed", "closed", "reused", "closed", "closed", "open"]
    );
    let some = |pids: [i64; 6]| pids.map(Some).to_vec();
    assert_eq!(
        pids(&rows, "process_key"),
        some([100, 100, 100, 100, 200, 200])
    );
    assert_eq!(pids(&rows, "open_process_key")[5], Some(100));
    assert_eq!(pids(&rows, "source_process_key")[5], Some(100));
    let objects = read(&rows, Handle::TABLE, ["object_id"]).concat();
    assert_eq!(objects, [0, 1, 2, 3, 4, 1].map(Some));
    let mut names: Vec<_> = read(&rows, Object::TABLE, ["object_id"])
        .concat()
        .into_iter()
        .zip(words(&rows, Object::TABLE, "name"))
        .collect();
    names.sort();
    let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["First", "Second", "-", "-", "Old"]);
    assert!(
        words(&rows, Object::TABLE, "type_name")
            .iter()
            .all(|name| name == "Event")
    );
}

#[test]
fn where_objects_report_their_ends_they_outlive_their_handles() {
    let mut trace = started();
    trace.of(
        5,
        100,
        (17, 48, 2),
        &bytes(&[(0xA0, 8), (EVENT, 2), (0, 2)]),
    );
    trace.handle(10, CREATE, 100, 0xA0, 0x14, "");
    trace.handle(20, CLOSE, 100, 0xA0, 0x14, "");
    trace.of(
        25,
        100,
        (17, 50, 2),
        &[bytes(&[(0xA0, 8)]), b"Dflt".to_vec(), bytes(&[(2, 4)])].concat(),
    );
    trace.handle(30, CREATE, 100, 0xA0, 0x14, "");
    trace.handle(40, CLOSE, 100, 0xA0, 0x14, "");
    trace.of(50, 4, (17, 49, 2), &bytes(&[(0xA0, 8), (EVENT, 2), (0, 2)]));
    trace.handle(60, CREATE, 100, 0xA0, 0x14, "");
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        read(&rows, Handle::TABLE, ["object_id"]).concat(),
        [0, 0, 1].map(Some)
    );
    let lives = read(
        &rows,
        Object::TABLE,
        ["object_id", "first_ns", "created_ns", "deleted_ns"],
    );
    assert_eq!(
        lives,
        [
            [Some(0), Some(5), Some(5), Some(50)],
            [Some(1), Some(60), None, None]
        ]
    );
    assert_eq!(
        words(&rows, ObjectRef::TABLE, "kind"),
        ["create", "reference", "delete"]
    );
    assert_eq!(words(&rows, ObjectRef::TABLE, "tag"), ["-", "Dflt", "-"]);
    assert_eq!(
        read(&rows, ObjectRef::TABLE, ["object_id", "count"])[1],
        [Some(0), Some(2)]
    );
}

#[test]
fn a_process_inherits_handles_and_the_kernel_has_its_own() {
    let mut trace = started();
    trace.handle(10, CREATE, 100, 0xA0, 0x14, "");
    // A copy with the same value in the same process: the process that starts next.
    trace.duplicate(20, 100, 0xA0, (100, 0x14), (100, 0x14));
    trace.process(25, 1, 300, 100);
    trace.handle(30, CLOSE, 300, 0xA0, 0x14, "");
    trace.handle(35, CLOSE, 100, 0xA0, 0x14, "");
    // Created by one process, closed by another.
    trace.handle(40, CREATE, 100, 0xB0, 0x8000_0010, "");
    trace.handle(50, CLOSE, 200, 0xB0, 0x8000_0010, "");
    // Not closed, but its process ends.
    trace.handle(60, CREATE, 300, 0xC0, 0x18, "");
    trace.process(70, 2, 300, 100);
    let rows = trace.rows(Range::ALL);
    assert_eq!(pids(&rows, "process_key"), [300, 100, 4, 300].map(Some));
    assert_eq!(
        words(&rows, Handle::TABLE, "origin"),
        ["inherit", "create", "create", "create"]
    );
    assert_eq!(
        words(&rows, Handle::TABLE, "outcome"),
        ["closed", "closed", "closed", "process_end"]
    );
    assert_eq!(
        read(&rows, Handle::TABLE, ["lifetime_ns"]).concat(),
        [Some(10), Some(25), Some(10), None]
    );
    assert_eq!(pids(&rows, "close_process_key")[2], Some(200));
}

#[test]
fn lists_of_open_handles_show_what_was_there_before() {
    let mut trace = started();
    let rundown = |object: u64, pid: u64, handle: u64, name: &str| {
        [
            bytes(&[(object, 8), (pid, 4), (handle, 4), (EVENT, 2)]),
            wide(name),
        ]
        .concat()
    };
    trace.kernel(1, 0, (17, 38, 2), &rundown(0xA0, 100, 0x14, "Before"));
    trace.handle(10, CLOSE, 100, 0xA0, 0x14, "");
    trace.handle(20, CREATE, 100, 0xB0, 0x18, "");
    trace.kernel(90, 0, (17, 39, 2), &rundown(0xB0, 100, 0x18, "Leaked"));
    trace.kernel(90, 0, (17, 39, 2), &rundown(0xC0, 200, 0x44, "Always"));
    let rows = trace.rows(Range::ALL);
    let handles = read(&rows, Handle::TABLE, ["handle", "open_ns", "close_ns"]);
    assert_eq!(
        handles,
        [
            [Some(0x14), None, Some(10)],
            [Some(0x44), None, None],
            [Some(0x18), Some(20), None]
        ]
    );
    assert_eq!(
        words(&rows, Handle::TABLE, "origin"),
        ["rundown", "rundown", "create"]
    );
    let mut names = words(&rows, Object::TABLE, "name");
    names.sort();
    assert_eq!(names, ["Always", "Before", "Leaked"]);
}

#[test]
fn files_are_mapped_and_unmapped() {
    let mut trace = started();
    let map = |base: u64, offset: u64| {
        bytes(&[
            (base, 8),
            (0x77, 8),
            (4 << 48, 8),
            (0x5000, 8),
            (offset, 8),
            (100, 4),
        ])
    };
    trace.kernel(1, 0, (4, 39, 3), &map(0x9_0000, 0));
    trace.kernel(
        5,
        0,
        (4, 36, 2),
        &[bytes(&[(0x77, 8)]), wide(r"\Device\HarddiskVolume3\a.txt")].concat(),
    );
    trace.of(10, 100, (4, 37, 3), &map(0x10_0000, 0x2000));
    trace.of(30, 100, (4, 38, 3), &map(0x10_0000, 0x2000));
    trace.of(40, 100, (4, 37, 3), &map(0x10_0000, 0));
    trace.of(50, 100, (4, 38, 3), &map(0x20_0000, 0));
    let rows = trace.rows(Range::ALL);
    let columns = [
        "map_id",
        "address",
        "offset_bytes",
        "map_ns",
        "unmap_ns",
        "lifetime_ns",
    ];
    assert_eq!(
        read(&rows, FileMap::TABLE, columns),
        [
            [
                Some(1),
                Some(0x10_0000),
                Some(0x2000),
                Some(10),
                Some(30),
                Some(20)
            ],
            [Some(3), Some(0x20_0000), Some(0), None, Some(50), None],
            [Some(0), Some(0x9_0000), Some(0), None, None, None],
            [Some(2), Some(0x10_0000), Some(0), Some(40), None, None],
        ]
    );
    assert_eq!(
        words(&rows, FileMap::TABLE, "origin"),
        ["map", "unknown", "rundown", "map"]
    );
    assert_eq!(
        words(&rows, FileMap::TABLE, "outcome"),
        ["unmapped", "unmapped", "open", "open"]
    );
    assert!(
        words(&rows, FileMap::TABLE, "path")
            .iter()
            .all(|path| path.ends_with(r"\a.txt"))
    );
    assert_eq!(
        read(&rows, FileMap::TABLE, ["flags"]).concat(),
        [Some(4); 4]
    );
}

#[test]
fn what_is_committed_twice_or_given_back_in_part_is_counted_by_pages() {
    let mut trace = started();
    let (commit, reserve, decommit, release) = (0x1000, 0x2000, 0x4000, 0x8000);
    let mut event = |us, op, base: u64, size: u64, flags: u64| {
        trace.kernel(
            us,
            0,
            (2, op, 2),
            &bytes(&[(base, 8), (size, 8), (100, 4), (flags, 4)]),
        );
    };
    // Reserved; eight pages committed; the middle four decommitted; six pages around the hole
    // committed; three decommitted.
    event(5, 98, 0x1000, 0x10000, reserve);
    event(10, 98, 0x1000, 0x8000, commit);
    event(20, 99, 0x3000, 0x4000, decommit);
    event(30, 98, 0x2000, 0x6000, commit | reserve);
    event(40, 99, 0x6000, 0x3000, decommit);
    // Another region is released as a whole.
    event(50, 98, 0x90_0000, 0x1001, commit);
    event(60, 99, 0x90_0000, 0x3000, release);
    let rows = trace.rows(Range::ALL);
    let columns = ["alloc_id", "size_bytes", "changed_bytes", "committed_bytes"];
    assert_eq!(
        read(&rows, VirtualAlloc::TABLE, columns),
        [
            [0, 0x10000, 0, 0],
            [1, 0x8000, 0x8000, 0x8000],
            [2, 0x4000, -0x4000, 0x4000],
            [3, 0x6000, 0x4000, 0x8000],
            [4, 0x3000, -0x3000, 0x5000],
            [5, 0x1001, 0x2000, 0x7000],
            [6, 0x3000, -0x2000, 0x5000],
        ]
        .map(|row| row.map(Some))
    );
    assert_eq!(
        words(&rows, VirtualAlloc::TABLE, "kind"),
        [
            "reserve", "commit", "decommit", "commit", "decommit", "commit", "release"
        ]
    );
    let left = read(
        &rows,
        VirtualRange::TABLE,
        ["address", "size_bytes", "alloc_id"],
    );
    assert_eq!(
        left,
        [[0x1000, 0x2000, 1], [0x3000, 0x3000, 3]].map(|row| row.map(Some))
    );
}

#[test]
fn processes_that_nothing_describes_are_distinguished_by_their_ids() {
    let mut trace = Recording::new();
    trace.handle(10, CREATE, 100, 0xA0, 0x14, "");
    trace.handle(20, CREATE, 200, 0xB0, 0x14, "");
    trace.handle(30, CLOSE, 100, 0xA0, 0x14, "");
    trace.kernel(
        40,
        0,
        (2, 98, 2),
        &bytes(&[(0x1000, 8), (0x1000, 8), (300, 4), (0x1000, 4)]),
    );
    let rows = trace.rows(Range::ALL);
    assert_eq!(words(&rows, Handle::TABLE, "outcome"), ["closed", "open"]);
    assert_eq!(pids(&rows, "process_key"), [100, 200].map(Some));
    assert_eq!(
        read(&rows, VirtualAlloc::TABLE, ["changed_bytes"]),
        [[Some(0x1000)]]
    );
    let mut known = read(&rows, Process::TABLE, ["pid"]).concat();
    known.retain(|pid| *pid >= Some(100));
    assert_eq!(known, [100, 200, 300].map(Some));
}
