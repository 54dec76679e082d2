//! Process heaps: events of our own writer in, rows out. No real trace contains any.

use etwkit_etl::writer::{KernelContext, KernelEvent};
use etwkit_trace::derive::derive;
use etwkit_trace::import::Range;
use etwkit_trace::table::{Heap, HeapProcess, Row};

use crate::counters::{Batches, Recording, bytes, read, words};

/// Types of events.
const CREATE: u8 = 32;
const ALLOCATE: u8 = 33;
const REALLOCATE: u8 = 34;
const DESTROY: u8 = 35;
const FREE: u8 = 36;

/// Handle of a heap.
const HEAP: u64 = 0x100;

impl Recording {
    /// An event of a heap of process 100, logged by its thread 8.
    fn heap(&mut self, us: i64, opcode: u8, fields: &[u64]) {
        let pointers: Vec<(u64, usize)> = [HEAP]
            .iter()
            .chain(fields)
            .map(|field| (*field, 8))
            .collect();
        let payload = [bytes(&pointers), bytes(&[(2, 4)])].concat();
        let context = KernelContext::IdsAndTimes {
            thread_id: 8,
            process_id: 100,
            kernel_time: 0,
            user_time: 0,
        };
        let timestamp = self.start + us;
        let event = KernelEvent {
            context,
            timestamp,
            group: 16,
            opcode,
            version: 2,
            payload: &payload,
            ..KernelEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }
}

/// The example of `docs/numbers/heaps.md`.
fn example() -> Recording {
    let mut trace = Recording::new();
    trace.kernel(0, 0, (5, 3, 3), &bytes(&[(100, 4), (8, 4)]));
    trace.heap(10, CREATE, &[]);
    trace.heap(11, ALLOCATE, &[100, 0x1000]);
    trace.heap(12, ALLOCATE, &[50, 0x2000]);
    // The first block grows and moves: new address, old one, new size, old one.
    trace.heap(20, REALLOCATE, &[0x3000, 0x1000, 300, 100]);
    trace.heap(30, FREE, &[0x2000]);
    trace.heap(31, FREE, &[0x3000]);
    // Allocated before the trace.
    trace.heap(32, FREE, &[0x9000]);
    trace.heap(40, ALLOCATE, &[70, 0x1000]);
    trace.heap(41, ALLOCATE, &[30, 0x2000]);
    trace
}

#[test]
fn a_block_that_is_freed_has_the_size_and_the_time_of_its_allocation() {
    let rows = example().rows(Range::ALL);
    let kinds = [
        "create",
        "allocate",
        "allocate",
        "reallocate",
        "free",
        "free",
        "free",
        "allocate",
        "allocate",
    ];
    assert_eq!(words(&rows, Heap::TABLE, "kind"), kinds);
    let found = read(
        &rows,
        Heap::TABLE,
        ["address", "size_bytes", "allocation_id", "lifetime_ns"],
    );
    assert_eq!(
        found,
        [
            [None, None, None, None],
            [Some(0x1000), Some(100), None, None],
            [Some(0x2000), Some(50), None, None],
            [Some(0x3000), Some(300), Some(1), Some(9)],
            [Some(0x2000), Some(50), Some(2), Some(18)],
            [Some(0x3000), Some(300), Some(3), Some(20)],
            [Some(0x9000), None, None, None],
            [Some(0x1000), Some(70), None, None],
            [Some(0x2000), Some(30), None, None],
        ]
    );
    let held = read(
        &rows,
        Heap::TABLE,
        ["changed_bytes", "changed_blocks", "held_bytes"],
    );
    let expected = [
        [0, 0, 0],
        [100, 1, 100],
        [50, 1, 150],
        [200, 0, 350],
        [-50, -1, 300],
        [-300, -1, 0],
        [0, 0, 0],
        [70, 1, 70],
        [30, 1, 100],
    ];
    assert_eq!(held, expected.map(|row| row.map(Some)));
    let who = read(&rows, Heap::TABLE, ["process_key", "heap_handle"]);
    assert!(who.iter().all(|row| *row == [Some(0), Some(0x100)]));
}

#[test]
fn sums_are_by_process_and_heap() {
    let sums_of = |trace: Recording| {
        let rows = trace.rows(Range::ALL);
        let mut sums = Batches::new();
        derive(&rows, &[], &mut sums).unwrap();
        let counts = [
            "allocations",
            "allocated_bytes",
            "max_allocated_bytes",
            "reallocations",
            "frees",
        ];
        let ends = ["outstanding_blocks", "outstanding_bytes", "peak_bytes"];
        (
            read(&sums, HeapProcess::TABLE, counts),
            read(&sums, HeapProcess::TABLE, ends),
        )
    };
    let counts = vec![[4, 250, 100, 1, 3].map(Some)];
    assert_eq!(
        sums_of(example()),
        (counts.clone(), vec![[2, 100, 350].map(Some)])
    );
    // Remaining blocks end with the heap.
    let mut ended = example();
    ended.heap(50, DESTROY, &[]);
    assert_eq!(sums_of(ended), (counts, vec![[0, 0, 350].map(Some)]));
}

#[test]
fn a_block_at_the_address_of_another_one_replaces_it() {
    let mut trace = Recording::new();
    trace.heap(10, ALLOCATE, &[100, 0x1000]);
    trace.heap(11, ALLOCATE, &[40, 0x1000]);
    trace.heap(12, FREE, &[0x1000]);
    let rows = trace.rows(Range::ALL);
    let found = read(
        &rows,
        Heap::TABLE,
        [
            "allocation_id",
            "changed_bytes",
            "changed_blocks",
            "held_bytes",
        ],
    );
    let expected = [
        [None, Some(100), Some(1), Some(100)],
        [None, Some(-60), Some(0), Some(40)],
        [Some(1), Some(-40), Some(-1), Some(0)],
    ];
    assert_eq!(found, expected);
}
