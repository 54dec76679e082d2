//! Sums over time.

use std::collections::BTreeMap;

use etwkit_pyramid::{Field, Range, Selection, SeriesAnswer, SeriesKind, SeriesRequest};
use etwkit_trace::table::{DiskIo, EventCount, FileIo, Mark, NetIo};

use crate::machine::{Made, Random, busy, extract};
use crate::naive::Rows;

const END: i64 = 30_000_000_000;

fn transfers() -> Vec<(i64, i32, i32, i64)> {
    let mut random = Random(9);
    let mut all: Vec<_> = (0..100_000)
        .map(|_| {
            (
                random.below(END),
                random.below(9) as i32,
                random.below(3) as i32,
                random.below(9000),
            )
        })
        .collect();
    all.sort_unstable();
    all
}

/// Each transfer is from a disk, a file and the network; every tenth is a mark.
fn made() -> (Made, Vec<(i64, i32, i32, i64)>) {
    let all = transfers();
    let mut done = [0; 3];
    let disk = all.iter().map(|(at, process, disk, bytes)| {
        let service_ns = (at - done[*disk as usize]).min(bytes * 7);
        done[*disk as usize] = *at;
        let process_key = (*process > 0).then_some(*process);
        let (disk, size_bytes, complete_ns) = (*disk, *bytes, *at);
        DiskIo {
            kind: "read",
            disk,
            process_key,
            complete_ns,
            service_ns: Some(service_ns),
            size_bytes,
            ..DiskIo::default()
        }
    });
    let file = all.iter().map(|(at, process, kind, bytes)| FileIo {
        kind: ["read", "write", "query_info"][*kind as usize],
        process_key: Some(*process),
        end_ns: Some(*at),
        result_bytes: Some(*bytes),
        ..FileIo::default()
    });
    let net = all.iter().map(|(at, process, kind, bytes)| NetIo {
        protocol: "tcp",
        kind: ["send", "receive", "connect"][*kind as usize],
        process_key: Some(*process),
        ts_ns: *at,
        size_bytes: *bytes,
        ..NetIo::default()
    });
    let marks = all.iter().step_by(10).map(|(at, ..)| Mark {
        ts_ns: *at,
        ..Mark::default()
    });
    let counts = (-1..31).flat_map(|second| {
        [3, 4].map(|events| EventCount {
            second,
            events: events + second.max(0),
            ..EventCount::default()
        })
    });
    let made = extract(END, 4, |tables| {
        tables
            .write(disk)
            .write(file)
            .write(net)
            .write(marks)
            .write(counts);
    });
    (made, all)
}

fn ask(
    made: &Made,
    kind: SeriesKind,
    range: (i64, i64),
    buckets: u32,
    top: u32,
    selection: Selection,
) -> SeriesAnswer {
    let range = Range {
        from_ns: range.0,
        to_ns: range.1,
    };
    made.pyramid()
        .series(&SeriesRequest {
            kind,
            range,
            buckets,
            top,
            selection,
        })
        .unwrap()
}

#[test]
fn bytes_are_those_of_rows_in_every_bucket_and_in_all() {
    let (made, all) = made();
    let ranges = [
        (0, END),
        (1_234_567_891, 9_876_543_210),
        (END / 2, END / 2 + 3_000_000),
        (-7, i64::MAX),
    ];
    for (range, buckets) in ranges.into_iter().zip([50, 400, 30, 7]) {
        for kind in [SeriesKind::Disk, SeriesKind::File, SeriesKind::Net] {
            let answer = ask(&made, kind, range, buckets, 3, Selection::default());
            let is_moved = |place: i32| kind == SeriesKind::Disk || place < 2;
            let sums = |from: i64, to: i64| {
                let mut sums: BTreeMap<i32, i64> = BTreeMap::new();
                for (at, process, place, bytes) in &all {
                    if *at >= from && *at < to && is_moved(*place) {
                        *sums.entry(*process).or_default() += bytes;
                    }
                }
                sums
            };
            let totals = sums(range.0, range.1);
            assert_eq!(
                answer.series.iter().map(|series| series.total).sum::<i64>(),
                totals.values().sum::<i64>()
            );
            let named: Vec<i32> = answer
                .series
                .iter()
                .filter_map(|series| series.key)
                .collect();
            assert!(
                named.len() <= 3 && (buckets == 30 || (named.len(), answer.series.len()) == (3, 4))
            );
            for series in answer.series.iter().filter(|series| series.key.is_some()) {
                assert_eq!(Some(&series.total), totals.get(&series.key.unwrap()));
            }
            let step = (answer.series[0].values.len() / 20).max(1);
            for bucket in (0..answer.series[0].values.len()).step_by(step) {
                let from = answer.range.from_ns + answer.bucket_ns * bucket as i64;
                let mut wanted = sums(from, from + answer.bucket_ns);
                for series in &answer.series {
                    let value = match series.key {
                        Some(key) => wanted.remove(&key).unwrap_or(0),
                        None => std::mem::take(&mut wanted).values().sum(),
                    };
                    assert_eq!(
                        series.values[bucket], value,
                        "{kind:?} {:?} at {from}",
                        series.key
                    );
                }
            }
        }
    }
}

/// A range has its start and does not have its end: its total is the sum of its buckets.
#[test]
fn an_event_at_the_start_of_a_range_belongs_to_it_and_one_at_its_end_does_not() {
    let step = 1000;
    // Each event has a bit of its own.
    let made = extract(10 * step, 4, |tables| {
        tables.write((0..10).map(|nth| NetIo {
            protocol: "tcp",
            kind: "send",
            process_key: Some(1),
            ts_ns: nth * step,
            size_bytes: 1_i64 << nth,
            ..NetIo::default()
        }));
    });
    for (from, to) in (0..10_i64).flat_map(|from| (from + 1..=10).map(move |to| (from, to))) {
        let range = (from * step, to * step);
        let buckets = u32::try_from(to - from).unwrap();
        let answer = ask(
            &made,
            SeriesKind::Net,
            range,
            buckets,
            3,
            Selection::default(),
        );
        let [series] = &answer.series[..] else {
            panic!("{from} to {to}: {:?}", answer.series)
        };
        let values: Vec<i64> = (from..to).map(|nth| 1_i64 << nth).collect();
        assert_eq!(series.values, values, "{from} to {to}");
        assert_eq!(series.total, values.iter().sum::<i64>(), "{from} to {to}");
    }
}

#[test]
fn disks_are_busy_while_they_serve() {
    let (made, all) = made();
    let answer = ask(
        &made,
        SeriesKind::DiskBusy,
        (5_000_000_000, 25_000_000_001),
        20,
        9,
        Selection::default(),
    );
    assert_eq!(
        (answer.series.len(), answer.unit, answer.capacity),
        (3, "ns", Some(answer.bucket_ns))
    );
    let mut done = [0; 3];
    let mut totals = [0; 3];
    for (at, _, disk, bytes) in &all {
        let disk = *disk as usize;
        let from = at - (at - done[disk]).min(bytes * 7);
        done[disk] = *at;
        totals[disk] += (at.min(&25_000_000_001) - from.max(5_000_000_000)).max(0);
    }
    for series in &answer.series {
        assert_eq!(series.total, totals[series.key.unwrap() as usize]);
        assert!(series.values.iter().all(|value| *value <= answer.bucket_ns));
    }
}

#[test]
fn marks_and_events_are_counted() {
    let (made, all) = made();
    let answer = ask(
        &made,
        SeriesKind::Marks,
        (0, END),
        10,
        3,
        Selection::default(),
    );
    assert_eq!(
        (answer.series.len(), answer.series[0].total, answer.unit),
        (1, all.len() as i64 / 10, "count")
    );
    assert_eq!(
        answer.series[0].values.iter().sum::<i64>(),
        all.len() as i64 / 10
    );
    let of_process = Selection {
        processes: Some(vec![1]),
        ..Selection::default()
    };
    let answer = ask(
        &made,
        SeriesKind::Events,
        (500_000_000, 2_000_000_001),
        100,
        3,
        of_process,
    );
    assert_eq!(
        (answer.range.from_ns, answer.range.to_ns, answer.bucket_ns),
        (0, 3_000_000_000, 1_000_000_000)
    );
    assert_eq!(
        (&answer.series[0].values[..], answer.series[0].total),
        (&[7, 9, 11][..], 27)
    );
    assert_eq!(answer.source.not_applied, [Field::Process]);
    let all = ask(
        &made,
        SeriesKind::Events,
        (-2_000_000_000, 40_000_000_000),
        3,
        3,
        Selection::default(),
    );
    assert_eq!(
        all.series[0].values.iter().sum::<i64>(),
        32 * 7 + 2 * (30 * 31 / 2)
    );
}

#[test]
fn cpu_is_run_time_and_processors_times_time_fill_it() {
    let made = busy(60_000);
    let rows = Rows::read(&made.extract());
    let end = made.pyramid().bounds().to_ns;
    for (range, buckets) in [
        ((0, end), 40),
        ((end / 3 + 17, end / 2), 25),
        ((end / 2, end / 2 + 999_999), 30),
    ] {
        let answer = ask(
            &made,
            SeriesKind::Cpu,
            range,
            buckets,
            2,
            Selection::default(),
        );
        assert_eq!(answer.capacity, Some(4 * answer.bucket_ns));
        let wanted = rows.by_process(range);
        for series in answer.series.iter().filter(|series| series.key.is_some()) {
            assert_eq!(series.total, wanted[&series.key.unwrap()][0]);
        }
        let total: i64 = answer.series.iter().map(|series| series.total).sum();
        assert_eq!(total, wanted.values().map(|sums| sums[0]).sum::<i64>());
        for bucket in 0..answer.series[0].values.len() {
            let from = answer.range.from_ns + answer.bucket_ns * bucket as i64;
            let wanted: i64 = rows
                .by_process((from, from + answer.bucket_ns))
                .values()
                .map(|sums| sums[0])
                .sum();
            assert_eq!(
                answer
                    .series
                    .iter()
                    .map(|series| series.values[bucket])
                    .sum::<i64>(),
                wanted
            );
        }
        let of_core = Selection {
            cores: Some(vec![2]),
            ..Selection::default()
        };
        let answer = ask(&made, SeriesKind::Cpu, range, buckets, 64, of_core);
        assert_eq!(answer.capacity, Some(answer.bucket_ns));
        let wanted = rows.by_core(range).get(&2).map_or(0, |sums| sums[0]);
        assert_eq!(
            answer.series.iter().map(|series| series.total).sum::<i64>(),
            wanted
        );
    }
}
