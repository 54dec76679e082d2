//! Stacks and the events that they find.

use super::*;
use crate::early::MAX_EARLY;
use crate::tracker::stack::StackTree;

impl Texts for &str {
    fn text_bytes(&self) -> usize {
        self.len()
    }
}

fn entry(time: i64, tid: u32, row: &'static str) -> Entry<&'static str> {
    Entry::new(time, Some(StackSource::Thread(tid)), None, row)
}

fn stacks() -> [RawStack; 2] {
    let mut tree = StackTree::default();
    [1, 2].map(|address| RawStack::Keyed(tree.intern(&[address])))
}

fn given(stack: RawStack) -> GivenStack<'static> {
    let RawStack::Keyed(id) = stack else {
        panic!("a stack of a key")
    };
    GivenStack::Keyed(id)
}

#[test]
fn both_halves_find_their_event_and_rows_leave_in_order() {
    let [kernel, user] = stacks();
    let mut line = Line::new(10);
    line.push(entry(1, 4, "a"));
    line.push(entry(2, 8, "b"));
    line.attach(
        1,
        StackSource::Thread(4),
        Half::Kernel,
        given(kernel),
        Some(0),
    );
    line.advance(8);
    line.attach(1, StackSource::Thread(4), Half::User, given(user), Some(0));
    assert!(line.pop().is_none());
    line.advance(12);
    let (seq, a) = line.pop().unwrap();
    assert_eq!((seq, a.row, a.kernel, a.user), (0, "a", kernel, user));
    assert!(line.pop().is_none());
    let (seq, b) = line.pop_any().unwrap();
    assert_eq!(
        (
            seq,
            b.row,
            b.user != RawStack::Empty || b.kernel != RawStack::Empty,
            line.attached.unattached
        ),
        (1, "b", false, 0)
    );
}

#[test]
fn two_events_of_one_time_and_thread_take_one_stack_each() {
    let [first, second] = stacks();
    let mut line = Line::new(0);
    line.push(entry(1, 4, "a"));
    line.push(entry(1, 4, "b"));
    for stack in [first, second, second] {
        line.attach(
            1,
            StackSource::Thread(4),
            Half::Kernel,
            given(stack),
            Some(0),
        );
    }
    let kernels: Vec<RawStack> = std::iter::from_fn(|| line.pop_any())
        .map(|(_, e)| e.kernel)
        .collect();
    assert_eq!(
        (kernels, line.attached.unattached),
        (vec![first, second], 1)
    );
}

#[test]
fn stacks_that_come_first_are_given_to_two_events_of_one_time_and_thread() {
    let [first, second] = stacks();
    let mut line = Line::new(0);
    line.advance(1);
    for stack in [first, second, second] {
        line.attach(
            5,
            StackSource::Thread(4),
            Half::Kernel,
            given(stack),
            Some(0),
        );
    }
    line.push(entry(5, 4, "a"));
    line.push(entry(5, 4, "b"));
    line.advance(6);
    let kernels: Vec<RawStack> = std::iter::from_fn(|| line.pop_any())
        .map(|(_, e)| e.kernel)
        .collect();
    assert_eq!(
        (kernels, line.attached.unattached),
        (vec![first, second], 1)
    );
}

#[test]
fn stacks_of_one_event_that_never_comes_take_no_more_memory_than_others() {
    let [stack, _] = stacks();
    let mut line: Line<&str> = Line::new(0);
    line.advance(1);
    for _ in 0..2 * MAX_EARLY {
        line.attach(
            5,
            StackSource::Thread(4),
            Half::Kernel,
            given(stack),
            Some(0),
        );
    }
    assert_eq!(
        (line.early.len(), line.attached.unattached),
        (MAX_EARLY, MAX_EARLY as u64)
    );
    line.advance(6);
    assert_eq!(
        (line.early.len(), line.attached.unattached),
        (0, 2 * MAX_EARLY as u64)
    );
}

#[test]
fn a_stack_that_comes_first_waits_for_its_event_and_no_other() {
    let [stack, _] = stacks();
    let mut line = Line::new(0);
    line.advance(5);
    line.attach(5, StackSource::Thread(4), Half::User, given(stack), Some(0));
    line.attach(4, StackSource::Thread(4), Half::User, given(stack), Some(0));
    line.push(entry(5, 8, "other"));
    line.push(entry(5, 4, "own"));
    let users: Vec<bool> = std::iter::from_fn(|| line.pop_any())
        .map(|(_, e)| e.user != RawStack::Empty)
        .collect();
    assert_eq!((users, line.attached.unattached), (vec![false, true], 1));
}

#[test]
fn halves_fill_a_chain_each_at_its_own_pace() {
    let [first, second] = stacks();
    let mut line = Line::new(0);
    line.push(entry(1, 4, "a"));
    line.attach(
        1,
        StackSource::Thread(4),
        Half::Kernel,
        given(first),
        Some(0),
    );
    line.push(entry(1, 4, "b"));
    line.push(entry(1, 4, "c"));
    line.attach(
        1,
        StackSource::Thread(4),
        Half::User,
        given(second),
        Some(0),
    );
    line.attach(
        1,
        StackSource::Thread(4),
        Half::Kernel,
        given(second),
        Some(0),
    );
    let (_, a) = line.pop_any().unwrap();
    line.attach(1, StackSource::Thread(4), Half::User, given(first), Some(0));
    let rest: Vec<_> = std::iter::from_fn(|| line.pop_any())
        .map(|(_, e)| (e.kernel, e.user))
        .collect();
    assert_eq!((a.kernel, a.user), (first, second));
    assert_eq!(rest, [(second, first), (RawStack::Empty, RawStack::Empty)]);
    assert_eq!(line.attached.unattached, 0);
}

#[test]
fn an_event_of_whichever_thread_takes_the_stack_that_no_other_event_waits_for() {
    let [first, second] = stacks();
    let mut line = Line::new(0);
    line.push(entry(1, 4, "of a thread"));
    line.push(Entry::new(
        1,
        Some(StackSource::Process(100)),
        None,
        "of a process",
    ));
    assert_eq!(line.whose(1, 4, 100), StackSource::Thread(4));
    assert_eq!(
        (line.whose(1, 8, 200), line.whose(2, 8, 100)),
        (StackSource::Thread(8), StackSource::Thread(8))
    );
    let whose = line.whose(1, 8, 100);
    assert_eq!(whose, StackSource::Process(100));
    line.attach(1, whose, Half::User, given(first), Some(0));
    line.attach(
        1,
        StackSource::Thread(4),
        Half::User,
        given(second),
        Some(0),
    );
    let users: Vec<_> = std::iter::from_fn(|| line.pop_any())
        .map(|(_, e)| (e.row, e.user))
        .collect();
    assert_eq!(users, [("of a thread", second), ("of a process", first)]);
    assert_eq!(line.whose(1, 8, 100), StackSource::Thread(8));
}

#[test]
fn a_stack_of_a_switch_is_found_by_its_thread_else_by_its_processor_if_no_other_can_be_meant() {
    let [first, second] = stacks();
    let switch = |time, tid, cpu, row| Entry::of_switch(time, tid, cpu, None, row);
    let mut line = Line::new(10);
    line.push(switch(1, 4, 0, "by its thread"));
    line.push(switch(2, 8, 1, "by its processor"));
    line.push(switch(3, 4, 0, "one of two"));
    line.push(switch(3, 8, 0, "the other"));
    line.advance(3);
    // The processor does not matter: the thread returned to user mode on another one.
    line.attach(1, StackSource::Thread(4), Half::User, given(first), Some(1));
    line.attach(
        2,
        StackSource::Thread(12),
        Half::Kernel,
        given(second),
        Some(1),
    );
    // Not found: a stack on another processor, a half that the event has already, one of two
    // switches.
    line.attach(
        2,
        StackSource::Thread(12),
        Half::User,
        given(first),
        Some(0),
    );
    line.attach(
        2,
        StackSource::Thread(12),
        Half::Kernel,
        given(first),
        Some(1),
    );
    line.attach(
        3,
        StackSource::Thread(12),
        Half::Kernel,
        given(first),
        Some(0),
    );
    line.advance(4);
    let attached = line.attached;
    assert_eq!(
        (attached.switches_by_thread, attached.switches_by_processor),
        (1, 1)
    );
    assert_eq!((attached.unattached, attached.late), (3, 0));
    let rows: Vec<_> = std::iter::from_fn(|| line.pop_any())
        .map(|(_, e)| (e.kernel, e.user))
        .collect();
    let none = RawStack::Empty;
    assert_eq!(
        rows,
        [(none, first), (second, none), (none, none), (none, none)]
    );
}

#[test]
fn texts_that_wait_are_bounded_by_their_bytes() {
    let wide: &'static str = "x".repeat(MAX_TEXT / 2).leak();
    let mut line = Line::new(i64::MAX);
    line.push(entry(1, 4, wide));
    line.push(entry(2, 4, wide));
    assert!(line.pop().is_none(), "as much as may wait");
    line.push(entry(3, 4, "y"));
    assert_eq!(line.pop().map(|(seq, _)| seq), Some(0));
    assert!(line.pop().is_none());
}

#[test]
fn a_stack_whose_event_had_to_leave_is_counted() {
    let [stack, _] = stacks();
    let mut line = Line::new(i64::MAX);
    for time in 0..=MAX_ENTRIES as i64 {
        line.push(entry(time, 4, "a"));
    }
    line.advance(MAX_ENTRIES as i64 + 1);
    assert!(line.pop().is_some() && line.pop().is_none());
    line.attach(0, StackSource::Thread(4), Half::User, given(stack), Some(0));
    line.attach(1, StackSource::Thread(4), Half::User, given(stack), Some(0));
    assert_eq!((line.attached.unattached, line.attached.late), (1, 1));
}
