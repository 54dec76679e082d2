//! Handles and virtual memory.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::{Event, Sums, Trace, add, add_us, agree, check, raise_us, without};

const MEM_COMMIT: u64 = 0x1000;
const MEM_RESERVE: u64 = 0x2000;
const MEM_DECOMMIT: u64 = 0x4000;
const MEM_RELEASE: u64 = 0x8000;
const PAGE: u64 = 0x1000;

/// Folder of the programs whose frames count as those of the caller.
const APPS: &str = r"C:\Program Files\";

/// The innermost frame of an app in the stack of an event, by time and process.
fn app_frames(trace: &Trace) -> HashMap<(i64, u32), String> {
    let mut frames = HashMap::new();
    for ((ticks, tid, _), stack) in trace.stacks() {
        let Some(pid) = trace.directory.threads.process_of(tid, ticks) else {
            continue;
        };
        let mut places = stack
            .iter()
            .map(|address| trace.place(*address, pid, ticks));
        if let Some((module, rva)) = places.find(|(module, _)| module.starts_with(APPS)) {
            frames.insert((ticks, pid), format!("{module}+{rva:#x}"));
        }
    }
    frames
}

/// An open handle: when and how it came about.
struct Opened<'t> {
    event: &'t Event,
    how: &'static str,
}

/// Process and handle.
type Handle = (u64, u64);

/// What is summed up for each process and type.
struct Handles<'t> {
    trace: &'t Trace,
    types: HashMap<u64, &'t str>,
    sums: Sums,
    open: HashMap<Handle, Opened<'t>>,
}

const ZEROS: [&str; 6] = [
    "created",
    "duplicated_in",
    "closed",
    "closed_preexisting",
    "leaked",
    "preexisting_open_at_end",
];

impl<'t> Handles<'t> {
    fn of(trace: &'t Trace) -> Self {
        let types = trace
            .all("Object/TypeDCEnd")
            .map(|e| (e.number("ObjectType"), e.text("TypeName")))
            .collect();
        let mut handles = Self {
            trace,
            types,
            sums: Sums::default(),
            open: HashMap::new(),
        };
        for event in &trace.events {
            handles.take(event);
        }
        handles
    }

    fn group(&mut self, pid: u64, event: &Event) -> &mut Map<String, Value> {
        let kind = self.types[&event.number("ObjectType")];
        let group = self
            .sums
            .at(&[&format!("{} {kind}", self.trace.process(pid as u32, event))]);
        for key in ZEROS {
            add(group, key, 0);
        }
        for key in ["lifetime_us", "max_lifetime_us"] {
            add_us(group, key, 0.0);
        }
        group
    }

    fn take(&mut self, event: &'t Event) {
        let pid = event.pid.unwrap_or_default().into();
        match event.name.as_str() {
            "Object/CreateHandle" => {
                add(self.group(pid, event), "created", 1);
                self.open.insert(
                    (pid, event.number("Handle")),
                    Opened {
                        event,
                        how: "create",
                    },
                );
            }
            "Object/DuplicateHandle" => {
                let owner = event.number("TargetProcessId");
                add(self.group(owner, event), "duplicated_in", 1);
                self.open.insert(
                    (owner, event.number("TargetHandle")),
                    Opened {
                        event,
                        how: "duplicate",
                    },
                );
            }
            "Object/CloseHandle" => match self.open.remove(&(pid, event.number("Handle"))) {
                Some(opened) => {
                    assert_eq!(opened.event.number("Object"), event.number("Object"));
                    let lifetime = self.trace.duration_us(event.ticks - opened.event.ticks);
                    let group = self.group(pid, event);
                    add(group, "closed", 1);
                    add_us(group, "lifetime_us", lifetime);
                    raise_us(group, "max_lifetime_us", lifetime);
                }
                None => add(self.group(pid, event), "closed_preexisting", 1),
            },
            "Object/HandleDCEnd"
                if !self
                    .open
                    .contains_key(&(event.number("ProcessId"), event.number("Handle"))) =>
            {
                add(
                    self.group(event.number("ProcessId"), event),
                    "preexisting_open_at_end",
                    1,
                );
            }
            _ => {}
        }
    }
}

fn check_handles(trace: &Trace) -> usize {
    let mut handles = Handles::of(trace);
    let names: HashMap<Handle, &str> = trace
        .all("Object/HandleDCEnd")
        .map(|e| {
            (
                (e.number("ProcessId"), e.number("Handle")),
                e.text("ObjectName"),
            )
        })
        .collect();
    let frames = app_frames(trace);
    let mut open: Vec<(Handle, Opened<'_>)> =
        std::mem::take(&mut handles.open).into_iter().collect();
    open.sort_by_key(|((pid, handle), opened)| (opened.event.ticks, *pid, *handle));
    let (mut rows, mut by_process) = (Vec::new(), BTreeMap::<String, u64>::new());
    for ((pid, handle), Opened { event, how }) in open {
        add(handles.group(pid, event), "leaked", 1);
        *by_process
            .entry(trace.process(pid as u32, event))
            .or_default() += 1;
        rows.push(json!([
            event.us,
            pid,
            format!("{handle:#x}"),
            handles.types[&event.number("ObjectType")],
            event.text("Object"),
            names.get(&(pid, handle)),
            how,
            frames.get(&(event.ticks, event.pid.unwrap())),
        ]));
    }
    let ours = json!({
        "by_process_and_type": handles.sums.0,
        "leaked": {"rows": rows},
        "leaked_by_process": by_process,
    });
    let mut truth = without(&trace.truth["handles"], &["columns"]);
    let rows = truth["leaked"]["rows"].as_array_mut().unwrap();
    rows.sort_by(|a, b| a[0].as_f64().unwrap().total_cmp(&b[0].as_f64().unwrap()));
    agree(&format!("{}/handles", trace.name), &truth, &ours)
}

/// The pages that a range touches.
fn pages(event: &Event) -> std::ops::Range<u64> {
    let (base, len) = (event.number("BaseAddress"), event.number("RegionSize"));
    base / PAGE..(base + len).div_ceil(PAGE)
}

fn check_virtual_memory(trace: &Trace) -> usize {
    let frames = app_frames(trace);
    let mut sums = Sums::default();
    let mut committed: BTreeMap<String, HashMap<u64, String>> = BTreeMap::new();
    for event in &trace.events {
        let (allocates, frees) = (
            event.name == "PageFault/VirtualAlloc",
            event.name == "PageFault/VirtualFree",
        );
        if !allocates && !frees {
            continue;
        }
        let (process, flags) = (trace.owner(event), event.number("Flags"));
        let (of_process, owned) = (sums.at(&[&process]), committed.entry(process).or_default());
        for key in [
            "commit_events",
            "reserve_only_events",
            "decommit_events",
            "release_events",
        ] {
            add(of_process, key, 0);
        }
        if allocates && flags & MEM_COMMIT != 0 {
            add(of_process, "commit_events", 1);
            add(of_process, "commit_bytes", event.number("RegionSize"));
            let frame = frames
                .get(&(event.ticks, event.pid.unwrap()))
                .cloned()
                .unwrap_or_default();
            for page in pages(event) {
                owned.entry(page).or_insert_with(|| frame.clone());
            }
        } else if allocates && flags & MEM_RESERVE != 0 {
            add(of_process, "reserve_only_events", 1);
        }
        if frees {
            let kind = if flags & MEM_DECOMMIT != 0 {
                "decommit_events"
            } else {
                "release_events"
            };
            assert!(flags & (MEM_DECOMMIT | MEM_RELEASE) != 0);
            add(of_process, kind, 1);
            add(of_process, "freed_bytes", event.number("RegionSize"));
            for page in pages(event) {
                owned.remove(&page);
            }
        }
    }
    for (process, pages) in committed {
        let outstanding = sums.at(&[&process]);
        outstanding.insert(
            "outstanding_bytes".to_owned(),
            (pages.len() as u64 * PAGE).into(),
        );
        let by_frame = sums.at(&[&process, "outstanding_by_stack"]);
        for frame in pages.values() {
            add(by_frame, frame, PAGE);
        }
    }
    let truth = without(
        &trace.truth["virtual_alloc"],
        &["outstanding_by_exact_base_rule"],
    );
    agree(
        &format!("{}/virtual_alloc", trace.name),
        &truth,
        &sums.0.into(),
    )
}

#[test]
fn handles_and_virtual_memory() {
    check(&["handles"], |trace| {
        check_handles(trace) + check_virtual_memory(trace)
    });
}
