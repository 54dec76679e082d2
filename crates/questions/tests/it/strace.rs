//! The example `strace`, run on a made trace.

#[path = "../../examples/strace.rs"]
mod example;

use std::collections::BTreeMap;

use etwkit_testkit::{read_json, traces};

/// Lines of the example, counted.
fn lines(path: &std::path::Path) -> BTreeMap<String, u64> {
    let mut out = Vec::new();
    example::strace(path, &mut out).unwrap();
    let mut lines = BTreeMap::new();
    for line in String::from_utf8(out).unwrap().lines() {
        *lines.entry(line.to_owned()).or_default() += 1;
    }
    lines
}

#[test]
fn every_call_of_the_truth_is_a_line() {
    let Some(folder) = traces() else { return };
    for name in ["syscalls-4", "syscalls-5", "syscalls-6"] {
        let truth = read_json(&folder.join(format!("made/{name}.truth.json")));
        let mut want: BTreeMap<String, u64> = BTreeMap::new();
        for (pid, functions) in truth["syscalls"]["by_process"].as_object().unwrap() {
            let image = truth["processes"][pid]["name"].as_str().unwrap();
            for (function, sums) in functions.as_object().unwrap() {
                let function = function.rsplit('\\').next().unwrap();
                for (status, count) in sums["by_status"].as_object().unwrap() {
                    let status = u32::from_str_radix(&status[2..], 16).unwrap();
                    let line = format!("{image}({pid}): {function} <- {status:#X}");
                    *want.entry(line).or_default() += count.as_u64().unwrap();
                }
            }
        }
        assert_eq!(
            lines(&folder.join(format!("made/{name}.etl"))),
            want,
            "{name}"
        );
    }
}
