//! Events of providers that scenarios write: the timer, settings, names of hosts. Recomputed from
//! the events in the plainest way.

use std::collections::{BTreeMap, HashMap};

use etwkit_etl::bytes::{u16_at, u32_at, u64_at};
use etwkit_etl::{Guid, RawEvent};
use etwkit_synth::truth::{Collection, Dns, Lookups, PowerSetting, TimerResolution};

use super::acts::{TICK_NS, read, text};
use super::kit::{seeded, written};

const KERNEL_POWER: Guid = Guid::literal("331c3b3a-2005-44c2-ac5e-77220c37d6b4");
const DNS_CLIENT: Guid = Guid::literal("1c95126e-7eea-49a9-a3fe-a378b03ddb4d");
const DOTNET: Guid = Guid::literal("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");

/// Id of an event of a provider.
pub(crate) fn id(event: &RawEvent<'_>, provider: Guid) -> Option<u16> {
    (event.hook_id().is_none() && event.kind.is_manifest() && event.provider() == provider)
        .then(|| event.descriptor().id)
}

#[test]
fn resolutions_of_the_timer_follow_from_their_events() {
    for options in [seeded(1, true), seeded(9, false)] {
        let (trace, truth) = written("timers", &options);
        let mut ours: Vec<TimerResolution> = Vec::new();
        let mut held: HashMap<(&str, Option<u32>), usize> = HashMap::new();
        let mut t0 = None;
        read(trace, &truth, |_, event| {
            let ns = (event.timestamp - *t0.get_or_insert(event.timestamp)) * TICK_NS;
            let p = event.payload();
            if event.hook_id() == Some(0x0302) {
                // The request of a process ends with it.
                let gone = held.remove(&("process", u32_at(p, 8)));
                gone.into_iter()
                    .for_each(|place| ours[place].to_ns = Some(ns));
            }
            let (kind, pid, is_rundown, is_ignored) = match id(event, KERNEL_POWER) {
                Some(63) => (
                    "process",
                    u32_at(p, 4),
                    false,
                    u32_at(p, p.len() - 4) == Some(1),
                ),
                Some(97) => (
                    "process",
                    u32_at(p, 4),
                    true,
                    u32_at(p, p.len() - 4) == Some(1),
                ),
                Some(98) => ("kernel", None, false, false),
                Some(95) => ("system", None, false, false),
                Some(96) => ("system", None, true, false),
                _ => return,
            };
            let resolution_100ns = u32_at(p, 0).unwrap();
            if let Some(pid) = pid {
                let path = text(&p[10..10 + 2 * usize::from(u16_at(p, 8).unwrap())]);
                assert!(
                    path.ends_with(&format!(r"\{}", truth.processes[&pid].name)),
                    "{path}"
                );
            }
            if is_rundown && ns > truth.header.duration_ns / 2 {
                // Settings in force are listed again.
                let holding = &ours[held[&(kind, pid)]];
                assert_eq!(
                    (holding.resolution_100ns, holding.is_ignored),
                    (resolution_100ns, is_ignored)
                );
                return;
            }
            let before = held.remove(&(kind, pid));
            before
                .into_iter()
                .for_each(|place| ours[place].to_ns = Some(ns));
            if resolution_100ns == 0 {
                return;
            }
            held.insert((kind, pid), ours.len());
            let from_ns = (!is_rundown).then_some(ns);
            let kind = kind.to_owned();
            ours.push(TimerResolution {
                kind,
                pid,
                resolution_100ns,
                from_ns,
                to_ns: None,
                is_ignored,
            });
        });
        assert_eq!(ours, truth.timer_resolution);
        assert!(ours.iter().any(|row| row.is_ignored));
        // At each time, the system has the finest effective request.
        for system in ours.iter().filter(|row| row.kind == "system") {
            let at = system.from_ns.unwrap_or(0);
            let holds = |row: &&TimerResolution| {
                row.kind != "system"
                    && !row.is_ignored
                    && row.from_ns.unwrap_or(0) <= at
                    && row.to_ns.is_none_or(|to| to > at)
            };
            let finest = ours
                .iter()
                .filter(holds)
                .map(|row| row.resolution_100ns)
                .min();
            assert_eq!(system.resolution_100ns, finest.unwrap_or(156_250), "{at}");
        }
    }
}

#[test]
fn settings_follow_from_their_events() {
    let (trace, truth) = written("timers", &seeded(2, true));
    let mut ours: BTreeMap<String, Vec<PowerSetting>> = BTreeMap::new();
    let mut t0 = None;
    read(trace, &truth, |_, event| {
        let ns = (event.timestamp - *t0.get_or_insert(event.timestamp)) * TICK_NS;
        let (p, Some(id @ (111 | 112))) = (event.payload(), id(event, KERNEL_POWER)) else {
            return;
        };
        let setting = Guid::from_bytes(p[..16].try_into().unwrap()).to_string();
        let length = u32_at(p, 16).unwrap() as usize;
        let data: String = p[20..20 + length]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let values = ours.entry(setting).or_default();
        if id == 111 && !values.is_empty() {
            assert_eq!(
                values.last().unwrap().data,
                data,
                "listed again when the session ends"
            );
            return;
        }
        values.push(PowerSetting {
            from_ns: (id == 112).then_some(ns),
            data,
        });
    });
    assert_eq!(ours, truth.power_settings);
    assert!(ours.len() == 3 && ours.values().any(|values| values.len() > 3));
}

#[test]
fn queries_of_names_follow_from_their_events() {
    for options in [seeded(1, false), seeded(3, true)] {
        let (trace, truth) = written("name-lookup", &options);
        let mut ours = Dns::default();
        let mut open: HashMap<(u32, String, u32), (i64, bool)> = HashMap::new();
        let mut servers = 0;
        read(trace, &truth, |_, event| {
            let Some(id) = id(event, DNS_CLIENT) else {
                return;
            };
            let p = event.payload();
            let name = text(p);
            let rest = &p[2 * name.len() + 2..];
            let client = || u32_at(p, p.len() - 4).unwrap();
            match id {
                3006 => {
                    let pid = event.process_id().unwrap();
                    // One thread of a process asks for a name and type at a time.
                    open.insert(
                        (event.thread_id().unwrap(), name, u32_at(rest, 0).unwrap()),
                        (event.timestamp, false),
                    );
                    assert!(truth.processes.contains_key(&pid));
                }
                3008 => {
                    let key = (
                        event.thread_id().unwrap(),
                        name.clone(),
                        u32_at(rest, 0).unwrap(),
                    );
                    let (began, is_timed_out) = open.remove(&key).unwrap();
                    let pid = event.process_id().unwrap().to_string();
                    for sums in [
                        ours.by_process.entry(pid).or_default(),
                        ours.by_name.entry(name).or_default(),
                    ] {
                        let sums: &mut Lookups = sums;
                        sums.queries += 1;
                        sums.failed += u64::from(u32_at(rest, 12) != Some(0));
                        sums.timed_out += u64::from(is_timed_out);
                        sums.duration_ns += (event.timestamp - began) * TICK_NS;
                    }
                }
                1015 => {
                    assert_eq!((u32_at(rest, 0), u16_at(rest, 4)), (Some(16), Some(2)));
                    let is_asked = |(tid, of, _): &(u32, String, u32)| {
                        *of == name && truth.threads.contains_key(&format!("{}/{tid}", client()))
                    };
                    let mut of = open.iter_mut().filter(|(key, _)| is_asked(key));
                    of.next().unwrap().1.1 = true;
                    assert!(of.next().is_none(), "{name}");
                }
                3010 => servers += 1,
                _ => assert_eq!(id, 3009),
            }
        });
        ours.open_at_end = open.len() as u64;
        assert_eq!(ours, truth.dns);
        assert!(servers > 10 && ours.by_name["smtp.contoso.example"].timed_out > 1);
        assert_eq!(truth.dns.by_name["old.contoso.example"].timed_out, 0);
    }
}

#[test]
fn collections_follow_from_their_events() {
    for options in [seeded(1, true), seeded(2, false)] {
        let (trace, truth) = written("collections", &options);
        let mut ours: Vec<Collection> = Vec::new();
        // Pauses by thread: times of the request, of the stop of all threads and of their
        // resumption; and the number of collections.
        let mut pauses: HashMap<u32, ([i64; 3], usize)> = HashMap::new();
        let mut ended = 0;
        let mut t0 = None;
        read(trace, &truth, |_, event| {
            let ns = (event.timestamp - *t0.get_or_insert(event.timestamp)) * TICK_NS;
            let (p, Some(id)) = (event.payload(), id(event, DOTNET)) else {
                return;
            };
            let (pid, tid) = (event.process_id().unwrap(), event.thread_id().unwrap());
            let number = |at: usize| u32_at(p, at).unwrap();
            match id {
                9 => {
                    assert!(pauses.is_empty(), "one pause at a time");
                    pauses.insert(tid, ([ns, 0, 0], ours.len()));
                }
                8 => pauses.get_mut(&tid).unwrap().0[1] = ns,
                7 => pauses.get_mut(&tid).unwrap().0[2] = ns,
                3 => {
                    let ([begin, stopped, restart], before) = pauses.remove(&tid).unwrap();
                    // The one that began in it, else the one in the background.
                    let place = if ours.len() > before {
                        ours.len() - 1
                    } else {
                        ours.iter().rposition(|of| of.kind == 1).unwrap()
                    };
                    ours[place].suspended_ns += ns - begin;
                    ours[place].suspending_ns += stopped - begin;
                    ours[place].restarting_ns += ns - restart;
                }
                1 => ours.push(Collection {
                    pid,
                    number: number(0),
                    generation: number(4),
                    kind: number(12),
                    start_ns: ns,
                    ..Collection::default()
                }),
                2 => {
                    ended = ours.iter().position(|of| of.number == number(0)).unwrap();
                    ours[ended].end_ns = Some(ns);
                }
                _ => {
                    assert_eq!((id, p.len()), (4, 110));
                    let size = |at: usize| u64_at(p, at).unwrap();
                    let of = &mut ours[ended];
                    (of.gen0_bytes, of.gen1_bytes, of.gen2_bytes) = (size(0), size(16), size(32));
                    (of.large_bytes, of.pinned_bytes) = (size(48), size(94));
                    of.promoted_bytes = [8, 24, 40, 56, 102].map(size).iter().sum();
                    (of.pinned_objects, of.handles) = (number(80), number(88));
                }
            }
        });
        assert_eq!(ours, truth.collections);
        assert!(
            (0..3).all(|kind| ours.iter().any(|of| of.kind == kind)),
            "{ours:?}"
        );
    }
}
