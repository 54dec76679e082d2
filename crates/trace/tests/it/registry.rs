//! The registry: events in, rows out.

use arrow_array::cast::AsArray;
use etwkit_trace::derive::derive;
use etwkit_trace::import::Range;
use etwkit_trace::table::{Frame, GenericEvent, RegistryIo, RegistryKey, Row, Stack};

use crate::counters::{Batches, Recording, bytes, read, wide, words};

const CREATE: u8 = 10;
const OPEN: u8 = 11;
const QUERY_VALUE: u8 = 16;
const ENUMERATE: u8 = 17;
const BLOCK_CREATE: u8 = 22;
const BLOCK_DELETE: u8 = 23;
const BLOCK_START: u8 = 24;
const BLOCK_END: u8 = 25;
const CLOSE: u8 = 27;

/// Status `OBJECT_NAME_NOT_FOUND`.
const NOT_FOUND: u64 = 0xC000_0034;

/// Two control blocks.
const RUN: u64 = 0xFFFF_9000_0000_00A0;
const CLASSES: u64 = 0xFFFF_9000_0000_00B0;

impl Recording {
    /// An event of version 2 whose operation lasted from `from` to `to`.
    fn registry(
        &mut self,
        op: u8,
        from: i64,
        to: i64,
        (status, index): (u64, u64),
        block: u64,
        name: &str,
    ) {
        let begin = (self.start + from) as u64;
        let payload = [
            bytes(&[(begin, 8), (status, 4), (index, 4), (block, 8)]),
            wide(name),
        ]
        .concat();
        self.kernel(to, 0, (9, op, 2), &payload);
    }

    /// The key of a control block.
    fn block(&mut self, us: i64, op: u8, block: u64, path: &str) {
        self.registry(op, us, us, (0, 0), block, path);
    }
}

fn durations(rows: &Batches) -> Vec<[Option<i64>; 3]> {
    read(
        rows,
        RegistryIo::TABLE,
        ["start_ns", "end_ns", "duration_ns"],
    )
}

#[test]
fn keys_are_those_of_their_control_blocks_wherever_these_are_named() {
    let mut trace = Recording::new();
    trace.switch(1, 0, 0, 8, &[]);
    trace.block(2, BLOCK_START, RUN, r"\REGISTRY\MACHINE\SOFTWARE\Run");
    trace.registry(OPEN, 10, 14, (NOT_FOUND, 0), RUN, r"Sub\Key");
    trace.registry(QUERY_VALUE, 20, 21, (0, 2), RUN, "Tray");
    // The default value has no name. Closing the last handle ends the control block before the
    // operation does.
    trace.registry(QUERY_VALUE, 22, 23, (0, 2), RUN, "");
    trace.block(25, BLOCK_DELETE, RUN, r"\REGISTRY\MACHINE\SOFTWARE\Run");
    trace.registry(CLOSE, 24, 26, (0, 0), RUN, "");
    // The address now belongs to another key.
    trace.block(30, BLOCK_CREATE, RUN, r"\REGISTRY\USER\.DEFAULT");
    trace.registry(ENUMERATE, 31, 33, (0x8000_001A, 7), RUN, "");
    // Named only at the end of the session.
    trace.registry(CREATE, 40, 50, (0, 0), CLASSES, "New");
    trace.registry(OPEN, 51, 52, (0, 0), 0, r"\Registry\Machine\System");
    trace.registry(OPEN, 53, 54, (0, 0), 0x77, "Lost");
    trace.registry(CLOSE, 55, 56, (0, 0), 0x77, "");
    trace.block(
        90,
        BLOCK_END,
        CLASSES,
        r"\REGISTRY\MACHINE\SOFTWARE\Classes",
    );
    let rows = trace.rows(Range::ALL);
    let run = r"\REGISTRY\MACHINE\SOFTWARE\Run";
    assert_eq!(
        words(&rows, RegistryIo::TABLE, "key"),
        [
            r"\REGISTRY\MACHINE\SOFTWARE\Run\Sub\Key",
            run,
            run,
            run,
            r"\REGISTRY\USER\.DEFAULT",
            r"\REGISTRY\MACHINE\SOFTWARE\Classes\New",
            r"\Registry\Machine\System",
            "Lost",
            "-",
        ]
    );
    let (_, batch) = rows
        .iter()
        .find(|(table, _)| table.name == RegistryIo::TABLE.name)
        .unwrap();
    let whole = batch
        .column_by_name("is_whole_key")
        .unwrap()
        .as_boolean()
        .clone();
    assert_eq!(
        whole.iter().flatten().collect::<Vec<_>>(),
        [true, true, true, true, true, true, true, false, false]
    );
    assert_eq!(
        words(&rows, RegistryIo::TABLE, "operation"),
        [
            "open_key",
            "query_value",
            "query_value",
            "close_key",
            "enumerate_key",
            "create_key",
            "open_key",
            "open_key",
            "close_key"
        ]
    );
    assert_eq!(
        words(&rows, RegistryIo::TABLE, "value"),
        ["-", "Tray", "-", "-", "-", "-", "-", "-", "-"]
    );
    let first = read(
        &rows,
        RegistryIo::TABLE,
        ["start_ns", "end_ns", "duration_ns", "status", "index"],
    );
    assert_eq!(
        first[0],
        [
            Some(10),
            Some(14),
            Some(4),
            Some(0xC000_0034u32 as i32 as i64),
            Some(0)
        ]
    );
    assert_eq!(
        first[4],
        [
            Some(31),
            Some(33),
            Some(2),
            Some(0x8000_001Au32 as i32 as i64),
            Some(7)
        ]
    );
    // All belong to the thread that ran, and no event is reported twice.
    let threads = read(&rows, RegistryIo::TABLE, ["thread_key"]).concat();
    assert!(
        threads
            .iter()
            .all(|thread| thread.is_some() && *thread == threads[0]),
        "{threads:?}"
    );
    assert!(read(&rows, GenericEvent::TABLE, ["event_id"]).is_empty());
}

#[test]
fn older_versions_say_how_long_an_operation_took() {
    let mut trace = Recording::new();
    let zero = [
        &bytes(&[(NOT_FOUND, 8), (RUN, 8), (5, 8)])[..],
        &wide("Sub"),
    ]
    .concat();
    trace.kernel(10, 0, (9, OPEN, 0), &zero);
    let one = |index: u64, name: &str| {
        [
            &bytes(&[(0, 8), (RUN, 8), (7, 8), (index, 4)])[..],
            &wide(name),
        ]
        .concat()
    };
    trace.kernel(20, 0, (9, QUERY_VALUE, 1), &one(3, "Tray"));
    trace.kernel(30, 0, (9, BLOCK_CREATE, 1), &one(0, r"\REGISTRY\A"));
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        durations(&rows),
        [[5, 10, 5], [13, 20, 7]].map(|row| row.map(Some))
    );
    assert_eq!(
        words(&rows, RegistryIo::TABLE, "key"),
        [r"\REGISTRY\A\Sub", r"\REGISTRY\A"]
    );
    assert_eq!(
        read(&rows, RegistryIo::TABLE, ["index"]).concat(),
        [None, Some(3)]
    );
}

#[test]
fn a_begin_behind_the_end_gives_no_duration_and_other_events_stay() {
    let mut trace = Recording::new();
    trace.registry(OPEN, 20, 10, (0, 0), 0, r"\REGISTRY");
    // Too short a payload, and an event of a hive.
    trace.kernel(15, 0, (9, OPEN, 2), &bytes(&[(0, 8), (0, 4)]));
    trace.kernel(16, 0, (9, 35, 2), &bytes(&[(1, 4)]));
    let rows = trace.rows(Range::ALL);
    assert_eq!(durations(&rows), [[Some(10), Some(10), None]]);
    assert_eq!(
        read(&rows, GenericEvent::TABLE, ["opcode"]).concat(),
        [Some(11), Some(35)]
    );
}

#[test]
fn an_operation_belongs_to_the_part_in_which_it_began() {
    let mut trace = Recording::new();
    trace.registry(OPEN, 10, 50, (0, 0), 0, r"\REGISTRY\A");
    trace.registry(OPEN, 40, 60, (0, 0), 0, r"\REGISTRY\B");
    trace.registry(OPEN, 70, 80, (0, 0), 0, r"\REGISTRY\C");
    let rows = trace.rows(Range {
        start_ns: 30_000,
        end_ns: 65_000,
    });
    assert_eq!(words(&rows, RegistryIo::TABLE, "key"), [r"\REGISTRY\B"]);
}

#[test]
fn an_operation_has_the_stack_that_is_written_at_its_end() {
    let mut trace = Recording::new();
    trace.switch(1, 0, 0, 8, &[]);
    trace.registry(OPEN, 10, 20, (0, 0), 0, r"\REGISTRY\A");
    let owner = bytes(&[
        ((trace.start + 20) as u64, 8),
        (0, 4),
        (8, 4),
        (0x1000, 8),
        (0x2000, 8),
    ]);
    trace.kernel(21, 0, (24, 32, 2), &owner);
    let rows = trace.rows(Range::ALL);
    assert!(read(&rows, RegistryIo::TABLE, ["stack_id"])[0][0].is_some());
    assert_eq!(
        (
            read(&rows, Stack::TABLE, ["depth"]).len(),
            read(&rows, Frame::TABLE, ["rva"]).len()
        ),
        (2, 2)
    );
}

/// The example of `docs/numbers/registry.md`.
#[test]
fn sums_are_by_key_process_and_kind() {
    let mut trace = Recording::new();
    trace.block(1, BLOCK_START, RUN, r"\REGISTRY\A");
    trace.registry(QUERY_VALUE, 10, 14, (0, 2), RUN, "x");
    trace.registry(QUERY_VALUE, 20, 26, (NOT_FOUND, 2), RUN, "y");
    trace.registry(OPEN, 30, 31, (0, 0), 0, r"\REGISTRY\A");
    let mut rows = trace.rows(Range::ALL);
    let mut sums = Batches::new();
    derive(&rows, &[], &mut sums).unwrap();
    rows.extend(sums);
    let columns = ["count", "failures", "duration_ns", "max_duration_ns"];
    assert_eq!(
        read(&rows, RegistryKey::TABLE, columns),
        [[1, 0, 1, 1], [2, 1, 10, 6]].map(|row| row.map(Some))
    );
    assert_eq!(
        words(&rows, RegistryKey::TABLE, "operation"),
        ["open_key", "query_value"]
    );
}
