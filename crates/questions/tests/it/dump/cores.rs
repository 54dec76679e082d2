//! Kinds of cores.

use etwkit_question::group::Top;
use etwkit_question::{Error, ProcessQuery};
use etwkit_questions::cores::{CoresAnswer, CoresRequest, CoresTable};
use etwkit_sql::Session;
use etwkit_trace::table::{
    CpuClass, CpuClassPriority, CpuCore, CpuCoreState, CpuFrequency, CpuMethodClass, CpuParking,
    Process, Thread, ThreadAffinity,
};

use super::super::support::rows;
use super::{S, process, trace};

fn session() -> Session {
    let core = |cpu, class| CpuCore {
        cpu,
        efficiency_class: Some(class),
        nominal_mhz: Some(2000 + 1000 * class),
        ..CpuCore::default()
    };
    let speed = |start_ns, stop_ns, mhz, kind| CpuFrequency {
        cpu: 0,
        start_ns,
        stop_ns,
        mhz,
        kind,
        ..CpuFrequency::default()
    };
    let state = |source, state, duration_ns| CpuCoreState {
        cpu: 1,
        source,
        state: Some(state),
        count: 1,
        duration_ns,
        max_ns: duration_ns,
    };
    let class = |process_key, class, cpu_ns, measured_ns| CpuClass {
        process_key: Some(process_key),
        efficiency_class: Some(class),
        cpu_ns,
        mean_mhz: Some(1500.0),
        nominal_mhz: Some(3000.0),
        measured_ns,
        cores: "0".into(),
        core_count: 1,
        ..CpuClass::default()
    };
    let priority = |process_key, class, priority, run_ns| CpuClassPriority {
        process_key: Some(process_key),
        efficiency_class: Some(class),
        priority: Some(priority),
        switches: 1,
        run_ns,
        ready_ns: 2,
        ready_idle_ns: 1,
        ..CpuClassPriority::default()
    };
    Session::from_batches(vec![
        rows(&[trace()]),
        rows(&[
            process(0, 0, "Idle"),
            process(1, 4, "a.exe"),
            process(2, 8, "b.exe"),
        ]),
        rows(&[core(0, 1), core(1, 0)]),
        rows(&[
            speed(0, S, 3000, "delivered"),
            speed(S, 4 * S, 1000, "delivered"),
            speed(0, 10 * S, 9999, "requested"),
        ]),
        rows(&[CpuParking {
            cpu: 1,
            start_ns: 0,
            stop_ns: S,
            kind: "parked",
        }]),
        rows(&[state("context_switch", 0, S), state("idle_event", 2, 2 * S)]),
        rows(&[
            class(1, 0, 30, 30),
            class(1, 1, 10, 0),
            class(2, 1, 5, 5),
            class(0, 0, 900, 900),
        ]),
        rows(&[
            priority(1, 0, 8, 30),
            priority(1, 1, 8, 10),
            priority(2, 1, 8, 20),
            priority(2, 1, 4, 7),
        ]),
    ])
    .unwrap()
}

#[track_caller]
fn ask(request: &CoresRequest) -> CoresAnswer {
    request
        .ask(&session(), &CoresTable::ALL)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn cores_have_the_measured_speed_and_how_long_they_were_parked() {
    let answer = ask(&CoresRequest::default());
    let [fast, slow] = &answer.cores[..] else {
        panic!("{answer:?}")
    };
    // One second of 3000 and three of 1000 MHz; requested speeds do not count if speeds were
    // measured.
    assert_eq!(
        (fast.mean_mhz, fast.min_mhz, fast.max_mhz),
        (Some(1500.0), Some(1000), Some(3000))
    );
    assert_eq!(
        (fast.frequency_percent, fast.measured_ns),
        (Some(50.0), Some(4 * S))
    );
    assert_eq!(
        (fast.parked_ns, slow.parked_ns, slow.parked_percent),
        (Some(0), Some(S), Some(10.0))
    );
    assert_eq!((slow.mean_mhz, slow.efficiency_class), (None, Some(0)));
    assert!(answer.has_classes());
}

#[test]
fn idle_events_are_preferred_to_context_switches() {
    let states = ask(&CoresRequest::default()).states;
    assert_eq!(states.len(), 1);
    assert_eq!(
        (&*states[0].source, states[0].state, states[0].percent),
        ("idle_event", Some(2), 20.0)
    );
}

#[test]
fn processes_have_a_row_for_each_kind_the_fastest_first() {
    let rows = ask(&CoresRequest::default()).processes;
    let ours: Vec<_> = rows
        .iter()
        .map(|r| (r.pid.unwrap(), r.efficiency_class.unwrap(), r.cpu_percent))
        .collect();
    assert_eq!(ours, [(8, 1, 100.0), (4, 1, 25.0), (4, 0, 75.0)]);
    assert_eq!(
        (rows[0].mean_mhz, rows[0].frequency_percent),
        (Some(1500.0), Some(50.0))
    );
    // No speed of it was recorded.
    assert_eq!((rows[1].mean_mhz, rows[1].frequency_percent), (None, None));
    let top = CoresRequest {
        top: Top {
            count: Some(1),
            skip: 0,
        },
        ..CoresRequest::default()
    };
    assert!(ask(&top).processes.iter().all(|row| row.pid == Some(4)));
}

#[test]
fn priorities_are_summed_up_over_processes_or_listed_separately() {
    let row = |r: &etwkit_questions::cores::PriorityRow| {
        (
            r.pid,
            r.priority.unwrap(),
            r.efficiency_class.unwrap(),
            r.run_ns,
            r.run_percent.unwrap(),
            r.ready_ns,
        )
    };
    let all: Vec<_> = ask(&CoresRequest::default())
        .priorities
        .iter()
        .map(row)
        .collect();
    assert_eq!(
        all,
        [
            (None, 4, 1, 7, 100.0, 2),
            (None, 8, 1, 30, 50.0, 4),
            (None, 8, 0, 30, 50.0, 2)
        ]
    );
    let per_process = CoresRequest {
        per_process: true,
        ..CoresRequest::default()
    };
    let own: Vec<_> = ask(&per_process).priorities.iter().map(row).collect();
    assert_eq!(
        own,
        [
            (Some(8), 4, 1, 7, 100.0, 2),
            (Some(8), 8, 1, 20, 100.0, 2),
            (Some(4), 8, 1, 10, 25.0, 2),
            (Some(4), 8, 0, 30, 75.0, 2)
        ]
    );
    let processes = ProcessQuery {
        process: Some("b.exe".into()),
        ..ProcessQuery::default()
    };
    let of_b = ask(&CoresRequest {
        processes,
        ..CoresRequest::default()
    });
    assert_eq!(
        (
            of_b.priorities.len(),
            of_b.processes.len(),
            of_b.cores.len()
        ),
        (2, 1, 2)
    );
}

#[test]
fn cores_count_that_a_thread_of_the_process_was_allowed_to_run_on() {
    let enabled = |groups: [i32; 2]| {
        let thread = |thread_key, process_key, affinity| Thread {
            thread_key,
            process_key: Some(process_key),
            affinity,
            ..Thread::default()
        };
        let core = |cpu, class, group| CpuCore {
            cpu,
            processor_group: Some(group),
            group_number: Some(cpu),
            efficiency_class: Some(class),
            ..CpuCore::default()
        };
        let method = |process_key, class| CpuMethodClass {
            process_key,
            method: "main".into(),
            efficiency_class: Some(class),
            cpu_ns: 1,
            ..CpuMethodClass::default()
        };
        let [first, second] = groups;
        let session = Session::from_batches(vec![
            rows(&[process(1, 4, "a.exe"), process(2, 8, "b.exe")]),
            // One thread of the first process started on processor 0 and went to 2, the other one
            // stayed on 0; the second has no mask.
            rows(&[
                thread(0, 1, Some(0b1)),
                thread(1, 1, Some(0b1)),
                thread(2, 2, None),
            ]),
            rows(&[ThreadAffinity {
                thread_key: 0,
                affinity: 0b100,
                ..ThreadAffinity::default()
            }]),
            rows(&[
                core(0, 0, first),
                core(1, 0, first),
                core(2, 1, second),
                core(3, 1, second),
            ]),
            rows(&[
                method(Some(1), 0),
                method(Some(1), 1),
                method(Some(2), 0),
                method(None, 1),
            ]),
        ])
        .unwrap();
        let answer = CoresRequest::default()
            .ask(&session, &[CoresTable::Methods])
            .unwrap();
        let mut found: Vec<_> = answer
            .methods
            .iter()
            .map(|r| (r.process_key, r.efficiency_class, r.enabled_cores))
            .collect();
        found.sort_unstable();
        found.iter().map(|(_, _, cores)| *cores).collect::<Vec<_>>()
    };
    // No process, class 1; process 1, classes 0 and 1; process 2, class 0.
    assert_eq!(enabled([0, 0]), [2, 1, 1, 2]);
    assert_eq!(
        enabled([0, 1]),
        [2, 2, 2, 2],
        "masks do not name their group"
    );
}

#[test]
fn methods_stand_below_the_largest_of_their_process_and_are_filtered_as_printed() {
    let method = |process_key, method: &str, class, cpu_ns| CpuMethodClass {
        process_key: Some(process_key),
        module: Some("a.dll".into()),
        method: method.into(),
        efficiency_class: Some(class),
        cpu_ns,
        mean_mhz: Some(1000.0),
        nominal_mhz: Some(2000.0),
        measured_ns: cpu_ns,
        core_count: 1,
        first_ns: 5,
        last_ns: 9,
        ..CpuMethodClass::default()
    };
    let core = |cpu, class| CpuCore {
        cpu,
        efficiency_class: Some(class),
        ..CpuCore::default()
    };
    let session = Session::from_batches(vec![
        rows(&[process(1, 4, "a.exe"), process(2, 8, "b.exe")]),
        rows(&[core(0, 0), core(1, 0), core(2, 1)]),
        rows(&[
            method(1, "main", 0, 30),
            method(1, "main", 1, 10),
            method(1, "+0x1a", 1, 20),
            method(2, "main", 1, 35),
        ]),
    ])
    .unwrap();
    let ask = |methods: Option<&str>| {
        let request = CoresRequest {
            methods: methods.map(str::to_owned),
            ..CoresRequest::default()
        };
        let answer = request.ask(&session, &[CoresTable::Methods]).unwrap();
        let row = |r: etwkit_questions::cores::MethodClassRow| {
            (
                r.pid.unwrap(),
                r.name,
                r.efficiency_class.unwrap(),
                r.cpu_percent,
                r.enabled_cores,
            )
        };
        answer.methods.into_iter().map(row).collect::<Vec<_>>()
    };
    let row =
        |pid, name: &str, class, percent, enabled| (pid, name.to_owned(), class, percent, enabled);
    let all = [
        row(8, "main", 1, 100.0, 1),
        row(4, "a.dll+0x1a", 1, 100.0, 1),
        row(4, "main", 1, 25.0, 1),
        row(4, "main", 0, 75.0, 2),
    ];
    assert_eq!(ask(None), all);
    assert_eq!(ask(Some("a.dll*")), all[1..2]);
    let answer = CoresRequest::default()
        .ask(&session, &[CoresTable::Methods])
        .unwrap();
    let last = answer.methods.last().unwrap();
    assert_eq!(
        (last.frequency_percent, last.duration_ns, last.method_cpu_ns),
        (Some(50.0), 4, 40)
    );
}

#[test]
fn a_trace_without_cores_says_so() {
    let empty = Session::from_batches(vec![rows::<Process>(&[process(1, 4, "a.exe")])]).unwrap();
    let error = CoresRequest::default()
        .ask(&empty, &CoresTable::ALL)
        .unwrap_err();
    assert!(matches!(error, Error::NotRecorded { .. }), "{error}");
}
