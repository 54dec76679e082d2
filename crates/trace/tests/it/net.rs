//! DNS queries and TCP connections: events in, rows out.

use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_schema::DataType;
use etwkit_decode::dns::DNS_CLIENT;
use etwkit_decode::tcpip::TCPIP;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::extended::kind::STACK_TRACE_64;
use etwkit_etl::writer::{ManifestEvent, SessionOptions, TraceWriter};
use etwkit_etl::{Guid, Session};
use etwkit_testkit::payload::wide;
use etwkit_trace::import::{Options, import};
use etwkit_trace::table::{
    DnsQuery, GenericEvent, Row, Table, TcpConnection, TcpEvent, TcpRetransmit,
};

type Batches = Vec<(&'static Table, RecordBatch)>;

/// A trace that is being written; one tick is a microsecond.
struct Recording {
    writer: TraceWriter<std::io::Cursor<Vec<u8>>>,
    start: i64,
    start_time: i64,
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// An IPv4 `SOCKADDR` after its length.
fn socket(last: u8, port: u16) -> Vec<u8> {
    let port = port.to_be_bytes();
    let address = [
        2, 0, port[0], port[1], 10, 0, 0, last, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    [&words(&[16])[..], &address].concat()
}

const BROWSER: u32 = 100;
const MAILER: u32 = 200;
const TCB: u64 = 0xFFFF_8000_0000_1230;

impl Recording {
    fn new() -> Self {
        let mut options = SessionOptions::default();
        options.header.perf_freq = 1_000_000;
        let writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), &options).unwrap();
        Self {
            writer,
            start: options.t0,
            start_time: options.header.start_time,
        }
    }

    fn write(
        &mut self,
        us: i64,
        provider: Guid,
        (id, version, pid): (u16, u8, u32),
        payload: &[u8],
        stack: &[u8],
    ) {
        let extended = [(STACK_TRACE_64, stack)];
        let event = ManifestEvent {
            timestamp: self.start + us,
            provider,
            descriptor: Descriptor {
                id,
                version,
                ..Descriptor::default()
            },
            process_id: pid,
            thread_id: pid + 1,
            payload,
            extended: if stack.is_empty() { &[] } else { &extended },
            ..ManifestEvent::default()
        };
        self.writer.write(0, event).unwrap();
    }

    fn query(&mut self, us: i64, pid: u32, name: &str, query_type: u32) {
        let payload = [
            &wide(name)[..],
            &words(&[query_type, 0, 0]),
            &wide(""),
            &words(&[0; 4]),
        ]
        .concat();
        self.write(us, DNS_CLIENT, (3006, 0, pid), &payload, &[]);
    }

    fn answer(&mut self, us: i64, pid: u32, name: &str, query_type: u32) {
        let payload = [
            &wide(name)[..],
            &words(&[query_type, 0, 0, 0]),
            &wide("1.2.3.4;"),
        ]
        .concat();
        self.write(us, DNS_CLIENT, (3008, 0, pid), &payload, &[]);
    }

    fn server(
        &mut self,
        us: i64,
        version: u8,
        name: &str,
        query_type: u32,
        server: &str,
        client: &[u32],
    ) {
        let payload = [
            &wide(name)[..],
            &words(&[query_type]),
            &wide(server),
            &words(client),
        ]
        .concat();
        self.write(us, DNS_CLIENT, (3010, version, 4), &payload, &[]);
    }

    fn tcp(&mut self, us: i64, (id, version): (u16, u8), payload: &[u8]) {
        self.write(us, TCPIP, (id, version, 4), payload, &[]);
    }

    fn send(&mut self, us: i64, sequence: u32, bytes: u32) {
        let payload = [
            &TCB.to_le_bytes()[..],
            &words(&[0, 0, bytes, sequence, 0, 0, 0]),
        ]
        .concat();
        self.tcp(us, (1332, 0), &payload);
    }

    /// An event that ends with process and control block: close, abort and the like.
    fn end(&mut self, us: i64, id: u16, ports: (u16, u16), pid: u32) {
        let payload = [
            &socket(1, ports.0)[..],
            &socket(2, ports.1),
            &words(&[0, pid, 1]),
            &TCB.to_le_bytes(),
        ]
        .concat();
        self.tcp(us, (id, 0), &payload);
    }

    fn rundown(&mut self, us: i64, ports: (u16, u16), pid: u32) {
        let payload = [
            &TCB.to_le_bytes()[..],
            &socket(1, ports.0),
            &socket(2, ports.1),
            &words(&[4, pid]),
        ]
        .concat();
        self.tcp(us, (1300, 0), &payload);
    }

    /// The system counted 1000 bytes in 3 of 5 segments received, 2000 bytes in 4 of 6 segments
    /// sent.
    fn summary(&mut self, us: i64) {
        let counts = [2000u64, 1000, 4, 3, 6, 5].map(u64::to_le_bytes).concat();
        let payload = [&TCB.to_le_bytes()[..], &counts, &[0; 92]].concat();
        self.tcp(us, (1352, 0), &payload);
    }

    fn rows(self) -> Batches {
        let bytes = self
            .writer
            .finish(self.start_time + 100_000_000)
            .unwrap()
            .into_inner();
        let session = Session::open(vec![Box::new(bytes)]).unwrap();
        let mut sink = Batches::new();
        import(&session, &Options::default(), &mut sink, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        sink
    }
}

/// Values of columns of a table as text, `-` for none; times in microseconds.
fn values(batches: &Batches, table: &Table, columns: &[&str]) -> Vec<String> {
    let mut rows = Vec::new();
    for (_, batch) in batches.iter().filter(|(of, _)| of.name == table.name) {
        for row in 0..batch.num_rows() {
            let cell = |name: &&str| {
                let array = batch.column_by_name(name).unwrap();
                if array.is_null(row) {
                    return "-".to_owned();
                }
                match array.data_type() {
                    DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
                    DataType::Int64 if name.ends_with("_ns") => {
                        (array.as_primitive::<Int64Type>().value(row) / 1000).to_string()
                    }
                    DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
                    DataType::Boolean => array.as_boolean().value(row).to_string(),
                    _ => array.as_string::<i32>().value(row).to_owned(),
                }
            };
            rows.push(columns.iter().map(cell).collect::<Vec<_>>().join(" "));
        }
    }
    rows
}

#[test]
fn queries_are_paired_by_process_name_and_type() {
    let mut r = Recording::new();
    r.query(10, BROWSER, "www.example.com", 1);
    r.query(11, BROWSER, "www.example.com", 28);
    r.query(12, MAILER, "WWW.example.com", 1);
    r.answer(30, BROWSER, "www.example.com", 28);
    r.answer(40, MAILER, "www.example.com", 1);
    r.answer(50, BROWSER, "www.example.com", 1);
    // A second answer ends no query, a second start abandons the first one, and the last query is
    // never answered.
    r.answer(55, BROWSER, "www.example.com", 1);
    r.query(60, MAILER, "a", 1);
    r.query(65, MAILER, "a", 1);
    r.answer(70, MAILER, "a", 1);
    r.query(80, MAILER, "b", 1);
    let rows = values(
        &r.rows(),
        DnsQuery::TABLE,
        &[
            "start_ns",
            "end_ns",
            "duration_ns",
            "name",
            "query_type",
            "status",
        ],
    );
    assert_eq!(
        rows,
        [
            "11 30 19 www.example.com 28 0",
            "12 40 28 WWW.example.com 1 0",
            "10 50 40 www.example.com 1 0",
            "- 55 - www.example.com 1 0",
            "60 - - a 1 -",
            "65 70 5 a 1 0",
            "80 - - b 1 -",
        ]
    );
}

#[test]
fn servers_belong_to_the_queries_they_may_be_of() {
    let mut r = Recording::new();
    r.query(10, BROWSER, "a", 1);
    r.query(11, BROWSER, "a", 28);
    r.query(12, MAILER, "a", 1);
    r.server(13, 0, "A", 1, "1.1.1.1", &[]);
    r.server(14, 1, "a", 1, "2.2.2.2", &[MAILER]);
    r.server(15, 1, "a", 1, "2.2.2.2", &[MAILER]);
    r.server(16, 0, "nobody", 1, "3.3.3.3", &[]);
    for (us, pid, query_type) in [(20, BROWSER, 1), (21, BROWSER, 28), (22, MAILER, 1)] {
        r.answer(us, pid, "a", query_type);
    }
    let rows = r.rows();
    assert_eq!(
        values(&rows, DnsQuery::TABLE, &["end_ns", "servers"]),
        ["20 1.1.1.1", "21 -", "22 1.1.1.1;2.2.2.2"]
    );
    // An event that no query shows stays a generic event.
    assert_eq!(
        values(&rows, GenericEvent::TABLE, &["ts_ns", "event_id"]),
        ["16 3010"]
    );
}

#[test]
fn crowds_of_open_queries_are_given_up_and_none_is_lost() {
    let mut r = Recording::new();
    (0..200).for_each(|n| r.query(n, 1000 + n as u32, "crowd", 1));
    r.answer(300, 1199, "crowd", 1);
    let rows = values(&r.rows(), DnsQuery::TABLE, &["start_ns", "end_ns"]);
    assert_eq!(rows.len(), 200);
    assert_eq!(rows.iter().filter(|row| row.ends_with(" -")).count(), 199);
    assert!(rows.contains(&"199 300".to_owned()));
}

#[test]
fn stacks_of_events_stay_with_their_rows() {
    let mut r = Recording::new();
    let stack = [0u64, 0x7FF8_0000_1000, 0x7FF8_0000_2000]
        .map(u64::to_le_bytes)
        .concat();
    let query = [
        &wide("a")[..],
        &words(&[1, 0, 0]),
        &wide(""),
        &words(&[0; 4]),
    ]
    .concat();
    r.write(10, DNS_CLIENT, (3006, 0, BROWSER), &query, &stack);
    r.query(15, MAILER, "a", 1);
    r.answer(20, BROWSER, "a", 1);
    r.answer(25, MAILER, "a", 1);
    let send = [&TCB.to_le_bytes()[..], &words(&[0, 0, 5, 7, 0, 0, 0])].concat();
    r.write(30, TCPIP, (1332, 0, BROWSER), &send, &stack);
    r.send(35, 12, 5);
    let rows = r.rows();
    let has_stack = |table, times| -> Vec<bool> {
        values(&rows, table, &[times, "stack_id"])
            .iter()
            .map(|row| !row.ends_with('-'))
            .collect()
    };
    assert_eq!(has_stack(DnsQuery::TABLE, "end_ns"), [true, false]);
    assert_eq!(has_stack(TcpEvent::TABLE, "ts_ns"), [true, false]);
}

#[test]
fn a_connection_is_distinguished_from_the_next_one_of_its_control_block() {
    let mut r = Recording::new();
    r.rundown(0, (5000, 80), BROWSER);
    r.send(10, 1, 100);
    r.end(20, 1044, (5000, 80), BROWSER);
    r.end(21, 1038, (5000, 80), BROWSER);
    let ends = [
        &TCB.to_le_bytes()[..],
        &socket(1, 5001),
        &socket(2, 443),
        &words(&[2, 0]),
    ]
    .concat();
    r.write(30, TCPIP, (1002, 0, MAILER), &ends, &[]);
    r.end(35, 1033, (5001, 443), MAILER);
    r.send(40, 1, 50);
    // The same connection is reported again at the end of the session.
    r.rundown(50, (5001, 443), MAILER);
    let mut rows = values(
        &r.rows(),
        TcpConnection::TABLE,
        &[
            "connection_id",
            "kind",
            "local_port",
            "remote_port",
            "open_ns",
            "connected_ns",
            "close_ns",
            "send_bytes",
        ],
    );
    rows.sort();
    assert_eq!(
        rows,
        [
            "0 rundown 5000 80 - - 20 100",
            "1 connect 5001 443 30 35 - 50"
        ]
    );
}

#[test]
fn a_connection_that_nothing_announced_is_known_by_its_end() {
    let mut r = Recording::new();
    r.send(10, 1, 100);
    r.end(20, 1039, (6000, 80), BROWSER);
    r.end(21, 1038, (6000, 80), BROWSER);
    let rows = r.rows();
    let columns = [
        "kind",
        "local_address",
        "local_port",
        "open_ns",
        "abort_ns",
        "close_ns",
        "sends",
    ];
    assert_eq!(
        values(&rows, TcpConnection::TABLE, &columns),
        ["unknown 10.0.0.1 6000 - 20 21 1"]
    );
    assert_ne!(values(&rows, TcpConnection::TABLE, &["process_key"]), ["-"]);
}

#[test]
fn a_template_that_is_reported_first_belongs_to_the_connection_that_follows() {
    let template = |r: &mut Recording, us, number| {
        let payload = [&TCB.to_le_bytes()[..], &words(&[number]), &wide("")].concat();
        r.tcp(us, (1224, 0), &payload);
    };
    let mut r = Recording::new();
    r.rundown(0, (5000, 80), BROWSER);
    template(&mut r, 5, 0);
    r.end(10, 1038, (5000, 80), BROWSER);
    template(&mut r, 1500, 1);
    let ends = [
        &TCB.to_le_bytes()[..],
        &socket(1, 5001),
        &socket(2, 443),
        &words(&[2, 0]),
    ]
    .concat();
    r.write(2000, TCPIP, (1002, 0, MAILER), &ends, &[]);
    r.end(2500, 1038, (5001, 443), MAILER);
    // Too long before the next one.
    template(&mut r, 3000, 2);
    r.write(4001, TCPIP, (1002, 0, MAILER), &ends, &[]);
    let mut rows = values(
        &r.rows(),
        TcpConnection::TABLE,
        &["connection_id", "template"],
    );
    rows.sort();
    assert_eq!(rows, ["0 Internet", "1 DataCenter", "2 -"]);
}

#[test]
fn what_the_system_counted_depends_on_whether_the_connection_was_closed() {
    let columns = [
        "stat_in_bytes",
        "stat_out_bytes",
        "stat_in_packets",
        "stat_out_packets",
    ];
    let counted = |closed: bool| {
        let mut r = Recording::new();
        r.rundown(0, (5000, 80), BROWSER);
        if closed {
            r.end(10, 1038, (5000, 80), BROWSER);
        }
        r.summary(20);
        let rows = r.rows();
        // The summary contains more than the columns show.
        assert_eq!(values(&rows, GenericEvent::TABLE, &["event_id"]), ["1352"]);
        values(&rows, TcpConnection::TABLE, &columns)
    };
    assert_eq!(
        (counted(true), counted(false)),
        (
            vec!["1000 2000 3 4".into()],
            vec!["1000 2000 5 6".to_owned()]
        )
    );
}

#[test]
fn the_last_data_of_a_connection_that_timed_out_is_what_was_sent_again() {
    let mut r = Recording::new();
    r.rundown(0, (5000, 80), BROWSER);
    r.send(10, 1, 100);
    let again = [&TCB.to_le_bytes()[..], &words(&[1, 1, 0, 0])].concat();
    r.tcp(60, (1351, 0), &again);
    r.send(61, 1, 100);
    let probe = [&TCB.to_le_bytes()[..], &words(&[1, 101, 0, 1, 0, 0]), &[0]].concat();
    r.tcp(90, (1385, 0), &probe);
    r.send(100, 500, 1);
    r.end(120, 1046, (5000, 80), BROWSER);
    let rows = r.rows();
    assert_eq!(
        values(
            &rows,
            TcpRetransmit::TABLE,
            &["ts_ns", "kind", "first_ns", "delay_ns", "size_bytes"]
        ),
        ["60 retransmit 10 50 100", "90 tail_loss_probe 61 29 100"]
    );
    assert_eq!(
        values(
            &rows,
            TcpConnection::TABLE,
            &["retransmit_timeout_ns", "last_send_ns", "max_send_gap_ns"]
        ),
        ["120 61 51"]
    );
}

#[test]
fn events_that_cannot_be_decoded_are_kept_as_they_are() {
    let mut r = Recording::new();
    r.tcp(10, (1332, 0), &TCB.to_le_bytes());
    r.write(20, DNS_CLIENT, (3008, 0, BROWSER), &wide("a"), &[]);
    let rows = r.rows();
    assert_eq!(
        values(&rows, GenericEvent::TABLE, &["event_id"]),
        ["1332", "3008"]
    );
    assert!(values(&rows, TcpConnection::TABLE, &["connection_id"]).is_empty());
    assert!(values(&rows, DnsQuery::TABLE, &["name"]).is_empty());
}
