//! Tests of the scheduler.

use super::*;

fn switch(old: u32, old_state: u8, new: u32) -> ContextSwitch {
    ContextSwitch {
        new_tid: new,
        old_tid: old,
        new_priority: 8,
        old_priority: 8,
        previous_c_state: 0,
        old_wait_reason: 6,
        old_wait_user_mode: true,
        old_state,
        old_ideal_cpu: 0,
    }
}

fn ready(s: &mut Schedule, time: i64, cpu: u16, tid: u32, flags: u8) {
    s.ready(
        time,
        cpu,
        &ReadyThread {
            tid,
            adjust_reason: 1,
            flags,
        },
        Some(time as u64),
    );
}

#[test]
fn waiting_ends_when_made_ready_and_ready_when_switched_in() {
    let mut s = Schedule::default();
    let (run, _) = s.switch(10, 0, &switch(4, state::WAITING, 0));
    assert_eq!((run.since, run.until), (None, 10));
    s.switch(12, 1, &switch(0, 2, 8));
    ready(&mut s, 30, 1, 4, 0);
    ready(&mut s, 31, 1, 4, 1);
    let (_, into) = s.switch(35, 0, &switch(0, 2, 4));
    assert_eq!(
        (into.wait(), into.ready(), into.wait_reason),
        (Some(20), Some(5), 6)
    );
    assert_eq!(
        (into.readying_tid, into.readied_by_dpc, into.ready_event),
        (Some(8), false, Some(30))
    );
    assert_eq!(
        (into.waited_in_user_mode, into.adjust_reason),
        (true, Some(1))
    );
    assert_eq!(s.released().collect::<Vec<_>>(), [31]);
    let (run, _) = s.switch(40, 0, &switch(4, state::WAITING, 0));
    assert_eq!((run.since, run.until), (Some(35), 40));
}

#[test]
fn a_thread_that_is_made_ready_before_its_switch_out_is_logged_did_not_wait() {
    let mut s = Schedule::default();
    s.switch(5, 0, &switch(0, 2, 4));
    s.switch(6, 1, &switch(0, 2, 8));
    // A wait that was over at once, then one that another ready event ends.
    ready(&mut s, 7, 1, 4, 0);
    ready(&mut s, 19, 1, 4, 0);
    s.switch(20, 0, &switch(4, state::WAITING, 0));
    let (_, into) = s.switch(28, 0, &switch(0, 2, 4));
    assert_eq!(
        (into.wait(), into.ready(), into.readied),
        (Some(0), Some(8), Some(20))
    );
    assert_eq!((into.readying_tid, into.ready_event), (Some(8), Some(19)));
    ready(&mut s, 29, 1, 4, 0);
    s.switch(30, 0, &switch(4, state::WAITING, 0));
    ready(&mut s, 36, 1, 4, 0);
    ready(&mut s, 37, 1, 4, 0);
    let (_, into) = s.switch(40, 0, &switch(0, 2, 4));
    assert_eq!(
        (into.wait(), into.ready(), into.ready_event),
        (Some(6), Some(4), Some(36))
    );
    assert_eq!(s.released().collect::<Vec<_>>(), [7, 29, 37]);
}

#[test]
fn a_new_thread_has_the_first_time_at_which_it_was_made_ready() {
    let mut s = Schedule::default();
    s.switch(6, 1, &switch(0, 2, 8));
    ready(&mut s, 10, 1, 4, 0);
    ready(&mut s, 12, 1, 4, 0);
    let (_, into) = s.switch(15, 0, &switch(0, 2, 4));
    assert_eq!(
        (into.last_out, into.readied, into.readying_tid),
        (None, Some(10), Some(8))
    );
    assert_eq!((into.wait(), into.ready()), (None, None));
}

#[test]
fn a_preempted_thread_is_ready_all_the_time() {
    let mut s = Schedule::default();
    s.switch(10, 0, &switch(4, state::READY, 8));
    ready(&mut s, 15, 1, 4, 0);
    let (_, into) = s.switch(25, 1, &switch(0, 2, 4));
    assert_eq!(
        (into.wait(), into.ready(), into.readied),
        (Some(0), Some(15), None)
    );
}

#[test]
fn all_states_of_a_thread_that_waits_end_with_a_ready_event() {
    for waiting in [state::WAITING, state::GATE_WAIT, state::WAITING_FOR_PROCESS] {
        let mut s = Schedule::default();
        s.switch(10, 0, &switch(4, waiting, 8));
        ready(&mut s, 15, 1, 4, 0);
        let (_, into) = s.switch(25, 1, &switch(0, 2, 4));
        assert_eq!(
            (into.wait(), into.ready()),
            (Some(5), Some(10)),
            "state {waiting}"
        );
    }
}

#[test]
fn without_a_ready_event_nothing_is_split_and_without_a_switch_out_nothing_is_known() {
    let mut s = Schedule::default();
    s.switch(10, 0, &switch(4, state::WAITING, 8));
    let (_, into) = s.switch(25, 1, &switch(0, 2, 4));
    assert_eq!(
        (into.last_out, into.wait(), into.ready()),
        (Some(10), None, None)
    );
    let (_, into) = s.switch(30, 2, &switch(0, 2, 16));
    assert_eq!((into.wait(), into.ready()), (None, None));
}

#[test]
fn a_thread_id_that_comes_back_after_its_end_never_waited() {
    let mut s = Schedule::default();
    s.switch(10, 0, &switch(4, state::TERMINATED, 0));
    let (_, into) = s.switch(20, 0, &switch(0, 2, 4));
    assert_eq!(into.last_out, None);
}

#[test]
fn a_processor_ran_its_first_thread_since_it_is_recorded() {
    let of = [(1, 4)].into_iter().collect();
    let mut s = Schedule::new(Starts { all: Some(2), of });
    let since = [0, 1].map(|cpu| s.switch(10, cpu, &switch(4, state::READY, 8)).0);
    assert_eq!(
        since.map(|run| (run.since, run.is_switched_in)),
        [(Some(2), false), (Some(4), false)]
    );
}

#[test]
fn nothing_is_counted_across_a_gap_of_any_processor() {
    let mut s = Schedule::default();
    s.switch(5, 1, &switch(0, 2, 8));
    s.switch(10, 0, &switch(4, state::WAITING, 16));
    let gap = Gap {
        cpu: 1,
        begin: 12,
        end: 30,
    };
    // Thread 8 ran up to the last event before it.
    let run = s.begin_gap(&gap).unwrap();
    assert_eq!((run.tid, run.since, run.until), (8, Some(5), 12));
    // Thread 16 may have been on processor 1 between the two.
    s.switch(15, 0, &switch(16, state::WAITING, 0));
    ready(&mut s, 17, 0, 16, 0);
    let (run, into) = s.switch(20, 0, &switch(0, 2, 16));
    assert_eq!(
        (run.since, into.last_out, into.readied),
        (Some(15), None, None)
    );
    s.end_gap(&gap);
    let (run, into) = s.switch(40, 1, &switch(8, state::WAITING, 4));
    assert_eq!(
        (run.since, run.is_switched_in, into.last_out),
        (Some(30), false, None)
    );
    assert_eq!((s.off(50).len(), s.released().count()), (1, 1));
}
