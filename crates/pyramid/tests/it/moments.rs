//! Clicks on a lane.

use etwkit_pyramid::{LaneKind, MomentRequest, State};

use crate::machine::{Random, busy};
use crate::naive::Rows;

#[test]
fn a_moment_is_the_stretch_around_it() {
    let made = busy(150_000);
    let (pyramid, rows) = (made.pyramid(), Rows::read(&made.extract()));
    let mut random = Random(5);
    let mut kinds = [0; 3];
    for _ in 0..60 {
        let (thread, at) = (
            10 + random.below(60) as i32,
            random.below(pyramid.bounds().to_ns),
        );
        let ask = |within_ns| {
            let request = MomentRequest {
                kind: LaneKind::Thread,
                key: thread,
                at_ns: at,
                within_ns,
            };
            pyramid.moment(&request).unwrap().slice
        };
        let wanted = rows
            .stretches
            .iter()
            .find(|s| s.thread == thread && s.from <= at && at < s.to);
        let found = ask(0);
        assert_eq!(
            found.as_ref().map(|slice| (
                slice.state.name(),
                slice.range.from_ns,
                slice.range.to_ns
            )),
            wanted.map(|stretch| (stretch.state, stretch.from, stretch.to)),
            "{thread} at {at}"
        );
        if let (Some(slice), Some(wanted)) = (found, wanted) {
            assert_eq!(
                (slice.thread_key, slice.process_key.unwrap_or(-1)),
                (thread, wanted.process)
            );
            assert_eq!(slice.wait_reason, wanted.reason);
            assert_eq!(slice.core.is_some(), slice.state == State::Running);
            kinds[slice.state as usize] += 1;
        }
        let near = |s: &&crate::naive::Stretch| {
            s.thread == thread && (s.from - at).max(at - s.to + 1) <= 50_000
        };
        assert_eq!(
            ask(50_000).is_some(),
            rows.stretches.iter().any(|s| near(&s))
        );
    }
    assert!(kinds[0] > 0 && kinds[2] > 0, "{kinds:?}");
}

#[test]
fn a_moment_of_a_core_is_the_thread_that_ran() {
    let made = busy(20_000);
    let (pyramid, rows) = (made.pyramid(), Rows::read(&made.extract()));
    let stretch = rows
        .stretches
        .iter()
        .filter(|s| s.state == "running")
        .nth(7_000)
        .unwrap();
    let request = MomentRequest {
        kind: LaneKind::Core,
        key: stretch.cpu.unwrap(),
        at_ns: stretch.from,
        within_ns: 0,
    };
    let slice = pyramid.moment(&request).unwrap().slice.unwrap();
    assert_eq!(
        (slice.thread_key, slice.range.to_ns, slice.core),
        (stretch.thread, stretch.to, stretch.cpu)
    );
    assert!(slice.stack_id.is_some());
    let none = MomentRequest {
        kind: LaneKind::Core,
        key: 99,
        at_ns: stretch.from,
        within_ns: i64::MAX,
    };
    assert_eq!(pyramid.moment(&none).unwrap().slice, None);
}
