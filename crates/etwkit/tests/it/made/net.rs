//! Name resolution and TCP connections, from events of their providers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use serde_json::{Map, Value, json};

use super::{Event, Trace, add, agree, bytes, check, counts, without};

/// `AF_INET`.
const IPV4: u16 = 2;

/// A `SOCKADDR` that stands in an event as bytes.
fn address(event: &Event, field: &str) -> SocketAddr {
    let raw = bytes(event.text(field));
    let port = u16::from_be_bytes([raw[2], raw[3]]);
    if u16::from_le_bytes([raw[0], raw[1]]) == IPV4 {
        return (
            Ipv4Addr::from(<[u8; 4]>::try_from(&raw[4..8]).unwrap()),
            port,
        )
            .into();
    }
    SocketAddrV6::new(
        Ipv6Addr::from(<[u8; 16]>::try_from(&raw[8..24]).unwrap()),
        port,
        0,
        0,
    )
    .into()
}

const DNS: &str = "Microsoft-Windows-DNS-Client";

struct Query<'t> {
    start: &'t Event,
    end: &'t Event,
    timed_out: bool,
}

fn dns(trace: &Trace, id: u32) -> impl Iterator<Item = &Event> {
    trace
        .events
        .iter()
        .filter(move |event| event.name.strip_prefix(DNS) == Some(&format!(" {id}")))
}

/// Queries in the order of their starts, starts without completion, completions without start.
fn queries(trace: &Trace) -> (Vec<Query<'_>>, usize, usize) {
    let key = |event: &Event| {
        (
            event.pid,
            event.text("QueryName").to_owned(),
            event.number("QueryType"),
        )
    };
    let (mut open, mut closed) = (HashMap::new(), Vec::new());
    let (mut uncompleted, mut unstarted) = (0, 0);
    for event in &trace.events {
        match event.name.strip_prefix(DNS) {
            Some(" 3006") => {
                uncompleted += usize::from(open.insert(key(event), event).is_some());
            }
            Some(" 3008") => match open.remove(&key(event)) {
                Some(start) => closed.push((start, event)),
                None => unstarted += 1,
            },
            _ => {}
        }
    }
    let timed_out = |start: &Event, end: &Event| {
        let name = start.text("QueryName");
        dns(trace, 1015)
            .any(|t| (start.ticks..=end.ticks).contains(&t.ticks) && t.text("QueryName") == name)
    };
    let query = |(start, end)| Query {
        start,
        end,
        timed_out: timed_out(start, end),
    };
    let mut queries: Vec<_> = closed.into_iter().map(query).collect();
    queries.sort_by_key(|query| query.start.ticks);
    (queries, uncompleted + open.len(), unstarted)
}

fn group(trace: &Trace, queries: &[&Query<'_>]) -> Value {
    let durations = || {
        queries
            .iter()
            .map(|query| trace.duration_us(query.end.ticks - query.start.ticks))
    };
    json!({
        "count": queries.len(),
        "min_us": durations().fold(f64::MAX, f64::min),
        "max_us": durations().fold(0.0, f64::max),
        "sum_us": durations().sum::<f64>(),
        "queries_with_timeout": queries.iter().filter(|query| query.timed_out).count(),
        "by_status": counts(queries.iter().map(|query| query.end.number("QueryStatus"))),
        "by_type": counts(queries.iter().map(|query| query.start.number("QueryType"))),
    })
}

fn groups(
    trace: &Trace,
    queries: &[Query<'_>],
    key: impl Fn(&Query<'_>) -> String,
) -> Map<String, Value> {
    let mut by_key: BTreeMap<String, Vec<&Query<'_>>> = BTreeMap::new();
    for query in queries {
        by_key.entry(key(query)).or_default().push(query);
    }
    by_key
        .into_iter()
        .map(|(key, queries)| (key, group(trace, &queries)))
        .collect()
}

fn check_dns(trace: &Trace) -> usize {
    let (queries, uncompleted, unstarted) = queries(trace);
    let row = |query: &Query<'_>| {
        json!([
            query.start.us,
            trace.duration_us(query.end.ticks - query.start.ticks),
            query.start.pid,
            query.start.tid,
            query.start.text("QueryName"),
            query.start.number("QueryType"),
            query.end.number("QueryStatus"),
            query.end.text("QueryResults"),
            query.timed_out,
        ])
    };
    let name = |query: &Query<'_>| query.start.text("QueryName").to_lowercase();
    let process = |query: &Query<'_>| trace.owner(query.start);
    let of_servers = |event: &Event| {
        let servers = event
            .text("DNSServerAddress")
            .split(';')
            .filter(|server| !server.is_empty());
        servers.map(str::to_owned).collect::<Vec<_>>()
    };
    let ours = json!({
        "queries": {"rows": queries.iter().map(row).collect::<Value>()},
        "total": group(trace, &queries.iter().collect::<Vec<_>>()),
        "by_name": groups(trace, &queries, name),
        "by_process": groups(trace, &queries, process),
        "by_process_and_name": groups(trace, &queries, |query| format!("{} {}", process(query), name(query))),
        "starts_without_completion": uncompleted,
        "completions_without_start": unstarted,
        "timeout_events": dns(trace, 1015).count(),
        "timeouts_by_server": counts(dns(trace, 1015).map(|event| address(event, "Address").ip())),
        "adapters": dns(trace, 3009).map(|event| event.text("AdapterName")).collect::<BTreeSet<_>>(),
        "servers": dns(trace, 3009).flat_map(of_servers).collect::<BTreeSet<_>>(),
    });
    agree(
        &format!("{}/dns", trace.name),
        &without(&trace.truth["dns"], &["union_us", "columns"]),
        &ours,
    )
}

/// Congestion control templates, by number.
const TEMPLATES: [&str; 5] = [
    "Internet",
    "DataCenter",
    "Compat",
    "DatacenterCustom",
    "InternetCustom",
];

/// A connection, and what retransmissions are measured by.
#[derive(Default)]
struct Connection<'t> {
    values: Map<String, Value>,
    sent: HashMap<u64, (&'t Event, u64)>,
    received: HashMap<u64, &'t Event>,
}

impl<'t> Connection<'t> {
    fn new(event: &'t Event) -> Self {
        let mut values = Map::new();
        for key in [
            "posted",
            "posted_bytes",
            "injected",
            "injected_bytes",
            "keep_alives",
        ] {
            values.insert(key.to_owned(), json!(0));
        }
        for key in [
            "send_packets",
            "send_packet_bytes",
            "recv_packets",
            "recv_bytes",
        ] {
            values.insert(key.to_owned(), json!(0));
        }
        for key in [
            "open_us",
            "close_us",
            "reset_us",
            "rto_timeout_us",
            "pid",
            "template",
        ] {
            values.insert(key.to_owned(), Value::Null);
        }
        values.insert("retransmits".to_owned(), json!([]));
        values.insert("client_retransmits".to_owned(), json!([]));
        values.insert("tcb".to_owned(), event.value("Tcb").clone());
        values.insert(
            "local".to_owned(),
            address(event, "LocalAddress").to_string().into(),
        );
        values.insert(
            "remote".to_owned(),
            address(event, "RemoteAddress").to_string().into(),
        );
        Self {
            values,
            ..Self::default()
        }
    }

    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.values.insert(key.to_owned(), value.into());
    }

    fn set_once(&mut self, key: &str, value: f64) {
        if self.values[key].is_null() {
            self.set(key, value);
        }
    }

    fn push(&mut self, key: &str, value: Value) {
        self.values[key].as_array_mut().unwrap().push(value);
    }

    fn take(&mut self, trace: &Trace, id: u32, event: &'t Event) {
        let delay = |first: &Event| trace.duration_us(event.ticks - first.ticks);
        match id {
            1002 => self.set("pid", event.pid),
            1300 => self.set("pid", event.number("Pid")),
            1033 | 1017 => self.set("pid", event.number("ProcessId")),
            1159 => {
                let kind = event.text("Injected");
                add(&mut self.values, kind, 1);
                add(
                    &mut self.values,
                    &format!("{kind}_bytes"),
                    event.number("NumBytes"),
                );
            }
            1332 => {
                add(&mut self.values, "send_packets", 1);
                add(
                    &mut self.values,
                    "send_packet_bytes",
                    event.number("BytesSent"),
                );
                self.sent
                    .insert(event.number("SeqNo"), (event, event.number("BytesSent")));
            }
            1351 => {
                let seq = event.number("SndUna");
                let (sent, len) = self.sent[&seq];
                let row =
                    json!({"t_us": event.us, "seq": seq, "bytes": len, "delay_us": delay(sent)});
                self.push("retransmits", row);
            }
            1074 => {
                let (seq, len) = (event.number("SeqNo"), event.number("NumBytes"));
                add(&mut self.values, "recv_packets", 1);
                add(&mut self.values, "recv_bytes", len);
                match self.received.get(&seq) {
                    Some(first) => {
                        let row = json!({"t_us": event.us, "seq": seq, "bytes": len, "delay_us": delay(first)});
                        self.push("client_retransmits", row);
                    }
                    None => _ = self.received.insert(seq, event),
                }
            }
            1224 => self.set("template", TEMPLATES[event.number("TemplateType") as usize]),
            1188 => add(&mut self.values, "keep_alives", 1),
            1039 => self.set_once("reset_us", event.us),
            1046 => self.set_once("rto_timeout_us", event.us),
            1038 | 1044 | 1183 => self.set_once("close_us", event.us),
            _ => {}
        }
    }
}

/// All connections in the order in which they began.
fn connections(trace: &Trace) -> Vec<Map<String, Value>> {
    let mut all: Vec<Connection<'_>> = Vec::new();
    let mut by_tcb: HashMap<u64, usize> = HashMap::new();
    for event in &trace.events {
        let Some(id) = event.name.strip_prefix("Microsoft-Windows-TCPIP ") else {
            continue;
        };
        let (id, tcb) = (id.parse().unwrap(), event.number("Tcb"));
        if matches!(id, 1002 | 1017 | 1300) {
            by_tcb.insert(tcb, all.len());
            let mut connection = Connection::new(event);
            if id != 1300 {
                connection.set("open_us", event.us);
            }
            all.push(connection);
        }
        all[by_tcb[&tcb]].take(trace, id, event);
    }
    all.into_iter()
        .map(|connection| connection.values)
        .collect()
}

fn check_tcp(trace: &Trace) -> usize {
    let connections = connections(trace);
    let sum = |key: &str| {
        connections
            .iter()
            .map(|c| c[key].as_u64().unwrap())
            .sum::<u64>()
    };
    let len = |key: &str| {
        connections
            .iter()
            .map(|c| c[key].as_array().unwrap().len())
            .sum::<usize>()
    };
    let ours = json!({
        "count": connections.len(),
        "posted_bytes": sum("posted_bytes"),
        "recv_bytes": sum("recv_bytes"),
        "retransmit_count": len("retransmits"),
        "client_retransmit_count": len("client_retransmits"),
        "connections": connections,
    });
    trace.agrees("/tcp", &ours)
}

#[test]
fn name_resolution() {
    check(&["dns"], check_dns);
}

#[test]
fn tcp_connections() {
    check(&["tcp"], check_tcp);
}
