//! The window manager and sessions of the tracing system, recomputed from the events in the
//! plainest way.

use std::collections::{BTreeMap, HashMap};

use etwkit_etl::Guid;
use etwkit_etl::bytes::{u32_at, u64_at};
use etwkit_synth::truth::{FocusStay, Session, Sessions, Windows};

use super::acts::{TICK_NS, read, text};
use super::kit::{seeded, written};
use super::providers::id;

const WIN32K: Guid = Guid::literal("8c416c79-d49b-4f01-a467-e56d3aa8234c");
const EVENT_TRACING: Guid = Guid::literal("b675ec37-bdb6-4648-bc92-f3fdc74d3ca2");

/// An object: its owner, its kind, and the time of its creation.
type Object = (u32, String, i64);

/// The focus and its start, for threads and for processes.
#[derive(Default)]
struct Focus {
    thread: Option<(u32, Option<i64>)>,
    process: Option<(u32, Option<i64>)>,
}

/// The focus moves to another thread or process.
fn moves(
    holder: &mut Option<(u32, Option<i64>)>,
    level: &str,
    [old, new]: [u32; 2],
    ns: i64,
    stays: &mut Vec<FocusStay>,
) {
    let (id, from_ns) = holder.replace((new, Some(ns))).unwrap_or((old, None));
    assert_eq!(id, old);
    stays.push(FocusStay {
        level: level.to_owned(),
        id,
        from_ns,
        to_ns: Some(ns),
    });
}

fn type_name(is_gdi: bool, number: u32) -> &'static str {
    match (is_gdi, number) {
        (true, 5) => "gdi Bitmap",
        (true, 16) => "gdi Brush",
        (false, 1) => "user Window",
        (false, 2) => "user Menu",
        _ => panic!("type {number}"),
    }
}

#[test]
fn the_window_manager_follows_from_its_events() {
    for options in [seeded(1, true), seeded(7, false)] {
        let (trace, truth) = written("desktop", &options);
        let mut ours = Windows::default();
        let mut held: HashMap<u32, (&str, i64, u64)> = HashMap::new();
        let mut objects: HashMap<(bool, u64), Object> = HashMap::new();
        let mut focus = Focus::default();
        let mut t0 = None;
        read(trace, &truth, |machine, event| {
            let time = event.timestamp;
            let ns = (time - *t0.get_or_insert(time)) * TICK_NS;
            let (p, Some(id)) = (event.payload(), id(event, WIN32K)) else {
                return;
            };
            let (pid, tid) = (event.process_id().unwrap(), event.thread_id().unwrap());
            assert_eq!(machine.runs(event).0, tid);
            let number = |at: usize| u32_at(p, at).unwrap();
            match id {
                163 | 165 => {
                    let mode = if id == 163 { "exclusive" } else { "shared" };
                    let sums = ours
                        .locks
                        .entry(pid.to_string())
                        .or_default()
                        .entry(mode.to_owned())
                        .or_default();
                    sums.acquisitions += 1;
                    sums.wait_ns += u64_at(p, 0).unwrap() as i64 * TICK_NS;
                    assert!(
                        held.insert(tid, (mode, time, u64_at(p, 12).unwrap()))
                            .is_none()
                    );
                    // No other thread has it while one has it exclusively.
                    assert!(held.values().filter(|of| of.0 == "exclusive").count() <= 1);
                }
                416 | 417 => {
                    let (mode, _, token) = held[&tid];
                    assert_eq!(u64_at(p, 12), Some(token));
                    let modes = ours.locks.get_mut(&pid.to_string()).unwrap();
                    modes.get_mut(mode).unwrap().slow += 1;
                }
                167 => {
                    let (mode, since, _) = held.remove(&tid).unwrap();
                    let sums = ours
                        .locks
                        .get_mut(&pid.to_string())
                        .unwrap()
                        .get_mut(mode)
                        .unwrap();
                    sums.released += 1;
                    sums.hold_ns += (time - since) * TICK_NS;
                    assert_eq!(u64_at(p, 0), Some((time - since) as u64));
                }
                452..=458 => {
                    let is_gdi = id >= 455;
                    let at = if id == 458 { 16 } else { 8 };
                    let (handle, owner) = (u64_at(p, at - 8).unwrap(), number(at + 8));
                    let what = type_name(is_gdi, number(at)).to_owned();
                    match id {
                        452 | 455 => {
                            let object = (owner, what, time);
                            assert!(objects.insert((is_gdi, handle), object).is_none());
                        }
                        453 | 456 => {
                            let (had, _, since) = objects.remove(&(is_gdi, handle)).unwrap();
                            assert_eq!(had, owner);
                            let of = ours.objects.entry(owner.to_string()).or_default();
                            let sums = of.entry(what).or_default();
                            sums.destroyed += 1;
                            sums.lifetime_ns += (time - since) * TICK_NS;
                        }
                        454 | 457 => objects.get_mut(&(is_gdi, handle)).unwrap().0 = owner,
                        _ => {
                            let object = objects.remove(&(true, u64_at(p, 0).unwrap())).unwrap();
                            assert!(objects.insert((true, handle), object).is_none());
                        }
                    }
                }
                2 => moves(
                    &mut focus.thread,
                    "thread",
                    [number(0), number(4)],
                    ns,
                    &mut ours.focus,
                ),
                26 => moves(
                    &mut focus.process,
                    "process",
                    [number(4), number(8)],
                    ns,
                    &mut ours.focus,
                ),
                258 => assert_eq!(Some(number(4)), focus.process.map(|of| of.0)),
                259 => assert_ne!(Some(number(4)), focus.process.map(|of| of.0)),
                _ => {
                    let (kind, ms) = match id {
                        38 => ("message", number(4)),
                        37 => ("input", number(8)),
                        _ => ("wait_cursor", number(16)),
                    };
                    let sums = ours
                        .delays
                        .entry(pid.to_string())
                        .or_default()
                        .entry(kind.to_owned())
                        .or_default();
                    sums.count += 1;
                    sums.duration_ms += u64::from(ms);
                }
            }
        });
        for (tid, (mode, ..)) in held {
            let pid = truth
                .threads
                .keys()
                .find_map(|name| name.strip_suffix(&format!("/{tid}")))
                .unwrap();
            ours.locks
                .get_mut(pid)
                .unwrap()
                .get_mut(mode)
                .unwrap()
                .open_at_end += 1;
        }
        for (owner, what, _) in objects.into_values() {
            ours.objects
                .entry(owner.to_string())
                .or_default()
                .entry(what)
                .or_default()
                .live_at_end += 1;
        }
        // Only the last change shows the owner at the end.
        for (level, holder) in [("process", focus.process), ("thread", focus.thread)] {
            let (id, from_ns) = holder.unwrap();
            ours.focus.push(FocusStay {
                level: level.to_owned(),
                id,
                from_ns,
                to_ns: None,
            });
        }
        let sorted = |mut stays: Vec<FocusStay>| {
            stays.sort_by_key(|stay| (stay.level.clone(), stay.from_ns));
            stays
        };
        let expected = truth.windows.clone();
        assert_eq!(
            sorted(std::mem::take(&mut ours.focus)),
            sorted(expected.focus.clone())
        );
        assert_eq!(
            ours,
            Windows {
                focus: Vec::new(),
                ..expected.clone()
            }
        );
        let slow: u64 = ours
            .locks
            .values()
            .flat_map(BTreeMap::values)
            .map(|sums| sums.slow)
            .sum();
        assert!(slow > 5 && expected.focus.len() > 20, "{slow}");
        let leaks = ours
            .objects
            .values()
            .filter_map(|of| of.get("gdi Bitmap"))
            .map(|sums| sums.live_at_end);
        assert!(leaks.sum::<u64>() > 5);
    }
}

#[test]
fn sessions_of_the_tracing_system_follow_from_their_events() {
    let (trace, truth) = written("tracing", &seeded(3, true));
    let mut ours = Sessions::default();
    let mut live: HashMap<String, usize> = HashMap::new();
    let mut t0 = None;
    read(trace, &truth, |_, event| {
        let ns = (event.timestamp - *t0.get_or_insert(event.timestamp)) * TICK_NS;
        let (p, Some(id)) = (event.payload(), id(event, EVENT_TRACING)) else {
            return;
        };
        let provider = || Guid::from_bytes(p[..16].try_into().unwrap()).to_string();
        let pid = event.process_id().unwrap().to_string();
        match id {
            10 | 20 => {
                let (mode, name) = (u32_at(p, 16).unwrap(), text(&p[20..]));
                let file = text(&p[20 + 2 * name.len() + 2..]);
                if id == 20 && live.contains_key(&name) {
                    return;
                }
                let start_ns = (id == 10).then_some(ns);
                assert!(live.insert(name.clone(), ours.sessions.len()).is_none());
                ours.sessions.push(Session {
                    name,
                    file,
                    mode,
                    start_ns,
                    ..Session::default()
                });
            }
            11 => {
                let session = &mut ours.sessions[live.remove(&text(&p[20..])).unwrap()];
                session.stop_ns = Some(ns);
                session.events_lost = u32_at(p, p.len() - 16);
            }
            14 | 15 => {
                let session = &mut ours.sessions[live[&text(&p[16..])]];
                let counts = if id == 14 {
                    &mut session.enabled
                } else {
                    &mut session.disabled
                };
                *counts.entry(provider()).or_default() += 1;
            }
            2 => *ours.start_errors.entry(text(p)).or_default() += 1,
            8 => *ours.registered.entry(pid).or_default() += 1,
            9 => *ours.unregistered.entry(pid).or_default() += 1,
            _ => {
                assert_eq!(id, 19);
                *ours.lost_events.entry(text(&p[22..])).or_default() += 1;
            }
        }
    });
    assert_eq!(ours, truth.sessions);
    assert!(ours.sessions.len() > 10 && ours.sessions[0].start_ns.is_none());
    assert!(ours.start_errors.values().sum::<u64>() > 5 && ours.lost_events.len() == 1);
}
