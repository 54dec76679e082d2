//! Processors of two kinds: their events, and the threads that ran on each.

use std::collections::BTreeMap;

use etwkit_etl::Identity;
use etwkit_etl::bytes::{u8_at, u32_at};
use etwkit_synth::Options;
use etwkit_synth::truth::Parked;

use super::kit::{open, seeded, visit, written};

const TICK_NS: i64 = 100;

/// Observations of a processor.
#[derive(Default, Debug)]
struct Seen {
    class: Option<u8>,
    nominal_mhz: u32,
    mhz: Vec<u32>,
    parked: Vec<Parked>,
}

#[test]
fn processors_are_described_by_the_events_on_power() {
    let provider = etwkit_etl::Guid::literal("0f67e49f-fe51-4e9f-b490-6f2948cc6027");
    for seed in [1, 2] {
        let (trace, truth) = written("pe-cores", &seeded(seed, true));
        let session = open(trace);
        let t0 = session.clock().t0;
        let mut cores: BTreeMap<u16, Seen> = BTreeMap::new();
        visit(&session, |event| {
            let Identity::Manifest {
                provider: of, id, ..
            } = event.identity()
            else {
                return;
            };
            assert_eq!(of, provider);
            let (p, ns) = (event.payload(), (event.timestamp - t0) * TICK_NS);
            let core = |at: usize| u16::from(u8_at(p, at).unwrap());
            match id {
                64 => {
                    let seen = cores.entry(core(2)).or_default();
                    seen.nominal_mhz = u32_at(p, 23 - 4).unwrap();
                    seen.class = u8_at(p, 39);
                }
                148 => cores
                    .entry(core(2))
                    .or_default()
                    .mhz
                    .push(u32_at(p, 15).unwrap()),
                14 => {
                    let parked = Parked {
                        from_ns: ns,
                        to_ns: None,
                    };
                    cores.entry(core(10)).or_default().parked.push(parked);
                }
                15 => {
                    cores
                        .entry(core(10))
                        .or_default()
                        .parked
                        .last_mut()
                        .unwrap()
                        .to_ns = Some(ns);
                }
                _ => assert_eq!(id, 120),
            }
        });
        assert_eq!(cores.len(), 8);
        for (cpu, seen) in &cores {
            let core = &truth.cores[cpu];
            assert_eq!(seen.class, Some(core.efficiency_class));
            assert_eq!(core.efficiency_class, u8::from(*cpu < 4));
            assert_eq!(seen.nominal_mhz, core.nominal_mhz);
            assert_eq!(seen.mhz.len() as u64, core.frequency_changes);
            let least_and_most = (
                *seen.mhz.iter().min().unwrap(),
                *seen.mhz.iter().max().unwrap(),
            );
            assert_eq!(least_and_most, (core.min_mhz, core.max_mhz));
            assert_eq!(seen.parked, core.parked);
        }
        assert!(cores.values().any(|core| !core.parked.is_empty()));
    }
}

#[test]
fn a_program_of_low_priority_runs_on_efficient_processors_only_while_others_are_idle() {
    for (seed, cpus) in [(1, None), (2, Some(4)), (3, Some(12))] {
        let (_, truth) = written(
            "pe-cores",
            &Options {
                cpus,
                ..seeded(seed, true)
            },
        );
        let pid = |name: &str| {
            truth
                .processes
                .iter()
                .find(|(_, p)| p.name == name)
                .unwrap()
                .0
                .to_string()
        };
        let catalog = &truth.run_ns_by_class[&pid("WingCatalog.exe")];
        assert_eq!(catalog.keys().copied().collect::<Vec<_>>(), [0]);
        let of_process = &truth.processes[&pid("WingCatalog.exe").parse().unwrap()].times;
        assert_eq!(catalog[&0], of_process.run_ns);
        let performant = truth
            .cores
            .iter()
            .filter(|(_, core)| core.efficiency_class > 0);
        let busy: i64 = performant
            .clone()
            .map(|(cpu, _)| truth.cpus[cpu].busy_ns)
            .sum();
        let all = performant.count() as i64 * truth.header.duration_ns;
        assert!(busy * 100 < 40 * all, "{busy} of {all}");
        if cpus.is_none() {
            assert!(
                of_process.ready_ns * 4 > of_process.run_ns,
                "{of_process:?}"
            );
        }
    }
}

#[test]
fn nobody_runs_on_a_parked_processor() {
    let (trace, truth) = written("pe-cores", &seeded(3, false));
    let session = open(trace);
    let t0 = session.clock().t0;
    let mut switches = 0;
    visit(&session, |event| {
        if event.hook_id() == Some(0x0524) && u32_at(event.payload(), 0) != Some(0) {
            let ns = (event.timestamp - t0) * TICK_NS;
            let parked = &truth.cores[&event.cpu].parked;
            let now = |p: &&Parked| p.from_ns < ns && p.to_ns.is_none_or(|to| ns < to);
            assert_eq!(parked.iter().find(now), None, "at {ns}");
            switches += 1;
        }
    });
    assert!(switches > 500);
}
