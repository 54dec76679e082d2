//! Rule `amsi-scan`: the library that scans scripts, and what its scans cost.

use etwkit_trace::table::CpuSample;

use super::support::{Machine, found, off};

const MS: i64 = 1_000_000;
const SCANS: i64 = 10;

/// Each tenth of a second a thread waits for 20 ms in this stack, and computes there for 5 ms.
fn machine(stack: &[&'static str]) -> Machine {
    let mut machine = Machine::new(&["host.exe", "service.exe"], 10_000 * MS);
    let stack = machine.stack(stack);
    for number in 0..SCANS {
        let from = number * 100 * MS;
        let to = from + 20 * MS;
        let wait = off(1, from).readied(to, 2);
        machine.add(wait.ran(to, to + 9 * MS).in_stack(stack));
        machine.samples.extend((1..=5).map(|at| CpuSample {
            ts_ns: to + at * MS,
            process_key: Some(1),
            thread_key: 1,
            weight_ns: MS,
            stack_id: stack,
            has_stack: true,
            ..CpuSample::default()
        }));
    }
    machine
}

#[test]
fn the_library_that_amsi_calls_is_the_culprit() {
    for (stack, culprit) in [
        (
            &[
                "guard.dll!Emulate",
                "guard.dll!Scan",
                "amsi.dll!AmsiScanBuffer",
            ][..],
            Some("guard.dll"),
        ),
        (
            &["guard.dll+8", "amsi.dll+16", "host.exe!Run"],
            Some("guard.dll"),
        ),
        (
            &[
                "ntdll.dll!NtAlpcSendWaitReceivePort",
                "rpcrt4.dll!NdrClientCall3",
                "guard.dll!Scan",
                "combase.dll!Call",
                "amsi.dll!AmsiScanString",
            ],
            Some("guard.dll"),
        ),
        (
            &[
                "amsi.dll!CAmsiBufferStream::Read",
                "guard.dll!Scan",
                "amsi.dll!AmsiScanBuffer",
            ],
            Some("guard.dll"),
        ),
        (
            &[
                "ntdll.dll!NtAlpcSendWaitReceivePort",
                "amsi.dll!AmsiScanBuffer",
            ],
            Some("amsi.dll"),
        ),
        (&["guard.dll!Scan", "host.exe!Run"], None),
    ] {
        // The kernel is below every call, and shows that the trace was not redacted.
        let stack = [&["ntoskrnl.exe!KiSwapThread"], stack].concat();
        let found = found(&machine(&stack), "amsi-scan");
        let facts: Vec<_> = found
            .iter()
            .map(|one| (one.culprit.as_str(), one.cost_ns))
            .collect();
        let expected = culprit.map(|culprit| (culprit, Some(SCANS * 25 * MS)));
        assert_eq!(facts, Vec::from_iter(expected), "{stack:?}");
    }
}

#[test]
fn scans_that_are_short_go_unnoticed() {
    let stack = [
        "guard.dll!Scan",
        "amsi.dll!AmsiScanBuffer",
        "ntdll.dll!RtlUserThreadStart",
    ];
    let mut machine = machine(&stack);
    machine.samples.truncate(7 * 5);
    machine.switches.truncate(7);
    assert!(found(&machine, "amsi-scan").is_empty(), "175 ms");
}
