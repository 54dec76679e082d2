//! DNS queries: starts and answers become rows.

use std::collections::HashMap;
use std::sync::Arc;

use etwkit_decode::dns::{DNS_CLIENT, DnsEvent, DnsReader, Step, id};
use etwkit_etl::RawEvent;

use crate::declared::{Events, Topic, sums};
use crate::import::pipeline::inline_stack::inline_stack;
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, Seq, key, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{self, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[Events::Provider(
        DNS_CLIENT,
        &[
            id::SERVER_TIMEOUT,
            id::START,
            id::END,
            id::ADAPTER,
            id::SERVER,
        ],
    )],
    tables: &[sums(table::DnsQuery::TABLE)],
    topics: &[Topic {
        place: 200,
        name: "DNS queries",
        answers: "which name took long to resolve",
        recorded_by: "Microsoft-Windows-DNS-Client",
        events: &[Events::Provider(DNS_CLIENT, &[id::START, id::END])],
        tables: &[table::DnsQuery::TABLE],
    }],
    make: |_| Box::new(Dns::default()),
    ..Declaration::EMPTY
};

/// Maximum number of open queries for one name. If there are more, the oldest is dropped: a
/// malicious file can start millions of them.
const MAX_OPEN: usize = 64;

/// Adapters or servers of one query that are kept.
const MAX_NAMES: usize = 32;

/// Distinct names, in order of first occurrence.
#[derive(Debug, Default)]
struct Names(Vec<Arc<str>>);

impl Names {
    fn add(&mut self, name: &str) {
        // A malicious answer may list any number of servers, and each is compared with all others.
        if !name.is_empty()
            && self.0.len() < MAX_NAMES
            && !self.0.iter().any(|known| **known == *name)
        {
            self.0.push(name.into());
        }
    }

    fn joined(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join(";"))
    }
}

/// A query that has begun.
#[derive(Debug)]
struct OpenQuery {
    pid: Option<u32>,
    query_type: u32,
    row: table::DnsQuery,
    /// Number of the start in the line, if it brought a stack.
    start: Option<Seq>,
    adapters: Names,
    adapter_servers: Names,
    servers: Names,
    timed_out: Names,
}

impl OpenQuery {
    fn new(pid: Option<u32>, query_type: u32, row: table::DnsQuery, start: Option<Seq>) -> Self {
        Self {
            pid,
            query_type,
            row,
            start,
            adapters: Names::default(),
            adapter_servers: Names::default(),
            servers: Names::default(),
            timed_out: Names::default(),
        }
    }
}

/// Pairs starts with answers.
#[derive(Debug, Default)]
struct Dns {
    reader: DnsReader,
    /// Open queries by name in lower case.
    open: HashMap<String, Vec<OpenQuery>>,
}

impl Dns {
    // The row is written when the answer comes, since it holds adapters and servers in between.
    fn start(&mut self, dns_event: &DnsEvent, event: &RawEvent<'_>, context: &mut Context<'_>) {
        let Step::Start {
            query_type,
            options,
            is_network,
            is_async,
        } = dns_event.step
        else {
            return;
        };
        // The header names the process that asks.
        let pid = event.process_id();
        let now = event.timestamp;
        let process = pid.and_then(|pid| context.directory.process_at(pid, now));
        let row = table::DnsQuery {
            process_key: key(process),
            thread_key: context.thread_key(event),
            name: dns_event.name.as_str().into(),
            query_type: query_type as i32,
            start_ns: Some(context.ns(now)),
            options: options.map(u64::cast_signed),
            is_network,
            is_async,
            ..table::DnsQuery::default()
        };
        let stack = inline_stack(event);
        let start =
            // Only a stack in the event itself is kept: this provider has no others.
            (!stack.is_empty()).then(|| context.wait_with(now, process, &stack, Pending::Start));
        let open = OpenQuery::new(pid, query_type, row, start);
        // Names of hosts are compared without case.
        let of_name = self.open.entry(dns_event.name.to_lowercase()).or_default();
        // If another query of this process, name and type is open, its answer was lost, or this
        // query's answer ends both.
        let lost = of_name
            .iter()
            .position(|open| open.pid == pid && open.query_type == query_type);
        // Queries are in order of their starts, so the first one is the oldest.
        let lost = lost.or_else(|| (of_name.len() >= MAX_OPEN).then_some(0));
        if let Some(at) = lost {
            write(of_name.remove(at), now, context);
        }
        of_name.push(open);
    }

    fn end(&mut self, dns_event: &DnsEvent, event: &RawEvent<'_>, context: &mut Context<'_>) {
        let Step::End {
            query_type,
            status,
            ref results,
        } = dns_event.step
        else {
            return;
        };
        let pid = event.process_id();
        let now = event.timestamp;
        let end_ns = context.ns(now);
        let mut open = self
            // An answer without its question is a row as well: the question may be from before the
            // trace.
            .take(&dns_event.name, pid, query_type)
            .unwrap_or_else(|| {
                let process = pid.and_then(|pid| context.directory.process_at(pid, now));
                let row = table::DnsQuery {
                    process_key: key(process),
                    thread_key: context.thread_key(event),
                    name: dns_event.name.as_str().into(),
                    query_type: query_type as i32,
                    ..table::DnsQuery::default()
                };
                OpenQuery::new(pid, query_type, row, None)
            });
        open.row.end_ns = Some(end_ns);
        open.row.duration_ns = open.row.start_ns.map(|start| end_ns.saturating_sub(start));
        open.row.status = Some(status as i32);
        open.row.result.clone_from(results);
        write(open, now, context);
    }

    /// The open query of a process, name and type.
    fn take(&mut self, name: &str, pid: Option<u32>, query_type: u32) -> Option<OpenQuery> {
        let name = name.to_lowercase();
        let of_name = self.open.get_mut(&name)?;
        let at = of_name
            .iter()
            .position(|open| open.pid == pid && open.query_type == query_type)?;
        let open = of_name.remove(at);
        if of_name.is_empty() {
            // Also for memory: names are random in some attacks, and each would stay.
            // Otherwise the map would keep an entry for every name of the trace.
            self.open.remove(&name);
        }
        Some(open)
    }

    /// Adds adapters and servers to all open queries for the name that they may belong to. Returns
    /// true if there is one.
    fn between(&mut self, dns_event: &DnsEvent) -> bool {
        let Some(of_name) = self.open.get_mut(&dns_event.name.to_lowercase()) else {
            return false;
        };
        // Older versions do not contain the querying process.
        // If no open query is of that process, the event is of a version without one, or for a
        // query of another process: all of that name get it.
        let knows = of_name.iter().any(|open| open.pid == dns_event.client);
        let mut is_shown = false;
        for open in of_name
            .iter_mut()
            .filter(|open| !knows || open.pid == dns_event.client)
        {
            match &dns_event.step {
                Step::Adapter { adapter, servers } => {
                    // `;` separates the names in the column.
                    open.adapters.add(&adapter.replace(';', "_"));
                    servers
                        .iter()
                        .flat_map(|servers| servers.split(';'))
                        .for_each(|server| open.adapter_servers.add(server.trim()));
                }
                // Queries for A and AAAA of one name run at the same time, and this event contains
                // its type.
                Step::Server { query_type, server } if *query_type == open.query_type => {
                    open.servers.add(server);
                }
                Step::Timeout { servers } => {
                    open.row.is_timed_out = true;
                    servers
                        .iter()
                        .for_each(|server| open.timed_out.add(&server.to_string()));
                }
                // Anything else is of another stage, and does not make the event shown.
                _ => continue,
            }
            is_shown = true;
        }
        is_shown
    }
}

impl Importer for Dns {
    fn other(
        &mut self,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let Some(dns_event) = self.reader.read(event, &mut context.decoder) else {
            return Ok(false);
        };
        Ok(match &dns_event.step {
            Step::Start { .. } => {
                self.start(&dns_event, event, context);
                true
            }
            Step::End { .. } => {
                self.end(&dns_event, event, context);
                true
            }
            _ => self.between(&dns_event),
        })
    }

    /// Writes the queries that were not answered, in the order of their starts.
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // A hash map has no order, and the same input has to give the same output.
        let mut open: Vec<OpenQuery> = self.open.into_values().flatten().collect();
        open.sort_by(|a, b| {
            // Three keys and then the name: open queries of one time are common when a page loads.
            let order = |open: &OpenQuery| (open.row.start_ns, open.pid, open.query_type);
            order(a)
                .cmp(&order(b))
                .then_with(|| a.row.name.cmp(&b.row.name))
        });
        for open in open {
            write(open, learned.collected.end, context);
        }
        Ok(())
    }
}

/// Passes a row on if it belongs to the range.
fn write(open: OpenQuery, time: i64, context: &mut Context<'_>) {
    let OpenQuery {
        mut row,
        start,
        adapters,
        adapter_servers,
        servers,
        timed_out,
        ..
    } = open;
    // A query belongs to the range of its question, or of its answer if only that is known.
    if !row
        .start_ns
        .or(row.end_ns)
        .is_some_and(|ns| context.range.contains(ns))
    {
        start.into_iter().for_each(|seq| context.forget(seq));
        return;
    }
    row.adapters = adapters.joined();
    row.adapter_servers = adapter_servers.joined();
    row.servers = servers.joined();
    row.timed_out_servers = timed_out.joined();
    let row = waiting::row(row, move |row, stacks| row.stack_id = stacks.of(start));
    context.wait(time, None, None, row);
}
