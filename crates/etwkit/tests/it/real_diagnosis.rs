//! Diagnoses of the sample traces: what each of them has was checked by hand, and nothing else may be
//! reported.

use std::collections::BTreeSet;

use etwkit_testkit::{one_of_each_series, trace_files};

use crate::support::{json_lines, run};

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";

/// Rules and culprits of traces that have any; `docs/diagnose.md` says why each is right. Traces of the
/// folder `made` with other seeds have the same.
const FINDINGS: &[(&str, &[(&str, &str)])] = &[
    (
        "net.4.5.2.x64",
        &[
            (
                "hard-faults",
                r"C:\Windows\Microsoft.NET\Framework64\v4.0.30319\clr.dll",
            ),
            ("tracing-cost", RUNTIME),
            ("undecoded-events", "Microsoft-Windows-DotNETRuntimePrivate"),
        ],
    ),
    ("dns", &[("dns-timeout", "192.168.7.2")]),
    // 4,833 methods of a test program were compiled in 3.90 s of 13 s; its `Main` alone took 823 ms.
    (
        "diaghub.user_paged.1",
        &[("jit-start", "EFTestApp.Program.Main")],
    ),
    // 476 ms of CPU in context switches, and not one sample. Its writer let 16, 9, 15 and 11 calls of each
    // program end with an access violation.
    (
        "syscalls-5",
        &[
            (
                "odd-status",
                "alpha.exe (1328), system call ntoskrnl.exe+0x4bca00",
            ),
            (
                "odd-status",
                "beta.exe (1408), system call ntoskrnl.exe+0x4bca00",
            ),
            (
                "odd-status",
                "delta.exe (1592), system call ntoskrnl.exe+0x4bca00",
            ),
            (
                "odd-status",
                "gamma.exe (1492), system call ntoskrnl.exe+0x4bca00",
            ),
            ("switch-cpu-only", "no CPU samples"),
        ],
    ),
];

#[test]
fn sample_traces_raise_no_alarm_but_what_was_checked_by_hand() {
    let mut wrong = Vec::new();
    for path in one_of_each_series(trace_files()) {
        let answer = run(&["diagnose", "--json", path.to_str().unwrap()]);
        let rows = json_lines(&answer.out);
        assert!(!rows.is_empty(), "{}: {}", path.display(), answer.err);
        let findings: BTreeSet<(String, String)> = rows
            .iter()
            .filter(|row| row["rule"].is_string())
            .map(|row| {
                (
                    row["rule"].as_str().unwrap().to_owned(),
                    row["culprit"].as_str().unwrap_or("").to_owned(),
                )
            })
            .collect();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let series = name.rsplit_once('-').map_or(name, |(series, _)| series);
        let known = FINDINGS
            .iter()
            .find(|(known, _)| *known == name || *known == series);
        let expected = known.iter().flat_map(|(_, findings)| findings.iter());
        let expected: BTreeSet<_> = expected
            .map(|(rule, of)| ((*rule).to_owned(), (*of).to_owned()))
            .collect();
        if findings != expected {
            wrong.push(format!("{name}: {findings:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
