//! Times at which planted causes act.

use std::io;

use etwkit_synth::Truth;
use etwkit_synth::cards::{CARDS, Case, find};

fn truth(name: &str, seed: u64) -> Truth {
    let cards = name.split('+').map(|name| find(name).unwrap()).collect();
    Case::new(cards, seed)
        .write(io::Cursor::new(Vec::new()))
        .unwrap()
        .1
}

/// Causes that are facts of the recording, and never act on a victim.
const WITHOUT_TIME: [&str; 3] = ["logger-taken", "switch-cpu-only", "samples-missing"];

/// Their programs have no operation whose length a defect could change.
const WITHOUT_OPERATION: [&str; 3] = ["object-leak", "zombies", "timer-resolution"];

#[test]
fn causes_act_within_the_trace_and_within_the_operations_that_they_hold_up() {
    for card in CARDS {
        let truth = truth(card.name, 3);
        let cause = &truth.causes[0];
        let Some(acted) = cause.acted else {
            assert!(
                WITHOUT_TIME.contains(&card.name),
                "{} acts at some time",
                card.name
            );
            let json = serde_json::to_value(cause).unwrap();
            assert!(
                json.get("from_ns").is_none() && json.get("to_ns").is_none(),
                "{json}"
            );
            continue;
        };
        let duration = truth.header.duration_ns;
        let is_inside = 0 < acted.from_ns && acted.from_ns < acted.to_ns && acted.to_ns <= duration;
        assert!(is_inside, "{}: {acted:?} of {duration}", card.name);
        let json = serde_json::to_value(cause).unwrap();
        assert_eq!(
            (&json["from_ns"], &json["to_ns"]),
            (&acted.from_ns.into(), &acted.to_ns.into())
        );
        let calls = || truth.calls.iter().filter(|call| call.name == card.name);
        let ends = (
            calls().map(|call| call.start_ns).min(),
            calls().map(|call| call.end_ns).max(),
        );
        let (Some(first), Some(last)) = ends else {
            assert!(WITHOUT_OPERATION.contains(&card.name), "{}", card.name);
            continue;
        };
        assert!(
            first <= acted.from_ns && acted.to_ns <= last,
            "{}: {acted:?}, {ends:?}",
            card.name
        );
    }
}

#[test]
fn a_scan_acts_from_the_first_wait_for_the_scanner_to_the_last_one() {
    let truth = truth("filter-scan", 3);
    let acted = truth.causes[0].acted.unwrap();
    let waits: Vec<_> = truth
        .calls
        .iter()
        .filter_map(|call| call.chain.first())
        .collect();
    // A thread is switched out within microseconds of the start of its wait, and continues where it
    // is switched in.
    let near = |a: i64, b: i64| (0..20_000).contains(&(a - b));
    assert!(
        near(waits[0].wait_start_ns, acted.from_ns),
        "{acted:?}, {:?}",
        waits[0]
    );
    let last = waits[waits.len() - 1];
    assert!(near(acted.to_ns, last.switch_in_ns), "{acted:?}, {last:?}");
}

#[test]
fn of_two_causes_each_has_its_own_time() {
    let both = truth("start-after-download+hard-faults", 5);
    // The scanner looks into the first start alone; pages are read in all parts.
    let calls =
        |name: &str| -> Vec<_> { both.calls.iter().filter(|call| call.name == name).collect() };
    let (starts, loads) = (calls("start-after-download"), calls("hard-faults"));
    let [scan, faults] = &both.causes[..] else {
        panic!("{:?}", both.causes)
    };
    let scanned = scan.acted.unwrap();
    assert!(
        starts[0].start_ns <= scanned.from_ns && scanned.to_ns <= starts[0].end_ns,
        "{scanned:?}"
    );
    let faulted = faults.acted.unwrap();
    assert_eq!(
        (faulted.from_ns, faulted.to_ns),
        (loads[0].start_ns, loads[loads.len() - 1].end_ns)
    );
}

#[test]
fn a_disturbed_program_has_as_many_instructions_as_in_the_twin() {
    for seed in [3, 2407] {
        let of = |is_healthy| {
            let case = Case {
                is_healthy,
                ..Case::new(vec![find("cpi").unwrap()], seed)
            };
            let truth = case.write(io::Cursor::new(Vec::new())).unwrap().1;
            let call = truth.calls.iter().find(|call| call.name == "cpi").unwrap();
            truth.counters[call.thread.split_once('/').unwrap().0].instructions
        };
        let (sick, healthy) = (of(false), of(true));
        // Its work is the same, also in slices whose last microseconds are no longer disturbed.
        assert!(
            sick.abs_diff(healthy) * 200 < healthy,
            "seed {seed}: {sick}, {healthy}"
        );
    }
}
