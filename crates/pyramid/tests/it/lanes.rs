//! Lanes: exact sums of any part of time.

use std::collections::BTreeMap;

use etwkit_extract::manifest::Detail;
use etwkit_pyramid::{LaneKind, LanesRequest, Pyramid, Range, Selection};
use etwkit_trace::table::{ContextSwitch, Trace};

use crate::machine::{Made, Random, busy, of_trace, simulated};
use crate::naive::{Rows, Sums};

fn ask(
    pyramid: &Pyramid,
    kind: LaneKind,
    (from_ns, to_ns): (i64, i64),
    selection: Selection,
) -> (BTreeMap<i32, Sums>, u64) {
    let range = Range { from_ns, to_ns };
    let request = LanesRequest {
        kind,
        selection,
        range,
        limit: usize::MAX,
        offset: 0,
    };
    let answer = pyramid.lanes(&request).unwrap();
    assert_eq!(answer.total, answer.lanes.len());
    let running: Vec<i64> = answer.lanes.iter().map(|lane| -lane.running_ns).collect();
    assert!(
        kind == LaneKind::Core || running.is_sorted(),
        "most first: {running:?}"
    );
    let sums = |lane: &etwkit_pyramid::Lane| {
        [
            lane.running_ns,
            lane.ready_ns.unwrap_or(0),
            lane.waiting_ns.unwrap_or(0),
            lane.switches,
        ]
    };
    let all = answer.lanes.iter().map(|lane| (lane.key, sums(lane)));
    (
        all.filter(|(_, sums)| *sums != [0; 4]).collect(),
        answer.source.rows_read,
    )
}

/// Compares all kinds of lanes with sums over rows, for the whole and for random parts.
fn compare(made: &Made, parts: usize) {
    let (pyramid, rows) = (made.pyramid(), Rows::read(&made.extract()));
    let bounds = pyramid.bounds();
    let (from, to) = (bounds.from_ns, bounds.to_ns);
    let mut random = Random(3);
    let mut ranges = vec![
        (from, to),
        (i64::MIN, i64::MAX),
        (from - 5, from),
        (to, to + 5),
        (0, 1),
    ];
    for part in 0..parts {
        let begin = from + random.below(to - from);
        let length = random.below(if part % 3 == 0 { to - from } else { 3_000_000 });
        ranges.push((begin, begin + 1 + length));
    }
    for (at, stretch) in rows
        .stretches
        .iter()
        .enumerate()
        .step_by(rows.stretches.len().div_ceil(6).max(1))
    {
        ranges.push((stretch.from, stretch.to + at as i64 % 2));
    }
    for range in ranges {
        let all = Selection::default();
        assert_eq!(
            ask(&pyramid, LaneKind::Thread, range, all.clone()).0,
            rows.by_thread(range),
            "{range:?}"
        );
        assert_eq!(
            ask(&pyramid, LaneKind::Process, range, all.clone()).0,
            rows.by_process(range),
            "{range:?}"
        );
        assert_eq!(
            ask(&pyramid, LaneKind::Core, range, all).0,
            rows.by_core(range),
            "{range:?}"
        );
    }
}

#[test]
fn sums_of_any_part_are_those_of_its_rows_across_many_segments() {
    compare(&busy(250_000), 12);
}

#[test]
fn sums_of_simulated_traces_are_those_of_their_rows() {
    for scenario in ["office", "priority-inversion", "process-starts"] {
        compare(&simulated(scenario), 10);
    }
}

#[test]
fn a_selection_counts_what_belongs_to_it() {
    let made = busy(80_000);
    let (pyramid, rows) = (made.pyramid(), Rows::read(&made.extract()));
    let range = (pyramid.bounds().to_ns / 3, pyramid.bounds().to_ns / 2);
    let threads = vec![30, 11, 12];
    let of_threads = Selection {
        threads: Some(threads.clone()),
        ..Selection::default()
    };
    let is_one = |thread: i32| threads.contains(&thread);
    let wanted = rows.sums(
        range,
        |stretch| is_one(stretch.thread).then_some(stretch.process),
        |switch| is_one(switch.0).then_some(switch.1),
    );
    assert_eq!(
        ask(&pyramid, LaneKind::Process, range, of_threads).0,
        wanted
    );
    let of_process = Selection {
        processes: Some(vec![3]),
        ..Selection::default()
    };
    let wanted = rows.sums(
        range,
        |stretch| {
            stretch
                .cpu
                .filter(|_| stretch.process == 3 && stretch.state == "running")
        },
        |switch| (switch.1 == 3).then_some(switch.2),
    );
    assert_eq!(
        ask(&pyramid, LaneKind::Core, range, of_process.clone()).0,
        wanted
    );
    let wanted = rows.sums(
        range,
        |stretch| (stretch.process == 3).then_some(stretch.thread),
        |switch| (switch.1 == 3).then_some(switch.0),
    );
    assert_eq!(ask(&pyramid, LaneKind::Thread, range, of_process).0, wanted);
    let nothing = Selection {
        processes: Some(Vec::new()),
        ..Selection::default()
    };
    assert_eq!(
        ask(&pyramid, LaneKind::Thread, range, nothing).0,
        BTreeMap::new()
    );
}

#[test]
fn pages_of_lanes_follow_each_other() {
    let made = busy(5_000);
    let pyramid = made.pyramid();
    let page = |offset, limit| {
        let range = Range {
            from_ns: 0,
            to_ns: i64::MAX,
        };
        let request = LanesRequest {
            kind: LaneKind::Thread,
            selection: Selection::default(),
            range,
            limit,
            offset,
        };
        let answer = pyramid.lanes(&request).unwrap();
        (
            answer.lanes.iter().map(|lane| lane.key).collect::<Vec<_>>(),
            answer.total,
        )
    };
    let (all, total) = page(0, 1000);
    assert_eq!(all.len(), total);
    let (first, second) = (page(0, 7).0, page(7, 7).0);
    assert_eq!([first, second].concat(), all[..14]);
    assert_eq!(page(total, 7).0, Vec::<i32>::new());
}

#[test]
fn states_of_an_extracted_part_end_with_it() {
    let trace = Trace {
        duration_ns: 100,
        kernel_start_ns: Some(5),
        kernel_end_ns: Some(95),
        range_start_ns: Some(20),
        range_end_ns: Some(60),
        processors: 1,
        ..Trace::default()
    };
    let always_runs = ContextSwitch {
        thread_key: 1,
        cpu: Some(0),
        run_ns: Some(40),
        ..ContextSwitch::default()
    };
    let waits_at_the_end = ContextSwitch {
        thread_key: 2,
        last_out_ns: Some(50),
        is_open_wait: true,
        ..ContextSwitch::default()
    };
    let made = of_trace(Detail::Full, trace, |tables| {
        tables.write([always_runs, waits_at_the_end]);
    });
    let pyramid = made.pyramid();
    let sums = |range| ask(&pyramid, LaneKind::Thread, range, Selection::default()).0;
    let of_part = BTreeMap::from([(1, [40, 0, 0, 0]), (2, [0, 0, 10, 0])]);
    assert_eq!(sums((20, 60)), of_part);
    assert_eq!(sums((0, 100)), of_part);
}
