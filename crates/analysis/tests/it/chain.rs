//! Chains of waits on machines made by hand.

use std::sync::Arc;

use etwkit_analysis::chain::Chain;
use etwkit_analysis::wait::{WaitRequest, WaitSort};
use etwkit_question::TypedQuestion;
use etwkit_question::group::Top;
use etwkit_question::nothing::RowFilters;
use etwkit_trace::table::{DiskIo, DpcIsr};
use serde_json::json;

use super::support::{Machine, first, off};

/// The chain of the longest wait of a thread.
fn chain(machine: &Machine, tid: i64) -> Chain {
    let waits = WaitRequest {
        tid: Some(tid),
        top: Top {
            count: Some(1),
            skip: 0,
        },
        ..WaitRequest::default()
    };
    let mut chains = waits.chains(&machine.session()).unwrap();
    assert_eq!(chains.len(), 1);
    chains.remove(0)
}

/// Returns the chain of the longest wait of a thread, with the competing waits.
fn chain_with_all(machine: &Machine, tid: i64) -> Chain {
    let waits = WaitRequest {
        tid: Some(tid),
        top: Top {
            count: Some(1),
            skip: 0,
        },
        all_waits: true,
        ..WaitRequest::default()
    };
    waits.chains(&machine.session()).unwrap().remove(0)
}

fn tids(chain: &Chain) -> Vec<i64> {
    chain.links.iter().map(|link| link.tid.unwrap()).collect()
}

/// 1 waits for 2, which waits for 3, and so on: five waits over three processes; 6 only runs.
pub(crate) fn five() -> Machine {
    let mut machine = Machine::new(
        &[
            "ui.exe",
            "ui.exe",
            "broker.exe",
            "broker.exe",
            "store.exe",
            "store.exe",
        ],
        200,
    );
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(95, 2).ran(96, 120))
        .add(first(2, 0, 12))
        .add(off(2, 12).readied(90, 3).ran(91, 100))
        .add(first(3, 0, 14))
        .add(off(3, 14).readied(85, 4).ran(86, 95))
        .add(first(4, 0, 16))
        .add(off(4, 16).readied(80, 5).ran(81, 90))
        .add(first(5, 0, 18))
        .add(off(5, 18).readied(75, 6).ran(76, 85))
        .add(first(6, 0, 78));
    machine
}

#[test]
fn a_chain_of_five_waits_over_three_processes_ends_at_the_thread_that_ran() {
    let chain = chain(&five(), 101);
    assert_eq!(tids(&chain), [101, 102, 103, 104, 105]);
    assert_eq!(
        chain.links.iter().map(|link| link.link).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    let processes: Vec<_> = chain
        .links
        .iter()
        .map(|link| link.process.as_deref().unwrap())
        .collect();
    assert_eq!(
        processes,
        ["ui.exe", "ui.exe", "broker.exe", "broker.exe", "store.exe"]
    );
    let link = &chain.links[1];
    assert_eq!(
        (link.start_ns, link.readied_ns, link.in_ns),
        (Some(12), Some(90), Some(91))
    );
    assert_eq!(
        (link.readying_tid, link.wait_ns, link.ready_ns),
        (Some(103), Some(78), Some(1))
    );
    // From 12 to 90 thread 103 ran until 14 and from 86 on, and was ready for 1.
    assert_eq!(
        (
            link.readying_run_ns,
            link.readying_ready_ns,
            link.readying_wait_ns
        ),
        (Some(6), Some(1), Some(71))
    );
    let root = &chain.root;
    assert_eq!(
        (root.kind.as_str(), root.tid, root.link),
        ("thread_ran", Some(106), 6)
    );
    assert_eq!(
        (root.start_ns, root.readied_ns, root.run_ns, root.ready_ns),
        (Some(18), Some(75), Some(57), Some(0))
    );
    assert_eq!(chain.total_wait_ns(), Some(85));
}

#[test]
fn chains_come_in_the_order_that_is_asked_for() {
    let mut machine = Machine::new(&["a.exe", "b.exe", "c.exe", "d.exe"], 200);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(90, 4).ran(91, 120))
        .add(first(2, 0, 10))
        .add(off(2, 10).readied(20, 4).ran(60, 70))
        // Preempted for long: ready time, but no wait.
        .add(first(3, 0, 10))
        .add(off(3, 10).preempted().ran(150, 160))
        .add(first(4, 0, 100));
    let asked = |sort| {
        let waits = WaitRequest {
            sort,
            top: Top {
                count: Some(2),
                skip: 0,
            },
            ..WaitRequest::default()
        };
        let chains = waits.chains(&machine.session()).unwrap();
        chains
            .iter()
            .map(|chain| tids(chain)[0])
            .collect::<Vec<_>>()
    };
    assert_eq!(asked(WaitSort::Wait), [102, 101]);
    for sort in [WaitSort::Ready, WaitSort::ReadySum, WaitSort::ReadyMax] {
        assert_eq!(asked(sort), [101, 102], "{sort:?}");
    }
}

/// 1 waits for a lock that 2 holds; 2 could run but is preempted by 3, which has nothing to do with
/// the lock.
pub(crate) fn inversion() -> Machine {
    let mut machine = Machine::new(&["high.exe", "low.exe", "middle.exe"], 200);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(105, 2).ran(106, 120))
        .add(first(2, 0, 15))
        .add(off(2, 15).preempted().ran(100, 110))
        .add(first(3, 15, 100));
    machine
}

#[test]
fn priority_inversion_shows_as_time_ready_of_the_holder() {
    let chain = chain(&inversion(), 101);
    let root = &chain.root;
    assert_eq!(
        (tids(&chain), root.kind.as_str(), root.tid),
        (vec![101], "thread_ran", Some(102))
    );
    assert_eq!((root.run_ns, root.ready_ns), (Some(10), Some(85)));
}

fn dpc(kind: &'static str, cpu: i32, start_ns: i64, end_ns: i64, frame_id: i32) -> DpcIsr {
    DpcIsr {
        kind,
        cpu,
        start_ns,
        end_ns,
        duration_ns: end_ns - start_ns,
        frame_id,
        ..DpcIsr::default()
    }
}

/// 1 is made ready at 50 by a DPC that interrupted a thread.
fn interrupted(by: i32) -> Machine {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 1_000_000);
    machine.stack(&["StorRoutine", "TimerRoutine"]);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied_by_dpc(50, by).ran(55, 60))
        .add(first(2, 0, 900));
    machine
}

#[test]
fn a_transfer_of_the_thread_is_the_root_if_it_was_complete_when_the_wait_ended() {
    let mut machine = interrupted(2);
    let transfer = |thread, init_ns, complete_ns, path: &str| DiskIo {
        kind: "read",
        thread_key: Some(thread),
        init_ns,
        complete_ns,
        size_bytes: 4096,
        path: Some(path.into()),
        ..DiskIo::default()
    };
    machine.transfers = vec![
        transfer(2, 8, 49, "other"),
        transfer(1, 0, 30, "earlier"),
        transfer(1, 9, 49, "mine"),
        transfer(1, 55, 60, "later"),
    ];
    machine.dpcs = vec![dpc("dpc", 2, 48, 52, 0)];
    let root = chain(&machine, 101).root;
    assert_eq!(
        (root.kind.as_str(), root.object.as_deref(), root.size_bytes),
        ("disk_io", Some("mine"), Some(4096))
    );
    assert_eq!((root.start_ns, root.readied_ns), (Some(9), Some(49)));
    // Too long ago to be the reason.
    machine.transfers = vec![transfer(1, 9, 20, "mine")];
    machine.switches[1] = off(1, 10)
        .readied_by_dpc(200_050, 2)
        .ran(200_055, 200_060)
        .0;
    assert_eq!(chain(&machine, 101).root.kind.as_str(), "dpc");
}

#[test]
fn the_dpc_is_that_of_the_processor_that_it_interrupted() {
    let mut machine = interrupted(2);
    // Thread 2 ran on processor 2. An interrupt inside the DPC is nearer than that.
    machine.dpcs = vec![dpc("timer_dpc", 7, 45, 52, 1), dpc("dpc", 2, 48, 52, 0)];
    let root = chain(&machine, 101).root;
    assert_eq!(
        (root.kind.as_str(), root.operation.as_deref(), root.cpu),
        ("dpc", Some("dpc"), Some(2))
    );
    assert_eq!(root.object.as_deref(), Some("a.dll!TimerRoutine"));
    machine.dpcs.push(dpc("isr", 2, 49, 51, 1));
    let root = chain(&machine, 101).root;
    assert_eq!(
        (root.operation.as_deref(), root.object.as_deref()),
        (Some("isr"), Some("a.dll!StorRoutine"))
    );
    // A DPC that was over does not count.
    machine.dpcs = vec![dpc("timer_dpc", 2, 40, 49, 1)];
    let root = chain(&machine, 101).root;
    assert_eq!((root.kind.as_str(), root.operation), ("dpc", None));
}

#[test]
fn timers_are_recognised_by_their_dpc_by_the_reason_or_by_the_stack() {
    let mut machine = interrupted(2);
    machine.dpcs = vec![dpc("timer_dpc", 2, 48, 52, 1)];
    assert_eq!(chain(&machine, 101).root.kind.as_str(), "timer");
    let mut machine = interrupted(2);
    // A thread that sleeps starts no chain unless all waits are requested.
    machine.switches[1].wait_reason = Some(4);
    let waits = WaitRequest {
        tid: Some(101),
        ..WaitRequest::default()
    };
    let asked = waits.chains(&machine.session()).unwrap();
    assert!(asked.is_empty(), "{asked:?}");
    assert_eq!(chain_with_all(&machine, 101).root.kind.as_str(), "timer");
    for (method, kind) in [
        ("KiTimerExpiration", "timer"),
        ("IopfCompleteRequest", "io_completion"),
        ("Other", "dpc"),
    ] {
        let mut machine = interrupted(2);
        machine.switches[1].readying_stack_id = Some(machine.stack(&["KiSignal", method]));
        assert_eq!(chain(&machine, 101).root.kind.as_str(), kind, "{method}");
    }
}

/// Returns the reason why the chains of a process on this machine have no row.
fn why_none(machine: &Machine, options: &serde_json::Value) -> String {
    let question = TypedQuestion::<WaitRequest>::QUESTION;
    let chosen = RowFilters::of(&question, options.as_object().unwrap());
    let session = Arc::new(machine.session());
    chosen
        .sentence::<etwkit_question::Error>("a.etl", || Ok(session))
        .unwrap()
}

#[test]
fn a_process_that_only_sleeps_has_waits_that_start_no_chain() {
    let of_a = json!({"process": "a.exe", "chain": true});
    let mut machine = interrupted(2);
    machine.switches[1].wait_reason = Some(4);
    let only_sleeps = why_none(&machine, &of_a);
    assert_eq!(
        only_sleeps,
        "nothing in a.etl for --process a.exe: all waits are sleeps or waits for work (1 DelayExecution), \
         which start no chain; --all-waits shows their chains"
    );
    let is_about_sleeps = |why: &str| why.contains("sleeps");
    // Other options explain why there is nothing of these.
    for options in [
        json!({"process": "a.exe", "chain": true, "all-waits": true}),
        json!({"process": "a.exe", "chain": true, "reason": "UserRequest"}),
        json!({"process": "a.exe", "wait": "1000.."}),
        json!({"process": "nobody", "chain": true}),
    ] {
        let why = why_none(&machine, &options);
        assert!(!is_about_sleeps(&why), "{why}");
    }
    // A wait for a lock starts a chain.
    machine.switches[1].wait_reason = Some(6);
    let why = why_none(&machine, &of_a);
    assert!(!is_about_sleeps(&why), "{why}");
}

#[test]
fn chains_of_all_processes_say_what_they_start_from_where_there_are_none() {
    let mut machine = interrupted(2);
    machine.add(off(2, 900).readied(2_000, 1).ran(2_001, 2_005));
    for switch in &mut machine.switches {
        switch.wait_reason = Some(4);
    }
    assert_eq!(
        why_none(&machine, &json!({"chain": true})),
        "no rows in a.etl: all waits are sleeps or waits for work (2 DelayExecution), which start no chain; \
         --all-waits shows their chains, and --process b.exe --all-waits the chains of the process with the longest wait"
    );
    // A thread that went on running has no wait.
    machine.switches = vec![first(1, 0, 10).0];
    let no_wait =
        "no rows in a.etl: no wait of a thread was recorded, and a chain starts from a wait";
    for options in [
        json!({"chain": true}),
        json!({"chain": true, "all-waits": true}),
    ] {
        assert_eq!(why_none(&machine, &options), no_wait);
    }
    // Other options choose among waits, and sums start from none.
    for options in [
        json!({"chain": true, "process": "a.exe"}),
        json!({"details": true}),
    ] {
        let why = why_none(&machine, &options);
        assert!(!why.contains("a chain starts"), "{why}");
    }
}

#[test]
fn where_idle_was_interrupted_the_dpc_is_that_of_the_only_idle_processor_with_one() {
    let mut machine = interrupted(0);
    // A thread ran on processor 2.
    machine.dpcs = vec![dpc("dpc", 2, 48, 52, 0), dpc("timer_dpc", 3, 48, 52, 1)];
    let root = chain(&machine, 101).root;
    assert_eq!((root.kind.as_str(), root.cpu), ("timer", Some(3)));
    // Two idle processors with DPCs: which one it was is not known.
    machine.dpcs.push(dpc("timer_dpc", 4, 48, 52, 1));
    let root = chain(&machine, 101).root;
    assert_eq!((root.kind.as_str(), root.operation), ("dpc", None));
}

#[test]
fn an_open_wait_and_one_without_ready_event_are_roots() {
    let mut machine = Machine::new(&["a.exe"], 200);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(20, 1).ran(20, 30))
        .add(off(1, 30).open());
    let open = chain(&machine, 101);
    assert_eq!(
        (
            open.root.kind.as_str(),
            open.links[0].wait_ns,
            open.links[0].in_ns
        ),
        ("open", Some(170), None)
    );
    // 2 ended the wait of 1, but no event says when 2 itself was made ready.
    let mut machine = Machine::new(&["a.exe", "b.exe"], 200);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(90, 2).ran(90, 95))
        .add(off(2, 20).ran(80, 100));
    let chain = chain(&machine, 101);
    assert_eq!(
        (tids(&chain), chain.root.kind.as_str()),
        (vec![101], "thread_ran")
    );
    assert_eq!(
        (chain.root.run_ns, chain.root.ready_ns),
        (Some(10), Some(0))
    );
}

#[test]
fn a_thread_without_any_switches_is_not_recorded() {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 200);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(90, 2).ran(90, 95));
    assert_eq!(chain(&machine, 101).root.kind.as_str(), "not_recorded");
}

#[test]
fn what_was_over_before_the_wait_is_no_reason_for_it() {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 200);
    machine
        .add(first(1, 0, 50))
        .add(off(1, 50).readied(90, 2).ran(90, 95))
        .add(off(2, 10).readied(45, 1).ran(48, 100));
    let chain = chain(&machine, 101);
    assert_eq!(
        (tids(&chain), chain.root.kind.as_str(), chain.root.run_ns),
        (vec![101], "thread_ran", Some(40))
    );
}

#[test]
fn circles_and_endless_chains_end() {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 200);
    machine
        .add(off(1, 10).readied(90, 2).ran(90, 95))
        .add(off(2, 10).readied(90, 1).ran(90, 95));
    let circle = chain(&machine, 101);
    assert_eq!(
        (tids(&circle), circle.root.kind.as_str()),
        (vec![101, 102], "cycle")
    );

    let names = vec!["a.exe"; 100];
    let mut machine = Machine::new(&names, 1000);
    for thread in 1..100 {
        machine.add(
            off(thread, 10 + i64::from(thread))
                .readied(900 - i64::from(thread), thread + 1)
                .ran(950, 960),
        );
    }
    let long = chain(&machine, 101);
    assert_eq!(
        (long.links.len(), long.root.kind.as_str()),
        (64, "too_deep")
    );
}

/// The example in docs/numbers/waits.md: 2 reads for long, then waits briefly for a lock, before it
/// ends the wait of 1.
fn reader(lock: i64) -> Machine {
    let mut machine = Machine::new(&["ui.exe", "worker.exe", "other.exe"], 200);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(110, 2).ran(111, 120))
        .add(first(2, 0, 15))
        .add(off(2, 15).reason(0).readied_by_dpc(95, 0).ran(96, 100))
        .add(off(2, 100).readied(100 + lock, 3).ran(101 + lock, 115))
        .add(first(3, 0, 200));
    machine
}

#[test]
fn a_chain_follows_the_wait_that_explains_most() {
    let chain = chain(&reader(2), 101);
    assert_eq!(
        (tids(&chain), chain.root.kind.as_str()),
        (vec![101, 102], "dpc")
    );
    let link = &chain.links[1];
    assert_eq!(
        (link.start_ns, link.readied_ns, link.wait_ns),
        (Some(15), Some(95), Some(80))
    );
    assert!(chain.others.is_empty());
    let all = chain_with_all(&reader(2), 101);
    let others: Vec<_> = all
        .others
        .iter()
        .map(|o| (o.link, o.kind.as_str(), o.start_ns, o.wait_ns))
        .collect();
    assert_eq!(others, [(2, "other_wait", Some(100), Some(2))]);
    assert_eq!(all.others[0].readying_tid, Some(103));
    let rows: Vec<_> = all
        .rows()
        .map(|row| (row.link, row.kind.as_str()))
        .collect();
    assert_eq!(
        rows,
        [(1, "wait"), (2, "wait"), (2, "other_wait"), (3, "dpc")]
    );
}

#[test]
fn a_thread_that_ran_ten_times_as_long_as_it_waited_ends_the_chain() {
    let mut machine = Machine::new(&["ui.exe", "worker.exe", "other.exe"], 200);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(110, 2).ran(111, 120))
        .add(first(2, 0, 100))
        .add(off(2, 100).readied(102, 3).ran(103, 115))
        .add(first(3, 0, 200));
    let chain = chain_with_all(&machine, 101);
    let root = &chain.root;
    assert_eq!(
        (tids(&chain), root.kind.as_str(), root.tid, root.link),
        (vec![101], "thread_ran", Some(102), 2)
    );
    assert_eq!(
        (root.run_ns, root.ready_ns, root.wait_ns),
        (Some(97), Some(1), Some(2))
    );
    let rows: Vec<_> = chain
        .rows()
        .map(|row| (row.link, row.kind.as_str(), row.wait_ns))
        .collect();
    assert_eq!(
        rows,
        [
            (1, "wait", Some(100)),
            (2, "other_wait", Some(2)),
            (2, "thread_ran", Some(2))
        ]
    );
    // Among equally long waits the last one is followed.
    let mut machine = reader(2);
    machine.switches[3] = off(2, 15).readied(55, 3).ran(56, 60).0;
    machine.switches[4] = off(2, 60).readied_by_dpc(100, 0).ran(101, 115).0;
    assert_eq!(
        super::chain::chain(&machine, 101).links[1].start_ns,
        Some(60)
    );
}

#[test]
fn an_open_wait_goes_to_the_last_event_of_the_kernel_logger() {
    let mut machine = Machine::new(&["a.exe"], 200);
    machine.kernel_end_ns = Some(150);
    machine
        .add(first(1, 0, 10))
        .add(off(1, 10).readied(20, 1).ran(20, 30))
        .add(off(1, 30).open());
    assert_eq!(chain(&machine, 101).links[0].wait_ns, Some(120));
    let sums = WaitRequest::default().ask(&machine.session()).unwrap();
    assert_eq!((sums[0].open_waits, sums[0].open_max_ns), (1, Some(120)));
}
