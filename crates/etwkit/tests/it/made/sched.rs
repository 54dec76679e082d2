//! Context switches, readied threads, samples, DPCs, marks.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use super::{Event, Sums, Trace, add, agree, check, counts, stack_owner};

/// What a table of the truth says in some of its columns.
fn columns(columns: &Value, rows: &Value, wanted: &[&str]) -> Value {
    let position = |name: &&str| {
        columns
            .as_array()
            .unwrap()
            .iter()
            .position(|column| column == name)
            .unwrap()
    };
    let positions: Vec<usize> = wanted.iter().map(position).collect();
    let row = |row: &Value| {
        positions
            .iter()
            .map(|at| row[at].clone())
            .collect::<Value>()
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

/// Process ids of the truth are numbers unless there are several instances.
fn pid(key: &str) -> Value {
    key.parse::<u32>().map_or_else(|_| json!(key), Value::from)
}

const SWITCH_COLUMNS: [&str; 17] = [
    "switch_in_us",
    "cpu",
    "new_pid",
    "new_tid",
    "old_pid",
    "old_tid",
    "old_state",
    "old_wait_reason",
    "old_wait_mode",
    "new_priority",
    "old_priority",
    "prev_cstate",
    "new_thread_wait_time",
    "new_prev_state",
    "new_prev_wait_reason",
    "new_prev_wait_mode",
    "last_switch_out_us",
];

pub(super) fn switches(trace: &Trace) -> impl Iterator<Item = &Event> {
    trace.all("Thread/CSwitch")
}

/// From version 3 on there is a byte of flags in its place; the traces have the mode in its lowest bit.
fn wait_mode(event: &Event) -> u64 {
    let mode = event
        .fields
        .get("OldThreadWaitMode")
        .and_then(Value::as_u64);
    mode.unwrap_or_else(|| event.number("ThreadFlags") & 1)
}

fn switch_row(trace: &Trace, event: &Event, last: Option<&Event>) -> Value {
    let [new, old] = ["NewThreadId", "OldThreadId"].map(|field| event.number(field) as u32);
    json!([
        event.us,
        event.cpu,
        pid(&trace.process_of_thread(new, event)),
        new,
        pid(&trace.process_of_thread(old, event)),
        old,
        event.number("OldThreadState"),
        event.number("OldThreadWaitReason"),
        wait_mode(event),
        event.number("NewThreadPriority"),
        event.number("OldThreadPriority"),
        event.number("PreviousCState"),
        event.number("NewThreadWaitTime"),
        last.map(|last| last.number("OldThreadState")),
        last.map(|last| last.number("OldThreadWaitReason")),
        last.map(wait_mode),
        last.map(|last| last.us),
    ])
}

/// Every row of a table of context switches, up to a time.
pub(super) fn check_switches(trace: &Trace, section: &str, limit_us: f64) -> usize {
    let truth = trace.truth.pointer(section).unwrap();
    let mut last: BTreeMap<u64, &Event> = BTreeMap::new();
    let mut ours = Vec::new();
    for event in switches(trace).filter(|event| event.us <= limit_us) {
        ours.push(switch_row(
            trace,
            event,
            last.get(&event.number("NewThreadId")).copied(),
        ));
        // Each processor has an idle thread of its own.
        if event.number("OldThreadId") != 0 {
            last.insert(event.number("OldThreadId"), event);
        }
    }
    let truth = columns(
        &truth["switch_columns"],
        &truth["switches"],
        &SWITCH_COLUMNS,
    );
    agree(
        &format!("{}{section}/switches", trace.name),
        &truth,
        &Value::from(ours),
    )
}

/// Counts of context switches by processor and thread, and of readied threads.
fn check_counts(trace: &Trace) -> usize {
    let truth = &trace.truth["sched"];
    let mut by_thread = Sums::default();
    for event in switches(trace) {
        let tid = event.number("NewThreadId") as u32;
        if tid != 0 {
            add(by_thread.at(&[&trace.thread(tid, event)]), "switches_in", 1);
        }
    }
    let mut wanted = truth["threads"].as_object().unwrap().clone();
    wanted.retain(|_, thread| thread["switches_in"] != 0);
    let wanted: Map<_, _> = wanted
        .into_iter()
        .map(|(key, t)| (key, json!({"switches_in": t["switches_in"]})))
        .collect();
    agree(
        &format!("{}/sched/threads", trace.name),
        &wanted.into(),
        &by_thread.0.into(),
    ) + trace.agrees(
        "/sched/cpu_switches",
        &json!(counts(switches(trace).map(|event| event.cpu))),
    ) + trace.agrees("/sched/switch_count", &switches(trace).count().into())
        + trace.agrees(
            "/sched/ready_event_count",
            &trace.all("Thread/ReadyThread").count().into(),
        )
}

fn check_ready(trace: &Trace) -> usize {
    let stacks = trace.stacks();
    let row = |event: &Event| {
        let readied = event.number("TThreadId") as u32;
        let readying = event.tid.expect("a thread runs on the processor");
        json!([
            event.us,
            pid(&trace.process_of_thread(readied, event)),
            readied,
            pid(&trace.owner(event)),
            readying,
            event.number("Flags") & 1 != 0,
            event.signed("AdjustReason"),
            event.signed("AdjustIncrement"),
            stacks
                .get(&stack_owner(event.ticks, readying, event.cpu))
                .map_or(0, Vec::len),
        ])
    };
    trace.agrees(
        "/ready/rows",
        &trace.all("Thread/ReadyThread").map(row).collect(),
    )
}

/// Module and offset, with the number of samples that met it and of those whose innermost frame it is.
type Places = BTreeMap<(String, u64), (u64, u64)>;

/// Counts of samples, and for each process the frames in which they were met: inclusive and innermost.
fn check_samples(trace: &Trace) -> usize {
    let samples: Vec<&Event> = trace.all("PerfInfo/SampleProf").collect();
    let in_dpc = |event: &&&Event| event.number("Flags") & 1 != 0;
    let idle = |event: &&&Event| event.number("ThreadId") == 0 && !in_dpc(event);
    let (stacks, mut frames) = (trace.stacks(), 0);
    let mut methods: BTreeMap<String, Places> = BTreeMap::new();
    for event in &samples {
        let tid = event.number("ThreadId") as u32;
        let stack = stacks
            .get(&stack_owner(event.ticks, tid, event.cpu))
            .map_or(&[][..], Vec::as_slice);
        // The truth leaves out the stacks of DPCs on an idle processor.
        if tid == 0 {
            continue;
        }
        frames += stack.len();
        let place = |address: u64| trace.place(address, event.pid.unwrap(), event.ticks);
        let leaf = place(event.number("InstructionPointer"));
        let of_process = methods.entry(trace.owner(event)).or_default();
        let met: HashSet<_> = stack
            .iter()
            .map(|address| place(*address))
            .chain([leaf.clone()])
            .collect();
        for place in met {
            of_process.entry(place).or_default().0 += 1;
        }
        of_process.entry(leaf).or_default().1 += 1;
    }
    let rows = |rows: Places| -> Map<String, Value> {
        let row = |((module, rva), (all, leaf))| (format!("{module}+{rva:#x}"), json!([all, leaf]));
        rows.into_iter().map(row).collect()
    };
    let ours = json!({
        "samples": samples.len(),
        "stack_frames": frames,
        "dpc_samples": samples.iter().filter(in_dpc).count(),
        "idle_samples": samples.iter().filter(idle).count(),
        "by_core": counts(samples.iter().map(|event| event.cpu)),
        "by_process": counts(samples.iter().map(|event| trace.owner(event))),
        "by_thread": counts(samples.iter().map(|event| trace.thread(event.number("ThreadId") as u32, event))),
        "methods": methods.into_iter().map(|(key, of)| (key, rows(of).into())).collect::<Map<_, _>>(),
    });
    let mut truth = trace.truth["samples"].clone();
    let keyed = |rows: &Value| -> Map<String, Value> {
        let row = |row: &Value| {
            (
                format!("{}+{}", row[0].as_str().unwrap(), row[1].as_str().unwrap()),
                json!([row[2], row[3]]),
            )
        };
        rows.as_array().unwrap().iter().map(row).collect()
    };
    let tables = truth["methods"]["rows"].as_object().unwrap().iter();
    truth["methods"] = tables
        .map(|(key, rows)| (key.clone(), keyed(rows).into()))
        .collect::<Map<_, _>>()
        .into();
    agree(&format!("{}/samples", trace.name), &truth, &ours)
}

fn check_dpcs(trace: &Trace) -> usize {
    let duration = |event: &&Event| trace.duration_us(event.ticks - event.signed("InitialTime"));
    let dpcs = || {
        trace
            .events
            .iter()
            .filter(|e| matches!(&*e.name, "PerfInfo/DPC" | "PerfInfo/TimerDPC"))
    };
    let isrs = || trace.all("PerfInfo/ISR");
    let ours = json!({
        "count": dpcs().count(),
        "total_us": dpcs().map(|event| duration(&event)).sum::<f64>(),
        "isr_count": isrs().count(),
        "isr_total_us": isrs().map(|event| duration(&event)).sum::<f64>(),
    });
    trace.agrees("/dpcs", &ours)
}

fn check_counters(trace: &Trace) -> usize {
    let config = trace.all("PerfInfo/PmcCtrConfig").next().unwrap();
    let names: Vec<&str> = config
        .value("CounterName")
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let mut last: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    let (mut threads, mut idle) = (Sums::default(), Sums::default());
    for event in switches(trace) {
        assert_eq!(
            event.counters.len(),
            names.len(),
            "counters of a context switch"
        );
        let tid = event.number("OldThreadId") as u32;
        if let Some(before) = last.insert(event.cpu, event.counters.clone()) {
            for ((name, now), before) in names.iter().zip(&event.counters).zip(before) {
                let delta = now - before;
                if tid == 0 {
                    add(&mut idle.0, name, delta);
                    continue;
                }
                add(
                    threads.at(&["by_thread", &trace.thread(tid, event)]),
                    name,
                    delta,
                );
                add(
                    threads.at(&["by_process", &trace.process_of_thread(tid, event)]),
                    name,
                    delta,
                );
            }
        }
    }
    let mut ours = threads.0;
    ours.insert("counters".to_owned(), json!(names));
    ours.insert("idle".to_owned(), idle.0.into());
    agree(
        &format!("{}/pmc", trace.name),
        &super::without(&trace.truth["pmc"], &["cpi"]),
        &ours.into(),
    )
}

#[test]
fn context_switches_and_readied_threads_row_by_row() {
    check(&["sched", "waitchain", "clock32"], |trace| {
        let ready = if trace.truth.get("ready").is_some() {
            check_ready(trace)
        } else {
            0
        };
        check_switches(trace, "/sched", f64::MAX) + ready
    });
}

#[test]
fn counts_of_context_switches() {
    check(
        &[
            "sched",
            "waitchain",
            "clock32",
            "dotnet",
            "pmc",
            "reuse",
            "syscalls",
        ],
        check_counts,
    );
}

#[test]
fn samples_with_their_owners_and_frames() {
    check(
        &["sched", "waitchain", "clock32", "dotnet", "reuse"],
        check_samples,
    );
}

#[test]
fn dpcs_interrupts_and_marks() {
    check(&["sched"], |trace| {
        let marks = trace
            .all("PerfInfo/Mark")
            .map(|event| json!([event.us, event.text("Message")]));
        check_dpcs(trace) + trace.agrees("/marks", &marks.collect())
    });
}

#[test]
fn counters_of_the_processor() {
    check(&["pmc"], check_counters);
}
