//! Exceptions, collections, compiled methods and the thread pool of the .NET runtime.

use std::collections::{BTreeSet, HashMap};

use etwkit_trace::tracker::method::{Method, MethodTracker};
use serde_json::{Value, json};

use super::{Event, Sums, Trace, add, add_us, check, stack_owner};

/// Bit of `MethodFlags`: compiled from no module.
const DYNAMIC: u64 = 1;
/// Reason of a change of the thread pool: threads starve.
const STARVATION: u64 = 6;

fn events<'t>(trace: &'t Trace) -> impl Iterator<Item = (u32, &'t Event)> {
    let id = |event: &'t Event| {
        event
            .name
            .strip_prefix("Microsoft-Windows-DotNETRuntime ")?
            .parse()
            .ok()
    };
    trace
        .events
        .iter()
        .filter_map(move |event| Some((id(event)?, event)))
}

fn of_id(trace: &Trace, id: u32) -> impl Iterator<Item = &Event> {
    events(trace)
        .filter(move |(own, _)| *own == id)
        .map(|(_, event)| event)
}

fn check_exceptions(trace: &Trace) -> usize {
    let row = |event: &Event| {
        json!([
            event.us,
            event.pid,
            event.tid,
            event.text("ExceptionType"),
            event.text("ExceptionMessage"),
            format!("{:#x}", event.number("ExceptionHRESULT")),
            event.text("ExceptionEIP"),
            event
                .stack
                .iter()
                .map(|address| format!("{address:#x}"))
                .collect::<Value>(),
        ])
    };
    trace.agrees("/exceptions/rows", &of_id(trace, 80).map(row).collect())
}

fn check_collections(trace: &Trace) -> usize {
    let (mut sums, mut suspended, mut started) = (Sums::default(), HashMap::new(), HashMap::new());
    for (id, event) in events(trace) {
        let process = trace.owner(event);
        match id {
            9 => _ = suspended.insert(event.tid, event),
            1 => _ = started.insert((process, event.number("Count")), event),
            2 => {
                let Some(start) = started.remove(&(process.clone(), event.number("Count"))) else {
                    continue;
                };
                assert_eq!(start.number("Depth"), event.number("Depth"));
                let all = sums.at(&[&process]);
                add(all, "count", 1);
                add_us(all, "gc_us", trace.duration_us(event.ticks - start.ticks));
                add(
                    sums.at(&[&process, "by_generation"]),
                    &start.number("Depth").to_string(),
                    1,
                );
                add(
                    sums.at(&[&process, "by_reason"]),
                    &start.number("Reason").to_string(),
                    1,
                );
            }
            3 => {
                let Some(begin) = suspended.remove(&event.tid) else {
                    continue;
                };
                add_us(
                    sums.at(&[&process]),
                    "suspended_us",
                    trace.duration_us(event.ticks - begin.ticks),
                );
            }
            _ => {}
        }
    }
    trace.agrees("/gc", &sums.0.into())
}

fn check_methods(trace: &Trace) -> usize {
    let mut sums = Sums::default();
    for (id, event) in events(trace).filter(|(id, _)| matches!(id, 143 | 144)) {
        let process = sums.at(&[&trace.owner(event)]);
        add(process, if id == 143 { "loaded" } else { "unloaded" }, 1);
        if id == 143 {
            add(process, "dynamic", event.number("MethodFlags") & DYNAMIC);
        }
    }
    trace.agrees("/jit", &sums.0.into())
}

fn check_thread_pool(trace: &Trace) -> usize {
    let starving = of_id(trace, 55).filter(|event| event.number("Reason") == STARVATION);
    let row = |event: &Event| json!([event.us, event.pid, event.number("NewWorkerThreadCount")]);
    let ours = json!({
        "adjustments": of_id(trace, 55).count(),
        "starvation": starving.map(row).collect::<Value>(),
    });
    trace.agrees("/threadpool", &ours)
}

/// The code of all methods that were loaded in the trace.
fn methods(trace: &Trace) -> MethodTracker {
    let mut methods = MethodTracker::default();
    for (id, event) in events(trace) {
        let (pid, start) = (event.pid.unwrap(), || event.number("MethodStartAddress"));
        match id {
            143 => methods.add(
                pid,
                Method {
                    start: start(),
                    size: event.number("MethodSize") as u32,
                    namespace: event.text("MethodNamespace").into(),
                    name: event.text("MethodName").into(),
                    signature: event.text("MethodSignature").into(),
                    method_id: event.number("MethodID"),
                    module_id: event.number("ModuleID"),
                    token: 0,
                    flags: event.number("MethodFlags") as u32,
                    begin: event.ticks,
                    end: i64::MAX,
                    il_map: None,
                },
            ),
            144 => methods.unload(pid, start(), event.ticks),
            _ => {}
        }
    }
    methods.finish();
    methods
}

/// Methods that samples met: on the stack (once each), and innermost.
fn check_managed_samples(trace: &Trace) -> usize {
    let (stacks, methods, mut sums) = (trace.stacks(), methods(trace), Sums::default());
    for event in trace.all("PerfInfo/SampleProf") {
        let (pid, tid) = (event.pid.unwrap(), event.tid.unwrap());
        let method = |address: u64| {
            let method = methods.find(pid, address, event.ticks)?;
            Some(format!("{}.{}", method.namespace, method.name))
        };
        let leaf = method(event.number("InstructionPointer"));
        let stack = stacks
            .get(&stack_owner(event.ticks, tid, event.cpu))
            .map_or(&[][..], Vec::as_slice);
        let met: BTreeSet<String> = stack
            .iter()
            .filter_map(|address| method(*address))
            .chain(leaf.clone())
            .collect();
        let process = trace.owner(event);
        for (kind, name) in met
            .into_iter()
            .map(|name| ("inclusive", name))
            .chain(leaf.map(|name| ("leaf", name)))
        {
            add(sums.at(&[kind, &process]), &name, 1);
        }
    }
    trace.agrees("/managed_samples", &sums.0.into())
}

#[test]
fn events_of_the_runtime() {
    check(&["dotnet"], |trace| {
        check_exceptions(trace)
            + check_collections(trace)
            + check_methods(trace)
            + check_thread_pool(trace)
            + check_managed_samples(trace)
    });
}
