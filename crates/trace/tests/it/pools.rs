//! Kernel pool: events of our own writer in, rows out. No real trace contains any.

use etwkit_trace::derive::derive;
use etwkit_trace::import::Range;
use etwkit_trace::table::{GenericEvent, Pool, PoolTag, Process, Row, Thread};

use crate::counters::{Batches, Recording, bytes, read, words};

/// Types of events.
const ALLOCATE: u8 = 32;
const ALLOCATE_SESSION: u8 = 33;
const FREE: u8 = 34;
const FREE_SESSION: u8 = 35;

/// Types of pool.
const PAGED: u64 = 1;
const NON_PAGED: u64 = 512;

impl Recording {
    /// A pool event on processor 0: tag and type, bytes, address, session.
    fn pool(&mut self, us: i64, opcode: u8, (tag, kind): (&[u8; 4], u64), rest: &[u64]) {
        let sizes = [8, 8, 4];
        let rest: Vec<(u64, usize)> = rest.iter().copied().zip(sizes).collect();
        let payload = [bytes(&[(kind, 4)]), tag.to_vec(), bytes(&rest)].concat();
        self.kernel(us, 0, (14, opcode, 2), &payload);
    }

    /// The stack of an event of a thread.
    fn stack(&mut self, us: i64, (pid, tid): (u64, u64), address: u64) {
        let of = self.start.cast_unsigned().wrapping_add(us.cast_unsigned());
        self.kernel(
            us,
            0,
            (24, 32, 2),
            &bytes(&[(of, 8), (pid, 4), (tid, 4), (address, 8)]),
        );
    }
}

/// The example of `docs/numbers/pool.md`.
fn example() -> Recording {
    let mut trace = Recording::new();
    trace.kernel(0, 0, (5, 3, 3), &bytes(&[(100, 4), (8, 4)]));
    trace.kernel(0, 0, (5, 3, 3), &bytes(&[(200, 4), (9, 4)]));
    trace.switch(5, 0, 0, 8, &[]);
    trace.pool(10, ALLOCATE, (b"CamF", NON_PAGED), &[100, 0x1000]);
    trace.stack(10, (100, 8), 0xFFFF_8000_0000_1000);
    trace.pool(11, ALLOCATE, (b"CamN", PAGED), &[40, 0x2000]);
    trace.pool(12, ALLOCATE, (b"CamN", PAGED), &[60, 0x3000]);
    trace.pool(20, FREE, (b"CamN", PAGED), &[40, 0x2000]);
    trace.switch(25, 0, 8, 9, &[]);
    trace.pool(30, FREE, (b"CamF", NON_PAGED), &[100, 0x1000]);
    trace.stack(30, (200, 9), 0xFFFF_8000_0000_2000);
    // Allocated before the trace.
    trace.pool(31, FREE, (b"CamO", PAGED), &[512, 0x9000]);
    // The free of the previous block is missing.
    trace.pool(40, ALLOCATE, (b"CamN", PAGED), &[24, 0x3000]);
    trace
}

#[test]
fn a_block_is_one_row_from_its_allocation_to_its_free() {
    let rows = example().rows(Range::ALL);
    assert_eq!(
        words(&rows, Pool::TABLE, "tag"),
        ["CamN", "CamF", "CamO", "CamN", "CamN"]
    );
    let outcomes = ["freed", "freed", "freed", "replaced", "outstanding"];
    assert_eq!(words(&rows, Pool::TABLE, "outcome"), outcomes);
    let paging = ["paged", "nonpaged", "paged", "paged", "paged"];
    assert_eq!(words(&rows, Pool::TABLE, "paging"), paging);
    let columns = [
        "pool_type",
        "address",
        "size_bytes",
        "alloc_ns",
        "free_ns",
        "lifetime_ns",
        "session_id",
    ];
    let found = read(&rows, Pool::TABLE, columns);
    assert_eq!(
        found,
        [
            [
                Some(1),
                Some(0x2000),
                Some(40),
                Some(11),
                Some(20),
                Some(9),
                None
            ],
            [
                Some(512),
                Some(0x1000),
                Some(100),
                Some(10),
                Some(30),
                Some(20),
                None
            ],
            [Some(1), Some(0x9000), Some(512), None, Some(31), None, None],
            [Some(1), Some(0x3000), Some(60), Some(12), None, None, None],
            [Some(1), Some(0x3000), Some(24), Some(40), None, None, None],
        ]
    );
    assert!(read(&rows, GenericEvent::TABLE, ["event_id"]).is_empty());
}

#[test]
fn who_allocates_and_frees_is_the_thread_that_runs() {
    let rows = example().rows(Range::ALL);
    let (pids, tids) = (
        read(&rows, Process::TABLE, ["pid"]),
        read(&rows, Thread::TABLE, ["tid"]),
    );
    let columns = [
        "alloc_process_key",
        "alloc_thread_key",
        "free_process_key",
        "free_thread_key",
    ];
    let who = read(&rows, Pool::TABLE, columns).into_iter().map(
        |[made_in, made_by, freed_in, freed_by]| {
            let named =
                |of: &[[Option<i64>; 1]], key: Option<i64>| of[usize::try_from(key?).unwrap()][0];
            [
                named(&pids, made_in),
                named(&tids, made_by),
                named(&pids, freed_in),
                named(&tids, freed_by),
            ]
        },
    );
    let (first, second) = ([Some(100), Some(8)], [Some(200), Some(9)]);
    let expected = [
        [first, first],
        [first, second],
        [[None; 2], second],
        [first, [None; 2]],
        [second, [None; 2]],
    ];
    assert_eq!(
        who.collect::<Vec<_>>(),
        expected.map(|row| [row[0][0], row[0][1], row[1][0], row[1][1]])
    );
    let stacks = read(&rows, Pool::TABLE, ["alloc_stack_id", "free_stack_id"]);
    assert!(
        stacks[1][0].is_some() && stacks[1][1].is_some() && stacks[1][0] != stacks[1][1],
        "{stacks:?}"
    );
    assert_eq!([stacks[0], stacks[2], stacks[3], stacks[4]], [[None; 2]; 4]);
}

#[test]
fn sums_are_by_tag_and_type() {
    let rows = example().rows(Range::ALL);
    let mut sums = Batches::new();
    derive(&rows, &[], &mut sums).unwrap();
    assert_eq!(
        words(&sums, PoolTag::TABLE, "tag"),
        ["CamF", "CamN", "CamO"]
    );
    assert_eq!(
        words(&sums, PoolTag::TABLE, "paging"),
        ["nonpaged", "paged", "paged"]
    );
    let columns = [
        "pool_type",
        "allocations",
        "allocated_bytes",
        "max_allocated_bytes",
    ];
    let expected = [[512, 1, 100, 100], [1, 3, 124, 60]].map(|row| row.map(Some));
    let found = read(&sums, PoolTag::TABLE, columns);
    assert_eq!(
        found,
        [expected[0], expected[1], [Some(1), Some(0), Some(0), None]]
    );
    let frees = ["frees", "freed_bytes", "frees_of_earlier", "lifetime_ns"];
    let expected = [[1, 100, 0, 20], [1, 40, 0, 9], [1, 512, 1, 0]].map(|row| row.map(Some));
    assert_eq!(read(&sums, PoolTag::TABLE, frees), expected);
    let left = read(
        &sums,
        PoolTag::TABLE,
        ["outstanding_blocks", "outstanding_bytes"],
    );
    assert_eq!(left, [[0, 0], [1, 24], [0, 0]].map(|row| row.map(Some)));
}

#[test]
fn a_part_of_a_trace_is_shown_as_if_it_were_all() {
    let rows = example().rows(Range {
        start_ns: 12_000,
        end_ns: 25_000,
    });
    assert_eq!(
        words(&rows, Pool::TABLE, "outcome"),
        ["freed", "outstanding"]
    );
    let found = read(&rows, Pool::TABLE, ["address", "alloc_ns", "free_ns"]);
    assert_eq!(
        found,
        [
            [Some(0x2000), None, Some(20)],
            [Some(0x3000), Some(12), None]
        ]
    );
}

#[test]
fn sessions_have_memory_of_their_own_and_tags_may_be_any_bytes() {
    let mut trace = Recording::new();
    let tag = (b"a\x1b[\xe5", 99);
    trace.pool(10, ALLOCATE_SESSION, tag, &[10, 0x1000, 1]);
    trace.pool(11, ALLOCATE_SESSION, tag, &[20, 0x1000, 2]);
    trace.pool(12, FREE_SESSION, tag, &[10, 0x1000, 1]);
    let rows = trace.rows(Range::ALL);
    assert_eq!(words(&rows, Pool::TABLE, "tag"), ["a\\x1b[\\xe5"; 2]);
    assert_eq!(words(&rows, Pool::TABLE, "paging"), ["-"; 2]);
    assert_eq!(
        words(&rows, Pool::TABLE, "outcome"),
        ["freed", "outstanding"]
    );
    let found = read(
        &rows,
        Pool::TABLE,
        ["session_id", "size_bytes", "lifetime_ns"],
    );
    assert_eq!(
        found,
        [[Some(1), Some(10), Some(2)], [Some(2), Some(20), None]]
    );
}
