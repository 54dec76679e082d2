//! Rule `start-loop`: which processes are a program that fails and is started again and again.

use etwkit_analysis::diagnose::Diagnosis;
use etwkit_trace::table::Process;

use super::support::{Machine, diagnosed};

const MS: i64 = 1_000_000;
const CRASHED: i32 = -1_073_741_819;

/// Starts of a program, all of the same kind.
#[derive(Clone, Copy)]
struct Starts {
    count: i32,
    exit_code: i32,
    life_ms: i64,
    has_same_job: bool,
}

/// Six starts that crash after 100 ms.
const CRASHES: Starts = Starts {
    count: 6,
    exit_code: CRASHED,
    life_ms: 100,
    has_same_job: false,
};

const ERRORS: Starts = Starts {
    exit_code: 1,
    has_same_job: true,
    ..CRASHES
};

const SUCCESSES: Starts = Starts {
    exit_code: 0,
    ..ERRORS
};

/// A program that starts another one, which does not run at the same time as before.
fn machine(kinds: &[Starts]) -> Machine {
    let mut machine = Machine::new(&["keeper.exe"], 600_000 * MS);
    let all = kinds
        .iter()
        .flat_map(|kind| (0..kind.count).map(move |_| kind));
    for (process_key, kind) in (2..).zip(all) {
        let start_ns = i64::from(process_key) * 10_000 * MS;
        let job = if kind.has_same_job { 0 } else { process_key };
        machine.processes.push(Process {
            process_key,
            pid: process_key * 4,
            name: Some("agent.exe".into()),
            command_line: Some(format!("agent.exe /job:{job}")),
            parent_pid: Some(4),
            parent_process_key: Some(1),
            start_ns: Some(start_ns),
            stop_ns: Some(start_ns + kind.life_ms * MS),
            exit_code: Some(kind.exit_code),
            ..Process::default()
        });
    }
    machine
}

/// What the rule says of these starts.
fn diagnosis(kinds: &[Starts]) -> Diagnosis {
    diagnosed(&machine(kinds), "start-loop")
}

#[test]
fn a_loop_of_starts_fails_with_the_same_job_or_crashes() {
    for (kinds, cost_ms, case) in [
        (&[CRASHES][..], Some(600), "crashes"),
        (&[ERRORS], Some(600), "errors of the same job"),
        (
            &[
                CRASHES,
                Starts {
                    count: 1,
                    ..SUCCESSES
                },
            ],
            Some(600),
            "one start in seven works",
        ),
        (
            &[
                CRASHES,
                Starts {
                    count: 3,
                    ..SUCCESSES
                },
            ],
            None,
            "one start in three works",
        ),
        (
            &[Starts {
                has_same_job: false,
                ..ERRORS
            }],
            None,
            "jobs of a build that fail",
        ),
        (&[SUCCESSES], None, "a job that is done again and again"),
        (
            &[Starts {
                count: 4,
                life_ms: 150,
                ..CRASHES
            }],
            Some(600),
            "four crashes",
        ),
        (
            &[Starts {
                count: 3,
                life_ms: 400,
                ..CRASHES
            }],
            None,
            "a few crashes",
        ),
        (
            &[Starts {
                count: 5,
                life_ms: 400,
                ..ERRORS
            }],
            None,
            "a few errors of the same job",
        ),
        (
            &[Starts {
                life_ms: 6_000,
                ..CRASHES
            }],
            None,
            "programs that work before they fail",
        ),
        (
            &[Starts {
                life_ms: 80,
                ..CRASHES
            }],
            None,
            "less than half a second",
        ),
    ] {
        let diagnosis = diagnosis(kinds);
        assert_ne!(diagnosis.rules[0].state, "not checked", "{case}");
        let facts: Vec<_> = diagnosis
            .findings
            .iter()
            .map(|one| (one.culprit.as_str(), one.process.as_deref(), one.cost_ns))
            .collect();
        let expected = cost_ms.map(|ms| ("agent.exe", Some("keeper.exe"), Some(ms * MS)));
        assert_eq!(facts, Vec::from_iter(expected), "{case}");
    }
}

#[test]
fn the_exit_codes_of_a_loop_are_said() {
    let diagnosis = diagnosis(&[CRASHES]);
    assert_eq!(
        diagnosis.findings[0].sentence,
        "keeper.exe (4) lost 600 ms to 6 starts of agent.exe, which ended with an error \
         (0xC0000005) after up to 100 ms"
    );
}
