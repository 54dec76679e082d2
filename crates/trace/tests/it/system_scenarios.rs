//! Simulated machines: importers of system calls, the registry, handles, host names, the window
//! manager, the timer and garbage collections find exactly what the simulation recorded.

use std::collections::BTreeMap;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use etwkit_synth::truth::{
    Collection, DelaySums, FocusStay, GuiSums, HandleSums, LockSums, Lookups, RegistrySums,
    TimerResolution,
};
use etwkit_trace::table::{
    DnsQuery, FocusChange, Gc, GdiUserObject, Handle, RegistryIo, Row, Syscall, Table, Thread,
    UiDelay, UserLock,
};

use crate::scenarios::{Made, made};

impl Made {
    fn flags(&self, table: &Table, column: &str) -> Vec<bool> {
        let of = self.rows.iter().filter(|(of, _)| of.name == table.name);
        of.flat_map(|(_, batch)| {
            let array = batch.column_by_name(column).unwrap().as_boolean().clone();
            (0..array.len())
                .map(|row| array.is_valid(row) && array.value(row))
                .collect::<Vec<_>>()
        })
        .collect()
    }

    fn pid(&self, key: Option<i64>) -> String {
        self.pids[&key.unwrap()].clone()
    }

    fn texts(&self, table: &Table, column: &str) -> Vec<String> {
        self.words(table, column)
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect()
    }
}

/// True if a status is an error.
fn is_error(status: Option<i64>) -> bool {
    status.is_some_and(|status| status as u32 >> 30 == 3)
}

#[test]
fn system_calls_are_those_of_the_simulation() {
    for made in ["system-calls", "process-starts"]
        .into_iter()
        .flat_map(made)
    {
        let mut found: BTreeMap<String, (u64, u64, i64)> = BTreeMap::new();
        let (mut earlier, mut open) = (0, 0);
        let columns = [
            "process_key",
            "enter_ns",
            "exit_ns",
            "duration_ns",
            "status",
        ];
        for [process, enter, exit, duration, status] in made.numbers(Syscall::TABLE, columns) {
            earlier += u64::from(enter.is_none());
            open += u64::from(exit.is_none());
            let Some(duration) = duration else { continue };
            let sums = found.entry(made.pid(process)).or_default();
            *sums = (
                sums.0 + 1,
                sums.1 + u64::from(is_error(status)),
                sums.2 + duration,
            );
        }
        let mut expected: BTreeMap<String, (u64, u64, i64)> = BTreeMap::new();
        for (pid, calls) in &made.truth.syscalls.by_process {
            let sums = expected.entry(pid.clone()).or_default();
            for call in calls.values() {
                *sums = (
                    sums.0 + call.count,
                    sums.1 + call.failed,
                    sums.2 + call.duration_ns,
                );
            }
        }
        assert_eq!(found, expected);
        assert_eq!(
            (earlier, open),
            (
                made.truth.syscalls.ends_of_earlier,
                made.truth.syscalls.open_at_end
            )
        );
    }
}

#[test]
fn the_registry_is_that_of_the_simulation() {
    for made in made("system-calls") {
        let mut found = etwkit_synth::truth::Registry::default();
        let rows = made.numbers(RegistryIo::TABLE, ["process_key", "duration_ns", "status"]);
        let names = made
            .texts(RegistryIo::TABLE, "operation")
            .into_iter()
            .zip(made.texts(RegistryIo::TABLE, "key"));
        for ([process, duration, status], (operation, key)) in rows.into_iter().zip(names) {
            let of_process = found.by_process.entry(made.pid(process)).or_default();
            for sums in [
                of_process.entry(operation).or_default(),
                found.by_key.entry(key).or_default(),
            ] {
                let sums: &mut RegistrySums = sums;
                sums.count += 1;
                sums.failed += u64::from(is_error(status));
                sums.duration_ns += duration.unwrap();
            }
        }
        assert_eq!(found, made.truth.registry);
    }
}

#[test]
fn handles_are_those_of_the_simulation() {
    for made in made("system-calls") {
        let mut found: BTreeMap<String, HandleSums> = BTreeMap::new();
        let rows = made.numbers(Handle::TABLE, ["process_key", "lifetime_ns", "open_ns"]);
        let ends = made
            .texts(Handle::TABLE, "origin")
            .into_iter()
            .zip(made.texts(Handle::TABLE, "outcome"));
        for ([process, lifetime, opened], (origin, outcome)) in rows.into_iter().zip(ends) {
            let sums = found.entry(made.pid(process)).or_default();
            sums.opened += u64::from(origin == "create");
            sums.duplicated += u64::from(origin == "duplicate");
            sums.closed += u64::from(outcome == "closed");
            let is_earlier =
                outcome == "closed" && matches!(origin.as_str(), "rundown" | "unknown");
            sums.closed_of_earlier += u64::from(is_earlier);
            // The list at the start of the session has a time, but does not contain the time at
            // which a handle was opened.
            sums.lifetime_ns += if is_earlier {
                0
            } else {
                lifetime.unwrap_or_default()
            };
            sums.open_at_end += u64::from(outcome == "open");
            assert!(opened.is_some() || is_earlier || origin == "rundown");
        }
        assert_eq!(found, made.truth.handles.by_process);
    }
}

#[test]
fn queries_of_names_are_those_of_the_simulation() {
    for made in made("name-lookup") {
        let mut found = etwkit_synth::truth::Dns::default();
        let rows = made.numbers(DnsQuery::TABLE, ["process_key", "duration_ns", "status"]);
        let timed_out = made.flags(DnsQuery::TABLE, "is_timed_out");
        let names = made.texts(DnsQuery::TABLE, "name");
        for (([process, duration, status], name), timed_out) in
            rows.into_iter().zip(names).zip(timed_out)
        {
            let Some(duration) = duration else {
                found.open_at_end += 1;
                continue;
            };
            let pid = made.pid(process);
            for sums in [
                found.by_process.entry(pid).or_default(),
                found.by_name.entry(name).or_default(),
            ] {
                let sums: &mut Lookups = sums;
                sums.queries += 1;
                sums.failed += u64::from(status != Some(0));
                sums.timed_out += u64::from(timed_out);
                sums.duration_ns += duration;
            }
        }
        assert_eq!(found, made.truth.dns);
    }
}

#[test]
fn the_lock_and_the_objects_of_the_window_manager_are_those_of_the_simulation() {
    for made in made("desktop") {
        let mut locks: BTreeMap<String, BTreeMap<String, LockSums>> = BTreeMap::new();
        let rows = made.numbers(
            UserLock::TABLE,
            ["process_key", "wait_ns", "release_ns", "hold_ns"],
        );
        let modes = made
            .texts(UserLock::TABLE, "mode")
            .into_iter()
            .zip(made.flags(UserLock::TABLE, "is_slow"));
        for ([process, wait, release, hold], (mode, is_slow)) in rows.into_iter().zip(modes) {
            let sums = locks
                .entry(made.pid(process))
                .or_default()
                .entry(mode)
                .or_default();
            sums.acquisitions += 1;
            sums.slow += u64::from(is_slow);
            sums.wait_ns += wait.unwrap();
            sums.released += u64::from(release.is_some());
            sums.hold_ns += hold.unwrap_or_default();
            sums.open_at_end += u64::from(release.is_none());
        }
        assert_eq!(locks, made.truth.windows.locks);
        let mut objects: BTreeMap<String, BTreeMap<String, GuiSums>> = BTreeMap::new();
        let [classes, types, outcomes] = ["class", "type_name", "outcome"]
            .map(|column| made.texts(GdiUserObject::TABLE, column));
        let rows = made.numbers(GdiUserObject::TABLE, ["process_key", "lifetime_ns"]);
        for (row, [process, lifetime]) in rows.into_iter().enumerate() {
            let of = objects.entry(made.pid(process)).or_default();
            let sums = of
                .entry(format!("{} {}", classes[row], types[row]))
                .or_default();
            let is_gone = outcomes[row] == "destroyed";
            sums.destroyed += u64::from(is_gone);
            sums.live_at_end += u64::from(!is_gone);
            sums.lifetime_ns += lifetime.unwrap_or_default();
        }
        assert_eq!(objects, made.truth.windows.objects);
    }
}

#[test]
fn the_focus_and_delays_are_those_of_the_simulation() {
    for made in made("desktop") {
        let tids = made.numbers(Thread::TABLE, ["thread_key", "tid"]);
        let tids: BTreeMap<i64, i64> = tids
            .into_iter()
            .map(|[key, tid]| (key.unwrap(), tid.unwrap()))
            .collect();
        let rows = made.numbers(
            FocusChange::TABLE,
            ["process_key", "thread_key", "ts_ns", "end_ns"],
        );
        let levels = made.texts(FocusChange::TABLE, "level");
        let stay = |([process, thread, from_ns, to_ns], level): ([Option<i64>; 4], String)| {
            let id = match thread.filter(|_| level == "thread") {
                Some(key) => tids[&key] as u32,
                None => made.pid(process).parse().unwrap(),
            };
            FocusStay {
                level,
                id,
                from_ns,
                to_ns,
            }
        };
        let mut found: Vec<FocusStay> = rows.into_iter().zip(levels).map(stay).collect();
        let mut expected = made.truth.windows.focus.clone();
        for list in [&mut found, &mut expected] {
            list.sort_by_key(|stay| (stay.level.clone(), stay.from_ns));
        }
        assert_eq!(found, expected);
        let mut delays: BTreeMap<String, BTreeMap<String, DelaySums>> = BTreeMap::new();
        let rows = made.numbers(UiDelay::TABLE, ["process_key", "duration_ns"]);
        for ([process, duration], kind) in rows.into_iter().zip(made.texts(UiDelay::TABLE, "kind"))
        {
            let sums = delays
                .entry(made.pid(process))
                .or_default()
                .entry(kind)
                .or_default();
            sums.count += 1;
            sums.duration_ms += duration.unwrap() as u64 / 1_000_000;
        }
        assert_eq!(delays, made.truth.windows.delays);
    }
}

#[test]
fn resolutions_of_the_timer_are_those_of_the_simulation() {
    for made in made("timers") {
        let table = etwkit_trace::table::TimerResolution::TABLE;
        let rows = made.numbers(
            table,
            ["process_key", "resolution_ns", "start_ns", "end_ns"],
        );
        let kinds = made
            .texts(table, "kind")
            .into_iter()
            .zip(made.flags(table, "is_ignored"));
        let request = |(row, (kind, is_ignored)): ([Option<i64>; 4], (String, bool))| {
            let [process, resolution, from_ns, to_ns] = row;
            TimerResolution {
                kind,
                pid: process.map(|key| made.pid(Some(key)).parse().unwrap()),
                resolution_100ns: (resolution.unwrap() / 100) as u32,
                from_ns,
                to_ns,
                is_ignored,
            }
        };
        let mut found: Vec<TimerResolution> = rows.into_iter().zip(kinds).map(request).collect();
        let mut expected = made.truth.timer_resolution.clone();
        for list in [&mut found, &mut expected] {
            list.sort_by_key(|of| (of.kind.clone(), of.pid, of.from_ns));
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn collections_are_those_of_the_simulation() {
    for made in made("collections") {
        let who = made.numbers(
            Gc::TABLE,
            ["process_key", "number", "generation", "gc_type"],
        );
        let when = [
            "start_ns",
            "end_ns",
            "suspended_ns",
            "suspending_ns",
            "restarting_ns",
        ];
        let when = made.numbers(Gc::TABLE, when);
        let heaps = [
            "gen0_bytes",
            "gen1_bytes",
            "gen2_bytes",
            "large_bytes",
            "pinned_bytes",
            "promoted_bytes",
        ];
        let heaps = made.numbers(Gc::TABLE, heaps);
        let objects = made.numbers(Gc::TABLE, ["pinned_objects", "handles"]);
        let found: Vec<Collection> = (0..who.len())
            .map(|row| {
                let small = |number: Option<i64>| number.unwrap_or_default() as u32;
                let [gen0, gen1, gen2, large, pinned, promoted] =
                    heaps[row].map(|n| n.unwrap_or_default() as u64);
                Collection {
                    pid: made.pid(who[row][0]).parse().unwrap(),
                    number: small(who[row][1]),
                    generation: small(who[row][2]),
                    kind: small(who[row][3]),
                    start_ns: when[row][0].unwrap(),
                    end_ns: when[row][1],
                    suspended_ns: when[row][2].unwrap_or_default(),
                    suspending_ns: when[row][3].unwrap_or_default(),
                    restarting_ns: when[row][4].unwrap_or_default(),
                    gen0_bytes: gen0,
                    gen1_bytes: gen1,
                    gen2_bytes: gen2,
                    large_bytes: large,
                    pinned_bytes: pinned,
                    promoted_bytes: promoted,
                    pinned_objects: small(objects[row][0]),
                    handles: small(objects[row][1]),
                }
            })
            .collect();
        assert_eq!(found, made.truth.collections);
    }
}
