//! Heaps of programs by heap, process and stack, and single events: the example of
//! `docs/numbers/heaps.md`.

use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_question::{Error, FromRows, ProcessQuery};
use etwkit_questions::heap::{HeapBy, HeapEvent, HeapRequest, HeapRow, HeapSort};
use etwkit_sql::Session;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_trace::derive::derive;
use etwkit_trace::table::{Frame, Heap, HeapProcess, Method, Row, Stack, Table, Thread};

use super::super::support::rows;
use super::{process, trace};

/// One microsecond in nanoseconds.
const US: i64 = 1000;

/// A heap of process 1, unless the row says another one.
const HEAP: i64 = 0x100;

fn event(id: i64, us: i64, kind: &'static str, address: i64, bytes: i64) -> Heap {
    Heap {
        heap_event_id: id,
        ts_ns: us * US,
        process_key: Some(1),
        thread_key: Some(1),
        heap_handle: HEAP,
        kind,
        address: Some(address),
        size_bytes: Some(bytes),
        changed_bytes: bytes,
        changed_blocks: 1,
        ..Heap::default()
    }
}

/// The row that takes a block from the row which gave it its size.
#[expect(
    clippy::needless_pass_by_value,
    reason = "rows are put together where they are listed"
)]
fn ends(of: i64, row: Heap) -> Heap {
    let size = row.size_bytes.unwrap_or_default();
    let (changed_bytes, changed_blocks) = if row.kind == "free" {
        (-size, -1)
    } else {
        (200, 0)
    };
    Heap {
        allocation_id: Some(of),
        changed_bytes,
        changed_blocks,
        ..row
    }
}

/// A heap that is made or ends.
#[expect(
    clippy::needless_pass_by_value,
    reason = "rows are put together where they are listed"
)]
fn of_heap(row: Heap, changed_bytes: i64, changed_blocks: i64) -> Heap {
    Heap {
        address: None,
        size_bytes: None,
        changed_bytes,
        changed_blocks,
        ..row
    }
}

/// The example of the page, then a heap of another process that has a block replaced and ends with
/// one.
fn events() -> Vec<Heap> {
    let other = |row: Heap| Heap {
        process_key: Some(2),
        thread_key: Some(2),
        heap_handle: 0x200,
        ..row
    };
    let mut all = vec![
        of_heap(event(0, 10, "create", 0, 0), 0, 0),
        Heap {
            stack_id: Some(0),
            ..event(1, 11, "allocate", 0x1000, 100)
        },
        event(2, 12, "allocate", 0x2000, 50),
        ends(1, event(3, 20, "reallocate", 0x3000, 300)),
        ends(2, event(4, 30, "free", 0x2000, 50)),
        ends(3, event(5, 31, "free", 0x3000, 300)),
        of_heap(event(6, 32, "free", 0x9000, 0), 0, 0),
        Heap {
            stack_id: Some(0),
            ..event(7, 40, "allocate", 0x1000, 70)
        },
        event(8, 41, "allocate", 0x2000, 30),
        other(event(9, 50, "allocate", 0x1000, 8)),
        other(Heap {
            changed_bytes: 8,
            changed_blocks: 0,
            ..event(10, 51, "allocate", 0x1000, 16)
        }),
        other(event(11, 52, "allocate", 0x5000, 4)),
        other(of_heap(event(12, 53, "destroy", 0, 0), -20, -2)),
        other(event(13, 54, "allocate", 0x5000, 2)),
    ];
    let mut held = [0, 0];
    for row in &mut all {
        let heap = &mut held[usize::from(row.heap_handle != HEAP)];
        *heap += row.changed_bytes;
        row.held_bytes = *heap;
    }
    all
}

fn session(is_summary: bool) -> Session {
    let heap = rows(&events());
    let flat: Vec<(&'static Table, RecordBatch)> =
        heap.1.iter().map(|batch| (heap.0, batch.clone())).collect();
    let mut sums: Vec<(&'static Table, RecordBatch)> = Vec::new();
    derive(&flat, &[], &mut sums).unwrap();
    sums.retain(|(table, _)| table.name == HeapProcess::TABLE.name);
    let thread = |key: i32| Thread {
        thread_key: key,
        tid: key * 10,
        ..Thread::default()
    };
    let mut tables = vec![
        rows(&[trace()]),
        rows(&[process(1, 100, "photo.exe"), process(2, 200, "viewer.exe")]),
        rows(&[thread(1), thread(2)]),
        rows(&[Frame {
            frame_id: 0,
            method_id: Some(0),
            ..Frame::default()
        }]),
        rows(&[Method {
            method_id: 0,
            name: "LoadTile".into(),
            ..Method::default()
        }]),
        rows(&[Stack::default()]),
    ];
    tables.extend(sums.into_iter().map(|(table, rows)| (table, vec![rows])));
    tables.extend((!is_summary).then_some(heap));
    Session::from_batches(tables).unwrap()
}

#[track_caller]
fn ask<R: FromRows>(
    asked: &HeapRequest,
    is_summary: bool,
    text: impl Fn(&R) -> String,
) -> Vec<String> {
    let rows = asked.ask::<R>(&session(is_summary));
    rows.unwrap_or_else(|error| panic!("{error}"))
        .iter()
        .map(text)
        .collect()
}

/// Formats allocations and their bytes, the largest, changes of size, frees, outstanding blocks,
/// the peak.
fn sum(row: &HeapRow) -> String {
    let (allocated, left) = (
        row.allocated_bytes,
        (row.outstanding_blocks, row.outstanding_bytes),
    );
    let most = [row.max_allocated_bytes, row.peak_bytes].map(|bytes| bytes.unwrap_or(-1));
    format!(
        "{} {}/{allocated} {} {} {} {}/{} {}",
        row.pid.unwrap(),
        row.allocations,
        most[0],
        row.reallocations,
        row.frees,
        left.0,
        left.1,
        most[1]
    )
}

const PHOTO: &str = "100 4/250 100 1 3 2/100 350";
const VIEWER: &str = "200 4/30 16 0 0 1/2 20";

#[test]
fn heaps_have_the_sums_of_the_page_from_sums_and_from_events() {
    let all = HeapRequest::default();
    for is_summary in [false, true] {
        let text = |row: &HeapRow| format!("{} {}", row.heap.as_deref().unwrap_or("-"), sum(row));
        let heaps = ask(&all, is_summary, text);
        assert_eq!(heaps, [format!("0x200 {VIEWER}"), format!("0x100 {PHOTO}")]);
        let one = HeapRequest {
            heap: Some("*100".into()),
            leaked: true,
            ..all.clone()
        };
        assert_eq!(ask(&one, is_summary, sum), [PHOTO]);
        let by_process = HeapRequest {
            by: HeapBy::Process,
            sort: HeapSort::Count,
            ..all.clone()
        };
        assert_eq!(ask(&by_process, is_summary, sum), [VIEWER, PHOTO]);
    }
    // Events are added up to the sums that the extract has.
    let all_the_time = HeapRequest {
        time: Range {
            min: 0,
            max: i64::MAX,
        },
        ..all.clone()
    };
    assert_eq!(ask(&all_the_time, false, sum), ask(&all, false, sum));
    assert!(matches!(
        all_the_time.ask::<HeapRow>(&session(true)),
        Err(Error::NeedsRows { .. })
    ));
}

#[test]
fn stacks_own_the_blocks_that_they_allocated() {
    let asked = HeapRequest {
        by: HeapBy::Stack,
        stacks: true,
        leaked: true,
        ..HeapRequest::default()
    };
    let text = |row: &HeapRow| {
        format!(
            "{} {}",
            row.stack.as_deref().map_or("-", |_| "LoadTile"),
            sum(row)
        )
    };
    assert_eq!(
        ask(&asked, false, text),
        [
            "- 200 4/30 16 0 0 1/2 -1",
            "- 100 2/80 50 1 3 1/30 -1",
            "LoadTile 100 2/170 100 0 0 1/70 -1"
        ]
    );
    let of_stack = HeapRequest {
        by: HeapBy::Heap,
        stack: Some("LoadTile".into()),
        ..HeapRequest::default()
    };
    assert_eq!(ask(&of_stack, false, sum), ["100 2/170 100 0 0 1/70 100"]);
}

#[test]
fn single_events_say_what_is_left_of_them() {
    let text = |row: &HeapEvent| {
        let (tid, size) = (row.tid.unwrap(), row.size_bytes.unwrap_or(-1));
        let address = row.address.as_deref().unwrap_or("-");
        format!(
            "{} {} {address} {size} {} {tid}",
            row.ts_ns / US,
            row.kind,
            row.outstanding_bytes
        )
    };
    let all = HeapRequest {
        details: true,
        ..HeapRequest::default()
    };
    let events = ask(&all, false, text);
    assert_eq!(
        (events.len(), &*events[0], &*events[3]),
        (14, "10 create - -1 0 10", "20 reallocate 0x3000 300 0 10")
    );
    let left = HeapRequest {
        leaked: true,
        ..all.clone()
    };
    let expected = [
        "40 allocate 0x1000 70 70 10",
        "41 allocate 0x2000 30 30 10",
        "54 allocate 0x5000 2 2 20",
    ];
    assert_eq!(ask(&left, false, text), expected);
    let photo = ProcessQuery {
        process: Some("photo".into()),
        ..ProcessQuery::default()
    };
    for (asked, expected) in [
        (
            HeapRequest {
                processes: photo,
                ..all.clone()
            },
            9,
        ),
        (
            HeapRequest {
                size: Range { min: 50, max: 300 },
                ..all.clone()
            },
            6,
        ),
        (
            HeapRequest {
                time: Range {
                    min: 12 * US,
                    max: 31 * US,
                },
                ..all.clone()
            },
            4,
        ),
        (
            HeapRequest {
                heap: Some("0x200".into()),
                sort: HeapSort::Size,
                ..all
            },
            5,
        ),
    ] {
        assert_eq!(ask(&asked, false, text).len(), expected, "{asked:?}");
    }
}
