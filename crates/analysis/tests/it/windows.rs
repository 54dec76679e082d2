//! Results of the rules on windows from the tables in which the window manager itself reports its
//! lock and delays, next to their results from stacks.

use etwkit_analysis::diagnose::DiagnoseRequest;
use etwkit_question::{Answer, Question};
use etwkit_trace::table::{UiDelay, UserLock};

use super::support::{Machine, diagnosed, event, found, off};

const MS: i64 = 1_000_000;
const S: i64 = 1000 * MS;

/// A thread asked for the lock, had it and gave it back (ms).
fn lock(thread_key: i32, process_key: i32, [asked, had, gave]: [i64; 3]) -> UserLock {
    UserLock {
        process_key: Some(process_key),
        thread_key: Some(thread_key),
        mode: Some("exclusive"),
        acquire_ns: Some(had * MS),
        release_ns: Some(gave * MS),
        wait_ns: Some((had - asked) * MS),
        hold_ns: Some((gave - had) * MS),
        ..UserLock::default()
    }
}

/// Two threads of a tool have the lock one after the other, and a window waits for both, from 100
/// to 170 ms; later it waits for one of them from 310 to 380 ms, and a moment for no other process.
fn reporting() -> Machine {
    let mut machine = Machine::new(&["window.exe", "tool.exe", "tool.exe"], S);
    machine.locks = vec![
        lock(2, 2, [90, 90, 140]),
        lock(3, 2, [100, 140, 170]),
        lock(1, 1, [100, 170, 171]),
        lock(2, 2, [300, 300, 380]),
        lock(1, 1, [310, 380, 381]),
        lock(1, 1, [500, 500, 501]),
    ];
    machine
}

#[test]
fn waits_for_the_lock_that_the_window_manager_reports_need_neither_switches_nor_stacks() {
    let found = found(&reporting(), "user-lock");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    // The threads of the tool that wait for each other are not counted as victims.
    assert_eq!(
        (one.culprit.as_str(), one.victims.as_str()),
        ("tool.exe (8)", "window.exe (4) 140 ms")
    );
    assert_eq!(
        (one.cost_ns, one.count, one.longest_ns),
        (Some(140 * MS), Some(2), Some(70 * MS))
    );
    assert_eq!((one.from_ns, one.to_ns), (Some(100 * MS), Some(380 * MS)));
    assert_eq!(one.evidence, "dump user-lock --process 4 --details");
}

#[test]
fn a_wait_that_stacks_show_too_counts_once() {
    let mut machine = reporting();
    machine.module = Some("win32kfull.sys");
    let stack = machine.stack(&["EnterCrit", "NtUserSetWindowPos"]);
    machine
        .add(
            off(1, 100 * MS)
                .readied(169 * MS, 3)
                .ran(170 * MS, 300 * MS)
                .in_stack(stack),
        )
        .add(
            off(1, 310 * MS)
                .readied(379 * MS, 2)
                .ran(380 * MS, 400 * MS)
                .in_stack(stack),
        );
    let mut both = found(&machine, "user-lock");
    let chain = both[0].chain.take();
    let expected = "window.exe (4) thread 101 waited 69.0 ms (UserRequest) for tool.exe (8) thread 103, \
        of which nothing was recorded";
    assert_eq!(
        chain.as_deref(),
        Some(expected),
        "switches show the waits, too"
    );
    assert_eq!(
        both,
        found(&reporting(), "user-lock"),
        "what Windows reports is exact"
    );
    // By stacks alone it is the same culprit.
    machine.locks.clear();
    let found = found(&machine, "user-lock");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((one.culprit.as_str(), one.count), ("tool.exe (8)", Some(2)));
    let lines: Vec<&str> = one.evidence.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("dump wait --process 4 --method \"*EnterCrit*"),
        "{lines:?}"
    );
    assert!(lines[1].ends_with(" --chain"), "{lines:?}");
}

/// A delay of thread 1 (ms).
fn delay(kind: &'static str, from: i64, to: i64) -> UiDelay {
    UiDelay {
        ts_ns: to * MS,
        start_ns: from * MS,
        process_key: Some(1),
        thread_key: Some(1),
        kind,
        duration_ns: (to - from) * MS,
        ..UiDelay::default()
    }
}

#[test]
fn delays_that_windows_reports_are_hangs_and_count_once_where_they_overlap() {
    let mut machine = Machine::new(&["window.exe", "server.exe"], 5 * S);
    machine.delays = vec![
        delay("message", 1000, 1600),
        delay("input", 1200, 1700),
        // Too short, and a cursor is not a hang.
        delay("message", 3000, 3100),
        delay("wait_cursor", 3500, 4500),
    ];
    let hangs = found(&machine, "ui-hang");
    let [one] = &hangs[..] else {
        panic!("{hangs:?}")
    };
    assert_eq!(
        one.sentence,
        "window.exe (4) did not pump messages for 700 ms, once, since its window was busy \
         with work that was not recorded"
    );
    assert_eq!(
        (one.cost_ns, one.from_ns, one.to_ns),
        (Some(700 * MS), Some(1000 * MS), Some(1700 * MS))
    );
    assert_eq!(one.evidence, "dump ui-delay --process 4 --details");
    // Switches say why: a wait for another process took most of the time. The one before was for
    // the user.
    machine
        .add(off(1, 0).readied(1005 * MS, 2).ran(1006 * MS, 1010 * MS))
        .add(
            off(1, 1010 * MS)
                .readied(1650 * MS, 2)
                .ran(1651 * MS, 1800 * MS),
        );
    let explained = found(&machine, "ui-hang");
    let [one] = &explained[..] else {
        panic!("{explained:?}")
    };
    assert_eq!(
        (one.culprit.as_str(), one.cost_ns, one.at_ns),
        ("server.exe (8)", Some(700 * MS), Some(1000 * MS))
    );
    assert!(
        one.sentence
            .ends_with("since its window waited for the process server.exe (8)"),
        "{}",
        one.sentence
    );
    let expected =
        "dump wait --process 4 --by readying --details\ndump ui-delay --process 4 --details";
    assert_eq!(one.evidence, expected);
}

/// A window, the thread of the first process, fetches a message at 1000 ms, waits within it for the
/// second one from 1010 to 1790 ms, and fetches the next message at 1800 ms.
fn hanging(names: &[&'static str]) -> Machine {
    let mut machine = Machine::new(names, 5 * S);
    machine.module = Some("user32.dll");
    let (pump, works) = (
        machine.stack(&["GetMessageW"]),
        machine.stack(&["SendMessageW"]),
    );
    machine
        .add(
            off(1, 0)
                .readied(999 * MS, 2)
                .ran(1000 * MS, 1010 * MS)
                .in_stack(pump),
        )
        .add(
            off(1, 1010 * MS)
                .readied(1789 * MS, 2)
                .ran(1790 * MS, 1800 * MS)
                .in_stack(works),
        )
        .add(
            off(1, 1800 * MS)
                .readied(1900 * MS, 2)
                .ran(1901 * MS, 1902 * MS)
                .in_stack(pump),
        );
    machine
}

#[test]
fn a_hang_that_stacks_show_is_not_counted_a_second_time() {
    let mut machine = hanging(&["window.exe", "server.exe"]);
    let by_stacks = found(&machine, "ui-hang");
    machine.delays = vec![delay("message", 1010, 1790)];
    assert_eq!(by_stacks, found(&machine, "ui-hang"));
    let [one] = &by_stacks[..] else {
        panic!("{by_stacks:?}")
    };
    assert_eq!(
        (one.cost_ns, one.culprit.as_str()),
        (Some(800 * MS), "server.exe (8)")
    );
}

/// The window waits for a broker, which waits for a server from 1020 ms on.
fn asking_through_a_broker(until_ms: i64) -> Machine {
    let mut machine = hanging(&["window.exe", "broker.exe", "server.exe"]);
    machine.add(
        off(2, 1020 * MS)
            .readied(until_ms * MS, 3)
            .ran(until_ms * MS, 1795 * MS),
    );
    machine
}

#[test]
fn a_hang_names_the_process_for_which_the_helper_of_the_window_waits() {
    for (until_ms, asked) in [
        (1780, "server.exe (12) through broker.exe (8)"),
        // The broker computes for most of the time.
        (1320, "broker.exe (8)"),
    ] {
        let found = found(&asking_through_a_broker(until_ms), "ui-hang");
        let [one] = &found[..] else {
            panic!("{found:?}")
        };
        let expected = format!("since its window waited for the process {asked}");
        assert!(one.sentence.ends_with(&expected), "{}", one.sentence);
        assert!(asked.starts_with(&one.culprit), "{}", one.culprit);
        assert_eq!((one.cost_ns, one.at_ns), (Some(800 * MS), Some(1000 * MS)));
    }
}

/// Within a message a window waits ten times for 50 ms, and after that it waits long for the next
/// message.
#[test]
fn a_wait_for_the_next_message_is_not_the_chain_of_a_hang() {
    let mut machine = Machine::new(&["window.exe", "System"], 5 * S);
    machine.module = Some("user32.dll");
    let (pump, works) = (
        machine.stack(&["GetMessageW"]),
        machine.stack(&["SendMessageW"]),
    );
    machine.add(
        off(1, 0)
            .readied(999 * MS, 2)
            .ran(1000 * MS, 1010 * MS)
            .in_stack(pump),
    );
    for number in 0..10 {
        let from = (1010 + 60 * number) * MS;
        let slice = off(1, from).readied_by_dpc(from + 50 * MS, 2);
        machine.add(slice.ran(from + 50 * MS, from + 60 * MS).in_stack(works));
    }
    machine.add(
        off(1, 1610 * MS)
            .readied(3000 * MS, 2)
            .ran(3001 * MS, 3002 * MS)
            .in_stack(pump),
    );
    let found = found(&machine, "ui-hang");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (one.cost_ns, one.at_ns, one.chain.as_deref()),
        (Some(610 * MS), Some(1000 * MS), None)
    );
}

/// A window fetches messages, each time for about 90 ms and for this reason, and then waits for
/// another reason until the recording ends.
fn waiting_at_the_end(looks: i64, look_reason: i32, last_reason: i32) -> Machine {
    let mut machine = Machine::new(&["window.exe", "server.exe"], 5 * S);
    machine.module = Some("user32.dll");
    let pump = machine.stack(&["GetMessageW"]);
    for number in 0..looks {
        let from = 100 * number * MS;
        let look = off(1, from).reason(look_reason).readied(from + 89 * MS, 2);
        machine.add(look.ran(from + 90 * MS, from + 100 * MS).in_stack(pump));
    }
    machine.add(off(1, 100 * looks * MS).reason(last_reason).open());
    machine
}

#[test]
fn a_hang_lasts_until_the_recording_ends() {
    let found = found(&waiting_at_the_end(3, 13, 37), "ui-hang");
    let [one] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        one.sentence,
        "window.exe (4) did not pump messages for 4.71 s, once, since its window was still \
         waiting when the recording ended, in a call that was not recorded (WrAlertByThreadId)"
    );
    // From the last fetch of messages on.
    assert_eq!(
        (one.cost_ns, one.from_ns, one.to_ns),
        (Some(4710 * MS), Some(290 * MS), Some(5 * S))
    );
    assert_eq!(one.evidence, "dump wait --process 4 --chain");
    // What happened after the end of the kernel logger is not known.
    let mut shorter = waiting_at_the_end(3, 13, 37);
    shorter.kernel_end_ns = Some(3 * S);
    assert_eq!(hang_costs(&shorter), [Some(2710 * MS)]);
}

/// A window that waits for messages when the recording ends does not hang, but its wait is where to
/// look. Process 4 is System, whose threads are no place to look.
fn waiting_until_the_end() -> Machine {
    let mut machine = Machine::new(&["System", "window.exe"], 5 * S);
    let look = off(2, 0).reason(13).readied(89 * MS, 1);
    machine.add(look.ran(90 * MS, 100 * MS));
    machine.add(off(2, 100 * MS).reason(13).open());
    machine
}

#[test]
fn only_answers_with_lines_have_the_largest_costs() {
    let session = waiting_until_the_end().session();
    let short = DiagnoseRequest::default();
    let whole = DiagnoseRequest {
        details: true,
        ..DiagnoseRequest::default()
    };
    let has_cost = |answer: Answer| {
        let below = format!("{:?}", answer.parts[0].foot);
        below.contains("window.exe (8), the busiest program")
    };
    for request in [short, whole] {
        assert!(has_cost(request.answer_for_people(&session).unwrap()));
        assert!(has_cost(request.answer(&session).unwrap()));
        assert!(!has_cost(request.answer_for_rows(&session).unwrap()));
    }
}

#[test]
fn the_largest_costs_name_a_wait_that_is_still_open() {
    let session = waiting_until_the_end().session();
    let diagnosis = DiagnoseRequest::default().ask(&session).unwrap();
    assert!(
        diagnosis.failed_costs.is_empty(),
        "{:?}",
        diagnosis.failed_costs
    );
    let [wait] = &diagnosis.costs[..] else {
        panic!("{:?}", diagnosis.costs)
    };
    assert_eq!(
        (wait.kind.as_str(), wait.cost_ns, wait.sentence.as_str()),
        (
            "wait",
            4900 * MS,
            "window.exe (8), the busiest program, had been waiting for 4.90 s when the recording \
             ended, in its busiest thread (102)"
        )
    );
    let chain = wait.chain.as_deref().unwrap_or("");
    assert!(chain.contains("waited 4.90 s"), "{chain}");
}

/// Returns the costs of hangs. Modules of these machines have names of their own, so that a rule that finds
/// nothing is not checked.
fn hang_costs(machine: &Machine) -> Vec<Option<i64>> {
    let diagnosis = diagnosed(machine, "ui-hang");
    assert_ne!(diagnosis.rules[0].state, "failed", "{:?}", diagnosis.rules);
    let found = diagnosis.findings.iter();
    found.map(|one| one.cost_ns).collect()
}

#[test]
fn a_window_that_waits_for_messages_until_the_recording_ends_is_idle() {
    for (look_reason, last_reason) in [
        // Messages, by the window manager or by user32.dll itself.
        (13, 13),
        (6, 6),
        (6, 13),
        // A pool, a suspended thread.
        (13, 15),
        (13, 5),
        (13, 12),
    ] {
        let machine = waiting_at_the_end(5, look_reason, last_reason);
        let costs = hang_costs(&machine);
        assert!(costs.is_empty(), "{look_reason}, {last_reason}: {costs:?}");
    }
    // Two looks are no loop.
    assert!(hang_costs(&waiting_at_the_end(2, 13, 37)).is_empty());
    // The end of the wait may be among the events that were lost.
    let mut lossy = waiting_at_the_end(3, 13, 37);
    lossy.lost_events = 1;
    assert!(hang_costs(&lossy).is_empty());
}

#[test]
fn a_window_that_is_stopped_does_not_hang() {
    let window = || hanging(&["window.exe", "server.exe"]);
    assert_eq!(hang_costs(&window()), [Some(800 * MS)]);
    // Suspended, by itself or by Windows.
    for reason in [5, 12] {
        let mut machine = window();
        machine.switches[1].wait_reason = Some(reason);
        let costs = hang_costs(&machine);
        assert!(costs.is_empty(), "{reason}: {costs:?}");
    }
    // A debugger has it: at an exception, and at a break point.
    for frames in [
        &["ntoskrnl.exe!DbgkpQueueMessage", "SendMessageW"],
        &["ntdll.dll!DbgBreakPoint", "SendMessageW"],
    ] {
        let mut machine = window();
        let stack = machine.stack(frames);
        machine.switches[1].stack_id = Some(stack);
        let costs = hang_costs(&machine);
        assert!(costs.is_empty(), "{frames:?}: {costs:?}");
    }
}

#[test]
fn a_machine_that_sleeps_has_no_hangs() {
    const POWER: &str = "Microsoft-Windows-Kernel-Power";
    // The hang is from 1000 to 1800 ms.
    for (counts, cost) in [
        (vec![event(1, "Power", 0, 48)], None),
        (vec![event(1, "Power", 0, 49)], None),
        (vec![event(1, POWER, 42, 0), event(4, POWER, 107, 0)], None),
        (vec![event(0, POWER, 42, 0), event(1, POWER, 107, 0)], None),
        // Before and after it, and another event.
        (vec![event(0, POWER, 107, 0)], Some(800 * MS)),
        (vec![event(2, POWER, 42, 0)], Some(800 * MS)),
        (vec![event(1, "Power", 0, 53)], Some(800 * MS)),
    ] {
        let mut machine = hanging(&["window.exe", "server.exe"]);
        machine.counts = counts;
        let expected = Vec::from_iter(cost.map(Some));
        assert_eq!(hang_costs(&machine), expected, "{:?}", machine.counts);
    }
}
