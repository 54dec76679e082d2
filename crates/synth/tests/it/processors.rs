//! Cards about processors, locks and compilation, recomputed from their events.

use std::collections::{BTreeSet, HashMap};
use std::io::Cursor;

use etwkit_etl::RawEvent;
use etwkit_etl::bytes::{i64_at, u8_at, u32_at, u64_at};
use etwkit_synth::Truth;
use etwkit_synth::cards::{Case, find};

use super::acts::{TICK_NS, text};
use super::kit::{open, visit};

/// A DPC of the card is longer than all others.
const LONG: i64 = 20_000;
const SAMPLE: u16 = 0x0F2E;
const DPC: u16 = 0x0F44;
const CSWITCH: u16 = 0x0524;
const GROUPS: u16 = 0x0005;
const PROFILE: u32 = 0x100_0000;
/// Ids of Microsoft-Windows-DotNETRuntime, and of its rundown.
const JITTING_STARTED: u16 = 145;
const METHOD_LOAD_VERBOSE: u16 = 143;
const METHOD_DC_END_VERBOSE: u16 = 144;

pub(crate) fn case(card: &str, seed: u64, is_healthy: bool) -> Case {
    Case {
        is_healthy,
        has_decoys: false,
        ..Case::new(vec![find(card).unwrap()], seed)
    }
}

pub(crate) fn written(case: &Case, each: impl FnMut(&RawEvent<'_>)) -> Truth {
    let (sink, truth) = case.write(Cursor::new(Vec::new())).unwrap();
    visit(&open(sink.into_inner()), each);
    truth
}

#[test]
fn a_long_dpc_has_its_processor_alone() {
    let mut dpcs: Vec<(u16, i64, i64)> = Vec::new();
    let mut others: Vec<(u16, i64)> = Vec::new();
    let mut samples: Vec<(u16, i64, bool)> = Vec::new();
    let mut ran_on: HashMap<u32, BTreeSet<u16>> = HashMap::new();
    let truth = written(&case("dpc-storm", 4, false), |event| {
        let (time, p) = (event.timestamp, event.payload());
        match event.hook_id() {
            Some(DPC) => {
                let start = i64_at(p, 0).unwrap();
                if time - start > LONG {
                    dpcs.push((event.cpu, start, time));
                } else {
                    others.push((event.cpu, time));
                }
            }
            Some(SAMPLE) => samples.push((event.cpu, time, u8_at(p, 14).unwrap() & 1 != 0)),
            Some(CSWITCH) => {
                others.push((event.cpu, time));
                ran_on
                    .entry(u32_at(p, 0).unwrap())
                    .or_default()
                    .insert(event.cpu);
            }
            _ => {}
        }
    });
    assert!(dpcs.len() > 300, "{}", dpcs.len());
    let inside = |cpu: u16, time: i64| {
        dpcs.iter()
            .any(|(of, start, end)| *of == cpu && (start + 1..*end).contains(&time))
    };
    assert!(!others.iter().any(|(cpu, time)| inside(*cpu, *time)));
    let sampled = samples.iter().filter(|(cpu, time, _)| inside(*cpu, *time));
    let in_dpc: Vec<bool> = sampled.map(|(.., in_dpc)| *in_dpc).collect();
    assert!(in_dpc.len() > 1_000 && in_dpc.iter().all(|in_dpc| *in_dpc));
    // The victim loses this time on the only processor that it may use.
    let call = truth.calls.iter().find(|call| call.name == "dpc-storm");
    let thread = &call.unwrap().thread;
    let tid: u32 = thread.split_once('/').unwrap().1.parse().unwrap();
    assert_eq!(ran_on[&tid], BTreeSet::from([dpcs[0].0]));
    let lost: i64 = dpcs
        .iter()
        .map(|(_, start, end)| (end - start) * TICK_NS)
        .sum();
    let cost = truth.causes[0].cost_ns.unwrap();
    assert!((lost - cost).abs() * 50 < cost, "{lost} {cost}");
}

#[test]
fn methods_are_compiled_from_one_event_to_another_and_the_largest_is_the_culprit() {
    let mut begun: HashMap<(u32, u64), (i64, String)> = HashMap::new();
    let mut compiled: Vec<(i64, String)> = Vec::new();
    // Namespace and name, one after another.
    let full_name = |p: &[u8]| {
        let kind = text(p);
        let name = text(&p[2 * (kind.len() + 1)..]);
        format!("{kind}.{name}")
    };
    let truth = written(&case("jit-start", 4, false), |event| {
        let p = event.payload();
        if event.hook_id().is_some() {
            return;
        }
        let method = || (event.thread_id().unwrap(), u64_at(p, 0).unwrap());
        match event.descriptor().id {
            JITTING_STARTED => {
                begun.insert(method(), (event.timestamp, full_name(&p[24..])));
            }
            METHOD_LOAD_VERBOSE => {
                let (since, name) = begun.remove(&method()).unwrap();
                assert_eq!(full_name(&p[36..]), name);
                compiled.push(((event.timestamp - since) * TICK_NS, name));
            }
            _ => {}
        }
    });
    assert!(begun.is_empty());
    let cause = &truth.causes[0];
    assert_eq!(compiled.iter().max().unwrap().1, cause.culprit);
    let (sum, cost) = (
        compiled.iter().map(|(ns, _)| ns).sum::<i64>(),
        cause.cost_ns.unwrap(),
    );
    // Ordinary methods are compiled in the twin, too.
    assert!(cost < sum && (sum - cost) * 20 < cost, "{sum} {cost}");
}

#[test]
fn the_twin_lists_as_many_methods() {
    let listed = |is_healthy| {
        let mut count = 0;
        let truth = written(&case("rundown-stall", 4, is_healthy), |event| {
            let id = event.descriptor().id;
            count += u32::from(event.hook_id().is_none() && id == METHOD_DC_END_VERBOSE);
        });
        let suspending = truth.collections.iter().map(|gc| gc.suspending_ns);
        (count, suspending.max().unwrap())
    };
    let ((sick, stalled), (healthy, stopped)) = (listed(false), listed(true));
    assert_eq!(sick, healthy);
    assert!(
        stalled > 2_000_000_000 && stopped < 2_000_000,
        "{stalled} {stopped}"
    );
}

#[test]
fn samples_are_asked_for_or_not_and_none_comes() {
    for (card, is_asked_for) in [("samples-missing", true), ("switch-cpu-only", false)] {
        let mut asked = Vec::new();
        let truth = written(&case(card, 4, false), |event| {
            if event.hook_id() == Some(GROUPS) {
                asked.push(u32_at(event.payload(), 0).unwrap() & PROFILE != 0);
            }
        });
        assert_eq!(
            (truth.samples.samples, asked),
            (0, vec![is_asked_for]),
            "{card}"
        );
    }
}
