//! Times that no recording has, and queries that no user interface makes.

use etwkit_pyramid::{
    Error, LaneKind, LanesRequest, MomentRequest, Range, Selection, SeriesKind, SeriesRequest,
    TimelineRequest,
};
use etwkit_trace::table::ContextSwitch;

use crate::machine::{Made, Random, busy, extract, switches};
use crate::naive::Rows;

fn ask_everything(made: &Made) {
    let pyramid = made.pyramid();
    let odd = [
        i64::MIN,
        i64::MIN + 1,
        -1,
        0,
        1,
        999,
        1 << 40,
        i64::MAX - 1,
        i64::MAX,
    ];
    let keys = vec![0, 1, -1, i32::MIN, i32::MAX, 1];
    for from_ns in odd {
        for to_ns in odd {
            let range = Range { from_ns, to_ns };
            for kind in [LaneKind::Core, LaneKind::Process, LaneKind::Thread] {
                for buckets in [0, 1, 1000] {
                    let (keys, selection) = (keys.clone(), Selection::default());
                    let drawn = pyramid
                        .timeline(&TimelineRequest {
                            kind,
                            keys,
                            range,
                            buckets,
                            selection,
                        })
                        .unwrap();
                    let cells = drawn.header.buckets as usize * 6;
                    assert!(
                        drawn
                            .columns
                            .iter()
                            .all(|(_, column)| column.len() == cells)
                    );
                    assert!(drawn.header.buckets <= buckets.max(1) * 3 / 2 + 2);
                }
                let selection = Selection {
                    processes: Some(keys.clone()),
                    ..Selection::default()
                };
                pyramid
                    .lanes(&LanesRequest {
                        kind,
                        selection,
                        range,
                        limit: 5,
                        offset: 1,
                    })
                    .unwrap();
                let (at_ns, within_ns) = (from_ns, to_ns);
                pyramid
                    .moment(&MomentRequest {
                        kind,
                        key: 1,
                        at_ns,
                        within_ns,
                    })
                    .unwrap();
            }
            for kind in [SeriesKind::Cpu, SeriesKind::Events] {
                let selection = Selection::default();
                let request = SeriesRequest {
                    kind,
                    range,
                    buckets: 2000,
                    top: u32::MAX,
                    selection,
                };
                assert!(pyramid.series(&request).unwrap().range.from_ns <= from_ns.max(-(1 << 61)));
            }
        }
    }
}

#[test]
fn any_question_has_an_answer() {
    ask_everything(&busy(500));
}

#[test]
fn times_that_no_recording_has_are_harmless() {
    let odd = [i64::MIN, -(1 << 62), -1, 0, 5, 1 << 61, i64::MAX];
    let mut random = Random(1);
    let mut pick = || {
        let place = random.below(odd.len() as i64 + 1) as usize;
        odd.get(place).copied()
    };
    let rows: Vec<ContextSwitch> = (0..300)
        .map(|n| ContextSwitch {
            thread_key: [0, 1, -7, i32::MAX][n % 4],
            process_key: Some([1, -1, i32::MIN][n % 3]),
            cpu: Some([0, i32::MIN, i32::MAX][n % 3]),
            last_out_ns: pick(),
            readied_ns: pick(),
            in_ns: pick(),
            out_ns: pick(),
            wait_ns: pick(),
            ready_ns: pick(),
            run_ns: pick(),
            wait_reason: Some(-5),
            is_open_wait: n % 5 == 0,
            ..ContextSwitch::default()
        })
        .collect();
    for end in [i64::MIN, 1_000, i64::MAX] {
        let rows = rows.clone();
        ask_everything(&extract(end, i32::MAX, |tables| {
            tables.write(rows);
        }));
    }
}

/// Rows that are out of order or before time zero count like all others.
#[test]
fn sums_hold_whatever_the_order_of_rows() {
    let (mut rows, end) = switches(150_000, 2, 30);
    let mut random = Random(2);
    for row in &mut rows {
        let back = |time: &mut Option<i64>| *time = time.map(|time| time - 2_000_000_000);
        [
            &mut row.last_out_ns,
            &mut row.readied_ns,
            &mut row.in_ns,
            &mut row.out_ns,
        ]
        .into_iter()
        .for_each(back);
        if random.below(50) == 0 {
            row.out_ns = None;
        }
    }
    for _ in 0..3_000 {
        let (one, other) = (
            random.below(150_000) as usize,
            random.below(150_000) as usize,
        );
        rows.swap(one, (one + other % 40).min(149_999));
    }
    let made = extract(end - 2_000_000_000, 2, |tables| {
        tables.write(rows);
    });
    let (pyramid, rows) = (made.pyramid(), Rows::read(&made.extract()));
    assert!(pyramid.bounds().from_ns < 0);
    for _ in 0..15 {
        let from_ns = random.below(end) - 2_000_000_000;
        let to_ns = from_ns + 1 + random.below(end / 4);
        let range = Range { from_ns, to_ns };
        let (kind, selection) = (LaneKind::Thread, Selection::default());
        let lanes = pyramid
            .lanes(&LanesRequest {
                kind,
                selection,
                range,
                limit: 99,
                offset: 0,
            })
            .unwrap();
        let wanted = rows.by_thread((from_ns, to_ns));
        assert_eq!(lanes.total, wanted.len());
        for lane in lanes.lanes {
            let found = [
                lane.running_ns,
                lane.ready_ns.unwrap(),
                lane.waiting_ns.unwrap(),
                lane.switches,
            ];
            assert_eq!(found, wanted[&lane.key], "{} {range:?}", lane.key);
        }
    }
}

#[test]
fn too_much_is_refused() {
    let made = busy(300);
    let pyramid = made.pyramid();
    let (range, selection) = (
        Range {
            from_ns: 0,
            to_ns: 9,
        },
        Selection::default(),
    );
    let (kind, keys) = (LaneKind::Thread, vec![10; 41]);
    let request = TimelineRequest {
        kind,
        keys,
        range,
        buckets: 1000,
        selection: selection.clone(),
    };
    assert!(matches!(
        pyramid.timeline(&request),
        Err(Error::Limit {
            limit: 40_000,
            found: 41_000,
            ..
        })
    ));
    let request = SeriesRequest {
        kind: SeriesKind::Cpu,
        range,
        buckets: 2001,
        top: 1,
        selection,
    };
    let error = pyramid.series(&request).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected at most 2000 buckets, found 2001"
    );
}
