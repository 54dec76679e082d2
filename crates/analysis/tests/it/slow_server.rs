//! Rule `slow-server`: which waits for data are waits for an answer.

use etwkit_trace::table::{DnsQuery, NetIo};

use super::support::{Machine, found, off};

const MS: i64 = 1_000_000;
/// From the end of an exchange of a connection to the next one.
const EVERY_MS: i64 = 2_000;
const RECEIVES: [&str; 4] = [
    "ntdll.dll!NtWaitForSingleObject",
    "mswsock.dll!WSPRecv",
    "ws2_32.dll!recv",
    "a.exe!Query",
];

/// A packet, a wait for data that ends with a packet, and what the thread does then.
#[derive(Clone, Copy)]
struct Exchange {
    count: i64,
    /// Packets of the connection before the data, from the start of the wait.
    packets_ms: &'static [(&'static str, i64)],
    wait_ms: i64,
    work_us: i64,
    ports: (i32, i32),
    stack: &'static [&'static str],
}

impl Exchange {
    fn packet(&self, kind: &'static str, ts_ns: i64) -> NetIo {
        NetIo {
            ts_ns,
            protocol: "tcp",
            kind,
            process_key: Some(1),
            local_port: Some(self.ports.0),
            remote_address: Some("192.0.2.7".into()),
            remote_port: Some(self.ports.1),
            ..NetIo::default()
        }
    }
}

/// A request right before the wait, and 500 ms until the answer.
const ANSWERED_LATE: Exchange = Exchange {
    count: 3,
    packets_ms: &[("send", -1)],
    wait_ms: 500,
    work_us: 2_000,
    ports: (50_000, 443),
    stack: &RECEIVES,
};

fn machine(exchange: Exchange) -> Machine {
    let mut machine = Machine::new(&["a.exe", "b.exe"], 60_000 * MS);
    let stack = machine.stack(exchange.stack);
    for number in 0..exchange.count {
        let from = (1_000 + number * (EVERY_MS + exchange.wait_ms)) * MS;
        let to = from + exchange.wait_ms * MS;
        for &(kind, at_ms) in exchange.packets_ms {
            machine
                .packets
                .push(exchange.packet(kind, from + at_ms * MS));
        }
        machine.packets.push(exchange.packet("receive", to));
        let wait = off(1, from).readied_by_dpc(to, 2);
        machine.add(wait.ran(to, to + exchange.work_us * 1_000).in_stack(stack));
    }
    machine
}

/// Culprits and costs.
fn culprits(machine: &Machine) -> Vec<(String, Option<i64>)> {
    let found = found(machine, "slow-server");
    let facts = found.iter().map(|one| (one.culprit.clone(), one.cost_ns));
    facts.collect()
}

#[test]
fn a_wait_for_an_answer_needs_a_request_and_a_program_that_works_with_it() {
    let late = ANSWERED_LATE;
    let cost = late.count * late.wait_ms * MS;
    for (exchange, cost, case) in [
        (late, Some(cost), "a request and its answer"),
        (
            Exchange {
                packets_ms: &[("send", -40), ("send", 10)],
                ..late
            },
            Some(cost),
            "a request of two packets, one of them reported late",
        ),
        (
            Exchange {
                packets_ms: &[],
                ..late
            },
            None,
            "data without a request",
        ),
        (
            Exchange {
                packets_ms: &[("send", 300)],
                ..late
            },
            None,
            "another thread sends while this one waits for news",
        ),
        (
            Exchange {
                packets_ms: &[("send", -1), ("retransmit", 300)],
                ..late
            },
            None,
            "the request was lost",
        ),
        (
            Exchange {
                ports: (443, 50_000),
                ..late
            },
            None,
            "a server waits for the next request of its client",
        ),
        (
            Exchange {
                wait_ms: 16_000,
                ..late
            },
            None,
            "long polling",
        ),
        (
            Exchange {
                wait_ms: 150,
                ..late
            },
            None,
            "a server far away",
        ),
        (
            Exchange {
                work_us: 200,
                ..late
            },
            None,
            "a connection that is only kept alive",
        ),
        (
            Exchange {
                stack: &["ntdll.dll!NtWaitForWorkViaWorkerFactory", "a.exe!Work"],
                ..late
            },
            None,
            "a thread without work, which comes at the same time",
        ),
    ] {
        let expected = cost.map(|cost| ("192.0.2.7:443".to_owned(), Some(cost)));
        assert_eq!(
            culprits(&machine(exchange)),
            Vec::from_iter(expected),
            "{case}"
        );
    }
}

/// The sum of three answers.
#[test]
fn answers_add_up_to_a_second() {
    for (wait_ms, is_found) in [(334, true), (333, false)] {
        let machine = machine(Exchange {
            wait_ms,
            ..ANSWERED_LATE
        });
        assert_eq!(culprits(&machine).len(), usize::from(is_found), "{wait_ms}");
    }
}

/// An answer of less than 200 ms is late if the same server usually takes a tenth of it.
#[test]
fn an_answer_is_late_for_its_server() {
    let exchange = Exchange {
        count: 8,
        wait_ms: 150,
        ..ANSWERED_LATE
    };
    for (quick_answers, is_found) in [(7, false), (9, true)] {
        let mut machine = machine(exchange);
        for number in 0..quick_answers {
            let sent_ns = (2_000 + number * (EVERY_MS + exchange.wait_ms)) * MS;
            let quick = [
                exchange.packet("send", sent_ns),
                exchange.packet("receive", sent_ns + 5 * MS),
            ];
            machine.packets.extend(quick);
        }
        let found = culprits(&machine);
        assert_eq!(found.len(), usize::from(is_found), "{quick_answers}");
    }
}

/// An address has the name of its host where only one was looked up.
#[test]
fn a_server_has_the_name_that_was_looked_up() {
    let lookup = |name: &str| DnsQuery {
        process_key: Some(1),
        name: name.into(),
        query_type: 1,
        result: Some("::ffff:192.0.2.9;::ffff:192.0.2.7;".to_owned()),
        ..DnsQuery::default()
    };
    for (names, culprit) in [
        (["Orders.example", "orders.example"], "orders.example:443"),
        (["one.example", "two.example"], "192.0.2.7:443"),
    ] {
        let mut machine = machine(ANSWERED_LATE);
        machine.lookups = Vec::from(names.map(lookup));
        assert_eq!(culprits(&machine)[0].0, culprit);
    }
}

/// The server is a process of this machine, whose end of the connection is recorded too.
#[test]
fn a_server_of_the_same_machine_is_a_process() {
    let mut machine = machine(ANSWERED_LATE);
    for packet in &mut machine.packets {
        packet.local_address = Some("127.0.0.1".into());
        packet.remote_address = Some("127.0.0.1".into());
    }
    let (client, server) = (50_000, 443);
    let answers = machine.packets.clone().into_iter().map(|packet| NetIo {
        process_key: Some(2),
        kind: if packet.kind == "send" {
            "receive"
        } else {
            "send"
        },
        local_port: Some(server),
        remote_port: Some(client),
        ..packet
    });
    machine.packets.extend(answers);
    let cost = ANSWERED_LATE.count * ANSWERED_LATE.wait_ms * MS;
    let expected = ("b.exe (8) at 127.0.0.1:443".to_owned(), Some(cost));
    assert_eq!(culprits(&machine), [expected]);
}
