//! Running, waiting and being ready, recomputed from the decoded events in the plainest way.

use std::collections::{BTreeMap, HashMap};

use etwkit_etl::RawEvent;
use etwkit_etl::bytes::{i64_at, u8_at, u32_at, u64_at};
use etwkit_synth::truth::{Operations, SwitchedOut, ThreadTimes};
use etwkit_synth::{Options, Truth};

use super::kit::{SCRIPTED, office, open, seeded, visit, written};

const TICK_NS: i64 = 100;

/// State of a thread.
#[derive(Default)]
struct Seen {
    times: ThreadTimes,
    out: Option<(i64, u8, u8)>,
    readied: Option<i64>,
    running_since: Option<i64>,
}

#[derive(Default)]
struct Machine {
    threads: HashMap<u32, Seen>,
    busy_ns: BTreeMap<u16, i64>,
    switches: BTreeMap<u16, u64>,
    running: HashMap<u16, (u32, i64)>,
}

impl Machine {
    fn switch(&mut self, event: &RawEvent<'_>) {
        let (time, payload) = (event.timestamp, event.payload());
        let (new, old) = (u32_at(payload, 0).unwrap(), u32_at(payload, 4).unwrap());
        let (reason, state) = (u8_at(payload, 12).unwrap(), u8_at(payload, 14).unwrap());
        *self.switches.entry(event.cpu).or_default() += 1;
        let (runs, since) = self
            .running
            .insert(event.cpu, (new, time))
            .unwrap_or((0, 0));
        assert_eq!(runs, old, "the thread that leaves is the one that came");
        if old != 0 {
            *self.busy_ns.entry(event.cpu).or_default() += (time - since) * TICK_NS;
            let seen = self.threads.get_mut(&old).unwrap();
            seen.times.times.run_ns += (time - since) * TICK_NS;
            seen.running_since = None;
            seen.out = (state != 4).then_some((time, state, reason));
            seen.readied = None;
        }
        if new != 0 {
            self.switch_in(new, time);
        }
    }

    fn switch_in(&mut self, tid: u32, time: i64) {
        let seen = self.threads.entry(tid).or_default();
        assert!(
            seen.running_since.replace(time).is_none(),
            "{tid} runs twice"
        );
        let times = &mut seen.times.times;
        times.switches_in += 1;
        match seen.out.take() {
            Some((out, 1, _)) => {
                times.preempted += 1;
                times.ready_ns += (time - out) * TICK_NS;
            }
            Some((out, 5, reason)) => {
                let readied = seen.readied.take().expect("a wait ends by being readied");
                assert!(out < readied && readied < time);
                times.wait_ns += (readied - out) * TICK_NS;
                *times.wait_ns_by_reason.entry(reason).or_default() += (readied - out) * TICK_NS;
                times.ready_ns += (time - readied) * TICK_NS;
            }
            Some((_, state, _)) => panic!("state {state}"),
            None => {}
        }
    }

    fn ready(&mut self, event: &RawEvent<'_>) {
        let seen = self
            .threads
            .entry(u32_at(event.payload(), 0).unwrap())
            .or_default();
        seen.readied.get_or_insert(event.timestamp);
    }

    /// Closes open parts.
    fn end(&mut self, t0: i64, end: i64) {
        for (cpu, (tid, since)) in &self.running {
            if *tid != 0 {
                *self.busy_ns.entry(*cpu).or_default() += (end - since) * TICK_NS;
                let times = &mut self.threads.get_mut(tid).unwrap().times.times;
                times.run_open_end_ns = (end - since) * TICK_NS;
            }
        }
        for seen in self.threads.values_mut() {
            let ns = |time: i64| (time - t0) * TICK_NS;
            seen.times.open_at_end = seen.out.map(|(out, state, reason)| SwitchedOut {
                since_ns: ns(out),
                state,
                reason,
                readied_ns: seen.readied.map(ns),
            });
        }
    }
}

/// Compares everything that switches and readiness say with the truth.
fn check_times((trace, truth): (Vec<u8>, Truth)) {
    let session = open(trace);
    let mut machine = Machine::default();
    let mut before = 0;
    visit(&session, |event| match event.hook_id() {
        Some(0x0524) => machine.switch(event),
        Some(0x0532) => machine.ready(event),
        Some(hook) if hook >> 8 != 0 && hook >> 8 != 0x18 => {
            assert!(event.timestamp > before, "two events of one time");
            before = event.timestamp;
        }
        _ => {}
    });
    let t0 = session.clock().t0;
    machine.end(t0, t0 + truth.header.duration_ns / TICK_NS);
    assert_eq!(machine.threads.len(), truth.threads.len());
    for (key, expected) in &truth.threads {
        let tid: u32 = key.split('/').next_back().unwrap().parse().unwrap();
        assert_eq!(&machine.threads[&tid].times, expected, "{key}");
    }
    for (cpu, expected) in &truth.cpus {
        let busy = machine.busy_ns.get(cpu).copied().unwrap_or_default();
        let switches = machine.switches.get(cpu).copied().unwrap_or_default();
        assert_eq!((busy, switches), (expected.busy_ns, expected.switches));
    }
    let sum: i64 = truth
        .processes
        .values()
        .map(|p| p.times.run_ns + p.times.run_open_end_ns)
        .sum();
    assert_eq!(sum, truth.cpus.values().map(|cpu| cpu.busy_ns).sum::<i64>());
}

#[test]
fn times_of_threads_follow_from_switches_and_readiness() {
    for options in [seeded(1, true), seeded(2, false), seeded(11, false)] {
        check_times(office(&options));
    }
}

#[test]
fn times_of_threads_with_scripts_follow_from_switches_and_readiness() {
    for scenario in SCRIPTED {
        for options in [
            seeded(1, true),
            seeded(3, false),
            Options {
                cpus: Some(1),
                ..seeded(4, true)
            },
        ] {
            check_times(written(scenario, &options));
        }
    }
}

#[test]
fn all_kinds_of_waits_and_preemptions_occur() {
    let (_, truth) = office(&seeded(1, false));
    let mut reasons = BTreeMap::new();
    for process in truth.processes.values() {
        for (reason, ns) in &process.times.wait_ns_by_reason {
            *reasons.entry(*reason).or_insert(0) += ns;
        }
    }
    assert_eq!(
        reasons.keys().copied().collect::<Vec<_>>(),
        [0, 4, 6, 13, 15, 17]
    );
    assert!(reasons.values().all(|ns| *ns > 1_000_000), "{reasons:?}");
    assert!(
        truth
            .processes
            .values()
            .map(|p| p.times.preempted)
            .sum::<u64>()
            > 100
    );
    let busy: i64 = truth.cpus.values().map(|cpu| cpu.busy_ns).sum();
    let share = busy * 100 / (4 * truth.header.duration_ns);
    assert!((40..90).contains(&share), "{share} % busy");
}

#[test]
fn switches_say_what_was_a_quantum_end_a_preemption_or_a_termination() {
    let (trace, _) = office(&seeded(1, false));
    let mut reasons: BTreeMap<(u8, u8), u64> = BTreeMap::new();
    visit(&open(trace), |event| {
        if event.hook_id() == Some(0x0524) {
            let payload = event.payload();
            *reasons
                .entry((u8_at(payload, 14).unwrap(), u8_at(payload, 12).unwrap()))
                .or_default() += 1;
        }
    });
    assert!(
        reasons[&(1, 30)] > 0 && reasons[&(1, 32)] > 50 && reasons[&(4, 22)] == 6,
        "{reasons:?}"
    );
}

#[test]
fn interrupts_and_file_operations_follow_from_their_events() {
    for scenario in ["office", "git-bash", "wait-chain"] {
        check_interrupts(written(scenario, &seeded(4, true)));
    }
}

fn check_interrupts((trace, truth): (Vec<u8>, Truth)) {
    let (mut dpcs, mut isrs) = ((0, 0), (0, 0));
    let mut sampled_in_dpc: HashMap<u16, i64> = HashMap::new();
    let mut open_operations: HashMap<u64, (i64, &str)> = HashMap::new();
    let mut operations: BTreeMap<String, Operations> = BTreeMap::new();
    visit(&open(trace), |event| {
        let (time, payload) = (event.timestamp, event.payload());
        let interrupt = |sums: &mut (u64, i64)| {
            let ticks = time - i64_at(payload, 0).unwrap();
            assert!(ticks >= 0);
            *sums = (sums.0 + 1, sums.1 + ticks * TICK_NS);
        };
        match event.hook_id() {
            Some(0x0F2E) if u8_at(payload, 14).unwrap() & 1 != 0 => {
                sampled_in_dpc.insert(event.cpu, time);
            }
            Some(0x0F44 | 0x0F45) => {
                interrupt(&mut dpcs);
                let sampled = sampled_in_dpc.remove(&event.cpu).unwrap_or(time);
                assert!(
                    i64_at(payload, 0).unwrap() <= sampled,
                    "a sample in a DPC lies in it"
                );
            }
            Some(0x0F43) => interrupt(&mut isrs),
            Some(0x0440) => {
                _ = open_operations.insert(u64_at(payload, 0).unwrap(), (time, "create"));
            }
            Some(0x0442) => {
                _ = open_operations.insert(u64_at(payload, 0).unwrap(), (time, "close"));
            }
            Some(0x0443) => {
                _ = open_operations.insert(u64_at(payload, 8).unwrap(), (time, "read"));
            }
            Some(0x0444) => {
                _ = open_operations.insert(u64_at(payload, 8).unwrap(), (time, "write"));
            }
            Some(0x044C) => {
                let (start, name) = open_operations
                    .remove(&u64_at(payload, 0).unwrap())
                    .unwrap();
                let sums = operations.entry(name.to_owned()).or_default();
                sums.count += 1;
                sums.bytes += u64_at(payload, 8).unwrap();
                sums.duration_ns += (time - start) * TICK_NS;
            }
            _ => {}
        }
    });
    let expected = &truth.interrupts;
    assert_eq!(
        (dpcs, isrs),
        (
            (expected.dpcs, expected.dpc_ns),
            (expected.isrs, expected.isr_ns)
        )
    );
    assert_eq!(operations, truth.file_io.by_operation);
}
