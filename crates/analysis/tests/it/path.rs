//! Critical paths on machines made by hand.

use etwkit_analysis::path::{CriticalPath, PathAnswer, PathRequest, ThreadChoice};
use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;

use super::chain::{five, inversion};
use super::support::{Machine, first, off};

fn of(process: &str) -> PathRequest {
    let processes = ProcessQuery {
        process: Some(process.into()),
        ..ProcessQuery::default()
    };
    PathRequest {
        processes,
        ..PathRequest::default()
    }
}

fn path(machine: &Machine, request: &PathRequest) -> Box<CriticalPath> {
    let PathAnswer::Path(path) = request.ask(&machine.session()).unwrap() else {
        panic!("no path")
    };
    let sum: i64 = path
        .segments
        .iter()
        .map(|segment| segment.duration_ns)
        .sum();
    assert_eq!(sum, path.to_ns - path.from_ns);
    assert_eq!(path.tree[0].total_ns, sum);
    path
}

/// Formats `start-end tid state depth`, and the end of a wait.
fn segments(path: &CriticalPath) -> Vec<String> {
    let text = |s: &etwkit_analysis::path::Segment| {
        let ended = s
            .ended_by
            .as_ref()
            .map(|ended| format!(" {ended}"))
            .unwrap_or_default();
        format!(
            "{}-{} {} {} {}{ended}",
            s.start_ns,
            s.end_ns,
            s.tid.unwrap(),
            s.state.name(),
            s.depth
        )
    };
    path.segments.iter().map(text).collect()
}

fn by_thread(tid: i64) -> PathRequest {
    PathRequest {
        tid: Some(tid),
        ..PathRequest::default()
    }
}

#[test]
fn waits_are_replaced_down_to_the_thread_that_ran() {
    let path = path(&five(), &by_thread(101));
    assert_eq!(
        segments(&path),
        [
            "0-10 101 running 0",
            "10-12 102 running 1",
            "12-14 103 running 2",
            "14-16 104 running 3",
            "16-18 105 running 4",
            "18-75 106 running 5",
            "75-76 105 ready 4",
            "76-80 105 running 4",
            "80-81 104 ready 3",
            "81-85 104 running 3",
            "85-86 103 ready 2",
            "86-90 103 running 2",
            "90-91 102 ready 1",
            "91-95 102 running 1",
            "95-96 101 ready 0",
            "96-120 101 running 0",
        ]
    );
    let tree: Vec<_> = path
        .tree
        .iter()
        .map(|node| (node.depth, node.tid.unwrap(), node.total_ns, node.waits))
        .collect();
    assert_eq!(
        tree,
        [
            (0, 101, 120, 0),
            (1, 102, 85, 1),
            (2, 103, 78, 1),
            (3, 104, 71, 1),
            (4, 105, 64, 1),
            (5, 106, 57, 1)
        ]
    );
    assert_eq!(
        (
            path.shares[0].tid,
            path.shares[0].duration_ns,
            path.shares[0].percent
        ),
        (Some(106), 57, 47.5)
    );
}

#[test]
fn priority_inversion_is_ready_on_the_path() {
    let path = path(&inversion(), &of("high"));
    assert_eq!(
        segments(&path),
        [
            "0-10 101 running 0",
            "10-15 102 running 1",
            "15-100 102 ready 1",
            "100-105 102 running 1",
            "105-106 101 ready 0",
            "106-120 101 running 0",
        ]
    );
}

#[test]
fn a_range_cuts_the_path_at_both_ends() {
    let mut machine = five();
    machine.add(off(1, 120).open());
    let within = |min, max| {
        path(
            &machine,
            &PathRequest {
                time: Range { min, max },
                ..by_thread(101)
            },
        )
    };
    assert_eq!(
        segments(&within(60, 78)),
        [
            "60-75 106 running 5",
            "75-76 105 ready 4",
            "76-78 105 running 4"
        ]
    );
    // With a range the path goes on where the thread does not run, to the end of the trace.
    let late = within(110, 5000);
    assert_eq!(
        segments(&late),
        ["110-120 101 running 0", "120-200 101 waiting 0 open"]
    );
    assert_eq!(late.open_wait, Some((120, Some("UserRequest".into()))));
    // Without one it ends with the last switch-out, and names the open wait.
    let whole = path(&machine, &by_thread(101));
    assert_eq!(
        (whole.to_ns, whole.open_wait.clone()),
        (120, Some((120, Some("UserRequest".into()))))
    );
}

#[test]
fn waits_that_no_thread_ended_stay_waits() {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 300);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied_by_dpc(50, 2).ran(50, 60))
        .add(off(1, 60).readied(80, 0).ran(80, 90))
        .add(off(1, 90).ran(100, 110))
        .add(off(1, 110).preempted().ran(120, 130))
        .add(off(1, 130).readied(140, 2).ran(140, 150))
        .add(first(2, 200, 250));
    // Nothing is known about 2 before 200, so that it explains nothing.
    assert_eq!(
        segments(&path(&machine, &by_thread(101))),
        [
            "0-10 101 running 0",
            "10-50 101 waiting 0 dpc",
            "50-60 101 running 0",
            "60-80 101 waiting 0 dpc",
            "80-90 101 running 0",
            "90-100 101 unknown 0",
            "100-110 101 running 0",
            "110-120 101 ready 0",
            "120-130 101 running 0",
            "130-140 101 waiting 0",
            "140-150 101 running 0",
        ]
    );
}

#[test]
fn lost_events_are_unknown_time() {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 300);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(100, 2).ran(100, 110));
    // 2 was seen until 20 and again from 60; events in between were lost.
    machine
        .add(first(2, 0, 20))
        .add(first(2, 60, 105))
        .add(first(1, 150, 160));
    assert_eq!(
        segments(&path(&machine, &by_thread(101))),
        [
            "0-10 101 running 0",
            "10-20 102 running 1",
            "20-60 102 unknown 1",
            "60-100 102 running 1",
            "100-110 101 running 0",
            "110-150 101 unknown 0",
            "150-160 101 running 0",
        ]
    );
}

#[test]
fn circles_and_endless_ways_end() {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 200);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(90, 2).ran(90, 95))
        .add(off(2, 10).readied(90, 1).ran(90, 95));
    assert_eq!(
        segments(&path(&machine, &by_thread(101))),
        [
            "0-10 101 running 0",
            "10-90 102 waiting 1",
            "90-95 101 running 0"
        ]
    );
    let names = vec!["a.exe"; 100];
    let mut machine = Machine::new(&names, 1000);
    for thread in 1..100 {
        machine.add(first(thread, 0, 10));
        machine.add(
            off(thread, 10)
                .readied(900 - i64::from(thread), thread + 1)
                .ran(950, 960),
        );
    }
    let path = path(&machine, &by_thread(101));
    assert_eq!(
        path.segments.iter().map(|segment| segment.depth).max(),
        Some(64)
    );
}

#[test]
fn the_path_of_a_process_is_that_of_its_first_or_longest_thread() {
    let mut machine = Machine::new(&["a.exe", "a.exe", "b.exe"], 200);
    machine
        .add(first(1, 0, 10))
        .add(first(2, 10, 100))
        .add(first(3, 0, 50));
    // It ran when the trace began: the thread that ran longest.
    let longest = path(&machine, &of("a"));
    assert_eq!(
        (longest.thread.tid, longest.chosen, longest.others),
        (102, ThreadChoice::Longest, 1)
    );
    let others: Vec<_> = longest
        .best_others
        .iter()
        .map(|(thread, run_ns)| (thread.tid, *run_ns))
        .collect();
    assert_eq!(others, [(101, 10)]);
    // It started in the trace: its first thread.
    machine.processes[1].start_ns = Some(0);
    machine.threads[1].start_ns = Some(0);
    machine.threads[2].start_ns = Some(5);
    let begun = path(&machine, &of("a"));
    assert_eq!((begun.thread.tid, begun.chosen), (101, ThreadChoice::First));
    // Without a name, the path of a range follows the thread that ran longest in it.
    let part = PathRequest {
        time: Range { min: 0, max: 60 },
        ..PathRequest::default()
    };
    let busiest = path(&machine, &part);
    assert_eq!(
        (busiest.thread.tid, busiest.chosen),
        (102, ThreadChoice::LongestOfAll)
    );
    let part = PathRequest {
        time: Range { min: 0, max: 55 },
        ..PathRequest::default()
    };
    assert_eq!(path(&machine, &part).thread.tid, 103);
    // Two processes have no path together.
    let PathAnswer::Several(threads) = of("*").ask(&machine.session()).unwrap() else {
        panic!("one path")
    };
    assert_eq!(
        threads.iter().map(|thread| thread.tid).collect::<Vec<_>>(),
        [102, 103]
    );
    assert_eq!(of("c").ask(&machine.session()).unwrap(), PathAnswer::None);
}

/// A shell reads the output of a tool. A subshell starts the tool at 65, for which it waits for a
/// scanner.
fn started() -> Machine {
    let mut machine = Machine::new(&["shell", "sub", "tool", "scan"], 120);
    machine.processes[3].start_ns = Some(65);
    machine.threads[3].start_ns = Some(65);
    machine.threads[3].creator_thread_key = Some(2);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(100, 3).ran(101, 120))
        .add(first(2, 0, 20))
        .add(off(2, 20).readied(60, 4).ran(60, 72))
        .add(first(3, 75, 110))
        .add(first(4, 15, 62));
    machine
}

#[test]
fn before_a_thread_exists_its_creator_is_followed() {
    let path = path(&started(), &by_thread(101));
    assert_eq!(
        segments(&path),
        [
            "0-10 101 running 0",
            "10-20 102 running 2",
            "20-60 104 running 3",
            "60-65 102 running 2",
            "65-75 103 unknown 1",
            "75-100 103 running 1",
            "100-101 101 ready 0",
            "101-120 101 running 0",
        ]
    );
    let tree: Vec<_> = path
        .tree
        .iter()
        .map(|node| {
            (
                node.tid.unwrap(),
                node.total_ns,
                node.waits,
                node.is_creator,
            )
        })
        .collect();
    assert_eq!(
        tree,
        [
            (101, 120, 0, false),
            (103, 90, 1, false),
            (102, 55, 0, true),
            (104, 40, 1, false)
        ]
    );
}

#[test]
fn a_creator_need_not_run_in_the_process_of_the_parent() {
    let mut machine = started();
    // A broker creates processes for others, and several of its threads run then.
    machine.threads[2].process_key = Some(4);
    machine.add(off(4, 62).readied(63, 2).ran(64, 70));
    let followed = segments(&path(&machine, &by_thread(101)));
    assert_eq!(
        followed[1..4],
        [
            "10-20 102 running 2",
            "20-60 104 running 3",
            "60-65 102 running 2"
        ]
    );
}

#[test]
fn where_no_event_names_the_creator_nobody_is_followed() {
    let mut machine = started();
    machine.threads[3].creator_thread_key = None;
    let path = path(&machine, &by_thread(101));
    assert_eq!(
        segments(&path)[..3],
        [
            "0-10 101 running 0",
            "10-75 103 unknown 1",
            "75-100 103 running 1"
        ]
    );
}
