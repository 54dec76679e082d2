//! The worked example of `docs/numbers/timeline.md`.

use etwkit_pyramid::{LaneKind, LanesRequest, Range, Selection, TimelineRequest, WAITS};
use etwkit_trace::table::ContextSwitch;

use crate::machine::{Made, extract};

const US: i64 = 1_000;
const MS: i64 = 1_000_000;

fn made() -> Made {
    let slice = |thread: i32, cpu, from: i64, to: i64| ContextSwitch {
        thread_key: thread,
        process_key: Some(thread),
        cpu: Some(cpu),
        in_ns: Some(from),
        out_ns: Some(to),
        run_ns: Some(to - from),
        ..ContextSwitch::default()
    };
    let rows = [
        slice(2, 1, 2_500 * US, 2_501 * US),
        slice(1, 0, MS, 3 * MS),
        ContextSwitch {
            last_out_ns: Some(3 * MS),
            readied_ns: Some(6 * MS),
            wait_ns: Some(3 * MS),
            ready_ns: Some(US),
            wait_reason: Some(4),
            ..slice(1, 1, 6 * MS + US, 7 * MS)
        },
        ContextSwitch {
            thread_key: 1,
            process_key: Some(1),
            last_out_ns: Some(7 * MS),
            wait_reason: Some(6),
            is_open_wait: true,
            ..ContextSwitch::default()
        },
    ];
    extract(8 * MS, 2, |tables| {
        tables.write(rows);
    })
}

#[test]
fn the_example_of_the_page_on_the_timeline() {
    let made = made();
    let pyramid = made.pyramid();
    let sums = |from_ns, to_ns| {
        let (range, selection) = (Range { from_ns, to_ns }, Selection::default());
        let request = LanesRequest {
            kind: LaneKind::Thread,
            selection,
            range,
            limit: 1,
            offset: 0,
        };
        let lane = pyramid.lanes(&request).unwrap().lanes.remove(0);
        assert_eq!(lane.key, 1);
        (
            lane.running_ns,
            lane.ready_ns.unwrap(),
            lane.waiting_ns.unwrap(),
            lane.switches,
        )
    };
    assert_eq!(sums(MS, 7 * MS), (2_999 * US, US, 3 * MS, 2));
    assert_eq!(sums(2 * MS, 6_500 * US), (1_499 * US, US, 3 * MS, 1));
    assert_eq!(sums(0, 8 * MS).2, 4 * MS);

    let draw = |kind, keys: &[i32]| {
        let (range, selection) = (
            Range {
                from_ns: 0,
                to_ns: 8 * MS,
            },
            Selection::default(),
        );
        let request = TimelineRequest {
            kind,
            keys: keys.to_vec(),
            range,
            buckets: 4,
            selection,
        };
        pyramid.timeline(&request).unwrap()
    };
    let drawn = draw(LaneKind::Thread, &[1, 2]);
    assert_eq!((drawn.header.buckets, drawn.header.bucket_ns), (4, 1 << 21));
    let column = |name: &str| {
        &drawn
            .columns
            .iter()
            .find(|(column, _)| *column == name)
            .unwrap()
            .1
    };
    assert_eq!(column("running")[..], [133, 110, 35, 86, 0, 1, 0, 0]);
    assert_eq!(column("ready")[..4], [0, 0, 1, 0]);
    assert_eq!(column("waiting")[..4], [0, 145, 220, 122]);
    let reasons: Vec<&str> = column("reason")[..4]
        .iter()
        .map(|place| WAITS[usize::from(*place)])
        .collect();
    assert_eq!(reasons, ["unknown", "sleep", "sleep", "sync"]);
    assert_eq!(column("switches")[..], [1, 0, 1, 0, 0, 1, 0, 0]);
    assert_eq!(drawn.header.switches, 3);

    let drawn = draw(LaneKind::Core, &[1]);
    let (_, places) = drawn
        .columns
        .iter()
        .find(|(name, _)| *name == "process")
        .unwrap();
    let process = |place: &u8| drawn.header.palette.get(usize::from(*place)).copied();
    assert_eq!(
        places.iter().map(process).collect::<Vec<_>>(),
        [None, Some(2), Some(1), Some(1)]
    );
}
