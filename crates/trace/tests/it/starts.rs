//! The cost of starting and ending processes, start addresses of threads, and the threads that run
//! instead of ready ones. Events in, rows out.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_etl::Session;
use etwkit_trace::import::{Options, Range, import};
use etwkit_trace::table::{ContextSwitch, Frame, Module, Process, Row, Thread};

use crate::counters::{Batches, bytes, read, wide, words};
use crate::scheduling::{PREEMPTED, Recording, WAITS, rows, truths};

/// A process event of version 4.
fn process(pid: u64, flags: u64) -> Vec<u8> {
    let fixed = bytes(&[
        (0xFFFF_C000_0000_0000 + pid, 8),
        (pid, 4),
        (40, 4),
        (1, 4),
        (259, 4),
        (0, 8),
        (flags, 4),
        (0, 4),
    ]);
    [&fixed[..], b"a.exe\0", &wide("a.exe -x"), &[0; 4]].concat()
}

/// Columns of the process with an ID.
fn of<const N: usize>(rows: &Batches, pid: i64, columns: [&str; N]) -> [Option<i64>; N] {
    let pids = read(rows, Process::TABLE, ["pid"]).concat();
    let at = pids.iter().position(|known| *known == Some(pid)).unwrap();
    read(rows, Process::TABLE, columns)[at]
}

/// The example of `docs/numbers/lifetimes.md`: the creator runs on another processor than the
/// child.
fn example() -> Recording {
    let mut trace = Recording::new();
    trace.switch(5, 0, (0, 2), 44);
    trace.thread(6, None, 3, 40, 44);
    trace.kernel(100, 0, Some(44), (3, 1, 4), &process(60, 2));
    trace.thread(130, Some(44), 1, 60, 64);
    trace.ready(150, 0, 64);
    trace.switch(190, 1, (0, 2), 64);
    // Its second thread runs before the first one could have.
    trace.thread(195, Some(64), 1, 60, 68);
    trace.switch(380, 1, (64, WAITS), 0);
    trace.kernel(400, 0, Some(44), (3, 11, 2), &60_u32.to_le_bytes());
    trace.kernel(410, 0, Some(44), (3, 11, 2), &60_u32.to_le_bytes());
    trace.kernel(460, 1, Some(64), (3, 2, 4), &process(60, 2));
    trace
}

#[test]
fn a_start_costs_from_its_event_to_the_first_switch_in() {
    let rows = example().rows();
    let columns = [
        "start_ns",
        "start_cost_ns",
        "terminate_ns",
        "stop_ns",
        "exit_duration_ns",
    ];
    assert_eq!(of(&rows, 60, columns), [100, 90, 400, 460, 60].map(Some));
    // The parts of the cost: the creator's work until the first thread, the time until that thread
    // is ready, then the time until it gets a processor.
    let [first] = of(&rows, 60, ["first_thread_key"]);
    let threads = read(
        &rows,
        Thread::TABLE,
        ["thread_key", "start_ns", "first_readied_ns", "first_in_ns"],
    );
    assert!(
        threads.contains(&[first, Some(130), Some(150), Some(190)]),
        "{threads:?}"
    );
    assert_eq!(
        of(&rows, 60, ["object_address"]),
        [Some(0xFFFF_C000_0000_003C_u64 as i64)]
    );
    // A process from before the trace has no start, and version 3 of the events has no flags.
    assert_eq!(of(&rows, 40, columns), [None; 5]);
    let flags = |column| truths(&rows, Process::TABLE, column);
    assert!(flags("is_wow64").contains(&Some(true)) && flags("is_wow64").contains(&None));
    assert!(flags("is_protected").contains(&Some(false)));
}

#[test]
fn the_cost_of_a_start_across_a_gap_is_not_known() {
    let mut trace = Recording::new();
    trace.switch(5, 0, (0, 2), 44);
    trace.kernel(10, 0, Some(44), (3, 1, 4), &process(60, 4));
    trace.lose_buffer();
    trace.thread(130, Some(44), 1, 60, 64);
    trace.switch(190, 0, (44, PREEMPTED), 64);
    let rows = trace.rows();
    assert_eq!(
        of(&rows, 60, ["start_cost_ns", "exit_duration_ns"]),
        [None; 2]
    );
    assert!(truths(&rows, Process::TABLE, "is_protected").contains(&Some(true)));
}

#[test]
fn a_thread_begins_in_a_module_that_may_be_mapped_behind_its_start() {
    let mut trace = Recording::new();
    let thread = |start: u64| {
        let before = [(60, 4), (64, 4), (0, 8), (0, 8), (0, 8), (0, 8), (0, 8)];
        bytes(&[&before[..], &[(start, 8), (0, 8), (0, 8)]].concat())
    };
    trace.kernel(5, 0, None, (3, 3, 4), &process(60, 0));
    trace.kernel(10, 0, Some(44), (5, 1, 3), &thread(0x40_1234));
    let image = bytes(&[
        (0x40_0000, 8),
        (0x8000, 8),
        (60, 4),
        (1, 4),
        (2, 4),
        (0, 4),
        (0, 8),
        (0, 8),
        (0, 8),
    ]);
    trace.kernel(
        20,
        0,
        Some(64),
        (20, 10, 2),
        &[image, wide("\\a.exe")].concat(),
    );
    trace.kernel(30, 0, Some(64), (5, 2, 3), &thread(0x40_1234));
    // No module is known at that address.
    trace.kernel(40, 0, Some(44), (5, 1, 3), &thread(0x99_0000));
    let rows = trace.rows();
    let begins = read(&rows, Thread::TABLE, ["start_frame_id"]).concat();
    assert_eq!(begins[..2], [Some(0), None]);
    assert_eq!(
        read(&rows, Frame::TABLE, ["frame_id", "module_id", "rva"]),
        [[0, 0, 0x1234].map(Some)]
    );
    assert_eq!(words(&rows, Module::TABLE, "name"), ["a.exe"]);
}

#[test]
fn a_module_says_why_and_for_which_other_one_it_was_loaded() {
    let mut trace = Recording::new();
    let image = |base: u64, name: &str| {
        let fixed = bytes(&[
            (base, 8),
            (0x8000, 8),
            (60, 4),
            (1, 4),
            (2, 4),
            (0, 4),
            (0, 8),
            (0, 8),
            (0, 8),
        ]);
        [fixed, wide(name)].concat()
    };
    trace.kernel(10, 0, Some(64), (20, 10, 2), &image(0x40_0000, "\\a.exe"));
    trace.kernel(20, 0, Some(64), (20, 10, 2), &image(0x50_0000, "\\b.dll"));
    // Programs log it themselves; the header contains the process.
    let dependency = |base: u64, parent: u64, reason: u64| {
        [bytes(&[(base, 8), (parent, 8), (reason, 4)]), wide("b.dll")].concat()
    };
    let context = etwkit_etl::writer::KernelContext::ids(64, 60);
    for payload in [
        dependency(0x50_0000, 0x40_0000, 4),
        dependency(0x50_0000, 0, 0),
        dependency(0x77_0000, 0x40_0000, 4),
    ] {
        trace.kernel_by(30, 0, context, (20, 176, 3), &payload);
    }
    let rows = trace.rows();
    let columns = ["module_id", "load_reason", "parent_module_id"];
    assert_eq!(
        read(&rows, Module::TABLE, columns),
        [[Some(0), None, None], [1, 4, 0].map(Some)]
    );
}

/// The example of `docs/numbers/ready.md`.
fn waiting_for_a_processor() -> Recording {
    let mut trace = Recording::new();
    trace.switch(5, 0, (0, 2), 4);
    trace.switch(6, 1, (0, 2), 16);
    trace.switch(20, 0, (4, WAITS), 8);
    trace.ready(30, 1, 4);
    trace.switch(34, 0, (8, WAITS), 12);
    trace.switch(36, 0, (12, PREEMPTED), 8);
    trace.switch(47, 0, (8, WAITS), 0);
    trace.switch(50, 0, (0, 2), 4);
    // The thread is preempted, and returns on the other processor, where one thread ran all the
    // time.
    trace.switch(60, 0, (4, PREEMPTED), 8);
    trace.switch(70, 1, (16, WAITS), 4);
    // The thread is ready, and the processor is idle.
    trace.switch(80, 1, (4, WAITS), 0);
    trace.ready(85, 0, 4);
    trace.switch(90, 1, (0, 2), 4);
    trace.switch(95, 1, (4, WAITS), 0);
    trace
}

/// Thread 4's switch-ins: time, ready time, and the thread that ran instead with its duration.
fn instead(rows: &Batches) -> Vec<[Option<i64>; 4]> {
    let tids = read(rows, Thread::TABLE, ["thread_key", "tid"]);
    let tid = |key: Option<i64>| {
        tids.iter()
            .find(|[known, _]| *known == key)
            .and_then(|[_, tid]| *tid)
    };
    let columns = [
        "thread_key",
        "in_ns",
        "ready_ns",
        "instead_thread_key",
        "instead_ns",
    ];
    let of_4 = read(rows, ContextSwitch::TABLE, columns)
        .into_iter()
        .filter(|row| tid(row[0]) == Some(4));
    // A duration that equals `ready_ns` is not stored again.
    let of_4 = of_4.inspect(|row| assert!(row[4].is_none() || row[4] != row[2], "{row:?}"));
    let ran = |row: [Option<i64>; 5]| row[4].or(row[3].and(row[2]));
    of_4.map(|row| {
        [
            row[1],
            row[2],
            row[3].and_then(|by| tid(Some(by))),
            ran(row),
        ]
    })
    .collect()
}

#[test]
fn who_ran_longest_on_the_processor_ran_instead_of_a_ready_thread() {
    let rows = waiting_for_a_processor().rows();
    assert_eq!(
        instead(&rows),
        [
            [Some(5), None, None, None],
            // 8 from 30 to 34 and from 36 to 47, 12 from 34 to 36, then idle.
            [50, 20, 8, 15].map(Some),
            [70, 10, 16, 10].map(Some),
            [Some(90), Some(5), None, None],
            // It waits to the end.
            [None; 4],
        ]
    );
    let columns = ["in_ns", "out_priority", "adjust_reason"];
    let switches = read(&rows, ContextSwitch::TABLE, columns);
    assert!(
        switches.contains(&[Some(50), None, Some(0)]),
        "{switches:?}"
    );
    assert!(
        switches.contains(&[Some(70), None, None]),
        "a preempted thread is not made ready: {switches:?}"
    );
    let waits = truths(&rows, ContextSwitch::TABLE, "is_user_wait");
    assert!(
        waits.contains(&Some(true)) && waits.contains(&None),
        "{waits:?}"
    );
}

/// Thread 8 runs at the start of the recording, with an unknown priority and 9 at its end; 4 is
/// boosted from 8 to 10 while it runs, 12 is not.
#[test]
fn a_priority_at_the_end_of_a_slice_is_kept_where_it_differs() {
    let mut trace = Recording::new();
    let switch = |old: u64, new: u64, old_priority: u64| {
        let priorities = old_priority << 8 | 8;
        bytes(&[
            (new, 4),
            (old, 4),
            (priorities, 2),
            (0, 2),
            (6, 1),
            (1, 1),
            (5, 1),
            (0, 1),
            (0, 8),
        ])
    };
    for (us, old, new, priority) in [(5, 8, 4, 9), (20, 4, 12, 10), (30, 12, 8, 8)] {
        trace.kernel(us, 0, None, (5, 36, 4), &switch(old, new, priority));
    }
    let rows = trace.rows();
    let slices = read(
        &rows,
        ContextSwitch::TABLE,
        ["out_ns", "priority", "out_priority"],
    );
    let expected = [
        [Some(5), None, Some(9)],
        [Some(20), Some(8), Some(10)],
        [Some(30), Some(8), None],
    ];
    assert!(
        expected.iter().all(|row| slices.contains(row)),
        "{slices:?}"
    );
}

#[test]
fn who_ran_instead_in_the_parts_of_a_trace_adds_up() {
    let file = waiting_for_a_processor().finish();
    let part = |start: i64, end: i64| {
        let session = Session::open(vec![Box::new(file.clone())]).unwrap();
        let range = Range {
            start_ns: start * 1000,
            end_ns: end * 1000,
        };
        let options = Options {
            range,
            ..Options::default()
        };
        let mut sink = Batches::new();
        import(&session, &options, &mut sink, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        let rows = instead(&sink);
        rows.into_iter()
            .find(|row| row[1].is_some_and(|ready| ready > 0))
            .unwrap()
    };
    // To the end of the first part it was ready from 30 to 40: 8 ran until 34 and from 36 on.
    assert_eq!(part(0, 40), [None, Some(10), Some(8), Some(8)]);
    assert_eq!(part(40, 55), [50, 10, 8, 7].map(Some));
}

#[test]
fn a_thread_has_the_ideal_processor_of_its_first_switch_out() {
    let mut trace = Recording::new();
    let switch = |old: u64, new: u64, ideal: u64| {
        let state = if old == 0 { 2 } else { 5 };
        bytes(&[
            (new, 4),
            (old, 4),
            (0x0808, 2),
            (0, 2),
            (6, 1),
            (1, 1),
            (state, 1),
            (ideal, 1),
            (0, 8),
        ])
    };
    for (us, old, new, ideal) in [
        (5, 4, 8, 1),
        (10, 8, 4, 3),
        (20, 4, 0, 2),
        (30, 0, 8, 9),
        (40, 8, 0, 7),
    ] {
        trace.kernel(us, 0, None, (5, 36, 4), &switch(old, new, ideal));
    }
    let threads = read(&trace.rows(), Thread::TABLE, ["tid", "ideal_cpu"]);
    let known: BTreeMap<_, _> = threads.into_iter().map(|[tid, cpu]| (tid, cpu)).collect();
    assert_eq!(
        known,
        BTreeMap::from([(Some(0), None), (Some(4), Some(1)), (Some(8), Some(3))])
    );
}

/// Eight hours of a machine that was shut down at the end. Another reader of the file shows the
/// same times of events.
#[test]
fn processes_of_a_shutdown_begin_to_end_before_they_are_gone() {
    let Some(root) = etwkit_testkit::traces() else {
        return;
    };
    let (rows, _) = rows(vec![
        std::fs::read(root.join("ShutdownPerfDiagLogger.etl")).unwrap(),
    ]);
    let columns = ["pid", "terminate_ns", "stop_ns", "exit_duration_ns"];
    let processes = read(&rows, Process::TABLE, columns);
    let ending: Vec<_> = processes.iter().filter(|row| row[1].is_some()).collect();
    assert_eq!(ending.len(), 60);
    assert!(
        ending.iter().all(|row| row[3].is_none_or(|us| us >= 0)),
        "{ending:?}"
    );
    // vmtoolsd.exe.
    let ended = [6920, 29_519_942_686, 29_519_954_622, 11_936].map(Some);
    assert!(processes.contains(&ended), "{processes:?}");
    let named = read(&rows, Thread::TABLE, ["start_frame_id"])
        .concat()
        .into_iter()
        .flatten()
        .count();
    assert!(named > 500, "{named}");
}

/// Numbers of a table in nanoseconds.
fn exact<const N: usize>(rows: &Batches, columns: [&str; N]) -> Vec<[Option<i64>; N]> {
    let mut all = Vec::new();
    for (_, batch) in rows
        .iter()
        .filter(|(table, _)| table.name == Process::TABLE.name)
    {
        let values = columns.map(|name| {
            let array = batch.column_by_name(name).unwrap();
            match array.as_primitive_opt::<Int32Type>() {
                Some(small) => small.iter().map(|n| n.map(i64::from)).collect::<Vec<_>>(),
                None => array.as_primitive::<Int64Type>().iter().collect(),
            }
        });
        all.extend((0..batch.num_rows()).map(|row| values.each_ref().map(|column| column[row])));
    }
    all
}

#[test]
fn costs_of_starts_and_exits_are_the_truth() {
    let scenario = etwkit_synth::find("process-starts").unwrap();
    for seed in 1..4 {
        let options = etwkit_synth::Options {
            seed,
            ..etwkit_synth::Options::default()
        };
        let (trace, truth) = scenario.write(Cursor::new(Vec::new()), &options).unwrap();
        let (rows, _) = rows(vec![trace.into_inner()]);
        let columns = ["pid", "start_ns", "create_call_ns", "start_cost_ns"];
        let started = exact(&rows, columns);
        for start in &truth.starts {
            let expected = [
                Some(start.pid.into()),
                Some(start.start_ns),
                start.call_ns,
                start.cost_ns,
            ];
            assert!(
                started.contains(&expected),
                "{start:?} {:?}",
                of(&rows, start.pid.into(), columns)
            );
        }
        let ended = exact(
            &rows,
            ["pid", "terminate_ns", "stop_ns", "exit_duration_ns"],
        );
        for exit in &truth.exits {
            let expected = [
                exit.pid.into(),
                exit.terminate_ns,
                exit.end_ns,
                exit.duration_ns,
            ]
            .map(Some);
            assert!(ended.contains(&expected), "{exit:?}");
        }
        let called = truth
            .starts
            .iter()
            .filter(|start| start.call_ns.is_some() && start.cost_ns.is_some());
        assert!(called.count() > 10 && truth.exits.len() > 10, "seed {seed}");
    }
}
