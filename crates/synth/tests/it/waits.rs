//! Calls and wait sums, recomputed from the events in the plainest way; and that scenarios show
//! their topics.

use std::collections::{BTreeMap, HashMap};

use etwkit_etl::bytes::{i64_at, u8_at, u32_at, u64_at};
use etwkit_synth::truth::{Call, CallTimes, Link, Root, Truth, WaitSums};

use super::kit::{SCRIPTED, open, seeded, visit, written};

const TICK_NS: i64 = 100;

/// A wait that ended, as the events say; times in nanoseconds.
#[derive(Clone, Debug)]
struct Wait {
    out: i64,
    reason: u8,
    readied: i64,
    by: u32,
    in_dpc: bool,
    switch_in: i64,
}

#[derive(Default)]
struct Thread {
    waits: Vec<Wait>,
    /// Slices, and times in which it was ready.
    runs: Vec<(i64, i64)>,
    ready: Vec<(i64, i64)>,
    out: Option<(i64, u8, u8)>,
    readied: Option<(i64, u32, bool)>,
    since: i64,
}

#[derive(Default)]
struct Events {
    threads: HashMap<u32, Thread>,
    running: HashMap<u16, u32>,
    /// Transfers of the disk by completion: kind, init and bytes, and the key of the file.
    transfers: BTreeMap<i64, (&'static str, i64, u32, u64)>,
    files: HashMap<u64, String>,
}

fn read(trace: Vec<u8>) -> Events {
    let mut all = Events::default();
    let session = open(trace);
    let t0 = session.clock().t0;
    visit(&session, |event| {
        let (ns, p) = ((event.timestamp - t0) * TICK_NS, event.payload());
        match event.hook_id() {
            Some(0x0524) => all.switch(event.cpu, ns, p),
            Some(0x0532) => {
                let by = all.running.get(&event.cpu).copied().unwrap_or(0);
                let thread = all.threads.entry(u32_at(p, 0).unwrap()).or_default();
                thread
                    .readied
                    .get_or_insert((ns, by, u8_at(p, 6).unwrap() & 1 != 0));
            }
            Some(hook @ (0x010A | 0x010B)) => {
                let init = ns - i64_at(p, 40).unwrap() * TICK_NS;
                let kind = if hook == 0x010A {
                    "disk read"
                } else {
                    "disk write"
                };
                let (bytes, key) = (u32_at(p, 8).unwrap(), u64_at(p, 24).unwrap());
                all.transfers.insert(ns, (kind, init, bytes, key));
            }
            Some(0x0424) => {
                let units = p[8..]
                    .chunks_exact(2)
                    .map(|c| u16::from_le_bytes([c[0], c[1]]));
                let path =
                    String::from_utf16(&units.take_while(|u| *u != 0).collect::<Vec<_>>()).unwrap();
                all.files.insert(
                    u64_at(p, 0).unwrap(),
                    path.replace(r"\Device\HarddiskVolume3", "C:"),
                );
            }
            _ => {}
        }
    });
    all
}

impl Events {
    fn switch(&mut self, cpu: u16, ns: i64, p: &[u8]) {
        let (new, old) = (u32_at(p, 0).unwrap(), u32_at(p, 4).unwrap());
        self.running.insert(cpu, new);
        if old != 0 {
            let thread = self.threads.entry(old).or_default();
            thread.runs.push((thread.since, ns));
            thread.out = Some((ns, u8_at(p, 14).unwrap(), u8_at(p, 12).unwrap()));
            thread.readied = None;
        }
        if new != 0 {
            let thread = self.threads.entry(new).or_default();
            thread.since = ns;
            match (thread.out.take(), thread.readied.take()) {
                (Some((out, 1, _)), _) => thread.ready.push((out, ns)),
                (Some((out, _, reason)), Some((readied, by, in_dpc))) => {
                    thread.waits.push(Wait {
                        out,
                        reason,
                        readied,
                        by,
                        in_dpc,
                        switch_in: ns,
                    });
                    thread.ready.push((readied, ns));
                }
                _ => {}
            }
        }
    }

    /// Running, waiting and being ready of a thread from..to.
    fn times(&self, tid: u32, from: i64, to: i64) -> CallTimes {
        let within = |(start, end): (i64, i64)| (end.min(to) - start.max(from)).max(0);
        let thread = &self.threads[&tid];
        CallTimes {
            run_ns: thread.runs.iter().map(|r| within(*r)).sum::<i64>()
                + if thread.out.is_none() {
                    within((thread.since, to))
                } else {
                    0
                },
            wait_ns: thread
                .waits
                .iter()
                .map(|w| within((w.out, w.readied)))
                .sum(),
            ready_ns: thread.ready.iter().map(|r| within(*r)).sum(),
        }
    }

    /// Returns the chain of a thread's longest wait in from..to, and its final reason.
    fn chain(&self, tid: u32, from: i64, to: i64) -> (Vec<(u32, Wait)>, Option<Root>) {
        let own = self.threads[&tid]
            .waits
            .iter()
            .filter(|w| w.out >= from && w.switch_in <= to);
        let Some(mut wait) = own.max_by_key(|w| w.readied - w.out) else {
            return (Vec::new(), None);
        };
        let mut links = vec![(tid, wait.clone())];
        while !wait.in_dpc {
            let before = self.threads[&wait.by]
                .waits
                .iter()
                .rfind(|w| w.switch_in <= wait.readied);
            let Some(before) = before.filter(|w| w.switch_in > wait.out) else {
                break;
            };
            links.push((wait.by, before.clone()));
            wait = before;
        }
        let ended = wait
            .in_dpc
            .then(|| self.transfers.range(..wait.readied).next_back())
            .flatten();
        let (complete, (kind, init, bytes, key)) = match ended {
            // The completion is the event before the readying.
            Some((complete, read)) if wait.readied - complete <= 2 * TICK_NS => (*complete, *read),
            _ => return (links, None),
        };
        let root = Root {
            kind: kind.to_owned(),
            file: Some(self.files[&key].clone()),
            bytes: Some(bytes),
            init_ns: Some(init),
            complete_ns: Some(complete),
        };
        (links, Some(root))
    }
}

fn tid(name: &str) -> u32 {
    name.split_once('/').unwrap().1.parse().unwrap()
}

fn same_link(ours: &(u32, Wait), expected: &Link) {
    let (thread, wait) = ours;
    assert_eq!(*thread, tid(&expected.thread));
    assert_eq!(
        (
            wait.reason,
            wait.out,
            wait.readied,
            wait.switch_in,
            wait.in_dpc
        ),
        (
            expected.reason,
            expected.wait_start_ns,
            expected.ready_ns,
            expected.switch_in_ns,
            expected.in_dpc
        )
    );
    assert_eq!(wait.by, expected.readied_by.as_deref().map_or(0, tid));
}

#[test]
fn calls_and_their_chains_follow_from_the_events() {
    let mut checked = BTreeMap::new();
    for scenario in SCRIPTED {
        for options in [seeded(1, false), seeded(7, true)] {
            let (trace, truth) = written(scenario, &options);
            let events = read(trace);
            for call in &truth.calls {
                let thread = tid(&call.thread);
                let times = events.times(thread, call.start_ns, call.end_ns);
                assert_eq!(times, call.times, "{call:?}");
                let CallTimes {
                    run_ns,
                    wait_ns,
                    ready_ns,
                } = times;
                assert_eq!(
                    run_ns + wait_ns + ready_ns,
                    call.end_ns - call.start_ns,
                    "{call:?}"
                );
                if let Some(watched) = &call.watched {
                    let times = events.times(tid(&watched.thread), call.start_ns, call.end_ns);
                    assert_eq!(times, watched.times, "{call:?}");
                }
                let (links, root) = events.chain(thread, call.start_ns, call.end_ns);
                assert_eq!(links.len(), call.chain.len(), "{call:?}");
                links
                    .iter()
                    .zip(&call.chain)
                    .for_each(|(ours, expected)| same_link(ours, expected));
                let disk = call.root.clone().filter(|root| root.file.is_some());
                assert_eq!(root, disk, "{call:?}");
            }
            *checked.entry(scenario).or_insert(0) += truth.calls.len();
        }
    }
    assert_eq!(checked["git-bash"], 32);
    assert_eq!(checked["pe-cores"], 0);
    assert!(
        ["wait-chain", "priority-inversion", "starvation"]
            .iter()
            .all(|s| checked[s] >= 12),
        "{checked:?}"
    );
}

#[test]
fn who_waited_for_whom_follows_from_the_events() {
    for scenario in SCRIPTED {
        let (trace, truth) = written(scenario, &seeded(2, false));
        let mut ours: BTreeMap<(u32, u32), WaitSums> = BTreeMap::new();
        for (thread, seen) in &read(trace).threads {
            for wait in &seen.waits {
                let by = if wait.in_dpc { u32::MAX } else { wait.by };
                let sums = ours.entry((*thread, by)).or_default();
                sums.waits += 1;
                sums.wait_ns += wait.readied - wait.out;
            }
        }
        let expected = truth
            .waited_for
            .iter()
            .flat_map(|(thread, by)| by.iter().map(move |b| (thread, b)));
        let by = |name: &str| if name == "dpc" { u32::MAX } else { tid(name) };
        let expected: BTreeMap<(u32, u32), WaitSums> = expected
            .map(|(thread, (name, sums))| ((tid(thread), by(name)), *sums))
            .collect();
        assert_eq!(ours, expected, "{scenario}");
    }
}

fn name<'t>(truth: &'t Truth, thread: &str) -> &'t str {
    let pid: u32 = thread.split_once('/').unwrap().0.parse().unwrap();
    &truth.processes[&pid].name
}

#[test]
fn git_bash_opens_in_ten_seconds_since_each_process_start_waits_for_the_scanner() {
    for seed in 1..4 {
        let (_, truth) = written("git-bash", &seeded(seed, true));
        let total: i64 = truth
            .calls
            .iter()
            .map(|call| call.end_ns - call.start_ns)
            .sum();
        assert!((9_000_000_000..10_500_000_000).contains(&total), "{total}");
        let [click, prompt] = &truth.marks[..] else {
            panic!("{:?}", truth.marks)
        };
        let took = prompt.time_ns - click.time_ns;
        assert!((9_200_000_000..10_800_000_000).contains(&took), "{took}");
        for call in &truth.calls {
            let length = call.end_ns - call.start_ns;
            assert!((500_000_000..720_000_000).contains(&length), "{call:?}");
            assert!(call.times.wait_ns * 100 > 99 * length, "{call:?}");
            assert_eq!(call.chain.len(), 2);
            assert_eq!(name(&truth, &call.chain[1].thread), "NwScanSvc.exe");
            let file = call.root.as_ref().unwrap().file.as_deref().unwrap();
            let program = call.name.strip_prefix("CreateProcess ").unwrap();
            assert!(file.ends_with(&format!(r"\{program}")), "{call:?}");
        }
        let busy: i64 = truth.cpus.values().map(|cpu| cpu.busy_ns).sum();
        assert!(
            busy * 100 < 15 * 4 * truth.header.duration_ns,
            "{busy} of busy time"
        );
        // The creator of each process.
        let parent = |pid: u32| truth.processes.get(&pid).map_or("", |p| p.name.as_str());
        for (child, by) in [
            ("git-bash.exe", "explorer.exe"),
            ("mintty.exe", "git-bash.exe"),
            ("git.exe", "bash.exe"),
        ] {
            let process = truth.processes.values().find(|p| p.name == child).unwrap();
            assert_eq!(parent(process.parent_pid), by);
        }
        let started = truth
            .processes
            .values()
            .filter(|p| p.start_ns.is_some())
            .count();
        assert_eq!((started, truth.calls.len()), (16, 16));
    }
}

#[test]
fn a_window_waits_for_the_disk_over_five_threads_of_three_processes() {
    for seed in 1..4 {
        let (_, truth) = written("wait-chain", &seeded(seed, false));
        assert!(truth.calls.len() >= 8);
        for call in &truth.calls {
            let names: Vec<&str> = call
                .chain
                .iter()
                .map(|link| name(&truth, &link.thread))
                .collect();
            let expected = [
                "Ledger.exe",
                "Ledger.exe",
                "OrderService.exe",
                "OrderService.exe",
                "StoreService.exe",
            ];
            assert_eq!(names, expected, "{call:?}");
            let reasons: Vec<u8> = call.chain.iter().map(|link| link.reason).collect();
            assert_eq!(reasons, [6, 17, 37, 17, 0]);
            assert_eq!(call.root.as_ref().unwrap().kind, "disk read");
            assert!(
                call.chain
                    .windows(2)
                    .all(|w| w[0].wait_start_ns < w[1].ready_ns)
            );
        }
    }
}

#[test]
fn the_holder_of_the_lock_is_ready_nearly_all_the_time_that_the_important_thread_waits() {
    for (seed, cpus) in [(1, None), (2, None), (3, Some(4))] {
        let options = etwkit_synth::Options {
            cpus,
            ..seeded(seed, false)
        };
        let (_, truth) = written("priority-inversion", &options);
        let long = |call: &&Call| call.times.wait_ns > 50_000_000;
        assert!(truth.calls.iter().filter(long).count() >= 5);
        for call in truth.calls.iter().filter(long) {
            let holder = call.watched.as_ref().unwrap();
            assert_eq!(call.chain[0].readied_by.as_ref(), Some(&holder.thread));
            assert!(
                holder.times.ready_ns * 100 > 80 * call.times.wait_ns,
                "{call:?}"
            );
            assert!(holder.times.run_ns < 10_000_000, "{call:?}");
        }
    }
}

#[test]
fn the_starved_wait_for_processors_that_others_have() {
    for seed in 1..4 {
        let (_, truth) = written("starvation", &seeded(seed, false));
        let of = |program: &str| {
            &truth
                .processes
                .values()
                .find(|p| p.name == program)
                .unwrap()
                .times
        };
        let backup = of("NightBackup.exe");
        assert!(
            backup.ready_ns > 5 * backup.run_ns && backup.run_ns > 0,
            "{backup:?}"
        );
        // It is starved for hundreds of milliseconds on end, the player for a quantum.
        let longest = |name: &str| {
            truth
                .calls
                .iter()
                .filter(|c| c.name == name)
                .map(|c| c.times.ready_ns)
                .max()
                .unwrap()
        };
        assert!(longest("NextBlock") > 250_000_000);
        assert!(
            (15_000_000..80_000_000).contains(&longest("NextBuffer")),
            "{}",
            longest("NextBuffer")
        );
        let busy: i64 = truth.cpus.values().map(|cpu| cpu.busy_ns).sum();
        assert!(busy * 100 > 80 * 2 * truth.header.duration_ns);
    }
}
