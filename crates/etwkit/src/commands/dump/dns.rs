//! `etwkit dump dns`.

use clap::Args;
use etwkit_query::Session;
use etwkit_query::dump::dns::{DnsAnswer, DnsQueryRow, DnsRequest, DnsRow, DnsSort, DnsTotalBy, type_name};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range, word};
use super::output::{Answered, Columns, Lines, show_sql, streamed};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, DnsSort)] = &[("time", DnsSort::Time), ("count", DnsSort::Count)];

const TOTALS: &[(&str, DnsTotalBy)] =
    &[("union", DnsTotalBy::Union), ("longest", DnsTotalBy::Longest), ("sum", DnsTotalBy::Sum)];

#[derive(Debug, Args)]
pub(crate) struct DnsArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Only these names (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    query: Option<String>,
    /// A line for each query below its name; JSON and CSV have single queries instead of names
    #[arg(long)]
    details: bool,
    /// With --details: only the first N queries of each name
    #[arg(long, value_name = "N", requires = "details")]
    top_details: Option<usize>,
    /// With --details: leave the first N queries of each name out
    #[arg(long, value_name = "N", requires = "details", default_value_t = 0)]
    skip_details: usize,
    /// Show the processes that asked, above the names
    #[arg(long)]
    show_process: bool,
    /// Show the network adapters over which names were asked for
    #[arg(long)]
    show_adapter: bool,
    /// Show what queries failed with
    #[arg(long)]
    show_return_code: bool,
    /// Order
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "time")]
    sort_by: DnsSort,
    /// What total time is: union, the time in which at least one query was under way; longest, of the longest query; sum
    #[arg(long, value_name = "HOW", value_parser = word(TOTALS), default_value = "union")]
    total_by: DnsTotalBy,
    /// Only names with such a total time (s)
    #[arg(long, value_name = "A..B")]
    total_time: Option<String>,
    /// Only queries of such a duration (s)
    #[arg(long, value_name = "A..B")]
    time: Option<String>,
}

impl DnsArgs {
    fn request(&self) -> anyhow::Result<DnsRequest> {
        Ok(DnsRequest {
            processes: self.processes.query(),
            query: self.query.clone(),
            time: range("time", self.time.as_deref(), Unit::Seconds)?,
            total_time: range("total-time", self.total_time.as_deref(), Unit::Seconds)?,
            total_by: self.total_by,
            sort: self.sort_by,
            top: self.top.top(),
        })
    }

    fn columns<'a>(&'a self, text: &'a Text, rows: &[DnsRow]) -> anyhow::Result<Columns<'a, DnsRow>> {
        let maybe_s = |ns: Option<i64>| text.maybe_s(ns, 3);
        let title = match self.total_by {
            DnsTotalBy::Union => "NonOverlapping s",
            DnsTotalBy::Longest => "Longest s",
            DnsTotalBy::Sum => "Sum s",
        };
        let has_open = rows.iter().any(|row| row.unanswered > 0);
        let has_unstarted = rows.iter().any(|row| row.unstarted > 0);
        let count = |n: i64| if n == 0 { String::new() } else { text.int(n) };
        let mut columns = Columns::new();
        columns.number("Total", title, true, |row: &DnsRow| text.s(row.total_ns, 3));
        columns.number("Min", "Min s", true, move |row| maybe_s(row.min_ns));
        columns.number("Max", "Max s", true, move |row| maybe_s(row.max_ns));
        columns.number("Count", "Count", true, |row| text.int(row.count));
        columns.number("TimeOut", "TimeOut", true, move |row| count(row.timed_out));
        columns.number("Unanswered", "Unanswered", has_open, move |row| count(row.unanswered));
        columns.number("Unstarted", "Without start", has_unstarted, move |row| count(row.unstarted));
        columns.word("Query", "DNS query", true, |row| row.name.clone());
        columns.word("ReturnCode", "Return code", self.show_return_code, |row| {
            row.return_codes.clone().unwrap_or_default()
        });
        columns.word("Adapter", "Network adapter", self.show_adapter, |row| {
            row.adapters.clone().unwrap_or_default()
        });
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }

    /// The queries of a name that are shown, from the first one on.
    fn shown<'q>(&self, queries: &'q [DnsQueryRow]) -> impl Iterator<Item = &'q DnsQueryRow> + Clone {
        queries.iter().skip(self.skip_details).take(self.top_details.unwrap_or(usize::MAX))
    }
}

/// Addresses of an answer; other names of the host are left out.
fn addresses(result: &str) -> String {
    let parts = result.split(';').map(str::trim);
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty() && !part.starts_with("type: 5 ")).collect();
    parts.join(";")
}

fn query_line(text: &Text, query: &DnsQueryRow) -> String {
    let start = query.start_ns.or(query.end_ns).map(|ns| text.times.write(ns)).unwrap_or_default();
    let duration = match (query.duration_ns, query.start_ns) {
        (Some(ns), _) => format!("{} s", text.s(ns, 3)),
        (None, Some(_)) => "no answer".to_owned(),
        (None, None) => "no start".to_owned(),
    };
    let mut line = format!(
        "{start} Duration: {duration} {} {}",
        text.process(query.into()),
        type_name(query.query_type)
    );
    if let Some(name) = query.status_name.as_deref().filter(|_| query.status != Some(0)) {
        line.push_str(&format!(" {name}"));
    }
    if let Some(adapters) = &query.adapters {
        line.push_str(&format!(" {adapters}"));
    }
    if query.is_timed_out {
        let timed_out = query.timed_out_servers.as_deref().unwrap_or_default();
        let servers = query.servers.as_deref().or(query.adapter_servers.as_deref()).unwrap_or_default();
        line.push_str(&format!(" TimedOut: {timed_out} Servers: {servers}"));
    }
    format!("{line} DnsAnswer: {}", addresses(query.result.as_deref().unwrap_or_default()))
}

/// Processes of queries, each once, in the order of their keys.
fn processes(text: &Text, queries: &[DnsQueryRow]) -> Vec<String> {
    let mut first: Vec<&DnsQueryRow> = queries.iter().collect();
    first.sort_by_key(|query| query.process_key);
    first.dedup_by_key(|query| query.process_key);
    first.into_iter().map(|query| text.process_line(query.into())).collect()
}

fn print(args: &DnsArgs, one: &Answered<DnsAnswer>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let printed = args.columns(&text, &one.answer.rows)?.lines(one.answer.rows.iter());
    let mut printed = printed.iter();
    printed.next().map_or(Ok(()), |titles| lines.line(titles))?;
    let mut before: Vec<String> = Vec::new();
    for (line, queries) in printed.zip(&one.answer.queries) {
        if args.show_process && !args.details {
            let processes = processes(&text, queries);
            if processes != before {
                processes.iter().try_for_each(|process| lines.line(&format!("  {process}")))?;
            }
            before = processes;
        }
        lines.line(line)?;
        if args.details {
            args.shown(queries)
                .try_for_each(|query| lines.line(&format!("    {}", query_line(&text, query))))?;
        }
    }
    Ok(())
}

/// Sums over all extracts.
struct Totals {
    /// Writes numbers as the first extract does.
    text: Text,
    total_ns: i64,
    count: i64,
    union_ns: i64,
}

impl Totals {
    fn add(&mut self, answer: &DnsAnswer) {
        let sum = |number: fn(&DnsRow) -> i64| answer.rows.iter().map(number).fold(0, i64::saturating_add);
        self.total_ns = self.total_ns.saturating_add(sum(|row| row.total_ns));
        self.count = self.count.saturating_add(sum(|row| row.count));
        self.union_ns = self.union_ns.saturating_add(answer.union_ns);
    }

    fn line(&self) -> String {
        format!(
            "Totals: {} s Dns query time for {} Dns queries; {} s with at least one of them under way",
            self.text.s(self.total_ns, 3),
            self.text.int(self.count),
            self.text.s(self.union_ns, 3),
        )
    }
}

const COMMAND: &str = "dump dns";

pub(super) fn run(args: &DnsArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &if args.details { request.list_sql() } else { request.sql() });
    }
    let (common, question) = (&args.common, |session: &Session| request.ask(session));
    let mut totals: Option<Totals> = None;
    let text = |one: &Answered<DnsAnswer>, lines: &mut Lines<'_, '_>| {
        let text = Text::new(common, Some(&args.processes), &one.info);
        let none = Totals { text, total_ns: 0, count: 0, union_ns: 0 };
        totals.get_or_insert(none).add(&one.answer);
        print(args, one, lines)
    };
    let exit = if args.details {
        streamed(
            common,
            COMMAND,
            printer,
            question,
            |answer| answer.queries.iter().flat_map(|queries| args.shown(queries)).collect(),
            text,
        )?
    } else {
        streamed(common, COMMAND, printer, question, |answer| answer.rows.iter().collect(), text)?
    };
    totals.map_or(Ok(()), |totals| Lines::new(common, printer).line(&totals.line()))?;
    Ok(exit)
}

#[cfg(test)]
mod tests {
    #[test]
    fn other_names_are_no_addresses() {
        let answer = "type: 5 alias.example.net;::ffff:1.2.3.4;type: 5 b;fe80::1;";
        assert_eq!(super::addresses(answer), "::ffff:1.2.3.4;fe80::1");
        assert_eq!(super::addresses(""), "");
    }
}
