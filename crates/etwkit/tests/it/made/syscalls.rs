//! System calls, which name no thread: it is the one that runs on the processor.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Event, Sums, Trace, add, add_us, agree, check, raise_us, without};

const ACCESS_VIOLATION: &str = "0xc0000005";

fn check_calls(trace: &Trace) -> usize {
    let function = |event: &Event| {
        let (module, rva) = trace.place(
            event.number("SysCallAddress"),
            event.pid.unwrap(),
            event.ticks,
        );
        format!("{module}+{rva:#x}")
    };
    let create_file = trace.truth["_function_names"]["NtCreateFile"]
        .as_str()
        .unwrap();
    let mut open: HashMap<String, &Event> = HashMap::new();
    let (mut sums, mut complete, mut unstarted, mut violations) =
        (Sums::default(), 0, 0, Vec::new());
    for event in &trace.events {
        match event.name.as_str() {
            "PerfInfo/SysClEnter" => {
                let thread = trace.thread(event.tid.expect("a thread runs"), event);
                assert!(
                    open.insert(thread.clone(), event).is_none(),
                    "{thread} is in two calls at {}",
                    event.us
                );
            }
            "PerfInfo/SysClExit" => {
                let thread = trace.thread(event.tid.expect("a thread runs"), event);
                let Some(enter) = open.remove(&thread) else {
                    add(sums.at(&["exits_without_enter_by_thread"]), &thread, 1);
                    unstarted += 1;
                    continue;
                };
                complete += 1;
                let (name, status) = (function(enter), event.text("SysCallNtStatus"));
                let duration = trace.duration_us(event.ticks - enter.ticks);
                let process = trace.owner(event);
                for keys in [
                    &["by_thread", &*thread, &*name],
                    &["by_process", &*process, &*name],
                ] {
                    let call = sums.at(keys);
                    add(call, "count", 1);
                    add_us(call, "duration_us", duration);
                    raise_us(call, "max_us", duration);
                    add(call, "moved_cpu", u64::from(enter.cpu != event.cpu));
                    add(
                        sums.at(&[keys[0], keys[1], keys[2], "by_status"]),
                        status,
                        1,
                    );
                }
                if name == create_file && status == ACCESS_VIOLATION {
                    violations.push(json!([event.pid, event.tid, enter.us, event.us]));
                }
            }
            _ => {}
        }
    }
    for process in sums.at(&["by_process"]).values_mut() {
        *process = without(process, &["max_us", "moved_cpu"]);
    }
    let still_open = sums.at(&["enters_without_exit_by_thread"]);
    still_open.extend(
        open.iter()
            .map(|(thread, enter)| (thread.clone(), function(enter).into())),
    );
    let mut ours = sums.0;
    ours.insert("complete_calls".to_owned(), complete.into());
    ours.insert("exits_without_enter".to_owned(), unstarted.into());
    ours.insert("enters_without_exit".to_owned(), open.len().into());
    ours.insert(
        "access_violations_of_NtCreateFile".to_owned(),
        Value::from(violations),
    );
    agree(
        &format!("{}/syscalls", trace.name),
        &trace.truth["syscalls"],
        &ours.into(),
    )
}

#[test]
fn system_calls_by_thread() {
    check(&["syscalls"], check_calls);
}
