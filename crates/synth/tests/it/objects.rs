//! System calls, the registry, handles and objects, recomputed from the events in the plainest way.

use std::collections::{BTreeMap, HashMap};

use etwkit_etl::bytes::{i64_at, u16_at, u32_at, u64_at};
use etwkit_synth::truth::{HandleSums, Handles, Registry, SyscallSums, Syscalls};

use super::acts::{TICK_NS, read, text};
use super::kit::{seeded, written};

/// A call that has not ended: when it began, and the path that it is about.
#[derive(Default)]
struct Call {
    address: u64,
    since: i64,
    about: Option<String>,
}

const REGISTRY: [(u16, &str); 6] = [
    (10, "create_key"),
    (11, "open_key"),
    (14, "set_value"),
    (16, "query_value"),
    (17, "enumerate_key"),
    (27, "close_key"),
];

#[test]
fn system_calls_and_the_registry_follow_from_their_events() {
    for options in [seeded(1, true), seeded(4, false)] {
        let (trace, truth) = written("system-calls", &options);
        // Paths of control blocks, with the times from which on they have them.
        let mut blocks: HashMap<u64, Vec<(i64, String)>> = HashMap::new();
        read(trace.clone(), &truth, |_, event| {
            let (p, Some(0x0916..=0x0919)) = (event.payload(), event.hook_id()) else {
                return;
            };
            let of = blocks.entry(u64_at(p, 16).unwrap()).or_default();
            // Those that are listed at the end had their block all the time.
            let since = if event.hook_id() == Some(0x0919) && of.is_empty() {
                0
            } else {
                event.timestamp
            };
            if event.hook_id() != Some(0x0917) {
                of.push((since, text(&p[24..])));
            }
        });
        let mut calls: HashMap<u32, Vec<Call>> = HashMap::new();
        let (mut ours, mut registry) = (Syscalls::default(), Registry::default());
        let mut addresses: BTreeMap<(String, u64), SyscallSums> = BTreeMap::new();
        read(trace, &truth, |machine, event| {
            let (p, Some(hook)) = (event.payload(), event.hook_id()) else {
                return;
            };
            if !machine.is_running(event) {
                return;
            }
            let (tid, pid) = machine.runs(event);
            let pid = pid.to_owned();
            let mut about = None;
            match hook {
                0x0F33 => {
                    let call = Call {
                        address: u64_at(p, 0).unwrap(),
                        since: event.timestamp,
                        about: None,
                    };
                    calls.entry(tid).or_default().push(call);
                }
                0x0F34 => {
                    let Some(call) = calls.entry(tid).or_default().pop() else {
                        ours.ends_of_earlier += 1;
                        return;
                    };
                    let of_path = call.about.map(|path| ours.by_path.entry(path).or_default());
                    let of_address = addresses.entry((pid, call.address)).or_default();
                    for sums in of_path.into_iter().chain([of_address]) {
                        sums.count += 1;
                        sums.failed += u64::from(u32_at(p, 0).unwrap() >> 30 == 3);
                        sums.duration_ns += (event.timestamp - call.since) * TICK_NS;
                    }
                }
                0x0440 => about = Some(text(&p[32..]).replace(r"\Device\HarddiskVolume3", "C:")),
                0x0441..=0x0444 => {
                    let key = u64_at(p, if hook < 0x0443 { 16 } else { 24 }).unwrap();
                    about = machine.file(key);
                }
                0x090A..=0x0914 | 0x091B => {
                    let (began, name) = (i64_at(p, 0).unwrap(), text(&p[24..]));
                    let of = &blocks[&u64_at(p, 16).unwrap()];
                    let base = &of
                        .iter()
                        .rfind(|(since, _)| *since <= event.timestamp)
                        .unwrap()
                        .1;
                    let is_value = matches!(hook & 0xFF, 14 | 16);
                    let path = if is_value || name.is_empty() {
                        base.clone()
                    } else {
                        format!(r"{base}\{name}")
                    };
                    let operation = REGISTRY
                        .iter()
                        .find(|(op, _)| *op == hook & 0xFF)
                        .unwrap()
                        .1;
                    let of_process = registry.by_process.entry(pid).or_default();
                    for sums in [
                        of_process.entry(operation.to_owned()).or_default(),
                        registry.by_key.entry(path.clone()).or_default(),
                    ] {
                        sums.count += 1;
                        sums.failed += u64::from(u32_at(p, 8).unwrap() >> 30 == 3);
                        sums.duration_ns += (event.timestamp - began) * TICK_NS;
                    }
                    about = Some(path);
                }
                _ => {}
            }
            if let Some(call) = calls.get_mut(&tid).and_then(|calls| calls.last_mut()) {
                call.about = call.about.take().or(about);
            }
        });
        ours.open_at_end = calls.values().map(|calls| calls.len() as u64).sum();
        assert_eq!(registry, truth.registry);
        assert_eq!(ours.by_path, truth.syscalls.by_path);
        assert_eq!(ours.ends_of_earlier, truth.syscalls.ends_of_earlier);
        assert_eq!(ours.open_at_end, truth.syscalls.open_at_end);
        // Each function has an address of its own.
        let mut expected: Vec<(String, SyscallSums)> = Vec::new();
        for (pid, functions) in &truth.syscalls.by_process {
            expected.extend(functions.values().map(|sums| (pid.clone(), *sums)));
        }
        let mut ours: Vec<(String, SyscallSums)> = addresses
            .into_iter()
            .map(|((pid, _), sums)| (pid, sums))
            .collect();
        for list in [&mut expected, &mut ours] {
            list.sort_by_key(|(pid, sums)| (pid.clone(), sums.count, sums.duration_ns));
        }
        assert_eq!(ours, expected);
        assert_eq!(registry.by_key.len(), 6, "{registry:?}");
        assert!(
            truth
                .syscalls
                .by_path
                .keys()
                .any(|path| path.ends_with("neon.json"))
        );
    }
}

/// Counts for a process and a type.
fn count(ours: &mut Handles, pid: u32, kind: &str, add: impl Fn(&mut HandleSums)) {
    add(ours.by_process.entry(pid.to_string()).or_default());
    add(ours.by_type.entry(kind.to_owned()).or_default());
}

#[test]
fn handles_and_objects_follow_from_their_events() {
    for options in [seeded(2, true), seeded(5, false)] {
        let (trace, truth) = written("system-calls", &options);
        let mut ours = Handles::default();
        let mut kinds: HashMap<u16, String> = HashMap::new();
        // Object, type and opening by process and value; creation by address.
        let mut open: HashMap<(u32, u32), (u64, u16, Option<i64>)> = HashMap::new();
        let mut objects: HashMap<u64, Option<i64>> = HashMap::new();
        let mut listed = 0;
        read(trace, &truth, |_, event| {
            let (p, Some(hook)) = (
                event.payload(),
                event.hook_id().filter(|hook| hook >> 8 == 0x11),
            ) else {
                return;
            };
            let time = event.timestamp;
            let object = || u64_at(p, 0).unwrap();
            match hook & 0xFF {
                36 | 37 => drop(kinds.insert(u16_at(p, 0).unwrap(), text(&p[4..]))),
                38 => {
                    let key = (u32_at(p, 8).unwrap(), u32_at(p, 12).unwrap());
                    open.insert(key, (object(), u16_at(p, 16).unwrap(), None));
                    objects.insert(object(), None);
                }
                39 => {
                    let key = (u32_at(p, 8).unwrap(), u32_at(p, 12).unwrap());
                    assert_eq!(open[&key].0, object());
                    listed += 1;
                }
                48 => {
                    assert!(objects.insert(object(), Some(time)).is_none());
                    ours.objects.created += 1;
                }
                49 => {
                    let born = objects.remove(&object()).unwrap();
                    ours.objects.deleted += 1;
                    ours.objects.deleted_of_earlier += u64::from(born.is_none());
                    ours.objects.lifetime_ns += born.map_or(0, |born| (time - born) * TICK_NS);
                }
                32 => {
                    let (pid, kind) = (event.process_id().unwrap(), u16_at(p, 12).unwrap());
                    let handle = (pid, u32_at(p, 8).unwrap());
                    assert!(open.insert(handle, (object(), kind, Some(time))).is_none());
                    count(&mut ours, pid, &kinds[&kind], |sums| sums.opened += 1);
                }
                34 => {
                    let (source, target) = (u32_at(p, 22).unwrap(), u32_at(p, 16).unwrap());
                    let kind = u16_at(p, 20).unwrap();
                    assert_eq!(open[&(source, u32_at(p, 8).unwrap())].0, object());
                    let handle = (target, u32_at(p, 12).unwrap());
                    assert!(open.insert(handle, (object(), kind, Some(time))).is_none());
                    count(&mut ours, target, &kinds[&kind], |sums| {
                        sums.duplicated += 1;
                    });
                }
                _ => {
                    let pid = event.process_id().unwrap();
                    let (of, kind, since) = open.remove(&(pid, u32_at(p, 8).unwrap())).unwrap();
                    assert_eq!((of, Some(kind)), (object(), u16_at(p, 12)));
                    count(&mut ours, pid, &kinds[&kind], |sums| {
                        sums.closed += 1;
                        sums.closed_of_earlier += u64::from(since.is_none());
                        sums.lifetime_ns += since.map_or(0, |since| (time - since) * TICK_NS);
                    });
                }
            }
        });
        for ((pid, _), (_, kind, _)) in &open {
            count(&mut ours, *pid, &kinds[kind], |sums| sums.open_at_end += 1);
        }
        ours.objects.live_at_end = objects.len() as u64;
        assert_eq!(ours, truth.handles);
        assert_eq!(listed, open.len());
        let closed = |kind: &str| ours.by_type[kind].closed_of_earlier;
        assert_eq!((closed("Mutant"), ours.objects.deleted_of_earlier), (2, 2));
        let helper = truth
            .processes
            .iter()
            .find(|(_, process)| process.name == "Helper.exe")
            .unwrap();
        let leaks = ours.by_process[&helper.0.to_string()];
        assert!(leaks.open_at_end > leaks.duplicated / 4, "{leaks:?}");
    }
}
