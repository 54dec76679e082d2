//! Scenarios with the programs of published command lines: performance counters, and the topic of
//! each scenario.

use std::collections::{BTreeMap, HashMap};

use etwkit_etl::bytes::u32_at;
use etwkit_synth::truth::CounterSums;
use etwkit_synth::{Options, Truth};

use super::kit::{open, seeded, visit, written};

fn pids(truth: &Truth, name: &str) -> Vec<u32> {
    truth
        .processes
        .iter()
        .filter(|(_, process)| process.name == name)
        .map(|(pid, _)| *pid)
        .collect()
}

#[test]
fn counters_follow_from_the_values_that_switches_carry() {
    for scenario in ["file-writer", "file-writer-quiet", "file-writer-parallel"] {
        let (trace, truth) = written(scenario, &seeded(3, true));
        let process_of: HashMap<u32, &str> = truth
            .threads
            .keys()
            .filter_map(|name| name.split_once('/'))
            .map(|(pid, tid)| (tid.parse().unwrap(), pid))
            .collect();
        let mut last: HashMap<u16, Vec<u64>> = HashMap::new();
        let mut ours: BTreeMap<String, CounterSums> = BTreeMap::new();
        visit(&open(trace), |event| {
            let values: Vec<u64> = event.pmc_values().collect();
            if event.hook_id() != Some(0x0524) {
                assert!(values.is_empty());
                return;
            }
            let old = u32_at(event.payload(), 4).unwrap();
            if let Some(before) = last.insert(event.cpu, values.clone()) {
                let counted: Vec<u64> = values
                    .iter()
                    .zip(before)
                    .map(|(now, before)| now - before)
                    .collect();
                let pid = if old == 0 { "0" } else { process_of[&old] };
                let sums = ours.entry(pid.to_owned()).or_default();
                sums.slices += 1;
                sums.instructions += counted[0];
                sums.cycles += counted[1];
                sums.llc_references += counted[2];
                sums.llc_misses += counted[3];
            }
        });
        assert_eq!(ours, truth.counters, "{scenario}");
    }
    assert!(written("office", &seeded(1, true)).1.counters.is_empty());
}

#[test]
fn files_take_longer_with_a_scanner_and_checkpoints_in_the_way() {
    for seed in 1..4 {
        let [disturbed, quiet, parallel] =
            ["file-writer", "file-writer-quiet", "file-writer-parallel"].map(|scenario| {
                let (_, truth) = written(scenario, &seeded(seed, true));
                let call = &truth.calls[0];
                assert_eq!((call.name.as_str(), truth.calls.len()), ("CreateFiles", 1));
                let pid = pids(&truth, "FileWriter.exe")[0].to_string();
                let written = truth.file_io.by_process[&pid]["write"];
                assert_eq!((written.count, written.bytes), (480, 120 * 4 * 25_600));
                let counters = truth.counters[&pid];
                let cpi = counters.cycles as f64 / counters.instructions as f64;
                let waits = truth.function_waits[&pid].clone();
                (call.end_ns - call.start_ns, cpi, waits)
            });
        assert!(
            disturbed.0 > 3 * quiet.0 / 2 && quiet.0 > 2 * parallel.0,
            "{} {} {}",
            disturbed.0,
            quiet.0,
            parallel.0
        );
        assert!(
            (disturbed.1 - 1.2).abs() < 0.001
                && (quiet.1 - 0.69).abs() < 0.001
                && parallel.1 < 0.76
        );
        let faults = "ntoskrnl.exe!MiIssueHardFault";
        assert_eq!((disturbed.2[faults].waits, quiet.2[faults].waits), (12, 1));
        let scans = "WdFilter.sys!MpScanFile";
        assert!(disturbed.2[scans].waits > 100 && !quiet.2.contains_key(scans));
    }
}

#[test]
fn the_load_needs_as_many_processors_as_it_has_threads() {
    let run_ns = |cpus| {
        let (_, truth) = written(
            "load-stress",
            &Options {
                cpus,
                ..seeded(2, true)
            },
        );
        let times = &truth.processes[&pids(&truth, "LoadStress.exe")[0]].times;
        times.run_ns + times.run_open_end_ns
    };
    assert!((120_000_000_000..121_000_000_000).contains(&run_ns(None)));
    assert!(run_ns(Some(8)) < 90_000_000_000);
}

#[test]
fn programs_for_the_newer_runtime_take_longer() {
    for seed in 1..4 {
        let (_, truth) = written("serializer-tests", &seeded(seed, true));
        let lengths = |text: &str| -> Vec<i64> {
            let of = truth
                .processes
                .values()
                .filter(|process| process.command_line.contains(text));
            of.map(|process| process.stop_ns.unwrap() - process.start_ns.unwrap())
                .collect()
        };
        let (old, new) = (lengths(" ngen "), lengths(" cross "));
        assert_eq!((old.len(), new.len()), (3, 6));
        assert!(old.iter().max() < new.iter().min(), "{old:?} {new:?}");
    }
}
