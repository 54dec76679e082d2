//! Actions of threads with events of their own, recomputed from the events in the plainest way.

use std::collections::{BTreeMap, HashMap};

use etwkit_etl::RawEvent;
use etwkit_etl::bytes::{i64_at, u32_at, u64_at};
use etwkit_synth::Truth;
use etwkit_synth::truth::{
    Alpc, Callbacks, HardFaultSums, HeapSums, MiniFilter, Pool, PoolSums, ProcessExit, ProcessStart,
};

use super::kit::{open, seeded, visit, written};

pub(crate) const TICK_NS: i64 = 100;

/// The running thread of each processor, and the names of files and images.
#[derive(Default)]
pub(crate) struct Machine {
    running: HashMap<u16, u32>,
    pids: HashMap<u32, String>,
    files: HashMap<u64, String>,
    /// Base and size of the kernel's images.
    images: Vec<(u64, u64, String)>,
}

pub(crate) fn text(bytes: &[u8]) -> String {
    let units = bytes
        .chunks_exact(2)
        .map(|c| u16::from_le_bytes([c[0], c[1]]));
    String::from_utf16(&units.take_while(|unit| *unit != 0).collect::<Vec<_>>()).unwrap()
}

impl Machine {
    pub(crate) fn new(truth: &Truth) -> Self {
        let ids = truth.threads.keys().filter_map(|name| name.split_once('/'));
        let pids = ids
            .map(|(pid, tid)| (tid.parse().unwrap(), pid.to_owned()))
            .collect();
        Self {
            pids,
            ..Self::default()
        }
    }

    pub(crate) fn take(&mut self, event: &RawEvent<'_>) {
        let p = event.payload();
        match event.hook_id() {
            Some(0x0524) => drop(self.running.insert(event.cpu, u32_at(p, 0).unwrap())),
            Some(0x0424) => {
                let path = text(&p[8..]).replace(r"\Device\HarddiskVolume3", "C:");
                self.files.insert(u64_at(p, 0).unwrap(), path);
            }
            Some(0x1403) if u32_at(p, 16) == Some(0) => {
                let name = text(&p[56..]).rsplit('\\').next().unwrap().to_owned();
                self.images
                    .push((u64_at(p, 0).unwrap(), u64_at(p, 8).unwrap(), name));
            }
            _ => {}
        }
    }

    /// Thread and process of an event that names none.
    pub(crate) fn runs(&self, event: &RawEvent<'_>) -> (u32, &str) {
        let tid = self.running[&event.cpu];
        (tid, &self.pids[&tid])
    }

    /// True if the thread that ran where an event happened is known and exists.
    pub(crate) fn is_running(&self, event: &RawEvent<'_>) -> bool {
        self.running.get(&event.cpu).is_some_and(|tid| *tid != 0)
    }

    /// Path of a file by its key.
    pub(crate) fn file(&self, key: u64) -> Option<String> {
        self.files.get(&key).cloned()
    }

    pub(crate) fn name(&self, tid: u32) -> String {
        format!("{}/{tid}", self.pids[&tid])
    }

    fn driver(&self, address: u64) -> &str {
        let of = |(base, size, _): &&(u64, u64, String)| (*base..base + size).contains(&address);
        &self.images.iter().find(of).unwrap().2
    }
}

/// Reads a trace twice, since files are named at its end.
pub(crate) fn read(trace: Vec<u8>, truth: &Truth, mut each: impl FnMut(&Machine, &RawEvent<'_>)) {
    let session = open(trace);
    let mut machine = Machine::new(truth);
    visit(&session, |event| machine.take(event));
    visit(&session, |event| {
        machine.take(event);
        each(&machine, event);
    });
}

#[test]
fn callbacks_of_filter_drivers_follow_from_their_events() {
    let majors = |number: u32| match number {
        0 => "create",
        2 => "close",
        3 => "read",
        4 => "write",
        _ => "cleanup",
    };
    for options in [seeded(1, true), seeded(5, false)] {
        let (trace, truth) = written("file-filters", &options);
        let mut ours = MiniFilter::default();
        // By request: the callback that failed has its end in front.
        let mut ended: HashMap<u64, [String; 4]> = HashMap::new();
        let mut open: HashMap<u64, Vec<i64>> = HashMap::new();
        // The path with which a file object was opened.
        let mut opened: HashMap<u64, String> = HashMap::new();
        read(trace, &truth, |machine, event| {
            let (p, Some(hook)) = (event.payload(), event.hook_id()) else {
                return;
            };
            match hook {
                0x0440 => {
                    let path = text(&p[32..]).replace(r"\Device\HarddiskVolume3", "C:");
                    opened.insert(u64_at(p, 8).unwrap(), path);
                }
                0x0460 | 0x0461 => open
                    .entry(u64_at(p, 24).unwrap())
                    .or_default()
                    .push(event.timestamp),
                0x0462 | 0x0463 => {
                    let (began, request) = (i64_at(p, 0).unwrap(), u64_at(p, 32).unwrap());
                    assert_eq!(open.get_mut(&request).unwrap().pop(), Some(began));
                    let phase = if hook == 0x0462 { "pre" } else { "post" };
                    let what = format!("{phase} {}", majors(u32_at(p, 48).unwrap()));
                    let path = opened[&u64_at(p, 16).unwrap()].clone();
                    let context = u64_at(p, 24).unwrap();
                    assert_eq!(context == 0, what == "pre create");
                    assert!(context == 0 || machine.files[&context] == path);
                    let (_, pid) = machine.runs(event);
                    let names = [
                        machine.driver(u64_at(p, 8).unwrap()).to_owned(),
                        what,
                        pid.to_owned(),
                        path,
                    ];
                    count(&mut ours, &names, |sums| {
                        sums.count += 1;
                        sums.duration_ns += (event.timestamp - began) * TICK_NS;
                    });
                    ended.insert(request, names);
                }
                0x0464 | 0x0465 => {
                    let names = &ended[&u64_at(p, 24).unwrap()];
                    count(&mut ours, names, |sums| sums.failed += 1);
                    let status = format!("{:#010x}", u32_at(p, 44).unwrap());
                    *ours.failed_by_status.entry(status).or_default() += 1;
                }
                _ => {}
            }
        });
        ours.open_at_end = open.values().map(|callbacks| callbacks.len() as u64).sum();
        assert_eq!(ours, truth.mini_filter);
        assert_eq!(ours.by_driver.len(), 3);
        assert_eq!(ours.failed_by_status.len(), 2);
        // The scanner waits for its service: its time is far above what it computes.
        let scans = ours.by_driver["nwshield.sys"]["pre create"];
        assert!(
            scans.duration_ns / scans.count as i64 > 400_000,
            "{scans:?}"
        );
    }
}

fn count(
    ours: &mut MiniFilter,
    [driver, what, pid, path]: &[String; 4],
    add: impl Fn(&mut Callbacks),
) {
    add(ours
        .by_driver
        .entry(driver.clone())
        .or_default()
        .entry(what.clone())
        .or_default());
    add(ours.by_process.entry(pid.clone()).or_default());
    add(ours.by_file.entry(path.clone()).or_default());
}

#[test]
fn page_faults_follow_from_their_events() {
    let kinds = [
        (10, "transition"),
        (11, "demand_zero"),
        (12, "copy_on_write"),
        (13, "guard_page"),
    ];
    let kinds: HashMap<u16, &str> = kinds
        .into_iter()
        .chain([(14, "hard"), (15, "access_violation")])
        .collect();
    let (trace, truth) = written("memory", &seeded(2, true));
    let mut ours: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut hard: [BTreeMap<String, HardFaultSums>; 2] = Default::default();
    read(trace, &truth, |machine, event| {
        let (p, Some(hook)) = (event.payload(), event.hook_id()) else {
            return;
        };
        if let Some(kind) = kinds.get(&(hook & 0xFF)).filter(|_| hook >> 8 == 2) {
            let (_, pid) = machine.runs(event);
            *ours
                .entry(pid.to_owned())
                .or_default()
                .entry((*kind).to_owned())
                .or_default() += 1;
        }
        if hook == 0x0220 {
            let (tid, pid) = machine.runs(event);
            assert_eq!(u32_at(p, 32), Some(tid));
            let path = machine.files[&u64_at(p, 24).unwrap()].clone();
            for (sums, key) in hard.iter_mut().zip([pid.to_owned(), path]) {
                let sums = sums.entry(key).or_default();
                sums.count += 1;
                sums.bytes += u64::from(u32_at(p, 36).unwrap());
                sums.duration_ns += (event.timestamp - i64_at(p, 0).unwrap()) * TICK_NS;
            }
        }
    });
    assert_eq!(ours, truth.page_faults);
    assert!(ours.values().all(|faults| faults.len() == 6), "{ours:?}");
    let [by_process, by_file] = hard;
    assert_eq!(
        (by_process, by_file),
        (truth.hard_faults.by_process, truth.hard_faults.by_file)
    );
}

#[test]
fn memory_of_the_kernel_follows_from_its_events() {
    let (trace, truth) = written("memory", &seeded(3, false));
    let mut ours = Pool::default();
    let mut live: HashMap<u64, (String, u64, i64)> = HashMap::new();
    read(trace, &truth, |machine, event| {
        let (p, Some(hook @ (0x0E20 | 0x0E22))) = (event.payload(), event.hook_id()) else {
            return;
        };
        let tag = String::from_utf8(p[4..8].to_vec()).unwrap();
        let (bytes, address) = (u64_at(p, 8).unwrap(), u64_at(p, 16).unwrap());
        let known = if hook == 0x0E20 {
            assert!(
                live.insert(address, (tag.clone(), bytes, event.timestamp))
                    .is_none()
            );
            None
        } else {
            live.remove(&address)
        };
        assert!(
            known
                .as_ref()
                .is_none_or(|known| known.0 == tag && known.1 == bytes)
        );
        let (_, pid) = machine.runs(event);
        for sums in [
            ours.by_tag.entry(tag.clone()).or_default(),
            ours.by_process.entry(pid.to_owned()).or_default(),
        ] {
            if hook == 0x0E20 {
                sums.allocations += 1;
                sums.allocated_bytes += bytes;
                continue;
            }
            sums.frees += 1;
            sums.freed_bytes += bytes;
            sums.frees_of_earlier += u64::from(known.is_none());
            sums.lifetime_ns += known
                .as_ref()
                .map_or(0, |known| (event.timestamp - known.2) * TICK_NS);
        }
    });
    for (tag, bytes, _) in live.values() {
        let sums: &mut PoolSums = ours.by_tag.get_mut(tag).unwrap();
        sums.live += 1;
        sums.live_bytes += bytes;
    }
    assert_eq!(ours, truth.pool);
    assert!(ours.by_tag["CamN"].live > 20, "one tag leaks");
    assert!(ours.by_tag["CamF"].live <= 2);
    assert_eq!(
        ours.by_tag["CamO"].frees_of_earlier,
        ours.by_tag["CamO"].frees
    );
}

#[test]
fn heaps_follow_from_their_events() {
    let (trace, truth) = written("memory", &seeded(4, true));
    let mut ours: BTreeMap<String, BTreeMap<String, HeapSums>> = BTreeMap::new();
    let mut live: HashMap<(u32, u64), HashMap<u64, (u64, i64)>> = HashMap::new();
    read(trace, &truth, |_, event| {
        let (p, Some(hook)) = (
            event.payload(),
            event.hook_id().filter(|hook| hook >> 8 == 0x10),
        ) else {
            return;
        };
        let (pid, heap) = (event.process_id().unwrap(), u64_at(p, 0).unwrap());
        let sums = ours
            .entry(pid.to_string())
            .or_default()
            .entry(format!("{heap:#x}"))
            .or_default();
        let blocks = live.entry((pid, heap)).or_default();
        match hook & 0xFF {
            32 => sums.creates += 1,
            33 => {
                let bytes = u64_at(p, 8).unwrap();
                sums.allocations += 1;
                sums.allocated_bytes += bytes;
                assert!(
                    blocks
                        .insert(u64_at(p, 16).unwrap(), (bytes, event.timestamp))
                        .is_none()
                );
            }
            34 => {
                let [new, old, to, from] = [8, 16, 24, 32].map(|at| u64_at(p, at).unwrap());
                sums.resizes += 1;
                sums.resized_from_bytes += from;
                sums.resized_to_bytes += to;
                let (bytes, since) = blocks.remove(&old).unwrap();
                assert_eq!(bytes, from);
                assert!(blocks.insert(new, (to, since)).is_none());
            }
            35 => {
                sums.destroys += 1;
                sums.destroyed_blocks += blocks.len() as u64;
                sums.destroyed_bytes += blocks.values().map(|block| block.0).sum::<u64>();
                blocks.clear();
            }
            _ => {
                let (bytes, since) = blocks.remove(&u64_at(p, 8).unwrap()).unwrap();
                sums.frees += 1;
                sums.freed_bytes += bytes;
                sums.lifetime_ns += (event.timestamp - since) * TICK_NS;
            }
        }
    });
    for ((pid, heap), blocks) in live {
        let sums = ours
            .get_mut(&pid.to_string())
            .unwrap()
            .get_mut(&format!("{heap:#x}"))
            .unwrap();
        sums.live = blocks.len() as u64;
        sums.live_bytes = blocks.values().map(|block| block.0).sum();
    }
    assert_eq!(ours, truth.heap);
    assert_eq!(ours.len(), 2);
    let picture = ours.values().map(|heaps| heaps["0x1f200000000"]);
    assert!(
        picture
            .clone()
            .all(|sums| sums.creates > 5 && sums.destroyed_blocks >= sums.destroys)
    );
}

#[test]
fn messages_follow_from_their_events() {
    for options in [seeded(1, true), seeded(6, false)] {
        let (trace, truth) = written("services", &options);
        let mut ours = Alpc::default();
        let mut sent: HashMap<u32, (String, i64)> = HashMap::new();
        // Received requests: server, when they were sent, received and answered.
        let mut served: HashMap<u32, (String, i64, i64, i64)> = HashMap::new();
        let mut waits: HashMap<String, (&str, i64)> = HashMap::new();
        read(trace, &truth, |machine, event| {
            let (p, Some(hook)) = (event.payload(), event.hook_id()) else {
                return;
            };
            if hook >> 8 != 0x1A {
                return;
            }
            let (tid, _) = machine.runs(event);
            let (name, time, number) = (machine.name(tid), event.timestamp, u32_at(p, 0).unwrap());
            match hook & 0xFF {
                33 => {
                    ours.sent += 1;
                    // The answer comes from the thread that received.
                    let of = served.get_mut(&number).filter(|of| of.0 == name);
                    of.into_iter().for_each(|of| of.3 = time);
                    assert!(
                        sent.insert(number, (name, time)).is_none(),
                        "a number has one message at a time"
                    );
                }
                34 => {
                    ours.received += 1;
                    let (sender, since) = sent.remove(&number).unwrap();
                    match served
                        .remove(&number)
                        .filter(|of| of.0 == sender && of.3 > 0)
                    {
                        Some((server, began, received, answered)) => {
                            let of = ours.calls.entry(name.clone()).or_default();
                            let sums = of.entry(server).or_default();
                            sums.calls += 1;
                            sums.delivery_ns += (received - began) * TICK_NS;
                            sums.service_ns += (answered - received) * TICK_NS;
                            sums.duration_ns += (time - began) * TICK_NS;
                        }
                        None => drop(served.insert(number, (name.clone(), since, time, 0))),
                    }
                    let sums = ours
                        .delivered
                        .entry(sender)
                        .or_default()
                        .entry(name)
                        .or_default();
                    sums.messages += 1;
                    sums.latency_ns += (time - since) * TICK_NS;
                }
                35 => assert!(waits.insert(name, ("reply", time)).is_none()),
                36 => {
                    assert!(p[4..].starts_with(br"\RPC Control\Contoso") && p.ends_with(&[0]));
                    assert!(waits.insert(name, ("new_message", time)).is_none());
                }
                _ => {
                    let (what, since) = waits.remove(&name).unwrap();
                    let sums = ours
                        .waits
                        .entry(name)
                        .or_default()
                        .entry(what.to_owned())
                        .or_default();
                    sums.waits += 1;
                    sums.wait_ns += (time - since) * TICK_NS;
                }
            }
        });
        ours.under_way_at_end = sent.len() as u64;
        for (name, (what, _)) in waits {
            ours.waits
                .entry(name)
                .or_default()
                .entry(what.to_owned())
                .or_default()
                .open_at_end = 1;
        }
        assert_eq!(ours, truth.alpc);
        // Clients, the service in the middle and the storage: the caller of the caller is found by
        // messages.
        let chains = |from: &str, to: &str| {
            let pid = |name: &str| {
                let of = truth
                    .processes
                    .iter()
                    .find(|(_, process)| process.name == name)
                    .unwrap();
                format!("{}/", of.0)
            };
            let (from, to) = (pid(from), pid(to));
            ours.delivered.iter().any(|(sender, of)| {
                sender.starts_with(&from) && of.keys().any(|receiver| receiver.starts_with(&to))
            })
        };
        assert!(
            chains("Desk.exe", "SettingsSvc.exe") && chains("SettingsSvc.exe", "StorageSvc.exe")
        );
    }
}

#[test]
fn starts_and_exits_of_processes_follow_from_their_events() {
    let mut on_other_processors = 0;
    for options in [seeded(1, true), seeded(8, false)] {
        let (trace, truth) = written("process-starts", &options);
        let mut calls: HashMap<u32, i64> = HashMap::new();
        let mut starts: Vec<ProcessStart> = Vec::new();
        // Statuses of processes.
        let mut asked: HashMap<u32, i64> = HashMap::new();
        let mut exits: Vec<ProcessExit> = Vec::new();
        let mut flags: BTreeMap<u32, u32> = BTreeMap::new();
        let mut t0 = None;
        read(trace, &truth, |machine, event| {
            let t0 = *t0.get_or_insert(event.timestamp);
            let ns = |time: i64| (time - t0) * TICK_NS;
            let (p, Some(hook)) = (event.payload(), event.hook_id()) else {
                return;
            };
            match hook {
                0x0F33 => drop(calls.insert(machine.runs(event).0, event.timestamp)),
                0x0F34 => {
                    let tid = machine.runs(event).0;
                    calls.remove(&tid);
                    let name = machine.name(tid);
                    let made = starts
                        .iter_mut()
                        .find(|s| s.creator == name && s.call_end_ns.is_none());
                    made.into_iter()
                        .for_each(|s| s.call_end_ns = Some(ns(event.timestamp)));
                }
                0x0301 => {
                    let (pid, tid) = (u32_at(p, 8).unwrap(), event.thread_id().unwrap());
                    assert_eq!(machine.runs(event).0, tid);
                    flags.insert(pid, u32_at(p, 32).unwrap());
                    starts.push(ProcessStart {
                        pid,
                        name: truth.processes[&pid].name.clone(),
                        creator: machine.name(tid),
                        creator_cpu: event.cpu,
                        call_ns: calls.get(&tid).map(|time| ns(*time)),
                        start_ns: ns(event.timestamp),
                        ..ProcessStart::default()
                    });
                }
                0x0501 => {
                    let (pid, tid) = (u32_at(p, 0).unwrap(), u32_at(p, 4).unwrap());
                    starts.iter_mut().find(|s| s.pid == pid).unwrap().thread = machine.name(tid);
                }
                0x0524 => {
                    let name = u32_at(p, 0)
                        .filter(|tid| *tid != 0)
                        .map(|tid| machine.name(tid));
                    for start in starts
                        .iter_mut()
                        .filter(|s| Some(&s.thread) == name.as_ref())
                    {
                        let run = *start.first_run_ns.get_or_insert(ns(event.timestamp));
                        start.first_run_cpu.get_or_insert(event.cpu);
                        start.cost_ns = Some(run - start.call_ns.unwrap());
                    }
                }
                0x030B => drop(asked.insert(u32_at(p, 0).unwrap(), event.timestamp)),
                0x0302 => {
                    let pid = u32_at(p, 8).unwrap();
                    let terminated = asked[&pid];
                    exits.push(ProcessExit {
                        pid,
                        terminate_ns: ns(terminated),
                        end_ns: ns(event.timestamp),
                        duration_ns: (event.timestamp - terminated) * TICK_NS,
                        status: u32_at(p, 20).unwrap(),
                    });
                }
                _ => {}
            }
        });
        assert_eq!(starts, truth.starts);
        assert_eq!(exits, truth.exits);
        assert!(
            starts.len() > 50 && exits.len() > 50,
            "{} {}",
            starts.len(),
            exits.len()
        );
        assert!(
            flags
                .iter()
                .all(|(pid, flags)| truth.processes[pid].flags == *flags)
        );
        assert!(
            [2, 4]
                .iter()
                .all(|bit| flags.values().any(|flags| flags == bit))
        );
        on_other_processors += starts
            .iter()
            .filter(|s| s.first_run_cpu != Some(s.creator_cpu))
            .count();
        let by_broker = starts.iter().filter(|s| {
            truth.processes[&s.pid].parent_pid.to_string() != s.creator.split('/').next().unwrap()
        });
        assert!(
            by_broker.count() > 5,
            "the parent of some is not their creator"
        );
        let failed = truth
            .syscalls
            .by_process
            .values()
            .map(|calls| calls["ntoskrnl.exe!NtCreateUserProcess"].failed);
        assert!(failed.sum::<u64>() > 5);
    }
    assert!(on_other_processors > 50, "{on_other_processors}");
}
