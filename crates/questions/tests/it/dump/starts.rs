//! Costs of starts and ends of processes, and threads that ran instead of ready ones.

use etwkit_question::range::{Range, Unit};
use etwkit_question::{Piece, ProcessQuery, Question, Value, ask};
use etwkit_questions::ready::instead::{ReadyBy, ReadyEvent, ReadyRequest, ReadyRow};
use etwkit_questions::start::{StartEvent, StartRequest, StartRow};
use etwkit_sql::Session;
use etwkit_trace::table::{
    ContextSwitch, CpuSample, FocusChange, Frame, Method, Module, Process, Stack, Thread,
};

use super::super::support::rows;
use super::{MS, process};

/// Two starts of `a.exe` by `shell.exe`; one of them ends. A third process ran before and ends.
fn starts() -> Session {
    let start = |key, pid, thread, at, cost: Option<i64>| Process {
        start_ns: Some(at),
        create_call_ns: cost.map(|_| at - 2 * MS),
        first_thread_key: Some(thread),
        start_cost_ns: cost,
        creator_thread_key: Some(1),
        ..process(key, pid, "a.exe")
    };
    let ended = Process {
        terminate_ns: Some(80 * MS),
        stop_ns: Some(90 * MS),
        exit_duration_ns: Some(10 * MS),
        ..start(2, 8, 2, 10 * MS, Some(11 * MS))
    };
    let before = Process {
        stop_ns: Some(95 * MS),
        ..process(4, 16, "old.exe")
    };
    let thread = |thread_key, process_key, [start, readied, first_in]: [Option<i64>; 3]| Thread {
        thread_key,
        tid: thread_key * 4,
        process_key: Some(process_key),
        start_ns: start.map(|ms| ms * MS),
        first_readied_ns: readied.map(|ms| ms * MS),
        first_in_ns: first_in.map(|ms| ms * MS),
        ..Thread::default()
    };
    Session::from_batches(vec![
        rows(&[
            process(1, 4, "shell.exe"),
            ended,
            start(3, 12, 3, 50 * MS, None),
            before,
        ]),
        rows(&[
            thread(1, 1, [None; 3]),
            thread(2, 2, [13, 15, 19].map(Some)),
            // It was never switched in.
            thread(3, 3, [Some(52), None, None]),
        ]),
    ])
    .unwrap()
}

#[track_caller]
fn start_sums(request: &StartRequest) -> Vec<StartRow> {
    let sql = request.sql();
    ask(&starts(), &sql).unwrap_or_else(|error| panic!("{error}\n{sql}"))
}

#[track_caller]
fn start_events(request: &StartRequest) -> Vec<StartEvent> {
    let sql = request.events_sql();
    ask(&starts(), &sql).unwrap_or_else(|error| panic!("{error}\n{sql}"))
}

#[test]
fn starts_and_ends_are_summed_up_by_program() {
    let rows = start_sums(&StartRequest::default());
    let [old, a] = &rows[..] else {
        panic!("{rows:?}")
    };
    assert_eq!(
        (a.program.as_deref(), a.starts, a.costed),
        (Some("a.exe"), 2, 1)
    );
    assert_eq!(
        (a.start_cost_ns, a.mean_start_cost_ns),
        (Some(11 * MS), Some(11 * MS))
    );
    let parts = [a.call_ns, a.create_ns, a.release_ns, a.ready_ns];
    assert_eq!(
        parts,
        [2, 3, 2, 4].map(|ms| Some(ms * MS)),
        "they add up to the cost"
    );
    assert_eq!(
        (a.ends, a.exit_duration_ns, a.first_ns),
        (1, Some(10 * MS), Some(10 * MS))
    );
    assert_eq!(
        (old.program.as_deref(), old.starts, old.ends, old.timed_ends),
        (Some("old.exe"), 0, 1, 0)
    );
}

/// Of `old.exe` it is not known when its end began.
#[test]
fn a_time_that_is_not_known_is_no_zero_in_a_total() {
    let total = |process: &str, details| {
        let request = StartRequest {
            processes: ProcessQuery {
                process: Some(process.into()),
                ..ProcessQuery::default()
            },
            details,
            with_total: true,
            ..StartRequest::default()
        };
        let answer = request.answer(&starts()).unwrap();
        let part = &answer.parts[0];
        let lines = part.table.total().into_iter();
        let lines = lines.chain(part.foot.iter().cloned());
        let text = lines.flat_map(|line| line.pieces).map(|piece| match piece {
            Piece::Words(words) => words,
            Piece::Value(_, Value::Number(number)) => number.to_string(),
            other => format!("{other:?}"),
        });
        text.collect::<String>()
    };
    let old = "(1 end has no duration: the start is not known)";
    assert_eq!(total("old", false), format!("Total: 0 starts; 1 end{old}"));
    assert_eq!(total("old", true), format!("Total: 1 process{old}"));
    let a = total("a", false);
    assert!(
        a.starts_with("Total: 2 starts, 11000000 ms; 1 end, 10000000 ms("),
        "{a}"
    );
    let a = total("a", true);
    assert!(
        a.starts_with("Total: 2 processes, start cost 11000000 ms, exit 10000000 ms("),
        "{a}"
    );
}

#[test]
fn single_starts_name_their_creator() {
    let all = StartRequest::default();
    let rows = start_events(&all);
    let pids: Vec<_> = rows.iter().map(|row| row.pid.unwrap()).collect();
    assert_eq!(pids, [12, 16, 8], "by cost; what has none by time");
    let first = &rows[2];
    assert_eq!(
        (first.creator.as_deref(), first.creator_tid),
        (Some("shell.exe"), Some(4))
    );
    let of = |request: StartRequest| {
        start_events(&request)
            .iter()
            .map(|row| row.pid.unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(StartRequest {
            creator: Some("shell*".into()),
            ..all.clone()
        }),
        [12, 8]
    );
    let cost = Range::parse("5..", Unit::Milliseconds).unwrap();
    assert_eq!(
        of(StartRequest {
            cost,
            ..all.clone()
        }),
        [8]
    );
    assert_eq!(
        of(StartRequest {
            exit: cost,
            ..all.clone()
        }),
        [8]
    );
    let time = Range::parse("40ms..", Unit::Moment).unwrap();
    assert_eq!(of(StartRequest { time, ..all }), [12, 16]);
}

/// Starts by `shell.exe` at 20 and 40 ms. It waits in a call from 9 ms on, and `samples` are times in milliseconds and
/// stacks: 0 is outside of any call, 1 in one.
fn starts_by(samples: &[(i64, i32)]) -> Vec<StartEvent> {
    let start = |key, thread, at| Process {
        start_ns: Some(at),
        first_thread_key: Some(thread),
        start_cost_ns: Some(3 * MS),
        creator_thread_key: Some(1),
        ..process(key, key * 4, "a.exe")
    };
    let thread = |thread_key, process_key, first_in_ns| Thread {
        thread_key,
        tid: thread_key * 4,
        process_key: Some(process_key),
        start_ns: first_in_ns,
        first_readied_ns: first_in_ns,
        first_in_ns,
        ..Thread::default()
    };
    let sample = |at, stack_id| CpuSample {
        ts_ns: at * MS,
        process_key: Some(1),
        thread_key: 1,
        stack_id,
        has_stack: true,
        weight_ns: MS,
        ..CpuSample::default()
    };
    let waits = ContextSwitch {
        thread_key: 1,
        process_key: Some(1),
        last_out_ns: Some(9 * MS),
        in_ns: Some(15 * MS),
        wait_ns: Some(6 * MS),
        stack_id: Some(1),
        ..ContextSwitch::default()
    };
    let samples: Vec<CpuSample> = samples
        .iter()
        .map(|(at, stack_id)| sample(*at, *stack_id))
        .collect();
    let module = |module_id, name: &str| Module {
        module_id,
        name: name.to_owned(),
        ..Module::default()
    };
    let method = |method_id, name: &str| Method {
        method_id,
        name: name.to_owned(),
        ..Method::default()
    };
    let frame = |frame_id| Frame {
        frame_id,
        method_id: Some(frame_id),
        module_id: Some(frame_id),
        ..Frame::default()
    };
    let stack = |stack_id, parent_id, frame_id, depth| Stack {
        stack_id,
        parent_id,
        frame_id,
        depth,
    };
    let session = Session::from_batches(vec![
        rows(&[module(0, "shell.exe"), module(1, "ntdll.dll")]),
        rows(&[method(0, "main"), method(1, "NtCreateUserProcess")]),
        rows(&[frame(0), frame(1)]),
        rows(&[stack(0, None, 0, 0), stack(1, Some(0), 1, 1)]),
        rows(&[
            process(1, 4, "shell.exe"),
            start(2, 2, 20 * MS),
            start(3, 3, 40 * MS),
        ]),
        rows(&[
            thread(1, 1, None),
            thread(2, 2, Some(23 * MS)),
            thread(3, 3, Some(43 * MS)),
        ]),
        rows(&samples),
        rows(&[waits]),
    ])
    .unwrap();
    let sql = StartRequest::default().events_sql();
    let mut found: Vec<StartEvent> =
        ask(&session, &sql).unwrap_or_else(|error| panic!("{error}\n{sql}"));
    found.retain(|row| row.start_ns.is_some());
    found
}

/// Without system calls a call begins with the creator's first sample or wait in it: `shell.exe` is
/// outside until 5 ms, enters the call at 8 ms, waits in it from 9 ms, and the process is there at
/// 20 ms. Of the second start nothing is known but that the first call lasted up to 25 ms.
#[test]
fn without_system_calls_the_stacks_of_the_creator_say_when_it_called() {
    let found = starts_by(&[(5, 0), (8, 1), (25, 1)]);
    let found: Vec<_> = found
        .iter()
        .map(|row| {
            (
                row.pid.unwrap(),
                row.start_cost_ns,
                row.call_ns,
                row.call_source.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (12, None, None, None),
            (8, Some(15 * MS), Some(12 * MS), Some("stacks")),
        ]
    );
}

/// The start is logged within the call: what is outside of it at the very same time does not separate the two.
#[test]
fn what_the_creator_does_at_the_time_of_a_start_is_after_the_call() {
    let found = starts_by(&[(5, 0), (8, 1), (20, 0), (33, 1)]);
    let mut calls: Vec<_> = found
        .iter()
        .map(|row| (row.start_ns, row.call_ns))
        .collect();
    calls.sort_unstable();
    assert_eq!(
        calls,
        [
            (Some(20 * MS), Some(12 * MS)),
            (Some(40 * MS), Some(7 * MS)),
        ]
    );
}

/// `edit.exe` has the focus and is ready three times: 6 ms while `scan.exe` runs with lower
/// priority, 3 ms with the same one, 1 ms while the processor wakes. `scan.exe` is ready 2 ms while
/// `edit.exe` runs.
fn readies() -> Session {
    let slice = |of: i32, at: i64, ready: i64, instead: Option<(i32, i64, i32)>| ContextSwitch {
        thread_key: of,
        process_key: Some(of),
        cpu: Some(0),
        in_ns: Some(at * MS),
        ready_ns: Some(ready * MS),
        priority: Some(8),
        prev_state: Some(5),
        instead_thread_key: instead.map(|(thread, ..)| thread),
        // A thread that ran all the time has no separate number.
        instead_ns: instead
            .map(|(_, ms, _)| ms * MS)
            .filter(|ns| *ns != ready * MS),
        instead_priority: instead.map(|(.., priority)| priority),
        ..ContextSwitch::default()
    };
    let thread = |key| Thread {
        thread_key: key,
        tid: key * 4,
        process_key: Some(key),
        ..Thread::default()
    };
    let focus = |level, thread_key| FocusChange {
        ts_ns: Some(5 * MS),
        end_ns: Some(35 * MS),
        level,
        process_key: Some(1),
        thread_key,
        ..FocusChange::default()
    };
    Session::from_batches(vec![
        rows(&[process(1, 4, "edit.exe"), process(2, 8, "scan.exe")]),
        rows(&[thread(1), thread(2)]),
        rows(&[
            slice(1, 10, 6, Some((2, 5, 4))),
            slice(1, 20, 3, Some((2, 3, 8))),
            slice(1, 30, 1, None),
            slice(2, 40, 2, Some((1, 2, 9))),
            slice(2, 50, 0, None),
        ]),
        // Both levels say the same.
        rows(&[focus("process", None), focus("thread", Some(1))]),
    ])
    .unwrap()
}

#[track_caller]
fn ready(request: &ReadyRequest) -> Vec<ReadyRow> {
    let sql = request.sql();
    ask(&readies(), &sql).unwrap_or_else(|error| panic!("{error}\n{sql}"))
}

#[test]
fn times_ready_are_summed_up_by_who_ran_instead() {
    let all = ReadyRequest::default();
    let rows = ready(&all);
    let [idle, edit, scan] = &rows[..] else {
        panic!("{rows:?}")
    };
    assert_eq!((scan.process.as_deref(), scan.count), (Some("scan.exe"), 2));
    assert_eq!(
        (scan.ready_ns, scan.instead_ns, scan.max_ready_ns),
        (9 * MS, Some(8 * MS), 6 * MS)
    );
    assert_eq!(
        (scan.lower_ns, scan.equal_ns, scan.higher_ns),
        (Some(6 * MS), Some(3 * MS), None)
    );
    assert_eq!((scan.focus_ns, scan.idle_ns), (9 * MS, 0));
    assert_eq!((edit.higher_ns, edit.focus_ns), (Some(2 * MS), 0));
    assert_eq!(
        (idle.process.as_deref(), idle.ready_ns, idle.idle_ns),
        (None, MS, MS)
    );
    // Whose threads were ready, by priorities.
    let rows = ready(&ReadyRequest {
        by: ReadyBy::Process,
        focus: true,
        ..all.clone()
    });
    let [edit] = &rows[..] else {
        panic!("{rows:?}")
    };
    assert_eq!((edit.pid, edit.count, edit.ready_ns), (Some(4), 3, 10 * MS));
    let rows = ready(&ReadyRequest {
        by: ReadyBy::Priority,
        ..all
    });
    let pairs: Vec<_> = rows
        .iter()
        .map(|row| (row.priority, row.instead_priority, row.ready_ns / MS))
        .collect();
    assert_eq!(
        pairs,
        [
            (8, None, 1),
            (8, Some(9), 2),
            (8, Some(8), 3),
            (8, Some(4), 6)
        ]
        .map(|(a, b, ms)| (Some(a), b, ms))
    );
}

/// A processor that was only waking up had no other process.
#[test]
fn idle_is_no_unknown_process_that_ran_instead() {
    let answer = ReadyRequest::default().answer(&readies()).unwrap();
    let table = &answer.parts[0].table;
    let columns = table.columns();
    let at = columns.iter().position(|column| column.name == "Process");
    let at = at.unwrap();
    let has_process: Vec<_> = (0..table.len())
        .map(|row| table.value(row, at) != Value::Missing)
        .collect();
    assert_eq!(
        (columns[at].missing, has_process),
        ("(idle)", vec![false, true, true])
    );
}

#[test]
fn single_times_ready_say_who_ran_instead() {
    let process = ProcessQuery {
        process: Some("edit".into()),
        ..ProcessQuery::default()
    };
    let long = Range::parse("2000..", Unit::Microseconds).unwrap();
    let request = ReadyRequest {
        processes: process,
        ready: long,
        instead: Some("scan".into()),
        ..ReadyRequest::default()
    };
    let sql = request.events_sql();
    let rows: Vec<ReadyEvent> =
        ask(&readies(), &sql).unwrap_or_else(|error| panic!("{error}\n{sql}"));
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.in_ns / MS,
                row.instead_process.as_deref(),
                row.has_focus,
            )
        })
        .collect();
    assert_eq!(
        found,
        [(20, Some("scan.exe"), true), (10, Some("scan.exe"), true)]
    );
}
