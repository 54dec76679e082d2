//! Processes, threads, sizes of the files, instances of reused ids.

use std::collections::{BTreeMap, BTreeSet};

use etwkit_trace::tracker::process::ProcessInstance;
use serde_json::{Map, Value, json};

use super::{Event, Trace, add, agree, check, hex};

/// Threads of each process instance, from the events of threads.
fn threads(trace: &Trace) -> BTreeMap<String, BTreeSet<u64>> {
    let mut threads: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let kinds = [
        "Thread/Start",
        "Thread/End",
        "Thread/DCStart",
        "Thread/DCEnd",
    ];
    for event in trace
        .events
        .iter()
        .filter(|event| kinds.contains(&event.name.as_str()))
    {
        threads
            .entry(trace.owner(event))
            .or_default()
            .insert(event.number("TThreadId"));
    }
    threads
}

fn processes(trace: &Trace) -> Map<String, Value> {
    let threads = threads(trace);
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let time = |ticks: Option<i64>| ticks.map(|ticks| trace.time_us(ticks));
    let process = |process: &ProcessInstance| {
        let key = process.key_text();
        let value = json!({
            "name": process.name,
            "parent_pid": process.parent_pid,
            "command_line": text(&process.command_line),
            "threads": threads.get(&key),
            "start_us": time(process.start),
            "stop_us": time(process.stop),
        });
        (key, value)
    };
    trace
        .directory
        .processes
        .instances()
        .iter()
        .map(process)
        .collect()
}

/// Instances whose start was recorded, with what else is known of them.
fn instances(trace: &Trace) -> Map<String, Value> {
    let mut all = processes(trace);
    all.retain(|_, process| !process["start_us"].is_null());
    for instance in trace.directory.processes.instances() {
        let Some(process) = all.get_mut(&instance.key_text()) else {
            continue;
        };
        let process = process.as_object_mut().unwrap();
        process.remove("parent_pid");
        process.insert("pid".to_owned(), instance.pid.into());
        process.insert("exit_code".to_owned(), json!(instance.exit_code));
        process.insert("image_loads".to_owned(), json!(0));
        process.insert("image_unloads".to_owned(), json!(0));
    }
    for event in &trace.events {
        let key = match event.name.as_str() {
            "Process/Image/Load" | "Image/Load" => "image_loads",
            "Image/UnLoad" => "image_unloads",
            _ => continue,
        };
        if let Some(process) = all.get_mut(&trace.owner(event)) {
            add(process.as_object_mut().unwrap(), key, 1);
        }
    }
    all
}

fn check_sample_owners(trace: &Trace) -> usize {
    let samples = trace
        .all("PerfInfo/SampleProf")
        .filter(|event| event.number("ThreadId") != 0);
    let row = |event: &Event| {
        let place = trace.place(
            event.number("InstructionPointer"),
            event.pid.unwrap(),
            event.ticks,
        );
        json!([
            event.us,
            event.cpu,
            event.number("ThreadId"),
            trace.owner(event),
            place.0,
            place.1
        ])
    };
    let mut truth = trace.truth["sample_owner"]["rows"].clone();
    for row in truth.as_array_mut().unwrap() {
        row[5] = hex(row[5].as_str().unwrap()).into();
    }
    agree(
        &format!("{}/sample_owner", trace.name),
        &truth,
        &samples.map(row).collect(),
    )
}

fn check_migration(trace: &Trace) -> usize {
    let mut cpus: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
    for event in super::sched::switches(trace) {
        for tid in [
            event.number("NewThreadId") as u32,
            event.number("OldThreadId") as u32,
        ] {
            if tid != 0 {
                cpus.entry(trace.thread(tid, event))
                    .or_default()
                    .insert(event.cpu);
            }
        }
    }
    trace.agrees("/migration", &json!(cpus))
}

#[test]
fn events_buffers_and_processes_of_every_trace() {
    check(&[], |trace| {
        let (session, file) = (trace.input.session(), &trace.input.session().files()[0]);
        let (header, buffers) = (file.header(), file.buffers());
        let whole = buffers
            .iter()
            .filter(|buffer| !buffer.is_truncated())
            .count();
        let mut compared = trace.agrees("/meta/events", &trace.events.len().into());
        compared += trace.agrees("/buffers_in_file", &whole.into());
        compared += trace.agrees("/meta/cpus", &header.cpu_count.into());
        compared += trace.agrees("/meta/pointer_size", &header.pointer_size.into());
        compared += trace.agrees(
            "/meta/compressed",
            &(file.buffer_counts().compressed > 0).into(),
        );
        compared += trace.agrees("/meta/clock_frequency", &session.clock().frequency.into());
        compared += trace.agrees("/meta/clock", &session.clock().kind.name().into());
        let end_us = (header.end_time - session.clock().start) as f64 / 10.0;
        compared += trace.agrees("/meta/trace_end_us", &end_us.into());
        if trace.truth.get("processes").is_some() {
            compared += trace.agrees("/processes", &processes(trace).into());
        }
        assert_eq!(
            trace.damaged,
            trace.truth.pointer("/lost/file_cut") == Some(&json!(true)),
            "{}",
            trace.name
        );
        compared
    });
}

/// What the header says of the clock.
#[test]
fn clocks() {
    check(&["clock32"], |trace| {
        let session = trace.input.session();
        let header = session.files()[0].header();
        let ours = json!({
            "clock_type": session.clock().kind.name(),
            "cpu_mhz": header.cpu_mhz,
            "perf_freq": header.perf_freq,
            "pointer_size": header.pointer_size,
            "start_filetime": header.start_time,
            "end_filetime": header.end_time,
        });
        trace.agrees("/clock", &ours)
    });
}

#[test]
fn instances_of_reused_ids() {
    check(&["reuse"], |trace| {
        trace.agrees("/instances", &instances(trace).into())
            + check_sample_owners(trace)
            + check_migration(trace)
    });
}
