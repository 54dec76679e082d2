//! Columns and lines of names of DNS queries.

use serde::Serialize;

use super::{DnsQueryRow, DnsRequest, DnsRow, DnsTotalBy, type_name};
use etwkit_question::Format::{Moment, Process, ProcessLine, Seconds, Whole, Word};
use etwkit_question::{Column, Line, ProcessCell, ProcessColumns, Value, View};

/// A name with its queries.
#[derive(Serialize)]
pub(super) struct NameQueries {
    #[serde(flatten)]
    pub(super) row: DnsRow,
    #[serde(skip)]
    pub(super) queries: Vec<DnsQueryRow>,
}

type DnsNameColumn = Column<DnsRequest, NameQueries>;

pub(super) const NAMES: View<DnsRequest, NameQueries> = View::new(
    &[
        DnsNameColumn::new("Total", "", Seconds(3), |_, name| name.row.total_ns.into())
            .titled(|asked| total_title(asked.total_by).to_owned())
            .cost(),
        DnsNameColumn::new("Min", "Min s", Seconds(3), |_, name| name.row.min_ns.into()),
        DnsNameColumn::new("Max", "Max s", Seconds(3), |_, name| name.row.max_ns.into()).worst(),
        DnsNameColumn::new("Count", "Count", Whole, |_, name| name.row.count.into()).cost(),
        DnsNameColumn::new("TimeOut", "TimeOut", Whole, |_, name| {
            unless_none(name.row.timed_out)
        })
        .cost(),
        DnsNameColumn::new("Unanswered", "Unanswered", Whole, |_, name| {
            unless_none(name.row.unanswered)
        })
        .cost()
        .shown_if_known(|_| true),
        DnsNameColumn::new("Unstarted", "Without start", Whole, |_, name| {
            unless_none(name.row.unstarted)
        })
        .sum()
        .shown_if_known(|_| true),
        DnsNameColumn::new("Query", "DNS query", Word, |_, name| {
            name.row.name.clone().into()
        }),
        DnsNameColumn::new("ReturnCode", "Return code", Word, |_, name| {
            name.row.return_codes.clone().into()
        })
        .shown_if(|asked| asked.show_return_code),
        DnsNameColumn::new("Adapter", "Network adapter", Word, |_, name| {
            name.row.adapters.clone().into()
        })
        .shown_if(|asked| asked.show_adapter),
    ],
    |name| name.row.sort_value,
)
.alarming_if(|name| name.row.timed_out > 0)
.with_above(|asked, name, before| {
    if !asked.show_process || asked.details {
        return Vec::new();
    }
    // Names that the same processes queried are below one heading.
    let processes = processes(&name.queries);
    let is_same = before.is_some_and(|before| self::processes(&before.queries) == processes);
    let line = |process| Line::new("  ").value(ProcessLine, Value::Process(process));
    if is_same {
        Vec::new()
    } else {
        processes.into_iter().map(line).collect()
    }
})
.with_below(|asked, name| {
    let shown = asked.details.then(|| asked.shown(&name.queries));
    shown.into_iter().flatten().map(query_line).collect()
});

const fn total_title(by: DnsTotalBy) -> &'static str {
    match by {
        DnsTotalBy::Union => "Time s (overlaps once)",
        DnsTotalBy::Longest => "Time s (longest)",
        DnsTotalBy::Sum => "Time s (sum)",
    }
}

/// Returns a number; missing for 0.
fn unless_none(number: i64) -> Value {
    (number != 0).then_some(number).into()
}

/// Returns processes of queries, each once, in the order of their keys.
fn processes(queries: &[DnsQueryRow]) -> Vec<ProcessCell> {
    let mut first: Vec<&DnsQueryRow> = queries.iter().collect();
    first.sort_by_key(|query| query.process_key);
    first.dedup_by_key(|query| query.process_key);
    first
        .into_iter()
        .map(ProcessColumns::process_cell)
        .collect()
}

fn query_line(query: &DnsQueryRow) -> Line {
    let line = Line::new("    ")
        .value(Moment, query.start_ns.or(query.end_ns))
        .words(" Duration: ");
    let line = match (query.duration_ns, query.start_ns) {
        (Some(ns), _) => line.value(Seconds(3), ns).words(" s"),
        (None, Some(_)) => line.words("no answer"),
        (None, None) => line.words("no start"),
    };
    let mut line = line
        .words(" ")
        .value(Process, query)
        .words(format!(" {}", type_name(query.query_type)));
    if let Some(name) = query
        .status_name
        .as_deref()
        .filter(|_| query.status != Some(0))
    {
        line = line.words(format!(" {name}"));
    }
    if let Some(adapters) = &query.adapters {
        line = line.words(format!(" {adapters}"));
    }
    if query.is_timed_out {
        let timed_out = query.timed_out_servers.as_deref().unwrap_or("");
        let servers = query
            .servers
            .as_deref()
            .or(query.adapter_servers.as_deref())
            .unwrap_or("");
        line = line.words(format!(" TimedOut: {timed_out} Servers: {servers}"));
    }
    line.words(format!(
        " DnsAnswer: {}",
        addresses(query.result.as_deref().unwrap_or(""))
    ))
}

/// Returns the addresses of an answer. The client writes other names of the host as records of type
/// 5 (CNAME), which are left out.
fn addresses(result: &str) -> String {
    let parts = result.split(';').map(str::trim);
    let parts: Vec<&str> = parts
        .filter(|part| !part.is_empty() && !part.starts_with("type: 5 "))
        .collect();
    parts.join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_are_no_addresses() {
        let answer = "type: 5 alias.example.net;::ffff:1.2.3.4;type: 5 b;fe80::1;";
        assert_eq!(addresses(answer), "::ffff:1.2.3.4;fe80::1");
        assert_eq!(addresses(""), "");
    }
}
