//! CPU of processes and methods.

use etwkit_question::ProcessQuery;
use etwkit_question::Question;
use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_questions::cpu::question::CpuBucket;
use etwkit_questions::cpu::{CpuLimits, CpuRequest, CpuRow, CpuSort, CpuTotal};
use etwkit_sql::Session;
use etwkit_trace::table::{ContextSwitch, CpuMethod, CpuProcess, CpuSample, Module, Trace};

use super::super::support::rows;
use super::{MS, methods_by_cpu, process, trace};

fn cpu(process_key: Option<i32>, cpu_ns: i64, wait_ns: Option<i64>) -> CpuProcess {
    CpuProcess {
        process_key,
        samples: 1,
        cpu_ns,
        run_ns: wait_ns.map(|_| 1),
        wait_ns,
        ready_ns: wait_ns.map(|wait| wait / 10),
        switches: wait_ns.map(|_| 3),
        cores: "0".into(),
        core_count: 1,
        ..CpuProcess::default()
    }
}

fn totals() -> Session {
    let processes = [
        process(0, 0, "Idle"),
        process(1, 4, "System"),
        process(2, 8, "cmd.exe"),
    ];
    let cpu = [
        cpu(Some(0), 900, Some(0)),
        cpu(Some(1), 5 * MS, Some(70 * MS)),
        cpu(Some(2), 20 * MS, Some(30 * MS)),
        cpu(None, MS, Some(0)),
    ];
    Session::from_batches(vec![rows(&processes), rows(&cpu)]).unwrap()
}

#[track_caller]
fn ask(session: &Session, request: &CpuRequest) -> Vec<CpuRow> {
    request
        .process_answer(session)
        .unwrap_or_else(|error| panic!("{error}\n{}", request.process_sql()))
        .rows
}

#[track_caller]
fn keys(request: &CpuRequest) -> Vec<Option<i64>> {
    ask(&totals(), request)
        .iter()
        .map(|row| row.process_key)
        .collect()
}

#[test]
fn totals_come_from_the_derived_table_without_the_idle_process() {
    let answer = CpuRequest::default().process_answer(&totals()).unwrap();
    assert_eq!(
        answer.rows.iter().map(|row| row.pid).collect::<Vec<_>>(),
        [None, Some(4), Some(8)]
    );
    let total = CpuTotal {
        cpu_ns: 26 * MS,
        wait_ns: Some(100 * MS),
        ready_ns: Some(10 * MS),
        switches: Some(9),
    };
    assert_eq!(answer.total, total);
    assert_eq!(
        (answer.total.total_ns(false), answer.total.total_ns(true)),
        (126 * MS, 136 * MS)
    );
}

#[test]
fn orders_limits_and_the_largest() {
    let sorted = |sort| CpuRequest {
        sort,
        ..CpuRequest::default()
    };
    assert_eq!(keys(&sorted(CpuSort::Wait)), [None, Some(2), Some(1)]);
    assert_eq!(keys(&sorted(CpuSort::CpuWait)), [None, Some(2), Some(1)]);
    let limited = CpuRequest {
        limits: CpuLimits {
            cpu: Range {
                min: 5 * MS,
                max: 20 * MS,
            },
            ..CpuLimits::default()
        },
        ..CpuRequest::default()
    };
    assert_eq!(keys(&limited), [Some(1), Some(2)]);
    let largest = CpuRequest {
        top: Top {
            count: Some(1),
            skip: 0,
        },
        ..CpuRequest::default()
    };
    assert_eq!(keys(&largest), [Some(2)]);
    let processes = ProcessQuery {
        process: Some("*".into()),
        ..ProcessQuery::default()
    };
    assert_eq!(
        keys(&CpuRequest {
            processes,
            ..CpuRequest::default()
        }),
        [None, Some(1), Some(2)]
    );
    let processes = ProcessQuery {
        process: Some("cmd".into()),
        ..ProcessQuery::default()
    };
    assert_eq!(
        keys(&CpuRequest {
            processes,
            ..CpuRequest::default()
        }),
        [Some(2)]
    );
}

#[test]
fn without_samples_cpu_is_what_context_switches_say() {
    let row = CpuProcess {
        samples: 0,
        cpu_ns: 0,
        run_ns: Some(7),
        ..cpu(Some(1), 0, Some(1))
    };
    let session =
        Session::from_batches(vec![rows(&[process(1, 4, "System")]), rows(&[row])]).unwrap();
    assert_eq!(ask(&session, &CpuRequest::default())[0].cpu_ns, 7);
}

/// Two threads of process 1 and one of process 2, in milliseconds:
///
/// ```text
/// thread 1  wait 10–40, ready 40–45, run 45–60
/// thread 2  wait 30–50, ready 50–50, run 50–70 (preempted); ready 70–80, run 80–(end)
/// thread 3  (begin)–20
/// samples   thread 1 at 46, 47; thread 2 at 55; thread 3 at 15; idle at 16
/// ```
fn events() -> Session {
    let samples =
        [(46, 1, 1), (47, 1, 1), (55, 2, 1), (15, 3, 2)].map(|(ms, thread_key, process_key)| {
            CpuSample {
                ts_ns: ms * MS,
                cpu: thread_key - 1,
                process_key: Some(process_key),
                thread_key,
                weight_ns: MS,
                priority: Some(8 + thread_key),
                ..CpuSample::default()
            }
        });
    let idle = CpuSample {
        ts_ns: 16 * MS,
        is_idle: true,
        weight_ns: MS,
        ..CpuSample::default()
    };
    let slice = |thread_key: i32, times: [Option<i64>; 4], prev_state| {
        let [out_before, readied, start, end] = times.map(|time| time.map(|ms| ms * MS));
        ContextSwitch {
            thread_key,
            process_key: Some(if thread_key == 3 { 2 } else { 1 }),
            cpu: Some(thread_key - 1),
            last_out_ns: out_before,
            readied_ns: readied,
            in_ns: start,
            out_ns: end,
            wait_ns: readied
                .zip(out_before)
                .map(|(ready, out)| ready - out)
                .or(out_before.map(|_| 0)),
            ready_ns: readied
                .or(out_before)
                .zip(start)
                .map(|(ready, start)| start - ready),
            run_ns: Some(end.unwrap_or(100 * MS) - start.unwrap_or(0)),
            prev_state,
            ..ContextSwitch::default()
        }
    };
    let switches = [
        slice(3, [None, None, None, Some(20)], None),
        slice(1, [Some(10), Some(40), Some(45), Some(60)], Some(5)),
        slice(2, [Some(30), Some(50), Some(50), Some(70)], Some(5)),
        slice(2, [Some(70), None, Some(80), None], Some(1)),
    ];
    let mut all = samples.to_vec();
    all.push(idle);
    Session::from_batches(vec![
        rows(&[process(1, 4, "a.exe"), process(2, 8, "b.exe")]),
        rows(&all),
        rows(&switches),
    ])
    .unwrap()
}

#[test]
fn a_range_clips_every_interval() {
    // Times of process 1 in a range: CPU, run, wait, ready (ms), switches, preemptions, threads.
    for (from, to, expected) in [
        // Waits 10–40 and 30–50 overlap: 40; ready 40–45 and 70–80: 15; runs 15, 20, 20.
        (0, 100, (3, 55, 40, 15, 3, 1, 2)),
        // Wait 35–50; ready 40–45; runs 45–55 and 50–55. The sample at the end counts.
        (35, 55, (3, 15, 15, 5, 2, 0, 2)),
        // Run 65–70 and 80–90, ready 70–80.
        (65, 90, (0, 15, 0, 10, 1, 1, 1)),
    ] {
        let request = CpuRequest {
            time: Range {
                min: from * MS,
                max: to * MS,
            },
            ..CpuRequest::default()
        };
        let rows = ask(&events(), &request);
        let row = rows.iter().find(|row| row.process_key == Some(1)).unwrap();
        let ms = |ns: Option<i64>| ns.unwrap() / MS;
        let found = (
            row.cpu_ns / MS,
            ms(row.run_ns),
            ms(row.wait_ns),
            ms(row.ready_ns),
            row.switches.unwrap(),
            row.preemptions.unwrap(),
            row.threads,
        );
        assert_eq!(found, expected, "{from}..{to}");
    }
}

#[test]
fn in_a_range_priority_cores_and_ends_are_those_of_the_range() {
    let request = CpuRequest {
        time: Range {
            min: 0,
            max: 60 * MS,
        },
        ..CpuRequest::default()
    };
    let rows = ask(&events(), &request);
    let row = rows.iter().find(|row| row.process_key == Some(1)).unwrap();
    // Two samples with priority 9, one with 10.
    assert!((row.priority.unwrap() - 28.0 / 3.0).abs() < 1e-9);
    assert_eq!((row.core_count, row.cores.as_str()), (2, "0-1"));
    assert_eq!((row.first_ns, row.last_ns), (45 * MS, 60 * MS));
    let row = rows.iter().find(|row| row.process_key == Some(2)).unwrap();
    assert_eq!(
        (row.run_ns, row.wait_ns, row.switches),
        (Some(20 * MS), Some(0), Some(0))
    );
}

#[test]
fn ends_of_the_trace_are_neither_a_first_nor_a_last_time() {
    let request = CpuRequest {
        time: Range {
            min: 0,
            max: 1000 * MS,
        },
        ..CpuRequest::default()
    };
    let rows = ask(&events(), &request);
    let ends = |process_key| {
        let row = rows.iter().find(|row| row.process_key == Some(process_key));
        row.map(|row| (row.first_ns / MS, row.last_ns / MS))
    };
    // Thread 2 runs from 80 to the end, thread 3 from the start to 20.
    assert_eq!((ends(1), ends(2)), (Some((45, 80)), Some((15, 20))));
}

#[test]
fn sums_cannot_answer_a_range() {
    let request = CpuRequest {
        time: Range { min: 0, max: 5 },
        ..CpuRequest::default()
    };
    let error = request.process_answer(&totals()).unwrap_err();
    assert!(
        error.is_nothing() && error.hint().unwrap().contains("--detail full"),
        "{error}"
    );
    let nothing = Session::from_batches(vec![]).unwrap();
    let error = CpuRequest::default().process_answer(&nothing).unwrap_err();
    assert!(
        error.is_nothing() && error.hint().unwrap().contains("CSWITCH+DISPATCHER"),
        "{error}"
    );
}

fn method(
    process_key: i32,
    module: Option<&str>,
    method: &str,
    cpu_ms: i64,
    depth: f64,
) -> CpuMethod {
    CpuMethod {
        process_key: Some(process_key),
        module: module.map(str::to_owned),
        module_path: module.map(|name| format!("C:\\{name}")),
        method: method.into(),
        cpu_ns: cpu_ms * MS,
        wait_ns: Some(10 * MS),
        ready_ns: Some(MS),
        ready_sum_ns: Some(7),
        ready_count: Some(2),
        switches: Some(4),
        depth,
        first_ns: 2 * MS,
        last_ns: 5 * MS,
        ..CpuMethod::default()
    }
}

fn methods() -> Session {
    let methods = [
        method(1, Some("a.exe"), "main", 100, 20.0),
        method(1, Some("a.exe"), "work", 90, 1.5),
        method(1, Some("n.dll"), "NtRead", 30, 0.2),
        method(1, Some("n.dll"), "+0x1a2b", 5, 3.0),
        method(2, None, "+0x7ff0", 200, 0.0),
        method(2, Some("a.exe"), "main", 10, 2.0),
    ];
    let versions = [Module {
        path: "C:\\n.dll".into(),
        name: "n.dll".into(),
        file_version: Some("1.2".into()),
        company: Some("Corp".into()),
        ..Module::default()
    }];
    let processes = [process(1, 4, "a.exe"), process(2, 8, "b.exe")];
    let totals = [cpu(Some(1), 1, Some(1))];
    Session::from_batches(vec![
        rows(&processes),
        rows(&methods),
        rows(&totals),
        rows(&versions),
    ])
    .unwrap()
}

/// `main` calls `work` for 70 of its 100 ms, and `work` calls `NtRead` for 30: 100 ms, to which rows
/// of 200 ms belong.
#[test]
fn sums_of_methods_count_callees_once() {
    let method = |name: &str, cpu_ms, exclusive_ms: Option<i64>| CpuMethod {
        exclusive_ns: exclusive_ms.map(|ms| ms * MS),
        ..method(1, Some("a.exe"), name, cpu_ms, 0.0)
    };
    let question = CpuRequest {
        methods: Some("*".into()),
        show_total: Some("total".into()),
        ..CpuRequest::default()
    };
    let heading = |own: [Option<i64>; 3]| {
        let methods = [
            method("main", 100, own[0]),
            method("work", 70, own[1]),
            method("NtRead", 30, own[2]),
        ];
        let session = Session::from_batches(vec![
            rows(&[process(1, 4, "a.exe")]),
            rows(&methods),
            rows(&[cpu(Some(1), 1, Some(1))]),
        ])
        .unwrap();
        format!("{:?}", question.answer(&session).unwrap().heading)
    };
    let number = |ms: i64| format!("Number({})", ms * MS);
    let known = heading([Some(30), Some(40), Some(30)]);
    let (exclusive, rows) = known.split_once("rows add up to").unwrap();
    assert!(
        exclusive.contains("exclusive ") && exclusive.contains(&number(100)),
        "{known}"
    );
    assert!(rows.contains(&number(200)), "{known}");
    let not_known = heading([None; 3]);
    assert!(!not_known.contains("exclusive"), "{not_known}");
    assert!(not_known.contains("rows add up to"), "{not_known}");
}

#[track_caller]
fn names(request: &CpuRequest) -> Vec<Vec<String>> {
    let answer = request
        .method_answer(&methods())
        .unwrap_or_else(|error| panic!("{error}\n{}", request.method_sql()));
    answer
        .processes
        .into_iter()
        .map(|group| group.rows.into_iter().map(|row| row.name).collect())
        .collect()
}

#[test]
fn methods_stand_below_their_process_ascending() {
    let answer = methods_by_cpu().method_answer(&methods()).unwrap();
    assert_eq!(
        names(&methods_by_cpu()),
        [
            vec!["main", "+0x7ff0"],
            vec!["n.dll+0x1a2b", "NtRead", "work", "main"],
        ]
    );
    let [second, first] = answer.processes.as_slice() else {
        panic!("two processes")
    };
    assert_eq!(
        (first.total.cpu_ns, second.total.cpu_ns, answer.total.cpu_ns),
        (225 * MS, 210 * MS, 435 * MS)
    );
    assert_eq!(answer.total.wait_ns, Some(60 * MS));
    let row = &first.rows[1];
    // 7 ns in 2 switch-ins, without the fraction.
    assert_eq!((row.ready_avg_ns, row.duration_ns), (Some(3), Some(3 * MS)));
    assert_eq!(
        (row.file_version.as_deref(), row.company.as_deref()),
        (Some("1.2"), Some("Corp"))
    );
}

#[test]
fn sums_of_processes_respect_what_is_cut() {
    let request = CpuRequest {
        top_methods: Some(1),
        ..methods_by_cpu()
    };
    assert_eq!(names(&request), [vec!["main"], vec!["+0x7ff0"]]);
    let request = CpuRequest {
        top: Top {
            count: Some(1),
            skip: 0,
        },
        ..request
    };
    assert_eq!(names(&request), [vec!["+0x7ff0"]]);
    assert_eq!(
        request.method_answer(&methods()).unwrap().total.cpu_ns,
        200 * MS
    );
}

#[test]
fn stack_depth_prefers_what_is_near_the_innermost_frame() {
    // Process 1: the innermost method has 30. main = 100/e^20, work = 90/e^1, NtRead = 30/e^10,
    // +0x1a2b = 5/e^13.
    let request = CpuRequest {
        sort: CpuSort::StackDepth,
        ..methods_by_cpu()
    };
    assert_eq!(
        names(&request)[1],
        ["main", "n.dll+0x1a2b", "NtRead", "work"]
    );
    let answer = request.method_answer(&methods()).unwrap();
    let work = answer.processes[1].rows.last().unwrap();
    assert!(
        (work.sort_value - 90e6 / 1_f64.exp()).abs() < 1e-3,
        "{}",
        work.sort_value
    );
}

#[test]
fn names_are_filtered_as_they_are_printed() {
    let filter = |methods: &str, include_dll| {
        names(&CpuRequest {
            methods: Some(methods.into()),
            include_dll,
            ..methods_by_cpu()
        })
        .concat()
    };
    assert_eq!(filter("main", false), ["main", "main"]);
    assert!(filter("main", true).is_empty());
    assert_eq!(filter("n.dll!*", true), ["n.dll!NtRead"]);
    assert_eq!(filter("*.dll;*.sys", false), ["n.dll+0x1a2b"]);
}

#[test]
fn methods_are_limited_by_every_number() {
    let all = CpuLimits::default;
    let range = |min, max| Range { min, max };
    for (limits, count) in [
        (
            CpuLimits {
                cpu: range(90 * MS, i64::MAX),
                ..all()
            },
            3,
        ),
        (
            CpuLimits {
                wait: range(10 * MS + 1, i64::MAX),
                ..all()
            },
            0,
        ),
        (
            CpuLimits {
                ready: range(MS, MS),
                ..all()
            },
            6,
        ),
        (
            CpuLimits {
                ready_avg: range(4, i64::MAX),
                ..all()
            },
            0,
        ),
        (
            CpuLimits {
                switches: range(4, 4),
                ..all()
            },
            6,
        ),
        (
            CpuLimits {
                first: range(i64::MIN, 2 * MS),
                ..all()
            },
            6,
        ),
        (
            CpuLimits {
                last: range(6 * MS, i64::MAX),
                ..all()
            },
            0,
        ),
        (
            CpuLimits {
                duration: range(3 * MS, 3 * MS),
                ..all()
            },
            6,
        ),
    ] {
        let request = CpuRequest {
            limits,
            ..methods_by_cpu()
        };
        assert_eq!(names(&request).concat().len(), count, "{request:?}");
    }
}

/// Start of the part in ms, CPU in µs, thousandths of the machine, process with the most and its
/// CPU in µs.
fn over_time(session: &Session, question: &CpuRequest) -> Vec<String> {
    let form = question.form();
    let rows: Vec<CpuBucket> = form
        .ask(session)
        .unwrap_or_else(|error| panic!("{error}\n{}", form.sql));
    let row = |row: &CpuBucket| {
        let process = row.process.as_deref().unwrap_or("-");
        let most = row.process_cpu_ns.map_or(-1, |ns| ns / 1000);
        let percent = row.machine_percent * 10.0;
        format!(
            "{}: {} {percent:.0} {process} {most}",
            row.start_ns / MS,
            row.cpu_ns / 1000
        )
    };
    rows.iter().map(row).collect()
}

/// The example of `docs/numbers/cpu.md`.
#[test]
fn cpu_over_time_adds_up_to_the_cpu_of_all() {
    let recording = Trace {
        duration_ns: 40 * MS,
        processors: 2,
        ..trace()
    };
    let processes = [
        process(0, 0, "Idle"),
        process(1, 4, "System"),
        process(2, 8, "cmd.exe"),
    ];
    let sample = |process_key, ms: i64| CpuSample {
        process_key: Some(process_key),
        ts_ns: ms * MS,
        weight_ns: MS,
        ..CpuSample::default()
    };
    let samples = [
        sample(1, 0),
        sample(2, 1),
        sample(2, 9),
        sample(1, 10),
        sample(2, 39),
        sample(2, 40),
    ];
    let sampled = Session::from_batches(vec![
        rows(std::slice::from_ref(&recording)),
        rows(&processes),
        rows(&samples),
    ]);
    let parts = CpuRequest {
        over_time: Some(4),
        ..CpuRequest::default()
    };
    assert_eq!(
        over_time(&sampled.unwrap(), &parts),
        [
            "0: 3000 150 cmd.exe 2000",
            "10: 1000 50 System 1000",
            "20: 0 0 - -1",
            "30: 2000 100 cmd.exe 2000"
        ]
    );
    // Without samples: cmd runs from 5 to 25, System from 25 to 28.
    let slice = |process_key, from: i64, to: i64| ContextSwitch {
        process_key: Some(process_key),
        in_ns: Some(from * MS),
        out_ns: Some(to * MS),
        run_ns: Some((to - from) * MS),
        ..ContextSwitch::default()
    };
    let slices = [slice(2, 5, 25), slice(1, 25, 28)];
    let switched =
        Session::from_batches(vec![rows(&[recording]), rows(&processes), rows(&slices)]).unwrap();
    assert_eq!(
        over_time(&switched, &parts),
        [
            "0: 5000 250 cmd.exe 5000",
            "10: 10000 500 cmd.exe 10000",
            "20: 8000 400 cmd.exe 5000",
            "30: 0 0 - -1"
        ]
    );
    let time = Range {
        min: 10 * MS,
        max: 30 * MS,
    };
    let system = ProcessQuery {
        process: Some("System".into()),
        ..ProcessQuery::default()
    };
    let part = CpuRequest {
        over_time: Some(2),
        time,
        processes: system,
        ..CpuRequest::default()
    };
    assert_eq!(
        over_time(&switched, &part),
        ["10: 0 0 - -1", "20: 3000 150 System 3000"]
    );
}
