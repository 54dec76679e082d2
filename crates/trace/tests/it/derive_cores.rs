//! Derived tables of cores, counters and branches from handwritten rows.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use etwkit_trace::derive::derive;
use etwkit_trace::table::{
    Columns, ContextSwitch, CpuClass, CpuClassPriority, CpuCore, CpuCoreState, CpuFrequency,
    CpuIdleState, CpuMethodClass, CpuSample, Diagnostic, Frame, Lbr, LbrMethod, Method, Module,
    Pmc, PmcCounter, PmcSample, PmcThread, Process, Row, Stack, Table,
};

type Batches = Vec<(&'static Table, RecordBatch)>;

fn rows<R: Row>(rows: &[R]) -> (&'static Table, RecordBatch) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    (R::TABLE, columns.take().unwrap())
}

fn derived(tables: &Batches) -> Batches {
    let mut out = Batches::new();
    derive(tables, &[], &mut out).unwrap();
    out
}

/// Rows of a derived table as text, `-` for missing values.
fn read(batches: &Batches, table: &Table, columns: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for (_, batch) in batches.iter().filter(|(of, _)| of.name == table.name) {
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|name| {
                let array = batch.column_by_name(name).unwrap();
                if array.is_null(row) {
                    return "-".to_owned();
                }
                if let Some(numbers) = array.as_primitive_opt::<Int32Type>() {
                    return numbers.value(row).to_string();
                }
                if let Some(numbers) = array.as_primitive_opt::<Float64Type>() {
                    return numbers.value(row).to_string();
                }
                match array.as_primitive_opt::<Int64Type>() {
                    Some(numbers) => numbers.value(row).to_string(),
                    None => array.as_string::<i32>().value(row).to_owned(),
                }
            });
            all.push(cells.collect::<Vec<_>>().join(" "));
        }
    }
    all
}

const IDLE: i32 = 0;

fn slice(
    process: i32,
    cpu: i32,
    in_ns: Option<i64>,
    out_ns: i64,
    priority: Option<i32>,
) -> ContextSwitch {
    ContextSwitch {
        process_key: Some(process),
        cpu: Some(cpu),
        in_ns,
        out_ns: Some(out_ns),
        run_ns: Some(out_ns - in_ns.unwrap_or_default()),
        priority,
        ..ContextSwitch::default()
    }
}

/// Processor 0 is fast (class 1), processor 1 efficient (class 0); the page on counters has the
/// diagram.
fn example() -> Batches {
    let core = |cpu, class, mhz| CpuCore {
        cpu,
        efficiency_class: Some(class),
        nominal_mhz: Some(mhz),
        ..CpuCore::default()
    };
    let sample = |ts_ns, cpu, process| CpuSample {
        ts_ns,
        cpu,
        process_key: Some(process),
        weight_ns: 10,
        ..CpuSample::default()
    };
    let speed = |start_ns, stop_ns, mhz, kind| CpuFrequency {
        cpu: 1,
        start_ns,
        stop_ns,
        mhz,
        kind,
        ..CpuFrequency::default()
    };
    let process = |process_key, pid| Process {
        process_key,
        pid,
        ..Process::default()
    };
    let woken = |slice: ContextSwitch, ready_ns, state| ContextSwitch {
        ready_ns: Some(ready_ns),
        prev_c_state: state,
        ..slice
    };
    vec![
        rows(&[process(IDLE, 0), process(1, 8), process(2, 12)]),
        rows(&[core(0, 1, 3000), core(1, 0, 2000)]),
        rows(&[
            speed(0, 90, 100, "requested"),
            speed(40, 60, 2000, "delivered"),
            speed(30, 40, 1000, "delivered"),
        ]),
        rows(&[sample(5, 0, 2), sample(35, 1, 1), sample(45, 1, 1)]),
        rows(&[
            slice(2, 0, None, 20, None),
            slice(IDLE, 1, None, 25, None),
            ContextSwitch {
                prev_c_state: Some(1),
                ..slice(2, 1, Some(25), 30, Some(8))
            },
            slice(IDLE, 0, Some(20), 60, None),
            woken(slice(1, 1, Some(30), 80, Some(4)), 20, None),
            woken(slice(2, 0, Some(60), 80, Some(8)), 5, Some(2)),
        ]),
    ]
}

#[test]
fn the_example_of_the_page_on_cores() {
    let out = derived(&example());
    let columns = [
        "process_key",
        "efficiency_class",
        "priority",
        "switches",
        "run_ns",
        "run_faster_idle_ns",
        "ready_ns",
        "ready_idle_ns",
        "ready_any_idle_ns",
    ];
    assert_eq!(
        read(&out, CpuClassPriority::TABLE, &columns),
        [
            "1 0 4 1 50 30 20 15 20",
            "2 0 8 1 5 5 0 0 0",
            "2 1 - 0 20 0 0 0 0",
            "2 1 8 1 20 0 5 5 5"
        ]
    );
    let columns = [
        "process_key",
        "efficiency_class",
        "cpu_ns",
        "normalized_ns",
        "mean_mhz",
        "nominal_mhz",
        "measured_ns",
        "cores",
    ];
    assert_eq!(
        read(&out, CpuClass::TABLE, &columns),
        ["1 0 20 15 1500 2000 20 1", "2 1 10 - 3000 3000 0 0"]
    );
    let states = read(
        &out,
        CpuCoreState::TABLE,
        &["cpu", "source", "state", "count", "duration_ns", "max_ns"],
    );
    assert_eq!(
        states,
        ["0 context_switch 2 1 40 40", "1 context_switch 1 1 25 25"]
    );
}

#[test]
fn methods_are_split_by_the_kind_of_core_and_count_once_for_each_stack() {
    let mut tables = example();
    let method = |method_id, name: &str| Method {
        method_id,
        name: name.into(),
        ..Method::default()
    };
    let frame = |frame_id: i32| Frame {
        frame_id,
        method_id: Some(frame_id),
        module_id: (frame_id == 0).then_some(0),
        ..Frame::default()
    };
    let stack = |stack_id, parent_id, frame_id| Stack {
        stack_id,
        parent_id,
        frame_id,
        depth: stack_id,
    };
    let (name, path) = ("app.exe".into(), "C:\\app.exe".into());
    tables.push(rows(&[Module {
        module_id: 0,
        process_key: Some(1),
        name,
        path,
        ..Module::default()
    }]));
    tables.push(rows(&[method(0, "main"), method(1, "work")]));
    tables.push(rows(&[frame(0), frame(1)]));
    // main; work main; work work main
    tables.push(rows(&[
        stack(0, None, 0),
        stack(1, Some(0), 1),
        stack(2, Some(1), 1),
    ]));
    let sample = |ts_ns, cpu, stack_id| CpuSample {
        ts_ns,
        cpu,
        process_key: Some(1),
        weight_ns: 10,
        stack_id,
        ..CpuSample::default()
    };
    tables.retain(|(table, _)| table.name != CpuSample::TABLE.name);
    tables.push(rows(&[
        sample(35, 1, 2),
        sample(45, 1, 0),
        sample(50, 0, 1),
    ]));
    let columns = [
        "process_key",
        "method",
        "efficiency_class",
        "cpu_ns",
        "normalized_ns",
        "mean_mhz",
        "cores",
    ];
    assert_eq!(
        read(&derived(&tables), CpuMethodClass::TABLE, &columns),
        [
            "1 main 0 20 15 1500 1",
            "1 main 1 10 - 3000 0",
            "1 work 0 10 5 1000 1",
            "1 work 1 10 - 3000 0"
        ]
    );
    assert_eq!(
        read(
            &derived(&tables),
            CpuMethodClass::TABLE,
            &["method", "efficiency_class", "module", "module_path"]
        ),
        [
            "main 0 app.exe C:\\app.exe",
            "main 1 app.exe C:\\app.exe",
            "work 0 - -",
            "work 1 - -"
        ]
    );
    // With one kind of core it would be the same as the CPU of methods.
    tables.retain(|(table, _)| table.name != CpuCore::TABLE.name);
    assert!(read(&derived(&tables), CpuMethodClass::TABLE, &columns).is_empty());
}

#[test]
fn without_samples_slices_are_cpu_and_without_kinds_there_is_one() {
    let mut tables = example();
    tables.retain(|(table, _)| ![CpuSample::TABLE.name, CpuCore::TABLE.name].contains(&table.name));
    let out = derived(&tables);
    assert_eq!(
        read(
            &out,
            CpuClass::TABLE,
            &[
                "process_key",
                "efficiency_class",
                "cpu_ns",
                "mean_mhz",
                "normalized_ns"
            ]
        ),
        ["1 - 50 1000 -", "2 - 45 - -"]
    );
    let priorities = read(
        &out,
        CpuClassPriority::TABLE,
        &[
            "process_key",
            "priority",
            "run_faster_idle_ns",
            "ready_ns",
            "ready_idle_ns",
        ],
    );
    assert_eq!(priorities, ["1 4 0 20 20", "2 - 0 0 0", "2 8 0 5 5"]);
}

#[test]
fn a_processor_that_never_switched_was_idle() {
    let core = |cpu, class| CpuCore {
        cpu,
        efficiency_class: Some(class),
        ..CpuCore::default()
    };
    let with = |more: Batches| {
        let mut tables = example();
        tables.retain(|(table, _)| table.name != CpuCore::TABLE.name);
        // Processor 2 is of the fastest class, and has no context switches.
        tables.push(rows(&[core(0, 1), core(1, 0), core(2, 2)]));
        tables.extend(more);
        derived(&tables)
    };
    let columns = [
        "process_key",
        "efficiency_class",
        "run_ns",
        "run_faster_idle_ns",
        "ready_any_idle_ns",
    ];
    let priorities = |more: Batches| read(&with(more), CpuClassPriority::TABLE, &columns);
    // It was idle from 0 to 80, which contains the switches of the others.
    let idle = ["1 0 50 50 20", "2 0 5 5 0", "2 1 20 20 0", "2 1 20 20 5"];
    assert_eq!(priorities(vec![]), idle);
    let states = read(
        &with(vec![]),
        CpuCoreState::TABLE,
        &["cpu", "state", "duration_ns"],
    );
    assert_eq!(states, ["0 2 40", "1 1 25", "2 - 80"]);
    // A sample found it busy, or its switches may have been lost: its state is unknown.
    let unknown = ["1 0 50 30 20", "2 0 5 5 0", "2 1 20 0 0", "2 1 20 0 5"];
    let busy = CpuSample {
        ts_ns: 50,
        cpu: 2,
        process_key: Some(2),
        weight_ns: 10,
        ..CpuSample::default()
    };
    assert_eq!(priorities(vec![rows(&[busy])]), unknown);
    for (severity, kind) in [
        ("warning", "lost_buffers"),
        ("warning", "missing_buffers"),
        ("error", "damage"),
    ] {
        let gap = Diagnostic {
            severity: severity.into(),
            kind: kind.into(),
            ..Diagnostic::default()
        };
        assert_eq!(priorities(vec![rows(&[gap])]), unknown, "{kind}");
    }
    let harmless = Diagnostic {
        severity: "warning".into(),
        kind: "not_closed".into(),
        ..Diagnostic::default()
    };
    assert_eq!(priorities(vec![rows(&[harmless])]), idle);
}

#[test]
fn idle_events_are_summed_up_by_processor_and_state() {
    let slept = |cpu, start_ns, end_ns, state| CpuIdleState {
        cpu,
        start_ns,
        end_ns,
        state,
    };
    let tables = vec![rows(&[
        slept(0, 0, 10, 2),
        slept(0, 20, 50, 2),
        slept(1, 0, 5, 1),
    ])];
    let states = read(
        &derived(&tables),
        CpuCoreState::TABLE,
        &["cpu", "source", "state", "count", "duration_ns", "max_ns"],
    );
    assert_eq!(states, ["0 idle_event 2 2 40 30", "1 idle_event 1 1 5 5"]);
}

#[test]
fn counters_are_summed_up_by_thread() {
    let counter = |position, name: &str| PmcCounter {
        position,
        name: name.into(),
        ..PmcCounter::default()
    };
    let slice = |process_key, thread_key, value_0, value_1| Pmc {
        process_key,
        thread_key,
        run_ns: 10,
        value_0: Some(value_0),
        value_1,
        ..Pmc::default()
    };
    let sample = |interval| PmcSample {
        process_key: Some(1),
        thread_key: 4,
        counter: "LLCMisses".into(),
        interval,
        ..PmcSample::default()
    };
    let tables = vec![
        rows(&[
            counter(Some(0), "InstructionRetired"),
            counter(Some(1), "TotalCycles"),
            counter(None, "LLCMisses"),
        ]),
        rows(&[
            slice(Some(1), 4, 5, Some(7)),
            slice(Some(1), 4, 6, None),
            slice(None, 9, 1, Some(2)),
        ]),
        rows(&[sample(Some(100)), sample(Some(50)), sample(None)]),
    ];
    let columns = [
        "process_key",
        "thread_key",
        "counter",
        "kind",
        "value",
        "count",
        "run_ns",
    ];
    assert_eq!(
        read(&derived(&tables), PmcThread::TABLE, &columns),
        [
            "- 9 InstructionRetired counted 1 1 10",
            "- 9 TotalCycles counted 2 1 10",
            "1 4 InstructionRetired counted 11 2 20",
            "1 4 TotalCycles counted 7 1 20",
            "1 4 LLCMisses sampled 150 3 -",
        ]
    );
}

#[test]
fn branches_inside_a_method_are_left_out_and_those_between_two_are_summed_up() {
    let method = |method_id, name: &str| Method {
        method_id,
        name: name.into(),
        ..Method::default()
    };
    let frame = |frame_id, method_id| Frame {
        frame_id,
        module_id: Some(0),
        rva: Some(0x10 + i64::from(frame_id)),
        method_id,
        ..Frame::default()
    };
    let branch = |from_frame_id, to_frame_id, count| Lbr {
        process_key: Some(1),
        from_frame_id,
        to_frame_id,
        count,
    };
    let tables = vec![
        rows(&[Module {
            name: "a.dll".into(),
            path: "C:\\a.dll".into(),
            ..Module::default()
        }]),
        rows(&[method(0, "main"), method(1, "work")]),
        rows(&[
            frame(0, Some(0)),
            frame(1, Some(0)),
            frame(2, Some(1)),
            frame(3, None),
        ]),
        rows(&[
            branch(0, 1, 9),
            branch(0, 2, 3),
            branch(1, 2, 4),
            branch(2, 3, 1),
            branch(7, 0, 1),
        ]),
    ];
    let columns = [
        "process_key",
        "caller_module",
        "caller",
        "callee_module",
        "callee",
        "count",
    ];
    assert_eq!(
        read(&derived(&tables), LbrMethod::TABLE, &columns),
        ["1 a.dll main a.dll work 7", "1 a.dll work a.dll +0x13 1"]
    );
}
