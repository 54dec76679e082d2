//! Pictures of lanes at every zoom.

use std::collections::BTreeMap;

use etwkit_pyramid::{
    LaneKind, LanesRequest, Pyramid, Range, Selection, Timeline, TimelineRequest,
};
use etwkit_trace::table::{ContextSwitch, CpuSample, DpcIsr};

use crate::machine::{Made, Random, busy, extract, simulated};
use crate::naive::{Rows, Sums, share};

fn ask(
    pyramid: &Pyramid,
    kind: LaneKind,
    keys: &[i32],
    range: (i64, i64),
    buckets: u32,
) -> Timeline {
    let range = Range {
        from_ns: range.0,
        to_ns: range.1,
    };
    let selection = Selection::default();
    pyramid
        .timeline(&TimelineRequest {
            kind,
            keys: keys.to_vec(),
            range,
            buckets,
            selection,
        })
        .unwrap()
}

fn column<'a>(timeline: &'a Timeline, name: &str) -> &'a [u8] {
    &timeline
        .columns
        .iter()
        .find(|(column, _)| *column == name)
        .unwrap()
        .1
}

/// Compares a picture with sums over rows, bucket by bucket.
fn compare(
    timeline: &Timeline,
    keys: &[i32],
    names: &[(&str, usize)],
    sums: impl Fn((i64, i64)) -> BTreeMap<i32, Sums>,
) {
    let header = &timeline.header;
    let (count, width) = (header.buckets as usize, header.bucket_ns);
    assert_eq!(
        header.range.to_ns - header.range.from_ns,
        width * count as i64
    );
    let mut switches = 0;
    for bucket in 0..count {
        let from = header.range.from_ns + width * bucket as i64;
        let wanted = sums((from, from + width));
        for (lane, key) in keys.iter().enumerate() {
            let wanted = wanted.get(key).copied().unwrap_or_default();
            for (name, slot) in names {
                let value = wanted[*slot];
                let value = if *name == "switches" {
                    value.min(255) as u8
                } else {
                    share(value, width)
                };
                assert_eq!(
                    column(timeline, name)[lane * count + bucket],
                    value,
                    "{name} of {key} at {from}"
                );
            }
            switches += wanted[3] as u64;
        }
    }
    assert_eq!(header.switches, switches);
}

const OF_THREADS: [(&str, usize); 4] = [
    ("running", 0),
    ("ready", 1),
    ("waiting", 2),
    ("switches", 3),
];

fn compare_all(made: &Made, zooms: &[((i64, i64), u32)]) {
    let (pyramid, rows) = (made.pyramid(), Rows::read(&made.extract()));
    let threads: Vec<i32> = rows
        .by_thread((i64::MIN / 4, i64::MAX / 4))
        .into_keys()
        .step_by(5)
        .take(8)
        .collect();
    let processes: Vec<i32> = rows
        .by_process((i64::MIN / 4, i64::MAX / 4))
        .into_keys()
        .take(6)
        .collect();
    for (range, buckets) in zooms {
        let drawn = ask(&pyramid, LaneKind::Thread, &threads, *range, *buckets);
        let rows = rows.within((drawn.header.range.from_ns, drawn.header.range.to_ns));
        compare(&drawn, &threads, &OF_THREADS, |range| rows.by_thread(range));
        let drawn = ask(&pyramid, LaneKind::Process, &processes, *range, *buckets);
        compare(&drawn, &processes, &OF_THREADS, |range| {
            rows.by_process(range)
        });
        let cores = [1, 0, 3];
        let drawn = ask(&pyramid, LaneKind::Core, &cores, *range, *buckets);
        compare(
            &drawn,
            &cores,
            &[("running", 0), ("switches", 3)],
            |range| rows.by_core(range),
        );
    }
}

#[test]
fn every_zoom_shows_sums_over_rows() {
    let made = busy(80_000);
    let end = made.pyramid().bounds().to_ns;
    let mut random = Random(11);
    let mut zooms = vec![
        ((0, end), 1),
        ((0, end), 3),
        ((0, end), 25),
        ((-5, end * 3), 20),
    ];
    // From the whole recording down to nanoseconds, at odd positions.
    let mut length = end;
    while length > 40 {
        let begin = random.below(end - length + 1);
        zooms.push(((begin, begin + length), 12));
        length /= 7;
    }
    compare_all(&made, &zooms);
}

#[test]
fn simulated_traces_show_sums_over_rows() {
    let made = simulated("office");
    let end = made.pyramid().bounds().to_ns;
    compare_all(
        &made,
        &[
            ((0, end), 25),
            ((end / 3, end / 2), 30),
            ((end / 2, end / 2 + 3_000_000), 20),
        ],
    );
}

/// One microsecond in ten minutes, during which all others wait.
#[test]
fn a_burst_of_a_microsecond_is_visible_at_every_zoom() {
    let minute = 60_000_000_000;
    let at = 7 * minute + 123_456;
    let slice = |thread_key, process_key, entry: i64, out: i64| ContextSwitch {
        thread_key,
        process_key: Some(process_key),
        cpu: Some(thread_key - 1),
        last_out_ns: Some(0),
        readied_ns: Some(entry - 2),
        wait_ns: Some(entry - 2),
        ready_ns: Some(2),
        in_ns: Some(entry),
        out_ns: Some(out),
        run_ns: Some(out - entry),
        wait_reason: Some(4),
        ..ContextSwitch::default()
    };
    let rows = [
        slice(1, 1, at, at + 1000),
        slice(2, 2, 10 * minute - 10, 10 * minute),
    ];
    let made = extract(10 * minute, 2, |tables| {
        tables.write(rows);
    });
    let pyramid = made.pyramid();
    for buckets in [1, 2, 100, 1000, 1900] {
        for range in [
            (0, 10 * minute),
            (at - minute, at + minute),
            (at - 1_000_000, at + 1_000_000),
        ] {
            for kind in [LaneKind::Thread, LaneKind::Process] {
                let drawn = ask(&pyramid, kind, &[1], range, buckets);
                let width = drawn.header.bucket_ns;
                let place = ((at - drawn.header.range.from_ns) / width) as usize;
                assert!(column(&drawn, "running")[place] >= 1, "{buckets} {range:?}");
                let ran: i64 = column(&drawn, "running")
                    .iter()
                    .map(|value| i64::from(*value > 0))
                    .sum();
                assert!(ran <= 1000 / width + 2, "in one place");
                assert_eq!(column(&drawn, "switches")[place], 1);
                assert!(column(&drawn, "ready").iter().any(|value| *value > 0));
                assert_eq!(column(&drawn, "reason")[0], 3, "it sleeps before");
                assert!(drawn.source.rows_read < 5_000);
            }
            let drawn = ask(&pyramid, LaneKind::Core, &[0, 1], range, buckets);
            let place = ((at - drawn.header.range.from_ns) / drawn.header.bucket_ns) as usize;
            assert_eq!(
                drawn.header.palette[column(&drawn, "process")[place] as usize],
                1
            );
        }
    }
    let pages = std::fs::read_dir(pyramid.folder())
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len());
    assert!(
        pages.sum::<u64>() < 500_000,
        "threads that wait for minutes are few rows"
    );
}

#[test]
fn the_reason_and_the_process_are_those_of_most_of_the_time() {
    let made = busy(60_000);
    let (pyramid, rows) = (made.pyramid(), Rows::read(&made.extract()));
    let end = pyramid.bounds().to_ns;
    for (range, buckets) in [((0, end), 30), ((end / 2, end / 2 + 2_000_000), 25)] {
        let drawn = ask(&pyramid, LaneKind::Core, &[0, 1, 2, 3], range, buckets);
        let (count, width) = (drawn.header.buckets as usize, drawn.header.bucket_ns);
        for (cell, place) in column(&drawn, "process").iter().enumerate() {
            let (core, from) = (
                (cell / count) as i32,
                drawn.header.range.from_ns + width * (cell % count) as i64,
            );
            let of = rows.sums(
                (from, from + width),
                |stretch| {
                    (stretch.cpu == Some(core) && stretch.state == "running")
                        .then_some(stretch.process)
                },
                |_| None,
            );
            let most = of.values().map(|sums| sums[0]).max();
            let shown = drawn.header.palette.get(usize::from(*place));
            assert_eq!(shown.map(|process| of[process][0]), most);
        }
        let drawn = ask(&pyramid, LaneKind::Thread, &[12], range, buckets);
        for (bucket, reason) in column(&drawn, "reason").iter().enumerate() {
            let from = drawn.header.range.from_ns + width * bucket as i64;
            let of = rows.sums(
                (from, from + width),
                |stretch| {
                    (stretch.thread == 12 && stretch.state == "waiting")
                        .then(|| class(stretch.reason))
                },
                |_| None,
            );
            let most = of.values().map(|sums| sums[2]).max().unwrap_or(0);
            let shown = of.get(&i32::from(*reason)).map_or(0, |sums| sums[2]);
            assert_eq!(shown, most);
        }
    }
}

/// The definition on the page about the timeline.
fn class(reason: Option<i32>) -> i32 {
    match reason.unwrap_or(-1) {
        6 | 14 | 15 | 16 | 17 | 20 | 21 | 27 | 28 | 29 | 34 | 35 | 36 | 37 => 1,
        0 | 7 => 2,
        4 | 11 => 3,
        1 | 2 | 3 | 8 | 9 | 10 | 18 | 19 | 23 | 39 => 4,
        13 => 5,
        5 | 12 | 24 => 6,
        _ => 0,
    }
}

#[test]
fn without_context_switches_samples_are_shown() {
    let samples = (0..4000i32).map(|n| CpuSample {
        ts_ns: i64::from(n) * 1_000_000,
        cpu: n % 2,
        process_key: Some(1 + n % 3),
        thread_key: 5 + n % 3,
        weight_ns: 1_000_000,
        is_idle: n % 4 == 3,
        ..CpuSample::default()
    });
    let made = extract(4_000_000_000, 2, |tables| {
        tables.write(samples);
    });
    let pyramid = made.pyramid();
    assert!(!pyramid.bounds().has_switches);
    // Of 12 consecutive samples thread 5 has the ones at 0, 3, 6 and 9; the one at 3 is idle.
    let drawn = ask(&pyramid, LaneKind::Thread, &[5], (0, 4_000_000_000), 10);
    let width = drawn.header.bucket_ns;
    for (bucket, value) in column(&drawn, "running").iter().enumerate() {
        let from = drawn.header.range.from_ns + width * bucket as i64;
        let is_in = |n: &i64| n * 1_000_000 >= from && n * 1_000_000 < from + width;
        let count = (0..4000i64)
            .filter(is_in)
            .filter(|n| n % 3 == 0 && n % 4 != 3)
            .count() as i64;
        assert_eq!(*value, share(count * 1_000_000, width));
    }
    assert!(column(&drawn, "waiting").iter().all(|value| *value == 0));
    let range = Range {
        from_ns: 0,
        to_ns: 4_000_000_000,
    };
    let (kind, selection) = (LaneKind::Process, Selection::default());
    let lanes = pyramid.lanes(&LanesRequest {
        kind,
        selection,
        range,
        limit: 9,
        offset: 0,
    });
    let lanes = lanes.unwrap().lanes;
    assert_eq!(
        (lanes.len(), lanes[0].running_ns, lanes[0].waiting_ns),
        (3, 1_000_000_000, None)
    );
}

#[test]
fn dpcs_and_interrupts_of_a_core_are_shown() {
    let row = |cpu, end_ns, own: i64, kind| DpcIsr {
        cpu,
        end_ns,
        duration_ns: own + 5,
        nested_ns: 5,
        kind,
        ..DpcIsr::default()
    };
    let slice = ContextSwitch {
        thread_key: 1,
        process_key: Some(1),
        cpu: Some(0),
        in_ns: Some(0),
        out_ns: Some(8_000_000),
        run_ns: Some(8_000_000),
        ..ContextSwitch::default()
    };
    let made = extract(8_000_000, 2, |tables| {
        let rows = [
            row(0, 1_000_000, 500_000, "dpc"),
            row(1, 2_000_000, 9, "isr"),
            row(0, 3_000_000, 99, "threaded_dpc"),
        ];
        tables.write([slice]).write(rows);
    });
    let drawn = ask(&made.pyramid(), LaneKind::Core, &[0, 1], (0, 8_000_000), 8);
    assert_eq!(
        column(&drawn, "dpc"),
        [128, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    );
}

/// The number of buckets bounds the bytes read, independent of the trace.
#[test]
fn ten_times_the_trace_is_not_ten_times_the_reading() {
    let read = |count| {
        let made = busy(count);
        let pyramid = made.pyramid();
        let rows = |range, buckets| {
            let keys: Vec<i32> = (10..30).collect();
            ask(&pyramid, LaneKind::Thread, &keys, range, buckets)
                .source
                .rows_read
        };
        let lanes = |(from_ns, to_ns)| {
            let (range, selection) = (Range { from_ns, to_ns }, Selection::default());
            let request = LanesRequest {
                kind: LaneKind::Thread,
                selection,
                range,
                limit: 9,
                offset: 0,
            };
            pyramid.lanes(&request).unwrap().source.rows_read
        };
        let drawn = [
            rows((0, i64::MAX), 500),
            rows((0, 500_000_000), 500),
            rows((500_000_000, 500_900_000), 500),
        ];
        (drawn, lanes((1_000_000, 900_000_000)), lanes((0, i64::MAX)))
    };
    let ((small, lanes, all), (large, large_lanes, large_all)) = (read(70_000), read(700_000));
    for (small, large) in small.into_iter().zip(large) {
        assert!(large <= small * 2 + 25_000, "{small} {large}");
        assert!(large < 250_000, "{large}");
    }
    // Both edges read a segment and the slices that reach into it; the whole reads only sums.
    assert!(large_lanes <= lanes * 2 + 10_000, "{lanes} {large_lanes}");
    assert!(
        large_all <= all + 2048 && large_all < 5_000,
        "{all} {large_all}"
    );
}
