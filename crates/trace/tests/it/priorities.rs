//! Priorities of threads: events in, rows out.

use etwkit_trace::import::Range;
use etwkit_trace::table::{Frame, Row, ThreadPriority};

use crate::counters::{Recording, bytes, read, words};

#[test]
fn a_priority_is_changed_by_the_thread_that_runs_with_its_stack() {
    let mut trace = Recording::new();
    trace.switch(5, 1, 0, 8, &[]);
    // On processor 1 thread 8 raises thread 12 from 8 to 15; the thread on processor 0 is unknown.
    trace.kernel(
        10,
        1,
        (5, 48, 3),
        &bytes(&[(12, 4), (8, 1), (15, 1), (0, 2)]),
    );
    let stack = [
        (trace.start.cast_unsigned() + 10, 8),
        (0, 4),
        (8, 4),
        (0xFFFF_8000_0000_1000, 8),
    ];
    trace.kernel(10, 1, (24, 32, 2), &bytes(&stack));
    trace.kernel(
        20,
        0,
        (5, 49, 3),
        &bytes(&[(12, 4), (8, 1), (4, 1), (4, 1), (0, 1)]),
    );
    trace.kernel(
        21,
        0,
        (5, 51, 3),
        &bytes(&[(12, 4), (5, 1), (1, 1), (0, 2)]),
    );
    trace.kernel(
        22,
        0,
        (5, 52, 3),
        &bytes(&[(12, 4), (2, 1), (0, 1), (0, 2)]),
    );
    // Cut off: a generic event and no row.
    trace.kernel(30, 0, (5, 48, 3), &bytes(&[(12, 4), (8, 1)]));
    let rows = trace.rows(Range::ALL);
    let changes = read(
        &rows,
        ThreadPriority::TABLE,
        ["ts_ns", "old_priority", "new_priority"],
    );
    assert_eq!(
        changes,
        [[10, 8, 15], [20, 8, 4], [21, 5, 1], [22, 2, 0]].map(|row| row.map(Some))
    );
    assert_eq!(
        words(&rows, ThreadPriority::TABLE, "kind"),
        ["dynamic", "base", "page", "io"]
    );
    let who = read(
        &rows,
        ThreadPriority::TABLE,
        ["thread_key", "by_thread_key", "stack_id"],
    );
    assert!(
        who.iter()
            .all(|row| row[0] == who[0][0] && row[0] != row[1]),
        "{who:?}"
    );
    assert!(who[0][1].is_some() && who[0][2].is_some(), "{who:?}");
    assert_eq!(who[1][2], None);
    assert_eq!(
        read(&rows, Frame::TABLE, ["address"]),
        [[Some(0xFFFF_8000_0000_1000_u64.cast_signed())]]
    );
}

#[test]
fn changes_outside_the_range_are_left_out() {
    let mut trace = Recording::new();
    for us in [10, 20, 30] {
        trace.kernel(
            us,
            0,
            (5, 48, 3),
            &bytes(&[(12, 4), (8, 1), (us.cast_unsigned(), 1), (0, 2)]),
        );
    }
    let rows = trace.rows(Range {
        start_ns: 15_000,
        end_ns: 25_000,
    });
    assert_eq!(
        read(&rows, ThreadPriority::TABLE, ["new_priority"]),
        [[Some(20)]]
    );
}
