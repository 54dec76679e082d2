//! ALPC messages: events of our own writer in, rows out. No real trace contains any.

use etwkit_trace::derive::derive;
use etwkit_trace::import::Range;
use etwkit_trace::table::{Alpc, AlpcProcess, Row, Stack};

use crate::counters::{Batches, Recording, bytes, read, words};

/// Types of events.
const SEND: u8 = 33;
const RECEIVE: u8 = 34;
const WAIT_FOR_REPLY: u8 = 35;
const WAIT_FOR_MESSAGE: u8 = 36;
const UNWAIT: u8 = 37;

/// Processors on which client and server run.
const CLIENT: u16 = 0;
const SERVER: u16 = 1;

/// Status `TIMEOUT`.
const TIMEOUT: u64 = 0x102;

impl Recording {
    fn message(&mut self, us: i64, cpu: u16, op: u8, number: u64) {
        self.kernel(us, cpu, (26, op, 2), &bytes(&[(number, 4)]));
    }

    /// The server starts to wait at a port.
    fn listen(&mut self, us: i64, port: &str) {
        self.kernel(
            us,
            SERVER,
            (26, WAIT_FOR_MESSAGE, 2),
            &[&bytes(&[(1, 4)])[..], port.as_bytes(), &[0]].concat(),
        );
    }
}

/// Thread 8 of process 100 runs on one processor, thread 12 of process 200 on the other.
fn started() -> Recording {
    let mut trace = Recording::new();
    for (pid, tid, cpu) in [(100, 8, CLIENT), (200, 12, SERVER)] {
        trace.kernel(0, 0, (5, 3, 3), &bytes(&[(pid, 4), (tid.into(), 4)]));
        trace.switch(1, cpu, 0, tid, &[]);
    }
    trace
}

/// The example of `docs/numbers/alpc.md`: a call of a service, then a call without a waiting
/// caller.
fn example() -> Recording {
    let mut trace = started();
    trace.listen(10, r"\RPC Control\spooler");
    trace.message(20, CLIENT, SEND, 5);
    trace.message(21, CLIENT, WAIT_FOR_REPLY, 5);
    trace.message(30, SERVER, UNWAIT, 0);
    trace.message(31, SERVER, RECEIVE, 5);
    trace.message(50, SERVER, SEND, 5);
    trace.message(60, CLIENT, UNWAIT, 0);
    trace.message(61, CLIENT, RECEIVE, 5);
    trace.message(70, CLIENT, SEND, 6);
    trace.message(75, SERVER, RECEIVE, 6);
    trace
}

const TIMES: [&str; 4] = ["send_ns", "receive_ns", "reply_ns", "end_ns"];

#[test]
fn a_message_and_its_answer_are_one_row() {
    let rows = example().rows(Range::ALL);
    assert_eq!(
        read(&rows, Alpc::TABLE, TIMES),
        [[20, 31, 50, 61].map(Some), [Some(70), Some(75), None, None]]
    );
    let lengths = [
        "delivery_ns",
        "service_ns",
        "duration_ns",
        "sender_wait_ns",
        "receiver_wait_ns",
        "status",
    ];
    assert_eq!(
        read(&rows, Alpc::TABLE, lengths),
        [
            [11, 19, 41, 39, 20, 0].map(Some),
            [Some(5), None, None, None, None, None]
        ]
    );
    assert_eq!(
        words(&rows, Alpc::TABLE, "port_name"),
        [r"\RPC Control\spooler", "-"]
    );
    let who = read(
        &rows,
        Alpc::TABLE,
        ["message_id", "sender_process_key", "receiver_process_key"],
    );
    assert_eq!(who, [[5, 1, 2], [6, 1, 2]].map(|row| row.map(Some)));
    let threads = read(
        &rows,
        Alpc::TABLE,
        [
            "sender_thread_key",
            "receiver_thread_key",
            "reply_thread_key",
        ],
    );
    assert_eq!(threads[0][1], threads[0][2]);
    assert_eq!(threads[1], [threads[0][0], threads[0][1], None]);
}

#[test]
fn sums_are_by_sender_receiver_and_port() {
    let rows = example().rows(Range::ALL);
    let mut sums = Batches::new();
    derive(&rows, &[], &mut sums).unwrap();
    assert_eq!(
        words(&sums, AlpcProcess::TABLE, "port_name"),
        ["-", r"\RPC Control\spooler"]
    );
    let columns = [
        "count",
        "replies",
        "waits",
        "sender_wait_ns",
        "delivery_ns",
        "service_ns",
    ];
    let found = read(&sums, AlpcProcess::TABLE, columns);
    assert_eq!(
        found,
        [[1, 0, 0, 0, 5, 0], [1, 1, 1, 39, 11, 19]].map(|row| row.map(Some))
    );
    let longest = read(
        &sums,
        AlpcProcess::TABLE,
        ["max_sender_wait_ns", "max_service_ns"],
    );
    assert_eq!(longest, [[None, None], [Some(39), Some(19)]]);
}

#[test]
fn ends_of_waits_may_come_behind_the_answer_and_waits_may_end_without_one() {
    let mut trace = started();
    trace.message(20, CLIENT, SEND, 5);
    trace.message(21, CLIENT, WAIT_FOR_REPLY, 5);
    trace.message(31, SERVER, RECEIVE, 5);
    trace.message(50, SERVER, SEND, 5);
    trace.message(60, CLIENT, RECEIVE, 5);
    trace.message(62, CLIENT, UNWAIT, 0);
    // A wait of the server that ends without a message does not belong to the next message.
    trace.listen(63, "port");
    trace.message(64, SERVER, UNWAIT, TIMEOUT);
    // The caller gives up; then another message has the same number.
    trace.message(70, CLIENT, SEND, 5);
    trace.message(71, CLIENT, WAIT_FOR_REPLY, 5);
    trace.message(72, SERVER, RECEIVE, 5);
    trace.message(80, CLIENT, UNWAIT, TIMEOUT);
    trace.message(90, CLIENT, SEND, 5);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        read(&rows, Alpc::TABLE, TIMES),
        [
            [20, 31, 50, 60].map(Some),
            [Some(70), Some(72), None, None],
            [Some(90), None, None, None],
        ]
    );
    let waits = read(
        &rows,
        Alpc::TABLE,
        ["sender_wait_ns", "status", "receiver_wait_ns"],
    );
    assert_eq!(
        waits,
        [
            [Some(41), Some(0), None],
            [Some(9), Some(0x102), None],
            [None, None, None]
        ]
    );
}

#[test]
fn what_lies_in_front_of_the_trace_is_missing_and_not_guessed() {
    let mut trace = started();
    // Sent before the trace; the answer goes to the waiting caller.
    trace.message(10, CLIENT, WAIT_FOR_REPLY, 5);
    trace.message(20, SERVER, RECEIVE, 5);
    trace.message(25, SERVER, SEND, 5);
    trace.message(30, CLIENT, UNWAIT, 0);
    trace.message(31, CLIENT, RECEIVE, 5);
    // Received before the trace: its answer cannot be recognized and looks like a message.
    trace.message(40, SERVER, SEND, 7);
    trace.message(45, CLIENT, RECEIVE, 7);
    let rows = trace.rows(Range::ALL);
    assert_eq!(
        read(&rows, Alpc::TABLE, TIMES),
        [
            [None, Some(20), Some(25), Some(31)],
            [Some(40), Some(45), None, None]
        ]
    );
    let who = read(
        &rows,
        Alpc::TABLE,
        ["sender_process_key", "receiver_process_key", "duration_ns"],
    );
    assert_eq!(who, [[Some(1), Some(2), None], [Some(2), Some(1), None]]);
}

#[test]
fn a_message_has_the_stack_that_sent_it_and_belongs_to_the_part_where_it_began() {
    let of = |range| {
        let mut trace = started();
        trace.message(20, CLIENT, SEND, 5);
        let owner = bytes(&[
            ((trace.start + 20) as u64, 8),
            (100, 4),
            (8, 4),
            (0x1000, 8),
            (0x2000, 8),
        ]);
        trace.kernel(21, CLIENT, (24, 32, 2), &owner);
        trace.message(31, SERVER, RECEIVE, 5);
        trace.rows(range)
    };
    let rows = of(Range::ALL);
    let stacks = read(&rows, Alpc::TABLE, ["stack_id"]).concat();
    assert_eq!(
        (stacks, read(&rows, Stack::TABLE, ["depth"]).len()),
        (vec![Some(1)], 2)
    );
    let part = |start_us: i64, end_us: i64| Range {
        start_ns: start_us * 1000,
        end_ns: end_us * 1000,
    };
    assert_eq!(
        read(&of(part(5, 25)), Alpc::TABLE, ["receive_ns"]),
        [[Some(31)]]
    );
    assert!(read(&of(part(25, 50)), Alpc::TABLE, ["receive_ns"]).is_empty());
}
